/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals: handlers that call, interrupting functions that call. Usage: signals CASE
 *
 *	ticks     a timer at 10 kHz, 3000 times
 *	altstack  the same, handled on a stack of its own
 *	nested    two timers whose handlers interrupt each other and themselves, up to 6 deep
 *	storm     four threads send each other signals
 *	sync      raise() at a known place: the paths are known
 *	forking   a handler that forks; its child works and ends
 *	going_on  the same; its child goes on with what the handler interrupted
 */
#include "truth.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static volatile unsigned long sink;
static volatile unsigned handled;

static void tick_work(unsigned n)
{
	CALLED();
	sink += n;
}

static void on_tick(int number)
{
	CALLED();
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		tick_work((unsigned)number);
}

static void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

static void middle(unsigned n)
{
	CALLED();
	for (unsigned i = 0; i < n; i++)
		leaf(i);
}

static unsigned down(unsigned n)
{
	CALLED();
	middle(n % 3);
	return n ? down(n - 1) + 1 : 0;
}

UNSEEN static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};

	sigaction(number, &action, NULL);
}

UNSEEN static timer_t timer_every(int number, long ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
	struct itimerspec every = {{0, ns}, {0, ns}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		_exit(121);
	return timer;
}

static void until_handled(unsigned n)
{
	CALLED();
	while (handled < n) {
		sink += down(12);
		middle(5);
	}
}

static void ticks(void)
{
	timer_t timer;

	CALLED();
	handle(SIGRTMIN, on_tick, 0);
	timer = timer_every(SIGRTMIN, 100000);
	until_handled(3000);
	timer_delete(timer);
	leaf(0);
}

static void altstack(void)
{
	stack_t stack = {.ss_size = 1 << 18};
	timer_t timer;

	CALLED();
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	handle(SIGRTMIN, on_tick, SA_ONSTACK);
	timer = timer_every(SIGRTMIN, 100000);
	until_handled(3000);
	timer_delete(timer);
	leaf(0);
}

static volatile unsigned nesting;

/*
 * Where ticks come faster than they are handled, handlers nest until the stack is used up:
 * from the 6th on, both signals wait until the handler returns, so that a slow machine has no more
 * paths than others, nor longer ones. Before any hook: a hook that
 * takes longer than a tick would be interrupted again before it counts.
 */
UNSEEN static void nest(void)
{
	sigset_t both;

	if (++nesting < 6)
		return;
	sigemptyset(&both);
	sigaddset(&both, SIGRTMIN);
	sigaddset(&both, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &both, NULL);
}

UNSEEN static void on_short(int number)
{
	nest();
	on_tick(number);
	nesting--;
}

static void work_long(int number)
{
	CALLED();
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	sink += down((unsigned)number % 40);
}

UNSEEN static void on_long(int number)
{
	nest();
	work_long(number);
	nesting--;
}

static void nested(void)
{
	timer_t one, two;

	CALLED();
	handle(SIGRTMIN, on_short, SA_NODEFER);
	handle(SIGRTMIN + 1, on_long, SA_NODEFER);
	one = timer_every(SIGRTMIN, 100000);
	two = timer_every(SIGRTMIN + 1, 130000);
	until_handled(1500);
	timer_delete(one);
	timer_delete(two);
	leaf(0);
}

static pthread_t threads[4];
static pthread_barrier_t gate;

static void *sender(void *argument)
{
	unsigned long me = (unsigned long)argument;

	CALLED();
	pthread_barrier_wait(&gate);
	for (unsigned i = 0; i < 3000; i++) {
		sink += down(i % 5);
		pthread_kill(threads[(me + i) % 4], SIGUSR1);
	}
	/* No thread ends while others may still send signals to it. */
	pthread_barrier_wait(&gate);
	return NULL;
}

static void storm(void)
{
	CALLED();
	handle(SIGUSR1, on_tick, 0);
	pthread_barrier_init(&gate, NULL, 4);
	for (unsigned long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, sender, (void *)i))
			_exit(121);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static APART void known_inner(unsigned n)
{
	CALLED();
	PATH("main;sync_paths;known;on_known;known_inner");
	sink += n;
}

static APART void on_known(int number)
{
	CALLED();
	PATH("main;sync_paths;known;on_known");
	known_inner((unsigned)number);
}

static APART void known(void)
{
	CALLED();
	PATH("main;sync_paths;known");
	leaf(1);
	raise(SIGUSR1);
	leaf(2);
}

static void sync_paths(void)
{
	CALLED();
	handle(SIGUSR1, on_known, 0);
	for (unsigned i = 0; i < 500; i++)
		known();
}

static APART void child_work(void)
{
	CALLED();
	PATH("...;on_fork;child_work");
	sink += down(9);
}

static APART void on_fork(int number)
{
	pid_t pid;

	CALLED();
	handled += number != 0;
	pid = fork();
	if (pid == 0) {
		truth_forked();
		child_work();
		truth_tell();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* One tick at a time: a fork may take longer than any interval. */
static void forking(void)
{
	struct itimerspec once = {{0, 0}, {0, 1000000}};
	timer_t timer;

	CALLED();
	handle(SIGRTMIN, on_fork, 0);
	timer = timer_every(SIGRTMIN, 0);
	for (unsigned i = 1; i <= 10; i++) {
		timer_settime(timer, 0, &once, NULL);
		until_handled(i);
	}
	timer_delete(timer);
	leaf(0);
}

static volatile int is_child;
static volatile unsigned failed;

/* Interrupted at any instruction, also in its hooks, so the number of its calls is unknown. */
static APART void quiet(void)
{
	sink++;
}

static APART void quiet_around(void)
{
	quiet();
	quiet();
}

UNSEEN static void go_on_in_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		truth_forked();
		is_child = 1;
		return;
	}
	waitpid(pid, &status, 0);
	failed += status != 0;
	handled++;
}

UNSEEN static void on_fork_unseen(int number)
{
	(void)number;
	go_on_in_child();
}

static APART void on_fork_seen(int number)
{
	CALLED();
	sink += (unsigned)number;
	go_on_in_child();
}

static APART void child_goes_on(void)
{
	CALLED();
	PATH("main;going_on;child_goes_on");
	sink += down(9);
}

static void going_on(void)
{
	struct itimerspec once = {{0, 0}, {0, 200000}};
	timer_t timers[2];

	CALLED();
	SLACK("quiet", 1ul << 40);
	SLACK("quiet_around", 1ul << 40);
	handle(SIGRTMIN, on_fork_unseen, 0);
	handle(SIGRTMIN + 1, on_fork_seen, 0);
	timers[0] = timer_every(SIGRTMIN, 0);
	timers[1] = timer_every(SIGRTMIN + 1, 0);
	for (unsigned i = 1; i <= 100 && !is_child; i++) {
		timer_settime(timers[i % 2], 0, &once, NULL);
		while (handled < i && !is_child)
			quiet_around();
	}
	if (is_child) {
		SLACK("quiet", 1ul << 40);
		SLACK("quiet_around", 1ul << 40);
		child_goes_on();
		truth_tell();
		_exit(0);
	}
	if (failed) {
		dprintf(2, "%u children failed\n", failed);
		_exit(122);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"ticks", ticks},       {"altstack", altstack}, {"nested", nested},
	        {"storm", storm},       {"sync", sync_paths},   {"forking", forking},
	        {"going_on", going_on}, {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
