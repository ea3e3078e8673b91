/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_text: the report on event tags as text: a heading, a table, and notes on lost or uncertain
 * events if there are any.
 *
 * All times have one unit. It is the requested one, or whole microseconds without separators for
 * capture devices with a microsecond clock, or the largest unit in which the times of most calls
 * have two digits. The output is plain and stable if there is no terminal. Appends to a buf;
 * nothing fails. Uses: base, view, trace.
 */
#ifndef ASSAY_OUTPUT_TAGS_TAGS_TEXT_H
#define ASSAY_OUTPUT_TAGS_TAGS_TEXT_H

#include "output/text/table.h"
#include "view/tags/tag_groups.h"
#include "view/tags/tag_report.h"
#include "view/tags/tag_distribution.h"

enum tags_unit { TAGS_UNIT_FITTING, TAGS_NS, TAGS_US, TAGS_MS };

#define TAGS_UNITS "ns,us,ms"

struct tags_text_options {
	struct text_style style;
	enum tags_unit unit;
};

/* "ns", "us", "ms"; other words are FITTING. */
enum tags_unit tags_unit_parse(const char *word);

/* `groups` and `spread` replace the table if they are not NULL. */
void tags_text(const struct tag_report *r, const struct tag_groups *groups,
               const struct tag_distribution *spread, const struct tags_text_options *o,
               struct buf *out);

/* The unit in use (never FITTING) and its form. */
struct tags_scale {
	const struct tag_clock *clock;
	const char *name;
	uint64_t ns;
	bool plain; /* prints the counts of a microsecond clock unchanged */
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
void tags_text_spread(const struct tag_report *r, const struct tag_distribution *h,
                      const struct tags_scale *s, const struct tags_text_options *o,
                      struct buf *out);
void tags_text_notes(const struct tag_report *r, const struct tags_scale *s,
                     const struct text_style *style, struct buf *out);

#endif
