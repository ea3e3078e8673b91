/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: reports the processes that run when a recording begins, as events.
 *
 * The kernel reports only changes after the events are opened. Earlier processes are read from
 * /proc and reported as COMM, FORK and MMAP events with time 0, so that a reader gets one stream. A
 * process that exits while it is read is skipped without an error.
 *
 * Users choose the names and the number of their mappings, so both are limited. A path is cut at
 * PATH_MAX - 1 bytes, the maximum of the kernel's records too. The records of one process's
 * mappings use at most PROC_MAPPINGS_BYTES for code, and the same for data. Cut paths and dropped
 * mappings are counted. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_PROC_H
#define ASSAY_SOURCE_PROC_PROC_H

#include "base/error.h"
#include "base/process/foreign.h"
#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "event/event.h"

#define PROC_NAME_SIZE 64 /* names of kernel workers are longer than 16 bytes */

#define PROC_MAPPINGS_BYTES ((size_t)1 << 20)

/* Counts of truncated and dropped items. */
struct proc_scan_counts {
	uint64_t cut_paths;
	/* Mappings, and the processes that had them */
	uint64_t dropped_mappings, dropped_processes;
};

typedef int proc_event_fn(void *ctx, const struct event *e, struct error *err);

struct proc_scan {
	proc_event_fn *deliver;
	void *ctx;
	bool data_mappings;              /* data mappings too (-d) */
	bool cgroups;                    /* also report the cgroup of each process */
	struct proc_scan_counts *counts; /* these counts are increased; NULL: not counted */
	/* Makes the reads that a user can block; NULL: this process makes them */
	struct foreign *foreign;
};

typedef VEC(int32_t) proc_ids;

/* Scans all processes, or those in `pids`. */
int proc_scan_all(const struct proc_scan *scan, struct error *err);
int proc_scan_pids(const struct proc_scan *scan, const proc_ids *pids, struct error *err);

/*
 * Reports the kernel and its modules as kernel-mode MMAP events with pid -1. Without the right to
 * see kernel addresses nothing is reported, and *hidden is set.
 */
int proc_scan_kernel(const struct proc_scan *scan, bool *hidden, struct error *err);

/*
 * Reports the existing cgroups as CGROUP events, for the hierarchy to which the cgroup ids in
 * samples belong. Nothing is reported if it is not mounted.
 */
int proc_scan_cgroups(const struct proc_scan *scan, struct error *err);

/*
 * The mapping of a process at an address; `name` has its file name. -ENOENT: there is none, or the
 * process has exited. `foreign`: as in struct proc_scan.
 */
int proc_map_at(struct foreign *foreign, int32_t pid, uint64_t address, struct event_mmap *map,
                struct buf *name);

/* Lists all process ids, or those of one user if `uid` is not -1. */
void proc_list(proc_ids *pids, int64_t uid);
/* False: the thread has exited, or has no name; the name is then empty. */
bool proc_thread_name(int32_t pid, int32_t tid, char name[PROC_NAME_SIZE]);

/* Lists the thread ids of a process; the list is empty if the process has exited. */
void proc_threads(int32_t pid, proc_ids *tids);

/* Appends the processes that a thread of the process forked; none if this kernel does not list
 * them. */
void proc_children(int32_t pid, proc_ids *pids);

/* True if no thread of the process runs any more: it is gone, or is a zombie. */
bool proc_has_ended(int32_t pid);

/* The running kernel's build-id; size 0 if it has none. */
struct build_id proc_kernel_build_id(void);

#endif
