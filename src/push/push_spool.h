/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_spool: batches that wait for their back end, as files in a directory.
 *
 * The directory belongs to one address: DIR/DIGEST, mode 0700, files 0600. A lock admits one
 * session at a time, and waits up to 5 s for the process that sends for a killed one. Batches are
 * sent in the order of their times; the newest are kept if the limit is exceeded. The process that
 * samples adds batches and drops the oldest; the process that sends takes the oldest, which renames
 * the file, so that it is not dropped while it is sent, and removes it afterwards. After a kill,
 * batches that were taken are taken again.
 *
 *	push_spool_open(&s, &options, err)
 *	push_spool_add(s, time_ns, &batch, &dropped, err)	by the process that samples
 *	push_spool_take(s, &item, err), push_spool_remove(s, &item)	by the process that sends
 *	push_spool_count(s, &count)
 *	push_spool_close(s)		NULL-safe
 *
 * 0 or -errno with a sentence. One thread in each process; the processes share the lock. Uses:
 * base.
 */
#ifndef ASSAY_PUSH_PUSH_SPOOL_H
#define ASSAY_PUSH_PUSH_SPOOL_H

#include "base/process/sender_process.h"
#include "push/push_batch.h"

#include <stdint.h>

struct push_spool;

struct push_spool_options {
	const char *directory; /* created if it does not exist */
	const char *address;
	uint64_t bytes_max;
};

/* A batch that was taken. */
struct push_item {
	char name[96]; /* empty: there is none */
	struct push_batch batch;
};

/* -EBUSY: another session sends to this address from this directory. */
int push_spool_open(struct push_spool **s, const struct push_spool_options *o, struct error *err);
void push_spool_close(struct push_spool *s);
const char *push_spool_path(const struct push_spool *s);
int push_spool_descriptor(const struct push_spool *s);

/*
 * *dropped: older batches that were deleted. After an error the batch is not in the spool; -ENOSPC:
 * it does not fit beside the batch that is being sent, or the disk is full.
 */
int push_spool_add(struct push_spool *s, uint64_t time_ns, const struct push_batch *b,
                   struct send_count *dropped, struct error *err);
/* -EINVAL: the file was damaged; item->name is set, and batch.samples. */
int push_spool_take(struct push_spool *s, struct push_item *item, struct error *err);
void push_spool_remove(struct push_spool *s, const struct push_item *item);
/* The batch was not sent: it waits again, and may be dropped. */
void push_spool_return(struct push_spool *s, const struct push_item *item);
void push_item_done(struct push_item *item);

int push_spool_count(const struct push_spool *s, struct send_count *count);

#endif
