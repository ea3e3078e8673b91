/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_peer: on which file the waker acted that ended a wait for one of several files (epoll, poll,
 * select).
 *
 * The functions of the waker in the kernel say what it did (`tcp_sendmsg`, `pipe_write`), and the
 * first argument of its system call is its descriptor. The peer of a socket is the end of the
 * connection that more connections share, which is the address of the server: rows of all clients
 * are one. An interrupt shows a timeout, a timer, or the network. What is not known is not named.
 *
 * A zeroed struct is empty; wait_peers_done() frees. Nothing fails. One thread. Uses: base,
 * profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_PEER_H
#define ASSAY_VIEW_WAITS_WAIT_PEER_H

#include "view/waits/wait_cause.h"

/*
 * Appends "tcp 127.0.0.1:5432 <- pgbench", "pipe:[42] <- writer", "timeout", "the network". False:
 * it is not known what ended the wait; nothing is appended.
 */
bool wait_peer_name(struct wait_causes *c, const struct wait_log *log, const struct wait_key *key,
                    const struct wait_cause *cause, struct buf *out);

#endif
