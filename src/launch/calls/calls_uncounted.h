/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_uncounted: processes that COMMAND left running and that have no table.
 *
 * A process makes its table at its first event. Until then the child of a fork has the memory of
 * its parent, with the mapping of the parent's table: /proc/PID/maps names that file. A program
 * that exec began has no such mapping; it is found if it is built with the hooks and the variable
 * of the directory is in its environment. A program that exec began with another environment is
 * not found.
 *
 * calls_uncounted_find() reads /proc once; calls_uncounted_note() counts in the model what was
 * found; calls_uncounted_done() frees the list. A process that may not be read, or that ends
 * while it is read, is left out without an error. One thread. Uses: base, image, profile, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_UNCOUNTED_H
#define ASSAY_LAUNCH_CALLS_CALLS_UNCOUNTED_H

#include "profile/calls/call_paths.h"
#include "launch/calls/calls_tables.h"

struct calls_uncounted {
	int32_t pid; /* in our PID namespace */
	char *name;
	/*
	 * From the parent's table, in the parent's namespace; 0: the process was started by exec.
	 */
	int32_t parent;
	uint64_t parent_birth;
};

typedef VEC(struct calls_uncounted) calls_uncounted_list;

/*
 * `tables`: the tables of the session's directory, read after COMMAND exited. Processes that
 * started before `since` (a start time as in /proc/PID/stat) are skipped.
 */
void calls_uncounted_find(calls_uncounted_list *list, const char *directory, uint64_t since,
                          const call_table_list *tables);
void calls_uncounted_done(calls_uncounted_list *list);

/* Counts each process at the process that forked it, else at COMMAND's process, else at the first
 * process. */
void calls_uncounted_note(const calls_uncounted_list *list, struct call_paths *paths,
                          int32_t command);

#endif
