/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_memory: the frames that each thread was last seen to have.
 *
 * A thread's frames stand outermost first. What is above a frame (its callers)
 * does not change while it stands: where a walk ends for want of memory at a
 * frame that is known, by its CFA and its place, its callers are those known.
 * Frames that nobody saw the callers of, below others that are known, stand
 * behind a gap: they may be joined later.
 *
 * The frames are numbered in pieces of STACK_PIECE, so that a deep stack is
 * told once and then referred to: a piece keeps its number while its frames
 * stand.
 *
 * A signal handler on a stack of its own shows nothing of the stack that it
 * interrupted, and as soon as it returns the thread shows less of it. So what was
 * last found below a handler is kept aside, for when the same is interrupted again.
 *
 * stack_memory_new(); stack_memory_of() per sample; stack_memory_free(),
 * NULL-safe. Memory is bounded by STACK_MEMORY_THREADS and
 * STACK_MEMORY_FRAMES: threads not seen for long are forgotten. Uses: base.
 */
#ifndef ASSAY_UNWIND_STACK_MEMORY_H
#define ASSAY_UNWIND_STACK_MEMORY_H

#include "base/vec.h"
#include "unwind/unwind.h"

#define STACK_MEMORY_THREADS 4096
#define STACK_MEMORY_FRAMES ((size_t)4 << 20) /* of all threads */
#define STACK_DEPTH_MAX 65536                 /* frames of a thread */
#define STACK_PIECE 512

/* The frames of one thread. CFAs fall from each frame to the next. */
struct known_stack {
	uint32_t thread;
	bool recent;
	uint8_t end; /* of the outermost frame; the caller's to choose, 0 where there is none */
	VEC(struct unwind_frame) frames;
	VEC(uint32_t)
	gaps; /* rising: the callers of frame n are not known, those before are older */
	VEC(uint32_t) pieces; /* the number of each, 0: not told yet */
	struct {
		VEC(struct unwind_frame) frames; /* innermost first */
		uint64_t tag;
		uint8_t end;
	} aside;
};

struct stack_memory;

struct stack_memory *stack_memory_new(void);
void stack_memory_free(struct stack_memory *m);
/* What is known of a thread, good until the next call; empty where nothing is. */
struct known_stack *stack_memory_of(struct stack_memory *m, uint32_t thread);
void stack_memory_forget(struct stack_memory *m, uint32_t thread);

#define STACK_UNKNOWN UINT32_MAX

/* The index of a frame with that CFA and place, STACK_UNKNOWN where there is none. */
uint32_t known_stack_find(const struct known_stack *k, const struct unwind_frame *frame);
/* How many of the outermost frames are certainly callers of one with this CFA, if they stand. */
uint32_t known_stack_above(const struct known_stack *k, uint64_t cfa);
/* The outermost frame that the innermost one is joined with, without a gap. */
uint32_t known_stack_joined(const struct known_stack *k);

/*
 * Keeps the outermost `outer` frames and puts `count` others, innermost first,
 * under them. `joined`: their callers are those kept, else there is a gap.
 */
void known_stack_keep(struct known_stack *k, uint32_t outer, const struct unwind_frame *frames,
                      uint32_t count, bool joined);

/*
 * What a handler on another stack interrupted. `tag` stands for the registers that
 * its innermost frame held. Taken back, it is all that is known of the thread;
 * false: nothing of that frame and tag is kept aside.
 */
void known_stack_set_aside(struct known_stack *k, uint64_t tag);
bool known_stack_take_back(struct known_stack *k, const struct unwind_frame *frame, uint64_t tag);

#endif
