/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base_name: the part of a path after its last slash: "libc.so.6" of "/usr/lib/libc.so.6"; all of a
 * path without a slash. The result points into the path. Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_TEXT_BASE_NAME_H
#define ASSAY_BASE_TEXT_BASE_NAME_H

#include <string.h>

static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
