/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_rows.h"

#include "view/tags/tag_work.h"

#include "base/memory/xalloc.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum tag_field {
	TAG_FUNCTION_TEXT, /* texts */
	TAG_NAME_TEXT,
	TAG_PROGRAM_TEXT,
	TAG_SHOWN_TEXT,
	TAG_RANGE_TEXT,
	TAG_ELAPSED_RANGE_TEXT,
	TAG_WORK_RANGE_TEXT,
	TAG_TAG, /* numbers */
	TAG_ELAPSED,
	TAG_SHOWN_ELAPSED,
	TAG_NET,
	TAG_CALLS,
	TAG_MOST,
	TAG_AVERAGE,
	TAG_LEAST,
	TAG_ELAPSED_MOST,
	TAG_ELAPSED_AVERAGE,
	TAG_ELAPSED_LEAST,
	TAG_P50,
	TAG_P90,
	TAG_P99,
	TAG_TIMED,
	TAG_WORK,
	TAG_WORK_LOW,
	TAG_WORK_HIGH,
	TAG_UNCERTAIN,
	TAG_OPEN,
	TAG_CUT,
};

static const struct tag_report *report_of(const struct row_source *s)
{
	return ((const struct tag_table *)s->model)->report;
}

static const struct tag_row *row_at(const struct row_source *s, uint32_t row)
{
	return &((const struct tag_table *)s->model)->rows.items[row];
}

static void add_cell(struct buf *out, const char *before, const struct unit *unit, uint64_t number)
{
	buf_puts(out, before);
	unit_text_add(unit, cell_int((int64_t)number), out);
}

void tag_row_name(const struct tag_row *row, struct buf *out)
{
	buf_puts(out, row->function);
	if (row->several)
		buf_addf(out, " [%s]", row->program ? row->program : "?");
}

/* Calls whose times are not certain or not complete. */
static const struct {
	enum tag_field field;
	const char *before;
} marks[] = {
        {TAG_UNCERTAIN, "  ~"},
        {TAG_OPEN, "  open "},
        {TAG_CUT, "  cut "},
};

static void add_mark(struct buf *out, const struct tag_scale *s, size_t mark, uint64_t calls)
{
	if (calls)
		add_cell(out, marks[mark].before, s->number, calls);
}

/* "(1089/185/2)"; empty if no call has ended. */
static void add_range(struct buf *out, const struct tag_scale *s, const struct tag_range *range,
                      const struct tag_bounds *bounds)
{
	if (!range->calls)
		return;
	add_cell(out, "(", &s->floor.unit, bounds->max);
	add_cell(out, "/", &s->floor.unit, tag_range_average(range, bounds));
	add_cell(out, "/", &s->floor.unit, bounds->min);
	buf_putc(out, ')');
}

/* "17.74 to 67.05" */
static void add_work_range(struct buf *out, const struct tag_work *work)
{
	if (!isnan(work->low))
		buf_addf(out, "%.2f to %.2f", 100 * work->low, 100 * work->high);
}

static struct cell text_or_none(const char *text)
{
	return text && *text ? cell_text(text) : cell_none();
}

/* The number of calls of a kind of mark. */
static uint64_t calls_of(const struct tag_row *row, enum tag_field field)
{
	return field == TAG_UNCERTAIN ? row->uncertain.calls
	       : field == TAG_OPEN    ? row->open
	                              : row->cut;
}

static struct cell text_cell(const struct row_source *s, const struct column *c, uint32_t id,
                             struct buf *text)
{
	const struct tag_scale *scale = &report_of(s)->scale;
	const struct tag_row *row = row_at(s, id);
	const struct tag_range *range = tag_row_range(row);

	switch ((enum tag_field)c->argument) {
	case TAG_NAME_TEXT:
		return text_or_none(row->name);
	case TAG_PROGRAM_TEXT:
		return text_or_none(row->program);
	case TAG_SHOWN_TEXT:
		tag_row_name(row, text);
		for (size_t i = 0; i < COUNT(marks); i++)
			add_mark(text, scale, i, calls_of(row, marks[i].field));
		return cell_text(buf_text(text));
	case TAG_RANGE_TEXT:
		add_range(text, scale, range, &range->net);
		return cell_text(buf_text(text));
	case TAG_WORK_RANGE_TEXT:
		add_work_range(text, &row->work);
		return cell_text(buf_text(text));
	case TAG_ELAPSED_RANGE_TEXT:
		add_range(text, scale, range, &range->total);
		return cell_text(buf_text(text));
	default:
		return cell_text(row->function);
	}
}

static struct cell known(uint64_t number, bool is_known)
{
	return is_known ? cell_int((int64_t)number) : cell_none();
}

static struct cell percentile(const struct tag_row *row, size_t which)
{
	double ticks = row->percentiles.ticks[which];

	return tag_row_is_part(row) || isnan(ticks) ? cell_none()
	                                            : cell_int((int64_t)llrint(ticks));
}

static struct cell share_or_none(double share)
{
	return isnan(share) ? cell_none() : cell_real(share);
}

static struct cell number_cell(const struct row_source *s, const struct column *c, uint32_t id,
                               struct buf *text)
{
	const struct tag_row *row = row_at(s, id);
	const struct tag_range *range = tag_row_range(row);

	switch ((enum tag_field)c->argument) {
	case TAG_ELAPSED:
		return known(row->elapsed, true);
	case TAG_SHOWN_ELAPSED:
		return known(row->elapsed, !tag_row_is_part(row));
	case TAG_NET:
		return known(row->net, true);
	case TAG_CALLS:
		return known(row->calls, !tag_row_is_part(row));
	case TAG_MOST:
		return known(range->net.max, range->calls);
	case TAG_AVERAGE:
		return known(tag_range_average(range, &range->net), range->calls);
	case TAG_LEAST:
		return known(range->net.min, range->calls);
	case TAG_ELAPSED_MOST:
		return known(range->total.max, range->calls);
	case TAG_ELAPSED_AVERAGE:
		return known(tag_range_average(range, &range->total), range->calls);
	case TAG_ELAPSED_LEAST:
		return known(range->total.min, range->calls);
	case TAG_P50:
	case TAG_P90:
	case TAG_P99:
		return percentile(row, c->argument - TAG_P50);
	case TAG_TIMED:
		return known(row->percentiles.timed, !tag_row_is_part(row));
	case TAG_WORK:
		return share_or_none(row->work.share);
	case TAG_WORK_LOW:
		return share_or_none(row->work.low);
	case TAG_WORK_HIGH:
		return share_or_none(row->work.high);
	case TAG_UNCERTAIN:
	case TAG_OPEN:
	case TAG_CUT:
		return known(calls_of(row, c->argument), true);
	default:
		return known(row->tag, true);
	}
}

static void average_json(const struct row_source *s, const struct column *c, uint32_t id,
                         struct json *j)
{
	const struct tag_range *range = tag_row_range(row_at(s, id));
	struct cell ns = tag_range_average_ns(
	        report_of(s), range, c->argument == TAG_AVERAGE ? &range->net : &range->total);

	json_key(j, c->key);
	unit_json_add(&unit_number, ns, j);
}

static enum row_kind kind_of(const struct row_source *s, uint32_t row)
{
	return tag_row_is_part(row_at(s, row)) ? ROW_PART : ROW_ITEM;
}

static void rest_marks(const struct row_source *s, const struct cell *sums, struct buf *out)
{
	vec_each (c, &s->columns)
		for (size_t i = 0; i < COUNT(marks); i++)
			if (c->argument == marks[i].field)
				add_mark(out, &report_of(s)->scale, i,
				         (uint64_t)sums[c - s->columns.items].i);
}

/* Texts and numbers of tag_rows; `argument` is the field. */
static void add_columns(struct row_source *s, const struct column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		vec_push(&s->columns, columns[i]);
		if (columns[i].role != ROLE_RATIO)
			vec_last(&s->columns)->get =
			        columns[i].unit == &unit_text ? text_cell : number_cell;
	}
	s->rows = (uint32_t)((const struct tag_table *)s->model)->rows.count;
	s->no_total = true; /* the heading has the total */
}

/* A share of net; the title is "% " and the key. */
static struct column share(const char *name, const char *title, uint64_t whole, bool cut, bool bar)
{
	return (struct column){.name = name,
	                       .title = title,
	                       .key = title + 2,
	                       .unit = &tag_percent,
	                       .role = ROLE_RATIO,
	                       .of = "net",
	                       .base = cell_int((int64_t)whole),
	                       .cut = cut,
	                       .bar = bar};
}

/* The text has the times of a call with its callees if it is sorted by them. */
static bool by_elapsed(const struct report_request *request)
{
	return request_is_by(request, "elapsed") || request_is_by(request, "elapsed_max") ||
	       request_is_by(request, "elapsed_avg") || request_is_by(request, "elapsed_min");
}

/* The text has percentiles if it is sorted by a percentile; JSON always has them. */
static bool by_percentile(const struct report_request *request)
{
	return request_is_by(request, "p50") || request_is_by(request, "p90") ||
	       request_is_by(request, "p99");
}

struct row_set *tag_rows_functions(const struct tag_report *r)
{
	struct row_source *s = row_source_new((void *)(uintptr_t)&r->functions);
	const struct unit *time = &r->scale.time.unit, *number = r->scale.number;
	const struct unit *floor = &r->scale.floor.unit;
	bool shown = by_percentile(&r->request), inclusive = by_elapsed(&r->request);
	bool wide = tag_work_is_wide(r);
	const struct column columns[] = {
	        {"name", NULL, "function", &unit_text, .argument = TAG_FUNCTION_TEXT},
	        {"raw", NULL, "name", &unit_text, .argument = TAG_NAME_TEXT},
	        {"program", NULL, "program", &unit_text, .argument = TAG_PROGRAM_TEXT},
	        {"tag", NULL, "tag", &unit_number, .argument = TAG_TAG},
	        {"elapsed", NULL, NULL, time, ROLE_TOTAL, .argument = TAG_ELAPSED},
	        {"shown_elapsed", "Elapsed", "elapsed_ns", time, ROLE_TOTAL,
	         .argument = TAG_SHOWN_ELAPSED},
	        {"elapsed_range", inclusive ? "(max/avg/min)" : NULL, NULL, &unit_text,
	         .argument = TAG_ELAPSED_RANGE_TEXT},
	        {"elapsed_max", NULL, "elapsed_max_ns", time, ROLE_MOST,
	         .argument = TAG_ELAPSED_MOST},
	        {"elapsed_avg", NULL, "elapsed_avg_ns", time, .argument = TAG_ELAPSED_AVERAGE,
	         .json = average_json},
	        {"elapsed_min", NULL, "elapsed_min_ns", time, ROLE_LEAST,
	         .argument = TAG_ELAPSED_LEAST},
	        {"net", "Net", "net_ns", time, ROLE_SUM, .argument = TAG_NET},
	        {"calls", "Calls", "calls", number, ROLE_SUM, .argument = TAG_CALLS},
	        {"range", "(max/avg/min)", NULL, &unit_text, .argument = TAG_RANGE_TEXT},
	        {"max", NULL, "max_ns", time, ROLE_MOST, .argument = TAG_MOST},
	        {"avg", NULL, "avg_ns", time, .argument = TAG_AVERAGE, .json = average_json},
	        {"min", NULL, "min_ns", time, ROLE_LEAST, .argument = TAG_LEAST},
	        {"p50", shown ? "p50" : NULL, "p50_ns", floor, .argument = TAG_P50},
	        {"p90", shown ? "p90" : NULL, "p90_ns", floor, .argument = TAG_P90},
	        {"p99", shown ? "p99" : NULL, "p99_ns", floor, .argument = TAG_P99},
	        {"timed", shown ? "timed" : NULL, "timed_calls", number, .argument = TAG_TIMED},
	        share("real", "% real", r->summary->elapsed, false, false),
	        share("share", "% net", r->run, true, false),
	        {"work", wide ? "% work" : NULL, "work", &tag_percent, .argument = TAG_WORK},
	        {"work_low", NULL, "work_low", &tag_percent, .argument = TAG_WORK_LOW},
	        {"work_high", NULL, "work_high", &tag_percent, .argument = TAG_WORK_HIGH},
	        {"work_range", wide ? "between" : NULL, NULL, &unit_text,
	         .argument = TAG_WORK_RANGE_TEXT},
	        {"uncertain", NULL, "uncertain", number, ROLE_SUM, .argument = TAG_UNCERTAIN},
	        {"open", NULL, "open", number, ROLE_SUM, .argument = TAG_OPEN},
	        {"cut", NULL, "cut", number, ROLE_SUM, .argument = TAG_CUT},
	        {"shown", "Function", NULL, &unit_text, .argument = TAG_SHOWN_TEXT},
	};
	static const char *const own[] = {"elapsed", "net", "name", "program"};
	unsigned first = r->request.children ? 0 : 1;
	column_names by = request_order(&r->request, own + first, COUNT(own) - first);
	const struct row_request q = {.by = by.items,
	                              .by_count = by.count,
	                              .limit = fmax(r->request.limit, 0),
	                              .lines = r->request.lines};
	struct row_set *set;

	s->row_kind = kind_of;
	s->rest_more = rest_marks;
	add_columns(s, columns, COUNT(columns));
	set = row_set_new(s, &q);
	vec_done(&by);
	return set;
}

struct row_set *tag_rows_inlines(const struct tag_report *r)
{
	static const char *const by[] = {"calls", "name", "program"};
	struct row_source *s = row_source_new((void *)(uintptr_t)&r->inlines);
	const struct column columns[] = {
	        {"name", NULL, "name", &unit_text, .argument = TAG_FUNCTION_TEXT},
	        {"program", NULL, "program", &unit_text, .argument = TAG_PROGRAM_TEXT},
	        {"tag", NULL, "tag", &unit_number, .argument = TAG_TAG},
	        {"calls", "Times", "count", r->scale.number, .argument = TAG_CALLS},
	        {"shown", "Inline tag", NULL, &unit_text, .argument = TAG_SHOWN_TEXT},
	};

	add_columns(s, columns, COUNT(columns));
	return row_set_new(s, &(struct row_request){.by = by, .by_count = COUNT(by)});
}

static void free_table(void *model)
{
	struct tag_table *t = model;

	vec_done(&t->rows);
	free(t);
}

/* The groups are sorted. In their rows, `tag` is the number of functions. */
struct row_set *tag_rows_groups(const struct tag_report *r, const struct tag_groups *g, bool empty)
{
	struct tag_table *t = xcalloc(1, sizeof(*t));
	struct row_source *s = row_source_new(t);
	const struct unit *number = r->scale.number;
	const struct column columns[] = {
	        {"group", NULL, "group", &unit_text, .argument = TAG_FUNCTION_TEXT},
	        {"net", "Net", "net_ns", &r->scale.time.unit, .argument = TAG_NET},
	        {"calls", "Calls", "calls", number, .argument = TAG_CALLS},
	        {"functions", "Functions", "functions", number, .argument = TAG_TAG},
	        share("real", "% real", r->summary->elapsed, false, false),
	        share("share", "% net", r->run, false, true),
	        {"uncertain", NULL, "uncertain", number, .argument = TAG_UNCERTAIN},
	        {"shown", "Group", NULL, &unit_text, .argument = TAG_SHOWN_TEXT},
	};

	t->report = r;
	vec_each (group, &g->groups)
		if (empty || group->functions || group->net)
			vec_push(&t->rows, (struct tag_row){.function = group->name,
			                                    .tag = (uint32_t)group->functions,
			                                    .calls = group->calls,
			                                    .net = group->net,
			                                    .uncertain.calls = group->uncertain});
	s->free = free_table;
	s->chart = true;
	s->fixed = true;
	add_columns(s, columns, COUNT(columns));
	return row_set_new(s, &(struct row_request){0});
}
