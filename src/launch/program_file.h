/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program_file: finds the program of a COMMAND, and parts of assay in a build or an installation.
 *
 * The caller frees returned texts. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_PROGRAM_FILE_H
#define ASSAY_LAUNCH_PROGRAM_FILE_H

#include <stdbool.h>

/* Searches like execvp(); NULL: not found. */
char *program_file_find(const char *name);

/* "#!INTERPRETER": its path; NULL: not a script. */
char *program_file_interpreter(const char *path);

/* True for a readable regular file. */
bool program_file_is_there(const char *path);

/* The directory of this program: in a build, the build directory. */
char *program_file_own_directory(void);

/* True if there is less free space than the initial size of a file. */
bool program_file_is_full(const char *directory);

#endif
