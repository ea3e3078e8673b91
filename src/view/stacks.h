/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks: how whole the user's call chains are, and where those break that do.
 *
 * Counts the selection's samples that have a user stack by how it ends, as the
 * recorder (or the walk of copied stacks) said it; where nobody said, the
 * outermost frame tells: chains that follow frame pointers are whole if they
 * reach a function in which threads begin. Plain data, filled by stacks_of(),
 * nothing to free. Uses: base, event, profile, view.
 */
#ifndef ASSAY_VIEW_STACKS_H
#define ASSAY_VIEW_STACKS_H

#include "view/filter.h"

#define STACKS_IMAGES 3

struct stacks_image {
	uint32_t image;   /* of the outermost frame that lies in one */
	uint64_t samples; /* whose chains end there, truncated or broken */
	const char *why;  /* most of them; a part of a sentence */
};

struct stacks {
	bool present;     /* false: no user call chains were recorded */
	uint64_t samples; /* that have a user stack: the sum of all qualities but NONE */
	uint64_t weight;
	uint64_t quality_samples[STACK_QUALITIES]; /* by enum stack_quality */
	uint64_t quality_weight[STACK_QUALITIES];
	uint64_t end_samples[STACK_ENDS]; /* by enum stack_end, those judged here included */
	struct stacks_image images[STACKS_IMAGES]; /* most samples first */
	size_t image_count;
};

void stacks_of(struct view *v, const struct selection *s, struct stacks *out);

/*
 * As stack_quality() and stack_end_why(), after judging: STACK_NOT_TOLD is left
 * where a chain is neither whole nor cut, and frame pointers lead no further.
 */
enum stack_quality stacks_quality(enum stack_end end);
const char *stacks_why(enum stack_end end);

#endif
