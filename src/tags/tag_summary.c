/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_summary: sums over streams.
 *
 * Each stream is one run of the engine (tag_engine_run.h). Its sums are added here per function, in
 * a hash over (names, tag). Threads process the streams of a recording, the largest first. Uses:
 * base, tags.
 */
#include "tags/tag_summary.h"

#include "base/memory/hash.h"
#include "tags/tag_engine_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64

struct sums {
	struct tag_summary shown; /* must be first: the part that callers see */
	struct tag_summary_options options;
	struct id_table table;
	VEC(struct tag_function) totals;
	VEC(struct tag_thread)
	threads; /* threads of streams that are not of devices; sorted and unique after
count_threads() */
	uint64_t device_processes;
};

static struct sums *sums_of(struct tag_summary *s)
{
	return (struct sums *)s;
}

struct tag_summary *tag_summary_new(const struct tag_summary_options *options)
{
	struct sums *s = xcalloc(1, sizeof(*s));

	if (options)
		s->options = *options;
	s->shown.first = UINT64_MAX;
	return &s->shown;
}

void tag_summary_free(struct tag_summary *summary)
{
	struct sums *s = sums_of(summary);

	if (!s)
		return;
	vec_done(&s->shown.functions);
	vec_done(&s->totals);
	tag_times_done(&s->shown.times);
	vec_done(&s->threads);
	id_table_done(&s->table);
	free(s);
}

static bool same_function(const void *ctx, uint32_t id, const void *key)
{
	const struct sums *s = ctx;
	const struct tag_function *f = &s->totals.items[id], *wanted = key;

	return f->tag == wanted->tag && f->names == wanted->names;
}

static void add_bounds(uint64_t *min, uint64_t *max, uint64_t other_min, uint64_t other_max)
{
	*min = other_min < *min ? other_min : *min;
	*max = other_max > *max ? other_max : *max;
}

/* `times`: the times of the summary or run that contains `t` as function `number`. */
static void add_total(struct sums *s, const struct tag_function *t, const struct tag_times *times,
                      uint32_t number)
{
	uint64_t hash = hash_pair(t->tag, t->names);
	uint32_t id = id_table_find(&s->table, hash, same_function, s, t);

	if (id == ID_NONE) {
		id = s->totals.count;
		vec_push(&s->totals, *t);
		s->totals.items[id].times = id;
		id_table_add(&s->table, hash, id);
		tag_times_merge(&s->shown.times, id, times, number);
		return;
	}
	tag_times_merge(&s->shown.times, id, times, number);
	struct tag_function *to = &s->totals.items[id];

	to->calls += t->calls;
	to->elapsed += t->elapsed;
	to->net += t->net;
	to->events += t->events;
	to->ended += t->ended;
	to->open += t->open;
	to->cut += t->cut;
	to->unseen += t->unseen;
	tag_range_add(&to->certain, &t->certain);
	tag_range_add(&to->uncertain, &t->uncertain);
}

/* All other calls are cold, so that the loop of plain events counts nothing twice. */
static struct tag_range certain_of(const struct tag_line *l, const struct tag_line_cold *c)
{
	const struct tag_range *u = &c->uncertain;

	return (struct tag_range){
	        .calls = l->closed - c->open - c->cut - u->calls,
	        .net = {l->net - c->net - u->net.sum, l->min, l->max},
	        .total = {l->total - c->total - u->total.sum, l->total_min, l->total_max},
	};
}

static void add_line(struct sums *s, const struct tag_run *r, uint32_t line, uint32_t names)
{
	const struct tag_line *l = &r->lines.items[line];
	const struct tag_line_cold *c = &r->colds.items[l->cold];
	const struct tag_line_info *info = &r->infos.items[line];
	struct tag_function f = {
	        .tag = l->tag,
	        .names = info->unknown ? UINT32_MAX : names,
	        .calls = l->closed,
	        .elapsed = l->total - l->nested + c->pieces,
	        .net = l->net,
	        .events = l->closed + l->events,
	        .ended = l->closed - c->open - c->cut - c->unseen,
	        .open = c->open,
	        .cut = c->cut,
	        .unseen = c->unseen,
	        .certain = certain_of(l, c),
	        .uncertain = c->uncertain,
	};

	if (info->kind == TAG_INLINE) {
		f.ended = 0;
		f.certain = TAG_RANGE_NONE;
	}
	if (l->closed || l->net)
		add_total(s, &f, &r->times, line);
}

static int compare_threads(const void *a, const void *b)
{
	const struct tag_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Sorts the threads, removes duplicates, and counts threads and processes. */
static void count_threads(struct sums *s)
{
	size_t kept = 0;
	uint64_t processes = 0;

	if (s->threads.count)
		qsort(s->threads.items, s->threads.count, sizeof(*s->threads.items),
		      compare_threads);
	vec_each (t, &s->threads) {
		if (kept && !compare_threads(t, &s->threads.items[kept - 1]))
			continue;
		processes += !kept || t->pid != s->threads.items[kept - 1].pid;
		s->threads.items[kept++] = *t;
	}
	s->threads.count = kept;
	s->shown.threads = kept;
	s->shown.processes = processes + s->device_processes;
}

static void add_damage(struct tag_damage *to, const struct tag_damage *d)
{
	to->lost += d->lost;
	to->gaps += d->gaps;
	to->missing_exits += d->missing_exits;
	to->unmatched_exits += d->unmatched_exits;
	to->inherited_exits += d->inherited_exits;
	to->unknown_tags += d->unknown_tags;
	to->guesses += d->guesses;
	to->backwards += d->backwards;
}

/* `stream`: threads with an unknown tid count as one thread per stream. */
static void add_run(struct sums *s, const struct tag_run *r, uint32_t stream, uint32_t names)
{
	struct tag_summary *to = &s->shown;

	for (uint32_t i = 1; i < r->lines.count; i++)
		add_line(s, r, i, names);
	to->streams++;
	to->tags += r->tags;
	if (r->met)
		add_bounds(&to->first, &to->last, r->first, r->last);
	to->switches += r->switches;
	to->elapsed += r->elapsed;
	to->idle += r->idle;
	to->own += r->own;
	to->blocked += r->blocked;
	to->preempted += r->preempted;
	to->gap += r->gaps;
	to->outside += r->outside;
	to->unknown += r->unknown;
	add_damage(&to->damage, &r->damage);
	s->device_processes += r->processes;
	vec_each (t, &r->threads)
		vec_push(&s->threads,
		         ((struct tag_thread){t->pid, t->tid ? t->tid : ~(int32_t)stream}));
}

static uint32_t names_of(const struct tag_recording *r, const struct tag_stream *stream)
{
	for (size_t i = 0; i < r->names.count; i++) {
		if (r->names.items[i] == stream->names)
			return i;
	}
	return UINT32_MAX;
}

int tag_summary_stream(struct tag_summary *summary, struct tag_recording *r, uint32_t stream,
                       struct error *err)
{
	struct sums *s = sums_of(summary);
	const struct tag_stream *of = &r->streams.items[stream];
	uint32_t names = names_of(r, of);
	struct tag_histogram *h = s->options.histogram;
	struct tag_reader *reader;
	struct tag_packet packet;
	int rc = r->open(r, stream, &reader, err);

	if (rc < 0)
		return rc;
	struct tag_run *run =
	        tag_run_new(of, s->options.wall, NULL, NULL, h && h->names == names ? h : NULL);

	tag_run_time_calls(run);
	while ((rc = reader->next(reader, &packet, err)) > 0)
		tag_run_packet(run, &packet);
	reader->close(reader);
	if (!rc) {
		tag_run_end(run);
		add_run(s, run, stream, names);
	}
	tag_run_free(run);
	return rc;
}

void tag_summary_merge(struct tag_summary *into, const struct tag_summary *from)
{
	struct sums *to = sums_of(into);
	const struct sums *s = (const struct sums *)from;
	struct tag_histogram *h = to->options.histogram;

	vec_each (t, &s->totals)
		add_total(to, t, &from->times, t->times);
	vec_each (t, &s->threads)
		vec_push(&to->threads, *t);
	to->device_processes += s->device_processes;
	into->tags += from->tags;
	into->streams += from->streams;
	into->switches += from->switches;
	into->elapsed += from->elapsed;
	into->idle += from->idle;
	into->own += from->own;
	into->blocked += from->blocked;
	into->preempted += from->preempted;
	into->gap += from->gap;
	into->outside += from->outside;
	into->unknown += from->unknown;
	add_bounds(&into->first, &into->last, from->first, from->last);
	add_damage(&into->damage, &from->damage);
	if (h && s->options.histogram && h != s->options.histogram)
		for (unsigned i = 0; i < TAG_HISTOGRAM_STEPS; i++)
			h->count[i] += s->options.histogram->count[i];
}

static int compare_functions(const void *a, const void *b)
{
	const struct tag_function *x = a, *y = b;

	if (x->names != y->names)
		return x->names < y->names ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

void tag_summary_finish(struct tag_summary *summary)
{
	struct sums *s = sums_of(summary);
	struct tag_summary *shown = &s->shown;

	count_threads(s);
	shown->functions.count = 0;
	vec_each (f, &s->totals)
		vec_push(&shown->functions, *f);
	if (shown->functions.count)
		qsort(shown->functions.items, shown->functions.count,
		      sizeof(*shown->functions.items), compare_functions);
	if (shown->first > shown->last)
		shown->first = 0;
}

struct share { /* data shared by the threads */
	struct tag_recording *r;
	const uint32_t *order;
	atomic_size_t next;
	atomic_bool stop;
};

struct tag_summary_worker {
	struct share *share;
	struct tag_summary *summary;
	struct tag_histogram histogram;
	struct error err;
	int rc;
	pthread_t thread;
	bool started;
};

static void *work(void *of)
{
	struct tag_summary_worker *w = of;
	struct share *share = w->share;

	while (!atomic_load(&share->stop)) {
		size_t at = atomic_fetch_add(&share->next, 1);

		if (at >= share->r->streams.count)
			break;
		w->rc = tag_summary_stream(w->summary, share->r, share->order[at], &w->err);
		if (w->rc < 0)
			atomic_store(&share->stop, true);
		if (w->rc < 0)
			break;
	}
	return NULL;
}

static int compare_bytes(const void *a, const void *b, void *of)
{
	const struct tag_recording *r = of;
	const struct tag_stream *x = &r->streams.items[*(const uint32_t *)a];
	const struct tag_stream *y = &r->streams.items[*(const uint32_t *)b];

	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static uint32_t *greatest_first(struct tag_recording *r)
{
	uint32_t *order = xcalloc(r->streams.count + 1, sizeof(*order));

	for (size_t i = 0; i < r->streams.count; i++)
		order[i] = i;
	qsort_r(order, r->streams.count, sizeof(*order), compare_bytes, r);
	return order;
}

static size_t threads_for(const struct tag_recording *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = cpus > 0 ? (size_t)cpus : 1;

	count = count < THREADS_MAX ? count : THREADS_MAX;
	count = count < r->streams.count ? count : r->streams.count;
	return count ? count : 1;
}

static void start_worker(struct tag_summary_worker *w, struct share *share, const struct sums *s)
{
	struct tag_summary_options options = s->options;

	w->share = share;
	if (options.histogram) {
		w->histogram.tag = options.histogram->tag;
		w->histogram.names = options.histogram->names;
		w->histogram.total = options.histogram->total;
		options.histogram = &w->histogram;
	}
	w->summary = tag_summary_new(&options);
}

int tag_summary_recording(struct tag_summary *summary, struct tag_recording *r, struct error *err)
{
	struct sums *s = sums_of(summary);
	size_t count = threads_for(r);
	uint32_t *order = greatest_first(r);
	struct share share = {.r = r, .order = order};
	struct tag_summary_worker *workers = xcalloc(count, sizeof(*workers));
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		start_worker(&workers[i], &share, s);
	/* If a thread cannot be created, the calling thread does its work. */
	for (size_t i = 1; i < count; i++)
		workers[i].started = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	work(&workers[0]);
	for (size_t i = 0; i < count; i++) {
		struct tag_summary_worker *w = &workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		if (w->rc < 0 && !rc) {
			rc = w->rc;
			if (err)
				*err = w->err;
		}
		if (!rc)
			tag_summary_merge(summary, w->summary);
		tag_summary_free(w->summary);
	}
	free(workers);
	free(order);
	return rc;
}

unsigned tag_histogram_step(uint64_t ticks)
{
	unsigned power;

	if (ticks < 4)
		return (unsigned)ticks;
	power = 63 - __builtin_clzll(ticks);
	return 4 * (power - 1) + ((ticks >> (power - 2)) & 3);
}

void tag_histogram_bounds(unsigned step, uint64_t *low, uint64_t *high)
{
	unsigned power = step / 4 + 1;

	if (step < 4) {
		*low = step;
		*high = step + 1;
		return;
	}
	*low = power < 64 ? (UINT64_C(4) + step % 4) << (power - 2) : UINT64_MAX;
	*high = power > 63 || (power == 63 && step % 4 == 3)
	                ? UINT64_MAX
	                : (UINT64_C(5) + step % 4) << (power - 2);
}
