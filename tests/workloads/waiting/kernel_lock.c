/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that hold locks of the kernel one after the other:
 *
 *	kernel_lock
 *
 * Three threads write a page to one file in memory, which has a lock for writers. The pages belong
 * to a userfaultfd, and are not there: a write waits for its page with the lock, until the main
 * thread adds it. `first` has the lock while `second` and then `third` start to wait for it; then
 * each gets it from the one before. So `second` is the first one that the kernel reports as
 * waiting.
 *
 * KERNEL_LOCK_ROUNDS times each thread has a descriptor of its own: they wait for the inode (a
 * rwsem). As often they share an open file, and wait for its position (a mutex). The status is 77
 * if the kernel does not have it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 3, KERNEL_LOCK_ROUNDS = 4, PAGE = 4096 };

static const char *const names[WRITERS] = {"first", "second", "third"};
static pthread_barrier_t barrier;
static volatile int turn = -1;
static volatile pid_t tids[WRITERS];
static char *pages;
static int files[2][WRITERS], faults;

static void nap(int ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000l}, NULL);
}

static void need(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	_exit(errno == EPERM || errno == ENOSYS ? 77 : 1);
}

static void *work(void *argument)
{
	const int me = *(const int *)argument;

	prctl(PR_SET_NAME, names[me]);
	tids[me] = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < 2 * KERNEL_LOCK_ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		while (turn != me)
			nap(1);
		need(write(files[i / KERNEL_LOCK_ROUNDS][me], pages + me * PAGE, PAGE) == PAGE,
		     "write");
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* Until the thread sleeps where signals do not wake it. */
static void wait_for_lock(pid_t tid)
{
	char path[64], text[512], *end = NULL;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	do {
		int file = open(path, O_RDONLY);
		ssize_t size = read(file, text, sizeof(text) - 1);

		close(file);
		text[size > 0 ? size : 0] = '\0';
		end = strrchr(text, ')');
		nap(1);
	} while (end && end[2] != 'D');
}

static void wait_for_page(void)
{
	struct pollfd p = {.fd = faults, .events = POLLIN};

	need(poll(&p, 1, -1) == 1, "poll");
}

static void add_page(void)
{
	struct uffdio_zeropage zero = {.range.len = PAGE};
	struct uffd_msg fault;

	wait_for_page();
	need(read(faults, &fault, sizeof(fault)) == sizeof(fault), "userfaultfd");
	zero.range.start = fault.arg.pagefault.address & ~(PAGE - 1ull);
	nap(10);
	need(!ioctl(faults, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
}

static void one_round(void)
{
	turn = -1;
	pthread_barrier_wait(&barrier);
	turn = 0;
	wait_for_page();
	for (int i = 1; i < WRITERS; i++) {
		turn = i;
		wait_for_lock(tids[i]);
	}
	for (int i = 0; i < WRITERS; i++)
		add_page();
	pthread_barrier_wait(&barrier);
	madvise(pages, WRITERS * PAGE, MADV_DONTNEED);
}

static void open_pages(void)
{
	struct uffdio_register all = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct uffdio_api api = {.api = UFFD_API};

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	need(faults >= 0 && !ioctl(faults, UFFDIO_API, &api), "userfaultfd");
	pages = mmap(NULL, WRITERS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	             0);
	need(pages != MAP_FAILED, "mmap");
	all.range.start = (unsigned long)pages;
	all.range.len = WRITERS * PAGE;
	need(!ioctl(faults, UFFDIO_REGISTER, &all), "UFFDIO_REGISTER");
}

static void open_file(void)
{
	int memory = memfd_create("kernel_lock", MFD_CLOEXEC);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	for (int i = 0; i < WRITERS; i++) {
		files[0][i] = open(path, O_WRONLY | O_CLOEXEC);
		files[1][i] = files[0][0];
		need(files[0][i] >= 0, "memfd_create");
	}
}

int main(void)
{
	static int numbers[WRITERS] = {0, 1, 2};
	pthread_t threads[WRITERS];

	open_file();
	open_pages();
	pthread_barrier_init(&barrier, NULL, WRITERS + 1);
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 2 * KERNEL_LOCK_ROUNDS; i++)
		one_round();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
