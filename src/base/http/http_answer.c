/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http/http_client.h"

#include "base/text/plain_text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define SHOWN_MAX 200 /* bytes of a body in a sentence */

void http_answer_done(struct http_answer *a)
{
	buf_done(&a->headers);
	buf_done(&a->body);
	*a = (struct http_answer){0};
}

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* The lines end with CR LF or LF. The body has no part in them. */
bool http_answer_header(const struct http_answer *a, const char *name, struct buf *value)
{
	const char *line = buf_text(&a->headers), *end = line + a->headers.size, *next;
	size_t length = strlen(name);

	buf_clear(value);
	for (; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		if ((size_t)(stop - line) <= length || line[length] != ':' ||
		    strncasecmp(line, name, length))
			continue;
		line = skip_spaces(line + length + 1, stop);
		while (stop > line && strchr(" \t\r", stop[-1]))
			stop--;
		buf_add(value, line, (size_t)(stop - line));
		return true;
	}
	return false;
}

static int status_error(unsigned status)
{
	switch (status) {
	case 401:
	case 403:
		return EACCES;
	case 408:
	case 429:
	case 502:
	case 503:
	case 504:
		return EAGAIN;
	default:
		return status >= 300 && status < 400 ? EREMOTE : EPROTO;
	}
}

/* The first line of the body, or the address to which a redirect leads, as printable text. */
static void add_detail(const struct http_answer *a, struct buf *out)
{
	struct buf place = {0};
	const char *body = buf_text(&a->body);
	size_t size = strcspn(body, "\r\n");

	if (status_error(a->status) == EREMOTE && http_answer_header(a, "Location", &place)) {
		buf_puts(out, " redirects to ");
		plain_text_add(out, buf_text(&place),
		               place.size < SHOWN_MAX ? place.size : SHOWN_MAX);
		buf_puts(out, ", and assay follows no redirects: pass the final address");
	} else if (size) {
		buf_puts(out, ": ");
		plain_text_add(out, body, size < SHOWN_MAX ? size : SHOWN_MAX);
	}
	buf_done(&place);
}

int http_answer_check(const struct http_answer *a, const char *url, struct error *err)
{
	struct buf detail = {0};
	int code = status_error(a->status);

	if (a->status >= 200 && a->status < 300)
		return 0;
	add_detail(a, &detail);
	if (code == EREMOTE)
		error_set(err, code, "%s (status %u)%s", url, a->status, buf_text(&detail));
	else
		error_set(err, code, "%s: the server answered with status %u%s%s", url, a->status,
		          code == EACCES ? " (the token was refused, or is missing)" : "",
		          buf_text(&detail));
	buf_done(&detail);
	return -code;
}

bool http_is_passing(int error)
{
	switch (error) {
	case -ECONNREFUSED:
	case -ETIMEDOUT:
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -EAGAIN:
		return true;
	default:
		return false;
	}
}
