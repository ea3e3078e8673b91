/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * this_boot: identifies this boot of the machine, and the processes in it. Any thread. Uses:
 * nothing.
 */
#ifndef ASSAY_BASE_THIS_BOOT_H
#define ASSAY_BASE_THIS_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#define BOOT_ID_SIZE 64

/* The kernel's boot id, a UUID; "" if it cannot be read. */
void this_boot_id(char text[BOOT_ID_SIZE]);

/*
 * The start time of a running process in ns since 1970, with the precision of one tick; false if
 * there is no such process.
 */
bool this_boot_process(int32_t pid, uint64_t *start_ns);

#endif
