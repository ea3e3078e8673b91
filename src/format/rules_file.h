/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules_file: which functions make a subsystem, a person's own file.
 *
 *	# comment, and empty lines
 *	net: tcp_* ip_* in_cksum
 *	disk: ext4_* *::flush
 *	net: dev_queue_xmit		a group may go on in another line
 *
 * What stands before a line's first ':' is the group; patterns behind it are apart by
 * blanks, as a shell has them (* ? [...]). `#` begins a comment at a line's begin or
 * behind a blank. Groups that begin with '(' are the report's own. Patterns are handed on
 * in the file's order. -EINVAL names file, line and the way out. Nothing is held. Any
 * thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_RULES_FILE_H
#define ASSAY_FORMAT_RULES_FILE_H

#include "base/error.h"

#include <stddef.h>

typedef void rules_file_fn(void *of, const char *group, const char *pattern);

/* "-": stdin. */
int rules_file_read(const char *path, rules_file_fn *rule, void *of, struct error *err);
/* The same of a text; `path` for errors. */
int rules_file_parse(const char *text, size_t length, const char *path, rules_file_fn *rule,
                     void *of, struct error *err);

#endif
