/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * other_format: files of other tools that assay recognises and does not read, each with a way to
 * their contents.
 *
 * Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_OTHER_FORMAT_H
#define ASSAY_FORMAT_OTHER_FORMAT_H

#include "base/error.h"

#include <stddef.h>

struct other_format {
	const char *name; /* "a heap profile of valgrind's massif" */
	const char *way;  /* a clause; each FILE in it is the name of the file */
};

/* The format of a file that begins with these bytes, unpacked; NULL: not one of these. */
const struct other_format *other_format_of(const void *bytes, size_t size);
/* The same of a directory. */
const struct other_format *other_format_of_directory(const char *path);
/* -EINVAL with the name and the way. */
int other_format_refuse(const struct other_format *f, const char *path, struct error *err);

#endif
