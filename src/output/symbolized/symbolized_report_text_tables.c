/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/symbolized/symbolized_report_text.h"

#include "base/text/plural.h"
#include "output/samples/report_text.h"
#include "output/text/tree_text.h"

#include <inttypes.h>
#include <stdio.h>

static double limit_of(const struct symbolized_report *r)
{
	return r->options.limit < 0 ? REPORT_TEXT_LIMIT : r->options.limit;
}

static void value_cell(struct table *t, const struct symbolized_report *r, int64_t value)
{
	struct buf text = {0};

	symbolized_report_text_value(symbolized_report_value(r), value, &text);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void columns(struct table *t, const struct symbolized_sums *s)
{
	if (s->children) {
		table_column(t, "total", TABLE_RIGHT);
		table_column(t, "", TABLE_RIGHT);
	}
	table_column(t, "self", TABLE_RIGHT);
	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_BAR);
	if (s->has_totals && !s->children) {
		table_column(t, "total", TABLE_RIGHT);
		table_column(t, "", TABLE_RIGHT);
	}
	for (size_t i = 0; i < s->key_count; i++)
		table_column(t, flat_key_name(s->keys[i]), TABLE_LEFT);
}

static void total_cells(struct table *t, const struct symbolized_report *r,
                        const struct named_sum *sum)
{
	value_cell(t, r, sum->total);
	table_share(t, sum->total_share);
}

static void add_row(struct table *t, const struct symbolized_sums *s, const struct named_sum *sum,
                    const struct symbolized_report *r, bool brief)
{
	struct buf text = {0};

	table_row(t, TABLE_ROW);
	if (s->children)
		total_cells(t, r, sum);
	value_cell(t, r, sum->self);
	table_share(t, sum->share);
	table_bar(t, s->children ? sum->total_share : sum->share);
	if (s->has_totals && !s->children)
		total_cells(t, r, sum);
	for (size_t i = 0; i < s->key_count; i++) {
		buf_clear(&text);
		symbolized_sums_cell(s, sum, s->keys[i], brief, &text);
		table_text(t, buf_text(&text));
	}
	buf_done(&text);
}

/* Totals of callees are in many rows, so a sum of them has no meaning. */
static void add_summary(struct table *t, const struct symbolized_sums *s,
                        const struct symbolized_report *r, enum table_kind kind, int64_t value,
                        const char *label)
{
	table_row(t, kind);
	for (int i = 0; s->children && i < 2; i++)
		table_text(t, "");
	value_cell(t, r, value);
	table_share(t, named_share(s->selection, value));
	if (t->style->bars)
		table_text(t, "");
	for (int i = 0; s->has_totals && !s->children && i < 2; i++)
		table_text(t, "");
	for (size_t i = 1; i < s->key_count; i++)
		table_text(t, "");
	table_text(t, label);
}

void symbolized_report_text_sums(struct symbolized_sums *s, const struct symbolized_report *r,
                                 const struct symbolized_report_text_options *o, struct buf *out)
{
	struct named_rest rest = symbolized_sums_cut(s, limit_of(r), r->options.lines);
	const struct named_selection *of = s->selection;
	char label[64];
	struct table t;

	table_init(&t, &o->style);
	columns(&t, s);
	for (size_t i = 0; i < rest.shown; i++)
		add_row(&t, s, &s->sums.items[i], r, !o->wide);
	if (r->options.lines)
		snprintf(label, sizeof(label), "[%zu more]", rest.rows);
	else
		snprintf(label, sizeof(label), "[<%g%%: %zu more]", 100 * limit_of(r), rest.rows);
	if (rest.rows)
		add_summary(&t, s, r, TABLE_REST, rest.self, label);
	/* If shares are of the selected rows, there is no row for the rest of the file. */
	if (of->rows.count < r->n->rows.count && !r->options.filter.relative)
		add_summary(&t, s, r, TABLE_REST, named_subtract(of->all, of->value),
		            "[not selected]");
	add_summary(&t, s, r, TABLE_TOTAL, of->base, "total");
	table_print(&t, out);
	table_done(&t);
}

static void tree_line(struct table *t, const struct symbolized_report *r,
                      const struct named_node *node, unsigned depth)
{
	struct buf name = {0};

	table_row(t, TABLE_ROW);
	value_cell(t, r, node->total);
	table_share(t, node->share);
	if (node->self)
		value_cell(t, r, node->self);
	else
		table_text(t, "");
	tree_text_indent(&name, depth);
	buf_puts(&name, node->name);
	if (node->inlined)
		buf_puts(&name, " (inlined)");
	tree_text_recursion(&name, node->branch.levels, node->branch.round);
	table_text(t, buf_text(&name));
	buf_done(&name);
}

/* Returns the number of nodes that were left out. */
static size_t tree_lines(struct table *t, const struct symbolized_report *r)
{
	size_t most = r->options.lines ? r->options.lines : SIZE_MAX, lines = 0;
	struct branch_walk w = {0};
	bool shown;

	do {
		const struct named_node *node = &r->tree->nodes.items[w.node];

		shown = symbolized_tree_shown(r->tree, node, limit_of(r));
		if (shown) {
			tree_line(t, r, node, w.depth);
			lines++;
		}
	} while (lines < most && branches_step(BRANCHES(&r->tree->nodes), &w, shown));
	return r->tree->nodes.count - lines;
}

void symbolized_report_text_tree(const struct symbolized_report *r,
                                 const struct symbolized_report_text_options *o, struct buf *out)
{
	struct table t;
	size_t left;

	table_init(&t, &o->style);
	table_column(&t, "total", TABLE_RIGHT);
	table_column(&t, "", TABLE_RIGHT);
	table_column(&t, "self", TABLE_RIGHT);
	table_column(&t, "call tree", TABLE_LEFT);
	left = tree_lines(&t, r);
	table_print(&t, out);
	if (left)
		buf_addf(out, "%zu %s left out (%s)\n", left, plural(left, "line", "lines"),
		         r->options.lines ? "-n N shows N" : "--percent-limit 0 shows all");
	table_done(&t);
}
