/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary of a report: the largest rows, the text, the object for programs, Markdown. */
#include "check.h"
#include "base/memory/xalloc.h"
#include "output/document_output.h"
#include "view/summary/summary.h"

#include <math.h>
#include <stdlib.h>

static double value_of(const void *model, size_t row)
{
	return ((const double *)model)[row];
}

static void the_largest_rows_come_in_order(void)
{
	static const double values[] = {1, 5, NAN, 0, 3, 5, -7, 4};
	static const double none[] = {0, NAN, -1};
	size_t largest[SUMMARY_REASONS];

	CHECK_EQ(summary_largest(8, value_of, values, largest), 3);
	CHECK_EQ(largest[0], 1);
	CHECK_EQ(largest[1], 5);
	CHECK_EQ(largest[2], 7);
	CHECK_EQ(summary_largest(1, value_of, values, largest), 1);
	CHECK_EQ(largest[0], 0);
	CHECK_EQ(summary_largest(2, value_of, values, largest), 2);
	CHECK_EQ(largest[0], 1);
	CHECK_EQ(largest[1], 0);
	CHECK_EQ(summary_largest(3, value_of, none, largest), 0);
	CHECK_EQ(summary_largest(0, value_of, none, largest), 0);
}

static void fill(struct summary *s)
{
	struct summary_reason *reason;

	buf_puts(&s->recorded, "a.data: the whole machine, 2.000 s on 2 CPUs");
	s->whole = cell_int(4000000000);
	summary_part(s, "user", "user", cell_int(1000000000), 0.25);
	summary_part(s, "idle", "idle", cell_int(3000000000), 0.75);
	summary_part(s, "steal", "steal", cell_int(1000), 0.0000003);
	reason = summary_reason(s, 0.2);
	reason->low = 0.18;
	reason->high = 0.224;
	reason->process = xstrdup("prog");
	reason->function = xstrdup("f<int>(char const*)");
	reason = summary_reason(s, 0.05);
	reason->function = xstrdup("g");
	summary_next(s, "annotate", "f<int>(char const*)", "its instructions");
	summary_next(s, "report --full", NULL, "all tables");
}

static void print(bool program, bool markdown, void (*with)(struct summary *), struct buf *out)
{
	struct document_reader reader = {.program = program, .words = " a.data"};
	const struct document_text_options to = {0};
	struct document d;
	struct summary s;

	buf_clear(out);
	document_init(&d);
	summary_init(&s, &reader, &unit_time, "ns");
	with(&s);
	summary_write(&s, &d);
	summary_done(&s);
	if (program)
		document_json_print(&d, false, NULL, out);
	else if (markdown)
		document_markdown_print(&d, NULL, out);
	else
		document_text_print(&d, &to, NULL, out);
	document_done(&d);
}

static void readers_get_about_ten_lines(void)
{
	struct buf out = {0};

	print(false, false, fill, &out);
	CHECK_STR(buf_text(&out),
	          "Summary\n"
	          "recorded    a.data: the whole machine, 2.000 s on 2 CPUs\n"
	          "time        4.000 s: idle 75.0 %, user 25.0 %\n"
	          "\n"
	          " share   95 % interval  process  function\n"
	          "20.0 %  18.0 to 22.4 %  prog     f<int>(char const*)\n"
	          " 5.0 %                           g\n"
	          "\n"
	          "limits      none known\n"
	          "next        assay annotate \"f<int>(char const*)\" a.data  # its instructions\n"
	          "            assay report --full a.data                   # all tables\n");
	buf_done(&out);
}

static void limit(struct summary *s)
{
	s->whole = cell_none();
	summary_process(s, "a\033[7m", 0.5);
	summary_process(s, "b", 0.25);
	summary_limit_count(s, "lost", 12345, "record was lost", "records were lost");
	summary_limit(s, "short", 1, "a short recording");
	summary_next(s, "report -g --comm", "a\033[7m", "the call tree of %s", "a\033[7m");
}

static void limits_and_processes_are_listed(void)
{
	struct buf out = {0};

	print(false, false, limit, &out);
	CHECK_STR(buf_text(&out),
	          "Summary\n"
	          "processes   a\\x1b[7m 50.0 %, b 25.0 %\n"
	          "limits      12,345 records were lost; a short recording\n"
	          "next        assay report -g --comm $'a\\x1b[7m' a.data  # the call tree of "
	          "a\\x1b[7m\n");
	buf_done(&out);
}

/* JSON without line breaks and the spaces after them. */
static void compact(struct buf *json)
{
	size_t to = 0;

	for (size_t i = 0; i < json->size; i++)
		if (json->data[i] == '\n')
			i += strspn(json->data + i + 1, " ");
		else
			json->data[to++] = json->data[i];
	json->size = to;
	json->data[to] = '\0';
}

static void programs_get_figures(void)
{
	struct buf out = {0};

	print(true, false, fill, &out);
	compact(&out);
	CHECK(strstr(out.data, "\"summary\": {\"unit\": \"ns\",\"whole\": 4000000000,"));
	CHECK(strstr(out.data, "{\"name\": \"steal\",\"value\": 1000,\"share\": 3e-07}"));
	CHECK(strstr(out.data, "{\"process\": null,\"image\": null,\"function\": \"g\",\"value\": "
	                       "null,\"share\": 0.05,\"low\": null,\"high\": null}"));
	CHECK(strstr(out.data, "\"limits\": [],"));
	CHECK(strstr(out.data, "\"assay report --full a.data\"]}"));
	print(true, false, limit, &out);
	compact(&out);
	CHECK(strstr(out.data, "\"whole\": null,\"parts\": [],"));
	CHECK(strstr(out.data, "{\"name\": \"lost\",\"value\": 12345}"));
	buf_done(&out);
}

static void markdown_has_commands_as_code(void)
{
	struct buf out = {0};

	print(false, true, fill, &out);
	CHECK(strstr(out.data, "- **time**: 4.000 s: idle 75.0 %, user 25.0 %\n"));
	CHECK(strstr(out.data, "| 20.0 % | 18.0 to 22.4 % | prog | f\\<int\\>(char const\\*) |\n"));
	CHECK(strstr(out.data, "- **next**: `assay annotate \"f<int>(char const*)\" a.data  # its "
	                       "instructions`\n- `assay report --full a.data"));
	buf_done(&out);
}

int main(void)
{
	RUN(the_largest_rows_come_in_order);
	RUN(readers_get_about_ten_lines);
	RUN(limits_and_processes_are_listed);
	RUN(programs_get_figures);
	RUN(markdown_has_commands_as_code);
	return check_end();
}
