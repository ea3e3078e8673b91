/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waiting time of a thread, by its ring of switches. The truths: wall time minus the thread's
 * CPU clock, the counts of switches by getrusage(), and the scheduler's own waiting time
 * (schedstat).
 */
#include "linux/switches.h"
#include "linux/samples.h"

#include "assay_port.h"
#include "check.h"
#include "clock_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct clock_rate rate;

static void spin(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		;
}

/*
 * The number of times this thread gave up its CPU, by the kernel's count. A sleep mostly causes
 * one, but not always.
 */
static long voluntary(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* Reference values for the computed intervals. */
static uint64_t slept_ns; /* in nap(), by the wall clock */

static void nap(long ns)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);

	doze(ns);
	slept_ns += clock_ns(CLOCK_MONOTONIC_RAW) - start;
}

/*
 * The total time that a hypervisor took from the CPUs, ns. While a thread runs, this time is not a
 * switch, and may be missing in CPU clocks. The kernel reports it in ticks of 10 ms; 0: no time was
 * taken.
 */
static uint64_t stolen_ns(void)
{
	unsigned long long stolen = 0;
	FILE *f = fopen("/proc/stat", "r");

	if (f && fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
		stolen = 0;
	if (f)
		fclose(f);
	return stolen * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static double stolen_since(uint64_t before)
{
	uint64_t now = stolen_ns();

	return now ? (double)(now - before) + 1e7 : 0;
}

struct truth {
	uint64_t from, wall_ns, cpu_ns, slept_ns, stolen_ns;
	struct rusage usage;
};

static void truth_begin(struct truth *t, struct switches *s)
{
	struct port_waits before;
	uint64_t head;

	t->stolen_ns = stolen_ns();
	do {
		head = *s->head;
		getrusage(RUSAGE_THREAD, &t->usage);
		t->wall_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		t->slept_ns = slept_ns;
		t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		t->from = port_clock();
	} while (*s->head !=
	         head); /* the thread was switched in between: the readings are not one moment */
	switches_settle(s, &rate, t->from - 1, t->from, &before);
}

static void add(struct port_waits *sum, const struct port_waits *w)
{
	sum->blocked += w->blocked;
	sum->preempted += w->preempted;
	sum->blocked_count += w->blocked_count;
	sum->preempted_count += w->preempted_count;
	sum->settled += w->settled;
	sum->overflowed |= w->overflowed;
}

/* `sum` is the waiting time from t->from up to `from`; the rest up to now is computed here. */
static void truth_check(const struct truth *t, struct switches *s, struct port_waits *sum,
                        uint64_t from, double share)
{
	uint64_t to, head, wall, cpu;
	struct port_waits w;
	struct rusage usage;
	double waited, truth;

	do {
		head = *s->head;
		to = port_clock();
		switches_settle(s, &rate, from, to, &w);
		from = to + w.late;
		add(sum, &w);
		getrusage(RUSAGE_THREAD, &usage);
		wall = clock_ns(CLOCK_MONOTONIC_RAW) - t->wall_ns;
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu_ns;
	} while (*s->head != head);
	waited = (double)clock_span_ns(&rate, sum->blocked + sum->preempted);
	truth = (double)(wall - cpu);
	printf("# waited %.3f ms of %.3f; blocked %u of %ld, preempted %u of %ld; settled %.3f "
	       "ms\n",
	       waited / 1e6, truth / 1e6, sum->blocked_count, usage.ru_nvcsw - t->usage.ru_nvcsw,
	       sum->preempted_count, usage.ru_nivcsw - t->usage.ru_nivcsw,
	       (double)clock_span_ns(&rate, sum->settled) / 1e6);
	CHECK(waited > truth - share * truth - 1e6 - stolen_since(t->stolen_ns));
	/*
	 * The CPU clock of some virtual machines counts idle time occasionally. Then the slept
	 * time, by the wall clock, is the bound.
	 */
	truth = fmax(truth, (double)(slept_ns - t->slept_ns));
	CHECK(waited < truth + share * truth + 1e6);
	CHECK_EQ(sum->blocked_count, usage.ru_nvcsw - t->usage.ru_nvcsw);
	CHECK_EQ(sum->preempted_count, usage.ru_nivcsw - t->usage.ru_nivcsw);
}

static void sleeps_in_one_interval_are_blocked(void)
{
	struct port_waits w;
	struct switches s;
	struct truth t;
	uint64_t to;

	CHECK_EQ(switches_open(&s, &rate), 0);
	truth_begin(&t, &s);
	for (int i = 0; i < 50; i++) {
		nap(2000000);
		spin(200000);
	}
	to = port_clock();
	switches_settle(&s, &rate, t.from, to, &w);
	CHECK(!w.overflowed);
	CHECK_EQ(w.settled, 0);
	truth_check(&t, &s, &w, to, 0.02);
	CHECK(clock_span_ns(&rate, w.blocked + w.preempted) >= 49 * 2000000ull);
	switches_close(&s);
}

/*
 * Interval after interval, computed only if the head has changed: no record is lost or counted
 * twice.
 */
static void intervals_add_up(void)
{
	struct port_waits sum = {0}, w;
	uint64_t from, to, seen, settlings = 0;
	struct switches s;
	struct truth t;

	CHECK_EQ(switches_open(&s, &rate), 0);
	seen = *s.head;
	truth_begin(&t, &s);
	from = t.from;
	for (int i = 0; i < 3000; i++) {
		uint64_t head;

		if (i % 3 == 0)
			nap(100000);
		head = *s.head;
		to = port_clock();
		if (head != seen) {
			seen = head;
			switches_settle(&s, &rate, from, to, &w);
			CHECK(w.blocked + w.preempted <= to - from);
			add(&sum, &w);
			settlings++;
		}
		from = to;
	}
	truth_check(&t, &s, &sum, from, 0.02);
	CHECK(settlings >= 900); /* most sleeps switch */
	CHECK_EQ(sum.overflowed, 0);
	switches_close(&s);
}

/* A moment between switches that were not counted yet: each switch counts for its own side. */
static void a_switch_belongs_to_the_side_it_is_on(void)
{
	struct port_waits before, after, none;
	uint64_t from, middle, to;
	struct switches s;
	long counts[3];

	CHECK_EQ(switches_open(&s, &rate), 0);
	counts[0] = voluntary();
	from = port_clock();
	for (int i = 0; i < 5; i++)
		nap(3000000);
	counts[1] = voluntary();
	middle = port_clock();
	for (int i = 0; i < 7; i++)
		nap(1000000);
	counts[2] = voluntary();
	to = port_clock();
	switches_settle(&s, &rate, from, middle, &before);
	switches_settle(&s, &rate, middle, to, &after);
	CHECK_EQ(before.blocked_count, counts[1] - counts[0]);
	CHECK_EQ(after.blocked_count, counts[2] - counts[1]);
	CHECK(counts[2] - counts[0] > 6);
	CHECK(clock_span_ns(&rate, before.blocked + before.preempted) >= 14000000);
	CHECK(clock_span_ns(&rate, after.blocked + after.preempted) >= 6000000);
	CHECK(before.blocked <= middle - from && after.blocked <= to - middle);
	switches_settle(&s, &rate, to, port_clock(), &none);
	CHECK_EQ(none.blocked_count, 0);
	switches_close(&s);
}

/* The first part of a wait was already counted elsewhere, as by a vfork's child. */
static void time_already_counted_is_excluded(void)
{
	uint64_t from, to, begin;
	struct port_waits w;
	struct switches s;

	CHECK_EQ(switches_open(&s, &rate), 0);
	begin = port_clock();
	nap(100000000);
	to = port_clock();
	from = begin + (to - begin) / 2;
	switches_settle(&s, &rate, from, to, &w);
	CHECK(w.blocked + w.preempted <= to - from);
	CHECK(w.blocked + w.preempted > (to - from) * 0.9);
	CHECK(w.blocked_count + w.preempted_count >= 1);
	switches_close(&s);
}

static void more_switches_than_the_ring_holds(void)
{
	struct port_waits sum = {0}, w;
	struct switches s;
	struct truth t;
	uint64_t to, again;

	CHECK_EQ(switches_open(&s, &rate), 0);
	truth_begin(&t, &s);
	for (int i = 0; i < 20000; i++)
		nap(50000);
	to = port_clock();
	switches_settle(&s, &rate, t.from, to, &w);
	CHECK(w.overflowed);
	CHECK(w.settled > w.blocked / 2);
	add(&sum, &w);
	again = to + w.late;
	/* After it the ring reports all switches again. */
	for (int i = 0; i < 20; i++)
		nap(1000000);
	to = port_clock();
	switches_settle(&s, &rate, again, to, &w);
	CHECK(!w.overflowed);
	CHECK_EQ(w.settled, 0);
	CHECK(w.blocked_count + w.preempted_count >= 20);
	add(&sum, &w);
	truth_check(&t, &s, &sum, to, 0.02);
	switches_close(&s);
}

/* The capacity of the ring, one record less and one more: 127.5 pairs. */
static void the_ring_just_full(void)
{
	for (int count = 124; count <= 131; count++) {
		struct port_waits w;
		struct switches s;
		struct truth t;
		uint64_t to;

		CHECK_EQ(switches_open(&s, &rate), 0);
		truth_begin(&t, &s);
		for (int i = 0; i < count; i++)
			nap(50000);
		to = port_clock();
		switches_settle(&s, &rate, t.from, to, &w);
		CHECK(w.overflowed || w.blocked_count + w.preempted_count <= 127);
		CHECK(!w.overflowed || w.blocked_count + w.preempted_count > 127);
		truth_check(&t, &s, &w, to + w.late, 0.03);
		switches_close(&s);
	}
}

/* Alternating sleep and work, with many overflows: the sums over all intervals agree. */
static void full_again_and_again(void)
{
	struct port_waits sum = {0}, w;
	struct switches s;
	struct truth t;
	uint64_t from;

	CHECK_EQ(switches_open(&s, &rate), 0);
	truth_begin(&t, &s);
	from = t.from;
	for (int round = 0; round < 8; round++) {
		uint64_t to;

		for (int i = 0; i < 400 * (round % 2) + 20; i++)
			nap(50000);
		spin(5000000);
		to = port_clock();
		switches_settle(&s, &rate, from, to, &w);
		CHECK(w.overflowed == (round % 2 == 1));
		CHECK(w.blocked + w.preempted <= to + w.late - from);
		add(&sum, &w);
		from = to + w.late;
	}
	truth_check(&t, &s, &sum, from, 0.02);
	switches_close(&s);
}

/*
 * A wait between the interval's end and the computation leaves no record in a full ring, as if the
 * thread were preempted there. The interval then ends after the wait.
 */
static void a_wait_after_the_end_of_a_full_ring_is_reported(void)
{
	struct port_waits sum = {0}, w;
	struct switches s;
	struct truth t;
	uint64_t from, to;

	CHECK_EQ(switches_open(&s, &rate), 0);
	truth_begin(&t, &s);
	from = t.from;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 200; i++)
			nap(50000);
		to = port_clock();
		nap(100000000);
		switches_settle(&s, &rate, from, to, &w);
		CHECK(w.overflowed);
		CHECK(clock_span_ns(&rate, w.late) >= 100000000);
		CHECK(w.blocked + w.preempted <= to + w.late - from);
		add(&sum, &w);
		from = to + w.late;
	}
	truth_check(&t, &s, &sum, from, 0.02);
	switches_close(&s);
}

/* The time that this thread waited for a CPU according to the scheduler, ns. */
static uint64_t run_delay_ns(void)
{
	unsigned long long run, delay = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%llu %llu", &run, &delay) != 2)
		delay = 0;
	if (f)
		fclose(f);
	return delay;
}

static void a_rival_on_the_same_cpu_preempts(void)
{
	cpu_set_t all, one;
	uint64_t from, to, delay, waited, head;
	struct port_waits w;
	struct switches s;
	pid_t rival;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
	rival = fork();
	if (!rival)
		for (;;)
			;
	CHECK_EQ(switches_open(&s, &rate), 0);
	do {
		head = *s.head;
		delay = run_delay_ns();
		from = port_clock();
	} while (*s.head != head);
	spin(600000000);
	do {
		head = *s.head;
		waited = run_delay_ns() - delay;
		to = port_clock();
	} while (*s.head != head);
	delay = waited;
	switches_settle(&s, &rate, from, to, &w);
	printf("# preempted %.3f ms in %u times; waited to run %.3f ms\n",
	       (double)clock_span_ns(&rate, w.preempted) / 1e6, w.preempted_count,
	       (double)delay / 1e6);
	CHECK(w.preempted_count > 0);
	CHECK(delay > 0);
	CHECK(fabs((double)clock_span_ns(&rate, w.preempted) - (double)delay) <
	      0.02 * (double)delay + 1e6);
	CHECK(w.blocked * 20 < w.preempted);
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
	sched_setaffinity(0, sizeof(all), &all);
	switches_close(&s);
}

static int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

static void no_descriptor_stays_open_and_errno_is_unchanged(void)
{
	int before = open_descriptors();
	struct port_waits w;
	struct switches s;
	uint64_t from = port_clock();

	errno = 4711;
	CHECK_EQ(switches_open(&s, &rate), 0);
	nap(1000000);
	switches_settle(&s, &rate, from, port_clock(), &w);
	CHECK_EQ(errno, 4711);
	CHECK_EQ(open_descriptors(), before);
	CHECK(w.blocked_count + w.preempted_count >= 1);
	switches_close(&s);
	CHECK(s.head && *s.head == 0);
	switches_settle(&s, &rate, from, port_clock(), &w);
	CHECK_EQ(w.blocked_count, 0);
	switches_close(&s);
}

static void a_forked_child_opens_its_own(void)
{
	struct port_waits w;
	struct switches s;
	int status = 0;
	pid_t child;

	CHECK_EQ(switches_open(&s, &rate), 0);
	child = fork();
	if (!child) {
		uint64_t from;

		switches_forget(&s);
		if (switches_open(&s, &rate))
			_exit(1);
		from = port_clock();
		nap(20000000);
		switches_settle(&s, &rate, from, port_clock(), &w);
		_exit(clock_span_ns(&rate, w.blocked + w.preempted) >= 19000000 ? 0 : 2);
	}
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
	switches_close(&s);
}

/* The child of a vfork uses its parent's record while the parent waits. */
static void time_of_a_vforks_child_is_its_parents_wait(void)
{
	/* Static: the child shares this function's stack. */
	static volatile uint64_t from, in_child, later, to;
	static struct port_waits w, in, again;
	static struct switches s;
	pid_t child;

	CHECK_EQ(switches_open(&s, &rate), 0);
	from = port_clock();
	nap(10000000);
	child = vfork();
	if (!child) {
		nap(20000000);
		in_child = port_clock();
		switches_settle(&s, &rate, from, in_child, &in);
		nap(30000000);
		later = port_clock();
		switches_settle(&s, &rate, in_child, later, &again);
		_exit(0);
	}
	to = port_clock();
	switches_settle(&s, &rate, later, to, &w);
	waitpid(child, NULL, 0);
	/* The sleep of the parent, and that of the child. */
	CHECK(in.is_out);
	CHECK(in.blocked_count + in.preempted_count >= 1);
	CHECK(clock_span_ns(&rate, in.blocked + in.preempted) >= 28000000);
	CHECK(in.blocked + in.preempted <= in_child - from);
	/*
	 * No record was written during the wait: all of it belongs to the wait that has not ended.
	 */
	CHECK(again.is_out);
	CHECK_EQ(again.blocked, later - in_child);
	CHECK_EQ(again.blocked_count, 0);
	CHECK(!w.is_out);
	CHECK(w.blocked_count + w.preempted_count >= 1);
	CHECK(w.blocked + w.preempted <= to - later);
	switches_close(&s);
}

/* A hook of a counting thread loads only the head of the samples. More switches than the ring holds
 * are no samples. */
static void a_switch_changes_the_head_of_the_samples(void)
{
	struct port_samples taken;
	struct samples s;
	uint64_t head;

	if (samples_open(&s, 10000000000u)) /* longer than the test: no sample is taken */
		return;
	head = *s.head;
	nap(10000000); /* a short wait may end before the thread is out */
	CHECK(*s.head != head);
	samples_take(&s, 0, 0, &taken);
	CHECK_EQ(taken.program + taken.hooks, 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 600; i++)
			nap(1000);
		samples_take(&s, 0, 0, &taken);
		CHECK_EQ(taken.program + taken.hooks, 0);
	}
	samples_close(&s);
}

int main(void)
{
	struct switches s;

	clock_begin(&rate);
	nap(150000000);
	clock_note(&rate);
	if (switches_open(&s, &rate)) {
		printf("1..0 # SKIP perf_event is denied here\n");
		return 0;
	}
	switches_close(&s);
	RUN(sleeps_in_one_interval_are_blocked);
	RUN(intervals_add_up);
	RUN(a_switch_belongs_to_the_side_it_is_on);
	RUN(time_already_counted_is_excluded);
	RUN(more_switches_than_the_ring_holds);
	RUN(the_ring_just_full);
	RUN(full_again_and_again);
	RUN(a_wait_after_the_end_of_a_full_ring_is_reported);
	RUN(a_rival_on_the_same_cpu_preempts);
	RUN(no_descriptor_stays_open_and_errno_is_unchanged);
	RUN(a_forked_child_opens_its_own);
	RUN(time_of_a_vforks_child_is_its_parents_wait);
	RUN(a_switch_changes_the_head_of_the_samples);
	return check_end();
}
