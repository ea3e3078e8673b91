/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql: tables over a profile with known figures, refused statements, and exports. */
#include "sql_profile_fixture.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

/* Three windows of 10 ms; rows of the second come first. */
static void cut_time(struct profile *p)
{
	for (uint32_t i = 0; i < 3; i++)
		vec_push(&p->windows,
		         (struct profile_span){0, (1000 + 10 * i) * MS, (1010 + 10 * i) * MS});
	for (size_t i = 0; i < p->rows.count; i++)
		p->rows.items[i].window = (uint32_t)(i * 2 + 1) % 3;
	p->recordings.items[0]->clock_start_ns = 1000 * (uint64_t)MS;
	p->recordings.items[0]->clock_wall_ns = UINT64_C(1700000000000000000);
	p->recordings.items[0]->account.start_ns = 1000 * (uint64_t)MS;
	p->recordings.items[0]->account.end_ns = 1025 * (uint64_t)MS;
}

static void tables_have_the_contents_of_the_model(void)
{
	struct fixture f;
	struct sql *s;

	fixture_init(&f, true);
	s = open_profile(&f);
	CHECK_STR(
	        ask(s, "SELECT count(*), sum(samples), sum(weight), sum(blocked_ns) FROM samples"),
	        "10|101|100000000|30000000\n");
	CHECK_STR(ask(s, "SELECT name, instance, pid FROM processes ORDER BY id"),
	          "swapper|1|0\nsh|1|10\ncc1|1|11\ncc1|2|12\n");
	CHECK_STR(ask(s, "SELECT cpu, due_busy - seen_busy, steal_ns, window FROM ledger"),
	          "0|5|2000000|\n1|0|0|\n");
	CHECK_STR(ask(s, "SELECT stack_text(stack) FROM samples WHERE samples = 40"),
	          "main;work;hot\n");
	CHECK_STR(ask(s, "SELECT leaf(stack), depth FROM samples JOIN stacks ON id = stack "
	                 "WHERE stack_end = 'truncated'"),
	          "vfs_read|3\n");
	CHECK_STR(ask(s, "SELECT id, event, host, ended, time_text(NULL) FROM sessions"),
	          "0|cpu-clock|0|stopped|\n");
	/* The earliest possible time, and a time before 1970. */
	CHECK_STR(ask(s, "SELECT time_text(-9223372036854775807 - 1) LIKE '1677-%.145', "
	                 "time_text(-1) LIKE '%9.999'"),
	          "1|1\n");
	CHECK_STR(ask(s,
	              "SELECT ns_text(999.4), ns_text(999.6), ns_text(999994), ns_text(-999996), "
	              "ns_text(999999999), ns_text('x'), time_text('x')"),
	          "999 ns|1.00 us|999.99 us|-1.00 ms|1.000 s||\n");
	/* Tables that this kind of recording does not fill exist, and are empty. */
	CHECK_STR(ask(s, "SELECT count(*) FROM calls; SELECT count(*) FROM events; "
	                 "SELECT count(*) FROM gaps; SELECT count(*) FROM windows"),
	          "0\n0\n0\n0\n");
	sql_close(s);
	fixture_done(&f);
}

/* Stacks are requested in any order, including stack 0, which does not exist. */
static void stacks_are_returned_in_any_order(void)
{
	static const char by_hand[] =
	        "WITH RECURSIVE up(id, at, text) AS (SELECT id, parent, leaf(id) FROM stacks UNION "
	        "ALL "
	        "SELECT up.id, s.parent, leaf(s.id) || ';' || text FROM up JOIN stacks s "
	        "ON s.id = up.at), whole AS (SELECT id, text FROM up WHERE at = 0) "
	        "SELECT count(*), count(stack_text(id)), sum(stack_text(id) = text), "
	        "count(stack_text(-id)), count(stack_text(id + 1000)) "
	        "FROM (SELECT * FROM whole ORDER BY %s LIMIT 1000)";
	static const char *const orders[] = {"id", "id DESC", "id * 7 % 5", "length(text)"};
	struct fixture f;
	struct sql *s;
	char query[1024], want[64];
	unsigned count;

	fixture_init(&f, true);
	s = open_profile(&f);
	count = (unsigned)strtoul(ask(s, "SELECT count(*) FROM stacks"), NULL, 10);
	CHECK(count > 5);
	snprintf(want, sizeof(want), "%u|%u|%u|0|0\n", count, count, count);
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		snprintf(query, sizeof(query), by_hand, orders[i]);
		CHECK_STR(ask(s, query), want);
	}
	sql_close(s);
	fixture_done(&f);
}

static void views_sum_up_the_main_event(void)
{
	struct fixture f;
	struct sql *s;

	fixture_init(&f, true);
	s = open_profile(&f);
	CHECK_STR(ask(s, "SELECT * FROM by_mode"), "user|65|65000000|0.65\n"
	                                           "idle|15|15000000|0.15\n"
	                                           "kernel|15|15000000|0.15\n"
	                                           "irq|5|5000000|0.05\n");
	CHECK_STR(ask(s, "SELECT name, instances, samples, user, kernel, idle, share "
	                 "FROM by_application"),
	          "cc1|2|75|60|15|0|0.75\nswapper|1|15|0|0|15|0.15\n"
	          "[interrupts]|1|5|0|5|0|0.05\nsh|1|5|5|0|0|0.05\n");
	CHECK_STR(ask(s, "SELECT name, instance, pid, samples, kernel, interrupts FROM by_process "
	                 "WHERE name IN ('sh', '[interrupts]') ORDER BY name"),
	          "[interrupts]|1|-1|5|5|0\nsh|1|10|5|0|5\n");
	CHECK_STR(ask(s, "SELECT process, samples FROM by_thread WHERE process IN "
	                 "('sh', '[interrupts]') ORDER BY 1"),
	          "[interrupts]|5\nsh|5\n");
	CHECK_STR(ask(s, "SELECT sum(samples) FROM by_cgroup WHERE cgroup = '[interrupts]'"),
	          "5\n");
	CHECK_STR(ask(s, "SELECT function, image, samples FROM by_function LIMIT 4"),
	          "hot|prog|40\nwork|prog|20\ndefault_idle|[kernel]|14\nvfs_read|[kernel]|10\n");
	CHECK_STR(ask(s, "SELECT name, instance, samples FROM by_process WHERE name = 'cc1'"),
	          "cc1|1|55\ncc1|2|20\n");
	CHECK_STR(ask(s, "SELECT cpu, samples, user, kernel, idle FROM by_cpu"),
	          "0|55|40|15|0\n1|45|25|5|15\n");
	CHECK_STR(ask(s, "SELECT name, function, samples FROM by_application_address "
	                 "WHERE image = '[kernel]' LIMIT 2"),
	          "swapper|default_idle|14\ncc1|vfs_read|10\n");
	CHECK_STR(ask(s, "SELECT sum(samples), sum(weight_ns), sum(share) FROM by_function"),
	          "100|100000000|1\n");
	CHECK_STR(ask(s, "SELECT sum(samples) FROM by_thread; SELECT sum(samples) FROM by_cgroup"),
	          "100\n100\n");
	sql_close(s);
	fixture_done(&f);
}

/*
 * The same condition by look-up and by comparing each row: "+" keeps SQLite from passing it to the
 * table.
 */
static void check_condition(struct sql *s, const char *table, const char *column,
                            const char *condition)
{
	char question[512], *looked_up;

	snprintf(question, sizeof(question), "SELECT count(*) FROM %s WHERE %s %s", table, column,
	         condition);
	looked_up = xstrdup(ask(s, question));
	snprintf(question, sizeof(question), "SELECT count(*) FROM %s WHERE +%s %s", table, column,
	         condition);
	ask(s, question);
	if (strcmp(looked_up, buf_text(&sql_rows)))
		printf("# %s\n", question);
	CHECK_STR(looked_up, buf_text(&sql_rows));
	free(looked_up);
}

static void looking_up_finds_what_comparing_finds(void)
{
	static const char *const conditions[] = {"= 1",
	                                         "= 0",
	                                         "= 1.0",
	                                         "= 1.5",

	                                         "= NULL",
	                                         "IS NULL",
	                                         "= -1",
	                                         "= 99",
	                                         "> 0",
	                                         ">= 1.5",
	                                         "< 1.5",
	                                         "<= 1",
	                                         "< 0",
	                                         "BETWEEN 1 AND 2",
	                                         "> 'a'",
	                                         "= 1e300",
	                                         "> -1e300",
	                                         "IN (0, 2, 7)",
	                                         "BETWEEN 2 AND 1",
	                                         ">= 1700000000010000000",
	                                         "< 1700000000010000000",
	                                         "= 1700000000020000000",
	                                         "> 1700000000010000000",
	                                         "<= 1700000000019999999",
	                                         "= 9223372036854775807",
	                                         ">= -9223372036854775808",
	                                         "> 9223372036854775807",
	                                         "< x'00'"};
	static const char *const columns[][2] = {{"samples", "window"},   {"samples", "time_ns"},
	                                         {"windows", "start_ns"}, {"windows", "id"},
	                                         {"threads", "id"},       {"stacks", "id"},
	                                         {"processes", "id"},     {"functions", "id"}};
	struct fixture f;
	struct sql *s;

	fixture_init(&f, true);
	cut_time(f.profile);
	s = open_profile(&f);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		for (size_t k = 0; k < sizeof(conditions) / sizeof(*conditions); k++)
			check_condition(s, columns[i][0], columns[i][1], conditions[k]);
	CHECK_STR(ask(s, "SELECT start_ns, end_ns - start_ns, samples FROM windows"),
	          "1700000000000000000|10000000|39\n1700000000010000000|10000000|47\n"
	          "1700000000020000000|5000000|15\n");
	CHECK_STR(ask(s, "SELECT count(DISTINCT window), min(time_ns) FROM samples"),
	          "3|1700000000000000000\n");
	sql_close(s);
	fixture_done(&f);
}

static void minutes_and_differences_go_by_windows(void)
{
	struct fixture f;
	struct sql *s;

	fixture_init(&f, true);
	cut_time(f.profile);
	s = open_profile(&f);
	CHECK_STR(ask(s, "SELECT time_ns, samples, busy, idle, unobserved_ns FROM by_minute"),
	          "1699999980000000000|100|85|15|\n");
	CHECK_STR(ask(s, "SELECT function, a_samples, b_samples FROM diff(1700000000000000000, "
	                 "1700000000010000000, 1700000000010000000, 1700000000020000000) "
	                 "WHERE function = 'hot'"),
	          "hot|0|40\n");
	CHECK_STR(ask(s, "SELECT sum(a_samples) = (SELECT samples FROM windows WHERE id = 0), "
	                 "round(sum(a_share), 9), round(sum(b_share), 9), abs(sum(change)) < 1e-9 "
	                 "FROM diff(1700000000000000000, 1700000000010000000, "
	                 "1700000000010000000, 1700000000020000000)"),
	          "1|1|1|1\n");
	/* A range without samples has no shares, and no difference beyond chance. */
	CHECK_STR(ask(s, "SELECT count(*), count(a_share), count(q), sum(beyond_chance) "
	                 "FROM diff(0, 1, 1700000000000000000, 1800000000000000000)"),
	          "8|0|0|0\n");
	CHECK(strstr(refusal(s, "SELECT * FROM diff(1, 2, 3)"), "four times"));
	CHECK(strstr(refusal(s, "SELECT * FROM diff('x', 2, 3, 4)"), "whole numbers"));
	sql_close(s);
	fixture_done(&f);
}

/* Two functions in two windows: each is compared with itself, by its time, not by its share. */
static void a_change_is_beyond_chance_by_its_counts(void)
{
	static const struct {
		uint64_t counts[2][2];
		const char *rows;
	} cases[] = {
	        {{{400, 600}, {40, 600}}, "hot|0.1|1\nwork|1|0\n"},
	        {{{400, 600}, {390, 610}}, "hot|0.98|0\nwork|1.02|0\n"},
	        {{{20, 30}, {15, 35}}, "hot|0.75|0\nwork|1.17|0\n"},
	};
	struct fixture f;
	struct profile *p;

	fixture_init(&f, false);
	p = f.profile;
	cut_time(p);
	p->rows.count = 4;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct sql *s;

		for (size_t i = 0; i < 4; i++) {
			struct profile_row *row = &p->rows.items[i];

			row->window = (uint32_t)i / 2;
			row->samples = cases[k].counts[i / 2][i % 2];
			row->weight = row->samples;
			row->path = p->rows.items[i % 2].path;
			row->event = 0;
		}
		s = open_profile(&f);
		CHECK_STR(ask(s, "SELECT function, round(ratio, 2), beyond_chance FROM "
		                 "diff(1700000000000000000, 1700000000010000000, "
		                 "1700000000010000000, 1700000000020000000) ORDER BY 1"),
		          cases[k].rows);
		CHECK_STR(ask(s, "SELECT count(*) FROM diff(1700000000000000000, "
		                 "1700000000010000000, 1700000000010000000, "
		                 "1700000000020000000) WHERE low < ratio AND ratio < high "
		                 "AND q BETWEEN 0 AND 1"),
		          "2\n");
		sql_close(s);
	}
	fixture_done(&f);
}

static void statements_that_change_or_open_files_are_refused(void)
{
	static const char *const refused[] = {
	        "ATTACH 'x.db' AS x",
	        "VACUUM INTO 'x.db'",
	        "PRAGMA journal_mode = DELETE",
	        "PRAGMA writable_schema = 1",
	        "PRAGMA trusted_schema = 1",
	        "SELECT load_extension('x')",
	        "CREATE TABLE mine (a)",
	        "CREATE VIEW mine AS SELECT 1",
	        "CREATE TRIGGER t AFTER INSERT ON samples BEGIN SELECT 1; END",
	        "CREATE TEMP TRIGGER t AFTER INSERT ON samples BEGIN SELECT 1; END",
	        "CREATE VIRTUAL TABLE temp.mine USING assay(samples)",
	        "INSERT INTO samples VALUES (1)",
	        "UPDATE samples SET samples = 1",
	        "DELETE FROM samples",
	        "DROP TABLE samples",
	        "DETACH main",
	};
	struct fixture f;
	struct sql *s;

	fixture_init(&f, false);
	s = open_profile(&f);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		if (!*refusal(s, refused[i]))
			printf("# not refused: %s\n", refused[i]);
		CHECK(*sql_failure);
	}
	CHECK(strstr(refusal(s, "ATTACH 'x.db' AS x"), "ATTACH is refused"));
	CHECK(strstr(refusal(s, "SELECT load_extension('x')"), "load_extension() is refused"));
	CHECK(strstr(refusal(s, "PRAGMA journal_mode = WAL"), "PRAGMA journal_mode is refused"));
	CHECK_STR(ask(s, "CREATE TEMP TABLE own AS SELECT sum(samples) AS n FROM samples; "
	                 "INSERT INTO own VALUES (1); SELECT * FROM own"),
	          "100\n1\n");
	CHECK_STR(ask(s, "CREATE TEMP VIEW mine AS SELECT count(*) AS n FROM samples; "
	                 "SELECT n FROM mine"),
	          "9\n");
	CHECK_STR(ask(s, "SELECT count(*) FROM pragma_table_info('hosts')"), "6\n");
	sql_close(s);
	fixture_done(&f);
}

static void errors_name_the_place(void)
{
	struct fixture f;
	struct sql *s;

	fixture_init(&f, false);
	s = open_profile(&f);
	CHECK(strstr(refusal(s, "SELECT 1;\nSELECT absent\nFROM samples"),
	             "no such column: absent"));
#if SQLITE_VERSION_NUMBER >= 3038000
	CHECK(strstr(sql_failure, "(line 2, column 8)"));
#endif
	CHECK_STR(buf_text(&sql_rows), "1\n");
	CHECK(strstr(refusal(s, "SELECT 'abc"), "unrecognized token"));
	CHECK_STR(refusal(s, " ; -- nothing\n"), "");
	CHECK(sql_is_complete("SELECT ';';"));
	CHECK(!sql_is_complete("SELECT ';'"));
	CHECK(!sql_is_complete("SELECT 1; -- more\n SELECT"));
	sql_close(s);
	fixture_done(&f);
}

static void a_flag_ends_a_running_query(void)
{
	static const char forever[] = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 "
	                              "FROM c) SELECT count(*) FROM c";
	volatile sig_atomic_t flag = 1;
	struct error err = {0};
	struct fixture f;
	struct sql *s;

	fixture_init(&f, false);
	s = open_profile(&f);
	sql_stop_when(s, &flag);
	CHECK_EQ(sql_run(s, forever, add_row, &sql_rows, &err), -EINTR);
	flag = 0;
	CHECK_STR(ask(s, "SELECT sum(samples) FROM samples"), "100\n");
	sql_close(s);
	fixture_done(&f);
}

static void names_that_are_no_text_are_printed_as_text(void)
{
	struct fixture f;
	struct sql *s;

	fixture_init(&f, false);
	fixture_process(f.profile, "a\xff\x1b[b\xc3", 77);
	s = open_profile(&f);
	CHECK_STR(ask(s, "SELECT name FROM processes WHERE pid = 77"),
	          "a\xef\xbf\xbd\x1b[b\xef\xbf\xbd\n");
	sql_close(s);
	fixture_done(&f);
}

static int count_row(void *ctx, int count, char **values, char **names)
{
	for (int i = 0; i < count; i++)
		buf_addf(&sql_rows, "%s%s", i ? "|" : "", values[i] ? values[i] : "");
	buf_putc(&sql_rows, '\n');
	return 0;
}

/* Read by SQLite alone: the file needs no function of assay. */
static const char *ask_plainly(const char *path, const char *question)
{
	sqlite3 *db = NULL;

	buf_clear(&sql_rows);
	sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	if (sqlite3_exec(db, question, count_row, NULL, NULL))
		printf("# %s: %s\n", question, sqlite3_errmsg(db));
	sqlite3_close(db);
	return buf_text(&sql_rows);
}

static void an_export_is_a_plain_database(void)
{
	struct error err = {0};
	struct fixture f;
	struct stat st;
	struct sql *s;

	fixture_init(&f, true);
	cut_time(f.profile);
	s = open_profile(&f);
	CHECK_EQ(sql_export(s, path_of("out.db"), &err), 0);
	CHECK_EQ(stat(path_of("out.db"), &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK_STR(ask_plainly(path_of("out.db"), "PRAGMA integrity_check"), "ok\n");
	CHECK_STR(ask_plainly(path_of("out.db"),
	                      "SELECT mode, samples FROM by_mode; SELECT name FROM processes "
	                      "WHERE id = 1; SELECT count(*) FROM samples"),
	          "user|65\nidle|15\nkernel|15\nirq|5\nsh\n10\n");
	/* Each table and each view but the function. */
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		char question[96];

		snprintf(question, sizeof(question), "SELECT count(*) >= 0 FROM %s", c->name);
		if (!c->function)
			CHECK_STR(ask_plainly(path_of("out.db"), question), "1\n");
	}
	CHECK_STR(ask_plainly(path_of("out.db"), "SELECT count(*) FROM sqlite_master "
	                                         "WHERE type = 'view'"),
	          "10\n");
	/* Only the file itself is left, and the files from before. */
	CHECK_EQ(sql_export(s, path_of("out.db"), &err), 0);
	CHECK_EQ(access(path_of("out.db.old"), F_OK), 0);
	CHECK_EQ(sql_export(s, path_of("no/such.db"), &err) != 0, 1);
	sql_close(s);
	fixture_done(&f);
}

static void schemas_are_listed(void)
{
	struct error err = {0};
	struct buf text = {0};
	struct fixture f;
	struct sql *s;

	fixture_init(&f, false);
	s = open_profile(&f);
	CHECK_EQ(sql_describe(s, "hosts", &text, &err), 0);
	CHECK(strstr(buf_text(&text), "CREATE TABLE hosts (\n\tid INTEGER,\n\tname TEXT"));
	buf_clear(&text);
	CHECK_EQ(sql_describe(s, NULL, &text, &err), 0);
	CHECK(strstr(buf_text(&text), "CREATE VIEW by_minute"));
	CHECK_EQ(sql_describe(s, "nothing", &text, &err), -ENOENT);
	ask(s, "CREATE TEMP TABLE own (a, b)");
	buf_clear(&text);
	CHECK_EQ(sql_describe(s, "OWN", &text, &err), 0);
	CHECK_STR(buf_text(&text), "CREATE TABLE own (a, b);\n");
	buf_done(&text);
	sql_close(s);
	fixture_done(&f);
}

int main(void)
{
	if (!folder_make())
		return 1;
	RUN(tables_have_the_contents_of_the_model);
	RUN(stacks_are_returned_in_any_order);
	RUN(views_sum_up_the_main_event);
	RUN(looking_up_finds_what_comparing_finds);
	RUN(minutes_and_differences_go_by_windows);
	RUN(a_change_is_beyond_chance_by_its_counts);
	RUN(statements_that_change_or_open_files_are_refused);
	RUN(errors_name_the_place);
	RUN(a_flag_ends_a_running_query);
	RUN(names_that_are_no_text_are_printed_as_text);
	RUN(an_export_is_a_plain_database);
	RUN(schemas_are_listed);
	buf_done(&sql_rows);
	folder_take_away();
	return check_end();
}
