/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings_internal: private declarations of tag_rings.c (files), tag_rings_read.c (header, rings,
 * text) and tag_rings_packet.c. No state. Any thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_TAG_RINGS_INTERNAL_H
#define ASSAY_SOURCE_RUNTIME_TAG_RINGS_INTERNAL_H

#include "base/memory/buf.h"
#include "source/runtime/tag_rings.h"

/* A packet to be returned, as its header describes it. */
struct item {
	uint64_t index;
	uint32_t ring, state;
	uint64_t sequence, begin;
	bool sure; /* it was closed at the first of the two reads */
};

/* A closed packet with an empty slot, which an interrupted trigger may still write. */
struct late {
	uint32_t ring;
	uint64_t sequence, since_ns;
	uint64_t newest; /* newest sequence number of the ring when the delay began */
	bool over;       /* the delay ended and the slot is still empty */
	uint64_t look;   /* read of the states in which the ring is delayed */
};

/* A packet and the time of its retirement. */
struct retired {
	uint64_t index, since_ns;
};

struct tag_rings {
	char *path;
	int fd;
	struct assay_tags_header header;
	VEC(struct assay_tags_ring) rings;
	VEC(struct assay_tags_off) off; /* when capture was off: [off, on), ascending */
	struct buf text;
	uint64_t damaged;

	VEC(uint32_t) states, earlier;
	VEC(struct item) items;
	size_t at; /* index in items */
	VEC(struct late) late;
	VEC(struct retired) retired; /* oldest first */
	bool crowded;                /* few packets are free */
	uint64_t look;               /* counts the reads of the states */
	bool ended;                  /* the process does not write any more */
	bool listed;                 /* items were listed by tag_rings_next() */
	char *bytes;                 /* one packet */

	/* The part of the packet after a time in which capture was off. */
	struct tag_rings_packet rest;
	bool has_rest;
};

/* Returns fewer than `size` bytes only at the end of the file. */
size_t tag_rings_read_at(int fd, void *into, size_t size, uint64_t offset);

/* Reads and checks the first page; the error names the file. */
int tag_rings_header_read(int fd, struct assay_tags_header *h, const char *path, struct error *err);

/* The present number of packets that are not free. */
uint64_t tag_rings_used(struct tag_rings *rings);

#endif
