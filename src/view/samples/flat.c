/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/flat.h"

#include "view/confidence/group_confidence.h"
#include "view/groups/frame_groups.h"
#include "view/joined.h"
#include "view/samples/process_key.h"
#include "view/samples/sample_without.h"

#include <string.h>

#define FLAT_SLOTS (FLAT_KEYS + 2) /* an address and a function take two slots */
#define NO_SYMBOL_BIT ((uint64_t)1 << 63)

struct group_memo {
	uint32_t group; /* group + 1; 0: none yet */
	uint16_t mode;  /* enum view_mode */
	uint16_t rule_group;
	uint64_t process;
};

/* State while grouping: the index from a group's key to its id, and the texts of source lines. */
struct flat_grouping {
	struct flat *flat;
	struct id_table index;
	size_t slot_count;
	VEC(uint64_t) slots; /* group * slot_count: its key */
	struct intern lines;
	/* If the key depends on frame, mode, process and group only: the last group of each frame
	 */
	struct group_memo *memo; /* per frame id, NULL: other keys */
	bool by_process, by_function;
	struct frame_groups *groups;       /* with FLAT_GROUP */
	uint32_t *group_of;                /* per profile row, NULL: not needed */
	struct intern texts;               /* of labels */
	VEC(uint64_t) text_of[FLAT_FIELD]; /* by key, then by process: text + 1, 0: not known */
};

bool flat_has_key(const struct flat *f, enum flat_key key)
{
	for (size_t i = 0; i < f->request.key_count; i++)
		if (f->request.keys[i] == key)
			return true;
	return false;
}

static bool has_field(const struct flat *f)
{
	for (size_t i = 0; i < f->request.key_count; i++)
		if (flat_key_is_field(f->request.keys[i]))
			return true;
	return false;
}

static uint64_t line_slot(struct flat_grouping *g, uint32_t frame)
{
	struct buf text = {0};
	uint32_t id;

	view_line_text(g->flat->view, frame, false, &text);
	id = intern_add(&g->lines, buf_text(&text));
	buf_done(&text);
	return id;
}

static uint64_t function_slot(struct view *v, uint32_t frame)
{
	const struct symbol *symbol = view_joined_function(v, frame);

	if (symbol->named)
		return (uint64_t)(uintptr_t)symbol;
	return NO_SYMBOL_BIT | view_joined_image(v, v->profile->frames.items[frame].frame.image);
}

static uint64_t frame_slot(struct flat_grouping *g, uint32_t frame, enum flat_key key)
{
	struct view *v = g->flat->view;

	if (frame == ID_NONE)
		return UINT64_MAX;
	if (key == FLAT_FUNCTION)
		return function_slot(v, frame);
	if (key == FLAT_LINE)
		return line_slot(g, frame);
	/* Addresses differ between builds. */
	if (key == FLAT_ADDRESS)
		return v->profile->frames.items[frame].frame.image;
	return view_joined_image(v, v->profile->frames.items[frame].frame.image);
}

static bool is_process_key(enum flat_key key)
{
	return key == FLAT_PROCESS || key == FLAT_INSTANCE || key == FLAT_THREAD ||
	       key == FLAT_CGROUP || process_key_is(key);
}

/* Containers and labels are compared by their texts, which are made once for each process. */
static uint64_t text_slot(struct flat_grouping *g, uint32_t process, enum flat_key key)
{
	const struct process_table *t = g->flat->view->profile->processes;
	struct buf text = {0};
	uint64_t *known;

	known = vec_at(&g->text_of[key], process);
	if (!*known) {
		process_key_text(t, process_table_process(t, process), key, g->flat->request.labels,
		                 false, &text);
		*known = (uint64_t)intern_add(&g->texts, buf_text(&text)) + 1;
		buf_done(&text);
	}
	return *known;
}

/* All interrupts are one process, thread and cgroup. */
static uint64_t process_slot(struct flat_grouping *g, const struct profile_row *row,
                             enum flat_key key)
{
	struct view *v = g->flat->view;
	uint32_t id = view_counted_process(v, row);

	if (id == ID_NONE)
		return UINT64_MAX;
	if (process_key_is(key))
		return text_slot(g, id, key);
	if (key == FLAT_INSTANCE)
		return id;
	if (key == FLAT_THREAD)
		return row->thread;
	return key == FLAT_PROCESS ? view_process(v, row)->name : view_process(v, row)->cgroup;
}

/* A user function that called the kernel has mode user, even if the sample was taken in the
 * kernel. */
static uint64_t mode_slot(struct view *v, const struct profile_row *row, uint32_t frame)
{
	if (frame != ID_NONE && !v->profile->frames.items[frame].kernel &&
	    row->mode == PROFILE_KERNEL)
		return VIEW_USER;
	return view_mode(v, row);
}

enum view_mode flat_mode(const struct flat *f, const struct flat_row *row)
{
	return (enum view_mode)mode_slot(f->view, &f->view->profile->rows.items[row->example],
	                                 row->frame);
}

static bool is_frame_key(enum flat_key key)
{
	return key == FLAT_IMAGE || key == FLAT_FUNCTION || key == FLAT_LINE || key == FLAT_ADDRESS;
}

static uint32_t innermost(const struct profile *p, uint32_t path)
{
	return path == PATH_ROOT ? ID_NONE : p->paths.items[path].frame;
}

/* The rules' group; the remaining functions of the kernel and of programs are two groups. */
static uint64_t group_slot(struct flat_grouping *g, uint32_t path)
{
	uint16_t group = frame_groups_of(g->flat->groups, path);
	uint32_t frame = innermost(g->flat->view->profile, path);
	bool kernel = frame != ID_NONE && g->flat->view->profile->frames.items[frame].kernel;

	return group == GROUP_NONE && kernel ? UINT64_MAX : group;
}

/* A text of profile.fields. */
static uint64_t field_slot(const struct profile *p, const struct profile_row *row,
                           enum flat_key key)
{
	size_t width = p->fields.labels.count, field = key - FLAT_FIELD;

	if (field >= width || row->region >= p->fields.values.count / width)
		return UINT64_MAX;
	return p->fields.values.items[row->region * width + field];
}

static bool slots_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct flat_grouping *g = ctx;

	return !memcmp(&g->slots.items[id * g->slot_count], key,
	               g->slot_count * sizeof(*g->slots.items));
}

/* Fills the group's key and returns its hash. */
static uint64_t fill_slots(struct flat_grouping *g, uint32_t row_id, uint32_t path,
                           const char *inlined, uint64_t *slots)
{
	struct flat *f = g->flat;
	const struct profile_row *row = &f->view->profile->rows.items[row_id];
	uint32_t frame = innermost(f->view->profile, path);
	size_t n = 0;

	for (size_t i = 0; i < f->request.key_count; i++) {
		enum flat_key key = f->request.keys[i];

		slots[n++] = is_frame_key(key)        ? frame_slot(g, frame, key)
		             : is_process_key(key)    ? process_slot(g, row, key)
		             : key == FLAT_MODE       ? mode_slot(f->view, row, frame)
		             : key == FLAT_CPU        ? row->cpu
		             : key == FLAT_GROUP      ? group_slot(g, path)
		             : flat_key_is_field(key) ? field_slot(f->view->profile, row, key)
		                                      : row->region;
		if (key == FLAT_ADDRESS && frame != ID_NONE)
			slots[n] = f->view->profile->frames.items[frame].frame.offset;
		n += key == FLAT_ADDRESS;
		if (key == FLAT_FUNCTION) {
			if (inlined)
				slots[n - 1] = view_joined_image(
				        f->view, f->view->profile->frames.items[frame].frame.image);
			slots[n++] = (uint64_t)(uintptr_t)inlined;
		}
	}
	return hash_bytes(slots, n * sizeof(*slots));
}

static struct flat_row *group_add(struct flat_grouping *g, uint32_t row_id, uint32_t path,
                                  const char *inlined)
{
	struct flat *f = g->flat;
	uint64_t slots[FLAT_SLOTS] = {0};
	uint64_t hash = fill_slots(g, row_id, path, inlined, slots);
	uint32_t id = id_table_find(&g->index, hash, slots_equal, g, slots);
	struct flat_row *added;

	if (id != ID_NONE)
		return &f->rows.items[id];
	id_table_add(&g->index, hash, (uint32_t)f->rows.count);
	added = vec_add(&f->rows);
	for (size_t i = 0; i < g->slot_count; i++)
		vec_push(&g->slots, slots[i]);
	added->example = row_id;
	added->frame = innermost(f->view->profile, path);
	added->path = path;
	added->inlined = inlined;
	added->mark = ID_NONE;
	return added;
}

/* `inlined`: the function that is inlined at the end of the path; NULL: the function there. */
static struct flat_row *group_row(struct flat_grouping *g, uint32_t row_id, uint32_t path,
                                  const char *inlined)
{
	uint32_t frame = innermost(g->flat->view->profile, path);
	const struct profile_row *row = &g->flat->view->profile->rows.items[row_id];
	struct group_memo *memo = g->memo && frame != ID_NONE && !inlined ? &g->memo[frame] : NULL;
	struct flat_row *group;
	uint16_t mode, rule_group;
	uint64_t process;

	if (!memo)
		return group_add(g, row_id, path, inlined);
	mode = (uint16_t)mode_slot(g->flat->view, row, frame);
	rule_group = g->groups ? frame_groups_of(g->groups, path) : 0;
	process = g->by_process ? process_slot(g, row, FLAT_PROCESS) : 0;
	if (memo->group && memo->mode == mode && memo->process == process &&
	    memo->rule_group == rule_group)
		return &g->flat->rows.items[memo->group - 1];
	group = group_add(g, row_id, path, NULL);
	*memo = (struct group_memo){(uint32_t)(group - g->flat->rows.items) + 1, mode, rule_group,
	                            process};
	return group;
}

/* The function number `i` that is inlined at the end of a path, outermost first; NULL: none. */
static const char *inlined_at(struct flat_grouping *g, uint32_t path, size_t i)
{
	uint32_t frame = innermost(g->flat->view->profile, path);

	return frame != ID_NONE && g->by_function ? view_inlined(g->flat->view, frame)[i] : NULL;
}

/* The innermost function that is inlined at the end of a path; NULL: none is. */
static const char *innermost_inlined(struct flat_grouping *g, uint32_t path)
{
	const char *found = NULL, *name;

	for (size_t i = 0; (name = inlined_at(g, path, i)); i++)
		found = name;
	return found;
}

static struct flat_row *group_of_path(struct flat_grouping *g, uint32_t row_id, uint32_t path)
{
	return group_row(g, row_id, path, innermost_inlined(g, path));
}

static void add_total(struct flat_row *group, const struct profile_row *row, uint32_t row_id,
                      bool removed)
{
	if (group->mark == row_id)
		return;
	group->mark = row_id;
	group->total_samples += row->samples;
	group->total_weight += row->weight;
	if (removed) {
		group->removed_total_samples += row->samples;
		group->removed_total_weight += row->weight;
	}
}

static void add_row(struct flat_grouping *g, uint32_t row_id)
{
	struct flat *f = g->flat;
	const struct profile *p = f->view->profile;
	const struct profile_row *row = &p->rows.items[row_id];
	const char *inlined;
	/* The number of waits and their time belong in one row. */
	uint32_t path = view_row_path(f->view, row);
	struct flat_row *group = group_of_path(g, row_id, path);
	bool removed = f->request.without && sample_is_removed(f->request.without, row->path);

	if (removed) {
		group->removed_samples += row->samples;
		group->removed_weight += row->weight;
	}
	group->samples += row->samples;
	group->weight += row->weight;
	f->samples += row->samples;
	f->weight += row->weight;
	add_total(group, row, row_id, removed);
	if (g->group_of)
		g->group_of[row_id] = (uint32_t)(group - f->rows.items);
	if (!f->request.children)
		return;
	for (uint32_t n = path; n != PATH_ROOT; n = p->paths.items[n].parent) {
		add_total(group_row(g, row_id, n, NULL), row, row_id, removed);
		for (size_t i = 0; (inlined = inlined_at(g, n, i)); i++)
			add_total(group_row(g, row_id, n, inlined), row, row_id, removed);
	}
}

static void add_wait_to(struct flat_row *group, const struct profile_row *row, uint32_t row_id)
{
	if (group->mark == row_id)
		return;
	group->mark = row_id;
	group->runnable_ns += row->runnable_ns;
	group->blocked_ns += row->blocked_ns;
}

/* With children, a wait is added to every group on its path. */
static void add_wait(struct flat_grouping *g, uint32_t row_id)
{
	struct flat *f = g->flat;
	const struct profile *p = f->view->profile;
	const struct profile_row *row = &p->rows.items[row_id];
	uint32_t path = view_row_path(f->view, row);
	const char *inlined;

	add_wait_to(group_of_path(g, row_id, path), row, row_id);
	for (uint32_t n = path; f->request.children && n != PATH_ROOT;
	     n = p->paths.items[n].parent) {
		add_wait_to(group_row(g, row_id, n, NULL), row, row_id);
		for (size_t i = 0; (inlined = inlined_at(g, n, i)); i++)
			add_wait_to(group_row(g, row_id, n, inlined), row, row_id);
	}
	f->runnable_ns += row->runnable_ns;
	f->blocked_ns += row->blocked_ns;
	f->has_waits = true;
}

double flat_share(const struct flat *f, uint64_t weight, uint64_t samples)
{
	if (f->base_weight)
		return (double)weight / (double)f->base_weight;
	return f->base_samples ? (double)samples / (double)f->base_samples : 0;
}

static void fill_shares(struct flat *f)
{
	vec_each (row, &f->rows) {
		row->share = row->low = row->high = flat_share(f, row->weight, row->samples);
		row->total_share = flat_share(f, row->total_weight, row->total_samples);
	}
}

/* The witness's samples are in no table, so they create no groups. */
static void group_witness(struct flat_grouping *g, const struct selection *s)
{
	const struct profile *p = g->flat->view->profile;
	uint64_t slots[FLAT_SLOTS];

	vec_each (id, &s->witness) {
		uint64_t hash;

		memset(slots, 0, sizeof(slots));
		hash = fill_slots(g, *id, p->rows.items[*id].path,
		                  innermost_inlined(g, p->rows.items[*id].path), slots);
		g->group_of[*id] = id_table_find(&g->index, hash, slots_equal, g, slots);
	}
}

/* Fills the intervals of these rows; group_of: indexes in `rows`. */
static void fill_intervals(struct flat *f, const struct selection *s, const uint32_t *group_of,
                           const size_t *rows, size_t count)
{
	struct group_confidence_group *groups = xcalloc(count + 1, sizeof(*groups));

	for (size_t i = 0; i < count; i++)
		groups[i].share = f->rows.items[rows ? rows[i] : i].share;
	group_confidence_intervals(f->view, s, group_of, groups, count);
	for (size_t i = 0; i < count; i++) {
		struct flat_row *row = &f->rows.items[rows ? rows[i] : i];

		row->low = groups[i].low;
		row->high = groups[i].high;
		row->step_clock = groups[i].clock;
		row->step_witness = groups[i].witness;
	}
	free(groups);
}

/* Only keys that depend on frame, mode, process and group can be cached per frame. */
static bool is_memorable(const struct flat_request *request)
{
	for (size_t i = 0; i < request->key_count; i++)
		if (!is_frame_key(request->keys[i]) && request->keys[i] != FLAT_MODE &&
		    request->keys[i] != FLAT_PROCESS && request->keys[i] != FLAT_GROUP)
			return false;
	return true;
}

struct flat *flat_new(struct view *v, const struct selection *s, const struct flat_request *request)
{
	struct flat *f = xcalloc(1, sizeof(*f));
	struct flat_grouping g = {.flat = f};
	bool by_field; /* the times of waits have no fields */

	f->view = v;
	f->request = *request;
	by_field = has_field(f);
	f->base_samples = s->base_samples;
	f->base_weight = s->base_weight;
	g.by_function = flat_has_key(f, FLAT_FUNCTION);
	g.slot_count = f->request.key_count + flat_has_key(f, FLAT_ADDRESS) + g.by_function;
	g.by_process = flat_has_key(f, FLAT_PROCESS);
	if (flat_has_key(f, FLAT_GROUP))
		f->groups = g.groups = frame_groups_new(v, request->rules);
	intern_init(&g.lines);
	intern_init(&g.texts);
	if (is_memorable(request))
		g.memo = xcalloc(v->profile->frames.count + 1, sizeof(*g.memo));
	if (request->intervals || request->groups)
		g.group_of = group_confidence_groups_new(v);
	vec_each (id, &s->rows)
		add_row(&g, *id);
	/* A row of switches is in both lists: clear the marks, so that its waits are added too. */
	vec_each (row, &f->rows)
		row->mark = ID_NONE;
	vec_each (id, &s->waits)
		if (!by_field || v->profile->rows.items[*id].region != REGION_NONE)
			add_wait(&g, *id);
	fill_shares(f);
	if (g.group_of)
		group_witness(&g, s);
	if (request->intervals)
		fill_intervals(f, s, g.group_of, NULL, f->rows.count);
	if (request->groups)
		f->group_of = g.group_of;
	else
		free(g.group_of);
	free(g.memo);
	id_table_done(&g.index);
	vec_done(&g.slots);
	intern_done(&g.lines);
	intern_done(&g.texts);
	for (size_t i = 0; i < FLAT_FIELD; i++)
		vec_done(&g.text_of[i]);
	return f;
}

static void choose_group(const struct flat *f, uint32_t row, const size_t *rows, size_t count,
                         uint32_t *group_of)
{
	for (size_t i = 0; i < count; i++)
		if (f->group_of[row] == rows[i])
			group_of[row] = (uint32_t)i;
}

void flat_intervals(struct flat *f, const struct selection *s, const size_t *rows, size_t count)
{
	uint32_t *group_of = group_confidence_groups_new(f->view);

	vec_each (id, &s->rows)
		choose_group(f, *id, rows, count, group_of);
	vec_each (id, &s->witness)
		choose_group(f, *id, rows, count, group_of);
	fill_intervals(f, s, group_of, rows, count);
	free(group_of);
}

void flat_keep(struct flat *f, const size_t *rows, size_t count)
{
	struct flat_row *kept = xcalloc(count + 1, sizeof(*kept));

	for (size_t i = 0; i < count; i++)
		kept[i] = f->rows.items[rows[i]];
	free(f->rows.items);
	f->rows.items = kept;
	f->rows.count = f->rows.room = count;
	free(f->group_of);
	f->group_of = NULL;
}

void flat_free(struct flat *f)
{
	if (!f)
		return;
	free(f->group_of);
	frame_groups_free(f->groups);
	vec_done(&f->rows);
	free(f);
}

const char *flat_function(const struct flat *f, const struct flat_row *row)
{
	const struct symbol *symbol;

	if (row->frame == ID_NONE)
		return VIEW_NO_ADDRESS;
	if (row->inlined)
		return row->inlined;
	symbol = view_function(f->view, row->frame);
	return symbol_text(symbol);
}

uint64_t flat_address(const struct flat *f, const struct flat_row *row)
{
	if (row->frame == ID_NONE)
		return 0;
	return symbolizer_address(f->view->symbols,
	                          f->view->profile->frames.items[row->frame].frame);
}

uint64_t flat_offset(const struct flat *f, const struct flat_row *row)
{
	return row->frame == ID_NONE ? 0 : f->view->profile->frames.items[row->frame].frame.offset;
}
