/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http/http_url.h"

#include "base/memory/xalloc.h"
#include "base/text/plain_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MAX 65535

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '\\')
			return true;
	return false;
}

/* The sentence does not contain the text if that may contain a password. */
static int refuse(struct error *err, const char *text, const char *why)
{
	struct buf shown = {0};

	plain_text_add(&shown, text, strlen(text));
	error_set(err, EINVAL, "the address %s %s", buf_text(&shown), why);
	buf_done(&shown);
	return -EINVAL;
}

static char *lower(const char *text, size_t size)
{
	char *copy = xstrndup(text, size);

	for (char *c = copy; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return copy;
}

/* [USER@], at the start of the authority. */
static int take_user(const char **at, const char *end, struct http_url *u, struct error *err)
{
	const char *sign = memrchr(*at, '@', (size_t)(end - *at));

	if (!sign)
		return 0;
	if (memchr(*at, ':', (size_t)(sign - *at)))
		return error_set(err, EINVAL,
		                 "an address must not contain a password, since other users see it "
		                 "in the list of processes; pass a file with --token-file");
	u->user = xstrndup(*at, (size_t)(sign - *at));
	*at = sign + 1;
	return 0;
}

static int take_port(const char *text, const char *end, struct http_url *u)
{
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		u->port = u->port * 10 + (unsigned)(*text - '0');
		if (u->port > PORT_MAX)
			return -EINVAL;
	}
	return u->port ? 0 : -EINVAL;
}

/* HOST[:PORT] */
static int take_host(const char *at, const char *end, struct http_url *u)
{
	const char *close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
	const char *host_end = close ? close + 1 : memchr(at, ':', (size_t)(end - at));

	if (*at == '[' && !close)
		return -EINVAL;
	if (!host_end)
		host_end = end;
	u->host = lower(at, (size_t)(host_end - at));
	if (!*u->host ||
	    strspn(u->host, "abcdefghijklmnopqrstuvwxyz0123456789.-_[]:") != strlen(u->host))
		return -EINVAL;
	if (host_end == end)
		return 0;
	return *host_end == ':' ? take_port(host_end + 1, end, u) : -EINVAL;
}

static int parse(const char *text, struct http_url *u, struct error *err)
{
	const char *at = strstr(text, "://"), *end;
	size_t path;
	int ret;

	if (!at || at == text || has_control(text))
		return refuse(err, text, "is not of the form SCHEME://HOST[:PORT][/PATH]");
	u->scheme = lower(text, (size_t)(at - text));
	at += 3;
	end = at + strcspn(at, "/?#");
	ret = take_user(&at, end, u, err);
	if (ret)
		return ret;
	if (take_host(at, end, u))
		return refuse(err, text, "has no valid host and port (SCHEME://HOST[:PORT])");
	if (strpbrk(end, "?#"))
		return refuse(err, text, "must not have a query (?) or a fragment (#)");
	path = strlen(end);
	while (path && end[path - 1] == '/')
		path--;
	u->path = xstrndup(end, path);
	return 0;
}

int http_url_parse(const char *text, struct http_url *u, struct error *err)
{
	int ret;

	*u = (struct http_url){0};
	ret = parse(text, u, err);
	if (ret)
		http_url_done(u);
	return ret;
}

void http_url_done(struct http_url *u)
{
	free(u->scheme);
	free(u->user);
	free(u->host);
	free(u->path);
	*u = (struct http_url){0};
}

void http_url_text(const struct http_url *u, bool tls, struct buf *out)
{
	buf_addf(out, "%s://%s", tls ? "https" : "http", u->host);
	if (u->port)
		buf_addf(out, ":%u", u->port);
	buf_puts(out, u->path);
}

bool http_url_is_loopback(const struct http_url *u)
{
	return !strcmp(u->host, "localhost") || !strcmp(u->host, "[::1]") ||
	       (!strncmp(u->host, "127.", 4) && strspn(u->host, "0123456789.") == strlen(u->host));
}

void http_escape(struct buf *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                            "0123456789-._~";

	for (; *text; text++)
		if (strchr(plain, *text))
			buf_putc(out, *text);
		else
			buf_addf(out, "%%%02X", (unsigned char)*text);
}
