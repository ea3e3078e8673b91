/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: sorts the records of several CPUs by time, with bounded memory.
 *
 * The records of each CPU come in order, and the CPUs are mixed. Records are not moved: the order
 * stores runs, which are sequences of records whose times do not decrease, and merges them. A round
 * therefore takes a few words for each ring, however many records it has. A round ends when the
 * recorder has read every ring once. All records not later than the newest record of the round
 * before are then complete and are delivered. At the end all records are delivered.
 *
 *	order_init(o, source)
 *	order_push(o, time, position, end)   for each record
 *	order_pass(o, position, end)         for records without a time
 *	order_relieve(o, err)                if order_full(o)
 *	order_round(o, err)                  at the end of each round
 *	order_finish(o, err)                 at the end
 *
 * Records with equal times keep the order in which they were pushed. At most ORDER_RUNS runs are
 * stored. Beyond this, the oldest records are delivered early, and `late` counts the records that
 * are then too late. Uses: base.
 */
#ifndef ASSAY_EVENT_ORDER_H
#define ASSAY_EVENT_ORDER_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define ORDER_RUNS (1u << 18)

/* The caller defines positions: offsets or addresses, never 0. */
struct order_source {
	void *ctx;
	int (*deliver)(void *ctx, uint64_t position, struct error *err);
	/*
	 * Returns the next record with a time after the one at `position` and before `end`; 0:
	 * none.
	 */
	uint64_t (*next)(void *ctx, uint64_t position, uint64_t end, uint64_t *time_ns);
};

struct order_run {
	uint64_t time_ns;       /* of the record at `position` */
	uint64_t position, end; /* the part of the run that is not delivered yet */
	uint64_t number;        /* number of the run, in the order of pushing */
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
	uint64_t late; /* records with a time before `delivered_ns` when they were pushed */
};

void order_init(struct order *o, const struct order_source *source);
void order_done(struct order *o);
/* `end`: the position of the next record if it follows directly. */
void order_push(struct order *o, uint64_t time_ns, uint64_t position, uint64_t end);
void order_pass(struct order *o, uint64_t position, uint64_t end);
bool order_full(const struct order *o);
int order_relieve(struct order *o, struct error *err);
/*
 * Delivers all records not later than `time_ns`, whether or not the set is complete. After this,
 * order_round() and order_finish(), no record not later than `delivered_ns` waits.
 */
int order_until(struct order *o, uint64_t time_ns, struct error *err);
int order_round(struct order *o, struct error *err);
int order_finish(struct order *o, struct error *err);

#endif
