/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_paths: exactly counted call paths, for each process: how often each path
 * was called, and its time on CPU and waiting, with what the counting cost
 * taken out.
 *
 * call_paths_new(); call_paths_process() for each process; call_path_child()
 * from its root on, adding to the columns; call_paths_close() once, which sums
 * totals up; then it is read. call_paths_free(). Paths of all threads of a
 * process are one tree; each thread's books are kept apart.
 *
 * Times are nanoseconds, as doubles: compensation leaves fractions, and may
 * leave less than nothing, which is shown and never clamped. A node's own
 * columns are of the path's last function alone; total_, and the sums beside
 * it, take in what it called. Not safe for several threads. Uses: base, image.
 */
#ifndef ASSAY_PROFILE_CALLS_CALL_PATHS_H
#define ASSAY_PROFILE_CALLS_CALL_PATHS_H

#include "base/memory/hash.h"
#include "image/image.h"

/* Why a process's figures may be incomplete. The first ones are wire.h's, bit by bit. */
enum call_flag {
	CALL_FULL = 1 << 0,
	CALL_DEEP = 1 << 1,
	CALL_UNSWITCHED = 1 << 2,
	CALL_SETTLED = 1 << 3,
	CALL_LOST = 1 << 4,
	CALL_UNMATCHED = 1 << 5,
	CALL_RESYNCED = 1 << 6,
	CALL_FILTERED = 1 << 7,
	CALL_LIBRARIES = 1 << 8,
	CALL_KERNEL = 1 << 9,
	CALL_FORKED = 1 << 10,
	CALL_STACKS = 1 << 11,
	CALL_IMAGES = 1 << 12,
	CALL_END_UNKNOWN = 1 << 16, /* the table does not say: by a signal or exit_group */
	CALL_RUNNING = 1 << 17,     /* ran when its table was read */
	CALL_MOVED = 1 << 18,       /* went on as another program: exec */
	CALL_RESET = 1 << 19,       /* figures are since a reset */
	CALL_DAMAGED = 1 << 20,     /* parts of the table make no sense, and are left out */
	CALL_KILLED = 1 << 21,      /* a signal ended it */
	CALL_UNCOUNTED = 1 << 22,   /* children ran on that had no table yet: see `uncounted` */
};

enum call_function_kind {
	CALL_FUNCTION,  /* frame names it */
	CALL_OUTSIDE,   /* no instrumented function is open */
	CALL_OTHER,     /* paths that found no room */
	CALL_INTERRUPT, /* a CPU's interrupts */
};

struct call_function {
	enum call_function_kind kind;
	struct frame frame; /* its first byte; in call_paths.images */
	bool library;       /* called through the PLT or GOT, not instrumented */
	bool counted;       /* counted and not timed: its time is its caller's */
	uint32_t name;      /* intern id in images.names, as the recording has it; 0: not known */
	uint32_t file;      /* likewise: the source file's; 0 */
	uint32_t line;
};

#define CALL_PATH_NONE UINT32_MAX

struct call_path {
	uint32_t parent, function;     /* path of the same process; index in call_paths.functions */
	uint32_t first_child, sibling; /* or CALL_PATH_NONE; in the order of first calls */
	uint64_t calls;
	double net_ns, net_error_ns; /* error: half of a 95 % interval of the compensation */
	double blocked_ns, preempted_ns;
	uint64_t blocked_count, preempted_count;
	double min_ns, max_ns; /* net of one call; NAN: no call has ended */
	uint32_t open;         /* calls that had not returned: of how many threads */
	uint32_t order;        /* first seen: 0 the first of the process */
	bool inherited;        /* open when the process was forked */
	/* by call_paths_close(): with all that it called */
	double total_ns, total_error_ns, total_blocked_ns, total_preempted_ns;
};

/* One thread, or several that one record served, one after the other. */
struct call_thread {
	int32_t tid;   /* of the last; 0: ended */
	uint32_t name; /* intern id in images.names */
	uint64_t threads;
	double wall_ns; /* from the first event to the last, or the thread's end */
	double cpu_ns;  /* its CPU clock meanwhile; NAN: not known */
	double net_ns;  /* of all its paths, (outside) included */
	double own_ns;  /* what the counting cost */
	double blocked_ns, preempted_ns;
	double tail_ns; /* of wall_ns: after the last event, in no path */
	/* net + own - cpu, and net + own + blocked + preempted + tail - wall */
	double cpu_residual_ns, wall_residual_ns;
};

struct call_process {
	uint32_t name, command; /* intern ids in images.names */
	int32_t pid, parent;
	uint64_t birth;    /* clock ticks since boot: with pid, who it was; 0 not known */
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint32_t flags;    /* enum call_flag */
	double wall_ns;    /* first event to end, or to when its table was read */
	double own_ns, own_error_ns;
	double inner_ns, outer_ns; /* own cost of a call: charged to the callee, to the caller */
	uint64_t lost_events, other_calls, unmatched_exits, resyncs, deferred;
	uint64_t uncounted; /* children that ran on when COMMAND ended, with no table */
	uint64_t table_bytes;
	VEC(struct call_path) paths; /* [0] is the root, CALL_OUTSIDE */
	VEC(struct call_thread) threads;
	struct id_table index; /* (parent, function) to path */
};

/*
 * All paths of a process that has some, depth first; `leave` comes when all below it were entered.
 * Without recursion: recorded paths may be of any depth.
 */
typedef void call_path_fn(void *ctx, uint32_t path);
void call_process_walk(const struct call_process *p, call_path_fn *enter, call_path_fn *leave,
                       void *ctx);

struct call_paths {
	struct image_table images;
	VEC(struct call_function) functions;
	struct id_table index;
	VEC(struct call_process) processes;
	bool closed;
};

struct call_paths *call_paths_new(void);
void call_paths_free(struct call_paths *c);

/* Same kind, frame, library and counted: same index. The first name given stays. */
uint32_t call_paths_function(struct call_paths *c, const struct call_function *f);

/* A new process with its root; its index. Pointers to processes move when the next is added. */
uint32_t call_paths_process(struct call_paths *c, const char *name, int32_t pid);

/* The child of `parent` for a function, made with zeros (min and max NAN) if it is new. */
uint32_t call_path_child(struct call_process *p, uint32_t parent, uint32_t function);

/* Adds min and max of ended calls; NAN is none. */
void call_path_range(struct call_path *path, double min_ns, double max_ns);

/* Sums totals up, for all processes. Once. */
void call_paths_close(struct call_paths *c);

/* From the root's child to `path`; the number written, the innermost `max` of them. */
size_t call_path_chain(const struct call_process *p, uint32_t path, uint32_t *chain, size_t max);
uint32_t call_path_depth(const struct call_process *p, uint32_t path); /* root: 0 */

/* Of all its paths. */
uint64_t call_process_calls(const struct call_process *p);

/* total + blocked + preempted of it and all that it called. */
double call_path_wall_ns(const struct call_path *path);

#endif
