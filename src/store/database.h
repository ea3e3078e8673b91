/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * database: SQLite, with our errors: 0 or -errno and a sentence that names the file.
 *
 *	database_open(&d, path, DATABASE_WRITE)
 *	database_run(&d, "BEGIN IMMEDIATE")
 *	database_kept(&d, SQL, &statement)	prepared once, at its first use
 *	database_put(&d, statement, "is", 7, "text")
 *	database_close(&d)
 *
 * -ENOSPC: no room on the disk (or beyond a limit of the file's size); -EBUSY: somebody else
 * writes for longer than we wait; -EROFS, -EACCES; -EUCLEAN: damaged, or not a database.
 * Files are opened where they are, not through a link; what a foreign schema has besides
 * tables (triggers, functions in views) is not run. One thread. Uses: base.
 */
#ifndef ASSAY_STORE_DATABASE_H
#define ASSAY_STORE_DATABASE_H

#include "base/error.h"
#include "base/vec.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct database {
	sqlite3 *handle;
	char *path; /* absolute, directories resolved */
	VEC(struct database_statement) kept;
};

struct database_statement {
	const char *sql; /* by its address */
	sqlite3_stmt *statement;
};

enum database_mode {
	DATABASE_READ,
	DATABASE_WRITE,
};

/* The file must be there. Zeroed `d` before; database_close() after an error too. */
int database_open(struct database *d, const char *path, enum database_mode mode, struct error *err);
void database_close(struct database *d); /* zeroed is good */

/* Sets the sentence for what SQLite says now; `what` was being done. -errno. */
int database_error(const struct database *d, int code, const char *what, struct error *err);

/* All statements of a text; rows are left. */
int database_run(struct database *d, const char *sql, struct error *err);
/* The caller's to sqlite3_finalize(). */
int database_prepare(struct database *d, const char *sql, sqlite3_stmt **statement,
                     struct error *err);
/* The same for a text that is a constant: prepared once, kept until the end, reset. */
int database_kept(struct database *d, const char *sql, sqlite3_stmt **statement, struct error *err);
/* 1: a row is there; 0: done, and reset; -errno: reset too. */
int database_step(struct database *d, sqlite3_stmt *statement, struct error *err);
/*
 * Binds by letters, from the first on: i int64_t, u uint64_t, d double, s const char * (NULL:
 * null), b const void * and size_t, n null. Texts must live until the statement is reset.
 */
int database_bind(struct database *d, sqlite3_stmt *statement, struct error *err,
                  const char *letters, ...);
/* database_kept(), bound, and its first step: 1, 0 or -errno; the caller resets it. */
int database_find(struct database *d, const char *sql, sqlite3_stmt **statement, struct error *err,
                  const char *letters, ...);
/* Binds, and runs a statement that gives no rows. */
int database_put(struct database *d, sqlite3_stmt *statement, struct error *err,
                 const char *letters, ...);
/* The first column of the first row; `otherwise` where there is none, or it is NULL. */
int database_number(struct database *d, const char *sql, int64_t otherwise, int64_t *number,
                    struct error *err);

#endif
