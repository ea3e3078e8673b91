/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: what runs already when a recording begins, told as events.
 *
 * The kernel reports processes from the moment at which we ask; those that
 * were there before are read from /proc and told as COMM, FORK and MMAP events
 * of time 0, so that a reader sees one stream. Processes that end while they
 * are read are left out without complaint.
 *
 * Users choose the names and the number of their mappings. A path is cut at PATH_MAX - 1 bytes,
 * as no path that the kernel reports later is longer. The records of one process's mappings take
 * at most PROC_MAPPINGS_BYTES for code, and the same for data. Both are counted. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_PROC_H
#define ASSAY_SOURCE_PROC_PROC_H

#include "base/error.h"
#include "base/process/foreign.h"
#include "base/memory/vec.h"
#include "event/event.h"

#define PROC_MAPPINGS_BYTES ((size_t)1 << 20)

/* What a scan left out. */
struct proc_scan_counts {
	uint64_t cut_paths;
	uint64_t dropped_mappings,
	        dropped_processes; /* mappings, and the processes that had them */
};

typedef int proc_event_fn(void *ctx, const struct event *e, struct error *err);

struct proc_scan {
	proc_event_fn *deliver;
	void *ctx;
	bool data_mappings;              /* not only code (-d) */
	bool cgroups;                    /* in which one each process is */
	struct proc_scan_counts *counts; /* added to; NULL: not counted */
	struct foreign *foreign; /* reads what a user may keep from being read; NULL: we do */
};

typedef VEC(int32_t) proc_ids;

/* All processes, or those in `pids`. */
int proc_scan_all(const struct proc_scan *scan, struct error *err);
int proc_scan_pids(const struct proc_scan *scan, const proc_ids *pids, struct error *err);

/*
 * The kernel and its modules as kernel-mode MMAP events of pid -1. Without the
 * right to see kernel addresses there are none: *hidden is set.
 */
int proc_scan_kernel(const struct proc_scan *scan, bool *hidden, struct error *err);

/*
 * The cgroups that there are, as CGROUP events: of the hierarchy that the numbers in
 * samples are of. None where none is mounted.
 */
int proc_scan_cgroups(const struct proc_scan *scan, struct error *err);

/* All process ids; with `uid` other than -1 only that user's. */
void proc_list(proc_ids *pids, int64_t uid);
/* The thread ids of a process; none when it is gone. */
void proc_threads(int32_t pid, proc_ids *tids);

/* No thread of it runs any more: it is gone, or waits only for its parent to take note. */
bool proc_has_ended(int32_t pid);

/* The running kernel's build-id, size 0 where it has none. */
struct build_id proc_kernel_build_id(void);

#endif
