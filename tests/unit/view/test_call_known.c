/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose time is not known, in the tables of call paths. */
#include "call_view_fixture.h"

/* Each sample stands for 100 ns; the fixture's times are those of its samples. */
static void sample(struct call_fixture *f, uint32_t path, uint64_t samples)
{
	struct call_process *p = fixture_process(f);

	p->paths.items[path].is_sampled = true;
	p->paths.items[path].samples = samples;
	p->samples += samples;
	p->sample_ns = 100;
}

static void init(struct call_fixture *f)
{
	fixture_init(f);
	sample(f, f->main, 10); /* 1000 +/- 842 ns */
	sample(f, f->sort, 2);  /* 200 +/- 529 ns */
	sample(f, f->cmp, 3);   /* 300 +/- 582 ns */
}

static struct row_set *rows_with(struct call_report *r, const struct call_fixture *f, double limit)
{
	*r = fixture_report(f);
	r->request.limit = limit;
	return call_rows_new(r, fixture_process(f), CALL_ROWS_FUNCTIONS);
}

static struct cell cell_of(const struct row_set *set, const struct cell *cells, const char *column)
{
	return cells[column_named(set->source, column) - set->source->columns.items];
}

static struct cell cell_at(const struct row_set *set, const char *column, size_t i,
                           struct buf *text)
{
	buf_clear(text);
	return row_cell(set->source, column_named(set->source, column), set->order.items[i], text);
}

static double error_of(uint64_t samples)
{
	return call_error_ns(0, true, samples, 100);
}

static void functions_with_few_samples_are_in_the_rest(void)
{
	struct call_fixture f;
	struct call_report r;
	struct row_set *set;
	struct buf label = {0};

	init(&f);
	set = rows_with(&r, &f, 0.05);
	/* main; sort is there because it waited. */
	CHECK_EQ(set->shown, 2);
	row_set_rest_label(set, &label);
	CHECK_STR(buf_text(&label), "[<5% or too few samples: 5 more]");
	buf_done(&label);
	row_set_free(set);
	fixture_done(&f);
}

/* The error of a sum of samples is less than the sum of their errors. */
static void the_error_of_a_sum_comes_from_its_samples(void)
{
	struct call_fixture f;
	struct call_report r;
	struct row_set *set;

	init(&f);
	set = rows_with(&r, &f, 0.05);
	CHECK_EQ(cell_number(cell_of(set, set->total, "net_error")), error_of(15));
	CHECK_EQ(cell_number(cell_of(set, set->rest, "net_error")), error_of(3));
	CHECK_EQ(cell_number(cell_of(set, set->total, "net_known")), 1701);
	row_set_free(set);
	fixture_done(&f);
}

static void readers_get_an_upper_end_and_programs_get_both_figures(void)
{
	struct call_fixture f;
	struct call_report r;
	struct row_set *set;
	struct buf text = {0};

	init(&f);
	set = rows_with(&r, &f, 0);
	CHECK_EQ(cell_number(cell_at(set, "net_known", 0, &text)), 1000);
	CHECK_EQ(cell_number(cell_at(set, "net_error", 0, &text)), error_of(10));
	CHECK_STR(cell_at(set, "net_known", 1, &text).s, "< 882.1 ns"); /* cmp: 300 + 582 */
	CHECK_EQ(cell_at(set, "net_error", 1, &text).kind, CELL_NONE);
	CHECK_EQ(cell_at(set, "avg", 1, &text).kind, CELL_NONE);
	CHECK_EQ(cell_number(cell_at(set, "net", 1, &text)), 300);
	row_set_free(set);
	r = fixture_report(&f);
	r.request.reader.program = true;
	set = call_rows_new(&r, fixture_process(&f), CALL_ROWS_FUNCTIONS);
	CHECK_EQ(cell_number(cell_at(set, "net_error", 1, &text)), error_of(3));
	CHECK_EQ(cell_number(cell_at(set, "avg", 1, &text)), 3);
	row_set_free(set);
	buf_done(&text);
	fixture_done(&f);
}

static void unknown_time_is_summed_by_function(void)
{
	struct call_unknown u;
	struct call_fixture f;

	init(&f);
	u = call_check_unknown(fixture_process(&f), f.paths->functions.count);
	/* cmp 300; sort 205, with its path below fib. */
	CHECK_EQ(u.net_ns, 505);
	CHECK_EQ(u.count, 2);
	CHECK_EQ(u.error_ns, error_of(5));
	fixture_done(&f);
}

int main(void)
{
	RUN(functions_with_few_samples_are_in_the_rest);
	RUN(the_error_of_a_sum_comes_from_its_samples);
	RUN(readers_get_an_upper_end_and_programs_get_both_figures);
	RUN(unknown_time_is_summed_by_function);
	return check_end();
}
