/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_directory: the directory in which a user's sessions are found.
 *
 * $XDG_RUNTIME_DIR/assay; without that /run/assay for root, /run/user/UID/assay for others. It is
 * this user's alone (0700), no link, and nobody else can put another in its place: or there is
 * an error that says what to set. Root takes no XDG_RUNTIME_DIR that is another user's. Gone down
 * step by step, so that what was looked at is what is used. Nothing is held but the descriptor,
 * the caller's. Any thread. Uses: base.
 */
#ifndef ASSAY_SESSION_DAEMON_SESSION_DIRECTORY_H
#define ASSAY_SESSION_DAEMON_SESSION_DIRECTORY_H

#include "base/error.h"

#include <stdbool.h>

/* A descriptor, and its path, the caller's to free; or -errno. -ENOENT: not there, not to be made.
 */
int session_directory_open(char **path, bool make, struct error *err);

#endif
