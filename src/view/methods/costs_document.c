/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/methods/methods_document.h"

#include "base/text/figure.h"
#include "view/document/grid.h"

#include <math.h>

static const char *const names[] = {
        [COST_SAMPLE] = "a sample",
        [COST_SAMPLE_CHAIN] = "a sample with call chains (-g fp)",
        [COST_SAMPLE_STACK] = "a sample with a copy of the stack (-g)",
        [COST_SWITCH] = "a recorded context switch",
        [COST_CALL] = "a counted call",
        [COST_TAG] = "an event tag (a call has two)",
};

static void heading(struct document *d, const struct method_costs *c)
{
	struct buf text = {0};

	document_heading(d, "What measuring costs on %s", c->host ? c->host : "this machine");
	document_line(d, "kernel", c->kernel);
	text_date(&text, c->wall_ns);
	document_line(d, "date", buf_text(&text));
	document_line(d, "clock", c->clock);
	buf_done(&text);
}

static void table(struct document *d, const struct method_costs *c)
{
	static const struct grid_column columns[] = {{"CPU time of", &unit_text, false},
	                                             {"median", &unit_fine_time, false},
	                                             {"lower quartile", &unit_fine_time, false},
	                                             {"upper quartile", &unit_fine_time, false}};
	struct grid *g = grid_new(columns, sizeof(columns) / sizeof(*columns));

	for (int i = 0; i < COST_COUNT; i++) {
		const struct method_cost *item = &c->items[i];

		grid_row(g, ROW_ITEM);
		grid_add(g, cell_text(names[i]));
		if (item->ns <= 0) {
			grid_add(g, cell_text("-"));
			continue;
		}
		grid_add(g, cell_real(item->ns));
		if (item->low_ns <= 0)
			continue;
		grid_add(g, cell_real(item->low_ns));
		grid_add(g, cell_real(item->high_ns));
	}
	document_grid(d, "", "costs", g);
}

static void reasons(struct document *d, const struct method_costs *c)
{
	struct section *notes = document_notes(d, MEDIA_READERS, "Not measured", NULL);
	struct buf text = {0};

	for (int i = 0; i < COST_COUNT; i++) {
		if (!c->items[i].why)
			continue;
		buf_clear(&text);
		buf_addf(&text, "%s: %s", names[i], c->items[i].why);
		section_note(notes, buf_text(&text));
	}
	buf_done(&text);
}

static void facts(struct document *d, const struct method_costs *c)
{
	document_known(d, "measured_ns", (int64_t)c->wall_ns, c->wall_ns);
	document_string(d, "host", c->host);
	document_string(d, "kernel", c->kernel);
	document_string(d, "clock", c->clock);
	document_array(d, "costs");
	for (int i = 0; i < COST_COUNT; i++) {
		const struct method_cost *item = &c->items[i];

		document_object(d, NULL);
		document_string(d, "cost", method_cost_key(i));
		document_real(d, "ns", item->ns > 0 ? item->ns : NAN);
		document_real(d, "low_ns", item->low_ns > 0 ? item->low_ns : NAN);
		document_real(d, "high_ns", item->low_ns > 0 ? item->high_ns : NAN);
		document_string(d, "reason", item->why);
		document_end(d);
	}
	document_end(d);
}

void costs_document(struct document *d, const struct method_costs *costs)
{
	heading(d, costs);
	facts(d, costs);
	table(d, costs);
	reasons(d, costs);
}
