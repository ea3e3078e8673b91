/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_history.h"

#include "process/process_restore.h"

#include <string.h>

struct history_sample {
	uint64_t time_ns, weight;
	uint64_t samples;
	uint32_t row; /* of the slice, or of the sum of all */
	uint16_t cpu;
	uint8_t event;
};

/* One window. Ids are those of the common tables. */
struct history_slice {
	uint64_t from_ns, to_ns;
	VEC(struct profile_row) rows;
	VEC(struct history_sample) samples;
	struct ledger ledger;
};

/* What a profile has beside its tables. */
struct history_sums {
	VEC(struct profile_row) rows;
	struct id_table row_index;
	struct time_axis axis;
	struct ledger ledger;
};

struct profile_history {
	struct profile *profile; /* the tables, and the sums that were selected */
	struct history_sums all;
	bool borrows; /* the profile's axis is that of `all` */
	uint64_t start_ns;
	VEC(struct history_slice) slices;
	VEC(uint64_t) serials; /* of the threads of the table, by id */
	VEC(uint64_t) process_serials;
	struct id_table threads, processes; /* by serial */
};

/* Ids of a window's profile as ids of the common tables; ID_NONE: not known yet. */
struct history_ids {
	struct profile_history *h;
	const struct profile *from;
	uint32_t *images, *paths;
	uint8_t *events;
};

struct profile_history *profile_history_new(void)
{
	struct profile_history *h = xcalloc(1, sizeof(*h));

	h->profile = profile_new();
	time_axis_init(&h->all.axis, TIME_AXIS_BYTES);
	return h;
}

static void slice_done(struct history_slice *s)
{
	vec_done(&s->rows);
	vec_done(&s->samples);
	vec_done(&s->ledger.cpus);
	vec_done(&s->ledger.processes);
}

/* The axis that the profile shows belongs to the sum of all. */
static void give_back(struct profile_history *h)
{
	if (h->borrows)
		memset(&h->profile->axis, 0, sizeof(h->profile->axis));
	h->borrows = false;
}

static void empty(struct profile_history *h)
{
	give_back(h);
	if (h->profile)
		h->profile->recordings.count = 0;
	profile_free(h->profile);
	h->profile = NULL;
	vec_each (slice, &h->slices)
		slice_done(slice);
	h->slices.count = 0;
	vec_done(&h->all.rows);
	id_table_done(&h->all.row_index);
	time_axis_done(&h->all.axis);
	vec_done(&h->all.ledger.cpus);
	vec_done(&h->all.ledger.processes);
	memset(&h->all, 0, sizeof(h->all));
	vec_done(&h->serials);
	vec_done(&h->process_serials);
	id_table_done(&h->threads);
	id_table_done(&h->processes);
}

void profile_history_free(struct profile_history *h)
{
	if (!h)
		return;
	empty(h);
	vec_done(&h->slices);
	free(h);
}

/* The tables grew beyond their limits: all is forgotten. */
static void restart(struct profile_history *h, uint64_t start_ns)
{
	empty(h);
	h->profile = profile_new();
	time_axis_init(&h->all.axis, TIME_AXIS_BYTES);
	h->start_ns = start_ns;
}

/* ---- ids ----------------------------------------------------------------- */

static void ids_init(struct history_ids *ids, struct profile_history *h, const struct profile *p)
{
	*ids = (struct history_ids){.h = h, .from = p};
	ids->images = xmalloc((p->images.images.count + 1) * sizeof(*ids->images));
	ids->paths = xmalloc((p->paths.count + 1) * sizeof(*ids->paths));
	memset(ids->images, 0xff, (p->images.images.count + 1) * sizeof(*ids->images));
	memset(ids->paths, 0xff, (p->paths.count + 1) * sizeof(*ids->paths));
	ids->paths[PATH_ROOT] = PATH_ROOT;
	ids->images[IMAGE_ID_UNKNOWN] = IMAGE_ID_UNKNOWN;
	ids->events = xcalloc(p->events.count + 1, sizeof(*ids->events));
}

static void ids_done(struct history_ids *ids)
{
	free(ids->images);
	free(ids->paths);
	free(ids->events);
}

static uint8_t find_event(struct profile *p, const struct profile_event *like)
{
	struct profile_event *e;

	for (size_t i = 0; i < p->events.count; i++)
		if (p->events.items[i].role == like->role &&
		    !strcmp(p->events.items[i].name, like->name))
			return (uint8_t)i;
	e = vec_add(&p->events);
	*e = *like;
	e->name = xstrdup(like->name);
	e->samples = e->weight = 0;
	return (uint8_t)(p->events.count - 1);
}

static uint32_t image_id(struct history_ids *ids, uint32_t image)
{
	struct profile *to = ids->h->profile;
	struct image copy;

	if (image == REGION_NONE || ids->images[image] != ID_NONE)
		return image == REGION_NONE ? REGION_NONE : ids->images[image];
	copy = ids->from->images.images.items[image];
	copy.path = intern_add(&to->images.names, image_path(&ids->from->images, image));
	copy.jit = NULL; /* the names of generated code belong to the window's table */
	copy.kept = NULL;
	copy.generated = 0;
	return ids->images[image] = image_table_add(&to->images, &copy);
}

static struct profile_frame frame_of(struct history_ids *ids, uint32_t frame)
{
	struct profile_frame f = ids->from->frames.items[frame];
	const struct image *image = &ids->from->images.images.items[f.frame.image];

	/* The offset of a name is its id. */
	if (image->kind == IMAGE_NAME)
		f.frame.offset =
		        intern_add(&ids->h->profile->images.names,
		                   intern_text(&ids->from->images.names, (uint32_t)f.frame.offset));
	f.frame.image = image_id(ids, f.frame.image);
	return f;
}

/* Parents have smaller ids than their children, so the way up ends. */
static uint32_t path_id(struct history_ids *ids, uint32_t path)
{
	VEC(uint32_t) steps = {0};
	uint32_t id;

	for (; ids->paths[path] == ID_NONE; path = ids->from->paths.items[path].parent)
		vec_push(&steps, path);
	id = ids->paths[path];
	while (steps.count) {
		uint32_t step = steps.items[--steps.count];
		struct profile_frame frame = frame_of(ids, ids->from->paths.items[step].frame);

		id = ids->paths[step] = profile_path_step(ids->h->profile, id, &frame);
	}
	vec_done(&steps);
	return id;
}

static bool thread_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_history *h = ctx;

	return h->serials.items[id] == *(const uint64_t *)key;
}

static bool process_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_history *h = ctx;

	return h->process_serials.items[id] == *(const uint64_t *)key;
}

static const char *text_of(const struct process_table *t, uint32_t text)
{
	return text == ID_NONE ? NULL : process_table_name(t, text);
}

static uint32_t process_id(struct history_ids *ids, uint32_t process)
{
	struct profile_history *h = ids->h;
	const struct process_table *from = ids->from->processes;
	const struct process *p = process_table_process(from, process);
	uint64_t hash = hash_u64(p->serial);
	uint32_t id = id_table_find(&h->processes, hash, process_equal, h, &p->serial);
	const char *name = process_table_name(from, p->name);

	if (id != ID_NONE) {
		process_restore_update(h->profile->processes, id, p, name);
		return id;
	}
	id = process_restore(h->profile->processes, p,
	                     &(struct process_texts){name, text_of(from, p->cgroup),
	                                             text_of(from, p->version),
	                                             text_of(from, p->labels)});
	vec_push(&h->process_serials, p->serial);
	id_table_add(&h->processes, hash, id);
	return id;
}

static uint32_t thread_id(struct history_ids *ids, uint32_t thread)
{
	struct profile_history *h = ids->h;
	const struct process_table *from = ids->from->processes;
	struct thread t = *process_table_thread_at(from, thread);
	uint64_t hash = hash_u64(t.serial);
	uint32_t id = id_table_find(&h->threads, hash, thread_equal, h, &t.serial);
	const char *name = process_table_name(from, t.name);

	t.process = process_id(ids, t.process);
	if (id != ID_NONE) {
		process_restore_thread_update(h->profile->processes, id, &t, name);
		return id;
	}
	id = process_restore_thread(h->profile->processes, &t, name);
	vec_push(&h->serials, t.serial);
	id_table_add(&h->threads, hash, id);
	return id;
}

/* ---- sums ---------------------------------------------------------------- */

/* Exchanges the sums in the profile with those of all. */
static void exchange(struct profile_history *h)
{
	struct history_sums in;
	struct profile *p = h->profile;

	memcpy(&in.rows, &p->rows, sizeof(in.rows));
	in.row_index = p->row_index;
	in.axis = p->axis;
	in.ledger = p->ledger;
	memcpy(&p->rows, &h->all.rows, sizeof(in.rows));
	p->row_index = h->all.row_index;
	p->axis = h->all.axis;
	p->ledger = h->all.ledger;
	h->all = in;
}

/* Adds a row, and returns its number. */
static uint32_t add_row(struct profile *p, const struct profile_row *r)
{
	struct profile_row *row = profile_row_add(p, r);

	row->samples += r->samples;
	row->weight += r->weight;
	row->runnable_ns += r->runnable_ns;
	row->blocked_ns += r->blocked_ns;
	return (uint32_t)(row - p->rows.items);
}

static void add_sample(struct profile *p, const struct history_sample *s, uint32_t row)
{
	struct time_entry e = {
	        .time_ns = s->time_ns, .row = row, .samples = s->samples, .weight = s->weight};

	time_axis_add(&p->axis, time_axis_track(&p->axis, 0, s->cpu, s->event), &e);
}

static void add_cpu(struct ledger *l, const struct ledger_cpu *c)
{
	struct ledger_cpu *line = NULL;

	/* Another rate is another line: a missing tick stands for the period at its time. */
	vec_each (known, &l->cpus)
		if (known->cpu == c->cpu && known->period_ns == c->period_ns &&
		    known->has_switches == c->has_switches)
			line = known;
	if (line)
		ledger_cpu_add(line, c);
	else
		vec_push(&l->cpus, *c);
}

static void sum_process(struct ledger_process *to, const struct ledger_process *p)
{
	to->wall_ns += p->wall_ns;
	to->oncpu_ns += p->oncpu_ns;
	to->runnable_ns += p->runnable_ns;
	to->blocked_ns += p->blocked_ns;
	to->unknown_ns += p->unknown_ns;
	to->weight += p->weight;
	to->threads = p->threads > to->threads ? p->threads : to->threads;
}

/* `count`: of processes in the table. */
static void add_processes(struct ledger *to, const struct ledger *from, size_t count)
{
	uint32_t *lines = xmalloc((count + 1) * sizeof(*lines));

	memset(lines, 0xff, (count + 1) * sizeof(*lines));
	for (uint32_t i = 0; i < to->processes.count; i++)
		lines[to->processes.items[i].process] = i;
	vec_each (p, &from->processes) {
		if (lines[p->process] != ID_NONE) {
			sum_process(&to->processes.items[lines[p->process]], p);
			continue;
		}
		lines[p->process] = (uint32_t)to->processes.count;
		vec_push(&to->processes, *p);
	}
	free(lines);
}

static void add_ledger(struct profile *p, const struct ledger *from)
{
	p->ledger.machine_wide |= from->machine_wide;
	vec_each (cpu, &from->cpus)
		add_cpu(&p->ledger, cpu);
	if (from->processes.count)
		add_processes(&p->ledger, from, process_table_process_count(p->processes));
}

/* Adds a slice to the sums in the profile. */
static void add_slice(struct profile *p, const struct history_slice *s)
{
	uint32_t *rows = xmalloc((s->rows.count + 1) * sizeof(*rows));

	for (size_t i = 0; i < s->rows.count; i++)
		rows[i] = add_row(p, &s->rows.items[i]);
	vec_each (sample, &s->samples)
		add_sample(p, sample, rows[sample->row]);
	add_ledger(p, &s->ledger);
	free(rows);
}

/* ---- windows in ---------------------------------------------------------- */

static void take_rows(struct history_ids *ids, struct history_slice *s)
{
	vec_each (row, &ids->from->rows) {
		struct profile_row copy = *row;

		copy.path = path_id(ids, row->path);
		copy.thread = thread_id(ids, row->thread);
		copy.region = image_id(ids, row->region);
		copy.event = ids->events[row->event];
		vec_push(&s->rows, copy);
	}
}

static void take_samples(struct history_ids *ids, struct history_slice *s)
{
	const struct time_axis *axis = &ids->from->axis;

	for (uint32_t i = 0; i < axis->tracks.count; i++) {
		const struct time_track *track = &axis->tracks.items[i];
		struct history_sample sample = {.cpu = track->cpu};
		struct time_cursor c;
		struct time_entry e;

		if (track->event >= ids->from->events.count)
			continue;
		sample.event = ids->events[track->event];
		time_axis_seek(&c, axis, i, 0);
		while (time_axis_next(&c, &e)) {
			sample.time_ns = e.time_ns;
			sample.row = e.row;
			sample.samples = e.samples;
			sample.weight = e.weight;
			vec_push(&s->samples, sample);
		}
	}
}

static void take_ledger(struct history_ids *ids, struct history_slice *s)
{
	s->ledger.machine_wide = ids->from->ledger.machine_wide;
	vec_each (cpu, &ids->from->ledger.cpus) {
		vec_push(&s->ledger.cpus, *cpu);
		vec_last(&s->ledger.cpus)->recording = 0;
	}
	vec_each (p, &ids->from->ledger.processes) {
		struct ledger_process copy = *p;

		copy.process = process_id(ids, p->process);
		vec_push(&s->ledger.processes, copy);
	}
}

/* A process or thread that is known may have another name since, without samples in this window. */
static void take_names(struct history_ids *ids)
{
	const struct process_table *from = ids->from->processes;
	struct profile_history *h = ids->h;

	for (uint32_t i = 0; i < process_table_process_count(from); i++) {
		const struct process *p = process_table_process(from, i);

		if (p->changed && id_table_find(&h->processes, hash_u64(p->serial), process_equal,
		                                h, &p->serial) != ID_NONE)
			process_id(ids, i);
	}
	for (uint32_t i = 0; i < process_table_thread_count(from); i++) {
		const struct thread *t = process_table_thread_at(from, i);

		if (t->changed && id_table_find(&h->threads, hash_u64(t->serial), thread_equal, h,
		                                &t->serial) != ID_NONE)
			thread_id(ids, i);
	}
}

/* Slices beyond the longest stretch are dropped. */
static void drop_old(struct profile_history *h, uint64_t now_ns)
{
	size_t gone = 0;

	while (gone < h->slices.count && h->slices.items[gone].to_ns + HISTORY_SPAN_NS < now_ns)
		slice_done(&h->slices.items[gone++]);
	h->slices.count -= gone;
	if (gone)
		memmove(h->slices.items, h->slices.items + gone,
		        h->slices.count * sizeof(*h->slices.items));
}

bool profile_history_is_full(const struct profile_history *h)
{
	return h->serials.count > HISTORY_THREADS_MAX ||
	       h->profile->paths.count > HISTORY_PATHS_MAX;
}

void profile_history_add(struct profile_history *h, const struct profile *p, uint64_t from_ns,
                         uint64_t to_ns)
{
	struct history_slice s = {.from_ns = from_ns, .to_ns = to_ns};
	struct history_ids ids;

	if (profile_history_is_full(h))
		restart(h, from_ns);
	if (!h->start_ns)
		h->start_ns = from_ns;
	give_back(h);
	ids_init(&ids, h, p);
	for (size_t i = 0; i < p->events.count; i++)
		ids.events[i] = find_event(h->profile, &p->events.items[i]);
	take_rows(&ids, &s);
	take_samples(&ids, &s);
	take_ledger(&ids, &s);
	take_names(&ids);
	ids_done(&ids);
	exchange(h);
	add_slice(h->profile, &s);
	exchange(h);
	vec_push(&h->slices, s);
	drop_old(h, to_ns);
}

/* ---- selections out ------------------------------------------------------ */

/* The first of the newest slices that cover `span_ns`. */
static size_t first_slice(const struct profile_history *h, uint64_t span_ns)
{
	size_t i = h->slices.count;
	uint64_t to_ns = i ? h->slices.items[i - 1].to_ns : 0;

	while (i && (i == h->slices.count || to_ns - h->slices.items[i].from_ns < span_ns))
		i--;
	return i;
}

uint64_t profile_history_start(const struct profile_history *h, uint64_t span_ns)
{
	if (!h->slices.count)
		return 0;
	return span_ns ? h->slices.items[first_slice(h, span_ns)].from_ns : h->start_ns;
}

static void clear_sums(struct profile_history *h)
{
	struct profile *p = h->profile;

	give_back(h);
	time_axis_done(&p->axis);
	time_axis_init(&p->axis, TIME_AXIS_BYTES);
	profile_forget_rows(p);
	p->ledger.machine_wide = false;
	p->ledger.counted_oncpu_ns = 0;
	p->recordings.count = 0; /* it belongs to the caller */
}

/* The rows are copied, since the weights of idle rows change; the axis has the same rows. */
static void select_all(struct profile_history *h)
{
	struct profile *p = h->profile;

	vec_each (row, &h->all.rows)
		add_row(p, row);
	add_ledger(p, &h->all.ledger);
	time_axis_done(&p->axis);
	p->axis = h->all.axis;
	h->borrows = true;
}

static void count_events(struct profile *p)
{
	vec_each (row, &p->rows) {
		p->events.items[row->event].samples += row->samples;
		p->events.items[row->event].weight += row->weight;
	}
}

/* A CPU whose rate changed has several lines: the first one has what is not known by rate. */
static void complete_cpu(struct profile *p, const struct account_cpu *account)
{
	struct ledger_cpu *first = NULL;
	uint64_t lost = 0;

	vec_each (line, &p->ledger.cpus) {
		if (line->cpu != account->cpu)
			continue;
		first = first ? first : line;
		line->has_steal = true;
		line->steal_ns = 0;
		lost += line->ticks_lost;
	}
	if (!first)
		return;
	first->steal_ns = account->stat_steal_ns;
	if (account->lost_records > lost)
		first->ticks_lost += account->lost_records - lost;
}

/* As a reader of the recording does at its end. */
static void complete_ledger(struct profile *p, const struct recording *r)
{
	vec_each (account, &r->account.cpus)
		complete_cpu(p, account);
	p->ledger.counted_oncpu_ns = r->account.counted_oncpu_ns;
}

struct profile *profile_history_select(struct profile_history *h, uint64_t span_ns,
                                       struct recording *r)
{
	struct profile *p = h->profile;

	clear_sums(h);
	vec_push(&p->recordings, r);
	if (span_ns)
		for (size_t i = first_slice(h, span_ns); i < h->slices.count; i++)
			add_slice(p, &h->slices.items[i]);
	else
		select_all(h);
	count_events(p);
	complete_ledger(p, r);
	profile_weigh_idle(p);
	return p;
}
