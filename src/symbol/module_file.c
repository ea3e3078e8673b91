/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/module_file.h"

#include "image/locate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_NAME_MAX 64

/*
 * "[snd_hda]" and "kernel/sound/snd-hda.ko" are equal: brackets, directories and dashes are
 * ignored.
 */
static void plain_name(const char *text, size_t length, char name[MODULE_NAME_MAX])
{
	const char *slash = memrchr(text, '/', length);
	size_t at = 0;

	if (slash) {
		length -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	for (; length && at + 1 < MODULE_NAME_MAX && *text != '.'; text++, length--)
		if (*text != '[' && *text != ']')
			name[at++] = *text == '-' ? '_' : *text;
	name[at] = '\0';
}

/* The path of a module in modules.dep, which the caller frees; NULL: none. */
static char *find_path(const char *folder, const char *wanted)
{
	char *dep = xasprintf("%s/modules.dep", folder), *line = NULL, *path = NULL;
	char name[MODULE_NAME_MAX];
	size_t room = 0, length;
	FILE *in = fopen(dep, "re");

	free(dep);
	while (in && !path && getline(&line, &room, in) > 0) {
		length = strcspn(line, ":\n");
		plain_name(line, length, name);
		if (!strcmp(name, wanted))
			path = xasprintf("%s%s%.*s", line[0] == '/' ? "" : folder,
			                 line[0] == '/' ? "" : "/", (int)length, line);
	}
	free(line);
	if (in)
		fclose(in);
	return path;
}

/* Reads the build-id of the loaded module from the kernel. */
static void loaded_build_id(const char *name, struct build_id *id)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	build_id_from_notes_file(path, id);
}

static int open_checked(struct elf_file **f, const char *path, const struct build_id *id,
                        struct error *err)
{
	size_t length = strlen(path);
	int r;

	if (length < 3 || strcmp(path + length - 3, ".ko") != 0)
		return error_set(err, ENOTSUP, "%s: is compressed; unpack a copy beside it", path);
	r = elf_file_open(f, path, err);
	if (r || !id->size || locate_same_build_id(id, elf_file_build_id(*f)))
		return r;
	elf_file_close(*f);
	*f = NULL;
	return error_set(err, ESTALE, "%s: is not the module that was loaded: its build-id differs",
	                 path);
}

int module_file_open(struct elf_file **f, const struct image *image, const char *name,
                     const char *release, const char *root, struct error *err)
{
	struct build_id id = image->build_id;
	char plain[MODULE_NAME_MAX];
	char *folder, *path;
	int r;

	*f = NULL;
	if (strchr(release, '/'))
		return error_set(err, EINVAL, "'%s' is not a kernel release", release);
	plain_name(name, strlen(name), plain);
	folder = xasprintf("%s/lib/modules/%s", root ? root : "", release);
	path = find_path(folder, plain);
	if (!id.size)
		loaded_build_id(plain, &id);
	if (path)
		r = open_checked(f, path, &id, err);
	else
		r = error_set(err, ENOENT, "%s/modules.dep: does not list %s", folder, name);
	free(path);
	free(folder);
	return r;
}
