/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/store_waits.h"

#include "base/memory/buf.h"
#include "store/store_wait_columns.h"

#include <errno.h>
#include <string.h>

/* Hosts in a statement, as in store_reader.h. */
#define HOSTS "(SELECT id FROM host WHERE ?1 IS NULL OR name GLOB ?1)"
/* The windows of a range: ?1 the host, ?2 from, ?3 to. */
#define WINDOWS                                                                                    \
	" FROM window d JOIN session e ON e.id = d.session WHERE e.host IN " HOSTS                 \
	" AND d.level >= 0 AND d.end_ns > ?2 AND d.start_ns < ?3"

/* ---- writing ------------------------------------------------------------- */

static const char find_cause[] =
        "SELECT id FROM wait_cause WHERE service = ? AND program = ? AND waiter = ? AND kind = ?"
        " AND name = ? AND function = ? AND released_by = ? AND holder = ? AND evidence = ?"
        " AND device = ? AND named = ?";
static const char make_cause[] =
        "INSERT INTO wait_cause (service, program, waiter, kind, name, function, released_by,"
        " holder, evidence, device, named) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
/* Rows that were cut short may be one. */
static const char add_wait[] = "INSERT OR REPLACE INTO wait VALUES"
                               " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char add_time[] = "INSERT OR REPLACE INTO wait_time VALUES"
                               " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

struct writing {
	struct database *db;
	struct names *names;
	int64_t window;
	const struct store_waits *waits;
	int64_t *ids; /* by text; 0: not looked up */
};

static int text_id(struct writing *w, uint32_t text, int64_t *id, struct error *err)
{
	int status = 0;

	if (text && !w->ids[text])
		status = names_text(w->names, w->db, intern_text(&w->waits->texts, text),
		                    &w->ids[text], err);
	*id = text ? w->ids[text] : 0;
	return status;
}

static int put_cause(struct database *db, const char *sql, const int64_t *ids, int64_t named,
                     sqlite3_stmt **row, struct error *err)
{
	return database_find(db, sql, row, err, "iiiiiiiiiii", ids[0], ids[1], ids[2], ids[3],
	                     ids[4], ids[5], ids[6], ids[7], ids[8], ids[9], named);
}

static int cause_id(struct writing *w, const uint32_t *texts, bool named, int64_t *cause,
                    struct error *err)
{
	int64_t ids[STORE_WAIT_TEXTS];
	sqlite3_stmt *row = NULL;
	int status = 0;

	for (int i = 0; !status && i < STORE_WAIT_TEXTS; i++)
		status = text_id(w, texts[i], &ids[i], err);
	if (!status)
		status = put_cause(w->db, find_cause, ids, named, &row, err);
	if (status == 1)
		*cause = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (status)
		return status < 0 ? status : 0;
	status = put_cause(w->db, make_cause, ids, named, &row, err);
	*cause = sqlite3_last_insert_rowid(w->db->handle);
	return status;
}

static int write_wait(struct writing *w, const struct store_wait *wait, struct error *err)
{
	const uint64_t *n = wait->sums;
	struct buf times = {0};
	sqlite3_stmt *put;
	int64_t cause;
	int status = cause_id(w, wait->texts, wait->named, &cause, err);

	store_wait_times_put(&wait->times, &times);
	if (!status)
		status = database_kept(w->db, add_wait, &put, err);
	if (!status)
		status = database_put(w->db, put, err, "iiuuuuuuuuus", w->window, cause, n[0], n[1],
		                      n[2], n[3], n[4], n[5], n[6], n[7], n[8], buf_text(&times));
	buf_done(&times);
	return status;
}

static int write_time(struct writing *w, const struct store_wait_time *time, struct error *err)
{
	uint32_t texts[STORE_WAIT_TEXTS] = {
	        [STORE_WAIT_SERVICE] = time->service, [STORE_WAIT_PROGRAM] = time->program};
	const uint64_t *n = time->sums;
	sqlite3_stmt *put;
	int64_t cause;
	int status = cause_id(w, texts, false, &cause, err);

	if (!status)
		status = database_kept(w->db, add_time, &put, err);
	return status ? status
	              : database_put(w->db, put, err, "iiuuuuuuuu", w->window, cause, n[0], n[1],
	                             n[2], n[3], n[4], n[5], n[6], n[7]);
}

int store_waits_write(struct database *db, struct names *names, int64_t window,
                      const struct store_waits *waits, struct error *err)
{
	struct writing w = {.db = db, .names = names, .window = window, .waits = waits};
	int status = 0;

	w.ids = xcalloc(waits->texts.texts.count + 1, sizeof(*w.ids));
	vec_each (row, &waits->rows)
		if (!status)
			status = write_wait(&w, row, err);
	vec_each (time, &waits->times)
		if (!status)
			status = write_time(&w, time, err);
	free(w.ids);
	return status;
}

/* ---- reading ------------------------------------------------------------- */

static const char wait_sql[] =
        "SELECT w.cause, c.service, c.program, c.waiter, c.kind, c.name, c.function,"
        " c.released_by, c.holder, c.evidence, c.device, c.named, w.count, w.blocked_ns,"
        " w.runnable_ns, w.preempted_ns, w.other_ns, w.no_stack_ns, w.lost_ns, w.no_waker_ns,"
        " w.max_ns, w.times FROM wait w JOIN wait_cause c ON c.id = w.cause WHERE w.window IN"
        " (SELECT d.id" WINDOWS ") ORDER BY w.cause";
/* The largest number of threads of each host. */
static const char time_sql[] =
        "SELECT w.cause, c.service, c.program, max(w.threads), sum(w.wall_ns), sum(w.oncpu_ns),"
        " sum(w.unseen_ns), sum(w.before_ns), sum(w.wakings), sum(w.beyond), sum(w.coarse)"
        " FROM wait_time w JOIN wait_cause c ON c.id = w.cause JOIN window x ON x.id = w.window"
        " JOIN session z ON z.id = x.session WHERE w.window IN (SELECT d.id" WINDOWS
        ") GROUP BY w.cause, z.host ORDER BY w.cause";
static const char span_sql[] = "SELECT min(d.start_ns), max(d.end_ns)" WINDOWS;

struct reading {
	struct database *db;
	const struct store_range *range;
	bool chosen;
	struct store_waits *waits;
	int64_t cause;
	bool wanted; /* the last cause is one of a chosen service */
};

static int find(struct reading *r, const char *sql, sqlite3_stmt **row, struct error *err)
{
	uint64_t to_ns = r->range->to_ns ? r->range->to_ns : INT64_MAX;

	*row = NULL;
	return database_find(r->db, sql, row, err, "suu", r->chosen ? NULL : r->range->host,
	                     r->range->from_ns, to_ns);
}

static int name_of(struct reading *r, int64_t id, uint32_t *text, struct error *err)
{
	sqlite3_stmt *row = NULL;
	int status = 0;

	*text = 0;
	if (id)
		status = database_find(r->db, "SELECT text FROM name WHERE id = ?", &row, err, "i",
		                       id);
	if (status == 1)
		*text = intern_add(&r->waits->texts, (const char *)sqlite3_column_text(row, 0));
	sqlite3_reset(row);
	return status < 0 ? status : 0;
}

static bool is_chosen(const struct reading *r, uint32_t service)
{
	const char *name = intern_text(&r->waits->texts, service);

	return r->chosen || store_range_service(r->range, name);
}

static uint64_t number(sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	return value > 0 ? (uint64_t)value : 0;
}

static int begin_cause(struct reading *r, sqlite3_stmt *row, struct error *err)
{
	struct store_wait made = {.named = sqlite3_column_int(row, 11) != 0};
	int status = 0;

	for (int i = 0; !status && i < STORE_WAIT_TEXTS; i++)
		status = name_of(r, sqlite3_column_int64(row, i + 1), &made.texts[i], err);
	r->cause = sqlite3_column_int64(row, 0);
	r->wanted = !status && is_chosen(r, made.texts[STORE_WAIT_SERVICE]);
	if (r->wanted)
		vec_push(&r->waits->rows, made);
	return status;
}

static int read_rows(struct reading *r, struct error *err)
{
	sqlite3_stmt *row;
	int status = find(r, wait_sql, &row, err);

	while (status == 1) {
		struct store_wait *to;

		status = sqlite3_column_int64(row, 0) == r->cause ? 0 : begin_cause(r, row, err);
		if (status)
			break;
		to = r->wanted ? vec_last(&r->waits->rows) : NULL;
		for (int i = 0; to && i < STORE_WAIT_MAX; i++)
			to->sums[i] += number(row, 12 + i);
		if (to && number(row, 20) > to->sums[STORE_WAIT_MAX])
			to->sums[STORE_WAIT_MAX] = number(row, 20);
		if (to &&
		    !store_wait_times_add((const char *)sqlite3_column_text(row, 21), &to->times))
			r->waits->damaged++;
		status = database_step(r->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}

static int read_times(struct reading *r, struct error *err)
{
	sqlite3_stmt *row;
	int64_t cause = 0;
	int status = find(r, time_sql, &row, err);

	while (status == 1) {
		struct store_wait_time made = {0};

		status = name_of(r, sqlite3_column_int64(row, 1), &made.service, err);
		if (!status)
			status = name_of(r, sqlite3_column_int64(row, 2), &made.program, err);
		if (!status && is_chosen(r, made.service)) {
			if (sqlite3_column_int64(row, 0) != cause)
				vec_push(&r->waits->times, made);
			cause = sqlite3_column_int64(row, 0);
			for (int i = 0; i < STORE_TIME_SUMS; i++)
				vec_last(&r->waits->times)->sums[i] += number(row, 3 + i);
		}
		if (!status)
			status = database_step(r->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}

static int read_span(struct reading *r, struct error *err)
{
	sqlite3_stmt *row;
	int status = find(r, span_sql, &row, err);

	if (status == 1) {
		r->waits->start_ns = number(row, 0);
		r->waits->end_ns = number(row, 1);
	}
	sqlite3_reset(row);
	if (status < 0)
		return status;
	return r->waits->end_ns ? 0
	                        : error_set(err, ENODATA, "%s has no data of the requested time",
	                                    r->db->path);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct store_wait *x = a, *y = b;
	const struct intern *texts = ctx;
	int order = 0;

	for (int i = 0; !order && i < STORE_WAIT_TEXTS; i++)
		order = strcmp(intern_text(texts, x->texts[i]), intern_text(texts, y->texts[i]));
	return order ? order : x->named - y->named;
}

int store_waits_sum(struct database *db, const struct store_range *range, bool chosen,
                    struct store_waits *waits, struct error *err)
{
	struct reading r = {.db = db, .range = range, .chosen = chosen, .waits = waits};
	int status = read_span(&r, err);

	if (!status)
		status = read_rows(&r, err);
	if (!status)
		status = read_times(&r, err);
	if (!status && !waits->rows.count && !waits->times.count)
		status = error_set(err, ENODATA,
		                   "%s has no waits of the requested time%s: 'assay start --waits "
		                   "--store' records them",
		                   db->path, range->service ? " and service" : "");
	if (waits->rows.count)
		qsort_r(waits->rows.items, waits->rows.count, sizeof(*waits->rows.items), compare,
		        &waits->texts);
	return status;
}
