/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules_file: a user's file that assigns functions to groups (subsystems).
 *
 *	# comment, and empty lines
 *	net: tcp_* ip_* in_cksum
 *	disk: ext4_* *::flush
 *	net: dev_queue_xmit		a group may continue in another line
 *
 * The text before a line's first ':' is the group; the patterns after it are separated by blanks
 * and have the shell's syntax (* ? [...]). `#` begins a comment at the beginning of a line or after
 * a blank. A pattern that ends with ! qualifies the ones behind it (view/groups/group_rules.h), so
 * it is not the last of a line. Groups that begin with '(' are reserved for the report. Patterns
 * are passed on in the file's order. -EINVAL names file, line and the way out. No state. Any
 * thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_RULES_FILE_H
#define ASSAY_FORMAT_RULES_FILE_H

#include "base/error.h"

#include <stddef.h>

typedef void rules_file_fn(void *of, const char *group, const char *pattern);

/* "-": standard input. */
int rules_file_read(const char *path, rules_file_fn *rule, void *of, struct error *err);
/* Parses a text; `path` is used in errors. */
int rules_file_parse(const char *text, size_t length, const char *path, rules_file_fn *rule,
                     void *of, struct error *err);

#endif
