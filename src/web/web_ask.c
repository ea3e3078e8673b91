/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_ask.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(struct buf *out, const char *text)
{
	buf_add(out, text, strlen(text) + 1);
}

void web_ask_put(struct buf *out, const char *path, const char *type)
{
	put(out, path);
	put(out, type ? type : "");
}

void web_ask_put_argument(struct buf *out, const char *name, const char *value)
{
	put(out, name);
	put(out, value ? value : "");
}

/* The text at *at, after which *at is; NULL: it has no end. */
static const char *next_text(const char **at, const char *end)
{
	const char *begin = *at,
	           *nul = begin < end ? memchr(begin, '\0', (size_t)(end - begin)) : NULL;

	if (nul)
		*at = nul + 1;
	return nul ? begin : NULL;
}

static int split(struct web_ask *a, size_t size)
{
	const char *at = a->bytes, *end = a->bytes + size;

	a->path = next_text(&at, end);
	a->type = a->path ? next_text(&at, end) : NULL;
	if (!a->type)
		return -EPROTO;
	a->body = at;
	a->size = (size_t)(end - at);
	return 0;
}

int web_ask_read(struct web_ask *a, const struct web_message *m, struct error *err)
{
	size_t size = m->fd >= 0 && m->size <= LIMIT_WEB_ASK_BYTES ? m->size : 0;
	int rc = -EPROTO;

	*a = (struct web_ask){.id = m->id, .bytes = xcalloc(size + 1, 1)};
	if (size && pread(m->fd, a->bytes, size, 0) == (ssize_t)size)
		rc = split(a, size);
	if (m->fd >= 0)
		close(m->fd);
	if (!rc)
		return 0;
	web_ask_done(a);
	return error_set(err, EPROTO, "the server of the page passed on a damaged request");
}

const char *web_ask_argument(const struct web_ask *a, const char *name)
{
	const char *at = a->body, *end = a->body + a->size, *key, *value;

	while ((key = next_text(&at, end)) && (value = next_text(&at, end)))
		if (!strcmp(key, name) && *value)
			return value;
	return NULL;
}

void web_ask_done(struct web_ask *a)
{
	free(a->bytes);
	*a = (struct web_ask){0};
}
