/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the live processes of an unlimited recording into a new table. */
#include "process/process_internal.h"

#include <string.h>

/*
 * The last samples of a thread come shortly after its exit: an ended thread is kept for this time.
 */
#define RECENT_NS 100000000u
/*
 * Lost records may have been exits, so a thread without records since then may have ended. At most
 * this many such threads are kept, the most recently active first.
 */
#define DOUBTFUL_MAX 8192
/* Number of ancestors in which names of generated code are looked up. */
#define ANCESTORS_MAX 16

struct carried_set {
	const struct map_set *old;
	struct map_set *now;
};

struct carry {
	const struct process_table *old;
	const struct image_table *old_images;
	struct process_table *t;
	bool *thread_kept, *process_kept;
	uint32_t *process_now; /* new id by old id */
	uint32_t *image_now;   /* new image by old image; ID_NONE: not copied yet */
	VEC(struct carried_set) sets;
	struct id_table set_index;
	uint64_t latest_ns;
	struct process_kept_maps kept;
};

struct doubtful {
	uint64_t heard;
	uint32_t thread;
};

/* Its name is one of the shared names in the new table. */
static struct thread_records state_of_thread(const struct process_table *t, uint32_t thread)
{
	struct thread_records state = {0};

	if (thread < t->thread_states.count)
		state = t->thread_states.items[thread];
	state.own_name = 0;
	return state;
}

static void find_latest(struct carry *c)
{
	vec_each (thread, &c->old->threads) {
		if (thread->start_ns > c->latest_ns)
			c->latest_ns = thread->start_ns;
		if (thread->end_ns > c->latest_ns)
			c->latest_ns = thread->end_ns;
	}
}

/*
 * True if the thread stays. A thread added for a stray record never ends, so it stays only while
 * records keep mentioning it.
 */
static bool thread_stays(const struct carry *c, uint32_t id)
{
	const struct thread *thread = &c->old->threads.items[id];
	struct thread_records state = state_of_thread(c->old, id);

	if (pid_map_get(&c->old->by_tid, thread->tid) != id)
		return false;
	if (thread->end_ns)
		return thread->end_ns + RECENT_NS >= c->latest_ns;
	return state.announced || state.heard >= c->old->carried_moment || !thread->tid;
}

static int compare_doubtful(const void *pa, const void *pb)
{
	const struct doubtful *a = pa, *b = pb;

	if (a->heard != b->heard)
		return a->heard < b->heard ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void drop_doubtful(struct carry *c)
{
	VEC(struct doubtful) doubtful = {0};

	for (uint32_t i = 0; c->old->lost_moment && i < c->old->threads.count; i++) {
		uint64_t heard = state_of_thread(c->old, i).heard;

		if (c->thread_kept[i] && heard < c->old->lost_moment &&
		    c->old->threads.items[i].tid)
			vec_push(&doubtful, (struct doubtful){heard, i});
	}
	if (doubtful.count > DOUBTFUL_MAX) {
		qsort(doubtful.items, doubtful.count, sizeof(*doubtful.items), compare_doubtful);
		for (size_t i = 0; i < doubtful.count - DOUBTFUL_MAX; i++)
			c->thread_kept[doubtful.items[i].thread] = false;
	}
	vec_done(&doubtful);
}

/*
 * Keeps the ancestors: the process may run code that an ancestor generated, and the names of that
 * code are looked up by the ancestor's pid.
 */
static void keep_ancestors(struct carry *c, uint32_t process)
{
	const struct process_table *old = c->old;

	for (int depth = 0; depth < ANCESTORS_MAX; depth++) {
		const struct map_set *maps = old->states.items[process].maps;

		if (!old->states.items[process].forked || !maps || !maps->generated)
			return;
		process = old->processes.items[process].parent;
		if (process == ID_NONE)
			return;
		c->process_kept[process] = true;
	}
}

static void choose(struct carry *c)
{
	const struct process_table *old = c->old;

	find_latest(c);
	for (uint32_t i = 0; i < old->threads.count; i++)
		c->thread_kept[i] = thread_stays(c, i);
	drop_doubtful(c);
	for (uint32_t i = 0; i < old->threads.count; i++)
		if (c->thread_kept[i])
			c->process_kept[old->threads.items[i].process] = true;
	for (uint32_t i = 0; i < old->processes.count; i++) {
		const struct process *p = &old->processes.items[i];

		/* Only maps of this process are known so far. */
		if (!old->states.items[i].live_threads && !p->end_ns &&
		    p->serial > old->carried_serial && pid_map_get(&old->by_pid, p->pid) == i)
			c->process_kept[i] = true;
	}
	for (uint32_t i = (uint32_t)old->processes.count; old->jit_fn && i-- > 0;)
		if (c->process_kept[i])
			keep_ancestors(c, i);
}

static uint32_t carry_name(struct carry *c, uint32_t name)
{
	return name == ID_NONE ? ID_NONE
	                       : intern_add(&c->t->names, intern_text(&c->old->names, name));
}

static uint32_t carry_image(struct carry *c, uint32_t id)
{
	struct image image = c->old_images->images.items[id];

	if (c->image_now[id] != ID_NONE)
		return c->image_now[id];
	image.path = intern_add(&c->t->images->names, image_path(c->old_images, id));
	/* Names of generated code are looked up again when the next sample needs them. */
	image.jit = NULL;
	image.kept = NULL;
	image.generated = 0;
	c->image_now[id] = image_table_add(c->t->images, &image);
	return c->image_now[id];
}

static struct map_set *copy_set(struct carry *c, const struct map_set *old, uint64_t order)
{
	struct map_set *now = map_set_new(old->version, &c->t->mappings_held);

	size_t kept = 0;

	now->generated = old->generated;
	vec_each (m, &old->maps)
		kept += m->order >= order;
	c->t->dropped_mappings += old->maps.count - kept;
	map_set_reserve(now, kept);
	vec_each (m, &old->maps) {
		struct mapping copy = *m;

		if (m->order < order)
			continue;
		copy.image = carry_image(c, m->image);
		vec_push(&now->maps, copy);
	}
	return now;
}

static bool same_set(const void *ctx, uint32_t id, const void *key)
{
	const struct carry *c = ctx;

	return c->sets.items[id].old == key;
}

/* Shared sets stay shared. */
static struct map_set *carry_set(struct carry *c, const struct map_set *old)
{
	uint64_t hash = hash_u64((uintptr_t)old);
	uint64_t order = process_kept_maps_order(&c->kept, old, c->old_images);
	uint32_t id;

	if (old->refs == 1)
		return copy_set(c, old, order);
	id = id_table_find(&c->set_index, hash, same_set, c, old);
	if (id != ID_NONE)
		return map_set_ref(c->sets.items[id].now);
	id_table_add(&c->set_index, hash, (uint32_t)c->sets.count);
	vec_push(&c->sets, (struct carried_set){old, copy_set(c, old, order)});
	return vec_last(&c->sets)->now;
}

static struct process_jit *carry_jit(const struct process_jit *old)
{
	struct process_jit *jit;

	if (!old || !old->dump)
		return NULL;
	jit = xcalloc(1, sizeof(*jit));
	jit->dump = xstrdup(old->dump);
	jit->major = old->major;
	jit->minor = old->minor;
	jit->inode = old->inode;
	return jit;
}

static void carry_process(struct carry *c, uint32_t old_id)
{
	const struct process_table *old = c->old;
	struct process p = old->processes.items[old_id];
	struct process_state state = old->states.items[old_id];
	uint32_t id = (uint32_t)c->t->processes.count;

	c->process_now[old_id] = id;
	p.name = carry_name(c, p.name);
	p.cgroup = carry_name(c, p.cgroup);
	p.version = carry_name(c, p.version);
	p.labels = carry_name(c, p.labels);
	state.live_threads = 0;
	state.jit = carry_jit(state.jit);
	if (state.maps)
		state.maps = carry_set(c, state.maps);
	vec_push(&c->t->processes, p);
	vec_push(&c->t->states, state);
	if (pid_map_get(&old->by_pid, p.pid) == old_id)
		pid_map_set(&c->t->by_pid, p.pid, id);
}

static void carry_processes(struct carry *c)
{
	const struct process_table *old = c->old;

	for (uint32_t i = 0; i < old->processes.count; i++)
		if (c->process_kept[i])
			carry_process(c, i);
	vec_each (p, &c->t->processes)
		if (p->parent != ID_NONE)
			p->parent = c->process_now[p->parent];
}

static void carry_threads(struct carry *c)
{
	for (uint32_t i = 0; i < c->old->threads.count; i++) {
		struct thread thread = c->old->threads.items[i];
		uint32_t id = (uint32_t)c->t->threads.count;

		if (!c->thread_kept[i])
			continue;
		thread.process = c->process_now[thread.process];
		thread.name = carry_name(c, thread.name);
		vec_push(&c->t->threads, thread);
		*process_thread_state(c->t, id) = state_of_thread(c->old, i);
		pid_map_set(&c->t->by_tid, thread.tid, id);
		c->t->states.items[thread.process].live_threads += !thread.end_ns;
	}
}

static void carry_ended(struct carry *c)
{
	const struct process_table *old = c->old;
	size_t count = old->ended_count < ENDED_KEPT ? old->ended_count : ENDED_KEPT;

	for (size_t i = old->ended_count - count; i < old->ended_count; i++) {
		uint32_t id = c->process_now[old->ended[i % ENDED_KEPT]];

		if (id != ID_NONE)
			c->t->ended[c->t->ended_count++ % ENDED_KEPT] = id;
	}
}

static void carry_kernel(struct carry *c)
{
	const struct process_table *old = c->old;
	struct process_table *t = c->t;

	map_set_unref(t->kernel);
	t->kernel = copy_set(c, old->kernel, 0);
	if (old->kernel_image != ID_NONE)
		t->kernel_image = carry_image(c, old->kernel_image);
	process_kernel_code_carry(t, old);
	vec_each (known, &old->build_ids)
		process_table_build_id(t, intern_text(&c->old_images->names, known->name),
		                       &known->id);
}

static void carry_numbers(struct process_table *t, const struct process_table *old)
{
	t->labels = old->labels == ID_NONE
	                    ? ID_NONE
	                    : intern_add(&t->names, intern_text(&old->names, old->labels));
	t->version = old->version;
	t->process_serial = t->carried_serial = old->process_serial;
	t->thread_serial = old->thread_serial;
	t->moment = t->carried_moment = old->moment + 1;
	t->lost_moment = old->lost_moment;
	t->mapping_order = old->mapping_order;
	t->dropped_mappings = old->dropped_mappings;
	t->jit_fn = old->jit_fn;
	t->jit_ctx = old->jit_ctx;
	t->jit_again = old->jit_again;
	t->jit_round = old->jit_round;
}

struct process_table *process_table_carry(const struct process_table *old,
                                          const struct image_table *old_images,
                                          struct image_table *images)
{
	struct carry c = {.old = old, .old_images = old_images, .t = process_table_new(images)};
	size_t processes = old->processes.count, threads = old->threads.count;

	c.thread_kept = xcalloc(threads + 1, sizeof(*c.thread_kept));
	c.process_kept = xcalloc(processes + 1, sizeof(*c.process_kept));
	c.process_now = xmalloc((processes + 1) * sizeof(*c.process_now));
	c.image_now = xmalloc((old_images->images.count + 1) * sizeof(*c.image_now));
	memset(c.process_now, 0xff, (processes + 1) * sizeof(*c.process_now));
	memset(c.image_now, 0xff, (old_images->images.count + 1) * sizeof(*c.image_now));
	carry_numbers(c.t, old);
	choose(&c);
	process_kept_maps_init(&c.kept, old, old_images, c.process_kept);
	carry_kernel(&c);
	carry_processes(&c);
	carry_threads(&c);
	carry_ended(&c);
	process_instances_carry(c.t, old);
	process_cgroups_carry(c.t, old);
	process_kept_maps_done(&c.kept);
	if (old->bounded)
		process_table_bound(c.t);
	free(c.thread_kept);
	free(c.process_kept);
	free(c.process_now);
	free(c.image_now);
	vec_done(&c.sets);
	id_table_done(&c.set_index);
	return c.t;
}

void process_table_settle(struct process_table *t)
{
	vec_each (p, &t->processes)
		p->changed = false;
	vec_each (thread, &t->threads)
		thread->changed = false;
}
