/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_sums.h"

#include "base/memory/xalloc.h"
#include "view/groups/group_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_owners(enum flat_key key)
{
	return key == FLAT_PROCESS || key == FLAT_INSTANCE || key == FLAT_THREAD;
}

static bool is_told(enum flat_key key)
{
	return is_owners(key) || key == FLAT_IMAGE || key == FLAT_FUNCTION || key == FLAT_LINE ||
	       key == FLAT_ADDRESS || key == FLAT_GROUP;
}

int named_keys_check(const enum flat_key *keys, size_t count, bool children, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_told(keys[i]))
			return error_set(
			        err, EINVAL,
			        "--sort %s: these paths do not have it; their keys are "
			        "process, instance, thread, image, function, line, address and "
			        "group",
			        flat_key_name(keys[i]));
		if (children && is_owners(keys[i]))
			return error_set(err, EINVAL,
			                 "--children with --sort %s: there are sums with callees "
			                 "only by image, function, line and address; --comm and "
			                 "--pid select a process",
			                 flat_key_name(keys[i]));
	}
	return 0;
}

/* A function without a line is its own group; the bit distinguishes it from a file id. */
#define NO_LINE (UINT64_C(1) << 32)

static void where_slots(const struct symbolized_profile *n, enum flat_key key, uint32_t place,
                        uint32_t line, uint64_t *slots)
{
	const struct named_line *l = line == NAMED_NONE ? NULL : &n->lines.items[line];
	const struct named_function *f = l ? &n->functions.items[l->function] : NULL;
	uint32_t image = place == NAMED_NONE ? NAMED_NONE : n->places.items[place].image;

	if (key == FLAT_IMAGE || key == FLAT_ADDRESS)
		slots[0] = image == NAMED_NONE ? 0 : (uint64_t)n->images.items[image].name + 1;
	if (key == FLAT_ADDRESS)
		slots[1] = place == NAMED_NONE ? 0 : n->places.items[place].address;
	else if (key == FLAT_FUNCTION)
		slots[0] = f ? (uint64_t)f->name + 1 : 0;
	else if (key == FLAT_LINE && f) {
		bool known = f->file && l->line;

		slots[0] = known ? f->file : NO_LINE | f->name;
		slots[1] = known ? l->line : 0;
	}
}

static uint64_t rule_slot(const struct symbolized_sums *s, uint32_t place, uint32_t line)
{
	bool is_kernel;
	uint16_t group = named_group(s->selection->n, s->rules, place, line, &is_kernel);

	return group == GROUP_NONE && is_kernel ? UINT64_MAX : group;
}

static void owner_slots(const struct named_owner *o, enum flat_key key, uint64_t *slots)
{
	slots[0] = key == FLAT_THREAD ? o->thread : o->process;
	slots[1] = key == FLAT_INSTANCE ? (uint32_t)o->pid
	           : key == FLAT_THREAD ? (uint32_t)o->tid
	                                : 0;
}

static bool sum_equal(const void *ctx, uint32_t id, const void *key)
{
	return !memcmp(((const struct symbolized_sums *)ctx)->sums.items[id].slots, key,
	               sizeof(uint64_t[NAMED_SLOTS]));
}

static uint32_t sum_of(struct symbolized_sums *s, uint32_t owner, uint32_t place, uint32_t line)
{
	const struct symbolized_profile *n = s->selection->n;
	struct named_sum made = {.owner = owner, .place = place, .line = line};
	uint64_t hash;
	uint32_t id;

	for (size_t i = 0; i < s->key_count; i++) {
		if (s->keys[i] == FLAT_GROUP)
			made.slots[2 * i] = rule_slot(s, place, line);
		else if (!is_owners(s->keys[i]))
			where_slots(n, s->keys[i], place, line, &made.slots[2 * i]);
		else if (owner != NAMED_NONE)
			owner_slots(&n->owners.items[owner], s->keys[i], &made.slots[2 * i]);
	}
	hash = hash_bytes(made.slots, sizeof(made.slots));
	id = id_table_find(&s->index, hash, sum_equal, s, made.slots);
	if (id != ID_NONE)
		return id;
	id = (uint32_t)s->sums.count;
	id_table_add(&s->index, hash, id);
	vec_push(&s->sums, made);
	return id;
}

static void add_selves(struct symbolized_sums *s)
{
	const struct symbolized_profile *n = s->selection->n;

	vec_each (id, &s->selection->rows) {
		const struct named_row *row = &n->rows.items[*id];
		uint32_t place = n->paths.items[row->path].place;
		uint32_t line = place == NAMED_NONE ? NAMED_NONE : named_leaf(s->selection, place);
		uint32_t sum = sum_of(s, row->owner, place, line);

		for (unsigned v = 0; v < n->value_count; v++)
			s->sums.items[sum].values[v] =
			        named_add(s->sums.items[sum].values[v], row->values[v]);
		s->sums.items[sum].self = s->sums.items[sum].values[n->main_value];
		if (named_is_removed(s->selection, row->path))
			s->sums.items[sum].removed =
			        named_add(s->sums.items[sum].removed, row->values[n->main_value]);
	}
}

/* State of the walk over the paths. */
struct descent {
	struct symbolized_sums *sums;
	int64_t *values;  /* per path: the values of its rows and of all its descendants */
	int64_t *removed; /* the removed part of the values */
	bool *used;       /* per path: it or a descendant has selected rows */
	uint32_t *first_child, *next; /* per path; only paths in use */
	uint32_t *sum_of_line;        /* per line of n: sum + 1; 0: not looked up yet */
	VEC(uint32_t) open;           /* per sum: number of its lines on the current path */
};

static void sum_paths(struct descent *d)
{
	const struct named_selection *s = d->sums->selection;
	const struct symbolized_profile *n = s->n;

	vec_each (id, &s->rows) {
		const struct named_row *row = &n->rows.items[*id];

		d->used[row->path] = true;
		d->values[row->path] = named_add(d->values[row->path], row->values[n->main_value]);
		if (named_is_removed(s, row->path))
			d->removed[row->path] =
			        named_add(d->removed[row->path], row->values[n->main_value]);
	}
	/* Callees come after their callers. */
	for (uint32_t i = (uint32_t)n->paths.count; i-- > 1;) {
		uint32_t parent = n->paths.items[i].parent;

		if (!d->used[i])
			continue;
		d->used[parent] = true;
		d->values[parent] = named_add(d->values[parent], d->values[i]);
		d->removed[parent] = named_add(d->removed[parent], d->removed[i]);
		d->next[i] = d->first_child[parent];
		d->first_child[parent] = i;
	}
}

static uint32_t line_sum(struct descent *d, uint32_t place, uint32_t line)
{
	if (!d->sum_of_line[line])
		d->sum_of_line[line] = 1 + sum_of(d->sums, NAMED_NONE, place, line);
	while (d->open.count < d->sums->sums.count)
		vec_push(&d->open, 0);
	return d->sum_of_line[line] - 1;
}

/* Enters or leaves a path. On entry, the path's value is added to each of its functions that is not
 * on the current path already. */
static void pass(struct descent *d, uint32_t path, bool in)
{
	const struct named_selection *s = d->sums->selection;
	uint32_t place = s->n->paths.items[path].place;
	const struct named_place *p;
	uint32_t first;

	if (place == NAMED_NONE)
		return;
	p = &s->n->places.items[place];
	first = named_leaf(s, place);
	for (uint32_t line = first; p->count && line < p->first + p->count; line++) {
		uint32_t id = line_sum(d, place, line);
		struct named_sum *sum = &d->sums->sums.items[id];

		if (!in)
			d->open.items[id]--;
		else if (!d->open.items[id]++) {
			sum->total = named_add(sum->total, d->values[path]);
			sum->total_removed = named_add(sum->total_removed, d->removed[path]);
		}
	}
}

/* Walks depth first, without recursion: recorded paths may have any depth. */
static void descend(struct descent *d)
{
	const struct symbolized_profile *n = d->sums->selection->n;
	uint32_t path = NAMED_ROOT;

	for (;;) {
		if (d->first_child[path] != NAMED_NONE) {
			path = d->first_child[path];
			pass(d, path, true);
			continue;
		}
		while (path != NAMED_ROOT && d->next[path] == NAMED_NONE) {
			pass(d, path, false);
			path = n->paths.items[path].parent;
		}
		if (path == NAMED_ROOT)
			return;
		pass(d, path, false);
		path = d->next[path];
		pass(d, path, true);
	}
}

/* Rows without a call path have no callees: their total is their own value. */
static void add_rootless(struct symbolized_sums *s)
{
	const struct symbolized_profile *n = s->selection->n;

	vec_each (of, &s->selection->rows) {
		const struct named_row *row = &n->rows.items[*of];
		struct named_sum *sum;
		uint32_t id;

		if (n->paths.items[row->path].place != NAMED_NONE)
			continue;
		id = sum_of(s, row->owner, NAMED_NONE, NAMED_NONE); /* may move the items */
		sum = &s->sums.items[id];
		sum->total = named_add(sum->total, row->values[n->main_value]);
		if (named_is_removed(s->selection, row->path))
			sum->total_removed =
			        named_add(sum->total_removed, row->values[n->main_value]);
	}
}

static void add_totals(struct symbolized_sums *s)
{
	const struct symbolized_profile *n = s->selection->n;
	struct descent d = {.sums = s};

	d.values = xcalloc(n->paths.count + 1, sizeof(*d.values));
	d.removed = xcalloc(n->paths.count + 1, sizeof(*d.removed));
	d.used = xcalloc(n->paths.count + 1, sizeof(*d.used));
	d.first_child = xmalloc((n->paths.count + 1) * sizeof(*d.first_child));
	d.next = xmalloc((n->paths.count + 1) * sizeof(*d.next));
	d.sum_of_line = xcalloc(n->lines.count + 1, sizeof(*d.sum_of_line));
	memset(d.first_child, 0xff, (n->paths.count + 1) * sizeof(*d.first_child));
	memset(d.next, 0xff, (n->paths.count + 1) * sizeof(*d.next));
	sum_paths(&d);
	descend(&d);
	add_rootless(s);
	free(d.values);
	free(d.removed);
	free(d.used);
	free(d.first_child);
	free(d.next);
	free(d.sum_of_line);
	vec_done(&d.open);
}

/* Groups without a value of their own are rows only in tables with callees. */
static void drop_callers(struct symbolized_sums *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->sums.count; i++)
		if (s->sums.items[i].self)
			s->sums.items[kept++] = s->sums.items[i];
	s->sums.count = kept;
}

struct symbolized_sums *symbolized_sums_new(const struct named_selection *s,
                                            const enum flat_key *keys, size_t count, bool children,
                                            struct group_rules *rules)
{
	struct symbolized_sums *made = xcalloc(1, sizeof(*made));

	made->selection = s;
	made->rules = rules;
	made->key_count = count;
	made->children = children;
	made->has_totals = true;
	for (size_t i = 0; i < count; i++) {
		made->keys[i] = keys[i];
		made->has_totals &= !is_owners(keys[i]);
	}
	add_selves(made);
	if (made->has_totals)
		add_totals(made);
	if (!children)
		drop_callers(made);
	return made;
}

void symbolized_sums_free(struct symbolized_sums *s)
{
	if (!s)
		return;
	vec_done(&s->sums);
	id_table_done(&s->index);
	free(s);
}

static void owner_cell(const struct symbolized_profile *n, uint32_t owner, enum flat_key key,
                       struct buf *out)
{
	const struct named_owner *o = &n->owners.items[owner];
	const char *name = intern_text(&n->texts, key == FLAT_THREAD ? o->thread : o->process);

	buf_puts(out, *name ? name : "[unknown]");
	if (key == FLAT_INSTANCE && o->pid)
		buf_addf(out, " (%" PRId32 ")", o->pid);
	if (key == FLAT_THREAD && o->tid)
		buf_addf(out, " (%" PRId32 ")", o->tid);
}

static void line_cell(const struct symbolized_profile *n, uint32_t line, bool brief,
                      struct buf *out)
{
	const struct named_line *l = &n->lines.items[line];
	const struct named_function *f = &n->functions.items[l->function];
	const char *file = intern_text(&n->texts, f->file);

	if (*file && l->line)
		buf_addf(out, "%s:%" PRIu32, brief ? named_file_short(file) : file, l->line);
	else
		buf_addf(out, "%s:?", intern_text(&n->texts, f->name));
}

void symbolized_sums_cell(const struct symbolized_sums *s, const struct named_sum *sum,
                          enum flat_key key, bool brief, struct buf *out)
{
	const struct symbolized_profile *n = s->selection->n;
	uint32_t image = sum->place == NAMED_NONE ? NAMED_NONE : n->places.items[sum->place].image;
	bool is_kernel;

	if (is_owners(key)) {
		owner_cell(n, sum->owner, key, out);
	} else if (key == FLAT_GROUP) {
		uint16_t group = named_group(n, s->rules, sum->place, sum->line, &is_kernel);

		buf_puts(out, group_rules_name(s->rules, group, is_kernel));
	} else if (key == FLAT_IMAGE)
		buf_puts(out, named_image_name(n, image, brief));
	else if (sum->line == NAMED_NONE)
		buf_puts(out, "[no call path]");
	else if (key == FLAT_ADDRESS)
		buf_addf(out, "%#" PRIx64, n->places.items[sum->place].address);
	else if (key == FLAT_LINE)
		line_cell(n, sum->line, brief, out);
	else
		buf_puts(out,
		         intern_text(&n->texts,
		                     n->functions.items[n->lines.items[sum->line].function].name));
}
