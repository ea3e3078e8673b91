/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/sqlite_store_internal.h"

#include "base/this_boot.h"
#include "store/sqlite/store_window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ids reserved for a running measurement of another host in the same file. */
#define IDS_RESERVED ((int64_t)1 << 40)
/* Only a damaged store has larger ids. Ids after this limit still fit into 64 bits. */
#define IDS_MAX ((int64_t)1 << 62)

static int lock_file(struct sqlite_store *s, struct error *err)
{
	char *path = xasprintf("%s-lock", s->db.path);
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	int status = 0;

	if (fd < 0 || fstat(fd, &st))
		status = error_set(err, errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		status = error_set(err, EINVAL, "%s is not a regular file", path);
	if (status && fd >= 0)
		close(fd);
	else if (!status)
		s->lock_fd = fd;
	free(path);
	return status;
}

static int64_t writer_of(struct sqlite_store *s)
{
	static const char select[] = "SELECT writer FROM session WHERE host = ? AND ended IS NULL "
	                             "ORDER BY id DESC LIMIT 1";
	sqlite3_stmt *find;
	int64_t pid = 0;

	if (database_kept(&s->db, select, &find, NULL) ||
	    database_bind(&s->db, find, NULL, "i", s->host))
		return 0;
	if (database_step(&s->db, find, NULL) == 1)
		pid = sqlite3_column_int64(find, 0);
	sqlite3_reset(find);
	return pid;
}

/*
 * One writer per host: a file lock on the byte with the number of the host. The kernel releases
 * the lock when the process ends in any way.
 */
static int lock_host(struct sqlite_store *s, const char *name, struct error *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int64_t pid;
	int status = s->lock_fd < 0 ? lock_file(s, err) : 0;

	if (status)
		return status;
	lock.l_start = s->host;
	if (!fcntl(s->lock_fd, F_OFD_SETLK, &lock))
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return error_set(err, errno, "%s-lock: %s", s->db.path, strerror(errno));
	pid = writer_of(s);
	if (pid)
		return error_set(err, EALREADY,
		                 "%s: process %d already writes the measurements of %s to it: stop "
		                 "it (assay status), or use another store",
		                 s->db.path, (int)pid, name);
	return error_set(err, EALREADY,
	                 "%s: another process already writes the measurements of %s to it: stop it "
	                 "(assay status), or use another store",
	                 s->db.path, name);
}

/* In a separate transaction, since the lock needs the number of the host. */
static int add_host(struct sqlite_store *s, const char *name, const struct recording *r,
                    struct error *err)
{
	static const char upsert[] =
	        "INSERT INTO host (name, release, arch, cpu, cpus) VALUES (?, ?, ?, ?, ?) ON "
	        "CONFLICT DO UPDATE SET release = excluded.release, arch = excluded.arch, "
	        "cpu = excluded.cpu, cpus = excluded.cpus RETURNING id";
	sqlite3_stmt *put;
	int status = database_kept(&s->db, upsert, &put, err);

	if (!status)
		status = database_bind(&s->db, put, err, "ssssi", name, r->os_release, r->arch,
		                       r->cpu_description, (int64_t)r->cpus_online);
	if (!status)
		status = database_step(&s->db, put, err);
	if (status != 1)
		return status;
	s->host = sqlite3_column_int64(put, 0);
	/* The statement runs to its end, where it is committed. */
	status = database_step(&s->db, put, err);
	return status < 0 ? status : 0;
}

struct open_session {
	int64_t id, end_ns;
	bool same_boot;
};

/* Finds a session of this host that has no end; id 0: there is none. */
static int find_open(struct sqlite_store *s, const char *boot, struct open_session *o,
                     struct error *err)
{
	static const char select[] =
	        "SELECT id, coalesce((SELECT max(end_ns) FROM window WHERE session = s.id), "
	        "start_ns), boot IS ? FROM session s WHERE host = ? AND ended IS NULL LIMIT 1";
	sqlite3_stmt *find;
	int status = database_kept(&s->db, select, &find, err);

	*o = (struct open_session){0};
	if (!status)
		status = database_bind(&s->db, find, err, "si", boot, s->host);
	if (!status)
		status = database_step(&s->db, find, err);
	if (status != 1)
		return status;
	o->id = sqlite3_column_int64(find, 0);
	o->end_ns = sqlite3_column_int64(find, 1);
	o->same_boot = sqlite3_column_int64(find, 2);
	sqlite3_reset(find);
	return 0;
}

static int end_session(struct sqlite_store *s, int64_t session, int64_t end_ns, const char *why,
                       struct error *err)
{
	sqlite3_stmt *put;
	int status = database_kept(&s->db, "UPDATE session SET end_ns = ?, ended = ? WHERE id = ?",
	                           &put, err);

	return status ? status : database_put(&s->db, put, err, "isi", end_ns, why, session);
}

/* This process holds the lock, so the writer of an open session in the table no longer runs. */
static int end_killed(struct sqlite_store *s, const char *boot, uint64_t start_ns,
                      struct error *err)
{
	struct open_session o;
	int64_t before = 0;
	int status;

	for (;; before = o.id) {
		status = find_open(s, boot, &o, err);
		if (status || !o.id)
			return status;
		if (o.id == before)
			return error_set(err, EUCLEAN, "%s: session %d in it cannot be ended",
			                 s->db.path, (int)o.id);
		status = end_session(s, o.id, o.end_ns, "killed", err);
		if (!status && (int64_t)start_ns > o.end_ns)
			status = store_gap_row(s, (uint64_t)o.end_ns, start_ns,
			                       o.same_boot ? "the measurement was killed"
			                                   : "the machine went down",
			                       err);
		if (status)
			return status;
	}
}

/*
 * The base is beyond all existing ids, and beyond ids that running sessions may still use. All
 * bases differ, even if a session was killed before it had a row: a row belongs to the session with
 * the largest base that is not above its id.
 */
static int find_base(struct sqlite_store *s, const char *greatest, const char *open,
                     const char *bases, int64_t *base, struct error *err)
{
	int64_t other, latest;
	int status = database_number(&s->db, greatest, 0, base, err);

	if (!status)
		status = database_number(&s->db, open, -IDS_RESERVED, &other, err);
	if (!status)
		status = database_number(&s->db, bases, -1, &latest, err);
	if (status)
		return status;
	if (*base > IDS_MAX || other > IDS_MAX || latest > IDS_MAX)
		return error_set(
		        err, EUCLEAN,
		        "%s: the ids of its processes are larger than any store uses: it is "
		        "damaged; move it away",
		        s->db.path);
	if (other + IDS_RESERVED > *base)
		*base = other + IDS_RESERVED;
	if (latest >= *base)
		*base = latest + 1;
	return 0;
}

static int find_bases(struct sqlite_store *s, struct error *err)
{
	int status = find_base(s, "SELECT max(id) FROM process",
	                       "SELECT max(process_base) FROM session WHERE ended IS NULL",
	                       "SELECT max(process_base) FROM session", &s->process_base, err);

	return status ? status
	              : find_base(s, "SELECT max(id) FROM thread",
	                          "SELECT max(thread_base) FROM session WHERE ended IS NULL",
	                          "SELECT max(thread_base) FROM session", &s->thread_base, err);
}

static int add_session(struct sqlite_store *s, const struct recording *r, const char *boot,
                       uint64_t start_ns, struct error *err)
{
	static const char insert[] =
	        "INSERT INTO session (host, boot, start_ns, version, command, release, "
	        "machine_wide, clock, wall_offset_ns, process_base, thread_base, writer) "
	        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *put;
	int status = database_kept(&s->db, insert, &put, err);

	if (!status)
		status = database_put(&s->db, put, err, "isusssiiiiii", s->host, boot, start_ns,
		                      r->version, r->cmdline, r->os_release,
		                      (int64_t)r->account.machine_wide, (int64_t)r->clockid,
		                      s->wall_offset_ns, s->process_base, s->thread_base,
		                      (int64_t)getpid());
	s->session = sqlite3_last_insert_rowid(s->db.handle);
	return status;
}

static int64_t attr_flags(const struct recording_attr *a)
{
	return (a->exclude_kernel ? SCHEMA_ATTR_EXCLUDE_KERNEL : 0) |
	       (a->exclude_user ? SCHEMA_ATTR_EXCLUDE_USER : 0) |
	       (a->exclude_idle ? SCHEMA_ATTR_EXCLUDE_IDLE : 0) |
	       (a->inherit ? SCHEMA_ATTR_INHERIT : 0) |
	       (a->context_switch ? SCHEMA_ATTR_CONTEXT_SWITCH : 0) |
	       (a->callchain ? SCHEMA_ATTR_CALLCHAIN : 0) |
	       (a->user_callchain ? SCHEMA_ATTR_USER_CALLCHAIN : 0) |
	       (a->stack_copies ? SCHEMA_ATTR_STACK_COPIES : 0);
}

static int add_events(struct sqlite_store *s, const struct recording *r, struct error *err)
{
	static const char insert[] =
	        "INSERT INTO session_event (session, place, event, type, config, sample_type, "
	        "period, frequency_hz, period_ns, flags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *put;
	int status = database_kept(&s->db, insert, &put, err);

	for (size_t i = 0; !status && i < r->attrs.count; i++) {
		const struct recording_attr *a = &r->attrs.items[i];
		int64_t event;

		status = store_event_id(s, a->name ? a->name : "", a->role, &event, err);
		if (!status)
			status = database_put(&s->db, put, err, "iiiiuuuuui", s->session,
			                      (int64_t)i, event, (int64_t)a->type, a->config,
			                      a->sample_type, a->period, a->frequency_hz,
			                      a->period_ns, attr_flags(a));
	}
	return status;
}

static int find_last_end(struct sqlite_store *s, struct error *err)
{
	static const char select[] =
	        "SELECT max((SELECT max(end_ns) FROM window WHERE session = s.id)) FROM session s "
	        "WHERE host = ?";
	sqlite3_stmt *find;
	int status = database_kept(&s->db, select, &find, err);

	if (!status)
		status = database_bind(&s->db, find, err, "i", s->host);
	if (!status)
		status = database_step(&s->db, find, err);
	if (status != 1)
		return status;
	s->last_end_ns = (uint64_t)sqlite3_column_int64(find, 0);
	sqlite3_reset(find);
	return 0;
}

static int write_begin_rows(struct sqlite_store *s, const struct recording *r, uint64_t start_ns,
                            struct error *err)
{
	char boot[64];
	int status;

	this_boot_id(boot);
	status = end_killed(s, *boot ? boot : NULL, start_ns, err);
	if (!status)
		status = find_bases(s, err);
	if (!status)
		status = find_last_end(s, err);
	if (!status)
		status = add_session(s, r, *boot ? boot : NULL, start_ns, err);
	return status ? status : add_events(s, r, err);
}

int sqlite_store_begin(struct sqlite_store *s, const struct recording *described, uint64_t start_ns,
                       struct error *err)
{
	const struct recording *r = described;
	const char *name = r->hostname && *r->hostname ? r->hostname : "localhost";
	int status;

	if (s->session)
		return error_set(err, EINVAL, "%s: a measurement already runs", s->db.path);
	s->wall_offset_ns =
	        (int64_t)((r->clock_wall_ns ? r->clock_wall_ns : start_ns) - r->clock_start_ns);
	s->process_seen = s->thread_seen = s->windows = 0;
	s->all_again = false;
	status = add_host(s, name, r, err);
	if (!status)
		status = lock_host(s, name, err);
	if (!status)
		status = store_write_begin(s, err);
	if (status)
		return status;
	status = write_begin_rows(s, r, start_ns, err);
	if (status)
		store_write_undo(s);
	else
		status = store_write_end(s, err);
	if (status)
		s->session = 0;
	return status;
}

static int write_notes(struct sqlite_store *s, char *const *notes, size_t count, struct error *err)
{
	sqlite3_stmt *put;
	int status = database_kept(&s->db, "DELETE FROM session_note WHERE session = ?", &put, err);

	if (!status)
		status = database_put(&s->db, put, err, "i", s->session);
	if (!status)
		status = database_kept(&s->db, "INSERT INTO session_note VALUES (?, ?, ?)", &put,
		                       err);
	for (size_t i = 0; !status && i < count; i++)
		status = database_put(&s->db, put, err, "iis", s->session, (int64_t)i, notes[i]);
	return status;
}

int sqlite_store_set_notes(struct sqlite_store *s, char *const *notes, size_t count,
                           struct error *err)
{
	int status = store_write_begin(s, err);

	if (status)
		return status;
	status = write_notes(s, notes, count, err);
	if (status)
		store_write_undo(s);
	else
		status = store_write_end(s, err);
	return status;
}

int sqlite_store_end(struct sqlite_store *s, uint64_t end_ns, const char *why, struct error *err)
{
	int status;

	if (!s->session)
		return error_set(err, EINVAL, "%s: no measurement was started", s->db.path);
	status = end_session(s, s->session, (int64_t)end_ns, why, err);
	s->session = 0;
	return status;
}
