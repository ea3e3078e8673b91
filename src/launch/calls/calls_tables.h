/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_tables: the tables of call paths that lie about, live or left behind,
 * found and read into one model.
 *
 * They lie in one directory (source/runtime/call_table.h) and, of each `assay calls --
 * COMMAND` under way, in a session's directory below it (run_directory.h):
 *
 *	calls_session_begin()	makes one
 *	calls_tables_of()	what is in it; calls_tables_all(): everywhere
 *	calls_tables_read()	each is copied and added to the model
 *	calls_session_end()	what ended is removed, with the directory
 *
 * The lists' owner is the caller (call_table_list_done()). One thread. Uses:
 * base, source, format, profile.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_TABLES_H
#define ASSAY_LAUNCH_CALLS_CALLS_TABLES_H

#include "base/memory/vec.h"
#include "profile/calls/call_paths.h"
#include "source/runtime/call_table.h"

typedef VEC(char *) calls_notes;

void calls_notes_done(calls_notes *notes);

/* All of the user's, oldest first. */
int calls_tables_all(call_table_list *list, struct error *err);
/* Those of one directory and of sessions below it. */
int calls_tables_of(call_table_list *list, const char *directory, struct error *err);

/*
 * Adds a process for each table. One that cannot be read is noted and left
 * out; an error if that is true of all. call_paths_close() is the caller's.
 */
int calls_tables_read(struct call_paths *into, const call_table_list *list, calls_notes *notes,
                      struct error *err);

/* Resets each; what was removed is told from what runs by its `running`. The first error. */
int calls_tables_reset(const call_table_list *list, struct error *err);

/* A directory of its own, 0700; the caller's to free. */
int calls_session_begin(char **directory, struct error *err);

/* Somebody's reset took tables out of it. */
bool calls_session_was_reset(const char *directory);

/*
 * Removes the tables in `list` that had ended, and the directory; false: it is
 * still there, for processes that go on.
 */
bool calls_session_end(const char *directory, const call_table_list *list);

#endif
