/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/calls_watch.h"

#include "base/clock.h"
#include "source/perf/clock_pair.h"

#include <stdlib.h>
#include <string.h>

/* Time between two looks. They take less than 1 / SHARE of the CPU time of one CPU. */
#define WAIT_FIRST_MS 5
#define WAIT_MOST_MS 100
#define WAIT_LONG_MS 1000 /* with many threads */
#define SHARE 100
#define NS_A_MS 1000000

static struct calls_watched *watched_of(struct calls_watch *w, const char *path)
{
	vec_each (one, &w->tables)
		if (!strcmp(one->path, path))
			return one;
	vec_push(&w->tables, (struct calls_watched){.path = xstrdup(path)});
	return vec_last(&w->tables);
}

static void end_write(struct calls_watch *w, const struct call_table *table)
{
	struct calls_watched *one = watched_of(w, table->file.path);
	struct assay_calls_moment now;

	/* Its state stays RUNNING, so each look finds it again. */
	if (one->ended)
		return;
	now = clock_pair_take();
	vec_each (thread, &one->threads)
		if (thread->runs)
			thread->cpu_ns += now.ns - one->seen.ns;
	one->seen = now;
	one->ended = !call_table_end(table, now, &one->threads, NULL);
}

void calls_watch_look(struct calls_watch *w)
{
	uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;
	call_table_list list = {0};

	if (!call_table_list_read(&list, w->directory, NULL))
		vec_each (table, &list) {
			struct calls_watched *one;

			if (table->state != ASSAY_CALLS_RUNNING)
				continue;
			if (!table->file.running) {
				end_write(w, table);
				continue;
			}
			one = watched_of(w, table->file.path);
			one->seen = clock_pair_take();
			call_table_threads_read(&one->threads, table);
		}
	call_table_list_done(&list);
	took = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) * SHARE / NS_A_MS;
	w->wait_ms = w->wait_ms ? w->wait_ms * 2 : WAIT_FIRST_MS;
	w->wait_ms = w->wait_ms < WAIT_MOST_MS ? w->wait_ms : WAIT_MOST_MS;
	if (took > (uint64_t)w->wait_ms)
		w->wait_ms = (int)(took < WAIT_LONG_MS ? took : WAIT_LONG_MS);
}

void calls_watch_done(struct calls_watch *w)
{
	vec_each (one, &w->tables) {
		free(one->path);
		vec_done(&one->threads);
	}
	vec_done(&w->tables);
}
