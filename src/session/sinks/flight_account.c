/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/flight_account.h"

#include "base/text/plural.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void copy_stats(struct cpu_stats *to, const struct cpu_stats *from)
{
	vec_each (cpu, &from->cpus)
		vec_push(&to->cpus, *cpu);
}

void ring_marks_done(struct ring_marks *m)
{
	vec_each (mark, &m->marks)
		cpu_stats_done(&mark->stats);
	vec_done(&m->marks);
}

void ring_marks_add(struct ring_marks *m, const struct session_status *now)
{
	struct ring_mark mark = {.time_ns = now->settled_ns,
	                         .observer_cpu_ns = now->observer_cpu_ns,
	                         .observer_wakeups = now->observer_wakeups};

	if (m->marks.count && vec_last(&m->marks)->time_ns >= mark.time_ns)
		return;
	copy_stats(&mark.stats, &now->stats);
	vec_push(&m->marks, mark);
}

void ring_marks_forget(struct ring_marks *m, uint64_t before_ns)
{
	size_t gone = 0;

	/* The last mark before `before_ns` is kept, for interpolation. */
	while (gone + 1 < m->marks.count && m->marks.items[gone + 1].time_ns <= before_ns)
		cpu_stats_done(&m->marks.items[gone++].stats);
	if (!gone)
		return;
	m->marks.count -= gone;
	memmove(m->marks.items, m->marks.items + gone, m->marks.count * sizeof(*m->marks.items));
}

/* The counts from a mark to the end; mark NULL: of the whole recording. */
struct flight_counted {
	const struct recording *whole;
	const struct session_status *now;
	const struct ring_mark *mark;
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct cpu_stat count_cpu(const struct flight_counted *c, const struct account_cpu *cpu)
{
	const struct cpu_stat *a, *b;

	if (!c->mark)
		return (struct cpu_stat){.user_ns = cpu->stat_user_ns,
		                         .system_ns = cpu->stat_system_ns,
		                         .idle_ns = cpu->stat_idle_ns,
		                         .iowait_ns = cpu->stat_iowait_ns,
		                         .irq_ns = cpu->stat_irq_ns,
		                         .softirq_ns = cpu->stat_softirq_ns,
		                         .steal_ns = cpu->stat_steal_ns};
	a = cpu_stats_find(&c->mark->stats, cpu->cpu);
	b = cpu_stats_find(&c->now->stats, cpu->cpu);
	if (!a || !b)
		return (struct cpu_stat){0};
	return (struct cpu_stat){.user_ns = less(b->user_ns, a->user_ns),
	                         .system_ns = less(b->system_ns, a->system_ns),
	                         .idle_ns = less(b->idle_ns, a->idle_ns),
	                         .iowait_ns = less(b->iowait_ns, a->iowait_ns),
	                         .irq_ns = less(b->irq_ns, a->irq_ns),
	                         .softirq_ns = less(b->softirq_ns, a->softirq_ns),
	                         .steal_ns = less(b->steal_ns, a->steal_ns)};
}

/* The marks before and after the start of the range; `after` may be the end. */
struct flight_between {
	struct flight_counted before, after;
	double share; /* share of the time between the two marks that is in the range */
	bool ends;    /* `after` is the end, from which nothing is counted */
};

static struct flight_between find_between(const struct recording *whole,
                                          const struct ring_marks *marks, uint64_t start_ns,
                                          const struct session_status *now)
{
	struct flight_between b = {
	        .before = {whole, now, NULL}, .after = {whole, now, NULL}, .ends = true};
	uint64_t from = whole->account.start_ns, to = now->now_ns;

	vec_each (mark, &marks->marks) {
		if (mark->time_ns <= start_ns) {
			b.before.mark = mark;
			from = mark->time_ns;
		} else if (b.ends) {
			b.after.mark = mark;
			b.ends = false;
			to = mark->time_ns;
		}
	}
	b.share =
	        to > from && start_ns > from ? (double)less(to, start_ns) / (double)(to - from) : 1;
	return b;
}

static uint64_t mix(const struct flight_between *b, uint64_t before, uint64_t after)
{
	return after + (uint64_t)((double)less(before, after) * b->share);
}

static void set_cpu(struct account_cpu *cpu, const struct flight_between *b)
{
	struct cpu_stat before = count_cpu(&b->before, cpu), after = {0};

	if (!b->ends)
		after = count_cpu(&b->after, cpu);
	cpu->stat_user_ns = mix(b, before.user_ns, after.user_ns);
	cpu->stat_system_ns = mix(b, before.system_ns, after.system_ns);
	cpu->stat_idle_ns = mix(b, before.idle_ns, after.idle_ns);
	cpu->stat_iowait_ns = mix(b, before.iowait_ns, after.iowait_ns);
	cpu->stat_irq_ns = mix(b, before.irq_ns, after.irq_ns);
	cpu->stat_softirq_ns = mix(b, before.softirq_ns, after.softirq_ns);
	cpu->stat_steal_ns = mix(b, before.steal_ns, after.steal_ns);
}

static void set_observer(struct account *a, const struct flight_between *b,
                         const struct session_status *now)
{
	const struct ring_mark *before = b->before.mark, *after = b->after.mark;
	uint64_t cpu = less(now->observer_cpu_ns, before ? before->observer_cpu_ns : 0);
	uint64_t wakeups = less(now->observer_wakeups, before ? before->observer_wakeups : 0);

	a->observer_cpu_ns =
	        mix(b, cpu, after ? less(now->observer_cpu_ns, after->observer_cpu_ns) : 0);
	a->observer_wakeups =
	        mix(b, wakeups, after ? less(now->observer_wakeups, after->observer_wakeups) : 0);
}

/* Keeps the rate at the start of the range, and the changes within it. */
static void cut_rates(struct account *a, uint64_t start_ns)
{
	size_t before = 0;

	while (before < a->rates.count && a->rates.items[before].time_ns <= start_ns)
		before++;
	if (!before)
		return;
	before--;
	a->rates.items[before].time_ns = start_ns;
	a->rates.count -= before;
	memmove(a->rates.items, a->rates.items + before, a->rates.count * sizeof(*a->rates.items));
}

void flight_account_all(struct recording *out, const struct recording *whole,
                        const struct session_status *now)
{
	struct account *a = &out->account;
	uint64_t end_ns = whole->account.end_ns;

	*out = *whole;
	memset(&a->cpus, 0, sizeof(a->cpus));
	memset(&a->rates, 0, sizeof(a->rates));
	memset(&a->notes, 0, sizeof(a->notes));
	vec_each (cpu, &whole->account.cpus)
		vec_push(&a->cpus, *cpu);
	vec_each (rate, &whole->account.rates)
		vec_push(&a->rates, *rate);
	vec_each (note, &whole->account.notes)
		vec_push(&a->notes, xstrdup(*note));
	/* Records of the last moment are not yet available. */
	if (now->settled_ns > a->start_ns && now->settled_ns < end_ns)
		end_ns = now->settled_ns;
	a->end_ns = out->last_sample_ns = end_ns;
	vec_each (cpu, &a->cpus)
		if (cpu->end_ns > end_ns)
			cpu->end_ns = end_ns;
}

void flight_account_stretch(struct recording *out, const struct recording *whole,
                            const struct ring_marks *marks, const struct ring_stretch *stretch,
                            const struct session_status *now)
{
	struct flight_between b = find_between(whole, marks, stretch->start_ns, now);
	struct account *a = &out->account;

	flight_account_all(out, whole, now);
	a->start_ns = out->first_sample_ns = out->clock_start_ns = stretch->start_ns;
	out->clock_wall_ns = now->now_wall_ns - less(now->now_ns, stretch->start_ns);
	out->lost_records = 0;
	vec_each (cpu, &a->cpus) {
		if (cpu->start_ns < stretch->start_ns)
			cpu->start_ns = stretch->start_ns;
		set_cpu(cpu, &b);
		cpu->lost_records = 0;
		vec_each (lost, &stretch->lost)
			if (lost->cpu == cpu->cpu)
				cpu->lost_records += lost->lost_records;
		out->lost_records += cpu->lost_records;
	}
	set_observer(a, &b, now);
	cut_rates(a, stretch->start_ns);
	if (a->unwind.samples)
		flight_account_note(out,
		                    "The cost of walking stacks is known for the whole recording "
		                    "only, %" PRIu64 " %s of it, and is left out here.",
		                    a->unwind.samples,
		                    plural(a->unwind.samples, "sample", "samples"));
	memset(&a->unwind, 0, sizeof(a->unwind));
	if (a->budget.share_ppm)
		flight_account_note(out, "The use of the budget is that of the whole "
		                         "recording.");
	/* The kernel's counter of CPU time is valid for the whole recording only. */
	a->counted_oncpu_ns = 0;
}

void flight_account_note(struct recording *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(&out->account.notes, xvasprintf(fmt, ap));
	va_end(ap);
}

void flight_account_done(struct recording *out)
{
	vec_each (note, &out->account.notes)
		free(*note);
	vec_done(&out->account.notes);
	vec_done(&out->account.cpus);
	vec_done(&out->account.rates);
}
