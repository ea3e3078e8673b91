/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/record_cost.h"

#include "base/clock.h"
#include "session/rate/own_events.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAIRS_LEAST 24
#define PAIRS_MAX 400
/* Repetitions in a piece: short, since a longer piece is interrupted more often. */
#define REPEATED 8
#define WARM_UP 2
#define CPU_NS UINT64_C(6000000)
#define ELAPSED_NS UINT64_C(200000000)
/* A piece took longer than its threads ran: other threads ran between, have evicted caches, and
 * were charged for records of a switch. Events of a CPU have records of these switches as well, and
 * each thread is charged for two at each time that it is switched in. */
#define INTERRUPTED 1.5
#define PAGE_BYTES 4096
/* Large enough for the records of a piece, about 150 bytes each. */
#define RING_BYTES (32u << 10)
/* A clock that is stopped and started at each switch, but hardly ever samples. */
#define NEVER_NS UINT64_C(1000000000)

/* The operation that a piece repeats. */
struct deed {
	bool (*run)(const struct deed *d, int times);
	struct own_events events;
	clockid_t clocks[2]; /* of the threads that do it */
	size_t clock_count;
	void *page;             /* of this program's file */
	int out, back;          /* pipes to and from the thread that answers */
	uint32_t records_least; /* in a piece */
	bool missing;           /* an enabled event had no record */
};

/* The kernel reports a mapping of code again when it becomes executable. That takes a quarter of
 * the time of a new mapping, so that the time of the record is a larger part of it. */
static bool allow_repeatedly(const struct deed *d, int times)
{
	for (int i = 0; i < times; i++)
		if (mprotect(d->page, PAGE_BYTES, PROT_READ | PROT_EXEC) ||
		    mprotect(d->page, PAGE_BYTES, PROT_READ))
			return false;
	return true;
}

/* Each time this thread is switched out and in. */
static bool pass_repeatedly(const struct deed *d, int times)
{
	char byte = 0;

	for (int i = 0; i < times; i++)
		if (write(d->out, &byte, 1) != 1 || read(d->back, &byte, 1) != 1)
			return false;
	return true;
}

static uint64_t used_ns(const struct deed *d)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->clock_count; i++)
		sum += clock_ns(d->clocks[i]);
	return sum;
}

/* The CPU time of a piece. */
static double piece(void *ctx, bool on, uint32_t *events)
{
	struct deed *d = ctx;
	uint64_t begin, used, records;
	bool done;

	if (on && !own_events_enable(&d->events, true))
		return ON_OFF_DISTURBED;
	/* The first ones are slower: the change of the event has evicted caches. */
	d->run(d, WARM_UP);
	begin = clock_ns(CLOCK_MONOTONIC);
	used = used_ns(d);
	done = d->run(d, REPEATED);
	used = used_ns(d) - used;
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	if (on)
		own_events_enable(&d->events, false);
	records = own_events_count(&d->events, OWN_EVENTS_ANY);
	*events = d->records_least;
	d->missing |= on && records < d->records_least;
	if (!done || (d->events.of.scope != OWN_CPU && (double)begin > INTERRUPTED * (double)used))
		return ON_OFF_DISTURBED;
	return (double)used;
}

static int not_measured(struct error *err, const char *why)
{
	return error_set(err, EBUSY, "the cost of a record cannot be measured: %s", why);
}

/* The plan's clocks of a thread are stopped and started at its switches. */
static void add_clocks(const struct plan *plan, struct own_events *events)
{
	vec_each (event, &plan->events) {
		struct perf_event_attr attr = event->attr;

		if ((event->role != ATTR_CLOCK && event->role != ATTR_WITNESS) ||
		    events->count == OWN_EVENTS_MAX)
			continue;
		attr.freq = 0;
		attr.sample_period = NEVER_NS;
		own_events_add(events, &attr, NULL);
	}
}

/* The events are open; they are closed. */
static int measure(struct deed *d, struct on_off_figure *figure, struct error *err)
{
	double differences[PAIRS_MAX];
	struct on_off m = {.piece = piece,
	                   .ctx = d,
	                   .differences = differences,
	                   .room = PAIRS_MAX,
	                   .pairs_least = PAIRS_LEAST,
	                   .cpu_ns = CPU_NS,
	                   .elapsed_ns = ELAPSED_NS};

	on_off_run(&m);
	own_events_close(&d->events);
	if (d->missing)
		return error_set(err, ENODATA,
		                 "the cost of a record cannot be measured: there were no records");
	if (!on_off_result(&m, figure))
		return not_measured(err, "the machine is too busy");
	return 0;
}

static int of_page(const struct perf_source_event *event, int program, struct on_off_figure *figure,
                   struct error *err)
{
	struct deed d = {.run = allow_repeatedly,
	                 .clocks = {CLOCK_THREAD_CPUTIME_ID},
	                 .clock_count = 1,
	                 .records_least = REPEATED,
	                 .page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE, program, 0)};
	int status;

	if (d.page == MAP_FAILED)
		return not_measured(err, strerror(errno));
	status = own_events_open(&d.events, &event->attr, 1, (struct own_events_of){OWN_THREAD, -1},
	                         RING_BYTES, err);
	if (!status)
		status = measure(&d, figure, err);
	munmap(d.page, PAGE_BYTES);
	return status;
}

int record_cost_mapping(const struct perf_source_event *event, struct on_off_figure *figure,
                        struct error *err)
{
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), status;
	struct on_off_figure found;

	if (program < 0)
		return not_measured(err, strerror(errno));
	status = of_page(event, program, &found, err);
	if (!status)
		*figure = found;
	close(program);
	return status;
}

struct answerer {
	pthread_t thread;
	int from, to;
};

/* Answers each byte, and ends when the other end of its pipe is closed. */
static void *answer(void *arg)
{
	const struct answerer *a = arg;
	char byte;

	while (read(a->from, &byte, 1) == 1 && write(a->to, &byte, 1) == 1)
		;
	return NULL;
}

/* Keeps this thread, and the thread that it starts, on the CPU that it runs on. -1: it cannot. */
static int bind_here(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	if (cpu < 0 || sched_getaffinity(0, sizeof(*before), before))
		return -1;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -1 : cpu;
}

static int answerer_start(struct answerer *a)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&a->thread, NULL, answer, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -status;
}

static int open_events(const struct plan *plan, const struct perf_source_event *event,
                       struct own_events_of of, struct deed *d, struct error *err)
{
	int status = own_events_open(&d->events, &event->attr, 1, of, RING_BYTES, err);
	/* Switches that the event sees in a repetition. */
	uint32_t switches = of.scope == OWN_THREAD ? 1 : 2;

	d->records_least = REPEATED * switches * (event->role == ATTR_TRACK ? 2 : 1);
	if (!status && of.scope != OWN_CPU)
		add_clocks(plan, &d->events);
	return status;
}

static int between_threads(const struct plan *plan, const struct perf_source_event *event,
                           enum own_events_scope scope, const int *there, const int *back,
                           struct on_off_figure *figure, struct error *err)
{
	struct answerer a = {.from = there[0], .to = back[1]};
	struct deed d = {.run = pass_repeatedly,
	                 .clocks = {CLOCK_THREAD_CPUTIME_ID},
	                 .clock_count = 2,
	                 .out = there[1],
	                 .back = back[0]};
	cpu_set_t before;
	int cpu = bind_here(&before), status;
	struct own_events_of of = {scope, scope == OWN_THREAD ? -1 : cpu};
	bool started;

	if (cpu < 0)
		return not_measured(err, "the thread cannot be bound to a CPU");
	/* Before the thread begins, which inherits them. */
	status = open_events(plan, event, of, &d, err);
	started = !status && !answerer_start(&a);
	if (started && !pthread_getcpuclockid(a.thread, &d.clocks[1]))
		status = measure(&d, figure, err);
	else if (!status)
		status = not_measured(err, "no second thread");
	close(there[1]);
	if (started)
		pthread_join(a.thread, NULL);
	own_events_close(&d.events);
	sched_setaffinity(0, sizeof(before), &before);
	return status;
}

int record_cost_switch(const struct plan *plan, const struct perf_source_event *event,
                       enum own_events_scope scope, struct on_off_figure *figure, struct error *err)
{
	struct on_off_figure found;
	int there[2], back[2], status;

	if (pipe2(there, O_CLOEXEC))
		return not_measured(err, strerror(errno));
	if (pipe2(back, O_CLOEXEC)) {
		status = not_measured(err, strerror(errno));
		close(there[1]);
	} else {
		status = between_threads(plan, event, scope, there, back, &found, err);
		close(back[0]);
		close(back[1]);
	}
	close(there[0]);
	if (!status)
		*figure = found;
	return status;
}
