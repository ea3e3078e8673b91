/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_order: the rows of a profile's samples, in the order in which they were taken.
 *
 *	sample_order_init(o, axis)
 *	sample_order_begin(o, &cursor, track); while (sample_order_next(&cursor)) use cursor.rows
 *	sample_order_done(o)
 *
 * Within a step of a coarser axis (a long recording, or the windows of a store) the order is not
 * known: these samples are put in a random but reproducible order. Of more than four million
 * samples of an event in such an axis an even part is delivered, sample_order_kept(). Up to four
 * million rows are kept for the next time (16 MB); other tracks are decoded each time. One thread.
 * Uses: base, profile.
 */
#ifndef ASSAY_VIEW_CONFIDENCE_SAMPLE_ORDER_H
#define ASSAY_VIEW_CONFIDENCE_SAMPLE_ORDER_H

#include "profile/time_axis.h"

typedef VEC(uint32_t) sample_rows;

struct sample_track {
	sample_rows rows;
	bool known, large; /* known: its rows are kept; large: it has too many rows to be kept */
};

struct sample_order {
	const struct time_axis *axis;
	VEC(struct sample_track) tracks;
	double kept[UINT8_MAX + 1]; /* by event */
	size_t room;                /* rows that may still be kept */
	sample_rows part;           /* rows of a track that is not kept */
};

/* The axis must outlive it and gets no more samples. */
void sample_order_init(struct sample_order *o, const struct time_axis *axis);
void sample_order_done(struct sample_order *o);

/* The part of the event's samples that is delivered, at most 1. */
double sample_order_kept(const struct sample_order *o, uint8_t event);

struct sample_cursor {
	const uint32_t *rows; /* valid until the next call */
	size_t count;
	/* private */
	struct sample_order *order;
	struct time_cursor at;
	struct time_entry next;
	bool more; /* `next` was read and not delivered */
	bool known, delivered;
	double due; /* part of a sample that is not delivered yet */
};

void sample_order_begin(struct sample_order *o, struct sample_cursor *c, uint32_t track);
/* The next rows; false: there are none. */
bool sample_order_next(struct sample_cursor *c);

#endif
