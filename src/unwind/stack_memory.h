/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_memory: the frames of each thread at its latest sample.
 *
 * A thread's frames are stored outermost first. The callers of a frame do not change while the
 * frame is active. If a walk ends for lack of stack memory at a known frame (equal CFA and place),
 * the known callers of that frame complete it. If the callers of new frames are unknown and other
 * known frames lie above them, there is a gap between them; a later sample may close it.
 *
 * The frames are grouped in pieces of STACK_PIECE. The caller writes each piece of a deep stack
 * once, under a number, and refers to it afterwards. A piece keeps its number while its frames do
 * not change.
 *
 * A signal handler on a stack of its own does not show the interrupted stack, and when the handler
 * returns, the thread's stack shrinks. Therefore the frames last found below a handler are saved in
 * `aside`, for the next interruption at the same frame.
 *
 * A thread that runs different functions in turn has a few stacks of other outer frames. If the
 * caller keeps a stack before another replaces it, known_stack_exchange() finds it again.
 *
 * stack_memory_new(); stack_memory_of() per sample; stack_memory_free(), NULL-safe. Nothing fails.
 * Memory is limited by STACK_MEMORY_THREADS and STACK_MEMORY_FRAMES: the threads that were not
 * sampled for the longest time are evicted. One thread. Uses: base.
 */
#ifndef ASSAY_UNWIND_STACK_MEMORY_H
#define ASSAY_UNWIND_STACK_MEMORY_H

#include "base/memory/vec.h"
#include "unwind/unwind.h"

#define STACK_MEMORY_THREADS 4096
#define STACK_MEMORY_FRAMES ((size_t)4 << 20) /* maximum number of frames of all threads */
#define STACK_DEPTH_MAX 65536                 /* frames per thread */
#define STACK_PIECE 512
#define STACK_OTHERS 16 /* kept stacks of a thread */

/* The frames of one thread. CFAs decrease from each frame to the next. */
struct known_stack {
	uint32_t thread;
	bool recent;
	uint8_t end; /* how the outermost frame ends; the caller chooses the values, 0 if there are
	              * no frames */
	VEC(struct unwind_frame) frames;
	VEC(uint32_t)
	gaps; /* ascending indexes. At index n: the callers of frame n are unknown, and frames
   before n are older */
	VEC(uint32_t) pieces; /* the number of each piece, 0: not written yet */
	struct {
		VEC(struct unwind_frame) frames; /* innermost first */
		uint64_t tag;
		uint8_t end;
	} aside;
	/* For the caller; kept and exchanged with the frames. 0 at first */
	bool beyond;       /* the outer frames come from the thread's memory */
	uint8_t unchecked; /* number of samples since the outer frames were compared */
	uint8_t doubtful;  /* comparisons until the outer frames are trusted again; of the thread */
	uint8_t failed;    /* reads of the thread's memory in a row that failed; of the thread */
	/* Kept stacks, without `others` of their own */
	struct known_stack *others;
	uint8_t other_count, other_next;
};

struct stack_memory;

struct stack_memory *stack_memory_new(void);
void stack_memory_free(struct stack_memory *m);
/* The stack of a thread, valid until the next call; empty if nothing is known. */
struct known_stack *stack_memory_of(struct stack_memory *m, uint32_t thread);
void stack_memory_forget(struct stack_memory *m, uint32_t thread);

#define STACK_UNKNOWN UINT32_MAX

/* The index of the frame with this CFA and place, or STACK_UNKNOWN. */
uint32_t known_stack_find(const struct known_stack *k, const struct unwind_frame *frame);
/* The number of outermost frames whose CFA is above `cfa`: these are callers of a frame with this
 * CFA, if they are still active. */
uint32_t known_stack_above(const struct known_stack *k, uint64_t cfa);
/* The index of the outermost frame that is connected with the innermost frame without a gap. */
uint32_t known_stack_joined(const struct known_stack *k);

/*
 * Keeps the outermost `outer` frames and adds `count` frames, given innermost first, below them.
 * `joined`: the kept frames are their callers; otherwise a gap is recorded.
 */
void known_stack_keep(struct known_stack *k, uint32_t outer, const struct unwind_frame *frames,
                      uint32_t count, bool joined);

/*
 * keep_other puts the stack among the kept ones, perhaps in place of another; the stack is empty
 * then. exchange makes the kept stack `other` (0 to other_count - 1) the stack of the thread, and
 * keeps the present one.
 */
void known_stack_keep_other(struct known_stack *k);
void known_stack_exchange(struct known_stack *k, uint8_t other);

/*
 * set_aside saves the frames that a handler on another stack interrupted. `tag` identifies the
 * registers of the innermost frame. take_back makes the saved frames the stack of the thread; it
 * returns false if no frames are saved for this frame and tag.
 */
void known_stack_set_aside(struct known_stack *k, uint64_t tag);
bool known_stack_take_back(struct known_stack *k, const struct unwind_frame *frame, uint64_t tag);

#endif
