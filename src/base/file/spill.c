/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/spill.h"

#include "base/text/plain_text.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void spill_to(struct spill *s, int fd, const char *name)
{
	*s = (struct spill){.fd = fd,
	                    .path = xstrdup(name),
	                    .terminal = fd >= 0 && isatty(fd),
	                    .file.place.directory = -1};
}

int spill_open(struct spill *s, const char *path, struct error *err)
{
	struct stat st;
	int ret = replace_file_check(path, err);

	*s = (struct spill){.fd = -1, .file.place.directory = -1};
	if (ret)
		return ret;
	s->path = xstrdup(path);
	if (!lstat(path, &st) && !S_ISREG(st.st_mode)) { /* /dev/null is the only accepted device */
		s->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		s->owned = s->fd >= 0;
		if (s->fd < 0)
			ret = error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	} else {
		s->fd = replacement_begin(&s->file, path, NULL, err);
		s->owned = s->fd >= 0;
		ret = s->owned ? 0 : s->fd;
	}
	if (ret) {
		free(s->path);
		*s = (struct spill){.fd = -1, .file.place.directory = -1};
	}
	return ret;
}

void spill_flush(struct spill *s)
{
	struct buf plain = {0};

	if (s->fd < 0)
		return;
	if (s->terminal)
		plain_text_lines(&plain, buf_text(&s->buf), s->buf.size);
	if (!s->code && s->terminal)
		s->code = -write_all(s->fd, plain.data, plain.size);
	else if (!s->code)
		s->code = -write_all(s->fd, s->buf.data, s->buf.size);
	buf_clear(&s->buf);
	buf_done(&plain);
}

int spill_close(struct spill *s, bool keep, struct error *err)
{
	int ret = 0;

	if (s->fd < 0 && !s->path)
		return 0;
	if (keep)
		spill_flush(s);
	if (s->owned && close(s->fd) && !s->code)
		s->code = errno;
	if (s->code)
		ret = error_set(err, s->code, "cannot write %s: %s", s->path, strerror(s->code));
	else if (keep && s->file.part)
		ret = replacement_put(&s->file, err);
	replacement_discard(&s->file);
	if (s->fd >= 0)
		buf_done(&s->buf);
	free(s->path);
	s->path = NULL;
	s->fd = -1;
	return ret;
}
