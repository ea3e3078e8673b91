/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A long history in a small file: windows are merged before any is deleted, and rows without
 * references are deleted. With ASSAY_YEAR=STORE.db it measures the cost of that machine's history
 * (bench/year).
 */
#include "store_check.h"

#include "store/sqlite/database.h"

#include <stdarg.h>
#include <sys/resource.h>

static struct mill a_mill(void)
{
	return (struct mill){.period_ns = SECOND / 2,
	                     .window_ns = MINUTE,
	                     .seed = 7,
	                     .run_ns = 8 * SECOND,
	                     .rest_ns = 3 * SECOND,
	                     .programs = 6,
	                     .functions = 40,
	                     .leaves = true,
	                     .path = path,
	                     .keep = true,
	                     .options.name = name_frames};
}

/* The same day twice: without limits, and into a file of at most two thirds of that
 * size. */
static void windows_that_do_not_fit_are_merged_first(void)
{
	struct mill m = a_mill();
	int64_t samples, oncpu, instances, cap;

	m.keep = false;
	mill_measure(&m, 10 * HOUR);
	samples = number("SELECT sum(samples) FROM sample");
	oncpu = number("SELECT sum(oncpu_ns) FROM process");
	instances = number("SELECT sum(instances) FROM process");
	cap = number("PRAGMA page_count") * 4096 * 2 / 3;
	store_fixture_remove(path);

	m = a_mill();
	m.options.keeping =
	        (struct store_retention_rules){.fine_ns = 6 * HOUR, .bytes = (uint64_t)cap};
	mill_begin(&m);
	for (int i = 0; i < 20; i++) {
		mill_run(&m, HOUR / 2);
		CHECK(number("PRAGMA page_count") * 4096 <= cap);
	}
	mill_end(&m, "stopped");
	CHECK_EQ(number("SELECT sum(samples) FROM sample"), samples);
	CHECK_EQ(number("SELECT sum(samples) FROM window"), samples);
	CHECK_EQ(number("SELECT sum(merged) FROM window"), 600);
	CHECK_EQ(number("SELECT sum(oncpu_ns) FROM process"), oncpu);
	CHECK_EQ(number("SELECT sum(instances) FROM process"), instances);
	/* The oldest windows were merged before the age of six hours; the newest were not. */
	CHECK(number("SELECT count(*) FROM window WHERE level = 1") > 10);
	CHECK(number("SELECT count(*) FROM window WHERE level = 0") >= 15);
	CHECK(number("SELECT max(end_ns) FROM window WHERE level > 0") <=
	      number("SELECT min(start_ns) FROM window WHERE level = 0"));
	check_whole();
	store_fixture_remove(path);
}

/*
 * If windows of 10 minutes need too much space, they become 2 hours, then days; only then some are
 * deleted.
 */
static void finally_only_days_remain(void)
{
	struct mill m = a_mill();
	int hours = check_long() ? 5 * 24 : 48;
	int64_t cap = check_long() ? 1200000 : 700000, most = 0, now;
	struct profile *p = profile_new();
	uint64_t samples = 0;

	m.options.keeping = (struct store_retention_rules){.fine_ns = 12 * HOUR,
	                                                   .coarse_ns = 5 * DAY,
	                                                   .all_ns = 10 * DAY,
	                                                   .bytes = (uint64_t)cap};
	m.period_ns = 2 * SECOND;
	m.window_ns = 5 * MINUTE;
	mill_begin(&m);
	for (int i = 0; i < hours; i++) {
		mill_run(&m, HOUR);
		now = number("PRAGMA page_count") * 4096;
		most = now > most ? now : most;
	}
	mill_end(&m, "stopped");
	CHECK(most <= cap);
	CHECK(number("SELECT count(*) FROM window WHERE level = 2") > 0);
	CHECK(number("SELECT count(*) FROM window WHERE level = 3") > 0);
	/* Rare samples are in [other], with their thread. */
	CHECK(number("SELECT sum(s.samples) FROM sample s JOIN stack k ON k.id = s.stack JOIN frame"
	             " f ON f.id = k.frame JOIN function u ON u.id = f.function JOIN name n ON n.id"
	             " = u.name WHERE n.text = '[other]'") > 0);
	CHECK_EQ(store_read(path, &(struct store_range){0}, p, &m.err), 0);
	vec_each (row, &p->rows)
		samples += row->samples;
	CHECK_EQ(samples, number("SELECT sum(samples) FROM window"));
	profile_free(p);
	CHECK(number("SELECT max(end_ns - start_ns) FROM window WHERE level = 3") <= (int64_t)DAY);
	CHECK_EQ(number("SELECT sum(samples) FROM sample"),
	         number("SELECT sum(samples) FROM window"));
	printf("# kept %lld of %d windows\n", (long long)number("SELECT sum(merged) FROM window"),
	       hours * 12);
	check_whole();
	store_fixture_remove(path);
}

/* Programs start again while their names are being deleted, and keep their names. */
static void unreferenced_names_are_deleted(void)
{
	struct mill m = a_mill();
	int64_t functions, names;

	m.options.keeping = (struct store_retention_rules){
	        .fine_ns = 30 * MINUTE, .coarse_ns = HOUR, .all_ns = 8 * HOUR};
	mill_begin(&m);
	mill_run(&m, 4 * HOUR);
	functions = number("SELECT count(*) FROM function");
	names = number("SELECT count(*) FROM name");
	CHECK(number("SELECT count(*) FROM instance") >= 6);
	m.rest_ns = 30 * DAY; /* each pause is at least a tenth of this */
	mill_run(&m, 40 * HOUR);
	CHECK(number("SELECT count(*) FROM function") < functions / 4);
	CHECK(number("SELECT count(*) FROM name") < names / 4);
	CHECK_EQ(number("SELECT count(*) FROM name WHERE text LIKE '%prog%'"), 0);
	CHECK_EQ(number("SELECT count(*) FROM image i JOIN name n ON n.id = i.path WHERE n.text"
	                " LIKE '/usr/bin/%'"),
	         0);
	CHECK(number("SELECT count(*) FROM instance") <= 4);
	check_whole();
	/* Adds and removes them at each step of the sweeps. */
	for (int i = 0; i < (check_long() ? 30 : 10); i++) {
		m.rest_ns = 3 * SECOND;
		for (uint32_t c = 0; c < MILL_CPUS; c++)
			if (m.cpus[c].next_ns > m.now_ns + MINUTE)
				m.cpus[c].next_ns = m.now_ns + 1;
		mill_run(&m, 2 * MINUTE);
		m.rest_ns = 2 * HOUR;
		mill_run(&m, 58 * MINUTE);
		if (i % 5 == 4)
			check_whole();
	}
	CHECK(number("SELECT count(*) FROM process p JOIN name n ON n.id = p.name WHERE n.text"
	             " LIKE 'prog%'") > 0);
	mill_end(&m, "stopped");
	check_whole();
	store_fixture_remove(path);
}

/* --- the cost of a machine's history --- */

static sqlite3 *copier;

static void run(const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(copier, sql, NULL, NULL, &why)) {
		fprintf(stderr, "%s: %s\n", sql, why);
		abort();
	}
}

static void runf(const char *format, ...)
{
	va_list values;
	char *sql;

	va_start(values, format);
	sql = sqlite3_vmprintf(format, values);
	va_end(values);
	run(sql);
	sqlite3_free(sql);
}

/*
 * Processes that started and ended in the template are new processes in each copy; those that
 * existed before or after it are the same in all copies.
 */
static void template_open(const char *from)
{
	if (sqlite3_open(from, &copier))
		abort();
	runf("VACUUM INTO '%q'", path);
	runf("VACUUM INTO '%q-template'", path);
	sqlite3_close(copier);
	if (sqlite3_open(path, &copier))
		abort();
	runf("PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; ATTACH '%q-template' AS t", path);
	run("CREATE TEMP TABLE fresh (id INTEGER PRIMARY KEY);"
	    "INSERT INTO fresh SELECT id FROM t.process WHERE id > 0 AND start_ns > 0 AND life_ns "
	    "IS"
	    " NOT NULL;"
	    "CREATE TEMP TABLE fresh_thread (id INTEGER PRIMARY KEY);"
	    "INSERT INTO fresh_thread SELECT id FROM t.thread WHERE id > 0 AND (process IN (SELECT"
	    " id FROM fresh) OR (tid IS NOT NULL AND start_ns > 0 AND life_ns IS NOT NULL));");
	/* A process that ended in the template without having started in it continues here. */
	run("UPDATE main.session SET end_ns = 1 << 62;"
	    "UPDATE main.process SET life_ns = NULL WHERE id NOT IN (SELECT id FROM fresh);"
	    "UPDATE main.thread SET life_ns = NULL WHERE id NOT IN (SELECT id FROM fresh_thread);");
}

/* One window of the template, k times its length later. */
static void copy_window(int64_t window, int64_t k, int64_t length, int64_t ids)
{
	runf("BEGIN IMMEDIATE;"
	     "INSERT INTO process SELECT id + %lld, host, name, instance, pid, parent, start_ns +"
	     " %lld, life_ns, cgroup, kernel, instances, oncpu_ns, runnable_ns, blocked_ns,"
	     " version, labels FROM t.process WHERE id IN (SELECT id FROM fresh) AND id BETWEEN "
	     "(SELECT process_first"
	     " FROM t.window WHERE id = %lld) AND (SELECT process_last FROM t.window WHERE id ="
	     " %lld);",
	     k * ids, k * length, window, window);
	runf("INSERT INTO thread SELECT id + %lld, process + (process IN (SELECT id FROM fresh)) *"
	     " %lld, tid, name, start_ns + %lld, life_ns FROM t.thread WHERE id IN (SELECT id FROM"
	     " fresh_thread) AND id BETWEEN (SELECT thread_first FROM t.window WHERE id = %lld)"
	     " AND (SELECT thread_last FROM t.window WHERE id = %lld);",
	     k * ids, k * ids, k * length, window, window);
	runf("INSERT INTO window (session, start_ns, end_ns, level, merged, samples, lost_records,"
	     " observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns, process_first,"
	     " process_last, thread_first, thread_last) SELECT session, start_ns + %lld, end_ns +"
	     " %lld, level, merged, samples, lost_records, observer_cpu_ns, period_ns,"
	     " unobserved_ns, wall_offset_ns, process_first + %lld, process_last + %lld, "
	     "thread_first"
	     " + %lld, thread_last + %lld FROM t.window WHERE id = %lld;"
	     "CREATE TEMP TABLE IF NOT EXISTS made (id); DELETE FROM made;"
	     "INSERT INTO made SELECT max(id) FROM main.window;",
	     k * length, k * length, k * ids, k * ids, k * ids, k * ids, window);
	runf("INSERT INTO sample SELECT (SELECT id FROM made), thread + (thread IN (SELECT id FROM"
	     " fresh_thread)) * %lld, stack, cpu, mode, event, region, stack_end, samples, weight,"
	     " runnable_ns, blocked_ns FROM t.sample WHERE window = %lld;",
	     k * ids, window);
	for (int i = 0; i < 2; i++) {
		const char *table = i ? "buffer" : "ledger_cpu";

		runf("CREATE TEMP TABLE books AS SELECT * FROM t.%s WHERE window = %lld;"
		     "UPDATE books SET window = (SELECT id FROM made);"
		     "INSERT INTO main.%s SELECT * FROM books; DROP TABLE books;",
		     table, window, table);
	}
	run("COMMIT");
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double level_number(const char *what, int level)
{
	char sql[512];

	snprintf(sql, sizeof(sql), "SELECT %s WHERE w.level = %d", what, level);
	return (double)number(sql);
}

static double table_bytes(const char *tables)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN (%s)",
	         tables);
	return (double)number(sql);
}

static const int spans[] = {1, 29, 335};

static void print_levels(void)
{
	static const char *const names[] = {"as measured", "10 minutes", "2 hours", "a day"};
	double row = table_bytes("'sample'") / (double)number("SELECT count(*) FROM sample");
	double process = table_bytes("'process', 'thread', 'process_by_name', 'thread_by_name'") /
	                 (double)number("SELECT count(*) FROM process");
	double year = 0;

	printf("level        hours held  windows  rows a window  processes a window  MB a day\n");
	for (int level = 0; level < 4; level++) {
		double windows = level_number("count(*) FROM window w", level);
		double ns = level_number("sum(w.end_ns - w.start_ns) FROM window w", level);
		double rows = level_number(
		        "count(*) FROM window w JOIN sample s ON s.window = w.id", level);
		double people = level_number("count(*) FROM window w JOIN process p ON p.id BETWEEN"
		                             " w.process_first AND w.process_last",
		                             level);
		double day = (rows * row + people * process) / 1e6 / ns * (double)DAY;

		if (!(windows > 0))
			continue;
		if (level < 3)
			year += day * spans[level];
		printf("%-12s %10.1f %8.0f %14.0f %19.0f %9.1f\n", names[level], ns / (double)HOUR,
		       windows, rows / windows, people / windows, day);
	}
	printf("a year at the default ages: %.0f MB, and what does not grow with time:\n", year);
}

static void print_tables(void)
{
	static const char *const tables[] = {
	        "'stack', 'sqlite_autoindex_stack_1'",
	        "'frame', 'sqlite_autoindex_frame_1', 'frame_function'",
	        "'function', 'sqlite_autoindex_function_1'",
	        "'name', 'sqlite_autoindex_name_1'",
	        "'process', 'thread', 'process_by_name', 'thread_by_name'",
	        "'instance', 'image', 'sqlite_autoindex_image_1'",
	        "'window', 'window_start', 'window_session', 'ledger_cpu', 'buffer'",
	        "'sample'"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		printf("%8.1f MB %s\n", table_bytes(tables[i]) / 1e6, tables[i]);
}

static double asked(const char *name, double otherwise)
{
	const char *text = getenv(name);

	return text ? strtod(text, NULL) : otherwise;
}

static void the_history_of_a_machine(void)
{
	double hours = asked("ASSAY_YEAR_HOURS", 10), most = 0, sum = 0;
	struct store_options o = {
	        .keeping = {.fine_ns = (uint64_t)(asked("ASSAY_YEAR_FINE", 1) * (double)HOUR),
	                    .coarse_ns = (uint64_t)(asked("ASSAY_YEAR_COARSE", 4) * (double)HOUR),
	                    .bytes = (uint64_t)(asked("ASSAY_YEAR_MB", 4000) * 1e6)}};
	int64_t ids, length, count, begun, biggest = 0, calls = 0;
	struct error err = {0};
	struct store *s;
	struct rusage use;

	template_open(getenv("ASSAY_YEAR"));
	count = number("SELECT max(id) FROM window");
	length = number("SELECT max(end_ns) - min(start_ns) FROM window");
	begun = number("SELECT min(start_ns) FROM window");
	ids = number("SELECT max((SELECT max(id) FROM process), (SELECT max(id) FROM thread))");
	CHECK_EQ(store_open(&s, path, &o, &err), 0);
	for (int64_t k = 1; (double)(k * length) < hours * (double)HOUR; k++)
		for (int64_t w = 1; w <= count; w++) {
			double before;
			int64_t end;

			copy_window(w, k, length, ids);
			end = number("SELECT end_ns FROM window ORDER BY start_ns DESC LIMIT 1");
			before = cpu_ns();
			CHECK_EQ(store_retention(s, (uint64_t)end, &err), 0);
			before = cpu_ns() - before;
			sum += before;
			most = before > most ? before : most;
			calls++;
			if (calls % 50 == 0 && number("PRAGMA page_count") > biggest)
				biggest = number("PRAGMA page_count");
		}
	getrusage(RUSAGE_SELF, &use);
	print_levels();
	print_tables();
	printf("keeping took %.2f ms of CPU a window, %.1f ms at most; %ld MB of memory at most\n",
	       sum / (double)calls / 1e6, most / 1e6, use.ru_maxrss / 1024);
	printf("file %.1f MB at most, cap %.0f MB; holds %.1f of %.1f hours, %lld of %lld "
	       "windows\n",
	       (double)biggest * 4096 / 1e6, (double)o.keeping.bytes / 1e6,
	       (double)number("SELECT max(end_ns) - min(start_ns) FROM window") / (double)HOUR,
	       (double)(number("SELECT max(end_ns) FROM window") - begun) / (double)HOUR,
	       (long long)number("SELECT sum(merged) FROM window"), (long long)(calls + count));
	CHECK_EQ(number("SELECT sum(samples) FROM sample"),
	         number("SELECT sum(samples) FROM window"));
	check_whole();
	store_close(s);
	sqlite3_close(copier);
}

int main(void)
{
	store_fixture_path(path);
	if (getenv("ASSAY_YEAR")) {
		if (getenv("ASSAY_YEAR_OUT"))
			snprintf(path, sizeof(path), "%s", getenv("ASSAY_YEAR_OUT"));
		RUN(the_history_of_a_machine);
		store_fixture_end(path);
		return check_end();
	}
	RUN(windows_that_do_not_fit_are_merged_first);
	RUN(finally_only_days_remain);
	RUN(unreferenced_names_are_deleted);
	return check_end();
}
