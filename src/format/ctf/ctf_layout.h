/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_layout: what lies where in packets of a CTF trace of event tags, and what its
 * tags are called. Internal to format/ctf_*.c.
 *
 * ctf_trace_read() takes the metadata apart (ctf_tsdl.h) and holds it against what a
 * trace of this kind has; the rest is refused with file and line. Offsets are bits from
 * the packet's begin. ctf_trace_done(). Then read-only, any thread. Uses: base, trace.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_LAYOUT_H
#define ASSAY_FORMAT_CTF_CTF_LAYOUT_H

#include "base/memory/hash.h"
#include "format/ctf/ctf_tsdl.h"
#include "tags/tag_stream.h"

/* Strings in a packet's context, at most, and bytes of one: no name is as long. */
#define CTF_STRINGS_MAX 8u
#define CTF_STRING_MAX 4096u

/*
 * An integer, or a text: `count` bytes from a byte on, or a string (count 0), which ends
 * before a byte of 0. bits == 0: there is none.
 */
struct ctf_place {
	uint64_t at; /* from the end of the last string before it; of event.header's: from the
	                event's begin */
	uint32_t bits;
	uint32_t count;
	uint32_t strings; /* before it, in the packet */
	bool big;
};

struct ctf_class_layout {
	uint64_t id;
	bool device;
	uint64_t fixed_bits; /* packet header and context together, behind the last string */
	struct ctf_place strings[CTF_STRINGS_MAX]; /* of the context */
	uint32_t string_count;
	struct ctf_place begin, end, content, packet, discarded, sequence;
	struct ctf_place pid, tid, flags, thread, process;
	/* Events: the first at first_bits (from the end of the last string on), each `stride`
	 * behind the one before. */
	uint64_t first_bits, stride, event_bits;
	struct ctf_place tag, time;
	bool words; /* are words as in assay/tags_wire.h, of our own making */
};

struct ctf_trace {
	struct ctf_place magic, stream_id;
	uint64_t header_bits;
	VEC(struct ctf_class_layout) classes;
	struct id_table by_id;
	bool ours;                     /* assay wrote it */
	VEC(struct tag_names *) names; /* of each class; whoever takes them clears the list */
	struct tag_clock clock;
	bool switches;
	uint64_t switches_lost;
	char *command; /* NULL: not known; likewise */
};

/* `path`: for errors. */
int ctf_trace_read(struct ctf_trace *t, const char *text, size_t length, const char *path,
                   struct error *err);
void ctf_trace_done(struct ctf_trace *t);

/* The class of a stream's id; ID_NONE: none. */
uint32_t ctf_class_find(const struct ctf_trace *t, uint64_t id);

/* Gives every class its names. */
int ctf_events_name(struct ctf_trace *t, const struct ctf_metadata *m, struct error *err);

/* Reads an integer at bit `at`; the 16 bytes from its first on must be readable. */
static inline uint64_t ctf_bits(const uint8_t *base, uint64_t at, uint32_t bits, bool big)
{
	const uint8_t *p = base + at / 8;
	unsigned shift = at % 8;
	uint64_t low, high;

	__builtin_memcpy(&low, p, 8);
	if (big) /* whole bytes: ctf_layout.c sees to it */
		return __builtin_bswap64(low) >> (64 - bits);
	if (shift) {
		__builtin_memcpy(&high, p + 8, 8);
		low = low >> shift | high << (64 - shift);
	}
	return bits < 64 ? low & ((1ull << bits) - 1) : low;
}

#endif
