/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings: the event tags of running (and ended) processes: their files found,
 * switched, copied, drained.
 *
 * Files PID-BIRTH-N.tags lie in $ASSAY_TAGS_DIR or where runtime_files.h says. What a
 * process wrote is not trusted: every offset, size and count is checked against the
 * file, which is read and never mapped: it may be cut short at any moment. 0 or -errno.
 * One thread an object. Uses: base, include/assay/tags_wire.h.
 *
 *	tag_rings_open()	a file
 *	tag_rings_look()	what its header and rings say now
 *	tag_rings_drain()	STREAM: packets that are whole, taken
 *	tag_rings_next()	all packets that are there, left there
 *	tag_rings_close()
 *
 * Of a packet come the events that count: not what a thread wrote on while capture was
 * off (header.offs), and no void ones.
 */
#ifndef ASSAY_SOURCE_RUNTIME_TAG_RINGS_H
#define ASSAY_SOURCE_RUNTIME_TAG_RINGS_H

#include "assay/tags_wire.h"
#include "base/error.h"
#include "base/memory/vec.h"
#include "source/runtime/runtime_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tag_rings_file {
	struct runtime_file file;
	char name[65], command[513];
	unsigned number;      /* free numbers are used again: they tell no order of programs */
	uint64_t first_ticks; /* when the program began, by the clock of the events */
	uint32_t mode, flags;
	bool capture;
	bool several; /* running processes that may have written it: of several namespaces */
	uint64_t packets, room; /* in use; at most */
	uint64_t discarded;
};

typedef VEC(struct tag_rings_file) tag_rings_list;

extern const struct shared_kind tag_rings_kind;

int tag_rings_directory(char **path, bool make, struct error *err);
/* Oldest first. A directory that is not there has none. */
int tag_rings_list_read(tag_rings_list *list, const char *directory, struct error *err);
void tag_rings_list_done(tag_rings_list *list);

int tag_rings_capture(const struct tag_rings_file *file, bool on, struct error *err);
int tag_rings_remove(const struct tag_rings_file *file, struct error *err);

struct tag_rings;

int tag_rings_open(struct tag_rings **rings, const char *path, struct error *err);
void tag_rings_close(struct tag_rings *rings);

/* Reads header and rings anew. Before it, they are as at tag_rings_open(). */
int tag_rings_look(struct tag_rings *rings, struct error *err);
const struct assay_tags_header *tag_rings_header(const struct tag_rings *rings);
/* Those that were ever in use. */
size_t tag_rings_count(const struct tag_rings *rings);
const struct assay_tags_ring *tag_rings_at(const struct tag_rings *rings, size_t i);
/* The names written as of the last look, as in a names file; until the next call. */
const char *tag_rings_text(struct tag_rings *rings, size_t *length);
/* Packets that were left out so far, for what stands in them cannot be. */
uint64_t tag_rings_damaged(const struct tag_rings *rings);

/* A packet, copied: header checked and completed, words without the zeros at the end. */
struct tag_rings_packet {
	uint32_t ring;
	struct assay_tags_packet header; /* content_bits, end as the words say */
	const uint64_t *words;           /* until the next call */
	size_t count;
	uint64_t holes; /* slots that were reserved and not written */
	bool open;      /* its thread still writes (or was killed doing so) */
};

/*
 * STREAM: the next closed packet, of any ring, each ring's in order; it is free for the
 * process after that. One with an empty slot waits for it to be written, a second at most,
 * and less where few are free.
 * 1, 0: none now, or -errno.
 */
int tag_rings_drain(struct tag_rings *rings, struct tag_rings_packet *packet, struct error *err);

/* Nobody writes to it any more: nothing waits. */
void tag_rings_ended(struct tag_rings *rings);

/* All packets that are there, without taking them: ring by ring, in order; open ones too. 1, 0. */
int tag_rings_next(struct tag_rings *rings, struct tag_rings_packet *packet, struct error *err);
void tag_rings_rewind(struct tag_rings *rings);

#endif
