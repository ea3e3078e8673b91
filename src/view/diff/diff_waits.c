/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_waits.h"

#include "view/diff/diff_paths.h"

#include <stdlib.h>
#include <string.h>

/* --- texts that are equal in each run --- */

static bool is_number(const char *word, size_t length)
{
	return length && strspn(word, "0123456789") >= length;
}

/* "pipe:[42]": the length of the part before the inode; `length` if there is none. */
static size_t before_inode(const char *word, size_t length)
{
	const char *open = memchr(word, '[', length);

	if (!open || open == word || open[-1] != ':' || word[length - 1] != ']' ||
	    !is_number(open + 1, length - (size_t)(open - word) - 2))
		return length;
	return (size_t)(open - word) - 1;
}

/* "127.0.0.1:40000": the length with the colon; 0: the port is not one of the kernel's choice. */
static size_t before_port(const char *word, size_t length)
{
	const char *colon = memrchr(word, ':', length);
	size_t digits = colon ? length - (size_t)(colon - word) - 1 : 0;

	if (!colon || colon == word || digits != 5 || !is_number(colon + 1, digits) ||
	    atoi(colon + 1) < DIFF_PORT_ANY)
		return 0;
	return length - digits;
}

static void put_word(const char *word, size_t length, struct buf *out)
{
	size_t port = before_port(word, length);

	if (!port) {
		buf_add(out, word, before_inode(word, length));
		return;
	}
	buf_add(out, word, port);
	buf_putc(out, '*');
}

void diff_object_text(const char *name, const char *place, struct buf *out)
{
	const char *address = strstr(name, " at 0x"), *end = name + strlen(name);
	bool is_unix = !strncmp(name, "unix ", 5);

	if (address) {
		buf_add(out, name, (size_t)(address - name));
		if (place)
			buf_addf(out, " in %s", place);
		return;
	}
	for (const char *word = name, *next; word < end; word = next + (*next == ' ')) {
		size_t length = strcspn(word, " ");

		next = word + length;
		/* Numbers of unix sockets without a name are inodes. */
		if (is_unix && is_number(word, length))
			continue;
		if (word != name)
			buf_putc(out, ' ');
		put_word(word, length, out);
	}
}

/* --- releasers --- */

static bool same_release(const void *ctx, uint32_t id, const void *key)
{
	const struct diff_release *a = &((const struct diff_runs *)ctx)->releases.items[id],
	                          *b = key;

	return a->row == b->row && a->by == b->by;
}

static void add_release(struct diff_runs *t, uint32_t run, uint32_t row, const char *by, double ns)
{
	struct diff_release key = {.row = row, .by = intern_add(&t->texts, by)};
	uint64_t hash = hash_pair(key.row, key.by);
	uint32_t id = id_table_find(&t->release_index, hash, same_release, t, &key);

	if (id == ID_NONE) {
		id = (uint32_t)t->releases.count;
		vec_push(&t->releases, key);
		id_table_add(&t->release_index, hash, id);
	}
	t->releases.items[id].ns[t->runs.items[run].side] += ns;
}

const char *diff_releaser(const struct diff_runs *t, uint32_t row, enum diff_side side)
{
	const struct diff_release *most = NULL;

	vec_each (release, &t->releases)
		if (release->row == row && release->ns[side] > (most ? most->ns[side] : 0))
			most = release;
	return most ? intern_text(&t->texts, most->by) : NULL;
}

/* --- causes --- */

/* Files and devices depend on a disk; what else is blocked depends on threads and timers. */
static enum diff_class class_of(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_CPU:
		return DIFF_INTERRUPT;
	case WAIT_FILE:
	case WAIT_DEVICE:
	case WAIT_PAGE_FAULT:
		return DIFF_KERNEL;
	default:
		return DIFF_USER;
	}
}

/* The call path of the program that waits. */
static uint32_t program_path(struct diff_paths *s, const struct wait_report *r, uint32_t path)
{
	const struct profile *p = r->view->profile;

	if (path == r->log->unknown_path)
		return DIFF_NO_PATH;
	while (path != PATH_ROOT && p->frames.items[p->paths.items[path].frame].kernel)
		path = p->paths.items[path].parent;
	return diff_paths_of(s, path, false);
}

static uint32_t cause_row(struct diff_runs *t, const struct wait_report *r,
                          const struct wait_row *row)
{
	const struct symbol *place =
	        row->place == ID_NONE ? NULL : view_function(r->view, row->place);
	struct buf text = {0};
	uint32_t id;

	diff_object_text(wait_text(r, row->name), place && place->named ? place->name : NULL,
	                 &text);
	id = diff_runs_row(t, buf_text(&text), wait_kind_name(row->kind), wait_text(r, row->waiter),
	                   class_of(row->kind));
	buf_done(&text);
	return id;
}

static uint32_t runnable_row(struct diff_runs *t, const struct wait_report *r,
                             const struct wait_row *row, enum wait_woken woken)
{
	const char *name = woken == WAIT_PREEMPTED ? "preempted" : "after a wake-up";

	if (row->kind == WAIT_CPU && row->name)
		name = wait_text(r, row->name);
	return diff_runs_row(t, name, wait_kind_name(WAIT_CPU), wait_text(r, row->waiter),
	                     class_of(WAIT_CPU));
}

static void add_sum(struct diff_paths *s, const struct wait_report *r, uint32_t id)
{
	const struct wait_sum *sum = &r->log->sums.items[id];
	const struct wait_row *row = &r->rows.items[r->row_of[id]];
	uint32_t above = program_path(s, r, sum->key.path), cause;

	if (sum->blocked_ns) {
		cause = cause_row(s->runs, r, row);
		s->runs->rows.items[cause].unknown =
		        row->kind == WAIT_OTHER && sum->key.path == r->log->unknown_path;
		diff_run_count(s->runs, s->run, diff_runs_path(s->runs, above, cause),
		               (double)sum->count, (double)sum->blocked_ns);
		if (r->by_of[id])
			add_release(s->runs, s->run, cause, wait_text(r, r->by_of[id]),
			            (double)sum->blocked_ns);
	}
	if (sum->runnable_ns) {
		cause = runnable_row(s->runs, r, row, (enum wait_woken)sum->key.woken);
		diff_run_count(s->runs, s->run, diff_runs_path(s->runs, above, cause),
		               (double)sum->count, (double)sum->runnable_ns);
	}
}

void diff_add_waits(struct diff_runs *t, uint32_t run, struct wait_report *r)
{
	struct diff_paths s = diff_paths_begin(t, run, r->view);

	t->waits = t->exact = true;
	for (uint32_t i = 0; i < r->log->sums.count; i++)
		if (r->row_of[i] != ID_NONE)
			add_sum(&s, r, i);
	diff_paths_done(&s);
}
