/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_files: the files of event tags that lie about, of processes that run or left them
 * behind: in their directory (source/runtime/tag_rings.h) and, of each `assay tags -- COMMAND`
 * under way, in a session's directory below it (run_directory.h).
 *
 * Lists are the caller's (tag_rings_list_done()). 0 or -errno. One thread. Uses: base,
 * source.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_FILES_H
#define ASSAY_LAUNCH_TAGS_TAGS_FILES_H

#include "source/runtime/tag_rings.h"

/* All of the user's, oldest first. */
int tags_files_all(tag_rings_list *list, struct error *err);

/* A directory of its own for a command that is run; the caller's to free. */
int tags_session_begin(char **directory, struct error *err);
/* False: it is still there, for processes that go on or files that could not be read. */
bool tags_session_end(const char *directory);

#endif
