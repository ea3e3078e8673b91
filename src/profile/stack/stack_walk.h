/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_walk: computes the call chain of a sample from its registers and copy of the stack.
 *
 * It combines the mappings of process/, the tables of image/unwind_table/cfi.h and the walk of
 * unwind/. It is used by the recorder (live), and for recordings with stack copies (perf's
 * --call-graph dwarf). Frames beyond the copy are stitched: they are taken from earlier samples of
 * the thread, because outer frames do not change while their callees are on the stack. If no such
 * frames are known, the live recorder reads the thread's memory, which is valid only if it still
 * has the bytes at the end of the copy.
 *
 * Chains deeper than STACK_WALK_CHAIN frames have two parts: the innermost frames, and a number for
 * the rest, which was defined before.
 *
 * stack_walk_new(); stack_walk_sample() in time order, while the caller updates the process table
 * to the time of each sample; stack_walk_forget() when a thread exits; stack_walk_free(),
 * NULL-safe. Memory is bounded by the number of threads, and by STACK_TABLE_BYTES for unwind
 * tables; the least recently used are closed. Not thread-safe. Uses: base, event, image, process,
 * unwind.
 */
#ifndef ASSAY_PROFILE_STACK_STACK_WALK_H
#define ASSAY_PROFILE_STACK_STACK_WALK_H

#include "base/file/cache_dir.h"
#include "base/process/foreign.h"
#include "event/event.h"
#include "process/process.h"

#define STACK_WALK_CHAIN 1024
#define STACK_TABLE_BYTES ((size_t)64 << 20)

enum stack_method {
	STACK_METHOD_AUTO,  /* unwind tables, and frame pointers in code without tables */
	STACK_METHOD_DWARF, /* only tables */
};

struct stack_walk_options {
	enum stack_method method;
	bool live;               /* threads' memory and files may be read through /proc */
	const char *root;        /* --symfs, NULL: none */
	struct cache_dir *cache; /* NULL: none */
	size_t table_bytes;      /* of all open tables; 0: STACK_TABLE_BYTES */
	struct foreign *foreign; /* live: makes these reads; NULL: this process makes them */
	bool puts_off;           /* the caller opens tables that take long, by stack_walk_open() */
	/*
	 * Defines the outermost part of a deep stack: `count` addresses, innermost first, above
	 * which are those of outer stack `parent` (0: none). Numbers ascend. Called before a sample
	 * that refers to it is returned.
	 */
	void (*define)(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
	               uint32_t count);
	void *ctx;
	uint32_t outer_given; /* last number of the previous walker: numbers continue from there */
};

struct stack_walk_result {
	const uint64_t *chain; /* user addresses, innermost first; valid until the next call */
	uint32_t count;
	uint32_t outer; /* 0: none */
	enum stack_end end;
	bool later; /* nothing was walked: a table must be opened first */
};

struct stack_walk_counts {
	uint64_t samples, frames;  /* walked */
	uint64_t by_frame_pointer; /* frames */
	uint64_t stitched_frames;  /* taken from earlier samples */
	uint64_t memory_reads;     /* live: reads of a thread's memory */
	uint64_t trusted;          /* samples whose outer frames were not compared */
	uint64_t compared,
	        changed; /* of frequent samples: compared; of these, not the known ones */
	uint64_t tables, table_rows; /* files opened */
	uint64_t table_ns;           /* time to open and compile them */
	uint64_t cut_tables;         /* files with more rows than a table can hold */
	uint64_t dropped_tables;     /* tables closed because of the limit for all tables */
};

struct stack_walk;

struct stack_walk *stack_walk_new(struct process_table *processes, struct image_table *images,
                                  const struct stack_walk_options *options);
void stack_walk_free(struct stack_walk *w);
/* Takes over the open tables of a previous walker, for images that both use. */
void stack_walk_take_tables(struct stack_walk *w, struct stack_walk *before,
                            const struct image_table *images_before);

/* `process`, `thread`: present ids in the process table. */
void stack_walk_sample(struct stack_walk *w, uint32_t process, uint32_t thread,
                       const struct event *e, struct stack_walk_result *result);
/*
 * Live: samples that are frequent, such as those of switches, take outer frames that are known
 * without a comparison with the thread's memory for most samples, since a read takes longer than
 * the sample. The comparisons that are made are counted, and those that fail.
 */
void stack_walk_trust(struct stack_walk *w, bool trusts);
/* After `later`: opens the table. Then the caller walks the same sample again. */
void stack_walk_open(struct stack_walk *w);
/* The thread exited, or executed another program. */
void stack_walk_forget(struct stack_walk *w, uint32_t thread);

const struct stack_walk_counts *stack_walk_counts(const struct stack_walk *w);

#endif
