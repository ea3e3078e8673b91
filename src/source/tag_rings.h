/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings: the event tags of running (and ended) processes: their files found,
 * switched, copied, drained.
 *
 * Files PID-BIRTH-N.tags lie in a directory (0700, this user's): $ASSAY_TAGS_DIR, else
 * $XDG_RUNTIME_DIR/assay/tags, else /run/assay/tags for root, else
 * /tmp/assay-UID/tags; runtime/linux/place.h makes the same choice. Others' files and
 * links are left alone. What a process wrote is not trusted: every offset, size and count
 * is checked against the file. 0 or -errno. One thread an object. Uses: base,
 * include/assay/tags_wire.h.
 */
#ifndef ASSAY_SOURCE_TAG_RINGS_H
#define ASSAY_SOURCE_TAG_RINGS_H

#include "assay/tags_wire.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tag_rings_file {
	char *path;
	int32_t pid;
	uint64_t birth;
	char name[65], command[513];
	uint32_t mode, flags;
	bool running, capture;
	uint64_t packets, discarded, start_ns;
};

typedef VEC(struct tag_rings_file) tag_rings_list;

int tag_rings_directory(char **path, bool make, struct error *err);
/* Oldest first. A directory that is not there has none. */
int tag_rings_list_read(tag_rings_list *list, const char *directory, struct error *err);
void tag_rings_list_done(tag_rings_list *list);

int tag_rings_capture(const struct tag_rings_file *file, bool on, struct error *err);
int tag_rings_remove(const struct tag_rings_file *file, struct error *err);

struct tag_rings;

int tag_rings_open(struct tag_rings **rings, const char *path, struct error *err);
void tag_rings_close(struct tag_rings *rings);
const struct assay_tags_header *tag_rings_header(const struct tag_rings *rings);
/* The names written so far, as in a names file; until the next call. */
const char *tag_rings_text(struct tag_rings *rings, size_t *length);

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
 * process after that. 1, 0: none now, or -errno.
 */
int tag_rings_drain(struct tag_rings *rings, struct tag_rings_packet *packet, struct error *err);

/* All packets that are there, without taking them: ring by ring, in order; open ones too. 1, 0. */
int tag_rings_next(struct tag_rings *rings, struct tag_rings_packet *packet, struct error *err);
void tag_rings_rewind(struct tag_rings *rings);

#endif
