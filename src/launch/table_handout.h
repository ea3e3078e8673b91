/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_handout: hands out files of the runtime to processes of a COMMAND that cannot create theirs
 * in the directory of the session, because they changed their user or their root directory
 * (include/assay/handout.h).
 *
 *	table_handout_open()	after the directory was created, before COMMAND starts
 *	table_handout_command()	the process of COMMAND: only its descendants get files
 *	table_handout_step()	when _descriptor() has input, and now and then: answers requests
 *	table_handout_close()	when the files have been read: they are gone then
 *
 * A file is sealed memory of this process. A link PID-BIRTH-N.KIND to it is in the directory, so
 * that readers of the directory find it (source/runtime/runtime_files.h). While a handout is open,
 * orphans of COMMAND become children of this process, which waits for them in _step(). NULL is
 * accepted by all functions. One thread. Uses: base, source, include/assay.
 */
#ifndef ASSAY_LAUNCH_TABLE_HANDOUT_H
#define ASSAY_LAUNCH_TABLE_HANDOUT_H

#include "source/runtime/runtime_files.h"

#include <sys/types.h>

struct table_handout;

/* NULL: this machine cannot; the session continues without. `directory` must stay. */
struct table_handout *table_handout_open(const struct shared_kind *kind, const char *directory);
void table_handout_command(struct table_handout *h, pid_t command);
/* For poll(); 0: none. */
int table_handout_descriptor(const struct table_handout *h);
void table_handout_step(struct table_handout *h);
/* The number of requests of descendants that were refused, since the limits were reached. */
uint64_t table_handout_refused(const struct table_handout *h);
void table_handout_close(struct table_handout *h);

#endif
