/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http_url: the address of a server: SCHEME://[USER@]HOST[:PORT][/PATH].
 *
 * A password in an address is refused, since other users see it in the list of processes; so are
 * queries, fragments and control characters. The caller maps its own scheme (clickhouse,
 * otlp+https) to http or https. http_url_parse(), http_url_done(); a zeroed struct is accepted. Any
 * thread. Uses: base.
 */
#ifndef ASSAY_BASE_HTTP_HTTP_URL_H
#define ASSAY_BASE_HTTP_HTTP_URL_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdbool.h>

struct http_url {
	char *scheme;  /* in lower case */
	char *user;    /* NULL: none */
	char *host;    /* an IPv6 address has its brackets */
	unsigned port; /* 0: none given */
	char *path;    /* begins with "/", or is empty; no "/" at its end */
};

/* 0, or -EINVAL with a sentence. After an error the struct is zeroed. */
int http_url_parse(const char *text, struct http_url *u, struct error *err);
void http_url_done(struct http_url *u);
/* Appends http[s]://HOST[:PORT]PATH, without the user. */
void http_url_text(const struct http_url *u, bool tls, struct buf *out);
/* Appends the text with all bytes except letters, digits and -._~ as %XX, as in a query. */
void http_escape(struct buf *out, const char *text);
/* True for localhost, 127.x.y.z and [::1]. */
bool http_url_is_loopback(const struct http_url *u);

#endif
