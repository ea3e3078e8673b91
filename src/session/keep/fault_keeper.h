/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_keeper: finds the mapped files of major page faults, while their processes run.
 *
 * Recordings have mappings of code only, unless -d was given. A sample of the event major-faults
 * has an address. If its mapping is not known, it is read from /proc, and makes a record of a data
 * mapping. FAULT_MAPPINGS mappings are remembered, each for FAULT_RECHECK_NS, since another file
 * may be mapped there then. At most FAULT_READS_PER_S processes are read in a second.
 *
 *	fault_keeper_new()
 *	fault_keeper_sample()	each sample of major-faults, in the order of time
 *	fault_keeper_account()	at the end, or for a snapshot
 *	fault_keeper_free()
 *
 * Faults of processes that exited before their mappings were read are counted, and those beyond the
 * limit. All functions except fault_keeper_new() accept NULL. One thread. Times are ns of the
 * recording's clock. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_KEEP_FAULT_KEEPER_H
#define ASSAY_SESSION_KEEP_FAULT_KEEPER_H

#include "base/process/foreign.h"
#include "event/recording.h"

#define FAULT_MAPPINGS 256
#define FAULT_RECHECK_NS UINT64_C(1000000000)
#define FAULT_READS_PER_S 200

struct fault_keeper;

/* `foreign` reads /proc; NULL: this process does. */
struct fault_keeper *fault_keeper_new(struct foreign *foreign);
void fault_keeper_free(struct fault_keeper *k);

/* True: `mapping` is a record to write before the sample, valid until the next call. */
bool fault_keeper_sample(struct fault_keeper *k, const struct event *e, struct event *mapping);
/* Adds a note on faults whose files are not known. */
void fault_keeper_account(const struct fault_keeper *k, struct account *account);

#endif
