/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_groups: functions of event tags summed by subsystem.
 *
 * tag_groups_new() sums the rows of a report by rules (view/groups/group_rules.h), for which the
 * file of a function is its program; then read the plain fields; tag_groups_free(). Two groups are
 * added automatically: "(other)" for functions that match no pattern or count for their caller, and
 * "(outside)" for the time in no known function. Net adds up to the report's `run`. Times are
 * ticks. The rules must outlive it. Nothing fails. One thread. Uses: base, tags.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_GROUPS_H
#define ASSAY_VIEW_TAGS_TAG_GROUPS_H

#include "view/groups/group_rules.h"
#include "view/tags/tag_report.h"

struct tag_group {
	const char *name;
	uint64_t functions, calls, net, uncertain;
};

struct tag_groups {
	VEC(struct tag_group) groups; /* by net, largest first, */
	struct group_rules *rules;
	bool *used; /* per rule: true if it selected the group of at least one function */
};

struct tag_groups *tag_groups_new(struct group_rules *rules, const struct tag_report *r);
void tag_groups_free(struct tag_groups *g);

#endif
