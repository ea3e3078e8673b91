/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: the FIFO DIR/.control. A thread reads the lines `start` and `stop` from it while QEMU
 * runs. control_close() removes it.
 */
#ifndef ASSAY_DEVICE_CONTROL_H
#define ASSAY_DEVICE_CONTROL_H

/* Returns 0, or -1 after a message on standard error. */
int control_open(const char *directory);
void control_close(void);

#endif
