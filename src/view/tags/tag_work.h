/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_work: the share of each row in the run time without the triggers.
 *
 * Each event adds a trigger to the net of the function that is innermost after it. How much is
 * known only within bounds (struct tag_trigger_cost), since a part of the trigger runs beside the
 * work that follows. The bounds of a share hold for any cost of each function within them. Nothing
 * is clamped: a share below 0 says that a function is shorter than what can be measured. Nothing
 * fails. One thread. Uses: base, tags.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_WORK_H
#define ASSAY_VIEW_TAGS_TAG_WORK_H

#include "view/tags/tag_report.h"

/* The widest bounds that need no mention: one point. */
#define TAG_WORK_NARROW 0.01
/* Triggers are a small part of the time of functions that take longer between two events. */
#define TAG_WORK_LONG_NS 300

/* Fills `work` of each row; the order of the rows does not matter. */
void tag_work_add(struct tag_report *r);

/* The bounds of some row are far apart, so that short functions cannot be compared by their net. */
bool tag_work_is_wide(const struct tag_report *r);
/* The cost of a trigger is not known, and may be a large part of the time of a function. */
bool tag_work_is_unknown(const struct tag_report *r);

#endif
