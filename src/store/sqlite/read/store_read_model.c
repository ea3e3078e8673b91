/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the rows that samples refer to: threads, processes, paths, frames, images. */
#include "store/sqlite/read/store_reader.h"

#include "base/limit.h"
#include "process/process_restore.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * Kernel frames are stored as offsets from _stext. They are read back relative to the link address
 * of x86-64. A kernel with KASLR does not run at that address, so names come from the store.
 */
#define KERNEL_BASE UINT64_C(0xffffffff81000000)
/* Only a damaged file reaches this limit: the id of a parent is less than that of its child. */
#define DEPTH_MAX 65536

static int one_row(struct store_reader *r, const char *sql, int64_t id, sqlite3_stmt **s,
                   struct error *err)
{
	int status;

	*s = NULL;
	if (r->p->images.names.bytes > LIMIT_STORE_NAMES_BYTES)
		return error_set(err, EFBIG,
		                 "%s has more than %zu MB of names: select a shorter time",
		                 r->db.path, LIMIT_STORE_NAMES_BYTES >> 20);
	status = database_kept(&r->db, sql, s, err);
	if (!status)
		status = database_bind(&r->db, *s, err, "i", id);
	return status ? status : database_step(&r->db, *s, err);
}

/* The thread "[not kept]", for threads that were deleted from the file or never were in it. */
static uint32_t missing_thread(struct store_reader *r)
{
	struct process process = {.pid = -1, .instance = 1};
	struct thread thread = {.tid = -1};

	if (r->missing_thread != ID_NONE)
		return r->missing_thread;
	thread.process = process_restore(r->p->processes, &process,
	                                 &(struct process_texts){"[not kept]", NULL, NULL, NULL});
	r->missing_thread = process_restore_thread(r->p->processes, &thread, "[not kept]");
	return r->missing_thread;
}

static uint64_t end_of(sqlite3_stmt *s, int start, int life)
{
	if (sqlite3_column_type(s, life) == SQLITE_NULL)
		return 0;
	return store_column(s, start) + store_column(s, life);
}

static const char process_sql[] =
        "SELECT n.text, p.instance, p.pid, p.start_ns, p.life_ns, c.text, p.kernel, p.instances,"
        " v.text, l.text FROM process p LEFT JOIN name n ON n.id = p.name"
        " LEFT JOIN name c ON c.id = p.cgroup LEFT JOIN name v ON v.id = p.version"
        " LEFT JOIN name l ON l.id = p.labels WHERE p.id = ?";

/* NULL if the column is NULL. */
static const char *text_or_null(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NULL : store_column_text(s, column);
}

static uint32_t take_process(struct store_reader *r, int64_t id, sqlite3_stmt *s)
{
	struct process process = {.instance = (uint32_t)store_column(s, 1),
	                          .pid = sqlite3_column_int(s, 2),
	                          .start_ns = store_column(s, 3),
	                          .end_ns = end_of(s, 3, 4),
	                          .serial = id > 0 ? (uint64_t)id : 0,
	                          .kernel = sqlite3_column_int(s, 6) != 0};
	const struct process_texts texts = {store_column_text(s, 0), text_or_null(s, 5),
	                                    text_or_null(s, 8), text_or_null(s, 9)};

	if (id < 0) {
		process.pid = -1;
		r->by_name += store_column(s, 7);
		r->names_for_them++;
	}
	return process_restore(r->p->processes, &process, &texts);
}

/* *known: false if the row does not exist. */
static int read_process(struct store_reader *r, int64_t id, uint32_t *process, bool *known,
                        struct error *err)
{
	uint32_t *place = store_ids_place(&r->processes, id);
	sqlite3_stmt *s;
	int status;

	*known = true;
	*process = *place;
	if (*place != STORE_UNREAD)
		return 0;
	status = one_row(r, process_sql, id, &s, err);
	if (status == 1) {
		*process = *place = take_process(r, id, s);
		vec_push(&r->processes_read, (struct store_process_id){id, *process});
	}
	sqlite3_reset(s);
	*known = status == 1;
	return status < 0 ? status : 0;
}

static const char thread_sql[] =
        "SELECT t.process, coalesce(t.tid, p.pid), n.text,"
        " CASE WHEN t.tid IS NULL THEN p.start_ns ELSE t.start_ns END,"
        " CASE WHEN t.tid IS NULL THEN p.life_ns ELSE t.life_ns END"
        " FROM thread t LEFT JOIN process p ON p.id = t.process"
        " LEFT JOIN name n ON n.id = CASE WHEN t.tid IS NULL THEN p.name ELSE t.name END"
        " WHERE t.id = ?";

static int take_thread(struct store_reader *r, sqlite3_stmt *s, uint32_t *thread, struct error *err)
{
	struct thread t = {.tid = sqlite3_column_int(s, 1),
	                   .start_ns = store_column(s, 3),
	                   .end_ns = end_of(s, 3, 4)};
	bool known;
	int status = read_process(r, sqlite3_column_int64(s, 0), &t.process, &known, err);

	if (status)
		return status;
	*thread = known ? process_restore_thread(r->p->processes, &t, store_column_text(s, 2))
	                : missing_thread(r);
	return 0;
}

int store_reader_thread(struct store_reader *r, int64_t id, uint32_t *thread, struct error *err)
{
	sqlite3_stmt *s;
	int status;

	*thread = *store_ids_place(&r->threads, id);
	if (*thread != STORE_UNREAD)
		return 0;
	status = one_row(r, thread_sql, id, &s, err);
	if (status == 1)
		status = take_thread(r, s, thread, err);
	else if (!status)
		*thread = missing_thread(r);
	sqlite3_reset(s);
	*store_ids_place(&r->threads, id) = *thread;
	return status;
}

static const char image_sql[] =
        "SELECT i.kind, n.text, i.build_id, i.major, i.minor, i.inode FROM image i"
        " LEFT JOIN name n ON n.id = i.path WHERE i.id = ?";

static uint32_t take_image(struct store_reader *r, sqlite3_stmt *s)
{
	struct image_table *t = &r->p->images;
	uint64_t kind = store_column(s, 0);
	struct image image = {.kind = kind <= IMAGE_JIT ? (enum image_kind)kind : IMAGE_ANON,
	                      .path = intern_add(&t->names, store_column_text(s, 1)),
	                      .major = (uint32_t)store_column(s, 3),
	                      .minor = (uint32_t)store_column(s, 4),
	                      .inode = (uint64_t)sqlite3_column_int64(s, 5)};
	const void *bytes = sqlite3_column_blob(s, 2);
	int size = sqlite3_column_bytes(s, 2);

	if (bytes && size > 0 && size <= BUILD_ID_MAX) {
		image.build_id.size = (uint8_t)size;
		memcpy(image.build_id.bytes, bytes, (size_t)size);
	}
	if (image.kind == IMAGE_KERNEL)
		image.base = KERNEL_BASE;
	return image_table_add(t, &image);
}

int store_reader_image(struct store_reader *r, int64_t id, uint32_t *image, struct error *err)
{
	uint32_t *place = store_ids_place(&r->images, id);
	sqlite3_stmt *s;
	int status;

	*image = *place;
	if (*place != STORE_UNREAD)
		return 0;
	status = one_row(r, image_sql, id, &s, err);
	*image = *place = status == 1 ? take_image(r, s) : IMAGE_ID_UNKNOWN;
	sqlite3_reset(s);
	return status < 0 ? status : 0;
}

static const char frame_sql[] =
        "SELECT f.image, f.offset, f.flags, n.text, m.text FROM frame f"
        " LEFT JOIN function u ON u.id = f.function LEFT JOIN name n ON n.id = u.name"
        " LEFT JOIN name m ON m.id = f.offset >> 32 WHERE f.id = ?";

/* schema.h defines the offset. */
static uint64_t offset_of(struct store_reader *r, enum image_kind kind, int64_t offset,
                          const char *named)
{
	if (kind == IMAGE_KERNEL && offset >= 0)
		return KERNEL_BASE + (uint64_t)offset;
	if (kind == IMAGE_NAME)
		return intern_add(&r->p->images.names, named);
	return (uint64_t)offset;
}

static void keep_name(struct store_reader *r, struct frame frame, const char *name)
{
	struct image *image = &r->p->images.images.items[frame.image];

	if (!*name || image->kind == IMAGE_NAME || image->kind == IMAGE_UNKNOWN)
		return;
	if (!image->kept)
		image->kept = stored_names_new();
	stored_names_add(image->kept, frame.offset, name);
}

static int take_frame(struct store_reader *r, sqlite3_stmt *s, uint32_t *frame, struct error *err)
{
	struct profile_frame f = {.kernel = sqlite3_column_int(s, 2) & SCHEMA_FRAME_KERNEL,
	                          .caller = sqlite3_column_int(s, 2) & SCHEMA_FRAME_CALLER};
	const char *function = store_column_text(s, 3);
	enum image_kind kind;
	int status = store_reader_image(r, sqlite3_column_int64(s, 0), &f.frame.image, err);

	if (status)
		return status;
	kind = r->p->images.images.items[f.frame.image].kind;
	f.frame.offset = offset_of(r, kind, sqlite3_column_int64(s, 1), store_column_text(s, 4));
	if (kind == IMAGE_JIT && !*function)
		function = store_column_text(s, 4);
	*frame = profile_frame_add(r->p, &f);
	keep_name(r, profile_frame_place(r->p, &f), function);
	return 0;
}

static int read_frame(struct store_reader *r, int64_t id, uint32_t *frame, struct error *err)
{
	static const struct profile_frame unknown = {{IMAGE_ID_UNKNOWN, 0}, false, false};
	uint32_t *place = store_ids_place(&r->frames, id);
	sqlite3_stmt *s;
	int status;

	*frame = *place;
	if (*place != STORE_UNREAD)
		return 0;
	status = one_row(r, frame_sql, id, &s, err);
	if (status == 1)
		status = take_frame(r, s, frame, err);
	else if (!status)
		*frame = profile_frame_add(r->p, &unknown);
	sqlite3_reset(s);
	*place = *frame;
	return status;
}

void store_reader_close_names(struct store_reader *r)
{
	vec_each (image, &r->p->images.images)
		if (image->kept)
			stored_names_finish(image->kept);
}

struct store_step {
	int64_t stack, frame;
};

static const char stack_sql[] = "SELECT parent, frame FROM stack WHERE id = ?";

/* 1: the row exists. */
static int read_stack(struct store_reader *r, int64_t id, int64_t *parent, int64_t *frame,
                      struct error *err)
{
	sqlite3_stmt *s;
	int status;

	if (r->rows) {
		const struct store_stack *known = (uint64_t)id <= r->rows->stacks.count
		                                          ? &r->rows->stacks.items[id - 1]
		                                          : NULL;

		*parent = known ? known->parent : 0;
		*frame = known ? known->frame : 0;
		return known != NULL;
	}
	status = one_row(r, stack_sql, id, &s, err);
	if (status == 1) {
		*parent = sqlite3_column_int64(s, 0);
		*frame = sqlite3_column_int64(s, 1);
	}
	sqlite3_reset(s);
	return status;
}

/*
 * Goes up to a stack that was already read, and adds the stacks below it. In a damaged file a
 * parent may be missing or have a larger id than its child: the callers above are left out then.
 */
int store_reader_path(struct store_reader *r, int64_t stack, uint32_t *path, struct error *err)
{
	VEC(struct store_step) steps = {0};
	uint32_t frame;
	int status = 0;

	*path = PATH_ROOT;
	while (stack > 0 && steps.count < DEPTH_MAX) {
		uint32_t known = *store_ids_place(&r->stacks, stack);
		struct store_step step = {.stack = stack};
		int64_t parent;

		if (known != STORE_UNREAD) {
			*path = known;
			break;
		}
		status = read_stack(r, stack, &parent, &step.frame, err);
		if (status != 1)
			break;
		stack = parent < stack ? parent : 0;
		status = 0;
		vec_push(&steps, step);
	}
	while (!status && steps.count) {
		struct store_step step = steps.items[--steps.count];

		status = read_frame(r, step.frame, &frame, err);
		if (status)
			break;
		*path = profile_path_add(r->p, *path, frame);
		*store_ids_place(&r->stacks, step.stack) = *path;
	}
	vec_done(&steps);
	return status;
}
