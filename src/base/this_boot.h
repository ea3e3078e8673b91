/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * this_boot: what tells this boot of this machine, and the processes in it, from others.
 * Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_THIS_BOOT_H
#define ASSAY_BASE_THIS_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#define BOOT_ID_SIZE 64

/* The kernel's boot id, a UUID; "" where it cannot be read. */
void this_boot_id(char text[BOOT_ID_SIZE]);

/* When a process that runs now began, ns since 1970, to a tick; false: there is none. */
bool this_boot_process(int32_t pid, uint64_t *start_ns);

#endif
