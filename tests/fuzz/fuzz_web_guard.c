/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests and texts of --port with any bytes, in lines: the method, the Host header, the token,
 * the port. The path is of an interface if a fifth line has a text. A request is allowed if and
 * only if each part is one of the few valid ones, and an accepted port is the number in its text.
 */
#include "web/web_guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Cuts the next line off. */
static char *line(char **rest)
{
	char *begin = *rest, *end = begin + strcspn(begin, "\n");

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return begin;
}

static bool is_valid(const struct web_request *r)
{
	return !strcmp(r->method, r->posts ? "POST" : "GET") && !strcmp(r->token, TOKEN) &&
	       (!strcmp(r->host, "127.0.0.1:8080") || !strcasecmp(r->host, "localhost:8080") ||
	        !strcmp(r->host, "[::1]:8080"));
}

static void check_port(const char *text)
{
	struct error err = {0};
	struct web_address a;
	int rc = web_address_parse(&a, "--port", text, &err);
	const char *number = strrchr(text, ':') ? strrchr(text, ':') + 1 : text;

	if ((rc != 0) != (err.text[0] != '\0'))
		abort();
	if (!rc && a.port != strtoul(number, NULL, 10))
		abort();
	if (!rc && number != text && !strncmp(text, "[::1]", 5) != a.ipv6)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct web_guard guard = {.address = {.port = 8080}, .token = {TOKEN}};
	char *text = malloc(size + 1), *rest = text;
	struct web_request r = {.hosts = 1};
	const char *reason = NULL;
	unsigned status;

	memcpy(text, bytes, size);
	text[size] = '\0';
	r.method = line(&rest);
	r.host = line(&rest);
	r.token = line(&rest);
	check_port(line(&rest));
	r.posts = *rest;
	status = web_guard_check(&guard, &r, &reason);
	if ((status == 0) != is_valid(&r) || (status == 0) != (reason == NULL))
		abort();
	free(text);
	return 0;
}
