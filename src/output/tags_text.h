/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_text: the report on event tags for people: a heading, a table, and below it what
 * the figures leave open, as far as there is any.
 *
 * All times are in one unit: the one asked for; else microseconds, whole and without
 * separators, of capture devices whose clock counts those; else the largest one in which
 * what most calls took has two digits. Plain and stable without a terminal. Nothing
 * fails. Uses: base, view, trace.
 */
#ifndef ASSAY_OUTPUT_TAGS_TEXT_H
#define ASSAY_OUTPUT_TAGS_TEXT_H

#include "output/table.h"
#include "view/tag_groups.h"
#include "view/tag_report.h"
#include "view/tag_spread.h"

enum tags_unit { TAGS_UNIT_FITTING, TAGS_NS, TAGS_US, TAGS_MS };

#define TAGS_UNITS "ns,us,ms"

struct tags_text_options {
	struct text_style style;
	enum tags_unit unit;
};

/* "ns", "us", "ms"; others are FITTING. */
enum tags_unit tags_unit_parse(const char *word);

/* `groups` and `spread` stand in the place of the table where they are not NULL. */
void tags_text(const struct tag_report *r, const struct tag_groups *groups,
               const struct tag_spread *spread, const struct tags_text_options *o, struct buf *out);

/* The unit that is used, never FITTING, and how. */
struct tags_scale {
	const struct tag_clock *clock;
	const char *name;
	uint64_t ns;
	bool plain; /* a microsecond clock's own counts, as they are */
};

/* The parts (tags_text_parts.c, tags_text_notes.c). */
struct tags_scale tags_scale_of(const struct tag_report *r, enum tags_unit unit);
void tags_text_time(const struct tags_scale *s, uint64_t ticks, struct buf *out); /* rounded */
void tags_text_number(const struct tags_scale *s, uint64_t number, struct buf *out);
void tags_text_percent(uint64_t part, uint64_t whole, struct buf *out); /* "33.25" */
void tags_text_row_name(const struct tag_row *row, struct buf *out);
void tags_text_groups(const struct tag_report *r, const struct tag_groups *g,
                      const struct tags_scale *s, const struct tags_text_options *o,
                      struct buf *out);
void tags_text_spread(const struct tag_report *r, const struct tag_spread *h,
                      const struct tags_scale *s, const struct tags_text_options *o,
                      struct buf *out);
void tags_text_notes(const struct tag_report *r, const struct tags_scale *s,
                     const struct text_style *style, struct buf *out);

#endif
