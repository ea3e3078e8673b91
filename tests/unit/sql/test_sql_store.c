/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql: a store has the tables and results of the recording, and its own triggers and views are not
 * run.
 */
#include "sql_profile_fixture.h"
#include "sqlite_fixture.h"
#include "store/store.h"

/* The whole fixture as one window of a store. */
static void write_store(struct fixture *f, const char *path)
{
	const struct store_options options = {0};
	const struct recording *r = f->profile->recordings.items[0];
	struct store_window w = {.start_ns = UINT64_C(1700000000000000000),
	                         .end_ns = UINT64_C(1700000000055000000),
	                         .samples = 100,
	                         .period_ns = MS,
	                         .wall_offset_ns = INT64_C(1700000000000000000)};
	struct error err = {0};
	struct store *store = NULL;

	CHECK_EQ(store_open(&store, path, &options, &err), 0);
	CHECK_EQ(store_begin(store, r, w.start_ns, &err), 0);
	CHECK_EQ(store_add_window(store, f->profile, &w, &err), 0);
	CHECK_EQ(store_end(store, w.end_ns, "stopped", &err), 0);
	if (err.code)
		printf("# %s\n", err.text);
	store_close(store);
}

static void init_store_fixture(struct fixture *f)
{
	struct recording_attr *a;
	struct recording *r;

	fixture_init(f, true);
	r = f->profile->recordings.items[0];
	r->hostname = xstrdup("box");
	a = vec_add(&r->attrs);
	a->name = xstrdup("cpu-clock");
	a->role = ATTR_CLOCK;
	a->frequency_hz = 1000;
	a->period_ns = MS;
}

/* Ids may differ; the items that they denote may not. */
static void a_store_answers_as_the_recording_does(void)
{
	static const char *const questions[] = {
	        "SELECT * FROM by_application",
	        "SELECT * FROM by_mode",
	        "SELECT stack_text(stack) FROM interrupts ORDER BY 1",
	        "SELECT name, samples, interrupts FROM by_process ORDER BY 1, 2, 3",
	        "SELECT * FROM by_cpu",
	        "SELECT function, samples, weight_ns, share FROM by_function",
	        "SELECT name, function, samples FROM by_application_address ORDER BY 1, 2",
	        "SELECT name, instance, pid, samples, user, kernel, idle FROM by_process "
	        "ORDER BY weight_ns DESC, name",
	        "SELECT process, name, samples FROM by_thread ORDER BY 1, 2, 3",
	        "SELECT name, event, frequency_hz, ended, command FROM sessions JOIN hosts "
	        "ON hosts.id = host",
	        "SELECT path, name, kind, build_id FROM images WHERE id IN (SELECT image FROM "
	        "frames WHERE image AND offset) ORDER BY 1",
	        "SELECT stack_text(stack), event, mode, stack_end, cpu, samples, weight, "
	        "runnable_ns, blocked_ns FROM samples ORDER BY 1, 2, 3, 4, 5",
	        "SELECT cpu, wall_ns, busy_ns, idle_ns, due_busy, due_idle, seen_busy, seen_idle, "
	        "has_switches FROM ledger ORDER BY cpu",
	};
	struct error err = {0};
	struct sql *recorded, *stored = NULL;
	struct fixture f;

	init_store_fixture(&f);
	write_store(&f, path_of("same.db"));
	/* The store has the weights of the ticks, and SQL takes the idle time from its ledger. */
	profile_weigh_idle(f.profile);
	recorded = open_profile(&f);
	CHECK_EQ(sql_open_store(&stored, path_of("same.db"), &err), 0);
	for (size_t i = 0; stored && i < sizeof(questions) / sizeof(*questions); i++) {
		char *own = xstrdup(ask(recorded, questions[i]));

		if (strcmp(own, ask(stored, questions[i])))
			printf("# %s\n", questions[i]);
		CHECK_STR(buf_text(&sql_rows), own);
		CHECK(*own);
		free(own);
	}
	sql_close(recorded);
	sql_close(stored);
	fixture_done(&f);
}

static void a_store_has_the_public_columns(void)
{
	struct sql *recorded, *stored = NULL;
	struct fixture f;

	init_store_fixture(&f);
	write_store(&f, path_of("columns.db"));
	recorded = open_profile(&f);
	CHECK_EQ(sql_open_store(&stored, path_of("columns.db"), NULL), 0);
	for (const struct sql_columns *c = sql_columns; c->name && stored; c++) {
		char question[128], *own;

		snprintf(question, sizeof(question), "SELECT name FROM pragma_table_info('%s')",
		         c->name);
		own = xstrdup(ask(recorded, question));
		CHECK_STR(ask(stored, question), own);
		CHECK(*own);
		free(own);
	}
	sql_close(recorded);
	sql_close(stored);
	fixture_done(&f);
}

/* Views, triggers and invalid tables in a file that looks like a store. */
static void a_hostile_store_runs_nothing_of_its_own(void)
{
	struct error err = {0};
	struct sql *s = NULL;
	struct fixture f;

	init_store_fixture(&f);
	write_store(&f, path_of("bad.db"));
	sqlite_change(path_of("bad.db"),
	              "DROP VIEW hosts; CREATE VIEW hosts AS SELECT 666 AS id, 'evil' AS name, "
	              "NULL AS release, NULL AS arch, NULL AS cpu, 0 AS cpus;"
	              "CREATE VIEW by_mode AS SELECT 'evil' AS mode;"
	              "CREATE VIEW trap AS SELECT stack_text(1) AS x");
	CHECK_EQ(sql_open_store(&s, path_of("bad.db"), &err), 0);
	CHECK_STR(ask(s, "SELECT name FROM hosts"), "box\n");
	CHECK_STR(ask(s, "SELECT mode FROM by_mode LIMIT 1"), "user\n");
	CHECK(*refusal(s, "SELECT * FROM main.hosts"));
	CHECK(*refusal(s, "SELECT * FROM trap"));
	sql_close(s);
	s = NULL;
	/* A physical table that is a view. */
	sqlite_change(path_of("bad.db"),
	              "ALTER TABLE host RENAME TO real_host; CREATE VIEW host AS "
	              "SELECT 1 AS id, 'evil' AS name, '' AS release, '' AS arch, "
	              "'' AS cpu, 1 AS cpus");
	if (!sql_open_store(&s, path_of("bad.db"), &err))
		CHECK(*refusal(s, "SELECT name FROM hosts"));
	sql_close(s);
	s = NULL;
	sqlite_change(path_of("bad.db"), "CREATE VIRTUAL TABLE v USING fts5(x)");
	CHECK(sql_open_store(&s, path_of("bad.db"), &err) || *refusal(s, "SELECT 1"));
	sql_close(s);
	fixture_done(&f);
}

static void a_store_is_not_written_to(void)
{
	static const char *const refused[] = {"DELETE FROM process",
	                                      "UPDATE sample SET samples = 0",
	                                      "DROP TABLE sample",
	                                      "INSERT INTO host (name) VALUES ('x')",
	                                      "CREATE INDEX i ON sample(cpu)",
	                                      "ALTER TABLE host ADD COLUMN x",
	                                      "PRAGMA user_version = 9",
	                                      "REINDEX"};
	struct sql *s = NULL;
	struct fixture f;

	init_store_fixture(&f);
	write_store(&f, path_of("read.db"));
	CHECK_EQ(sql_open_store(&s, path_of("read.db"), NULL), 0);
	for (size_t i = 0; s && i < sizeof(refused) / sizeof(*refused); i++) {
		if (!*refusal(s, refused[i]))
			printf("# not refused: %s\n", refused[i]);
		CHECK(*sql_failure);
	}
	CHECK_STR(ask(s, "SELECT sum(samples) FROM samples"), "101\n");
	sql_close(s);
	fixture_done(&f);
}

/* Each question finds its windows by an index, and reads only the samples in them. */
static void a_bound_of_time_reads_its_windows_only(void)
{
	static const char *const bounds[] = {
	        "FROM samples WHERE time_ns >= 5",
	        "FROM samples WHERE time_ns BETWEEN 5 AND 9",
	        "FROM samples WHERE time_ns < ?1",
	        "FROM samples WHERE time_ns > (SELECT max(start_ns) - 9 FROM windows)",
	        "FROM samples WHERE window = ?1",
	        "FROM samples WHERE window >= (SELECT max(id) - 9 FROM windows)",
	        "FROM samples x JOIN processes p ON p.id = x.process WHERE x.time_ns > (SELECT 5)",
	        "FROM samples x JOIN threads t ON t.id = x.thread WHERE x.time_ns < 5 AND tid = 7"};
	struct sql *s = NULL;
	struct fixture f;

	init_store_fixture(&f);
	write_store(&f, path_of("bounds.db"));
	CHECK_EQ(sql_open_store(&s, path_of("bounds.db"), NULL), 0);
	for (size_t i = 0; s && i < sizeof(bounds) / sizeof(*bounds); i++) {
		char question[256];
		const char *plan, *windows, *samples;

		snprintf(question, sizeof(question), "EXPLAIN QUERY PLAN SELECT sum(weight) %s",
		         bounds[i]);
		plan = ask(s, question);
		windows = strstr(plan, "SEARCH w USING IN"); /* INDEX or INTEGER PRIMARY KEY */
		samples = strstr(plan, "SEARCH s USING PRIMARY KEY (window=?");
		if (!windows || !samples || windows > samples)
			printf("# %s: %s\n", bounds[i], plan);
		CHECK(windows && samples && windows < samples);
	}
	sql_close(s);
	fixture_done(&f);
}

int main(void)
{
	if (!folder_make())
		return 1;
	RUN(a_store_answers_as_the_recording_does);
	RUN(a_store_has_the_public_columns);
	RUN(a_hostile_store_runs_nothing_of_its_own);
	RUN(a_store_is_not_written_to);
	RUN(a_bound_of_time_reads_its_windows_only);
	buf_done(&sql_rows);
	folder_take_away();
	return check_end();
}
