/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of documents in each medium. */
#include "check.h"
#include "output/document_output.h"
#include "view/document/grid.h"
#include "view/document/histogram.h"

enum shown_as { AS_TEXT, AS_MARKDOWN, AS_JSON };

static void show(const struct document *d, enum shown_as how, const struct output_stream *stream,
                 struct buf *out)
{
	const struct document_text_options plain = {0};

	if (how == AS_TEXT)
		document_text_print(d, &plain, stream, out);
	else if (how == AS_MARKDOWN)
		document_markdown_print(d, stream, out);
	else
		document_json_print(d, false, stream, out);
}

static void check(const struct document *d, enum shown_as how, const char *want)
{
	struct buf out = {0};

	show(d, how, NULL, &out);
	CHECK_STR(buf_text(&out), want);
	buf_done(&out);
}

static void lines_to_copy_are_not_wrapped(void)
{
	static const char *const line = "a line that is longer than eighty characters, and has to "
	                                "be copied in one piece: /a/b";
	struct document d;
	struct buf want = {0};

	document_init(&d);
	document_heading(&d, "Title");
	document_verbatim(&d, NULL, line);
	buf_addf(&want, "Title\n\n%s\n", line);
	check(&d, AS_TEXT, buf_text(&want));
	buf_clear(&want);
	buf_addf(&want, "### Title\n\n- `%s`\n", line);
	check(&d, AS_MARKDOWN, buf_text(&want));
	check(&d, AS_JSON, "{\n  \"assay\": \"" ASSAY_VERSION "\"\n}\n");
	buf_done(&want);
	document_done(&d);
}

static void a_comment_that_does_not_fit_has_its_own_line(void)
{
	static const struct {
		unsigned width;
		const char *want;
	} cases[] = {
	        {0, "next        assay report --full x.data    # all tables\n"},
	        {54, "next        assay report --full x.data    # all tables\n"},
	        {53, "next        assay report --full x.data  # all tables\n"},
	        {52, "next        assay report --full x.data  # all tables\n"},
	        {51, "next        assay report --full x.data\n              # all tables\n"},
	        {20, "next        assay report --full x.data\n              # all tables\n"},
	};
	struct document d;

	document_init(&d);
	document_verbatim(&d, "next", "assay report --full x.data    # all tables");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct document_text_options o = {.style.width = cases[i].width};
		struct buf out = {0};

		document_text_print(&d, &o, NULL, &out);
		CHECK_STR(buf_text(&out), cases[i].want);
		buf_done(&out);
	}
	document_done(&d);
}

/* The largest count has the longest bar: 16 characters. */
static void a_histogram_has_bars_for_readers_and_steps_for_programs(void)
{
	static const struct histogram_form form = {
	        .from = "from",
	        .to = "below",
	        .count = "calls",
	        .share = "share",
	        .bound_unit = &unit_time,
	        .count_unit = &unit_count,
	        .share_unit = &unit_share,
	};
	histogram_steps steps = {0};
	struct document d;

	vec_push(&steps, ((struct histogram_step){0, 10, 1, 0}));
	vec_push(&steps, ((struct histogram_step){10, 20, 4, 0}));
	document_init(&d);
	document_histogram(&d, "steps", &form, &steps);
	check(&d, AS_TEXT,
	      " from  below  calls   share\n"
	      "  0 s  10 ns      1  20.0 %  ****\n"
	      "10 ns  20 ns      4  80.0 %  ****************\n");
	check(&d, AS_JSON,
	      "{\n  \"assay\": \"" ASSAY_VERSION "\",\n  \"steps\": [\n"
	      "    {\n      \"from_ns\": 0,\n      \"to_ns\": 10,\n      \"count\": 1\n    },\n"
	      "    {\n      \"from_ns\": 10,\n      \"to_ns\": 20,\n      \"count\": 4\n    }\n"
	      "  ]\n}\n");
	document_done(&d);
}

/* Lines fit the terminal: bars keep their proportions, and are left out below 4 characters. */
static void bars_get_shorter_on_narrow_terminals(void)
{
	static const struct {
		unsigned width;
		const char *want;
	} cases[] = {
	        {45, "10 ns  20 ns      4  80.0 %  ****************\n"},
	        {37, "10 ns  20 ns      4  80.0 %  ********\n"},
	        {32, "10 ns  20 ns      4  80.0 %\n"},
	};
	static const struct histogram_form form = {.from = "from",
	                                           .to = "below",
	                                           .count = "calls",
	                                           .share = "share",
	                                           .bound_unit = &unit_time,
	                                           .count_unit = &unit_count,
	                                           .share_unit = &unit_share};
	histogram_steps steps = {0};
	struct document d;

	vec_push(&steps, ((struct histogram_step){0, 10, 1, 0}));
	vec_push(&steps, ((struct histogram_step){10, 20, 4, 0}));
	document_init(&d);
	document_histogram(&d, "steps", &form, &steps);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct document_text_options o = {.style.width = cases[i].width};
		struct buf out = {0};

		document_text_print(&d, &o, NULL, &out);
		CHECK(strstr(buf_text(&out), cases[i].want) != NULL);
		buf_done(&out);
	}
	document_done(&d);
}

static void an_empty_histogram_is_an_empty_list(void)
{
	static const struct histogram_form form = {.from = "from",
	                                           .to = "below",
	                                           .count = "calls",
	                                           .share = "share",
	                                           .bound_unit = &unit_time,
	                                           .count_unit = &unit_count,
	                                           .share_unit = &unit_share};
	histogram_steps none = {0};
	struct document d;

	document_init(&d);
	document_histogram(&d, "steps", &form, &none);
	check(&d, AS_TEXT, "");
	check(&d, AS_JSON, "{\n  \"assay\": \"" ASSAY_VERSION "\",\n  \"steps\": []\n}\n");
	document_done(&d);
}

struct received {
	struct buf text;
	size_t times;
};

static void receive(void *ctx, const struct buf *out)
{
	struct received *r = ctx;

	buf_add(&r->text, out->data, out->size);
	r->times++;
}

/* A heading after rows that were passed on keeps its empty line. */
static void a_stream_gets_the_same_text(void)
{
	static const struct grid_column columns[] = {{.title = "name", .unit = &unit_text}};
	struct grid *g = grid_new(columns, 1);
	struct document d;

	document_init(&d);
	document_heading(&d, "Names");
	for (unsigned i = 0; i < 4096 * 3; i++) {
		grid_row(g, ROW_ITEM);
		grid_addf(g, "%0100u", i);
	}
	document_grid(&d, NULL, NULL, g);
	document_heading(&d, "End");
	document_line(&d, "names", "all");
	for (enum shown_as how = AS_TEXT; how <= AS_MARKDOWN; how++) {
		struct received got = {0};
		const struct output_stream stream = {receive, &got};
		struct buf whole = {0}, rest = {0};

		show(&d, how, NULL, &whole);
		show(&d, how, &stream, &rest);
		receive(&got, &rest);
		CHECK(got.times > 2);
		CHECK_EQ(got.text.size, whole.size);
		CHECK(!strcmp(buf_text(&got.text), buf_text(&whole)));
		buf_done(&got.text);
		buf_done(&whole);
		buf_done(&rest);
	}
	document_done(&d);
}

/* Rows that matter have a colour on terminals, and are items for programs. */
static void hot_rows_are_coloured(void)
{
	static const enum row_kind kinds[] = {ROW_ITEM, ROW_WARM, ROW_HOT, ROW_PART};
	static const struct grid_column columns[] = {{.title = "n", .unit = &unit_number}};
	const struct document_text_options colour = {.style.colour = true};
	struct grid *g = grid_new(columns, 1);
	struct document d;
	struct buf out = {0};

	document_init(&d);
	for (int i = 0; i < 4; i++) {
		grid_row(g, kinds[i]);
		grid_add(g, cell_int(i));
	}
	document_grid(&d, NULL, NULL, g);
	document_text_print(&d, &colour, NULL, &out);
	CHECK_STR(buf_text(&out), "\033[2mn\033[0m\n0\n\033[32m1\033[0m\n\033[31m2\033[0m\n"
	                          "\033[2m3\033[0m\n");
	buf_done(&out);
	document_done(&d);
}

static struct cell counted(const struct row_source *s, const struct column *c, uint32_t row,
                           struct buf *text)
{
	return cell_int(row + 1);
}

/* 1 to 10, and its share of 55. */
static void rows_that_are_cut_are_in_the_rest(void)
{
	const struct column columns[] = {
	        {"count", "count", "count", &unit_count, ROLE_SUM, .get = counted},
	        {"share", "", "share", &unit_share, ROLE_RATIO, .of = "count",
	         .base = cell_int(55)},
	        {"most", "", "most", &unit_count, ROLE_MOST, .get = counted}};
	struct row_source *s = row_source_new(NULL);
	struct row_request q = {.lines = 8};
	struct buf label = {0};
	struct row_set *r;

	s->rows = 10;
	s->fixed = true;
	row_source_columns(s, columns, 3);
	r = row_set_new(s, &q);
	CHECK_EQ(r->rest[0].i, 9 + 10);
	row_set_cut(r, 8);
	CHECK_EQ(r->shown, 8);
	CHECK_EQ(r->rest[0].i, 9 + 10);
	row_set_cut(r, 6);
	CHECK_EQ(r->shown, 6);
	CHECK_EQ(r->rest[0].i, 7 + 8 + 9 + 10);
	CHECK(r->rest[1].d == 34.0 / 55);
	CHECK_EQ(r->rest[2].i, 10);
	row_set_rest_label(r, &label);
	CHECK_STR(buf_text(&label), "[4 more]");
	buf_done(&label);
	row_set_free(r);
}

int main(void)
{
	RUN(lines_to_copy_are_not_wrapped);
	RUN(a_comment_that_does_not_fit_has_its_own_line);
	RUN(a_histogram_has_bars_for_readers_and_steps_for_programs);
	RUN(bars_get_shorter_on_narrow_terminals);
	RUN(an_empty_histogram_is_an_empty_list);
	RUN(a_stream_gets_the_same_text);
	RUN(hot_rows_are_coloured);
	RUN(rows_that_are_cut_are_in_the_rest);
	return check_end();
}
