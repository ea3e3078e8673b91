/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_collect.h"

#include "base/clock.h"
#include "launch/tags/tags_collect_internal.h"
#include "launch/tags/trigger_cost.h"
#include "source/perf/clock_pair.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define HELD_MOST (64u << 20) /* limit of bytes in waiting packets */
#define LOOK_NS 100000000     /* minimum time between checks of running processes */
#define RATE_NS 5000000       /* minimum time for computing a rate */
/* Maximum relative deviation of a rate; above it, a file's clock pair is of another boot. */
#define RATE_DEVIATES 1e-3

void collect_note(struct tags_collect *c, char *note)
{
	vec_push(&c->result.notes, note);
}

struct tags_collect *tags_collect_new(const char *output)
{
	struct tags_collect *c = xcalloc(1, sizeof(*c));

	c->output = xstrdup(output);
	c->first = clock_pair_take();
	c->rate = 1;
	return c;
}

void tags_collect_compress(struct tags_collect *c)
{
	c->compress = true;
}

bool tags_collect_is_recording(const struct tags_collect *c)
{
	return c->result.processes > 0;
}

static void file_free(struct collect_file *f)
{
	tag_rings_close(f->rings);
	vec_each (packet, &f->waiting)
		free((void *)(uintptr_t)packet->words);
	vec_done(&f->waiting);
	vec_done(&f->streams);
	vec_done(&f->tids);
	free(f->path);
	free(f);
}

void tags_collect_free(struct tags_collect *c)
{
	if (!c)
		return;
	vec_each (file, &c->files)
		file_free(*file);
	vec_done(&c->files);
	vec_done(&c->given_up);
	/* The writer uses the names, so it is freed first. */
	ctf_writer_free(c->writer);
	collect_names_done(c);
	runtime_owners_done(&c->known);
	tags_merge_done(&c->merged);
	tags_collect_result_done(&c->result);
	free(c->directory);
	free(c->output);
	free(c);
}

void tags_collect_result_done(struct tags_collect_result *result)
{
	vec_each (note, &result->notes)
		free(*note);
	vec_done(&result->notes);
}

void tags_collect_watch(struct tags_collect *c, const char *directory, bool drain,
                        struct tags_switches *switches)
{
	c->directory = xstrdup(directory);
	c->drain = drain;
	c->switches = switches;
}

/* ---- files ----------------------------------------------------------------- */

static struct collect_file *file_open(struct tags_collect *c, const char *path,
                                      const struct shared_name *id, struct error *err)
{
	struct collect_file *f;
	struct tag_rings *rings;
	const struct assay_tags_header *h;

	if (tag_rings_open(&rings, path, err))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->id = *id;
	f->rings = rings;
	f->here = runtime_owner_find(&c->known, id->pid, id->birth, &f->several);
	h = tag_rings_header(rings);
	if (h->first.ns && (!c->from.ns || h->first.ns < c->from.ns))
		c->from = h->first;
	vec_push(&c->files, f);
	c->result.processes++;
	return f;
}

static bool same(const struct shared_name *a, const struct shared_name *b)
{
	return a->pid == b->pid && a->birth == b->birth && a->number == b->number;
}

static bool is_known(const struct tags_collect *c, const struct shared_name *id)
{
	vec_each (file, &c->files)
		if (same(&(*file)->id, id))
			return true;
	vec_each (given_up, &c->given_up)
		if (same(given_up, id))
			return true;
	return false;
}

/* Opens new files. `last`: a file that cannot be read now is an error. */
static void scan(struct tags_collect *c, bool last)
{
	DIR *dir = opendir(c->directory);
	const struct dirent *entry;
	struct shared_name id;

	while (dir && (entry = readdir(dir))) {
		struct collect_file *f;
		struct error err = {0};
		char *path;

		if (!shared_name_parse(&tag_rings_kind, entry->d_name, &id) || is_known(c, &id))
			continue;
		path = xasprintf("%s/%s", c->directory, entry->d_name);
		f = file_open(c, path, &id, &err);
		if (f)
			f->watched = true;
		else if (last && err.code != ENOENT)
			collect_note(c, xstrdup(err.text));
		free(path);
	}
	if (dir)
		closedir(dir);
}

/* ---- running processes --------------------------------------------------------------- */

int32_t collect_pid(const struct collect_file *f, int32_t pid)
{
	return f->here && !f->several && pid == f->id.pid ? f->here : pid;
}

int32_t collect_tid(struct collect_file *f, int32_t tid)
{
	struct collect_tid t = {.tid = tid};

	if (!f->here || f->several || f->here == f->id.pid)
		return tid;
	vec_each (known, &f->tids)
		if (known->tid == tid)
			return known->here ? known->here : tid;
	t.here = shared_thread_find(f->here, tid);
	vec_push(&f->tids, t);
	return t.here ? t.here : tid;
}

/*
 * The time when the process executed another program (exec); 0: it did not. The start time
 * identifies the next program. The number in the file name does not, since it is reused when the
 * file of an earlier program is removed.
 */
static uint64_t gave_way(const struct tags_collect *c, const struct collect_file *f)
{
	uint64_t began = tag_rings_header(f->rings)->first.ticks, next = 0;

	if (f->several) /* the file may belong to the next program of the other process */
		return 0;
	vec_each (other, &c->files) {
		uint64_t ticks = tag_rings_header((*other)->rings)->first.ticks;

		if ((*other)->id.pid == f->id.pid && (*other)->id.birth == f->id.birth &&
		    ticks > began && (!next || ticks < next))
			next = ticks;
	}
	return next;
}

/* Marks files of ended processes or programs, which are complete. */
static void look_who_runs(struct tags_collect *c)
{
	runtime_owners_done(&c->known);
	vec_each (file, &c->files) {
		struct collect_file *f = *file;
		bool runs, several;

		if (f->ended)
			continue;
		runs = runtime_owner_find(&c->known, f->id.pid, f->id.birth, &several) != 0;
		f->several |= several;
		f->ended_ticks = gave_way(c, f);
		f->ended = f->ended_ticks || !runs;
		if (!f->ended_ticks)
			f->ended_ticks = clock_pair_ticks();
		if (f->ended)
			tag_rings_ended(f->rings);
		else if (f->watched && c->drain)
			tag_rings_visit(f->rings, clock_pair_ticks());
	}
}

/* ---- packets ---------------------------------------------------------------- */

static void hold(struct tags_collect *c, struct collect_file *f, const struct tag_rings_packet *p)
{
	size_t bytes = p->count * sizeof(*p->words);
	uint64_t *words = xmalloc(bytes + sizeof(*words));
	struct tag_rings_packet *held = vec_add(&f->waiting);

	if (bytes)
		memcpy(words, p->words, bytes);
	*held = *p;
	held->words = words;
	c->held_bytes += bytes;
}

/*
 * Reads complete packets, up to the limit of waiting bytes; then sets *busy. 1: there may be more.
 */
static int file_drain(struct tags_collect *c, struct collect_file *f, bool *busy, struct error *err)
{
	struct tag_rings_packet p;
	int rc = 1;

	while (c->held_bytes < HELD_MOST && (rc = tag_rings_drain(f->rings, &p, err)) > 0) {
		hold(c, f, &p);
		*busy = true;
	}
	return rc;
}

/* Reads all remaining packets. */
static int file_list(struct tags_collect *c, struct collect_file *f, bool *busy, struct error *err)
{
	struct tag_rings_packet p;
	int rc = 1;

	f->listing = true;
	*busy = true;
	while (c->held_bytes < HELD_MOST && (rc = tag_rings_next(f->rings, &p, err)) > 0)
		hold(c, f, &p);
	f->read = !rc;
	return rc;
}

/* At the end, a running process is read as a list, since draining it would never end. */
static int file_read(struct tags_collect *c, struct collect_file *f, bool last, bool *busy,
                     struct error *err)
{
	int rc = 0;

	if (f->watched && c->drain && !f->listing && (f->ended || !last))
		rc = file_drain(c, f, busy, err);
	if (!rc && !f->read && (last || f->ended))
		rc = file_list(c, f, busy, err);
	return rc < 0 ? rc : 0;
}

static void mark_threads(struct tags_collect *c, struct collect_file *f)
{
	for (size_t i = 0; i < tag_rings_count(f->rings); i++)
		tags_switches_mark(c->switches, collect_tid(f, tag_rings_at(f->rings, i)->tid));
	vec_each (packet, &f->waiting)
		tags_switches_mark(c->switches, collect_tid(f, packet->header.tid));
}

static void count_waits(struct tags_collect *c, const struct collect_file *f)
{
	for (size_t i = 0; i < tag_rings_count(f->rings); i++) {
		const struct assay_tags_ring *ring = tag_rings_at(f->rings, i);

		c->result.waits += ring->waits;
		c->result.waited_ns += (uint64_t)((double)ring->waited / c->rate);
	}
}

/* Writes the end of a file's streams, and closes the file. */
static int file_finish(struct tags_collect *c, struct collect_file *f, struct error *err)
{
	const struct assay_tags_header *h = tag_rings_header(f->rings);
	int rc;

	collect_names(c, f);
	rc = collect_write_end(c, f, err);
	count_waits(c, f);
	c->result.damaged += tag_rings_damaged(f->rings);
	c->result.full += (h->flags & ASSAY_TAGS_FULL) != 0;
	c->result.no_rings += (h->flags & ASSAY_TAGS_NO_RINGS) != 0;
	c->result.names_full += (h->flags & ASSAY_TAGS_NAMES_FULL) != 0;
	c->result.running += !f->ended;
	if (f->watched && c->drain && !f->ended)
		tag_rings_visit(f->rings, 0);
	if (!rc && f->watched && f->ended)
		unlink(f->path);
	f->done = true;
	return rc;
}

/* Skips a damaged file, with a note; the others continue. */
static void give_up(struct tags_collect *c, struct collect_file *f, const struct error *why)
{
	collect_note(c, xstrdup(why->text));
	vec_push(&c->given_up, f->id);
	f->done = true;
}

static int file_step(struct tags_collect *c, struct collect_file *f, bool last, bool *busy,
                     struct error *err)
{
	uint64_t known = c->switches ? tags_switches_known(c->switches) : UINT64_MAX;
	struct error why = {0};
	int rc;

	if (tag_rings_look(f->rings, &why)) {
		give_up(c, f, &why);
		return 0;
	}
	if (c->switches)
		mark_threads(c, f);
	collect_names(c, f);
	if (file_read(c, f, last, busy, &why)) {
		give_up(c, f, &why);
		return 0;
	}
	if (c->switches)
		mark_threads(c, f);
	rc = collect_write_waiting(c, f, err);
	if (!rc && f->read && !f->waiting.count && (last || known >= f->ended_ticks))
		rc = file_finish(c, f, err);
	return rc;
}

static int files_step(struct tags_collect *c, bool last, bool *busy, struct error *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < c->files.count; i++) {
		struct collect_file *f = c->files.items[i];

		if (!rc)
			rc = file_step(c, f, last, busy, err);
		if (f->done)
			file_free(f);
		else
			c->files.items[kept++] = f;
	}
	c->files.count = kept;
	return rc;
}

static void rate_note(struct tags_collect *c)
{
	struct assay_calls_moment now = clock_pair_take();

	if (now.ns - c->first.ns >= RATE_NS)
		c->rate = (double)(now.ticks - c->first.ticks) / (double)(now.ns - c->first.ns);
}

/* Opens the writer only if there are events; otherwise an existing trace stays. */
static int writer_open(struct tags_collect *c, struct error *err)
{
	int rc;

	if (c->writer || !c->files.count)
		return 0;
	rc = ctf_writer_new(&c->writer, c->output, err);
	if (!rc && c->compress)
		ctf_writer_compress(c->writer);
	return rc;
}

int tags_collect_step(struct tags_collect *c, bool *busy, struct error *err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int rc;

	*busy = false;
	rate_note(c);
	if (c->switches)
		tags_switches_read(c->switches, false);
	scan(c, false);
	if (now - c->looked_ns >= LOOK_NS) {
		look_who_runs(c);
		c->looked_ns = now;
	}
	rc = writer_open(c, err);
	if (!rc)
		rc = files_step(c, false, busy, err);
	/*
	 * Files that are read at the end of their processes may have threads that are still
	 * unknown.
	 */
	if (c->switches && c->drain)
		tags_switches_forget(c->switches);
	return rc;
}

int tags_collect_add(struct tags_collect *c, const struct tag_rings_file *file, struct error *err)
{
	const struct shared_name id = {file->file.pid, file->file.birth, file->number};
	struct error why = {0};
	struct collect_file *f = file_open(c, file->file.path, &id, &why);
	bool busy = true;
	int rc = 0;

	if (!f) {
		collect_note(c, xstrdup(why.text));
		return 0;
	}
	f->ended = !file->file.running;
	rc = writer_open(c, err);
	while (c->files.count && !rc && busy) {
		busy = false;
		rc = files_step(c, true, &busy, err);
	}
	return rc;
}

/* ---- the end ---------------------------------------------------------------- */

/* Computes the rate from the two clock pairs with the largest distance, if the file's is valid. */
static struct tag_clock clock_make(struct tags_collect *c)
{
	struct assay_calls_moment now;
	struct timespec wait = {.tv_nsec = RATE_NS};
	struct tag_clock clock;
	uint64_t real_ns;
	double rate;

	now = clock_pair_take();
	if (now.ns - c->first.ns < RATE_NS) {
		nanosleep(&wait, NULL);
		now = clock_pair_take();
	}
	real_ns = clock_ns(CLOCK_REALTIME);
	c->rate = (double)(now.ticks - c->first.ticks) / (double)(now.ns - c->first.ns);
	rate = c->rate;
	if (c->from.ns && c->from.ns < c->first.ns && c->from.ticks < c->first.ticks) {
		double longer = (double)(now.ticks - c->from.ticks) / (double)(now.ns - c->from.ns);

		if (longer > rate * (1 - RATE_DEVIATES) && longer < rate * (1 + RATE_DEVIATES))
			rate = longer;
	}
	clock.hz = (uint64_t)(rate * 1e9 + 0.5);
	clock.offset_ns = (int64_t)(real_ns - tag_clock_ns(&clock, now.ticks));
	return clock;
}

int tags_collect_end(struct tags_collect *c, const char *command,
                     struct tags_collect_result *result, struct error *err)
{
	struct ctf_writer_facts facts = {.switches = c->switches != NULL, .command = command};
	char host[256] = "";
	bool busy;
	int rc = 0;

	rate_note(c);
	if (c->switches)
		tags_switches_read(c->switches, true);
	if (c->directory)
		scan(c, true);
	look_who_runs(c);
	if (c->result.processes)
		rc = writer_open(c, err);
	while (c->files.count && !rc)
		rc = files_step(c, true, &busy, err);
	if (c->switches)
		facts.switches_lost = tags_switches_lost(c->switches);
	facts.clock = clock_make(c);
	facts.trigger = trigger_cost_measure();
	if (!gethostname(host, sizeof(host) - 1))
		facts.host = host;
	if (!rc && c->writer)
		rc = ctf_writer_finish(c->writer, &facts, err);
	*result = c->result;
	c->result = (struct tags_collect_result){0};
	return rc;
}
