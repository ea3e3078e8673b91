/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A known number of system calls of each kind, on two threads and in a child:
 *
 *	system_calls FILE
 *
 * main: 500 preadv of FILE, 37 openat that fail with ENOENT, 5 clock_nanosleep of 20 ms;
 * a thread: 200 pwrite64 to FILE, 11 fchdir that fail with EBADF; a child: 70 getppid.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int file;

static void *work(void *unused)
{
	for (int i = 0; i < 200; i++)
		if (pwrite(file, "x", 1, i) != 1)
			abort();
	for (int i = 0; i < 11; i++)
		if (!fchdir(-1) || errno != EBADF)
			abort();
	return NULL;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	pthread_t thread;
	char byte;
	const struct iovec part = {&byte, 1};
	pid_t child;

	file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (file < 0 || pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 1;
	for (int i = 0; i < 500; i++)
		if (preadv(file, &part, 1, i % 200) != 1)
			return 1;
	for (int i = 0; i < 37; i++)
		if (open("/nonexistent", O_RDONLY) >= 0)
			return 1;
	for (int i = 0; i < 5; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	child = fork();
	for (int i = 0; !child && i < 70; i++)
		syscall(SYS_getppid);
	if (!child)
		_exit(0);
	return waitpid(child, NULL, 0) != child;
}
