/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptor_name: what an open descriptor of a running process refers to.
 *
 * The name is the target of /proc/PID/fd/N: a path, "pipe:[42]", "anon_inode:[eventpoll]". A socket
 * has its addresses instead, local and peer: "tcp 127.0.0.1:5432 127.0.0.1:40000", "udp6 [::]:53
 *-", "unix /run/x.sock 1234" (the inode stands for an address without a name, "-" for no peer).
 *
 * Addresses come from the tables in /proc/PID/net, of the network namespace of the process. Reading
 * them takes time in proportion to the sockets of the machine, so a table is read at most once in
 * SOCKET_TABLE_PAUSE times the duration of the last read, and has a limited size. Until a new
 * socket is found, its name is "socket:[INODE]". Only /proc is read: nothing waits for a file
 * system or for a process, and no process gets a reference to its file from here.
 *
 *	descriptor_names_new(), descriptor_names_free()
 *	descriptor_name_read()	any number of times
 *
 * Names are those of the process, and are escaped only when they are printed. One thread. Times are
 * ns of CLOCK_MONOTONIC. Uses: base.
 */
#ifndef ASSAY_SOURCE_PROC_DESCRIPTOR_NAME_H
#define ASSAY_SOURCE_PROC_DESCRIPTOR_NAME_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define SOCKET_TABLE_PAUSE 100

struct descriptor_names;

struct descriptor_names *descriptor_names_new(void);
void descriptor_names_free(struct descriptor_names *n);

/*
 * Replaces the contents of `name`. *complete is false for a socket without addresses so far.
 * -ENOENT: the process has no such descriptor; -ESRCH: there is no such process; -EACCES.
 */
int descriptor_name_read(struct descriptor_names *n, int32_t pid, uint32_t number, struct buf *name,
                         bool *complete);

#endif
