/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_control: starts and stops the capture device of a running QEMU, by the FIFO in its trace
 * (docs/FORMAT.md).
 *
 * 0 or -errno. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_QEMU_QEMU_CONTROL_H
#define ASSAY_LAUNCH_QEMU_QEMU_CONTROL_H

#include "base/error.h"

#include <stdbool.h>

/* `trace`: the directory. The call returns at once; the device reads the FIFO a moment later. */
int qemu_control_switch(const char *trace, bool on, struct error *err);

/* Removes the FIFO of a QEMU that was killed. */
void qemu_control_remove(const char *trace);

#endif
