/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/calibration.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "base/statistics/samples.h"
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
#define USUAL_NS UINT64_C(1000000000) /* ends after this time if there are enough pairs, */
#define MOST_NS UINT64_C(2000000000)  /* and after this time in any case */
#define ENOUGH_PAIRS 100
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

struct calibration_piece {
	uint64_t ns; /* 0: it was interrupted */
	uint32_t samples;
};

static struct calibration_piece run_piece(struct sample_probe *probe, uint32_t steps, bool on)
{
	uint64_t begin, now;
	struct calibration_piece piece = {0};
	long before;

	if (on && !sample_probe_enable(probe, true))
		return piece;
	before = switches();
	begin = now = sample_probe_step(probe);
	for (uint32_t i = 0; i < steps; i++) {
		now = sample_probe_step(probe);
		piece.samples += sample_probe_count(probe);
	}
	if (switches() == before)
		piece.ns = now - begin;
	if (on)
		sample_probe_enable(probe, false);
	return piece;
}

/* The number of steps that take `ns`: by the quickest of a few passes. */
static uint32_t steps_of(struct sample_probe *probe, double ns)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < WARM_UP_PASSES; i++) {
		struct calibration_piece piece = run_piece(probe, SAMPLE_PROBE_PASS, false);

		if (piece.ns && piece.ns < least)
			least = piece.ns;
	}
	if (least == UINT64_MAX)
		return 0;
	return (uint32_t)ceil(ns * SAMPLE_PROBE_PASS / (double)least);
}

static size_t run_pairs(struct sample_probe *probe, uint32_t steps, double *pair_ns)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), spent = 0;
	size_t count = 0;

	for (size_t turn = 0;
	     count < PAIRS_MAX && spent < MOST_NS && (spent < USUAL_NS || count < ENOUGH_PAIRS);
	     turn++) {
		bool first = turn % 2;
		struct calibration_piece a = run_piece(probe, steps, first);
		struct calibration_piece b = run_piece(probe, steps, !first);
		struct calibration_piece on = first ? a : b, off = first ? b : a;

		if (on.ns && off.ns && on.samples)
			pair_ns[count++] = ((double)on.ns - (double)off.ns) / on.samples;
		spent = clock_ns(CLOCK_MONOTONIC) - begin;
	}
	return count;
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
	/* The bounds of the median are the values whose ranks are 1.96 deviations from it. */
	double away = count ? 0.98 / sqrt((double)count) : 0, low, high, middle;

	*result = (struct account_calibration){.state = CALIBRATION_BUSY, .pairs = count};
	if (count < LEAST_PAIRS)
		return;
	sorted_doubles(pair_ns, count);
	middle = sorted_quantile(pair_ns, count, 0.5);
	low = slowdown(sorted_quantile(pair_ns, count, 0.5 - away), hz);
	high = slowdown(sorted_quantile(pair_ns, count, 0.5 + away), hz);
	result->slowdown_ppm = ppm(slowdown(middle, hz));
	result->low_ppm = ppm(low);
	result->high_ppm = ppm(high);
	if ((high - low) / 2 <= fmax(UNCERTAIN, UNCERTAIN_PART * slowdown(middle, hz)))
		result->state = CALIBRATION_DONE;
}

static void measure(const struct plan *plan, struct account_calibration *result)
{
	double hz = rate_hz(plan), pair_ns[PAIRS_MAX];
	struct error err = {0};
	struct sample_probe *probe;
	uint32_t steps;

	if (sample_probe_open(&probe, main_clock(plan), (uint64_t)fmin(1e9 / hz, PERIOD_NS),
	                      &err)) {
		result->state = CALIBRATION_REFUSED;
		return;
	}
	steps = steps_of(probe, PIECE_PERIODS * (double)sample_probe_period_ns(probe));
	calibration_of_pairs(pair_ns, steps ? run_pairs(probe, steps, pair_ns) : 0, hz, result);
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
