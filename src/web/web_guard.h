/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_guard: decides whether a request may be answered.
 *
 *	web_token_make()	128 random bits, as hexadecimal text: part of the URL
 *	web_guard_check()	the HTTP status of a refusal, with its reason; 0: allowed
 *
 * A request is allowed if it has one Host header with a name of this server, the token, and the
 * method GET (POST for interfaces). The order of the checks is the order of this sentence, except
 * that the method is checked before the token. Plain data. 0 or -errno. Any thread. Uses: base.
 */
#ifndef ASSAY_WEB_WEB_GUARD_H
#define ASSAY_WEB_WEB_GUARD_H

#include "web/web_address.h"

#define WEB_TOKEN_BYTES 16

struct web_token {
	char text[2 * WEB_TOKEN_BYTES + 1];
};

struct web_request {
	const char *method;
	const char *host;  /* of the first Host header; NULL: none */
	unsigned hosts;    /* number of Host headers */
	const char *token; /* NULL: none */
	bool posts;        /* the path is of an interface that is called by POST */
};

struct web_guard {
	struct web_address address;
	struct web_token token;
};

int web_token_make(struct web_token *t, struct error *err);
/* The time of the comparison does not depend on the contents of `text`. */
bool web_token_is(const struct web_token *t, const char *text);

/* `*reason`: a sentence for the client. */
unsigned web_guard_check(const struct web_guard *g, const struct web_request *r,
                         const char **reason);

#endif
