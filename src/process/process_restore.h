/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_restore: adds processes and threads with known names and instance numbers to a table,
 * without the events that would report them.
 *
 * For reading histories. Use it on a new table, before any event. Restored processes have no
 * mappings and are not in the pid lookup, except pid 0 (the idle thread). Ids count up from 0 in
 * the order of the calls. Texts are copied. Uses: base, process.
 */
#ifndef ASSAY_PROCESS_PROCESS_RESTORE_H
#define ASSAY_PROCESS_PROCESS_RESTORE_H

#include "process/process.h"

/* NULL: unknown, except the name. */
struct process_texts {
	const char *name, *cgroup, *version, *labels;
};

/* Copies `like`, except the texts and the parent, which is unknown. */
uint32_t process_restore(struct process_table *t, const struct process *like,
                         const struct process_texts *texts);
/* A restored process or thread has another name, or ended. */
void process_restore_update(struct process_table *t, uint32_t id, const struct process *like,
                            const char *name);
void process_restore_thread_update(struct process_table *t, uint32_t id, const struct thread *like,
                                   const char *name);
/* Adds a thread of a restored process. */
uint32_t process_restore_thread(struct process_table *t, const struct thread *like,
                                const char *name);

#endif
