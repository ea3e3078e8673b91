/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_file.h"

#include "base/memory/buf.h"
#include "image/locate.h"
#include "symbol/debug/debuginfod.h"

#include <string.h>

void debug_file_find(struct symbolizer *s, struct symbol_image *i)
{
	const struct build_id *id = elf_file_build_id(i->file);

	if (i->debug)
		return;
	i->debug = locate_debug(i->file, s->options.root, &i->refused);
	if (!i->debug && s->debuginfod && id->size)
		debuginfod_cached(&i->debug, id);
}

bool debug_file_in_place(struct symbolizer *s, struct symbol_image *i, const struct image *image)
{
	return s->debuginfod && image->build_id.size &&
	       debuginfod_cached(&i->file, &image->build_id) == DEBUGINFOD_HERE;
}

/* The build-id of an image whose file is stripped or missing; NULL: the image needs no debug file.
 */
static const struct build_id *lacking(struct symbolizer *s, uint32_t image)
{
	const struct image *recorded = &s->images->images.items[image];
	struct symbol_image *i = symbolizer_image(s, image);
	struct elf_file *f = NULL;
	const struct build_id *id = i->file ? elf_file_build_id(i->file) : &recorded->build_id;

	if (recorded->kind != IMAGE_FILE || i->debug || !id->size ||
	    (i->file && elf_file_has_symtab(i->file)))
		return NULL;
	if (debuginfod_cached(&f, id) == DEBUGINFOD_UNASKED)
		return id;
	elf_file_close(f);
	return NULL;
}

static void add_name(struct buf *names, const char *path)
{
	const char *slash = strrchr(path, '/');

	buf_addf(names, "%s%s", names->size ? ", " : "", slash ? slash + 1 : path);
}

bool symbolizer_fetches(const struct symbolizer *s)
{
	return s->debuginfod != NULL;
}

int symbolizer_fetch(struct symbolizer *s, const uint32_t *images, size_t count, struct buf *names,
                     struct error *err)
{
	VEC(struct build_id) ids = {0};
	int status = 0;

	for (size_t i = 0; s->debuginfod && i < count; i++) {
		const struct build_id *id = lacking(s, images[i]);

		if (!id)
			continue;
		vec_push(&ids, *id);
		add_name(names, image_path(s->images, images[i]));
	}
	if (ids.count)
		status = debuginfod_fetch(ids.items, ids.count, s->debuginfod, err);
	vec_done(&ids);
	return status;
}
