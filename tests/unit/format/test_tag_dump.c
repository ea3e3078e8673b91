/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/ctf/tag_dump.h"

#include "base/memory/buf.h"
#include "check.h"
#include "ctf_fixture.h"

#include <errno.h>

static const struct ctf_writer_facts facts = {.clock = {1000000, INT64_MIN}};

/* Imports bytes and reads all resulting events. Returns 0 or the result of the import. */
static int import(const void *bytes, size_t size, const struct tag_dump_options *options,
                  struct tag_dump_result *result, struct all *all)
{
	char *path = place("trace"), *dump = place("dump");
	struct tag_names *names = tag_names_new();
	struct ctf_writer *w;
	uint32_t stream;
	int rc;

	*all = (struct all){0};
	put_bytes(dump, bytes, size);
	CHECK_EQ(ctf_writer_new(&w, path, NULL), 0);
	CHECK_EQ(ctf_writer_stream(w, ctf_writer_names(w, names), true, &stream, NULL), 0);
	rc = tag_dump_import(w, stream, dump, options, result, &all->err);
	CHECK_EQ(ctf_writer_finish(w, &facts, NULL), 0);
	ctf_writer_free(w);
	if (!rc)
		CHECK_EQ(read_all(path, 0, all), 0);
	tag_names_free(names);
	free(path);
	free(dump);
	return rc;
}

static void check_import(const void *bytes, size_t size, const struct tag_dump_options *options,
                         const struct seen_event *want, size_t count)
{
	struct tag_dump_result result;
	struct all all;

	CHECK_EQ(import(bytes, size, options, &result, &all), 0);
	CHECK_STR(all.err.text, "");
	CHECK_EQ(result.events, count);
	CHECK_EQ(all.events.count, count);
	for (size_t i = 0; i < count && i < all.events.count; i++) {
		CHECK_EQ(all.events.items[i].time, want[i].time);
		CHECK_EQ(all.events.items[i].tag, want[i].tag);
	}
	all_done(&all);
}

static void the_original_record_is_two_bytes_and_three(void)
{
	static const uint8_t bytes[] = {0xf6, 1,    0x10, 0x32, 0x54, 0xf7, 1,    0xff, 0xff,
	                                0xff, 0x22, 0x11, 0x05, 0,    0,    0x22, 0x11, 0x05};
	static const struct seen_event want[] = {
	        {0x543210, 502}, {0xffffff, 503}, {0x1000005, 0x1122}};
	struct tag_dump_options o = {0};
	struct tag_dump_result result;
	struct all all;

	check_import(bytes, 15, &o, want, 3);
	o.layout = "tag:16,clock:24";
	check_import(bytes, 15, &o, want, 3);
	CHECK_EQ(import(bytes, 18, &o, &result, &all), 0);
	CHECK_EQ(result.trailing_bytes, 3);
	CHECK_EQ(result.turns, 1);
	all_done(&all);
}

static void layouts_put_fields_anywhere_in_either_order(void)
{
	static const uint8_t little[] = {9, 4, 3, 2, 1, 0x66, 0x55, 0x44, 8, 5, 3, 2, 1, 0, 0, 1};
	static const uint8_t big[] = {9, 1, 2, 3, 4, 0x44, 0x55, 0x66, 8, 1, 2, 3, 5, 1, 0, 0};
	static const struct seen_event want[] = {{0x01020304, 0x445566}, {0x01020305, 0x010000}};
	struct tag_dump_options o = {.layout = "pad:8,clock:32,tag:24"};

	check_import(little, sizeof(little), &o, want, 2);
	o.big_endian = true;
	check_import(big, sizeof(big), &o, want, 2);
}

static void bad_layouts_are_refused(void)
{
	static const char *const bad[] = {"",
	                                  "tag",
	                                  "tag:16",
	                                  "clock:24",
	                                  "tag:16,clock:20",
	                                  "tag:16,clock:24,",
	                                  "tag:16,tag:16,clock:8",
	                                  "tag:16,clock:72",
	                                  "tag:16;clock:8",
	                                  "tag:16,clock:64,pad:56",
	                                  "tag:0,clock:8",
	                                  "x:8,tag:8,clock:8",
	                                  "tag:-8,clock:8",
	                                  "tag:16,clock:99999999999999999999"};
	struct tag_dump_result result;
	struct all all;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tag_dump_options o = {.layout = bad[i]};

		CHECK_EQ(import("x", 1, &o, &result, &all), -EINVAL);
		CHECK(strstr(all.err.text, "tag:16,clock:24"));
		all_done(&all);
	}
}

/* A 24-bit microsecond clock that wraps around 300 times: only intervals count. */
static void a_clock_that_wraps_often_continues(void)
{
	enum { COUNT = 200000 };
	uint8_t *bytes = xcalloc(COUNT, 5);
	uint64_t *times = xcalloc(COUNT, sizeof(*times)), t = 0xfffff0, turns = 0;
	struct tag_dump_options o = {0};
	struct tag_dump_result result;
	struct all all;

	for (size_t i = 0; i < COUNT; i++) {
		uint64_t before = t;

		t += i ? random_below(50000) : 0;
		if (i % 1000 == 999)
			t = before + 0xffffff; /* the longest interval that can be recognised */
		turns += t >> 24 != before >> 24 && (t & 0xffffff) < (before & 0xffffff);
		times[i] = t;
		memcpy(bytes + 5 * i, &(uint16_t){(uint16_t)i}, 2);
		memcpy(bytes + 5 * i + 2, &t, 3);
	}
	CHECK_EQ(import(bytes, COUNT * 5, &o, &result, &all), 0);
	CHECK(turns > 300);
	CHECK_EQ(result.turns, turns);
	CHECK_EQ(all.events.count, COUNT);
	for (size_t i = 0; i < COUNT && i < all.events.count && !check_failures; i++) {
		CHECK_EQ(all.events.items[i].time, times[i]);
		CHECK_EQ(all.events.items[i].tag, (uint16_t)i);
	}
	all_done(&all);
	free(bytes);
	free(times);
}

static void csv_is_read_with_any_first_line(void)
{
	static const char *const same[] = {
	        "100,502\n107,503\n",
	        "100,502\r\n107,503",
	        "tag,clock\n502,100\n503,107\n",
	        "Clock;Tag\n100;502\n107;503\n",
	        "\xef\xbb\xbf\"clock\",\"tag\"\n\"100\",\"502\"\n 107 , 503 \n",
	        "# a comment\n\ncpu,tag,name,CLOCK\n0,502,main,100\n\n0,503,main,107\n",
	        "0x64,0x1F6\n0X6b,0x1f7\n",
	};
	static const struct seen_event want[] = {{100, 502}, {107, 503}};
	struct tag_dump_options o = {.layout = "csv"};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		check_import(same[i], strlen(same[i]), &o, want, 2);
}

static void csv_clocks_have_the_given_width(void)
{
	static const char text[] = "65530,2\n4,3\n";
	static const char wide[] = "18446744073709551615,2\n";
	static const char far[] = "5,2\n1099511627781,3\n5497558138885,4\n5497558138885,5\n";
	static const struct seen_event want[] = {{65530, 2}, {65540, 3}};
	static const struct seen_event most[] = {{UINT64_MAX, 2}};
	static const struct seen_event turns[] = {
	        {5, 2}, {1099511627781, 3}, {5497558138885, 4}, {5497558138885, 5}};
	struct tag_dump_options o = {.layout = "csv", .clock_bits = 16};

	check_import(text, strlen(text), &o, want, 2);
	o.clock_bits = 0;
	check_import(wide, strlen(wide), &o, most, 1);
	check_import(far, strlen(far), &o, turns, 4);
}

static void errors_name_the_byte_or_the_line(void)
{
	static const struct {
		struct tag_dump_options o;
		const char *text, *where, *what;
	} cases[] = {
	        {{.layout = "csv"}, "1,2\n\n1,2,3\n", "line 3:", "another number of columns"},
	        {{.layout = "csv"}, "1\n", "line 1:", "not two columns"},
	        {{.layout = "csv"}, "time,id\n1,2\n", "line 1:", "clock is not a number"},
	        {{.layout = "csv"}, "tag,clock\n1,2\nx,3\n", "line 3:", "tag is not a number"},
	        {{.layout = "csv"}, "1,2\n-1,3\n", "line 2:", "clock is not a number"},
	        {{.layout = "csv"}, "1,\n", "line 1:", "tag is not a number"},
	        {{.layout = "csv"}, "0x,1\n", "line 1:", "clock is not a number"},
	        {{.layout = "csv"}, "18446744073709551616,1\n", "line 1:", "clock is not a number"},
	        {{.layout = "csv"}, "9,2\n8,2\n", "line 2:", "goes back from 9 to 8"},
	        {{.layout = "csv"}, "1,16777216\n", "line 1:", "below 2^24"},
	        {{.layout = "csv"}, "1,16777214\n", "line 1:", "without an event"},
	        {{.layout = "csv", .clock_bits = 8}, "1,2\n256,2\n", "line 2:", "more than 8 bits"},
	        {{.layout = "tag:8,clock:16", .clock_bits = 12},
	         "\1\1\1\1\1\xff",
	         "byte 3:",
	         "more than 12 bits"},
	        {{.layout = "tag:32,clock:8"}, "\1\1\1\1\1\1\1\1\1\1", "byte 0:", "below 2^24"},
	        {{.layout = "tag:8,clock:8", .clock_bits = 9}, "\1\1", "9 bits", "does not fit"},
	};
	struct tag_dump_result result;
	struct all all;
	struct buf longest = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].text;
		size_t size = strlen(text);
		int before = check_failures;

		CHECK_EQ(import(text, size, &cases[i].o, &result, &all), -EINVAL);
		CHECK(strstr(all.err.text, cases[i].where) && strstr(all.err.text, cases[i].what));
		if (check_failures > before)
			printf("# %zu: %s\n", i, all.err.text);
		all_done(&all);
	}
	buf_puts(&longest, "1,2\n");
	buf_pad(&longest, '1', 3 << 20);
	CHECK_EQ(import(longest.data, longest.size, &cases[0].o, &result, &all), -EINVAL);
	CHECK(strstr(all.err.text, "line 2: more than 64 KB"));
	buf_done(&longest);
}

static void nothing_is_an_empty_trace(void)
{
	struct tag_dump_options o = {0};

	check_import("", 0, &o, NULL, 0);
	o.layout = "csv";
	check_import("", 0, &o, NULL, 0);
	check_import("clock,tag\n", 10, &o, NULL, 0);
}

/* Tag 0 at time 0 is not a valid word: it and all later events are moved by one tick. */
static void an_event_of_zeros_is_an_event(void)
{
	static const struct seen_event want[] = {{1, 0}, {1, 0}, {6, 4}};
	struct tag_dump_options o = {.layout = "csv"};

	check_import("0,0\n0,0\n5,4\n", 12, &o, want, 3);
}

/* The file is refused with these words; if the clock's width is given, it is accepted. */
static void other_file(const void *bytes, size_t size, const char *words)
{
	struct tag_dump_options o = {0};
	struct tag_dump_result result;
	struct all all;

	CHECK_EQ(import(bytes, size, &o, &result, &all), -EINVAL);
	CHECK(strstr(all.err.text, "is not a dump of records"));
	CHECK(strstr(all.err.text, words));
	if (!strstr(all.err.text, words))
		printf("# %s\n", all.err.text);
	all_done(&all);
	o.clock_bits = 24;
	CHECK_EQ(import(bytes, size, &o, &result, &all), 0);
	CHECK_EQ(result.events, size / 5);
	all_done(&all);
}

static void other_files_are_no_dumps(void)
{
	static const char *const text = "2024-01-01 12:00:00 server started, listening on 80\n";
	uint8_t noise[5 * 64];

	other_file("PERFILE2\x68\0\0\0\0\0\0\0", 16, "'assay report'");
	other_file("\x7f"
	           "ELF\2\1\1\0\0\0",
	           10, "a program or library");
	other_file("\x1f\x8b\x08\0\0\0\0\0\0\0", 10, "unpack it");
	other_file("SQLite format 3\0\x10\0\1\1", 20, "'assay sql'");
	other_file("ASAYTAGS\0\0\0\0\0\0\0", 15, "'assay tags get'");
	other_file("ASYCALLS\0\0\0\0\0\0\0", 15, "'assay report'");
	other_file(text, strlen(text), "--layout csv");
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)random_below(256);
	other_file(noise, sizeof(noise), "--big-endian");
	other_file(noise, 5 * 32, "in 32 records");
}

/* Few records, few bytes without a control character, rare wrap-arounds, repeated tags. */
static void records_that_may_be_a_dump_are_taken(void)
{
	struct tag_dump_options o = {0};
	struct tag_dump_result result;
	uint8_t bytes[5 * 100];
	struct all all;

	memset(bytes, 'a', sizeof(bytes));
	CHECK_EQ(import(bytes, 31, &o, &result, &all), 0);
	CHECK_EQ(result.events, 6);
	all_done(&all);
	memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < 100; i++)
		bytes[5 * i + 4] = (uint8_t)(i % 2 ? 1 : 2);
	CHECK_EQ(import(bytes, 5 * 31, &o, &result, &all), 0);
	CHECK_EQ(result.turns, 15);
	all_done(&all);
	for (size_t i = 0; i < 100; i++)
		bytes[5 * i + 4] = (uint8_t)(i % 4); /* lower in every fourth record */
	CHECK_EQ(import(bytes, sizeof(bytes), &o, &result, &all), 0);
	CHECK_EQ(result.turns, 24);
	all_done(&all);
	for (size_t i = 0; i < 100; i++) {
		bytes[5 * i + 4] = (uint8_t)(i % 3);
		bytes[5 * i] = (uint8_t)(i % 49);
	}
	CHECK_EQ(import(bytes, sizeof(bytes), &o, &result, &all), 0); /* 49 tags, repeated */
	CHECK_EQ(result.turns, 33);
	all_done(&all);
	bytes[0] = 200; /* a fiftieth tag */
	CHECK_EQ(import(bytes, sizeof(bytes), &o, &result, &all), -EINVAL);
	CHECK(strstr(all.err.text, "33 times in 100 records"));
	all_done(&all);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(the_original_record_is_two_bytes_and_three);
	RUN(layouts_put_fields_anywhere_in_either_order);
	RUN(bad_layouts_are_refused);
	RUN(a_clock_that_wraps_often_continues);
	RUN(csv_is_read_with_any_first_line);
	RUN(csv_clocks_have_the_given_width);
	RUN(errors_name_the_byte_or_the_line);
	RUN(nothing_is_an_empty_trace);
	RUN(an_event_of_zeros_is_an_event);
	RUN(other_files_are_no_dumps);
	RUN(records_that_may_be_a_dump_are_taken);
	fixture_end();
	return check_end();
}
