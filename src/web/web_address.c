/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16
#define HTTP_PORT 80 /* browsers do not send it in the Host header */

static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
#define NAMES (sizeof(names) / sizeof(*names))

/* The text after the address and its colon. */
static const char *skip_name(struct web_address *a, const char *text)
{
	for (size_t i = 0; i < NAMES; i++) {
		size_t length = strlen(names[i]);

		if (strncmp(text, names[i], length) || text[length] != ':')
			continue;
		a->ipv6 = *names[i] == '[';
		return text + length + 1;
	}
	return text;
}

int web_address_parse(struct web_address *a, const char *option, const char *text,
                      struct error *err)
{
	const char *number;
	size_t digits;

	*a = (struct web_address){0};
	number = skip_name(a, text);
	digits = strspn(number, "0123456789");
	if (digits && digits <= 5 && !number[digits] && atoi(number) <= UINT16_MAX) {
		a->port = (uint16_t)atoi(number);
		return 0;
	}
	return error_set(err, EINVAL,
	                 "%s needs a number up to 65535, alone, or after 127.0.0.1: or [::1]:, not "
	                 "'%s'; other addresses are not served, since other machines could read "
	                 "from them",
	                 option, text);
}

union socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t socket_address(const struct web_address *a, union socket_address *s)
{
	memset(s, 0, sizeof(*s));
	if (a->ipv6) {
		s->v6.sin6_family = AF_INET6;
		s->v6.sin6_port = htons(a->port);
		s->v6.sin6_addr = in6addr_loopback;
		return sizeof(s->v6);
	}
	s->v4.sin_family = AF_INET;
	s->v4.sin_port = htons(a->port);
	s->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(s->v4);
}

static int cannot_listen(const struct web_address *a, struct error *err)
{
	const char *hint = errno == EADDRINUSE ? "; another program uses the port: leave --port "
	                                         "away for a free one"
	                   : errno == EACCES   ? "; ports below 1024 need root"
	                                       : "";

	return error_set(err, errno, "cannot listen on %s:%u: %s%s",
	                 a->ipv6 ? "[::1]" : "127.0.0.1", a->port, strerror(errno), hint);
}

int web_address_listen(struct web_address *a, int *fd, struct error *err)
{
	union socket_address s;
	socklen_t size = socket_address(a, &s);
	const int on = 1;
	int rc;

	*fd = socket(s.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return cannot_listen(a, err);
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(*fd, &s.any, size) || listen(*fd, BACKLOG) || getsockname(*fd, &s.any, &size)) {
		rc = cannot_listen(a, err);
		close(*fd);
		*fd = -1;
		return rc;
	}
	a->port = ntohs(a->ipv6 ? s.v6.sin6_port : s.v4.sin_port);
	return 0;
}

bool web_address_is_host(const struct web_address *a, const char *host)
{
	char valid[32];

	for (size_t i = 0; i < NAMES; i++) {
		snprintf(valid, sizeof(valid), "%s:%u", names[i], a->port);
		if (!strcasecmp(host, valid))
			return true;
		if (a->port == HTTP_PORT && !strcasecmp(host, names[i]))
			return true;
	}
	return false;
}

void web_address_url(const struct web_address *a, struct buf *out)
{
	buf_addf(out, "http://%s:%u/", a->ipv6 ? "[::1]" : "127.0.0.1", a->port);
}
