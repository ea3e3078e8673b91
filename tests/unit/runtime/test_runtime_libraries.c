/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of library functions and their returns: arguments, results, stacks that are left by jumps,
 * unwinding, signals.
 */
#if defined(__x86_64__)

#include "runtime_libraries_fixture.h"

#include <complex.h>
#include <dlfcn.h>
#include <errno.h>
#include <immintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include <zlib.h>

/* A stub for any function, like that of a slot. */
static void *stub_of(void *function, uint32_t flags)
{
	static struct library_call *calls;
	static unsigned char *page;
	static unsigned used;

	if (!page) {
		page = port_memory(4096);
		calls = port_memory(4096 * 4);
		stub_page(page);
	}
	if (++used == STUB_PAGE)
		abort();
	calls[used] = (struct library_call){.function = (uintptr_t)function | ASSAY_FN_LIBRARY,
	                                    .target = (uintptr_t)function,
	                                    .flags = flags};
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	stub_write(page, used, &calls[used]);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	return page + used * STUB_BYTES;
}

#define THROUGH(function) ((__typeof__(&(function)))stub_of((void *)(function), LIBRARY_TIMED))

static void check_seen(unsigned long calls, unsigned long counted)
{
	CHECK_EQ(seen.enters, calls);
	CHECK_EQ(seen.exits, calls);
	CHECK_EQ(seen.counted, counted);
}

/* Arguments and results of every class of the calling convention. */

struct large {
	long a[5];
};
struct two_longs {
	long a, b;
};
struct two_doubles {
	double a, b;
};
struct mixed {
	long a;
	double b;
};

#define APART __attribute__((noinline))

static APART struct large give_large(struct large in, int n)
{
	for (int i = 0; i < 5; i++)
		in.a[i] += n;
	return in;
}

static APART struct two_longs give_longs(long a, long b)
{
	return (struct two_longs){b, a};
}

static APART struct two_doubles give_doubles(double a, double b)
{
	return (struct two_doubles){b, a};
}

static APART struct mixed give_mixed(double a, long b)
{
	return (struct mixed){b, a};
}

static APART long double give_long_double(long double a, double b)
{
	return a + b;
}

static APART double complex give_complex(double complex a)
{
	return a * 2;
}

static APART long double complex give_long_complex(long double complex a)
{
	return a * 3;
}

static APART __int128 give_int128(__int128 a)
{
	return a * 5;
}

static APART double sum(int count, ...)
{
	va_list list;
	double all = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		all += i % 2 ? va_arg(list, double) : va_arg(list, int);
	va_end(list);
	return all;
}

static void arguments_and_results_pass(void)
{
	struct large large = {{1, 2, 3, 4, 5}};
	struct two_longs longs;
	struct two_doubles doubles;
	struct mixed mixed;
	char text[128];

	forget();
	large = THROUGH(give_large)(large, 10);
	CHECK(large.a[0] == 11 && large.a[4] == 15);
	longs = THROUGH(give_longs)(-1, 7);
	CHECK(longs.a == 7 && longs.b == -1);
	doubles = THROUGH(give_doubles)(0.5, 0.25);
	CHECK(doubles.a == 0.25 && doubles.b == 0.5);
	mixed = THROUGH(give_mixed)(0.125, 3);
	CHECK(mixed.a == 3 && mixed.b == 0.125);
	CHECK(THROUGH(give_long_double)(1.5L, 0.25) == 1.75L);
	CHECK(THROUGH(give_complex)(1 + 2 * I) == 2 + 4 * I);
	CHECK(THROUGH(give_long_complex)(1 + 2 * I) == 3 + 6 * I);
	CHECK(THROUGH(give_int128)((__int128)1 << 100) == (__int128)5 << 100);
	CHECK(THROUGH(sum)(12, 1, .5, 2, .5, 3, .5, 4, .5, 5, .5, 6, .5) == 24);
	THROUGH(snprintf)
	(text, sizeof(text), "%d %s %.2f %Lf %g %g %g %g %g %g %g %g %d", 1, "two", 3.25, 4.5L, 1.,
	 2., 3., 4., 5., 6., 7., 8.5, 9);
	CHECK_STR(text, "1 two 3.25 4.500000 1 2 3 4 5 6 7 8.5 9");
	check_seen(10, 0);
}

__attribute__((target("avx"))) static APART __m256d give_wide(__m256d a, __m256d b)
{
	return _mm256_add_pd(a, b);
}

__attribute__((target("avx"))) static void wide_through(double *got)
{
	__m256d (*stub)(__m256d, __m256d) =
	        stub_of((void *)give_wide, LIBRARY_TIMED | LIBRARY_WIDE);
	__m256d a = _mm256_set_pd(1, 2, 3, 4), b = _mm256_set_pd(10, 20, 30, 40);

	_mm256_storeu_pd(got, stub(a, b));
}

static void vectors_of_32_bytes_pass(void)
{
	double got[4] = {0};

	forget();
	if (!has_avx)
		return;
	wide_through(got);
	CHECK(got[0] == 44 && got[1] == 33 && got[2] == 22 && got[3] == 11);
	/* If the processor cannot report the registers in use, all are saved. */
	stub_vectors = STUB_VECTORS_32;
	memset(got, 0, sizeof(got));
	wide_through(got);
	CHECK(got[0] == 44 && got[1] == 33 && got[2] == 22 && got[3] == 11);
	stub_begin();
	check_seen(2, 0);
}

/* Nested calls: entries that stay open, and entries that are left by a jump. */

static int (*deeper_through)(int);

static APART int deeper(int n)
{
	return n ? deeper_through(n - 1) + 1 : 0;
}

static void a_thousand_nested_calls_return(void)
{
	deeper_through = THROUGH(deeper);
	forget();
	CHECK_EQ(deeper_through(1000), 1000);
	check_seen(1001, 0);
}

static void *very_deep(void *result)
{
	*(int *)result = deeper_through(OPEN_MOST + 500);
	return NULL;
}

static void calls_without_room_are_counted_without_their_return(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int result = 0;

	deeper_through = THROUGH(deeper);
	forget();
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 512ul << 20);
	CHECK(!pthread_create(&thread, &attributes, very_deep, &result));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	CHECK_EQ(result, OPEN_MOST + 500);
	check_seen(OPEN_MOST + 501, 501);
}

static jmp_buf back;
static void (*leave_through)(int);

static APART void leave(int n)
{
	if (n)
		leave_through(n - 1);
	longjmp(back, 1);
}

/* If these entries were kept, they would exceed the limit many times. */
static void calls_left_by_longjmp_take_no_room(void)
{
	volatile int left = 0;
	double (*through)(int, ...) = THROUGH(sum);

	leave_through = THROUGH(leave);
	forget();
	while (left < OPEN_MOST * 4) {
		if (!setjmp(back))
			leave_through(2);
		left++;
	}
	CHECK_EQ(seen.enters, OPEN_MOST * 4 * 3);
	CHECK_EQ(seen.counted, 0);
	forget();
	CHECK(through(2, 1, .5) == 1.5);
	check_seen(1, 0);
}

/* Each at a different place of the stack; frames of later calls overwrite it. */
static APART void leave_here(void)
{
	if (!setjmp(back))
		leave_through(0);
}

static APART int leave_everywhere(int depth)
{
	leave_here();
	return depth ? leave_everywhere(depth - 1) + 1 : 0;
}

static void *leave_and_go_on(void *context)
{
	char here;

	known_stack.low = (uintptr_t)&here - (400ul << 20);
	known_stack.high = (uintptr_t)&here + 4096;
	assay_calls_self = (void *)&known_stack;
	forget();
	CHECK_EQ(leave_everywhere(OPEN_MOST * 2 + 100), OPEN_MOST * 2 + 100);
	CHECK_EQ(seen.enters, OPEN_MOST * 2 + 101);
	/* All except those whose stack word was not overwritten: a compiler may leave gaps. */
	CHECK(seen.counted < OPEN_MOST / 8);
	forget();
	CHECK(((double (*)(int, ...))context)(2, 1, .5) == 1.5);
	check_seen(1, 0);
	assay_calls_self = NULL;
	return NULL;
}

static void a_full_room_is_swept(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	leave_through = THROUGH(leave);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 512ul << 20);
	CHECK(!pthread_create(&thread, &attributes, leave_and_go_on, (void *)THROUGH(sum)));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

/* Two stacks whose calls return in the order in which they began. */
static ucontext_t main_context, other_context;

static APART int switch_to(ucontext_t *from, ucontext_t *to, int result)
{
	swapcontext(from, to);
	return result;
}

static int other_result;
static int (*switch_through)(ucontext_t *, ucontext_t *, int);

static void other_stack(void)
{
	other_result = switch_through(&other_context, &main_context, 22);
}

static void calls_return_in_any_order(void)
{
	static char stack[256 << 10];

	switch_through = THROUGH(switch_to);
	forget();
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	other_context.uc_link = &main_context;
	makecontext(&other_context, other_stack, 0);
	CHECK_EQ(switch_through(&main_context, &other_context, 11), 11);
	CHECK_EQ(seen.exits, 1);
	CHECK_EQ(deeper_through(10), 10);
	swapcontext(&main_context, &other_context);
	CHECK_EQ(other_result, 22);
	check_seen(2 + 11, 0);
}

/* Unwinding through the return address of the runtime. */

static uintptr_t frames[64];
static int frame_count;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
	if (frame_count < 64)
		frames[frame_count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static APART int walk(int n)
{
	_Unwind_Backtrace(note_frame, NULL);
	return n;
}

static int (*walk_through)(int);

static APART int walk_caller(int n)
{
	return walk_through(n) + 1;
}

static void unwinders_see_the_callers(void)
{
	int plain;
	volatile int result;

	walk_through = walk;
	frame_count = 0;
	result = walk_caller(1);
	plain = frame_count;
	walk_through = THROUGH(walk);
	frame_count = 0;
	result = walk_caller(1);
	CHECK_EQ(result, 2);
	/* There is one additional frame, that of the runtime; the frames above it are the same. */
	CHECK_EQ(frame_count, plain + 1);
	CHECK_EQ(frames[1], (uintptr_t)assay_libraries_return);
	CHECK(_Unwind_FindEnclosingFunction((void *)frames[2]) == (void *)walk_caller);
}

static int cleaned;

static void clean(void *by)
{
	cleaned += *(int *)by;
}

static void *wait_for_ever(void *context)
{
	int by = 5;

	pthread_cleanup_push(clean, &by);
	((int (*)(void))context)();
	pthread_cleanup_pop(0);
	return NULL;
}

static void a_thread_is_cancelled_within_a_call(void)
{
	pthread_t thread;
	void *result = NULL;

	forget();
	cleaned = 0;
	CHECK(!pthread_create(&thread, NULL, wait_for_ever, (void *)THROUGH(pause)));
	while (!__atomic_load_n(&seen.enters, __ATOMIC_RELAXED))
		usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	CHECK(result == PTHREAD_CANCELED);
	CHECK_EQ(cleaned, 5);
	CHECK_EQ(seen.exits, 0);
}

static void a_forked_child_returns_too(void)
{
	int status = -1;
	pid_t child = THROUGH(fork)();

	if (!child)
		_exit(deeper_through(20) + 3);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 23);
}

/* Signals at any instruction of a library call. */
static volatile sig_atomic_t handled, wrong;
static unsigned long handled_calls;

static void on_timer(int signal)
{
	handled++;
	handled_calls += 4;
	if (deeper_through(3) != 3)
		wrong++;
}

static void signals_come_at_any_time(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	unsigned long calls = 0;

	forget();
	handled_calls = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < 2000 && calls < 200000000) {
		if (deeper_through(5) != 5)
			wrong++;
		calls += 6;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	CHECK(handled >= 2000);
	CHECK_EQ(wrong, 0);
	check_seen(calls + handled_calls, 0);
}

int main(int argc, char **argv)
{
	CHECK(libraries_begin(argv));
	RUN(arguments_and_results_pass);
	RUN(vectors_of_32_bytes_pass);
	RUN(a_thousand_nested_calls_return);
	RUN(calls_without_room_are_counted_without_their_return);
	RUN(calls_left_by_longjmp_take_no_room);
	RUN(a_full_room_is_swept);
	RUN(calls_return_in_any_order);
	RUN(unwinders_see_the_callers);
	RUN(a_thread_is_cancelled_within_a_call);
	RUN(a_forked_child_returns_too);
	RUN(signals_come_at_any_time);
	return check_end();
}

#else

#include <stdio.h>

int main(void)
{
	puts("1..0 # SKIP calls into libraries are followed only on x86-64");
	return 0;
}

#endif
