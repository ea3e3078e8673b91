/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_spool.h"

#include "base/clock.h"
#include "base/file/cache_dir.h"
#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"
#include "base/piece.h"
#include "store/clickhouse/click_digest.h"
#include "store/sqlite/database_place.h"
#include "store/sqlite/keep/store_retention.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define DELETE_NS UINT64_C(20000000) /* CPU time of one call */
#define HOLD_MS 20                   /* between two attempts to get the lock */
#define BATCH PIECE_OF(64)           /* windows, for which one transaction is short */
#define ROOM_PART 8                  /* this part of the room is a reserve, */
#define ROOM_MAX (UINT64_C(4) << 20) /* at most so much; the WAL has half as much */
#define ROOM_PAGES_MAX 256

static int make_directory(const char *directory, struct error *err)
{
	int fd = safe_directory_open(
	        directory, SAFE_DIRECTORY_MAKE | SAFE_DIRECTORY_OURS | SAFE_DIRECTORY_CLOSED, NULL,
	        err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* ~/.cache/assay/spool */
static int users_directory(char **directory, struct error *err)
{
	struct cache_dir *cache;
	char *path, *slash;
	int status = cache_dir_open(&cache, err);

	*directory = NULL;
	if (status)
		return status;
	path = cache_dir_path(cache, "spool", "x");
	slash = path ? strrchr(path, '/') : NULL;
	if (slash)
		*slash = 0;
	cache_dir_close(cache);
	*directory = path;
	return path ? 0 : error_set(err, ENOENT, "the cache has no directory for a spool");
}

static int find_directory(const char *given, char **directory, struct error *err)
{
	if (!given || !*given)
		given = getenv("ASSAY_SPOOL");
	if (!given || !*given)
		given = geteuid() ? NULL : DATABASE_PLACE_OF_ROOT;
	*directory = given ? xstrdup(given) : NULL;
	return given ? 0 : users_directory(directory, err);
}

int click_spool_path(const char *name, const char *given, char **path, struct error *err)
{
	char *directory = NULL;
	int status = find_directory(given, &directory, err);

	*path = NULL;
	if (!status)
		status = make_directory(directory, err);
	if (!status)
		*path = xasprintf("%s/spool-%016" PRIx64 ".db", directory,
		                  click_digest("spool", "s", name));
	free(directory);
	return status;
}

/* Byte 0 of the file of locks; others are those of hosts (store_session.c). */
static int try_lock(const char *path, int fd, struct error *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return error_set(err, EBUSY, "%s: another process sends from it", path);
	return error_set(err, errno, "%s-lock: %s", path, strerror(errno));
}

int click_spool_hold(const char *path, uint64_t wait_ms, int *fd, struct error *err)
{
	char *name = xasprintf("%s-lock", path);
	int status = 0;

	*fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (*fd < 0)
		status = error_set(err, errno, "%s: %s", name, strerror(errno));
	free(name);
	for (uint64_t ms = 0; !status; ms += HOLD_MS) {
		status = try_lock(path, *fd, err);
		if (status != -EBUSY || ms >= wait_ms)
			break;
		nanosleep(&(struct timespec){.tv_nsec = HOLD_MS * 1000000}, NULL);
		status = 0;
	}
	if (status && *fd >= 0)
		close(*fd);
	if (status)
		*fd = -1;
	return status;
}

_Static_assert(CLICK_SPOOL_SENT == 4 && CLICK_SPOOL_TAKEN == 8, "the statements below");

static int find_taken(struct database *db, click_window_ids *ids, struct send_count *count,
                      struct error *err)
{
	sqlite3_stmt *row;
	int status = database_kept(db,
	                           "SELECT id, merged, samples FROM window WHERE level >= 8"
	                           " ORDER BY start_ns, id",
	                           &row, err);

	ids->count = 0;
	*count = (struct send_count){0};
	while (!status && (status = database_step(db, row, err)) == 1) {
		vec_push(ids, sqlite3_column_int64(row, 0));
		sending_count(count, (uint64_t)sqlite3_column_int64(row, 1),
		              (uint64_t)sqlite3_column_int64(row, 2));
		status = 0;
	}
	return status;
}

int click_spool_take(struct database *db, click_window_ids *ids, struct send_count *count,
                     struct error *err)
{
	static const char take[] =
	        "UPDATE window SET level = level + 8 WHERE id IN (SELECT id FROM window WHERE level"
	        " BETWEEN 0 AND 3 ORDER BY start_ns, id LIMIT ?)";
	sqlite3_stmt *put;
	int status = find_taken(db, ids, count, err);

	if (status || ids->count)
		return status;
	status = database_kept(db, take, &put, err);
	if (!status)
		status = database_put(db, put, err, "i", (int64_t)BATCH);
	return status || !sqlite3_changes(db->handle) ? status : find_taken(db, ids, count, err);
}

int click_spool_sent(struct database *db, const click_window_ids *ids, struct error *err)
{
	/* Of the windows that were sent, all but the newest are deleted. */
	static const char release[] =
	        "UPDATE window SET level = -1 WHERE level = 4 AND id <>"
	        " (SELECT id FROM window WHERE level = 4 ORDER BY end_ns DESC, id DESC LIMIT 1)";
	sqlite3_stmt *put;
	int status = database_run(db, "BEGIN IMMEDIATE", err);

	if (!status)
		status = database_kept(db, "UPDATE window SET level = 4 WHERE id = ?", &put, err);
	for (size_t i = 0; !status && i < ids->count; i++)
		status = database_put(db, put, err, "i", ids->items[i]);
	if (!status)
		status = database_run(db, release, err);
	if (!status)
		status = database_run(db, "COMMIT", err);
	if (status && !sqlite3_get_autocommit(db->handle))
		database_run(db, "ROLLBACK", NULL);
	return status;
}

int click_spool_waiting(struct database *db, int64_t newest, struct send_count *count,
                        struct error *err)
{
	sqlite3_stmt *row;
	int status = database_find(db,
	                           "SELECT coalesce(sum(merged), 0), coalesce(sum(samples), 0)"
	                           " FROM window WHERE (level BETWEEN 0 AND 3 OR level >= 8)"
	                           " AND id <= ?",
	                           &row, err, "i", newest);

	*count = (struct send_count){0};
	if (status == 1)
		*count = (struct send_count){(uint64_t)sqlite3_column_int64(row, 0),
		                             (uint64_t)sqlite3_column_int64(row, 1)};
	if (row)
		sqlite3_reset(row);
	return status < 0 ? status : 0;
}

void click_spool_room_release(struct click_room *room, const char *path)
{
	char *name = xasprintf("%s-room", path);

	unlink(name);
	free(name);
	room->held = false;
}

static uint64_t free_bytes(const char *path)
{
	struct statvfs disk;

	return statvfs(path, &disk) ? 0 : (uint64_t)disk.f_bavail * disk.f_frsize;
}

/* Bytes that the spool has or could have: its files, and what is free. */
static uint64_t room_of(const struct sqlite_store *spool, const char *name)
{
	struct stat st;
	uint64_t bytes = sqlite_store_bytes(spool) + free_bytes(spool->db.path);

	return stat(name, &st) ? bytes : bytes + (uint64_t)st.st_blocks * 512;
}

/* The WAL must not need more than the reserve when it is copied into the database. */
static void room_limit_wal(const struct click_room *room, struct sqlite_store *spool)
{
	uint64_t pages = room->spared / 2 / SCHEMA_PAGE_BYTES;
	char sql[128];

	snprintf(sql, sizeof(sql),
	         "PRAGMA wal_autocheckpoint = %" PRIu64 "; PRAGMA journal_size_limit = %" PRIu64,
	         pages < ROOM_PAGES_MAX ? pages : ROOM_PAGES_MAX, room->spared / 2);
	database_run(&spool->db, sql, NULL);
}

void click_spool_room_hold(struct click_room *room, struct sqlite_store *spool)
{
	char *name = xasprintf("%s-room", spool->db.path);
	uint64_t bytes = room_of(spool, name), taken;
	int fd = -1;

	if (!room->spared) {
		room->spared = bytes / ROOM_PART < ROOM_MAX ? bytes / ROOM_PART : ROOM_MAX;
		room_limit_wal(room, spool);
	}
	taken = 3 * room->spared;
	bytes = bytes > 2 * taken ? bytes - taken : bytes / 2;
	spool->options.keeping.bytes = bytes < room->asked ? bytes : room->asked;
	if (!room->held) {
		/*
		 * The WAL and free pages become free space of the disk. The WAL first: on a full
		 * disk nothing can be added to it, and nothing else can be changed then.
		 */
		database_run(&spool->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
		database_run(&spool->db, "PRAGMA incremental_vacuum(512)", NULL);
		database_run(&spool->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
		/* The next window needs room, too. */
		if (free_bytes(spool->db.path) >= 2 * room->spared)
			fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		room->held = fd >= 0 && !posix_fallocate(fd, 0, (off_t)room->spared);
		if (fd >= 0)
			close(fd);
		if (!room->held)
			unlink(name);
	}
	free(name);
}

/* The oldest window was sent: a step of retention deletes its rows. */
static int delete_sent(struct sqlite_store *spool, struct error *err)
{
	int64_t level;
	int status = database_number(
	        &spool->db, "SELECT level FROM window WHERE level < 8 ORDER BY start_ns LIMIT 1", 0,
	        &level, err);

	if (status || level != KEEP_LEVEL_GOES)
		return status;
	return keep_delete_step(spool, INT64_MAX, err);
}

int click_spool_retention(struct sqlite_store *spool, uint64_t now_ns, struct error *err)
{
	uint64_t used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int status = sqlite_store_retention(spool, now_ns, err);

	if (status)
		return status;
	do
		status = delete_sent(spool, err);
	while (status == 1 && clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_ns < DELETE_NS);
	return status < 0 ? status : 0;
}
