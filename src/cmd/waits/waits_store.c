/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/waits/waits_store.h"

#include "cmd/load/load_store.h"
#include "view/waits/wait_stored.h"

#include <errno.h>

static int check(const struct load_options *o, const struct wait_options *w, struct error *err)
{
	const struct report_request *q = &w->request;
	const char *option = q->tree               ? "-g"
	                     : q->instances        ? "--instances"
	                     : q->filter.pid.count ? "--pid"
	                     : q->filter.tid.count ? "--tid"
	                     : o->build            ? "--build"
	                                           : NULL;

	return option ? error_set(err, EINVAL,
	                          "a store has sums of waits by cause, without threads, call paths "
	                          "and versions: %s does not apply",
	                          option)
	              : 0;
}

static void add_row(struct wait_report *r, const struct store_waits *w,
                    const struct store_wait *row)
{
	const char *text[STORE_WAIT_TEXTS];
	const uint64_t *n = row->sums;

	for (int i = 0; i < STORE_WAIT_TEXTS; i++)
		text[i] = intern_text(&w->texts, row->texts[i]);
	wait_stored_add(r,
	                &(struct wait_stored){.program = text[STORE_WAIT_PROGRAM],
	                                      .waiter = text[STORE_WAIT_WAITER],
	                                      .kind = text[STORE_WAIT_KIND],
	                                      .name = text[STORE_WAIT_NAME],
	                                      .function = text[STORE_WAIT_FUNCTION],
	                                      .by = text[STORE_WAIT_RELEASED_BY],
	                                      .holder = text[STORE_WAIT_HOLDER],
	                                      .evidence = text[STORE_WAIT_EVIDENCE],
	                                      .device = text[STORE_WAIT_DEVICE],
	                                      .named = row->named,
	                                      .count = n[STORE_WAIT_COUNT],
	                                      .blocked_ns = n[STORE_WAIT_BLOCKED],
	                                      .runnable_ns = n[STORE_WAIT_RUNNABLE],
	                                      .max_ns = n[STORE_WAIT_MAX],
	                                      .lost_ns = n[STORE_WAIT_LOST],
	                                      .preempted_ns = n[STORE_WAIT_PREEMPTED],
	                                      .other_ns = n[STORE_WAIT_OTHER],
	                                      .no_stack_ns = n[STORE_WAIT_NO_STACK],
	                                      .no_waker_ns = n[STORE_WAIT_NO_WAKER]},
	                &row->times);
}

static void add_time(struct wait_report *r, const struct store_waits *w,
                     const struct store_wait_time *time)
{
	const uint64_t *n = time->sums;

	wait_stored_time(
	        r, &(struct wait_stored_time){.program = intern_text(&w->texts, time->program),
	                                      .threads = n[STORE_TIME_THREADS],
	                                      .wall_ns = n[STORE_TIME_WALL],
	                                      .oncpu_ns = n[STORE_TIME_ONCPU],
	                                      .unseen_ns = n[STORE_TIME_UNSEEN],
	                                      .before_ns = n[STORE_TIME_BEFORE],
	                                      .wakings = n[STORE_TIME_WAKINGS],
	                                      .beyond = n[STORE_TIME_BEYOND],
	                                      .coarse = n[STORE_TIME_COARSE]});
}

int waits_store_read(struct wait_report **out, const char *path, const struct load_options *o,
                     const struct wait_options *w, struct error *err)
{
	struct store_range range;
	struct store_waits waits;
	int status = check(o, w, err);

	if (!status)
		status = load_store_range(&range, o, err);
	if (status)
		return status;
	status = store_waits_read(path, &range, &waits, err);
	if (!status) {
		*out = wait_stored_new(w);
		vec_each (row, &waits.rows)
			add_row(*out, &waits, row);
		vec_each (time, &waits.times)
			add_time(*out, &waits, time);
		wait_stored_end(*out, waits.start_ns, waits.end_ns, waits.damaged);
	}
	store_waits_done(&waits);
	return status;
}
