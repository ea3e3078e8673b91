/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outputs of the hand-made profile against tests/golden. To write the golden files again, check the
 * difference, and set ASSAY_GOLDEN_UPDATE=1.
 */
#include "check.h"
#include "report_print.h"
#include "view_fixture.h"

#include <stdlib.h>
#include <unistd.h>

static void golden_path(const char *name, char *path, size_t size)
{
	const char *slash = strrchr(__FILE__, '/');

	snprintf(path, size, "%.*s/../../golden/%s", (int)(slash - __FILE__), __FILE__, name);
}

static char *read_all(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct buf text = {0};
	char bytes[4096];
	size_t n;

	if (!in)
		return NULL;
	while ((n = fread(bytes, 1, sizeof(bytes), in)))
		buf_add(&text, bytes, n);
	fclose(in);
	return text.data ? text.data : xstrdup("");
}

static void check_golden(const char *name, const char *got)
{
	char path[512], *want;
	FILE *out;

	golden_path(name, path, sizeof(path));
	if (getenv("ASSAY_GOLDEN_UPDATE") && (out = fopen(path, "wb"))) {
		fputs(got, out);
		fclose(out);
	}
	want = read_all(path);
	CHECK(want != NULL);
	if (want && strcmp(want, got)) {
		size_t at = 0, line = 1;

		for (; want[at] && want[at] == got[at]; at++)
			line += want[at] == '\n';
		printf("# %s differs from line %zu on, got:\n# %.60s\n", path, line, got + at);
		CHECK(!"as the golden file");
	}
	free(want);
}

static void text_of(const struct report_request *o, const struct document_text_options *to,
                    bool waits, struct buf *out)
{
	struct report *r = NULL;
	struct error err = {0};
	struct fixture f;

	fixture_init(&f, waits);
	CHECK_EQ(report_new(&r, f.profile, f.symbols, o, &err), 0);
	report_text(r, to, out);
	report_free(r);
	fixture_done(&f);
}

static void test_report_in_a_pipe(void)
{
	struct document_text_options plain = {0};
	struct buf out = {0};

	text_of(&(struct report_request){.limit = -1, .process_limits.all.share = 0.01}, &plain,
	        false, &out);
	check_golden("report.txt", buf_text(&out));
	CHECK(!strchr(buf_text(&out), '\033'));
	CHECK(!strchr(buf_text(&out), '*'));
	buf_done(&out);
}

static void test_images_of_next_to_no_stacks_are_left_out(void)
{
	struct report_request options = {.limit = -1};
	struct document_text_options plain = {0};
	struct buf out = {0};
	struct error err = {0};
	struct report *r = NULL;
	struct fixture f;

	fixture_init(&f, false);
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &options, &err), 0);
	r->stacks.samples = 10000;
	r->stacks.image_count = 2;
	r->stacks.images[0] = (struct stacks_image){f.program, 900, "cut"};
	r->stacks.images[1] = (struct stacks_image){f.kernel, 4, "torn"};
	report_text(r, &plain, &out);
	CHECK(strstr(buf_text(&out), "most in prog 9.0 %\n"));
	CHECK(!strstr(buf_text(&out), "torn"));
	r->stacks.images[1].samples = 5;
	buf_clear(&out);
	report_text(r, &plain, &out);
	CHECK(strstr(buf_text(&out), "(torn)"));
	report_free(r);
	buf_done(&out);
	fixture_done(&f);
}

static void test_report_off_cpu(void)
{
	struct document_text_options plain = {0};
	struct buf out = {0};

	text_of(&(struct report_request){.limit = 0,
	                                 .tree = true,
	                                 .children = true,
	                                 .key_count = 1,
	                                 .keys = {FLAT_FUNCTION}},
	        &plain, true, &out);
	check_golden("report-tree-off-cpu.txt", buf_text(&out));
	buf_done(&out);
}

static void test_report_on_a_terminal(void)
{
	struct document_text_options wide = {.style = {.colour = true, .bars = true, .width = 130},
	                                     .wide = true};
	struct buf out = {0};

	text_of(
	        &(struct report_request){
	                .limit = 0.06, .instances = true, .reader.wide = true, .lines = 3},
	        &wide, false, &out);
	CHECK(strstr(buf_text(&out), "******"));
	CHECK(strstr(buf_text(&out), "\033[1m"));
	CHECK(strstr(buf_text(&out), "based on this run alone"));
	CHECK(strstr(buf_text(&out), "cc1#1 (11)"));
	buf_done(&out);
}

static void test_filters_keep_the_total(void)
{
	static const char *const names[] = {"cc1"};
	struct document_text_options plain = {0};
	struct buf out = {0};

	text_of(&(struct report_request){.limit = -1,
	                                 .filter = {.comm = {names, 1}},
	                                 .keys = {FLAT_PROCESS, FLAT_FUNCTION},
	                                 .key_count = 2},
	        &plain, false, &out);
	CHECK(strstr(buf_text(&out), " 25.0 %       25           [not selected]\n"));
	CHECK(strstr(buf_text(&out), "100.0 %      100           total\n"));
	buf_done(&out);
}

static uint64_t json_number(const char *text, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = strstr(text, quoted);
	return at ? strtoull(at + strlen(quoted), NULL, 10) : UINT64_MAX;
}

static void test_json_closes(void)
{
	static const char *const terms[] = {"user_ns",       "kernel_exit_ns", "kernel_ns",
	                                    "irq_ns",        "idle_ns",        "steal_ns",
	                                    "unobserved_ns", "residual_ns"};
	struct report_request o = {.limit = -1,
	                           .tree = true,
	                           .reader.program = true,
	                           .keys = {FLAT_IMAGE, FLAT_ADDRESS},
	                           .key_count = 2};
	struct report *r = NULL;
	struct error err = {0};
	struct buf out = {0};
	struct fixture f;
	uint64_t sum = 0;

	fixture_init(&f, true);
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), 0);
	report_json(r, false, &out);
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++)
		sum += json_number(buf_text(&out), terms[i]);
	CHECK_EQ(sum, 110 * MS);
	CHECK_EQ(json_number(buf_text(&out), "wall_ns") * json_number(buf_text(&out), "cpus"), sum);
	CHECK_EQ(json_number(buf_text(&out), "cpu_ns"), MS);
	CHECK(strstr(buf_text(&out), "\"observer\": {"));
	CHECK(strstr(buf_text(&out), "\"processes\": ["));
	CHECK(strstr(buf_text(&out), "\"functions\": ["));
	CHECK(strstr(buf_text(&out), "\"address\": \"0x"));
	CHECK(strstr(buf_text(&out), "\"parent\": null"));
	CHECK(!strstr(buf_text(&out), "\"children\": ["));
	buf_clear(&out);
	report_json(r, true, &out);
	CHECK(strstr(buf_text(&out), "\"children\": ["));
	report_free(r);
	fixture_done(&f);
	buf_done(&out);
}

/* A profile without samples: no crash, no NaN, and a message. */
static void test_empty_profile(void)
{
	struct report_request o = {.limit = -1, .tree = true, .reader.program = true};
	struct document_text_options to = {.wide = true};
	struct profile *p = profile_new();
	struct symbol_options none = {0};
	struct symbolizer *symbols = symbolizer_new(&p->images, &none);
	struct recording *rec = xcalloc(1, sizeof(*rec));
	struct report *r = NULL;
	struct error err = {0};
	struct buf out = {0};

	recording_init(rec);
	rec->path = xstrdup("none.data");
	vec_push(&p->recordings, rec);
	CHECK_EQ(report_new(&r, p, symbols, &o, &err), 0);
	report_text(r, &to, &out);
	CHECK(strstr(buf_text(&out), "none.data has no samples"));
	CHECK(!strstr(buf_text(&out), "nan"));
	buf_clear(&out);
	report_json(r, false, &out);
	CHECK(strstr(buf_text(&out), "\"event\": null"));
	report_free(r);
	symbolizer_free(symbols);
	profile_free(p);
	buf_done(&out);
}

/* How often the machine is named in the heading of two recordings of these hosts and kernels. */
static size_t machines_named(const char *host, const char *release, const char *other_host,
                             const char *other_release)
{
	struct document_text_options to = {0};
	struct report_request o = {.limit = -1};
	struct recording *second = xcalloc(1, sizeof(*second)), *first;
	struct report *r = NULL;
	struct error err = {0};
	struct buf out = {0};
	struct fixture f;
	size_t named = 0;

	fixture_init(&f, false);
	first = f.profile->recordings.items[0];
	first->hostname = xstrdup(host);
	first->os_release = xstrdup(release);
	recording_init(second);
	second->path = xstrdup("second.data");
	second->hostname = xstrdup(other_host);
	second->os_release = xstrdup(other_release);
	vec_push(&f.profile->recordings, second);
	CHECK_EQ(report_new(&r, f.profile, f.symbols, &o, &err), 0);
	report_text(r, &to, &out);
	for (const char *at = buf_text(&out); (at = strstr(at, "Linux ")); at++)
		named++;
	CHECK(strstr(buf_text(&out), "second.data"));
	report_free(r);
	fixture_done(&f);
	buf_done(&out);
	return named;
}

static void test_a_machine_is_named_once(void)
{
	CHECK_EQ(machines_named("a", "6.1", "a", "6.1"), 1);
	CHECK_EQ(machines_named("a", "6.1", "b", "6.1"), 2);
	CHECK_EQ(machines_named("a", "6.1", "a", "6.2"), 2);
}

static void test_names_cannot_drive_the_terminal(void)
{
	struct buf out = {0};
	struct text_style style = {.width = 40};
	struct table t;

	table_init(&t, &style);
	table_column(&t, "name", TABLE_LEFT);
	table_row(&t, TABLE_ROW);
	table_text(&t, "evil\033[2J\007\n");
	table_row(&t, TABLE_ROW);
	table_text(&t, "a name that is much longer than the terminal is wide, and then some");
	table_print(&t, &out);
	CHECK(strstr(buf_text(&out), "evil\\x1b[2J\\x07\\n\n"));
	CHECK(strstr(buf_text(&out), "longer than the ter~\n"));
	table_done(&t);
	buf_done(&out);
}

static void test_squeezed_tables_fit_the_terminal(void)
{
	struct text_style style = {.width = 30};
	struct buf out = {0};
	struct table t;

	table_init(&t, &style);
	t.squeezed = true;
	table_column(&t, "file", TABLE_LEFT);
	table_column(&t, "name", TABLE_LEFT);
	table_column(&t, "count", TABLE_RIGHT);
	table_row(&t, TABLE_ROW);
	table_text(&t, "/a/long/name/of/a/file");
	table_text(&t, "short");
	table_text(&t, "1234");
	table_print(&t, &out);
	CHECK_STR(buf_text(&out), "file              name   count\n"
	                          "/a/long/name/of~  short   1234\n");
	style.width = 0;
	buf_clear(&out);
	table_print(&t, &out);
	CHECK(strstr(buf_text(&out), "/a/long/name/of/a/file  short   1234\n"));
	table_done(&t);
	buf_done(&out);
}

static void check_path(unsigned width, const char *want)
{
	struct text_style style = {.width = width};
	struct buf out = {0};
	struct table t;

	table_init(&t, &style);
	table_column(&t, "", TABLE_PATH);
	table_row(&t, TABLE_ROW);
	table_text(&t, "main > read_all > sort > comp\xc3\xa4re > memcpy");
	table_print(&t, &out);
	CHECK_STR(buf_text(&out), want);
	table_done(&t);
	buf_done(&out);
}

static void test_call_paths_lose_their_middle(void)
{
	check_path(0, "main > read_all > sort > comp\xc3\xa4re > memcpy\n");
	check_path(41, "main > read_all > sort > comp\xc3\xa4re > memcpy\n");
	check_path(40, "main > ... > sort > comp\xc3\xa4re > memcpy\n");
	check_path(36, "main > ... > sort > comp\xc3\xa4re > memcpy\n");
	check_path(35, "main > ... > comp\xc3\xa4re > memcpy\n");
	check_path(20, "... > memcpy\n");
	check_path(12, "... > memcpy\n");
	check_path(11, "~e > memcpy\n");
	check_path(8, "~ memcpy\n");
}

static void test_percent_signs_stay_with_their_numbers(void)
{
	struct text_style style = {.width = 20};
	struct buf out = {0};

	text_fill(&out, &style, "a", 2, "most of it here 99.5 %, there 0.5 %");
	CHECK_STR(buf_text(&out), "a most of it here\n  99.5 %, there\n  0.5 %\n");
	buf_done(&out);
}

static void check_time(int64_t ns, const char *want)
{
	struct buf out = {0};

	text_time(&out, ns);
	CHECK_STR(buf_text(&out), want);
	buf_done(&out);
}

static void test_units(void)
{
	struct buf out = {0};

	check_time(0, "0 s");
	check_time(999, "999 ns");
	check_time(45600000, "45.60 ms");
	check_time(-2500, "-2.50 us");
	check_time(1234567890, "1.235 s");
	text_count(&out, 1234567);
	text_count(&out, 999);
	CHECK_STR(buf_text(&out), "1,234,567999");
	buf_clear(&out);
	text_share(&out, 0.1234);
	text_share(&out, 0.0004);
	text_share(&out, 0.0000001);
	CHECK_STR(buf_text(&out), "12.3 %0.04 %0.0 %");
	buf_done(&out);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	RUN(test_report_in_a_pipe);
	RUN(test_images_of_next_to_no_stacks_are_left_out);
	RUN(test_report_off_cpu);
	RUN(test_report_on_a_terminal);
	RUN(test_filters_keep_the_total);
	RUN(test_json_closes);
	RUN(test_empty_profile);
	RUN(test_a_machine_is_named_once);
	RUN(test_names_cannot_drive_the_terminal);
	RUN(test_squeezed_tables_fit_the_terminal);
	RUN(test_call_paths_lose_their_middle);
	RUN(test_percent_signs_stay_with_their_numbers);
	RUN(test_units);
	return check_end();
}
