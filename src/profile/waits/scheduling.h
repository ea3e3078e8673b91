/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduling: what the samples of switches and wake-ups say, as updates of the counter.
 *
 * The fields of these tracepoints contain thread ids of the kernel's first pid namespace. In a
 * recording made in another namespace all other records have different ids. A kernel_tids finds the
 * thread of such an id: samples of switches and wake-ups contain both ids of their thread; as long
 * as these are equal, the ids of other records are used, too. A zeroed struct is empty; _done
 * frees. One thread. Uses: base, event.
 */
#ifndef ASSAY_PROFILE_WAITS_SCHEDULING_H
#define ASSAY_PROFILE_WAITS_SCHEDULING_H

#include "event/event.h"
#include "event/recording.h"
#include "profile/counter_update.h"

struct kernel_tids {
	bool wanted;
	bool foreign;          /* the recording is of another pid namespace */
	VEC(uint32_t) threads; /* by the kernel's thread id; ID_NONE: unknown */
};

/* `tid` of a record that is not such a sample is the id of this thread. */
void kernel_tids_set(struct kernel_tids *k, int32_t tid, uint32_t thread);
/* The sample is of that thread; ID_NONE: of the idle task, or of a process outside. */
void kernel_tids_learn(struct kernel_tids *k, const struct event *e, uint32_t thread);
/* ID_NONE: unknown */
uint32_t kernel_tids_find(const struct kernel_tids *k, int32_t tid);
/* Thread ids have changed: new_thread maps them, ID_NONE: removed. */
void kernel_tids_renumber(struct kernel_tids *k, const uint32_t *new_thread, size_t thread_count);
void kernel_tids_done(struct kernel_tids *k);

/* The recording has wake-ups whose fields are known. */
bool scheduling_has_wakings(const struct recording *r);
/*
 * The attribute whose samples replace switch records: sched_switch of all CPUs, in a recording that
 * has no such records. EVENT_NO_ATTR: none.
 */
uint16_t scheduling_switch_attr(const struct recording *r);

/* Fills the update from the sample of a switch; its thread and path are known. */
void scheduling_place(struct counter_update *n, const struct event *e, const struct kernel_tids *k,
                      bool is_arm64);
/* Fills the update from the sample of a wake-up; n->thread is the thread that ran. */
void scheduling_wake(struct counter_update *n, const struct event *e, const struct kernel_tids *k,
                     bool is_arm64);

#endif
