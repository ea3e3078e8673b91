/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_peer: the user at the other end of a TCP connection on loopback.
 *
 * Every user of the machine can connect to a loopback address, and can read the URL in the command
 * line of a browser that was just started. The kernel reports the owner of the other socket
 * (NETLINK_SOCK_DIAG), so connections of other users can be closed before a byte is read.
 *
 *	web_peer_open()		-1: the kernel does not report owners
 *	web_peer_user()		the owner of one connection
 *
 * One thread. Uses: web_address.
 */
#ifndef ASSAY_WEB_WEB_PEER_H
#define ASSAY_WEB_WEB_PEER_H

#include "web/web_address.h"

#include <sys/socket.h>
#include <sys/types.h>

/* A descriptor for web_peer_user(), which the caller closes. */
int web_peer_open(void);

/*
 * `peer`: the address of the other end, as accept(2) returns it; `here`: of this server. False:
 * that socket is closed or unknown, and belongs to no user.
 */
bool web_peer_user(int fd, const struct sockaddr *peer, const struct web_address *here,
                   uid_t *user);

#endif
