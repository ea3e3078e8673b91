/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/sqlite_store_internal.h"

#include "base/clock.h"
#include "store/sqlite/keep/store_retention.h"

#include "base/file/replace_by_path.h"
#include "store/sqlite/database_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The WAL is copied into the database about every megabyte, and truncated to this size. It
 * stays that small unless a reader is active.
 */
static const char write_settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                     "PRAGMA wal_autocheckpoint = 256;"
                                     "PRAGMA journal_size_limit = 2097152;"
                                     "PRAGMA temp_store = MEMORY;";

/* 1: created; 0: the file existed; -errno. */
static int make_file(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return error_set(err, errno, "%s: the store cannot be created: %s", path,
		                 strerror(errno));
	close(fd);
	return 1;
}

/* *version 0: an empty file, which will become a store. */
static int check_file(const char *path, int *version, struct error *err)
{
	struct error why = {0};
	struct stat st;
	int status;

	if (!lstat(path, &st) && S_ISLNK(st.st_mode))
		return error_set(err, ELOOP, "%s is a link: name the store itself", path);
	status = schema_recognise(path, version, &why);
	if (!status || status == -ENODATA)
		return 0;
	return error_set(err, -status, "%s", why.text);
}

static int open_for_writing(struct sqlite_store *s, const char *path, struct error *err)
{
	int version, status = check_file(path, &version, err);

	if (!status)
		status = database_open(&s->db, path, DATABASE_WRITE, err);
	if (!status)
		status = version ? schema_check(&s->db, err) : schema_create(&s->db, err);
	if (!status && version && version < STORE_VERSION)
		status = schema_upgrade(&s->db, version, err);
	if (!status)
		status = database_run(&s->db, write_settings, err);
	return status;
}

static int open_for_reading(struct sqlite_store *s, const char *path, struct error *err)
{
	int version, status = schema_recognise(path, &version, err);

	if (!status)
		status = database_open(&s->db, path, DATABASE_READ, err);
	return status ? status : schema_check(&s->db, err);
}

static void set_defaults(struct store_retention_rules *k)
{
	k->fine_ns = k->fine_ns ? k->fine_ns : STORE_FINE_NS;
	k->coarse_ns = k->coarse_ns ? k->coarse_ns : STORE_COARSE_NS;
	k->all_ns = k->all_ns ? k->all_ns : STORE_ALL_NS;
	k->bytes = k->bytes ? k->bytes : STORE_BYTES;
}

int sqlite_store_open(struct sqlite_store **out, const char *path,
                      const struct store_options *options, struct error *err)
{
	struct sqlite_store *s;
	int made = 0, status;

	*out = NULL;
	if (!options->read_only) {
		made = database_place(path, DATABASE_WRITE, NULL, err);
		made = made ? made : make_file(path, err);
	}
	if (made < 0)
		return made;
	s = xcalloc(1, sizeof(*s));
	s->store.engine = &sqlite_engine;
	s->lock_fd = -1;
	s->options = *options;
	set_defaults(&s->options.keeping);
	status = options->read_only ? open_for_reading(s, path, err)
	                            : open_for_writing(s, path, err);
	if (!status) {
		*out = s;
		return 0;
	}
	sqlite_store_close(s);
	if (made)
		unlink(path);
	return status;
}

void sqlite_store_close(struct sqlite_store *s)
{
	if (!s)
		return;
	store_retention_run_free(s->keeper);
	names_done(&s->names);
	database_close(&s->db);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s);
}

static int copy_into(struct sqlite_store *s, const char *part, struct error *err)
{
	sqlite3_stmt *copy;
	int status = database_prepare(&s->db, "VACUUM INTO ?", &copy, err);

	if (status)
		return status;
	status = database_put(&s->db, copy, err, "s", part);
	sqlite3_finalize(copy);
	return status;
}

int sqlite_store_copy(struct sqlite_store *s, const char *path, struct error *err)
{
	struct replace_by_path copy;
	int status = replace_file_check(path, err);

	/* SQLite would create it readable for all users. */
	if (!status)
		status = replace_by_path_begin(&copy, path, err);
	if (status)
		return status;
	return replace_by_path_end(&copy, copy_into(s, copy.path, err), err);
}

/* The size of the file and of its WAL. */
uint64_t sqlite_store_bytes(const struct sqlite_store *s)
{
	char *wal = xasprintf("%s-wal", s->db.path);
	struct stat st;
	uint64_t bytes = 0;

	if (!stat(s->db.path, &st))
		bytes += (uint64_t)st.st_size;
	if (!stat(wal, &st))
		bytes += (uint64_t)st.st_size;
	free(wal);
	return bytes;
}

static int count_windows(struct sqlite_store *s, int64_t *all, int64_t *made, struct error *err)
{
	int status = database_number(&s->db, "SELECT count(*) FROM window WHERE level >= 0", 0, all,
	                             err);

	return status ? status
	              : database_number(&s->db, "SELECT count(*) FROM window WHERE level > 0", 0,
	                                made, err);
}

int sqlite_store_keep(const char *path, const struct store_retention_rules *rules, uint64_t now_ns,
                      struct store_kept *kept, struct error *err)
{
	struct store_options options = {.keeping = *rules};
	int64_t before = 0, after = 0, made_before = 0, made = 0;
	struct sqlite_store *s;
	int status = 0, changes;

	*kept = (struct store_kept){0};
	if (access(path, F_OK))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	status = sqlite_store_open(&s, path, &options, err);
	if (status)
		return status;
	now_ns = now_ns ? now_ns : clock_ns(CLOCK_REALTIME);
	status = count_windows(s, &before, &made_before, err);
	do {
		changes = sqlite3_total_changes(s->db.handle);
		if (!status)
			status = sqlite_store_retention(s, now_ns, err);
	} while (!status && changes != sqlite3_total_changes(s->db.handle));
	if (!status)
		status = count_windows(s, &after, &made, err);
	kept->made = made > made_before ? (uint64_t)(made - made_before) : 0;
	kept->merged = before > after ? (uint64_t)(before - after) + kept->made : kept->made;
	sqlite_store_close(s);
	return status;
}
