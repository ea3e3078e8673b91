/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_report_fixture: given sums of event tags, and their report.
 *
 * make(), or device() or threads(), which have functions; program(), timed(); then report() or
 * text(); done(). One thread. Uses: trace, view, output, symbol.
 */
#ifndef ASSAY_TESTS_TAG_REPORT_FIXTURE_H
#define ASSAY_TESTS_TAG_REPORT_FIXTURE_H

#include "base/memory/buf.h"
#include "base/memory/hash.h"
#include "check.h"
#include "output/document_output.h"
#include "symbol/demangle/demangle.h"
#include "view/tags/tag_document.h"

#include <stdlib.h>

struct made {
	struct tag_recording recording;
	struct tag_summary *summary;
	struct tag_report *report;
	struct tag_report_options options;
	struct buf out;
};

static inline struct made *make(uint64_t hz)
{
	struct made *m = xcalloc(1, sizeof(*m));

	m->recording.clock = (struct tag_clock){hz, INT64_MIN};
	m->summary = xcalloc(1, sizeof(*m->summary));
	m->options.request.limit = -1;
	return m;
}

/* A program's names with their own stream; returns the number of the names. */
static inline uint32_t program(struct made *m, const char *name, bool device)
{
	struct tag_stream stream = {.id = (uint32_t)m->recording.streams.count, .device = device};
	uint32_t number = (uint32_t)m->recording.names.count;

	vec_push(&m->recording.names, tag_names_new());
	stream.names = m->recording.names.items[number];
	snprintf(stream.process, sizeof(stream.process), "%s", name);
	vec_push(&m->recording.streams, stream);
	m->summary->streams++;
	m->summary->threads++;
	m->summary->processes++;
	return number;
}

static inline struct tag_function *function(struct made *m, uint32_t names, uint32_t tag,
                                            const char *name, enum tag_kind kind)
{
	struct tag_function f = {
	        .tag = tag, .names = names, .certain = TAG_RANGE_NONE, .uncertain = TAG_RANGE_NONE};

	if (name)
		CHECK_EQ(tag_names_add(m->recording.names.items[names], tag, kind, name,
		                       strlen(name), NULL),
		         0);
	vec_push(&m->summary->functions, f);
	return vec_last(&m->summary->functions);
}

static inline void timed(struct made *m, uint32_t names, uint32_t tag, const char *name,
                         uint64_t elapsed, uint64_t net, uint64_t calls, uint64_t max, uint64_t min)
{
	struct tag_function *f = function(m, names, tag, name, TAG_FUNCTION);

	f->elapsed = elapsed;
	f->net = net;
	f->calls = f->ended = calls;
	f->certain = (struct tag_range){calls, {net, min, max}, {elapsed, min, elapsed}};
}

static inline struct tag_report *report(struct made *m)
{
	vec_each (names, &m->recording.names)
		tag_names_show(*names, demangle);
	tag_report_free(m->report);
	m->report = tag_report_new(&m->recording, m->summary, &m->options);
	return m->report;
}

/* The i-th row of the table of functions. */
static inline const struct tag_row *row_of(const struct made *m, size_t i)
{
	return &m->report->functions.rows.items[m->report->table->order.items[i]];
}

static inline const char *print(struct made *m, bool json, const struct tag_groups *groups,
                                const struct tag_distribution *distribution)
{
	const struct tag_document parts = {
	        .report = report(m), .groups = groups, .distribution = distribution};
	const struct document_reader reader = {.program = json};
	const struct document_text_options to = {0};
	struct document document;

	buf_clear(&m->out);
	document_init(&document);
	tag_document_fill(&document, &parts, &reader);
	if (json)
		document_json_print(&document, false, NULL, &m->out);
	else
		document_text_print(&document, &to, NULL, &m->out);
	document_done(&document);
	report(m); /* the document took the table over */
	return buf_text(&m->out);
}

static inline const char *text(struct made *m)
{
	return print(m, false, NULL, NULL);
}

static inline const char *json(struct made *m)
{
	return print(m, true, NULL, NULL);
}

static inline void done(struct made *m)
{
	tag_report_free(m->report);
	vec_each (names, &m->recording.names)
		tag_names_free(*names);
	vec_done(&m->recording.names);
	vec_done(&m->recording.streams);
	vec_done(&m->summary->functions);
	free(m->summary);
	buf_done(&m->out);
	free(m);
}

/* A kernel on a device with a clock of microseconds: the original layout. */
static inline struct made *device(void)
{
	struct made *m = make(1000000);
	uint32_t names = program(m, "", true);

	timed(m, names, 502, "bcopy", 166218, 165343, 889, 1089, 2);
	timed(m, names, 504, "in_cksum", 168000, 167000, 1126, 892, 11);
	timed(m, names, 506, "splnet", 78000, 78000, 9000, 24, 0);
	timed(m, names, 508, "main", 492248, 81905, 3, 81000, 5);
	function(m, names, 600, "swtch", TAG_SWITCH)->calls = 7;
	m->summary->tags = 28060;
	m->summary->first = 1000;
	m->summary->last = 498272;
	m->summary->elapsed = 497272;
	m->summary->idle = 5024;
	m->summary->switches = 7;
	return m;
}

/* Threads of two programs with recorded switches, and a clock of nanoseconds. */
static inline struct made *threads(void)
{
	struct made *m = make(1000000000);
	uint32_t one = program(m, "cc1", false), other = program(m, "as", false);
	struct tag_function *f;

	timed(m, one, 2, "main", 5000000, 1000000, 1, 1000000, 1000000);
	timed(m, one, 4, "_ZN3foo3barEi", 4000000, 4000000, 2000, 9000, 1500);
	timed(m, other, 2, "main", 3000000, 3000000, 1, 3000000, 3000000);
	f = function(m, one, 1002, "PASS", TAG_INLINE);
	f->calls = 12;
	m->recording.switches = true;
	m->summary->tags = 4004;
	m->summary->first = 0;
	m->summary->last = 9000000;
	m->summary->elapsed = 10000000;
	m->summary->idle = 2000000;
	m->summary->blocked = 1500000;
	m->summary->preempted = 500000;
	return m;
}

/* The histogram step that contains this number of ticks. */
static inline unsigned step_of(uint64_t ticks)
{
	for (unsigned i = 0; i < TAG_HISTOGRAM_STEPS; i++) {
		uint64_t low, high;

		tag_histogram_bounds(i, &low, &high);
		if (ticks >= low && ticks < high)
			return i;
	}
	return 0;
}

#endif
