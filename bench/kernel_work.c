/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_work: the first process of a guest, for bench/kernel.
 *
 *	init WORK COUNT		does one kind of work COUNT times, prints the guest's time of one,
 *				and restarts the machine
 *
 * null: getppid(). fork: fork, exit and wait. forkexec: the same, with an exec in the child.
 * exec: the process executes itself. fault: the first write to a page. pipe, tcp: a message of 64
 * bytes to another process and back. Some kinds are done once or twice before.
 *
 * sethostname() is called before these and after the last one: the capture device starts and ends
 * there. So it sees the fork of each process whose path it records.
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

/* The ends that the first process writes to and reads from. */
struct channel {
	int out, in;
};

struct work {
	const char *name;
	void (*prepare)(struct channel *c);
	void (*run)(const struct channel *c, int count);
};

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

static void end(unsigned long long began, int count)
{
	unsigned long long ns = now() - began;

	need(!sethostname("end", 3), "sethostname");
	printf("each %.1f ns\n", (double)ns / count);
	fflush(stdout);
	reboot(RB_AUTOBOOT);
}

static void calls(const struct channel *c, int count)
{
	for (int i = 0; i < count; i++)
		getppid();
}

static void fork_and_wait(bool exec)
{
	int pid = fork();

	if (!pid && exec)
		execl("/init", "init", "exit", NULL);
	if (!pid)
		_exit(0);
	need(waitpid(pid, NULL, 0) == pid, "wait");
}

static void forks(const struct channel *c, int count)
{
	for (int i = 0; i < count; i++)
		fork_and_wait(false);
}

static void forks_and_execs(const struct channel *c, int count)
{
	for (int i = 0; i < count; i++)
		fork_and_wait(true);
}

static void first_forks(struct channel *c)
{
	forks(c, 2);
}

static void first_forks_and_execs(struct channel *c)
{
	forks_and_execs(c, 2);
}

/* The arguments contain the number of execs that are left, of all, and when they began. */
static void exec_again(int left, int count, unsigned long long began)
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

static void execs(const struct channel *c, int count)
{
	exec_again(count, count, now());
}

static void faults(const struct channel *c, int count)
{
	char *pages = mmap(NULL, (size_t)count * PAGE_BYTES, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(pages != MAP_FAILED, "mmap");
	for (int i = 0; i < count; i++)
		*(volatile char *)(pages + (size_t)i * PAGE_BYTES) = 1;
}

static void turns(const struct channel *c, int count)
{
	char text[64] = "message";

	for (int i = 0; i < count; i++)
		need(write(c->out, text, sizeof(text)) == sizeof(text) &&
		             read(c->in, text, sizeof(text)) == sizeof(text),
		     "message");
}

/* A child sends each message back. */
static void echo(int in, int out)
{
	char text[64];

	if (fork())
		return;
	while (read(in, text, sizeof(text)) == sizeof(text) &&
	       write(out, text, sizeof(text)) == sizeof(text))
		;
	_exit(0);
}

static void pipes(struct channel *c)
{
	int to[2], from[2];

	need(!pipe(to) && !pipe(from), "pipe");
	echo(to[0], from[1]);
	*c = (struct channel){.out = to[1], .in = from[0]};
	turns(c, 1);
}

static void sockets(struct channel *c)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(99)};
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int one = 1, server, listener = socket(AF_INET, SOCK_STREAM, 0);
	int client = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(!ioctl(listener, SIOCSIFFLAGS, &lo), "lo");
	need(!bind(listener, (void *)&at, sizeof(at)) && !listen(listener, 1), "listen");
	need(!connect(client, (void *)&at, sizeof(at)), "connect");
	server = accept(listener, NULL, NULL);
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	echo(server, server);
	*c = (struct channel){.out = client, .in = client};
	turns(c, 1);
}

static const struct work works[] = {
        {"null", NULL, calls},
        {"fork", first_forks, forks},
        {"forkexec", first_forks_and_execs, forks_and_execs},
        {"exec", NULL, execs},
        {"fault", NULL, faults},
        {"pipe", pipes, turns},
        {"tcp", sockets, turns},
};

static void work(const char *name, int count)
{
	struct channel c = {0};
	unsigned long long began;

	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
		if (strcmp(name, works[i].name) != 0)
			continue;
		need(!sethostname("begin", 5), "sethostname");
		if (works[i].prepare)
			works[i].prepare(&c);
		began = now();
		works[i].run(&c, count);
		end(began, count);
	}
	fprintf(stderr, "init: unknown work '%s'\n", name);
	reboot(RB_AUTOBOOT);
}

int main(int argc, char **argv)
{
	/* A kernel passes on the words that only its loader uses. */
	if (argc > 1 && !strcmp(argv[1], "nokaslr")) {
		argc--;
		argv++;
	}
	if (argc > 1 && !strcmp(argv[1], "exit"))
		return 0;
	if (argc > 4 && !strcmp(argv[1], "again"))
		exec_again(atoi(argv[2]), atoi(argv[3]), strtoull(argv[4], NULL, 10));
	work(argc > 1 ? argv[1] : "", argc > 2 ? atoi(argv[2]) : 0);
}
