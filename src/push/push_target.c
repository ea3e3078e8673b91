/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_target.h"

#include "base/http/http_url.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY "pprof-dir:"

static const struct {
	const char *scheme;
	enum push_kind kind;
	bool tls;
	const char *path;
} servers[] = {
        {"otlp+http", PUSH_OTLP, false, "/v1development/profiles"},
        {"otlp+https", PUSH_OTLP, true, "/v1development/profiles"},
        {"pyroscope+http", PUSH_PYROSCOPE, false, "/push.v1.PusherService/Push"},
        {"pyroscope+https", PUSH_PYROSCOPE, true, "/push.v1.PusherService/Push"},
        {"pyroscope-ingest+http", PUSH_INGEST, false, "/ingest"},
        {"pyroscope-ingest+https", PUSH_INGEST, true, "/ingest"},
};

bool push_target_is(const char *text)
{
	return strstr(text, "://") || !strncmp(text, DIRECTORY, strlen(DIRECTORY));
}

static int parse_server(const char *text, struct push_target *t, struct error *err)
{
	struct buf url = {0};
	struct http_url u;
	int ret = http_url_parse(text, &u, err);

	if (ret)
		return ret;
	ret = error_set(err, EINVAL, "%s: is not one of " PUSH_TARGETS, u.scheme);
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
		if (strcmp(servers[i].scheme, u.scheme))
			continue;
		t->kind = servers[i].kind;
		http_url_text(&u, servers[i].tls, &url);
		buf_puts(&url, servers[i].path);
		t->url = url.data;
		t->user = u.user;
		u.user = NULL;
		ret = 0;
	}
	http_url_done(&u);
	return ret;
}

int push_target_parse(const char *text, struct push_target *t, struct error *err)
{
	*t = (struct push_target){0};
	if (strncmp(text, DIRECTORY, strlen(DIRECTORY)))
		return parse_server(text, t, err);
	text += strlen(DIRECTORY);
	if (!*text)
		return error_set(err, EINVAL, "pprof-dir: names no directory");
	t->kind = PUSH_PPROF_DIR;
	t->directory = xstrdup(text);
	return 0;
}

void push_target_done(struct push_target *t)
{
	free(t->url);
	free(t->user);
	free(t->directory);
	*t = (struct push_target){0};
}
