/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_chain: a sample's frames as a chain of addresses. The outer part of a deep stack is defined
 * once, and later chains refer to it.
 *
 * A zeroed struct is valid; it owns nothing. One thread. Uses: base, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_STACK_CHAIN_H
#define ASSAY_PROFILE_STACK_STACK_CHAIN_H

#include "profile/stack/stack_walk.h"
#include "unwind/stack_memory.h"

struct stack_chain {
	uint32_t last_outer; /* the last assigned number */
	uint64_t addresses[STACK_WALK_CHAIN];
	uint64_t piece[STACK_PIECE];
};

/*
 * Sets chain, count and outer of the result to the chain of `inner` frames, innermost first, and of
 * the frames of `known` up to its innermost gap; known NULL: only the inner frames. If frames are
 * missing, sets `end` too.
 */
void stack_chain_give(struct stack_chain *c, const struct stack_walk_options *options,
                      const struct unwind_frame *frames, size_t inner, struct known_stack *known,
                      struct stack_walk_result *result);

/*
 * Joins the sample's chain in `into`: the kernel's part as recorded, with its marks, and the user's
 * part as walked. `into` has `most` (more than STACK_WALK_CHAIN) addresses; if there are more, the
 * kernel's outermost are omitted. Sets how the chain ends.
 */
void stack_chain_join(const struct stack_walk_result *walked, struct event_sample *sample,
                      uint64_t *into, uint32_t most);

#endif
