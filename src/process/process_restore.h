/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_restore: processes and threads put into a table as somebody else knew them, names
 * and instance numbers included, in place of the events that would make them known.
 *
 * For reading histories back. Into a new table, before any event; what is put in has no maps
 * and is not current: no pid means it, but 0, the idle thread's. Ids count up from 0 in the
 * order of the calls, and texts are copied. Uses: base, process.
 */
#ifndef ASSAY_PROCESS_PROCESS_RESTORE_H
#define ASSAY_PROCESS_PROCESS_RESTORE_H

#include "process/process.h"

/* As in `like`, but for the texts and the parent, which is not known. cgroup NULL: nor is it. */
uint32_t process_restore(struct process_table *t, const struct process *like, const char *name,
                         const char *cgroup);
/* Of a process that was put in. */
uint32_t process_restore_thread(struct process_table *t, const struct thread *like,
                                const char *name);

#endif
