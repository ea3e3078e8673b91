/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: puts the records of several CPUs into time order, with bounded
 * memory.
 *
 * Records come per CPU in order, CPUs mixed, and stay where they are: the order
 * keeps runs of them, stretches in which times do not fall, and merges those.
 * So a round costs a few words a ring, however many records it has. A round
 * ends when the recorder has read every ring once: what is no later than the
 * newest record of the round before is then complete and goes out. At the end
 * all goes out.
 *
 *	order_init(o, source)
 *	order_push(o, time, position, end)   for each record
 *	order_pass(o, position, end)         for what has no time
 *	order_relieve(o, err)                where order_full(o)
 *	order_round(o, err)                  at each end of a round
 *	order_finish(o, err)                 at the end
 *
 * Records with equal times keep the order in which they were pushed. More than
 * ORDER_RUNS runs are not kept: the oldest records go out then, and `late`
 * counts those that come too late for it. Uses: base.
 */
#ifndef ASSAY_EVENT_ORDER_H
#define ASSAY_EVENT_ORDER_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define ORDER_RUNS (1u << 18)

/* Positions are the caller's: offsets or addresses, never 0. */
struct order_source {
	void *ctx;
	int (*deliver)(void *ctx, uint64_t position, struct error *err);
	/* The record with a time after the one at `position`, before `end`; 0: none. */
	uint64_t (*next)(void *ctx, uint64_t position, uint64_t end, uint64_t *time_ns);
};

struct order_run {
	uint64_t time_ns;       /* of the record at `position` */
	uint64_t position, end; /* what of the run is still to go out */
	uint64_t number;        /* of runs, in the order in which they were pushed */
};

struct order {
	struct order_source source;
	VEC(struct order_run) runs; /* a heap: the earliest record's run is the first */
	struct order_run open;      /* being pushed; position 0: none */
	uint64_t open_last_ns;      /* of its last record */
	uint64_t pushed_runs;
	uint64_t round_max_ns; /* newest of the round being read */
	uint64_t limit_ns;     /* newest of the round before */
	uint64_t delivered_ns;
	uint64_t late; /* pushed earlier than what was delivered already */
};

void order_init(struct order *o, const struct order_source *source);
void order_done(struct order *o);
/* `end`: where the next record would stand, if it follows at once. */
void order_push(struct order *o, uint64_t time_ns, uint64_t position, uint64_t end);
void order_pass(struct order *o, uint64_t position, uint64_t end);
bool order_full(const struct order *o);
int order_relieve(struct order *o, struct error *err);
/*
 * What is no later than that goes out, whether it is complete or not. After
 * this, _round and _finish, nothing waits that is no later than `delivered_ns`.
 */
int order_until(struct order *o, uint64_t time_ns, struct error *err);
int order_round(struct order *o, struct error *err);
int order_finish(struct order *o, struct error *err);

#endif
