/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written traces are read back unchanged, and their bytes follow the format.
 */
#include "format/ctf/ctf.h"

#include "base/memory/xalloc.h"
#include "check.h"
#include "ctf_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const struct ctf_writer_facts plain = {.clock = {1000000000, INT64_MIN}};

/* One stream with one packet of words. */
static char *write_words(const uint64_t *words, size_t count, uint64_t begin)
{
	char *path = place("words");
	struct tag_names *names = tag_names_new();
	struct tag_packet p = {.begin = begin, .words = words, .count = count};
	struct ctf_writer *w;
	struct error err = {0};
	uint32_t stream;

	CHECK_EQ(ctf_writer_new(&w, path, &err), 0);
	CHECK_EQ(ctf_writer_stream(w, ctf_writer_names(w, names), false, &stream, &err), 0);
	CHECK_EQ(ctf_writer_packet(w, stream, &p, &err), 0);
	CHECK_EQ(ctf_writer_finish(w, &plain, &err), 0);
	CHECK_STR(err.text, "");
	ctf_writer_free(w);
	tag_names_free(names);
	return path;
}

static void a_packet_is_as_in_memory(void)
{
	static const uint64_t words[] = {WORD(0x1122334455, 502), 0,
	                                 WORD(0x1122334455, ASSAY_TAG_VOID),
	                                 WORD(0x1122334456, 503)};
	char *path = place("bytes"), *file = xasprintf("%s/stream_0", path);
	struct tag_names *names = tag_names_new();
	struct tag_packet p = {.begin = 0xaa1122334400,
	                       .end = 0xaa1122335000,
	                       .words = words,
	                       .count = 4,
	                       .lost = 7,
	                       .gap = true,
	                       .forked = true,
	                       .pid = 12,
	                       .tid = 13,
	                       .thread = "sixteen bytes ab",
	                       .process = "proc"};
	struct assay_tags_packet h;
	struct ctf_writer *w;
	uint8_t bytes[200];
	uint32_t stream;
	uint64_t word;

	CHECK_EQ(ctf_writer_new(&w, path, NULL), 0);
	CHECK_EQ(ctf_writer_stream(w, ctf_writer_names(w, names), false, &stream, NULL), 0);
	CHECK_EQ(ctf_writer_packet(w, stream, &p, NULL), 0);
	ctf_writer_free(w);
	CHECK_EQ(get_bytes(file, bytes, sizeof(bytes)), sizeof(h) + 16);
	memcpy(&h, bytes, sizeof(h));
	CHECK_EQ(h.magic, 0xC1FC1FC1);
	CHECK_EQ(h.begin, 0xaa1122334400);
	CHECK_EQ(h.end, 0xaa1122335000);
	CHECK_EQ(h.content_bits, 144 * 8);
	CHECK_EQ(h.packet_bits, 144 * 8);
	CHECK_EQ(h.discarded, 7);
	CHECK_EQ(h.flags, ASSAY_TAGS_GAP | ASSAY_TAGS_FORKED);
	CHECK_EQ(h.pid, 12);
	CHECK_EQ(h.tid, 13);
	CHECK(!memcmp(h.thread, "sixteen bytes ab", 16));
	memcpy(&word, bytes + sizeof(h) + 8, 8);
	CHECK(word == WORD(0x1122334456, 503));
	tag_names_free(names);
	free(file);
	free(path);
}

static const char *const odd[] = {"_ZN3foo3barEv",   "a \"quoted\" \\name", "tab\there",
                                  "parse@src/lex.c", "caf\xc3\xa9",         "bad\xff\0017byte",
                                  "x:exit",          "{ name = \"*/\"; }",  "tag_5"};

static void fill_names(struct tag_names *names, struct tag_names *others)
{
	struct error err = {0};

	for (uint32_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		tag_names_add(names, 10 + 4 * i, TAG_FUNCTION, odd[i], strlen(odd[i]), &err);
		tag_names_add(names, 12 + 4 * i, TAG_INLINE, odd[i], strlen(odd[i]), &err);
	}
	/* Two inline tags with the numbers of a function's entry and exit. */
	tag_names_add(names, 100, TAG_INLINE, "f", 1, &err);
	tag_names_add(names, 101, TAG_INLINE, "f:exit", 6, &err);
	tag_names_add(others, 8, TAG_SWITCH, "swtch", 5, &err);
	tag_names_add(others, 10, TAG_IDLE, "halt", 4, &err);
	tag_names_add(others, 12, TAG_INTERRUPT, "timer", 5, &err);
}

/* `p`: the first packet of stream `one`. */
static void write_packets(struct ctf_writer *w, uint32_t one, uint32_t device, struct tag_packet p)
{
	struct error err = {0};

	p.gap = true;
	p.lost = 5;
	CHECK_EQ(ctf_writer_packet(w, one, &p, &err), 0);
	p = (struct tag_packet){.begin = 100,
	                        .end = 100,
	                        .forked = true,
	                        .pid = 3,
	                        .tid = 4,
	                        .thread = "0123456789abcdef",
	                        .process = "p",
	                        .lost = 6};
	CHECK_EQ(ctf_writer_packet(w, one, &p, &err), 0);
	p.lost = 0;
	p.begin = 33;
	CHECK_EQ(ctf_writer_packet(w, device, &p, &err), 0);
}

static void check_streams(const struct tag_recording *r, const struct tag_names *names)
{
	bool exit;

	CHECK_EQ(r->streams.count, 2);
	CHECK(!r->streams.items[0].device && r->streams.items[1].device);
	CHECK_EQ(r->streams.items[0].begin, 40);
	CHECK_EQ(r->streams.items[1].begin, 33);
	CHECK_EQ(r->streams.items[1].pid, 3);
	CHECK_STR(r->streams.items[1].thread, "0123456789abcdef");
	CHECK_EQ(tag_names_count(r->streams.items[0].names), 2 * sizeof(odd) / sizeof(*odd) + 2);
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *want = tag_names_at(names, i);
		const struct tag_name *got =
		        tag_names_find(r->streams.items[0].names, want->tag, &exit);

		CHECK(got && got->kind == want->kind && got->tag == want->tag);
		CHECK_STR(got ? got->name : NULL, want->name);
	}
	CHECK_EQ(tag_names_count(r->streams.items[1].names), 3);
	CHECK_EQ(tag_names_at(r->streams.items[1].names, 0)->kind, TAG_SWITCH);
	CHECK_EQ(tag_names_at(r->streams.items[1].names, 1)->kind, TAG_IDLE);
	CHECK_EQ(tag_names_at(r->streams.items[1].names, 2)->kind, TAG_INTERRUPT);
}

static void check_packets(struct tag_recording *r, const uint64_t *words)
{
	struct tag_reader *reader;
	struct tag_packet p;
	struct error err = {0};

	CHECK_EQ(r->open(r, 0, &reader, &err), 0);
	CHECK_EQ(reader->next(reader, &p, &err), 1);
	CHECK(p.begin == 40 && p.end == 80 && p.lost == 5 && p.gap && !p.forked);
	CHECK(p.count == 3 && !memcmp(p.words, words, 3 * sizeof(*words)));
	CHECK_EQ(reader->next(reader, &p, &err), 1);
	CHECK(p.count == 0 && p.lost == 6 && !p.gap && p.forked && p.pid == 3 && p.tid == 4);
	CHECK_STR(p.thread, "0123456789abcdef");
	CHECK_STR(p.process, "p");
	CHECK_EQ(reader->next(reader, &p, &err), 0);
	reader->close(reader);
}

/* All facts of a recording are written and read back. */
static void a_written_file_reads_back_equal(void)
{
	uint64_t words[3] = {WORD(50, 10), WORD(60, ASSAY_TAG_SWITCH_IN), WORD(70, 12345)};
	struct ctf_writer_facts facts = {
	        {3, 1700000000123456789}, true, "make -j \"2\"", "host", 77, {4100, 18300}};
	char *path = place("back");
	struct tag_names *names = tag_names_new(), *others = tag_names_new();
	struct tag_recording *r;
	struct tag_packet p = {.begin = 40, .end = 80, .words = words, .count = 3};
	struct ctf_writer *w;
	struct error err = {0};
	uint32_t a, b, one, device;

	fill_names(names, others);
	CHECK_EQ(ctf_writer_new(&w, path, &err), 0);
	a = ctf_writer_names(w, names);
	b = ctf_writer_names(w, others);
	CHECK_EQ(ctf_writer_stream(w, a, false, &one, &err), 0);
	CHECK_EQ(ctf_writer_stream(w, b, true, &device, &err), 0);
	write_packets(w, one, device, p);
	CHECK_EQ(ctf_writer_finish(w, &facts, &err), 0);
	ctf_writer_free(w);

	CHECK_EQ(ctf_recording_open(&r, path, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(r->clock.hz, 3);
	/* With a clock slower than a nanosecond, the error is less than a tick. */
	CHECK(llabs(r->clock.offset_ns - 1700000000123456789) < 333333334);
	CHECK_STR(r->command, "make -j \"2\"");
	CHECK(r->switches);
	CHECK_EQ(r->switches_lost, 77);
	check_streams(r, names);
	check_packets(r, words);
	tag_recording_free(r);
	tag_names_free(names);
	tag_names_free(others);
	free(path);
}

static void an_exact_offset_of_a_fast_clock_comes_back(void)
{
	static const int64_t offsets[] = {0, 1, -1, -1700000000999999999, 1700000000999999999};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		struct ctf_writer_facts facts = {.clock = {2595126000u, offsets[i]}};
		char *path = place("offset");
		struct tag_recording *r = NULL;
		struct ctf_writer *w;

		CHECK_EQ(ctf_writer_new(&w, path, NULL), 0);
		CHECK_EQ(ctf_writer_finish(w, &facts, NULL), 0);
		ctf_writer_free(w);
		CHECK_EQ(ctf_recording_open(&r, path, NULL), 0);
		CHECK_EQ(r->clock.offset_ns, offsets[i]);
		CHECK_EQ(r->clock.hz, 2595126000u);
		tag_recording_free(r);
		free(path);
	}
}

/* Many turns of 2^40 ticks in one block of words: only intervals count. */
static void words_of_many_turns_are_cut_into_packets(void)
{
	enum { COUNT = 300000 };
	uint64_t *words = xcalloc(COUNT, sizeof(*words)), *times = xcalloc(COUNT, sizeof(*times));
	uint64_t begin = 0x5ffffff0000000, t = begin, at = 0, packets = 0;
	struct tag_recording *r;
	struct tag_reader *reader;
	struct tag_packet p;
	struct error err = {0};
	char *path;

	for (size_t i = 0; i < COUNT; i++) {
		t += i % 100 == 99 ? 0xffffffffff : random_below(100000);
		times[i] = t;
		words[i] = WORD(t, 2 + random_below(10000));
	}
	path = write_words(words, COUNT, begin);
	CHECK_EQ(ctf_recording_open(&r, path, &err), 0);
	CHECK_EQ(r->open(r, 0, &reader, &err), 0);
	t = 0;
	while (reader->next(reader, &p, &err) == 1) {
		packets++;
		t = p.begin;
		for (size_t i = 0; i < p.count && at < COUNT; i++, at++) {
			t += ((p.words[i] >> 24) - t) & ASSAY_TAGS_CLOCK_MASK;
			CHECK(t == times[at] && p.words[i] == words[at]);
			if (check_failures)
				break;
		}
		CHECK(p.end >= t && p.lost == 0 && !p.gap);
	}
	CHECK_STR(err.text, "");
	CHECK_EQ(at, COUNT);
	CHECK(packets > COUNT / 200 && packets <= COUNT / 50);
	reader->close(reader);
	tag_recording_free(r);
	free(words);
	free(times);
	free(path);
}

/* More streams than descriptors: each gets all of its packets. */
static void streams_outnumber_descriptors(void)
{
	enum { STREAMS = 1000, ROUNDS = 3 };
	struct rlimit before, few = {160, 160};
	char *path = place("streams");
	struct tag_names *names = tag_names_new();
	struct tag_recording *r;
	struct ctf_writer *w;
	struct error err = {0};
	uint32_t stream, set;

	getrlimit(RLIMIT_NOFILE, &before);
	few.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	CHECK_EQ(ctf_writer_new(&w, path, &err), 0);
	set = ctf_writer_names(w, names);
	for (uint32_t i = 0; i < STREAMS; i++)
		CHECK_EQ(ctf_writer_stream(w, set, false, &stream, &err), 0);
	for (uint32_t i = 0; i < STREAMS * ROUNDS; i++) {
		uint64_t word = WORD(1000 + i, 2);
		struct tag_packet p = {.begin = 1000 + i,
		                       .words = &word,
		                       .count = 1,
		                       .tid = (int32_t)(i % STREAMS)};

		CHECK_EQ(ctf_writer_packet(w, i * 7 % STREAMS, &p, &err), 0);
	}
	CHECK_EQ(ctf_writer_finish(w, &plain, &err), 0);
	ctf_writer_free(w);
	CHECK_EQ(ctf_recording_open(&r, path, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(r->streams.count, STREAMS);
	for (uint32_t i = 0; i < STREAMS && !check_failures; i++) {
		struct tag_reader *reader;
		struct tag_packet p;

		CHECK_EQ(r->streams.items[i].id, i);
		CHECK_EQ(r->open(r, i, &reader, &err), 0);
		for (unsigned round = 0; round < ROUNDS; round++) {
			CHECK_EQ(reader->next(reader, &p, &err), 1);
			CHECK_EQ((uint32_t)p.tid * 7 % STREAMS, i);
		}
		CHECK_EQ(reader->next(reader, &p, &err), 0);
		reader->close(reader);
	}
	tag_recording_free(r);
	tag_names_free(names);
	setrlimit(RLIMIT_NOFILE, &before);
	free(path);
}

static int make(const char *path, struct error *err)
{
	struct ctf_writer *w;
	int rc = ctf_writer_new(&w, path, err);

	if (rc)
		return rc;
	rc = ctf_writer_finish(w, &plain, err);
	ctf_writer_free(w);
	return rc;
}

static void an_older_trace_is_kept_and_nothing_else_is_touched(void)
{
	char *path = place("replace"), *old = xasprintf("%s.old", path);
	char *slashed = xasprintf("%s/", path), *mine = xasprintf("%s/mine.txt", old);
	char *metadata = xasprintf("%s/metadata", path), *link = place("link");
	struct error err = {0};
	struct stat st;

	CHECK_EQ(make(path, &err), 0);
	CHECK(!stat(path, &st) && (st.st_mode & 07777) == 0700);
	CHECK(!stat(metadata, &st) && (st.st_mode & 07777) == 0600);
	CHECK(ctf_is_trace(path) && ctf_is_trace(metadata) && !ctf_is_trace(old));
	CHECK_EQ(make(slashed, &err), 0);
	CHECK(ctf_is_trace(old));
	CHECK_EQ(make(path, &err), 0);
	CHECK(ctf_is_trace(old));
	/* Files of other origin are not removed with the trace. */
	put_bytes(mine, "x", 1);
	CHECK_EQ(make(path, &err), -EEXIST);
	CHECK(strstr(err.text, old));
	CHECK(ctf_is_trace(path) && !stat(mine, &st));
	CHECK_EQ(make(old, &err), -EEXIST);
	CHECK_EQ(make(mine, &err), -EEXIST);
	CHECK(!symlink(path, link));
	CHECK_EQ(make(link, &err), -EEXIST);
	CHECK(strstr(err.text, "symbolic link"));
	CHECK_EQ(make("/nowhere/at/all", &err), -ENOENT);
	free(path);
	free(old);
	free(slashed);
	free(mine);
	free(link);
	free(metadata);
}

static void a_trace_that_was_not_finished_is_refused(void)
{
	uint64_t word = WORD(5, 2);
	char *path = write_words(&word, 1, 5), *metadata = xasprintf("%s/metadata", path);
	struct tag_recording *r;
	struct error err = {0};

	CHECK(!unlink(metadata));
	CHECK_EQ(ctf_recording_open(&r, path, &err), -ENOENT);
	CHECK(strstr(err.text, "not finished"));
	free(metadata);
	free(path);
}

/* A file that was truncated at any byte returns its whole packets, and the size of the loss. */
static void a_file_that_was_cut_is_read_as_far_as_it_is_whole(void)
{
	enum { COUNT = 20 };
	uint64_t words[COUNT];
	char *path, *file;
	uint8_t bytes[128 + COUNT * 8];

	for (size_t i = 0; i < COUNT; i++)
		words[i] = WORD(100 + i, 2);
	path = write_words(words, COUNT, 100);
	file = xasprintf("%s/stream_0", path);
	CHECK_EQ(get_bytes(file, bytes, sizeof(bytes)), sizeof(bytes));
	for (size_t size = 1; size <= sizeof(bytes); size++) {
		struct all all = {0};
		size_t whole = size < 128 ? 0 : (size - 128) / 8;

		put_bytes(file, bytes, size);
		CHECK_EQ(read_all(path, 0, &all), 0);
		CHECK_EQ(all.events.count, whole);
		CHECK_EQ(all.lost, size < 128 ? 0 : COUNT - whole);
		CHECK_EQ(all.gaps, size < sizeof(bytes));
		for (size_t i = 0; i < all.events.count; i++)
			CHECK_EQ(all.events.items[i].time, 100 + i);
		all_done(&all);
	}
	free(file);
	free(path);
}

static void a_file_that_becomes_shorter_is_an_error(void)
{
	enum { COUNT = 400000 };
	uint64_t *words = xcalloc(COUNT, sizeof(*words));
	struct tag_reader *reader;
	struct tag_recording *r;
	struct error err = {0};
	struct tag_packet p;
	char *path, *file;
	int rc;

	for (size_t i = 0; i < COUNT; i++)
		words[i] = WORD(100 + i, 2);
	path = write_words(words, COUNT, 100);
	file = xasprintf("%s/stream_0", path);
	CHECK_EQ(ctf_recording_open(&r, path, &err), 0);
	CHECK_EQ(r->open(r, 0, &reader, &err), 0);
	CHECK_EQ(reader->next(reader, &p, &err), 1);
	CHECK_EQ(truncate(file, 4096), 0);
	do
		rc = reader->next(reader, &p, &err);
	while (rc > 0);
	CHECK_EQ(rc, -EIO);
	CHECK(strstr(err.text, file) && strstr(err.text, "became shorter while it was read"));
	reader->close(reader);
	tag_recording_free(r);
	free(file);
	free(path);
	free(words);
}

static void damage_is_named_by_file_and_byte(void)
{
	static const struct {
		size_t at;
		uint8_t byte;
		const char *where, *what;
	} cases[] = {
	        {288, 0, "byte 288", "no packet begins here"},
	        {288 + 4, 9, "byte 288", "the metadata does not declare"},
	        {288 + 24, 7, "byte 288", "less than the packet's own head"},
	        {288 + 33, 0, "byte 288", "packet_size is less"},
	        {288 + 24, 8, "byte 288", "within an event"},
	        {128 + 5 * 8 + 7, 0x80, "byte 176", "earlier"},
	        {16, 101, "byte 280", "later than its packet's end"},
	};
	uint64_t words[20];
	char *path, *file;
	uint8_t bytes[2 * 288];

	for (size_t i = 0; i < 20; i++)
		words[i] = WORD(100 + i, 2);
	path = write_words(words, 20, 100);
	file = xasprintf("%s/stream_0", path);
	CHECK_EQ(get_bytes(file, bytes, sizeof(bytes)), 288);
	memcpy(bytes + 288, bytes, 288);
	bytes[288 + 48] = 1; /* the sequence */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct all all = {0};
		uint8_t was = bytes[cases[i].at];

		bytes[cases[i].at] = cases[i].byte;
		if (cases[i].at == 288 + 24) /* 1 more than whole events; the packet is as long */
			bytes[288 + 25] = cases[i].byte == 7 ? 0 : 5;
		put_bytes(file, bytes, sizeof(bytes));
		CHECK_EQ(read_all(path, 0, &all), -EBADMSG);
		CHECK(strstr(all.err.text, cases[i].where) && strstr(all.err.text, cases[i].what) &&
		      strstr(all.err.text, file));
		if (check_failures)
			printf("# %zu: %s\n", i, all.err.text);
		bytes[cases[i].at] = was;
		bytes[288 + 25] = bytes[25];
		all_done(&all);
	}
	free(file);
	free(path);
}

static void a_sequence_that_jumps_is_a_gap(void)
{
	uint64_t word = WORD(5, 2);
	char *path = write_words(&word, 1, 5), *file = xasprintf("%s/stream_0", path);
	uint8_t bytes[3 * 136 + 50] = {0};
	struct all all = {0};

	CHECK_EQ(get_bytes(file, bytes, 136), 136);
	memcpy(bytes + 136, bytes, 136);
	memcpy(bytes + 272, bytes, 136);
	bytes[136 + 48] = 1;
	bytes[272 + 48] = 3;
	bytes[272 + 40] = 9; /* discarded in all */
	put_bytes(file, bytes, 408);
	CHECK_EQ(read_all(path, 0, &all), 0);
	CHECK_EQ(all.gaps, 1);
	CHECK_EQ(all.lost, 9);
	CHECK_EQ(all.events.count, 3);
	all_done(&all);
	/* Zeros at the end, as after a power failure. */
	put_bytes(file, bytes, sizeof(bytes));
	CHECK_EQ(read_all(path, 0, &all), 0);
	CHECK_EQ(all.gaps, 2);
	CHECK_EQ(all.events.count, 3);
	all_done(&all);
	free(file);
	free(path);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(a_packet_is_as_in_memory);
	RUN(a_written_file_reads_back_equal);
	RUN(an_exact_offset_of_a_fast_clock_comes_back);
	RUN(words_of_many_turns_are_cut_into_packets);
	RUN(streams_outnumber_descriptors);
	RUN(an_older_trace_is_kept_and_nothing_else_is_touched);
	RUN(a_trace_that_was_not_finished_is_refused);
	RUN(a_file_that_was_cut_is_read_as_far_as_it_is_whole);
	RUN(a_file_that_becomes_shorter_is_an_error);
	RUN(damage_is_named_by_file_and_byte);
	RUN(a_sequence_that_jumps_is_a_gap);
	fixture_end();
	return check_end();
}
