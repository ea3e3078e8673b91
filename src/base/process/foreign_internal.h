/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign_internal: the memory that foreign.c (the caller) and foreign_process.c (the process that
 * runs the calls) share: a slot for each thread.
 *
 * The caller fills a slot whose state is IDLE and stores ASKED (release); the thread answers, and
 * stores DONE (release). Each side loads the state (acquire) before it reads what the other one
 * wrote. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_PROCESS_FOREIGN_INTERNAL_H
#define ASSAY_BASE_PROCESS_FOREIGN_INTERNAL_H

#include "base/process/foreign.h"

#define SLOTS (FOREIGN_STUCK_MAX + 1)
#define SLOT_OUT FOREIGN_ROOM /* longer answers are in the file */

/* Rounded up to whole pages. */
#define FOREIGN_PAGES(size) (((size) + 4095) & ~(uint64_t)4095)

enum slot_state { SLOT_IDLE, SLOT_ASKED, SLOT_DONE };

struct foreign_slot {
	uint32_t state; /* a futex */
	uint32_t abandoned;
	int32_t tid; /* of the thread; 0: not started yet */
	int32_t status;
	foreign_fn *fn;
	uint64_t in_size, out_size;
	uint64_t file_at; /* offset of the answer in the file, if it does not fit here */
	uint32_t in_file; /* the answer is in the file */
	_Alignas(16) uint8_t in[FOREIGN_IN_MAX]; /* a structure of the function's own */
	_Alignas(16) uint8_t out[SLOT_OUT];
};

struct foreign_shared {
	uint64_t file_end; /* the next free offset in the file */
	struct foreign_slot slots[SLOTS];
};

struct foreign_reply {
	struct foreign_slot *slot; /* NULL: the call runs in the caller */
	struct buf bytes;
	bool filled; /* the answer is already in the slot, or in the file */
	struct foreign_shared *shared;
	int file;
};

/* Waits while *state is `value`, at most this number of ms; -1: without a limit. */
void foreign_wait(uint32_t *state, uint32_t value, int ms);
void foreign_wake(uint32_t *state);

/* The process's main function. */
_Noreturn void foreign_process(struct foreign_shared *shared, int file, pid_t parent,
                               const struct foreign_options *options);

#endif
