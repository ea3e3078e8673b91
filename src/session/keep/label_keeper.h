/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_keeper: finds the labels of processes while they run (adr/0215, adr/0216).
 *
 * A process gets labels when it has samples: from its control group, the files of its pod, the
 * names of its container, its page of OTEL_CTX, and from a file for all processes, in this order;
 * the first value of a key counts. A process that ran before the recording is looked at with its
 * first sample, a later one LABELS_FIRST_NS after it, since its SDK publishes after its start; what
 * is known of its container it has at once. Then it is looked at again in growing intervals, up to
 * LABELS_AGAIN_NS. Changed labels make another record. At most LABEL_LOOKS_PER_S processes are
 * looked at in a second.
 *
 *	label_keeper_new()
 *	label_keeper_common()	once, before the first event
 *	label_keeper_event()	forks, execs and exits, in the order of time
 *	label_keeper_sample()	each sample, in the same order
 *	label_keeper_account()	at the end, or for a snapshot
 *	label_keeper_free()
 *
 * Dropped labels are counted. Memory is bounded. All functions except label_keeper_new() accept
 * NULL. One thread. Times are ns of the recording's clock. Uses: base, event, process, format,
 * source.
 */
#ifndef ASSAY_SESSION_KEEP_LABEL_KEEPER_H
#define ASSAY_SESSION_KEEP_LABEL_KEEPER_H

#include "base/error.h"
#include "base/process/foreign.h"
#include "event/recording.h"

#define LABELS_FIRST_NS UINT64_C(1000000000)
#define LABELS_AGAIN_NS UINT64_C(64000000000)
#define LABEL_LOOKS_PER_S 50
#define LABEL_PROCESSES_MAX 16384
#define LABEL_CONTAINERS_MAX 4096

struct label_keeper;

struct label_keeper_options {
	struct foreign *foreign;   /* NULL: this process reads */
	const char *pod_directory; /* of a downward API volume in containers of pods; NULL: none */
	const char *file; /* with labels of all processes (format/label_file.h); NULL: none */
};

/* The file is read here. -errno: it cannot be read, or a line is no label. */
int label_keeper_new(struct label_keeper **out, const struct label_keeper_options *o,
                     struct error *err);
void label_keeper_free(struct label_keeper *k);
/* The same errors of such a file, without a keeper. */
int label_keeper_check(const char *path, struct error *err);

/* True: `e` is a record to write first. */
bool label_keeper_common(struct label_keeper *k, struct event *e);
void label_keeper_event(struct label_keeper *k, const struct event *e);
/* True: `named` is a record to write before the sample, valid until the next call. */
bool label_keeper_sample(struct label_keeper *k, const struct event *e, struct event *named);
/* Adds notes on labels that are missing or cut. */
void label_keeper_account(const struct label_keeper *k, struct account *account);

#endif
