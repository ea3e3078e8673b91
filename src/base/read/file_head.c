/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/file_head.h"

#include "base/memory/xalloc.h"
#include "base/read/gunzip.h"
#include "base/read/regular_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int file_head_read(struct file_head *head, const char *path, size_t room, struct stat *st)
{
	char *bytes;
	ssize_t size;
	int fd;

	*head = (struct file_head){0};
	fd = regular_file_open(strcmp(path, "-") != 0 ? path : "/dev/stdin", st);
	if (fd < 0)
		return fd;
	bytes = xmalloc(room);
	size = regular_file_read(fd, bytes, room);
	close(fd);
	if (size > 0)
		buf_add(&head->bytes, bytes, (size_t)size);
	free(bytes);
	if (size < 0)
		return (int)size;
	head->room = room;
	head->whole = (size_t)size < room;
	return 0;
}

bool file_head_unpack(struct file_head *head)
{
	size_t room = FILE_HEAD_UNPACKED * (head->room ? head->room : FILE_HEAD_BYTES), size;
	char *bytes = xmalloc(room);
	bool ended;

	size = gunzip_head(head->bytes.data, head->bytes.size, bytes, room, &ended);
	head->whole = head->whole && ended;
	buf_clear(&head->bytes);
	buf_add(&head->bytes, bytes, size);
	free(bytes);
	return size > 0;
}

void file_head_done(struct file_head *head)
{
	buf_done(&head->bytes);
}
