/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/document/diff_document.h"
#include "view/diff/document/diff_measures.h"

#include "check.h"

#include <string.h>

static uint64_t state;

/* Between -1 and 1, about normal. */
static double noise(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(hash_u64(++state) >> 11) / (double)(UINT64_C(1) << 53);
	return (sum - 6) / 3;
}

static struct diff_run *add_run(struct diff_runs *t, enum diff_side side)
{
	struct diff_run *run;

	diff_runs_add(t, side, "run", 1);
	run = vec_last(&t->runs);
	run->measured = true;
	return run;
}

static bool changed(const struct diff_runs *t, enum diff_measure which)
{
	struct diff_measure_change all[DIFF_MEASURES];
	struct diff *d = diff_new(t, NULL);

	CHECK(diff_measures(d, all));
	diff_free(d);
	return all[which].changed;
}

/* Whether counts that are equal in all runs of a side differ. */
static bool counts_differ(int runs, double before, double after)
{
	struct diff_runs t;
	bool differ;

	diff_runs_init(&t);
	for (int i = 0; i < runs; i++) {
		add_run(&t, DIFF_A)->measures[DIFF_VOLUNTARY] = before;
		add_run(&t, DIFF_B)->measures[DIFF_VOLUNTARY] = after;
	}
	differ = changed(&t, DIFF_VOLUNTARY);
	diff_runs_done(&t);
	return differ;
}

static void counts_without_scatter_count_as_rounded(void)
{
	CHECK(!counts_differ(1, 2, 5));
	CHECK(!counts_differ(2, 2, 3));
	CHECK(!counts_differ(3, 2, 3));
	CHECK(counts_differ(5, 2, 5));
	CHECK(counts_differ(3, 87, 114));
	CHECK(counts_differ(5, 0, 50));
	CHECK(!counts_differ(5, 87, 87));
	CHECK(!counts_differ(5, 0, 0));
}

/* Of comparisons with nothing changed, those with any measure that changed. */
static void few_of_equal_series_have_a_change(void)
{
	int any = 0, plain = 0;

	for (int series = 0; series < 400; series++) {
		struct diff_measure_change all[DIFF_MEASURES];
		bool found = false, outside = false;
		struct diff_runs t;
		struct diff *d;

		diff_runs_init(&t);
		for (int i = 0; i < 10; i++) {
			struct diff_run *run = add_run(&t, i % 2 ? DIFF_B : DIFF_A);

			for (int m = 0; m < DIFF_MEASURES; m++)
				run->measures[m] = 1e9 * (1 + 0.02 * noise());
		}
		d = diff_new(&t, NULL);
		diff_measures(d, all);
		for (int m = 0; m < DIFF_MEASURES; m++) {
			found |= all[m].changed;
			outside |= all[m].low > 0 || all[m].high < 0;
		}
		any += found;
		plain += outside;
		diff_free(d);
		diff_runs_done(&t);
	}
	printf("# of 400 series %d have a change, %d an interval without 0\n", any, plain);
	CHECK(any <= 33);    /* 5 %: 20; 3 standard deviations */
	CHECK(plain >= 100); /* 1 - 0.95^8: 135 */
}

static struct diff_runs with_defects(void)
{
	struct diff_runs t;

	diff_runs_init(&t);
	for (int i = 0; i < 3; i++) {
		add_run(&t, DIFF_A);
		add_run(&t, DIFF_B);
	}
	t.runs.items[2].defects.lost_records = 12; /* the second of A */
	t.runs.items[5].defects.lost_records = 3;  /* the third of B */
	t.runs.items[1].defects.exit_status = 11;
	t.runs.items[0].defects.exit_status = 0;
	return t;
}

static bool has_note(const struct document *d, const char *text)
{
	vec_each (s, &d->sections)
		vec_each (note, &s->notes)
			if (strstr(*note, text))
				return true;
	return false;
}

static void notes_name_doubtful_runs(void)
{
	const struct document_reader reader = {0};
	const struct row_request rows = {0};
	struct diff_runs t = with_defects();
	struct diff *d = diff_new(&t, NULL);
	struct document document;

	document_init(&document);
	diff_document(&document, d, &reader, &rows);
	CHECK(has_note(&document, "buffers were full: run 2 of A (12), run 3 of B (3)."));
	CHECK(has_note(&document, "The command failed: run 1 of B (Segmentation fault)."));
	CHECK(!has_note(&document, "incomplete"));
	document_done(&document);
	diff_free(d);
	diff_runs_done(&t);
}

int main(void)
{
	RUN(counts_without_scatter_count_as_rounded);
	RUN(few_of_equal_series_have_a_change);
	RUN(notes_name_doubtful_runs);
	return check_end();
}
