/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows to which samples refer: threads, processes, stacks, frames, images, events, names. */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"
#include "image/image.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_other.h"
#include "store/clickhouse/click_schema.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEPTH_MAX 65536
/* An id of a name or of a frame is one half of a number of 64 bits. */
#define HALF_MAX INT64_C(0x7fffffff)

/* The id of a name; 0: none. */
static int64_t named(struct click_fetch *f, uint64_t hash)
{
	return hash ? (int64_t)click_map_number(&f->names, hash) : 0;
}

/* The process of a thread has the version and the labels of its samples. */
static int see_thread(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	uint64_t version = click_map_get(&f->versions, v[0].number);
	uint64_t labels = click_map_get(&f->labels, v[0].number);
	struct click_thread *thread;
	bool added;

	if (!click_map_has(&f->threads, v[0].number)) /* not asked for */
		return 0;
	if (v[1].number)
		click_map_place(&f->processes, v[1].number, &added);
	if (version)
		*click_map_place(&f->versions, v[1].number, &added) = version;
	if (labels)
		*click_map_place(&f->labels, v[1].number, &added) = labels;
	thread = vec_add(&f->thread_rows);
	for (size_t i = 0; i < sizeof(thread->number) / sizeof(*thread->number); i++)
		thread->number[i] = v[i].number;
	return 0;
}

static int take_thread(struct click_fetch *f, const uint64_t v[7], struct error *err)
{
	static const char insert[] = "INSERT OR REPLACE INTO thread (id, process, tid, name,"
	                             " start_ns, life_ns) VALUES (?, ?, ?, nullif(?, 0), ?, ?)";
	int64_t process = (int64_t)click_map_get(&f->processes, v[1]);
	uint64_t *id, *same;
	bool added;

	id = click_map_place(&f->threads, v[0], &added);
	if (!*id && v[6]) {
		same = click_map_place(&f->folded, click_digest("thread", "qq", process, v[3]),
		                       &added);
		if (added)
			*same = (uint64_t) - (int64_t)++f->thread_count;
		*id = *same;
	}
	if (!*id)
		*id = ++f->thread_count;
	return click_fetch_put(f, insert, err, "iizizz", (int64_t)*id, process, (int64_t)v[2],
	                       named(f, v[3]), (int64_t)v[4], (int64_t)v[5]);
}

/*
 * The id of a process: below 0 for folded ones, as in SQLite stores (schema.h). Merged windows have
 * folded processes of their own; those that are alike are one here.
 */
static int64_t process_of(struct click_fetch *f, const struct row_value *v)
{
	uint64_t *id, *same;
	bool added;

	id = click_map_place(&f->processes, v[1].number, &added);
	if (*id)
		return (int64_t)*id;
	f->process_count++;
	*id = f->process_count;
	if (v[10].number) {
		same = click_map_place(&f->folded,
		                       click_digest("process", "qqqqqq", v[0].number, v[2].number,
		                                    v[8].number, v[9].number,
		                                    click_map_get(&f->versions, v[1].number),
		                                    click_map_get(&f->labels, v[1].number)),
		                       &added);
		if (added)
			*same = (uint64_t) - (int64_t)f->process_count;
		*id = *same;
	}
	return (int64_t)*id;
}

static int take_process(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char insert[] =
	        "INSERT INTO process (id, host, name, instance, pid, parent, start_ns,"
	        " life_ns, cgroup, kernel, instances, oncpu_ns, runnable_ns, blocked_ns, version,"
	        " labels) VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, ?8, nullif(?9, 0), ?10,"
	        " ?11, ?12, ?13, ?14, nullif(?15, 0), nullif(?16, 0)) ON CONFLICT DO UPDATE SET"
	        " name = ?3, instance = ?4, life_ns = ?8, cgroup = nullif(?9, 0), kernel = ?10,"
	        " instances = CASE WHEN ?1 < 0 THEN instances ELSE 0 END + ?11, oncpu_ns = ?12,"
	        " runnable_ns = ?13, blocked_ns = ?14";
	int64_t id = process_of(f, v), instances = (int64_t)v[11].number;
	uint64_t *counted;
	bool added;

	/* Of several rows of one process the last one counts. */
	if (id < 0) {
		counted = click_map_place(&f->folded_counts, v[1].number, &added);
		instances -= (int64_t)*counted;
		*counted = v[11].number;
	}
	return click_fetch_put(
	        f, insert, err,
	        "iiinziz"
	        "zinin"
	        "nnii",
	        id, (int64_t)click_map_get(&f->hosts, v[0].number), named(f, v[2].number), &v[3],
	        (int64_t)v[4].number, (int64_t)click_map_get(&f->processes, v[5].number),
	        (int64_t)v[6].number, (int64_t)v[7].number, named(f, v[8].number), &v[9], instances,
	        &v[12], &v[13], &v[14], named(f, click_map_get(&f->versions, v[1].number)),
	        named(f, click_map_get(&f->labels, v[1].number)));
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

static int fetch_processes(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_addf(&sql,
	         "SELECT host, id, name, instance, pid, parent, start_ns, life_ns, cgroup, kernel,"
	         " folded, instances, oncpu_ns, runnable_ns, blocked_ns FROM processes WHERE %s"
	         " AND (id GLOBAL IN keys",
	         buf_text(&f->of_hosts));
	if (f->born_to_ns)
		buf_addf(&sql,
		         " OR (folded = 0 AND start_ns >= %" PRIu64 " AND start_ns < %" PRIu64 ")",
		         f->born_from_ns, f->born_to_ns);
	buf_puts(&sql, ") ORDER BY place, id, changed FORMAT RowBinary");
	status = click_fetch_rows(f, buf_text(&sql), &f->processes, "qqqdqqqqqbbdqqq", "processes",
	                          take_process, err);
	buf_done(&sql);
	return status;
}

/* Processes first: their ids are in the rows of threads. */
int click_fetch_threads(struct click_fetch *f, struct error *err)
{
	char *sql = xasprintf("SELECT id, process, tid, name, start_ns, life_ns, folded FROM"
	                      " threads WHERE %s AND id IN keys"
	                      " ORDER BY place, id, changed FORMAT RowBinary",
	                      buf_text(&f->of_hosts));
	int status = click_fetch_rows(f, sql, &f->threads, "qqqqqqb", "threads", see_thread, err);

	if (!status)
		status = fetch_processes(f, err);
	vec_each (thread, &f->thread_rows)
		if (!status)
			status = take_thread(f, thread->number, err);
	vec_done(&f->thread_rows);
	free(sql);
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
		if (f->rows)
			vec_push(&f->rows->stacks,
			         (struct store_stack){(uint32_t)parent, (uint32_t)frame});
		else
			*status = click_fetch_put(f, "INSERT INTO stack VALUES (?, ?, ?, ?)", err,
			                          "iiii", (int64_t)*node, parent, frame,
			                          (int64_t)depth);
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

int click_fetch_other(struct click_fetch *f, uint64_t *hash, struct error *err)
{
	const struct row_value text = {.bytes = CLICK_OTHER, .size = sizeof(CLICK_OTHER) - 1};
	const struct click_other o = click_other();
	int64_t name = named(f, o.name);
	int64_t image = (int64_t)click_map_number(&f->images, o.image);
	int64_t frame = (int64_t)click_map_number(&f->frames, o.frame);
	int64_t function =
	        (int64_t)click_map_number(&f->functions, (uint64_t)image << 32 | (uint64_t)name);
	int status = click_fetch_put(f, "INSERT OR IGNORE INTO name VALUES (?, ?)", err, "it", name,
	                             &text);
	bool added;

	if (!status)
		status = click_fetch_put(f,
		                         "INSERT OR IGNORE INTO image (id, kind, path, build_id,"
		                         " major, minor, inode) VALUES (?, ?, ?, x'', 0, 0, 0)",
		                         err, "iii", image, (int64_t)IMAGE_NAME, name);
	if (!status)
		status = click_fetch_put(f,
		                         "INSERT OR IGNORE INTO function (id, image, name) VALUES"
		                         " (?, ?, ?)",
		                         err, "iii", function, image, name);
	if (!status)
		status = click_fetch_put(f,
		                         "INSERT OR IGNORE INTO frame (id, image, offset, flags,"
		                         " function) VALUES (?, ?, ?, 0, ?)",
		                         err, "iiii", frame, image, name << 32, function);
	*hash = o.stack;
	if (!status)
		*click_map_place(&f->stacks, *hash, &added) =
		        (uint64_t)node_of(f, 0, frame, 1, &status, err);
	return status;
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
