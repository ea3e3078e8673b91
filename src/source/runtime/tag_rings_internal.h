/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings_internal: what tag_rings.c (files), tag_rings_read.c (header, rings, text) and
 * tag_rings_packet.c share. Nothing is held.
 * Any thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_TAG_RINGS_INTERNAL_H
#define ASSAY_SOURCE_RUNTIME_TAG_RINGS_INTERNAL_H

#include "base/memory/buf.h"
#include "source/runtime/tag_rings.h"

/* A packet that is to be given, by what its header said. */
struct item {
	uint64_t index;
	uint32_t ring, state;
	uint64_t sequence, begin;
	bool sure; /* it was there at the first of two looks */
};

/* A packet of a ring that is closed and has an empty slot: its trigger may be about to write. */
struct late {
	uint32_t ring;
	uint64_t sequence, since_ns;
	uint64_t newest; /* of the ring, when the waiting began: as old as what was waited for */
	bool over;       /* it was waited for in vain */
	uint64_t look;   /* at the states; in that one what follows in the ring waits, too */
};

/* Which packet, and since when. */
struct retired {
	uint64_t index, since_ns;
};

struct tag_rings {
	char *path;
	int fd;
	struct assay_tags_header header;
	VEC(struct assay_tags_ring) rings;
	VEC(struct assay_tags_off) off; /* when capture was: [off, on), rising */
	struct buf text;
	uint64_t damaged;

	VEC(uint32_t) states, earlier;
	VEC(struct item) items;
	size_t at; /* of items */
	VEC(struct late) late;
	VEC(struct retired) retired; /* the oldest first */
	bool crowded;                /* few packets are free */
	uint64_t look;               /* number of the last look at the states */
	bool ended;                  /* nobody writes any more */
	bool listed;                 /* items are tag_rings_next()'s */
	char *bytes;                 /* a packet */

	/* What of the packet stands behind a time when capture was off. */
	struct tag_rings_packet rest;
	bool has_rest;
};

/* Fewer bytes are given at the file's end alone. */
size_t tag_rings_read_at(int fd, void *into, size_t size, uint64_t offset);

/* Reads and checks the first page; the error names the file. */
int tag_rings_header_read(int fd, struct assay_tags_header *h, const char *path, struct error *err);

/* Packets that are not free, now. */
uint64_t tag_rings_used(struct tag_rings *rings);

#endif
