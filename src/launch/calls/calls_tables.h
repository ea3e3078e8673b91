/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_tables: finds the tables of call paths of running and exited processes, and reads them into
 * one model.
 *
 * Tables are in one directory (source/runtime/call_table.h) and, for each running `assay calls --
 * COMMAND`, in a directory of its session below it (run_directory.h):
 *
 *	calls_session_begin()	creates the directory of a session
 *	calls_tables_of()	the tables in it; calls_tables_all(): all tables
 *	calls_tables_read()	copies each table and adds it to the model
 *	calls_session_end()	removes tables of exited processes, and the directory
 *
 * The caller owns the lists (call_table_list_done()). One thread. Uses: base, source, format,
 * profile.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_TABLES_H
#define ASSAY_LAUNCH_CALLS_CALLS_TABLES_H

#include "base/memory/vec.h"
#include "profile/calls/call_paths.h"
#include "source/runtime/call_table.h"

typedef VEC(char *) calls_notes;

void calls_notes_done(calls_notes *notes);

/* All tables of the user, oldest first. */
int calls_tables_all(call_table_list *list, struct error *err);
/* The tables of one directory and of sessions below it. */
int calls_tables_of(call_table_list *list, const char *directory, struct error *err);

/*
 * Adds a process for each table. A table that cannot be read is skipped with a note; it is an error
 * if all are skipped. The caller calls call_paths_close().
 */
int calls_tables_read(struct call_paths *into, const call_table_list *list, calls_notes *notes,
                      struct error *err);

/* Resets the tables of running processes, and removes the others. Returns the first error. */
int calls_tables_reset(const call_table_list *list, struct error *err);

/* Creates a directory with mode 0700. The caller frees the path. */
int calls_session_begin(char **directory, struct error *err);

/* True if a reset removed tables from it. */
bool calls_session_was_reset(const char *directory);

/*
 * Removes the tables in `list` of exited processes, and the directory. False: it still exists, for
 * running processes.
 */
bool calls_session_end(const char *directory, const call_table_list *list);

#endif
