/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program_file: finds the program of a COMMAND, and parts of assay in a build or an installation.
 *
 * The caller frees returned texts. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_PROGRAM_FILE_H
#define ASSAY_LAUNCH_PROGRAM_FILE_H

#include "base/error.h"

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

/* True if this program is that of a package: what it lacks comes from packages, too. */
bool program_file_is_packaged(void);

/*
 * The program that a command starts by another one (`setpriv --reuid=USER PROGRAM`): the first of
 * the words after the first for which `is` holds; NULL: none. *path: where it is; the caller frees
 * it.
 */
const char *program_file_started(char *const command[], bool (*is)(const char *path), char **path);

/*
 * Sets the reason why a program that is built for a measurement was not started: `what` begins the
 * sentence. Always returns an error.
 */
int program_file_not_started(const char *what, const char *by, const char *name, int status,
                             struct error *err);

#endif
