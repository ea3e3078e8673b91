/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/store_sink.h"

#include "base/process/helper_thread.h"
#include "base/clock_difference.h"
#include "base/memory/hash.h"
#include "base/text/plural.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"
#include "profile/profile_windows.h"
#include "session/bound_note.h"
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define WINDOW_NS UINT64_C(10000000000)
/*
 * Adjustments of a clock in a window stay below this; a larger step means that the clock was set.
 */
#define CLOCK_SET_NS INT64_C(500000000)
#define COPY_LOOK_NS 20000000
#define WAITS_MAX (1u << 18) /* single waits of a window, 40 bytes each */
#define CLOCK_MOVED_NS INT64_C(1000000)

/* Reasons for missing time, compared by address. */
static const char disk_full[] = STORE_GAP_DISK_FULL, other_writer[] = "another process was writing",
                  suspended[] = "suspended", set_forward[] = "the clock was set forward";

/* A time range without data that is not yet written to the store as a gap. */
struct missing {
	uint64_t from_ns, to_ns;
	const char *why;
};

struct store_sink {
	struct session_sink sink;
	struct store_sink_options o;
	char *path;
	struct store *store;
	struct perf_decoder decoder;
	struct profile_windows *windows;
	struct event_sink events;
	uint64_t wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC, last value */
	uint64_t asleep_ns; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC: grows while the machine sleeps */
	struct session_status last; /* at the end of the previous window */
	VEC(struct missing) missing;
	/* Windows and samples that found no room on the disk */
	uint64_t lost_windows, lost_samples;
	size_t note; /* number of the session's note on these losses; 0: none yet */
	struct bound_note dropped;
	const struct recording *described;
	bool has_waits;      /* the profiles have them */
	uint64_t notes_hash; /* hash of the session's notes that are in the store */
};

static struct store_sink *store_sink_of(struct session_sink *s)
{
	return (struct store_sink *)s;
}

static uint64_t asleep(void)
{
	int64_t ns = clock_difference(CLOCK_BOOTTIME, CLOCK_MONOTONIC);

	return ns > 0 ? (uint64_t)ns : 0;
}

static void fill_buffers(struct store_sink *s, const struct session_status *now,
                         struct store_buffer *buffers)
{
	for (size_t i = 0; i < now->cpus.count; i++) {
		const struct session_status_cpu *c = &now->cpus.items[i];
		struct session_status_cpu before = {0};
		const struct cpu_stat *a = cpu_stats_find(&s->last.stats, c->cpu);
		const struct cpu_stat *b = cpu_stats_find(&now->stats, c->cpu);
		uint64_t reads;

		if (i < s->last.cpus.count)
			before = s->last.cpus.items[i];
		reads = c->ring_reads - before.ring_reads;
		buffers[i] = (struct store_buffer){
		        .cpu = c->cpu,
		        .ring_bytes = c->ring_bytes,
		        .used_max = c->ring_recent_max,
		        .used_average =
		                reads ? (c->ring_used_sum - before.ring_used_sum) / reads : 0,
		        .lost_records = c->lost - before.lost,
		        .has_steal = a && b,
		        .steal_ns = a && b ? b->steal_ns - a->steal_ns : 0,
		};
	}
}

/* True for an error after which the store is consistent and the next window may be added. */
static bool is_passing(int status)
{
	return status == -ENOSPC || status == -EBUSY;
}

/* Remembers a gap, which is written to the store when that is possible. */
static void miss(struct store_sink *s, uint64_t from_ns, uint64_t to_ns, const char *why)
{
	struct missing *last = s->missing.count ? vec_last(&s->missing) : NULL;

	if (last && last->why == why && from_ns >= last->from_ns &&
	    from_ns <= last->to_ns + (uint64_t)CLOCK_SET_NS)
		last->to_ns = to_ns;
	else
		vec_push(&s->missing, (struct missing){from_ns, to_ns, why});
}

static int tell_missing(struct store_sink *s, struct error *err)
{
	size_t told = 0;
	int ret = 0;

	while (!ret && told < s->missing.count) {
		const struct missing *m = &s->missing.items[told];

		ret = store_add_gap(s->store, m->from_ns, m->to_ns, m->why, err);
		told += !ret;
	}
	for (size_t i = told; i < s->missing.count; i++)
		s->missing.items[i - told] = s->missing.items[i];
	s->missing.count -= told;
	return ret;
}

/* Adds a note for the status: the store has fewer windows than were counted. */
static void note_lost(struct store_sink *s, const struct store_window *w, const char *why)
{
	s->lost_windows++;
	s->lost_samples += w->samples;
	s->note = session_note(
	        s->sink.session, s->note,
	        xasprintf("%" PRIu64 " %s with %" PRIu64 " %s %s not in the store, "
	                  "which has a gap there; the last because %s",
	                  s->lost_windows, plural(s->lost_windows, "window", "windows"),
	                  s->lost_samples, plural(s->lost_samples, "sample", "samples"),
	                  plural(s->lost_windows, "is", "are"), why));
}

/* Writes the notes of the session if they changed since the last time. */
static int write_notes(struct store_sink *s, struct error *err)
{
	size_t count;
	char *const *notes = session_notes(s->sink.session, &count);
	uint64_t hash = 0;
	int ret;

	for (size_t i = 0; i < count; i++)
		hash = hash_pair(hash, hash_bytes(notes[i], strlen(notes[i]) + 1));
	if (hash == s->notes_hash)
		return 0;
	ret = store_set_notes(s->store, notes, count, err);
	if (!ret)
		s->notes_hash = hash;
	return ret;
}

static int write_window(struct store_sink *s, const struct profile *p, const struct store_window *w,
                        struct error *err)
{
	const char *why;
	/*
	 * SQLite continues to write to an unlinked file without an error, so the path is checked.
	 */
	int ret = session_output_check(s->sink.session, err);

	if (!ret)
		ret = tell_missing(s, err);
	bound_note_update(&s->dropped, s->sink.session, p->processes, "code in them has no names");
	if (!ret)
		ret = write_notes(s, err);
	if (!ret)
		ret = store_add_window(s->store, p, w, err);
	if (is_passing(ret)) {
		why = ret == -ENOSPC ? disk_full : other_writer;
		miss(s, w->start_ns, w->end_ns, why);
		note_lost(s, w, why);
	}
	/* On a full disk, it makes room for the next window. */
	if (!ret || ret == -ENOSPC)
		ret = store_retention(s->store, w->end_ns, err);
	return is_passing(ret) ? 0 : ret;
}

/* Fills the state of rate and budget in a window. */
static void fill_rate(const struct session_status *before, const struct session_status *now,
                      struct store_window *w)
{
	const struct account_budget *b = &now->budget;

	w->rate = (struct store_rate){
	        .slowed_budget_ns = now->slowed_budget_ns - before->slowed_budget_ns,
	        .slowed_behind_ns = now->slowed_behind_ns - before->slowed_behind_ns,
	        .taken_ns = now->budget_spent_ns - before->budget_spent_ns,
	        .taken_of_ns = b->looked_ns - before->budget.looked_ns,
	        .over_ns = b->over_ns - before->budget.over_ns,
	        .most_ppm = now->budget_recent_ppm,
	        .sample_ns = b->cost_ns,
	};
	w->budget = (struct store_budget){.share_ppm = b->share_ppm,
	                                  .cost_low_ns = b->cost_low_ns,
	                                  .cost_high_ns = b->cost_high_ns,
	                                  .cost_samples = b->cost_samples,
	                                  .record_ns = b->record_ns};
}

static int on_window(void *ctx, const struct profile *p, const struct profile_window *w,
                     struct error *err)
{
	struct store_sink *s = ctx;
	struct store_waits waits = {0};
	struct session_status now;
	struct store_buffer *buffers;
	struct store_window out;
	int ret;

	session_status_take(s->sink.session, &now);
	buffers = xcalloc(now.cpus.count + 1, sizeof(*buffers));
	fill_buffers(s, &now, buffers);
	out = (struct store_window){
	        .start_ns = w->start_ns + s->wall_offset_ns,
	        .end_ns = w->end_ns + s->wall_offset_ns,
	        .samples = w->samples,
	        .lost_records = w->lost_records,
	        .observer_cpu_ns = now.observer_cpu_ns - s->last.observer_cpu_ns,
	        .period_ns = now.period_ns,
	        .wall_offset_ns = (int64_t)s->wall_offset_ns,
	        .buffers = buffers,
	        .buffer_count = now.cpus.count,
	};
	fill_rate(&s->last, &now, &out);
	if (s->has_waits) {
		store_waits_init(&waits);
		s->o.waits(s->o.waits_ctx, p, s->described, w->start_ns, &waits);
		out.waits = &waits;
	}
	ret = write_window(s, p, &out, err);
	if (s->has_waits)
		store_waits_done(&waits);
	free(buffers);
	session_status_done(&s->last);
	s->last = now;
	session_buffers_restart(s->sink.session);
	return ret;
}

static int open_windows(struct store_sink *s, const struct recording *described, struct error *err)
{
	struct profile_windows_options o = {.window_ns = s->o.window_ns,
	                                    .wall_offset_ns = s->wall_offset_ns,
	                                    .builder.waits = s->has_waits,
	                                    .builder.waits_max = WAITS_MAX,
	                                    .window = on_window,
	                                    .ctx = s};

	s->windows = profile_windows_new(&o);
	s->events = profile_windows_sink(s->windows);
	s->sink.events = (struct event_sink){.ctx = s->events.ctx, .event = s->events.event};
	return s->events.begin(s->events.ctx, described, err);
}

static int sink_open(struct session_sink *sink, const struct perf_data_attr *attrs, size_t count,
                     const struct recording *described, struct error *err)
{
	struct store_sink *s = store_sink_of(sink);
	struct store_options o = {.keeping = s->o.keeping,
	                          .name = s->o.name,
	                          .name_ctx = s->o.name_ctx,
	                          .server = s->o.server};
	int ret;

	if (s->o.name_foreign)
		s->o.name_foreign(s->o.name_ctx, sink->foreign);
	perf_decoder_init(&s->decoder);
	for (size_t i = 0; i < count; i++)
		perf_decoder_add_attr(&s->decoder, &attrs[i].attr, attrs[i].ids, attrs[i].id_count);
	perf_decoder_seal(&s->decoder);
	vec_each (attr, &described->attrs)
		s->has_waits |= s->o.waits && attr->role == ATTR_SWITCH;
	s->described = described;
	s->wall_offset_ns = clock_wall_offset();
	s->asleep_ns = asleep();
	ret = store_open(&s->store, s->path, &o, err);
	if (s->o.sent && !ret)
		s->o.sent->sink = sink;
	if (!ret)
		ret = store_begin(s->store, described, clock_ns(CLOCK_REALTIME), err);
	return ret ? ret : open_windows(s, described, err);
}

static void sink_begun(struct session_sink *sink, uint64_t start_ns)
{
	struct store_sink *s = store_sink_of(sink);

	/* The first window starts with the current counts. */
	session_status_done(&s->last);
	session_status_take(sink->session, &s->last);
	profile_windows_start(s->windows, start_ns);
}

static int sink_append(struct session_sink *sink, const void *records, size_t bytes,
                       struct error *err)
{
	struct store_sink *s = store_sink_of(sink);

	return perf_decoder_deliver(&s->decoder, records, bytes, &s->events, err);
}

/*
 * Adds gaps for time without measurement: the machine was suspended, or the wall clock was set
 * forward. For a clock that was set back the store itself adds a gap: windows start before the end
 * of the last one.
 */
static int look_at_clocks(struct store_sink *s, struct error *err)
{
	uint64_t now = clock_wall_offset(), slept = asleep();
	int64_t jump = (int64_t)(now - s->wall_offset_ns);
	uint64_t before = clock_ns(CLOCK_MONOTONIC) + s->wall_offset_ns;
	int64_t nap = (int64_t)(slept - s->asleep_ns);
	int ret = 0;

	if (nap > CLOCK_SET_NS) {
		miss(s, before, before + (uint64_t)nap, suspended);
		jump -= nap;
		before += (uint64_t)nap;
	}
	if (jump > CLOCK_SET_NS)
		miss(s, before, before + (uint64_t)jump, set_forward);
	ret = tell_missing(s, err);
	s->asleep_ns = slept;
	/* Readings differ by some ns each time; such a difference does not move the boundaries of
	 * windows. */
	if (jump > CLOCK_MOVED_NS || jump < -CLOCK_MOVED_NS || nap > CLOCK_MOVED_NS) {
		s->wall_offset_ns = now;
		profile_windows_wall(s->windows, now);
	}
	return is_passing(ret) ? 0 : ret;
}

static int sink_flush(struct session_sink *sink, const struct session_status *now,
                      struct error *err)
{
	struct store_sink *s = store_sink_of(sink);
	int ret = profile_windows_until(s->windows, now->settled_ns, err);

	return ret ? ret : look_at_clocks(s, err);
}

/* A copy that another thread makes with its own connection. */
struct store_sink_copying {
	const char *from, *to;
	int status;
	struct error err;
	bool over;
};

static void copy_aside(void *ctx)
{
	struct store_sink_copying *c = ctx;
	struct store_options o = {.read_only = true};
	struct store *store = NULL;

	c->status = store_open(&store, c->from, &o, &c->err);
	if (!c->status)
		c->status = store_copy(store, c->to, &c->err);
	store_close(store);
	__atomic_store_n(&c->over, true, __ATOMIC_RELEASE);
}

/*
 * Copying a store of gigabytes takes time. Sampling and writing continue, since the copy is of one
 * moment.
 */
static int sink_snapshot(struct session_sink *sink, const char *path, const struct recording *r,
                         const struct session_status *now, struct error *err)
{
	struct store_sink *s = store_sink_of(sink);
	struct store_sink_copying copying = {.from = s->path, .to = path};
	struct timespec moment = {.tv_nsec = COPY_LOOK_NS};
	struct helper_thread aside = {0};
	struct error drained = {0};
	int ret = profile_windows_cut(s->windows, now->settled_ns, err);

	if (ret)
		return ret;
	if (!helper_thread_start(&aside, copy_aside, &copying))
		return store_copy(s->store, path, err);
	while (!__atomic_load_n(&copying.over, __ATOMIC_ACQUIRE)) {
		nanosleep(&moment, NULL);
		if (!ret)
			ret = session_read(sink->session, &drained);
		session_pause(sink->session);
	}
	helper_thread_join(&aside);
	if (ret || copying.status)
		*err = ret ? drained : copying.err;
	return ret ? ret : copying.status;
}

void store_sink_look(struct store_sink_sent *sent)
{
	const struct store_sink *s = (const struct store_sink *)sent->sink;
	struct send_account *a = &sent->account;

	if (!s)
		return;
	sent->known = store_sent(s->store, a);
	sending_count(&a->due, s->lost_windows, s->lost_samples);
	sending_count(&a->unwritten, s->lost_windows, s->lost_samples);
	snprintf(sent->spool, sizeof(sent->spool), "%s", a->spool ? a->spool : "");
	a->spool = sent->spool;
}

static void sink_free(struct store_sink *s)
{
	if (s->o.sent) {
		store_sink_look(s->o.sent);
		s->o.sent->sink = NULL;
	}
	profile_windows_free(s->windows);
	perf_decoder_done(&s->decoder);
	session_status_done(&s->last);
	vec_done(&s->missing);
	store_close(s->store);
	free(s->path);
	free(s);
}

static int sink_close(struct session_sink *sink, const struct recording *r,
                      const struct session_status *last, struct error *err)
{
	struct store_sink *s = store_sink_of(sink);
	int ret = s->events.end(s->events.ctx, r, err);

	if (!ret)
		ret = tell_missing(s, err);
	if (!ret)
		ret = write_notes(s, err);
	if (!ret)
		ret = store_end(s->store, last->now_wall_ns, STORE_ENDED_STOPPED, err);
	sink_free(s);
	return ret;
}

static void sink_abandon(struct session_sink *sink, bool began)
{
	struct store_sink *s = store_sink_of(sink);
	struct error ignored = {0};

	if (s->store && began)
		store_end(s->store, clock_ns(CLOCK_REALTIME), "failed", &ignored);
	sink_free(s);
}

static uint64_t sink_bytes(const struct session_sink *sink)
{
	const struct store_sink *s = (const struct store_sink *)sink;

	return s->store ? store_bytes(s->store) : 0;
}

struct session_sink *store_sink_new(const struct store_sink_options *options)
{
	static const struct session_sink_ops ops = {
	        .open = sink_open,
	        .begun = sink_begun,
	        .append = sink_append,
	        .flush = sink_flush,
	        .snapshot = sink_snapshot,
	        .close = sink_close,
	        .abandon = sink_abandon,
	        .bytes = sink_bytes,
	};
	struct store_sink *s = xcalloc(1, sizeof(*s));

	s->o = *options;
	s->path = xstrdup(options->path);
	s->o.path = s->path;
	if (!s->o.window_ns)
		s->o.window_ns = WINDOW_NS;
	s->sink = (struct session_sink){.ops = &ops,
	                                .ordered = true,
	                                .grows = true,
	                                .names = true,
	                                .flush_ns = s->o.window_ns};
	return &s->sink;
}
