/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A day that never was, at speed: two CPUs, a timer, a process after the other, all known in
 * advance. What windows and the store say of it must be that, to one tick and one process,
 * and what it takes must not grow with the hours. With ASSAY_LONG it is a whole day with ten
 * million processes (ASSAY_DAY_NAMES: of how many names), else ten minutes.
 */
#include "base/hash.h"
#include "base/xalloc.h"
#include "check.h"
#include "fixture.h"
#include "profile/profile_windows.h"
#include "store/store.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <sqlite3.h>
#include <sys/resource.h>

#define SECOND UINT64_C(1000000000)
#define WINDOW_NS (10 * SECOND)
#define WALL_LESS_NS (1795000000 * SECOND)
#define START_NS (1000 * SECOND)
#define PERIOD_NS (SECOND / 97)
#define CPUS 2
#define PIDS 30000
#define IMAGES 50
#define TEXT 0x400000u

struct options {
	uint64_t seconds;
	double instances; /* a second */
	uint32_t names;
	uint32_t processes_max;
	bool edges; /* ticks are dropped up to the very end of windows */
};

/* What happened: of a window, and of all. */
struct truth {
	uint64_t due, seen, dropped, missing, busy_ns, lost_events;
};

enum step { STEP_WAKE, STEP_FORK, STEP_SWITCH, STEP_EXEC, STEP_END };

struct cpu {
	uint64_t at, tick; /* of its next step and its next tick */
	enum step step;
	int32_t pid; /* who runs */
	int32_t child;
	uint32_t name;
	uint64_t busy_since, job_began;
};

struct day {
	struct options o;
	struct event_sink sink;
	struct recording recording;
	struct store *store;
	struct cpu cpus[CPUS];
	struct truth now, all;
	uint64_t window_end_ns, end_ns;
	uint64_t windows, generated, seed;
	uint32_t *of_name; /* processes of each name that were executed */
	int32_t next_pid;
	int status;
	struct error err;
	/* What was seen, and where it was not what was to be seen. */
	struct truth ledger;
	uint64_t wrong_windows, wrong_busy, wrong_samples, half_bytes;
	size_t early_heap, late_heap;
	long early_rss, late_rss;
};

static uint32_t dice(struct day *d, uint32_t sides)
{
	d->seed = d->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(d->seed >> 33) % sides;
}

static void deliver(struct day *d, struct event *e)
{
	if (!d->status)
		d->status = d->sink.event(d->sink.ctx, e, &d->err);
}

static void tell_switch(struct day *d, uint32_t cpu, uint64_t time, int32_t from, int32_t to)
{
	struct event e = {.kind = EVENT_SWITCH, .attr = 1, .cpu = cpu, .time_ns = time};

	e.pid = e.tid = from;
	e.sched = (struct event_switch){
	        .out = true, .machine_wide = true, .next_prev_pid = to, .next_prev_tid = to};
	deliver(d, &e);
	e.pid = e.tid = to;
	e.sched.out = false;
	e.sched.next_prev_pid = e.sched.next_prev_tid = from;
	deliver(d, &e);
	if (!from)
		d->cpus[cpu].busy_since = time;
	if (!to)
		d->now.busy_ns += time - d->cpus[cpu].busy_since;
	d->cpus[cpu].pid = to;
}

static void tell_task(struct day *d, enum event_kind kind, uint32_t cpu, uint64_t time, int32_t pid,
                      int32_t parent)
{
	struct event e = {.kind = kind, .attr = 1, .cpu = cpu, .time_ns = time};

	e.pid = e.tid = pid;
	e.fork.parent_pid = e.fork.parent_tid = parent;
	deliver(d, &e);
}

static void tell_exec(struct day *d, uint32_t cpu, uint64_t time, int32_t pid, uint32_t name)
{
	struct event e = {.kind = EVENT_COMM, .attr = 1, .cpu = cpu, .time_ns = time};
	char text[32];

	snprintf(text, sizeof(text), "job-%u", name);
	e.pid = e.tid = pid;
	e.comm.name = text;
	e.comm.exec = true;
	deliver(d, &e);
	for (uint32_t i = 0; i < 3; i++) {
		struct event m = {.kind = EVENT_MMAP,
		                  .mode = CPU_MODE_USER,
		                  .attr = 1,
		                  .cpu = cpu,
		                  .time_ns = time + 1 + i};
		char path[64];

		snprintf(path, sizeof(path), i ? "/lib/lib%u.so" : "/bin/tool-%u",
		         i ? i : name % IMAGES);
		m.pid = m.tid = pid;
		m.mmap.addr = TEXT + i * 0x100000u;
		m.mmap.size = 0x80000;
		m.mmap.executable = true;
		m.mmap.inode = i ? i : 100 + name % IMAGES;
		m.mmap.filename = path;
		deliver(d, &m);
	}
}

static void tell_sample(struct day *d, uint32_t cpu, uint64_t time)
{
	const struct cpu *c = &d->cpus[cpu];
	struct event e = {.kind = EVENT_SAMPLE, .mode = CPU_MODE_USER, .cpu = cpu};
	uint64_t chain[] = {CHAIN_CONTEXT_USER, TEXT + 16 * (uint64_t)dice(d, 20),
	                    TEXT + 0x100000 + 32 * (uint64_t)dice(d, 5), TEXT + 0x200000};

	e.time_ns = time;
	e.pid = e.tid = c->pid;
	if (!c->pid)
		e.mode = CPU_MODE_KERNEL;
	e.sample.period = PERIOD_NS;
	e.sample.ip = c->pid ? chain[1] : 0xffffffff81000100;
	e.sample.chain = chain;
	e.sample.chain_count = c->pid ? 4 : 0;
	deliver(d, &e);
}

/* A tick of the timer: a sample, or one that found no room, or nothing. */
static void tick(struct day *d, uint32_t cpu)
{
	struct cpu *c = &d->cpus[cpu];
	uint64_t time = c->tick, late = 4000 + dice(d, 3000);
	/* Whether a tick was missed is known half a period later: then it is the next window's. */
	bool edge = time + PERIOD_NS > d->window_end_ns && !d->o.edges;
	uint32_t fate = dice(d, 1000);
	struct event lost = {.kind = EVENT_LOST, .attr = 1, .cpu = cpu, .time_ns = time + late};

	c->tick += PERIOD_NS;
	d->now.due++;
	lost.lost.count = 1;
	lost.pid = lost.tid = c->pid;
	if (edge || fate >= 7) {
		tell_sample(d, cpu, time + late);
		d->now.seen++;
	} else if (fate < 4) {
		deliver(d, &lost);
		d->now.dropped++;
		d->now.lost_events++;
	} else {
		d->now.missing++;
	}
}

/* The shell of the CPU forks, the child runs another program or does not, and is gone. */
static void step(struct day *d, uint32_t cpu)
{
	struct cpu *c = &d->cpus[cpu];
	int32_t shell = 100 + (int32_t)cpu;
	uint64_t time = c->at;
	double cycle_ns = 1.75 * CPUS * (double)SECOND / d->o.instances;
	bool runs;

	switch (c->step) {
	case STEP_WAKE:
		c->job_began = time;
		tell_switch(d, cpu, time, 0, shell);
		c->at = time + 50000;
		c->step = STEP_FORK;
		break;
	case STEP_FORK:
		d->next_pid = d->next_pid == 1000 + PIDS ? 1000 : d->next_pid + 1;
		c->child = d->next_pid;
		tell_task(d, EVENT_FORK, cpu, time, c->child, shell);
		d->generated++;
		c->at = time + 20000;
		c->step = STEP_SWITCH;
		break;
	case STEP_SWITCH:
		tell_switch(d, cpu, time, shell, c->child);
		runs = dice(d, 4);
		c->at = time + (runs ? 30000 : 400000);
		c->step = runs ? STEP_EXEC : STEP_END;
		break;
	case STEP_EXEC:
		c->name = dice(d, d->o.names);
		tell_exec(d, cpu, time, c->child, c->name);
		d->generated++;
		d->of_name[c->name]++;
		c->at = time + 100000 + dice(d, (uint32_t)(cycle_ns / 3));
		c->step = STEP_END;
		break;
	case STEP_END:
		tell_task(d, EVENT_EXIT, cpu, time, c->child, shell);
		tell_switch(d, cpu, time + 10000, c->child, 0);
		c->at = c->job_began + (uint64_t)cycle_ns / 2 + dice(d, (uint32_t)cycle_ns);
		if (c->at < time + 20000)
			c->at = time + 20000;
		c->step = STEP_WAKE;
		break;
	}
}

static void sum_ledger(const struct profile *p, struct truth *sum)
{
	vec_each (c, &p->ledger.cpus) {
		sum->due += c->ticks_due_busy + c->ticks_due_idle;
		sum->seen += c->ticks_seen_busy + c->ticks_seen_idle;
		sum->dropped += c->ticks_lost;
		sum->busy_ns += c->busy_ns;
	}
}

static uint64_t samples_in(const struct profile *p)
{
	uint64_t samples = 0;

	vec_each (row, &p->rows)
		samples += row->samples;
	return samples;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void check_window(struct day *d, const struct profile *p, const struct profile_window *w,
                         const struct truth *truth)
{
	struct truth got = {0};
	uint64_t slack = d->o.edges ? CPUS : 0;

	sum_ledger(p, &got);
	d->ledger.due += got.due;
	d->ledger.seen += got.seen;
	d->ledger.dropped += got.dropped;
	d->ledger.busy_ns += got.busy_ns;
	if (got.seen != truth->seen || got.dropped != truth->dropped ||
	    apart(got.due, truth->due) > slack) {
		if (!d->wrong_windows++)
			printf("# window %llu: due %llu seen %llu dropped %llu, not %llu %llu "
			       "%llu\n",
			       (unsigned long long)w->number, (unsigned long long)got.due,
			       (unsigned long long)got.seen, (unsigned long long)got.dropped,
			       (unsigned long long)truth->due, (unsigned long long)truth->seen,
			       (unsigned long long)truth->dropped);
	}
	d->wrong_busy += got.busy_ns != truth->busy_ns;
	d->wrong_samples += samples_in(p) != truth->seen || w->samples != truth->seen ||
	                    w->lost_records != truth->lost_events;
}

/* What is held, and the most that it ever was; a short day's caches fill up to its middle. */
static void measure(struct day *d, uint64_t windows)
{
	uint64_t all = d->o.seconds * SECOND / WINDOW_NS;
	struct mallinfo2 heap = mallinfo2();
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	d->late_rss = usage.ru_maxrss;
	if (heap.uordblks + heap.hblkhd > d->late_heap)
		d->late_heap = heap.uordblks + heap.hblkhd;
	if (windows == (d->o.seconds > 3600 ? all / 10 : all / 2)) {
		d->early_heap = d->late_heap;
		d->early_rss = d->late_rss;
	}
	if (windows == all / 2)
		d->half_bytes = store_bytes(d->store);
}

/* The generator is at the boundary: what is its truth of the window goes with it. */
static void end_window(struct day *d)
{
	for (uint32_t i = 0; i < CPUS; i++)
		if (d->cpus[i].pid) {
			d->now.busy_ns += d->window_end_ns - d->cpus[i].busy_since;
			d->cpus[i].busy_since = d->window_end_ns;
		}
}

static void next_window(struct day *d)
{
	d->all.due += d->now.due;
	d->all.seen += d->now.seen;
	d->all.dropped += d->now.dropped;
	d->all.missing += d->now.missing;
	d->all.busy_ns += d->now.busy_ns;
	d->now = (struct truth){0};
	d->window_end_ns += WINDOW_NS;
}

static int on_window(void *ctx, const struct profile *p, const struct profile_window *w,
                     struct error *err)
{
	struct day *d = ctx;
	struct store_window out = {.start_ns = w->start_ns + WALL_LESS_NS,
	                           .end_ns = w->end_ns + WALL_LESS_NS,
	                           .samples = w->samples,
	                           .lost_records = w->lost_records,
	                           .period_ns = PERIOD_NS};
	int status;

	d->windows++;
	d->wrong_windows += w->end_ns != d->window_end_ns || w->end_ns - w->start_ns != WINDOW_NS;
	check_window(d, p, w, &d->now);
	status = store_add_window(d->store, p, &out, err);
	if (!status)
		status = store_keep(d->store, out.end_ns, err);
	measure(d, d->windows);
	return status;
}

static void describe(struct recording *r)
{
	struct recording_attr clock = {.name = xstrdup("cpu-clock"),
	                               .role = ATTR_CLOCK,
	                               .type = PERF_TYPE_SOFTWARE,
	                               .sample_type = PERF_SAMPLE_CALLCHAIN,
	                               .frequency_hz = 97,
	                               .period_ns = PERIOD_NS,
	                               .callchain = true,
	                               .user_callchain = true};
	struct recording_attr track = {.name = xstrdup("dummy"), .role = ATTR_TRACK};

	recording_init(r);
	r->hostname = xstrdup("simulated");
	r->cpus_online = r->cpus_available = CPUS;
	r->clockid = 1;
	r->clock_start_ns = START_NS;
	r->clock_wall_ns = START_NS + WALL_LESS_NS;
	vec_push(&r->attrs, clock);
	vec_push(&r->attrs, track);
}

static void begin_day(struct day *d)
{
	for (uint32_t i = 0; i < CPUS; i++) {
		struct event e = {.kind = EVENT_COMM, .attr = 1, .cpu = EVENT_NO_CPU};

		d->cpus[i] = (struct cpu){.at = START_NS + 3000000 * (i + 1),
		                          .tick = START_NS + 6000000 + 1000000 * i};
		e.pid = e.tid = 100 + (int32_t)i;
		e.comm.name = "sh";
		deliver(d, &e);
	}
	d->generated = CPUS + 1; /* with the idle process */
	d->next_pid = 1000;
	d->window_end_ns = START_NS + WINDOW_NS;
	d->end_ns = START_NS + d->o.seconds * SECOND;
}

/* Whatever comes next on either CPU, in the order of time. */
static void live(struct day *d, struct profile_windows *w)
{
	while (!d->status) {
		uint64_t next = UINT64_MAX;
		bool is_tick = false;
		uint32_t cpu = 0;

		for (uint32_t i = 0; i < CPUS; i++) {
			const struct cpu *c = &d->cpus[i];
			/* What a step does takes a moment: ticks in it come after it. */
			uint64_t at = c->at < c->tick + 20000 ? c->at : c->tick;

			if (at < next) {
				next = at;
				cpu = i;
				is_tick = c->at >= c->tick + 20000;
			}
		}
		if (next + 50000 >= d->window_end_ns) {
			/* Nothing is halfway at a boundary. */
			for (uint32_t i = 0; i < CPUS; i++)
				if (d->cpus[i].at < d->window_end_ns + 1000)
					d->cpus[i].at = d->window_end_ns + 1000 + 40000 * i;
			end_window(d);
			d->status = profile_windows_until(w, d->window_end_ns, &d->err);
			next_window(d);
			if (d->window_end_ns > d->end_ns)
				return;
		} else if (is_tick) {
			tick(d, cpu);
		} else {
			step(d, cpu);
		}
	}
}

static int64_t number(sqlite3 *db, const char *query)
{
	sqlite3_stmt *statement;
	int64_t value = -1;

	if (!sqlite3_prepare_v2(db, query, -1, &statement, NULL) &&
	    sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	else
		printf("# %s: %s\n", query, sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return value;
}

/* How many names have another number of processes in the store than there were. */
static uint64_t wrong_names(const struct day *d, sqlite3 *db)
{
	sqlite3_stmt *statement;
	uint64_t wrong = 0, names = 0, used = 0;
	uint32_t name;

	if (sqlite3_prepare_v2(db,
	                       "SELECT name, count(*), max(instance) FROM processes WHERE name "
	                       "LIKE 'job-%' GROUP BY name",
	                       -1, &statement, NULL))
		return UINT64_MAX;
	for (; sqlite3_step(statement) == SQLITE_ROW; names++)
		wrong += sscanf((const char *)sqlite3_column_text(statement, 0), "job-%u", &name) !=
		                 1 ||
		         name >= d->o.names ||
		         sqlite3_column_int64(statement, 1) != d->of_name[name] ||
		         sqlite3_column_int64(statement, 2) != d->of_name[name];
	sqlite3_finalize(statement);
	for (uint32_t i = 0; i < d->o.names; i++)
		used += d->of_name[i] != 0;
	return wrong + (names > used ? names - used : used - names);
}

static void check_store(const struct day *d)
{
	sqlite3 *db;

	CHECK_EQ(sqlite3_open(fixture_path("day.db"), &db), SQLITE_OK);
	CHECK_EQ(number(db, "SELECT count(*) FROM windows"), d->windows);
	CHECK_EQ(number(db, "SELECT sum(due_busy + due_idle) FROM ledger"), d->all.due);
	CHECK_EQ(number(db, "SELECT sum(seen_busy + seen_idle) FROM ledger"), d->all.seen);
	CHECK_EQ(number(db, "SELECT sum(lost) FROM ledger"), d->all.dropped);
	CHECK_EQ(number(db, "SELECT sum(due_busy + due_idle - seen_busy - seen_idle - lost) "
	                    "FROM ledger"),
	         d->all.missing);
	CHECK_EQ(number(db, "SELECT sum(busy_ns) FROM ledger"), d->all.busy_ns);
	CHECK_EQ(number(db, "SELECT sum(samples) FROM samples"), d->all.seen);
	CHECK_EQ(number(db, "SELECT sum(weight) FROM samples"), d->all.seen * PERIOD_NS);
	CHECK_EQ(number(db, "SELECT sum(samples) FROM windows"), d->all.seen);
	CHECK_EQ(number(db, "SELECT count(*) FROM processes"), d->generated);
	CHECK_EQ(number(db, "SELECT count(*) FROM (SELECT 1 FROM processes GROUP BY name, "
	                    "instance HAVING count(*) > 1)"),
	         0);
	CHECK_EQ(wrong_names(d, db), 0);
	sqlite3_close(db);
}

static void check_growth(const struct day *d, uint64_t bytes)
{
	double second = (double)(bytes - d->half_bytes), first = (double)d->half_bytes;

	printf("# %llu windows, %llu processes, heap %zu KB early, %zu KB at the end; "
	       "resident at most %ld and %ld KB; %llu KB in the store, %.0f a process\n",
	       (unsigned long long)d->windows, (unsigned long long)d->generated,
	       d->early_heap >> 10, d->late_heap >> 10, d->early_rss, d->late_rss,
	       (unsigned long long)bytes >> 10, (double)bytes / (double)d->generated);
	printf("# the store's halves: %.0f and %.0f KB\n", first / 1024, second / 1024);
	CHECK(second < 1.1 * first);
	if (d->o.seconds > 3600)
		CHECK(second > 0.9 * first);
	/* A process and its thread take three times that while they are known. */
	CHECK(d->late_heap - d->early_heap < 256 * (d->generated / 2));
#ifndef __SANITIZE_ADDRESS__
	if (d->o.seconds > 3600)
		CHECK((double)d->late_rss < 1.05 * (double)d->early_rss);
#endif
}

static void run_day(struct day *d, const struct options *o)
{
	struct profile_windows_options wo = {.window_ns = WINDOW_NS,
	                                     .wall_less_ns = WALL_LESS_NS,
	                                     .start_ns = START_NS,
	                                     .processes_max = o->processes_max,
	                                     .window = on_window,
	                                     .ctx = d};
	struct store_options so = {0};
	struct profile_windows *w = profile_windows_new(&wo);

	*d = (struct day){.o = *o, .seed = 7};
	d->of_name = xcalloc(o->names, sizeof(*d->of_name));
	describe(&d->recording);
	unlink(fixture_path("day.db"));
	d->sink = profile_windows_sink(w);
	d->status = store_open(&d->store, fixture_path("day.db"), &so, &d->err);
	if (!d->status)
		d->status = store_begin(d->store, &d->recording, START_NS + WALL_LESS_NS, &d->err);
	if (!d->status)
		d->status = d->sink.begin(d->sink.ctx, &d->recording, &d->err);
	begin_day(d);
	live(d, w);
	if (!d->status)
		d->status = store_end(d->store, d->end_ns + WALL_LESS_NS, "stopped", &d->err);
	CHECK_EQ(d->status, 0);
	if (d->status)
		printf("# %s\n", d->err.text);
	else
		check_growth(d, store_bytes(d->store));
	store_close(d->store);
	profile_windows_free(w);
}

static void check_day(const struct options *o)
{
	struct day d;

	run_day(&d, o);
	CHECK_EQ(d.windows, o->seconds * SECOND / WINDOW_NS);
	CHECK_EQ(d.wrong_windows, 0);
	CHECK_EQ(d.wrong_busy, 0);
	CHECK_EQ(d.wrong_samples, 0);
	CHECK_EQ(d.all.seen + d.all.dropped + d.all.missing, d.all.due);
	CHECK_EQ(d.ledger.due, d.all.due);
	CHECK_EQ(d.ledger.seen, d.all.seen);
	CHECK_EQ(d.ledger.busy_ns, d.all.busy_ns);
	CHECK(d.all.dropped > 0 && d.all.missing > 0);
	if (!d.status)
		check_store(&d);
	recording_done(&d.recording);
	free(d.of_name);
}

static uint32_t from_environment(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* Every window's books close, and the day's. */
static void a_day(void)
{
	struct options o = {.seconds = 600, .instances = 33.3, .names = 300, .processes_max = 1000};

	if (getenv("ASSAY_LONG"))
		o = (struct options){.seconds = 86400,
		                     .instances = 116,
		                     .names = from_environment("ASSAY_DAY_NAMES", 4000)};
	check_day(&o);
}

/* A tick missed at the very end of a window is told in the next one: none is told twice. */
static void missed_at_the_edges(void)
{
	struct options o = {
	        .seconds = 600, .instances = 10, .names = 20, .processes_max = 300, .edges = true};

	check_day(&o);
}

/* Names that never come again are not held. */
static void every_process_another_name(void)
{
	struct options o = {
	        .seconds = 600, .instances = 60, .names = 1000000, .processes_max = 1000};

	check_day(&o);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(a_day);
	RUN(missed_at_the_edges);
	RUN(every_process_another_name);
	fixture_end();
	return check_end();
}
