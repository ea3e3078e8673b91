/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed streams that are truncated or damaged. test_ctf_random.c has whole ones. */
#include "format/ctf/ctf_packed.h"

#include "check.h"
#include "ctf_fixture.h"

#include <errno.h>

enum { WORDS = 100 };

/* A trace with two blocks; returns the size of its stream. */
static size_t make_trace(const char *path, uint8_t *bytes, size_t room)
{
	struct ctf_writer_facts facts = {{1000000000, 0}, false, NULL, NULL, 0, {0}};
	struct tag_names *names = tag_names_new();
	char *file = xasprintf("%s/stream_0", path);
	struct ctf_writer *w;
	struct error err = {0};
	uint32_t stream;
	size_t size;

	CHECK_EQ(ctf_writer_new(&w, path, &err), 0);
	ctf_writer_compress(w);
	CHECK_EQ(ctf_writer_stream(w, ctf_writer_names(w, names), false, &stream, &err), 0);
	for (unsigned k = 0; k < 2; k++) {
		uint64_t words[WORDS], from = (1ull << 41) + k * 100000;
		struct tag_packet p = {.begin = from,
		                       .end = from + 99 * 7,
		                       .words = words,
		                       .count = WORDS,
		                       .tid = 5};

		for (unsigned i = 0; i < WORDS; i++)
			words[i] = WORD(from + i * 7, 2 + i % 2);
		CHECK_EQ(ctf_writer_packet(w, stream, &p, &err), 0);
	}
	CHECK_EQ(ctf_writer_finish(w, &facts, &err), 0);
	CHECK_STR(err.text, "");
	ctf_writer_free(w);
	tag_names_free(names);
	size = get_bytes(file, bytes, room);
	free(file);
	return size;
}

static size_t block_size(const uint8_t *bytes)
{
	struct ctf_packed_head head;

	memcpy(&head, bytes, sizeof(head));
	return sizeof(head) + sizeof(struct assay_tags_packet) + head.packed;
}

static void a_file_that_was_cut_is_read_up_to_its_last_block(void)
{
	char *path = place("cut"), *file = place("cut/stream_0");
	uint8_t bytes[4096];
	size_t size = make_trace(path, bytes, sizeof(bytes)), first = block_size(bytes);

	CHECK(first < size && ctf_is_packed(bytes, size));
	for (size_t cut = first; cut < size; cut++) {
		/* The number of missing events is known from the heads on. */
		bool known = cut >= first + sizeof(struct ctf_packed_head) +
		                            sizeof(struct assay_tags_packet);
		struct all all = {0};

		put_bytes(file, bytes, cut);
		CHECK_EQ(read_all(path, 0, &all), 0);
		CHECK_EQ(all.events.count, WORDS);
		CHECK_EQ(all.lost, known ? WORDS : 0);
		CHECK_EQ(all.gaps, cut > first);
		all_done(&all);
	}
	free(path);
	free(file);
}

static void zeros_at_the_end_are_a_cut(void)
{
	char *path = place("zeros"), *file = place("zeros/stream_0");
	uint8_t bytes[4096] = {0};
	size_t size = make_trace(path, bytes, sizeof(bytes));
	struct all all = {0};

	memset(bytes + size, 0, 64);
	put_bytes(file, bytes, size + 64);
	CHECK_EQ(read_all(path, 0, &all), 0);
	CHECK_EQ(all.events.count, 2 * WORDS);
	CHECK_EQ(all.gaps, 1);
	all_done(&all);
	free(path);
	free(file);
}

/* Any changed byte of a frame is found, by its checksum at the latest. */
static void damage_is_named_by_file_and_byte(void)
{
	char *path = place("damaged"), *file = place("damaged/stream_0"), *at;
	uint8_t bytes[4096];
	size_t size = make_trace(path, bytes, sizeof(bytes)), first = block_size(bytes);
	size_t frame = first + sizeof(struct ctf_packed_head) + sizeof(struct assay_tags_packet);
	struct all all = {0};

	at = xasprintf("stream_0: byte %zu: ", first);
	for (size_t i = frame; i < size; i++) {
		bytes[i] ^= 0x40;
		put_bytes(file, bytes, size);
		CHECK_EQ(read_all(path, 0, &all), -EBADMSG);
		CHECK(strstr(all.err.text, at) != NULL);
		all_done(&all);
		bytes[i] ^= 0x40;
	}
	bytes[first + 4] ^= 1; /* the number of events: it contradicts the packet's head */
	put_bytes(file, bytes, size);
	CHECK_EQ(read_all(path, 0, &all), -EBADMSG);
	all_done(&all);
	free(at);
	free(path);
	free(file);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(a_file_that_was_cut_is_read_up_to_its_last_block);
	RUN(zeros_at_the_end_are_a_cut);
	RUN(damage_is_named_by_file_and_byte);
	fixture_end();
	return check_end();
}
