/* SPDX-License-Identifier: MIT */
/*
 * wire: a table of call paths, as the runtime keeps it in shared memory and as
 * a recording holds it. docs/FORMAT.md tells it field by field.
 *
 * A table is a file: one header, then chunks. Offsets and ids count units of 64
 * bytes from the table's begin; a node's id is its unit. Each chunk begins at a
 * multiple of 4096 bytes with a struct assay_calls_chunk; a page of zeros is one
 * that was reserved and never begun: go on 4096 bytes further. A recording is
 * one table after the other, each header.used_bytes long.
 *
 * The one writer of a thread's nodes is that thread. Readers map the file and
 * read at any moment: counters are 8 bytes, aligned, and only grow; a node is
 * there once its chunk's `used` counts it. Everything is of the machine's own
 * byte order. Times are ticks of the clock that the header describes.
 */
#ifndef ASSAY_WIRE_H
#define ASSAY_WIRE_H

#include <stdint.h>

#define ASSAY_CALLS_MAGIC "ASYCALLS"
#define ASSAY_CALLS_VERSION 1
#define ASSAY_CALLS_UNIT 64u   /* bytes */
#define ASSAY_CALLS_PAGE 4096u /* bytes; chunks are multiples of it */

/* header.flags: what a reader is to be told. Set, never cleared. */
#define ASSAY_CALLS_FULL 1u        /* memory was used up: paths went to (other) */
#define ASSAY_CALLS_DEEP 2u        /* deeper than the limit: likewise */
#define ASSAY_CALLS_UNSWITCHED 4u  /* perf_event was denied: waiting is not separated */
#define ASSAY_CALLS_SETTLED 8u     /* more switches than the ring holds: the CPU clock settled it */
#define ASSAY_CALLS_LOST 16u       /* events were lost: header.lost_events */
#define ASSAY_CALLS_UNMATCHED 32u  /* exits came whose entries were not seen */
#define ASSAY_CALLS_RESYNCED 64u   /* calls were closed without an exit: longjmp, exceptions */
#define ASSAY_CALLS_FILTERED 128u  /* functions were left out by a filter */
#define ASSAY_CALLS_LIBRARIES 256u /* calls into libraries are counted */
#define ASSAY_CALLS_KERNEL 512u    /* functions are the kernel's */
#define ASSAY_CALLS_FORKED 1024u   /* began as a fork: its first path was inherited */
#define ASSAY_CALLS_STACKS 2048u   /* more stacks (coroutines) than are told apart */
#define ASSAY_CALLS_IMAGES 4096u   /* images found no room: functions in them have no names */

enum assay_calls_state {
	ASSAY_CALLS_RUNNING = 1,
	ASSAY_CALLS_EXITED = 2, /* said so itself; after a signal or exit_group: RUNNING */
	ASSAY_CALLS_MOVED = 3,  /* gave way to another program: exec */
};

/* Ticks and nanoseconds (CLOCK_MONOTONIC_RAW) at one moment. */
struct assay_calls_moment {
	uint64_t ticks, ns;
};

/* Readings of one kind: of a hook's own duration, in ticks. */
struct assay_calls_sample {
	uint64_t count, sum, squares;
};

#define ASSAY_CALLS_LENGTHS 6

/*
 * What a call costs, from the calibration at start, in 1/1024 ticks. The callee's
 * part depends on how long the callee is, for processors work on what comes before
 * and after a reading of the clock meanwhile: lengths[] tells it for some lengths,
 * rising; between two of them it lies between theirs. `inner` is the first's.
 */
struct assay_calls_cost {
	int32_t inner, outer;             /* charged to the callee; to the caller */
	int32_t inner_error, outer_error; /* how far repeated calibrations lie apart */
	int32_t enter_read, exit_read;    /* a hook between two readings of the clock, then */
	int32_t read;                     /* two readings with nothing between */
	uint32_t length_count;
	struct {
		int32_t net, inner; /* net of a call as told, cost included; cost in it */
	} lengths[ASSAY_CALLS_LENGTHS];
};

struct assay_calls_header {
	char magic[8];
	uint32_t version, header_bytes; /* the first chunk is at header_bytes, 4096 */
	uint64_t used_bytes;            /* chunks reserved so far, header included */
	uint64_t limit_bytes;           /* no more will be reserved */
	uint32_t flags, state;
	uint32_t epoch; /* grows with each reset */
	uint32_t depth_limit;
	int32_t pid, parent; /* parent: the process that it was forked from, or 0 */
	uint32_t uid, cpus;
	uint64_t birth;    /* start time in /proc/PID/stat, clock ticks since boot: with pid, who */
	uint64_t start_ns; /* CLOCK_REALTIME */
	struct assay_calls_moment first, latest; /* the clock's rate lies between them */
	uint64_t end_ticks;                      /* 0: not ended */
	struct assay_calls_cost cost;
	uint64_t lost_events, other_calls, unmatched_exits, resyncs, deferred;
	uint64_t nested_stacks;
	char name[64];     /* the program's, without folders */
	char command[512]; /* arguments with blanks between, cut short */
};

enum assay_calls_kind {
	ASSAY_CHUNK_NONE = 0,
	ASSAY_CHUNK_THREAD = 1, /* one struct assay_calls_thread */
	ASSAY_CHUNK_NODES = 2,  /* `used` struct assay_calls_node */
	ASSAY_CHUNK_WAITS = 3,  /* `used` struct assay_calls_wait */
	ASSAY_CHUNK_IMAGES = 4, /* `used` struct assay_calls_image */
	ASSAY_CHUNK_NAMES = 5,  /* in recordings: `used` struct assay_calls_name */
	ASSAY_CHUNK_TEXT = 6,   /* in recordings: `used` bytes of texts, each ended by 0 */
	/* In recordings, whose times are net of the counting's cost already: */
	ASSAY_CHUNK_BOOKS = 7, /* one struct assay_calls_books */
	ASSAY_CHUNK_BOOK = 8,  /* `used` struct assay_calls_book, one a thread */
	ASSAY_CHUNK_MORE = 9,  /* `used` struct assay_calls_more, for some nodes */
	/* In baselines, which a reset leaves: */
	ASSAY_CHUNK_CLOCKS = 10, /* `used` struct assay_calls_clocks */
};

struct assay_calls_chunk { /* 64 bytes */
	uint32_t kind;
	uint32_t thread; /* unit of the thread's record (struct assay_calls_thread), 0: none */
	uint64_t bytes;  /* with this header */
	uint64_t used;   /* items; grows */
	uint64_t unused[5];
};

/*
 * A function, as a node holds it: bits 0..47 the address (sign-extended from bit
 * 47: the kernel's), bits 48..59 an image's index + 1 where the image is gone
 * (dlclose) and its addresses may be another's by now (0: an image that found no
 * room), bits 60..63 what follows.
 */
#define ASSAY_FN_ADDRESS 0x0000ffffffffffffull
#define ASSAY_FN_IMAGE_SHIFT 48
#define ASSAY_FN_IMAGE_MASK 0xfffull
#define ASSAY_FN_COUNTED (1ull << 60)   /* a library's, counted and not timed */
#define ASSAY_FN_LIBRARY (1ull << 61)   /* called through the PLT or GOT */
#define ASSAY_FN_INHERITED (1ull << 62) /* open when the process was forked; calls 0 */
#define ASSAY_FN_GONE (1ull << 63)      /* bits 48..59 hold */
/* Addresses that are no function's. */
#define ASSAY_FN_OUTSIDE 0ull   /* a thread's root: no instrumented function is open */
#define ASSAY_FN_OTHER 1ull     /* (other): paths that found no room, or too deep */
#define ASSAY_FN_INTERRUPT 2ull /* (interrupt): a CPU's interrupts, kernel tables alone */

struct assay_calls_node { /* 64 bytes: one cache line */
	uint64_t function;
	uint32_t parent;   /* node; 0: a root */
	uint32_t wait;     /* unit of its struct assay_calls_wait; 0: never waited */
	uint32_t child[3]; /* the writer's cache of children, by the function's hash */
	uint32_t next;     /* the writer's: the sibling that was called after it, last time */
	uint64_t calls;    /* entries */
	uint64_t net;      /* ticks on CPU in this function alone, hooks' own cost included */
	int64_t min, max;  /* net of one call, own cost taken off, may be negative; no call
	                      has ended: INT64_MAX and INT64_MIN */
};

struct assay_calls_wait {                        /* 64 bytes */
	uint64_t blocked, preempted;             /* ticks */
	uint64_t blocked_count, preempted_count; /* times */
	uint32_t node, unused32;
	uint64_t settled; /* of blocked: ticks that the CPU clock told, not the switch records */
	uint64_t unused[2];
};

/* A thread's epoch, written by a reset: it is to restart min and max at its next exit. */
#define ASSAY_CALLS_RESTART UINT32_MAX

#define ASSAY_CALLS_STACKS_MAX 64

/*
 * A thread's record. It outlives the thread: the next thread that begins takes
 * the record and the tree on, and what ended is added to the past_ fields.
 */
struct assay_calls_thread {
	uint64_t last;                   /* ticks of its last event: written at each */
	uint32_t current;                /* node of the innermost open function, at that moment */
	uint32_t root;                   /* node */
	int32_t tid;                     /* 0: ended, the record is free */
	uint32_t epoch;                  /* header.epoch as far as it was followed, or RESTART */
	uint64_t threads;                /* that had this record */
	uint64_t first;                  /* ticks: when this thread was first seen */
	uint64_t before_cpu_ns;          /* its CPU clock then */
	uint64_t sync, sync_cpu_ns;      /* a later reading of both: at switches, and at the end */
	uint64_t past_wall, past_cpu_ns; /* of ended threads: first to end; CPU clock meanwhile */
	uint64_t own;  /* ticks: what the slow ways of the hooks took, measured, in no net */
	uint64_t slow; /* events that took a slow way */
	struct assay_calls_sample enter, exit; /* double readings of hooks, one in some hundred */
	uint32_t stack_count; /* suspended stacks (coroutines) whose functions are open */
	uint32_t stacks[ASSAY_CALLS_STACKS_MAX]; /* node of the innermost open function of each */
	char name[16];
};

/* A file that was mapped, as far as it holds code. */
struct assay_calls_image {           /* 384 bytes */
	uint64_t start, end, offset; /* addresses; offset in the file of start */
	uint64_t device, inode;      /* device: major << 32 | minor */
	uint32_t gone; /* bit 0: unmapped meanwhile; bits 8..15, in recordings: kind + 1 */
	uint32_t build_id_size;
	uint8_t build_id[32];
	char path[304]; /* cut short at its begin, "..." first, if longer */
};

/* In recordings: a function's name, known when the recording was made. */
struct assay_calls_name {  /* 32 bytes */
	uint64_t function; /* as in a node, without INHERITED */
	uint32_t name;     /* byte in the table's texts: all TEXT chunks' bytes in a row; 0: none */
	uint32_t file;     /* the source file's; 0: not known */
	uint32_t line, unused32;
	uint64_t unused;
};

/*
 * A recording's process: what a reader derived from the table that the process
 * wrote. Its times are ticks and may be negative; so may a node's net be here.
 */
struct assay_calls_books {      /* 128 bytes */
	uint32_t flags;         /* header.flags, and those of a reader from bit 16 on */
	uint32_t name, command; /* bytes in the table's texts */
	uint32_t unused32;
	int64_t wall, own, own_error; /* first event to the end; what the counting cost */
	int64_t inner, outer;         /* 1/1024 ticks: cost of a call, as it was taken off */
	uint64_t table_bytes;         /* of the table that the process wrote */
	uint64_t uncounted;           /* children that ran on when COMMAND ended, with no table */
	uint64_t unused[7];
};

#define ASSAY_CALLS_UNKNOWN INT64_MIN /* of assay_calls_book.cpu and cpu_residual */

/* A recording's thread. */
struct assay_calls_book { /* 128 bytes */
	int64_t wall, cpu, net, own, blocked, preempted, tail;
	int64_t cpu_residual, wall_residual;
	uint64_t threads;
	int32_t tid;
	uint32_t name; /* byte in the table's texts */
	uint64_t unused[5];
};

/* What a recording's node has besides; none: zeros. */
struct assay_calls_more {    /* 32 bytes */
	uint32_t node, open; /* open: of how many threads the call had not returned */
	int64_t net_error;   /* ticks: half of a 95 % interval */
	uint64_t unused[2];
};

/* A running thread's clocks when a baseline was taken. */
struct assay_calls_clocks { /* 32 bytes */
	int32_t tid;
	uint32_t runs;                /* 1: it was on CPU or waited for one */
	uint64_t cpu_ns, runnable_ns; /* on CPU; waited for one: since the thread began */
	uint64_t unused;
};

#endif
