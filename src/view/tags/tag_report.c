/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_rows.h"
#include "view/tags/tag_work.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"
#include "symbol/demangle/demangle.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Functions with at least this share of the run time, in hundredths of a percent, influence the
 * unit. */
#define WEIGHTY 100

struct making {
	struct tag_report *report;
	VEC(const char *) programs; /* per set of names; NULL: unknown */
	struct id_table rows;       /* by program and name */
	struct id_table shown;      /* by shown name, the first row with that name */
};

static const char *const orders[] = {"elapsed",     "net",         "calls",      "max",
                                     "avg",         "min",         "name",       "real",
                                     "elapsed_max", "elapsed_avg", "elapsed_min"};

bool tag_order_known(const char *word)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (!strcmp(orders[i], word))
			return true;
	return false;
}

const struct tag_range *tag_row_range(const struct tag_row *row)
{
	return row->certain.calls ? &row->certain : &row->uncertain;
}

uint64_t tag_range_average(const struct tag_range *of, const struct tag_bounds *bounds)
{
	return of->calls ? bounds->sum / of->calls : 0;
}

struct cell tag_range_average_ns(const struct tag_report *r, const struct tag_range *of,
                                 const struct tag_bounds *bounds)
{
	uint64_t ns = tag_clock_ns(&r->recording->clock, bounds->sum);

	return of->calls ? cell_int((int64_t)(ns / of->calls)) : cell_none();
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
	const struct tag_row *row = &r->functions.rows.items[id], *wanted = key;

	return row->kind == wanted->kind && same_text(row->name, wanted->name) &&
	       same_text(row->program, wanted->program);
}

static bool same_shown(const void *ctx, uint32_t id, const void *key)
{
	const struct tag_report *r = ctx;

	return !strcmp(r->functions.rows.items[id].function, key);
}

/* Sets `several` on the first row of a name if another program has a function with this name. */
static void tell_apart(struct making *m, uint32_t id)
{
	struct tag_row *row = &m->report->functions.rows.items[id], *other;
	uint64_t hash = hash_text(row->function);
	uint32_t first = id_table_find(&m->shown, hash, same_shown, m->report, row->function);

	if (first == ID_NONE) {
		id_table_add(&m->shown, hash, id);
		return;
	}
	other = &m->report->functions.rows.items[first];
	other->several |= !same_text(row->program, other->program);
}

/* Copies `several` from the first row of each name to all rows of that name. */
static void tell_all_apart(struct making *m)
{
	vec_each (row, &m->report->functions.rows) {
		uint32_t first = id_table_find(&m->shown, hash_text(row->function), same_shown,
		                               m->report, row->function);

		row->several = m->report->functions.rows.items[first].several;
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
	struct tag_row row = {.kind = TAG_ROW_FUNCTION,
	                      .tag = f->tag,
	                      .certain = TAG_RANGE_NONE,
	                      .uncertain = TAG_RANGE_NONE};

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
	id = row.id = (uint32_t)m->report->functions.rows.count;
	vec_push(&m->report->functions.rows, row);
	id_table_add(&m->rows, hash, id);
	tell_apart(m, id);
	return id;
}

static void add(struct tag_row *row, const struct tag_function *f)
{
	tag_range_add(&row->certain, &f->certain);
	tag_range_add(&row->uncertain, &f->uncertain);
	row->calls += f->calls;
	row->elapsed += f->elapsed;
	row->net += f->net;
	row->events += f->events;
	row->open += f->open;
	row->cut += f->cut;
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
		add(&r->functions.rows.items[r->row_of[i]], f);
		tag_times_merge(&r->times, r->row_of[i], &s->times, f->times);
	}
}

static void add_part(struct tag_report *r, enum tag_row_kind kind, const char *name, uint64_t net)
{
	struct tag_row row = {.kind = kind,
	                      .id = ID_NONE - kind, /* the id of no function */
	                      .function = name,
	                      .certain = TAG_RANGE_NONE,
	                      .uncertain = TAG_RANGE_NONE,
	                      .elapsed = net,
	                      .net = net};

	if (row.net)
		vec_push(&r->functions.rows, row);
}

/* Each row still is at the index of its id. */
static void add_percentiles(struct tag_report *r)
{
	vec_each (row, &r->functions.rows)
		row->percentiles = tag_percentiles_of(&r->times, row->id,
		                                      row->certain.calls + row->uncertain.calls,
		                                      row->certain.net.min, row->certain.net.max);
	tag_times_done(&r->times);
}

/* Inline tags have no duration and would only clutter the table of functions. */
static void part_inlines(struct tag_report *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->functions.rows.count; i++) {
		const struct tag_row *row = &r->functions.rows.items[i];

		if (row->kind == TAG_ROW_INLINE)
			vec_push(&r->inlines.rows, *row);
		else
			r->functions.rows.items[kept++] = *row;
	}
	r->functions.rows.count = kept;
}

/* The shortest average time of a call of the functions that matter. */
static uint64_t least_average(const struct tag_report *r)
{
	uint64_t least = r->summary->elapsed;

	vec_each (row, &r->functions.rows) {
		const struct tag_range *range = tag_row_range(row);
		uint64_t average = tag_range_average(range, &range->net);

		if (range->calls && average < least && tag_hundredths(row->net, r->run) >= WEIGHTY)
			least = average;
	}
	return least;
}

static void sum_up(struct tag_report *r)
{
	const struct tag_summary *s = r->summary;

	r->run = s->elapsed - s->idle - s->own - s->gap;
	r->span = s->last > s->first ? s->last - s->first : 0;
	vec_each (row, &r->functions.rows) {
		r->uncertain += row->uncertain.calls;
		r->open += row->open;
		r->cut += row->cut;
	}
}

static void count_profiled(struct tag_report *r)
{
	vec_each (names, &r->recording->names)
		for (size_t i = 0; i < tag_names_count(*names); i++) {
			bool is_inline = tag_names_at(*names, i)->kind == TAG_INLINE;

			r->profiled += !is_inline;
			r->triggers += is_inline ? 1 : 2;
		}
}

struct tag_report *tag_report_new(const struct tag_recording *recording,
                                  const struct tag_summary *summary,
                                  const struct tag_report_options *options)
{
	struct tag_report *r = xcalloc(1, sizeof(*r));
	struct making m = {.report = r};

	r->request = options->request;
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
	add_percentiles(r);
	part_inlines(r);
	add_part(r, TAG_ROW_OUTSIDE, "(outside)", summary->outside);
	add_part(r, TAG_ROW_UNKNOWN, "(unknown)", summary->unknown);
	sum_up(r);
	count_profiled(r);
	tag_work_add(r);
	r->scale = tag_scale_make(&recording->clock, r->devices, least_average(r), options->unit);
	r->functions.report = r->inlines.report = r;
	r->table = tag_rows_functions(r);
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
	row_set_free(r->table);
	vec_done(&r->functions.rows);
	vec_done(&r->inlines.rows);
	vec_done(&r->switchers);
	free(r->row_of);
	free(r);
}

bool tag_report_is_of(const struct tag_report *r, size_t i, const struct tag_row *row)
{
	return r->row_of[i] == row->id;
}

uint64_t tag_report_left_out(const struct tag_report *r)
{
	uint64_t count = 0;

	vec_each (names, &r->recording->names)
		count += tag_names_left_out_count(*names);
	return count;
}

static bool has_name(const char *name, const char *wanted)
{
	struct tag_row row = {.function = name, .name = name};
	struct tag_aliases aliases;
	bool fits;

	tag_aliases_init(&aliases, &row);
	fits = tag_aliases_fit(&aliases, wanted);
	tag_aliases_done(&aliases);
	return fits;
}

int tag_report_refuse_left_out(const struct tag_recording *r, const char *wanted, struct error *err)
{
	vec_each (names, &r->names)
		for (size_t i = 0; i < tag_names_left_out_count(*names); i++)
			if (has_name(tag_names_left_out(*names, i), wanted))
				return error_set(
				        err, ENOENT,
				        "%s has no tags: the plugin left it out as small, and "
				        "its time is its callers' (leaf-size)",
				        wanted);
	return 0;
}
