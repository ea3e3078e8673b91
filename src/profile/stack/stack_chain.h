/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_chain: a sample's frames as a chain of addresses, of which those of a
 * deep stack's outer part are told once and then referred to.
 *
 * Zeroed is new; there is nothing to free. One thread. Uses: base, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_STACK_CHAIN_H
#define ASSAY_PROFILE_STACK_STACK_CHAIN_H

#include "profile/stack/stack_walk.h"
#include "unwind/stack_memory.h"

struct stack_chain {
	uint32_t last_outer; /* the last number given */
	uint64_t addresses[STACK_WALK_CHAIN];
	uint64_t piece[STACK_PIECE];
};

/*
 * The chain of `inner` frames, innermost first, and of all that `known` holds
 * up to its innermost gap; known NULL: of those frames alone. Sets chain,
 * count and outer of the result; where it does not hold all, its end too.
 */
void stack_chain_give(struct stack_chain *c, const struct stack_walk_options *options,
                      const struct unwind_frame *frames, size_t inner, struct known_stack *known,
                      struct stack_walk_result *result);

/*
 * Makes the sample's chain one: the kernel's part as recorded, with its marks, and
 * the user's as walked, in `into`, which holds `most` (over STACK_WALK_CHAIN)
 * addresses; of more the kernel's outermost are left out. Says how it ends, too.
 */
void stack_chain_join(const struct stack_walk_result *walked, struct event_sample *sample,
                      uint64_t *into, uint32_t most);

#endif
