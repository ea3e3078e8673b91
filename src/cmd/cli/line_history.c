/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/line_history.h"

#include "base/memory/buf.h"
#include "base/file/safe_directory.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX (1 << 20)    /* a larger file is shortened */
#define BYTES_KEPT (512 << 10) /* to this size; the newest lines remain */

struct line_history {
	int fd;
};

static bool is_ours(int fd, mode_t type, mode_t others)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & others);
}

static int open_directory(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path;
	int fd;

	if (state && *state == '/')
		path = xasprintf("%s/assay", state);
	else if (home && *home == '/')
		path = xasprintf("%s/.local/state/assay", home);
	else
		return -1;
	fd = safe_directory_open(path, SAFE_DIRECTORY_MAKE | SAFE_DIRECTORY_OURS, NULL, NULL);
	free(path);
	if (fd >= 0 && !is_ours(fd, S_IFDIR, 022)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Reads the whole file; a file that is too large loses its older half. */
static void read_lines(int fd, struct buf *text)
{
	char bytes[65536];
	ssize_t got;
	size_t cut;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0 && text->size < 16 * BYTES_MAX)
		buf_add(text, bytes, (size_t)got);
	if (text->size <= BYTES_MAX)
		return;
	cut = text->size - BYTES_KEPT;
	while (cut < text->size && text->data[cut - 1] != '\n')
		cut++;
	memmove(text->data, text->data + cut, text->size - cut);
	text->size -= cut;
	text->data[text->size] = '\0';
	if (!ftruncate(fd, 0))
		write_all(fd, text->data, text->size);
}

static int open_file(const char *name)
{
	int directory = open_directory(), fd;
	char *file = xasprintf("%s_history", name);

	fd = directory < 0
	             ? -1
	             : openat(directory, file,
	                      O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	                      0600);
	free(file);
	if (directory >= 0)
		close(directory);
	if (fd >= 0 && (!is_ours(fd, S_IFREG, 0) || fchmod(fd, 0600))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

struct line_history *line_history_open(const char *name, void (*known)(void *, const char *),
                                       void *ctx)
{
	int fd = open_file(name);
	struct line_history *h;
	struct buf text = {0};
	char *rest, *line;

	if (fd < 0)
		return NULL;
	read_lines(fd, &text);
	rest = text.data;
	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			known(ctx, line);
	buf_done(&text);
	h = xcalloc(1, sizeof(*h));
	h->fd = fd;
	return h;
}

void line_history_add(struct line_history *h, const char *line)
{
	struct buf text = {0};

	if (!h)
		return;
	buf_addf(&text, "%s\n", line);
	write_all(h->fd, text.data, text.size);
	buf_done(&text);
}

void line_history_close(struct line_history *h)
{
	if (!h)
		return;
	close(h->fd);
	free(h);
}
