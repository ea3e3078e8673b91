/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * untagged: events of guests without tags, made from the instructions that they execute.
 *
 * UNTAGGED_CALLS: an entry when a function of symbols.h begins after a call, a jump from another
 * function, an interrupt or a system call; an exit at its return, or before it jumps to another
 * function. UNTAGGED_SAMPLE: every N instructions of a vCPU, the exit of the function of the last
 * sample and the entry of the present one, if they differ: each function's time is that of its
 * samples. adr/0141 has the reasons.
 */
#ifndef ASSAY_DEVICE_UNTAGGED_H
#define ASSAY_DEVICE_UNTAGGED_H

#include <stdint.h>

struct qemu_plugin_tb;

enum untagged_mode { UNTAGGED_OFF, UNTAGGED_CALLS, UNTAGGED_SAMPLE };

/* `period`: instructions between samples. */
void untagged_open(enum untagged_mode mode, uint64_t period);
/* QEMU translates a block: registers what its instructions need. */
void untagged_translate(struct qemu_plugin_tb *tb);

#endif
