/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_summary.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/summary/summary.h"

#include <inttypes.h>
#include <string.h>

static void recorded(const struct symbolized_report *r, const char *path, struct buf *out)
{
	const struct symbolized_profile *n = r->n;

	buf_addf(out, "%s: ", path);
	for (unsigned i = 0; i < n->value_count; i++) {
		buf_addf(out, "%s%s ", i ? ", " : "", n->values[i].name);
		named_value_text(&n->values[i], r->totals[i], out);
	}
	if (n->duration_ns > 0) {
		buf_puts(out, ", in ");
		text_time(out, n->duration_ns);
	}
}

static double sum_self(const void *model, size_t sum)
{
	return (double)((const struct symbolized_sums *)model)->sums.items[sum].self;
}

static char *cell_of(const struct symbolized_sums *sums, const struct named_sum *sum,
                     enum flat_key key)
{
	struct buf text = {0};
	char *copy;

	symbolized_sums_cell(sums, sum, key, true, &text);
	copy = xstrdup(buf_text(&text));
	buf_done(&text);
	return copy;
}

static void processes(struct summary *s, const struct symbolized_report *r)
{
	const struct symbolized_sums *sums = r->processes;
	size_t largest[SUMMARY_REASONS];
	size_t count = sums ? summary_largest(sums->sums.count, sum_self, sums, largest) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct named_sum *sum = &sums->sums.items[largest[i]];
		char *name = cell_of(sums, sum, FLAT_PROCESS);

		summary_process(s, name, named_share(&r->selection, sum->self));
		free(name);
	}
}

static void reasons(struct summary *s, const struct symbolized_report *r)
{
	const struct symbolized_sums *sums = r->functions;
	size_t largest[SUMMARY_REASONS];
	size_t count = summary_largest(sums->sums.count, sum_self, sums, largest);

	s->value_title = "self";
	for (size_t i = 0; i < count; i++) {
		const struct named_sum *sum = &sums->sums.items[largest[i]];
		struct summary_reason *reason =
		        summary_reason(s, named_share(&r->selection, sum->self));

		reason->value = cell_int(sum->self);
		reason->image = cell_of(sums, sum, FLAT_IMAGE);
		reason->function = cell_of(sums, sum, FLAT_FUNCTION);
	}
}

static void limits(struct summary *s, const struct symbolized_report *r, const char *left)
{
	const struct named_books *b = &r->books;

	if (!r->n->rows.count)
		summary_limit(s, "no_paths", 0, "the file has no call paths");
	if (b->rows != b->selected)
		summary_limit(s, "books", (double)named_subtract(b->rows, b->selected),
		              "the functions do not add up to the whole");
	if (b->below_rows)
		summary_limit_count(s, "below_paths", b->below_rows, "call path is negative",
		                    "call paths are negative");
	if (*left)
		summary_limit(s, "not_read", 1, "parts of the file were not read");
	if (r->n->nameless)
		summary_limit_count(s, "nameless", r->n->nameless, "place has no function",
		                    "places have no function");
	if (r->missing.count)
		summary_limit(s, "missing", (double)r->missing.count,
		              "%zu %s under \"What the file does not contain\"", r->missing.count,
		              plural(r->missing.count, "remark", "remarks"));
}

/* Another value of the file that is not the number of samples; NULL: there is none. */
static const char *other_value(const struct symbolized_profile *n)
{
	for (unsigned i = 0; i < n->value_count; i++)
		if (i != n->main_value && *n->values[i].name &&
		    strcmp(n->values[i].name, "samples") != 0 &&
		    strcmp(n->values[i].name, "sample") != 0)
			return n->values[i].name;
	return NULL;
}

static void next(struct summary *s, const struct symbolized_report *r)
{
	const char *other = r->options.event ? NULL : other_value(r->n);

	if (s->processes.count > 1) {
		const char *name = s->processes.items[0].name;

		summary_next(s, "report -g --comm", name, "the call tree of %s", name);
	} else if (r->n->rows.count) {
		summary_next(s, "report -g", NULL, "the call tree");
	}
	if (r->n->rows.count)
		summary_next(s, "report --children", NULL, "functions with what they called");
	if (other)
		summary_next(s, "report --event", other, "the same for %s", other);
	if (s->reader->brief)
		summary_next(s, "report --full", NULL, "all functions");
}

void symbolized_summary(struct document *d, const struct symbolized_report *r,
                        const struct document_reader *reader, const char *path, const char *left)
{
	struct summary s;

	summary_init(&s, reader, &r->unit.unit, symbolized_report_value(r)->unit);
	recorded(r, path, &s.recorded);
	s.whole = cell_int(r->selection.base);
	processes(&s, r);
	reasons(&s, r);
	limits(&s, r, left);
	next(&s, r);
	summary_write(&s, d);
	summary_done(&s);
}
