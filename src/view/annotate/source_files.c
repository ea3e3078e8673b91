/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/source_files.h"

#include "base/memory/intern.h"
#include "base/read/regular_file.h"

#include <string.h>
#include <unistd.h>

#define SOURCE_MAX_BYTES (32u << 20)

struct source_file {
	char *text; /* NULL: not readable; line ends are replaced by NULs */
	VEC(char *) lines;
};

struct source_files {
	struct intern paths; /* id - 1: index into files */
	VEC(struct source_file) files;
};

struct source_files *source_files_new(void)
{
	struct source_files *s = xcalloc(1, sizeof(*s));

	intern_init(&s->paths);
	return s;
}

void source_files_free(struct source_files *s)
{
	if (!s)
		return;
	vec_each (file, &s->files) {
		free(file->text);
		vec_done(&file->lines);
	}
	vec_done(&s->files);
	intern_done(&s->paths);
	free(s);
}

static char *read_text(const char *path)
{
	struct stat st;
	int fd = regular_file_open_recorded(path, 0, &st);
	char *text = NULL;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (st.st_size <= SOURCE_MAX_BYTES) {
		text = xmalloc((size_t)st.st_size + 1);
		got = regular_file_read(fd, text, (size_t)st.st_size);
		text[got > 0 ? got : 0] = '\0';
	}
	close(fd);
	return text;
}

static void read_source(struct source_file *file, const char *path)
{
	char *at, *end;

	file->text = read_text(path);
	for (at = file->text; at && *at; at = end) {
		end = at + strcspn(at, "\n");
		if (*end)
			*end++ = '\0';
		vec_push(&file->lines, at);
	}
}

const char *source_files_line(struct source_files *s, const char *path, int line)
{
	size_t index;

	if (line < 1 || path[0] != '/')
		return NULL;
	index = intern_add(&s->paths, path) - 1;
	if (index >= s->files.count)
		read_source(vec_add(&s->files), path);
	if ((size_t)line > s->files.items[index].lines.count)
		return NULL;
	return s->files.items[index].lines.items[line - 1];
}
