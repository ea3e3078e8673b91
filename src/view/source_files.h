/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_files: lines of source files, each file read once.
 *
 * The names come from debug information, which is not to be trusted: only
 * regular files of a sane size are opened. Uses: base.
 */
#ifndef ASSAY_VIEW_SOURCE_FILES_H
#define ASSAY_VIEW_SOURCE_FILES_H

struct source_files;

struct source_files *source_files_new(void);
void source_files_free(struct source_files *s);

/* A line, from 1, without its end; NULL where the file or line is not there. Owned by s. */
const char *source_files_line(struct source_files *s, const char *path, int line);

#endif
