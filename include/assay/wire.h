/* SPDX-License-Identifier: MIT */
/*
 * wire: the format of a table of call paths, in shared memory and in a recording. docs/FORMAT.md
 * describes each field.
 *
 * A table is a file: one header, then chunks. Offsets and ids count units of 64 bytes from the
 * start of the table; a node's id is its unit. Each chunk starts at a multiple of 4096 bytes with a
 * struct assay_calls_chunk. A page of zeros was reserved and never initialized: a reader continues
 * 4096 bytes later. A recording is a sequence of tables, each header.used_bytes long.
 *
 * Only the thread itself writes its nodes. Readers map the file and read at any time: counters have
 * 8 aligned bytes and only grow. A node exists when its chunk's `used` counts it. All values have
 * the machine's byte order. Times are ticks of the clock that the header describes.
 */
#ifndef ASSAY_WIRE_H
#define ASSAY_WIRE_H

#include <stdint.h>

#define ASSAY_CALLS_MAGIC "ASYCALLS"
#define ASSAY_CALLS_VERSION 2
#define ASSAY_CALLS_UNIT 64u   /* bytes */
#define ASSAY_CALLS_PAGE 4096u /* bytes; chunks are multiples of it */

/* header.flags: conditions that a reader reports. Set, never cleared. */
#define ASSAY_CALLS_FULL 1u         /* memory was used up: paths are counted in (other) */
#define ASSAY_CALLS_DEEP 2u         /* deeper than the limit: paths are counted in (other) */
#define ASSAY_CALLS_UNSWITCHED 4u   /* perf_event was denied: waiting is not separated */
#define ASSAY_CALLS_SETTLED 8u      /* switches overflowed the ring: waits from the CPU clock */
#define ASSAY_CALLS_LOST 16u        /* events were lost: header.lost_events */
#define ASSAY_CALLS_UNMATCHED 32u   /* exits without a recorded entry */
#define ASSAY_CALLS_RESYNCED 64u    /* calls were closed without an exit: longjmp, exceptions */
#define ASSAY_CALLS_FILTERED 128u   /* a filter excluded functions */
#define ASSAY_CALLS_LIBRARIES 256u  /* calls into libraries are counted */
#define ASSAY_CALLS_KERNEL 512u     /* functions are kernel functions */
#define ASSAY_CALLS_FORKED 1024u    /* started by a fork: its first path was inherited */
#define ASSAY_CALLS_STACKS 2048u    /* more stacks (coroutines) than the runtime can distinguish */
#define ASSAY_CALLS_IMAGES 4096u    /* no room for some images: their functions have no names */
#define ASSAY_CALLS_UNSAMPLED 8192u /* perf_event was denied: each event reads the clock */

enum assay_calls_state {
	ASSAY_CALLS_RUNNING = 1,
	ASSAY_CALLS_EXITED = 2, /* the process wrote this; after a signal or exit_group: RUNNING */
	ASSAY_CALLS_MOVED = 3,  /* executed another program */
};

/* Ticks and nanoseconds (CLOCK_MONOTONIC_RAW) at one moment. */
struct assay_calls_moment {
	uint64_t ticks, ns;
};

/* Measurements of one kind of hook: its own duration, in ticks. */
struct assay_calls_sample {
	uint64_t count, sum, squares;
};

#define ASSAY_CALLS_LENGTHS 6

/*
 * The cost of a call, from the calibration at the start, in 1/1024 ticks. The callee's part depends
 * on its duration, since processors execute instructions around a clock reading in parallel with
 * it. lengths[] has the cost for some durations, in increasing order; readers interpolate between
 * them. `inner` is the cost for the first duration.
 */
struct assay_calls_cost {
	int32_t inner, outer;             /* part in the callee's net; part in the caller's net */
	int32_t inner_error, outer_error; /* error, from the spread of repeated calibrations */
	int32_t enter_read, exit_read;    /* duration of a hook between two clock readings */
	int32_t read;                     /* duration between two consecutive clock readings */
	uint32_t length_count;
	struct {
		int32_t net, inner; /* net of a call as measured, with cost; cost in it */
	} lengths[ASSAY_CALLS_LENGTHS];
};

struct assay_calls_header {
	char magic[8];
	uint32_t version, header_bytes; /* the first chunk is at header_bytes, 4096 */
	uint64_t used_bytes;            /* chunks reserved so far, header included */
	uint64_t limit_bytes;           /* maximum of used_bytes */
	uint32_t flags, state;
	uint32_t epoch; /* increases with each reset */
	uint32_t depth_limit;
	int32_t pid, parent; /* parent: the process that forked it, or 0 */
	uint32_t uid, cpus;
	uint64_t birth;    /* start time in /proc/PID/stat, clock ticks since boot */
	uint64_t start_ns; /* CLOCK_REALTIME */
	struct assay_calls_moment first, latest; /* the clock's rate lies between them */
	uint64_t end_ticks;                      /* 0: not ended */
	struct assay_calls_cost cost;
	uint64_t lost_events, other_calls, unmatched_exits, resyncs, deferred;
	uint64_t nested_stacks;
	char name[64];     /* the program's name without folders */
	char command[512]; /* arguments separated by blanks, truncated */
	/*
	 * 1/1024 ticks: the cost of a call whose hooks do not read the clock, and of one whose
	 * hooks read it, with the part that is in no net. 0: not measured.
	 */
	int32_t counted_cost, timed_cost;
};

enum assay_calls_kind {
	ASSAY_CHUNK_NONE = 0,
	ASSAY_CHUNK_THREAD = 1, /* one struct assay_calls_thread */
	ASSAY_CHUNK_NODES = 2,  /* `used` struct assay_calls_node */
	ASSAY_CHUNK_WAITS = 3,  /* `used` struct assay_calls_wait */
	ASSAY_CHUNK_IMAGES = 4, /* `used` struct assay_calls_image */
	ASSAY_CHUNK_NAMES = 5,  /* in recordings: `used` struct assay_calls_name */
	ASSAY_CHUNK_TEXT = 6,   /* in recordings: `used` bytes of texts, each ended by 0 */
	/* Only in recordings. Their times do not include the cost of the hooks: */
	ASSAY_CHUNK_BOOKS = 7, /* one struct assay_calls_books */
	ASSAY_CHUNK_BOOK = 8,  /* `used` struct assay_calls_book, one for each thread */
	ASSAY_CHUNK_MORE = 9,  /* `used` struct assay_calls_more, for some nodes */
	/* In baselines, which a reset writes: */
	ASSAY_CHUNK_CLOCKS = 10, /* `used` struct assay_calls_clocks */
	ASSAY_CHUNK_TIMES = 11,  /* `used` struct assay_calls_times */
};

struct assay_calls_chunk { /* 64 bytes */
	uint32_t kind;
	uint32_t thread; /* unit of the thread's record (struct assay_calls_thread), 0: none */
	uint64_t bytes;  /* including this header */
	uint64_t used;   /* items; grows */
	uint64_t unused[5];
};

/*
 * The format of a function in a node. Bits 0..47: the address, sign-extended from bit 47 (kernel
 * addresses). Bits 48..59: the index + 1 of an unmapped image (dlclose), whose addresses another
 * image may use now; 0: an image that is not in the table. Bits 60..63: the flags below.
 */
#define ASSAY_FN_ADDRESS 0x0000ffffffffffffull
#define ASSAY_FN_IMAGE_SHIFT 48
#define ASSAY_FN_IMAGE_MASK 0xfffull
#define ASSAY_FN_COUNTED (1ull << 60)   /* a library function that is counted but not timed */
#define ASSAY_FN_LIBRARY (1ull << 61)   /* called through the PLT or GOT */
#define ASSAY_FN_INHERITED (1ull << 62) /* open when the process was forked; calls 0 */
#define ASSAY_FN_GONE (1ull << 63)      /* bits 48..59 are valid */
/* Special values in place of an address. */
#define ASSAY_FN_OUTSIDE 0ull   /* a thread's root: no instrumented function is open */
#define ASSAY_FN_OTHER 1ull     /* (other): paths without room, or too deep */
#define ASSAY_FN_INTERRUPT 2ull /* (interrupt): a CPU's interrupts, only in kernel tables */

struct assay_calls_node { /* 64 bytes: one cache line */
	uint64_t function;
	uint32_t parent;   /* node; 0: a root */
	uint32_t wait;     /* unit of its struct assay_calls_wait; 0: never waited */
	uint32_t child[3]; /* the writer's cache of children, by the function's hash */
	uint32_t next;  /* the writer's cache: the sibling that was called after this node the last
	                   time */
	uint64_t calls; /* entries */
	uint64_t net;   /* ticks on CPU in this function only, with the cost of the hooks */
	int64_t min, max; /* net of one call without the cost of the hooks, may be negative;
	                     INT64_MAX and INT64_MIN before the first call ends */
};

struct assay_calls_wait {                        /* 64 bytes */
	uint64_t blocked, preempted;             /* ticks */
	uint64_t blocked_count, preempted_count; /* times */
	uint32_t node;
	uint32_t times;   /* in tables of processes: unit of the node's sums of times, 0: none */
	uint64_t settled; /* part of blocked that comes from the CPU clock */
	/* Of the thread's CPU time, in the node's function. Each adds `period` ticks to its net. */
	uint64_t samples;
	uint64_t unused;
};

/*
 * Durations of the calls of a node. One item has sums, and the others have buckets. A bucket
 * counts the calls that a timed call stands for: one, or more for a call that was chosen at random;
 * ASSAY_TIMES_WEIGHT if the thread counted without the clock.
 */
struct assay_calls_times { /* 64 bytes */
	uint32_t node;
	uint32_t first; /* the first bucket of counts[]; ASSAY_TIMES_SUMS: counts[] has sums */
	uint32_t next;  /* for the writer: unit of the node's next item, 0: none */
	uint32_t unused32;
	uint64_t counts[6];
};

#define ASSAY_TIMES_SUMS UINT32_MAX
enum { ASSAY_TIMES_BUCKETS = 6 }; /* in one item; `first` is a multiple of it */
/* The sums: number of timed calls; sum of the squares of their weights; number of calls that were
 * chosen and not timed; in recordings: ticks, sum of the errors of the timed durations. */
enum { ASSAY_TIMES_TIMED, ASSAY_TIMES_SQUARES, ASSAY_TIMES_MISSED, ASSAY_TIMES_ERROR };
#define ASSAY_TIMES_WEIGHT 4096u
/* A path's calls before this one have no durations, so that rare paths need no memory. */
#define ASSAY_TIMES_FIRST 16u

/* Eight buckets for each power of two, and one for each value below 8: 488 buckets in total. */
static inline uint32_t assay_times_bucket(int64_t net)
{
	uint64_t value = net > 0 ? (uint64_t)net : 0;
	uint32_t power;

	if (value < 8)
		return (uint32_t)value;
	power = 63 - (uint32_t)__builtin_clzll(value);
	return (power - 2) * 8 + ((uint32_t)(value >> (power - 3)) & 7);
}

/*
 * Value of a thread's epoch that a reset writes: the thread restarts min and max at its next exit.
 */
#define ASSAY_CALLS_RESTART UINT32_MAX

#define ASSAY_CALLS_STACKS_MAX 64

/*
 * A thread's record. It outlives the thread: the next new thread continues with the record and the
 * tree, and the times of the ended thread are added to the past_ fields.
 */
struct assay_calls_thread {
	uint64_t last;          /* ticks of its last event: written at each */
	uint32_t current;       /* node of the innermost open function, at that moment */
	uint32_t root;          /* node */
	int32_t tid;            /* 0: ended, the record is free */
	uint32_t epoch;         /* the last header.epoch that the thread has handled, or RESTART */
	uint64_t threads;       /* number of threads that had this record */
	uint64_t first;         /* ticks: first event of this thread */
	uint64_t before_cpu_ns; /* its CPU clock at `first` */
	uint64_t sync, sync_cpu_ns;      /* a later reading of both: at switches, and at the end */
	uint64_t past_wall, past_cpu_ns; /* ended threads: ticks; CPU time */
	uint64_t own;  /* ticks: measured duration of the slow paths of the hooks, in no net */
	uint64_t slow; /* events on a slow path */
	struct assay_calls_sample enter, exit; /* durations of sampled hooks, one in some hundred */
	uint32_t stack_count; /* suspended stacks (coroutines) whose functions are open */
	uint32_t stacks[ASSAY_CALLS_STACKS_MAX]; /* node of the innermost open function of each */
	char name[16];
	/*
	 * If the CPU time is sampled while the thread has many events: the ticks that a sample
	 * stands for, and the ticks that taking it costs. `net` of nodes is then without the cost
	 * of the hooks. 0: the clock is read at each event.
	 */
	uint64_t period, period_cost;
	uint64_t samples, own_samples; /* samples in the program, and in the code of the hooks */
};

/* A mapping of a file that contains code. */
struct assay_calls_image {           /* 384 bytes */
	uint64_t start, end, offset; /* addresses; offset in the file of start */
	uint64_t device, inode;      /* device: major << 32 | minor */
	uint32_t gone;               /* bit 0: unmapped; bits 8..15, in recordings: kind + 1 */
	uint32_t build_id_size;
	uint8_t build_id[32];
	char path[304]; /* a longer path loses its beginning and starts with "..." */
};

/* In recordings: a function's name, found when the recording was written. */
struct assay_calls_name {  /* 32 bytes */
	uint64_t function; /* as in a node, without INHERITED */
	uint32_t name;     /* offset in the bytes of all TEXT chunks; 0: none */
	uint32_t file;     /* the source file; 0: unknown */
	uint32_t line, unused32;
	uint64_t unused;
};

/*
 * A process in a recording: values that a reader derived from the table that the process wrote. Its
 * times are ticks and may be negative. In a recording a node's net may be negative too.
 */
struct assay_calls_books {      /* 128 bytes */
	uint32_t flags;         /* header.flags, and flags of the reader from bit 16 on */
	uint32_t name, command; /* bytes in the table's texts */
	uint32_t unused32;
	int64_t wall, own, own_error; /* wall: first event to the end; own: the cost of counting */
	int64_t inner, outer;         /* 1/1024 ticks: the cost of a call that was subtracted */
	uint64_t table_bytes;         /* size of the table that the process wrote */
	uint64_t uncounted; /* children that were running when COMMAND ended, and have no table */
	int64_t sample;     /* ticks of CPU time that a sample stands for; 0: none was taken */
	uint64_t samples, own_samples; /* in the program; in the code of the hooks */
	uint64_t unused[4];
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

/* Additional data of a node in a recording. A node without it has zeros. */
struct assay_calls_more {    /* 32 bytes */
	uint32_t node, open; /* open: number of threads in which the call had not returned */
	int64_t net_error;   /* ticks: half of a 95 % interval, without the scatter of samples */
	uint32_t is_sampled; /* 1: the net comes from samples, at least in part */
	uint32_t unused32;
	uint64_t unused;
};

/* A running thread's clocks when a baseline was taken. */
struct assay_calls_clocks { /* 32 bytes */
	int32_t tid;
	uint32_t runs;                /* 1: it was running or waiting for a CPU */
	uint64_t cpu_ns, runnable_ns; /* times since the start: running; waiting for a CPU */
	uint64_t unused;
};

/* The size of one item of a chunk; 0: the kind is not known. */
static inline uint64_t assay_calls_item_bytes(uint32_t kind)
{
	switch (kind) {
	case ASSAY_CHUNK_THREAD:
		return sizeof(struct assay_calls_thread);
	case ASSAY_CHUNK_NODES:
		return sizeof(struct assay_calls_node);
	case ASSAY_CHUNK_WAITS:
		return sizeof(struct assay_calls_wait);
	case ASSAY_CHUNK_IMAGES:
		return sizeof(struct assay_calls_image);
	case ASSAY_CHUNK_NAMES:
		return sizeof(struct assay_calls_name);
	case ASSAY_CHUNK_TEXT:
		return 1;
	case ASSAY_CHUNK_BOOKS:
		return sizeof(struct assay_calls_books);
	case ASSAY_CHUNK_BOOK:
		return sizeof(struct assay_calls_book);
	case ASSAY_CHUNK_MORE:
		return sizeof(struct assay_calls_more);
	case ASSAY_CHUNK_CLOCKS:
		return sizeof(struct assay_calls_clocks);
	case ASSAY_CHUNK_TIMES:
		return sizeof(struct assay_calls_times);
	default:
		return 0;
	}
}

#endif
