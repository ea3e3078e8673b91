/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptor_keeper: names the open files, pipes and sockets on which threads wait, while their
 * processes run.
 *
 * A switch sample of --waits has the first argument of the system call, and a wake-up that of the
 * waker. If the thread blocks or wakes, and the argument may be a descriptor, its name is read from
 * /proc once for each process and descriptor, and again after RECHECK_NS at the earliest, since a
 * number is used again after close(). A changed name makes another record.
 *
 * At most READS_PER_S names are read in a second; a descriptor that was not read is read at a later
 * sample. The names of DESCRIPTORS_MAX descriptors are remembered, then all are forgotten and read
 * again.
 *
 *	descriptor_keeper_new()
 *	descriptor_keeper_event()	forks, execs and exits, in the order of time
 *	descriptor_keeper_sample()	each sample of a switch or wake-up, in the same order
 *	descriptor_keeper_account()	at the end, or for a snapshot
 *	descriptor_keeper_free()
 *
 * A socket whose addresses are not found yet is read again at later samples of any thread, some
 * times, until its process ends or executes another program.
 *
 * The name is that of the moment at which the sample is read: up to a tenth of a second after it, a
 * few ms after the start of a program (wakeup_schedule_started()). A process that exits before
 * leaves its descriptors without names; they are counted. All functions except
 * descriptor_keeper_new() accept NULL. One thread. Times are ns of the recording's clock.
 * Uses: base, event, process, format, source, unwind.
 */
#ifndef ASSAY_SESSION_KEEP_DESCRIPTOR_KEEPER_H
#define ASSAY_SESSION_KEEP_DESCRIPTOR_KEEPER_H

#include "event/recording.h"

#define RECHECK_NS UINT64_C(1000000000)
#define READS_PER_S 4000
#define DESCRIPTORS_MAX 65536

struct descriptor_keeper;

/* `recording` has the fields of sched:sched_switch. Without them, or on an unknown processor, no
 * descriptor gets a name. */
struct descriptor_keeper *descriptor_keeper_new(const struct recording *recording);
void descriptor_keeper_free(struct descriptor_keeper *k);

void descriptor_keeper_event(struct descriptor_keeper *k, const struct event *e);
/* True: `named` is a record to write before the sample, valid until the next call. */
bool descriptor_keeper_sample(struct descriptor_keeper *k, const struct event *e, bool is_wake,
                              struct event *named);
/* Adds a note on names that could not be read. */
void descriptor_keeper_account(const struct descriptor_keeper *k, struct account *account);

#endif
