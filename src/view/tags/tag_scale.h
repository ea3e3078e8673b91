/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_scale: the units in which a report on event tags prints ticks and counts.
 *
 * All times have one unit. It is the requested one, or whole microseconds without separators for
 * capture devices with a microsecond clock, or the largest unit in which the times of most calls
 * have two digits. In JSON all times are ns. Nothing fails. Uses: base, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_SCALE_H
#define ASSAY_VIEW_TAGS_TAG_SCALE_H

#include "tags/tag_stream.h"
#include "view/rows/unit.h"

enum tag_time_unit { TAG_UNIT_FITTING, TAG_NS, TAG_US, TAG_MS };

#define TAG_UNITS "ns,us,ms"

/* "ns", "us", "ms"; other words are FITTING. */
enum tag_time_unit tag_time_unit_parse(const char *word);

/* Prints a number of ticks. */
struct tag_unit {
	struct unit unit;
	const struct tag_clock *clock;
	const char *name; /* of the unit of time */
	uint64_t ns;      /* one unit of time */
	bool plain;       /* the counts of a microsecond clock are printed unchanged */
};

struct tag_scale {
	struct tag_unit time;      /* numbers without the name of the unit, rounded */
	struct tag_unit floor;     /* likewise, rounded down */
	struct tag_unit named;     /* numbers with the name of the unit, rounded */
	struct tag_unit bound;     /* each value has a unit that fits it */
	struct tag_unit ns;        /* as `time`; the values are ns, not ticks */
	const struct unit *number; /* counts */
};

/* `fitting`: the smallest average time of a call that the unit must show with two digits.
 * `devices`: all streams are from devices. */
struct tag_scale tag_scale_make(const struct tag_clock *clock, bool devices, uint64_t fitting,
                                enum tag_time_unit unit);

/* A share as a percentage with two decimals: "33.25". */
extern const struct unit tag_percent;
/* part / whole; 0 if `whole` is 0. */
static inline double tag_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}
/* The same in hundredths of a percent, rounded: 9899 is 98.99 %. */
uint64_t tag_hundredths(uint64_t part, uint64_t whole);

#endif
