/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program_file: where programs and parts of assay lie: what a COMMAND would run, and
 * what this assay came with, in a build or installed.
 *
 * Texts are the caller's to free. Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_PROGRAM_FILE_H
#define ASSAY_LAUNCH_PROGRAM_FILE_H

#include <stdbool.h>

/* As execvp() looks for it; NULL: not found. */
char *program_file_find(const char *name);

/* "#!INTERPRETER": its path; NULL: no script. */
char *program_file_interpreter(const char *path);

/* A regular file that can be read. */
bool program_file_is_there(const char *path);

/* The directory of this program: in a build, the build's. */
char *program_file_own_directory(void);

/* Less than a file's first step is free there. */
bool program_file_is_full(const char *directory);

#endif
