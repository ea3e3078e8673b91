/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_path_times: how many calls of each path took how long.
 *
 * Most paths of a large tree have few calls, so the first calls of a path are in the path itself. A
 * path with more calls gets a place in `all` (tags/tag_times.h), which the paths share. Zeroed
 * structs are empty; the caller frees `all`. Durations are ticks. Nothing fails. One thread. Uses:
 * tags.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_PATH_TIMES_H
#define ASSAY_VIEW_TAGS_TAG_PATH_TIMES_H

#include "tags/tag_times.h"

#define TAG_PATH_TIMES_FIRST 3

struct tag_path_times {
	uint32_t place;                       /* in `all`; 0: none */
	uint16_t count;                       /* of `first` */
	uint16_t first[TAG_PATH_TIMES_FIRST]; /* buckets of the first calls */
};

void tag_path_times_count(struct tag_path_times *p, struct tag_times *all, uint64_t ticks);
/* Adds the calls of a path to the function 0 of `to`, which has room. */
void tag_path_times_merge(struct tag_times *to, const struct tag_path_times *p,
                          const struct tag_times *all);

#endif
