/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "format/label_file.h"
#include "format/otlp/process_context.h"

#include <string.h>

static void mappings_are_known_by_their_names(void)
{
	static const struct {
		const char *line;
		uint64_t address;
	} cases[] = {
	        {"7f12a0000000-7f12a0001000 rw-p 00000000 00:01 4242    /memfd:OTEL_CTX (deleted)",
	         0x7f12a0000000},
	        {"7f12a0000000-7f12a0001000 rw-p 00000000 00:01 42 [anon_shmem:OTEL_CTX]",
	         0x7f12a0000000},
	        {"10000-11000 rw-p 00000000 00:00 0                          [anon:OTEL_CTX]",
	         0x10000},
	        {"10000-11000 rw-p 00000000 00:00 0 /tmp/x[anon:OTEL_CTX]", 0},
	        {"10000-11000 rw-p 00000000 00:00 0 ", 0},
	        {"10000-11000 rw-p 00000000 00:00 0 [heap]", 0},
	        {"[anon:OTEL_CTX]", 0},
	        {"", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t address;
		bool found = process_context_mapping(cases[i].line, &address);

		CHECK(found == (cases[i].address != 0));
		CHECK(!found || address == cases[i].address);
	}
}

static void headers_of_this_version_are_read(void)
{
	uint8_t bytes[PROCESS_CONTEXT_HEADER] = "OTEL_CTX\2\0\0\0\x10\0\0\0\7\0\0\0\0\0\0\0\0\x20";
	struct process_context_header h;

	CHECK(process_context_header(&h, bytes));
	CHECK_EQ(h.size, 16);
	CHECK_EQ(h.time_ns, 7);
	CHECK_EQ(h.address, 0x2000);
	bytes[8] = 1;
	CHECK(!process_context_header(&h, bytes));
	bytes[8] = 2;
	bytes[15] = 1;
	CHECK(!process_context_header(&h, bytes));
	bytes[15] = 0;
	bytes[0] = 'o';
	CHECK(!process_context_header(&h, bytes));
}

static void attributes_of_the_resource_are_labels(void)
{
	/* service.name "shop"; n 42; b true; a list; an attribute outside the resource */
	static const char payload[] = "\x0a\x3a"
	                              "\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"
	                              "\x0a\x07\x0a\x01n\x12\x02\x18\x2a"
	                              "\x0a\x07\x0a\x01"
	                              "b\x12\x02\x10\x01"
	                              "\x0a\x0e\x0a\x04list\x12\x06\x2a\x04\x0a\x02\x0a\x00"
	                              "\x12\x0a\x0a\x01x\x12\x05\x0a\x03"
	                              "yyy";
	struct labels l = {0};
	struct buf text = {0};

	CHECK(process_context_read(&l, payload, sizeof(payload) - 1));
	labels_text(&l, &text);
	CHECK_STR(buf_text(&text), "b=true\nn=42\nservice.name=shop");
	CHECK_EQ(l.dropped, 1);
	labels_done(&l);
	for (size_t cut = 1; cut < 60; cut++)
		CHECK(!process_context_read(&l, payload, cut));
	CHECK(process_context_read(&l, "", 0));
	labels_done(&l);
	buf_done(&text);
}

static void files_of_the_downward_api_are_read(void)
{
	static const char file[] = "app.kubernetes.io/name=\"web\"\n"
	                           "note=\"a\\\"b\\\\c \\u00e9\\x41\\101\"\n"
	                           "# comment\n\n plain = x\n"
	                           "bad\n=x\nopen=\"x\nodd=\"\\q\"\nmore=\"x\"y";
	struct labels l = {0};
	struct buf text = {0};

	CHECK_EQ(label_file_read(&l, "k.", file, sizeof(file) - 1), 5);
	labels_text(&l, &text);
	CHECK_STR(buf_text(&text), "k.app.kubernetes.io/name=web\nk.note=a\"b\\c \xc3\xa9"
	                           "AA");
	labels_done(&l);
	buf_done(&text);
}

int main(void)
{
	RUN(mappings_are_known_by_their_names);
	RUN(headers_of_this_version_are_read);
	RUN(attributes_of_the_resource_are_labels);
	RUN(files_of_the_downward_api_are_read);
	return check_end();
}
