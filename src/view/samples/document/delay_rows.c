/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The places with kernel time that ran with interrupts off, as rows of a table. */
#include "view/samples/document/report_document.h"

#include <inttypes.h>
#include <math.h>

enum delay_cell {
	CELL_SAMPLES,
	CELL_WEIGHT,
	CELL_LATE,
	CELL_USUAL,
	CELL_LATER,
	CELL_EVIDENCE,
	CELL_IMAGE,
	CELL_FUNCTION,
	CELL_ADDRESS,
	CELL_REGION,
	CELL_RETURN,
	CELL_KERNEL,
	CELL_KERNEL_LOW,
	CELL_KERNEL_HIGH,
	CELL_PLACE,
};

static const struct report *report_of(const struct row_source *s)
{
	return s->model;
}

static const struct delayed *place_at(const struct row_source *s, uint32_t row)
{
	return &report_of(s)->delays->places.items[row];
}

static const char *evidence_text(enum delay_evidence evidence)
{
	switch (evidence) {
	case DELAY_CODE:
		return "code";
	case DELAY_LATENESS:
		return "lateness";
	case DELAY_CHAIN:
		return "call chains";
	default:
		return "name";
	}
}

/* Only of user code; of a kernel function all is the kernel's. */
static struct cell kernel_cell(const struct delayed *p, double ns)
{
	return p->exit ? cell_int((int64_t)ns) : cell_none();
}

/* "interrupts off before f+0x12, since f+0x3". */
static struct cell place_text(const struct delayed *p, struct buf *text)
{
	buf_puts(text, p->exit ? KERNEL_EXIT_NAME " before " : "interrupts off before ");
	if (p->symbol->named)
		buf_addf(text, "%s+0x%" PRIx64, p->symbol->name, p->address - p->symbol->start);
	else
		buf_addf(text, "0x%" PRIx64, p->address);
	if (p->region)
		buf_addf(text, ", since +0x%" PRIx64, p->region - p->symbol->start);
	return cell_text(buf_text(text));
}

static struct cell delay_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct delayed *p = place_at(s, row);

	switch ((enum delay_cell)c->argument) {
	case CELL_SAMPLES:
		return cell_int((int64_t)p->samples);
	case CELL_WEIGHT:
		return cell_int((int64_t)p->weight);
	case CELL_LATE:
		return p->lateness.known ? cell_real(p->lateness.median_ns) : cell_none();
	case CELL_USUAL:
		return p->lateness.known ? cell_real(p->lateness.usual_ns) : cell_none();
	case CELL_LATER:
		return p->lateness.known ? cell_real(p->lateness.later) : cell_none();
	case CELL_EVIDENCE:
		return cell_text(evidence_text(p->evidence));
	case CELL_IMAGE:
		return cell_text(view_image_short(report_of(s)->view, p->symbol->image));
	case CELL_FUNCTION:
		return cell_text(p->symbol->name);
	case CELL_ADDRESS:
		return cell_int((int64_t)p->address);
	case CELL_REGION:
		return p->region ? cell_int((int64_t)p->region) : cell_none();
	case CELL_RETURN:
		return cell_text(!p->exit ? "no" : p->exit->fault ? "fault" : "system call");
	case CELL_KERNEL:
		return kernel_cell(p, p->exit ? p->exit->kernel.mean : 0);
	case CELL_KERNEL_LOW:
		return kernel_cell(p, p->exit ? p->exit->kernel.low : 0);
	case CELL_KERNEL_HIGH:
		return kernel_cell(p, p->exit ? p->exit->kernel.high : 0);
	default:
		return place_text(p, text);
	}
}

#define GET(cell) .argument = cell, .get = delay_cell

static const struct column columns[] = {
        {"samples", "samples", "samples", &unit_count, ROLE_SUM, GET(CELL_SAMPLES)},
        {"weight", NULL, "weight", &unit_time, ROLE_SUM, GET(CELL_WEIGHT)},
        {"late", "late", "late_ns", &unit_time, GET(CELL_LATE)},
        {"usual", NULL, "usual_late_ns", &unit_time, GET(CELL_USUAL)},
        {"later", NULL, "later_than_user", &unit_number, GET(CELL_LATER)},
        {"evidence", "found by", "found_by", &unit_text, GET(CELL_EVIDENCE)},
        {"image", NULL, "image", &unit_text, GET(CELL_IMAGE)},
        {"function", NULL, "function", &unit_text, GET(CELL_FUNCTION)},
        {"address", NULL, "address", &unit_hex, GET(CELL_ADDRESS)},
        {"region", NULL, "off_since", &unit_hex, GET(CELL_REGION)},
        {"return", NULL, "return_of", &unit_text, GET(CELL_RETURN)},
        {"kernel", "kernel time", "kernel_ns", &unit_time, GET(CELL_KERNEL)},
        {"kernel_low", NULL, "kernel_low_ns", &unit_time, GET(CELL_KERNEL_LOW)},
        {"kernel_high", NULL, "kernel_high_ns", &unit_time, GET(CELL_KERNEL_HIGH)},
        {"place", "place", NULL, &unit_text, GET(CELL_PLACE)},
};

struct row_set *delay_rows(const struct report *r, const struct document_reader *reader)
{
	static const char *const by[] = {"weight", "samples"};
	struct row_request q = {
	        .by = by,
	        .by_count = sizeof(by) / sizeof(*by),
	        /* Smaller places are not judged, so all of them are worth a line. */
	        .limit = fmax(r->options.limit, 0),
	        .lines = reader->program ? 0 : r->options.lines};
	struct row_source *s = row_source_new((void *)(uintptr_t)r);
	uint64_t base =
	        r->selection.base_weight ? r->selection.base_weight : r->selection.base_samples;

	s->rows = (uint32_t)r->delays->places.count;
	vec_push(&s->columns, (struct column){.name = "share",
	                                      .title = "share",
	                                      .key = "share",
	                                      .unit = &unit_share,
	                                      .role = ROLE_RATIO,
	                                      .of = r->selection.base_weight ? "weight" : "samples",
	                                      .base = cell_int((int64_t)base),
	                                      .cut = true});
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	return row_set_new(s, &q);
}
