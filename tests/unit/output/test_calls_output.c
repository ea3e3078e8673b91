/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a report on call paths; the memory for it is bounded. */
#include "call_view_fixture.h"

#include "output/document_output.h"
#include "view/calls/call_document.h"

#include <stdlib.h>

static void print_json(const struct call_report *of, bool nested,
                       const struct output_stream *stream, struct buf *out)
{
	struct call_report r = *of;
	struct call_document *d;

	r.request.reader.program = true;
	r.request.reader.nested = nested;
	d = call_document_new(&r, NULL);
	document_json_print(&d->document, nested, stream, out);
	call_document_free(d);
}

static void print_to(const struct call_report *r, unsigned width,
                     const struct output_stream *stream, struct buf *out)
{
	struct call_document *d = call_document_new(r, NULL);
	struct document_text_options o = {.style.width = width, .wide = r->request.reader.wide};

	document_text_print(&d->document, &o, stream, out);
	call_document_free(d);
}

static char *text_of(const struct call_report *r, unsigned width)
{
	struct buf out = {0};

	print_to(r, width, NULL, &out);
	if (getenv("ASSAY_SHOW"))
		fputs(buf_text(&out), stderr);
	return out.data;
}

/* The line that ends with the text; NULL: none. The caller frees it. */
static char *line_with(const char *text, const char *end)
{
	size_t length = strlen(end);

	while (*text) {
		size_t size = strcspn(text, "\n");

		if (size >= length && !strncmp(text + size - length, end, length))
			return xstrndup(text, size);
		text += size + (text[size] == '\n');
	}
	printf("# no line ends with: %s\n", end);
	return xstrdup("");
}

static void check_line(const char *text, const char *end, const char *begin)
{
	char *line = line_with(text, end);

	if (strncmp(line, begin, strlen(begin)))
		printf("# %s\n", line);
	CHECK(!strncmp(line, begin, strlen(begin)));
	free(line);
}

static void paths_show_their_end_and_depth(void)
{
	struct call_fixture f;
	struct call_report r;
	char *text;

	fixture_init(&f);
	r = fixture_report(&f);
	text = text_of(&r, 0);
	CHECK(strstr(text, "prog (pid 42), wall 7.00 us, net 1.70 us\n"));
	CHECK(strstr(text, "command     prog --fast\n"));
	CHECK(strstr(text, "own cost    299.0 ns +/- 10.0 ns, 14.9 % of net + own cost\n"));
	CHECK(strstr(text, "CPU clock   2.00 us against net 1.70 us + own cost 299.0 ns; "
	                   "residual 0 s (0 %)\n"));
	CHECK(strstr(text, "residual 20.0 ns (0.29 %)\n"));
	check_line(text, "  main  (1)  open so far", "    1   1.00 us   58.8 %");
	check_line(text, "  main > sort > app::cmp(int, int)  (3)", "  100 ");
	check_line(text, "  main > strlen [libc.so.6]  (2)", "    7 ");
	check_line(text, "  main > setjmp [libc.so.6]  (2)  counted, not timed", "    3   ");
	check_line(text, "  main > fib x3  (4)", "    4 ");
	check_line(text, "  main > fib x2 > sort > fib  (5)", "    1 ");
	check_line(text, "  (outside)", "    0 ");
	check_line(text, "  total", "  122   1.70 us  100.0 %");
	CHECK(strstr(text, "counted     setjmp [libc.so.6]: counted, not timed; its time is its "
	                   "callers'\n"));
	CHECK(!strstr(text, "prog+0x70"));
	CHECK(!strchr(text, '\033'));
	free(text);
	fixture_done(&f);
}

/* A chain of functions, each with a long name: f00..., f01... */
static struct call_paths *long_chain(uint32_t depth)
{
	struct call_paths *c = call_paths_new();
	uint32_t at = 0;
	char name[64];

	call_paths_process(c, "long", 7);
	for (uint32_t i = 0; i < depth; i++) {
		snprintf(name, sizeof(name), "f%02u_%.*s", i, 14, "xxxxxxxxxxxxxxxx");
		at = fixture_path(c->processes.items, at,
		                  fixture_function(c, 0, name, i + 1, false, false), 1, 1);
	}
	call_paths_close(c);
	return c;
}

static void long_paths_are_cut_at_their_begin(void)
{
	struct call_paths *c = long_chain(9);
	struct call_report r = {
	        .paths = c, .names = call_names_new(c, NULL, false), .request.limit = -1};
	char *text = text_of(&r, 0);

	check_line(text, "... f07_xxxxxxxxxxxxxx > f08_xxxxxxxxxxxxxx  (9)", "    1  1.0 ns");
	CHECK(!strstr(text, "f00_xxxxxxxxxxxxxx > f01_xxxxxxxxxxxxxx > f02_xxxxxxxxxxxxxx > "));
	free(text);
	r.request.full_paths = true;
	text = text_of(&r, 0);
	CHECK(strstr(text, "  f00_xxxxxxxxxxxxxx > f01_xxxxxxxxxxxxxx > f02_xxxxxxxxxxxxxx > "));
	CHECK(!strstr(text, "..."));
	CHECK(!strstr(text, "(9)"));
	free(text);
	call_names_free(r.names);
	call_paths_free(c);
}

/* The function name is not truncated if the terminal is wide enough. */
static void narrow_terminals_have_fewer_columns_and_whole_functions(void)
{
	static const unsigned widths[] = {80, 100, 130, 160, 200};
	struct call_paths *c = long_chain(9);
	struct call_report r = {
	        .paths = c, .names = call_names_new(c, NULL, false), .request.limit = -1};

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *text = text_of(&r, widths[i]), *line = text;

		CHECK(strstr(text, "f08_xxxxxxxxxxxxxx  (9)\n"));
		CHECK_EQ(strstr(text, " min ") != NULL, widths[i] >= 150);
		CHECK_EQ(strstr(text, " wall ") != NULL && strstr(text, "share"), widths[i] >= 110);
		for (; *line; line += strcspn(line, "\n") + 1)
			CHECK(strcspn(line, "\n") <= widths[i]);
		free(text);
	}
	call_names_free(r.names);
	call_paths_free(c);
}

static void waiting_that_was_not_separated_is_not_zero(void)
{
	struct call_fixture f;
	struct call_report r;
	struct buf json = {0};
	char *text;

	fixture_init(&f);
	fixture_process(&f)->flags = CALL_UNSWITCHED;
	vec_each (path, &fixture_process(&f)->paths)
		path->blocked_ns = path->total_blocked_ns = 0;
	r = fixture_report(&f);
	text = text_of(&r, 0);
	CHECK(strstr(text, "flags       waiting not separated"));
	check_line(text, "  not separated  not separated  main  (1)  open so far",
	           "    1   1.00 us");
	CHECK(!strstr(text, "+ blocked"));
	free(text);
	print_json(&r, false, NULL, &json);
	CHECK(strstr(json.data, "\"blocked_ns\": null"));
	CHECK(!strstr(json.data, "\"blocked_ns\": 0"));
	CHECK(strstr(json.data, "\"unswitched\""));
	buf_done(&json);
	fixture_done(&f);
}

static void functions_callers_callees_and_tree_have_tables(void)
{
	struct call_fixture f;
	struct call_report r;
	char *text;

	fixture_init(&f);
	r = fixture_report(&f);
	r.request.keys[r.request.key_count++] = FLAT_FUNCTION;
	r.request.tree = r.request.reader.wide = true;
	r.request.callers = r.request.callees = "fib";
	r.request.limit = 0;
	text = text_of(&r, 0);
	check_line(text, "  main  open so far", "    1   1.00 us");
	CHECK(strstr(text, "\nCallers of fib\n"));
	CHECK(strstr(text, "\nCalled by fib\n"));
	CHECK(strstr(text, "\nCall tree, callers above callees\n"));
	check_line(text, "    fib  (recursion, 3 levels)", " 81.0 ns    4.8 %   70.0 ns      7 ");
	CHECK(strstr(text, "CPU residual"));
	/* A path without any call is not printed. */
	CHECK(!strstr(text, "prog+0x70"));
	free(text);
	fixture_done(&f);
}

static void errors_are_shown_where_they_matter(void)
{
	struct call_fixture f;
	struct call_report r;
	char *text;

	fixture_init(&f);
	r = fixture_report(&f);
	fixture_process(&f)->paths.items[f.main].net_error_ns = 9; /* of 1000 */
	text = text_of(&r, 0);
	CHECK(!strstr(text, " +/-  "));
	free(text);
	fixture_process(&f)->paths.items[f.main].net_error_ns = 11;
	text = text_of(&r, 0);
	CHECK(strstr(text, " +/-  "));
	check_line(text, "  main  (1)  open so far", "    1   1.00 us  11.0 ns   58.8 %");
	free(text);
	fixture_done(&f);
}

static void json_has_the_keys(void)
{
	static const char *const keys[] = {
	        "name",       "pid",     "flags",    "wall_ns",      "own_ns",       "paths",
	        "node",       "calls",   "net_ns",   "total_ns",     "net_error_ns", "wall_ns",
	        "blocked_ns", "min_ns",  "max_ns",   "preempted_ns", "open",         "books",
	        "threads",    "counted", "functions"};
	struct call_fixture f;
	struct call_report r;
	struct buf json = {0};

	fixture_init(&f);
	r = fixture_report(&f);
	r.request.keys[r.request.key_count++] = FLAT_FUNCTION;
	print_json(&r, false, NULL, &json);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char key[64];

		snprintf(key, sizeof(key), "\"%s\": ", keys[i]);
		if (!strstr(json.data, key))
			printf("# no key %s\n", keys[i]);
		CHECK(strstr(json.data, key) != NULL);
	}
	buf_clear(&json);
	print_json(&r, true, NULL, &json);
	CHECK(strstr(json.data, "\"tree\": ") == NULL);
	/* The root appears only in its own path. */
	CHECK(strstr(json.data, "\"path\": [\n            \"(outside)\"\n          ]"));
	CHECK(strstr(json.data, "\"path\": [\n            \"main\",\n            \"sort\"\n"));
	buf_done(&json);
	fixture_done(&f);
}

static void json_has_the_tree_if_it_is_requested(void)
{
	struct call_fixture f;
	struct call_report r;
	struct buf json = {0};

	fixture_init(&f);
	r = fixture_report(&f);
	r.request.tree = true;
	print_json(&r, false, NULL, &json);
	CHECK(strstr(json.data, "\"tree\": [\n        {\n          \"id\": 0,\n"
	                        "          \"parent\": null,\n"
	                        "          \"function\": \"(outside)\","));
	CHECK(strstr(json.data, "\"recursion\": 3,\n          \"recursion_functions\": 1"));
	buf_clear(&json);
	print_json(&r, true, NULL, &json);
	CHECK(strstr(json.data, "\"tree\": {\n        \"function\": \"(outside)\","));
	CHECK(strstr(json.data, "\"children\": ["));
	buf_done(&json);
	fixture_done(&f);
}

struct spilled {
	size_t bytes, most, times;
};

static void count_spill(void *ctx, const struct buf *out)
{
	struct spilled *s = ctx;

	s->bytes += out->size;
	s->most = out->size > s->most ? out->size : s->most;
	s->times++;
}

/* 100,000 paths, none of which stays in memory as text. */
static void output_is_handed_on_as_it_grows(void)
{
	struct spilled text = {0}, json = {0};
	struct call_paths *c = call_paths_new();
	struct call_process *p;
	struct call_report r = {.paths = c, .request.limit = -1};
	struct buf out = {0};
	uint32_t leaf = fixture_function(c, 0, "leaf", 1, false, false);
	char name[32];

	call_paths_process(c, "many", 1);
	p = c->processes.items;
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		fixture_path(
		        p,
		        fixture_path(p, 0, fixture_function(c, 0, name, i + 2, false, false), 1, 1),
		        leaf, 1, 1);
	}
	call_paths_close(c);
	r.names = call_names_new(c, NULL, false);
	print_to(&r, 0, &(struct output_stream){count_spill, &text}, &out);
	CHECK(text.times > 5);
	CHECK(text.most < 2 << 20);
	CHECK(out.size < 2 << 20);
	buf_clear(&out);
	print_json(&r, false, &(struct output_stream){count_spill, &json}, &out);
	CHECK(json.times > 5);
	CHECK(json.most < 1 << 20);
	CHECK(text.bytes > 100000 * 50 && json.bytes > 100000 * 300);
	buf_done(&out);
	call_names_free(r.names);
	call_paths_free(c);
}

/* A chain of that many functions; returns the size of the report. */
static size_t deep_report(uint32_t depth, bool nested, size_t lines)
{
	struct spilled json = {0};
	struct call_paths *c = call_paths_new();
	struct call_report r = {.paths = c, .request.limit = -1, .request.lines = lines};
	uint32_t rec = fixture_function(c, 0, "rec", 1, false, false), path = 0;
	struct buf out = {0};

	call_paths_process(c, "deep", 1);
	for (uint32_t i = 0; i < depth; i++)
		path = fixture_path(c->processes.items, path, rec, 1, i == depth - 1 ? 5 : 1);
	call_paths_close(c);
	r.names = call_names_new(c, NULL, false);
	print_json(&r, nested, &(struct output_stream){count_spill, &json}, &out);
	json.bytes += out.size;
	buf_done(&out);
	call_names_free(r.names);
	call_paths_free(c);
	return json.bytes;
}

static void json_grows_with_the_depth_not_with_its_square(void)
{
	size_t one = deep_report(1000, false, 0), two = deep_report(2000, false, 0);

	CHECK(two > one && two < one * 9 / 4);
	CHECK(deep_report(1000, true, 0) > 10 * one);
	CHECK(deep_report(16000, false, 0) < 16000 * 1200);
	/* One row, and its callers. */
	CHECK(deep_report(1000, false, 1) < one / 4);
	CHECK(deep_report(1000, false, 1) > 1000 * 50);
}

/* Paths of f, then g below it and below f's second child: their nodes, and rows that name them. */
static void nodes_name_their_callers(void)
{
	struct call_paths *c = call_paths_new();
	static const char *const first = "first";
	struct call_report r = {.paths = c, .request = {.limit = -1, .by = &first, .by_count = 1}};
	uint32_t f = fixture_function(c, 0, "f", 1, false, false);
	uint32_t g = fixture_function(c, 0, "g", 2, false, false);
	struct buf out = {0};
	uint32_t path;

	call_paths_process(c, "two", 1);
	path = fixture_path(c->processes.items, 0, f, 1, 1);
	path = fixture_path(c->processes.items, path, g, 1, 1);
	fixture_path(c->processes.items, path, f, 1, 1);
	call_paths_close(c);
	r.names = call_names_new(c, NULL, false);
	print_json(&r, false, NULL, &out);
	CHECK(strstr(out.data, "\"nodes\": [\n        {\n          \"id\": 0,\n"
	                       "          \"parent\": null,\n          \"function\": \"f\"\n"));
	CHECK(strstr(out.data, "\"id\": 1,\n          \"parent\": 0,\n"
	                       "          \"function\": \"g\"\n"));
	CHECK(strstr(out.data, "\"id\": 2,\n          \"parent\": 1,\n"
	                       "          \"function\": \"f\"\n"));
	CHECK(strstr(out.data, "\"node\": 2,\n          \"function\": \"f\",\n"));
	CHECK(!strstr(out.data, "\"id\": 3"));
	buf_done(&out);
	call_names_free(r.names);
	call_paths_free(c);
}

/* Columns stay in line where a table is printed in pieces. */
static void tables_in_pieces_line_up(void)
{
	struct text_style style = {0};
	struct buf out = {0};
	struct table t;

	table_init(&t, &style);
	table_column(&t, "n", TABLE_RIGHT);
	table_column(&t, "name", TABLE_LEFT);
	for (int i = 0; i < 3; i++) {
		table_row(&t, TABLE_ROW);
		table_text(&t, i == 0 ? "1000" : "1");
		table_text(&t, "x");
		if (i < 2)
			table_flush(&t, &out);
	}
	table_print(&t, &out);
	CHECK_STR(buf_text(&out), "   n  name\n1000  x\n   1  x\n   1  x\n");
	table_done(&t);
	buf_done(&out);
}

/* cmp lasts 3 ns and has 100 of 122 calls, fib 9.5 ns and 8 calls. */
static void short_functions_are_named_if_counting_is_expensive(void)
{
	struct call_fixture f;
	struct call_report r;
	char *text;

	fixture_init(&f);
	r = fixture_report(&f);
	r.request.reader.brief = r.request.reader.summary = true;
	text = text_of(&r, 200);
	CHECK(!strstr(text, "exclude-function-list"));
	free(text);
	fixture_process(&f)->threads.items[0].own_ns = 2000;
	text = text_of(&r, 200);
	CHECK(strstr(text, "88.5 % of the calls last less than 20 ns; gcc "
	                   "-finstrument-functions-exclude-function-list='app::cmp,fib' leaves"));
	free(text);
	fixture_done(&f);
}

int main(void)
{
	RUN(paths_show_their_end_and_depth);
	RUN(long_paths_are_cut_at_their_begin);
	RUN(narrow_terminals_have_fewer_columns_and_whole_functions);
	RUN(waiting_that_was_not_separated_is_not_zero);
	RUN(functions_callers_callees_and_tree_have_tables);
	RUN(errors_are_shown_where_they_matter);
	RUN(json_has_the_keys);
	RUN(json_has_the_tree_if_it_is_requested);
	RUN(output_is_handed_on_as_it_grows);
	RUN(json_grows_with_the_depth_not_with_its_square);
	RUN(nodes_name_their_callers);
	RUN(tables_in_pieces_line_up);
	RUN(short_functions_are_named_if_counting_is_expensive);
	return check_end();
}
