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

struct coarse_row {
	int64_t thread, stack, cpu, mode, event, region, stack_end, to;
};

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

static int move_row(struct sqlite_store *s, int64_t window, const struct coarse_row *r,
                    struct error *err)
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
	int status = keep_put(s, put_sql, err, "iiiiiiiii", window, r->thread, r->stack, r->cpu,
	                      r->mode, r->event, r->region, r->stack_end, r->to);

	return status ? status
	              : keep_put(s, delete_sql, err, "iiiiiiii", window, r->thread, r->stack,
	                         r->cpu, r->mode, r->event, r->region, r->stack_end);
}

int keep_coarsen(struct sqlite_store *s, int64_t window, bool *left, struct error *err)
{
	static const char sql[] = "SELECT thread, stack, cpu, mode, event, region, stack_end FROM"
	                          " sample WHERE window = ?";
	size_t known = s->keeper->coarse.stacks.entries.count;
	VEC(struct coarse_row) rows = {0};
	sqlite3_stmt *row;
	int status = keep_row(s, sql, &row, err, "i", window);

	while (status == 1) {
		vec_push(&rows, (struct coarse_row){
		                        sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
		                        sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
		                        sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 5),
		                        sqlite3_column_int64(row, 6), 0});
		status = database_step(&s->db, row, err);
	}
	*left = false;
	for (size_t i = 0; !status && i < rows.count; i++) {
		struct coarse_row *r = &rows.items[i];

		*left = s->keeper->coarse.stacks.entries.count >= known + COARSE_STACKS;
		if (*left)
			break;
		status = coarse_stack(s, r->stack, &r->to, err);
		if (status || r->to == r->stack)
			continue;
		status = move_row(s, window, r, err);
		s->keeper->rows_gone++;
	}
	vec_done(&rows);
	names_trim(&s->keeper->coarse);
	return status;
}
