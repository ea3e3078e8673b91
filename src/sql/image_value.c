/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/image_value.h"

#include "sql/tables/columns.h"

#include <string.h>

static const char *kind_name(enum image_kind kind)
{
	static const char *const names[] = {
	        [IMAGE_FILE] = "file", [IMAGE_KERNEL] = "kernel", [IMAGE_MODULE] = "module",
	        [IMAGE_VDSO] = "vdso", [IMAGE_ANON] = "anon",     [IMAGE_UNKNOWN] = "unknown",
	        [IMAGE_NAME] = "name", [IMAGE_JIT] = "jit"};

	return (size_t)kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

const char *sql_image_short(const char *path)
{
	const char *slash = *path == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

void sql_out_build_id(sqlite3_context *out, const struct build_id *id)
{
	char text[2 * BUILD_ID_MAX + 1];

	build_id_text(id, text);
	sql_out_copy(out, id->size ? text : NULL);
}

void sql_image_value(const struct image_table *t, uint32_t image, int column, sqlite3_context *out)
{
	const struct image *i = &t->images.items[image];
	const char *path = image_path(t, image);

	switch (column) {
	case IMAGES_PATH:
		sql_out_text(out, path);
		break;
	case IMAGES_NAME:
		sql_out_text(out, sql_image_short(path));
		break;
	case IMAGES_KIND:
		sql_out_text(out, kind_name(i->kind));
		break;
	case IMAGES_BUILD_ID:
		sql_out_build_id(out, &i->build_id);
		break;
	}
}
