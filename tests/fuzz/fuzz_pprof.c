/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a pprof profile, plain or gzip'd. A profile that is read must be consistent, must
 * have the same values after it was written and read again, and must be in its report.
 */
#include "base/file/spill.h"
#include "format/pprof/pprof_read.h"
#include "export/pprof_write.h"
#include "sql/tables/symbolized_model.h"
#include "view/symbolized/symbolized_report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Each reference is valid; returns the sum of the values, with wrap-around. */
static uint64_t check(const struct symbolized_profile *n)
{
	uint64_t sum = 0;

	if (!n->value_count || n->value_count > NAMED_VALUES || n->main_value >= n->value_count)
		abort();
	for (uint32_t i = 1; i < n->paths.count; i++)
		if (n->paths.items[i].parent >= i || n->paths.items[i].place >= n->places.count)
			abort();
	vec_each (place, &n->places) {
		if (!place->count || place->first + place->count > n->lines.count ||
		    (place->image != NAMED_NONE && place->image >= n->images.count))
			abort();
	}
	vec_each (line, &n->lines)
		if (line->function >= n->functions.count)
			abort();
	vec_each (f, &n->functions)
		if (f->name >= n->texts.texts.count || f->file >= n->texts.texts.count)
			abort();
	vec_each (row, &n->rows) {
		if (row->path >= n->paths.count || row->owner >= n->owners.count)
			abort();
		for (unsigned i = 0; i < n->value_count; i++)
			sum += (uint64_t)row->values[i];
	}
	return sum;
}

/* As tables: parents come first, and each sum exists once. */
static void number(const struct symbolized_profile *n)
{
	struct symbolized_model *m = symbolized_model_new(n);

	for (uint32_t i = 1; i < m->stacks.count; i++)
		if (m->stacks.items[i].parent >= i || m->stacks.items[i].line >= n->lines.count)
			abort();
	for (uint32_t i = 0; i < m->calls.count; i++) {
		const struct named_call *c = &m->calls.items[i];

		if ((c->parent != NAMED_NONE && c->parent >= i) ||
		    (c->row != NAMED_NONE && c->row >= n->rows.count))
			abort();
	}
	for (uint32_t i = 0; i < n->owners.count; i++)
		if (m->owner_process[i] >= m->processes.count ||
		    (m->owner_thread[i] != NAMED_NONE && m->owner_thread[i] >= m->threads.count))
			abort();
	symbolized_model_free(m);
}

static int64_t selves(const struct symbolized_sums *s)
{
	int64_t sum = 0;

	vec_each (row, &s->sums)
		sum = (int64_t)((uint64_t)sum + (uint64_t)row->self);
	return sum;
}

/* As a report: if the values fit, tables and tree contain all of them. */
static void tell(const struct symbolized_profile *n, bool inlines)
{
	struct report_request o = {
	        .keys = {FLAT_PROCESS, FLAT_LINE}, .key_count = 2, .tree = true, .limit = -1};
	struct symbolized_report *r;
	struct error err = {0};
	double size = 0;

	if (symbolized_report_new(&r, n, &o, inlines, &err))
		abort();
	vec_each (row, &n->rows)
		size += row->values[n->main_value] < 0 ? -(double)row->values[n->main_value]
		                                       : (double)row->values[n->main_value];
	if (size < 1e18 &&
	    (selves(r->functions) != r->books.all || selves(r->rows) != r->books.all ||
	     view_tree_total_of(r->tree, 0, 0).i != r->books.all))
		abort();
	symbolized_report_free(r);
}

static void rewrite(const struct symbolized_profile *n, uint64_t sum)
{
	struct symbolized_profile again;
	struct spill out;
	struct error err = {0};

	symbolized_profile_init(&again);
	again.depth_max = n->depth_max;
	spill_to(&out, -1, "memory");
	if (pprof_write(n, &out, NULL) ||
	    pprof_read_memory(&again, "again", out.buf.data, out.buf.size, NULL, &err) ||
	    check(&again) != sum)
		abort();
	buf_done(&out.buf);
	spill_close(&out, true, NULL);
	symbolized_profile_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct symbolized_profile n;
	struct error err = {0};
	struct buf left = {0};

	symbolized_profile_init(&n);
	n.depth_max = 20;
	if (!pprof_read_memory(&n, "input", bytes, size, &left, &err)) {
		rewrite(&n, check(&n));
		number(&n);
		tell(&n, true);
		tell(&n, false);
	} else if (!err.text[0])
		abort(); /* an error must have a sentence */
	symbolized_profile_done(&n);
	buf_done(&left);
	return 0;
}
