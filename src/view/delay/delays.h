/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delays: the places of a sampled profile whose samples are kernel time with interrupts off.
 *
 * The way back to user mode is one of them (kernel_exits.h): its places are in user code.
 * delays_new() judges each kernel address of a selection by delay.h. It reads the times of samples
 * from the profile's time axis and the code through the symbolizer. Events without a timer's grid
 * (counters, whose interrupt cannot be masked) have no places. Idle time is not judged. Lateness is
 * known for recordings of whole CPUs whose axis has the time of each sample; without it, places
 * are found only by their code. delays_free(); the view must outlive it. Nothing fails. One
 * thread. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_DELAY_DELAYS_H
#define ASSAY_VIEW_DELAY_DELAYS_H

#include "view/delay/delay.h"
#include "view/delay/kernel_exits.h"
#include "view/filter.h"

struct delayed {
	const struct symbol *symbol;
	uint64_t address; /* in the image's own addresses */
	uint64_t samples, weight;
	enum delay_evidence evidence;
	uint64_t region; /* address where interrupts were turned off; 0: unknown, or in a caller */
	struct delay_lateness lateness;
	const struct kernel_exit *exit; /* a place of user code; NULL: of the kernel */
};

struct delays {
	VEC(struct delayed) places; /* by weight, largest first */
	struct kernel_exits *exits; /* also those that are too small for `places` */
	bool maskable;              /* the event's timer waits while interrupts are off */
	bool by_lateness;           /* some place was found without its code */
};

struct delays *delays_new(struct view *v, const struct selection *s);
void delays_free(struct delays *d);

/* NULL: the place is not marked. */
const struct delayed *delays_find(const struct delays *d, const struct symbol *symbol,
                                  uint64_t address);

#endif
