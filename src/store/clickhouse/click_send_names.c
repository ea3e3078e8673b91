/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the batch that are equal on all hosts: names, images, frames, stacks, events. */
#include "store/clickhouse/click_sender_internal.h"

#include "format/clickhouse/row_binary.h"
#include "image/image.h"
#include "store/clickhouse/click_digest.h"

#include <errno.h>

#define DEPTH_MAX 65536 /* only a damaged database has deeper stacks */

int click_send_name(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	bool added;
	sqlite3_stmt *row;
	int status;

	*hash = id ? click_map_get(&s->names, (uint64_t)id) : 0;
	if (*hash || !id)
		return 0;
	status = click_sender_row(s, "SELECT text FROM name WHERE id = ?", id, &row, err);
	if (status < 0)
		return status;
	if (status) {
		const void *text = sqlite3_column_text(row, 0);
		size_t size = (size_t)sqlite3_column_bytes(row, 0);

		*hash = click_digest("name", "b", text ? text : "", size);
		if (click_sender_is_new(s, *hash, 1)) {
			row_put(&s->rows[CLICK_NAMES], "q", *hash);
			row_put_bytes(&s->rows[CLICK_NAMES], text, size);
		}
	}
	sqlite3_reset(row);
	*click_map_place(&s->names, (uint64_t)id, &added) = *hash;
	return 0;
}

static int add_image(struct click_sender *s, sqlite3_stmt *row, uint64_t *hash, struct error *err)
{
	uint64_t kind = (uint64_t)sqlite3_column_int64(row, 0), path;
	const void *id = sqlite3_column_blob(row, 2);
	size_t id_size = (size_t)sqlite3_column_bytes(row, 2);
	int64_t major = sqlite3_column_int64(row, 3), minor = sqlite3_column_int64(row, 4);
	int64_t inode = sqlite3_column_int64(row, 5);
	int status = click_send_name(s, sqlite3_column_int64(row, 1), &path, err);

	if (status)
		return status;
	*hash = click_digest("image", "qqbqqq", kind, path, id, id_size, major, minor, inode);
	if (!click_sender_is_new(s, *hash, 1))
		return 0;
	row_put(&s->rows[CLICK_IMAGES], "qbq", *hash, kind, path);
	row_put_bytes(&s->rows[CLICK_IMAGES], id, id_size);
	row_put(&s->rows[CLICK_IMAGES], "qqq", major, minor, inode);
	return 0;
}

int click_send_image(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	static const char sql[] =
	        "SELECT kind, path, build_id, major, minor, inode FROM image WHERE id = ?";
	bool added;
	sqlite3_stmt *row;
	int status;

	*hash = id ? click_map_get(&s->images, (uint64_t)id) : 0;
	if (*hash || !id)
		return 0;
	status = click_sender_row(s, sql, id, &row, err);
	if (status == 1)
		status = add_image(s, row, hash, err);
	sqlite3_reset(row);
	if (!status)
		*click_map_place(&s->images, (uint64_t)id, &added) = *hash;
	return status;
}

/*
 * In images of generated code the offset has the id of a name in its upper half (schema.h), which
 * is sent as `code`.
 */
static int add_frame(struct click_sender *s, sqlite3_stmt *row, uint64_t *hash, struct error *err)
{
	int64_t kind = sqlite3_column_int64(row, 4), offset = sqlite3_column_int64(row, 1);
	uint64_t image, function, code = 0, flags = (uint64_t)sqlite3_column_int64(row, 2) & 255;
	int status = click_send_image(s, sqlite3_column_int64(row, 0), &image, err);

	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 3), &function, err);
	if (!status && (kind == IMAGE_JIT || kind == IMAGE_NAME)) {
		status = click_send_name(s, offset >> 32, &code, err);
		offset &= INT64_C(0xffffffff);
	}
	if (status)
		return status;
	*hash = click_digest("frame", "qqqq", image, offset, flags, code);
	if (click_sender_is_new(s, *hash, function + 1))
		row_put(&s->rows[CLICK_FRAMES], "qqqbqqb", *hash, image, offset, flags, code,
		        function, (uint64_t)(function != 0));
	return 0;
}

static const char frame_sql[] =
        "SELECT f.image, f.offset, f.flags, u.name, i.kind, f.function IS NULL AND f.tries < 4"
        " FROM frame f LEFT JOIN function u ON u.id = f.function"
        " LEFT JOIN image i ON i.id = f.image WHERE f.id = ?";

/* The writer of the database still asks for the name of the frame. */
static bool may_get_name(sqlite3_stmt *row)
{
	return sqlite3_column_int(row, 5) != 0;
}

static int send_frame(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	bool added;
	sqlite3_stmt *row;
	int status;

	*hash = click_map_get(&s->frames, (uint64_t)id);
	if (*hash)
		return 0;
	status = click_sender_row(s, frame_sql, id, &row, err);
	if (status == 1) {
		status = add_frame(s, row, hash, err);
		if (!status && may_get_name(row))
			vec_push(&s->nameless, id);
	}
	sqlite3_reset(row);
	if (!status && *hash)
		*click_map_place(&s->frames, (uint64_t)id, &added) = *hash;
	return status;
}

int click_send_new_names(struct click_sender *s, struct error *err)
{
	size_t left = 0;
	int status = 0;

	for (size_t i = 0; !status && i < s->nameless.count; i++) {
		int64_t id = s->nameless.items[i];
		sqlite3_stmt *row;
		uint64_t hash;

		status = click_sender_row(s, frame_sql, id, &row, err);
		if (status == 1)
			status = add_frame(s, row, &hash, err);
		if (!status && may_get_name(row))
			s->nameless.items[left++] = id;
		sqlite3_reset(row);
	}
	if (!status)
		s->nameless.count = left;
	return status;
}

/* Adds the stack with its parents that are new; *place: its index + 1, 0: the row is missing. */
static int add_stack(struct click_sender *s, int64_t id, uint32_t *place, struct error *err)
{
	VEC(struct click_pair) steps = {0};
	bool added;
	int status = 0;

	*place = 0;
	while (id > 0 && steps.count < DEPTH_MAX) {
		struct click_pair step = {.key = (uint64_t)id};
		sqlite3_stmt *row;

		*place = (uint32_t)click_map_get(&s->stacks, (uint64_t)id);
		if (*place)
			break;
		status = click_sender_row(s, "SELECT parent, frame FROM stack WHERE id = ?", id,
		                          &row, err);
		if (status != 1)
			break;
		id = sqlite3_column_int64(row, 0) < id ? sqlite3_column_int64(row, 0) : 0;
		step.value = (uint64_t)sqlite3_column_int64(row, 1);
		sqlite3_reset(row);
		status = 0;
		vec_push(&steps, step);
	}
	while (status >= 0 && steps.count) {
		struct click_pair step = steps.items[--steps.count];
		struct click_stack next = {.parent = *place};
		uint64_t above = *place ? s->stack_list.items[*place - 1].hash : 0;

		status = send_frame(s, (int64_t)step.value, &next.frame, err);
		if (status)
			break;
		next.hash = click_digest("stack", "qq", above, next.frame);
		vec_push(&s->stack_list, next);
		*place = (uint32_t)s->stack_list.count;
		*click_map_place(&s->stacks, step.key, &added) = *place;
	}
	vec_done(&steps);
	return status < 0 ? status : 0;
}

/* The frames of a stack, the outermost first. */
static void put_stack(struct click_sender *s, int64_t id, struct click_stack *stack)
{
	struct buf *out = &s->rows[CLICK_STACKS];

	stack->sent = true;
	if (!click_sender_is_new(s, stack->hash, 1))
		return;
	s->chain.count = 0;
	for (const struct click_stack *at = stack; at;
	     at = at->parent ? &s->stack_list.items[at->parent - 1] : NULL)
		vec_push(&s->chain, at->frame);
	row_put(out, "qq", stack->hash, id);
	row_put_count(out, s->chain.count);
	for (size_t i = s->chain.count; i; i--)
		row_put(out, "q", s->chain.items[i - 1]);
}

int click_send_stack(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	uint32_t place = id > 0 ? (uint32_t)click_map_get(&s->stacks, (uint64_t)id) : 0;
	int status = 0;

	*hash = 0;
	if (!place && id > 0)
		status = add_stack(s, id, &place, err);
	if (status || !place)
		return status;
	*hash = s->stack_list.items[place - 1].hash;
	if (!s->stack_list.items[place - 1].sent)
		put_stack(s, id, &s->stack_list.items[place - 1]);
	return 0;
}

int click_send_event(struct click_sender *s, int64_t id, uint64_t *hash, struct error *err)
{
	static const char sql[] = "SELECT n.text, e.role FROM event e LEFT JOIN name n ON n.id = "
	                          "e.name WHERE e.id = ?";
	bool added;
	sqlite3_stmt *row;
	int status;

	*hash = click_map_get(&s->events, (uint64_t)id);
	if (*hash)
		return 0;
	status = click_sender_row(s, sql, id, &row, err);
	if (status == 1) {
		const char *name = click_sender_text(row, 0);
		uint64_t role = (uint64_t)sqlite3_column_int64(row, 1) & 255;

		*hash = click_digest("event", "sq", name, role);
		if (click_sender_is_new(s, *hash, 1))
			row_put(&s->rows[CLICK_EVENTS], "qsb", *hash, name, role);
	}
	sqlite3_reset(row);
	*click_map_place(&s->events, (uint64_t)id, &added) = *hash;
	return status < 0 ? status : 0;
}
