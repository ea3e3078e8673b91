/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merged window stores functions instead of addresses: the first frame of a function stands for
 * all frames of the function (with `lowest_frames` the one of the lowest address), and paths that
 * become equal are one path. Frames without a name do not change. Without this, most of a store
 * would be paths of rare samples that differ only in their addresses.
 */
#include "store/sqlite/keep/store_retention.h"

#include <stddef.h>

/* Maximum number of paths that one step looks up. The next step continues with the rest. */
#define COARSE_STACKS 4000

typedef VEC(struct coarse_row) coarse_rows;

static int coarse_frame(struct sqlite_store *s, int64_t frame, int64_t *to, struct error *err)
{
	static const char first_sql[] =
	        "SELECT coalesce((SELECT min(g.id) FROM frame g WHERE g.function = f.function AND"
	        " g.flags = f.flags), f.id) FROM frame f WHERE f.id = ?";
	static const char lowest_sql[] =
	        "SELECT coalesce((SELECT g.id FROM frame g WHERE g.function = f.function AND"
	        " g.flags = f.flags ORDER BY g.offset LIMIT 1), f.id) FROM frame f WHERE f.id = ?";
	struct pair_names *known = &s->keeper->coarse.frames;
	const struct pair_entry *entry = pair_names_find(known, 0, frame);
	sqlite3_stmt *row;
	int status = 0;

	*to = entry ? entry->id : frame;
	if (entry)
		return 0;
	status = keep_row(s, s->lowest_frames ? lowest_sql : first_sql, &row, err, "i", frame);
	if (status == 1)
		*to = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (status >= 0)
		pair_names_add(known, 0, frame, *to);
	return status < 0 ? status : 0;
}

/* Finds or creates the stack with that parent and frame. */
static int stack_of(struct sqlite_store *s, int64_t parent, int64_t frame, int64_t *to,
                    struct error *err)
{
	static const char find_sql[] = "SELECT id FROM stack WHERE parent = ? AND frame = ?";
	static const char make_sql[] = "INSERT INTO stack (parent, frame, depth) VALUES (?1, ?2,"
	                               " coalesce((SELECT depth FROM stack WHERE id = ?1), 0) + 1)";
	sqlite3_stmt *row;
	int status = keep_row(s, find_sql, &row, err, "ii", parent, frame);

	if (status == 1)
		*to = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (status)
		return status < 0 ? status : 0;
	status = keep_put(s, make_sql, err, "ii", parent, frame);
	*to = sqlite3_last_insert_rowid(s->db.handle);
	return status;
}

static int read_stack(struct sqlite_store *s, int64_t stack, int64_t *parent, int64_t *frame,
                      struct error *err)
{
	sqlite3_stmt *row;
	int status =
	        keep_row(s, "SELECT parent, frame FROM stack WHERE id = ?", &row, err, "i", stack);

	*parent = *frame = 0;
	if (status == 1) {
		*parent = sqlite3_column_int64(row, 0);
		*frame = sqlite3_column_int64(row, 1);
	}
	sqlite3_reset(row);
	return status;
}

struct coarse_step {
	int64_t stack, frame;
};

/* Goes up to a known stack, and down again. A stack without a row is mapped to itself. */
static int coarse_stack(struct sqlite_store *s, int64_t stack, int64_t *to, struct error *err)
{
	struct pair_names *known = &s->keeper->coarse.stacks;
	VEC(struct coarse_step) steps = {0};
	const struct pair_entry *entry;
	int64_t frame;
	int status = 0;

	*to = 0;
	while (stack > 0) {
		struct coarse_step step = {.stack = stack};
		int64_t parent;

		entry = pair_names_find(known, 0, stack);
		if (entry)
			*to = entry->id;
		if (entry)
			break;
		status = read_stack(s, stack, &parent, &step.frame, err);
		if (!status)
			*to = stack;
		if (status != 1)
			break;
		vec_push(&steps, step);
		stack = parent < stack ? parent : 0;
	}
	status = status < 0 ? status : 0;
	while (!status && steps.count) {
		struct coarse_step step = steps.items[--steps.count];

		status = coarse_frame(s, step.frame, &frame, err);
		if (!status)
			status = stack_of(s, *to, frame, to, err);
		if (!status)
			pair_names_add(known, 0, step.stack, *to);
	}
	vec_done(&steps);
	return status;
}

static int move_row(struct sqlite_store *s, const struct coarse_row *r, struct error *err)
{
	static const char put_sql[] =
	        "INSERT INTO sample SELECT window, thread, ?9, cpu, mode, event, region, stack_end,"
	        " samples, weight, runnable_ns, blocked_ns FROM sample WHERE window = ?1 AND"
	        " thread = ?2 AND stack = ?3 AND cpu = ?4 AND mode = ?5 AND event = ?6 AND"
	        " region = ?7 AND stack_end = ?8 ON CONFLICT DO UPDATE SET"
	        " samples = samples + excluded.samples, weight = weight + excluded.weight,"
	        " runnable_ns = runnable_ns + excluded.runnable_ns,"
	        " blocked_ns = blocked_ns + excluded.blocked_ns";
	static const char delete_sql[] =
	        "DELETE FROM sample WHERE window = ?1 AND thread = ?2 AND stack = ?3 AND cpu = ?4"
	        " AND mode = ?5 AND event = ?6 AND region = ?7 AND stack_end = ?8";
	int status = keep_put(s, put_sql, err, "iiiiiiiii", r->window, r->thread, r->stack, r->cpu,
	                      r->mode, r->event, r->region, r->stack_end, r->to);

	return status ? status
	              : keep_put(s, delete_sql, err, "iiiiiiii", r->window, r->thread, r->stack,
	                         r->cpu, r->mode, r->event, r->region, r->stack_end);
}

/* The rows of a window after a row, in the order of their keys. */
static int read_rows(struct sqlite_store *s, int64_t window, const struct coarse_row *after,
                     coarse_rows *rows, struct error *err)
{
	static const char sql[] =
	        "SELECT thread, stack, cpu, mode, event, region, stack_end FROM sample"
	        " WHERE window = ?1 AND (thread, stack, cpu, mode, event, region, stack_end) >"
	        " (?2, ?3, ?4, ?5, ?6, ?7, ?8) ORDER BY thread, stack, cpu, mode, event, region,"
	        " stack_end";
	sqlite3_stmt *row;
	int status =
	        keep_row(s, sql, &row, err, "iiiiiiii", window, after->thread, after->stack,
	                 after->cpu, after->mode, after->event, after->region, after->stack_end);

	while (status == 1) {
		struct coarse_row r = {.window = window};
		int64_t *const key[] = {&r.thread, &r.stack,  &r.cpu,      &r.mode,
		                        &r.event,  &r.region, &r.stack_end};

		for (int i = 0; i < 7; i++)
			*key[i] = sqlite3_column_int64(row, i);
		vec_push(rows, r);
		status = database_step(&s->db, row, err);
	}
	return status;
}

static int convert(struct sqlite_store *s, coarse_rows *rows, bool *left, struct error *err)
{
	const struct pair_names *stacks = &s->keeper->coarse.stacks;
	size_t known = stacks->entries.count;
	int status = 0;

	for (size_t i = 0; !status && i < rows->count; i++) {
		struct coarse_row *r = &rows->items[i];

		*left = stacks->entries.count >= known + COARSE_STACKS;
		if (*left)
			break;
		status = coarse_stack(s, r->stack, &r->to, err);
		if (!status && r->to != r->stack) {
			status = move_row(s, r, err);
			s->keeper->rows_gone++;
		}
		s->keeper->coarsened = *r;
	}
	return status;
}

/*
 * Continues after the last row of the step before. It cannot begin at the first row again: a window
 * may have more paths than the dictionary of known ones keeps, and then no step would reach the
 * end.
 */
int keep_coarsen(struct sqlite_store *s, int64_t window, bool *left, struct error *err)
{
	static const struct coarse_row first = {.thread = INT64_MIN};
	struct coarse_row *last = &s->keeper->coarsened;
	coarse_rows rows = {0};
	int status;

	*left = false;
	status = read_rows(s, window, last->window == window ? last : &first, &rows, err);
	if (!status)
		status = convert(s, &rows, left, err);
	if (status || !*left)
		*last = first;
	vec_done(&rows);
	names_trim(&s->keeper->coarse);
	return status;
}

void keep_coarse_forget(struct sqlite_store *s)
{
	names_forget(&s->keeper->coarse);
	s->keeper->coarsened = (struct coarse_row){0};
}
