/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_groups: the group of each frame of a sampled profile, and of a call path.
 *
 * A path has the group of its innermost function. If that function has no group, or is one that is
 * counted for its caller, the nearest caller with a group decides; from the kernel the search does
 * not go on into the program. frame_groups_new() / frame_groups_free(); the view and the rules must
 * outlive it. Nothing fails. One thread. Uses: view.
 */
#ifndef ASSAY_VIEW_GROUPS_FRAME_GROUPS_H
#define ASSAY_VIEW_GROUPS_FRAME_GROUPS_H

#include "view/groups/group_rules.h"
#include "view/view.h"

struct frame_groups;

struct frame_groups *frame_groups_new(struct view *v, struct group_rules *rules);
void frame_groups_free(struct frame_groups *g);

uint16_t frame_groups_of(struct frame_groups *g, uint32_t path);
/* Its name. */
const char *frame_groups_name(const struct frame_groups *g, uint16_t group, uint32_t path);

#endif
