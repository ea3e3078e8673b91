/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack/stack_chain.h"

#include <string.h>

/* The limit for frames on stacks that are not known; further frames are not followed. */
#define INNER_MAX (STACK_WALK_CHAIN - STACK_PIECE)

static uint32_t define_piece(struct stack_chain *c, const struct stack_walk_options *options,
                             const struct known_stack *k, uint32_t piece, uint32_t first,
                             uint32_t parent)
{
	uint32_t from = piece * STACK_PIECE, count = 0;

	if (from < first)
		from = first;
	for (uint32_t i = (piece + 1) * STACK_PIECE; i > from; i--)
		c->piece[count++] = unwind_chain_address(&k->frames.items[i - 1], false);
	options->define(options->ctx, ++c->last_outer, parent, c->piece, count);
	return c->last_outer;
}

/* Returns the number of the stack that ends with piece `last`. */
static uint32_t outer_stack(struct stack_chain *c, const struct stack_walk_options *options,
                            struct known_stack *k, uint32_t first, uint32_t last)
{
	uint32_t parent = 0;

	while (k->pieces.count <= last)
		vec_push(&k->pieces, 0);
	for (uint32_t piece = first / STACK_PIECE; piece <= last; piece++) {
		if (!k->pieces.items[piece])
			k->pieces.items[piece] = define_piece(c, options, k, piece, first, parent);
		parent = k->pieces.items[piece];
	}
	return parent;
}

void stack_chain_give(struct stack_chain *c, const struct stack_walk_options *options,
                      const struct unwind_frame *frames, size_t inner, struct known_stack *known,
                      struct stack_walk_result *result)
{
	uint32_t first = known ? known_stack_joined(known) : 0, cut = first, count = 0;
	uint32_t end = known ? (uint32_t)known->frames.count : 0, room;

	room = inner < STACK_WALK_CHAIN ? STACK_WALK_CHAIN - (uint32_t)inner : 0;
	result->outer = 0;
	if (inner > STACK_WALK_CHAIN)
		result->end = STACK_CUT_LIMIT;
	if (end - first > room && (inner > INNER_MAX || !options->define)) {
		result->end = STACK_CUT_LIMIT;
		cut = end - room;
	} else if (end - first > room) {
		cut = (end - room + STACK_PIECE - 1) / STACK_PIECE * STACK_PIECE;
		result->outer = outer_stack(c, options, known, first, cut / STACK_PIECE - 1);
	}
	for (size_t i = 0; i < inner && count < STACK_WALK_CHAIN; i++, count++)
		c->addresses[count] = unwind_chain_address(&frames[i], !count);
	for (uint32_t i = end; i > cut; i--, count++)
		c->addresses[count] = unwind_chain_address(&known->frames.items[i - 1], !count);
	result->chain = c->addresses;
	result->count = count;
}

void stack_chain_join(const struct stack_walk_result *walked, struct event_sample *sample,
                      uint64_t *into, uint32_t most)
{
	uint32_t kernel = 0, user = walked->count;
	const uint64_t *recorded = sample->chain;

	if (user > STACK_WALK_CHAIN)
		user = STACK_WALK_CHAIN;
	while (recorded && kernel < sample->chain_count && kernel < most - STACK_WALK_CHAIN - 1 &&
	       recorded[kernel] != CHAIN_CONTEXT_USER) {
		into[kernel] = recorded[kernel];
		kernel++;
	}
	sample->chain = into;
	sample->chain_count = kernel;
	sample->stack_end = (uint8_t)walked->end;
	sample->outer = walked->outer;
	if (!user)
		return;
	into[kernel] = CHAIN_CONTEXT_USER;
	memcpy(into + kernel + 1, walked->chain, user * sizeof(*into));
	sample->chain_count = kernel + 1 + user;
}
