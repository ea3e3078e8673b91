/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/calls/calls_text.h"

#include "view/calls/call_check.h"

#include <inttypes.h>
#include <math.h>

#define SPILL_BYTES (256 * 1024)

void calls_spill(const struct calls_spill *spill, struct buf *out)
{
	if (!spill || !spill->write || out->size < SPILL_BYTES)
		return;
	spill->write(spill->ctx, out);
	buf_clear(out);
}

void calls_text_percent(struct buf *out, double share)
{
	double size = fabs(100 * share);

	if (size < 0.0005)
		buf_puts(out, "0 %");
	else
		buf_addf(out,
		         size >= 10      ? "%.1f %%"
		         : size >= 0.095 ? "%.2f %%"
		                         : "%.3f %%",
		         100 * share);
}

static const char *name_of(const struct call_report *r, const struct call_process *p)
{
	return intern_text(&r->paths->images.names, p->name);
}

/* With several processes: the times of each. */
static void overview(const struct call_report *r, const struct calls_text_options *o,
                     struct buf *out)
{
	struct table t;

	text_heading(out, &o->style, "Processes");
	table_init(&t, &o->style);
	table_column(&t, "net", TABLE_RIGHT);
	table_column(&t, "own cost", TABLE_RIGHT);
	table_column(&t, "wall", TABLE_RIGHT);
	table_column(&t, "paths", TABLE_RIGHT);
	table_column(&t, "pid", TABLE_RIGHT);
	table_column(&t, "process", TABLE_LEFT);
	vec_each (p, &r->paths->processes) {
		struct buf text = {0};

		if (!call_report_selects(r, p))
			continue;
		table_row(&t, TABLE_ROW);
		text_fine_time(&text, call_check_net_ns(p));
		table_text(&t, buf_text(&text));
		buf_clear(&text);
		text_fine_time(&text, p->own_ns);
		table_text(&t, buf_text(&text));
		buf_clear(&text);
		text_fine_time(&text, p->wall_ns);
		table_text(&t, buf_text(&text));
		table_count(&t, p->paths.count ? p->paths.count - 1 : 0);
		table_format(&t, "%" PRId32, p->pid);
		table_text(&t, name_of(r, p));
		buf_done(&text);
	}
	table_print(&t, out);
	table_done(&t);
}

static void heading(const struct call_report *r, const struct call_process *p,
                    const struct calls_text_options *o, struct buf *out)
{
	struct buf wall = {0}, net = {0};

	text_fine_time(&wall, p->wall_ns);
	text_fine_time(&net, call_check_net_ns(p));
	text_heading(out, &o->style, "%s (pid %" PRId32 "), wall %s, net %s", name_of(r, p), p->pid,
	             buf_text(&wall), buf_text(&net));
	buf_done(&wall);
	buf_done(&net);
}

static void process(const struct call_report *r, const struct call_process *p,
                    const struct calls_text_options *o, struct buf *out)
{
	bool other = r->tree || r->callers || r->callees;

	heading(r, p, o, out);
	calls_text_books(r, p, o, out);
	if (r->functions)
		calls_text_rows(r, p, CALL_ROWS_FUNCTIONS, o, out);
	else if (!other)
		calls_text_rows(r, p, CALL_ROWS_PATHS, o, out);
	if (r->callers)
		calls_text_rows(r, p, CALL_ROWS_CALLERS, o, out);
	if (r->callees)
		calls_text_rows(r, p, CALL_ROWS_CALLEES, o, out);
	if (r->tree)
		calls_text_tree(r, p, o, out);
}

#define NAMED_MAX 12

/* Lists the processes of the file. */
static void none_chosen(const struct call_report *r, struct buf *out)
{
	size_t count = r->paths->processes.count;

	buf_addf(out, "no process matches, of %zu: ", count);
	for (size_t i = 0; i < count && i < NAMED_MAX; i++) {
		const struct call_process *p = &r->paths->processes.items[i];

		buf_puts(out, i ? ", " : "");
		text_clean(out, name_of(r, p));
		buf_addf(out, " (pid %" PRId32 ")", p->pid);
	}
	if (count > NAMED_MAX)
		buf_addf(out, " and %zu more", count - NAMED_MAX);
	buf_putc(out, '\n');
}

void calls_text(const struct call_report *r, const struct calls_text_options *o, struct buf *out)
{
	size_t selected = 0;

	vec_each (p, &r->paths->processes)
		selected += call_report_selects(r, p);
	if (!selected) {
		none_chosen(r, out);
		return;
	}
	if (selected > 1)
		overview(r, o, out);
	vec_each (p, &r->paths->processes)
		if (call_report_selects(r, p))
			process(r, p, o, out);
}
