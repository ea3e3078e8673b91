/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/calls/calls_json.h"

#include "output/text/tree_json.h"
#include "view/calls/call_check.h"

#include <math.h>
#include <stdlib.h>

struct calls_json_writing {
	const struct call_report *report;
	const struct call_process *process;
	const struct calls_spill *spill;
	struct json j;
	VEC(uint32_t) chain;
	uint32_t *nodes; /* per path of the process: its node's id + 1; 0: none */
	bool unseparated, nested;
};

static void known(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	if (text && *text)
		json_str(j, text);
	else
		json_null(j);
}

/* Writes null if waiting was not separated. */
static void waiting(struct calls_json_writing *w, const char *key, double ns)
{
	json_kdouble(&w->j, key, w->unseparated ? NAN : ns);
}

static const char *text_of(const struct calls_json_writing *w, uint32_t id)
{
	return intern_text(&w->report->paths->images.names, id);
}

static void flags(struct calls_json_writing *w)
{
	json_key(&w->j, "flags");
	json_array(&w->j);
	for (unsigned bit = 0; bit < CALL_FLAGS; bit++)
		if (w->process->flags & UINT32_C(1) << bit && call_flag_word(bit))
			json_str(&w->j, call_flag_word(bit));
	json_end_array(&w->j);
}

static void book_terms(struct calls_json_writing *w, const struct call_check *b)
{
	struct json *j = &w->j;

	json_kdouble(j, "net_ns", b->net_ns);
	json_kdouble(j, "own_ns", b->own_ns);
	waiting(w, "blocked_ns", b->blocked_ns);
	waiting(w, "preempted_ns", b->preempted_ns);
	json_kdouble(j, "tail_ns", b->tail_ns);
	json_kdouble(j, "cpu_ns", b->cpu_ns);
	json_kdouble(j, "cpu_residual_ns", isnan(b->cpu_ns) ? NAN : b->cpu_residual_ns);
	json_kdouble(j, "cpu_residual_share",
	             isnan(b->cpu_ns) ? NAN : call_check_share(b->cpu_residual_ns, b->cpu_ns));
	json_kdouble(j, "wall_ns", b->wall_ns);
	json_kdouble(j, "wall_residual_ns", b->wall_residual_ns);
	json_kdouble(j, "wall_residual_share", call_check_share(b->wall_residual_ns, b->wall_ns));
}

static void books(struct calls_json_writing *w)
{
	struct call_check b = call_check_of(w->process);

	json_key(&w->j, "books");
	json_object(&w->j);
	json_ku64(&w->j, "threads", b.threads);
	json_ku64(&w->j, "threads_without_cpu_clock", b.clockless);
	book_terms(w, &b);
	json_end_object(&w->j);
}

static void spill(struct calls_json_writing *w)
{
	calls_spill(w->spill, w->j.out);
}

static void threads(struct calls_json_writing *w)
{
	json_key(&w->j, "threads");
	json_array(&w->j);
	vec_each (t, &w->process->threads) {
		struct call_check b = call_check_thread(t);

		json_object(&w->j);
		json_kstr(&w->j, "name", text_of(w, t->name));
		json_key(&w->j, "tid");
		if (t->tid)
			json_i64(&w->j, t->tid);
		else
			json_null(&w->j);
		json_ku64(&w->j, "threads", t->threads);
		book_terms(w, &b);
		json_end_object(&w->j);
		spill(w);
	}
	json_end_array(&w->j);
}

static const char *path_name(const struct calls_json_writing *w, uint32_t path)
{
	return call_names_of(w->report->names, w->process->paths.items[path].function);
}

static void path_names(struct calls_json_writing *w, const struct call_rows *r, uint32_t path)
{
	size_t depth = r->depths[path];

	json_key(&w->j, "path");
	json_array(&w->j);
	vec_reserve(&w->chain, depth + 1);
	call_rows_chain(r, path, w->chain.items, depth);
	for (size_t i = 0; i < depth; i++)
		json_str(&w->j, path_name(w, w->chain.items[i]));
	if (!depth)
		json_str(&w->j, path_name(w, path));
	json_end_array(&w->j);
}

/* Marks the paths of the rows and their callers. Callers come before callees. */
static void mark_nodes(struct calls_json_writing *w, const struct call_rows *r)
{
	w->nodes = xcalloc(w->process->paths.count, sizeof(*w->nodes));
	for (size_t i = 0; i < r->shown; i++) {
		uint32_t path = call_rows_at(r, i).path;

		w->nodes[path] = 1;
		while (r->depths[path] > 1 && !w->nodes[w->process->paths.items[path].parent]) {
			path = w->process->paths.items[path].parent;
			w->nodes[path] = 1;
		}
	}
}

/* Writes each caller once, even if several paths share it. */
static void nodes(struct calls_json_writing *w, const struct call_rows *r)
{
	uint32_t count = 0;

	mark_nodes(w, r);
	json_key(&w->j, "nodes");
	json_array(&w->j);
	for (uint32_t p = 0; p < w->process->paths.count; p++) {
		bool outermost = r->depths[p] < 2; /* the root has no node as caller */

		if (!w->nodes[p])
			continue;
		w->nodes[p] = ++count;
		json_object(&w->j);
		tree_json_id(&w->j, count - 1,
		             outermost ? ID_NONE : w->nodes[w->process->paths.items[p].parent] - 1);
		json_kstr(&w->j, "function", path_name(w, p));
		json_end_object(&w->j);
		spill(w);
	}
	json_end_array(&w->j);
}

static void function_keys(struct calls_json_writing *w, uint32_t function)
{
	const struct call_function *f = &w->report->paths->functions.items[function];
	struct json *j = &w->j;

	known(j, "image",
	      f->kind == CALL_FUNCTION ? image_path(&w->report->paths->images, f->frame.image)
	                               : NULL);
	known(j, "library", call_names_library(w->report->names, function));
	json_kbool(j, "counted", f->counted);
	known(j, "file", f->file ? text_of(w, f->file) : NULL);
	json_key(j, "line");
	if (f->line)
		json_u64(j, f->line);
	else
		json_null(j);
}

/* Functions that are counted but not timed have no times. */
static void figures(struct calls_json_writing *w, const struct call_row *row, bool timed)
{
	struct json *j = &w->j;

	json_ku64(j, "calls", row->calls);
	json_kdouble(j, "net_ns", timed ? row->net_ns : NAN);
	json_kdouble(j, "net_error_ns", timed ? row->net_error_ns : NAN);
	json_kdouble(j, "total_ns", timed ? row->total_ns : NAN);
	json_kdouble(j, "total_error_ns", timed ? row->total_error_ns : NAN);
	json_kdouble(j, "wall_ns", timed ? call_row_wall_ns(row) : NAN);
	waiting(w, "blocked_ns", timed ? row->blocked_ns : NAN);
	waiting(w, "preempted_ns", timed ? row->preempted_ns : NAN);
	json_ku64(j, "blocked_count", row->blocked_count);
	json_ku64(j, "preempted_count", row->preempted_count);
	waiting(w, "total_blocked_ns", timed ? row->total_blocked_ns : NAN);
	waiting(w, "total_preempted_ns", timed ? row->total_preempted_ns : NAN);
	json_kdouble(j, "min_ns", row->min_ns);
	json_kdouble(j, "avg_ns", timed ? call_row_average_ns(row) : NAN);
	json_kdouble(j, "max_ns", row->max_ns);
	json_ku64(j, "open", row->open);
	json_kbool(j, "inherited", row->inherited);
	json_ku64(j, "order", row->order);
}

static void rows(struct calls_json_writing *w, const char *key, enum call_rows_kind kind)
{
	struct call_rows *r = call_report_rows(w->report, w->process, kind);
	struct json *j = &w->j;

	if (kind == CALL_ROWS_PATHS && !w->nested)
		nodes(w, r);
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < r->shown; i++) {
		struct call_row row = call_rows_at(r, i);

		json_object(j);
		if (kind == CALL_ROWS_PATHS && !w->nested)
			json_ku64(j, "node", w->nodes[row.path] - 1);
		if (kind == CALL_ROWS_PATHS && w->nested)
			path_names(w, r, row.path);
		else
			json_kstr(j, "function", call_names_of(w->report->names, row.function));
		function_keys(w, row.function);
		/* The figures of a caller's row are those of the callee. */
		figures(w, &row,
		        kind == CALL_ROWS_CALLERS ||
		                !w->report->paths->functions.items[row.function].counted);
		json_end_object(j);
		spill(w);
	}
	json_end_array(j);
	free(w->nodes);
	w->nodes = NULL;
	call_rows_free(r);
}

static void counted(struct calls_json_writing *w)
{
	call_function_list list;

	call_report_counted(w->report, w->process, &list);
	json_key(&w->j, "counted");
	json_array(&w->j);
	vec_each (function, &list)
		json_str(&w->j, call_names_of(w->report->names, *function));
	json_end_array(&w->j);
	vec_done(&list);
}

static void identity(struct calls_json_writing *w)
{
	const struct call_process *p = w->process;
	struct json *j = &w->j;

	json_kstr(j, "name", text_of(w, p->name));
	json_ki64(j, "pid", p->pid);
	json_ki64(j, "parent", p->parent);
	known(j, "command", text_of(w, p->command));
	json_ku64(j, "start_ns", p->start_ns);
	flags(w);
	json_kdouble(j, "wall_ns", p->wall_ns);
	json_kdouble(j, "own_ns", p->own_ns);
	json_kdouble(j, "own_error_ns", p->own_error_ns);
	json_kdouble(j, "own_share", call_check_own_share(p));
	json_kdouble(j, "inner_ns", p->inner_ns);
	json_kdouble(j, "outer_ns", p->outer_ns);
	json_kbool(j, "waiting_separated", !w->unseparated);
	json_ku64(j, "lost_events", p->lost_events);
	json_ku64(j, "other_calls", p->other_calls);
	json_ku64(j, "unmatched_exits", p->unmatched_exits);
	json_ku64(j, "resyncs", p->resyncs);
	json_ku64(j, "deferred", p->deferred);
	json_ku64(j, "uncounted_children", p->uncounted);
	json_ku64(j, "table_bytes", p->table_bytes);
}

static void process(struct calls_json_writing *w, const struct call_process *p)
{
	w->process = p;
	w->unseparated = call_check_unseparated(p);
	json_object(&w->j);
	identity(w);
	books(w);
	threads(w);
	counted(w);
	rows(w, "paths", CALL_ROWS_PATHS);
	if (w->report->functions)
		rows(w, "functions", CALL_ROWS_FUNCTIONS);
	if (w->report->callers)
		rows(w, "callers", CALL_ROWS_CALLERS);
	if (w->report->callees)
		rows(w, "callees", CALL_ROWS_CALLEES);
	json_end_object(&w->j);
	spill(w);
}

void calls_json(const struct call_report *r, bool nested, const struct calls_spill *to,
                struct buf *out)
{
	struct calls_json_writing w = {.report = r, .spill = to, .nested = nested};

	json_init(&w.j, out);
	json_object(&w.j);
	json_kstr(&w.j, "assay", ASSAY_VERSION);
	json_kstr(&w.j, "kind", "calls");
	json_key(&w.j, "processes");
	json_array(&w.j);
	vec_each (p, &r->paths->processes)
		if (call_report_selects(r, p))
			process(&w, p);
	json_end_array(&w.j);
	json_end_object(&w.j);
	vec_done(&w.chain);
}
