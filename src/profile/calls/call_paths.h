/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_paths: exactly counted call paths of each process: the number of calls of each path, and its
 * time on CPU and waiting, with the cost of counting subtracted.
 *
 * call_paths_new(); call_paths_process() for each process; call_path_child() from its root on,
 * adding to the columns; call_paths_close() once, which computes totals; then it is read.
 * call_paths_free(). The paths of all threads of a process are one tree; each thread has its own
 * account.
 *
 * Times are nanoseconds, as doubles: compensation produces fractions and may produce negative
 * values, which are shown and never clamped. A node's own columns are of the path's last function
 * alone; total_ and the other sums include its callees. Not thread-safe. Uses: base, image.
 */
#ifndef ASSAY_PROFILE_CALLS_CALL_PATHS_H
#define ASSAY_PROFILE_CALLS_CALL_PATHS_H

#include "base/memory/hash.h"
#include "base/memory/path_tree.h"
#include "base/read/file_namer.h"
#include "image/image.h"
#include "profile/calls/call_times.h"

/* Reasons for incomplete figures of a process. The first flags have the same bits as in wire.h. */
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
	CALL_UNSAMPLED = 1 << 13,
	CALL_END_UNKNOWN = 1 << 16, /* not in the table: ended by a signal or exit_group */
	CALL_RUNNING = 1 << 17,     /* was running when its table was read */
	CALL_MOVED = 1 << 18,       /* executed another program */
	CALL_RESET = 1 << 19,       /* figures are since a reset */
	CALL_DAMAGED = 1 << 20,     /* parts of the table are invalid and were skipped */
	CALL_KILLED = 1 << 21,      /* ended by a signal */
	CALL_UNCOUNTED = 1 << 22,   /* child processes without a table ran on: see `uncounted` */
	CALL_NO_END = 1 << 23,      /* the time after the last event of each thread is missing */
};

enum call_function_kind {
	CALL_FUNCTION,  /* identified by `frame` */
	CALL_OUTSIDE,   /* time in which no instrumented function is open */
	CALL_OTHER,     /* paths for which the table had no space */
	CALL_INTERRUPT, /* a CPU's interrupts */
};

struct call_function {
	enum call_function_kind kind;
	struct frame frame; /* address of its first byte; in call_paths.images */
	bool library;       /* called through the PLT or GOT, not instrumented */
	bool counted;       /* counted and not timed: its time belongs to its caller */
	uint32_t name;      /* intern id in images.names, as recorded; 0: unknown */
	uint32_t file;      /* intern id of the source file; 0: unknown */
	uint32_t line;
};

#define CALL_PATH_NONE UINT32_MAX

struct call_path {
	uint32_t parent, function;     /* path of the same process; index in call_paths.functions */
	uint32_t first_child, sibling; /* or CALL_PATH_NONE; in order of the first calls */
	uint64_t calls;
	/* error: half of a 95 % interval, without the scatter of samples */
	double net_ns, net_error_ns;
	uint64_t samples; /* that net_ns contains; call_process.sample_ns for each */
	double blocked_ns, preempted_ns;
	uint64_t blocked_count, preempted_count;
	double min_ns, max_ns; /* net time of one call; NAN: no call has returned */
	uint32_t times;        /* index + 1 in the process's times; 0: there are none */
	uint32_t open;         /* calls that had not returned, summed over threads */
	bool inherited;        /* open when the process was forked */
	bool is_sampled;       /* net_ns comes from samples, at least in part */
	/* including all callees; set by call_paths_close() */
	double total_ns, total_error_ns, total_blocked_ns, total_preempted_ns;
	uint64_t total_samples;
};

/* One thread, or several threads that used one record one after the other. */
struct call_thread {
	int32_t tid;   /* of the last thread; 0: it has exited */
	uint32_t name; /* intern id in images.names */
	uint64_t threads;
	double wall_ns; /* from the first event to the last, or to the thread's exit */
	double cpu_ns;  /* its CPU clock in that time; NAN: unknown */
	double net_ns;  /* of all its paths, including (outside) */
	double own_ns;  /* the cost of counting */
	double blocked_ns, preempted_ns;
	double tail_ns; /* part of wall_ns after the last event, in no path */
	/* net + own - cpu, and net + own + blocked + preempted + tail - wall */
	double cpu_residual_ns, wall_residual_ns;
};

struct call_process {
	uint32_t name, command; /* intern ids in images.names */
	int32_t pid, parent;
	uint64_t birth;    /* clock ticks since boot, unique with pid; 0: unknown */
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint32_t flags;    /* enum call_flag */
	double wall_ns;    /* first event to end, or to the time when its table was read */
	double own_ns, own_error_ns;
	/* Cost of counting a call: charged to the callee, to the caller */
	double inner_ns, outer_ns;
	uint64_t lost_events, other_calls, unmatched_exits, resyncs, deferred;
	uint64_t uncounted; /* child processes without a table that ran on when COMMAND ended */
	uint64_t table_bytes;
	double sample_ns; /* CPU time that a sample stands for; 0: times are from the clock */
	uint64_t samples, own_samples; /* samples in the program, and in the code of the hooks */
	VEC(struct call_path) paths;   /* in order of the first calls; [0] is the root, outside */
	VEC(struct call_thread) threads;
	VEC(struct call_times) times; /* of some paths */
	struct path_tree index;       /* function is the key */
};

/*
 * Called for each path of a process that has paths, depth first; `leave` is called after all paths
 * below it. Not recursive, because recorded paths may have any depth.
 */
typedef void call_path_fn(void *ctx, uint32_t path);
void call_process_walk(const struct call_process *p, call_path_fn *enter, call_path_fn *leave,
                       void *ctx);

struct call_paths {
	struct image_table images;
	VEC(struct call_function) functions;
	struct id_table index;
	VEC(struct call_process) processes;
	struct file_namer namer; /* the owner of the files; zeros: root */
	bool closed;
};

struct call_paths *call_paths_new(void);
void call_paths_free(struct call_paths *c);

/*
 * Returns the index of a function with this kind, frame, library and counted; adds it if it is new.
 * The first name is kept.
 */
uint32_t call_paths_function(struct call_paths *c, const struct call_function *f);

/*
 * Adds a process with its root and returns its index. Pointers to processes become invalid when the
 * next is added.
 */
uint32_t call_paths_process(struct call_paths *c, const char *name, int32_t pid);

/* The child of `parent` for a function; a new child has zeros (min and max NAN). */
uint32_t call_path_child(struct call_process *p, uint32_t parent, uint32_t function);

/* Merges the min and max of returned calls; NAN: none. */
void call_path_range(struct call_path *path, double min_ns, double max_ns);

/* The durations of a path's calls; created if there are none yet. */
struct call_times *call_path_times(struct call_process *p, uint32_t path);
/* The same; NULL: there are none. */
const struct call_times *call_path_times_of(const struct call_process *p, uint32_t path);

/* Computes the totals of all processes. Called once. */
void call_paths_close(struct call_paths *c);

/*
 * Writes the path from the root's child to `path`, the innermost `max` nodes; returns their number.
 */
size_t call_path_chain(const struct call_process *p, uint32_t path, uint32_t *chain, size_t max);
uint32_t call_path_depth(const struct call_process *p, uint32_t path); /* root: 0 */

/* The sum over all paths. */
uint64_t call_process_calls(const struct call_process *p);

/*
 * Half of a 95 % interval of a time that contains `samples` samples. `error_ns`: the sum of the
 * errors without their scatter. The interval is that of a count; no sample does not mean no time.
 */
double call_error_ns(double error_ns, bool is_sampled, uint64_t samples, double sample_ns);

/* total + blocked + preempted, with all callees. */
double call_path_wall_ns(const struct call_path *path);

#endif
