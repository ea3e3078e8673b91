/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * on_off: the cost of one event, from pairs of equal pieces of work, without the event and with it.
 *
 * All costs that assay measures on a machine come from here. The two pieces of a pair run one after
 * the other, in turn in both orders, and the cost is the median of the differences. A preemption,
 * an interrupt or the host of a virtual machine lengthens either piece of a pair with the same
 * chance, so a busy machine widens the interval of the median but does not move it. A figure whose
 * interval is wide is no figure (`on_off_precise()`): a caller keeps the value that it had.
 *
 * Pieces are measured by CPU time if the event's work is charged to the thread. Many kernels charge
 * interrupts to no thread (CONFIG_IRQ_TIME_ACCOUNTING): an event that interrupts is measured by
 * elapsed time, in pieces without a switch of threads.
 *
 * Values in any unit, usually ns. One thread. Uses: base.
 */
#ifndef ASSAY_BASE_STATISTICS_ON_OFF_H
#define ASSAY_BASE_STATISTICS_ON_OFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct on_off_figure {
	double ns;                /* the median */
	double low_ns, high_ns;   /* quartiles of the pairs */
	double least_ns, most_ns; /* 95 % interval of the median, by order statistics */
	size_t pairs;
};

/* Sorts the differences. The figure of less than two is zeros, with the number of pairs. */
void on_off_of_pairs(double *differences, size_t count, struct on_off_figure *figure);

/* True if the bounds of the median are within a factor of 1.5 of it, and there are enough pairs. */
bool on_off_precise(const struct on_off_figure *figure);

/* The result of a piece that is not used. */
#define ON_OFF_DISTURBED (-1.0)

struct on_off {
	/* Runs a piece. Returns its time, or ON_OFF_DISTURBED. With the event it sets the number of
	 * events, if there were more than one. */
	double (*piece)(void *ctx, bool on, uint32_t *events);
	void *ctx;
	double *differences; /* of the pairs so far: a second run adds to them */
	size_t count, room;
	bool on_first; /* in each pair: a piece with the event must wait for it */
	/* A run ends when there are so many pairs and they are precise, or no room is left, */
	size_t pairs_least;
	uint64_t cpu_ns, elapsed_ns; /* or after this time of the thread, or this elapsed time. */
};

void on_off_run(struct on_off *m);
/* Sorts the pairs. False: the figure is not precise. */
bool on_off_result(struct on_off *m, struct on_off_figure *figure);

#endif
