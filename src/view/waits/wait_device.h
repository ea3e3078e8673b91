/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_device: the block device that has a file for which a thread waited.
 *
 * The path of the file tells: the device whose file system is mounted at the longest part of it.
 * The recording knows the mounts of block devices in the mount namespace of the recorder. A wait in
 * a file system that has no block device (overlay, tmpfs, a network's) has none. No state. Nothing
 * fails. One thread. Uses: base, event, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_DEVICE_H
#define ASSAY_VIEW_WAITS_WAIT_DEVICE_H

#include "event/recording.h"
#include "view/waits/wait_cause.h"

/* The name of the device ("vda1"), owned by the recording; NULL: not known, or none. `descriptor`
 * as for wait_cause_of(). */
const char *wait_device_name(struct wait_causes *c, const struct wait_key *key,
                             const struct wait_cause *cause, const char *descriptor);

/* The name of the device that has the file; NULL: none of them. */
const char *wait_device_of_path(const struct account *account, const char *path);

#endif
