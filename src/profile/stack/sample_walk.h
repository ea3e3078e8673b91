/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_walk: the walk of one sample's stack, shared by stack_walk.c (walks the copy),
 * sample_walk_frame.c (one frame), sample_walk_chain.c (callers from the kernel's chain),
 * sample_walk_known.c (frames beyond the copy) and sample_walk_place.c (places at which a thread
 * waited before).
 *
 * The stack_walk owns all memory; a sample_walk is valid until the sample is finished. One thread.
 * Uses: base, event, image, process, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_SAMPLE_WALK_H
#define ASSAY_PROFILE_STACK_SAMPLE_WALK_H

#include "profile/stack/remote_stack.h"
#include "profile/stack/stack_chain.h"
#include "profile/stack/stack_code.h"
#include "profile/stack/stack_walk.h"
#include "unwind/stack_memory.h"

/* A walk of the copy checks at this number of frames whether the rest is known, and again at each
 * doubling. A shorter rest is not checked. */
#define SAMPLE_WALK_CHECKED 64
/* Threads wait again and again at the same places: for frequent samples each of the first frames.
 */
#define SAMPLE_WALK_CHECKED_FREQUENT 1
#define SAMPLE_WALK_CHECKED_EACH 8

#define WALKED_PLACES 256 /* a power of two; all threads */
#define WALKED_PLACE_FRAMES 32

/* The innermost frames of a sample, by its thread and registers. */
struct walked_place {
	uint64_t version, pc, sp, fp;
	uint32_t thread;
	uint16_t count; /* 0: none */
	bool complete;  /* the last frame is a thread's first function */
	struct unwind_frame frames[WALKED_PLACE_FRAMES];
};

/* A caller that is not known: this address belongs to no mapping. */
#define SAMPLE_WALK_HIDDEN 1

#define RETURN_CODES 512          /* a power of two; all processes */
#define RETURN_CODE_NS 1000000000 /* code at an address may be replaced without a record */

/* The rule of a place of code without a table, from its instructions. */
struct return_code {
	uint64_t place, read_ns;
	uint32_t process;
	bool found;
	struct cfi_rule rule;
	struct cfi_save saves[UNWIND_RETURN_SAVES + 1];
};

#define CODES_BEFORE 256 /* a power of two; all processes */

/* The code before a place: perhaps a call, or a system call. */
struct code_before {
	uint64_t place, version; /* of the process's mappings */
	uint32_t process;
	uint8_t bytes[UNWIND_CALL_BYTES];
};

struct stack_walk {
	struct process_table *processes;
	struct stack_walk_options options;
	const struct unwind_machine *machine; /* NULL: stacks of this machine are not walked */
	struct stack_code *code;
	struct stack_memory *memory;
	struct remote_stack *live;       /* NULL: threads' memory is not read */
	VEC(struct unwind_frame) frames; /* of the sample, innermost first */
	struct stack_chain chain;
	struct stack_walk_counts counts;
	bool opens;  /* the next sample opens the tables that it needs */
	bool trusts; /* stack_walk_trust() */
	struct walked_place places[WALKED_PLACES];
	struct return_code returns[RETURN_CODES];
	struct code_before before[CODES_BEFORE];
};

struct sample_walk {
	struct stack_walk *w;
	uint32_t process;
	uint64_t version; /* of the process's mappings */
	uint64_t time_ns;
	uint64_t pc, fp; /* registers of the sample; fp 0: unknown */
	struct unwind_cursor cursor;
	struct unwind_memory memory;
	struct known_stack *known; /* frames of the thread's earlier samples */
	uint64_t floor;            /* lowest address of the outermost frame within the copy */
	uint32_t base;  /* frames before this index are on another stack (signal handlers) */
	uint32_t match; /* index of the known frame equal to the last frame, or STACK_UNKNOWN */
	uint64_t tag;   /* identifies the registers of the frame at `base`, which was interrupted */
	uint32_t at;    /* number of the frames inside of the cursor */
	const uint64_t *chain; /* by the kernel, along frame pointers; [0] is the sampled place.
	                        * Only with chain_count */
	uint32_t chain_count;
	bool joined;   /* the last frames are those of the kernel's chain, or another stack's */
	bool recalled; /* the frames are those of a kept place */
	bool kept;     /* `known` has the frames from `base` outward */
};

static inline uint32_t sample_walk_checked(const struct sample_walk *s)
{
	return s->w->trusts ? SAMPLE_WALK_CHECKED_FREQUENT : SAMPLE_WALK_CHECKED;
}

/*
 * sample_walk_frame.c: adds the frame at the cursor, and moves the cursor to its caller.
 * STACK_END_UNKNOWN: the walk continues there.
 */
enum stack_end sample_walk_frame(struct sample_walk *s);
/* Whether the CFA is the one that a frame pointer of the machine leads to. */
static inline bool sample_walk_by_frame_pointer(const struct sample_walk *s,
                                                const struct cfi_rule *rule)
{
	const struct unwind_machine *m = s->w->machine;

	return rule->cfa == CFI_CFA_REGISTER && rule->cfa_reg == m->fp &&
	       rule->cfa_offset == m->fp_size;
}

/*
 * sample_walk_chain.c: adds a frame of a function of Go that moves the stack pointer to another
 * stack (`rule`), of which there is no copy, and its callers, from the kernel's chain.
 */
enum stack_end sample_walk_switch(struct sample_walk *s, const struct cfi_table *table,
                                  const struct cfi_rule *rule);
/*
 * The copy ends at a frame of a function that keeps a frame pointer: takes its callers from the
 * kernel's chain, which is of the time of the sample. The thread's memory is read later, when other
 * functions may have part of it. False: the chain does not lead to the first function, and the walk
 * is unchanged.
 */
bool sample_walk_chain(struct sample_walk *s, enum stack_end *end);
/*
 * False: the kernel's chain has another caller of the frame `last`, the outermost one in the copy,
 * or of a frame outside of it, as far as the functions keep frame pointers.
 */
bool sample_walk_agrees(struct sample_walk *s, uint32_t last);

/*
 * sample_walk_place.c. Frequent samples: takes the frames of the sample from a kept place, if their
 * return addresses are unchanged as far as the copy reaches. True: *end is STACK_WHOLE or, with the
 * frames in the copy, STACK_CUT_COPY; the cursor is at the innermost frame.
 */
bool sample_walk_recall(struct sample_walk *s, enum stack_end *end);
/* Keeps the frames of a sample whose stack is whole. */
void sample_walk_keep_place(struct sample_walk *s);

/*
 * sample_walk_known.c. True if the last frame is a known frame, and the return addresses of all its
 * callers are unchanged, to the first function (*end is STACK_WHOLE, and `match` is set) or to the
 * end of the copy. To compare a word takes a tenth of the time to walk a frame.
 */
bool sample_walk_rest_stands(struct sample_walk *s, enum stack_end *end);
/* Replaces the known frames inside of frame `match` by the sample's, and keeps the outer ones. */
enum stack_end sample_walk_stitch(struct sample_walk *s);
/*
 * Stores this sample's frames as known. If the walk ended with the copy, searches the outer frames
 * among the known frames and in the thread's memory. Returns how the stack ends then.
 */
enum stack_end sample_walk_remember(struct sample_walk *s, enum stack_end end);

#endif
