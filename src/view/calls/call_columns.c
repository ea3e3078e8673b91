/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of the tables of call paths. */
#include "view/calls/call_rows.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "view/calls/call_check.h"

#include <math.h>
#include <stddef.h>

#define ROUNDING_NS 1

static struct cell time_cell(double ns)
{
	return isnan(ns) ? cell_none() : cell_real(ns);
}

static void put_unseparated(const struct unit *unit, struct cell cell, struct buf *out)
{
	buf_puts(out, "not separated");
}

static void null_json(const struct unit *unit, struct cell cell, struct json *j)
{
	json_null(j);
}

const struct unit *call_waiting_unit(bool unseparated)
{
	static const struct unit unit = {.name = "ns", .text = put_unseparated, .json = null_json};

	return unseparated ? &unit : &unit_fine_time;
}

static struct cell count_at(const struct row_source *s, const struct column *c, uint32_t row,
                            struct buf *text)
{
	const char *of = (const char *)call_rows_at(s, row);
	uint64_t count = *(const uint64_t *)(const void *)(of + c->argument);

	return cell_int(count < INT64_MAX ? (int64_t)count : INT64_MAX);
}

static struct cell small_count_at(const struct row_source *s, const struct column *c, uint32_t row,
                                  struct buf *text)
{
	const char *of = (const char *)call_rows_at(s, row);

	return cell_int(*(const uint32_t *)(const void *)(of + c->argument));
}

static struct cell time_at(const struct row_source *s, const struct column *c, uint32_t row,
                           struct buf *text)
{
	const struct call_row *of = call_rows_at(s, row);
	const char *at = (const char *)of + c->argument;

	return call_rows_timed(s->model, of) ? time_cell(*(const double *)(const void *)at)
	                                     : cell_none();
}

static bool error_matters(double error_ns, double net_ns)
{
	return error_ns > fabs(net_ns) / 100;
}

/* If a net is not known, readers get the upper end of its interval. */
static struct cell net_cell(const struct row_source *s, const struct column *c, uint32_t row,
                            struct buf *text)
{
	const struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);

	if (!call_rows_timed(r, of) || call_row_known(r, of))
		return time_at(s, c, row, text);
	buf_puts(text, "< ");
	text_fine_time(text, fmax(of->net_ns, 0) + call_row_error_ns(r, of));
	return cell_text(buf_text(text));
}

static struct cell error_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);
	double error = call_row_error_ns(r, of);

	if (!call_rows_timed(r, of))
		return cell_none();
	if (!r->for_programs && (!call_row_known(r, of) ||
	                         (r->small_errors_hidden && !error_matters(error, of->net_ns))))
		return cell_none();
	return time_cell(error);
}

static struct cell total_error_cell(const struct row_source *s, const struct column *c,
                                    uint32_t row, struct buf *text)
{
	const struct call_row *of = call_rows_at(s, row);

	return call_rows_timed(s->model, of) ? time_cell(call_row_total_error_ns(s->model, of))
	                                     : cell_none();
}

/*
 * Net is estimated from samples, or has a compensation; shortest and longest are those of the calls
 * that were timed one by one. An average beyond them by no more than its error is not known, and
 * with more than its error, longer or shorter calls than those were not timed.
 */
static bool is_beyond(const struct call_row *of, double limit_ns, bool above)
{
	double average = call_row_average_ns(of);

	return !of->open &&
	       (above ? average > limit_ns + ROUNDING_NS : average < limit_ns - ROUNDING_NS);
}

static bool is_far_beyond(const struct call_rows *r, const struct call_row *of, double limit_ns,
                          bool above)
{
	double average = call_row_average_ns(of);
	double error = of->calls ? call_row_error_ns(r, of) / (double)of->calls : 0;

	return is_beyond(of, limit_ns, above) && fabs(average - limit_ns) > error;
}

/* Shortest or longest: the argument is its place in the row. */
static struct cell extreme_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	const struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);
	bool above = c->argument == offsetof(struct call_row, max_ns);

	if (!r->for_programs && is_far_beyond(r, of, above ? of->max_ns : of->min_ns, above))
		return cell_none();
	return time_at(s, c, row, text);
}

static struct cell average_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	const struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);

	if (!call_rows_timed(r, of) || (!r->for_programs && !call_row_known(r, of)))
		return cell_none();
	if ((is_beyond(of, of->max_ns, true) && !is_far_beyond(r, of, of->max_ns, true)) ||
	    (is_beyond(of, of->min_ns, false) && !is_far_beyond(r, of, of->min_ns, false)))
		return cell_none();
	return time_cell(call_row_average_ns(of));
}

static struct cell wall_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct call_row *of = call_rows_at(s, row);

	return call_rows_timed(s->model, of) ? time_cell(call_row_wall_ns(of)) : cell_none();
}

/* For sorting: the order of first calls. */
static struct cell first_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct call_rows *r = s->model;
	uint32_t order =
	        r->kind == CALL_ROWS_PATHS ? r->paths.items[row] : r->sums.items[row].order;

	return cell_int(-(int64_t)order);
}

/* For sorting by name; functions with the same rank are in the order of their first calls. */
static struct cell rank_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);

	return cell_int(-((int64_t)r->ranks[of->function] << 32 | of->order));
}

static void inherited_json(const struct row_source *s, const struct column *c, uint32_t row,
                           struct json *j)
{
	json_kbool(j, "inherited", call_rows_at(s, row)->inherited);
}

static const char *text_or_null(const struct call_report *r, uint32_t text)
{
	return text ? intern_text(&r->paths->images.names, text) : NULL;
}

void call_function_json(const struct call_report *r, uint32_t function, struct json *j)
{
	const struct call_function *f = &r->paths->functions.items[function];
	const char *library = call_names_library(r->names, function);
	const char *image =
	        f->kind == CALL_FUNCTION ? image_path(&r->paths->images, f->frame.image) : NULL;

	json_kstr_or_null(j, "image", image);
	json_kstr_or_null(j, "library", library);
	json_kbool(j, "counted", f->counted);
	json_kstr_or_null(j, "file", text_or_null(r, f->file));
	json_key(j, "line");
	if (f->line)
		json_u64(j, f->line);
	else
		json_null(j);
}

static const char *path_name(const struct call_rows *r, uint32_t path)
{
	return call_names_of(r->report->names, r->process->paths.items[path].function);
}

static void path_names(struct call_rows *r, uint32_t path, struct json *j)
{
	size_t depth = r->depths[path];

	json_key(j, "path");
	json_array(j);
	vec_reserve(&r->chain, depth + 1);
	call_rows_chain(r, path, r->chain.items, depth);
	for (size_t i = 0; i < depth; i++)
		json_str(j, path_name(r, r->chain.items[i]));
	if (!depth)
		json_str(j, path_name(r, path));
	json_end_array(j);
}

static void identity_json(const struct row_source *s, const struct column *c, uint32_t row,
                          struct json *j)
{
	struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);

	if (r->kind == CALL_ROWS_PATHS && r->nodes)
		json_ku64(j, "node", r->nodes[of->path] - 1);
	if (r->kind == CALL_ROWS_PATHS && !r->nodes)
		path_names(r, of->path, j);
	else
		json_kstr(j, "function",
		          of->self ? "[self]" : call_names_of(r->report->names, of->function));
	call_function_json(r->report, of->function, j);
}

#define AT(field) .argument = offsetof(struct call_row, field)
#define TIME .unit = &unit_fine_time, .get = time_at
#define EXTREME .unit = &unit_fine_time, .get = extreme_cell
#define COUNT .unit = &unit_count, .get = count_at, .role = ROLE_SUM

static void add_parts(struct row_source *s, struct cell net)
{
	const struct column parts[] = {
	        {"part", "part", "part_ns", TIME, .role = ROLE_SUM, AT(part_ns)},
	        {"part_share", "", "part_share", &unit_share, ROLE_RATIO, .of = "part",
	         .base = net},
	};

	row_source_columns(s, parts, sizeof(parts) / sizeof(*parts));
}

static void add_columns(struct row_source *s)
{
	static const char *const last[] = {"path, innermost function last", "function", "caller",
	                                   "callee"};
	const struct call_rows *r = s->model;
	const struct unit *waiting = call_waiting_unit(r->unseparated);
	const struct cell net = cell_real(
	        r->report->request.filter.relative ? r->net_ns : call_check_net_ns(r->process));
	const struct column columns[] = {
	        {"identity", NULL, NULL, &unit_text, .json = identity_json},
	        {"calls", "calls", "calls", COUNT, AT(calls)},
	        {"net", NULL, "net_ns", TIME, .role = ROLE_SUM, AT(net_ns)},
	        {"net_known", "net", NULL, &unit_fine_time, ROLE_TOTAL, .get = net_cell,
	         AT(net_ns)},
	        {"net_error", "+/-", "net_error_ns", &unit_fine_time, ROLE_TOTAL, .get = error_cell,
	         .room = CALL_ROOM_MOST},
	        {"share", "share", NULL, &unit_share, ROLE_RATIO, .of = "net", .base = net,
	         .room = CALL_ROOM_MOST},
	        {"min", "min", "min_ns", EXTREME, .role = ROLE_LEAST, AT(min_ns),
	         .room = CALL_ROOM_ALL},
	        {"avg", "avg", "avg_ns", &unit_fine_time, .get = average_cell,
	         .room = CALL_ROOM_MOST},
	        {"max", "max", "max_ns", EXTREME, .role = ROLE_MOST, AT(max_ns),
	         .room = CALL_ROOM_ALL},
	        {"p50", "p50", "p50_ns", TIME, AT(p50_ns), .room = CALL_ROOM_PERCENTILES},
	        {"p90", "p90", "p90_ns", TIME, AT(p90_ns), .room = CALL_ROOM_PERCENTILES},
	        {"p99", "p99", "p99_ns", TIME, AT(p99_ns), .room = CALL_ROOM_PERCENTILES},
	        {"timed", "timed", "timed_calls", COUNT, AT(timed), .room = CALL_ROOM_PERCENTILES},
	        {"total", "total", "total_ns", TIME, .role = ROLE_TOTAL, AT(total_ns),
	         .room = CALL_ROOM_FEW},
	        {"total_error", NULL, "total_error_ns", &unit_fine_time, ROLE_TOTAL,
	         .get = total_error_cell},
	        {"wall", "wall", "wall_ns", &unit_fine_time, ROLE_TOTAL, .get = wall_cell,
	         .room = CALL_ROOM_MOST},
	        {"blocked", "blocked", "blocked_ns", waiting, ROLE_SUM, .get = time_at,
	         AT(blocked_ns), .room = CALL_ROOM_FEW},
	        {"preempted", "preempted", "preempted_ns", waiting, ROLE_SUM, .get = time_at,
	         AT(preempted_ns), .room = CALL_ROOM_FEW},
	        {"blocked_count", NULL, "blocked_count", COUNT, AT(blocked_count)},
	        {"preempted_count", NULL, "preempted_count", COUNT, AT(preempted_count)},
	        {"total_blocked", NULL, "total_blocked_ns", waiting, ROLE_TOTAL, .get = time_at,
	         AT(total_blocked_ns)},
	        {"total_preempted", NULL, "total_preempted_ns", waiting, ROLE_TOTAL, .get = time_at,
	         AT(total_preempted_ns)},
	        {"open", NULL, "open", &unit_count, .get = small_count_at, AT(open)},
	        {"inherited", NULL, NULL, &unit_text, .json = inherited_json},
	        {"order", NULL, "order", &unit_count, .get = small_count_at, AT(order)},
	        {"first", NULL, NULL, &unit_count, .get = first_cell},
	        {"name", NULL, NULL, &unit_count, .get = rank_cell},
	        {"path", last[r->kind], NULL, &unit_text, .get = call_path_cell},
	};

	if (r->kind == CALL_ROWS_CALLERS || r->kind == CALL_ROWS_CALLEES)
		add_parts(s, net);
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

/* Without its samples, the error of the row's net is small. */
static bool call_row_has_few_samples(const struct call_rows *r, const struct call_row *of)
{
	return of->is_sampled && !call_row_known(r, of) && of->net_error_ns <= fabs(of->net_ns);
}

static bool is_worth_a_line(const struct row_source *s, uint32_t row, double limit)
{
	const struct call_rows *r = s->model;
	const struct call_row *of;

	if (limit <= 0)
		return true;
	of = call_rows_at(s, row);
	if (r->report->request.children && of->total_ns >= limit * r->net_ns)
		return true;
	return (of->net_ns >= limit * r->net_ns && !call_row_has_few_samples(r, of)) ||
	       (r->waiting_ns > 0 && of->blocked_ns + of->preempted_ns >= limit * r->waiting_ns);
}

/* The cells of net and its error in a line that sums rows: `sum` is their sum. */
static void sum_net(const struct row_source *s, const struct call_row *sum, struct cell *cells)
{
	const struct call_rows *r = s->model;
	double error = call_row_error_ns(r, sum);
	bool shown =
	        r->for_programs || !r->small_errors_hidden || error_matters(error, sum->net_ns);

	cells[column_named(s, "net_known") - s->columns.items] = time_cell(sum->net_ns);
	cells[column_named(s, "net_error") - s->columns.items] =
	        shown ? time_cell(error) : cell_none();
}

static struct call_row sum_of_rows(const struct row_set *set, size_t from)
{
	struct call_row sum = {.path = CALL_PATH_NONE};

	for (size_t i = from; i < set->order.count; i++) {
		const struct call_row *row = call_rows_at(set->source, set->order.items[i]);

		if (call_rows_timed(set->source->model, row))
			call_row_add(&sum, row);
	}
	return sum;
}

/* The error of a sum: errors of samples do not add up. */
static void sum_nets(struct row_set *set)
{
	struct call_rows *r = set->source->model;
	struct call_row rest = sum_of_rows(set, set->shown), all = sum_of_rows(set, 0);
	struct call_row left = r->whole;

	sum_net(set->source, &rest, set->rest);
	sum_net(set->source, set->source->all ? &r->whole : &all, set->total);
	left.net_ns -= all.net_ns;
	left.net_error_ns -= all.net_error_ns;
	left.samples -= all.samples;
	sum_net(set->source, &left, set->unselected);
}

/* Readers get the column of errors only if it has an error that matters. */
static void hide_small_errors(struct row_set *set)
{
	struct call_rows *r = set->source->model;
	bool any = false;

	if (r->report->request.reader.program || r->report->request.reader.wide)
		return;
	for (size_t i = 0; i < set->shown && !any; i++) {
		const struct call_row *of = call_rows_at(set->source, set->order.items[i]);

		any = error_matters(call_row_error_ns(r, of), of->net_ns);
	}
	r->small_errors_hidden = true;
	vec_each (c, &set->source->columns)
		if (c->get == error_cell && !any)
			c->title = NULL;
}

/* All paths of the process; a filter may have selected only some as rows. */
static struct cell whole_cell(const struct row_source *s, const struct column *c)
{
	return c->role == ROLE_SUM && c->get ? c->get(s, c, s->rows, NULL) : cell_none();
}

struct row_set *call_rows_new(const struct call_report *report, const struct call_process *p,
                              enum call_rows_kind kind)
{
	static const enum flat_key key = FLAT_FUNCTION;
	/* Tables without a column "part" ignore its name. */
	static const char *const by_net[] = {"part", "net", "first"}, *const by_total[] = {
	                                                                      "part", "total",
	                                                                      "net", "first"};
	const struct report_request *request = &report->request;
	column_names order = request->children ? request_order(request, by_total, 4)
	                                       : request_order(request, by_net, 3);
	const struct row_request q = {.by = order.items,
	                              .by_count = order.count,
	                              .limit = fmax(request->limit, 0),
	                              .named = kind <= CALL_ROWS_FUNCTIONS &&
	                                       request_names_rows(request, &key, 1),
	                              .lines = request->lines};
	struct call_rows *r = xcalloc(1, sizeof(*r));
	struct row_source *s = row_source_new(r);
	struct row_set *set;

	r->report = report;
	r->process = p;
	r->kind = kind;
	r->current_row = ID_NONE;
	r->unseparated = call_check_unseparated(p);
	r->for_programs = request->reader.program;
	call_rows_pick(r);
	if (request_is_by(request, "name"))
		r->ranks = call_names_ranks(report->names);
	s->free = call_rows_free;
	s->rows = (uint32_t)(kind == CALL_ROWS_PATHS ? r->paths.count : r->sums.count);
	s->worth = is_worth_a_line;
	s->rest_reason = p->samples ? " or too few samples" : NULL;
	s->all = r->filtered && !request->filter.relative ? whole_cell : NULL;
	add_columns(s);
	set = row_set_new(s, &q);
	vec_done(&order);
	hide_small_errors(set);
	sum_nets(set);
	return set;
}

static struct cell node_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	return cell_int(row);
}

static struct cell node_parent_cell(const struct row_source *s, const struct column *c,
                                    uint32_t row, struct buf *text)
{
	const struct call_rows *r = s->model;
	uint32_t path = r->node_paths.items[row];

	/* The root has no node as caller. */
	if (r->depths[path] < 2)
		return cell_none();
	return cell_int((int64_t)r->nodes[r->process->paths.items[path].parent] - 1);
}

static struct cell node_name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                  struct buf *text)
{
	const struct call_rows *r = s->model;

	return cell_text(path_name(r, r->node_paths.items[row]));
}

/* Callers come before callees. */
static void add_nodes(struct call_rows *r, const struct row_set *rows)
{
	uint32_t paths = (uint32_t)r->process->paths.count;

	r->nodes = xcalloc((size_t)paths + 1, sizeof(*r->nodes));
	for (size_t i = 0; i < rows->shown; i++) {
		uint32_t path = r->paths.items[rows->order.items[i]];

		r->nodes[path] = 1;
		while (r->depths[path] > 1 && !r->nodes[r->process->paths.items[path].parent]) {
			path = r->process->paths.items[path].parent;
			r->nodes[path] = 1;
		}
	}
	for (uint32_t path = 0; path < paths; path++) {
		if (!r->nodes[path])
			continue;
		vec_push(&r->node_paths, path);
		r->nodes[path] = (uint32_t)r->node_paths.count;
	}
}

struct row_set *call_nodes_new(const struct row_set *rows)
{
	static const struct column columns[] = {
	        {"id", NULL, "id", &unit_number, .get = node_cell},
	        {"parent", NULL, "parent", &unit_number, .get = node_parent_cell},
	        {"function", NULL, "function", &unit_text, .get = node_name_cell},
	};
	struct call_rows *r = rows->source->model;
	struct row_source *s = row_source_new(r);

	add_nodes(r, rows);
	s->rows = (uint32_t)r->node_paths.count;
	s->no_total = true;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		vec_push(&s->columns, columns[i]);
	return row_set_new(s, &(struct row_request){0});
}
