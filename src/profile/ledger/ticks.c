/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ledger/ticks.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <string.h>

void ticks_init(struct ticks *t)
{
	*t = (struct ticks){0};
}

void ticks_done(struct ticks *t)
{
	vec_each (cpu, &t->cpus) {
		vec_done(&cpu->times);
		vec_done(&cpu->late);
	}
	vec_done(&t->cpus);
	free(t->event);
	ticks_init(t);
}

/* Selects the event whose samples are stored; all recordings must have the same period. */
static int choose_event(struct ticks *t, struct error *err)
{
	const struct recording *r = t->recording;
	const struct recording_attr *attr;

	t->attr = recording_main_attr(r);
	if (t->attr >= r->attrs.count)
		return 0;
	attr = &r->attrs.items[t->attr];
	if (!t->event || t->recordings == 1) {
		free(t->event);
		t->event = xstrdup(attr->name ? attr->name : "");
		t->period_ns = attr->period_ns;
		return 0;
	}
	if (t->period_ns != attr->period_ns)
		return error_set(err, EINVAL,
		                 "%s has another sampling rate than the previous file; report its "
		                 "intervals separately",
		                 r->path ? r->path : "the recording");
	return 0;
}

static int ticks_begin(void *ctx, const struct recording *r, struct error *err)
{
	struct ticks *t = ctx;

	t->recordings++;
	t->recording = r;
	return choose_event(t, err);
}

static struct ticks_cpu *line_of(struct ticks *t, uint32_t cpu)
{
	struct ticks_cpu *line;

	/* The lines of the present recording are at the end. */
	for (size_t i = t->cpus.count; i-- > 0;) {
		line = &t->cpus.items[i];
		if (line->recording != t->recordings - 1)
			break;
		if (line->cpu == cpu)
			return line;
	}
	line = vec_add(&t->cpus);
	line->recording = t->recordings - 1;
	line->cpu = cpu;
	tick_grid_init(&line->grid, t->period_ns);
	return line;
}

static int ticks_event(void *ctx, const struct event *e, struct error *err)
{
	struct ticks *t = ctx;
	struct ticks_cpu *line;
	int ret;

	/* Only recordings of the whole machine have events of these processes. */
	if ((e->kind == EVENT_SAMPLE && e->pid == 0) || (e->kind == EVENT_COMM && e->pid == 1))
		t->machine_wide |= recording_may_be_machine_wide(t->recording);
	if (e->kind != EVENT_SAMPLE || !e->time_ns)
		return 0;
	/* The first clock may have no samples. */
	if (e->attr != t->attr && !t->recording->attrs.items[t->attr].samples) {
		ret = choose_event(t, err);
		if (ret)
			return ret;
	}
	if (e->attr != t->attr)
		return 0;
	if (t->count >= TICKS_MAX) {
		t->cut = true;
		return 0;
	}
	line = line_of(t, e->cpu);
	if (line->times.count && e->time_ns < *vec_last(&line->times)) {
		line->backwards++;
		return 0;
	}
	t->count++;
	vec_push(&line->times, e->time_ns);
	if (t->period_ns) {
		struct grid_tick tick = tick_grid_sample(&line->grid, e->time_ns);

		line->missing += tick.missing;
		vec_push(&line->late, (float)tick.late_ns);
	}
	return 0;
}

static int ticks_end(void *ctx, const struct recording *r, struct error *err)
{
	struct ticks *t = ctx;

	if (r->account.present)
		t->machine_wide = r->account.machine_wide;
	return 0;
}

struct event_sink ticks_sink(struct ticks *t)
{
	return (struct event_sink){
	        .ctx = t, .begin = ticks_begin, .event = ticks_event, .end = ticks_end};
}
