/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile.h"

#include "base/memory/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds the unknown frame and the empty path, which each profile has. */
static void add_roots(struct profile *p)
{
	struct path_node root = {PATH_ROOT, 0};
	struct profile_frame unknown = {.frame = {IMAGE_ID_UNKNOWN, 0}};

	profile_frame_add(p, &unknown);
	vec_push(&p->paths, root);
}

struct profile *profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	image_table_init(&p->images);
	time_axis_init(&p->axis, TIME_AXIS_BYTES);
	p->processes = process_table_new(&p->images);
	add_roots(p);
	return p;
}

void profile_forget_rows(struct profile *p)
{
	/* A table of the size of a full window would slow down each small window after it. */
	if (p->row_index.count * 16 < p->row_index.mask)
		id_table_done(&p->row_index);
	else
		id_table_clear(&p->row_index);
	p->rows.count = 0;
	time_axis_clear(&p->axis);
	p->ledger.cpus.count = p->ledger.processes.count = 0;
	vec_each (event, &p->events)
		event->samples = event->weight = 0;
}

void profile_forget_paths(struct profile *p)
{
	id_table_done(&p->frame_index);
	path_tree_done(&p->path_index);
	p->frames.count = p->paths.count = 0;
	add_roots(p);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	process_table_free(p->processes);
	image_table_done(&p->images);
	time_axis_done(&p->axis);
	switch_log_done(&p->switches);
	wait_log_done(&p->waits);
	sample_fields_done(&p->fields);
	system_calls_done(&p->system_calls);
	vec_each (event, &p->events)
		free(event->name);
	vec_each (recording, &p->recordings) {
		recording_done(*recording);
		free(*recording);
	}
	vec_done(&p->frames);
	vec_done(&p->paths);
	vec_done(&p->rows);
	vec_done(&p->events);
	vec_done(&p->recordings);
	vec_done(&p->windows);
	vec_done(&p->ledger.cpus);
	vec_done(&p->ledger.processes);
	id_table_done(&p->frame_index);
	path_tree_done(&p->path_index);
	id_table_done(&p->row_index);
	free(p);
}

static bool frame_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_frame *a = &((const struct profile *)ctx)->frames.items[id], *b = key;

	return a->frame.offset == b->frame.offset && a->frame.image == b->frame.image &&
	       a->kernel == b->kernel && a->caller == b->caller;
}

static uint64_t frame_hash(const struct profile_frame *f)
{
	uint64_t flags = (uint64_t)f->kernel << 1 | f->caller;

	return hash_pair(f->frame.offset, (uint64_t)f->frame.image << 2 | flags);
}

struct frame profile_frame_place(const struct profile *p, const struct profile_frame *frame)
{
	struct frame place = frame->frame;

	if (frame->caller && place.offset && p->images.images.items[place.image].kind != IMAGE_NAME)
		place.offset--;
	return place;
}

uint32_t profile_frame_add(struct profile *p, const struct profile_frame *frame)
{
	uint64_t hash = frame_hash(frame);
	uint32_t id = id_table_find(&p->frame_index, hash, frame_equal, p, frame);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)p->frames.count;
	vec_push(&p->frames, *frame);
	id_table_add(&p->frame_index, hash, id);
	return id;
}

uint32_t *profile_frames_by_image(const struct profile *p)
{
	uint32_t *next = xcalloc(p->images.images.count + 1, sizeof(*next));
	uint32_t *order = xcalloc(p->frames.count + 1, sizeof(*order));

	vec_each (f, &p->frames)
		next[f->frame.image + 1]++;
	for (size_t i = 1; i < p->images.images.count; i++)
		next[i] += next[i - 1];
	for (uint32_t i = 0; i < p->frames.count; i++)
		order[next[p->frames.items[i].frame.image]++] = i;
	free(next);
	return order;
}

/*
 * The frame is compared only by 64 bits of hash, so that a known step of a path reads no other
 * table. The probability that two frames below one parent are confused is 1 in 10^19.
 */
uint32_t profile_path_step(struct profile *p, uint32_t parent, const struct profile_frame *frame)
{
	uint32_t next = (uint32_t)p->paths.count;
	uint32_t id = path_tree_step(&p->path_index, parent, frame_hash(frame), next);

	if (id == next)
		vec_push(&p->paths, (struct path_node){parent, profile_frame_add(p, frame)});
	return id;
}

uint32_t profile_path_add(struct profile *p, uint32_t parent, uint32_t frame)
{
	struct profile_frame known = p->frames.items[frame];

	return profile_path_step(p, parent, &known);
}

static bool row_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_row *a = &((const struct profile *)ctx)->rows.items[id], *b = key;

	return a->path == b->path && a->thread == b->thread && a->region == b->region &&
	       a->window == b->window && a->cpu == b->cpu && a->event == b->event &&
	       a->mode == b->mode && a->stack_end == b->stack_end;
}

uint64_t profile_row_hash(const struct profile_row *key)
{
	uint64_t who = (uint64_t)key->cpu << 24 | (uint64_t)key->stack_end << 16 |
	               (uint64_t)key->event << 8 | key->mode;

	return hash_pair((uint64_t)key->path << 32 | key->thread,
	                 (uint64_t)key->region << 40 ^ (uint64_t)key->window << 33 ^ who);
}

struct profile_row *profile_row_add_hashed(struct profile *p, const struct profile_row *key,
                                           uint64_t hash)
{
	uint32_t id = id_table_find(&p->row_index, hash, row_equal, p, key);
	struct profile_row row = *key;

	if (id != ID_NONE)
		return &p->rows.items[id];
	id = (uint32_t)p->rows.count;
	row.samples = row.weight = row.runnable_ns = row.blocked_ns = 0;
	vec_push(&p->rows, row);
	id_table_add(&p->row_index, hash, id);
	return &p->rows.items[id];
}

struct profile_row *profile_row_add(struct profile *p, const struct profile_row *key)
{
	return profile_row_add_hashed(p, key, profile_row_hash(key));
}

void profile_seal(struct profile *p)
{
	id_table_done(&p->frame_index);
	id_table_done(&p->row_index);
	path_tree_done(&p->path_index);
}

/* The first event of a role, with samples if `sampled`; events.count: none. */
static size_t first_event(const struct profile *p, enum attr_role role, bool sampled)
{
	size_t i = 0;

	while (i < p->events.count &&
	       (p->events.items[i].role != role || (sampled && !p->events.items[i].samples)))
		i++;
	return i;
}

struct event_choice {
	enum attr_role role;
	bool sampled;
};

static uint8_t choose_event(const struct profile *p, const struct event_choice *choices,
                            size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t event = first_event(p, choices[i].role, choices[i].sampled);

		if (event < p->events.count)
			return (uint8_t)event;
	}
	return 0;
}

uint8_t profile_main_event(const struct profile *p)
{
	static const struct event_choice choices[] = {
	        {ATTR_CLOCK, true}, {ATTR_COUNT, true}, {ATTR_CLOCK, false}, {ATTR_SWITCH, true}};

	return choose_event(p, choices, sizeof(choices) / sizeof(*choices));
}

uint8_t profile_clock_event(const struct profile *p)
{
	static const struct event_choice choices[] = {
	        {ATTR_CLOCK, true}, {ATTR_CLOCK, false}, {ATTR_COUNT, true}, {ATTR_SWITCH, true}};

	return choose_event(p, choices, sizeof(choices) / sizeof(*choices));
}

int profile_find_event(const struct profile *p, const char *name, uint8_t *event, struct error *err)
{
	struct buf names = {0};
	int ret;

	*event = profile_main_event(p);
	if (!name)
		return 0;
	vec_each (e, &p->events) {
		if (!strcmp(e->name, name)) {
			*event = (uint8_t)(e - p->events.items);
			buf_done(&names);
			return 0;
		}
		if (e->role != ATTR_WITNESS && e->role != ATTR_TRACK)
			buf_addf(&names, "%s%s", names.size ? ", " : "", e->name);
	}
	ret = error_set(err, ENOENT, "the event '%s' was not recorded; the recording has %s", name,
	                buf_text(&names));
	buf_done(&names);
	return ret;
}

/* One CPU. */
struct idle_time {
	uint32_t cpu;
	bool is_measured; /* every recording has switch records and a clock */
	bool has_rows;    /* without ticks the row has no weight */
	double measured_ns, sampled_ns;
};

static struct idle_time *idle_time_of(struct idle_time *times, size_t count, uint32_t cpu)
{
	for (size_t i = 0; i < count; i++)
		if (times[i].cpu == cpu)
			return &times[i];
	return NULL;
}

/* Returns the times of the CPUs that the ledger has; the caller frees them. */
static struct idle_time *idle_times(const struct profile *p, uint8_t event, size_t *count)
{
	struct idle_time *times = xcalloc(p->ledger.cpus.count + 1, sizeof(*times)), *t;

	*count = 0;
	vec_each (c, &p->ledger.cpus) {
		t = idle_time_of(times, *count, c->cpu);
		if (!t) {
			t = &times[(*count)++];
			*t = (struct idle_time){.cpu = c->cpu, .is_measured = true};
		}
		t->is_measured &= c->has_switches && c->period_ns;
		t->measured_ns += (double)c->idle_ns;
	}
	vec_each (row, &p->rows) {
		t = row->mode == PROFILE_IDLE && row->event == event
		            ? idle_time_of(times, *count, row->cpu)
		            : NULL;
		if (!t)
			continue;
		t->has_rows = true;
		t->sampled_ns += (double)row->weight;
	}
	return times;
}

/* The CPU had no tick while idle: the kernel function is unknown, but the time is known. */
static void add_unseen_idle(struct profile *p, uint8_t event, uint16_t cpu, double ns)
{
	struct profile_frame frame = {
	        .frame = {.image = image_table_named(&p->images, IMAGE_NAME, "[idle]"),
	                  .offset = intern_add(&p->images.names, "[no tick came]")},
	        .kernel = true};
	struct profile_row key = {
	        .path = profile_path_add(p, PATH_ROOT, profile_frame_add(p, &frame)),
	        .thread = process_table_thread(p->processes, 0, 0),
	        .region = REGION_NONE,
	        .cpu = cpu,
	        .event = event,
	        .mode = PROFILE_IDLE};

	profile_row_add(p, &key)->weight = (uint64_t)ns;
}

void profile_weigh_idle(struct profile *p)
{
	uint8_t event = profile_clock_event(p);
	size_t count;
	struct idle_time *times = idle_times(p, event, &count), *t;

	vec_each (row, &p->rows) {
		t = row->mode == PROFILE_IDLE && row->event == event
		            ? idle_time_of(times, count, row->cpu)
		            : NULL;
		if (t && t->is_measured && t->sampled_ns > 0)
			row->weight =
			        (uint64_t)((double)row->weight * t->measured_ns / t->sampled_ns);
	}
	for (size_t i = 0; p->ledger.machine_wide && i < count; i++)
		if (times[i].is_measured && times[i].sampled_ns <= 0 && times[i].measured_ns > 0)
			add_unseen_idle(p, event, (uint16_t)times[i].cpu, times[i].measured_ns);
	free(times);
}

void profile_mark_unseen_idle(struct profile *p)
{
	uint8_t event = profile_clock_event(p);
	size_t count;
	struct idle_time *times = idle_times(p, event, &count);

	for (size_t i = 0; p->ledger.machine_wide && i < count; i++)
		if (times[i].is_measured && !times[i].has_rows && times[i].measured_ns > 0)
			add_unseen_idle(p, event, (uint16_t)times[i].cpu, 0);
	free(times);
}

uint64_t profile_offset_ns(const struct profile *p, uint32_t recording)
{
	return p->recordings.count > 1 ? recording_wall_offset(p->recordings.items[recording]) : 0;
}

void profile_span(const struct profile *p, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = UINT64_MAX;
	*to_ns = 0;
	for (uint32_t i = 0; i < p->recordings.count; i++) {
		uint64_t start_ns, end_ns, offset = profile_offset_ns(p, i);

		recording_span(p->recordings.items[i], &start_ns, &end_ns);
		if (start_ns + offset < *from_ns)
			*from_ns = start_ns + offset;
		if (end_ns + offset > *to_ns)
			*to_ns = end_ns + offset;
	}
	/* There are pauses between the sessions of a store, which are not in its length. */
	vec_each (track, &p->axis.tracks) {
		uint64_t end_ns = (track->last.tick << p->axis.shift) + p->axis.window_ns +
		                  profile_offset_ns(p, track->recording);

		if (p->axis.window_ns && end_ns > *to_ns)
			*to_ns = end_ns;
	}
}
