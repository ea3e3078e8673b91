/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_address: the loopback address and the port of the web server.
 *
 *	web_address_parse()	the text of an option: "8080", "127.0.0.1:8080", "[::1]:8080"
 *	web_address_listen()	opens the socket and stores its port
 *	web_address_is_host()	checks the Host header of a request
 *
 * No other address can be expressed: the server is never reachable from another machine. 0 or
 * -errno. Plain data. Any thread. Uses: base.
 */
#ifndef ASSAY_WEB_WEB_ADDRESS_H
#define ASSAY_WEB_WEB_ADDRESS_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct web_address {
	bool ipv6;     /* ::1, else 127.0.0.1 */
	uint16_t port; /* 0: the kernel chooses a free one */
};

/* -EINVAL: the text of `option` is not a port, or its address is not a loopback address. */
int web_address_parse(struct web_address *a, const char *option, const char *text,
                      struct error *err);

/* The caller owns the descriptor, which does not block. */
int web_address_listen(struct web_address *a, int *fd, struct error *err);

/*
 * True for the names under which a browser reaches this server: 127.0.0.1, localhost and [::1],
 * with the port. A page of another site that is rebound to 127.0.0.1 sends its own name.
 */
bool web_address_is_host(const struct web_address *a, const char *host);

/* Appends "http://127.0.0.1:8080/". */
void web_address_url(const struct web_address *a, struct buf *out);

#endif
