/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings_fixture: a file of event tags in a buffer: header, two rings, four states, text, four
 * packets. Tests set its fields one by one.
 */
#ifndef ASSAY_TESTS_TAG_RINGS_FIXTURE_H
#define ASSAY_TESTS_TAG_RINGS_FIXTURE_H

#include "assay/tags_wire.h"
#include "check.h"
#include "fixture.h"
#include "source/runtime/tag_rings.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TF_PACKETS 4u
#define TF_BYTES 1024u /* of a packet: 112 words */
#define TF_RINGS_AT ASSAY_TAGS_PAGE
#define TF_STATES_AT (TF_RINGS_AT + 2 * sizeof(struct assay_tags_ring))
#define TF_TEXT_AT (TF_STATES_AT + TF_PACKETS * sizeof(uint32_t))
#define TF_PACKETS_AT (TF_TEXT_AT + 64)
#define TF_SIZE (TF_PACKETS_AT + TF_PACKETS * TF_BYTES)

struct tf {
	_Alignas(8) char bytes[TF_SIZE];
};

static inline struct assay_tags_header *tf_header(struct tf *f)
{
	return (struct assay_tags_header *)f->bytes;
}

static inline struct assay_tags_ring *tf_ring(struct tf *f, unsigned i)
{
	return (struct assay_tags_ring *)(f->bytes + TF_RINGS_AT) + i;
}

static inline uint32_t *tf_state(struct tf *f, unsigned i)
{
	return (uint32_t *)(f->bytes + TF_STATES_AT) + i;
}

static inline struct assay_tags_packet *tf_packet(struct tf *f, unsigned i)
{
	return (struct assay_tags_packet *)(f->bytes + TF_PACKETS_AT + i * TF_BYTES);
}

static inline uint64_t *tf_words(struct tf *f, unsigned i)
{
	return (uint64_t *)(tf_packet(f, i) + 1);
}

static inline uint64_t tf_word(uint64_t time, uint32_t tag)
{
	return time << ASSAY_TAGS_TAG_BITS | tag;
}

static inline struct tf *tf_new(enum assay_tags_mode mode)
{
	struct tf *f = calloc(1, sizeof(*f));
	struct assay_tags_header *h = tf_header(f);

	memcpy(h->magic, ASSAY_TAGS_MAGIC, sizeof(h->magic));
	h->version = ASSAY_TAGS_VERSION;
	h->header_bytes = ASSAY_TAGS_PAGE;
	h->mode = mode;
	h->capture = 1;
	h->packet_bytes = TF_BYTES;
	h->rings_offset = TF_RINGS_AT;
	h->states_offset = TF_STATES_AT;
	h->text_offset = TF_TEXT_AT;
	h->packets_offset = TF_PACKETS_AT;
	h->packet_count = TF_PACKETS;
	h->ring_count = 2;
	h->pid = 12;
	h->birth = 34;
	h->start_ns = 1000;
	h->first = (struct assay_calls_moment){1000, 1000};
	snprintf(h->name, sizeof(h->name), "prog");
	snprintf(h->command, sizeof(h->command), "prog -x");
	h->text_bytes = (uint64_t)snprintf(f->bytes + TF_TEXT_AT, 64, "main/2\nleaf/4\n");
	return f;
}

/* A packet of ring `ring` with `count` events of tag `tag`, at begin, begin + 1, ... */
static inline void tf_fill(struct tf *f, unsigned i, unsigned ring, uint64_t sequence,
                           uint64_t begin, unsigned count, uint32_t tag)
{
	struct assay_tags_packet *p = tf_packet(f, i);

	memset(p, 0, TF_BYTES);
	p->magic = ASSAY_CTF_MAGIC;
	p->begin = begin;
	p->end = begin + count - 1;
	p->content_bits = (sizeof(*p) + count * 8) * 8;
	p->packet_bits = TF_BYTES * 8;
	p->sequence = sequence;
	p->pid = 12;
	p->tid = 12 + (int32_t)ring;
	p->reserved[0] = ring;
	for (unsigned w = 0; w < count; w++)
		tf_words(f, i)[w] = tf_word(begin + w, tag);
	*tf_state(f, i) = ASSAY_TAGS_CLOSED;
}

/* Writes the file into the directory of the test; its path. */
static inline const char *tf_put(const struct tf *f)
{
	CHECK(fixture_write("12-34-0.tags", f->bytes, sizeof(f->bytes)));
	return fixture_path("12-34-0.tags");
}

static inline struct tag_rings *tf_open(const struct tf *f)
{
	struct tag_rings *rings = NULL;
	struct error err = {0};

	CHECK_EQ(tag_rings_open(&rings, tf_put(f), &err), 0);
	CHECK_STR(err.text, "");
	return rings;
}

#endif
