/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign: calls that access memory and files of other users' processes, with a time limit.
 *
 * Each access to such memory or to such a file may wait forever. The file system may be a program
 * of that user (FUSE), or a server that does not answer; a page may wait for userfaultfd. Even
 * close() and fstat() may wait, and SIGKILL does not end all these waits. Therefore the calls run
 * in a separate process, which returns bytes and no descriptors.
 *
 *	foreign_open()		while this process has one thread
 *	foreign_call()		runs a function there and waits for its bytes
 *	foreign_report()	calls that were not answered, as sentences
 *	foreign_close()		NULL-safe
 *
 * A call that is blocked for its time limit is abandoned. Its thread stays in the kernel, and
 * another thread of the process serves the next call; at most FOREIGN_STUCK_MAX threads may hang at
 * a time. Calls for a user fail at once, and are counted, while FOREIGN_STUCK_USER threads hang in
 * that user's files or memory, or after calls for that user have blocked the recorder for more than
 * a second in total (and 1 % of the time since). If the process is killed, the call that notices it
 * fails, and the next one starts the process again.
 *
 * Time limits are in ms in which the thread was blocked. Time in which it waits for a CPU does not
 * count. Used by one thread. Uses: served_mount.
 */
#ifndef ASSAY_BASE_PROCESS_FOREIGN_H
#define ASSAY_BASE_PROCESS_FOREIGN_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREIGN_IN_MAX 8192 /* size of a request: a path and its parameters */
#define FOREIGN_STUCK_MAX 8
#define FOREIGN_STUCK_USER 4

#define FOREIGN_MS 200       /* the time limit of most calls */
#define FOREIGN_COPY_MS 1000 /* the time limit for copies of whole files */

struct foreign;

/* Adds bytes to the answer. */
struct foreign_reply;
void foreign_reply_add(struct foreign_reply *r, const void *bytes, size_t size);
/*
 * Instead of foreign_reply_add(): returns FOREIGN_ROOM bytes that the function fills without a copy
 * in this process; then it calls foreign_reply_filled().
 */
#define FOREIGN_ROOM ((size_t)128 << 10)
void *foreign_reply_room(struct foreign_reply *r);
void foreign_reply_filled(struct foreign_reply *r, size_t size);
/* Instead of both: many bytes, which are copied once, for foreign_call_mapped(). 0 or -errno. */
int foreign_reply_map(struct foreign_reply *r, const void *bytes, size_t size);
/*
 * True if the caller has stopped waiting: the function must release resources that it holds for the
 * caller.
 */
bool foreign_reply_abandoned(const struct foreign_reply *r);

/* Runs in the other process, on one of its threads: 0 or -errno. */
typedef int foreign_fn(const void *in, size_t size, struct foreign_reply *reply);

struct foreign_options {
	void (*prepare)(void); /* called first in the new process, to drop privileges; NULL: none */
	int keep; /* a descriptor that the process inherits in addition to its own, -1: none */
};

int foreign_open(struct foreign **f, const struct foreign_options *options, struct error *err);
/*
 * A function to call every few ms while a call is not answered; NULL: none. Ignored if f is NULL.
 */
void foreign_set_waiting(struct foreign *f, void (*waiting)(void *ctx), void *ctx);
void foreign_close(struct foreign *f);

/*
 * Runs fn with memory or a file of `user`, and appends its bytes to `out` (NULL: it adds none).
 * Returns the result of fn, or -ETIMEDOUT: not answered; -ECANCELED: not called, since calls for
 * the user are refused or the process ended. If f is NULL, fn runs in this process.
 */
int foreign_call(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                 const void *in, size_t size, struct buf *out);

/*
 * The same for an answer by foreign_reply_map(). The memory is read-only, and valid until
 * foreign_unmap(), which may be called after foreign_close(). f is not NULL.
 */
int foreign_call_mapped(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                        const void *in, size_t size, void **bytes, size_t *count);
void foreign_unmap(void *bytes, size_t count);

/*
 * The real user of a process, cached for a second, and for a minute after the process ended.
 * Processes that ended before their user was read share one special number.
 */
uint32_t foreign_user(struct foreign *f, pid_t pid);

/*
 * A number that changes when a call notices that the process was killed. Descriptors that earlier
 * calls opened in the process are then closed.
 */
uint32_t foreign_generation(const struct foreign *f);

pid_t foreign_pid(const struct foreign *f); /* 0: none */
/* CPU time of the process and of its predecessors. */
uint64_t foreign_cpu_ns(const struct foreign *f);

struct foreign_counts {
	uint64_t calls, unanswered, refused;
};
struct foreign_counts foreign_counts(const struct foreign *f);
/* Reports one sentence for each user with calls that were not answered or not made. */
void foreign_report(const struct foreign *f, void (*add)(void *ctx, const char *text), void *ctx);

#endif
