/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_directory: a directory of its own for each COMMAND that runs under assay, for
 * what the runtime in it writes: run-PID-XXXXXX (PID: assay's), below the kind's
 * directory (source/runtime/runtime_files.h).
 *
 *	run_directory_begin()	makes one, 0700
 *	run_directory_each()	a directory and the sessions below it, nested ones too
 *	run_directory_mark()	somebody else took files out of it; _was_marked()
 *	run_directory_end()	removed, if nothing is in it
 *
 * What an assay left that was killed is removed by run_directory_each() as soon as it
 * is empty. 0 or -errno. Nothing is held. One thread. Uses: base, source.
 */
#ifndef ASSAY_LAUNCH_RUN_DIRECTORY_H
#define ASSAY_LAUNCH_RUN_DIRECTORY_H

#include "base/error.h"
#include "source/runtime/runtime_files.h"

/* Below the kind's directory, which is made if need be. The caller frees the text. */
int run_directory_begin(const struct shared_kind *kind, char **directory, struct error *err);

/* Its error is that of the first directory; others' that go meanwhile are no errors. */
typedef int run_directory_fn(void *ctx, const char *directory, struct error *err);
int run_directory_each(const char *base, run_directory_fn *each, void *ctx, struct error *err);

/* `file`: that was taken; nothing happens if its directory is no session's. */
void run_directory_mark(const char *file);
bool run_directory_was_marked(const char *directory);

/* False: it is still there, for files that are in it. */
bool run_directory_end(const char *directory);

#endif
