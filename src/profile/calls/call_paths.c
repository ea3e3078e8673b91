/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/calls/call_paths.h"

#include <math.h>

struct call_paths *call_paths_new(void)
{
	struct call_paths *c = xcalloc(1, sizeof(*c));

	image_table_init(&c->images);
	return c;
}

void call_paths_free(struct call_paths *c)
{
	if (!c)
		return;
	vec_each (p, &c->processes) {
		vec_done(&p->paths);
		vec_done(&p->threads);
		vec_each (times, &p->times)
			call_times_done(times);
		vec_done(&p->times);
		path_tree_done(&p->index);
	}
	vec_done(&c->processes);
	vec_done(&c->functions);
	id_table_done(&c->index);
	image_table_done(&c->images);
	free(c);
}

static bool function_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct call_paths *c = ctx;
	const struct call_function *a = &c->functions.items[id], *b = key;

	return a->kind == b->kind && a->frame.image == b->frame.image &&
	       a->frame.offset == b->frame.offset && a->library == b->library &&
	       a->counted == b->counted;
}

uint32_t call_paths_function(struct call_paths *c, const struct call_function *f)
{
	uint64_t what = (uint64_t)f->kind << 2 | (uint64_t)f->library << 1 | f->counted;
	uint64_t hash = hash_pair(f->frame.offset, (uint64_t)f->frame.image << 8 | what);
	uint32_t id = id_table_find(&c->index, hash, function_equal, c, f);

	if (id == ID_NONE) {
		id = (uint32_t)c->functions.count;
		vec_push(&c->functions, *f);
		id_table_add(&c->index, hash, id);
		return id;
	}
	if (!c->functions.items[id].name) {
		c->functions.items[id].name = f->name;
		c->functions.items[id].file = f->file;
		c->functions.items[id].line = f->line;
	}
	return id;
}

static void path_add(struct call_process *p, uint32_t parent, uint32_t function)
{
	vec_push(&p->paths, (struct call_path){.parent = parent,
	                                       .function = function,
	                                       .first_child = CALL_PATH_NONE,
	                                       .sibling = CALL_PATH_NONE,
	                                       .min_ns = NAN,
	                                       .max_ns = NAN});
}

uint32_t call_paths_process(struct call_paths *c, const char *name, int32_t pid)
{
	struct call_function outside = {.kind = CALL_OUTSIDE};
	uint32_t root = call_paths_function(c, &outside);
	struct call_process *p = vec_add(&c->processes);

	p->name = intern_add(&c->images.names, name);
	p->pid = pid;
	path_add(p, CALL_PATH_NONE, root);
	return (uint32_t)(c->processes.count - 1);
}

uint32_t call_path_child(struct call_process *p, uint32_t parent, uint32_t function)
{
	uint32_t next = (uint32_t)p->paths.count;
	uint32_t id = path_tree_step(&p->index, parent, function, next);

	if (id == next)
		path_add(p, parent, function);
	return id;
}

void call_path_range(struct call_path *path, double min_ns, double max_ns)
{
	/* fmin and fmax ignore a NAN argument. */
	path->min_ns = fmin(path->min_ns, min_ns);
	path->max_ns = fmax(path->max_ns, max_ns);
}

struct call_times *call_path_times(struct call_process *p, uint32_t path)
{
	struct call_path *of = &p->paths.items[path];

	if (!of->times) {
		vec_push(&p->times, (struct call_times){0});
		of->times = (uint32_t)p->times.count;
	}
	return &p->times.items[of->times - 1];
}

const struct call_times *call_path_times_of(const struct call_process *p, uint32_t path)
{
	uint32_t times = p->paths.items[path].times;

	return times ? &p->times.items[times - 1] : NULL;
}

/*
 * A path's index is larger than its parent's. From the last path to the first, each path is
 * complete before it is added to its parent. Errors are added linearly, because one wrong cost
 * shifts all of them in the same direction.
 */
static void close_process(struct call_process *p)
{
	vec_each (path, &p->paths) {
		path->first_child = path->sibling = CALL_PATH_NONE;
		path->total_ns = path->net_ns;
		path->total_error_ns = path->net_error_ns;
		path->total_samples = path->samples;
		path->total_blocked_ns = path->blocked_ns;
		path->total_preempted_ns = path->preempted_ns;
	}
	for (size_t i = p->paths.count; i-- > 1;) {
		struct call_path *path = &p->paths.items[i];
		struct call_path *parent = &p->paths.items[path->parent];

		path->sibling = parent->first_child;
		parent->first_child = (uint32_t)i;
		parent->total_ns += path->total_ns;
		parent->total_error_ns += path->total_error_ns;
		parent->total_samples += path->total_samples;
		parent->total_blocked_ns += path->total_blocked_ns;
		parent->total_preempted_ns += path->total_preempted_ns;
	}
}

void call_paths_close(struct call_paths *c)
{
	if (c->closed)
		return;
	c->closed = true;
	vec_each (p, &c->processes)
		close_process(p);
}

uint32_t call_path_depth(const struct call_process *p, uint32_t path)
{
	uint32_t depth = 0;

	for (; path; path = p->paths.items[path].parent)
		depth++;
	return depth;
}

size_t call_path_chain(const struct call_process *p, uint32_t path, uint32_t *chain, size_t max)
{
	size_t depth = call_path_depth(p, path), count = depth < max ? depth : max;

	for (size_t i = count; i--; path = p->paths.items[path].parent)
		chain[i] = path;
	return count;
}

uint64_t call_process_calls(const struct call_process *p)
{
	uint64_t calls = 0;

	vec_each (path, &p->paths)
		calls += path->calls;
	return calls;
}

double call_error_ns(double error_ns, bool is_sampled, uint64_t samples, double sample_ns)
{
	/* The wider half of the score interval of a Poisson count. */
	const double z = 1.96;

	if (!is_sampled)
		return error_ns;
	return error_ns + (z * z / 2 + z * sqrt((double)samples + z * z / 4)) * sample_ns;
}

double call_path_wall_ns(const struct call_path *path)
{
	return path->total_ns + path->total_blocked_ns + path->total_preempted_ns;
}

void call_process_walk(const struct call_process *p, call_path_fn *enter, call_path_fn *leave,
                       void *ctx)
{
	const struct call_path *paths = p->paths.items;
	uint32_t id = 0;

	enter(ctx, id);
	for (;;) {
		if (paths[id].first_child != CALL_PATH_NONE) {
			id = paths[id].first_child;
			enter(ctx, id);
			continue;
		}
		leave(ctx, id);
		while (id && paths[id].sibling == CALL_PATH_NONE) {
			id = paths[id].parent;
			leave(ctx, id);
		}
		if (!id)
			return;
		id = paths[id].sibling;
		enter(ctx, id);
	}
}
