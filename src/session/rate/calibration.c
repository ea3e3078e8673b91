/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/calibration.h"

#include "base/statistics/on_off.h"
#include "event/attr.h"
#include "session/rate/sample_probe.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CYCLES_PER_NS 3 /* approximately, for periods of cycles */
/* The probe's period, and a piece of work in periods: one sample. Short pieces are rarely
 * interrupted by other programs. */
#define PERIOD_NS UINT64_C(200000)
#define PIECE_PERIODS 1.5
#define WARM_UP_PASSES 8
#define USUAL_NS UINT64_C(1000000000)
#define ENOUGH_PAIRS 100 /* with less, it takes as long again */
#define LEAST_PAIRS 30
#define PAIRS_MAX 8192
/* A result is too uncertain if half of its interval is above both. */
#define UNCERTAIN 0.005
#define UNCERTAIN_PART 0.5

/* Samples per second, over all clocks of the plan, including the witness. */
static double rate_hz(const struct plan *plan)
{
	double hz = 0;

	vec_each (event, &plan->events) {
		const struct perf_event_attr *attr = &event->attr;

		if (event->role != ATTR_CLOCK && event->role != ATTR_WITNESS)
			continue;
		if (attr_timer_period_ns(attr))
			hz += 1e9 / (double)attr_timer_period_ns(attr);
		else if (attr->freq)
			hz += (double)attr->sample_freq;
		else
			hz += 1e9 * CYCLES_PER_NS / (double)attr->sample_period;
	}
	return hz;
}

static const struct perf_event_attr *main_clock(const struct plan *plan)
{
	vec_each (event, &plan->events)
		if (event->role == ATTR_CLOCK)
			return &event->attr;
	return NULL;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

struct work {
	struct sample_probe *probe;
	uint32_t steps; /* of a piece */
};

static double piece(void *ctx, bool on, uint32_t *events)
{
	const struct work *w = ctx;
	uint64_t begin, now;
	uint32_t samples = 0;
	long before;

	if (on && !sample_probe_enable(w->probe, true))
		return ON_OFF_DISTURBED;
	before = switches();
	begin = now = sample_probe_step(w->probe);
	for (uint32_t i = 0; i < w->steps; i++) {
		now = sample_probe_step(w->probe);
		samples += sample_probe_count(w->probe);
	}
	if (on)
		sample_probe_enable(w->probe, false);
	*events = samples;
	return switches() != before || (samples > 0) != on ? ON_OFF_DISTURBED
	                                                   : (double)(now - begin);
}

/* The number of steps that take `ns`: by the quickest of a few passes. */
static uint32_t steps_of(struct sample_probe *probe, double ns)
{
	struct work pass = {.probe = probe, .steps = SAMPLE_PROBE_PASS};
	double least = INFINITY;
	uint32_t none;

	for (int i = 0; i < WARM_UP_PASSES; i++) {
		double took = piece(&pass, false, &none);

		if (took > 0 && took < least)
			least = took;
	}
	return isinf(least) ? 0 : (uint32_t)ceil(ns * SAMPLE_PROBE_PASS / least);
}

/* Returns the number of pairs. */
static size_t run_pairs(struct sample_probe *probe, double *pair_ns)
{
	double piece_ns = PIECE_PERIODS * (double)sample_probe_period_ns(probe);
	struct work work = {.probe = probe, .steps = steps_of(probe, piece_ns)};
	struct on_off m = {.piece = piece,
	                   .ctx = &work,
	                   .differences = pair_ns,
	                   .room = PAIRS_MAX,
	                   .pairs_least = PAIRS_MAX,
	                   .cpu_ns = USUAL_NS,
	                   .elapsed_ns = USUAL_NS};

	if (!work.steps)
		return 0;
	on_off_run(&m);
	if (m.count < ENOUGH_PAIRS)
		on_off_run(&m);
	return m.count;
}

static double slowdown(double sample_ns, double hz)
{
	double share = sample_ns * hz / 1e9;

	return share < 0.99 ? share / (1 - share) : 99;
}

static int64_t ppm(double share)
{
	return llround(share * 1e6);
}

void calibration_of_pairs(double *pair_ns, size_t count, double hz,
                          struct account_calibration *result)
{
	struct on_off_figure figure;
	double low, high, middle;

	*result = (struct account_calibration){.state = CALIBRATION_BUSY, .pairs = count};
	if (count < LEAST_PAIRS)
		return;
	on_off_of_pairs(pair_ns, count, &figure);
	middle = slowdown(figure.ns, hz);
	low = slowdown(figure.least_ns, hz);
	high = slowdown(figure.most_ns, hz);
	result->slowdown_ppm = ppm(middle);
	result->low_ppm = ppm(low);
	result->high_ppm = ppm(high);
	if ((high - low) / 2 <= fmax(UNCERTAIN, UNCERTAIN_PART * middle))
		result->state = CALIBRATION_DONE;
}

static void measure(const struct plan *plan, struct account_calibration *result)
{
	double hz = rate_hz(plan), pair_ns[PAIRS_MAX];
	struct error err = {0};
	struct sample_probe *probe;

	if (sample_probe_open(&probe, main_clock(plan), (uint64_t)fmin(1e9 / hz, PERIOD_NS),
	                      &err)) {
		result->state = CALIBRATION_REFUSED;
		return;
	}
	calibration_of_pairs(pair_ns, run_pairs(probe, pair_ns), hz, result);
	sample_probe_close(probe);
}

static pid_t start_child(const struct plan *plan, int to)
{
	struct account_calibration result = {0};
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "assay-calibrate");
	measure(plan, &result);
	_exit(write(to, &result, sizeof(result)) != sizeof(result));
}

void calibration_measure(const struct plan *plan, struct account_calibration *result)
{
	int ends[2];
	pid_t pid;

	*result = (struct account_calibration){.state = CALIBRATION_NO_CLOCK};
	if (!main_clock(plan))
		return;
	result->state = CALIBRATION_REFUSED;
	if (pipe(ends))
		return;
	pid = start_child(plan, ends[1]);
	close(ends[1]);
	if (pid > 0 && read(ends[0], result, sizeof(*result)) != sizeof(*result))
		result->state = CALIBRATION_REFUSED;
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
