/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_directory: a separate directory for each COMMAND that runs under assay, for the files of the
 * runtime in it: run-PID-XXXXXX (PID: of assay), below the directory of the kind
 * (source/runtime/runtime_files.h).
 *
 *	run_directory_begin()	creates one, mode 0700
 *	run_directory_each()	visits a directory and the sessions below it, also nested ones
 *	run_directory_mark()	marks that files were removed from it; _was_marked()
 *	run_directory_end()	removes it, if it is empty
 *
 * run_directory_each() removes empty directories of killed processes. run_directory_begin() removes
 * those in /tmp, with their files. 0 or -errno. Stateless. One
 * thread. Uses: base, source.
 */
#ifndef ASSAY_LAUNCH_RUN_DIRECTORY_H
#define ASSAY_LAUNCH_RUN_DIRECTORY_H

#include "base/error.h"
#include "source/runtime/runtime_files.h"

/*
 * Below the kind's directory, which is made if need be. If that is /tmp/assay-UID and belongs to
 * another user, the new one is in /tmp, and only this session finds it. The caller frees the text.
 */
int run_directory_begin(const struct shared_kind *kind, char **directory, struct error *err);

/* Returns the error of the first directory; directories below it may disappear without an error. */
typedef int run_directory_fn(void *ctx, const char *directory, struct error *err);
int run_directory_each(const char *base, run_directory_fn *each, void *ctx, struct error *err);

/* `file`: the removed file; ignored if its directory is not of a session. */
void run_directory_mark(const char *file);
bool run_directory_was_marked(const char *directory);

/* False: it still exists, since it has files. */
bool run_directory_end(const char *directory);

#endif
