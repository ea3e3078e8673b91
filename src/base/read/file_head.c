/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/file_head.h"

#include "base/memory/xalloc.h"
#include "base/read/gunzip.h"
#include "base/read/regular_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	HEAD_BYTES = 4096,
	HEAD_UNPACKED = 16384,
};

int file_head_read(struct file_head *head, const char *path, struct stat *st)
{
	char bytes[HEAD_BYTES];
	ssize_t size;
	int fd;

	*head = (struct file_head){0};
	fd = regular_file_open(strcmp(path, "-") != 0 ? path : "/dev/stdin", st);
	if (fd < 0)
		return fd;
	size = regular_file_read(fd, bytes, sizeof(bytes));
	close(fd);
	if (size < 0)
		return (int)size;
	buf_add(&head->bytes, bytes, (size_t)size);
	head->whole = size < HEAD_BYTES;
	return 0;
}

bool file_head_unpack(struct file_head *head)
{
	char *bytes = xmalloc(HEAD_UNPACKED);
	bool ended;
	size_t size = gunzip_head(head->bytes.data, head->bytes.size, bytes, HEAD_UNPACKED, &ended);

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
