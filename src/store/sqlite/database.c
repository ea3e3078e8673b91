/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/database.h"

#include "base/limit.h"
#include "base/memory/buf.h"
#include "store/sqlite/database_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer than the writer of another host needs for one window. */
#define BUSY_MS 5000

/*
 * Instructions of SQLite that a statement may run, and in a transaction of a reader all statements
 * together. A report needs one for three bytes of its store; the base takes a second.
 */
#define WORK_STEP 100000 /* between two looks */
#define WORK_BASE UINT64_C(20000000)
#define WORK_BYTE 64

/* On the heap, since a struct database may be copied. */
struct database_work {
	uint64_t done, bytes;
	bool of_reader;
	char *path;
};

/* Space on the disk: a file may claim any size. */
static uint64_t work_bytes(const char *path)
{
	char *wal = xasprintf("%s-wal", path);
	struct stat st;
	uint64_t bytes = 0;

	if (!stat(path, &st))
		bytes += (uint64_t)st.st_blocks * 512;
	if (!stat(wal, &st))
		bytes += (uint64_t)st.st_blocks * 512;
	free(wal);
	return bytes;
}

/* True ends the statement. */
static int work_is_over(void *ctx)
{
	struct database_work *w = ctx;

	w->done += WORK_STEP;
	if (w->done <= WORK_BASE + WORK_BYTE * w->bytes)
		return 0;
	w->bytes = work_bytes(w->path); /* a writer may have added to it */
	return w->done > WORK_BASE + WORK_BYTE * w->bytes;
}

void database_work_begin(struct database *d)
{
	if (d->work && (!d->work->of_reader || sqlite3_get_autocommit(d->handle)))
		d->work->done = 0;
}

static void work_limit(struct database *d, enum database_mode mode)
{
	d->work = xcalloc(1, sizeof(*d->work));
	d->work->of_reader = mode == DATABASE_READ;
	d->work->path = xstrdup(d->path);
	sqlite3_progress_handler(d->handle, WORK_STEP, work_is_over, d->work);
}

/* The journal of a database in memory has no such function. */
static int file_errno(sqlite3_file *file)
{
	int code = 0;

	if (file && file->pMethods && file->pMethods->xFileControl)
		file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &code);
	return code;
}

/* The errno of the last system call of SQLite, for the database or its WAL. */
static int system_code(const struct database *d)
{
	sqlite3_file *file = NULL;
	int code;

	if (!d->handle)
		return 0;
	code = sqlite3_system_errno(d->handle);
	if (!code && !sqlite3_file_control(d->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file))
		code = file_errno(file);
	if (!code && !sqlite3_file_control(d->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file))
		code = file_errno(file);
	return code == EDQUOT || code == EFBIG ? ENOSPC : code;
}

static int code_of(const struct database *d, int code)
{
	int told = system_code(d);

	switch (code & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_READONLY:
		return EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return EUCLEAN;
	case SQLITE_TOOBIG:
		return E2BIG;
	case SQLITE_INTERRUPT:
		return ETIMEDOUT;
	case SQLITE_IOERR:
		return told ? told : EIO;
	case SQLITE_CANTOPEN:
		return told ? told : EACCES;
	default:
		return EINVAL;
	}
}

static const char *way_out(int code)
{
	switch (code) {
	case ENOSPC:
		return ": the disk is full";
	case EBUSY:
		return ": another process is writing to it and does not finish";
	case EROFS:
	case EACCES:
		return ": the file and its directory must be writable for this user";
	case ETIMEDOUT:
		return ": it needs more work than a store of its size: it is damaged, or another "
		       "program made it";
	case EUCLEAN:
		return ": it is damaged; move it away, or run `sqlite3 FILE .recover`";
	default:
		return "";
	}
}

int database_error(const struct database *d, int code, const char *what, struct error *err)
{
	const char *words = d->handle ? sqlite3_errmsg(d->handle) : sqlite3_errstr(code);
	int number = code_of(d, code);

	return error_set(err, number, "%s: %s: %s%s", d->path, what, words, way_out(number));
}

static int check_file(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return error_set(err, ELOOP, "%s is a link: name the file itself", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s is not a regular file", path);
	return 0;
}

/*
 * Nothing in the schema of an untrusted file runs. Before 3.35 SQLite would disable views in `temp`
 * too.
 */
static void distrust(struct database *d)
{
	if (sqlite3_libversion_number() >= 3035000)
		sqlite3_db_config(d->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(d->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(d->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(d->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(d->handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(d->handle, SQLITE_LIMIT_LENGTH, (int)LIMIT_STORE_VALUE_BYTES);
}

/*
 * On read-only media, or in the directory of another user, SQLite cannot create the WAL files that
 * readers share. Without a WAL no process writes the file, so it can be read without these files.
 * An empty WAL was left by a reader.
 */
static bool stands_still(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
	char *wal = xasprintf("%s-wal", path);
	struct stat st;
	bool still = faccessat(AT_FDCWD, directory, W_OK, AT_EACCESS) &&
	             (lstat(wal, &st) || !st.st_size);

	free(directory);
	free(wal);
	return still;
}

/* The path as a URI for SQLite, with a parameter. */
static char *uri_of(const char *path)
{
	struct buf uri = {0};

	buf_puts(&uri, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_addf(&uri, "%%%02x", (unsigned)*path);
		else
			buf_putc(&uri, *path);
	buf_puts(&uri, "?immutable=1");
	return uri.data;
}

static int open_handle(struct database *d, enum database_mode mode)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, status;
	char *uri;

	if (mode == DATABASE_WRITE)
		return sqlite3_open_v2(d->path, &d->handle, flags | SQLITE_OPEN_READWRITE, NULL);
	if (!stands_still(d->path))
		return sqlite3_open_v2(d->path, &d->handle, flags | SQLITE_OPEN_READONLY, NULL);
	uri = uri_of(d->path);
	status = sqlite3_open_v2(uri, &d->handle, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
	                         NULL);
	free(uri);
	return status;
}

int database_open(struct database *d, const char *path, enum database_mode mode, struct error *err)
{
	int status;

	status = database_place(path, mode, &d->path, err);
	if (!status)
		status = check_file(d->path, err);
	if (status)
		return status;
	status = open_handle(d, mode);
	if (status)
		return database_error(d, status, "cannot be opened", err);
	sqlite3_extended_result_codes(d->handle, 1);
	sqlite3_busy_timeout(d->handle, BUSY_MS);
	distrust(d);
	work_limit(d, mode);
	/* No mmap: if the file is truncated while it is mapped, an access raises SIGBUS. */
	return database_run(d,
	                    "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;"
	                    "PRAGMA cache_size = -2048;",
	                    err);
}

void database_close(struct database *d)
{
	vec_each (kept, &d->kept)
		sqlite3_finalize(kept->statement);
	vec_done(&d->kept);
	if (d->handle)
		sqlite3_close(d->handle);
	if (d->work)
		free(d->work->path);
	free(d->work);
	free(d->path);
	*d = (struct database){0};
}

int database_run(struct database *d, const char *sql, struct error *err)
{
	int status;

	database_work_begin(d);
	status = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
	return status ? database_error(d, status, "cannot be used", err) : 0;
}

int database_prepare(struct database *d, const char *sql, sqlite3_stmt **statement,
                     struct error *err)
{
	int status =
	        sqlite3_prepare_v3(d->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);

	return status ? database_error(d, status, "its tables are not as expected", err) : 0;
}

int database_kept(struct database *d, const char *sql, sqlite3_stmt **statement, struct error *err)
{
	struct database_statement *made;
	int status;

	vec_each (kept, &d->kept)
		if (kept->sql == sql) {
			*statement = kept->statement;
			return 0;
		}
	status = database_prepare(d, sql, statement, err);
	if (status)
		return status;
	made = vec_add(&d->kept);
	made->sql = sql;
	made->statement = *statement;
	return 0;
}

int database_step(struct database *d, sqlite3_stmt *statement, struct error *err)
{
	int status;

	database_work_begin(d);
	status = sqlite3_step(statement);
	if (status == SQLITE_ROW)
		return 1;
	if (status != SQLITE_DONE)
		status = database_error(d, status,
		                        sqlite3_stmt_readonly(statement) ? "cannot be read"
		                                                         : "cannot be written to",
		                        err);
	else
		status = 0;
	sqlite3_reset(statement);
	return status;
}

static int bind_one(sqlite3_stmt *statement, int place, char letter, va_list *values)
{
	const void *bytes;

	switch (letter) {
	case 'i':
		return sqlite3_bind_int64(statement, place, va_arg(*values, int64_t));
	case 'u':
		return sqlite3_bind_int64(statement, place, (int64_t)va_arg(*values, uint64_t));
	case 'd':
		return sqlite3_bind_double(statement, place, va_arg(*values, double));
	case 's':
		return sqlite3_bind_text(statement, place, va_arg(*values, const char *), -1,
		                         SQLITE_STATIC);
	case 'b':
		bytes = va_arg(*values, const void *);
		return sqlite3_bind_blob64(statement, place, bytes, va_arg(*values, size_t),
		                           SQLITE_STATIC);
	default:
		return sqlite3_bind_null(statement, place);
	}
}

static int bind_all(struct database *d, sqlite3_stmt *statement, struct error *err,
                    const char *letters, va_list *values)
{
	int status = 0;

	for (int i = 0; !status && letters[i]; i++)
		status = bind_one(statement, i + 1, letters[i], values);
	return status ? database_error(d, status, "a value cannot be bound", err) : 0;
}

int database_bind(struct database *d, sqlite3_stmt *statement, struct error *err,
                  const char *letters, ...)
{
	va_list values;
	int status;

	va_start(values, letters);
	status = bind_all(d, statement, err, letters, &values);
	va_end(values);
	return status;
}

int database_find(struct database *d, const char *sql, sqlite3_stmt **statement, struct error *err,
                  const char *letters, ...)
{
	va_list values;
	int status = database_kept(d, sql, statement, err);

	va_start(values, letters);
	if (!status)
		status = bind_all(d, *statement, err, letters, &values);
	va_end(values);
	return status ? status : database_step(d, *statement, err);
}

int database_put(struct database *d, sqlite3_stmt *statement, struct error *err,
                 const char *letters, ...)
{
	va_list values;
	int status;

	va_start(values, letters);
	status = bind_all(d, statement, err, letters, &values);
	va_end(values);
	if (!status)
		status = database_step(d, statement, err);
	if (status > 0) {
		sqlite3_reset(statement);
		status = 0;
	}
	return status;
}

int database_number(struct database *d, const char *sql, int64_t otherwise, int64_t *number,
                    struct error *err)
{
	sqlite3_stmt *statement;
	int status = database_prepare(d, sql, &statement, err);

	*number = otherwise;
	if (status)
		return status;
	status = database_step(d, statement, err);
	if (status == 1 && sqlite3_column_type(statement, 0) != SQLITE_NULL)
		*number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return status < 0 ? status : 0;
}
