/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that hooks may call while a measurement runs. */
#include "base/clock.h"
#include "event/attr.h"
#include "session/session_internal.h"

#include <errno.h>
#include <string.h>

#define PAUSE_NS UINT64_C(20000000)

void session_stop(struct session *s)
{
	s->stop = true;
}

void session_read_soon(struct session *s)
{
	s->read_soon = true;
}

void session_work_begin(struct session *s)
{
	if (!s->busy++)
		s->pause_due_ns = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
}

void session_work_end(struct session *s)
{
	s->busy--;
}

bool session_is_busy(const struct session *s)
{
	return s->busy;
}

void session_pause(struct session *s)
{
	if (!s || !s->hooks.serve || !s->began || !s->busy ||
	    clock_ns(CLOCK_MONOTONIC) < s->pause_due_ns)
		return;
	s->pause_due_ns = UINT64_MAX; /* serve() may begin work that has pauses itself */
	s->hooks.serve(s->hooks.ctx, s);
	s->pause_due_ns = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
}

static void add_cpus(const struct session *s, struct session_status *status)
{
	for (size_t i = 0; i < perf_source_cpu_count(s->source); i++) {
		const struct perf_source_cpu *cpu = perf_source_cpu_at(s->source, i);
		const struct perf_ring *ring = &cpu->ring, *track = &cpu->track;
		struct session_status_cpu *c = vec_add(&status->cpus);

		*c = (struct session_status_cpu){
		        .cpu = cpu->cpu,
		        .ring_bytes = ring->size + track->size,
		        .ring_used = ring->used + track->used,
		        .ring_used_max = ring->used_max + track->used_max,
		        .ring_recent_max = ring->recent_max + track->recent_max,
		        .ring_used_sum = ring->used_sum + track->used_sum,
		        .ring_reads = ring->reads,
		        .lost = cpu->lost,
		};
	}
}

void session_status_take(struct session *s, struct session_status *status)
{
	struct account_mark now = {0};
	const struct perf_event_attr *attr = &s->plan.events.items[0].attr;

	session_foreign_report(s);
	account_mark_take(&now, s->foreign);
	*status = (struct session_status){
	        .now_ns = now.time_ns,
	        .now_wall_ns = now.wall_ns,
	        .settled_ns = now.time_ns,
	        .start_ns = s->start.time_ns,
	        .start_wall_ns = s->start.wall_ns,
	        .machine_wide = s->plan.machine_wide,
	        .bytes = s->sink ? s->sink->ops->bytes(s->sink)
	                         : s->recording.account.observer_bytes,
	        .observer_cpu_ns = now.cpu_ns - s->start.cpu_ns,
	        .observer_wakeups = s->recording.account.observer_wakeups,
	        .read_gap_max_ns = s->pace.gap_max_ns,
	        .period_asked_ns = attr_timer_period_ns(attr),
	        .period_ns = attr_timer_period_ns(attr),
	        .stats = now.stats,
	};
	add_cpus(s, status);
	if (s->stream)
		record_stream_status(s->stream, status);
}

bool session_output_is_gone(const struct session *s)
{
	return output_watch_is_gone(&s->place);
}

int session_output_check(const struct session *s, struct error *err)
{
	return output_watch_check(&s->place, err);
}

char *const *session_notes(const struct session *s, size_t *count)
{
	*count = s->plan.notes.count;
	return s->plan.notes.items;
}

size_t session_note(struct session *s, size_t earlier, char *text)
{
	if (!earlier) {
		vec_push(&s->plan.notes, text);
		return s->plan.notes.count;
	}
	free(s->plan.notes.items[earlier - 1]);
	s->plan.notes.items[earlier - 1] = text;
	return earlier;
}

void session_cpus(const struct session *s, struct account *a)
{
	for (size_t i = 0; s->plan.machine_wide && i < perf_source_cpu_count(s->source); i++) {
		const struct perf_source_cpu *cpu = perf_source_cpu_at(s->source, i);

		vec_push(&a->cpus,
		         (struct account_cpu){.cpu = cpu->cpu, .start_ns = cpu->start_ns});
	}
}

int session_read(struct session *s, struct error *err)
{
	return session_drain(s, false, err);
}

void session_release_files(struct session *s)
{
	image_keeper_release(s->keeper);
}

void session_buffers_restart(struct session *s)
{
	for (size_t i = 0; i < perf_source_cpu_count(s->source); i++) {
		perf_source_ring(s->source, i)->recent_max = 0;
		perf_source_track_ring(s->source, i)->recent_max = 0;
	}
	if (s->stream)
		record_stream_restart(s->stream);
}

void session_status_done(struct session_status *s)
{
	vec_done(&s->cpus);
	cpu_stats_done(&s->stats);
}

/* The account of the recording so far, as if it ended now. */
static void describe_so_far(struct session *s, struct recording *r,
                            const struct session_status *status)
{
	struct targets targets = session_targets(s);
	struct account_mark now = {0};

	account_mark_take(&now, s->foreign);
	recording_init(r);
	account_describe(r, &s->plan, s->options, &targets);
	account_close(r, &s->plan, s->source, &s->start, &now);
	session_foreign_account(s, &r->account);
	r->account.observer_wakeups = s->recording.account.observer_wakeups;
	r->account.flush_asked_ns = s->options->flush_ns;
	r->account.flushes = s->recording.account.flushes;
	r->account.flush_cpu_ns = s->recording.account.flush_cpu_ns;
	if (s->stream)
		record_stream_account(s->stream, &r->account);
	descriptor_keeper_account(s->descriptors, &r->account);
	fault_keeper_account(s->faults, &r->account);
	label_keeper_account(s->labels, &r->account);
	r->account.observer_bytes = status->bytes;
	r->account.exit_status = -1;
	r->lost_records = status->lost_records;
	/* The kernel's counters of lost records are valid only after the events are disabled. */
	for (size_t i = 0; i < r->account.cpus.count && i < status->cpus.count; i++)
		r->account.cpus.items[i].lost_records = status->cpus.items[i].lost;
	account_mark_done(&now);
}

int session_describe(struct session *s, struct recording *r, struct session_status *status,
                     struct error *err)
{
	int ret = session_read(s, err);

	if (ret)
		return ret;
	session_status_take(s, status);
	describe_so_far(s, r, status);
	return 0;
}

int session_snapshot(struct session *s, const char *path, struct error *err)
{
	struct session_status status = {0};
	struct recording r;
	int ret;

	if (!s->sink->ops->snapshot)
		return error_set(err, EOPNOTSUPP, "this kind of session has no snapshots");
	ret = session_describe(s, &r, &status, err);
	if (ret)
		return ret;
	session_work_begin(s);
	ret = s->sink->ops->snapshot(s->sink, path, &r, &status, err);
	session_work_end(s);
	recording_done(&r);
	session_status_done(&status);
	return ret;
}
