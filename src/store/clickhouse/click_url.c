/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_server.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN "clickhouse://"
#define TLS "clickhouse+https://"
#define SHAPE "clickhouse://[USER@]HOST[:PORT]/DATABASE"
#define DATABASE_MAX 64

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool click_url_has(const char *name)
{
	return !strncmp(name, PLAIN, strlen(PLAIN)) || !strncmp(name, TLS, strlen(TLS)) ||
	       !strncmp(name, "clickhouse+http://", strlen("clickhouse+http://"));
}

/* True if the text has at least one character, and only letters, digits and those of `more`. */
static bool consists_of(const char *text, const char *more)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (!strchr(letters, *text) && !strchr(more, *text))
			return false;
	return true;
}

static bool take_port(struct click_url *u, const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	u->port = (unsigned)port;
	return consists_of(text, "") && !*end && port > 0 && port < 65536;
}

/* HOST[:PORT] or [ADDRESS][:PORT] */
static bool take_host(struct click_url *u, const char *text)
{
	const char *end = *text == '[' ? strchr(text, ']') : NULL;
	const char *colon = strchr(end ? end : text, ':');
	size_t size = colon ? (size_t)(colon - text) : strlen(text);

	u->host = xstrndup(text, size);
	u->port = u->tls ? 8443 : 8123;
	if (colon && !take_port(u, colon + 1))
		return false;
	return end ? end == text + size - 1 && size > 2 : consists_of(u->host, ".-_");
}

static int refuse(const char *name, const char *why, struct error *err)
{
	return error_set(err, EINVAL,
	                 "'%s' is not the name of a store: %s; the form is " SHAPE
	                 ", or clickhouse+https:// for TLS",
	                 name, why);
}

/* A message must not repeat the password. */
static int refuse_password(struct error *err)
{
	return error_set(err, EINVAL,
	                 "a password in the name of a store is visible for other users: put it "
	                 "into the environment variable ASSAY_CLICKHOUSE_PASSWORD, or into a file "
	                 "that ASSAY_CLICKHOUSE_PASSWORD_FILE names");
}

static int parse(const char *name, char *rest, struct click_url *u, struct error *err)
{
	char *slash = strchr(rest, '/'), *at;

	if (!slash)
		return refuse(name, "it names no database", err);
	*slash = 0;
	at = strrchr(rest, '@');
	if (at) {
		*at = 0;
		if (strchr(rest, ':'))
			return refuse_password(err);
		if (!consists_of(rest, ".-_"))
			return refuse(name,
			              "the user's name has other characters than letters, "
			              "digits and .-_",
			              err);
		u->user = xstrdup(rest);
		rest = at + 1;
	}
	if (!take_host(u, rest))
		return refuse(name, "the host or the port is wrong", err);
	u->database = xstrdup(slash + 1);
	if (!consists_of(u->database, "_") || strlen(u->database) > DATABASE_MAX)
		return refuse(name, "a database has a name of letters, digits and _", err);
	return 0;
}

int click_url_parse(const char *name, struct click_url *u, struct error *err)
{
	const char *after = strstr(name, "://");
	char *rest;
	int status;

	*u = (struct click_url){.tls = !strncmp(name, TLS, strlen(TLS))};
	if (!click_url_has(name) || !after)
		return refuse(name, "its scheme is unknown", err);
	rest = xstrdup(after + 3);
	status = parse(name, rest, u, err);
	free(rest);
	if (status)
		click_url_done(u);
	return status;
}

void click_url_done(struct click_url *u)
{
	free(u->user);
	free(u->host);
	free(u->database);
	*u = (struct click_url){0};
}
