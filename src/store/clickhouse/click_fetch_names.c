/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows to which samples refer: threads, processes, stacks, frames, images, events, names. */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_schema.h"

#include <stdlib.h>

#define DEPTH_MAX 65536
/* An id of a name or of a frame is one half of a number of 64 bits. */
#define HALF_MAX INT64_C(0x7fffffff)

/* Ids of processes and threads: below 0 for folded ones, as in SQLite stores (schema.h). */
static int64_t numbered(struct click_map *m, uint64_t hash, bool folded)
{
	bool added;
	uint64_t *id = click_map_place(m, hash, &added);

	if (!*id)
		*id = folded ? (uint64_t) - (int64_t)m->pairs.count : m->pairs.count;
	return (int64_t)*id;
}

/* The id of a name; 0: none. */
static int64_t named(struct click_fetch *f, uint64_t hash)
{
	return hash ? (int64_t)click_map_number(&f->names, hash) : 0;
}

static int take_thread(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char insert[] = "INSERT OR REPLACE INTO thread (id, process, tid, name,"
	                             " start_ns, life_ns) VALUES (?, ?, ?, nullif(?, 0), ?, ?)";
	bool added;
	/* The thread is in the map already: its place is its number. */
	uint64_t *id = click_map_place(&f->threads, v[0].number, &added);

	if (added) /* not asked for */
		return 0;
	if (!*id) {
		*id = ++f->thread_count;
		if (v[6].number)
			*id = (uint64_t) - (int64_t)*id;
	}
	return click_fetch_put(f, insert, err, "iizizz", (int64_t)*id,
	                       v[1].number ? numbered(&f->processes, v[1].number, v[6].number) : 0,
	                       (int64_t)v[2].number, named(f, v[3].number), (int64_t)v[4].number,
	                       (int64_t)v[5].number);
}

static int take_process(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char insert[] =
	        "INSERT OR REPLACE INTO process (id, host, name, instance, pid, parent, start_ns,"
	        " life_ns, cgroup, kernel, instances, oncpu_ns, runnable_ns, blocked_ns)"
	        " VALUES (?, ?, ?, ?, ?, nullif(?, 0), ?, ?, nullif(?, 0), ?, ?, ?, ?, ?)";

	return click_fetch_put(f, insert, err,
	                       "iiinziz"
	                       "zinn"
	                       "nnn",
	                       numbered(&f->processes, v[1].number, v[10].number),
	                       (int64_t)click_map_get(&f->hosts, v[0].number),
	                       named(f, v[2].number), &v[3], (int64_t)v[4].number,
	                       (int64_t)click_map_get(&f->processes, v[5].number),
	                       (int64_t)v[6].number, (int64_t)v[7].number, named(f, v[8].number),
	                       &v[9], &v[11], &v[12], &v[13], &v[14]);
}

/*
 * The server knows times of processes only for their whole lives. The reader uses them if the range
 * is the whole history, and cannot see that here, since the database has only the range.
 */
static int forget_times(struct click_fetch *f, struct error *err)
{
	if (f->parts.pairs.count >= f->windows_all)
		return 0;
	return database_run(
	        f->db, "UPDATE process SET oncpu_ns = 0, runnable_ns = 0, blocked_ns = 0", err);
}

int click_fetch_threads(struct click_fetch *f, struct error *err)
{
	char *sql = xasprintf("SELECT host, id, name, instance, pid, parent, start_ns, life_ns,"
	                      " cgroup, kernel, folded, instances, oncpu_ns, runnable_ns,"
	                      " blocked_ns FROM processes WHERE host IN (%s) AND id IN keys"
	                      " ORDER BY place, id, changed FORMAT RowBinary",
	                      buf_text(&f->host_list));
	char *threads = xasprintf("SELECT id, process, tid, name, start_ns, life_ns, folded FROM"
	                          " threads WHERE host IN (%s) AND id IN keys"
	                          " ORDER BY place, id, changed FORMAT RowBinary",
	                          buf_text(&f->host_list));
	int status =
	        click_fetch_rows(f, threads, &f->threads, "qqqqqqb", "threads", take_thread, err);

	if (!status)
		status = click_fetch_rows(f, sql, &f->processes, "qqqdqqqqqbbdqqq", "processes",
		                          take_process, err);
	free(sql);
	free(threads);
	return status ? status : forget_times(f, err);
}

static int64_t node_of(struct click_fetch *f, int64_t parent, int64_t frame, uint64_t depth,
                       int *status, struct error *err)
{
	bool added;
	uint64_t *node =
	        click_map_place(&f->nodes, (uint64_t)parent << 32 | (uint64_t)frame, &added);

	if (added) {
		*node = f->nodes.pairs.count;
		*status = click_fetch_put(f, "INSERT INTO stack VALUES (?, ?, ?, ?)", err, "iiii",
		                          (int64_t)*node, parent, frame, (int64_t)depth);
	}
	return (int64_t)*node;
}

static int take_stack(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int64_t node = 0;
	bool added;
	int status = 0;

	if (!click_map_has(&f->stacks, v[0].number) || v[1].number > DEPTH_MAX)
		return 0;
	for (uint64_t i = 0; !status && i < v[1].number; i++) {
		int64_t frame = (int64_t)click_map_number(&f->frames, row_value_number(&v[1], i));

		if (frame > HALF_MAX || node > HALF_MAX)
			return click_server_bad(f->server, "stacks", err);
		node = node_of(f, node, frame, i + 1, &status, err);
	}
	*click_map_place(&f->stacks, v[0].number, &added) = (uint64_t)node;
	return status;
}

static int take_frame(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char insert[] = "INSERT OR REPLACE INTO frame (id, image, offset, flags,"
	                             " function) VALUES (?, ?, ?, ?, nullif(?, 0))";
	int64_t frame = (int64_t)click_map_get(&f->frames, v[0].number);
	int64_t image = v[1].number ? (int64_t)click_map_number(&f->images, v[1].number) : 0;
	int64_t offset = (int64_t)v[2].number, code = named(f, v[4].number), function = 0;
	int64_t name = named(f, v[5].number);
	int status = 0;

	if (!frame)
		return 0;
	if (code > HALF_MAX || name > HALF_MAX || image > HALF_MAX)
		return click_server_bad(f->server, "frames", err);
	if (code)
		offset = code << 32 | (offset & INT64_C(0xffffffff));
	if (name) {
		function = (int64_t)click_map_number(&f->functions,
		                                     (uint64_t)image << 32 | (uint64_t)name);
		status = click_fetch_put(f,
		                         "INSERT OR IGNORE INTO function (id, image, name) VALUES"
		                         " (?, ?, ?)",
		                         err, "iii", function, image, name);
	}
	return status ? status
	              : click_fetch_put(f, insert, err, "iiini", frame, image, offset, &v[3],
	                                function);
}

int click_fetch_stacks(struct click_fetch *f, struct error *err)
{
	int status = click_fetch_rows(f,
	                              "SELECT id, frames FROM stacks WHERE id IN keys"
	                              " ORDER BY place, id FORMAT RowBinary",
	                              &f->stacks, "qa", "stacks", take_stack, err);

	if (status)
		return status;
	return click_fetch_rows(f,
	                        "SELECT id, image, offset, flags, code, function FROM frames WHERE"
	                        " id IN keys ORDER BY named FORMAT RowBinary",
	                        &f->frames, "qqqbqq", "frames", take_frame, err);
}

static int take_image(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(f,
	                       "INSERT OR IGNORE INTO image (id, kind, path, build_id, major,"
	                       " minor, inode) VALUES (?, ?, ?, ?, ?, ?, ?)",
	                       err, "inibnnn", (int64_t)click_map_get(&f->images, v[0].number),
	                       &v[1], named(f, v[2].number), &v[3], &v[4], &v[5], &v[6]);
}

/* Names of events are texts on the server, so they may have no hash of their own. */
static int take_event(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	int64_t id = (int64_t)click_map_get(&f->events, v[0].number);
	int64_t name = (int64_t)click_map_number(&f->names, v[0].number);
	int status = click_fetch_put(f, "INSERT OR IGNORE INTO name VALUES (?, ?)", err, "it", name,
	                             &v[1]);

	return status ? status
	              : click_fetch_put(f,
	                                "INSERT OR IGNORE INTO event VALUES (?, (SELECT id FROM"
	                                " name WHERE text = ?), ?)",
	                                err, "itn", id, &v[1], &v[2]);
}

static int take_name(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(f, "INSERT OR IGNORE INTO name VALUES (?, ?)", err, "it",
	                       (int64_t)click_map_get(&f->names, v[0].number), &v[1]);
}

int click_fetch_names(struct click_fetch *f, struct error *err)
{
	int status = click_fetch_rows(f,
	                              "SELECT id, kind, path, build_id, major, minor, inode FROM"
	                              " images WHERE id IN keys FORMAT RowBinary",
	                              &f->images, "qbqsqqq", "images", take_image, err);

	if (!status)
		status = click_fetch_rows(f,
		                          "SELECT id, text FROM names WHERE id IN keys FORMAT"
		                          " RowBinary",
		                          &f->names, "qs", "names", take_name, err);
	/* An event whose name is that of something else has the id of that name. */
	if (!status)
		status = click_fetch_rows(f,
		                          "SELECT id, name, role FROM events WHERE id IN keys"
		                          " ORDER BY id FORMAT RowBinary",
		                          &f->events, "qsb", "events", take_event, err);
	return status;
}
