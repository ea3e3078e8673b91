/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes: programs that fork, clone and exec. Usage: processes CASE
 *
 *	tree      three levels of forks, three children each, which all work
 *	through   children return through the functions that their parent had entered
 *	raw       clone by the system call itself
 *	vforked   vfork and exec, of itself (`leaf`)
 *	chain     exec of itself, five times
 *	busy      forks while three other threads are calling
 *	threads   eight threads fork, and their children begin threads
 *	behind    the same; the children's threads come and go before what forked is called on
 *	run       system(), a shell between
 *	orphan    a child that ends after its parent
 */
#include "truth.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static volatile unsigned long sink;
static char *self;

static APART void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

static APART void work(unsigned n)
{
	CALLED();
	for (unsigned i = 0; i < n; i++)
		leaf(i);
}

static APART void grow(unsigned level)
{
	pid_t children[3];

	CALLED();
	work(10 + level);
	for (unsigned i = 0; level && i < 3; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			truth_forked();
			work(i);
			grow(level - 1);
			exit(0);
		}
		work(1);
	}
	for (unsigned i = 0; level && i < 3; i++)
		waitpid(children[i], NULL, 0);
	work(2);
}

static void tree(void)
{
	CALLED();
	grow(3);
}

static APART void child_alone(unsigned n)
{
	CALLED();
	PATH("...;split;child_alone");
	work(n);
}

static APART pid_t split(unsigned depth)
{
	pid_t pid;

	CALLED();
	if (depth) {
		pid = split(depth - 1);
		leaf(depth);
		return pid;
	}
	pid = fork();
	if (pid == 0) {
		truth_forked();
		child_alone(3);
	}
	return pid;
}

static void through(void)
{
	pid_t pid;

	CALLED();
	for (unsigned i = 0; i < 5; i++) {
		pid = split(i * 4);
		if (pid == 0)
			return;
		waitpid(pid, NULL, 0);
		work(i);
	}
}

static APART void cloned(unsigned n)
{
	CALLED();
	PATH("main;raw;cloned");
	work(n);
}

static void raw(void)
{
	CALLED();
	for (unsigned i = 0; i < 5; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0) {
			truth_forked();
			cloned(i);
			truth_tell();
			_exit(0);
		}
		work(i);
		waitpid(pid, NULL, 0);
	}
}

static void leaf_only(void)
{
	CALLED();
	work(7);
}

static void vforked(void)
{
	CALLED();
	for (unsigned i = 0; i < 5; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl(self, self, "leaf", NULL);
			_exit(127);
		}
		work(i);
		waitpid(pid, NULL, 0);
	}
}

static void chain(void)
{
	const char *left = getenv("CHAIN");
	unsigned n = left ? (unsigned)strtoul(left, NULL, 10) : 5;
	char text[16];

	CALLED();
	work(n);
	if (n == 0)
		return;
	snprintf(text, sizeof(text), "%u", n - 1);
	setenv("CHAIN", text, 1);
	truth_tell();
	execl(self, self, "chain", NULL);
	_exit(127);
}

static volatile unsigned stop;

static void *calling(void *argument)
{
	CALLED();
	while (!stop)
		work(argument != NULL ? 3 : 5);
	return NULL;
}

static void busy(void)
{
	pthread_t threads[3];

	CALLED();
	for (unsigned i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, calling, NULL))
			_exit(121);
	for (unsigned i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			truth_forked();
			work(i);
			truth_tell();
			_exit(0);
		}
		work(i);
		waitpid(pid, NULL, 0);
	}
	stop = 1;
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *worker(void *argument)
{
	CALLED();
	work((unsigned)(unsigned long)argument);
	return NULL;
}

static void *forker(void *argument)
{
	unsigned long n = (unsigned long)argument;
	pthread_t thread;
	pid_t pid;

	CALLED();
	work((unsigned)n);
	pid = fork();
	if (pid == 0) {
		truth_forked();
		if (pthread_create(&thread, NULL, worker, argument))
			_exit(121);
		work(2);
		pthread_join(thread, NULL);
		exit(0);
	}
	waitpid(pid, NULL, 0);
	work(1);
	return NULL;
}

/* One after the other: a fork copies the counters of all threads. */
static void threads(void)
{
	pthread_t thread;

	CALLED();
	for (unsigned long i = 0; i < 8; i++) {
		if (pthread_create(&thread, NULL, forker, (void *)i))
			_exit(121);
		pthread_join(thread, NULL);
	}
}

static APART void behind_child(unsigned n)
{
	CALLED();
	PATH("behind_forker;behind_fork;behind_child");
	work(n);
}

/* The child's first calls are made by its new thread; the same is true of its children. */
static APART void behind_fork(unsigned n, unsigned levels)
{
	pthread_t thread;
	pid_t pid;

	CALLED();
	pid = fork();
	if (pid == 0) {
		truth_forked();
		if (pthread_create(&thread, NULL, worker, (void *)1ul))
			_exit(121);
		pthread_join(thread, NULL);
		if (levels > 1 && fork() == 0) {
			truth_forked();
			if (pthread_create(&thread, NULL, worker, (void *)2ul))
				_exit(121);
			pthread_join(thread, NULL);
			behind_child(n + 1);
			exit(0);
		}
		while (wait(NULL) > 0)
			;
		behind_child(n);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *behind_forker(void *argument)
{
	CALLED();
	behind_fork(3, argument != NULL ? 2 : 1);
	return NULL;
}

static void behind(void)
{
	pthread_t thread;

	CALLED();
	for (unsigned long i = 0; i < 4; i++) {
		if (pthread_create(&thread, NULL, behind_forker, (void *)(i % 2)))
			_exit(121);
		pthread_join(thread, NULL);
	}
}

static void run(void)
{
	char command[4200];

	CALLED();
	snprintf(command, sizeof(command), "'%s' leaf; '%s' leaf", self, self);
	for (unsigned i = 0; i < 3; i++)
		work((unsigned)system(command));
}

static void orphan(void)
{
	pid_t parent = getpid();

	CALLED();
	if (fork() == 0) {
		truth_forked();
		while (getppid() == parent)
			usleep(1000);
		work(9);
		exit(0);
	}
	work(3);
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"tree", tree},      {"through", through}, {"raw", raw},
	        {"leaf", leaf_only}, {"vforked", vforked}, {"chain", chain},
	        {"busy", busy},      {"threads", threads}, {"run", run},
	        {"orphan", orphan},  {"behind", behind},   {NULL, NULL},
	};

	CALLED();
	self = argv[0];
	truth_run(cases, argv[argc > 1]);
	return 0;
}
