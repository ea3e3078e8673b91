/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event: one decoded record, independent of its source.
 *
 * A plain record. Pointers (chain, filename, name) are valid until the next event is delivered.
 * Times are nanoseconds of the recording's clock (see recording.h). Uses: base.
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
	EVENT_LOST,        /* records that the kernel dropped for lack of room */
	EVENT_THROTTLE,    /* the kernel stopped or resumed an event */
	EVENT_READ,        /* a counter's value */
	EVENT_CGROUP,      /* the path of a cgroup's number */
	EVENT_OUTER_STACK, /* the outermost frames of deep stacks, which samples refer to */
	EVENT_DESCRIPTOR,  /* the file that an open descriptor of a process refers to */
	EVENT_KERNEL_CODE, /* the kernel generated code, or such code is gone */
	EVENT_LABELS,      /* labels of a process, or of all */
	EVENT_OTHER,       /* a kind that no model uses: counted, not decoded */
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

/* The kernel's contexts in which a tracepoint was reached, from its common_flags. */
enum event_context {
	EVENT_IN_INTERRUPT = 1 << 0, /* a hardware interrupt, or an NMI */
	EVENT_IN_SOFTIRQ = 1 << 1,
};

/*
 * The decoded fields of sched:sched_switch (the sample is of the thread that leaves the CPU) and of
 * sched:sched_waking, sched_wakeup and sched_wakeup_new (the sample is of the thread that runs;
 * with a context set, an interrupt woke, and not that thread). Thread ids are of the first pid
 * namespace.
 */
struct event_scheduling {
	bool known;         /* false: the sample has no such fields */
	bool is_new;        /* sched_wakeup_new: the thread runs for the first time */
	uint8_t context;    /* enum event_context, a set */
	int32_t tid;        /* switch: the next thread; wake: the woken thread */
	int32_t own_tid;    /* the sample's thread */
	int32_t target_cpu; /* wake: the CPU on which the thread will run; -1: not recorded */
	int64_t state;      /* switch: prev_state of the kernel; 0: the thread is still runnable */
};

/* The decoded fields of raw_syscalls:sys_enter and raw_syscalls:sys_exit. */
struct event_system_call {
	bool known;        /* false: the sample has no such fields */
	bool exit;         /* the call returns */
	int64_t number;    /* by the architecture of the recording; -1: none */
	uint64_t argument; /* enter: the first argument */
	int64_t result;    /* exit: of failed calls -errno */
};

/* The decoded fields of lock:contention_begin and lock:contention_end. */
struct event_contention {
	bool known;       /* false: the sample has no such fields */
	bool end;         /* the wait for the lock ends */
	uint64_t address; /* of the lock, in the kernel */
	uint32_t flags;   /* begin: the kernel's LCB_F_* */
	int32_t result;   /* end: 0 if the thread has the lock */
};

struct event_sample {
	uint64_t ip;
	uint64_t period; /* the weight of the sample, in the event's unit */
	uint64_t addr;   /* data address; 0: not recorded */
	uint64_t cgroup; /* number; 0: not recorded */
	/*
	 * perf's call chain as recorded: addresses, innermost first, separated by context marks
	 * (CHAIN_CONTEXT_*). NULL: none.
	 */
	const uint64_t *chain;
	uint32_t chain_count;
	uint8_t stack_end; /* enum stack_end: how the user's part of the chain ends */
	uint32_t outer;    /* the EVENT_OUTER_STACK that continues the chain; 0: none */
	/*
	 * The user registers and the bytes at the user stack pointer, if they were recorded in
	 * place of a chain. Registers have perf's numbers, in ascending order, one value for each
	 * bit of regs_mask. regs NULL: none; stack_size 0: none.
	 */
	const uint64_t *regs;
	uint64_t regs_mask;
	uint32_t regs_abi; /* PERF_SAMPLE_REGS_ABI_* */
	const uint8_t *stack;
	uint64_t stack_size; /* valid bytes */
	/* The fields of a tracepoint (format/perf/tracepoint_format.h). NULL: not recorded. */
	const uint8_t *raw;
	uint32_t raw_size;
	struct event_scheduling scheduling; /* of samples with the role ATTR_SWITCH or ATTR_WAKE */
	struct event_system_call system_call;
	struct event_contention contention;
};

/* Frames, innermost first. The callers of the last frame are in the outer stack `parent`. */
struct event_outer_stack {
	uint32_t id, parent; /* parent 0: none, and the last frame is the thread's first function */
	const uint64_t *addresses;
	uint32_t count;
	const char *thread_name; /* for writing: the name of the event's thread; NULL when read */
};

#define CHAIN_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CHAIN_CONTEXT_KERNEL ((uint64_t)-128)
#define CHAIN_CONTEXT_USER ((uint64_t)-512)
/* The user's part comes later, in a record with the cookie that follows this mark. */
#define CHAIN_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define CHAIN_CONTEXT_MAX ((uint64_t)-4095) /* values from here on are marks */

/*
 * From the event's time on, descriptor `number` of process `pid` refers to `name`: the text of
 * /proc/PID/fd/N ("/var/log/messages", "pipe:[42]"), or of a socket its addresses
 * ("tcp 127.0.0.1:5432 127.0.0.1:40000", "unix @name 1234": local, then peer).
 */
struct event_descriptor {
	uint32_t number;
	const char *name;
	const char *thread_name; /* for writing: the name of the event's thread; NULL when read */
};

/* Labels of process `pid` from the event's time on. They replace those that it had. */
struct event_labels {
	const char *text;        /* lines "key=value" (base/text/labels.h); "": none */
	const char *thread_name; /* for writing: as above */
	bool all;                /* of each process without labels of its own; pid is 0 */
};

struct event_mmap {
	uint64_t addr, size, pgoff; /* bytes */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;     /* as mmap(2); prot 0 where not recorded */
	struct build_id build_id; /* size 0 where not recorded */
	bool executable;          /* false: a data mapping (-d) */
	const char *filename;
};

/*
 * From the event's time on, the kernel has generated code in this range (a BPF program, a
 * trampoline, a kprobe slot), or has no longer.
 */
struct event_kernel_code {
	uint64_t address;
	uint32_t size; /* bytes */
	bool bpf;
	bool ended;
	const char *name; /* "bpf_prog_TAG_NAME" */
};

struct event_switch {
	bool out;              /* false: the thread was switched in */
	bool preempted;        /* out only: the thread was still runnable */
	bool machine_wide;     /* next_prev_* are known */
	int32_t next_prev_pid; /* out: the next thread; in: the previous thread */
	int32_t next_prev_tid;
};

struct event {
	enum event_kind kind;
	enum cpu_mode mode;
	uint16_t attr; /* index into recording.attrs, EVENT_NO_ATTR if unknown */
	uint32_t cpu;  /* EVENT_NO_CPU if unknown */
	int32_t pid, tid;
	uint64_t time_ns;     /* 0: the record has none */
	uint64_t file_offset; /* offset of the record in the file, for messages */
	uint32_t type;        /* perf's record type number */
	union {
		struct event_sample sample;
		struct event_mmap mmap;
		struct {
			const char *name;
			bool exec;          /* an exec gave this name: a new program */
			bool exec_unmarked; /* the record does not say whether an exec gave the name
			                     */
		} comm;
		struct {
			int32_t parent_pid, parent_tid; /* pid, tid: the new thread */
			bool fresh; /* the parent's maps are not inherited (synthesized) */
		} fork;             /* and EVENT_EXIT */
		struct {
			uint64_t id;
			const char *path; /* "/user.slice/..." */
			bool member; /* the process is in this cgroup; false: no process is meant */
		} cgroup;
		struct event_switch sched;
		struct event_outer_stack outer_stack;
		struct event_descriptor descriptor;
		struct event_labels labels;
		struct event_kernel_code kernel_code;
		struct {
			uint64_t count;
			bool samples;  /* only samples (LOST_SAMPLES) */
			bool rejected; /* by a filter on purpose: they are not lost */
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
