/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process: records which process continues on a vCPU, as ASSAY_TAG_PROCESS describes it.
 *
 * process_read() is called by the thread of the vCPU for each of the three reads of the guest, with
 * the address that the guest reads. Nothing is recorded if QEMU does not export its memory
 * functions.
 */
#ifndef ASSAY_DEVICE_PROCESS_H
#define ASSAY_DEVICE_PROCESS_H

#include <stdint.h>

enum process_part { PROCESS_PREVIOUS, PROCESS_NEXT, PROCESS_NAME, PROCESS_PARTS };

void process_read(unsigned vcpu, uint64_t address, enum process_part part, uint64_t time_ns);

#endif
