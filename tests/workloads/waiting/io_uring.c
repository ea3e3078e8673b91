/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_uring: a thread submits a read of a pipe and waits for its completion in io_uring_enter().
 * A writer completes it every 10 ms, in send_block(). Ends with status 77 if there is no io_uring.
 */
#include "truth.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>

#define BLOCKS 90

static struct ring {
	int fd;
	struct io_uring_sqe *entries;
	unsigned *tail, *mask, *array, *done_head, *done_tail;
} ring;
static int ends[2];

static void *ring_map(size_t size, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
	                offset);

	must(at == MAP_FAILED, "mmap");
	return at;
}

static void ring_open(void)
{
	struct io_uring_params p = {0};
	char *submit, *done;

	ring.fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (ring.fd < 0)
		exit(77);
	submit = ring_map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	done = ring_map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
	                IORING_OFF_CQ_RING);
	ring.entries = ring_map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring.tail = (unsigned *)(void *)(submit + p.sq_off.tail);
	ring.mask = (unsigned *)(void *)(submit + p.sq_off.ring_mask);
	ring.array = (unsigned *)(void *)(submit + p.sq_off.array);
	ring.done_head = (unsigned *)(void *)(done + p.cq_off.head);
	ring.done_tail = (unsigned *)(void *)(done + p.cq_off.tail);
}

static void submit_read(int fd, void *to, unsigned size)
{
	unsigned at = *ring.tail & *ring.mask;

	ring.entries[at] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
	                                         .fd = fd,
	                                         .addr = (uintptr_t)to,
	                                         .len = size,
	                                         .off = (uint64_t)-1};
	ring.array[at] = at;
	__atomic_store_n(ring.tail, *ring.tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) != 1, "io_uring_enter");
}

static APART void await_completion(void)
{
	struct truth_mark from = truth_mark();

	while (__atomic_load_n(ring.done_tail, __ATOMIC_ACQUIRE) == *ring.done_head)
		must(syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) <
		                     0 &&
		             errno != EINTR,
		     "io_uring_enter");
	truth_waited(from, (struct truth_cause){"event", "io_uring", "writer", "send_block", NULL});
	__atomic_store_n(ring.done_head, *ring.done_head + 1, __ATOMIC_RELEASE);
}

static APART void send_block(void)
{
	must(write(ends[1], "", 1) != 1, "write");
}

static void *reader(void *unused)
{
	char byte;

	truth_name("reader");
	ring_open();
	for (int i = 0; i < BLOCKS; i++) {
		submit_read(ends[0], &byte, 1);
		await_completion();
	}
	return unused;
}

static void *writer(void *unused)
{
	truth_name("writer");
	for (int i = 0; i < BLOCKS; i++) {
		truth_sleep(10 * MS);
		send_block();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	truth_begin("io_uring");
	must(pipe(ends), "pipe");
	threads[0] = truth_start(reader, NULL);
	threads[1] = truth_start(writer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
