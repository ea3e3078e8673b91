/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store_file_fixture.h"

#include "format/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void a_killed_writer_is_reported(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	store_close(s);
	world_done(&w);
	CHECK_STR(ask("SELECT end_ns, ended FROM sessions"), "-|-");
	world_init(&w, "here");
	s = open_store(&err);
	CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + 5 * WORLD_WINDOW_NS, &err), 0);
	world_name(&w, 1, 1, "init", false);
	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 5, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT ended, (end_ns - start_ns) / 10000000000 FROM sessions"),
	          "killed|2;stopped|94");
	CHECK_STR(ask("SELECT why, (end_ns - start_ns) / 10000000000 FROM gaps"),
	          "the measurement was killed|3");
	CHECK_STR(ask("SELECT group_concat(instance) FROM processes WHERE name = 'cc'"), "1,2");
}

static void one_writer_a_host(void)
{
	char words[64];
	struct error err;
	struct world w, other;
	struct store *s = begin(&w, "here", &err), *t = open_store(&err);

	CHECK_EQ(store_begin(t, &w.recording, WORLD_WALL_NS, &err), -EALREADY);
	snprintf(words, sizeof(words), "process %d already writes the measurements of here",
	         (int)getpid());
	CHECK(strstr(err.text, words));
	/* Another host may write next. */
	world_init(&other, "there");
	err = (struct error){0};
	CHECK_EQ(store_begin(t, &other.recording, WORLD_WALL_NS, &err), 0);
	CHECK_STR(err.text, "");
	for (uint64_t i = 0; i < 3; i++) {
		run_one(&w, 10, "cc");
		run_one(&other, 10, "cc");
		world_sample(&w, 10, 10, 16, 32, 1);
		world_sample(&other, 10, 10, 16, 32, 2);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
		CHECK_EQ(world_window(&other, t, i, &err), 0);
	}
	end(&other, t);
	end(&w, s);
	CHECK_STR(ask("SELECT h.name, count(DISTINCT p.id), max(p.instance), sum(s.samples) FROM "
	              "hosts "
	              "h JOIN processes p ON p.host = h.id JOIN samples s ON s.process = p.id "
	              "GROUP BY "
	              "1"),
	          "here|3|3|3;there|3|3|6");
	CHECK_STR(ask("SELECT count(*) FROM gaps"), "0");
}

static void a_machine_that_went_down_is_reported(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	store_close(s);
	sqlite_change(path, "UPDATE session SET boot = 'another'");
	s = open_store(&err);
	CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + WORLD_WINDOW_NS, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT why, end_ns - start_ns FROM gaps"),
	          "the machine went down|10000000000");
}

static void another_writer_costs_at_most_one_window(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	sqlite3 *db = NULL;

	sqlite3_busy_timeout(of_sqlite(s)->db.handle, 10);
	CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 0, &err), -EBUSY);
	CHECK(strstr(err.text, "another process is writing"));
	sqlite3_close(db);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	end(&w, s);
	CHECK_STR(
	        ask("SELECT (SELECT count(*) FROM windows), (SELECT count(*) FROM processes WHERE "
	            "name = 'cc')"),
	        "1|1");
}

static void write_file(const char *bytes, size_t size)
{
	FILE *f;

	fresh();
	f = fopen(path, "w");
	CHECK(f && fwrite(bytes, 1, size, f) == size);
	if (f)
		fclose(f);
}

static void check_refused(int code, const char *words)
{
	struct store_options options = {0};
	struct error err = {0};
	struct store *s = NULL;
	struct stat before, after;

	CHECK(!stat(path, &before));
	CHECK_EQ(store_open(&s, path, &options, &err), -code);
	CHECK(!s);
	CHECK(strstr(err.text, path));
	CHECK(strstr(err.text, words));
	CHECK(!stat(path, &after));
	CHECK_EQ(after.st_size, before.st_size);
	CHECK_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
	store_close(s);
}

static void files_that_are_no_stores_are_left_unchanged(void)
{
	char link[96];
	struct error err;

	write_file("hello", 5);
	check_refused(EINVAL, "use a recording without --store");
	CHECK(file_kind_of(path, NULL) != FILE_STORE);
	fresh();
	sqlite_change(path, "CREATE TABLE mails (id)");
	check_refused(EINVAL, "another application");
	CHECK(file_kind_of(path, NULL) != FILE_STORE);
	fresh();
	store_close(open_store(&err));
	CHECK_EQ(file_kind_of(path, NULL), FILE_STORE);
	sqlite_change(path, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
	check_refused(EPROTO, "later assay");
	snprintf(link, sizeof(link), "%s.real", path);
	fresh();
	store_close(open_store(&err));
	CHECK(!rename(path, link) && !symlink(link, path));
	check_refused(ELOOP, "is a link");
	fresh();
	unlink(link);
	CHECK(!mkdir(path, 0700));
	check_refused(EINVAL, "not a regular file");
	rmdir(path);
}

/* Of a schema that would run something, or that no version of assay made. */
static void a_foreign_schema_is_refused(void)
{
	static const char *const changes[] = {
	        "DROP VIEW hosts; DROP TABLE host; CREATE TABLE host (x)",
	        "PRAGMA legacy_alter_table = ON; ALTER TABLE sample RENAME TO s0; CREATE VIEW "
	        "sample"
	        " AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
	        " SELECT s0.* FROM s0, c",
	        "ALTER TABLE name ADD COLUMN more AS (length(hex(zeroblob(400000000))))",
	        "CREATE TRIGGER t AFTER INSERT ON window BEGIN DELETE FROM window; END",
	        "CREATE INDEX i ON name (hex(text))",
	        "CREATE INDEX i ON name (text COLLATE NOCASE)",
	        "CREATE INDEX i ON name (text) WHERE length(text) > 3",
	        "CREATE VIRTUAL TABLE v USING fts5(x)",
	        "ALTER TABLE gap ADD COLUMN more CHECK (length(hex(zeroblob(400000000))) > 1)",
	        "CREATE TABLE more (x)"};
	struct store_options how = {.read_only = true};
	struct profile *p = profile_new();
	struct error err = {0};
	struct world w;
	struct store *s;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		end(&w, begin(&w, "here", &err));
		sqlite_change(path, "PRAGMA journal_mode = DELETE");
		sqlite_change(path, changes[i]);
		check_refused(EINVAL, "is not one of a store of assay");
		CHECK_EQ(store_open(&s, path, &how, &err), -EINVAL);
		CHECK_EQ(store_read(path, &(struct store_range){0}, p, &err), -EINVAL);
		CHECK(strstr(err.text, path) && strstr(err.text, "another program changed"));
		fresh();
	}
	/* Views are not used, and ANALYZE adds numbers. */
	end(&w, begin(&w, "here", &err));
	sqlite_change(path, "CREATE VIEW more AS SELECT 1; ANALYZE");
	CHECK_EQ(store_open(&s, path, &how, &err), 0);
	store_close(s);
	profile_free(p);
}

#define WITHOUT_WAITS                                                                              \
	"DROP VIEW waits; DROP VIEW wait_times; DROP VIEW changes; DROP TABLE wait;"               \
	"DROP TABLE wait_time; DROP TABLE wait_cause; DROP TABLE found_change;"

/* As created by version 1: without rates, and with its own views. */
static void make_first_version(void)
{
	sqlite_change(path, WITHOUT_WAITS
	              "DROP VIEW sessions; DROP VIEW windows; DROP TABLE window_rate;"
	              "DROP TABLE session_budget; DROP VIEW notes; DROP TABLE session_note;"
	              "DROP VIEW processes; ALTER TABLE process DROP COLUMN version;"
	              "ALTER TABLE process DROP COLUMN labels;"
	              "CREATE VIEW sessions AS SELECT id, host, start_ns, ended FROM session;"
	              "CREATE VIEW windows AS SELECT id, session, period_ns FROM window;"
	              "PRAGMA user_version = 1");
}

static void a_store_of_the_first_version(void)
{
	struct profile *p = profile_new();
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	end(&w, s);
	make_first_version();
	/* Readable without an upgrade, */
	CHECK_EQ(store_read(path, &(struct store_range){0}, p, &err), 0);
	CHECK_EQ(p->recordings.count, 1);
	CHECK_EQ(p->recordings.items[0]->account.budget.share_ppm, 0);
	CHECK_STR(ask("PRAGMA user_version"), "1");
	/* and upgraded by the next writer. */
	s = open_store(&err);
	CHECK_STR(ask("PRAGMA user_version"), "5");
	world_init(&w, "here");
	CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + WORLD_WINDOW_NS, &err), 0);
	world_name(&w, 1, 1, "init", false);
	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT count(*), count(budget), min(event) IS NULL FROM sessions"), "2|0|0");
	CHECK_STR(ask("SELECT count(*), count(slowed_budget_ns), min(level) FROM windows"),
	          "2|0|0");
	CHECK_STR(ask("SELECT count(*) FROM notes"), "0");
	profile_free(p);
}

/* Labels of processes are written, read, and kept apart when processes are folded into names. */
static void labels_of_processes(void)
{
	struct profile *p = profile_new();
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	uint32_t found = 0;

	run_one(&w, 10, "cc");
	world_sample(&w, 10, 10, 16, 32, 7);
	process_table_label(w.p->processes,
	                    (uint32_t)process_table_process_count(w.p->processes) - 1, "0f1e",
	                    "container=web\npod=a");
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT count(*), min(version), min(labels) FROM processes WHERE version"
	              " IS NOT NULL"),
	          "1|0f1e|container=web\npod=a");
	CHECK_EQ(store_read(path, &(struct store_range){0}, p, &err), 0);
	for (uint32_t i = 0; i < process_table_process_count(p->processes); i++)
		if (process_table_process(p->processes, i)->version != ID_NONE)
			found++;
	CHECK_EQ(found, 1);
	profile_free(p);
}

/* As version 2 made them: without notes. */
static void make_second_version(void)
{
	sqlite_change(path, WITHOUT_WAITS
	              "DROP VIEW notes; DROP TABLE session_note; DROP VIEW processes;"
	              "ALTER TABLE process DROP COLUMN version;"
	              "ALTER TABLE process DROP COLUMN labels; PRAGMA user_version = 2");
}

/* The upgrade adds the notes, keeps what the windows and the budget have, and runs once. */
static void a_store_of_the_second_version(void)
{
	static char *const notes[] = {"one", "two"};
	struct profile *p = profile_new();
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	end(&w, s);
	sqlite_change(path, "INSERT INTO session_budget VALUES (1, 10000, 1, 2, 3, 4);"
	                    "INSERT INTO window_rate VALUES (1, 5, 6, 7, 8, 9, 10, 11)");
	make_second_version();
	/* Read as it is, */
	CHECK_EQ(store_read(path, &(struct store_range){0}, p, &err), 0);
	CHECK_EQ(p->recordings.count, 1);
	CHECK_EQ(p->recordings.items[0]->account.budget.share_ppm, 10000);
	CHECK_STR(ask("PRAGMA user_version"), "2");
	CHECK_STR(ask("SELECT count(*) FROM sqlite_master WHERE name LIKE '%note%'"), "0");
	/* and brought up to date by the next writer, */
	s = open_store(&err);
	CHECK_STR(ask("PRAGMA user_version"), "5");
	world_init(&w, "here");
	CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + WORLD_WINDOW_NS, &err), 0);
	world_name(&w, 1, 1, "init", false);
	run_one(&w, 10, "cc");
	CHECK_EQ(store_set_notes(s, notes, 2, &err), 0);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT session, note FROM notes ORDER BY session, note"), "2|one;2|two");
	CHECK_STR(ask("SELECT count(*), sum(slowed_budget_ns), sum(slowed_behind_ns) FROM windows"),
	          "2|5|6");
	CHECK_STR(ask("SELECT share_ppm FROM session_budget WHERE session = 1"), "10000");
	/* which a further writer leaves as it is. */
	store_close(open_store(&err));
	CHECK_STR(ask("SELECT count(*) FROM notes"), "2");
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
	profile_free(p);
}

static void a_damaged_store_is_named(void)
{
	static char noise[8192];
	struct store_options options = {0};
	struct error err;
	struct store *s = NULL;
	int fd;

	fresh();
	store_close(open_store(&err));
	memset(noise, 0xa5, sizeof(noise));
	fd = open(path, O_WRONLY);
	CHECK_EQ(pwrite(fd, noise, sizeof(noise), 100), sizeof(noise));
	close(fd);
	CHECK_EQ(store_open(&s, path, &options, &err), -EUCLEAN);
	CHECK(strstr(err.text, path) && strstr(err.text, "damaged"));
}

static void impossible_numbers_are_reported(void)
{
	static const char *const damage[] = {
	        "UPDATE session SET process_base = 9223372036854775807",
	        "UPDATE session SET ended = NULL, thread_base = 9223372036854775000",
	        "UPDATE process SET id = (1 << 62) + 1 WHERE id = (SELECT max(id) FROM process)",
	};
	struct error err;
	struct world w;
	struct store *s;

	for (size_t i = 0; i < sizeof(damage) / sizeof(*damage); i++) {
		unlink(path);
		s = begin(&w, "here", &err);
		run_one(&w, 10, "cc");
		CHECK_EQ(world_window(&w, s, 0, &err), 0);
		end(&w, s);
		sqlite_change(path, damage[i]);
		world_init(&w, "here");
		s = open_store(&err);
		CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + WORLD_WINDOW_NS, &err),
		         -EUCLEAN);
		CHECK(strstr(err.text, "it is damaged"));
		store_close(s);
		world_done(&w);
	}
}

static void an_empty_file_becomes_a_store(void)
{
	struct error err;

	write_file("", 0);
	store_close(open_store(&err));
	CHECK_EQ(file_kind_of(path, NULL), FILE_STORE);
	CHECK_STR(ask("SELECT count(*) FROM windows"), "0");
	CHECK_STR(ask("PRAGMA auto_vacuum"), "2");
	CHECK_STR(ask("PRAGMA journal_mode"), "wal");
}

static void a_directory_of_another_user_is_reported(void)
{
	struct store_options options = {0};
	struct error err = {0};
	struct store *s = NULL;
	uid_t me = geteuid();

	fresh();
	CHECK(!chmod(directory, 0555));
	if (!me)
		CHECK(!seteuid(65534));
	CHECK_EQ(store_open(&s, path, &options, &err), -EACCES);
	CHECK(strstr(err.text, path) && strstr(err.text, "Permission denied"));
	if (!me)
		CHECK(!seteuid(0));
	CHECK(!chmod(directory, 0700));
}

static void a_store_on_read_only_media_is_read(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	struct database d = {0};
	uid_t me = geteuid();
	int64_t windows = 0;

	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	end(&w, s);
	CHECK(!chmod(path, 0444) && !chmod(directory, 0555));
	if (!me)
		CHECK(!seteuid(65534));
	CHECK_EQ(database_open(&d, path, DATABASE_READ, &err), 0);
	CHECK_EQ(database_number(&d, "SELECT count(*) FROM window", 7, &windows, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(windows, 1);
	database_close(&d);
	if (!me)
		CHECK(!seteuid(0));
	CHECK(!chmod(directory, 0700));
}

/* The file of the store with that suffix. Zeros if there is none. */
static struct stat status_of(const char *suffix)
{
	char name[80];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return stat(name, &st) ? (struct stat){0} : st;
}

static bool is_private(const char *suffix)
{
	return (status_of(suffix).st_mode & 07777) == 0600;
}

static void files_are_private(void)
{
	mode_t before = umask(0);
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK(is_private("") && is_private("-wal") && is_private("-shm") && is_private("-lock"));
	end(&w, s);
	umask(before);
}

static void bytes_are_those_of_the_file_and_its_log(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK(status_of("").st_size > 0 && status_of("-wal").st_size > 0);
	CHECK_EQ(store_bytes(s), status_of("").st_size + status_of("-wal").st_size);
	end(&w, s);
}

/* Limits the size of files, which acts like a full disk. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	CHECK(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = bytes > limit.rlim_max ? limit.rlim_max : bytes;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
}

static void a_full_disk_loses_only_its_windows(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	struct stat st;
	char wal[80];

	signal(SIGXFSZ, SIG_IGN);
	run_one(&w, 9, "old");
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	CHECK(!stat(wal, &st));
	limit_files((rlim_t)st.st_size + 1000);
	for (int32_t pid = 10; pid < 1000; pid++)
		run_one(&w, pid, "cc");
	world_exit(&w, 9, 9);
	world_sample(&w, 10, 10, 16, 32, 5);
	CHECK_EQ(world_window(&w, s, 1, &err), -ENOSPC);
	CHECK(strstr(err.text, "disk is full"));
	CHECK_EQ(world_window(&w, s, 2, &err), -ENOSPC);
	CHECK_STR(ask("SELECT count(*) FROM windows"), "1");
	limit_files(RLIM_INFINITY);
	world_sample(&w, 10, 10, 16, 32, 7);
	CHECK_EQ(world_window(&w, s, 3, &err), 0);
	end(&w, s);
	/* The window is lost; its processes are still in memory. */
	CHECK_STR(ask("SELECT samples FROM windows"), "0;7");
	CHECK_STR(
	        ask("SELECT count(*), count(DISTINCT instance), max(instance) FROM processes WHERE "
	            "name = 'cc'"),
	        "990|990|990");
	CHECK_STR(ask("SELECT name, end_ns IS NOT NULL FROM processes WHERE pid = 9 AND name = "
	              "'old'"),
	          "old|1");
	CHECK_STR(ask("SELECT sum(samples), count(DISTINCT stack) FROM samples"), "7|1");
}

static void a_copy_needs_no_other_file(void)
{
	char copy[80], kept[64];
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);
	struct stat st;

	snprintf(copy, sizeof(copy), "%s.copy", path);
	world_sample(&w, 1, 1, 16, 32, 5);
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	CHECK_EQ(store_copy(s, copy, &err), 0);
	CHECK_EQ(store_copy(s, copy, &err), 0);
	end(&w, s);
	CHECK_EQ(file_kind_of(copy, NULL), FILE_STORE);
	CHECK(!stat(copy, &st) && (st.st_mode & 07777) == 0600);
	memcpy(kept, path, sizeof(kept));
	memcpy(path, copy, sizeof(path));
	CHECK_STR(ask("SELECT sum(samples) FROM samples"), "5");
	memcpy(path, kept, sizeof(path));
}

/* While old windows are deleted, all samples refer to existing processes. */
static void a_session_killed_at_its_start_deletes_no_process(void)
{
	struct store_options o = {.keeping.all_ns = 5 * WORLD_WINDOW_NS};
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	store_close(s);
	CHECK_EQ(store_open(&s, path, &o, &err), 0);
	CHECK_EQ(store_begin(s, &w.recording, WORLD_WALL_NS + 50 * WORLD_WINDOW_NS, &err), 0);
	for (uint64_t i = 50; i < 70; i++) {
		world_sample(&w, 1, 1, 16, 32, 3);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
		CHECK_EQ(store_retention(s, WORLD_WALL_NS + (i + 1) * WORLD_WINDOW_NS, &err), 0);
	}
	end(&w, s);
	CHECK_STR(ask("SELECT (SELECT count(*) FROM samples s JOIN processes p ON p.id = s.process "
	              "WHERE p.name = 'init') - (SELECT count(*) FROM windows)"),
	          "0");
	CHECK_STR(ask("SELECT count(*) < 9 FROM windows"), "1");
	CHECK_STR(ask("SELECT count(*) FROM sessions"), "1");
}

static void a_process_that_lives_through_a_suspend_ends_by_the_wall_clock(void)
{
	struct error err;
	struct world w;
	struct store *s = begin(&w, "here", &err);

	run_one(&w, 10, "cc");
	CHECK_EQ(world_window(&w, s, 0, &err), 0);
	w.set_ns = 8 * 3600 * INT64_C(1000000000);
	world_exit(&w, 10, 10);
	CHECK_EQ(world_window(&w, s, 1, &err), 0);
	end(&w, s);
	CHECK_STR(ask("SELECT start_ns < (SELECT min(end_ns) FROM windows) AND end_ns BETWEEN "
	              "(SELECT max(start_ns) FROM windows) AND (SELECT max(end_ns) FROM windows) "
	              "FROM processes WHERE name = 'cc'"),
	          "1");
}

int main(void)
{
	if (!place_make()) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	RUN(a_killed_writer_is_reported);
	RUN(one_writer_a_host);
	RUN(a_machine_that_went_down_is_reported);
	RUN(another_writer_costs_at_most_one_window);
	RUN(files_that_are_no_stores_are_left_unchanged);
	RUN(a_foreign_schema_is_refused);
	RUN(a_store_of_the_first_version);
	RUN(labels_of_processes);
	RUN(a_store_of_the_second_version);
	RUN(a_damaged_store_is_named);
	RUN(impossible_numbers_are_reported);
	RUN(an_empty_file_becomes_a_store);
	RUN(a_directory_of_another_user_is_reported);
	RUN(a_store_on_read_only_media_is_read);
	RUN(files_are_private);
	RUN(bytes_are_those_of_the_file_and_its_log);
	RUN(a_full_disk_loses_only_its_windows);
	RUN(a_copy_needs_no_other_file);
	RUN(a_session_killed_at_its_start_deletes_no_process);
	RUN(a_process_that_lives_through_a_suspend_ends_by_the_wall_clock);
	place_take_away();
	return check_end();
}
