/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_token: the token of the server from a file, so that other programs know it before it starts.
 *
 * The file has 32 hexadecimal digits, and can be read by its owner alone. If it does not exist, it
 * is created with a new token. -EINVAL: it has something else; -EPERM: other users can read it. One
 * thread. Uses: base, web.
 */
#ifndef ASSAY_CMD_VIEW_VIEW_TOKEN_H
#define ASSAY_CMD_VIEW_VIEW_TOKEN_H

#include "web/web_guard.h"

int view_token_read(struct web_token *token, const char *path, struct error *err);

#endif
