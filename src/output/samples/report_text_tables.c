/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/report_text.h"
#include "output/text/tree_text.h"

#include "view/samples/flat_cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double limit_of(const struct report *r)
{
	return r->options.limit < 0 ? REPORT_TEXT_LIMIT : r->options.limit;
}

/* Without a requested limit, rows with a single sample go into the rest. */
static uint64_t least_of(const struct report *r)
{
	return r->options.limit < 0 && !r->options.key_count ? 2 : 0;
}

static void share_columns(struct table *t, bool waits, bool children, const struct report *r,
                          const struct report_text_options *o)
{
	const struct profile_event *e = report_event(r);

	if (children)
		table_column(t, "total", TABLE_RIGHT);
	table_column(t, children ? "self" : "share", TABLE_RIGHT);
	table_column(t, "", TABLE_BAR);
	if (o->wide) {
		table_column(t, "low", TABLE_RIGHT);
		table_column(t, "high", TABLE_RIGHT);
	}
	table_column(t, "samples", TABLE_RIGHT);
	if (waits) {
		if (e && e->period_ns)
			table_column(t, "on CPU", TABLE_RIGHT);
		table_column(t, "runnable", TABLE_RIGHT);
		table_column(t, "blocked", TABLE_RIGHT);
	}
}

static void wait_cells(struct table *t, const struct report *r, uint64_t weight, uint64_t runnable,
                       uint64_t blocked)
{
	const struct profile_event *e = report_event(r);

	if (e && e->period_ns)
		table_time(t, (int64_t)weight);
	table_time(t, (int64_t)runnable);
	table_time(t, (int64_t)blocked);
}

static bool is_wide_key(enum flat_key key)
{
	return key == FLAT_FUNCTION || key == FLAT_LINE;
}

/* The keys in the requested order, but the widest key last, so that no column follows it. */
static size_t order_keys(const struct flat *f, enum flat_key *keys)
{
	size_t n = 0;

	for (size_t i = 0; i < f->request.key_count; i++)
		if (!is_wide_key(f->request.keys[i]))
			keys[n++] = f->request.keys[i];
	for (size_t i = 0; i < f->request.key_count; i++)
		if (is_wide_key(f->request.keys[i]))
			keys[n++] = f->request.keys[i];
	return n;
}

static void key_cells(struct table *t, const struct flat *f, const struct flat_row *row,
                      const enum flat_key *keys, size_t count, const struct report_text_options *o)
{
	struct buf text = {0};

	for (size_t i = 0; i < count; i++) {
		buf_clear(&text);
		flat_cell(f, row, keys[i], !o->wide, &text);
		table_text(t, buf_text(&text));
	}
	buf_done(&text);
}

static void summary(struct table *t, const struct flat *f, const struct report *r,
                    const struct report_text_options *o, enum table_kind kind, size_t keys,
                    const struct flat_rest *sum, const char *label)
{
	table_row(t, kind);
	if (f->request.children)
		table_text(t, "");
	table_share(t, sum->share);
	if (t->style->bars)
		table_text(t, "");
	if (o->wide) {
		table_text(t, "");
		table_text(t, "");
	}
	table_count(t, sum->samples);
	if (f->has_waits)
		wait_cells(t, r, sum->weight, sum->runnable_ns, sum->blocked_ns);
	for (size_t i = 1; i < keys; i++)
		table_text(t, "");
	table_text(t, label);
}

static void flat_rows(struct table *t, struct flat *f, const struct report *r,
                      const struct report_text_options *o, const enum flat_key *keys, size_t count,
                      size_t shown)
{
	for (size_t i = 0; i < shown; i++) {
		const struct flat_row *row = &f->rows.items[i];

		table_row(t, TABLE_ROW);
		if (f->request.children)
			table_share(t, row->total_share);
		table_share(t, row->share);
		table_bar(t, f->request.children ? row->total_share : row->share);
		if (o->wide) {
			table_share(t, row->low);
			table_share(t, row->high);
		}
		table_count(t, row->samples);
		if (f->has_waits)
			wait_cells(t, r, row->weight, row->runnable_ns, row->blocked_ns);
		key_cells(t, f, row, keys, count, o);
	}
}

static void flat_sums(struct table *t, struct flat *f, const struct report *r,
                      const struct report_text_options *o, size_t keys,
                      const struct flat_rest *rest)
{
	struct flat_rest all = {.samples = f->base_samples,
	                        .weight = f->base_weight,
	                        .runnable_ns = f->runnable_ns,
	                        .blocked_ns = f->blocked_ns,
	                        .share = f->base_samples ? 1 : 0};
	struct flat_rest out_of = {.samples = f->base_samples - f->samples,
	                           .weight = f->base_weight - f->weight};
	char label[96];

	if (rest->rows) {
		if (r->options.lines)
			snprintf(label, sizeof(label), "[%zu more]", rest->rows);
		else
			snprintf(label, sizeof(label), "[<%g%%%s: %zu more]", 100 * limit_of(r),
			         rest->most >= limit_of(r) ? " or one sample" : "", rest->rows);
		summary(t, f, r, o, TABLE_REST, keys, rest, label);
	}
	if (out_of.samples) {
		out_of.share = f->base_weight ? (double)out_of.weight / (double)f->base_weight
		                              : (double)out_of.samples / (double)f->base_samples;
		summary(t, f, r, o, TABLE_REST, keys, &out_of, "[not selected]");
	}
	summary(t, f, r, o, TABLE_TOTAL, keys, &all, "total");
}

void report_text_flat(struct flat *f, const struct report *r, const struct report_text_options *o,
                      struct buf *out)
{
	struct flat_rest rest = flat_cut(f, limit_of(r), least_of(r), r->options.lines);
	enum flat_key keys[FLAT_KEYS];
	size_t count = order_keys(f, keys);
	struct table t;

	table_init(&t, &o->style);
	share_columns(&t, f->has_waits, f->request.children, r, o);
	for (size_t i = 0; i < count; i++)
		table_column(&t, flat_key_name(keys[i]),
		             keys[i] == FLAT_CPU ? TABLE_RIGHT : TABLE_LEFT);
	flat_rows(&t, f, r, o, keys, count, rest.shown);
	flat_sums(&t, f, r, o, count, &rest);
	table_print(&t, out);
	table_done(&t);
}

static void process_row(struct table *t, const struct report *r, enum table_kind kind,
                        const struct process_line *line, const struct report_text_options *o,
                        const char *name)
{
	table_row(t, kind);
	table_share(t, line->share);
	if (kind == TABLE_ROW)
		table_bar(t, line->share);
	else if (t->style->bars)
		table_text(t, "");
	if (o->wide && kind == TABLE_ROW) {
		table_share(t, line->low);
		table_share(t, line->high);
	} else if (o->wide) {
		table_text(t, "");
		table_text(t, "");
	}
	table_count(t, line->user_samples);
	table_count(t, line->kernel_samples);
	table_count(t, line->idle_samples);
	table_count(t, line->interrupt_samples);
	if (r->off_cpu)
		wait_cells(t, r, line->weight, line->runnable_ns, line->blocked_ns);
	table_text(t, name);
}

static void add_line(struct process_line *sum, const struct process_line *line)
{
	sum->user_samples += line->user_samples;
	sum->kernel_samples += line->kernel_samples;
	sum->idle_samples += line->idle_samples;
	sum->interrupt_samples += line->interrupt_samples;
	sum->weight += line->weight;
	sum->runnable_ns += line->runnable_ns;
	sum->blocked_ns += line->blocked_ns;
	sum->share += line->share;
}

static void line_name(const struct report *r, const struct process_line *line, struct buf *name)
{
	const struct process_table *t = r->view->profile->processes;

	buf_clear(name);
	buf_puts(name, processes_name(r->processes, line));
	if (line->name == ID_NONE)
		return;
	if (!r->options.instances) {
		if (line->instances > 1)
			buf_addf(name, " x%" PRIu32, line->instances);
		return;
	}
	buf_addf(name, "#%" PRIu32 " (%d)", process_table_process(t, line->process)->instance,
	         process_table_process(t, line->process)->pid);
}

static void process_columns(struct table *t, const struct report *r,
                            const struct report_text_options *o)
{
	const struct profile_event *e = report_event(r);

	table_column(t, "share", TABLE_RIGHT);
	table_column(t, "", TABLE_BAR);
	if (o->wide) {
		table_column(t, "low", TABLE_RIGHT);
		table_column(t, "high", TABLE_RIGHT);
	}
	table_column(t, "user", TABLE_RIGHT);
	table_column(t, "kernel", TABLE_RIGHT);
	table_column(t, "idle", TABLE_RIGHT);
	table_column(t, "hit by irq", TABLE_RIGHT);
	if (r->off_cpu) {
		if (e && e->period_ns)
			table_column(t, "on CPU", TABLE_RIGHT);
		table_column(t, "runnable", TABLE_RIGHT);
		table_column(t, "blocked", TABLE_RIGHT);
	}
	table_column(t, "process", TABLE_LEFT);
}

void report_text_processes(const struct report *r, const struct report_text_options *o,
                           struct buf *out)
{
	const struct processes *p = r->processes;
	const struct process_line *lines =
	        r->options.instances ? p->instances.items : p->names.items;
	size_t count = r->options.instances ? p->instances.count : p->names.count, rest_lines = 0;
	struct process_line rest = {0}, all = {0};
	struct buf name = {0};
	struct table t;
	size_t shown = 0;
	char label[64];

	table_init(&t, &o->style);
	process_columns(&t, r, o);
	for (size_t i = 0; i < count; i++) {
		add_line(&all, &lines[i]);
		/* A requested list of instances is complete, unless a limit is requested too. */
		if ((lines[i].share < limit_of(r) &&
		     !(r->options.instances && r->options.limit < 0)) ||
		    (r->options.lines && shown >= r->options.lines)) {
			add_line(&rest, &lines[i]);
			rest_lines++;
			continue;
		}
		line_name(r, &lines[i], &name);
		process_row(&t, r, TABLE_ROW, &lines[i], o, buf_text(&name));
		shown++;
	}
	if (rest_lines) {
		snprintf(label, sizeof(label), "[%zu more]", rest_lines);
		process_row(&t, r, TABLE_REST, &rest, o, label);
	}
	process_row(&t, r, TABLE_TOTAL, &all, o, "total");
	table_print(&t, out);
	table_done(&t);
	buf_done(&name);
}

static void tree_columns(struct table *t, const struct report *r)
{
	table_column(t, "total", TABLE_RIGHT);
	table_column(t, "self", TABLE_RIGHT);
	if (r->tree->has_waits) {
		table_column(t, "runnable", TABLE_RIGHT);
		table_column(t, "blocked", TABLE_RIGHT);
	}
	table_column(t, "call tree", TABLE_LEFT);
}

static void tree_line(struct table *t, const struct report *r, const struct tree_node *node,
                      unsigned depth)
{
	struct buf name = {0};

	table_row(t, TABLE_ROW);
	table_share(t, node->share);
	if (node->self_samples)
		table_share(t, node->self_share);
	else
		table_text(t, "");
	if (r->tree->has_waits) {
		table_time(t, (int64_t)node->runnable_ns);
		table_time(t, (int64_t)node->blocked_ns);
	}
	tree_text_indent(&name, depth);
	buf_puts(&name, tree_name(r->tree, node));
	if (node->inlined)
		buf_puts(&name, " (inlined)");
	tree_text_recursion(&name, node->branch.levels, node->branch.round);
	table_text(t, buf_text(&name));
	buf_done(&name);
}

void report_text_tree(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	const struct tree *tree = r->tree;
	size_t most = r->options.lines ? r->options.lines : SIZE_MAX, lines = 0;
	struct branch_walk w = {0};
	struct table t;
	bool shown;

	table_init(&t, &o->style);
	tree_columns(&t, r);
	do {
		const struct tree_node *node = &tree->nodes.items[w.node];

		shown = tree_shown(tree, node, limit_of(r));
		if (shown) {
			tree_line(&t, r, node, w.depth);
			lines++;
		}
	} while (lines < most && branches_step(BRANCHES(&tree->nodes), &w, shown));
	table_print(&t, out);
	table_done(&t);
}
