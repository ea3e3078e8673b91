/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int web_token_make(struct web_token *t, struct error *err)
{
	unsigned char bytes[WEB_TOKEN_BYTES];

	/* The kernel returns all of so few bytes, or none. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set(err, errno, "no random token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(t->text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool web_token_is(const struct web_token *t, const char *text)
{
	volatile unsigned char differences = 0;

	if (strlen(text) != sizeof(t->text) - 1)
		return false;
	for (size_t i = 0; i < sizeof(t->text) - 1; i++)
		differences |= (unsigned char)(t->text[i] ^ text[i]);
	return !differences;
}

unsigned web_guard_check(const struct web_guard *g, const struct web_request *r,
                         const char **reason)
{
	if (r->hosts != 1 || !r->host || !web_address_is_host(&g->address, r->host)) {
		*reason = "This server answers requests to its own address only.";
		return 403;
	}
	if (strcmp(r->method, r->posts ? "POST" : "GET") != 0) {
		*reason = r->posts ? "This interface is called by POST."
		                   : "This server answers GET requests only.";
		return 405;
	}
	if (!r->token || !web_token_is(&g->token, r->token)) {
		*reason = "The token is missing or wrong: use the whole address that 'assay view' "
		          "printed.";
		return 403;
	}
	return 0;
}
