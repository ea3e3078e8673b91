/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/system_call_report.h"

#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "view/document/histogram.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct system_call_line *line_at(const struct row_source *s, uint32_t row)
{
	return &((const struct system_call_report *)s->model)->lines.items[row];
}

static struct cell count_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const char *line = (const char *)line_at(s, row);

	return cell_int((int64_t) * (const uint64_t *)(const void *)(line + c->argument));
}

static struct cell time_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const char *line = (const char *)line_at(s, row);
	double ns = *(const double *)(const void *)(line + c->argument);

	return isnan(ns) ? cell_none() : cell_int(llrint(ns));
}

static struct cell text_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct system_call_report *r = s->model;
	const char *line = (const char *)line_at(s, row);
	uint32_t id = *(const uint32_t *)(const void *)(line + c->argument);

	return id ? cell_text(intern_text(&r->texts, id)) : cell_none();
}

static const char *error_name(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "unknown";
}

static struct cell errors_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	vec_each (e, &line_at(s, row)->errors)
		buf_addf(text, "%s%s %" PRIu64, text->size ? ", " : "", error_name(e->error),
		         e->count);
	return text->size ? cell_text(buf_text(text)) : cell_none();
}

static void errors_json(const struct row_source *s, const struct column *c, uint32_t row,
                        struct json *j)
{
	json_key(j, "errors");
	json_object(j);
	vec_each (e, &line_at(s, row)->errors)
		json_ku64(j, error_name(e->error), e->count);
	json_end_object(j);
}

#define AT(field) .argument = offsetof(struct system_call_line, field)

static const struct column columns[] = {
        {"count", "count", "count", &unit_count, ROLE_SUM, .get = count_cell, AT(count)},
        {"failed", "failed", "failed", &unit_count, ROLE_SUM, .blank_zero = true, .get = count_cell,
         AT(failed)},
        {"time", "time", "ns", &unit_time, ROLE_SUM, .get = count_cell, AT(ns)},
        {"share", "share", NULL, &unit_share, ROLE_RATIO, .of = "time", .cut = true, .bar = true},
        {"p50", "p50", "p50_ns", &unit_time, .get = time_cell, AT(p50_ns)},
        {"p90", "p90", "p90_ns", &unit_time, .get = time_cell, AT(p90_ns), .room = 100},
        {"p99", "p99", "p99_ns", &unit_time, .get = time_cell, AT(p99_ns)},
        {"max", "max", "max_ns", &unit_time, ROLE_MOST, .get = count_cell, AT(max_ns)},
        {"call", "call", "call", &unit_text, .get = text_cell, AT(call)},
        {"file", "file", "file", &unit_text, .get = text_cell, AT(file)},
        {"errors", "errors", "errors", &unit_text, .get = errors_cell, .json = errors_json},
};

static struct row_set *make_rows(const struct system_call_report *r, const struct row_request *q)
{
	static const char *const by_time[] = {"time"};
	struct row_request sorted = *q;
	struct row_source *s = row_source_new((void *)(uintptr_t)r);

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	vec_each (c, &s->columns)
		if (!strcmp(c->name, "share"))
			c->base = cell_int((int64_t)r->ns);
	s->rows = (uint32_t)r->lines.count;
	s->squeezed = true;
	if (!q->by_count) {
		sorted.by = by_time;
		sorted.by_count = 1;
	}
	return row_set_new(s, &sorted);
}

/* The durations of all lines as powers of two. */
static void add_histogram(struct document *d, const struct system_call_report *r)
{
	static const struct histogram_form form = {.from = "from",
	                                           .to = "to",
	                                           .count = "calls",
	                                           .share = "share",
	                                           .bound_unit = &unit_time,
	                                           .count_unit = &unit_count,
	                                           .share_unit = &unit_share};
	histogram_steps steps = {0};
	struct call_times all = {0};
	uint64_t end = 0; /* of the last step */

	vec_each (line, &r->lines)
		call_times_merge(&all, &line->times);
	vec_each (b, &all.buckets) {
		double ns = call_times_bucket_ns(b->bucket);
		uint64_t from = ns < 1 ? 0 : UINT64_C(1) << (unsigned)log2(ns);
		uint64_t to = from ? from * 2 : 1;

		for (; end && end < from; end *= 2)
			vec_push(&steps, (struct histogram_step){.from = end, .to = 2 * end});
		if (end != to)
			vec_push(&steps, (struct histogram_step){.from = from, .to = to});
		end = to;
		steps.items[steps.count - 1].count += b->count;
	}
	call_times_done(&all);
	document_histogram(d, "histogram", &form, &steps);
}

static void add_notes(struct document *d, const struct system_calls *s, bool unnamed)
{
	struct section *notes = document_notes(d, MEDIA_ALL, "Notes", "notes");
	struct buf text = {0};

	if (s->unentered || s->unreturned) {
		buf_addf(&text,
		         "%" PRIu64 " %s not in the table, since only the entry or only the "
		         "return was recorded: the call was open at the start or at the end of "
		         "the recording, or records were lost.",
		         s->unentered + s->unreturned,
		         plural(s->unentered + s->unreturned, "call is", "calls are"));
		section_note(notes, buf_text(&text));
		buf_clear(&text);
	}
	if (s->beyond) {
		buf_addf(&text, "%" PRIu64 " %s not in the table: more than %u different calls.",
		         s->beyond, plural(s->beyond, "call is", "calls are"),
		         2 * SYSTEM_CALLS_MAX);
		section_note(notes, buf_text(&text));
	}
	if (unnamed)
		section_note(notes, "Some calls have numbers in place of names: they are newer "
		                    "than this assay, or of another architecture.");
	buf_done(&text);
}

void system_call_document(struct document *d, const struct system_call_report *r,
                          const struct document_reader *reader, const struct row_request *q)
{
	const struct system_calls *s = &r->profile->system_calls;
	struct buf text = {0};

	document_int(d, "calls", (int64_t)r->count);
	document_int(d, "failed", (int64_t)r->failed);
	document_int(d, "ns", (int64_t)r->ns);
	document_int(d, "processes", (int64_t)r->processes);
	document_int(d, "unentered", (int64_t)s->unentered);
	document_int(d, "unreturned", (int64_t)s->unreturned);
	document_int(d, "last", (int64_t)s->last);
	document_int(d, "beyond", (int64_t)s->beyond);
	buf_addf(&text, "%" PRIu64 " %s of %" PRIu64 " %s, %" PRIu64 " of them failed", r->count,
	         plural(r->count, "system call", "system calls"), r->processes,
	         plural(r->processes, "process", "processes"), r->failed);
	document_line(d, "calls", buf_text(&text));
	buf_done(&text);
	document_table(d, MEDIA_ALL, "System calls", "system_calls", make_rows(r, q));
	add_histogram(d, r);
	add_notes(d, s, r->unnamed_calls);
}
