/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_devices: the block devices of the machine, and where their file systems are mounted, from
 * /proc/partitions and /proc/self/mountinfo.
 *
 * No state. The caller frees the texts as those of a recording. Any thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_BLOCK_DEVICES_H
#define ASSAY_SOURCE_PROC_BLOCK_DEVICES_H

#include "event/recording.h"

#define BLOCK_DEVICES_MAX 256

/* Adds at most BLOCK_DEVICES_MAX devices to account->devices. */
void block_devices_list(struct account *account);

#endif
