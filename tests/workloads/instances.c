/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * instances: many processes of many names, one after the other, with a list of them.
 *
 *	instances storm COUNT RATE NAMES DIRECTORY	fork and exec, COUNT in all, RATE a second,
 *							fewer where SIGTERM comes before
 *	instances reuse PID NAMES DIRECTORY		each with that same pid (in a pid namespace
 * of its own, which lets us choose)
 *	instances rename COUNT				fork; each child gives itself another name
 *	instances threads COUNT				threads with names of their own
 *	instances burn MS				that much CPU time, here
 *
 * It executes links to this program, DIRECTORY/i-0 and so on: such a link uses some microseconds of
 * CPU time and exits. For each exited process it prints a line: pid, name, and the time
 * (CLOCK_MONOTONIC, ns) before its fork. It is linked statically, so that it starts quickly.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 16
#define LINK "i-"

struct child {
	pid_t pid;
	int name;
	uint64_t start_ns;
};

static struct child children[AT_ONCE];

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void die(const char *what)
{
	fprintf(stderr, "instances: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void name_of(char *out, size_t size, const char *directory, int number)
{
	snprintf(out, size, "%s" LINK "%d", directory, number);
}

static void reap(bool renamed)
{
	int status;
	pid_t pid = wait(&status);

	if (pid < 0)
		die("wait");
	if (status)
		exit(2);
	for (int i = 0; i < AT_ONCE; i++) {
		char name[64];

		if (children[i].pid != pid)
			continue;
		name_of(name, sizeof(name), "", children[i].name);
		printf("%d %s%s %llu\n", pid, renamed ? "r" : "", name,
		       (unsigned long long)children[i].start_ns);
		children[i].pid = 0;
	}
}

static struct child *free_place(bool renamed)
{
	for (;;) {
		for (int i = 0; i < AT_ONCE; i++)
			if (!children[i].pid)
				return &children[i];
		reap(renamed);
	}
}

static void start(int number, const char *directory)
{
	struct child *c = free_place(!directory);
	char path[4096], argv0[] = "whatever";
	char *argv[] = {argv0, NULL}, *env[] = {NULL};

	name_of(path, sizeof(path), directory ? directory : "r", number);
	c->name = number;
	c->start_ns = now_ns(CLOCK_MONOTONIC);
	c->pid = directory ? vfork() : fork();
	if (c->pid < 0)
		die("fork");
	if (c->pid)
		return;
	if (directory) {
		execve(path, argv, env);
		_exit(127);
	}
	prctl(PR_SET_NAME, path);
	burn(200000);
	_exit(0);
}

static void finish(bool renamed)
{
	for (int i = 0; i < AT_ONCE; i++)
		while (children[i].pid)
			reap(renamed);
}

static volatile sig_atomic_t told_to_end;

static void on_term(int number)
{
	(void)number;
	told_to_end = 1;
}

static void storm(int count, int rate, int names, const char *directory)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);
	struct sigaction term = {.sa_handler = on_term, .sa_flags = SA_RESTART};

	sigaction(SIGTERM, &term, NULL);
	for (int i = 0; i < count && !told_to_end; i++) {
		uint64_t due = begin + (uint64_t)i * 1000000000 / (uint64_t)rate;
		uint64_t now = now_ns(CLOCK_MONOTONIC);

		if (due > now + 1000000)
			usleep((useconds_t)((due - now) / 1000));
		start(i % names, directory);
	}
	finish(false);
}

static void reuse(int pid, int names, const char *directory)
{
	for (int i = 0; i < names; i++) {
		int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
		char text[16];
		int size = snprintf(text, sizeof(text), "%d", pid - 1);

		if (fd < 0 || write(fd, text, (size_t)size) != size)
			die("/proc/sys/kernel/ns_last_pid");
		close(fd);
		start(i, directory);
		finish(false);
	}
}

static void *thread(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "t-%d", *(int *)number);
	pthread_setname_np(pthread_self(), name);
	burn(40000000);
	return NULL;
}

static void threads(int count)
{
	pthread_t ids[64];
	int numbers[64];

	for (int i = 0; i < count && i < 64; i++) {
		numbers[i] = i;
		if (pthread_create(&ids[i], NULL, thread, &numbers[i]))
			die("pthread_create");
	}
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	char self[64] = "";

	/* The name under which it was executed, which is not in argv. */
	prctl(PR_GET_NAME, self);
	if (!strncmp(self, LINK, strlen(LINK))) {
		burn(20000);
		_exit(0);
	}
	if (argc == 6 && !strcmp(argv[1], "storm"))
		storm(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), argv[5]);
	else if (argc == 5 && !strcmp(argv[1], "reuse"))
		reuse(atoi(argv[2]), atoi(argv[3]), argv[4]);
	else if (argc == 3 && !strcmp(argv[1], "rename"))
		for (int i = 0; i < atoi(argv[2]); i++)
			start(i, NULL);
	else if (argc == 3 && !strcmp(argv[1], "threads"))
		threads(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "burn"))
		burn((uint64_t)atoi(argv[2]) * 1000000);
	else
		return 2;
	finish(!strcmp(argv[1], "rename"));
	return 0;
}
