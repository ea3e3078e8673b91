/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_browser: opens a URL in the browser of the user who runs assay, never as root.
 *
 * xdg-open runs in a session of its own, so that ^C does not end the browser. After `sudo` it runs
 * as the user who called it. One thread. Uses: base, launch.
 */
#ifndef ASSAY_CMD_VIEW_WEB_BROWSER_H
#define ASSAY_CMD_VIEW_WEB_BROWSER_H

#include "base/error.h"

/* -ENODEV: there is no display; -EPERM: the user is root; -ENOENT: no xdg-open. */
int web_browser_open(const char *url, struct error *err);

#endif
