/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup: where cgroups are found: those of the hierarchy that the numbers in samples are of.
 *
 * Plain data, found once; a place that was not found tells nothing. A cgroup's number is its
 * directory's inode. One thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_PROC_CGROUP_H
#define ASSAY_SOURCE_PROC_PROC_CGROUP_H

#include "source/proc/proc.h"

struct proc_cgroup_place {
	char root[4096]; /* what the mount shows, "" all */
	char mount[4096];
	bool found, own; /* own: the perf_event controller's, as of old */
};

void proc_cgroup_find(struct proc_cgroup_place *p);
/* In which one a process is, as an event of its own. */
int proc_cgroup_tell(const struct proc_cgroup_place *p, const struct proc_scan *scan, int32_t pid,
                     struct error *err);

#endif
