/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event: one thing that happened, decoded, whatever the source.
 *
 * A plain record. Pointers (chain, filename, name) are good until the next
 * event is delivered. Times are nanoseconds on the recording's clock
 * (recording.h says which). Uses: base.
 */
#ifndef ASSAY_EVENT_EVENT_H
#define ASSAY_EVENT_EVENT_H

#include "base/build_id.h"
#include "event/stack_end.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_SAMPLE,
	EVENT_MMAP,
	EVENT_COMM,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_SWITCH,
	EVENT_LOST,        /* records that the kernel had no room for */
	EVENT_THROTTLE,    /* the kernel stopped or resumed an event */
	EVENT_READ,        /* a counter's value */
	EVENT_CGROUP,      /* the path of a cgroup's number */
	EVENT_OUTER_STACK, /* the outermost frames of deep stacks, which samples refer to */
	EVENT_OTHER,       /* a kind that no model uses; counted, not decoded */
};

/* The CPU's mode, from perf's misc bits. */
enum cpu_mode {
	CPU_MODE_UNKNOWN,
	CPU_MODE_KERNEL,
	CPU_MODE_USER,
	CPU_MODE_HYPERVISOR,
	CPU_MODE_GUEST
};

#define EVENT_NO_CPU UINT32_MAX
#define EVENT_NO_ATTR UINT16_MAX

struct event_sample {
	uint64_t ip;
	uint64_t period; /* what the sample stands for, in the event's unit */
	uint64_t addr;   /* data address, 0 where none was recorded */
	uint64_t cgroup; /* number, 0 where none was recorded */
	/*
	 * perf's call chain as recorded: addresses, innermost first, with
	 * context marks (CHAIN_CONTEXT_*) between. NULL where none.
	 */
	const uint64_t *chain;
	uint32_t chain_count;
	uint8_t stack_end; /* enum stack_end: how the user's part of the chain ends */
	uint32_t outer; /* number of the EVENT_OUTER_STACK that goes on where chain ends; 0: none */
	/*
	 * The user's registers and the bytes at its stack pointer, where they were
	 * recorded in place of a chain: perf's register numbers, ascending, one
	 * value a bit of regs_mask. regs NULL: none; stack_size 0: none.
	 */
	const uint64_t *regs;
	uint64_t regs_mask;
	uint32_t regs_abi; /* PERF_SAMPLE_REGS_ABI_* */
	const uint8_t *stack;
	uint64_t stack_size; /* bytes that hold something */
};

/* Frames, innermost first, whose callers are those of outer stack `parent`. */
struct event_outer_stack {
	uint32_t id, parent; /* parent 0: none, the last frame is the thread's first */
	const uint64_t *addresses;
	uint32_t count;
	const char *thread_name; /* for writing: of the event's thread; NULL when read */
};

#define CHAIN_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CHAIN_CONTEXT_KERNEL ((uint64_t)-128)
#define CHAIN_CONTEXT_USER ((uint64_t)-512)
#define CHAIN_CONTEXT_MAX ((uint64_t)-4095) /* values from here up are marks */

struct event_mmap {
	uint64_t addr, size, pgoff; /* bytes */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;     /* as mmap(2); prot 0 where not recorded */
	struct build_id build_id; /* size 0 where not recorded */
	bool executable;          /* false: a data mapping (-d) */
	const char *filename;
};

struct event_switch {
	bool out;              /* false: the thread was switched in */
	bool preempted;        /* out only: it still wanted to run */
	bool machine_wide;     /* next_prev_* are known */
	int32_t next_prev_pid; /* out: who runs next; in: who ran before */
	int32_t next_prev_tid;
};

struct event {
	enum event_kind kind;
	enum cpu_mode mode;
	uint16_t attr; /* index into recording.attrs, EVENT_NO_ATTR if unknown */
	uint32_t cpu;  /* EVENT_NO_CPU if unknown */
	int32_t pid, tid;
	uint64_t time_ns;     /* 0 where the record carries none */
	uint64_t file_offset; /* where the record stands, for messages */
	uint32_t type;        /* perf's record type number */
	union {
		struct event_sample sample;
		struct event_mmap mmap;
		struct {
			const char *name;
			bool exec;          /* an exec gave this name: a new program */
			bool exec_unmarked; /* whether an exec did is not known */
		} comm;
		struct {
			int32_t parent_pid, parent_tid; /* pid, tid: the new thread */
			bool fresh; /* the parent's maps are not inherited (synthesized) */
		} fork;             /* and EVENT_EXIT */
		struct {
			uint64_t id;
			const char *path; /* "/user.slice/..." */
			bool member;      /* the process is in it; else nothing is said of any */
		} cgroup;
		struct event_switch sched;
		struct event_outer_stack outer_stack;
		struct {
			uint64_t count;
			bool samples; /* samples alone (LOST_SAMPLES) */
		} lost;
		struct {
			bool stopped;
		} throttle;
		struct {
			uint64_t value, enabled_ns, running_ns;
		} read;
	};
};

#endif
