/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_walk: from a sample's registers and copy of the stack to its call
 * chain.
 *
 * Joins what process/ knows of maps, image/unwind_table/cfi.h of files and unwind/ of
 * walking. Used live by the recorder and afterwards on recordings of others
 * that hold stack copies (perf's --call-graph dwarf). Frames beyond the copy
 * are stitched from what the same thread showed before: older frames do not
 * change as long as those below them stand. Live, the thread's memory is read
 * where nothing is known of it, and believed only if it still holds what the
 * copy holds at its end.
 *
 * Chains deeper than STACK_WALK_CHAIN frames are given in two parts: the
 * innermost ones, and a number for the rest, which was defined before.
 *
 * stack_walk_new(); stack_walk_sample() in time order, with the process table
 * kept up to the same moment by the caller; stack_walk_forget() when a thread
 * ends; stack_walk_free(), NULL-safe. Memory is bounded by threads and by
 * STACK_TABLE_BYTES for the unwind tables of files; those used last stay.
 * Not safe for several threads. Uses: base, event, image, process, unwind.
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
	STACK_METHOD_AUTO,  /* tables; frame pointers in code that has none */
	STACK_METHOD_DWARF, /* tables alone */
};

struct stack_walk_options {
	enum stack_method method;
	bool live;               /* the threads' memory and files may be read through /proc */
	const char *root;        /* --symfs, NULL: none */
	struct cache_dir *cache; /* NULL: none */
	size_t table_bytes;      /* of all open tables; 0: STACK_TABLE_BYTES */
	struct foreign *foreign; /* live: reads that memory and those files; NULL: this process */
	bool puts_off;           /* the caller opens tables that take long: stack_walk_open() */
	/*
	 * The outermost part of a deep stack: `count` addresses, innermost first,
	 * whose callers are those of outer stack `parent` (0: none). Numbers count
	 * up. Called before a sample that refers to it is returned.
	 */
	void (*define)(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
	               uint32_t count);
	void *ctx;
	uint32_t outer_given; /* by a walker before this one: numbers count up from there */
};

struct stack_walk_result {
	const uint64_t *chain; /* user addresses, innermost first; good until the next call */
	uint32_t count;
	uint32_t outer; /* 0: none */
	enum stack_end end;
	bool later; /* nothing was walked: a table has to be opened first */
};

struct stack_walk_counts {
	uint64_t samples, frames;    /* walked */
	uint64_t by_frame_pointer;   /* frames */
	uint64_t stitched_frames;    /* taken from what was known */
	uint64_t memory_reads;       /* live: looks into a thread's memory */
	uint64_t tables, table_rows; /* files opened */
	uint64_t table_ns;           /* time to open and compile them */
	uint64_t cut_tables;         /* files with more than a table holds */
	uint64_t dropped_tables;     /* closed because all tables together took too much */
};

struct stack_walk;

struct stack_walk *stack_walk_new(struct process_table *processes, struct image_table *images,
                                  const struct stack_walk_options *options);
void stack_walk_free(struct stack_walk *w);
/* Takes over the open tables of a walker before it, for images that both know. */
void stack_walk_take_tables(struct stack_walk *w, struct stack_walk *before,
                            const struct image_table *images_before);

/* `process`, `thread`: ids in the process table, of this moment. */
void stack_walk_sample(struct stack_walk *w, uint32_t process, uint32_t thread,
                       const struct event *e, struct stack_walk_result *result);
/* After `later`: opens the table. Then the same sample is walked again. */
void stack_walk_open(struct stack_walk *w);
/* The thread ended, or runs another program. */
void stack_walk_forget(struct stack_walk *w, uint32_t thread);

const struct stack_walk_counts *stack_walk_counts(const struct stack_walk *w);

#endif
