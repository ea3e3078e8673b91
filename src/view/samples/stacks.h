/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks: how many user call chains are complete, and where the others end.
 *
 * Counts the selection's samples with a user stack by the way the stack ends, as recorded by the
 * recorder or by the walk of copied stacks. If that was not recorded, the outermost frame decides:
 * a chain of frame pointers is complete if it reaches a function in which threads start. Plain
 * data, filled by stacks_of(); nothing fails and nothing has to be freed. Uses: base, event,
 * profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_STACKS_H
#define ASSAY_VIEW_SAMPLES_STACKS_H

#include "view/filter.h"

#define STACKS_IMAGES 3

struct stacks_image {
	uint32_t image;   /* the image of the outermost frame that has an image */
	uint64_t samples; /* samples whose truncated or broken chains end there */
	const char *why;  /* the most frequent reason; a part of a sentence */
};

struct stacks {
	bool present;     /* false: no user call chains were recorded */
	uint64_t samples; /* samples with a user stack: the sum of all qualities except NONE */
	uint64_t weight;
	uint64_t quality_samples[STACK_QUALITIES]; /* by enum stack_quality */
	uint64_t quality_weight[STACK_QUALITIES];
	uint64_t end_samples[STACK_ENDS]; /* by enum stack_end, including those decided here */
	struct stacks_image images[STACKS_IMAGES]; /* most samples first */
	size_t image_count;
};

void stacks_of(struct view *v, const struct selection *s, struct stacks *out);

/*
 * As stack_quality() and stack_end_why(), for values after stacks_of(): STACK_END_UNKNOWN then
 * means that the chain is neither complete nor cut, and that the frame pointers end.
 */
enum stack_quality stacks_quality(enum stack_end end);
const char *stacks_why(enum stack_end end);

#endif
