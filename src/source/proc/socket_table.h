/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_table: the addresses of the sockets of a network namespace, by inode, from the files
 * tcp, tcp6, udp, udp6 and unix of /proc/PID/net.
 *
 * Zeroed is empty; socket_table_done() frees. socket_table_read() replaces the contents by those of
 * the namespace of a process; after SOCKETS_MAX sockets it stops. Texts are valid until then. One
 * thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_PROC_SOCKET_TABLE_H
#define ASSAY_SOURCE_PROC_SOCKET_TABLE_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

#define SOCKETS_MAX 65536

struct socket_entry {
	uint64_t inode;
	char *text; /* "tcp LOCAL PEER" */
};

struct socket_table {
	VEC(struct socket_entry) sockets;
	struct id_table index;
};

void socket_table_read(struct socket_table *t, int32_t pid);
void socket_table_done(struct socket_table *t);
/* NULL: the socket is not in the table. */
const char *socket_table_find(const struct socket_table *t, uint64_t inode);

#endif
