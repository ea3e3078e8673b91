/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/chrome_read.h"

#include "base/text/plural.h"
#include "format/profiles/chrome_events.h"
#include "format/profiles/profile_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHROME_CALLS, CHROME_TIME };

/* A slice that is open. */
struct open_slice {
	int64_t from_ns, inner_ns;
	int64_t limit_ns; /* the latest end that the slices around it allow */
	uint32_t path;
	bool timed; /* an X event, which ends at the limit; else an E event ends it */
};

struct chrome_reader {
	struct symbolized_profile *n;
	struct chrome_events e;
	struct profile_names names;
	VEC(struct open_slice) open; /* of one thread */
	uint32_t owner;
	uint64_t unended, unbegun, cut;
};

bool chrome_recognise(const void *bytes, size_t size)
{
	const char *at = bytes, *end = at + size;

	while (at < end && strchr(" \t\r\n", *at) && *at)
		at++;
	if (at < end && *at == '{')
		return memmem(at, (size_t)(end - at), "\"traceEvents\"", 13) != NULL;
	return at < end && *at == '[' && memmem(at, (size_t)(end - at), "\"ph\"", 4) &&
	       memmem(at, (size_t)(end - at), "\"pid\"", 5);
}

/* By thread and time. At equal times B and E keep their order, and come before X; of several X the
 * longest contains the others. */
static int compare_events(const void *pa, const void *pb)
{
	const struct chrome_event *a = pa, *b = pb;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if ((a->kind == 'X') != (b->kind == 'X'))
		return a->kind == 'X' ? 1 : -1;
	if (a->kind == 'X' && a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void end_slice(struct chrome_reader *r, int64_t ns)
{
	const struct open_slice slice = *vec_last(&r->open);
	struct named_row *row = named_row_of(r->n, slice.path, r->owner);
	int64_t all = ns - slice.from_ns;

	r->open.count--;
	row->values[CHROME_TIME] = named_add(row->values[CHROME_TIME], all - slice.inner_ns);
	if (r->open.count)
		vec_last(&r->open)->inner_ns += all;
}

/* Ends the slices that are over at this time. */
static void end_until(struct chrome_reader *r, int64_t ns)
{
	while (r->open.count && vec_last(&r->open)->limit_ns <= ns) {
		r->cut += !vec_last(&r->open)->timed;
		end_slice(r, vec_last(&r->open)->limit_ns);
	}
}

static void begin_slice(struct chrome_reader *r, const struct chrome_event *e)
{
	struct named_function f = {.name = e->name, .image = NAMED_NONE};
	uint32_t place = profile_names_place(&r->names, r->n, &f);
	struct open_slice slice = {
	        .from_ns = e->ns, .limit_ns = INT64_MAX, .timed = e->kind == 'X'};

	slice.path = NAMED_ROOT;
	if (r->open.count) {
		slice.path = vec_last(&r->open)->path;
		slice.limit_ns = vec_last(&r->open)->limit_ns;
	}
	slice.path = named_path_step(r->n, slice.path, place);
	if (slice.timed && e->ns + e->duration_ns > slice.limit_ns)
		r->cut++;
	else if (slice.timed)
		slice.limit_ns = e->ns + e->duration_ns;
	named_row_of(r->n, slice.path, r->owner)->values[CHROME_CALLS]++;
	vec_push(&r->open, slice);
}

/* An E ends the innermost B; slices X in it that last longer are cut. */
static void end_begun(struct chrome_reader *r, int64_t ns)
{
	size_t at = r->open.count;

	while (at && r->open.items[at - 1].timed)
		at--;
	if (!at) {
		r->unbegun++;
		return;
	}
	r->cut += r->open.count - at;
	while (r->open.count >= at)
		end_slice(r, ns);
}

static void end_thread(struct chrome_reader *r, int64_t last_ns)
{
	vec_each (slice, &r->open) {
		if (!slice->timed)
			r->unended++;
		else if (slice->limit_ns > last_ns)
			last_ns = slice->limit_ns;
	}
	while (r->open.count) {
		const struct open_slice *slice = vec_last(&r->open);

		end_slice(r, slice->timed || slice->limit_ns < last_ns ? slice->limit_ns : last_ns);
	}
}

static int add_events(struct chrome_reader *r, const char *name, struct error *err)
{
	const struct chrome_event *events = r->e.events.items;
	int ret = 0;

	for (size_t i = 0; !ret && i < r->e.events.count; i++) {
		const struct chrome_event *e = &events[i];

		if (!i || e->track != events[i - 1].track)
			r->owner = named_owner_id(r->n, &r->e.tracks.items[e->track]);
		end_until(r, e->ns);
		if (e->kind == 'E')
			end_begun(r, e->ns);
		else
			begin_slice(r, e);
		if (i + 1 == r->e.events.count || events[i + 1].track != e->track)
			end_thread(r, e->ns);
		ret = profile_check_size(r->n, name, err);
	}
	return ret;
}

static void tell_left(const struct chrome_reader *r, struct buf *left)
{
	if (r->unended)
		buf_addf(left, "%" PRIu64 " %s no end, and %s with the last event of the thread\n",
		         r->unended, plural(r->unended, "slice has", "slices have"),
		         plural(r->unended, "ends", "end"));
	if (r->unbegun)
		buf_addf(left, "%" PRIu64 " %s no begin: omitted\n", r->unbegun,
		         plural(r->unbegun, "end has", "ends have"));
	if (r->cut)
		buf_addf(left, "%" PRIu64 " %s longer than the slice around %s: cut\n", r->cut,
		         plural(r->cut, "slice lasts", "slices last"),
		         plural(r->cut, "it", "them"));
	if (r->e.skipped)
		buf_addf(left, "%" PRIu64 " %s no slice (counters, instants, ...): omitted\n",
		         r->e.skipped, plural(r->e.skipped, "event is", "events are"));
	if (r->e.samples)
		buf_addf(left, "%" PRIu64 " %s beside the slices: omitted\n", r->e.samples,
		         plural(r->e.samples, "sample is", "samples are"));
}

static int refuse_without_slices(const struct chrome_reader *r, const char *name, struct error *err)
{
	uint64_t others = r->e.skipped + r->e.samples;

	if (!others)
		return error_set(err, EBADMSG, "%s contains no slices (events B, E or X)", name);
	return error_set(err, EBADMSG,
	                 "%s contains no slices (events B, E or X), which are what assay reads of "
	                 "trace events: the developer tools of Chrome or ui.perfetto.dev show its "
	                 "%" PRIu64 " other %s",
	                 name, others, plural(others, "event", "events"));
}

int chrome_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                       size_t size, struct buf *left, struct error *err)
{
	struct chrome_reader r = {.n = n, .e = {.n = n}};
	int ret = chrome_events_read(&r.e, name, bytes, size, err);

	n->values[CHROME_CALLS] = (struct named_value){"calls", "count"};
	n->values[CHROME_TIME] = (struct named_value){"time", "nanoseconds"};
	n->value_count = 2;
	if (!ret)
		ret = profile_choose_value(n, CHROME_TIME, name, err);
	if (!ret && !r.e.events.count)
		ret = refuse_without_slices(&r, name, err);
	if (!ret) {
		qsort(r.e.events.items, r.e.events.count, sizeof(struct chrome_event),
		      compare_events);
		ret = add_events(&r, name, err);
	}
	if (!ret && left)
		tell_left(&r, left);
	vec_done(&r.open);
	profile_names_done(&r.names);
	chrome_events_done(&r.e);
	return ret;
}
