/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_libraries: calls into libraries, counted by the program itself. Each is made
 * with L(function, arguments...), which counts it by its name; functions
 * of its own count as in calls/truth.h. The results are checked: a wrong result ends the
 * program with status 3. Usage: calls_libraries CASE [PLUGIN]
 *
 *	known       1000 strlen, 10 snprintf, 5 qsort, whose callback calls memcmp
 *	results     results of each class: pairs, floating, complex, by memory
 *	nested      qsort calls back, which calls qsort, 1000 deep
 *	jump        longjmp out of callbacks, from two levels
 *	threads     8 threads, which come and go
 *	cancel      a thread that is cancelled in read, two levels of libraries deep
 *	quit        a thread that ends by pthread_exit in a callback
 *	fork        a callback that forks; both return through the library
 *	vfork       a child that runs another program
 *	signals     handlers on a stack of their own, at any time
 *	contexts    coroutines that switch within callbacks
 *	backtrace   a callback that walks its stack
 *	plugin      functions of an instrumented plugin that is loaded, and loaded again
 */
#include "calls/truth.h"

#include <complex.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#define L(function, ...)                                                                           \
	({                                                                                         \
		TRUTH_COUNT("calls", #function, 1);                                                \
		function(__VA_ARGS__);                                                             \
	})

UNSEEN static void need(int condition)
{
	if (!condition)
		_exit(3);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* known */

static APART int compare(const void *a, const void *b)
{
	CALLED();
	PATH("main;known;sort;qsort;compare");
	TRUTH_COUNT("path", "main;known;sort;qsort;compare;memcmp", 1);
	return L(memcmp, a, b, 1);
}

static APART void sort(char *text, size_t size)
{
	CALLED();
	L(qsort, text, size, 1, compare);
}

static void known(void)
{
	char text[] = "the quick brown fox", out[64];
	size_t length = 0;

	CALLED();
	for (int i = 0; i < 1000; i++) {
		TRUTH_COUNT("path", "main;known;strlen", 1);
		length += L(strlen, text);
	}
	need(length == 19000);
	/* One of two versions, chosen by the processor type. */
	need(L(memcpy, out, text, 4) == out && out[2] == 'e');
	for (int i = 0; i < 5; i++)
		sort(text, 19);
	need(L(strncmp, text, "   bcefhiknooqrtuwx", 20) == 0);
	for (int i = 0; i < 10; i++)
		L(snprintf, out, sizeof(out), "%d %s %.2f %Lf %g %g %g %g %g %g %g", 1, "two", 3.25,
		  4.5L, 1., 2., 3., 4., 5., 6., 7.);
	need(L(strncmp, out, "1 two 3.25 4.500000 1 2 3 4 5 6 7", 64) == 0);
}

/* results */

static void results(void)
{
	struct mallinfo2 memory;
	ldiv_t pair;
	char *end;
	double whole, root;
	int exponent;

	CALLED();
	pair = L(ldiv, 47, 10);
	need(pair.quot == 4 && pair.rem == 7);
	need(L(div, -47, 10).rem == -7);
	need(L(strtod, "1.5", &end) == 1.5 && !*end);
	need(L(strtold, "0.125", NULL) == 0.125L);
	need(L(frexp, 8., &exponent) == .5 && exponent == 4);
	need(L(modf, 2.25, &whole) == .25 && whole == 2);
	root = L(creal, L(csqrt, -4 + 0 * I));
	need(root == 0);
	need(L(cimagl, L(conjl, 1 + 2 * I)) == -2);
	need(L(fmaf, 2, 3, 4) == 10);
	memory = L(mallinfo2);
	need(memory.arena > 0 || memory.uordblks == 0);
}

/* nested */

static int depth;

static APART int nest(const void *a, const void *b)
{
	char two[2] = {2, 1};

	CALLED();
	if (depth) {
		depth--;
		L(qsort, two, 2, 1, nest);
		need(two[0] == 1);
	}
	return *(const char *)a - *(const char *)b;
}

static void nested(void)
{
	char two[2] = {2, 1};

	CALLED();
	depth = 1000;
	L(qsort, two, 2, 1, nest);
	need(two[0] == 1 && depth == 0);
}

/* jump */

static jmp_buf place;

static APART int leave(const void *a, const void *b)
{
	CALLED();
	L(longjmp, place, 1);
	return 0;
}

static APART int leave_deeper(const void *a, const void *b)
{
	char two[2] = {2, 1};

	CALLED();
	L(qsort, two, 2, 1, leave);
	return 0;
}

static void jump(void)
{
	char two[2] = {2, 1};
	volatile int left = 0;

	CALLED();
	for (volatile int i = 0; i < 1000; i++) {
		TRUTH_COUNT("calls", "_setjmp", 1);
		if (!setjmp(place))
			L(qsort, two, 2, 1, i % 2 ? leave : leave_deeper);
		else
			left += (int)L(strlen, "1");
	}
	need(left == 1000);
}

/* threads */

static APART void *in_thread(void *context)
{
	CALLED();
	for (int i = 0; i < 100; i++) {
		TRUTH_COUNT("path", "in_thread;strlen", 1);
		need(L(strlen, context) == 3);
	}
	return context;
}

static void in_threads(void)
{
	pthread_t threads[8];

	CALLED();
	for (unsigned i = 0; i < 3 * COUNT(threads); i++) {
		pthread_t *t = &threads[i % COUNT(threads)];
		void *result = NULL;

		if (i >= COUNT(threads)) {
			L(pthread_join, *t, &result);
			need(result != NULL);
		}
		need(!L(pthread_create, t, NULL, in_thread, "abc"));
	}
	for (unsigned i = 0; i < COUNT(threads); i++)
		L(pthread_join, threads[i], NULL);
}

/* cancel, quit */

static int ends[2], cleaned;

static APART void clean(void *by)
{
	CALLED();
	cleaned += *(int *)by + (int)L(strlen, "12345");
}

static APART int block(const void *a, const void *b)
{
	char byte;
	int by = 5;

	CALLED();
	pthread_cleanup_push(clean, &by);
	L(read, ends[0], &byte, 1);
	pthread_cleanup_pop(0);
	return 0;
}

static APART int quit_here(const void *a, const void *b)
{
	int by = 5;

	CALLED();
	pthread_cleanup_push(clean, &by);
	L(pthread_exit, &cleaned);
	pthread_cleanup_pop(0);
	return 0;
}

static APART void *sort_with(void *callback)
{
	char two[2] = {2, 1};

	CALLED();
	L(qsort, two, 2, 1, (int (*)(const void *, const void *))callback);
	return NULL;
}

static void cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	CALLED();
	need(!L(pipe, ends));
	for (int i = 0; i < 20; i++) {
		cleaned = 0;
		need(!L(pthread_create, &thread, NULL, sort_with, (void *)block));
		L(usleep, 2000);
		need(!L(pthread_cancel, thread));
		L(pthread_join, thread, &result);
		/*
		 * Sometimes the thread is cancelled before it reaches this point: then no clean-up
		 * is necessary.
		 */
		need(result == PTHREAD_CANCELED && (cleaned == 10 || cleaned == 0));
	}
}

static void quit(void)
{
	pthread_t thread;
	void *result = NULL;

	CALLED();
	for (int i = 0; i < 20; i++) {
		cleaned = 0;
		need(!L(pthread_create, &thread, NULL, sort_with, (void *)quit_here));
		L(pthread_join, thread, &result);
		need(result == &cleaned && cleaned == 10);
	}
}

/* fork, vfork */

static pid_t forked_child;

static APART int split(const void *a, const void *b)
{
	CALLED();
	TRUTH_COUNT("calls", "fork", 1);
	forked_child = fork();
	if (!forked_child)
		truth_forked();
	else
		TRUTH_COUNT("path", "main;in_fork;qsort;split;fork", 1);
	need(L(strlen, "in both") == 7);
	return 1;
}

static void in_fork(void)
{
	char two[2] = {2, 1};
	int status = -1;

	CALLED();
	L(qsort, two, 2, 1, split);
	need(two[0] == 1);
	need(L(strlen, "in both") == 7);
	if (forked_child) {
		L(waitpid, forked_child, &status, 0);
		need(status == 0);
	}
}

static void in_vfork(void)
{
	char *const words[] = {"true", NULL};
	int status = -1;
	pid_t child;

	CALLED();
	TRUTH_COUNT("calls", "vfork", 1);
	child = vfork();
	if (!child) {
		execv("/bin/true", words);
		_exit(1);
	}
	/* The child's calls are made in the parent's memory. */
	TRUTH_COUNT("calls", "execv", 1);
	L(waitpid, child, &status, 0);
	need(status == 0);
	need(L(strlen, "still here") == 10);
}

/* signals */

static volatile sig_atomic_t ticks;

static APART int swap_them(const void *a, const void *b)
{
	CALLED();
	return *(const char *)a - *(const char *)b;
}

static APART void on_tick(int signal)
{
	char two[2] = {2, 1};

	CALLED();
	ticks++;
	L(qsort, two, 2, 1, swap_them);
	need(two[0] == 1 && L(strlen, "handler") == 7);
}

static void signals(void)
{
	static char stack[256 << 10];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	char two[2];

	CALLED();
	L(sigaltstack, &other, NULL);
	L(sigaction, SIGALRM, &action, NULL);
	L(setitimer, ITIMER_REAL, &every, NULL);
	while (ticks < 1000) {
		two[0] = 2;
		two[1] = 1;
		L(qsort, two, 2, 1, swap_them);
		need(two[0] == 1 && L(strlen, "main") == 4);
	}
	L(setitimer, ITIMER_REAL, &never, NULL);
}

/* contexts */

static ucontext_t outside, inside;
static int switched;

static APART int switch_out(const void *a, const void *b)
{
	CALLED();
	switched++;
	TRUTH_COUNT("calls", "swapcontext", 1);
	swapcontext(&inside, &outside);
	return 1;
}

static APART void coroutine(void)
{
	char two[2];

	CALLED();
	for (int i = 0; i < 10; i++) {
		two[0] = 2;
		two[1] = 1;
		L(qsort, two, 2, 1, switch_out);
		need(two[0] == 1);
	}
}

static APART int switch_in(const void *a, const void *b)
{
	CALLED();
	TRUTH_COUNT("calls", "swapcontext", 1);
	swapcontext(&outside, &inside);
	return 1;
}

static void contexts(void)
{
	static char stack[256 << 10];
	char two[2];

	CALLED();
	L(getcontext, &inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	L(makecontext, &inside, coroutine, 0);
	for (int i = 0; i < 11; i++) {
		two[0] = 2;
		two[1] = 1;
		L(qsort, two, 2, 1, switch_in);
		need(two[0] == 1);
	}
	need(switched == 10);
}

/* backtrace */

static int walked;

static APART int walk(const void *a, const void *b)
{
	void *frames[64];
	char **names;

	CALLED();
	walked = L(backtrace, frames, 64);
	names = L(backtrace_symbols, frames, walked);
	need(walked > 3 && names != NULL);
	/* libc's start function is the last but one, if the whole stack could be walked. */
	for (int i = 0; i < walked; i++)
		if (strstr(names[i], "__libc_start_main"))
			walked = 0;
	L(free, names);
	need(!walked);
	return 1;
}

static void in_backtrace(void)
{
	char two[2] = {2, 1};

	CALLED();
	L(qsort, two, 2, 1, walk);
	need(two[0] == 1);
}

/* plugin */

static const char *plugin_path;

static void plugin(void)
{
	CALLED();
	for (int i = 0; i < 3; i++) {
		void *handle = L(dlopen, plugin_path, RTLD_LAZY);
		int (*run)(int) = handle ? (int (*)(int))L(dlsym, handle, "plugin_run") : NULL;

		need(run && run(10) == 10);
		TRUTH_COUNT("calls", "plugin_run", 1);
		TRUTH_COUNT("path", "main;plugin;plugin_run;getppid", 10);
		TRUTH_COUNT("calls", "getppid", 10);
		need(!L(dlclose, handle));
	}
}

static const struct truth_case cases[] = {
        {"known", known},        {"results", results},
        {"nested", nested},      {"jump", jump},
        {"threads", in_threads}, {"cancel", cancel},
        {"quit", quit},          {"fork", in_fork},
        {"vfork", in_vfork},     {"signals", signals},
        {"contexts", contexts},  {"backtrace", in_backtrace},
        {"plugin", plugin},      {NULL, NULL},
};

int main(int argc, char **argv)
{
	CALLED();
	plugin_path = argc > 2 ? argv[2] : NULL;
	truth_run(cases, argc > 1 ? argv[1] : NULL);
	return 0;
}
