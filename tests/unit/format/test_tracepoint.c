/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of tracepoints, the values of their fields, and the section TRACING_DATA. */
#include "base/memory/xalloc.h"
#include "check.h"
#include "format/perf/tracepoint_format.h"
#include "format/perf/tracing_data.h"

#include <string.h>

static const char format[] = "name: sample_event\nID: 77\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
                             "\tfield:unsigned char flags;\toffset:20;\tsize:1;\tsigned:0;\n"
                             "\tfield:const char * where;\toffset:24;\tsize:8;\tsigned:0;\n"
                             "\tfield:__data_loc char[] file;\toffset:32;\tsize:4;\tsigned:0;\n"
                             "\tfield:__rel_loc char[] more;\toffset:36;\tsize:4;\tsigned:0;\n"
                             "\tfield:u8 address[4];\toffset:40;\tsize:4;\tsigned:0;\n\n"
                             "print fmt: \"pid=%d\", REC->pid\n";

static struct tracepoint made(const char *text)
{
	struct tracepoint t = {.system = xstrdup("test"), .format = xstrdup(text)};

	CHECK(tracepoint_format_parse(&t));
	return t;
}

static void put(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* 60 bytes: the texts of the dynamic fields begin at 44 and 50. */
static void fill(uint8_t *raw)
{
	memset(raw, 0, 60);
	memcpy(raw + 8, "sh\0rest", 7);
	put(raw + 16, (uint32_t)-5);
	raw[20] = 200;
	put(raw + 32, 44 | 6 << 16);
	put(raw + 36, (50 - 40) | 3 << 16);
	memcpy(raw + 40, "\x0a\x00\x00\x01", 4);
	memcpy(raw + 44, "a.txt", 6);
	memcpy(raw + 50, "yes", 3);
}

static void fields_have_their_values(void)
{
	struct tracepoint t = made(format);
	struct buf text = {0};
	uint8_t raw[60];
	struct json j;

	fill(raw);
	CHECK_EQ(t.id, 77);
	CHECK_STR(t.name, "sample_event");
	CHECK_EQ(t.fields.count, 9);
	json_init(&j, &text);
	j.compact = true;
	tracepoint_json(&t, raw, sizeof(raw), &j);
	CHECK_STR(buf_text(&text),
	          "{\"comm\":\"sh\",\"pid\":-5,\"flags\":200,\"where\":0,"
	          "\"file\":\"a.txt\",\"more\":\"yes\",\"address\":\"0a000001\"}\n");
	buf_done(&text);
	tracepoint_done(&t);
}

static void fields_beyond_the_bytes_have_no_value(void)
{
	struct tracepoint t = made(format);
	struct buf text = {0};
	uint8_t raw[60];
	struct json j;

	fill(raw);
	put(raw + 32, 58 | 6 << 16);
	json_init(&j, &text);
	j.compact = true;
	tracepoint_json(&t, raw, 42, &j);
	CHECK_STR(buf_text(&text), "{\"comm\":\"sh\",\"pid\":-5,\"flags\":200,\"where\":0}\n");
	buf_done(&text);
	tracepoint_done(&t);
}

static void damaged_descriptions_are_refused(void)
{
	static const char *const bad[] = {"", "name: x\n", "ID: 5\n", "name: x\nID: y\n"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tracepoint t = {.format = xstrdup(bad[i])};

		CHECK(!tracepoint_format_parse(&t));
		tracepoint_done(&t);
	}
}

static void the_section_is_read_as_written(void)
{
	struct recording r, copy;
	struct buf section = {0};

	recording_init(&r);
	recording_init(&copy);
	tracing_data_encode(&section, &r);
	CHECK_EQ(section.size, 0);
	vec_push(&r.tracepoints, made(format));
	vec_push(&r.tracepoints, made("name: other\nID: 78\n"));
	r.tracing_page = xstrdup("page");
	tracing_data_encode(&section, &r);
	CHECK(tracing_data_decode(section.data, section.size, &copy));
	CHECK_EQ(copy.tracepoints.count, 2);
	CHECK_STR(copy.tracing_page, "page");
	CHECK_STR(copy.tracepoints.items[0].system, "test");
	CHECK_STR(copy.tracepoints.items[0].format, format);
	CHECK(tracepoint_find(&copy, 78) == &copy.tracepoints.items[1]);
	CHECK(!tracepoint_find(&copy, 79));
	recording_done(&copy);
	/* A section that ends early keeps the complete descriptions before the end. */
	for (size_t size = 0; size < section.size - 16; size++) {
		recording_init(&copy);
		CHECK(!tracing_data_decode(section.data, size, &copy));
		CHECK(copy.tracepoints.count <= 2);
		recording_done(&copy);
	}
	recording_done(&r);
	buf_done(&section);
}

/* The fields that are printed as they are with %x or %p are hexadecimal. */
static void fields_are_hexadecimal_if_the_kernel_prints_them_so(void)
{
	static const char text[] =
	        "name: sample_event\nID: 77\nformat:\n"
	        "\tfield:unsigned long site;\toffset:0;\tsize:8;\tsigned:0;\n"
	        "\tfield:unsigned long size;\toffset:8;\tsize:8;\tsigned:0;\n"
	        "\tfield:int width;\toffset:16;\tsize:4;\tsigned:1;\n"
	        "\tfield:unsigned int mask;\toffset:20;\tsize:4;\tsigned:0;\n"
	        "\tfield:unsigned int flags;\toffset:24;\tsize:4;\tsigned:0;\n\n"
	        "print fmt: \"100%% at, %pS of %*lu: \\\"%#08x\\\" %s %x\", (void *)REC->site, "
	        "REC->width, (unsigned long)REC->size, REC->mask, "
	        "REC->flags ? __print_flags(REC->flags, \"|\", { 1, \"a,b\" }) : \"x\", REC->flags "
	        ">> 4\n";
	struct tracepoint t = made(text);

	CHECK_EQ(t.fields.count, 5);
	CHECK(t.fields.items[0].is_hex);
	CHECK(!t.fields.items[1].is_hex);
	CHECK(!t.fields.items[2].is_hex);
	CHECK(t.fields.items[3].is_hex);
	CHECK(!t.fields.items[4].is_hex); /* not the field as it is */
	tracepoint_done(&t);
}

int main(void)
{
	RUN(fields_are_hexadecimal_if_the_kernel_prints_them_so);
	RUN(fields_have_their_values);
	RUN(fields_beyond_the_bytes_have_no_value);
	RUN(damaged_descriptions_are_refused);
	RUN(the_section_is_read_as_written);
	return check_end();
}
