/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * database: SQLite with the errors of assay: 0 or -errno and a message that names the file.
 *
 *	database_open(&d, path, DATABASE_WRITE)
 *	database_run(&d, "BEGIN IMMEDIATE")
 *	database_kept(&d, SQL, &statement)	prepared once, at its first use
 *	database_put(&d, statement, "is", 7, "text")
 *	database_close(&d)
 *
 * -ENOSPC: the disk is full, or a limit of the file size is reached. -EBUSY: another process holds
 * the write lock for longer than the timeout. -EROFS, -EACCES. -EUCLEAN: the file is damaged or is
 * not a database. -ETIMEDOUT: a file of this size does not need so much work, so its pages lead
 * into each other. A path that is a link is refused. Triggers and views of an untrusted schema do
 * not run; schema_check() refuses all else that could. One thread. Uses: base.
 */
#ifndef ASSAY_STORE_SQLITE_DATABASE_H
#define ASSAY_STORE_SQLITE_DATABASE_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct database_work;

struct database {
	sqlite3 *handle;
	struct database_work *work; /* limit of a statement; NULL: in memory */
	char *path;                 /* absolute, directories resolved */
	VEC(struct database_statement) kept;
};

struct database_statement {
	const char *sql; /* compared by address */
	sqlite3_stmt *statement;
};

enum database_mode {
	DATABASE_READ,
	DATABASE_WRITE,
};

/* The file must exist, and `d` must be zeroed. Call database_close() after an error too. */
int database_open(struct database *d, const char *path, enum database_mode mode, struct error *err);
void database_close(struct database *d); /* accepts a zeroed `d` */

/* Sets the message for an error of SQLite during `what`. Returns -errno. */
int database_error(const struct database *d, int code, const char *what, struct error *err);

/* Before a statement that does not run through this header: its limit of work begins. */
void database_work_begin(struct database *d);

/* Runs all statements of a text and ignores their rows. */
int database_run(struct database *d, const char *sql, struct error *err);
/* The caller must call sqlite3_finalize(). */
int database_prepare(struct database *d, const char *sql, sqlite3_stmt **statement,
                     struct error *err);
/* As above for a constant text: prepared once, kept until database_close(), returned reset. */
int database_kept(struct database *d, const char *sql, sqlite3_stmt **statement, struct error *err);
/* 1: a row; 0: the end; -errno. After 0 and -errno the statement is reset. */
int database_step(struct database *d, sqlite3_stmt *statement, struct error *err);
/*
 * Binds parameters from the first on, one letter each: i int64_t, u uint64_t, d double, s const
 * char * (NULL: null), b const void * and size_t, n null. Texts must live until the statement is
 * reset.
 */
int database_bind(struct database *d, sqlite3_stmt *statement, struct error *err,
                  const char *letters, ...);
/* database_kept(), bound, and its first step: 1, 0 or -errno; the caller resets it. */
int database_find(struct database *d, const char *sql, sqlite3_stmt **statement, struct error *err,
                  const char *letters, ...);
/* Binds and runs a statement that returns no rows. */
int database_put(struct database *d, sqlite3_stmt *statement, struct error *err,
                 const char *letters, ...);
/* Reads the first column of the first row; `otherwise` if there is no row or it is NULL. */
int database_number(struct database *d, const char *sql, int64_t otherwise, int64_t *number,
                    struct error *err);

#endif
