/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_reader: shared by the files of sqlite_store_read(): the windows to read, and the mapping
 * from ids of the store to ids of the profile.
 *
 * A missing row that another row refers to (it was folded, or the file is damaged) is replaced by
 * a thread "[not kept]" or an unknown frame. The file is not trusted: every number is checked
 * where it is read, and the length of chains is limited. Life cycle and threads are those of
 * sqlite_store_read(). Uses: base, image, process, profile.
 */
#ifndef ASSAY_STORE_SQLITE_READ_STORE_READER_H
#define ASSAY_STORE_SQLITE_READ_STORE_READER_H

#include "image/stored_names.h"
#include "store/sqlite/schema.h"
#include "store/store.h"

/* Maps ids of the database to ids of the profile. */
struct store_ids {
	VEC(uint32_t) direct; /* by id, of ids below STORE_IDS_DIRECT, which are nearly all */
	struct id_table table;
	VEC(int64_t) keys;
	VEC(uint32_t) values; /* STORE_UNREAD: seen, not yet read */
};

#define STORE_UNREAD ID_NONE
#define STORE_IDS_DIRECT (1 << 22)

/* The value of an id, valid until the next call. *place == STORE_UNREAD: the id is new. */
uint32_t *store_ids_place(struct store_ids *ids, int64_t key);
void store_ids_done(struct store_ids *ids);

struct store_span {
	int64_t id, session;
	uint64_t start_ns, end_ns, samples, lost_records, observer_cpu_ns, period_ns, unobserved_ns;
	uint32_t recording; /* index into profile.recordings */
	uint64_t merged;
	struct store_rate rate;
	bool has_rate; /* the store has a row window_rate for it */
};

/* A row of `sample` in memory; ids as in the tables. */
struct store_sample {
	int32_t window, thread;
	uint32_t stack, region, event;
	int16_t cpu;
	uint8_t mode, stack_end;
	uint64_t samples, weight, runnable_ns, blocked_ns;
};

/* A row of `stack` in memory. */
struct store_stack {
	uint32_t parent, frame;
};

struct store_samples {
	struct store_sample *items;
	size_t count, room; /* as VEC() */
};

/*
 * Rows that need not be in a database: there are millions. Samples in any order, and those with the
 * same key are added up; stack i + 1 is stacks.items[i]. store_rows_done() accepts zeros.
 */
struct store_rows {
	struct store_samples samples;
	VEC(struct store_stack) stacks;
};

void store_rows_done(struct store_rows *rows);

struct store_process_id {
	int64_t id; /* of the database */
	uint32_t process;
};

struct store_reader {
	struct database db;
	struct store_rows *rows; /* instead of the tables `sample` and `stack`; NULL: the tables */
	struct file_namer namer; /* of paths in the store; zeros: the user who chose a server */
	const struct store_range *range;
	struct profile *p;
	bool rows_chosen;      /* all rows are those of the range's service */
	bool rows_timed;       /* weights of idle rows are times already (SCHEMA_WEIGHT) */
	bool rows_summed;      /* over windows: the window of a row tells nothing about its time */
	VEC(uint8_t) services; /* by process: enum in store_read_rows.c */
	VEC(struct store_span) windows; /* by session, then time */
	struct store_ids sessions;      /* to recordings */
	struct store_ids processes, threads, images, frames, stacks;
	VEC(struct store_process_id) processes_read; /* in the order in which they were read */
	struct store_ids events;                     /* to profile.events */
	struct store_ids functions;                  /* to texts of `names` */
	struct intern names;
	/* Thread that replaces missing threads; ID_NONE: not created yet */
	uint32_t missing_thread;
	uint64_t by_name;        /* number of instances that are stored by name */
	uint64_t names_for_them; /* number of names for these instances */
	uint64_t bytes;          /* of the file */
};

/*
 * The steps of sqlite_store_read() on an open database. The caller opens `r.db`, and closes it
 * before store_reader_done().
 */
void store_reader_init(struct store_reader *r, const struct store_range *range, struct profile *p);
int store_reader_all(struct store_reader *r, struct error *err);
void store_reader_done(struct store_reader *r);
/*
 * All these steps, for a database that has the tables of a store of this version, and only the rows
 * of the range's service. `rows`: in place of the tables; they are ordered. `sums`: rows are sums
 * over windows, and weights of idle rows are times already.
 */
int store_reader_database(struct database *db, const struct store_range *range,
                          struct store_rows *rows, bool sums, struct profile *p, struct error *err);

/* Hosts in a statement: `place` is bound to range.host; NULL selects all. */
#define STORE_HOSTS(place) "(SELECT id FROM host WHERE " place " IS NULL OR name GLOB " place ")"

/*
 * Reads the sessions and windows of the range. -ENODATA: none; the error names the range of the
 * store.
 */
int store_reader_windows(struct store_reader *r, struct error *err);
/* -EINVAL: several hosts, and none was chosen; or no such host. */
int store_reader_hosts(struct store_reader *r, struct error *err);
/* Map ids of the store to threads, paths and images; a row is read at the first use of its id. */
int store_reader_thread(struct store_reader *r, int64_t id, uint32_t *thread, struct error *err);
int store_reader_path(struct store_reader *r, int64_t stack, uint32_t *path, struct error *err);
int store_reader_image(struct store_reader *r, int64_t id, uint32_t *image, struct error *err);
/* Adds the names of all frames to the images; call it after the last frame was read. */
void store_reader_close_names(struct store_reader *r);

int store_reader_rows(struct store_reader *r, struct error *err);
int store_reader_ledger(struct store_reader *r, struct error *err);
/* Adds notes: gaps without measurement, and details that merging removed. */
int store_reader_notes(struct store_reader *r, struct error *err);

/* A time as local time, for messages. */
#define STORE_TIME_TEXT 32
const char *store_time_text(uint64_t time_ns, char text[STORE_TIME_TEXT]);
/*
 * Sets the error for a range without windows: `name` has windows from first_ns to last_ns, 0: none
 * at all. Returns -ENODATA.
 */
int store_no_data(const char *name, uint64_t first_ns, uint64_t last_ns, struct error *err);

/* The number in a column; negative numbers, which only a damaged file has, become 0. */
uint64_t store_column(sqlite3_stmt *statement, int column);
/* "" if the column is NULL. */
const char *store_column_text(sqlite3_stmt *statement, int column);

#endif
