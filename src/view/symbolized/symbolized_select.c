/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_select.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fails if the filter has pids or tids, and the profile has none. */
static int check_told(const struct symbolized_profile *n, const struct filter *f, struct error *err)
{
	bool pids = false, tids = false;

	vec_each (o, &n->owners) {
		pids |= o->pid != 0;
		tids |= o->tid != 0;
	}
	if ((!f->pid.count || pids) && (!f->tid.count || tids))
		return 0;
	return error_set(err, ENOENT, "--%s: no sample of this profile has a %s id",
	                 f->pid.count && !pids ? "pid" : "tid",
	                 f->pid.count && !pids ? "process" : "thread");
}

double named_share(const struct named_selection *s, int64_t value)
{
	return s->base ? (double)value / (double)s->base : 0;
}

const char *named_file_short(const char *path)
{
	const char *slash = *path == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *named_image_name(const struct symbolized_profile *n, uint32_t image, bool brief)
{
	const char *name =
	        image == NAMED_NONE ? "" : intern_text(&n->texts, n->images.items[image].name);

	if (!*name)
		return "[none]";
	return brief ? named_file_short(name) : name;
}

uint32_t named_leaf(const struct named_selection *s, uint32_t place)
{
	const struct named_place *p = &s->n->places.items[place];

	if (!p->count)
		return NAMED_NONE;
	return s->inlines ? p->first : p->first + p->count - 1;
}

static bool where_matches(const struct named_selection *s, const struct filter *f, uint32_t path)
{
	const struct symbolized_profile *n = s->n;
	uint32_t place = n->paths.items[path].place, line;
	const char *name;

	if (!f->image.count && !f->function.count)
		return true;
	if (place == NAMED_NONE)
		return false;
	if (!filter_list_has(&f->image, named_image_name(n, n->places.items[place].image, false),
	                     named_image_name(n, n->places.items[place].image, true)))
		return false;
	line = named_leaf(s, place);
	if (line == NAMED_NONE)
		return !f->function.count;
	name = intern_text(&n->texts, n->functions.items[n->lines.items[line].function].name);
	return filter_list_has(&f->function, name, name);
}

static bool *choose_owners(const struct symbolized_profile *n, const struct filter *f,
                           const filter_ranges *pid, const filter_ranges *tid)
{
	bool *chosen = xcalloc(n->owners.count + 1, sizeof(*chosen));

	for (size_t i = 0; i < n->owners.count; i++) {
		const struct named_owner *o = &n->owners.items[i];

		chosen[i] = filter_ranges_have(pid, o->pid) && filter_ranges_have(tid, o->tid) &&
		            filter_list_has(&f->comm, intern_text(&n->texts, o->process),
		                            intern_text(&n->texts, o->thread));
	}
	return chosen;
}

static void select_rows(struct named_selection *s, const struct filter *f, const bool *chosen)
{
	const struct symbolized_profile *n = s->n;

	for (size_t i = 0; i < n->rows.count; i++) {
		const struct named_row *row = &n->rows.items[i];
		int64_t value = row->values[n->main_value];

		s->all = named_add(s->all, value);
		if (!chosen[row->owner] || !where_matches(s, f, row->path))
			continue;
		s->value = named_add(s->value, value);
		vec_push(&s->rows, (uint32_t)i);
	}
	s->base = f->relative ? s->value : s->all;
}

int symbolized_select(struct named_selection *s, const struct symbolized_profile *n,
                      const struct filter *f, bool inlines, struct error *err)
{
	filter_ranges pid = {0}, tid = {0};
	bool *chosen;
	int ret;

	*s = (struct named_selection){.n = n, .inlines = inlines};
	ret = filter_ranges_parse(&f->pid, "process", false, &pid, err);
	if (!ret)
		ret = filter_ranges_parse(&f->tid, "thread", false, &tid, err);
	if (!ret)
		ret = check_told(n, f, err);
	if (!ret) {
		chosen = choose_owners(n, f, &pid, &tid);
		select_rows(s, f, chosen);
		free(chosen);
	}
	vec_done(&pid);
	vec_done(&tid);
	return ret;
}

void named_selection_done(struct named_selection *s)
{
	vec_done(&s->rows);
	without_done(&s->without);
	free(s->removed);
	s->removed = NULL;
}

static uint16_t group_of_name(const struct symbolized_profile *n, struct group_rules *rules,
                              uint32_t image, uint32_t name, bool *is_kernel)
{
	const char *file = named_image_name(n, image, true);
	uint16_t group;

	*is_kernel = group_image_is_kernel(file);
	group = group_rules_function(rules, intern_text(&n->texts, name), file, *is_kernel);
	return group >= GROUP_CALLER ? GROUP_NONE : group;
}

uint16_t named_group(const struct symbolized_profile *n, struct group_rules *rules, uint32_t place,
                     uint32_t line, bool *is_kernel)
{
	uint32_t image = place == NAMED_NONE ? NAMED_NONE : n->places.items[place].image;

	if (line == NAMED_NONE) {
		*is_kernel = group_image_is_kernel(named_image_name(n, image, true));
		return GROUP_NONE;
	}
	return group_of_name(n, rules, image,
	                     n->functions.items[n->lines.items[line].function].name, is_kernel);
}

uint16_t named_function_group(const struct symbolized_profile *n, struct group_rules *rules,
                              const struct named_function *f, bool *is_kernel)
{
	return group_of_name(n, rules, f->image, f->name, is_kernel);
}

bool named_is_removed(const struct named_selection *s, uint32_t path)
{
	uint32_t place;

	if (!s->removed)
		return false;
	place = s->n->paths.items[path].place;
	return s->removed[place == NAMED_NONE ? s->n->places.count : place];
}

/* The names of functions, each once. Texts are interned, so equal names have equal ids. */
static int find_removed(struct named_selection *s, const struct report_request *q,
                        uint32_t *name_of_text, struct error *err)
{
	const struct symbolized_profile *n = s->n;
	VEC(const char *) names = {0};
	int ret;

	vec_each (f, &n->functions) {
		if (name_of_text[f->name])
			continue;
		vec_push(&names, intern_text(&n->texts, f->name));
		name_of_text[f->name] = (uint32_t)names.count;
	}
	ret = without_find(&s->without, q, &(struct without_names){names.items, names.count}, err);
	vec_done(&names);
	return ret;
}

static bool place_is_removed(const struct named_selection *s, uint32_t place,
                             const uint32_t *name_of_text)
{
	const struct symbolized_profile *n = s->n;
	uint32_t line = place == NAMED_NONE ? NAMED_NONE : named_leaf(s, place);
	bool is_kernel, found = false;
	uint16_t group;

	if (line != NAMED_NONE) {
		uint32_t text = n->functions.items[n->lines.items[line].function].name;

		found = s->without.functions[name_of_text[text] - 1];
	}
	if (found || !s->without.by_group)
		return found;
	group = named_group(n, s->without.rules, place, line, &is_kernel);
	return without_has_group(&s->without, group, is_kernel);
}

int symbolized_select_without(struct named_selection *s, const struct report_request *q,
                              struct error *err)
{
	const struct symbolized_profile *n = s->n;
	uint32_t *name_of_text;
	size_t all = q->filter.relative ? s->rows.count : n->rows.count, count = n->places.count;
	int ret;

	if (!q->without.count)
		return 0;
	name_of_text = xcalloc(n->texts.texts.count + 1, sizeof(*name_of_text));
	ret = find_removed(s, q, name_of_text, err);
	if (!ret) {
		s->removed = xcalloc(count + 1, sizeof(*s->removed));
		for (uint32_t i = 0; i <= count; i++)
			s->removed[i] =
			        place_is_removed(s, i < count ? i : NAMED_NONE, name_of_text);
	}
	s->without.base = s->base;
	for (size_t i = 0; i < all && !ret; i++) {
		const struct named_row *row =
		        &n->rows.items[q->filter.relative ? s->rows.items[i] : i];

		if (named_is_removed(s, row->path))
			s->without.removed =
			        named_add(s->without.removed, row->values[n->main_value]);
	}
	free(name_of_text);
	return ret;
}
