/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/source_files.h"

#include "base/memory/intern.h"
#include "base/read/regular_file.h"

#include <errno.h>
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
	struct file_namer namer; /* of the paths */
	size_t refused;          /* files */
	struct error why;        /* of the first of these */
};

struct source_files *source_files_new(const struct file_namer *namer)
{
	struct source_files *s = xcalloc(1, sizeof(*s));

	intern_init(&s->paths);
	s->namer = *namer;
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

/* A file that does not exist, or that this user may not read, is not a refusal. */
static void note_refused(struct source_files *s, int status, const char *path)
{
	if (status != -EPERM && status != -EINVAL && status != -EREMOTE && status != -ETIMEDOUT)
		return;
	if (!s->refused++)
		regular_file_error(&s->why, status, path);
}

static char *read_text(struct source_files *s, const char *path)
{
	struct stat st;
	int fd = regular_file_open_recorded(path, 0, &s->namer, &st);
	char *text = NULL;
	ssize_t got;

	if (fd < 0) {
		note_refused(s, fd, path);
		return NULL;
	}
	if (st.st_size <= SOURCE_MAX_BYTES) {
		text = xmalloc((size_t)st.st_size + 1);
		got = regular_file_read(fd, text, (size_t)st.st_size);
		text[got > 0 ? got : 0] = '\0';
	}
	close(fd);
	return text;
}

static void read_source(struct source_files *s, struct source_file *file, const char *path)
{
	char *at, *end;

	file->text = read_text(s, path);
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
		read_source(s, vec_add(&s->files), path);
	if ((size_t)line > s->files.items[index].lines.count)
		return NULL;
	return s->files.items[index].lines.items[line - 1];
}

size_t source_files_refused(const struct source_files *s, const char **why)
{
	*why = s ? s->why.text : "";
	return s ? s->refused : 0;
}
