/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/view_token.h"

#include "base/file/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_SIZE (2 * WEB_TOKEN_BYTES)
#define DIGITS "0123456789abcdef"

static int create(struct web_token *token, const char *path, struct error *err)
{
	int fd, rc = web_token_make(token, err);

	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	rc = write_all(fd, token->text, TOKEN_SIZE);
	if (!rc)
		rc = write_all(fd, "\n", 1);
	close(fd);
	return rc ? error_set(err, -rc, "%s: %s", path, strerror(-rc)) : 0;
}

static int take(struct web_token *token, int fd, const char *path, struct error *err)
{
	char text[TOKEN_SIZE + 3] = "";
	ssize_t got = read(fd, text, sizeof(text) - 1);
	struct stat st;

	if (got < 0 || fstat(fd, &st))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (S_ISREG(st.st_mode) && st.st_mode & 077)
		return error_set(err, EPERM, "%s can be read by other users: chmod 600 %s", path,
		                 path);
	if (strspn(text, DIGITS) != TOKEN_SIZE ||
	    (got != TOKEN_SIZE && (got != TOKEN_SIZE + 1 || text[TOKEN_SIZE] != '\n')))
		return error_set(err, EINVAL,
		                 "%s is not a token: it needs one line with 32 hexadecimal digits "
		                 "(a file that does not exist is created)",
		                 path);
	memcpy(token->text, text, TOKEN_SIZE);
	return 0;
}

int view_token_read(struct web_token *token, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	*token = (struct web_token){0};
	if (fd < 0 && errno == ENOENT)
		return create(token, path, err);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	rc = take(token, fd, path, err);
	close(fd);
	return rc;
}
