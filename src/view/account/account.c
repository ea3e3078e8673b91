/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/account/account.h"

#include "base/memory/xalloc.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define add_remark(a, ...) vec_push(&(a)->remarks, xasprintf(__VA_ARGS__))

uint64_t account_kernel_ns(const struct account_terms *t)
{
	return t->syscalls_ns + t->faults_ns + t->threads_ns + t->other_ns;
}

uint64_t account_irq_ns(const struct account_terms *t)
{
	return t->hardirq_ns + t->softirq_ns;
}

uint64_t account_sampled_ns(const struct account_terms *t)
{
	return t->user_ns + t->exit_ns + account_kernel_ns(t) + account_irq_ns(t);
}

static struct account_line *line_of(struct account_view *a, uint32_t cpu)
{
	struct account_line *line;

	vec_each (l, &a->lines)
		if (l->cpu == cpu)
			return l;
	line = vec_add(&a->lines);
	line->cpu = cpu;
	return line;
}

/* The term that a sample's time is added to; NULL: none (idle time has its own source). */
static uint64_t *term_of(struct view *v, const struct profile_row *row, struct account_terms *t)
{
	enum kernel_entry entry;

	if (row->mode == PROFILE_USER || row->mode == PROFILE_GUEST)
		return &t->user_ns;
	if (row->mode == PROFILE_UNKNOWN)
		return &t->other_ns;
	entry = view_entry(v, row->path);
	if (row->mode == PROFILE_IDLE)
		return entry == ENTRY_INTERRUPT || entry == ENTRY_SOFTIRQ ? &t->idle_irq_ns : NULL;
	switch (entry) {
	case ENTRY_SYSCALL:
		return &t->syscalls_ns;
	case ENTRY_FAULT:
		return &t->faults_ns;
	case ENTRY_INTERRUPT:
		return &t->hardirq_ns;
	case ENTRY_SOFTIRQ:
		return &t->softirq_ns;
	case ENTRY_THREAD:
		return &t->threads_ns;
	default:
		return &t->other_ns;
	}
}

bool account_is_timed(const struct account_view *a)
{
	return a->clock || a->present;
}

static void count_mode(struct view *v, const struct profile_row *row, uint64_t count,
                       struct account_modes *t)
{
	t->all += count;
	switch (view_mode(v, row)) {
	case VIEW_USER:
	case VIEW_GUEST:
		t->user += count;
		break;
	case VIEW_IRQ:
		t->irq += count;
		break;
	case VIEW_IDLE:
		t->idle += count;
		break;
	default:
		t->kernel += count;
		break;
	}
}

/*
 * The average time in ns that one sample of an idle CPU represents, from the idle time in the
 * ledger; the rows hold the time of all other samples. 0: each sample represents one period.
 */
static double idle_sample_ns(struct view *v, uint8_t event)
{
	const struct profile_event *e = &v->profile->events.items[event];
	uint64_t busy = 0, busy_ns = 0, idle = 0;
	double idle_ns = 0;

	vec_each (row, &v->profile->rows) {
		if (row->event != event)
			continue;
		if (row->mode == PROFILE_IDLE) {
			idle += row->samples;
		} else {
			busy += row->samples;
			busy_ns += row->weight;
		}
	}
	vec_each (c, &v->profile->ledger.cpus)
		idle_ns += (double)c->weight_idle;
	if (!e->period_ns ||
	    (busy_ns == busy * e->period_ns && idle_ns <= (double)idle * (double)e->period_ns))
		return 0;
	return idle ? idle_ns / (double)idle : (double)e->period_ns;
}

/* Converts sums of ns to ticks of the clock's period: at a lowered rate one sample represents
 * several ticks. */
static void close_ticks(struct account_modes *t, uint64_t unit)
{
	t->user /= unit;
	t->kernel /= unit;
	t->irq /= unit;
	t->idle /= unit;
	t->all = t->user + t->kernel + t->irq + t->idle;
}

static struct kernel_exits *exits_of(struct view *v, uint8_t event)
{
	VEC(uint32_t) rows = {0};
	struct kernel_exits *e;

	for (uint32_t i = 0; i < v->profile->rows.count; i++)
		if (v->profile->rows.items[i].event == event)
			vec_push(&rows, i);
	e = kernel_exits_new(v, event, rows.items, rows.count);
	vec_done(&rows);
	return e;
}

static void add_samples(struct view *v, uint8_t event, const struct kernel_exits *e,
                        struct account_view *a)
{
	double idle_ns = idle_sample_ns(v, event);
	uint64_t nowhere = 0;

	vec_each (row, &v->profile->rows) {
		struct account_terms *terms = &a->total;
		uint64_t *term, count = row->samples;

		if (row->event != event)
			continue;
		if (idle_ns > 0 && row->mode == PROFILE_IDLE)
			count = (uint64_t)((double)row->samples * idle_ns);
		else if (idle_ns > 0)
			count = row->weight;
		count_mode(v, row, count, &a->ticks.seen);
		if (a->machine_wide && row->cpu == PROFILE_CPU_UNKNOWN) {
			nowhere += row->samples;
			continue;
		}
		if (a->machine_wide)
			terms = &line_of(a, row->cpu)->terms;
		term = kernel_exits_has(e, v->profile, row) ? &terms->exit_ns
		                                            : term_of(v, row, terms);
		if (term)
			*term += row->weight;
	}
	if (nowhere)
		add_remark(a, "%" PRIu64 " samples carry no CPU: their time is in the residual.",
		           nowhere);
	close_ticks(&a->ticks.seen, idle_ns > 0 ? v->profile->events.items[event].period_ns : 1);
}

/* Cycles are not time: the shares of the terms split the busy time that switch records measured. */
static void scale_to_busy(struct account_terms *t, uint64_t weight, uint64_t busy_ns)
{
	uint64_t *parts[] = {&t->user_ns,    &t->exit_ns,  &t->syscalls_ns, &t->faults_ns,
	                     &t->threads_ns, &t->other_ns, &t->hardirq_ns,  &t->softirq_ns};
	double scale = weight ? (double)busy_ns / (double)weight : 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		*parts[i] = (uint64_t)((double)*parts[i] * scale);
	t->idle_irq_ns = (uint64_t)((double)t->idle_irq_ns * scale);
}

/* Times of a damaged file may be any number: the product saturates. */
static int64_t ticks_ns(int64_t ticks, uint64_t period_ns)
{
	int64_t ns;

	if (!__builtin_mul_overflow(ticks, period_ns, &ns))
		return ns;
	return ticks < 0 ? INT64_MIN : INT64_MAX;
}

/*
 * The number of missing ticks that lost records may explain. The kernel counts lost records of all
 * kinds (fork and mmap records too), so its count may exceed the number of missing ticks.
 */
static uint64_t lost_ticks(const struct ledger_cpu *c)
{
	uint64_t missing = 0;

	if (c->ticks_due_busy > c->ticks_seen_busy)
		missing += c->ticks_due_busy - c->ticks_seen_busy;
	if (c->ticks_due_idle > c->ticks_seen_idle)
		missing += c->ticks_due_idle - c->ticks_seen_idle;
	return c->ticks_lost < missing ? c->ticks_lost : missing;
}

static void add_ledger_cpu(struct account_view *a, const struct ledger_cpu *c)
{
	struct account_terms *t = &line_of(a, c->cpu)->terms;
	int64_t missing = ticks_ns((int64_t)(c->ticks_due_busy - c->ticks_seen_busy), c->period_ns);
	uint64_t steal = missing > 0 && (uint64_t)missing < c->steal_ns ? (uint64_t)missing
	                 : missing > 0                                  ? c->steal_ns
	                                                                : 0;
	uint64_t left = missing > 0 ? (uint64_t)missing - steal : 0, lost = lost_ticks(c);

	t->wall_ns += c->wall_ns;
	t->idle_ns += c->has_switches ? c->idle_ns : c->period_ns ? c->weight_idle : 0;
	t->unknown_ns += c->unknown_ns;
	t->steal_measured_ns += c->steal_ns;
	/* Only some windows of a store may have a steal time: the line is shown if any has it. */
	a->has_steal |= c->has_steal || c->steal_ns;
	a->ticks.due += c->ticks_due_busy + c->ticks_due_idle;
	a->ticks.lost += lost;
	if (c->ticks_due_busy > c->ticks_seen_busy)
		a->ticks.missing_busy += c->ticks_due_busy - c->ticks_seen_busy;
	if (c->ticks_due_idle > c->ticks_seen_idle)
		a->ticks.missing_idle += c->ticks_due_idle - c->ticks_seen_idle;
	a->ticks.throttled += c->throttled;
	if (!c->has_switches || !c->period_ns) {
		a->has_unobserved = false;
		a->has_idle &= c->has_switches;
		return;
	}
	t->steal_ns += steal;
	t->unobserved_ns = (int64_t)((uint64_t)t->unobserved_ns + (uint64_t)missing - steal);
	lost = (uint64_t)ticks_ns((int64_t)lost, c->period_ns);
	t->lost_ns += lost < left ? lost : left;
}

#define Z95 1.96

/*
 * The residual of a CPU is its busy time less the ticks due in it. Ticks stand for busy time with
 * an error of up to one at the ends of the recording. A run of busy or idle time has, by chance,
 * one tick more or less: for a fraction f of a period the variance is f (1 - f), at most 1/4, and
 * at most f. So the variance is at most a quarter of the runs, and at most the ticks of the busy or
 * of the idle time. MEASURING explains it.
 */
static double chance_variance(const struct ledger_cpu *c)
{
	double runs = (double)(c->switches / 2);

	return fmin(fmin((double)c->ticks_due_busy, (double)c->ticks_due_idle), runs / 4);
}

/* At a lowered rate a tick stands for more than the clock's period. */
static double tick_ns(const struct ledger_cpu *c)
{
	double ticks = (double)c->ticks_seen_busy + (double)c->ticks_seen_idle;
	double ns = ticks > 0 ? ((double)c->weight_busy + (double)c->weight_idle) / ticks : 0;

	return fmax(ns, (double)c->period_ns);
}

/* Fills the expected residual of all lines and of the total: 95 of 100 residuals are below it. */
static void fill_chance(const struct ledger *l, struct account_view *a)
{
	double ends = 0, variance = 0;

	vec_each (line, &a->lines) {
		double own_ends = 0, own_variance = 0;

		vec_each (c, &l->cpus) {
			if (c->cpu != line->cpu)
				continue;
			own_ends += tick_ns(c);
			own_variance += chance_variance(c) * tick_ns(c) * tick_ns(c);
		}
		line->terms.chance_ns = own_ends + Z95 * sqrt(own_variance);
		ends += own_ends;
		variance += own_variance;
	}
	a->total.chance_ns = ends + Z95 * sqrt(variance);
}

static void close_terms(struct account_terms *t)
{
	/* Unsigned: times of a damaged file may overflow a signed sum. */
	t->residual_ns = (int64_t)(t->wall_ns - account_sampled_ns(t) - t->idle_ns - t->steal_ns -
	                           (uint64_t)t->unobserved_ns);
}

static void add_terms(struct account_terms *to, const struct account_terms *t)
{
	to->wall_ns += t->wall_ns;
	to->user_ns += t->user_ns;
	to->exit_ns += t->exit_ns;
	to->syscalls_ns += t->syscalls_ns;
	to->faults_ns += t->faults_ns;
	to->threads_ns += t->threads_ns;
	to->other_ns += t->other_ns;
	to->hardirq_ns += t->hardirq_ns;
	to->softirq_ns += t->softirq_ns;
	to->idle_ns += t->idle_ns;
	to->idle_irq_ns += t->idle_irq_ns;
	to->steal_ns += t->steal_ns;
	to->steal_measured_ns += t->steal_measured_ns;
	to->unobserved_ns = (int64_t)((uint64_t)to->unobserved_ns + (uint64_t)t->unobserved_ns);
	to->lost_ns += t->lost_ns;
	to->unknown_ns += t->unknown_ns;
}

static int compare_lines(const void *a, const void *b)
{
	const struct account_line *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void sort_lines(struct account_view *a)
{
	if (a->lines.count)
		qsort(a->lines.items, a->lines.count, sizeof(*a->lines.items), compare_lines);
}

/* The recording is of the whole machine, without a clock and without switch records. */
static bool has_only_events(const struct ledger *l)
{
	vec_each (c, &l->cpus)
		if (ledger_cpu_is_timed(c))
			return false;
	return l->machine_wide && l->cpus.count;
}

static void account_machine(struct view *v, struct account_view *a)
{
	const struct ledger *l = &v->profile->ledger;

	vec_each (c, &l->cpus)
		add_ledger_cpu(a, c);
	if (!a->clock)
		vec_each (line, &a->lines) {
			uint64_t busy = 0, weight;

			vec_each (c, &l->cpus)
				busy += c->cpu == line->cpu ? c->busy_ns : 0;
			weight = account_sampled_ns(&line->terms);
			scale_to_busy(&line->terms, weight, busy);
		}
	sort_lines(a);
	vec_each (line, &a->lines) {
		close_terms(&line->terms);
		add_terms(&a->total, &line->terms);
	}
	a->cpus = (uint32_t)a->lines.count;
	a->wall_ns = a->cpus ? a->total.wall_ns / a->cpus : 0;
	a->present = l->cpus.count > 0;
	if (a->clock && a->has_unobserved)
		fill_chance(l, a);
	/* Removes the remainder of the division, so that the printed sum closes to the
	 * nanosecond. */
	if (a->cpus)
		a->total.wall_ns -= a->total.wall_ns % a->cpus;
	close_terms(&a->total);
}

static void account_process(struct view *v, struct account_view *a)
{
	const struct ledger *l = &v->profile->ledger;
	struct account_terms *t = &a->total;

	vec_each (p, &l->processes) {
		t->wall_ns += p->wall_ns;
		t->unknown_ns += p->unknown_ns;
		a->switched_oncpu_ns += p->oncpu_ns;
		a->runnable_ns += p->runnable_ns;
		a->blocked_ns += p->blocked_ns;
		a->threads += p->threads;
		a->switches += p->switches;
	}
	vec_each (rec, &v->profile->recordings)
		a->lost += recording_lost(*rec);
	a->counted_oncpu_ns = l->counted_oncpu_ns;
	a->oncpu_ns = a->counted_oncpu_ns ? a->counted_oncpu_ns : a->switched_oncpu_ns;
	a->wall_ns = t->wall_ns;
	a->cpus = 1;
	a->has_idle = a->threads > 0;
	/* Without switches the counter may be 0, which is also the value of a missing counter. */
	a->has_unobserved =
	        a->has_idle && a->clock && (a->counted_oncpu_ns || !a->switched_oncpu_ns);
	a->present = a->has_idle;
	t->idle_ns = a->runnable_ns + a->blocked_ns + t->unknown_ns;
	if (!a->clock)
		scale_to_busy(t, account_sampled_ns(t), a->oncpu_ns);
	if (a->has_unobserved)
		t->unobserved_ns = (int64_t)(a->counted_oncpu_ns - account_sampled_ns(t));
	close_terms(t);
}

/* The event does not count time and there are no switch records: split the counts of the event. */
static void account_events(struct view *v, uint8_t event, struct account_view *a)
{
	vec_each (c, &v->profile->ledger.cpus)
		line_of(a, c->cpu)->terms.wall_ns += c->wall_ns;
	vec_each (row, &v->profile->rows) {
		if (row->event != event)
			continue;
		if (row->cpu != PROFILE_CPU_UNKNOWN)
			count_mode(v, row, row->weight, &line_of(a, row->cpu)->events);
		count_mode(v, row, row->weight, &a->events);
	}
	sort_lines(a);
	vec_each (line, &a->lines) {
		line->terms = (struct account_terms){.wall_ns = line->terms.wall_ns};
		a->total.wall_ns += line->terms.wall_ns;
	}
	a->cpus = (uint32_t)a->lines.count;
	a->wall_ns = a->cpus ? a->total.wall_ns / a->cpus : 0;
	a->counted = true;
	add_remark(a,
	           "The event does not count time, and there are no switch records (perf record "
	           "--switch-events): busy and idle time of the CPUs are not known. Counts of the "
	           "event are shown instead of times.");
}

/* False if the kernel was excluded from sampling, by permission or on request (-e cycles:u): its
 * time is then unknown, not zero. */
static bool kernel_sampled(const struct profile *p)
{
	vec_each (rec, &p->recordings) {
		uint16_t attr = recording_main_attr(*rec);

		if (attr < (*rec)->attrs.count && (*rec)->attrs.items[attr].exclude_kernel)
			return false;
	}
	return true;
}

/* False if the files were sampled by different clocks: their accounts cannot be added. */
static bool one_clock(const struct profile *p)
{
	const char *first = NULL;

	vec_each (rec, &p->recordings) {
		uint16_t attr = recording_main_attr(*rec);
		const char *name =
		        attr < (*rec)->attrs.count ? (*rec)->attrs.items[attr].name : NULL;

		if (first && name && strcmp(first, name))
			return false;
		first = name ? name : first;
	}
	return true;
}

/* False if some files cover the whole machine and some a process: their wholes cannot be added. */
static bool one_scope(const struct profile *p)
{
	for (uint32_t i = 0; p->ledger.cpus.count && i < p->recordings.count; i++) {
		bool machine = false;

		vec_each (cpu, &p->ledger.cpus)
			machine |= cpu->recording == i;
		if (!machine)
			return false;
	}
	return true;
}

static bool one_is_part(const struct profile *p)
{
	vec_each (rec, &p->recordings)
		if (recording_is_part(*rec))
			return true;
	return false;
}

/* ---- sentences that explain the residual and name missing figures ---- */

#define RESIDUAL_EXPLAINED 0.01
/* A smaller part of the user time in files that cannot be read gets no remark. */
#define UNREAD_SHARE 0.05

static double of_wall(const struct account_view *a, double ns)
{
	return a->total.wall_ns ? 100 * ns / (double)a->total.wall_ns : 0;
}

/* 1 to 5 us were measured in a virtual machine, where the timers of two clocks are set each time.
 */
#define SWITCHING_MOST_NS 10000

/*
 * The residual of threads compares switch records with the kernel's counter; ticks are not in it.
 * The record of an exit comes after the counter's end.
 */
static void explain_threads(struct account_view *a, double share)
{
	double residual_ns = (double)a->total.residual_ns;
	double each_ns =
	        fabs(residual_ns) / ((double)(residual_ns < 0 ? a->switches : a->threads) + 1);

	if (!a->counted_oncpu_ns || !a->has_idle)
		add_remark(
		        a,
		        "The residual of %.1f %% is time on a CPU for which there are no samples: "
		        "the "
		        "kernel's own count is not known.",
		        share);
	else if (each_ns <= SWITCHING_MOST_NS)
		add_remark(a,
		           "The residual of %.1f %% is the work of %" PRIu64
		           " %s: for each, the kernel's counter and the record are %.1f us apart.",
		           share, residual_ns < 0 ? a->switches : (uint64_t)a->threads,
		           residual_ns < 0 ? "switches" : "ends of threads", each_ns / 1e3);
	else if (a->lost)
		add_remark(
		        a,
		        "The residual of %.1f %%: %" PRIu64 " records were lost, and switches of "
		        "threads may be among them. A larger --memory or a lower rate loses fewer.",
		        share, a->lost);
	else
		add_remark(
		        a,
		        "The residual of %.1f %%: by the switch records the threads were on a CPU "
		        "for %s than the kernel counted. Some of their records are missing: "
		        "threads "
		        "may have begun while sampling was set up. Record again to check this.",
		        share, residual_ns > 0 ? "longer" : "less time");
}

static void explain_residual(struct account_view *a)
{
	const struct account_terms *t = &a->total;
	double share = of_wall(a, (double)t->residual_ns);

	if (!a->present ||
	    (share <= 100 * RESIDUAL_EXPLAINED && share >= -100 * RESIDUAL_EXPLAINED))
		return;
	if (!a->machine_wide)
		explain_threads(a, share);
	else if (fabs((double)t->residual_ns) <= t->chance_ns)
		add_remark(a,
		           "The residual of %.1f %% is within the %.1f %% that are expected of "
		           "%" PRIu64 " ticks: a longer recording or a higher rate has less.",
		           share, of_wall(a, t->chance_ns), a->ticks.due);
	else if (t->residual_ns > 0 && t->unknown_ns * 2 > (uint64_t)t->residual_ns)
		add_remark(a,
		           "The residual of %.1f %% is mostly time before the first switch record: "
		           "the threads that ran then are not known.",
		           share);
	else if (!a->has_idle)
		add_remark(a,
		           "The residual of %.1f %% is time in which no tick came: without switch "
		           "records assay cannot distinguish idle CPUs from CPUs that were not "
		           "observed.",
		           share);
	else if (t->residual_ns < 0)
		add_remark(
		        a,
		        "The residual of %.1f %%: samples represent more time than the switch "
		        "records count as busy. Ticks that were delayed in idle time were counted "
		        "after the switch, or the recording is too short for its rate.",
		        share);
	else
		add_remark(
		        a,
		        "The residual of %.1f %%: fewer ticks were due in busy time than expected "
		        "for its length. Work in step with the timer, or very short, falls "
		        "between the ticks. Record again with another -F to check this.",
		        share);
}

#define MISSED_LEAST 0.05
#define SHORT_TICKS 4 /* a thread that runs for so many ticks misses less than a fifth of them */

/* In a recording of processes each thread has timers of its own, which begin with the thread. */
static void explain_short_threads(struct account_view *a, uint64_t period_ns)
{
	int64_t missed_ns = a->has_unobserved ? a->total.unobserved_ns : a->total.residual_ns;
	double mean_ns = a->threads ? (double)a->oncpu_ns / a->threads : 0;

	if (a->machine_wide || !a->present || !a->clock || !a->oncpu_ns ||
	    (double)missed_ns < MISSED_LEAST * (double)a->oncpu_ns ||
	    mean_ns > SHORT_TICKS * (double)period_ns)
		return;
	add_remark(
	        a,
	        "%.1f %% of the time on a CPU has no samples. The first sample of a thread comes "
	        "%.3g "
	        "ms of CPU time after its start, and the %" PRIu32 " threads ran for %.3g ms on "
	        "average. -a samples CPUs instead, and so threads of any length; a higher rate "
	        "misses "
	        "less.",
	        100 * (double)missed_ns / (double)a->oncpu_ns, (double)period_ns / 1e6, a->threads,
	        mean_ns / 1e6);
}

static void explain_missing(struct account_view *a, bool part)
{
	if (!a->has_kernel)
		add_remark(a,
		           "The kernel was not sampled: its time and the time of interrupts are in "
		           "unobserved.");
	if (a->machine_wide && a->present && !a->has_idle)
		add_remark(
		        a,
		        "There are no switch records (perf record --switch-events): busy and idle "
		        "come from samples, and unobserved time is not known.");
	else if (a->machine_wide && a->present && !a->has_unobserved)
		add_remark(a, "The event has no fixed period, so unobserved time is not known.");
	if (!a->machine_wide && a->present && a->clock && !a->has_unobserved)
		add_remark(a,
		           "The kernel's count of time on CPU is not in the file%s: what samples "
		           "missed is in the residual.",
		           part ? " for a part of the time" : "");
	if (!a->machine_wide && !a->present)
		add_remark(a,
		           "There are no switch records: the report has samples only, no time on "
		           "CPU, runnable or blocked.");
	if (!a->has_split && a->ticks.seen.kernel)
		add_remark(a,
		           "There are no call chains: the kind of kernel entry is not known, and "
		           "interrupts are counted for the functions that they interrupted.");
	if (!a->clock && a->present)
		add_remark(
		        a,
		        "The event does not count time: the shares of its samples split the busy "
		        "time.");
	if (a->machine_wide && a->present && a->cpus && !a->has_steal)
		add_remark(
		        a,
		        "Steal was not recorded%s: time that a hypervisor took is in unobserved.",
		        part ? " for a part of the time" : "");
}

/* Much user code that cannot be read: returns from the kernel in it are counted as user. */
static void explain_unread(struct view *v, const struct kernel_exits *e, uint8_t event,
                           struct account_view *a)
{
	double user = 0;

	vec_each (row, &v->profile->rows)
		user += row->event == event && row->mode == PROFILE_USER ? (double)row->weight : 0;
	if ((double)e->unread > UNREAD_SHARE * user)
		add_remark(a,
		           "The code of %.1f %% of the user time cannot be read here: returns "
		           "from the "
		           "kernel in it are not known, and are counted as user.",
		           100 * (double)e->unread / user);
}

struct account_view *account_view_new(struct view *v)
{
	const struct profile *p = v->profile;
	struct account_view *a = xcalloc(1, sizeof(*a));
	struct kernel_exits *exits = NULL;
	uint8_t event;
	bool timed;

	a->machine_wide = p->ledger.machine_wide;
	a->has_unobserved = a->has_idle = true;
	a->has_kernel = kernel_sampled(p);
	/* The account is about time, so it uses the clock event even if the report is about another
	 * event. */
	event = profile_clock_event(p);
	timed = event < p->events.count && p->events.items[event].role == ATTR_CLOCK;
	if (timed) {
		a->clock = p->events.items[event].period_ns != 0;
		a->has_split = p->events.items[event].callchain;
		exits = exits_of(v, event);
		add_samples(v, event, exits, a);
		explain_unread(v, exits, event, a);
	}
	if (!one_clock(p))
		add_remark(
		        a,
		        "The files were sampled by different events: this report is about one of "
		        "them, and there is no account of all files.");
	else if (!one_scope(p))
		add_remark(
		        a,
		        "Some files cover the whole machine and some a process: each has its own "
		        "account, and there is no account of all files.");
	else if (has_only_events(&p->ledger))
		account_events(v, event, a);
	else if (!timed)
		add_remark(a, "The event does not measure time, so there is no account of time.");
	else if (a->machine_wide)
		account_machine(v, a);
	else
		account_process(v, a);
	if (timed && !a->counted && one_clock(p) && one_scope(p)) {
		explain_short_threads(a, p->events.items[event].period_ns);
		explain_missing(a, one_is_part(p));
	}
	if (exits) {
		a->exit = exits->kernel;
		a->exit_chained_ns = exits->chained_weight;
	}
	kernel_exits_free(exits);
	explain_residual(a);
	return a;
}

void account_view_free(struct account_view *a)
{
	if (!a)
		return;
	vec_each (text, &a->remarks)
		free(*text);
	vec_done(&a->remarks);
	vec_done(&a->lines);
	free(a);
}
