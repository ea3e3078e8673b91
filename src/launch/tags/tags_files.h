/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_files: finds the event tag files of running and exited processes: in their directory
 * (source/runtime/tag_rings.h) and, for each running `assay tags -- COMMAND`, in a directory of its
 * session below it (run_directory.h).
 *
 * The caller owns the lists (tag_rings_list_done()). 0 or -errno. One thread. Uses: base, source.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_FILES_H
#define ASSAY_LAUNCH_TAGS_TAGS_FILES_H

#include "source/runtime/tag_rings.h"

/* All files of the user, oldest first. */
int tags_files_all(tag_rings_list *list, struct error *err);

/* Creates a directory for a command. The caller frees the path. */
int tags_session_begin(char **directory, struct error *err);
/* False: it still exists, for running processes or unreadable files. */
bool tags_session_end(const char *directory);

#endif
