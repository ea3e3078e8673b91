/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: puts the records of several CPUs into time order, with bounded
 * memory.
 *
 * Records come per CPU in order, CPUs mixed. A round ends when the recorder
 * has read every ring once: what is no later than the newest record of the
 * round before is then complete and goes out. At the end all goes out.
 *
 *	order_push(o, time, position)   for each record
 *	order_round(o, ...)             at each end of a round
 *	order_finish(o, ...)            at the end
 *
 * Records with equal times keep the order in which they were pushed. Uses:
 * base.
 */
#ifndef ASSAY_EVENT_ORDER_H
#define ASSAY_EVENT_ORDER_H

#include "base/error.h"
#include "base/vec.h"

#include <stdint.h>

struct order_item {
	uint64_t time_ns;
	uint64_t position; /* the caller's: an offset or a pointer */
};

struct order {
	VEC(struct order_item) items;
	VEC(struct order_item) spare; /* merge space */
	uint64_t round_max_ns;        /* newest of the round being read */
	uint64_t limit_ns;            /* newest of the round before */
	uint64_t delivered_ns;
	uint64_t late; /* pushed earlier than what was delivered already */
};

typedef int order_deliver_fn(void *ctx, uint64_t position, struct error *err);

void order_init(struct order *o);
void order_done(struct order *o);
void order_push(struct order *o, uint64_t time_ns, uint64_t position);
int order_round(struct order *o, order_deliver_fn *deliver, void *ctx, struct error *err);
int order_finish(struct order *o, order_deliver_fn *deliver, void *ctx, struct error *err);

#endif
