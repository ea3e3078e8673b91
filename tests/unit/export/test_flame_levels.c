/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same answers as JSON and as protobuf, and the levels of small trees, computed by hand. */
#include "export/flame_levels.h"

#include "check.h"

/* main (1) > f (2), main > g (4), other (3) beside main. */
static void fill(struct symbolized_profile *n, int64_t factor)
{
	const struct named_owner who = {0};
	uint32_t owner, main_path, path;

	symbolized_profile_init(n);
	n->values[0] = (struct named_value){"samples", "count"};
	n->value_count = 1;
	owner = named_owner_id(n, &who);
	main_path = named_path_step(n, NAMED_ROOT, named_place_word(n, "main"));
	named_row_of(n, main_path, owner)->values[0] = 1 * factor;
	path = named_path_step(n, main_path, named_place_word(n, "f"));
	named_row_of(n, path, owner)->values[0] = 2 * factor;
	path = named_path_step(n, main_path, named_place_word(n, "g"));
	named_row_of(n, path, owner)->values[0] = 4 * factor;
	path = named_path_step(n, NAMED_ROOT, named_place_word(n, "idle"));
	named_row_of(n, path, owner)->values[0] = 3 * factor;
}

/* The levels of one profile, or of a comparison with its double, as JSON. */
static void levels(unsigned sides, int64_t nodes_max, struct buf *out)
{
	struct symbolized_profile n[2];
	struct querier_writer w;
	struct flame_levels f;

	flame_levels_init(&f);
	for (unsigned side = 0; side < sides; side++) {
		fill(&n[side], side + 1);
		flame_levels_add(&f, side, &n[side], 0);
		symbolized_profile_done(&n[side]);
	}
	querier_write_init(&w, true, out);
	flame_levels_write(&f, sides, nodes_max, &w);
	querier_write_done(&w);
	flame_levels_done(&f);
}

/* Children come in the reverse order of their first use; a bar's own width is at its left. */
static void bars_have_distances_widths_and_names(void)
{
	struct buf out = {0};

	levels(1, 0, &out);
	CHECK_STR(buf_text(&out),
	          "{\"names\":[\"total\",\"main\",\"f\",\"g\",\"idle\",\"other\"],\"levels\":["
	          "{\"values\":[\"0\",\"10\",\"0\",\"0\"]},"
	          "{\"values\":[\"0\",\"3\",\"3\",\"4\",\"0\",\"7\",\"1\",\"1\"]},"
	          "{\"values\":[\"4\",\"4\",\"4\",\"3\",\"0\",\"2\",\"2\",\"2\"]}],"
	          "\"total\":\"10\",\"maxSelf\":\"4\"}\n");
	buf_done(&out);
}

static void small_bars_become_one(void)
{
	struct buf out = {0};

	levels(1, 3, &out);
	CHECK_STR(buf_text(&out),
	          "{\"names\":[\"total\",\"main\",\"f\",\"g\",\"idle\",\"other\"],\"levels\":["
	          "{\"values\":[\"0\",\"10\",\"0\",\"0\"]},"
	          "{\"values\":[\"0\",\"7\",\"1\",\"1\",\"0\",\"3\",\"3\",\"5\"]},"
	          "{\"values\":[\"1\",\"4\",\"4\",\"3\",\"0\",\"2\",\"2\",\"5\"]}],"
	          "\"total\":\"10\",\"maxSelf\":\"4\"}\n");
	buf_done(&out);
}

static void a_comparison_has_both_sides(void)
{
	struct buf out = {0};

	levels(2, 0, &out);
	CHECK(strstr(buf_text(&out), "{\"values\":[\"0\",\"10\",\"0\",\"0\",\"20\",\"0\",\"0\"]}"));
	CHECK(strstr(buf_text(&out), "{\"values\":[\"0\",\"3\",\"3\",\"0\",\"6\",\"6\",\"4\","
	                             "\"0\",\"7\",\"1\",\"0\",\"14\",\"2\",\"1\"]}"));
	CHECK(strstr(buf_text(&out), "\"total\":\"30\",\"maxSelf\":\"8\",\"leftTicks\":\"10\","
	                             "\"rightTicks\":\"20\"}"));
	buf_done(&out);
}

static void put_answer(struct buf *out, bool json)
{
	static const int64_t numbers[] = {1, 300};
	struct querier_writer w;

	querier_write_init(&w, json, out);
	querier_list(&w, "series");
	querier_begin(&w, 1, NULL);
	querier_text(&w, 2, "name", "a");
	querier_begin(&w, 3, "inner");
	querier_number(&w, 1, "number", 5);
	querier_end(&w);
	querier_numbers(&w, 4, "numbers", numbers, 2);
	querier_end(&w);
	querier_list_end(&w);
	querier_real(&w, 5, "real", 1.5);
	querier_write_done(&w);
}

static void both_encodings_have_the_same_values(void)
{
	static const char packed[] =
	        "\x0a\x0c\x12\x01"
	        "a\x1a\x02\x08\x05\x22\x03\x01\xac\x02\x29\0\0\0\0\0\0\xf8\x3f";
	struct buf out = {0};

	put_answer(&out, false);
	CHECK_EQ(out.size, sizeof(packed) - 1);
	CHECK(out.size && !memcmp(out.data, packed, out.size));
	buf_clear(&out);
	put_answer(&out, true);
	CHECK_STR(buf_text(&out), "{\"series\":[{\"name\":\"a\",\"inner\":{\"number\":\"5\"},"
	                          "\"numbers\":[\"1\",\"300\"]}],\"real\":1.5}\n");
	buf_done(&out);
}

int main(void)
{
	RUN(bars_have_distances_widths_and_names);
	RUN(small_bars_become_one);
	RUN(a_comparison_has_both_sides);
	RUN(both_encodings_have_the_same_values);
	return check_end();
}
