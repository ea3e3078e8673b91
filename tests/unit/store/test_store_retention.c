/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Retention: merging does not change the sums. */
#include "store_world.h"

#include "store_check.h"
#include "view/account/rates.h"

/* With sanitizers a history has a quarter of the samples, and its pieces are small. */
#define SPARSE (4 / CHECK_CASES(4))

static struct mill a_mill(void)
{
	return (struct mill){.period_ns = 4 * SECOND * SPARSE,
	                     .window_ns = MINUTE,
	                     .seed = 7,
	                     .run_ns = 20 * SECOND,
	                     .rest_ns = 7 * SECOND,
	                     .programs = 6,
	                     .functions = 40,
	                     .path = path,
	                     .keep = true,
	                     .options.name = name_frames,
	                     .options.keeping = {.fine_ns = HOUR, .coarse_ns = 3 * HOUR}};
}

/* Values that merging must not change. */
struct sums {
	int64_t samples, weight, runnable_ns, blocked_ns;       /* of rows */
	int64_t window_samples, lost, observer_ns, merged;      /* of windows */
	int64_t wall_ns, busy_ns, idle_ns, due, seen, steal_ns; /* of the ledger */
	int64_t instances, oncpu_ns;                            /* of processes */
	int64_t by_program, by_function, by_cpu, by_mode; /* hashes over the samples by each key
	that merging keeps */
	int64_t unobserved_ns, missed_ns, slowed_ns, taken_ns, over_ns, most; /* of rates */
};

static void add_up(struct sums *s)
{
	*s = (struct sums){
	        .samples = number("SELECT sum(samples) FROM sample"),
	        .weight = number("SELECT sum(weight) FROM sample"),
	        .runnable_ns = number("SELECT sum(runnable_ns) FROM sample"),
	        .blocked_ns = number("SELECT sum(blocked_ns) FROM sample"),
	        .window_samples = number("SELECT sum(samples) FROM window"),
	        .lost = number("SELECT sum(lost_records) FROM window"),
	        .observer_ns = number("SELECT sum(observer_cpu_ns) FROM window"),
	        .merged = number("SELECT sum(merged) FROM window"),
	        .wall_ns = number("SELECT sum(wall_ns) FROM ledger_cpu"),
	        .busy_ns = number("SELECT sum(busy_ns) FROM ledger_cpu"),
	        .idle_ns = number("SELECT sum(idle_ns) FROM ledger_cpu"),
	        .due = number("SELECT sum(due_busy + due_idle) FROM ledger_cpu"),
	        .seen = number("SELECT sum(seen_busy + seen_idle) FROM ledger_cpu"),
	        .steal_ns = number("SELECT sum(steal_ns) FROM ledger_cpu"),
	        .instances = number("SELECT sum(instances) FROM process"),
	        .oncpu_ns = number("SELECT sum(oncpu_ns) FROM process"),
	        /* Each program's, path's, CPU's and mode's own share in one number. */
	        .by_program =
	                number("SELECT sum(s.samples * (p.name * 1000 + coalesce(k.depth, 0))) "
	                       "FROM sample s"
	                       " JOIN thread t ON t.id = s.thread"
	                       " JOIN process p ON p.id = t.process LEFT JOIN stack k ON k.id ="
	                       " s.stack"),
	        .by_function =
	                number("SELECT sum(s.samples * coalesce(f.function, 0)) FROM sample s"
	                       " JOIN stack k ON k.id = s.stack JOIN frame f ON f.id = k.frame"),
	        .by_cpu = number("SELECT sum(samples * (cpu + 1)) FROM sample"),
	        .by_mode = number("SELECT sum(weight * (mode + 1)) FROM sample"),
	        .unobserved_ns = number("SELECT sum(unobserved_ns) FROM window"),
	        .missed_ns =
	                number("SELECT sum((due_busy - seen_busy) * period_ns) FROM ledger_cpu"),
	        .slowed_ns = number("SELECT coalesce(sum(slowed_budget_ns + 3 * slowed_behind_ns),"
	                            " 0) FROM window_rate"),
	        .taken_ns = number("SELECT coalesce(sum(taken_ns + 3 * taken_of_ns), 0) FROM"
	                           " window_rate"),
	        .over_ns = number("SELECT coalesce(sum(over_ns), 0) FROM window_rate"),
	        .most = number("SELECT coalesce(max(most_ppm), 0) FROM window_rate"),
	};
}

static void check_sums(const struct sums *a, const struct sums *b)
{
	CHECK_EQ(a->samples, b->samples);
	CHECK_EQ(a->weight, b->weight);
	CHECK_EQ(a->runnable_ns, b->runnable_ns);
	CHECK_EQ(a->blocked_ns, b->blocked_ns);
	CHECK_EQ(a->window_samples, b->window_samples);
	CHECK_EQ(a->lost, b->lost);
	CHECK_EQ(a->observer_ns, b->observer_ns);
	CHECK_EQ(a->merged, b->merged);
	CHECK_EQ(a->wall_ns, b->wall_ns);
	CHECK_EQ(a->busy_ns, b->busy_ns);
	CHECK_EQ(a->idle_ns, b->idle_ns);
	CHECK_EQ(a->due, b->due);
	CHECK_EQ(a->seen, b->seen);
	CHECK_EQ(a->steal_ns, b->steal_ns);
	CHECK_EQ(a->instances, b->instances);
	CHECK_EQ(a->oncpu_ns, b->oncpu_ns);
	CHECK_EQ(a->by_program, b->by_program);
	CHECK_EQ(a->by_function, b->by_function);
	CHECK_EQ(a->by_cpu, b->by_cpu);
	CHECK_EQ(a->by_mode, b->by_mode);
	CHECK_EQ(a->unobserved_ns, b->unobserved_ns);
	CHECK_EQ(a->missed_ns, b->missed_ns);
	CHECK_EQ(a->slowed_ns, b->slowed_ns);
	CHECK_EQ(a->taken_ns, b->taken_ns);
	CHECK_EQ(a->over_ns, b->over_ns);
	CHECK_EQ(a->most, b->most);
}

static void reopen(struct store **s, const struct mill *m)
{
	struct error err = {0};

	if (store_open(s, path, &m->options, &err))
		printf("# %s\n", err.text);
}

/* Does all retention work that is due, in any number of calls. */
static void keep_all(struct store *s, uint64_t now_ns)
{
	struct error err = {0};

	for (int i = 0; i < 60 * SPARSE; i++)
		if (store_retention(s, now_ns, &err)) {
			CHECK_STR(err.text, "");
			break;
		}
}

static void sums_stay_whatever_is_merged(void)
{
	struct mill m = a_mill();
	struct sums before, after;
	struct store *s;
	int64_t windows;

	m.keep = false;
	mill_measure(&m, 6 * HOUR + 7 * MINUTE);
	add_up(&before);
	windows = number("SELECT count(*) FROM window");
	CHECK_EQ(windows, 6 * 60 + 7);
	CHECK_EQ(before.merged, windows);
	CHECK_EQ(before.samples, m.samples);
	reopen(&s, &m);
	/* Window by window, as during a measurement. */
	for (uint64_t now = 7 * MINUTE; now <= 6 * HOUR + 7 * MINUTE; now += HOUR) {
		keep_all(s, MILL_WALL + now);
		add_up(&after);
		check_sums(&after, &before);
	}
	/* One hour of fine windows, then windows of 10 minutes, then of two hours. */
	CHECK_EQ(number("SELECT count(*) FROM window WHERE level = 0 AND end_ns <= "
	                "(SELECT max(end_ns) FROM window) - 3600000000000"),
	         0);
	CHECK(number("SELECT count(*) FROM window WHERE level = 0") >= 60);
	CHECK(number("SELECT count(*) FROM window WHERE level = 0") <= 81);
	CHECK(number("SELECT count(*) FROM window WHERE level = 1") <= 30);
	CHECK_EQ(number("SELECT count(*) FROM window WHERE level = 2"), 2);
	CHECK_EQ(number("SELECT max(merged) FROM window"), 120);
	CHECK(number("SELECT count(*) FROM process WHERE id > 0") < before.instances / 5);
	CHECK_EQ(number("SELECT sum(instances) FROM process WHERE id < 0") +
	                 number("SELECT count(*) FROM process WHERE id > 0"),
	         before.instances);
	check_whole();
	store_close(s);
	store_fixture_remove(path);
}

/* As a budget may cause: another rate in every window. */
static void windows_at_any_rate(struct mill *m, uint64_t asked_ns, int count)
{
	/* The cost of a sample is measured after the first window. */
	m->budget = (struct store_budget){20000, 0, 0, 0, 700};
	for (int i = 0; i < count; i++) {
		uint64_t times = mill_random(m) % 4, slowed = times ? m->window_ns : 0;
		bool behind = mill_random(m) % 4 == 0;

		m->period_ns = asked_ns + times * asked_ns / 3;
		m->rate = (struct store_rate){.slowed_budget_ns = behind ? 0 : slowed,
		                              .slowed_behind_ns = behind ? slowed : 0,
		                              .taken_ns = 1000000 + mill_random(m) % 1000000,
		                              .taken_of_ns = m->window_ns - 7,
		                              .over_ns = mill_random(m) % 3 * SECOND,
		                              .most_ppm = 15000 + mill_random(m) % 9000,
		                              .sample_ns = 12000};
		mill_run(m, m->window_ns);
		m->budget = (struct store_budget){20000, 11000, 13000, 99, 700};
	}
}

static struct account_budget budget_read(struct error *err)
{
	struct profile *p = profile_new();
	struct account_budget b = {0};

	CHECK_EQ(store_read(path, &(struct store_range){0}, p, err), 0);
	if (p->recordings.count)
		b = p->recordings.items[0]->account.budget;
	profile_free(p);
	return b;
}

/* Windows with different rates are merged, and the merged rate is one that existed. */
static void rates_that_change_are_merged(void)
{
	struct mill m = a_mill();
	struct sums before, after;
	struct account_budget was, is;
	struct store *s;
	uint64_t asked_ns = m.period_ns;
	int64_t mean_ns, merged;

	m.keep = false;
	m.options.keeping =
	        (struct store_retention_rules){.fine_ns = 10 * MINUTE, .coarse_ns = 20 * MINUTE};
	mill_begin(&m);
	windows_at_any_rate(&m, asked_ns, 160);
	mill_end(&m, "stopped");
	add_up(&before);
	CHECK(before.slowed_ns > 0);
	was = budget_read(&m.err);
	CHECK_EQ(was.share_ppm, 20000);
	CHECK_EQ(was.cost_samples, 99);
	CHECK_EQ(was.record_ns, 700);
	CHECK_EQ(was.cost_ns, 12000);
	CHECK_EQ(was.looked_ns, 160 * (MINUTE - 7));
	CHECK_EQ(was.most_ppm, (uint64_t)before.most);
	mean_ns = number("SELECT round(count(*) / sum(1.0 / period_ns)) FROM window WHERE start_ns"
	                 " / 7200000000000 = (SELECT min(start_ns) / 7200000000000 FROM window)");
	merged = number("SELECT count(*) FROM window WHERE start_ns / 7200000000000 ="
	                " (SELECT min(start_ns) / 7200000000000 FROM window)");
	reopen(&s, &m);
	for (int i = 0; i < 5; i++)
		keep_all(s, MILL_WALL + 160 * MINUTE);
	add_up(&after);
	check_sums(&after, &before);
	is = budget_read(&m.err);
	CHECK(!memcmp(&is, &was, sizeof(is)));
	CHECK(number("SELECT count(*) FROM window WHERE level = 1") <= 3);
	CHECK(number("SELECT count(*) FROM window WHERE level = 2") <= 2);
	CHECK_EQ(number("SELECT merged FROM window WHERE level = 2 ORDER BY start_ns"), merged);
	/* Each merge may round. */
	CHECK(llabs(number("SELECT period_ns FROM window WHERE level = 2 ORDER BY start_ns") -
	            mean_ns) <= merged);
	CHECK_EQ(number("SELECT count(*) FROM window_rate WHERE window NOT IN (SELECT id FROM"
	                " window)"),
	         0);
	check_whole();
	store_close(s);
	store_fixture_remove(path);
}

/* Windows of a minute, numbered from MILL_WALL. */
#define MINUTES "(SELECT id FROM window WHERE (start_ns - 1767225600000000000) / 60000000000"

/* The average use of the buffers of a session, as a report has it. */
static void check_buffers(uint64_t of_cpu_0, uint64_t of_cpu_1)
{
	const struct store_range of_session = {.to_ns = MILL_WALL + HOUR};
	struct profile *p = profile_new();
	struct error err = {0};

	CHECK_EQ(store_read(path, &of_session, p, &err), 0);
	CHECK_EQ(p->recordings.count, 1);
	CHECK_EQ(buffer_average(&p->recordings.items[0]->account.cpus.items[0]), of_cpu_0);
	CHECK_EQ(buffer_average(&p->recordings.items[0]->account.cpus.items[1]), of_cpu_1);
	profile_free(p);
}

static const char *column_by_cpu(const char *column, const char *table)
{
	char sql[192];

	snprintf(sql, sizeof(sql),
	         "SELECT %s FROM %s t JOIN window w ON w.id = t.window WHERE session = 1 ORDER BY "
	         "w.start_ns, cpu",
	         column, table);
	return sqlite_text(path, sql);
}

/*
 * Ten windows and four: merged into two, and into one. If a value is missing in one window, it is
 * missing in the merged one; an average is weighted by the number of merged windows.
 */
static void figures_that_one_window_lacks_and_averages_are_merged(void)
{
	struct mill m = a_mill(), later = a_mill();
	struct store *s;

	m.keep = later.keep = false;
	mill_measure(&m, 14 * MINUTE);
	/* The ages of windows are relative to the newest one. */
	later.now_ns = m.now_ns + 2 * HOUR;
	mill_measure(&later, MINUTE);
	sqlite_change(path,
	              "UPDATE ledger_cpu SET has_steal = window NOT IN " MINUTES
	              " = CASE cpu WHEN 0 THEN 3 ELSE 0 END), has_switches = window NOT IN " MINUTES
	              " = CASE cpu WHEN 0 THEN 10 ELSE 12 END);"
	              "UPDATE buffer SET used_average = CASE WHEN window IN " MINUTES
	              " = CASE cpu WHEN 0 THEN 9 ELSE 13 END) THEN CASE cpu WHEN 0 THEN 1400 ELSE"
	              " 2800 END ELSE 0 END");
	CHECK_EQ(number("SELECT sum(has_steal = 0) FROM ledger_cpu"), 2);
	CHECK_EQ(number("SELECT sum(has_switches = 0) FROM ledger_cpu"), 2);
	reopen(&s, &m);
	keep_all(s, MILL_WALL + 3 * HOUR);
	CHECK_STR(sqlite_text(path, "SELECT level, merged FROM window WHERE session = 1 ORDER BY"
	                            " start_ns"),
	          "1|10;1|4");
	CHECK_STR(column_by_cpu("has_steal", "ledger_cpu"), "0;0;1;1");
	CHECK_STR(column_by_cpu("has_switches", "ledger_cpu"), "1;1;0;0");
	CHECK_STR(column_by_cpu("used_average", "buffer"), "140;0;0;700");
	check_buffers(100, 200);
	store_close(s);
	m.options.keeping.coarse_ns = HOUR;
	reopen(&s, &m);
	keep_all(s, MILL_WALL + 3 * HOUR);
	CHECK_STR(sqlite_text(path, "SELECT level, merged FROM window WHERE session = 1"), "2|14");
	CHECK_STR(column_by_cpu("has_steal", "ledger_cpu"), "0;0");
	CHECK_STR(column_by_cpu("has_switches", "ledger_cpu"), "0;0");
	CHECK_STR(column_by_cpu("used_average", "buffer"), "100;200");
	check_buffers(100, 200);
	store_close(s);
	store_fixture_remove(path);
}

static void once_merged_nothing_is_done_again(void)
{
	struct mill m = a_mill();
	struct store *s;
	int64_t pages, changes;

	mill_measure(&m, 5 * HOUR);
	reopen(&s, &m);
	keep_all(s, MILL_WALL + 5 * HOUR);
	pages = number("PRAGMA page_count");
	changes = number("PRAGMA data_version");
	CHECK_EQ(number("SELECT sum(merged) FROM window"), 5 * 60);
	keep_all(s, MILL_WALL + 5 * HOUR);
	CHECK_EQ(number("PRAGMA page_count"), pages);
	CHECK_EQ(number("PRAGMA data_version"), changes);
	CHECK_EQ(number("SELECT sum(merged) FROM window"), 5 * 60);
	CHECK_EQ(number("SELECT sum(samples) FROM sample"), m.samples);
	check_whole();
	store_close(s);
	store_fixture_remove(path);
}

/* During a measurement, and read as one range afterwards. */
static void merged_history_reads_as_it_was(void)
{
	struct mill m = a_mill();
	struct store_range all = {0};
	struct profile *p = profile_new();
	uint64_t samples = 0, wall = 0;
	bool told = false;

	mill_measure(&m, 5 * HOUR);
	CHECK_EQ(store_read(path, &all, p, &m.err), 0);
	vec_each (row, &p->rows)
		samples += row->samples;
	vec_each (c, &p->ledger.cpus)
		wall += c->wall_ns;
	vec_each (note, &p->recordings.items[0]->account.notes)
		told |= strstr(*note, "by name alone") != NULL;
	CHECK_EQ(samples, m.samples);
	CHECK_EQ(wall, MILL_CPUS * 5 * HOUR);
	CHECK_EQ(p->recordings.items[0]->account.end_ns - p->recordings.items[0]->account.start_ns,
	         5 * HOUR);
	CHECK(told);
	vec_each (t, &p->rows)
		CHECK(strcmp(process_table_name(
		                     p->processes,
		                     process_table_process(
		                             p->processes,
		                             process_table_thread_at(p->processes, t->thread)
		                                     ->process)
		                             ->name),
		             "[not kept]") != 0);
	profile_free(p);
	check_whole();
	store_fixture_remove(path);
}

/* Killed after any number of steps: the next process continues, and the sums are the same. */
static void a_writer_killed_between_two_steps_loses_nothing(void)
{
	struct mill m = a_mill();
	struct sums before, after;
	struct error err = {0};

	m.keep = false;
	mill_begin(&m);
	mill_run(&m, 4 * HOUR);
	mill_end(&m, NULL);
	add_up(&before);
	for (int i = 0; i < 20; i++) {
		struct store *s;

		reopen(&s, &m);
		CHECK_EQ(store_retention(s, MILL_WALL + 4 * HOUR, &err), 0);
		/* The step is left unfinished, as after a kill. */
		store_close(s);
		add_up(&after);
		check_sums(&after, &before);
	}
	check_whole();
	store_fixture_remove(path);
}

static void records_that_are_too_old_are_evicted(void)
{
	struct mill m = a_mill();
	struct store *s;

	m.options.keeping = (struct store_retention_rules){
	        .fine_ns = 30 * MINUTE, .coarse_ns = 3 * HOUR, .all_ns = 6 * HOUR};
	mill_measure(&m, 15 * HOUR);
	reopen(&s, &m);
	keep_all(s, MILL_WALL + 15 * HOUR);
	CHECK(number("SELECT min(start_ns) FROM window") >= (int64_t)(MILL_WALL + 7 * HOUR));
	CHECK(number("SELECT min(start_ns) FROM window") <= (int64_t)(MILL_WALL + 9 * HOUR));
	CHECK_EQ(number("SELECT sum(samples) FROM sample"),
	         number("SELECT sum(samples) FROM window"));
	/* Processes that ended before the oldest window are deleted, except for a short time for
	 * late samples, and those of a window that was deleted since the last sweep.
	 */
	CHECK_EQ(number("SELECT count(*) FROM process WHERE start_ns + life_ns < (SELECT"
	                " min(start_ns) FROM window) - 7210000000000"),
	         0);
	check_whole();
	store_close(s);
	store_fixture_remove(path);
}

static void unreferenced_stacks_are_deleted(void)
{
	struct mill m = a_mill();
	struct store *s;
	int64_t before;

	m.options.keeping = (struct store_retention_rules){
	        .fine_ns = 30 * MINUTE, .coarse_ns = HOUR, .all_ns = 8 * HOUR};
	mill_begin(&m);
	mill_run(&m, 6 * HOUR);
	before = number("SELECT count(*) FROM stack");
	/* From here on there is no load. */
	m.rest_ns = DAY;
	mill_run(&m, 20 * HOUR);
	CHECK(number("SELECT count(*) FROM stack") < before / 10);
	CHECK(number("SELECT count(*) FROM frame") < 100);
	check_whole();
	CHECK_EQ(number("SELECT sum(samples) FROM sample"),
	         number("SELECT sum(samples) FROM window"));
	mill_end(&m, "stopped");
	reopen(&s, &m);
	keep_all(s, MILL_WALL + 26 * HOUR);
	/* Again: samples refer to each stack and each frame. */
	check_whole();
	store_close(s);
	store_fixture_remove(path);
}

/*
 * A thread that ends in the first window of a slot is folded when its process still runs; the
 * process ends in the fifth window.
 */
/* Windows are merged after a minute. */
static struct store *begin_world(struct world *w)
{
	struct store_options options = {.name = name_frames,
	                                .keeping = {.fine_ns = MINUTE, .coarse_ns = DAY}};
	struct error err = {0};
	struct store *s;

	world_init(w, "here");
	CHECK_EQ(store_open(&s, path, &options, &err), 0);
	CHECK_EQ(store_begin(s, &w->recording, WORLD_WALL_NS, &err), 0);
	return s;
}

static void end_world(struct world *w, struct store *s)
{
	check_whole();
	store_close(s);
	world_done(w);
	store_fixture_remove(path);
}

#define DEEP_PATHS 80
#define DEEP_FRAMES 900

/* Paths that have no frame in common; the innermost functions have two addresses each. */
static void deep_path(struct world *w, uint64_t number, uint64_t address)
{
	struct profile_row key = {.region = REGION_NONE}, *row;

	key.path = PATH_ROOT;
	for (uint64_t k = 0; k <= DEEP_FRAMES; k++) {
		uint64_t function = k < DEEP_FRAMES ? 1000 + number * DEEP_FRAMES + k : number;
		struct profile_frame f = {
		        .frame = {w->program,
		                  k < DEEP_FRAMES ? function << 8 : (function << 8) + address},
		        .caller = k < DEEP_FRAMES};

		key.path = profile_path_step(w->p, key.path, &f);
	}
	key.thread = process_table_thread(w->p->processes, 1, 1);
	row = profile_row_add(w->p, &key);
	row->samples++;
	row->weight += 1000000;
	w->samples++;
}

/* A window with more paths than retention keeps in memory: each step begins where the last ended.
 */
static void a_window_of_very_many_paths_is_merged(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = begin_world(&w);

	for (uint64_t window = 0; window < 120; window++) {
		/* Frames that come first have names. */
		for (uint64_t i = 0; !window && i < 2 * DEEP_PATHS; i++)
			world_sample_at(&w, 1, w.program, ((i / 2) << 8) + i % 2, false, 1);
		for (uint64_t i = 0; !window && i < 2 * DEEP_PATHS; i++)
			deep_path(&w, i / 2, i % 2);
		world_sample(&w, 1, 1, 16, 64, 1);
		CHECK_EQ(world_window(&w, s, window, &err), 0);
	}
	CHECK(number("SELECT count(*) FROM stack") > 65536);
	CHECK_EQ(number("SELECT count(*) FROM sample WHERE window = 1"), 4 * DEEP_PATHS + 1);
	keep_all(s, WORLD_WALL_NS + 120 * WORLD_WINDOW_NS);
	CHECK_EQ(number("SELECT level FROM window WHERE id = 1"), 1);
	CHECK_EQ(number("SELECT count(*) FROM sample WHERE window = 1"), 2 * DEEP_PATHS + 1);
	CHECK_EQ(number("SELECT sum(samples) FROM sample"), 4 * DEEP_PATHS + 120);
	end_world(&w, s);
}

/* KEEP_ROWS and more */
#define EQUAL_KEYS 3500

/* Each row has values of its own, and the same key in both windows. */
static void add_equal_keys(struct world *w, uint64_t window)
{
	for (uint64_t i = 0; i < EQUAL_KEYS; i++) {
		struct profile_frame f = {.frame = {w->program, (i + 1) << 8}};
		struct profile_row key = {.region = REGION_NONE}, *row;
		uint64_t samples = 4 + (window ? i % 5 : i % 7);

		key.path = profile_path_step(w->p, PATH_ROOT, &f);
		key.thread = process_table_thread(w->p->processes, 1, 1);
		row = profile_row_add(w->p, &key);
		row->samples += samples;
		row->weight += 1000 + 17 * i + window;
		row->runnable_ns += 3 * i + 100 * window;
		row->blocked_ns += 11 * i + 7000 * window;
		w->samples += samples;
	}
}

/* More rows than one step moves: those of the first and of the last step are added up. */
static void all_values_of_equal_keys_are_added(void)
{
	static const char *const sums[] = {
	        "SELECT sum(samples) FROM sample", "SELECT sum(weight) FROM sample",
	        "SELECT sum(runnable_ns) FROM sample", "SELECT sum(blocked_ns) FROM sample"};
	/* Each of the keys has the weights of both windows. */
	static const char both[] = "SELECT count(*) FROM (SELECT DISTINCT weight FROM sample WHERE"
	                           " weight >= 2001 AND (weight - 2001) % 34 = 0)";
	int64_t before[sizeof(sums) / sizeof(*sums)];
	struct error err = {0};
	struct world w;
	struct store *s = begin_world(&w);

	for (uint64_t window = 0; window < 120; window++) {
		if (window < 2)
			add_equal_keys(&w, window);
		else
			world_sample(&w, 1, 1, 16, 64, 1);
		CHECK_EQ(world_window(&w, s, window, &err), 0);
	}
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		before[i] = number(sums[i]);
	CHECK_EQ(number("SELECT count(*) FROM sample WHERE window = 2"), EQUAL_KEYS);
	keep_all(s, WORLD_WALL_NS + 120 * WORLD_WINDOW_NS);
	CHECK_EQ(number("SELECT level FROM window WHERE id = 1"), 1);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		CHECK_EQ(number(sums[i]), before[i]);
	CHECK_EQ(number(both), EQUAL_KEYS);
	end_world(&w, s);
}

static void threads_that_end_before_their_process_stay_its_threads(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = begin_world(&w);

	world_fork(&w, 1, 500, 500);
	world_name(&w, 500, 500, "server", true);
	for (uint64_t window = 0; window < 120; window++) {
		int32_t worker = 501 + (int32_t)window;

		if (window < 5) {
			world_fork(&w, 500, 500, worker);
			world_name(&w, 500, worker, "worker", false);
			world_sample(&w, 500, worker, 16, 32, 7);
			world_exit(&w, 500, worker);
			world_sample(&w, 500, 500, 16, 48, 2);
		}
		if (window == 4)
			world_exit(&w, 500, 500);
		world_sample(&w, 1, 1, 16, 64, 1);
		CHECK_EQ(world_window(&w, s, window, &err), 0);
	}
	keep_all(s, WORLD_WALL_NS + 120 * WORLD_WINDOW_NS);
	CHECK(number("SELECT max(level) FROM window") == 1);
	CHECK_EQ(number("SELECT count(*) FROM process p JOIN name n ON n.id = p.name WHERE n.text ="
	                " 'server' AND p.id > 0"),
	         0);
	CHECK_EQ(number("SELECT sum(s.samples) FROM sample s JOIN thread t ON t.id = s.thread JOIN"
	                " process p ON p.id = t.process JOIN name n ON n.id = p.name WHERE n.text ="
	                " 'server'"),
	         5 * (7 + 2));
	end_world(&w, s);
}

static void the_file_stays_under_its_cap(void)
{
	struct mill m = a_mill();
	int minutes = check_long() ? 200 : 100;
	int64_t cap = check_long() ? 4 << 20 : 2 << 20, most = 0, now;

	m.period_ns = SECOND / 5;
	m.options.keeping = (struct store_retention_rules){.bytes = (uint64_t)cap};
	mill_begin(&m);
	for (int i = 0; i < minutes; i++) {
		mill_run(&m, MINUTE);
		now = number("PRAGMA page_count") * 4096;
		most = now > most ? now : most;
		CHECK(now <= cap);
	}
	/* The file had grown to its cap, and the newest windows remain. */
	CHECK(most > cap / 2);
	CHECK(number("SELECT sum(merged) FROM window") < minutes);
	CHECK_EQ(number("SELECT max(end_ns) FROM window"),
	         (int64_t)(MILL_WALL + (uint64_t)minutes * MINUTE));
	CHECK_EQ(number("SELECT sum(merged) FROM window WHERE level >= 0"),
	         number("SELECT (max(end_ns) - min(start_ns)) / 60000000000 FROM window WHERE"
	                " level >= 0"));
	mill_end(&m, "stopped");
	CHECK_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
	         1);
	store_fixture_remove(path);
}

int main(void)
{
	store_fixture_path(path);
	RUN(sums_stay_whatever_is_merged);
	RUN(rates_that_change_are_merged);
	RUN(figures_that_one_window_lacks_and_averages_are_merged);
	RUN(once_merged_nothing_is_done_again);
	RUN(merged_history_reads_as_it_was);
	RUN(a_writer_killed_between_two_steps_loses_nothing);
	RUN(records_that_are_too_old_are_evicted);
	RUN(unreferenced_stacks_are_deleted);
	RUN(a_window_of_very_many_paths_is_merged);
	RUN(all_values_of_equal_keys_are_added);
	RUN(threads_that_end_before_their_process_stay_its_threads);
	RUN(the_file_stays_under_its_cap);
	store_fixture_end(path);
	return check_end();
}
