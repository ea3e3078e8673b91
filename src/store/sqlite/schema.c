/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/schema.h"

#include "base/memory/buf.h"
#include "event/stack_end.h"
#include "format/file_kind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DIGITS(number) #number
#define TEXT_OF(number) DIGITS(number)

/*
 * These settings come before the first table, since they cannot be changed later. auto_vacuum
 * writes the first page, so it is part of the transaction: a process that is killed leaves an empty
 * file or a complete store, but no database without our application id.
 */
static const char settings[] = "PRAGMA page_size = 4096; BEGIN;"
                               "PRAGMA auto_vacuum = INCREMENTAL;";

static const char machine_tables[] =
        "CREATE TABLE property (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
        "CREATE TABLE host (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, release TEXT,"
        " arch TEXT, cpu TEXT, cpus INTEGER);"
        "CREATE TABLE session (id INTEGER PRIMARY KEY, host INTEGER NOT NULL, boot TEXT,"
        " start_ns INTEGER NOT NULL, end_ns INTEGER, ended TEXT, version TEXT, command TEXT,"
        " release TEXT, machine_wide INTEGER NOT NULL, clock INTEGER,"
        " wall_offset_ns INTEGER NOT NULL, process_base INTEGER NOT NULL,"
        " thread_base INTEGER NOT NULL, writer INTEGER);"
        "CREATE TABLE session_event (session INTEGER, place INTEGER, event INTEGER NOT NULL,"
        " type INTEGER, config INTEGER, sample_type INTEGER, period INTEGER,"
        " frequency_hz INTEGER, period_ns INTEGER, flags INTEGER,"
        " PRIMARY KEY (session, place)) WITHOUT ROWID;"
        "CREATE TABLE gap (id INTEGER PRIMARY KEY, host INTEGER NOT NULL,"
        " start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, why TEXT);";

/* Added in version 2. */
#define RATE_TABLES(create)                                                                        \
	create " session_budget (session INTEGER PRIMARY KEY, share_ppm INTEGER NOT NULL,"         \
	       " cost_low_ns INTEGER NOT NULL, cost_high_ns INTEGER NOT NULL,"                     \
	       " cost_samples INTEGER NOT NULL, record_ns INTEGER NOT NULL);" create               \
	       " window_rate (window INTEGER PRIMARY KEY, slowed_budget_ns INTEGER NOT NULL,"      \
	       " slowed_behind_ns INTEGER NOT NULL, taken_ns INTEGER NOT NULL,"                    \
	       " taken_of_ns INTEGER NOT NULL, over_ns INTEGER NOT NULL,"                          \
	       " most_ppm INTEGER NOT NULL, sample_ns INTEGER NOT NULL);"

static const char rate_tables[] = RATE_TABLES("CREATE TABLE");
/* Empty temporary tables for reading a store of version 1. */
static const char no_rate_tables[] = RATE_TABLES("CREATE TEMP TABLE");

/* Added in version 3. */
#define NOTE_TABLES(create)                                                                        \
	create " session_note (session INTEGER, place INTEGER, note TEXT NOT NULL,"                \
	       " PRIMARY KEY (session, place)) WITHOUT ROWID;"

static const char note_tables[] =
        NOTE_TABLES("CREATE TABLE") "CREATE VIEW notes AS SELECT session, note FROM session_note;";
static const char no_note_tables[] = NOTE_TABLES("CREATE TEMP TABLE");

/* Added in version 4. */
static const char label_columns[] = "ALTER TABLE process ADD COLUMN version INTEGER;"
                                    "ALTER TABLE process ADD COLUMN labels INTEGER;";
static const char no_label_columns[] =
        "CREATE TEMP VIEW process AS SELECT *, NULL AS version, NULL AS labels FROM main.process;";

/*
 * Added in version 5. Texts are ids of `name`, 0: none. A cause with a service and a program alone
 * stands for the time of their threads. `times`: store_wait_columns.h.
 */
#define WAIT_CAUSE                                                                                 \
	"service INTEGER NOT NULL, program INTEGER NOT NULL, waiter INTEGER NOT NULL,"             \
	" kind INTEGER NOT NULL, name INTEGER NOT NULL, function INTEGER NOT NULL,"                \
	" released_by INTEGER NOT NULL, holder INTEGER NOT NULL, evidence INTEGER NOT NULL,"       \
	" device INTEGER NOT NULL, named INTEGER NOT NULL"
#define WAIT_TABLES(create)                                                                        \
	create " wait_cause (id INTEGER PRIMARY KEY, " WAIT_CAUSE                                  \
	       ", UNIQUE (service, program, waiter, kind, name, function, released_by, holder,"    \
	       " evidence, device, named));" create                                                \
	       " wait (window INTEGER, cause INTEGER, count INTEGER NOT NULL,"                     \
	       " blocked_ns INTEGER NOT NULL, runnable_ns INTEGER NOT NULL,"                       \
	       " preempted_ns INTEGER NOT NULL, other_ns INTEGER NOT NULL,"                        \
	       " no_stack_ns INTEGER NOT NULL, lost_ns INTEGER NOT NULL,"                          \
	       " no_waker_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, times TEXT NOT NULL,"      \
	       " PRIMARY KEY (window, cause)) WITHOUT ROWID;" create                               \
	       " wait_time (window INTEGER, cause INTEGER, threads INTEGER NOT NULL,"              \
	       " wall_ns INTEGER NOT NULL, oncpu_ns INTEGER NOT NULL, unseen_ns INTEGER NOT NULL," \
	       " before_ns INTEGER NOT NULL, wakings INTEGER NOT NULL, beyond INTEGER NOT NULL,"   \
	       " coarse INTEGER NOT NULL, PRIMARY KEY (window, cause)) WITHOUT ROWID;"

/* Changes that 'assay watch --keep' found. Times are ns; the level is CPU time in 1e-12 s. */
#define CHANGE_TABLE(create)                                                                       \
	create " found_change (host TEXT NOT NULL, service TEXT NOT NULL, function TEXT NOT NULL," \
	       " image TEXT NOT NULL, mode TEXT NOT NULL, time_ns INTEGER NOT NULL,"               \
	       " point_ns INTEGER NOT NULL, found_ns INTEGER NOT NULL, verdict TEXT NOT NULL,"     \
	       " before_ps INTEGER NOT NULL, after_ps INTEGER NOT NULL, ratio_ppm INTEGER,"        \
	       " low_ppm INTEGER, high_ppm INTEGER, q_ppb INTEGER NOT NULL,"                       \
	       " PRIMARY KEY (host, service, function, image, mode, time_ns)) WITHOUT ROWID;"

static const char wait_tables[] = WAIT_TABLES("CREATE TABLE") CHANGE_TABLE("CREATE TABLE");
static const char no_wait_tables[] =
        WAIT_TABLES("CREATE TEMP TABLE") CHANGE_TABLE("CREATE TEMP TABLE");

/* The first columns are those of recordings, where a wait has a thread and a path. */
static const char wait_views[] =
        "CREATE VIEW waits AS SELECT NULL AS id, NULL AS thread, NULL AS stack, NULL AS woken,"
        " NULL AS waker, NULL AS waker_stack, NULL AS state, NULL AS argument,"
        " NULL AS descriptor, NULL AS since_start, w.count AS waits,"
        " w.blocked_ns AS blocked_ns, w.runnable_ns AS runnable_ns, w.max_ns AS max_ns,"
        " w.window AS window, s.start_ns AS time_ns,"
        " (SELECT text FROM name WHERE id = c.service) AS service,"
        " (SELECT text FROM name WHERE id = c.program) AS program,"
        " (SELECT text FROM name WHERE id = c.waiter) AS waiter,"
        " (SELECT text FROM name WHERE id = c.kind) AS kind,"
        " (SELECT text FROM name WHERE id = c.name) AS name,"
        " (SELECT text FROM name WHERE id = c.function) AS function,"
        " (SELECT text FROM name WHERE id = c.released_by) AS released_by,"
        " (SELECT text FROM name WHERE id = c.holder) AS holder,"
        " (SELECT text FROM name WHERE id = c.evidence) AS evidence,"
        " (SELECT text FROM name WHERE id = c.device) AS device,"
        " w.lost_ns AS lost_ns, w.no_waker_ns AS no_waker_ns,"
        " w.times AS histogram FROM window s CROSS JOIN wait w ON w.window = s.id"
        " JOIN wait_cause c ON c.id = w.cause;"
        "CREATE VIEW wait_times AS SELECT t.window AS window, s.start_ns AS time_ns,"
        " (SELECT text FROM name WHERE id = c.service) AS service,"
        " (SELECT text FROM name WHERE id = c.program) AS program,"
        " t.threads AS threads, t.wall_ns AS wall_ns, t.oncpu_ns AS oncpu_ns,"
        " t.unseen_ns AS unseen_ns FROM window s CROSS JOIN wait_time t ON t.window = s.id"
        " JOIN wait_cause c ON c.id = t.cause;"
        "CREATE VIEW changes AS SELECT host, service, function, image, mode, time_ns, point_ns,"
        " found_ns, verdict, before_ps / 1000.0 AS before, after_ps / 1000.0 AS after,"
        " ratio_ppm / 1e6 - 1 AS change, low_ppm / 1e6 - 1 AS low, high_ppm / 1e6 - 1 AS high,"
        " q_ppb / 1e9 AS q FROM found_change;";

static const char window_tables[] =
        "CREATE TABLE window (id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
        " start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
        " level INTEGER NOT NULL DEFAULT 0, merged INTEGER NOT NULL DEFAULT 1,"
        " samples INTEGER NOT NULL, lost_records INTEGER NOT NULL,"
        " observer_cpu_ns INTEGER NOT NULL, period_ns INTEGER NOT NULL,"
        " unobserved_ns INTEGER NOT NULL, wall_offset_ns INTEGER NOT NULL,"
        " process_first INTEGER, process_last INTEGER,"
        " thread_first INTEGER, thread_last INTEGER);"
        "CREATE INDEX window_start ON window (start_ns);"
        "CREATE INDEX window_session ON window (session, end_ns);"
        "CREATE TABLE ledger_cpu (window INTEGER, cpu INTEGER, wall_ns INTEGER,"
        " busy_ns INTEGER, idle_ns INTEGER, unknown_ns INTEGER, switches INTEGER,"
        " period_ns INTEGER, due_busy INTEGER, due_idle INTEGER, seen_busy INTEGER,"
        " seen_idle INTEGER, weight_busy_ns INTEGER, weight_idle_ns INTEGER, lost INTEGER,"
        " throttled INTEGER, steal_ns INTEGER, has_switches INTEGER, has_steal INTEGER,"
        " PRIMARY KEY (window, cpu)) WITHOUT ROWID;"
        "CREATE TABLE buffer (window INTEGER, cpu INTEGER, ring_bytes INTEGER,"
        " used_max INTEGER, used_average INTEGER, lost_records INTEGER,"
        " PRIMARY KEY (window, cpu)) WITHOUT ROWID;"
        "CREATE TABLE sample (window INTEGER, thread INTEGER, stack INTEGER, cpu INTEGER,"
        " mode INTEGER, event INTEGER, region INTEGER, stack_end INTEGER,"
        " samples INTEGER NOT NULL, weight INTEGER NOT NULL, runnable_ns INTEGER NOT NULL,"
        " blocked_ns INTEGER NOT NULL,"
        " PRIMARY KEY (window, thread, stack, cpu, mode, event, region, stack_end))"
        " WITHOUT ROWID;";

static const char name_tables[] =
        "CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
        "CREATE TABLE instance (host INTEGER, name INTEGER, last INTEGER NOT NULL,"
        " PRIMARY KEY (host, name)) WITHOUT ROWID;"
        "CREATE TABLE process (id INTEGER PRIMARY KEY, host INTEGER NOT NULL,"
        " name INTEGER NOT NULL, instance INTEGER NOT NULL, pid INTEGER, parent INTEGER,"
        " start_ns INTEGER, life_ns INTEGER, cgroup INTEGER, kernel INTEGER NOT NULL,"
        " instances INTEGER NOT NULL DEFAULT 1, oncpu_ns INTEGER NOT NULL DEFAULT 0,"
        " runnable_ns INTEGER NOT NULL DEFAULT 0, blocked_ns INTEGER NOT NULL DEFAULT 0,"
        " version INTEGER, labels INTEGER);"
        "CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, tid INTEGER,"
        " name INTEGER, start_ns INTEGER, life_ns INTEGER);"
        "CREATE TABLE image (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL,"
        " path INTEGER NOT NULL, build_id BLOB NOT NULL, major INTEGER NOT NULL,"
        " minor INTEGER NOT NULL, inode INTEGER NOT NULL,"
        " UNIQUE (path, build_id, inode, kind, major, minor));"
        "CREATE TABLE function (id INTEGER PRIMARY KEY, image INTEGER NOT NULL,"
        " name INTEGER NOT NULL, UNIQUE (image, name));"
        "CREATE TABLE frame (id INTEGER PRIMARY KEY, image INTEGER NOT NULL,"
        " offset INTEGER NOT NULL, flags INTEGER NOT NULL, function INTEGER,"
        " tries INTEGER NOT NULL DEFAULT 0, UNIQUE (image, offset, flags));"
        "CREATE TABLE stack (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL,"
        " frame INTEGER NOT NULL, depth INTEGER NOT NULL, UNIQUE (parent, frame));"
        "CREATE TABLE event (id INTEGER PRIMARY KEY, name INTEGER NOT NULL,"
        " role INTEGER NOT NULL, UNIQUE (name, role));";

static const char table_views[] =
        "CREATE VIEW hosts AS SELECT id, name, release, arch, cpu, cpus FROM host;"
        "CREATE VIEW ledger AS SELECT * FROM ledger_cpu;"
        "CREATE VIEW buffers AS SELECT * FROM buffer;"
        /*
         * The breaks between the windows of a host follow from the windows, as in the notes of a
         * report (store_read_notes.c); those with a row of their own have it.
         */
        "CREATE VIEW gaps AS SELECT id, host, start_ns, end_ns, why FROM gap UNION ALL"
        " SELECT -row_number() OVER (ORDER BY host, start_ns), host, start_ns, end_ns,"
        " '" STORE_BREAK_WHY "' FROM"
        " (SELECT s.host AS host, max(w.end_ns) OVER (PARTITION BY s.host ORDER BY w.start_ns"
        "   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS start_ns,"
        "   w.start_ns AS end_ns FROM window w JOIN session s ON s.id = w.session) AS b"
        " WHERE end_ns - start_ns >= " TEXT_OF(
                STORE_BREAK_NS) " AND NOT EXISTS (SELECT 1 FROM gap g WHERE g.host = b.host"
                                "  AND g.start_ns < b.end_ns AND g.end_ns > b.start_ns);"
                                "CREATE VIEW frames AS SELECT id, image, offset, function, flags & "
                                "1 AS kernel,"
                                " (flags >> 1) & 1 AS caller FROM frame;"
                                "CREATE VIEW stacks AS SELECT id, parent, frame, depth FROM stack;";

/* Changed in version 4. */
static const char process_view[] =
        /*
         * Each view reads one table, and looks texts up per row. SQLite uses the indexes of such a
         * view on the right side of a LEFT JOIN, but would materialize a view of several tables.
         */
        "CREATE VIEW processes AS SELECT p.id AS id, p.host AS host,"
        " (SELECT text FROM name WHERE id = p.name) AS name,"
        " p.instance AS instance, p.pid AS pid, p.parent AS parent, p.start_ns AS start_ns,"
        " coalesce(p.start_ns, 0) + p.life_ns AS end_ns,"
        " (SELECT text FROM name WHERE id = p.cgroup) AS cgroup,"
        " p.kernel AS kernel, p.instances AS instances, p.oncpu_ns AS oncpu_ns,"
        " p.runnable_ns AS runnable_ns, p.blocked_ns AS blocked_ns,"
        " (SELECT text FROM name WHERE id = p.version) AS version,"
        " (SELECT text FROM name WHERE id = p.labels) AS labels FROM process p;";

/* Views that changed in version 2. */
static const char name_views[] =
        "CREATE VIEW threads AS SELECT t.id AS id, t.process AS process,"
        " coalesce(t.tid, (SELECT pid FROM process WHERE id = t.process)) AS tid,"
        " (SELECT text FROM name WHERE id = CASE WHEN t.tid IS NULL THEN"
        "  (SELECT p.name FROM process p WHERE p.id = t.process) ELSE t.name END) AS name,"
        " CASE WHEN t.tid IS NULL THEN (SELECT p.start_ns FROM process p WHERE p.id ="
        "  t.process) ELSE t.start_ns END AS start_ns,"
        " CASE WHEN t.tid IS NULL THEN (SELECT coalesce(p.start_ns, 0) + p.life_ns FROM"
        "  process p WHERE p.id = t.process)"
        "  ELSE coalesce(t.start_ns, 0) + t.life_ns END AS end_ns FROM thread t;"
        /* The name is the path without its prefix up to the last slash. */
        "CREATE VIEW images AS SELECT id, path, CASE WHEN path LIKE '/%' THEN replace(path,"
        "  rtrim(path, replace(path, '/', '')), '') ELSE path END AS name, kind, build_id FROM"
        " (SELECT i.id AS id, (SELECT text FROM name WHERE id = i.path) AS path,"
        "  CASE i.kind WHEN 0 THEN 'file' WHEN 1 THEN 'kernel' WHEN 2 THEN 'module'"
        "   WHEN 3 THEN 'vdso' WHEN 4 THEN 'anon' WHEN 5 THEN 'unknown' WHEN 6 THEN 'name'"
        "   ELSE 'jit' END AS kind,"
        "  nullif(lower(hex(i.build_id)), '') AS build_id FROM image i);"
        "CREATE VIEW functions AS SELECT f.id AS id, f.image AS image,"
        " (SELECT text FROM name WHERE id = f.name) AS name FROM function f;";

static const char session_views[] =
        /* The main event, by the rule of recording_main_attr(): a clock (role 0), else a count. */
        "CREATE VIEW sessions AS SELECT s.id AS id, s.host AS host, s.boot AS boot,"
        " s.start_ns AS start_ns, s.end_ns AS end_ns, s.ended AS ended,"
        " s.version AS version, s.command AS command, n.text AS event,"
        " e.frequency_hz AS frequency_hz, e.period_ns AS period_ns,"
        " b.share_ppm / 1e6 AS budget FROM session s"
        " LEFT JOIN session_event e ON e.session = s.id AND e.place ="
        " (SELECT x.place FROM session_event x JOIN event y ON y.id = x.event"
        "  WHERE x.session = s.id ORDER BY CASE WHEN y.role < 2 THEN y.role ELSE 2 END, x.place"
        "  LIMIT 1)"
        " LEFT JOIN event v ON v.id = e.event LEFT JOIN name n ON n.id = v.name"
        " LEFT JOIN session_budget b ON b.session = s.id;"
        /* NULL: the rate was not reduced, or the writer did not record it. */
        "CREATE VIEW windows AS SELECT w.id AS id, w.session AS session,"
        " w.start_ns AS start_ns, w.end_ns AS end_ns, w.level AS level, w.merged AS merged,"
        " w.samples AS samples, w.lost_records AS lost_records,"
        " w.observer_cpu_ns AS observer_cpu_ns, w.period_ns AS period_ns,"
        " w.unobserved_ns AS unobserved_ns, r.slowed_budget_ns AS slowed_budget_ns,"
        " r.slowed_behind_ns AS slowed_behind_ns, nullif(r.taken_of_ns, 0) AS taken_of_ns,"
        " CASE WHEN r.taken_of_ns > 0 THEN r.taken_ns END AS taken_ns,"
        " CASE WHEN r.taken_of_ns > 0 THEN r.most_ppm / 1e6 END AS taken_most,"
        " CASE WHEN r.taken_of_ns > 0 THEN r.over_ns END AS over_budget_ns,"
        " nullif(r.sample_ns, 0) AS sample_cost_ns FROM window w"
        " LEFT JOIN window_rate r ON r.window = w.id;";

/*
 * CROSS JOIN: windows are always the outer loop, so that a condition on the time or the window, a
 * constant or a subquery, reads only the rows of these windows.
 */
static const char samples_view[] =
        "CREATE VIEW samples AS SELECT w.id AS window, w.start_ns AS time_ns,"
        " t.process AS process, s.thread AS thread, s.stack AS stack,"
        " nullif(s.cpu, -1) AS cpu,"
        " CASE s.mode WHEN 0 THEN 'user' WHEN 1 THEN 'kernel' WHEN 2 THEN 'idle'"
        "  WHEN 3 THEN 'guest' ELSE 'unknown' END AS mode,"
        " n.text AS event, nullif(s.region, 0) AS region, CASE s.stack_end";
static const char samples_view_end[] = " END AS stack_end, s.samples AS samples, " SCHEMA_WEIGHT(
        "w.session") " AS weight,"
                     " s.runnable_ns AS runnable_ns, s.blocked_ns AS blocked_ns FROM window w"
                     " CROSS JOIN sample s ON s.window = w.id LEFT JOIN thread t ON t.id = s.thread"
                     " LEFT JOIN event e ON e.id = s.event LEFT JOIN name n ON n.id = e.name;";

static int create_samples_view(struct database *d, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, samples_view);
	for (int end = 0; end < STACK_ENDS; end++)
		buf_addf(&sql, " WHEN %d THEN '%s'", end,
		         stack_quality_name(stack_quality((enum stack_end)end)));
	buf_puts(&sql, samples_view_end);
	status = database_run(d, buf_text(&sql), err);
	buf_done(&sql);
	return status;
}

static const char later_indexes[] =
        "CREATE INDEX IF NOT EXISTS process_by_name ON process (host, name) WHERE id < 0;"
        "CREATE INDEX IF NOT EXISTS thread_by_name ON thread (process, name) WHERE id < 0;"
        "CREATE INDEX IF NOT EXISTS frame_function ON frame (function, flags)"
        " WHERE function IS NOT NULL;"
        "CREATE INDEX IF NOT EXISTS wait_by_cause ON wait (cause);"
        "CREATE INDEX IF NOT EXISTS wait_time_by_cause ON wait_time (cause);";

static const char *const table_parts[] = {machine_tables, window_tables, rate_tables,
                                          note_tables,    wait_tables,   name_tables};

static int create_all(struct database *d, struct error *err)
{
	static const char *const view_parts[] = {table_views, session_views, process_view,
	                                         name_views, wait_views};
	char marks[128];
	int status;

	snprintf(marks, sizeof(marks), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
	         FILE_STORE_ID, STORE_VERSION);
	status = database_run(d, marks, err);
	for (size_t i = 0; !status && i < sizeof(table_parts) / sizeof(*table_parts); i++)
		status = database_run(d, table_parts[i], err);
	for (size_t i = 0; !status && i < sizeof(view_parts) / sizeof(*view_parts); i++)
		status = database_run(d, view_parts[i], err);
	return status ? status : create_samples_view(d, err);
}

int schema_create(struct database *d, struct error *err)
{
	/*
	 * WAL mode is not enabled yet, so the first write puts the application id into the file
	 * itself.
	 */
	int status = database_run(d, settings, err);
	int64_t tables;

	/* Another process may have upgraded the file already. */
	if (!status)
		status = database_number(d, "SELECT count(*) FROM sqlite_master", 0, &tables, err);
	if (!status && !tables)
		status = create_all(d, err);
	if (!status)
		status = database_run(d, "COMMIT", err);
	if (status && !sqlite3_get_autocommit(d->handle))
		database_run(d, "ROLLBACK", NULL);
	return status;
}

int schema_create_indexes(struct database *d, struct error *err)
{
	return database_run(d, later_indexes, err);
}

static int refuse_version(const char *path, int version, struct error *err)
{
	return error_set(err, EINVAL, "%s: unknown store version %d; the file is probably damaged",
	                 path, version);
}

static int from_first(struct database *d, struct error *err)
{
	int64_t version;
	int status = database_number(d, "PRAGMA user_version", 0, &version, err);

	/* Another process may have upgraded the file already. */
	if (status || version > 1)
		return status;
	status = database_run(d,
	                      "DROP VIEW IF EXISTS sessions; DROP VIEW IF EXISTS windows;"
	                      "DROP VIEW IF EXISTS threads;"
	                      "DROP VIEW IF EXISTS images; DROP VIEW IF EXISTS functions;"
	                      "PRAGMA user_version = 2;",
	                      err);
	if (!status)
		status = database_run(d, rate_tables, err);
	if (!status)
		status = database_run(d, session_views, err);
	return status ? status : database_run(d, name_views, err);
}

static int from_second(struct database *d, struct error *err)
{
	int64_t version;
	int status = database_number(d, "PRAGMA user_version", 0, &version, err);

	/* Another process may have upgraded the file already. */
	if (status || version > 2)
		return status;
	status = database_run(d, "PRAGMA user_version = 3;", err);
	return status ? status : database_run(d, note_tables, err);
}

static int from_third(struct database *d, struct error *err)
{
	int64_t version;
	int status = database_number(d, "PRAGMA user_version", 0, &version, err);

	/* Another process may have upgraded the file already. */
	if (status || version > 3)
		return status;
	status = database_run(d, "PRAGMA user_version = 4; DROP VIEW IF EXISTS processes;", err);
	if (!status)
		status = database_run(d, label_columns, err);
	return status ? status : database_run(d, process_view, err);
}

static int from_fourth(struct database *d, struct error *err)
{
	int64_t version;
	int status = database_number(d, "PRAGMA user_version", 0, &version, err);

	/* Another process may have upgraded the file already. */
	if (status || version > 4)
		return status;
	status = database_run(d, "PRAGMA user_version = 5;", err);
	if (!status)
		status = database_run(d, wait_tables, err);
	return status ? status : database_run(d, wait_views, err);
}

int schema_upgrade(struct database *d, int version, struct error *err)
{
	int status;

	_Static_assert(STORE_VERSION == 5, "a step for each version");
	/* Versions start at 1. */
	if (version < 1)
		return refuse_version(d->path, version, err);
	status = database_run(d, "BEGIN IMMEDIATE", err);
	if (!status)
		status = from_first(d, err);
	if (!status)
		status = from_second(d, err);
	if (!status)
		status = from_third(d, err);
	if (!status)
		status = from_fourth(d, err);
	if (!status)
		status = database_run(d, "COMMIT", err);
	if (status && !sqlite3_get_autocommit(d->handle))
		database_run(d, "ROLLBACK", NULL);
	return status;
}

/* ---- the check of a file's schema ---------------------------------------- */

/* A table or an index that a store has: its statement from the name on, as SQLite keeps it. */
struct schema_object {
	const char *text;
	size_t size;
	bool is_table;
};

/* The next statement of *at that creates a table or an index; false: there is none. */
static bool schema_object_next(const char **at, struct schema_object *o)
{
	static const char table[] = "CREATE TABLE ", index[] = "CREATE INDEX ";
	static const char later[] = "IF NOT EXISTS ";

	while (**at) {
		const char *text = *at;
		size_t size = strcspn(text, ";");

		*at += size + (text[size] != 0);
		o->is_table = !strncmp(text, table, sizeof(table) - 1);
		if (!o->is_table && strncmp(text, index, sizeof(index) - 1) != 0)
			continue;
		o->text = text + (o->is_table ? sizeof(table) : sizeof(index)) - 1;
		if (!strncmp(o->text, later, sizeof(later) - 1))
			o->text += sizeof(later) - 1;
		o->size = size - (size_t)(o->text - text);
		return true;
	}
	return false;
}

static bool schema_object_has_name(const struct schema_object *o, const char *name)
{
	size_t size = strcspn(o->text, " ");

	return strlen(name) == size && !sqlite3_strnicmp(o->text, name, (int)size);
}

/* `text`: from the name on. Before version 4, processes had no labels. */
static bool schema_object_is(const struct schema_object *o, const char *text)
{
	static const char labels[] = ", version INTEGER, labels INTEGER)";
	size_t size = strlen(text), cut = sizeof(labels) - 1;

	if (size == o->size)
		return !memcmp(text, o->text, size);
	return o->is_table && size + cut == o->size + 1 &&
	       !memcmp(o->text + o->size - cut, labels, cut) && !memcmp(text, o->text, size - 1) &&
	       text[size - 1] == ')';
}

/* Tables and indexes are those of a store, and views have no name of a table. */
static bool schema_knows_in(const char *part, bool is_table, const char *name, const char *text)
{
	struct schema_object o;

	while (schema_object_next(&part, &o)) {
		if (!text && o.is_table && schema_object_has_name(&o, name))
			return true;
		if (text && o.is_table == is_table && schema_object_has_name(&o, name) &&
		    schema_object_is(&o, text))
			return true;
	}
	return false;
}

/* text NULL: whether a table has the name. */
static bool schema_knows(bool is_table, const char *name, const char *text)
{
	bool known = schema_knows_in(later_indexes, is_table, name, text);

	for (size_t i = 0; !known && i < sizeof(table_parts) / sizeof(*table_parts); i++)
		known = schema_knows_in(table_parts[i], is_table, name, text);
	return known;
}

/* Tables that ANALYZE creates. */
static bool is_of_analyze(const char *sql)
{
	return !strcmp(sql, "CREATE TABLE sqlite_stat1(tbl,idx,stat)") ||
	       !strcmp(sql, "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)");
}

static bool schema_allows(const char *type, const char *name, const char *sql)
{
	static const char table[] = "CREATE TABLE ", index[] = "CREATE INDEX ";

	if (!type || !name)
		return false;
	if (!strcmp(type, "view"))
		return !schema_knows(true, name, NULL);
	if (!sql)
		return !strcmp(type, "index") && !sqlite3_strlike("sqlite_autoindex_%", name, 0);
	if (!strcmp(type, "table") && is_of_analyze(sql))
		return true;
	if (!strcmp(type, "table") && !strncmp(sql, table, sizeof(table) - 1))
		return schema_knows(true, name, sql + sizeof(table) - 1);
	if (!strcmp(type, "index") && !strncmp(sql, index, sizeof(index) - 1))
		return schema_knows(false, name, sql + sizeof(index) - 1);
	return false;
}

int schema_check(struct database *d, struct error *err)
{
	sqlite3_stmt *object = NULL;
	int status =
	        database_prepare(d, "SELECT type, name, sql FROM main.sqlite_master", &object, err);

	while (!status && (status = database_step(d, object, err)) == 1) {
		const char *type = (const char *)sqlite3_column_text(object, 0);
		const char *name = (const char *)sqlite3_column_text(object, 1);

		status = 0;
		if (!schema_allows(type, name, (const char *)sqlite3_column_text(object, 2)))
			status = error_set(err, EINVAL,
			                   "%s: its %s '%.64s' is not one of a store of assay: "
			                   "another program changed the file, which is not read",
			                   d->path, type ? type : "object", name ? name : "");
	}
	sqlite3_finalize(object);
	return status;
}

int schema_stand_in(struct database *d, struct error *err)
{
	int64_t version;
	int status = schema_check(d, err);

	/* The version in the file header may be older than the one in its WAL. */
	if (!status)
		status = database_number(d, "PRAGMA user_version", 0, &version, err);
	if (status || version >= 5)
		return status;
	if (version < 1)
		return refuse_version(d->path, (int)version, err);
	status = database_run(d, no_wait_tables, err);
	if (status || version == 4)
		return status;
	status = database_run(d, no_label_columns, err);
	if (status || version == 3)
		return status;
	status = database_run(d, no_note_tables, err);
	return status || version == 2 ? status : database_run(d, no_rate_tables, err);
}

/* Of SQLite's file header: its size, and the place of user_version. */
#define HEADER_BYTES 100
#define HEADER_VERSION 60

static uint32_t big_endian(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int recognise(const char *path, struct file_head *head, int *version, struct error *err)
{
	enum file_kind kind = file_kind_of_head(head);

	if (kind == FILE_EMPTY)
		return error_set(err, ENODATA, "%s is empty", path);
	if (kind != FILE_STORE && (kind != FILE_DATABASE || head->bytes.size < HEADER_BYTES))
		return error_set(err, EINVAL,
		                 "%s is not a database, so it is not a store: use a recording "
		                 "without --store, or give a new store another name",
		                 path);
	if (kind != FILE_STORE)
		return error_set(err, EINVAL,
		                 "%s is a database of another application, not a store of assay; "
		                 "give the store another name",
		                 path);
	*version = (int)big_endian((const unsigned char *)head->bytes.data + HEADER_VERSION);
	if (*version > STORE_VERSION)
		return error_set(err, EPROTO,
		                 "%s is a store of version %d, and this assay supports versions up "
		                 "to %d: a later assay wrote it",
		                 path, *version, STORE_VERSION);
	return 0;
}

int schema_recognise(const char *path, int *version, struct error *err)
{
	struct file_head head;
	struct stat st;
	int status = file_head_read(&head, path, FILE_HEAD_BYTES, &st);

	*version = 0;
	if (status)
		status = error_set(err, -status, "%s: %s", path,
		                   status == -EINVAL ? "is not a regular file" : strerror(-status));
	else
		status = recognise(path, &head, version, err);
	file_head_done(&head);
	return status;
}
