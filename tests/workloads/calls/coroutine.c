/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coroutine: several stacks in one thread, by swapcontext. Usage: coroutine CASE
 *
 *	robin      40 of them in turn, each leaving off at another depth
 *	hundred    100, more than any table of stacks need hold: counts alone are sure
 *	generator  values one by one; it ends inside, and the next takes its stack
 *	nested     a coroutine that runs coroutines
 *	deserted   stacks that are never gone back to, and are freed
 *	threads    robin, in three threads
 *	migrate    begun in one thread, gone on with in another
 *	local      on arrays in the frames of open calls, whose memory others use afterwards
 */
#include "truth_threads.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK (64u << 10)
#define MOST 100

static volatile unsigned long sink;

struct coroutine {
	ucontext_t here, back;
	void *stack;
	unsigned number, rounds;
	int ended;
};

static __thread struct coroutine *running;

static APART void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

/* The coroutine may continue in another thread, so the address must not be cached. */
UNSEEN static APART struct coroutine *current(void)
{
	__asm__ volatile("" ::: "memory");
	return running;
}

static APART void leave(void)
{
	struct coroutine *c = current();

	CALLED();
	swapcontext(&c->here, &c->back);
}

static APART void resume(struct coroutine *c)
{
	struct coroutine *before = current();

	CALLED();
	running = c;
	swapcontext(&c->back, &c->here);
	running = before;
}

static APART void bottom(unsigned n)
{
	CALLED();
	leaf(n);
	leave();
	leaf(n);
}

static APART void step(unsigned depth)
{
	CALLED();
	if (depth == 0)
		bottom(1);
	else
		step(depth - 1);
	sink++;
}

static APART void note(unsigned n)
{
	CALLED();
	PATH("...;coroutine_body;note");
	sink += n;
}

static void coroutine_body(void)
{
	struct coroutine *c = current();

	CALLED();
	for (unsigned i = 0; i < c->rounds; i++) {
		step((c->number * 7 + i) % 20);
		note(i);
	}
	c = current();
	c->ended = 1;
	leave();
}

UNSEEN static void *stack_new(void)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		_exit(121);
	return stack;
}

UNSEEN static void make(struct coroutine *c, void (*function)(void), ucontext_t *then)
{
	getcontext(&c->here);
	c->here.uc_stack.ss_sp = c->stack;
	c->here.uc_stack.ss_size = STACK;
	c->here.uc_link = then;
	makecontext(&c->here, function, 0);
}

static APART void main_note(unsigned n)
{
	CALLED();
	PATH("...;in_turn;main_note");
	sink += n;
}

static APART void in_turn(unsigned n, unsigned rounds)
{
	struct coroutine *all = calloc(n, sizeof(*all));
	unsigned left = n;

	CALLED();
	for (unsigned i = 0; i < n; i++) {
		all[i].number = i;
		all[i].rounds = rounds;
		all[i].stack = stack_new();
		make(&all[i], coroutine_body, NULL);
	}
	while (left) {
		for (unsigned i = 0; i < n; i++) {
			if (all[i].ended)
				continue;
			resume(&all[i]);
			main_note(i);
			left -= all[i].ended != 0;
		}
	}
	for (unsigned i = 0; i < n; i++)
		munmap(all[i].stack, STACK);
	free(all);
}

static void robin(void)
{
	CALLED();
	in_turn(40, 30);
	leaf(0);
}

static void hundred(void)
{
	CALLED();
	in_turn(MOST, 30);
	leaf(0);
}

/* When it returns, execution continues in uc_link. */
static void generate(void)
{
	struct coroutine *c = current();

	CALLED();
	for (unsigned i = 0; i < c->rounds; i++)
		bottom(i);
	leaf(2);
	c->ended = 1;
}

static APART void values(struct coroutine *c, unsigned rounds)
{
	CALLED();
	c->rounds = rounds;
	c->ended = 0;
	make(c, generate, &c->back);
	while (!c->ended) {
		resume(c);
		leaf(rounds);
	}
}

static void generator(void)
{
	struct coroutine c = {.stack = stack_new()};

	CALLED();
	for (unsigned i = 0; i < 200; i++)
		values(&c, i % 9);
	munmap(c.stack, STACK);
}

static void outer_body(void)
{
	CALLED();
	for (unsigned i = 0; i < 3; i++) {
		in_turn(4, 3);
		leave();
	}
	current()->ended = 1;
	leave();
}

static void nested(void)
{
	struct coroutine c = {.stack = stack_new()};

	CALLED();
	make(&c, outer_body, NULL);
	while (!c.ended) {
		resume(&c);
		leaf(1);
	}
	munmap(c.stack, STACK);
}

static void deserted(void)
{
	CALLED();
	for (unsigned i = 0; i < 150; i++) {
		struct coroutine c = {.stack = stack_new(), .number = i, .rounds = 9};

		make(&c, coroutine_body, NULL);
		resume(&c);
		resume(&c);
		munmap(c.stack, STACK);
		leaf(i);
	}
}

static void *robin_body(void *argument)
{
	CALLED();
	in_turn(10 + (argument != NULL), 20);
	return NULL;
}

static void threads(void)
{
	CALLED();
	truth_threads(robin_body, 3);
}

static void *go_on(void *argument)
{
	CALLED();
	resume(argument);
	leaf(1);
	return NULL;
}

static void migrate(void)
{
	struct coroutine c = {.stack = stack_new(), .rounds = 15};
	pthread_t thread;

	CALLED();
	make(&c, coroutine_body, NULL);
	resume(&c);
	while (!c.ended) {
		if (pthread_create(&thread, NULL, go_on, &c))
			_exit(121);
		pthread_join(thread, NULL);
	}
	munmap(c.stack, STACK);
}

static volatile unsigned one = 1;
static ucontext_t local_here[4];
static unsigned local_makes;

static APART void through_leaf(unsigned n)
{
	CALLED();
	PATH("...;through;through_leaf");
	sink += n;
}

/* Ordinary calls in memory that was a coroutine's stack; each continues after a jump. */
static APART void through(unsigned depth)
{
	char room[STACK / 16];
	jmp_buf back;

	CALLED();
	if (depth == 30)
		PATH("main;local;through");
	memset(room, (int)depth, sizeof(room));
	if (!_setjmp(back))
		_longjmp(back, (int)one);
	through_leaf(depth);
	if (depth)
		through(depth - 1);
	through_leaf((unsigned char)room[depth * 100]);
}

static APART void hop(unsigned from, unsigned to)
{
	CALLED();
	swapcontext(&local_here[from], &local_here[to]);
}

static APART void there_leaf(unsigned n)
{
	CALLED();
	PATH("...;there;there_leaf");
	sink += n;
}

static APART void there(unsigned depth)
{
	CALLED();
	if (depth)
		there(depth - 1);
	hop(1, 0);
	there_leaf(depth);
}

static void there_body(void)
{
	CALLED();
	if (local_makes == 1)
		PATH("main;local;on_own_frame;here;hop;there_body");
	else if (local_makes == 2)
		PATH("main;local;on_own_frame;hop;there_body");
	else
		PATH("main;local;on_two_frames;hop;between_body;here;hop;there_body");
	for (unsigned i = 0;; i++)
		there(i % 3);
}

static APART void here_leaf(unsigned n)
{
	CALLED();
	PATH("...;here;here_leaf");
	sink += n;
}

static APART void here(unsigned depth)
{
	CALLED();
	hop(0, 1);
	if (depth)
		here(depth - 1);
	hop(0, 1);
	here_leaf(depth);
}

UNSEEN static void local_make(unsigned index, char *stack, size_t bytes, void (*function)(void))
{
	local_makes++;
	getcontext(&local_here[index]);
	local_here[index].uc_stack.ss_sp = stack;
	local_here[index].uc_stack.ss_size = bytes;
	local_here[index].uc_link = NULL;
	makecontext(&local_here[index], function, 0);
}

static APART void on_own_frame(unsigned depth)
{
	char stack[STACK];

	CALLED();
	PATH("main;local;on_own_frame");
	local_makes = 0;
	local_make(1, stack, STACK, there_body);
	here(depth);
	/* The same memory again, where the runtime saw a call of the coroutine last. */
	local_make(1, stack, STACK, there_body);
	hop(0, 1);
	here(depth + 1);
}

/* A coroutine whose frame has the stack of another one. */
static void between_body(void)
{
	char stack[STACK];

	CALLED();
	PATH("main;local;on_two_frames;hop;between_body");
	local_make(1, stack, STACK, there_body);
	here(4);
	hop(2, 3);
}

static APART void on_two_frames(void)
{
	char stack[3 * STACK];

	CALLED();
	PATH("main;local;on_two_frames");
	local_makes = 2;
	local_make(2, stack, sizeof(stack), between_body);
	hop(3, 2);
	leaf(1);
}

static void local(void)
{
	CALLED();
	for (unsigned i = 0; i < 20; i++) {
		on_own_frame(i % 5);
		through(30);
		on_two_frames();
		if (i % 2)
			through(30);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"robin", robin},     {"hundred", hundred},   {"generator", generator},
	        {"nested", nested},   {"deserted", deserted}, {"threads", threads},
	        {"migrate", migrate}, {"local", local},       {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
