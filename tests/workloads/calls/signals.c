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

/*
 * Handlers stop the timers: on a machine that needs longer for a tick than the time between two,
 * the interrupted function would never go on.
 */
static timer_t periodic[2];
static unsigned n_periodic, enough;

UNSEEN static void count_handled(void)
{
	const struct itimerspec never = {{0, 0}, {0, 0}};

	if (__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED) < enough)
		return;
	for (unsigned i = 0; i < n_periodic; i++)
		timer_settime(periodic[i], 0, &never, NULL);
}

static void on_tick(int number)
{
	CALLED();
	count_handled();
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

UNSEEN static void tick_every(int number, long ns, unsigned ticks)
{
	enough = ticks;
	periodic[n_periodic] = timer_every(number, 0);
	n_periodic++;
	timer_settime(periodic[n_periodic - 1], 0, &(struct itimerspec){{0, ns}, {0, ns}}, NULL);
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
	CALLED();
	handle(SIGRTMIN, on_tick, 0);
	tick_every(SIGRTMIN, 100000, 3000);
	until_handled(3000);
	leaf(0);
}

static void altstack(void)
{
	stack_t stack = {.ss_size = 1 << 18};

	CALLED();
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	handle(SIGRTMIN, on_tick, SA_ONSTACK);
	tick_every(SIGRTMIN, 100000, 3000);
	until_handled(3000);
	leaf(0);
}

static volatile unsigned nesting;

/*
 * Where ticks come faster than they are handled, handlers would nest until the stack is used up.
 * Both signals are blocked at the start and at the end of a handler, where the depth is counted,
 * and up to the depth of 6 they are unblocked between: a slow machine has no more paths than
 * others, nor longer ones. This is done outside of hooks, for a hook may take longer than a tick.
 */
UNSEEN static void nest_masked(int how)
{
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGRTMIN);
	sigaddset(&both, SIGRTMIN + 1);
	sigprocmask(how, &both, NULL);
}

UNSEEN static void nest_begin(void)
{
	if (++nesting < 6)
		nest_masked(SIG_UNBLOCK);
}

UNSEEN static void nest_end(void)
{
	nest_masked(SIG_BLOCK);
	nesting--;
}

UNSEEN static void on_short(int number)
{
	nest_begin();
	on_tick(number);
	nest_end();
}

static void work_long(int number)
{
	CALLED();
	count_handled();
	sink += down((unsigned)number % 40);
}

UNSEEN static void on_long(int number)
{
	nest_begin();
	work_long(number);
	nest_end();
}

UNSEEN static void handle_nested(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaddset(&action.sa_mask, SIGRTMIN);
	sigaddset(&action.sa_mask, SIGRTMIN + 1);
	sigaction(number, &action, NULL);
}

static void nested(void)
{
	CALLED();
	handle_nested(SIGRTMIN, on_short);
	handle_nested(SIGRTMIN + 1, on_long);
	tick_every(SIGRTMIN, 100000, 1500);
	tick_every(SIGRTMIN + 1, 130000, 1500);
	until_handled(1500);
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
