/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_layout: the places of fields in packets of a CTF trace of event tags, and the names of its
 * tags. Internal to format/ctf_*.c.
 *
 * ctf_trace_read() parses the metadata (ctf_tsdl.h) and checks that the trace is of this kind;
 * other traces are refused with file and line. Offsets are bits from the beginning of the packet.
 * ctf_trace_done(). After that it is read-only, for any thread. Uses: base, tags.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_LAYOUT_H
#define ASSAY_FORMAT_CTF_CTF_LAYOUT_H

#include "base/memory/hash.h"
#include "format/ctf/ctf_tsdl.h"
#include "tags/tag_stream.h"

/* Maximum number of strings in a packet's context, and maximum bytes of a string. */
#define CTF_STRINGS_MAX 8u
#define CTF_STRING_MAX 4096u

/*
 * An integer; or a text: `count` bytes, or a string that ends before a byte of 0 (count 0). bits ==
 * 0: the field does not exist.
 */
struct ctf_place {
	/* Relative to the end of the preceding string; in event.header: to the event */
	uint64_t at;
	uint32_t bits;
	uint32_t count;
	uint32_t strings; /* number of strings before it in the packet */
	bool big;
};

struct ctf_class_layout {
	uint64_t id;
	bool device;
	uint64_t fixed_bits; /* size of packet header and context after the last string */
	struct ctf_place strings[CTF_STRINGS_MAX]; /* of the context */
	uint32_t string_count;
	struct ctf_place begin, end, content, packet, discarded, sequence;
	struct ctf_place pid, tid, flags, thread, process;
	/*
	 * Places of events: the first event is at first_bits from the end of the last string, and
	 * the distance between two events is `stride`.
	 */
	uint64_t first_bits, stride, event_bits;
	struct ctf_place tag, time;
	bool words; /* events are words as in assay/tags_wire.h */
};

struct ctf_trace {
	struct ctf_place magic, stream_id;
	uint64_t header_bits;
	VEC(struct ctf_class_layout) classes;
	struct id_table by_id;
	bool ours; /* written by assay */
	/* Names of each class. A caller that takes ownership of them clears the list. */
	VEC(struct tag_names *) names;
	struct tag_clock clock;
	bool switches;
	uint64_t switches_lost;
	struct tag_trigger_cost trigger;
	char *command, *host; /* NULL: unknown; a caller that takes ownership sets them to NULL */
};

/* `path`: for errors. */
int ctf_trace_read(struct ctf_trace *t, const char *text, size_t length, const char *path,
                   struct error *err);
void ctf_trace_done(struct ctf_trace *t);

/* The class of a stream id; ID_NONE: none. */
uint32_t ctf_class_find(const struct ctf_trace *t, uint64_t id);

/* Sets the names of each class. */
int ctf_events_name(struct ctf_trace *t, const struct ctf_metadata *m, struct error *err);

/* Reads an integer at bit `at`; 16 bytes from its first byte must be readable. */
static inline uint64_t ctf_bits(const uint8_t *base, uint64_t at, uint32_t bits, bool big)
{
	const uint8_t *p = base + at / 8;
	unsigned shift = at % 8;
	uint64_t low, high;

	__builtin_memcpy(&low, p, 8);
	if (big) /* whole bytes, as ctf_layout.c checks */
		return __builtin_bswap64(low) >> (64 - bits);
	if (shift) {
		__builtin_memcpy(&high, p + 8, 8);
		low = low >> shift | high << (64 - shift);
	}
	return bits < 64 ? low & ((1ull << bits) - 1) : low;
}

#endif
