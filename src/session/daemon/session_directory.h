/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_directory: the directory of a user's sessions.
 *
 * $XDG_RUNTIME_DIR/assay; without the variable /run/assay for root, /run/user/UID/assay for others.
 * The directory must belong to this user alone (0700), must not be a link, and no other user may be
 * able to replace it; otherwise an error names the variable to set. Root ignores an
 * XDG_RUNTIME_DIR of another user. The path is opened component by component, so that the checked
 * directory is the one that is used. The caller owns the descriptor. Any thread. Uses: base.
 */
#ifndef ASSAY_SESSION_DAEMON_SESSION_DIRECTORY_H
#define ASSAY_SESSION_DAEMON_SESSION_DIRECTORY_H

#include "base/error.h"

#include <stdbool.h>

/* Opens the directory. The caller frees `path`. -ENOENT: it does not exist, and `make` is false.
 */
int session_directory_open(char **path, bool make, struct error *err);

#endif
