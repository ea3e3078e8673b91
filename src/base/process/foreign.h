/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign: calls that touch memory and files of other users' processes, with a time limit.
 *
 * Every access to such memory or to such a file may wait forever: the file system may be a
 * program of the same user (FUSE), or a server that does not answer; a page may wait for
 * userfaultfd. Even close() and fstat() may wait, and SIGKILL does not end all these waits. The
 * calls therefore run in a process of their own. Bytes come back, never descriptors.
 *
 *	foreign_open()		while this process has one thread
 *	foreign_call()		runs a function there and waits for its bytes
 *	foreign_report()	what was not answered, as sentences
 *	foreign_close()		NULL-safe
 *
 * A call that is blocked for its time limit is abandoned. Its thread stays in the kernel, and
 * another thread of the process serves the next call; FOREIGN_STUCK_MAX threads at most may be
 * stuck at a time. A user whose processes hold FOREIGN_STUCK_USER of them, or who made the
 * recorder wait for more than a second in total (and 1 % of the time since), is left alone: calls
 * for his processes fail at once, and are counted.
 *
 * If the process is killed, the call that notices it fails, and the next one starts it again.
 *
 * Time limits are in ms in which the thread was blocked: a thread that waits for a CPU is not.
 * Used by one thread. Uses: served_mount.
 */
#ifndef ASSAY_BASE_PROCESS_FOREIGN_H
#define ASSAY_BASE_PROCESS_FOREIGN_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREIGN_IN_MAX 8192 /* bytes of a request: a path and what belongs to it */
#define FOREIGN_STUCK_MAX 8
#define FOREIGN_STUCK_USER 4

#define FOREIGN_MS 200       /* the time limit of most calls */
#define FOREIGN_COPY_MS 1000 /* the same of copies of whole files */

struct foreign;

/* Where a function puts its bytes. */
struct foreign_reply;
void foreign_reply_add(struct foreign_reply *r, const void *bytes, size_t size);
/*
 * In place of that: FOREIGN_ROOM bytes to be filled, from which nothing is copied in this process;
 * then foreign_reply_filled().
 */
#define FOREIGN_ROOM ((size_t)128 << 10)
void *foreign_reply_room(struct foreign_reply *r);
void foreign_reply_filled(struct foreign_reply *r, size_t size);
/* In place of both: many bytes, which are copied once, for foreign_call_mapped(). 0 or -errno. */
int foreign_reply_map(struct foreign_reply *r, const void *bytes, size_t size);
/* The caller does not wait any more: what the function holds for it has to be released. */
bool foreign_reply_abandoned(const struct foreign_reply *r);

/* Runs in the other process, on one of its threads: 0 or -errno. */
typedef int foreign_fn(const void *in, size_t size, struct foreign_reply *reply);

struct foreign_options {
	void (*prepare)(void); /* called first in the new process, to give up rights; NULL: none */
	int keep;              /* a descriptor that it keeps beside its own, -1: none */
};

int foreign_open(struct foreign **f, const struct foreign_options *options, struct error *err);
/* What to do every few ms as long as a call is not answered; NULL: nothing. With f NULL: not kept.
 */
void foreign_meanwhile(struct foreign *f, void (*meanwhile)(void *ctx), void *ctx);
void foreign_close(struct foreign *f);

/*
 * Runs fn with memory or a file of `user`. What it added is appended to `out`; NULL: it
 * adds nothing. The result is that of fn, or -ETIMEDOUT: not answered;
 * -ECANCELED: not asked, as the user is left alone, or the process ended. With f NULL fn runs here.
 */
int foreign_call(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                 const void *in, size_t size, struct buf *out);

/*
 * The same for an answer by foreign_reply_map(): memory that is only read, until
 * foreign_unmap(), which may come after foreign_close(). f is not NULL.
 */
int foreign_call_mapped(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                        const void *in, size_t size, void **bytes, size_t *count);
void foreign_unmap(void *bytes, size_t count);

/*
 * The real user of a process, remembered for a second, and after the end of the process for a
 * minute. Processes that ended before their user was read share one number of their own.
 */
uint32_t foreign_user(struct foreign *f, pid_t pid);

/*
 * Changes when a call notices that the process was killed. Descriptors that calls before the change
 * opened there are closed.
 */
uint32_t foreign_generation(const struct foreign *f);

pid_t foreign_pid(const struct foreign *f); /* 0: none */
/* CPU time of the process and of those that it replaced. */
uint64_t foreign_cpu_ns(const struct foreign *f);

struct foreign_counts {
	uint64_t calls, unanswered, refused;
};
struct foreign_counts foreign_counts(const struct foreign *f);
/* One sentence for each user with calls that were not answered or not made. */
void foreign_report(const struct foreign *f, void (*add)(void *ctx, const char *text), void *ctx);

#endif
