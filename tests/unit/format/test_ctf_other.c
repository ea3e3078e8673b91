/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of other writers, with given metadata and bytes, and refused traces.
 */
#include "format/ctf/ctf.h"

#include "base/memory/buf.h"

#include "check.h"
#include "ctf_fixture.h"

#include <errno.h>

#define CLOCK "clock { name = c; freq = 1000000; };\n"

static char *trace_of(const char *metadata, const void *bytes, size_t size)
{
	char *path = place("other"), *file = xasprintf("%s/metadata", path);

	mkdir(path, 0700);
	put_bytes(file, metadata, strlen(metadata));
	free(file);
	file = xasprintf("%s/channel0", path);
	put_bytes(file, bytes, size);
	free(file);
	return path;
}

static void check_events(const char *metadata, const void *bytes, size_t size,
                         const struct seen_event *want, size_t count)
{
	char *path = trace_of(metadata, bytes, size);
	struct all all = {0};

	CHECK_EQ(read_all(path, 0, &all), 0);
	CHECK_STR(all.err.text, "");
	CHECK_EQ(all.events.count, count);
	for (size_t i = 0; i < count && i < all.events.count; i++) {
		CHECK_EQ(all.events.items[i].time, want[i].time);
		CHECK_EQ(all.events.items[i].tag, want[i].tag);
	}
	all_done(&all);
	free(path);
}

/*
 * 16-bit ids, 24-bit times that wrap around, no packets: the format of the original device. Numbers
 * in the metadata may be decimal, octal or hexadecimal.
 */
static void a_file_without_packets_is_read(void)
{
	static const char metadata[] =
	        "/* CTF 1.8 */\n" CLOCK "trace { major = 1; minor = 8; byte_order = le; };\n"
	        "stream { event.header := struct {\n"
	        "  integer { size = 16; align = 8; } id;\n"
	        "  integer { size = 0x18; align = 010; map = clock.c.value; } timestamp; }; };\n"
	        "event { name = \"main\"; id = 500; }; event { name = \"main:exit\"; id = 0X1f5; "
	        "};\n"
	        "event { name = \"\\x73p\\157t\\78\\x7e1\\1011\"; id = 502; };";
	static const uint8_t bytes[] = {0xf4, 1, 0xf0, 0xff, 0xff, 0xf6, 1, 0x10,
	                                0,    0, 0xf5, 1,    0x0f, 0,    0};
	static const struct seen_event want[] = {
	        {0xfffff0, 500}, {0x1000010, 502}, {0x200000f, 501}};
	struct tag_recording *r;
	bool exit;
	char *path;

	check_events(metadata, bytes, sizeof(bytes), want, 3);
	path = trace_of(metadata, bytes, sizeof(bytes));
	CHECK_EQ(ctf_recording_open(&r, path, NULL), 0);
	CHECK_EQ(r->clock.hz, 1000000);
	CHECK_EQ(r->clock.offset_ns, INT64_MIN);
	CHECK_EQ(tag_names_find(r->names.items[0], 501, &exit)->kind, TAG_FUNCTION);
	CHECK(exit);
	CHECK_EQ(tag_names_find(r->names.items[0], 502, &exit)->kind, TAG_INLINE);
	/* A hexadecimal escape has at most two digits, an octal one three, none of them 8 or 9. */
	CHECK_STR(tag_names_find(r->names.items[0], 502, &exit)->name, "spot\a8~1A1");
	tag_recording_free(r);
	free(path);
}

/*
 * Fields whose size is not whole bytes: 5 bits of id, 27 of time; aliases, named structs, comments.
 */
static void fields_of_bits_are_read(void)
{
	static const char metadata[] =
	        "/* CTF 1.8 */ // more\n"
	        "typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	        "typealias integer { size = 32; align = 8; base = x; } := unsigned int;\n"
	        "struct head { unsigned int magic; uint8_t uuid[4]; };\n" CLOCK;
	static const char rest[] =
	        "trace { major = 1; minor = 8; byte_order = le; packet.header := struct head; };\n"
	        "stream { typealias integer { size = 27; align = 1; map = clock.c.value; } := "
	        "t27;\n"
	        "  packet.context := struct { unsigned int content_size; unsigned int "
	        "packet_size;\n"
	        "    unsigned int _cpu_id; };\n"
	        "  event.header := struct { uint5_t id; t27 timestamp; } align(8);\n"
	        "  event.context := struct { }; };\n"
	        "event { name = \"a\"; id = 3; loglevel = 5; fields := struct { }; };\n"
	        "callsite { name = \"a\"; file = \"f\"; };\n";
	char *all = xasprintf("%s%s%s", "typealias integer { size = 8; align = 8; } := uint8_t;\n",
	                      metadata, rest);
	/* magic, uuid, content 224 bits, packet 256 bits, cpu; two events; 4 bytes of padding */
	static const uint8_t bytes[] = {0xc1, 0x1f, 0xfc, 0xc1, 1, 2, 3, 4, 224, 0,    0,
	                                0,    0,    1,    0,    0, 2, 0, 0, 0,   0x63, 0,
	                                0,    0,    0xa4, 0,    0, 0, 9, 9, 9,   9};
	static const struct seen_event want[] = {{3, 3}, {5, 4}};

	check_events(all, bytes, sizeof(bytes), want, 2);
	free(all);
}

/* Fields are aligned relative to the beginning of the packet. */
static void aligned_fields_have_padding_before_them(void)
{
	static const char metadata[] =
	        "typealias integer { size = 32; align = 32; } := u32;\n" CLOCK
	        "typealias integer { size = 64; align = 64; } := u64;\n"
	        "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {\n"
	        "  u32 magic; }; };\n"
	        "stream { packet.context := struct { u64 content_size; integer { size = 8; } x; "
	        "};\n"
	        "  event.header := struct { integer { size = 16; align = 8; } id; u32 timestamp; "
	        "}; "
	        "};\n";
	static const uint8_t bytes[] = {0xc1, 0x1f, 0xfc, 0xc1, 9, 9, 9, 9,          /* to 8 */
	                                0x20, 1,    0,    0,    0, 0, 0, 0, 9,       /* to 17 */
	                                9,    9,    9,    5,    0, 9, 9, 7, 0, 0, 0, /* to 28 */
	                                6,    0,    9,    9,    8, 0, 0, 0};
	static const struct seen_event want[] = {{7, 5}, {8, 6}};

	check_events(metadata, bytes, sizeof(bytes), want, 2);
}

/* Big-endian, with 64-bit times and turns of 2^40 between events. */
static void big_endian_and_long_gaps_are_read(void)
{
	static const char metadata[] =
	        "/* CTF 1.8 */\n"
	        "trace { major = 1; minor = 8; byte_order = be; packet.header := struct {\n"
	        "  integer { size = 32; align = 8; } magic; integer { size = 8; } stream_id; }; "
	        "};\n"
	        "clock { name = c; freq = 1000000000; offset_s = 5; };\n"
	        "stream { id = 7; packet.context := struct {\n"
	        "  integer { size = 64; align = 8; } content_size;\n"
	        "  integer { size = 16; align = 8; } events_discarded; };\n"
	        "  event.header := struct { integer { size = 64; align = 8; map = clock.c.value; "
	        "}\n"
	        "  timestamp; integer { size = 16; align = 8; } id; }; };\n"
	        "event { name = \"a\"; id = 3; stream_id = 7; };\n";
	static const uint8_t bytes[] = {
	        0xc1, 0xfc, 0x1f, 0xc1, 7, 0, 0, 0, 0, 0, 0, 1, 0x68, 0xff, 0xfe,
	        0,    0,    0,    0,    0, 0, 0, 9, 0, 3, /* 9 */
	        0,    0,    9,    0,    0, 0, 0, 8, 1, 0, /* 9 turns later, minus one tick */
	        0,    0,    9,    0,    0, 0, 0, 8, 0, 3, /* at once */
	        0xc1, 0xfc, 0x1f, 0xc1, 7, 0, 0, 0, 0, 0, 0, 0, 0x78, 0,    2};
	static const struct seen_event want[] = {{9, 3}, {0x90000000008, 256}, {0x90000000008, 3}};
	struct all all = {0};
	char *path;

	check_events(metadata, bytes, sizeof(bytes), want, 3);
	path = trace_of(metadata, bytes, sizeof(bytes));
	CHECK_EQ(read_all(path, 0, &all), 0);
	CHECK_EQ(all.lost, 0xfffe + 4); /* the 16-bit counter wraps around */
	all_done(&all);
	free(path);
}

/* A packet of one event, little-endian: content_size and events_discarded of 64 bits. */
static void put_packet(struct buf *b, uint64_t discarded, uint64_t time, uint8_t id)
{
	uint64_t bits = 8 * (8 + 8 + 8 + 1);

	buf_add(b, &bits, 8);
	buf_add(b, &discarded, 8);
	buf_add(b, &time, 8);
	buf_putc(b, (char)id);
}

static const char whole_numbers[] =
        "/* CTF 1.8 */\n" CLOCK "trace { major = 1; minor = 8; byte_order = le; };\n"
        "typealias integer { size = 64; align = 8; } := u64;\n"
        "stream { packet.context := struct { u64 content_size; u64 events_discarded; };\n"
        "  event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } "
        "timestamp; integer { size = 8; align = 8; } id; }; };\n";

/* A 64-bit counter does not wrap around: a smaller number is a new counter, and a gap. */
static void a_falling_counter_of_64_bits_is_a_gap(void)
{
	struct buf b = {0};
	struct all all = {0};
	char *path;

	put_packet(&b, 10, 1, 3);
	put_packet(&b, 10, 2, 3);
	put_packet(&b, 12, 3, 3);
	put_packet(&b, 4, 4, 3);
	put_packet(&b, 5, 5, 3);
	path = trace_of(whole_numbers, b.data, b.size);
	CHECK_EQ(read_all(path, 0, &all), 0);
	CHECK_EQ(all.events.count, 5);
	CHECK_EQ(all.gaps, 1);
	CHECK_EQ(all.lost, 10 + 2 + 1);
	all_done(&all);
	buf_done(&b);
	free(path);
}

/* A word has 40 bits of time: an event exactly one turn later begins a new piece. */
static void events_one_turn_apart_keep_their_times(void)
{
	static const struct seen_event want[] = {
	        {5, 3}, {5 + (UINT64_C(1) << 40), 4}, {4 + (UINT64_C(2) << 40), 6}};
	uint64_t content = 8 * (8 + 8 + 3 * 9), discarded = 0;
	struct buf b = {0};

	buf_add(&b, &content, 8);
	buf_add(&b, &discarded, 8);
	for (size_t i = 0; i < 3; i++) {
		buf_add(&b, &want[i].time, 8);
		buf_putc(&b, (char)want[i].tag);
	}
	check_events(whole_numbers, b.data, b.size, want, 3);
	buf_done(&b);
}

#define STRINGS                                                                                    \
	"trace { major = 1; minor = 8; byte_order = be; packet.header := struct {\n"               \
	"  integer { size = 32; align = 8; } magic; }; };\n"                                       \
	"clock { name = c; freq = 1000000; };\n"                                                   \
	"stream { packet.context := struct { integer { size = 8; } n; string thread;\n"            \
	"  integer { size = 16; align = 8; } content_size; string { encoding = UTF8; } x;\n"       \
	"  string _process; integer { size = 16; align = 8; } packet_size; };\n"                   \
	"  event.header := struct { integer { size = 8; } id; integer { size = 8;\n"               \
	"  map = clock.c.value; } timestamp; }; };\n"

/* Strings in a context shift the fields after them, differently in each packet. */
static void strings_in_a_context_shift_what_is_behind_them(void)
{
	static const uint8_t bytes[] = {
	        0xc1, 0xfc, 0x1f, 0xc1, 9,   'm', 'a', 'i', 'n', 0,   0,   160,
	        0,    'p',  'r',  0,    0,   184, 3,   5, /* one event: to 20; 3 bytes of nothing */
	        9,    9,    9, /* the next packet: no text, a long one, two events */
	        0xc1, 0xfc, 0x1f, 0xc1, 9,   0,   0,   0,   'x', 0,   'a', 'b',
	        'c',  'd',  'e',  'f',  'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n',
	        'o',  'p',  'q',  'r',  0,   0,   0,   4,   6,   3,   7};
	static const struct seen_event want[] = {{5, 3}, {6, 4}, {7, 3}};
	uint8_t whole[sizeof(bytes)];
	struct tag_recording *r;
	struct tag_reader *reader;
	struct tag_packet p;
	size_t second = 23, size = sizeof(bytes) - second;
	char *path;

	memcpy(whole, bytes, sizeof(bytes));
	whole[second + 7] = (uint8_t)((size * 8) & 0xff);
	whole[second + 6] = (uint8_t)((size * 8) >> 8);
	whole[sizeof(bytes) - 5] = whole[second + 7];
	whole[sizeof(bytes) - 6] = whole[second + 6];
	check_events(STRINGS, whole, sizeof(whole), want, 3);
	path = trace_of(STRINGS, whole, sizeof(whole));
	CHECK_EQ(ctf_recording_open(&r, path, NULL), 0);
	CHECK_STR(r->streams.items[0].thread, "main");
	CHECK_STR(r->streams.items[0].process, "pr");
	CHECK_EQ(r->open(r, 0, &reader, NULL), 0);
	CHECK_EQ(reader->next(reader, &p, NULL), 1);
	CHECK_EQ(reader->next(reader, &p, NULL), 1);
	CHECK_STR(p.thread, "");
	CHECK_STR(p.process, "abcdefghijklmnop"); /* truncated to the buffer */
	reader->close(reader);
	tag_recording_free(r);
	free(path);
}

/* A file that ends within a string, and a string without an end. */
static void unterminated_strings_are_reported(void)
{
	static uint8_t bytes[8192] = {0xc1, 0xfc, 0x1f, 0xc1, 9, 'm'};
	struct all all = {0};
	char *path;

	for (size_t size = 1; size < 12; size++) {
		path = trace_of(STRINGS, bytes, size);
		all = (struct all){0};
		CHECK_EQ(read_all(path, 0, &all), 0);
		CHECK_EQ(all.events.count, 0);
		CHECK_EQ(all.gaps, 1);
		all_done(&all);
		free(path);
	}
	memset(bytes + 5, 'm', sizeof(bytes) - 5);
	path = trace_of(STRINGS, bytes, sizeof(bytes));
	all = (struct all){0};
	CHECK_EQ(read_all(path, 0, &all), -EBADMSG);
	CHECK(strstr(all.err.text, "longer than 4 KB") != NULL);
	all_done(&all);
	free(path);
}

/* As barectf writes: big-endian, a uuid, several streams, a clock with an offset. */
static const char bare_metadata[] =
        "/* CTF 1.8 */\n"
        "typealias integer { size = 8; align = 8; } := byte;\n"
        "trace { major = 1; minor = 8; byte_order = be;\n"
        "  uuid = \"79e49040-21b5-42d4-a873-677261696e65\";\n"
        "  packet.header := struct { integer { size = 32; align = 8; base = 16; } magic;\n"
        "    byte uuid[16]; byte stream_id; } align(8); };\n"
        "env { domain = \"bare\"; tracer_name = \"barectf\"; tracer_major = 3; };\n"
        "clock { name = c; description = \"d\"; freq = 8000000; precision = 1; offset_s = "
        "-2;\n"
        "  offset = 4000000; absolute = false; };\n"
        "typealias integer { size = 64; align = 8; map = clock.c.value; } := time;\n"
        "stream { id = 0; packet.context := struct { integer { size = 32; align = 32; } "
        "packet_size;\n"
        "    integer { size = 32; align = 32; } content_size; } align(8);\n"
        "  event.header := struct { byte id; time timestamp; } align(8); };\n"
        "stream { id = 1; event.header := struct { time timestamp;\n"
        "  integer { size = 16; align = 16; } id; } align(32); };\n"
        "event { name = \"f\"; id = 2; stream_id = 0; };\n"
        "event { name = \"f:exit\"; id = 3; stream_id = 0; };\n"
        "event { name = \"g\"; id = 2; stream_id = 1; };\n";
static const uint8_t bare_first[] = {
        0xc1, 0xfc, 0x1f, 0xc1, 1, 2,    3, 4, 5, 6,    7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0, 9,
        9,    9,    0,    0,    1, 0xb0, 0, 0, 1, 0x90, /* 54 bytes, 50 are
                                                           used */
        2,    0,    0,    0,    9, 0,    0, 0, 1, 3,    0, 0, 0, 9,  0,  0,  0,  2,  9,  9,  9, 9};
static const uint8_t bare_second[] = {0xc1, 0xfc, 0x1f, 0xc1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                      13,   14,   15,   16,   1, 9, 9, 9, 0, 0, 0, 9, 0, 0,  0,  7,
                                      0,    2,    9,    9,    0, 0, 0, 9, 0, 0, 0, 8, 0, 2};

static void streams_of_a_bare_metal_tracer_are_read(void)
{
	struct tag_recording *r;
	struct all one = {0}, other = {0};
	char *path = trace_of(bare_metadata, bare_first, sizeof(bare_first));
	char *file = xasprintf("%s/channel1", path);
	bool exit;

	put_bytes(file, bare_second, sizeof(bare_second));
	CHECK_EQ(ctf_recording_open(&r, path, NULL), 0);
	CHECK_EQ(r->clock.hz, 8000000);
	CHECK_EQ(r->clock.offset_ns, -1500000000);
	CHECK_EQ(r->streams.count, 2);
	CHECK_EQ(tag_names_find(r->streams.items[0].names, 3, &exit)->kind, TAG_FUNCTION);
	CHECK_STR(tag_names_find(r->streams.items[1].names, 2, &exit)->name, "g");
	tag_recording_free(r);
	CHECK_EQ(read_all(path, 0, &one), 0);
	CHECK_EQ(one.events.count, 2);
	CHECK_EQ(one.events.items[1].time, 0x900000002);
	CHECK_EQ(one.events.items[1].tag, 3);
	CHECK_EQ(read_all(path, 1, &other), 0);
	CHECK_EQ(other.events.count, 2);
	CHECK_EQ(other.events.items[1].time, 0x900000008);
	CHECK_EQ(other.events.items[1].tag, 2);
	all_done(&one);
	all_done(&other);
	unlink(file);
	free(file);
	free(path);
}

static const char trace[] = "trace { major = 1; minor = 8; byte_order = le; };\n";

#define HEADER                                                                                     \
	"event.header := struct { integer { size = 16; } id; integer { size = 32; } timestamp; };"
static const struct {
	const char *text, *where, *what;
} unsupported[] = {
        {"", ":1:", "no trace block"},
        {"nonsense", ":1:", "this is not CTF 1.8 metadata"},
        {"/* never", ":1:", "no end"},
        {"trace { major = 2; };", ":1:", "CTF 2; assay reads CTF 1.8: babeltrace2 prints others"},
        {"/*\n\n*/ // x\n nonsense", ":4:", "this is not CTF 1.8 metadata"},
        {"$TRACE", ":1:", "no stream block"},
        {"$TRACE\nstream { };", ":3:", "without event.header"},
        {"$TRACE" CLOCK "stream { event.header := struct {\ninteger { size = 16; } id; }; };",
         ":3:", "id and timestamp"},
        {"$TRACE" CLOCK "stream { event.header := struct {\nstring id; }; };",
         ":4:", "nothing else), as event tags have them: babeltrace2 prints others"},
        {"$TRACE" CLOCK "stream { event.header := struct {\nenum : integer { size = 5; } { a = "
         "0 ... 30 } id;\nvariant <id> { struct { } a; } v; }; };",
         ":5:", "variant has no fixed size"},
        {"$TRACE" CLOCK "stream { event.header := struct {\n\nthing id; }; };",
         ":5:", "the type \"thing\" was not declared"},
        {"$TRACE" CLOCK "stream { event.header := struct { integer { size = 65; } id; }; };",
         ":3:", "1 to 64 bits"},
        {"$TRACE" CLOCK "stream { event.header := struct { integer { size = 8; align = 3; } "
         "id; }; };",
         ":3:", "power of two"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 3; name = \"a\"; fields := struct "
         "{ integer { size = 8; } x; }; };",
         ":4:", "an event with fields"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 16777216; name = \"a\"; };",
         ":4:", "not a tag"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 3; };", ":4:", "without a name"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { name = \"a\"; };", ":4:", "without id"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 3; name = \"a\"; };\nevent { id = "
         "3; name = \"b\"; };",
         ":5:", "second event"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 3; name = \"a\n\"; };",
         ":4:", "no end on its line"},
        {"$TRACE" CLOCK "stream { id = 0; " HEADER " };\nstream { id = 1; " HEADER " };",
         ":4:", "stream_id"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 3; name = \"a\"; stream_id = 9; };",
         ":4:", "not declared"},
        {"$TRACE" CLOCK "stream { " HEADER " };\nevent { id = 99999999999999999999; };",
         ":4:", "64-bit number"},
        {"$TRACE" CLOCK "clock { name = d; };\nstream { " HEADER " };", ":4:", "clock"},
        {"$TRACE\nclock { name = d; freq = 0; };", ":3:", "0 ticks"},
        {"$TRACE" CLOCK "stream { packet.context := struct { integer { size = 8; } n; integer { "
         "size = 8; } x[n]; }; };",
         ":3:", "length is not a number"},
        {"$TRACE" CLOCK "stream { packet.context := struct { integer { size = 8; } "
         "x[9999999]; }; " HEADER " };",
         ":3:", "64 KB"},
        {"$TRACE" CLOCK "stream { " HEADER, ":3:", "is missing"},
        {"$TRACE" CLOCK "stream { " HEADER " };\n/*assay names 0\na/2\nb/2\n*/",
         ":4: names:3:", "tag 2 belongs to a"},
        {"$TRACE" CLOCK "stream { " HEADER " };\n/*assay names 5\n*/", ":4:", "not declared"},
};

static void unsupported_metadata_is_refused_by_line(void)
{
	for (size_t i = 0; i < sizeof(unsupported) / sizeof(*unsupported); i++) {
		bool with = unsupported[i].text[0] == '$';
		char *text =
		        xasprintf("%s%s", with ? trace : "", unsupported[i].text + (with ? 6 : 0));
		char *path = trace_of(text, "", 0),
		     *where = xasprintf("/metadata%s", unsupported[i].where);
		struct tag_recording *r;
		struct error err = {0};
		int before = check_failures;

		CHECK(ctf_recording_open(&r, path, &err) < 0);
		CHECK(strstr(err.text, where));
		CHECK(strstr(err.text, unsupported[i].what));
		if (check_failures > before)
			printf("# %zu: %s\n", i, err.text);
		free(text);
		free(path);
		free(where);
	}
}

/* An id that is not a tag is an error. */
static void an_id_that_is_no_tag_is_an_error(void)
{
	static const char metadata[] =
	        "trace { major = 1; minor = 8; byte_order = le; };\n" CLOCK
	        "stream { event.header := struct { integer { size = 32; align = 8; } id;\n"
	        "  integer { size = 32; align = 8; } timestamp; }; };\n";
	static const uint32_t bytes[] = {3, 1, 0x1000000, 2};
	char *path = trace_of(metadata, bytes, sizeof(bytes));
	struct all all = {0};

	CHECK_EQ(read_all(path, 0, &all), -EBADMSG);
	CHECK(strstr(all.err.text, "channel0: byte 8"));
	all_done(&all);
	free(path);
}

/* Tag 0 at time 0 would be a word of 0: it is moved by one tick, and other events are unchanged. */
static void an_event_of_zeros_is_an_event(void)
{
	static const char metadata[] =
	        "trace { major = 1; minor = 8; byte_order = le; };\n" CLOCK
	        "stream { event.header := struct { integer { size = 16; align = 8; } id;\n"
	        "  integer { size = 32; align = 8; } timestamp; }; };\n";
	static const uint16_t bytes[] = {0, 0, 0, 4, 0, 0, 5, 9, 0};
	static const struct seen_event want[] = {{1, 0}, {1, 4}, {9, 5}};

	check_events(metadata, bytes, sizeof(bytes), want, 3);
}

/* Each struct contains two of the previous one: 2^60 fields in 60 lines. */
static void types_that_explode_are_refused(void)
{
	struct buf text = {0};
	struct tag_recording *r;
	struct error err = {0};
	char *path;

	buf_puts(&text, "struct s0 { };\n");
	for (int i = 1; i < 60; i++)
		buf_addf(&text, "struct s%d { struct s%d a; struct s%d b; };\n", i, i - 1, i - 1);
	buf_addf(&text, "trace { packet.header := struct s59; };\n" CLOCK "stream { " HEADER " };");
	path = trace_of(text.data, "", 0);
	CHECK_EQ(ctf_recording_open(&r, path, &err), -EINVAL);
	CHECK(strstr(err.text, "10000 fields"));
	free(path);
	buf_clear(&text);
	buf_puts(&text, "trace { packet.header := ");
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "struct { ");
	path = trace_of(text.data, "", 0);
	CHECK_EQ(ctf_recording_open(&r, path, &err), -EINVAL);
	CHECK(strstr(err.text, "deep"));
	free(path);
	buf_done(&text);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(a_file_without_packets_is_read);
	RUN(fields_of_bits_are_read);
	RUN(aligned_fields_have_padding_before_them);
	RUN(big_endian_and_long_gaps_are_read);
	RUN(a_falling_counter_of_64_bits_is_a_gap);
	RUN(events_one_turn_apart_keep_their_times);
	RUN(strings_in_a_context_shift_what_is_behind_them);
	RUN(unterminated_strings_are_reported);
	RUN(streams_of_a_bare_metal_tracer_are_read);
	RUN(unsupported_metadata_is_refused_by_line);
	RUN(an_id_that_is_no_tag_is_an_error);
	RUN(an_event_of_zeros_is_an_event);
	RUN(types_that_explode_are_refused);
	fixture_end();
	return check_end();
}
