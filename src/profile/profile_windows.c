/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_windows.h"

#define PROCESSES_MAX 20000
#define PATHS_MAX 50000
#define IMAGES_MAX 4000

struct profile_windows {
	struct profile_windows_options o;
	struct profile *profile;
	struct profile_builder *builder;
	struct event_sink sink; /* the builder's */
	struct profile_window now;
	VEC(uint64_t) lost; /* by CPU: lost records that events reported */
	bool begun;         /* the first window's start is known */
};

#define CPUS_MAX 16384

static uint32_t or_default(uint32_t asked, uint32_t otherwise)
{
	return asked ? asked : otherwise;
}

struct profile_windows *profile_windows_new(const struct profile_windows_options *options)
{
	struct profile_windows *w = xcalloc(1, sizeof(*w));

	w->o = *options;
	w->o.processes_max = or_default(w->o.processes_max, PROCESSES_MAX);
	w->o.paths_max = or_default(w->o.paths_max, PATHS_MAX);
	w->o.images_max = or_default(w->o.images_max, IMAGES_MAX);
	w->o.builder.endless = true;
	w->profile = profile_new();
	process_table_bound(w->profile->processes);
	process_table_set_jit(w->profile->processes, w->o.jit, w->o.jit_ctx);
	process_table_set_jit_again(w->profile->processes, w->o.jit_again);
	w->builder = profile_builder_new(w->profile, &w->o.builder);
	w->sink = profile_builder_sink(w->builder);
	return w;
}

void profile_windows_free(struct profile_windows *w)
{
	if (!w)
		return;
	profile_builder_free(w->builder);
	profile_free(w->profile);
	vec_done(&w->lost);
	free(w);
}

/*
 * The first boundary after a time: a multiple of the window length by the wall clock, but not one
 * nearer than a quarter of the length.
 */
static uint64_t boundary_after(const struct profile_windows *w, uint64_t time_ns)
{
	uint64_t wall = time_ns + w->o.wall_offset_ns;
	uint64_t left = w->o.window_ns - wall % w->o.window_ns;

	return time_ns + (left < w->o.window_ns / 4 ? left + w->o.window_ns : left);
}

static void begin_at(struct profile_windows *w, uint64_t start_ns)
{
	w->begun = true;
	w->now.start_ns = start_ns;
	w->now.end_ns = boundary_after(w, start_ns);
}

void profile_windows_start(struct profile_windows *w, uint64_t start_ns)
{
	profile_builder_start(w->builder, start_ns);
	begin_at(w, start_ns);
}

void profile_windows_cpus(struct profile_windows *w, const struct account *a)
{
	profile_builder_cpus(w->builder, a);
}

void profile_windows_names(struct profile_windows *w)
{
	process_table_jit_round(w->profile->processes);
}

void profile_windows_wall(struct profile_windows *w, uint64_t wall_offset_ns)
{
	w->o.wall_offset_ns = wall_offset_ns;
}

/* Removes exited processes and unused data if a table exceeds its limit. */
static void limit_tables(struct profile_windows *w)
{
	const struct profile *p = w->profile;
	const struct profile_windows_options *o = &w->o;

	profile_forget_rows(w->profile);
	if (p->waits.wanted)
		wait_log_next(&w->profile->waits);
	process_table_settle(w->profile->processes);
	if (process_table_process_count(p->processes) > o->processes_max ||
	    process_table_thread_count(p->processes) > 2 * (size_t)o->processes_max ||
	    process_table_full(p->processes) || p->paths.count > o->paths_max ||
	    p->images.images.count > o->images_max)
		profile_builder_renew(w->builder);
}

/* The window ends at `to_ns`: the consumer gets its profile, and the next one begins. */
static int cut(struct profile_windows *w, uint64_t to_ns, struct error *err)
{
	int ret;

	w->now.end_ns = to_ns;
	profile_builder_cut(w->builder, to_ns);
	profile_mark_unseen_idle(w->profile);
	ret = w->o.window(w->o.ctx, w->profile, &w->now, err);
	limit_tables(w);
	w->now = (struct profile_window){
	        .start_ns = to_ns, .end_ns = boundary_after(w, to_ns), .number = w->now.number + 1};
	return ret;
}

int profile_windows_until(struct profile_windows *w, uint64_t time_ns, struct error *err)
{
	int ret = 0;

	while (!ret && w->begun && time_ns >= w->now.end_ns)
		ret = cut(w, w->now.end_ns, err);
	return ret;
}

int profile_windows_cut(struct profile_windows *w, uint64_t time_ns, struct error *err)
{
	int ret = profile_windows_until(w, time_ns, err);

	return ret || !w->begun || time_ns <= w->now.start_ns ? ret : cut(w, time_ns, err);
}

static int on_begin(void *ctx, const struct recording *r, struct error *err)
{
	struct profile_windows *w = ctx;
	int ret = w->sink.begin(w->sink.ctx, r, err);

	if (!ret && w->o.start_ns)
		profile_windows_start(w, w->o.start_ns);
	return ret;
}

static void count_lost(struct profile_windows *w, const struct event *e)
{
	w->now.lost_records += e->lost.count;
	if (e->cpu >= CPUS_MAX)
		return;
	*vec_at(&w->lost, e->cpu) += e->lost.count;
}

static int on_event(void *ctx, const struct event *e, struct error *err)
{
	struct profile_windows *w = ctx;
	int ret = profile_windows_until(w, e->time_ns, err);

	if (ret)
		return ret;
	if (e->kind == EVENT_SAMPLE) {
		if (!w->begun)
			begin_at(w, e->time_ns);
		w->now.samples++;
	} else if (e->kind == EVENT_LOST) {
		count_lost(w, e);
	}
	ret = w->sink.event(w->sink.ctx, e, err);
	/* A process table that names and mappings fill within a window ends the window early. */
	if (!ret && w->begun && process_table_full(w->profile->processes))
		ret = profile_windows_cut(w, e->time_ns, err);
	return ret;
}

/*
 * The kernel reports lost records with the next record that fits into the ring. The last lost
 * records were therefore never reported, but the account counts them: they are added to the last
 * window.
 */
static int report_last_lost(struct profile_windows *w, const struct account *a, uint64_t end_ns,
                            struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < a->cpus.count && !ret; i++) {
		const struct account_cpu *cpu = &a->cpus.items[i];
		uint64_t reported = cpu->cpu < w->lost.count ? w->lost.items[cpu->cpu] : 0;
		struct event e = {.kind = EVENT_LOST,
		                  .pid = -1,
		                  .tid = -1,
		                  .cpu = cpu->cpu,
		                  .time_ns = end_ns - 1,
		                  .lost = {.count = cpu->lost_records - reported}};

		if (cpu->lost_records > reported && cpu->cpu < CPUS_MAX)
			ret = on_event(w, &e, err);
	}
	return ret;
}

/* The last window ends with the recording. */
static int on_end(void *ctx, const struct recording *r, struct error *err)
{
	struct profile_windows *w = ctx;
	uint64_t end_ns = r && r->account.present ? r->account.end_ns : r ? r->last_sample_ns : 0;
	int ret = profile_windows_until(w, end_ns, err);

	if (!ret && w->begun && r && r->account.present && end_ns > w->now.start_ns)
		ret = report_last_lost(w, &r->account, end_ns, err);
	if (!ret && w->begun && (end_ns > w->now.start_ns || w->now.samples))
		ret = cut(w, end_ns > w->now.start_ns ? end_ns : w->now.end_ns, err);
	return ret;
}

struct event_sink profile_windows_sink(struct profile_windows *w)
{
	return (struct event_sink){.ctx = w, .begin = on_begin, .event = on_event, .end = on_end};
}
