/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling rates, the cost of the recording, and the fill level of the buffers. */
#include "base/text/plural.h"
#include "output/samples/report_text.h"
#include "view/samples/rates.h"

#include <inttypes.h>
#include <math.h>

/* Up to this many changes of the rate are listed; --wide lists all. */
#define ROWS_SHOWN 12
#define CPUS_SHOWN 16

static void rate_row(struct table *t, const struct rate_row *row)
{
	table_row(t, TABLE_ROW);
	table_time(t, (int64_t)row->from_ns);
	table_format(t, "%.0f", row->hz);
	table_time(t, (int64_t)row->length_ns);
	table_share(t, row->share);
	table_text(t, rate_reason_name(row->reason));
}

static void other_rates(struct table *t, const rate_list *rows, size_t from)
{
	double least = INFINITY, most = 0, share = 0;
	uint64_t length_ns = 0;

	for (size_t i = from; i < rows->count; i++) {
		least = fmin(least, rows->items[i].hz);
		most = fmax(most, rows->items[i].hz);
		share += rows->items[i].share;
		length_ns += rows->items[i].length_ns;
	}
	table_row(t, TABLE_REST);
	table_time(t, (int64_t)rows->items[from].from_ns);
	table_format(t, "%.0f to %.0f", least, most);
	table_time(t, (int64_t)length_ns);
	table_share(t, share);
	table_format(t, "%zu %s", rows->count - from,
	             plural(rows->count - from, "change", "changes"));
}

static void rates(const struct recording *rec, const struct report_text_options *o, struct buf *out)
{
	rate_list rows = {0};
	struct table t;
	size_t shown;

	rates_of(rec, &rows);
	if (rows.count) {
		shown = o->wide || rows.count <= ROWS_SHOWN ? rows.count : ROWS_SHOWN - 1;
		text_heading(out, &o->style, "Rates");
		table_init(&t, &o->style);
		table_column(&t, "from", TABLE_RIGHT);
		table_column(&t, "Hz", TABLE_RIGHT);
		table_column(&t, "for", TABLE_RIGHT);
		table_column(&t, "share", TABLE_RIGHT);
		table_column(&t, "", TABLE_LEFT);
		for (size_t i = 0; i < shown; i++)
			rate_row(&t, &rows.items[i]);
		if (shown < rows.count)
			other_rates(&t, &rows, shown);
		table_print(&t, out);
		table_done(&t);
	}
	vec_done(&rows);
}

static void table_bytes(struct table *t, uint64_t bytes)
{
	struct buf text = {0};

	text_bytes(&text, bytes);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void buffer_row(struct table *t, const struct account_cpu *cpu)
{
	table_row(t, TABLE_ROW);
	table_format(t, "%" PRIu32, cpu->cpu);
	table_bytes(t, cpu->ring_bytes);
	table_bytes(t, cpu->ring_used_max);
	table_share(t, cpu->ring_bytes ? (double)cpu->ring_used_max / (double)cpu->ring_bytes : 0);
	if (cpu->ring_reads)
		table_bytes(t, buffer_average(cpu));
	else
		table_text(t, "-");
	table_count(t, cpu->lost_records);
}

static void buffers(const struct recording *rec, const struct report_text_options *o,
                    struct buf *out)
{
	static const char *const titles[] = {"CPU", "size", "most", "", "average", "dropped"};
	size_t left = 0;
	struct table t;

	if (!rec->account.cpus.count || (!o->wide && !buffers_were_short(rec)))
		return;
	text_heading(out, &o->style, "Buffers");
	table_init(&t, &o->style);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&t, titles[i], TABLE_RIGHT);
	vec_each (cpu, &rec->account.cpus) {
		bool full = cpu->lost_records || cpu->ring_used_max > cpu->ring_bytes / 2;

		if (o->wide || rec->account.cpus.count <= CPUS_SHOWN || full)
			buffer_row(&t, cpu);
		else
			left++;
	}
	table_print(&t, out);
	table_done(&t);
	if (left)
		buf_addf(out, "(--wide lists %zu more %s)\n", left, plural(left, "CPU", "CPUs"));
}

void report_text_rates(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	vec_each (rec, &r->view->profile->recordings) {
		rates(*rec, o, out);
		buffers(*rec, o, out);
	}
}

static void ppm(struct buf *out, uint64_t share)
{
	text_share(out, (double)share / 1e6);
}

bool report_text_budget(const struct recording *rec, struct buf *out)
{
	const struct account_budget *b = &rec->account.budget;

	if (!b->share_ppm)
		return false;
	ppm(out, b->share_ppm);
	buf_puts(out, " of a CPU");
	if (b->looked_ns) {
		buf_puts(out, ": set-up, samples and recorder took ");
		ppm(out, b->spent_ppm);
		buf_puts(out, ", ");
		ppm(out, b->most_ppm);
		buf_puts(out, " at most");
	}
	if (b->looked_ns && b->over_ns) {
		buf_puts(out, " (above it for ");
		text_time(out, (int64_t)b->over_ns);
		buf_putc(out, ')');
	}
	buf_puts(out, "; a sample takes ");
	text_time(out, (int64_t)b->cost_ns);
	if (b->cost_samples) {
		buf_puts(out, " (quartiles ");
		text_time(out, (int64_t)b->cost_low_ns);
		buf_puts(out, ", ");
		text_time(out, (int64_t)b->cost_high_ns);
		buf_putc(out, ')');
	} else {
		buf_puts(out, ", which is an assumption: it could not be measured here");
	}
	if (b->record_ns) {
		buf_puts(out, ", a record of a switch or a mapping ");
		text_time(out, (int64_t)b->record_ns);
	}
	return true;
}
