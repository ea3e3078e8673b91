/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized.h"

#include "base/text/plural.h"

#include <string.h>

#define INLINES_MAX 64

struct samples_naming_naming {
	struct symbolized_profile *n;
	struct view *view;
	uint32_t *places; /* per frame: place + 1, 0: not made yet */
	uint32_t *images; /* per image: id + 1, 0: not made yet */
	uint32_t *paths;  /* per path node: path + 1; PENDING: needed; 0: not needed */
	uint32_t unknown; /* place of samples without frames; NAMED_NONE: not made yet */
	struct id_table symbol_index;
	VEC(struct known_symbol {
		const struct symbol *symbol;
		uint32_t function;
	})
	symbols;
};

#define PENDING UINT32_MAX

static uint32_t image_of(struct samples_naming_naming *g, uint32_t id)
{
	const struct image *image = &g->view->profile->images.images.items[id];
	struct named_image *made;

	if (!g->images[id]) {
		g->images[id] = (uint32_t)g->n->images.count + 1;
		made = vec_add(&g->n->images);
		made->name = named_text(g->n, image_path(&g->view->profile->images, id));
		made->build_id = image->build_id;
		made->low = 1;
	}
	return g->images[id] - 1;
}

static bool symbol_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct samples_naming_naming *)ctx)->symbols.items[id].symbol == key;
}

/* The one function of an image that stands for all of its code without symbols. */
static uint32_t unnamed(struct samples_naming_naming *g, uint32_t image)
{
	struct named_function f = {.name = named_text(g->n, SYMBOL_UNNAMED),
	                           .image = image_of(g, image)};

	return named_function_id(g->n, &f);
}

/* File and line are those of the function's first instruction. */
static uint32_t function_of(struct samples_naming_naming *g, uint32_t frame)
{
	const struct symbol *symbol = view_function(g->view, frame);
	uint32_t image = g->view->profile->frames.items[frame].frame.image;
	uint64_t hash = hash_u64((uintptr_t)symbol);
	uint32_t id = id_table_find(&g->symbol_index, hash, symbol_equal, g, symbol);
	struct named_function f = {.image = NAMED_NONE};
	struct frame start;
	const char *file;
	int line;

	if (!symbol->named)
		return unnamed(g, image);
	if (id != ID_NONE)
		return g->symbols.items[id].function;
	f.name = named_text(g->n, symbol->name);
	f.image = image_of(g, image);
	if (!symbol->range && symbolizer_frame(g->view->symbols, image, symbol->start, &start) &&
	    symbolizer_line(g->view->symbols, start, &file, &line)) {
		f.file = named_text(g->n, file);
		f.line = line > 0 ? (uint32_t)line : 0;
	}
	id_table_add(&g->symbol_index, hash, (uint32_t)g->symbols.count);
	vec_push(&g->symbols, (struct known_symbol){symbol, named_function_id(g->n, &f)});
	return vec_last(&g->symbols)->function;
}

static uint64_t address_of(const struct samples_naming_naming *g, struct frame frame)
{
	enum image_kind kind = g->view->profile->images.images.items[frame.image].kind;

	return kind == IMAGE_NAME || kind == IMAGE_JIT ? 0 : frame.offset;
}

/* Each function's line is the line of the code in it; for the caller of an inlined function it is
 * the line of the call. */
static void make_place(struct samples_naming_naming *g, uint32_t frame)
{
	struct symbol_inline found[INLINES_MAX];
	struct named_line lines[INLINES_MAX + 1];
	struct frame place = view_place(g->view, frame);
	size_t count = g->view->inlines
	                       ? symbolizer_inlines(g->view->symbols, place, found, INLINES_MAX)
	                       : 0;
	const char *file = NULL;
	int line = 0;

	if (!symbolizer_line(g->view->symbols, place, &file, &line))
		line = 0;
	for (size_t i = 0; i < count; i++) {
		struct named_function f = {.name = named_text(g->n, found[i].name),
		                           .file = file ? named_text(g->n, file) : 0,
		                           .image = image_of(g, place.image)};

		lines[i].function = named_function_id(g->n, &f);
		lines[i].line = line > 0 ? (uint32_t)line : 0;
		file = found[i].call_file;
		line = found[i].call_line;
	}
	lines[count].function = function_of(g, frame);
	lines[count].line = line > 0 ? (uint32_t)line : 0;
	g->places[frame] = 1 + named_place_add(g->n, image_of(g, place.image), address_of(g, place),
	                                       lines, count + 1);
}

/* Marks the nodes of a path, and their frames. */
static void want(struct samples_naming_naming *g, uint32_t node)
{
	const struct profile *p = g->view->profile;

	for (; node != PATH_ROOT && !g->paths[node]; node = p->paths.items[node].parent) {
		g->paths[node] = PENDING;
		g->places[p->paths.items[node].frame] = PENDING;
	}
}

/* Works image by image, so that the DWARF of each image is read only once. */
static void make_places(struct samples_naming_naming *g)
{
	const struct profile *p = g->view->profile;
	uint32_t *order = profile_frames_by_image(p);

	for (size_t i = 0; i < p->frames.count; i++)
		if (g->places[order[i]] == PENDING)
			make_place(g, order[i]);
	free(order);
}

/* Callers come before callees. */
static void make_paths(struct samples_naming_naming *g)
{
	const struct path_node *nodes = g->view->profile->paths.items;

	for (uint32_t i = 1; i < g->view->profile->paths.count; i++) {
		uint32_t parent = nodes[i].parent;

		if (g->paths[i] == PENDING)
			g->paths[i] =
			        1 + named_path_step(g->n,
			                            parent == PATH_ROOT ? NAMED_ROOT
			                                                : g->paths[parent] - 1,
			                            g->places[nodes[i].frame] - 1);
	}
}

static uint32_t path_of(struct samples_naming_naming *g, uint32_t node)
{
	if (node != PATH_ROOT)
		return g->paths[node] - 1;
	if (g->unknown == NAMED_NONE)
		g->unknown = named_place_word(g->n, VIEW_NO_ADDRESS);
	return named_path_step(g->n, NAMED_ROOT, g->unknown);
}

/* Returns its row in `n`. */
static uint32_t add_row(struct samples_naming_naming *g, const struct profile_row *row, bool wait)
{
	const struct process_table *t = g->view->profile->processes;
	const struct thread *thread = process_table_thread_at(t, row->thread);
	const struct process *process = process_table_process(t, thread->process);
	struct named_owner who = {.process = named_text(g->n, process_table_name(t, process->name)),
	                          .thread = named_text(g->n, process_table_name(t, thread->name)),
	                          .pid = process->pid,
	                          .tid = thread->tid};
	const uint64_t values[NAMED_VALUES] = {wait ? 0 : row->samples, wait ? 0 : row->weight,
	                                       wait ? row->runnable_ns : 0,
	                                       wait ? row->blocked_ns : 0};
	struct named_row *to;

	if (view_is_interrupt(g->view, row))
		who = (struct named_owner){.process = named_text(g->n, VIEW_INTERRUPTS), .pid = -1};
	to = named_row_of(g->n, path_of(g, view_row_path(g->view, row)),
	                  named_owner_id(g->n, &who));
	for (unsigned i = 0; i < NAMED_VALUES; i++)
		to->values[i] = named_add(to->values[i],
		                          values[i] > INT64_MAX ? INT64_MAX : (int64_t)values[i]);
	return (uint32_t)(to - g->n->rows.items);
}

/* Whether the event's weight is a time, not a number of cycles or events. */
static bool measures_time(const struct profile_event *e)
{
	return e->period_ns || (e->role == ATTR_CLOCK && (!strncmp(e->name, "cpu-clock", 9) ||
	                                                  !strncmp(e->name, "task-clock", 10)));
}

static void set_values(struct symbolized_profile *n, const struct profile *p,
                       const struct selection *s)
{
	const struct profile_event *e =
	        s->event < p->events.count ? &p->events.items[s->event] : NULL;

	n->values[0] = (struct named_value){"samples", "count"};
	n->values[1] = (struct named_value){"events", "count"};
	n->values[2] = (struct named_value){"runnable", "nanoseconds"};
	n->values[3] = (struct named_value){"blocked", "nanoseconds"};
	if (e && measures_time(e))
		n->values[1] = (struct named_value){"cpu", "nanoseconds"};
	else if (e)
		n->values[1].name = e->name;
	n->value_count = s->waits.count ? 4 : 2;
	n->main_value = s->weight ? 1 : 0;
	n->period_of = n->values[1];
	n->period = e && e->period_ns ? (int64_t)e->period_ns : 0;
}

static void describe(struct symbolized_profile *n, const struct view *v)
{
	const struct profile *p = v->profile;

	vec_each (item, &p->recordings) {
		const struct recording *r = *item;
		int64_t time_ns = (int64_t)(recording_time_s(r) * 1000000000u);

		if (time_ns && (!n->time_ns || time_ns < n->time_ns))
			n->time_ns = time_ns;
		n->duration_ns += (int64_t)(r->last_sample_ns - r->first_sample_ns);
		if (r->cmdline)
			named_comment(n, "%s", r->cmdline);
		if (r->cmdline && !n->command)
			n->command = named_text(n, r->cmdline);
		if (recording_lost(r))
			named_comment(n, "%s: %llu %s lost", r->path ? r->path : "",
			              (unsigned long long)recording_lost(r),
			              plural(recording_lost(r), "record was", "records were"));
		if (r->truncated)
			named_comment(n, "%s: cut short", r->path ? r->path : "");
	}
	named_comment(n, "inlined functions: %s", view_inlines_text(v->inlines));
}

void named_of_samples(struct symbolized_profile *n, struct view *v, const struct selection *s,
                      uint32_t *rows)
{
	const struct profile *p = v->profile;
	struct samples_naming_naming g = {.n = n, .view = v, .unknown = NAMED_NONE};

	set_values(n, p, s);
	describe(n, v);
	g.places = xcalloc(p->frames.count + 1, sizeof(*g.places));
	g.images = xcalloc(p->images.images.count + 1, sizeof(*g.images));
	g.paths = xcalloc(p->paths.count + 1, sizeof(*g.paths));
	vec_each (id, &s->rows)
		want(&g, view_row_path(v, &p->rows.items[*id]));
	vec_each (id, &s->waits)
		want(&g, view_row_path(v, &p->rows.items[*id]));
	make_places(&g);
	make_paths(&g);
	for (size_t i = 0; rows && i < p->rows.count; i++)
		rows[i] = NAMED_NONE;
	vec_each (id, &s->rows) {
		uint32_t row = add_row(&g, &p->rows.items[*id], false);

		if (rows)
			rows[*id] = row;
	}
	vec_each (id, &s->waits)
		add_row(&g, &p->rows.items[*id], true);
	free(g.places);
	free(g.images);
	free(g.paths);
	id_table_done(&g.symbol_index);
	vec_done(&g.symbols);
}
