/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile.h"

#include <math.h>

/* Smaller differences are no differences. */
#define LEAST 0.02
/* With a wider interval it is unknown whether the figures agree: as parts of the figure, and of the
 * process. */
#define WIDEST 0.25
#define WIDEST_WHOLE 0.005
/* Counts that differ by more show different work. */
#define SAME_COUNT 0.02
/* A cause explains a difference if it is at least this part of the difference. */
#define MOST 0.5
#define FEW 6.0 /* samples */
/* Upper limit of the cost per call of hooks that do nothing and of the code that calls them, in ns.
 */
#define IDLE_HOOK_NS 5.0
#define IDLE_HOOK_TIMES 3.0
/* Upper limit of the kernel's work for one sample, in ns. */
#define SAMPLE_NS 20000.0
/* Upper limit of the time per switch in code of the scheduler in which samples are delayed, in ns.
 */
#define SWITCH_NS 30000.0

struct judged {
	const struct reconcile *r;
	const struct reconcile_process *process;
	const struct reconcile_line *line;
	const struct reconcile_estimate *sampled, *counted;
	const struct reconcile_function *function; /* NULL: the line is of the process */
	bool outside;
	double off_ns;    /* the difference, without its sign */
	double excess_ns; /* the part of it that is beyond its interval */
};

static bool more_sampled(const struct judged *j)
{
	return j->line->difference_ns > 0;
}

static bool by_waiting(const struct judged *j)
{
	return !more_sampled(j) && j->process->unseparated;
}

static bool by_work(const struct judged *j)
{
	const struct reconcile_estimate *c = j->counted;

	return j->process->running ||
	       (!j->outside && c->most_count - c->least_count > SAME_COUNT * c->most_count);
}

static bool by_no_chains(const struct judged *j)
{
	return !j->r->chains && more_sampled(j) == j->outside;
}

static bool by_cut_stacks(const struct judged *j)
{
	return more_sampled(j) == j->outside && j->process->cut_ns > MOST * j->off_ns;
}

static bool by_inlined(const struct judged *j)
{
	return j->function && !j->outside && !j->function->sampled && !more_sampled(j);
}

static bool by_inlines(const struct judged *j)
{
	return more_sampled(j) &&
	       (j->line->callers.absorbed_ns > MOST * j->off_ns ||
	        (j->r->runs->native && j->line->callers.below_ns > MOST * j->off_ns));
}

/* Inlined into some callers, or called by a jump. */
static bool by_callers(const struct judged *j)
{
	return !more_sampled(j) && j->r->runs->native &&
	       j->line->callers.above_ns > MOST * j->off_ns;
}

/* Counting begins with the first function with hooks, and ends with the last. */
static bool by_start(const struct judged *j)
{
	if (j->function)
		return j->outside;
	return more_sampled(j) && j->process->outside_ns > MOST * j->off_ns;
}

/* The time of taking samples is in the periods of the samples. */
static bool by_sampling(const struct judged *j)
{
	return more_sampled(j) && j->excess_ns <= SAMPLE_NS * j->sampled->count;
}

static bool by_idle_hooks(const struct judged *j)
{
	double most = fmax(IDLE_HOOK_NS * j->counted->count, IDLE_HOOK_TIMES * j->sampled->cost_ns);

	return more_sampled(j) && j->r->runs->idle_hooks && j->excess_ns <= most;
}

static bool by_changed_code(const struct judged *j)
{
	return !more_sampled(j) && j->r->runs->native &&
	       j->excess_ns <= IDLE_HOOK_NS * j->counted->count;
}

static bool by_switches(const struct judged *j)
{
	return !more_sampled(j) && j->excess_ns <= SWITCH_NS * j->counted->switches;
}

static bool by_cost(const struct judged *j)
{
	return j->excess_ns <= j->counted->cost_ns;
}

static bool by_delay(const struct judged *j)
{
	return more_sampled(j) && j->sampled->delayed_ns > MOST * j->off_ns;
}

/* One of several runs may have this by chance. */
static bool by_step(const struct judged *j)
{
	return j->function && j->sampled->in_step > MOST;
}

/* Sampled time / counted time; 1 if it is not known, or about equal. */
static double whole_ratio(const struct reconcile_process *p)
{
	double sampled = p->line.sides[RECONCILE_SAMPLED].mean_ns;
	double counted = p->line.sides[RECONCILE_COUNTED].mean_ns;

	return counted > 0 && fabs(sampled / counted - 1) >= LEAST ? sampled / counted : 1;
}

static bool has_ratio(const struct reconcile_line *line, double ratio)
{
	const struct reconcile_estimate *s = &line->sides[RECONCILE_SAMPLED];
	const struct reconcile_estimate *c = &line->sides[RECONCILE_COUNTED];

	return fabs(s->mean_ns - ratio * c->mean_ns) <= fmax(line->half_ns, LEAST * s->mean_ns);
}

bool reconcile_has_same_ratio(const struct reconcile_process *p, const struct reconcile_line *lines,
                              size_t count)
{
	double ratio = whole_ratio(p);
	size_t tell = 0, fit = 0;

	for (size_t i = 0; i < count; i++) {
		bool equal = has_ratio(&lines[i], 1), same = has_ratio(&lines[i], ratio);

		tell += !equal || !same;
		fit += !equal && same;
	}
	return ratio != 1 && 2 * fit > tell;
}

/* All functions of the process took longer in the runs of one side. */
static bool by_whole(const struct judged *j)
{
	return j->function && j->process->same_ratio && has_ratio(j->line, whole_ratio(j->process));
}

static bool by_scatter(const struct judged *j)
{
	return j->sampled->least_ns <= j->counted->most_ns &&
	       j->counted->least_ns <= j->sampled->most_ns;
}

/* The first test that explains the difference gives its reason. */
static const struct {
	enum reconcile_reason reason;
	bool (*explains)(const struct judged *j);
} reasons[] = {
        {REASON_WAITING, by_waiting},
        {REASON_WORK, by_work},
        {REASON_NO_CHAINS, by_no_chains},
        {REASON_CUT_STACKS, by_cut_stacks},
        {REASON_IN_STEP, by_step},
        {REASON_INLINED, by_inlined},
        {REASON_INLINES, by_inlines},
        {REASON_START, by_start},
        {REASON_DELAY, by_delay},
        {REASON_SAMPLING, by_sampling},
        {REASON_IDLE_HOOKS, by_idle_hooks},
        {REASON_IN_CALLERS, by_callers},
        {REASON_CHANGED_CODE, by_changed_code},
        {REASON_SWITCHES, by_switches},
        {REASON_COST, by_cost},
        {REASON_SCATTER, by_scatter},
        {REASON_WHOLE, by_whole},
};

static enum reconcile_reason reason_of(const struct judged *j)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].explains(j))
			return reasons[i].reason;
	return REASON_UNKNOWN;
}

/* A method without a sample or a call of the function says nothing about it. */
static bool is_measured(const struct reconcile_estimate *e)
{
	return e->count > 0 || e->mean_ns > 0;
}

/*
 * Of so few samples the scatter is not known: all may be in one of two functions that share the
 * time by chance. `ns`: the larger time of both methods.
 */
static bool are_few(const struct reconcile_runs *t, const struct reconcile_estimate *whole,
                    double ns)
{
	double each_ns = whole->count > 0 ? whole->mean_ns / whole->count : 0;

	return ns * t->count[RECONCILE_SAMPLED] < FEW * each_ns;
}

/*
 * The random part of an interval shrinks with the root of the length of all runs. `half_ns` has to
 * fall to `wanted_ns`.
 */
static double longer_of(const struct judged *j, double half_ns, double wanted_ns)
{
	double system = hypot(j->sampled->system_ns, j->counted->system_ns);
	double random = half_ns * half_ns - system * system;
	double room = wanted_ns * wanted_ns - system * system;

	return room > 0 && random > 0 ? fmax(1, random / room) : NAN;
}

/* Why an interval is too wide: the largest of its parts. */
static enum reconcile_reason width_reason(const struct judged *j)
{
	const struct reconcile_estimate *s = j->sampled, *c = j->counted;
	double scatter = hypot(s->scatter_ns, c->scatter_ns);
	double within = hypot(s->within_ns, c->within_ns);

	if (c->system_ns > fmax(scatter, within))
		return REASON_SHORT_CALLS;
	return scatter > 2 * within ? REASON_SCATTER : REASON_FEW_SAMPLES;
}

void reconcile_judge(const struct reconcile *r, const struct reconcile_process *p,
                     struct reconcile_line *line)
{
	const struct reconcile_runs *t = r->runs;
	const struct reconcile_estimate *s = &line->sides[RECONCILE_SAMPLED];
	const struct reconcile_estimate *c = &line->sides[RECONCILE_COUNTED];
	const struct reconcile_estimate *whole = p->line.sides;
	double off = fabs(line->difference_ns), scale = fmax(s->mean_ns, c->mean_ns);
	bool differs = off > line->half_ns && off > LEAST * scale;
	struct judged j = {.r = r, .process = p, .line = line, .sampled = s, .counted = c};

	if (line != &p->line) {
		j.function = &t->functions.items[t->rows.items[line->row].function];
		j.outside = reconcile_is_outside(t, line->row);
	}
	line->longer = NAN;
	j.off_ns = off;
	j.excess_ns = fmax(0, off - line->half_ns);
	if (differs && off <= line->chance_ns) {
		line->verdict = RECONCILE_CANNOT_TELL;
		line->reason = width_reason(&j);
		/* More runs would decide. They do not make the error of a short call smaller. */
		if (line->reason != REASON_SHORT_CALLS)
			line->reason = REASON_CHANCE;
		line->longer = longer_of(&j, line->chance_ns, off);
	} else if (differs && !are_few(t, &whole[RECONCILE_SAMPLED], scale)) {
		line->verdict = RECONCILE_DIFFER;
		line->reason = reason_of(&j);
	} else if (differs || !is_measured(s) || !is_measured(c)) {
		line->verdict = RECONCILE_CANNOT_TELL;
		line->reason = REASON_FEW_SAMPLES;
		line->longer = longer_of(&j, fmax(line->half_ns, off), WIDEST * scale);
	} else if (line->half_ns > WIDEST * scale &&
	           line->half_ns > WIDEST_WHOLE * fmax(whole[RECONCILE_SAMPLED].mean_ns,
	                                               whole[RECONCILE_COUNTED].mean_ns)) {
		line->verdict = RECONCILE_CANNOT_TELL;
		line->reason = width_reason(&j);
		line->longer = longer_of(&j, line->half_ns, WIDEST * scale);
	} else {
		line->verdict = RECONCILE_AGREE;
		line->reason = REASON_NONE;
	}
}
