/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/store_window.h"

#include "base/memory/buf.h"
#include "image/jit_code.h"

#include <string.h>

/*
 * Maximum number of requests for a name. A name may become available later, for example when a file
 * is complete.
 */
#define TRIES_MAX 4

void window_writer_init(struct window_writer *w, struct sqlite_store *s, const struct profile *p,
                        const struct store_window *window)
{
	*w = (struct window_writer){.s = s, .p = p, .w = window};
	w->wall_offset_ns = window->wall_offset_ns ? window->wall_offset_ns : s->wall_offset_ns;
	w->images = xcalloc(p->images.images.count + 1, sizeof(*w->images));
	w->frames = xcalloc(p->frames.count + 1, sizeof(*w->frames));
	w->paths = xcalloc(p->paths.count + 1, sizeof(*w->paths));
	w->events = xcalloc(p->events.count + 1, sizeof(*w->events));
	w->process_seen = s->process_seen;
	w->thread_seen = s->thread_seen;
}

void window_writer_done(struct window_writer *w)
{
	free(w->images);
	free(w->frames);
	free(w->paths);
	free(w->events);
	vec_done(&w->names);
	vec_done(&w->chain);
	vec_done(&w->nameless);
}

/* The columns that identify an image: the build-id if there is one, else device and inode. */
static struct image image_key(const struct image *image)
{
	struct image key = {.kind = image->kind, .path = image->path};

	switch (image->kind) {
	case IMAGE_FILE:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_VDSO:
		key.build_id = image->build_id;
		break;
	default:
		break;
	}
	if (image->kind == IMAGE_FILE && !image->build_id.size) {
		key.major = image->major;
		key.minor = image->minor;
		key.inode = image->inode;
	}
	return key;
}

static int image_row(struct sqlite_store *s, const struct image *key, int64_t path, int64_t *id,
                     struct error *err)
{
	static const char select[] = "SELECT id FROM image WHERE path = ? AND build_id = ? AND "
	                             "inode = ? AND kind = ? AND major = ? AND minor = ?";
	static const char insert[] = "INSERT INTO image (path, build_id, inode, kind, major, minor)"
	                             " VALUES (?, ?, ?, ?, ?, ?)";
	static const char letters[] = "ibuiii";
	struct database *d = &s->db;
	size_t bytes = key->build_id.size;
	sqlite3_stmt *find, *make;
	int status = database_kept(d, select, &find, err);

	if (!status)
		status = database_kept(d, insert, &make, err);
	if (!status)
		status = database_bind(d, find, err, letters, path, key->build_id.bytes, bytes,
		                       key->inode, (int64_t)key->kind, (int64_t)key->major,
		                       (int64_t)key->minor);
	if (!status)
		status = database_step(d, find, err);
	if (status == 1) {
		*id = sqlite3_column_int64(find, 0);
		sqlite3_reset(find);
		return 0;
	}
	if (!status)
		status = database_put(d, make, err, letters, path, key->build_id.bytes, bytes,
		                      key->inode, (int64_t)key->kind, (int64_t)key->major,
		                      (int64_t)key->minor);
	*id = sqlite3_last_insert_rowid(d->handle);
	return status;
}

int window_image(struct window_writer *w, uint32_t image, int64_t *id, struct error *err)
{
	const char *path = image_path(&w->p->images, image);
	char hex[2 * BUILD_ID_MAX + 1];
	struct buf text = {0};
	int64_t *place, name;
	struct image key;
	int status = 0;

	*id = w->images[image];
	if (*id)
		return 0;
	key = image_key(&w->p->images.images.items[image]);
	build_id_text(&key.build_id, hex);
	buf_addf(&text, "%d %s %x %x %jx %s", (int)key.kind, hex, key.major, key.minor,
	         (uintmax_t)key.inode, path);
	place = text_names_place(&w->s->names.images, buf_text(&text));
	buf_done(&text);
	if (!*place)
		status = names_text(&w->s->names, &w->s->db, path, &name, err);
	if (!status && !*place)
		status = image_row(w->s, &key, name, place, err);
	*id = w->images[image] = *place;
	return status;
}

/* The function's name if the image identifies frames by name, else NULL. */
static const char *frame_name(const struct profile *p, struct frame f)
{
	const struct image *image = &p->images.images.items[f.image];
	const struct jit_code *code = image->jit;

	if (image->kind == IMAGE_NAME)
		return f.offset < p->images.names.texts.count
		               ? intern_text(&p->images.names, (uint32_t)f.offset)
		               : "[unknown]";
	if (image->kind != IMAGE_JIT)
		return NULL;
	if (!code || f.offset >> 32 >= code->entries.count ||
	    !code->entries.items[f.offset >> 32].name)
		return "[unknown]";
	return code->entries.items[f.offset >> 32].name;
}

/*
 * The column offset of table frame, as schema.h defines it. `name`: id of the function's name, 0:
 * none.
 */
static int64_t frame_offset(const struct image *image, uint64_t offset, int64_t name)
{
	switch (image->kind) {
	case IMAGE_KERNEL:
		return (int64_t)(offset - image->base);
	case IMAGE_ANON:
	case IMAGE_UNKNOWN:
		return 0;
	case IMAGE_JIT:
		return name << 32 | (int64_t)(offset & (JIT_ENTRY_BYTES_MAX - 1));
	case IMAGE_NAME:
		return name << 32;
	default:
		return (int64_t)offset;
	}
}

static int function_id(struct sqlite_store *s, int64_t image, int64_t name, int64_t *id,
                       struct error *err)
{
	static const char select[] = "SELECT id FROM function WHERE image = ? AND name = ?";
	static const char insert[] = "INSERT INTO function (image, name) VALUES (?, ?)";

	return names_pair(&s->names.functions, &s->db, select, insert, image, name, id, err);
}

/* Finds or creates the row of a frame. `function`: for a new row; 0: unknown. */
static int frame_row(struct sqlite_store *s, int64_t key, int64_t offset, int64_t function,
                     struct pair_entry **entry, struct error *err)
{
	static const char select[] = "SELECT id, function IS NOT NULL, tries FROM frame "
	                             "WHERE image = ? AND offset = ? AND flags = ?";
	static const char insert[] = "INSERT INTO frame (image, offset, flags, function) "
	                             "VALUES (?, ?, ?, nullif(?, 0))";
	struct database *d = &s->db;
	sqlite3_stmt *find, *make;
	int status = database_kept(d, select, &find, err);

	if (!status)
		status = database_kept(d, insert, &make, err);
	if (!status)
		status = database_bind(d, find, err, "iii", key >> 2, offset, key & 3);
	if (!status)
		status = database_step(d, find, err);
	if (status == 1) {
		*entry = pair_names_add(&s->names.frames, key, offset,
		                        sqlite3_column_int64(find, 0));
		(*entry)->tries = (uint32_t)sqlite3_column_int64(find, 2);
		(*entry)->done = sqlite3_column_int64(find, 1) || (*entry)->tries >= TRIES_MAX;
		sqlite3_reset(find);
		return 0;
	}
	if (!status)
		status = database_put(d, make, err, "iiii", key >> 2, offset, key & 3, function);
	if (status)
		return status;
	*entry =
	        pair_names_add(&s->names.frames, key, offset, sqlite3_last_insert_rowid(d->handle));
	(*entry)->done = function != 0;
	return 0;
}

/* True if a symbolizer could know names for frames of that image. */
static bool has_functions(const struct image *image)
{
	return image->kind <= IMAGE_VDSO;
}

static int find_frame(struct window_writer *w, uint32_t frame, struct pair_entry **entry,
                      struct error *err)
{
	const struct profile_frame *f = &w->p->frames.items[frame];
	const struct image *image = &w->p->images.images.items[f->frame.image];
	const char *text = frame_name(w->p, f->frame);
	int64_t key, offset, id, name = 0, function = 0;
	int status = window_image(w, f->frame.image, &id, err);

	if (!status && text)
		status = names_text(&w->s->names, &w->s->db, text, &name, err);
	if (!status && text)
		status = function_id(w->s, id, name, &function, err);
	if (status)
		return status;
	key = id << 2 | (f->kernel ? SCHEMA_FRAME_KERNEL : 0) |
	      (f->caller ? SCHEMA_FRAME_CALLER : 0);
	offset = frame_offset(image, f->frame.offset, name);
	*entry = pair_names_find(&w->s->names.frames, key, offset);
	if (!*entry)
		status = frame_row(w->s, key, offset, function, entry, err);
	if (!status && !has_functions(image))
		(*entry)->done = true;
	return status;
}

static int window_frame(struct window_writer *w, uint32_t frame, int64_t *id, struct error *err)
{
	struct pair_entry *entry;
	int status;

	if (!w->frames[frame]) {
		status = find_frame(w, frame, &entry, err);
		if (status)
			return status;
		w->frames[frame] = entry->id;
		if (!entry->done && w->s->options.name && entry->again_at <= w->s->windows)
			vec_push(&w->nameless, frame);
	}
	*id = w->frames[frame];
	return 0;
}

int window_stack(struct window_writer *w, uint32_t path, int64_t *id, struct error *err)
{
	static const char select[] = "SELECT id FROM stack WHERE parent = ? AND frame = ?";
	static const char insert[] = "INSERT INTO stack (parent, frame, depth) VALUES (?1, ?2, "
	                             "coalesce((SELECT depth FROM stack WHERE id = ?1), 0) + 1)";
	const struct path_node *nodes = w->p->paths.items;
	int64_t frame = 0, parent;
	int status = 0;

	w->chain.count = 0;
	for (; path != PATH_ROOT && !w->paths[path]; path = nodes[path].parent)
		vec_push(&w->chain, path);
	parent = path == PATH_ROOT ? 0 : w->paths[path];
	while (!status && w->chain.count) {
		path = w->chain.items[--w->chain.count];
		status = window_frame(w, nodes[path].frame, &frame, err);
		if (!status)
			status = names_pair(&w->s->names.stacks, &w->s->db, select, insert, parent,
			                    frame, &w->paths[path], err);
		parent = w->paths[path];
	}
	*id = parent;
	return status;
}

/* Writes the name of a frame's function. NULL: the name is not known yet. */
static int name_frame(struct window_writer *w, uint32_t frame, const char *text, struct error *err)
{
	static const char update[] = "UPDATE frame SET function = nullif(?, 0), tries = ? "
	                             "WHERE id = ?";
	struct database *d = &w->s->db;
	int64_t name, image, function = 0;
	struct pair_entry *entry;
	sqlite3_stmt *statement;
	int status = window_image(w, w->p->frames.items[frame].frame.image, &image, err);

	if (!status && text)
		status = names_text(&w->s->names, d, text, &name, err);
	if (!status && text)
		status = function_id(w->s, image, name, &function, err);
	if (!status)
		status = find_frame(w, frame, &entry, err);
	if (!status)
		status = database_kept(d, update, &statement, err);
	if (status)
		return status;
	entry->tries++;
	entry->done = text || entry->tries >= TRIES_MAX;
	/* The next request is after 8 windows, then 64, then 512. */
	entry->again_at = w->s->windows + ((uint64_t)1 << 3 * entry->tries);
	return database_put(d, statement, err, "iii", function, (int64_t)entry->tries, entry->id);
}

int window_name_frames(struct window_writer *w, struct error *err)
{
	size_t count = w->nameless.count;
	const char **names;
	int status = 0;

	if (!count)
		return 0;
	names = xcalloc(count, sizeof(*names));
	w->s->options.name(w->s->options.name_ctx, w->p, w->nameless.items, count, names);
	for (size_t i = 0; !status && i < count; i++)
		status = name_frame(w, w->nameless.items[i], names[i], err);
	free(names);
	return status;
}
