/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_cgroup: the cgroups of the hierarchy to which the ids in samples belong.
 *
 * Plain data that is read once. If the hierarchy was not found, nothing is reported. A cgroup's id
 * is its directory's inode. One thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_PROC_CGROUP_H
#define ASSAY_SOURCE_PROC_PROC_CGROUP_H

#include "source/proc/proc.h"

struct proc_cgroup_place {
	char root[4096]; /* the part of the hierarchy that the mount shows, "" all */
	char mount[4096];
	bool found, own; /* own: a separate hierarchy of the perf_event controller (version 1) */
};

void proc_cgroup_find(struct proc_cgroup_place *p);
/* Reports the cgroup of a process as an event. */
int proc_cgroup_tell(const struct proc_cgroup_place *p, const struct proc_scan *scan, int32_t pid,
                     struct error *err);

#endif
