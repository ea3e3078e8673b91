/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_report.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"
#include "symbol/demangle/demangle.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct making {
	struct tag_report *report;
	struct tag_report_options options;
	VEC(const char *) programs; /* per set of names; NULL: unknown */
	struct id_table rows;       /* by program and name */
	struct id_table shown;      /* by shown name: the first row with it */
};

static const char *const time_order_words[] = {
        [TAG_BY_NET] = "net",   [TAG_BY_ELAPSED] = "elapsed", [TAG_BY_CALLS] = "calls",
        [TAG_BY_MAX] = "max",   [TAG_BY_AVG] = "avg",         [TAG_BY_MIN] = "min",
        [TAG_BY_NAME] = "name", [TAG_BY_REAL] = "real",
};

bool tag_order_parse(const char *word, enum tag_order *order)
{
	for (size_t i = 0; i < sizeof(time_order_words) / sizeof(*time_order_words); i++)
		if (!strcmp(time_order_words[i], word)) {
			*order = (enum tag_order)i;
			return true;
		}
	return false;
}

uint64_t tag_row_average(const struct tag_row *row)
{
	return row->calls ? row->net / row->calls : 0;
}

double tag_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

uint64_t tag_hundredths(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)(((unsigned __int128)part * 10000 + whole / 2) / whole) : 0;
}

void tag_aliases_init(struct tag_aliases *c, const struct tag_row *row)
{
	const char *at = row->name ? strchr(row->name, '@') : NULL;

	*c = (struct tag_aliases){.shown = row->function, .name = row->name};
	if (!row->name)
		return;
	c->plain = at ? xstrndup(row->name, (size_t)(at - row->name)) : xstrdup(row->name);
	c->bare = demangle_bare(c->plain);
}

void tag_aliases_done(struct tag_aliases *c)
{
	free(c->plain);
	free(c->bare);
}

bool tag_aliases_fit(const struct tag_aliases *c, const char *pattern)
{
	const char *const texts[] = {c->shown, c->name, c->plain, c->bare};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i] && (!strcmp(texts[i], pattern) || !fnmatch(pattern, texts[i], 0)))
			return true;
	return false;
}

/* The program of each set of names, as far as the streams have one. */
static void find_programs(struct making *m)
{
	const struct tag_recording *recording = m->report->recording;

	for (size_t i = 0; i < recording->names.count; i++) {
		const char *program = NULL;

		for (size_t s = 0; s < recording->streams.count && !program; s++) {
			const struct tag_stream *stream = &recording->streams.items[s];

			if (stream->names == recording->names.items[i] && stream->process[0])
				program = stream->process;
		}
		vec_push(&m->programs, program);
	}
}

static uint64_t hash_text(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_row(const void *ctx, uint32_t id, const void *key)
{
	const struct tag_report *r = ctx;
	const struct tag_row *row = &r->rows.items[id], *wanted = key;

	return row->kind == wanted->kind && same_text(row->name, wanted->name) &&
	       same_text(row->program, wanted->program);
}

static bool same_shown(const void *ctx, uint32_t id, const void *key)
{
	const struct tag_report *r = ctx;

	return !strcmp(r->rows.items[id].function, key);
}

/* Sets `several` on the first row of a name if another program has a function with this name. */
static void tell_apart(struct making *m, uint32_t id)
{
	struct tag_row *row = &m->report->rows.items[id], *other;
	uint64_t hash = hash_text(row->function);
	uint32_t first = id_table_find(&m->shown, hash, same_shown, m->report, row->function);

	if (first == ID_NONE) {
		id_table_add(&m->shown, hash, id);
		return;
	}
	other = &m->report->rows.items[first];
	other->several |= !same_text(row->program, other->program);
}

/* Copies `several` from the first row of each name to all rows of that name. */
static void tell_all_apart(struct making *m)
{
	vec_each (row, &m->report->rows) {
		uint32_t first = id_table_find(&m->shown, hash_text(row->function), same_shown,
		                               m->report, row->function);

		row->several = m->report->rows.items[first].several;
	}
}

static const char *keep(struct tag_report *r, char *text)
{
	vec_push(&r->texts, text);
	return text;
}

/* A row for this function, without figures. */
static struct tag_row begin_row(struct making *m, const struct tag_function *f,
                                const struct tag_name *name)
{
	struct tag_row row = {.kind = TAG_ROW_FUNCTION, .tag = f->tag};

	if (f->names < m->programs.count)
		row.program = m->programs.items[f->names];
	if (name) {
		row.name = name->name;
		row.function = name->shown ? name->shown : name->name;
		if (name->kind == TAG_INLINE)
			row.kind = TAG_ROW_INLINE;
	} else {
		row.name = row.function = keep(m->report, xasprintf("tag %" PRIu32, f->tag));
	}
	return row;
}

static uint32_t row_for(struct making *m, const struct tag_function *f, const struct tag_name *name)
{
	struct tag_row row = begin_row(m, f, name);
	uint64_t hash = hash_pair(hash_text(row.name), hash_text(row.program) + row.kind);
	uint32_t id = id_table_find(&m->rows, hash, same_row, m->report, &row);

	if (id != ID_NONE)
		return id;
	id = row.id = (uint32_t)m->report->rows.count;
	vec_push(&m->report->rows, row);
	id_table_add(&m->rows, hash, id);
	tell_apart(m, id);
	return id;
}

static void add(struct tag_row *row, const struct tag_function *f)
{
	if ((f->ended || f->uncertain || f->open) && f->min <= f->max) {
		row->min = row->ranged && row->min < f->min ? row->min : f->min;
		row->max = row->ranged && row->max > f->max ? row->max : f->max;
		row->ranged = true;
	}
	row->calls += f->calls;
	row->elapsed += f->elapsed;
	row->net += f->net;
	row->uncertain += f->uncertain;
	row->open += f->open;
}

static const struct tag_name *name_of(const struct tag_recording *r, const struct tag_function *f)
{
	bool exit;

	return f->names < r->names.count ? tag_names_find(r->names.items[f->names], f->tag, &exit)
	                                 : NULL;
}

static void add_switcher(struct tag_report *r, const struct tag_name *name)
{
	const char *text = name->shown ? name->shown : name->name;

	vec_each (known, &r->switchers)
		if (!strcmp(*known, text))
			return;
	vec_push(&r->switchers, text);
}

static void add_functions(struct making *m)
{
	struct tag_report *r = m->report;
	const struct tag_summary *s = r->summary;

	r->row_of = xcalloc(s->functions.count + 1, sizeof(*r->row_of));
	for (size_t i = 0; i < s->functions.count; i++) {
		const struct tag_function *f = &s->functions.items[i];
		const struct tag_name *name = name_of(r->recording, f);

		r->row_of[i] = ID_NONE;
		/* In a thread's stream there are no processes to switch, so the function is an
		 * ordinary one. */
		if (name && name->kind == TAG_SWITCH) {
			add_switcher(r, name);
			if (!f->net && r->devices)
				continue;
		}
		r->row_of[i] = row_for(m, f, name);
		add(&r->rows.items[r->row_of[i]], f);
	}
}

static void add_outside(struct tag_report *r)
{
	struct tag_row row = {.kind = TAG_ROW_OUTSIDE,
	                      .id = ID_NONE - 1, /* the id of no function */
	                      .function = "(outside)",
	                      .elapsed = r->summary->outside,
	                      .net = r->summary->outside};

	if (row.net)
		vec_push(&r->rows, row);
}

/* Sorts in descending order. */
static int compare_counts(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare_names(const struct tag_row *a, const struct tag_row *b)
{
	int order = strcmp(a->function, b->function);

	if (!order)
		order = strcmp(a->program ? a->program : "", b->program ? b->program : "");
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int compare_by(const struct tag_row *a, const struct tag_row *b, enum tag_order by)
{
	switch (by) {
	case TAG_BY_ELAPSED:
		return compare_counts(a->elapsed, b->elapsed);
	case TAG_BY_CALLS:
		return compare_counts(a->calls, b->calls);
	case TAG_BY_MAX:
		return compare_counts(a->max, b->max);
	case TAG_BY_AVG:
		return compare_counts(tag_row_average(a), tag_row_average(b));
	case TAG_BY_MIN:
		return compare_counts(a->min, b->min);
	case TAG_BY_NAME:
		return compare_names(a, b);
	case TAG_BY_NET:
	case TAG_BY_REAL: /* a share of the same whole: same order as net */
		break;
	}
	return compare_counts(a->net, b->net);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct tag_report_options *o = ctx;
	int order = 0;

	for (size_t i = 0; i < o->time_order_count && !order; i++)
		order = compare_by(a, b, o->orders[i]);
	if (!order)
		order = compare_by(a, b, TAG_BY_NET);
	return order ? order : compare_names(a, b);
}

static int compare_inlines(const void *a, const void *b)
{
	int order = compare_by(a, b, TAG_BY_CALLS);

	return order ? order : compare_names(a, b);
}

/* Inline tags have no duration and would only clutter the table of functions. */
static void part_inlines(struct tag_report *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->rows.count; i++) {
		const struct tag_row *row = &r->rows.items[i];

		if (row->kind == TAG_ROW_INLINE)
			vec_push(&r->inlines, *row);
		else
			r->rows.items[kept++] = *row;
	}
	r->rows.count = kept;
	if (r->inlines.count)
		qsort(r->inlines.items, r->inlines.count, sizeof(*r->inlines.items),
		      compare_inlines);
}

static void add_rest(struct tag_report *r, const struct tag_row *row)
{
	r->rest.net += row->net;
	r->rest.calls += row->calls;
	r->rest.uncertain += row->uncertain;
	r->rest.open += row->open;
}

/* Moves rows below the limit behind the others, which keep their order. */
static void cut(struct tag_report *r, const struct tag_report_options *o)
{
	struct tag_row *kept = xcalloc(r->rows.count + 1, sizeof(*kept));
	size_t above = 0, below = r->rows.count;

	for (size_t i = 0; i < r->rows.count; i++) {
		const struct tag_row *row = &r->rows.items[i];
		bool small = o->limit > 0 && tag_share(row->net, r->run) < o->limit;

		if (small || (o->lines && above == o->lines))
			kept[--below] = *row;
		else
			kept[above++] = *row;
	}
	r->shown = above;
	for (size_t i = 0; i < r->rows.count; i++)
		r->rows.items[i] = kept[i];
	for (size_t i = above; i < r->rows.count; i++)
		add_rest(r, &r->rows.items[i]);
	free(kept);
}

static void sum_up(struct tag_report *r)
{
	const struct tag_summary *s = r->summary;

	r->run = s->elapsed - s->idle - s->own;
	r->span = s->last > s->first ? s->last - s->first : 0;
	r->rest.kind = TAG_ROW_REST;
	vec_each (row, &r->rows) {
		r->uncertain += row->uncertain;
		r->open += row->open;
	}
}

struct tag_report *tag_report_new(const struct tag_recording *recording,
                                  const struct tag_summary *summary,
                                  const struct tag_report_options *options)
{
	struct tag_report *r = xcalloc(1, sizeof(*r));
	struct making m = {.report = r, .options = *options};

	r->recording = recording;
	r->summary = summary;
	r->devices = recording->streams.count > 0;
	vec_each (stream, &recording->streams)
		r->devices &= stream->device;
	r->separated = r->devices || recording->switches;
	r->switches_lost = recording->switches_lost;
	find_programs(&m);
	add_functions(&m);
	tell_all_apart(&m);
	part_inlines(r);
	add_outside(r);
	sum_up(r);
	if (r->rows.count)
		qsort_r(r->rows.items, r->rows.count, sizeof(*r->rows.items), compare_rows,
		        &m.options);
	cut(r, &m.options);
	id_table_done(&m.rows);
	id_table_done(&m.shown);
	vec_done(&m.programs);
	return r;
}

void tag_report_free(struct tag_report *r)
{
	if (!r)
		return;
	vec_each (text, &r->texts)
		free(*text);
	vec_done(&r->texts);
	vec_done(&r->rows);
	vec_done(&r->inlines);
	vec_done(&r->switchers);
	free(r->row_of);
	free(r);
}

bool tag_report_is_of(const struct tag_report *r, size_t i, const struct tag_row *row)
{
	return r->row_of[i] == row->id;
}
