/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile.h"

struct profile *profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));
	struct path_node root = {PATH_ROOT, 0};
	struct profile_frame unknown = {.frame = {IMAGE_ID_UNKNOWN, 0}};

	image_table_init(&p->images);
	p->processes = process_table_new(&p->images);
	profile_frame_add(p, &unknown);
	vec_push(&p->paths, root);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	process_table_free(p->processes);
	image_table_done(&p->images);
	vec_each (sequence, &p->sequences)
		vec_done(&sequence->rows);
	vec_each (event, &p->events)
		free(event->name);
	vec_each (recording, &p->recordings) {
		recording_done(*recording);
		free(*recording);
	}
	vec_done(&p->frames);
	vec_done(&p->paths);
	vec_done(&p->rows);
	vec_done(&p->sequences);
	vec_done(&p->events);
	vec_done(&p->recordings);
	vec_done(&p->ledger.cpus);
	vec_done(&p->ledger.processes);
	id_table_done(&p->frame_index);
	id_table_done(&p->path_index);
	id_table_done(&p->row_index);
	free(p);
}

static bool frame_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_frame *a = &((const struct profile *)ctx)->frames.items[id], *b = key;

	return a->frame.offset == b->frame.offset && a->frame.image == b->frame.image &&
	       a->kernel == b->kernel && a->caller == b->caller;
}

uint32_t profile_frame_add(struct profile *p, const struct profile_frame *frame)
{
	uint64_t flags = (uint64_t)frame->kernel << 1 | frame->caller;
	uint64_t hash = hash_pair(frame->frame.offset, (uint64_t)frame->frame.image << 2 | flags);
	uint32_t id = id_table_find(&p->frame_index, hash, frame_equal, p, frame);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)p->frames.count;
	vec_push(&p->frames, *frame);
	id_table_add(&p->frame_index, hash, id);
	return id;
}

static bool path_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct path_node *a = &((const struct profile *)ctx)->paths.items[id], *b = key;

	return a->parent == b->parent && a->frame == b->frame;
}

uint32_t profile_path_add(struct profile *p, uint32_t parent, uint32_t frame)
{
	struct path_node node = {parent, frame};
	uint64_t hash = hash_pair(parent, frame);
	uint32_t id = id_table_find(&p->path_index, hash, path_equal, p, &node);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)p->paths.count;
	vec_push(&p->paths, node);
	id_table_add(&p->path_index, hash, id);
	return id;
}

static bool row_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_row *a = &((const struct profile *)ctx)->rows.items[id], *b = key;

	return a->path == b->path && a->thread == b->thread && a->region == b->region &&
	       a->cpu == b->cpu && a->event == b->event && a->mode == b->mode &&
	       a->stack_end == b->stack_end;
}

struct profile_row *profile_row_add(struct profile *p, const struct profile_row *key)
{
	uint64_t who = (uint64_t)key->cpu << 24 | (uint64_t)key->stack_end << 16 |
	               (uint64_t)key->event << 8 | key->mode;
	uint64_t hash =
	        hash_pair(hash_pair((uint64_t)key->path << 32 | key->thread, key->region), who);
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

uint8_t profile_main_event(const struct profile *p)
{
	for (size_t i = 0; i < p->events.count; i++)
		if (p->events.items[i].role == ATTR_CLOCK)
			return (uint8_t)i;
	return 0;
}

struct idle_time {
	double measured_ns, sampled_ns;
};

/* False where one of the recordings cannot tell. */
static bool idle_time_of(const struct ledger *l, uint32_t cpu, struct idle_time *t)
{
	*t = (struct idle_time){0};
	vec_each (c, &l->cpus) {
		if (c->cpu != cpu)
			continue;
		if (!c->has_switches || !c->period_ns)
			return false;
		t->measured_ns += (double)c->idle_ns;
		t->sampled_ns += (double)c->weight_idle;
	}
	return true;
}

/* A CPU on which no idle tick ever came: nobody knows where it stood, but for how long. */
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
	uint8_t event = profile_main_event(p);
	struct idle_time t;

	vec_each (row, &p->rows)
		if (row->mode == PROFILE_IDLE && row->event == event &&
		    idle_time_of(&p->ledger, row->cpu, &t) && t.sampled_ns > 0)
			row->weight =
			        (uint64_t)((double)row->weight * t.measured_ns / t.sampled_ns);
	for (size_t i = 0; p->ledger.machine_wide && i < p->ledger.cpus.count; i++) {
		uint32_t cpu = p->ledger.cpus.items[i].cpu;

		if (idle_time_of(&p->ledger, cpu, &t) && t.sampled_ns <= 0 && t.measured_ns > 0)
			add_unseen_idle(p, event, (uint16_t)cpu, t.measured_ns);
	}
}
