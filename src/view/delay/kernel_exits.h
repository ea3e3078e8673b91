/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_exits: samples of user code that are time of the kernel, on its way back to user mode.
 *
 * The kernel returns with interrupts off, so a maskable timer that is due then interrupts the
 * first instruction of user code: the one after a system call, or the one that faulted. The code
 * of the image shows the first kind, without symbols: syscall, int $0x80, sysenter or svc is before
 * the address. These samples are `weight`, an upper bound; they add up over any parts of a
 * recording.
 *
 * Where the code cannot be read, and for faults, call chains show it: the kernel was entered from
 * this address. An instruction that faults once may be hot by itself, so of its samples at most as
 * many are counted as there are in the kernel after faults of it; string instructions, which fault
 * in the middle of their work, are left out. These places depend on other samples, so they do not
 * add up over parts: they are `chained_weight`, and remain user time in the account.
 *
 * The estimate of the kernel's part takes off the mean of the neighbours, which ran as often. Its
 * interval includes the error of sampling; its lower end takes off the largest neighbour.
 *
 * kernel_exits_new() / kernel_exits_free(). Events whose timer is not maskable have no places.
 * Nothing fails. One thread. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_DELAY_KERNEL_EXITS_H
#define ASSAY_VIEW_DELAY_KERNEL_EXITS_H

#include "view/view.h"

struct kernel_estimate {
	double mean, low, high; /* in units of weight */
};

struct kernel_exit {
	const struct symbol *symbol; /* around the instruction; may be unnamed */
	uint32_t frame;
	uint64_t address; /* in the image's own addresses */
	bool fault;       /* the instruction faulted; else a system call is before it */
	bool by_chain;    /* found by call chains, not by code */
	uint64_t samples, weight;
	struct kernel_estimate kernel;
};

struct kernel_exits {
	VEC(struct kernel_exit) places; /* by weight, largest first */
	bool *after;                    /* per frame id: a system call is before it */
	uint64_t samples, weight;       /* by code */
	struct kernel_estimate kernel;  /* of them */
	uint64_t chained_weight;        /* by call chains */
	uint64_t unread; /* weight of user code in files that cannot be read, without chains */
};

/* Whether the timer of the event waits while interrupts are off. */
bool event_is_maskable(const struct profile *p, uint8_t event);

/* `rows`: ids of rows of the profile; other events among them are ignored. */
struct kernel_exits *kernel_exits_new(struct view *v, uint8_t event, const uint32_t *rows,
                                      size_t count);
void kernel_exits_free(struct kernel_exits *e);

/* Whether the samples of a row are in `weight`. */
bool kernel_exits_has(const struct kernel_exits *e, const struct profile *p,
                      const struct profile_row *row);
/* NULL: no such place. */
const struct kernel_exit *kernel_exits_find(const struct kernel_exits *e,
                                            const struct symbol *symbol, uint64_t address);

#endif
