/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_stream: model two of event tags: packets of words in order, and where they
 * come from.
 *
 * A recording has streams, each one CPU's or one thread's events in time order;
 * its packets come as blocks of words, one at a time, whatever the source (a CTF
 * trace, a live ring, a test). A word is as in assay/tags_wire.h: tag in bits
 * 0..23, the clock's low 40 bits above. Words of 0 are no events.
 *
 * The time of a packet's first word lies less than a turn of the clock at or after
 * `begin`; of each next word less than a turn at or after that of the one before:
 *	t += ((word >> 24) - t) & ASSAY_TAGS_CLOCK_MASK
 *
 * tag_recording_open() is a format's (format/ctf.h). A reader of a stream is
 * opened, asked for packets until 0, and closed; several may be open at once, in
 * several threads, also of one stream. 0 or -errno. Uses: base, include/assay.
 */
#ifndef ASSAY_TRACE_TAG_STREAM_H
#define ASSAY_TRACE_TAG_STREAM_H

#include "base/error.h"
#include "base/vec.h"
#include "trace/tag_names.h"

#include "assay/tags_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct tag_clock {
	uint64_t hz;       /* ticks in a second */
	int64_t offset_ns; /* of tick 0 since 1970; INT64_MIN: not known */
};

struct tag_packet {
	uint64_t begin, end;   /* ticks; end: of its last event or later */
	const uint64_t *words; /* until the next packet is asked for */
	size_t count;
	uint64_t lost;    /* events that were discarded since the packet before */
	bool gap;         /* what is open is not known: events are missing before it */
	bool forked;      /* the first of a fork's child */
	int32_t pid, tid; /* 0: not known */
	char thread[17], process[17];
};

/* One reader of one stream. */
struct tag_reader {
	/* 1: *packet is filled; 0: the end; or -errno. */
	int (*next)(struct tag_reader *r, struct tag_packet *packet, struct error *err);
	void (*close)(struct tag_reader *r);
};

struct tag_stream {
	uint32_t id;      /* from 0, dense */
	bool device;      /* one CPU's, of several processes: `!` functions part them */
	int32_t pid, tid; /* of its first packet; a stream may hold several threads */
	char process[17], thread[17];
	const struct tag_names *names; /* the recording's to free */
	uint64_t begin;                /* ticks: of its first packet */
	uint64_t bytes;                /* about how much there is to read, for progress */
};

struct tag_recording {
	struct tag_clock clock;
	VEC(struct tag_stream) streams;
	VEC(struct tag_names *) names; /* each may serve several streams */
	bool switches;                 /* switches of threads are recorded (the reserved tags) */
	uint64_t switches_lost;        /* but for so many */
	char *path, *command;          /* command: NULL: not known */
	/* The format's. */
	int (*open)(struct tag_recording *r, uint32_t stream, struct tag_reader **reader,
	            struct error *err);
	void (*free)(struct tag_recording *r);
};

static inline void tag_recording_free(struct tag_recording *r)
{
	if (r)
		r->free(r);
}

/* Ticks as ns, without overflow up to 584 years. */
static inline uint64_t tag_clock_ns(const struct tag_clock *c, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000u / c->hz);
}

#endif
