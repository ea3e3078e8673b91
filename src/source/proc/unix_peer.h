/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unix_peer: the name and the peer of a Unix socket, from the kernel's socket diagnosis
 * (sock_diag). It knows the sockets of this process's network namespace only, and answers in time
 * that does not depend on their number.
 *
 * unix_peer_open() returns a descriptor that the caller closes, or -errno. One thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_PROC_UNIX_PEER_H
#define ASSAY_SOURCE_PROC_UNIX_PEER_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

int unix_peer_open(void);
/* Appends "unix LOCAL PEER". False: there is no such socket, or the kernel has no diagnosis. */
bool unix_peer_text(int fd, uint64_t inode, struct buf *text);

#endif
