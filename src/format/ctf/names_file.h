/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_file: the file of NAME/TAG lines that the compiler's plugin extends.
 *
 *	main/502		a function: entry 502, exit 503
 *	swtch/600!		the function that switches processes
 *	idle/602~		a function whose own time is idle
 *	timer/604^		an interrupt: its time is in no call around it
 *	MGET/1002=		an inline tag
 *	parse@src/lex.c/504	a static function, of that file (relative to the names file)
 *	# left out NAME		a function that got no tags, since it is small
 *	# comment, and empty lines
 *
 * The tag is the decimal number after the line's last '/'; blanks around it are ignored. An entry
 * that names no function (by custom the first: "first/500") may set where tags begin: new tags are
 * greater than any in the file. Several files may be read one after the other, or concatenated.
 * -EINVAL names file, line and the way out. Uses: base, tags.
 */
#ifndef ASSAY_FORMAT_CTF_NAMES_FILE_H
#define ASSAY_FORMAT_CTF_NAMES_FILE_H

#include "base/error.h"
#include "tags/tag_names.h"

/* Adds the names of a file; "-": standard input. An ELF file: its section assay_tags_names. */
int names_file_read(struct tag_names *into, const char *path, struct error *err);
/* Adds the names of a text; `path` is used in errors. */
int names_file_parse(struct tag_names *into, const char *text, size_t length, const char *path,
                     struct error *err);

/*
 * Assigns inline tags to `names` without tags and appends them to the file, under the lock that
 * compilers take (flock on the file). A missing file is created (0644).
 */
int names_file_add(const char *path, const char *const *names, size_t count, struct error *err);

#endif
