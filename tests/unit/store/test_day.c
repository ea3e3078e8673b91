/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated day at high speed: two CPUs, a timer, one process after the other, all known in
 * advance. Windows and the store must have exactly these figures, to one tick and one process, and
 * the cost must not grow with the hours. With ASSAY_LONG it is a whole day with ten
 * million processes (ASSAY_DAY_NAMES: number of names), else ten minutes. ASSAY_DAY_DAYS=365
 * is a year of a server that starts ASSAY_DAY_RATE processes a second (bench/year).
 */
#include "base/memory/xalloc.h"
#include "check.h"
#include "day_fixture.h"
#include "fixture.h"

#include <malloc.h>
#include <sqlite3.h>
#include <sys/resource.h>

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

#define DAY_WINDOWS (86400 * SECOND / WINDOW_NS)

/* Current and largest memory; in a short day the caches fill until its middle. */
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
	if (all > DAY_WINDOWS && !(windows % DAY_WINDOWS)) {
		printf("# day %3llu: %7.1f MB\n", (unsigned long long)(windows / DAY_WINDOWS),
		       (double)store_bytes(d->store) / 1e6);
		fflush(stdout);
	}
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
		status = store_retention(d->store, out.end_ns, err);
	measure(d, d->windows);
	return status;
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

/* Number of names whose count of processes in the store is wrong. */
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

/*
 * The idle samples of each window and CPU weigh its idle time. A row is rounded down by less than
 * 1 ns.
 */
static void check_idle(sqlite3 *db)
{
	CHECK_EQ(number(db, "WITH idle AS (SELECT window, cpu, sum(weight) AS ns, count(*) AS n "
	                    "FROM samples WHERE mode = 'idle' GROUP BY window, cpu) "
	                    "SELECT count(*) FROM ledger l LEFT JOIN idle i ON i.window = l.window "
	                    "AND i.cpu = l.cpu WHERE l.idle_ns - coalesce(i.ns, 0) "
	                    "NOT BETWEEN 0 AND coalesce(i.n, 0)"),
	         0);
	CHECK(number(db, "SELECT sum(weight) FROM samples WHERE mode = 'idle'") > 0);
}

/* Checks that hold after any merge. */
static void check_sums(const struct day *d, sqlite3 *db)
{
	CHECK_EQ(number(db, "SELECT sum(due_busy + due_idle) FROM ledger"), d->all.due);
	CHECK_EQ(number(db, "SELECT sum(seen_busy + seen_idle) FROM ledger"), d->all.seen);
	CHECK_EQ(number(db, "SELECT sum(lost) FROM ledger"), d->all.dropped);
	CHECK_EQ(number(db, "SELECT sum(due_busy + due_idle - seen_busy - seen_idle - lost) "
	                    "FROM ledger"),
	         d->all.missing);
	CHECK_EQ(number(db, "SELECT sum(busy_ns) FROM ledger"), d->all.busy_ns);
	CHECK_EQ(number(db, "SELECT sum(samples) FROM samples"), d->all.seen);
	CHECK_EQ(number(db, "SELECT sum(weight) FROM sample"), d->all.seen * PERIOD_NS);
	check_idle(db);
	CHECK_EQ(number(db, "SELECT sum(samples) FROM windows"), d->all.seen);
}

static void check_store(const struct day *d)
{
	sqlite3 *db;

	CHECK_EQ(sqlite3_open(fixture_path("day.db"), &db), SQLITE_OK);
	check_sums(d, db);
	CHECK_EQ(number(db, "SELECT count(*) FROM windows"), d->windows);
	CHECK_EQ(number(db, "SELECT count(*) FROM processes"), d->generated);
	CHECK_EQ(number(db, "SELECT count(*) FROM (SELECT 1 FROM processes GROUP BY name, "
	                    "instance HAVING count(*) > 1)"),
	         0);
	CHECK_EQ(wrong_names(d, db), 0);
	sqlite3_close(db);
}

static void check_growth(const struct day *d)
{
	uint64_t bytes = d->bytes;
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
	                                     .wall_offset_ns = WALL_LESS_NS,
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
		d->bytes = store_bytes(d->store);
	store_close(d->store);
	profile_windows_free(w);
}

static void check_windows(const struct day *d)
{
	CHECK_EQ(d->windows, d->o.seconds * SECOND / WINDOW_NS);
	CHECK_EQ(d->wrong_windows, 0);
	CHECK_EQ(d->wrong_busy, 0);
	CHECK_EQ(d->wrong_samples, 0);
	CHECK_EQ(d->all.seen + d->all.dropped + d->all.missing, d->all.due);
	CHECK_EQ(d->ledger.due, d->all.due);
	CHECK_EQ(d->ledger.seen, d->all.seen);
	CHECK_EQ(d->ledger.busy_ns, d->all.busy_ns);
	CHECK(d->all.dropped > 0 && d->all.missing > 0);
}

static void check_day(const struct options *o)
{
	struct day d;

	run_day(&d, o);
	check_windows(&d);
	if (!d.status) {
		check_growth(&d);
		check_store(&d);
	}
	recording_done(&d.recording);
	free(d.of_name);
}

static uint32_t from_environment(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* The ledger of each window and of the day adds up. */
static void a_day(void)
{
	struct options o = {.seconds = 600, .instances = 33.3, .names = 300, .processes_max = 1000};

	if (check_long())
		o = (struct options){.seconds = 86400,
		                     .instances = 116,
		                     .names = from_environment("ASSAY_DAY_NAMES", 4000)};
	check_day(&o);
}

/* A tick missing at the end of a window is counted in the next one, and only once. */
static void missed_at_the_edges(void)
{
	struct options o = {
	        .seconds = 600, .instances = 10, .names = 20, .processes_max = 300, .edges = true};

	check_day(&o);
}

/* Names that do not occur again are not kept in memory. */
static void each_process_has_another_name(void)
{
	struct options o = {
	        .seconds = 600, .instances = 60, .names = 1000000, .processes_max = 1000};

	check_day(&o);
}

/* With the default ages and size of stores. */
static void a_year(void)
{
	struct options o = {.seconds = UINT64_C(86400) * from_environment("ASSAY_DAY_DAYS", 365),
	                    .instances = from_environment("ASSAY_DAY_RATE", 5),
	                    .names = from_environment("ASSAY_DAY_NAMES", 400)};
	struct day d;
	sqlite3 *db;

	run_day(&d, &o);
	check_windows(&d);
	printf("# %llu windows, %llu processes, resident at most %ld KB, %.1f MB in the store\n",
	       (unsigned long long)d.windows, (unsigned long long)d.generated, d.late_rss,
	       (double)d.bytes / 1e6);
	CHECK(d.bytes <= UINT64_C(4000000000));
	CHECK((double)d.late_rss < 1.05 * (double)d.early_rss);
	CHECK_EQ(sqlite3_open(fixture_path("day.db"), &db), SQLITE_OK);
	check_sums(&d, db);
	sqlite3_close(db);
	recording_done(&d.recording);
	free(d.of_name);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	if (getenv("ASSAY_DAY_DAYS")) {
		RUN(a_year);
		fixture_end();
		return check_end();
	}
	RUN(a_day);
	RUN(missed_at_the_edges);
	RUN(each_process_has_another_name);
	fixture_end();
	return check_end();
}
