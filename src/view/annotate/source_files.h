/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_files: lines of source files; each file is read once.
 *
 * The paths come from debug information, which is not trusted: only absolute paths of regular files
 * up to 32 MB are read, that the user who chose the paths may read (base/read/file_namer.h).
 * source_files_new() / source_files_free(). Uses: base.
 */
#ifndef ASSAY_VIEW_ANNOTATE_SOURCE_FILES_H
#define ASSAY_VIEW_ANNOTATE_SOURCE_FILES_H

#include <stddef.h>

struct file_namer;
struct source_files;

struct source_files *source_files_new(const struct file_namer *namer);
void source_files_free(struct source_files *s);

/* Line `line` (from 1), without its line end; NULL: no such file or line. Valid until
 * source_files_free(). */
const char *source_files_line(struct source_files *s, const char *path, int line);

/* The number of files that were refused; *why: a sentence about the first one, owned by `s`. */
size_t source_files_refused(const struct source_files *s, const char **why);

#endif
