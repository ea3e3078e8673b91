/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_work: the first process of a guest, for bench/kernel. "init WORK N" does one kind of work
 * N times, prints the guest's nanoseconds for each time, and restarts the machine. The system call
 * sethostname() is a mark before and after the work: a capture device can start there.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096

static void need(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	reboot(RB_AUTOBOOT);
}

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

static unsigned long long begin(void)
{
	need(!sethostname("begin", 5), "sethostname");
	return now();
}

static void end(unsigned long long began, int count)
{
	unsigned long long ns = now() - began;

	sethostname("end", 3);
	printf("each %.1f ns\n", (double)ns / count);
	fflush(stdout);
	reboot(RB_AUTOBOOT);
}

static void forks(int count, bool exec)
{
	for (int i = 0; i < count; i++) {
		int pid = fork();

		if (!pid && exec)
			execl("/init", "init", "exit", NULL);
		if (!pid)
			_exit(0);
		need(waitpid(pid, NULL, 0) == pid, "wait");
	}
}

/* The process runs itself again and again: argv has the number of times, and when it began. */
static void execs(int left, int count, unsigned long long began)
{
	char words[3][32];

	if (!left)
		end(began, count);
	snprintf(words[0], sizeof(words[0]), "%d", left - 1);
	snprintf(words[1], sizeof(words[1]), "%d", count);
	snprintf(words[2], sizeof(words[2]), "%llu", began);
	execl("/init", "init", "again", words[0], words[1], words[2], NULL);
	need(false, "exec");
}

static void faults(int count)
{
	char *pages = mmap(NULL, (size_t)count * PAGE_BYTES, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(pages != MAP_FAILED, "mmap");
	for (int i = 0; i < count; i++)
		*(volatile char *)(pages + (size_t)i * PAGE_BYTES) = 1;
}

/* The child sends each message back. */
static void child(int in, int out)
{
	char text[64];

	if (fork())
		return;
	while (read(in, text, sizeof(text)) == sizeof(text) &&
	       write(out, text, sizeof(text)) == sizeof(text))
		;
	_exit(0);
}

static void turns(int in, int out, int count)
{
	char text[64] = "message";

	for (int i = 0; i < count; i++)
		need(write(out, text, sizeof(text)) == sizeof(text) &&
		             read(in, text, sizeof(text)) == sizeof(text),
		     "message");
}

static void connected(int to[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(99)};
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int one = 1, listens = socket(AF_INET, SOCK_STREAM, 0);

	to[0] = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(!ioctl(listens, SIOCSIFFLAGS, &lo), "lo");
	need(!bind(listens, (void *)&at, sizeof(at)) && !listen(listens, 1), "listen");
	need(!connect(to[0], (void *)&at, sizeof(at)), "connect");
	to[1] = accept(listens, NULL, NULL);
	for (int i = 0; i < 2; i++)
		setsockopt(to[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int main(int argc, char **argv)
{
	const char *work = argc > 1 ? argv[1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 1, to[2], from[2];
	unsigned long long began;

	if (!strcmp(work, "exit"))
		return 0;
	if (!strcmp(work, "again"))
		execs(count, atoi(argv[3]), strtoull(argv[4], NULL, 10));
	if (!strcmp(work, "pipe")) {
		need(!pipe(to) && !pipe(from), "pipe");
		child(to[0], from[1]);
		turns(from[0], to[1], 1);
	} else if (!strcmp(work, "tcp")) {
		connected(to);
		child(to[1], to[1]);
		turns(to[0], to[0], 1);
	} else if (!strncmp(work, "fork", 4)) {
		forks(2, work[4]);
	}
	began = begin();
	if (!strncmp(work, "fork", 4))
		forks(count, work[4]);
	else if (!strcmp(work, "exec"))
		execs(count, count, began);
	else if (!strcmp(work, "fault"))
		faults(count);
	else if (!strcmp(work, "pipe"))
		turns(from[0], to[1], count);
	else if (!strcmp(work, "tcp"))
		turns(to[0], to[0], count);
	else
		for (int i = 0; i < count; i++)
			getppid();
	end(began, count);
}
