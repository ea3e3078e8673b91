/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Combinations of the values of chosen fields. */
#include "check.h"
#include "profile/sample_fields.h"

static uint32_t add(struct sample_fields *f, const char *first, const char *second)
{
	uint32_t values[2] = {intern_add(&f->texts, first), intern_add(&f->texts, second)};

	return sample_fields_add(f, values);
}

static void equal_values_are_one_combination(void)
{
	struct sample_fields f = {0};
	uint32_t a, b;

	sample_fields_want(&f, "comm");
	sample_fields_want(&f, "pid");
	a = add(&f, "sh", "1");
	b = add(&f, "sh", "2");
	CHECK_EQ(add(&f, "sh", "1"), a);
	CHECK(a != b);
	CHECK_STR(sample_fields_text(&f, a, 1), "1");
	CHECK_STR(sample_fields_text(&f, b, 0), "sh");
	CHECK_STR(sample_fields_text(&f, 7, 0), SAMPLE_FIELD_NONE);
	CHECK_STR(sample_fields_text(&f, a, 2), SAMPLE_FIELD_NONE);
	sample_fields_done(&f);
}

static void fields_are_found_by_name(void)
{
	struct sample_fields f = {0};

	sample_fields_want(&f, "comm");
	sample_fields_want(&f, "pid");
	CHECK_EQ(sample_fields_find(&f, "pid"), 1);
	CHECK_EQ(sample_fields_find(&f, "tid"), SIZE_MAX);
	CHECK_STR(f.labels.items[0], "field:comm");
	CHECK_STR(sample_fields_name(&f, 0), "comm");
	sample_fields_done(&f);
}

int main(void)
{
	RUN(equal_values_are_one_combination);
	RUN(fields_are_found_by_name);
	return check_end();
}
