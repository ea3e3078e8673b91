/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rights_container: the part of rights that a container or a hypervisor determines: cgroup limits,
 * mount options of /proc, steal time. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_RIGHTS_CONTAINER_H
#define ASSAY_SOURCE_PROC_RIGHTS_CONTAINER_H

#include "source/proc/rights.h"

/* Fills cpu_quota, memory_bytes, hidepid, hypervisor and steal_ticks. */
void rights_read_container(struct rights *r);

#endif
