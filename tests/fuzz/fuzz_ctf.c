/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a CTF trace: metadata, then a line "%%", then a stream file. The result is bounded
 * by the file's size, in pieces that follow the rules of tags/tag_stream.h; a trace that is read
 * completely can be written, compressed or not, and has the same events when it is read again.
 */
#include "format/ctf/ctf.h"

#include "fuzz_directory.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Events per byte: a compressed block has at most 131072 events in some 150 bytes. */
#define EXPANDED_MOST 1024

struct sum {
	uint64_t events, last, mixed, lost;
};

static uint64_t walk(const struct tag_packet *p, struct sum *sum)
{
	uint64_t t = p->begin;

	for (size_t i = 0; i < p->count; i++) {
		t += ((p->words[i] >> ASSAY_TAGS_TAG_BITS) - t) & ASSAY_TAGS_CLOCK_MASK;
		if (!p->words[i])
			continue;
		sum->events++;
		sum->last = t;
		sum->mixed = (sum->mixed ^ t ^ (p->words[i] & ASSAY_TAGS_TAG_MASK)) *
		             0x9e3779b97f4a7c15u;
	}
	sum->lost += p->lost;
	return t;
}

/* Returns 0 if the stream was read to the end. `to`: NULL, or the writer of a copy. */
static int read_stream(struct tag_recording *r, uint64_t size, struct ctf_writer *to,
                       uint32_t stream, struct sum *sum)
{
	struct tag_reader *reader;
	struct tag_packet p;
	struct error err = {0};
	int rc;

	if (r->open(r, 0, &reader, &err))
		abort();
	while ((rc = reader->next(reader, &p, &err)) == 1) {
		uint64_t t = walk(&p, sum);

		/* Times near the end of 64 bits may wrap around. */
		if ((p.end < t && t >= p.begin) || p.thread[16] || p.process[16] ||
		    sum->events > size * EXPANDED_MOST)
			abort();
		if (to && ctf_writer_packet(to, stream, &p, &err))
			abort();
	}
	if (rc && !err.text[0])
		abort();
	reader->close(reader);
	return rc;
}

static void write_again(struct tag_recording *r, uint64_t size)
{
	struct ctf_writer_facts facts = {.clock = r->clock, .switches = r->switches};
	struct sum one = {0}, other = {0};
	struct tag_recording *copy;
	struct ctf_writer *w;
	char path[128];
	uint32_t stream;
	int rc;

	snprintf(path, sizeof(path), "%s/copy", fuzz_directory_get());
	if (ctf_writer_new(&w, path, NULL) ||
	    ctf_writer_stream(w, ctf_writer_names(w, r->streams.items[0].names), false, &stream,
	                      NULL))
		abort();
	if (size % 2)
		ctf_writer_compress(w);
	rc = read_stream(r, size, w, stream, &one);
	if (ctf_writer_finish(w, &facts, NULL))
		abort();
	ctf_writer_free(w);
	if (rc || ctf_recording_open(&copy, path, NULL))
		return; /* times that wrap around cannot be read again */
	if (copy->streams.count) {
		if (tag_names_count(copy->streams.items[0].names) !=
		    tag_names_count(r->streams.items[0].names))
			abort();
		if (!read_stream(copy, UINT64_MAX / EXPANDED_MOST, NULL, 0, &other) &&
		    (one.events != other.events || one.mixed != other.mixed ||
		     one.lost != other.lost))
			abort();
	}
	tag_recording_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *cut = memmem(bytes, size, "\n%%\n", 4);
	size_t text = cut ? (size_t)(cut - bytes) : size;
	struct tag_recording *r;
	struct error err = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/in", fuzz_directory_get());
	mkdir(path, 0700);
	fuzz_put("in/metadata", bytes, text, path);
	fuzz_put("in/stream_0", cut ? cut + 4 : bytes, cut ? size - text - 4 : 0, path);
	snprintf(path, sizeof(path), "%s/in", fuzz_directory_get());
	if (ctf_recording_open(&r, path, &err)) {
		if (!err.text[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < r->names.count; i++)
		tag_names_show(r->names.items[i], NULL);
	if (r->streams.count)
		write_again(r, size);
	tag_recording_free(r);
	return 0;
}
