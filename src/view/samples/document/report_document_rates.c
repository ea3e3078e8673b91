/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling rates, the cost of the recording, and the fill level of the buffers. */
#include "view/samples/document/report_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/document/grid.h"
#include "view/account/rates.h"

#include <inttypes.h>
#include <math.h>

/* Up to this many changes of the rate are listed; --wide lists all. */
#define ROWS_SHOWN 12
#define CPUS_SHOWN 16

static void rate_row(struct grid *g, const struct rate_row *row)
{
	grid_row(g, ROW_ITEM);
	grid_add(g, cell_int((int64_t)row->from_ns));
	grid_addf(g, "%.0f", row->hz);
	grid_add(g, cell_int((int64_t)row->length_ns));
	grid_add(g, cell_real(row->share));
	grid_add(g, cell_text(rate_reason_name(row->reason)));
}

static void other_rates(struct grid *g, const rate_list *rows, size_t from)
{
	double least = INFINITY, most = 0, share = 0;
	uint64_t length_ns = 0;

	for (size_t i = from; i < rows->count; i++) {
		least = fmin(least, rows->items[i].hz);
		most = fmax(most, rows->items[i].hz);
		share += rows->items[i].share;
		length_ns += rows->items[i].length_ns;
	}
	grid_row(g, ROW_PART);
	grid_add(g, cell_int((int64_t)rows->items[from].from_ns));
	grid_addf(g, "%.0f to %.0f", least, most);
	grid_add(g, cell_int((int64_t)length_ns));
	grid_add(g, cell_real(share));
	grid_addf(g, "%zu %s", rows->count - from, plural(rows->count - from, "change", "changes"));
}

static void rates(struct report_writing *w, const struct recording *rec)
{
	static const struct grid_column columns[] = {{"from", &unit_time, false},
	                                             {"Hz", &unit_count, false},
	                                             {"for", &unit_time, false},
	                                             {"share", &unit_share, false},
	                                             {"", &unit_text, false}};
	rate_list rows = {0};
	struct grid *g;
	size_t shown;

	rates_of(rec, &rows);
	if (rows.count) {
		shown = w->reader->wide || rows.count <= ROWS_SHOWN ? rows.count : ROWS_SHOWN - 1;
		g = grid_new(columns, sizeof(columns) / sizeof(*columns));
		for (size_t i = 0; i < shown; i++)
			rate_row(g, &rows.items[i]);
		if (shown < rows.count)
			other_rates(g, &rows, shown);
		document_grid(w->document, "Rates", "rates", g);
	}
	vec_done(&rows);
}

static void buffer_row(struct grid *g, const struct account_cpu *cpu)
{
	grid_row(g, ROW_ITEM);
	grid_addf(g, "%" PRIu32, cpu->cpu);
	grid_add(g, cell_int((int64_t)cpu->ring_bytes));
	grid_add(g, cell_int((int64_t)cpu->ring_used_max));
	grid_add(g, cell_real(cpu->ring_bytes ? (double)cpu->ring_used_max / (double)cpu->ring_bytes
	                                      : 0));
	if (cpu->ring_reads)
		grid_add(g, cell_int((int64_t)buffer_average(cpu)));
	else
		grid_add(g, cell_text("-"));
	grid_add(g, cell_int((int64_t)cpu->lost_records));
}

static void buffers(struct report_writing *w, const struct recording *rec)
{
	static const struct grid_column columns[] = {
	        {"CPU", &unit_count, false},     {"size", &unit_bytes, false},
	        {"most", &unit_bytes, false},    {"", &unit_share, false},
	        {"average", &unit_bytes, false}, {"dropped", &unit_count, false}};
	struct grid *g;
	size_t left = 0;

	if (!rec->account.cpus.count || (!w->reader->wide && !buffers_were_short(rec)))
		return;
	g = grid_new(columns, sizeof(columns) / sizeof(*columns));
	vec_each (cpu, &rec->account.cpus) {
		bool full = cpu->lost_records || cpu->ring_used_max > cpu->ring_bytes / 2;

		if (w->reader->wide || rec->account.cpus.count <= CPUS_SHOWN || full)
			buffer_row(g, cpu);
		else
			left++;
	}
	document_grid(w->document, "Buffers", "buffers", g);
	if (left) {
		buf_addf(&w->text, "(--wide lists %zu more %s)", left, plural(left, "CPU", "CPUs"));
		document_text(w->document, NULL, buf_text(&w->text));
		buf_clear(&w->text);
	}
}

void report_document_rates(struct report_writing *w)
{
	const struct profile *p = w->report->view->profile;
	size_t shown = report_recordings_shown(p);

	for (size_t i = 0; i < shown; i++) {
		rates(w, p->recordings.items[i]);
		buffers(w, p->recordings.items[i]);
	}
}

static void ppm(struct buf *out, uint64_t share)
{
	text_share(out, (double)share / 1e6);
}

bool report_document_budget(const struct recording *rec, struct buf *out)
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

bool report_document_calibration(const struct recording *rec, struct buf *out)
{
	static const char *const unknown[] = {
	        [CALIBRATION_BUSY] = "the machine was too busy to measure it",
	        [CALIBRATION_NO_CLOCK] = "the event is no clock",
	        [CALIBRATION_REFUSED] = "the system did not allow assay to measure it",
	};
	const struct account_calibration *c = &rec->account.calibration;
	double middle = (double)c->slowdown_ppm / 1e4, low = (double)c->low_ppm / 1e4;
	double half = fmax((double)c->high_ppm / 1e4 - middle, middle - low);
	int places = half < 0.05 ? 2 : 1;

	if (c->state == CALIBRATION_NONE || c->state >= sizeof(unknown) / sizeof(*unknown))
		return false;
	if (c->state == CALIBRATION_DONE)
		buf_addf(out, "sampling slows this machine by %.*f %% +/- %.*f at %s rate", places,
		         middle, places, half, rec->account.rates.count ? "the requested" : "this");
	else
		buf_addf(out, "the slowdown by sampling is not known: %s", unknown[c->state]);
	return true;
}

static void calibration_facts(struct document *d, const struct account_calibration *c)
{
	bool known = c->state == CALIBRATION_DONE;

	if (!c->state) {
		document_null(d, "calibration");
		return;
	}
	document_object(d, "calibration");
	document_real(d, "slowdown", known ? (double)c->slowdown_ppm / 1e6 : NAN);
	document_real(d, "low", known ? (double)c->low_ppm / 1e6 : NAN);
	document_real(d, "high", known ? (double)c->high_ppm / 1e6 : NAN);
	document_int(d, "pairs", (int64_t)c->pairs);
	document_end(d);
}

static void rates_facts(struct document *d, const struct recording *rec)
{
	static const char *const reasons[] = {"asked", "budget", "behind"};
	rate_list rows = {0};

	rates_of(rec, &rows);
	document_array(d, "rates");
	vec_each (row, &rows) {
		document_object(d, NULL);
		document_int(d, "from_ns", row->from_ns);
		document_int(d, "length_ns", row->length_ns);
		document_int(d, "period_ns", row->period_ns);
		document_real(d, "share", row->share);
		document_string(d, "reason", reasons[row->reason]);
		document_end(d);
	}
	document_end(d);
	vec_done(&rows);
}

static void buffers_facts(struct document *d, const struct recording *rec)
{
	document_array(d, "buffers");
	vec_each (cpu, &rec->account.cpus) {
		document_object(d, NULL);
		document_int(d, "cpu", cpu->cpu);
		document_int(d, "bytes", cpu->ring_bytes);
		document_int(d, "used_max", cpu->ring_used_max);
		document_known(d, "used_average", buffer_average(cpu), cpu->ring_reads);
		document_int(d, "lost_records", cpu->lost_records);
		document_end(d);
	}
	document_end(d);
}

static double share(uint64_t ppm)
{
	return (double)ppm / 1e6;
}

static void budget_facts(struct document *d, const struct account_budget *b)
{
	if (!b->share_ppm) {
		document_null(d, "budget");
		return;
	}
	document_object(d, "budget");
	document_real(d, "share", share(b->share_ppm));
	document_real(d, "spent", share(b->spent_ppm));
	document_real(d, "most", share(b->most_ppm));
	document_int(d, "over_ns", b->over_ns);
	document_int(d, "sample_ns", b->cost_ns);
	document_bool(d, "measured", b->cost_samples != 0);
	document_int(d, "sample_low_ns", b->cost_low_ns);
	document_int(d, "sample_high_ns", b->cost_high_ns);
	document_int(d, "record_ns", b->record_ns);
	document_end(d);
}

void report_document_recording(struct report_writing *w, const struct recording *rec)
{
	struct document *d = w->document;

	rates_facts(d, rec);
	buffers_facts(d, rec);
	budget_facts(d, &rec->account.budget);
	calibration_facts(d, &rec->account.calibration);
}
