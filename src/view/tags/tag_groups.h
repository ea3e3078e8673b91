/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_groups: functions of event tags summed by subsystem.
 *
 * tag_groups_new(); tag_groups_rule() for each pattern of a group, in order of priority: the first
 * pattern that matches a function's name selects its group; tag_groups_sum() once; then read the
 * plain fields; tag_groups_free(). Two groups are added automatically: "(other)" for functions that
 * match no pattern, and "(outside)" for the time in no known function. Net adds up to the report's
 * `run`. Times are ticks. Nothing fails. One thread. Uses: base, trace.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_GROUPS_H
#define ASSAY_VIEW_TAGS_TAG_GROUPS_H

#include "view/tags/tag_report.h"

struct tag_group {
	char *name;
	uint64_t functions, calls, net, uncertain;
};

struct tag_rule {
	uint32_t group;
	char *pattern;
	bool used; /* it selected the group of at least one function */
};

struct tag_groups {
	VEC(struct tag_group) groups; /* by net, largest first, after tag_groups_sum() */
	VEC(struct tag_rule) rules;
};

struct tag_groups *tag_groups_new(void);
void tag_groups_free(struct tag_groups *g);
void tag_groups_rule(struct tag_groups *g, const char *group, const char *pattern);
void tag_groups_sum(struct tag_groups *g, const struct tag_report *r);

#endif
