/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attached: a process whose threads change all the time, for recordings that begin while it runs.
 *
 * attached threads: the first thread begins a thread every 0.3 ms, which works, waits 20 ms, works,
 * and ends. attached exec: three threads work; every 40 ms a fourth one forks a process of two
 * threads in a group of its own, kills the group, and executes the program again, so that it gets
 * the number of the first thread.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **arguments;

static void attached_work(unsigned turns)
{
	for (uint64_t i = 0, x = 1; i < 1000 * (uint64_t)turns; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
}

static void *attached_short(void *unused)
{
	attached_work(50);
	usleep(20000);
	attached_work(50);
	return unused;
}

static void *attached_forever(void *unused)
{
	for (;;) {
		attached_work(1000);
		usleep(1000);
	}
	return unused;
}

static void attached_begin(void *(*run)(void *))
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, run, NULL))
		pthread_detach(thread);
}

static void *attached_exec(void *unused)
{
	pid_t child;

	attached_work(5000);
	usleep(30000);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		attached_begin(attached_forever);
		attached_forever(NULL);
	}
	setpgid(child, child);
	usleep(5000);
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
	execv("/proc/self/exe", arguments);
	return unused;
}

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc > 1 && !strcmp(argv[1], "threads"))
		for (;;) {
			attached_begin(attached_short);
			usleep(300);
		}
	for (int i = 0; i < 3; i++)
		attached_begin(attached_forever);
	attached_begin(attached_exec);
	for (;;)
		pause();
}
