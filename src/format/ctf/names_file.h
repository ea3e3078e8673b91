/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_file: the file of NAME/TAG lines that the compiler's plugin extends.
 *
 *	main/502		a function: entry 502, exit 503
 *	swtch/600!		the function that switches processes
 *	MGET/1002=		an inline tag
 *	parse@src/lex.c/504	a static function, of that file (relative to the names file)
 *	# comment, and empty lines
 *
 * The tag stands behind the line's last '/', decimal; blanks around are ignored. An
 * entry that names no function (the first, by custom: "first/500") may set where tags
 * begin: those given out are greater than any in the file. Several files may be
 * read one after the other, or concatenated. -EINVAL names file, line and the way out.
 * Uses: base, trace.
 */
#ifndef ASSAY_FORMAT_CTF_NAMES_FILE_H
#define ASSAY_FORMAT_CTF_NAMES_FILE_H

#include "base/error.h"
#include "tags/tag_names.h"

/* Adds what the file names; "-": stdin. An ELF file: its section assay_tags_names. */
int names_file_read(struct tag_names *into, const char *path, struct error *err);
/* The same of a text; `path` for errors. */
int names_file_parse(struct tag_names *into, const char *text, size_t length, const char *path,
                     struct error *err);

/*
 * Gives inline tags to `names` that have none, under the lock that compilers take
 * (flock on the file), and appends them. The file is made if it is not there (0644).
 */
int names_file_add(const char *path, const char *const *names, size_t count, struct error *err);

#endif
