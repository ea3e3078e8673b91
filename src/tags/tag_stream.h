/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_stream: the model of a recording of event tags: packets of words in order, and their source.
 *
 * A recording has streams. A stream has the events of one CPU or one thread in time order. Its
 * packets are read one at a time, as blocks of words, from any source (a CTF trace, a live ring, a
 * test). A word has the form of assay/tags_wire.h: the tag in bits 0..23, the low 40 bits of the
 * clock above. Words of 0 are not events.
 *
 * The time of a packet's first word is less than one turn of the clock after `begin`, or equal to
 * it; the time of each further word likewise relative to the word before:
 *	t += ((word >> 24) - t) & ASSAY_TAGS_CLOCK_MASK
 *
 * tag_recording_open() belongs to a format (format/ctf/ctf.h). A reader of a stream is opened, read
 * until it returns 0, and closed. Several readers may be open at the same time, in several threads,
 * also for one stream. Functions return 0 or -errno. Uses: base, include/assay.
 */
#ifndef ASSAY_TAGS_TAG_STREAM_H
#define ASSAY_TAGS_TAG_STREAM_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "tags/tag_names.h"

#include "assay/tags_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct tag_clock {
	uint64_t hz;       /* ticks per second */
	int64_t offset_ns; /* time of tick 0 since 1970; INT64_MIN: unknown */
};

struct tag_packet {
	uint64_t begin, end;   /* ticks; end: time of its last event or later */
	const uint64_t *words; /* valid until the next packet is read */
	size_t count;
	uint64_t lost;    /* events discarded since the packet before */
	bool gap;         /* the open calls are unknown: events are missing before this packet */
	bool forked;      /* the first packet of a fork's child */
	int32_t pid, tid; /* 0: unknown */
	char thread[17], process[17];
};

/* A reader of one stream. */
struct tag_reader {
	/* 1: *packet is filled; 0: end of the stream; or -errno. */
	int (*next)(struct tag_reader *r, struct tag_packet *packet, struct error *err);
	void (*close)(struct tag_reader *r);
};

struct tag_stream {
	uint32_t id;      /* from 0, dense */
	bool device;      /* a CPU with several processes, separated by `!` functions */
	int32_t pid, tid; /* of its first packet; a stream may hold several threads */
	char process[17], thread[17];
	const struct tag_names *names; /* owned by the recording */
	uint64_t begin;                /* ticks: of its first packet */
	uint64_t bytes;                /* approximate size of the stream, for progress and
	                                * scheduling */
};

/* The part of the time between two events that is the trigger's; zeros: unknown. */
struct tag_trigger_cost {
	uint64_t least_ps, most_ps;
};

struct tag_recording {
	struct tag_clock clock;
	struct tag_trigger_cost trigger;
	VEC(struct tag_stream) streams;
	VEC(struct tag_names *) names; /* each may belong to several streams */
	bool switches;                 /* switches of threads are recorded (as reserved tags) */
	uint64_t switches_lost;        /* number of switches that were lost */
	char *path;
	char *command, *host; /* NULL: unknown */
	/* Functions of the format. */
	int (*open)(struct tag_recording *r, uint32_t stream, struct tag_reader **reader,
	            struct error *err);
	void (*free)(struct tag_recording *r);
};

static inline void tag_recording_free(struct tag_recording *r)
{
	if (r)
		r->free(r);
}

/* Whether the code is a Linux kernel: all streams are of CPUs, and a function that only the kernel
 * has switches the processes. */
static inline bool tag_recording_of_kernel(const struct tag_recording *r)
{
	vec_each (stream, &r->streams)
		if (!stream->device || !stream->names || !tag_names_of_kernel(stream->names))
			return false;
	return r->streams.count > 0;
}

/* Converts ticks to ns, without overflow up to 584 years. */
static inline uint64_t tag_clock_ns(const struct tag_clock *c, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000u / c->hz);
}

#endif
