/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_window.h"

#include "store/frame_names.h"
#include "symbol/symbolizer.h"
#include "view/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct push_window {
	struct push_window_options o;
	struct push_services services;
	struct frame_names *names;
};

/* A window while it is converted. */
struct converting {
	struct push_window *w;
	const struct profile *p;
	struct symbolized_profile *n;
	uint8_t event;
	uint32_t *places; /* of this service, per frame: place + 1, 0: none */
	uint32_t *images; /* likewise, per image */
	uint32_t *paths;  /* likewise, per node */
};

struct push_window *push_window_new(const struct push_window_options *o)
{
	struct push_window *w = xcalloc(1, sizeof(*w));

	w->o = *o;
	w->o.service = o->service ? xstrdup(o->service) : NULL;
	push_services_init(&w->services);
	w->services.service = w->o.service;
	w->names = frame_names_new(o->name, o->name_ctx);
	return w;
}

void push_window_free(struct push_window *w)
{
	if (!w)
		return;
	push_services_done(&w->services);
	frame_names_free(w->names);
	free((char *)(uintptr_t)w->o.service);
	free(w);
}

static bool is_wanted(const struct converting *c, const struct profile_row *row)
{
	return row->event == c->event && row->mode != PROFILE_IDLE && row->samples;
}

static void name_frames(struct converting *c)
{
	struct frame_names *names = c->w->names;

	frame_names_begin(names, c->p);
	vec_each (row, &c->p->rows)
		if (is_wanted(c, row))
			frame_names_want(names, row->path);
	frame_names_find(names);
}

/* ---- one service --------------------------------------------------------- */

static uint32_t image_of(struct converting *c, uint32_t id)
{
	struct named_image *made;

	if (!c->images[id]) {
		c->images[id] = (uint32_t)c->n->images.count + 1;
		made = vec_add(&c->n->images);
		made->name = named_text(c->n, image_path(&c->p->images, id));
		made->build_id = c->p->images.images.items[id].build_id;
		made->low = 1;
	}
	return c->images[id] - 1;
}

static uint32_t place_of(struct converting *c, uint32_t id)
{
	const struct frame *f = &c->p->frames.items[id].frame;
	const char *name = frame_names_of(c->w->names, id);
	enum image_kind kind = c->p->images.images.items[f->image].kind;
	struct named_function function = {.image = image_of(c, f->image)};
	struct named_line line = {0};

	if (c->places[id])
		return c->places[id] - 1;
	function.name = named_text(c->n, name ? name : SYMBOL_UNNAMED);
	line.function = named_function_id(c->n, &function);
	c->places[id] = 1 + named_place_add(c->n, function.image,
	                                    kind == IMAGE_JIT || kind == IMAGE_NAME ? 0 : f->offset,
	                                    &line, 1);
	return c->places[id] - 1;
}

/* The outermost frame first; without frames the path is VIEW_NO_ADDRESS. */
static uint32_t path_of(struct converting *c, uint32_t node)
{
	const struct path_node *nodes = c->p->paths.items;
	VEC(uint32_t) way = {0};
	uint32_t path = NAMED_ROOT;

	if (node == PATH_ROOT)
		return named_path_step(c->n, NAMED_ROOT, named_place_word(c->n, VIEW_NO_ADDRESS));
	if (c->paths[node])
		return c->paths[node];
	for (uint32_t at = node; at != PATH_ROOT; at = nodes[at].parent)
		vec_push(&way, at);
	for (size_t i = way.count; i-- > 0;) {
		uint32_t at = way.items[i];

		if (!c->paths[at])
			c->paths[at] = named_path_step(c->n, path, place_of(c, nodes[at].frame));
		path = c->paths[at];
	}
	vec_done(&way);
	return path;
}

static void add_row(struct converting *c, const struct profile_row *row)
{
	const struct process_table *t = c->p->processes;
	const struct thread *thread = process_table_thread_at(t, row->thread);
	const struct process *process = process_table_process(t, thread->process);
	const struct named_owner who = {
	        .process = named_text(c->n, process_table_name(t, process->name)),
	        .thread = named_text(c->n, process_table_name(t, thread->name)),
	        .pid = process->pid,
	        .tid = thread->tid};
	uint32_t owner = named_owner_id(c->n, &who);
	struct named_row *to = named_row_of(c->n, path_of(c, row->path), owner);

	to->values[0] = named_add(to->values[0], (int64_t)row->samples);
	to->values[1] = named_add(to->values[1],
	                          row->weight > INT64_MAX ? INT64_MAX : (int64_t)row->weight);
}

static void describe(struct converting *c, uint64_t start_ns, uint64_t end_ns)
{
	const struct profile_event *e = &c->p->events.items[c->event];
	struct symbolized_profile *n = c->n;

	n->values[0] = (struct named_value){"samples", "count"};
	n->values[1] = e->role == ATTR_CLOCK && e->period_ns
	                       ? (struct named_value){"cpu", "nanoseconds"}
	                       : (struct named_value){"events", "count"};
	n->value_count = 2;
	n->main_value = 1;
	n->period_of = n->values[1];
	n->period = (int64_t)e->period_ns;
	n->depth_max = NAMED_DEPTH_MAX;
	n->time_ns = (int64_t)start_ns;
	n->duration_ns = (int64_t)(end_ns - start_ns);
}

uint64_t push_window_unlabelled(const struct push_window *w)
{
	return w->services.unlabelled;
}

static void clear(struct converting *c)
{
	memset(c->places, 0, c->p->frames.count * sizeof(*c->places));
	memset(c->images, 0, c->p->images.images.count * sizeof(*c->images));
	memset(c->paths, 0, c->p->paths.count * sizeof(*c->paths));
}

/* ---- a window ------------------------------------------------------------ */

static int convert(struct converting *c, uint64_t start_ns, uint64_t end_ns, push_window_fn *fn,
                   void *ctx, struct error *err)
{
	struct push_window *w = c->w;
	uint32_t *services = xcalloc(c->p->rows.count + 1, sizeof(*services));
	int ret = 0;

	for (size_t i = 0; i < c->p->rows.count; i++)
		if (is_wanted(c, &c->p->rows.items[i]))
			services[i] = push_service_of(&w->services, c->p, &c->p->rows.items[i]);
	for (uint32_t id = 1; !ret && id <= push_services_count(&w->services); id++) {
		struct symbolized_profile n;
		struct push_group group;

		push_service_group(&w->services, id, &group);
		symbolized_profile_init(&n);
		c->n = &n;
		describe(c, start_ns, end_ns);
		clear(c);
		for (size_t i = 0; i < c->p->rows.count; i++)
			if (services[i] == id)
				add_row(c, &c->p->rows.items[i]);
		if (n.rows.count)
			ret = fn(ctx, &group, &n, err);
		symbolized_profile_done(&n);
	}
	free(services);
	return ret;
}

int push_window_split(struct push_window *w, const struct profile *p, uint64_t start_ns,
                      uint64_t end_ns, push_window_fn *fn, void *ctx, struct error *err)
{
	struct converting c = {.w = w, .p = p, .event = profile_main_event(p)};
	int ret;

	if (!p->rows.count || !p->events.count)
		return 0;
	/* Ids of processes may have changed since the last window, and cgroups too. */
	push_services_restart(&w->services);
	c.places = xcalloc(p->frames.count + 1, sizeof(*c.places));
	c.images = xcalloc(p->images.images.count + 1, sizeof(*c.images));
	c.paths = xcalloc(p->paths.count + 1, sizeof(*c.paths));
	name_frames(&c);
	ret = convert(&c, start_ns, end_ns, fn, ctx, err);
	free(c.places);
	free(c.images);
	free(c.paths);
	return ret;
}
