/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process in which foreign calls run: one thread for each slot. */
#include "base/process/foreign_internal.h"

#include "base/memory/xalloc.h"
#include "base/read/served_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEPT_ROOM ((size_t)1 << 20) /* bytes of a thread's buffer that are kept between calls */

struct foreign_worker {
	struct foreign_shared *shared;
	struct foreign_slot *slot;
	int file;
};

void foreign_wait(uint32_t *state, uint32_t value, int ms)
{
	struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	syscall(SYS_futex, state, FUTEX_WAIT, value, ms < 0 ? NULL : &limit, NULL, 0);
}

void foreign_wake(uint32_t *state)
{
	syscall(SYS_futex, state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void foreign_reply_add(struct foreign_reply *r, const void *bytes, size_t size)
{
	buf_add(&r->bytes, bytes, size);
}

void *foreign_reply_room(struct foreign_reply *r)
{
	if (r->slot)
		return r->slot->out;
	buf_pad(&r->bytes, '\0', FOREIGN_ROOM);
	return r->bytes.data;
}

void foreign_reply_filled(struct foreign_reply *r, size_t size)
{
	if (r->slot)
		r->slot->out_size = size;
	else
		r->bytes.size = size;
	r->filled = r->slot != NULL;
}

bool foreign_reply_abandoned(const struct foreign_reply *r)
{
	return r->slot && __atomic_load_n(&r->slot->abandoned, __ATOMIC_ACQUIRE);
}

/* The offset of a new answer in the file: the next page after all other answers. */
static int put_in_file(struct foreign_reply *r, const void *bytes, size_t size)
{
	struct foreign_slot *slot = r->slot;
	size_t done = 0;
	ssize_t n;

	slot->out_size = size;
	slot->in_file = true;
	slot->file_at =
	        __atomic_fetch_add(&r->shared->file_end, FOREIGN_PAGES(size), __ATOMIC_RELAXED);
	for (; done < size; done += (size_t)n) {
		n = pwrite(r->file, (const char *)bytes + done, size - done,
		           (off_t)(slot->file_at + done));
		if (n <= 0)
			return -EIO;
	}
	return 0;
}

int foreign_reply_map(struct foreign_reply *r, const void *bytes, size_t size)
{
	r->filled = true;
	return r->slot && size ? put_in_file(r, bytes, size) : -EINVAL;
}

static int answer(struct foreign_reply *r)
{
	struct foreign_slot *slot = r->slot;

	if (r->bytes.size > SLOT_OUT)
		return put_in_file(r, r->bytes.data, r->bytes.size);
	slot->out_size = r->bytes.size;
	if (r->bytes.size)
		memcpy(slot->out, r->bytes.data, r->bytes.size);
	return 0;
}

static void *serve(void *ctx)
{
	struct foreign_worker *w = ctx;
	struct foreign_slot *slot = w->slot;
	struct foreign_reply reply = {.slot = slot, .shared = w->shared, .file = w->file};
	uint32_t state;

	__atomic_store_n(&slot->tid, (int32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;) {
		state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
		if (state != SLOT_ASKED) {
			foreign_wait(&slot->state, state, -1);
			continue;
		}
		buf_clear(&reply.bytes);
		reply.filled = false;
		slot->out_size = slot->in_file = 0;
		slot->status = slot->fn(slot->in, slot->in_size, &reply);
		if (!slot->status && !reply.filled && !foreign_reply_abandoned(&reply))
			slot->status = answer(&reply);
		if (reply.bytes.room > KEPT_ROOM)
			buf_done(&reply.bytes);
		__atomic_store_n(&slot->state, SLOT_DONE, __ATOMIC_RELEASE);
		foreign_wake(&slot->state);
	}
	return NULL;
}

/*
 * Closes all descriptors except two: otherwise, a thread that hangs would keep pipes and files of
 * other processes open.
 */
static void close_others(int file, int keep)
{
	unsigned first = 3, kept[2] = {(unsigned)file, (unsigned)keep};
	int nowhere = open("/", O_PATH | O_CLOEXEC);

	for (int fd = 0; nowhere >= 0 && fd < 3; fd++)
		dup2(nowhere, fd);
	if (keep >= 0 && keep < file) {
		kept[0] = (unsigned)keep;
		kept[1] = (unsigned)file;
	}
	for (int i = 0; i < 2; i++) {
		if ((int)kept[i] < 3)
			continue;
		if (kept[i] > first)
			syscall(SYS_close_range, first, kept[i] - 1, 0);
		first = kept[i] + 1;
	}
	syscall(SYS_close_range, first, ~0u, 0);
}

_Noreturn void foreign_process(struct foreign_shared *shared, int file, pid_t parent,
                               const struct foreign_options *options)
{
	struct foreign_worker workers[SLOTS];
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "assay-foreign");
	served_mount_may_wait();
	if (options->prepare)
		options->prepare();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	close_others(file, options->keep);
	/* A change of privileges resets this, so it comes after prepare(). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir("/"))
		_exit(1);
	mallopt(M_ARENA_MAX, 1);
	for (size_t i = 0; i < SLOTS; i++) {
		workers[i] = (struct foreign_worker){shared, &shared->slots[i], file};
		if (i && pthread_create(&thread, NULL, serve, &workers[i]))
			_exit(1);
	}
	serve(&workers[0]);
	_exit(1);
}
