/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/chrome_samples.h"

#include "export/times/chrome_waits.h"
#include "export/times/trace_events.h"
#include "view/waits/wait_report.h"

#include <inttypes.h>
#include <stdlib.h>

#define FUNCTION_BYTES 150u      /* bytes of a B event and an E event */
#define COUNTER_NS 100000000u    /* the length of a step of the counter */
#define COUNTER_NAME "busy CPUs" /* the counter of the selected samples */

/* The open slices of one thread of the trace: of all owners with its pid and tid. A thread that
 * executes another program is an owner before and another one after it. */
struct sample_slices {
	VEC(uint32_t) open; /* functions, outermost first */
	uint32_t owner;     /* of the last sample */
	uint64_t end_ns;    /* of the last sample, since begin_ns */
	bool begun;
};

struct chrome_samples {
	struct timed_samples *t;
	struct trace_events events;
	struct sample_slices *slices; /* by the first owner of a place */
	uint32_t *first_of;           /* by owner: the first owner of its place */
	bool *introduced;             /* by owner */
	VEC(uint32_t) way;            /* scratch: functions, innermost first */
	uint64_t step;                /* of the counter, since begin_ns */
	uint64_t busy_ns[2];          /* in this step: user, kernel */
	bool counted;                 /* the step before has a value above 0 */
};

uint64_t chrome_samples_estimate(const struct timed_samples *t)
{
	uint64_t bytes = 0;

	vec_each (row, &t->n->rows)
		bytes += (uint64_t)row->values[0] * FUNCTION_BYTES * timed_depth(t, row);
	return bytes + chrome_waits_estimate(t);
}

/* Interrupts, which have no process, get a place of their own. */
static struct trace_place place_of(const struct named_owner *o)
{
	return (struct trace_place){o->pid, o->tid ? o->tid : o->pid};
}

static const char *name_of(const struct chrome_samples *c, uint32_t function)
{
	return intern_text(&c->t->n->texts, c->t->n->functions.items[function].name);
}

static bool owner_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct symbolized_profile *n = ctx;
	struct trace_place a = place_of(&n->owners.items[id]), b = place_of(key);

	return a.pid == b.pid && a.tid == b.tid;
}

static void find_places(struct chrome_samples *c)
{
	const struct symbolized_profile *n = c->t->n;
	struct id_table index = {0};

	c->slices = xcalloc(n->owners.count + 1, sizeof(*c->slices));
	c->first_of = xcalloc(n->owners.count + 1, sizeof(*c->first_of));
	c->introduced = xcalloc(n->owners.count + 1, sizeof(*c->introduced));
	for (uint32_t i = 0; i < n->owners.count; i++) {
		const struct named_owner *o = &n->owners.items[i];
		uint64_t hash = hash_pair((uint32_t)place_of(o).pid, (uint32_t)place_of(o).tid);
		uint32_t id = id_table_find(&index, hash, owner_equal, n, o);

		c->first_of[i] = id == ID_NONE ? i : id;
		if (id == ID_NONE)
			id_table_add(&index, hash, i);
	}
	id_table_done(&index);
}

/* After an exec the process has another name: the last one counts for readers. */
static void introduce(struct chrome_samples *c, const struct named_owner *o)
{
	if (trace_events_new_process(&c->events, o->pid) || o->pid == o->tid)
		trace_event_name(&c->events, place_of(o), "process_name",
		                 timed_process_name(c->t, o));
	trace_event_name(&c->events, place_of(o), "thread_name", timed_thread_name(c->t, o));
}

static uint64_t since_begin(const struct chrome_samples *c, uint64_t ns)
{
	return ns > c->t->begin_ns ? ns - c->t->begin_ns : 0;
}

/* Closes slices until `count` are open. */
static void close_to(struct chrome_samples *c, struct sample_slices *s, size_t count)
{
	while (s->open.count > count) {
		trace_event(&c->events, "E", place_of(&c->t->n->owners.items[s->owner]), s->end_ns,
		            name_of(c, s->open.items[--s->open.count]));
		trace_event_end(&c->events);
	}
}

static void find_way(struct chrome_samples *c, uint32_t path)
{
	const struct symbolized_profile *n = c->t->n;

	c->way.count = 0;
	for (uint32_t p = path; p != NAMED_ROOT; p = n->paths.items[p].parent) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];

		for (uint32_t i = 0; i < place->count; i++)
			vec_push(&c->way, n->lines.items[place->first + i].function);
	}
}

static void put_sample(struct chrome_samples *c, const struct sample_moment *m)
{
	const struct named_row *row = &c->t->n->rows.items[m->row];
	const struct named_owner *o = &c->t->n->owners.items[row->owner];
	struct sample_slices *s = &c->slices[c->first_of[row->owner]];
	uint64_t time = since_begin(c, m->time_ns);
	uint64_t start = time > m->weight ? time - m->weight : 0;
	size_t common = 0;

	if (!c->introduced[row->owner])
		introduce(c, o);
	c->introduced[row->owner] = true;
	find_way(c, row->path);
	if (s->begun && start <= s->end_ns + m->weight / 2) {
		start = s->end_ns;
		while (s->owner == row->owner && common < s->open.count && common < c->way.count &&
		       s->open.items[common] == c->way.items[c->way.count - 1 - common])
			common++;
	}
	close_to(c, s, common);
	s->owner = row->owner;
	for (size_t i = common; i < c->way.count; i++) {
		uint32_t function = c->way.items[c->way.count - 1 - i];

		vec_push(&s->open, function);
		trace_event(&c->events, "B", place_of(o), start, name_of(c, function));
		trace_event_end(&c->events);
	}
	s->end_ns = start + m->weight;
	s->begun = true;
}

static void put_counter(struct chrome_samples *c, uint64_t step)
{
	trace_event(&c->events, "C", (struct trace_place){0, 0}, step * COUNTER_NS, COUNTER_NAME);
	buf_addf(&c->events.out->buf, ",\"args\":{\"user\":%.3f,\"kernel\":%.3f}",
	         (double)c->busy_ns[0] / COUNTER_NS, (double)c->busy_ns[1] / COUNTER_NS);
	trace_event_end(&c->events);
}

/* Writes the complete step; a step of zeros is written only after a step that has values. */
static void end_step(struct chrome_samples *c)
{
	bool busy = c->busy_ns[0] || c->busy_ns[1];

	if (busy || c->counted)
		put_counter(c, c->step);
	c->counted = busy;
	c->busy_ns[0] = c->busy_ns[1] = 0;
}

static void count(struct chrome_samples *c, const struct sample_moment *m)
{
	uint64_t step = since_begin(c, m->time_ns) / COUNTER_NS;

	if (step > c->step) {
		end_step(c);
		c->step++;
		if (step > c->step)
			end_step(c);
		c->step = step;
	}
	c->busy_ns[m->mode == PROFILE_KERNEL] += m->weight;
}

/* Times are since the first sample, or the begin of the first wait. */
static void begin_with_waits(struct timed_samples *t)
{
	if (!t->waits)
		return;
	vec_each (w, &t->waits->log->waits)
		if (!t->begin_ns || w->out_ns < t->begin_ns)
			t->begin_ns = w->out_ns;
}

void chrome_samples_write(struct timed_samples *t, struct spill *out)
{
	struct chrome_samples c = {.t = t, .events = {.out = out}};
	struct sample_moment m;

	begin_with_waits(t);
	find_places(&c);
	while (timed_samples_next(t, &m)) {
		if (m.mode == PROFILE_IDLE)
			continue;
		count(&c, &m);
		put_sample(&c, &m);
		spill_some(out);
	}
	end_step(&c);
	c.step++;
	end_step(&c);
	for (uint32_t i = 0; i < t->n->owners.count; i++) {
		close_to(&c, &c.slices[i], 0);
		vec_done(&c.slices[i].open);
	}
	if (t->waits)
		chrome_waits_write(t, &c.events);
	trace_events_end(&c.events, intern_text(&t->n->texts, t->n->command));
	free(c.slices);
	free(c.first_of);
	free(c.introduced);
	vec_done(&c.way);
}
