/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_recording RECORDING STORE SECONDS [HOST [waits]]: writes the events of a recording into a
 * new store, in windows of SECONDS. HOST replaces the name of the machine, unless it is "".
 * "waits": and why threads waited. The store must report what the recording reports. Of the
 * recorder's account the store receives the start and end of sampling, its CPU time, its budget,
 * how long the rate was lowered, and for each CPU its buffer and its steal time. The account has
 * these for the recording as a whole: they are stored with the first window.
 */
#include "cmd/session/store_names.h"
#include "cmd/session/store_wait_rows.h"
#include "format/perf/perf_data.h"
#include "profile/profile_windows.h"
#include "view/account/rates.h"

#include <stdio.h>
#include <stdlib.h>

struct copy {
	struct store *store;
	struct profile_windows *windows;
	struct event_sink sink;
	const struct recording *recording;
	const char *host;              /* NULL: that of the recording */
	struct store_wait_rows *waits; /* NULL: not kept */
	uint64_t wall_offset_ns;
	VEC(struct store_buffer) buffers; /* of the window that is being written */
};

static void fill_buffers(struct copy *c, bool first_window)
{
	c->buffers.count = 0;
	vec_each (cpu, &c->recording->account.cpus)
		vec_push(&c->buffers,
		         (struct store_buffer){
		                 .cpu = cpu->cpu,
		                 .ring_bytes = cpu->ring_bytes,
		                 .used_max = first_window ? cpu->ring_used_max : 0,
		                 .used_average = first_window ? buffer_average(cpu) : 0,
		                 .lost_records = first_window ? cpu->lost_records : 0,
		                 .steal_ns = first_window ? cpu->stat_steal_ns : 0,
		                 .has_steal = true,
		         });
}

/* The time from each change of the rate to the next one. */
static struct store_rate rate_of(const struct recording *r)
{
	const struct account_budget *b = &r->account.budget;
	struct store_rate rate = {.taken_ns = b->looked_ns / 1000000 * b->spent_ppm,
	                          .taken_of_ns = b->looked_ns,
	                          .over_ns = b->over_ns,
	                          .most_ppm = b->most_ppm,
	                          .sample_ns = b->cost_ns};
	rate_list rows = {0};

	rates_of(r, &rows);
	vec_each (row, &rows)
		if (row->reason != RATE_ASKED)
			*(row->reason == RATE_BUDGET ? &rate.slowed_budget_ns
			                             : &rate.slowed_behind_ns) += row->length_ns;
	vec_done(&rows);
	return rate;
}

static void fill_account(struct store_window *w, const struct recording *r)
{
	const struct account_budget *b = &r->account.budget;

	w->observer_cpu_ns = r->account.observer_cpu_ns;
	w->rate = rate_of(r);
	w->budget = (struct store_budget){.share_ppm = b->share_ppm,
	                                  .cost_low_ns = b->cost_low_ns,
	                                  .cost_high_ns = b->cost_high_ns,
	                                  .cost_samples = b->cost_samples,
	                                  .record_ns = b->record_ns};
}

static int take_window(void *ctx, const struct profile *p, const struct profile_window *w,
                       struct error *err)
{
	struct copy *c = ctx;
	uint16_t attr = recording_main_attr(c->recording);
	struct store_waits waits;
	int status;
	struct store_window window = {.start_ns = w->start_ns + c->wall_offset_ns,
	                              .end_ns = w->end_ns + c->wall_offset_ns,
	                              .samples = w->samples,
	                              .lost_records = w->lost_records,
	                              .period_ns = c->recording->attrs.items[attr].period_ns,
	                              .wall_offset_ns = (int64_t)c->wall_offset_ns};

	fill_buffers(c, w->number == 0);
	if (w->number == 0)
		fill_account(&window, c->recording);
	window.buffers = c->buffers.items;
	window.buffer_count = c->buffers.count;
	store_waits_init(&waits);
	if (c->waits) {
		store_wait_rows_fill(c->waits, p, c->recording, w->start_ns, &waits);
		window.waits = &waits;
	}
	status = store_add_window(c->store, p, &window, err);
	store_waits_done(&waits);
	return status;
}

static int begin(void *ctx, const struct recording *r, struct error *err)
{
	struct copy *c = ctx;
	struct recording described = *r;
	int status;

	c->recording = r;
	c->wall_offset_ns = r->clock_wall_ns - r->clock_start_ns;
	profile_windows_wall(c->windows, c->wall_offset_ns);
	described.hostname = c->host ? (char *)(uintptr_t)c->host : r->hostname;
	status = store_begin(c->store, &described, r->account.start_ns + c->wall_offset_ns, err);
	if (!status)
		status = c->sink.begin(c->sink.ctx, r, err);
	if (!status)
		profile_windows_start(c->windows, r->account.start_ns);
	return status;
}

static int pass_event(void *ctx, const struct event *e, struct error *err)
{
	struct copy *c = ctx;

	return c->sink.event(c->sink.ctx, e, err);
}

static int end(void *ctx, const struct recording *r, struct error *err)
{
	struct copy *c = ctx;
	int status = c->sink.end(c->sink.ctx, r, err);

	return status ? status
	              : store_end(c->store, r->account.end_ns + c->wall_offset_ns, "stopped", err);
}

static int copy(struct copy *c, const char *from, const char *to, double seconds, bool waits,
                struct error *err)
{
	struct store_names *names = store_names_new(NULL);
	struct store_options options = {.name = store_names_find, .name_ctx = names};
	struct profile_windows_options windows = {.window_ns = (uint64_t)(seconds * 1e9),
	                                          .window = take_window,
	                                          .ctx = c,
	                                          .builder.waits = waits};
	struct event_sink sink = {.ctx = c, .begin = begin, .event = pass_event, .end = end};
	struct recording r;
	int status = store_open(&c->store, to, &options, err);

	if (!status) {
		recording_init(&r);
		c->waits = waits ? store_wait_rows_new(names) : NULL;
		c->windows = profile_windows_new(&windows);
		c->sink = profile_windows_sink(c->windows);
		status = perf_data_read(from, NULL, &r, &sink, err);
		profile_windows_free(c->windows);
		recording_done(&r);
	}
	store_close(c->store);
	store_wait_rows_free(c->waits);
	store_names_free(names);
	vec_done(&c->buffers);
	return status;
}

int main(int argc, char **argv)
{
	struct copy c = {.host = argc >= 5 && *argv[4] ? argv[4] : NULL};
	struct error err = {0};

	if (argc < 4 || argc > 6) {
		fprintf(stderr, "usage: store_recording RECORDING STORE SECONDS [HOST [waits]]\n");
		return 2;
	}
	if (copy(&c, argv[1], argv[2], atof(argv[3]), argc == 6, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
