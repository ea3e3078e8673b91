/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http/http_client.h"

#include "base/read/regular_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TOKEN_MAX 4096

static int check_file(const char *path, const struct stat *st, struct error *err)
{
	if (st->st_uid && st->st_uid != geteuid())
		return error_set(err, EPERM,
		                 "%s: a file with a token must belong to this user or to root",
		                 path);
	if (st->st_mode & 077)
		return error_set(err, EPERM,
		                 "%s: other users can read this file with a token (mode %04o); "
		                 "'chmod 600 %s' changes it",
		                 path, (unsigned)st->st_mode & 07777, path);
	return 0;
}

/* The first line; later lines are ignored. */
static int check_token(const char *path, const char *text, size_t size, struct buf *token,
                       struct error *err)
{
	size_t length = 0;

	while (length < size && text[length] != '\n' && text[length] != '\r')
		length++;
	if (!length || length > TOKEN_MAX)
		return error_set(err, EINVAL,
		                 "%s: the first line is not a token of 1 to %d characters", path,
		                 TOKEN_MAX);
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return error_set(err, EINVAL,
			                 "%s: character %zu of the token is a space or not ASCII",
			                 path, i + 1);
	buf_clear(token);
	buf_add(token, text, length);
	return 0;
}

int http_token_read(const char *path, struct buf *token, struct error *err)
{
	char text[TOKEN_MAX + 2];
	struct stat st;
	int fd = regular_file_open(path, &st), ret;
	ssize_t got = 0;

	if (fd < 0)
		return regular_file_error(err, fd, path);
	ret = check_file(path, &st, err);
	if (!ret)
		got = regular_file_read(fd, text, sizeof(text));
	if (got < 0)
		ret = error_set(err, (int)-got, "%s: %s", path, strerror((int)-got));
	if (!ret)
		ret = check_token(path, text, (size_t)got, token, err);
	explicit_bzero(text, sizeof(text));
	close(fd);
	return ret;
}
