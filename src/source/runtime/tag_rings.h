/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings: the event tags of running and exited processes: finds, switches, copies and drains
 * their files.
 *
 * A file in a list is `running` while its process holds the lock on it (docs/adr/0133); on a file
 * system without locks, while /proc has the process.
 *
 * Files PID-BIRTH-N.tags are in $ASSAY_TAGS_DIR or in the directory of runtime_files.h. Their
 * contents are not trusted: each offset, size and count is checked against the file. The file is
 * read and not mapped, because it may be truncated at any time. Functions return 0 or -errno. One
 * thread for each object. Uses: base, include/assay/tags_wire.h.
 *
 *	tag_rings_open()	opens a file
 *	tag_rings_look()	reads the present header and rings
 *	tag_rings_drain()	STREAM: returns complete packets and frees them
 *	tag_rings_next()	returns all packets and keeps them
 *	tag_rings_close()
 *
 * Void events, and events that a thread wrote while capture was off (header.offs), are removed from
 * the packets.
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
	unsigned number;      /* numbers are reused, so they do not show the order of programs */
	uint64_t first_ticks; /* start of the program, by the clock of the events */
	uint32_t mode, flags;
	bool capture;
	bool several; /* several running processes, of different namespaces, may have written it */
	uint64_t packets, room; /* packets in use, and the maximum */
	uint64_t discarded;
};

typedef VEC(struct tag_rings_file) tag_rings_list;

extern const struct shared_kind tag_rings_kind;

int tag_rings_directory(char **path, bool make, struct error *err);
/* Oldest first; none if the directory does not exist. */
int tag_rings_list_read(tag_rings_list *list, const char *directory, struct error *err);
void tag_rings_list_done(tag_rings_list *list);

int tag_rings_capture(const struct tag_rings_file *file, bool on, struct error *err);
int tag_rings_remove(const struct tag_rings_file *file, struct error *err);

struct tag_rings;

int tag_rings_open(struct tag_rings **rings, const char *path, struct error *err);
void tag_rings_close(struct tag_rings *rings);

/* Reads header and rings again. Before the first call they are those of tag_rings_open(). */
int tag_rings_look(struct tag_rings *rings, struct error *err);
const struct assay_tags_header *tag_rings_header(const struct tag_rings *rings);
/* The number of rings that were ever in use. */
size_t tag_rings_count(const struct tag_rings *rings);
const struct assay_tags_ring *tag_rings_at(const struct tag_rings *rings, size_t i);
/* The names at the last read, in the format of a names file; valid until the next call. */
const char *tag_rings_text(struct tag_rings *rings, size_t *length);
/* The number of packets that were skipped because their contents are invalid. */
uint64_t tag_rings_damaged(const struct tag_rings *rings);

/* A copied packet: the header is checked and complete, and zeros at the end are removed. */
struct tag_rings_packet {
	uint32_t ring;
	struct assay_tags_packet header; /* content_bits and end match the words */
	const uint64_t *words;           /* valid until the next call */
	size_t count;
	uint64_t holes; /* slots that were reserved and never written */
	bool open;      /* its thread still writes to it, or was killed while writing */
};

/*
 * STREAM: returns the next closed packet of any ring and frees it; the packets of one ring are in
 * order. A packet with an empty slot is delayed until the slot is written, for at most one second,
 * and for less if few packets are free. Returns 1, 0 (none now) or -errno.
 */
int tag_rings_drain(struct tag_rings *rings, struct tag_rings_packet *packet, struct error *err);

/*
 * STREAM: sets the time of the drainer's latest visit, for waiting threads. 0: the drainer leaves,
 * so threads discard events.
 */
void tag_rings_visit(struct tag_rings *rings, uint64_t ticks);

/* The process has exited, so packets are not delayed any more. */
void tag_rings_ended(struct tag_rings *rings);

/*
 * Returns all packets without freeing them, open ones too: ring by ring, in order. Returns 1 or 0.
 */
int tag_rings_next(struct tag_rings *rings, struct tag_rings_packet *packet, struct error *err);
void tag_rings_rewind(struct tag_rings *rings);

#endif
