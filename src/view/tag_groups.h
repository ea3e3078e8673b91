/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_groups: functions of event tags summed up by subsystem.
 *
 * tag_groups_new(), tag_groups_rule() for each pattern of a group in the order in which
 * they hold: the first that a function's name fits decides; tag_groups_sum() once,
 * then the plain fields; tag_groups_free(). Two groups come by themselves: "(other)",
 * functions that fit none, and "(outside)", the time in no function that is known. Net
 * adds up to the report's `run`. Times are ticks. Nothing fails. One thread. Uses:
 * base, trace.
 */
#ifndef ASSAY_VIEW_TAG_GROUPS_H
#define ASSAY_VIEW_TAG_GROUPS_H

#include "view/tag_report.h"

struct tag_group {
	char *name;
	uint64_t functions, calls, net, uncertain;
};

struct tag_rule {
	uint32_t group;
	char *pattern;
	bool used; /* it decided for a function */
};

struct tag_groups {
	VEC(struct tag_group) groups; /* by net, largest first, once they are summed up */
	VEC(struct tag_rule) rules;
};

struct tag_groups *tag_groups_new(void);
void tag_groups_free(struct tag_groups *g);
void tag_groups_rule(struct tag_groups *g, const char *group, const char *pattern);
void tag_groups_sum(struct tag_groups *g, const struct tag_report *r);

#endif
