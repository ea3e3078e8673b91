/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_order: sorts the records of several CPUs by time, with bounded memory.
 *
 * The records of each CPU come in order, and the CPUs are mixed. Records are not moved: the order
 * stores runs, which are sequences of records whose times do not decrease, and merges them. A round
 * therefore takes a few words for each ring, however many records it has. A round ends when the
 * recorder has read every ring once. All records not later than the newest record of the round
 * before are then complete and are delivered. At the end all records are delivered.
 *
 *	time_order_init(o, source)
 *	time_order_push(o, time, position, end)   for each record
 *	time_order_pass(o, position, end)         for records without a time
 *	time_order_relieve(o, err)                if time_order_full(o)
 *	time_order_round(o, err)                  at the end of each round
 *	time_order_finish(o, err)                 at the end
 *
 * Records with equal times keep the order in which they were pushed. At most ORDER_RUNS runs are
 * stored. Beyond this, the oldest records are delivered early, and `late` counts the records that
 * are then too late. Uses: base.
 */
#ifndef ASSAY_EVENT_TIME_ORDER_H
#define ASSAY_EVENT_TIME_ORDER_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define ORDER_RUNS (1u << 18)

/* The caller defines positions: offsets or addresses, never 0. */
struct time_order_source {
	void *ctx;
	int (*deliver)(void *ctx, uint64_t position, struct error *err);
	/*
	 * Returns the position of the next record with a time after the record at `position` and
	 * before `end`; 0: none.
	 */
	uint64_t (*next)(void *ctx, uint64_t position, uint64_t end, uint64_t *time_ns);
};

struct time_order_run {
	uint64_t time_ns;       /* of the record at `position` */
	uint64_t position, end; /* the part of the run that is not delivered yet */
	uint64_t number;        /* number of the run, in the order of pushing */
};

struct time_order {
	struct time_order_source source;
	VEC(struct time_order_run) runs; /* a heap: the earliest record's run is the first */
	struct time_order_run open;      /* being pushed; position 0: none */
	uint64_t open_last_ns;           /* of its last record */
	uint64_t pushed_runs;
	uint64_t round_max_ns; /* newest time in the round being read */
	uint64_t limit_ns;     /* newest time in the round before */
	uint64_t delivered_ns;
	uint64_t late; /* records with a time before `delivered_ns` when they were pushed */
};

void time_order_init(struct time_order *o, const struct time_order_source *source);
void time_order_done(struct time_order *o);
/* `end`: the position of the next record if it follows directly. */
void time_order_push(struct time_order *o, uint64_t time_ns, uint64_t position, uint64_t end);
void time_order_pass(struct time_order *o, uint64_t position, uint64_t end);
bool time_order_full(const struct time_order *o);
int time_order_relieve(struct time_order *o, struct error *err);
/*
 * Delivers all records not later than `time_ns`, whether or not the set is complete. After this,
 * time_order_round() and time_order_finish(), no record not later than `delivered_ns` waits.
 */
int time_order_until(struct time_order *o, uint64_t time_ns, struct error *err);
int time_order_round(struct time_order *o, struct error *err);
int time_order_finish(struct time_order *o, struct error *err);

#endif
