/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ways: C functions with all entries and exits that the language and GCC have. Prints their
 * results; main() determines how often each is called (test_tags_plugin.py has the numbers).
 */
#include "assay/tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;

static inline int never_called(int x)
{
	return x + 1;
}

void is_empty(void)
{
}

__attribute__((no_instrument_function)) static int chosen_not(int x)
{
	ASSAY_TAG("in chosen_not");
	return x * 3;
}

/* 177 calls for 10. */
static int fibonacci(int n)
{
	if (n < 2)
		return n;
	return fibonacci(n - 1) + fibonacci(n - 2);
}

static int computed_goto(int n)
{
	static void *const to[] = {&&a, &&b, &&c};
	int r = 0;

	goto *to[n % 3];
a:
	r++;
	goto *to[(n + 1) % 3];
b:
	r += 10;
	if (r > 50)
		return r;
	goto *to[2];
c:
	return r + 100;
}

static int asm_goto(int x)
{
#ifdef __x86_64__
	asm goto("test %0, %0; jz %l1" : : "r"(x) : "cc" : zero);
	return 1;
zero:
	return 0;
#else
	return x != 0;
#endif
}

static int sum(int n, ...)
{
	va_list list;
	int total = 0;

	va_start(list, n);
	while (n--)
		total += va_arg(list, int);
	va_end(list);
	return total;
}

static double sum_double(int n, ...)
{
	va_list list;
	double total = 0;

	va_start(list, n);
	while (n--)
		total += va_arg(list, double);
	va_end(list);
	return total;
}

__attribute__((noinline)) int digits(int a, int b, int c)
{
	return a * 100 + b * 10 + c;
}

__attribute__((noinline)) int forwards(int a, int b, int c)
{
	void *arguments = __builtin_apply_args();
	void *result = __builtin_apply((void (*)())digits, arguments, 64);

	__builtin_return(result);
}

/* Two functions of one name inside it. */
static int nests(int n)
{
	int total = n;

	{
		int inner(int x)
		{
			total += x;
			return total;
		}
		total += inner(2);
	}
	{
		int inner(int x)
		{
			return x - total;
		}
		total += inner(1);
	}
	return total;
}

/* Leaves `inner` by a jump when n > 2: its exit is lost. */
static int jumps_out(int n)
{
	__label__ out;
	int r = 0;

	void inner(int k)
	{
		r = k;
		if (k > 2)
			goto out;
		r += 100;
	}
	inner(n);
	return r;
out:
	return -r;
}

__attribute__((noinline)) static void jump_back(int value)
{
	longjmp(back, value);
}

/* Loses `times` exits of jump_back. */
static int returns_again(int times)
{
	volatile int count = 0;
	int value = setjmp(back);

	if (value < times) {
		count++;
		jump_back(value + 1);
	}
	return count;
}

static void cleaned(int *p)
{
	printf("cleaned %d\n", *p);
}

static int cleans(int a)
{
	__attribute__((cleanup(cleaned))) int x = a;

	if (a > 2)
		return 3;
	{
		__attribute__((cleanup(cleaned))) int y = a + 1;

		if (a == 1)
			goto end;
		x += y;
	}
end:
	return x;
}

__attribute__((noinline)) void *return_address(void)
{
	return __builtin_return_address(0);
}

static inline __attribute__((always_inline)) int always(int x)
{
	if (x > 3)
		return 1;
	ASSAY_TAG("small");
	return x;
}

__attribute__((flatten)) int flat(int x)
{
	return always(x) + digits(x, 1, 2);
}

__attribute__((noreturn)) static void ends(int status)
{
	exit(status);
}

static int tail(int n)
{
	return n ? tail(n - 1) : 0;
}

static long double long_double(long double x)
{
	return x * 2;
}

static _Complex double complex_double(_Complex double x)
{
	return x * x;
}

struct big {
	int a[40];
};

__attribute__((noinline)) static struct big returns_big(int x)
{
	return (struct big){{x}};
}

static __int128 wide(__int128 x)
{
	return x * 3;
}

static int forks(void)
{
	pid_t child = vfork();
	int status;

	if (!child)
		_exit(3);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

__attribute__((noinline)) int switches(int x)
{
	switch (x) {
	case 0:
		return 5;
	case 1:
		return 7;
	case 2:
		return 2;
	case 3:
		return 11;
	}
	return x;
}

/* GCC splits it: the first test is inlined, the rest becomes parts.part.0. */
static int parts(int x)
{
	if (x < 0)
		return 0;
	for (int i = 0; i < x; i++)
		printf("part %d\n", i);
	return x;
}

int of_alias(int x) __attribute__((weak));
int of_alias(int x)
{
	return x + 1;
}

int also(int) __attribute__((alias("of_alias")));

static int parallel(int n)
{
	int total = 0;

#pragma omp parallel for reduction(+ : total) num_threads(2)
	for (int i = 0; i < n; i++)
		total += switches(i);
	return total;
}

static int resolved(int x)
{
	return x + 9;
}

/* Runs while the program is loaded, so it must not have a trigger. */
static void *resolver(void)
{
	return (void *)resolved;
}

int indirect(int) __attribute__((ifunc("resolver")));

#ifdef __x86_64__
__attribute__((interrupt, target("general-regs-only"))) void interrupt(void *frame)
{
	static volatile int count;

	count++;
}

__attribute__((naked)) void naked(void)
{
	asm("ret");
}
#endif

__attribute__((constructor)) static void constructor(void)
{
	puts("constructor");
}

__attribute__((section("assay_elsewhere"))) int elsewhere(int x)
{
	return x * 2;
}

__attribute__((optimize("O0"))) int unoptimized(int x)
{
	return x * 2;
}

__attribute__((cold)) static int cold(int x)
{
	printf("cold %d\n", x);
	return 2;
}

int main(int argc, char **argv)
{
	is_empty();
	printf("%d %d %d\n", fibonacci(10), chosen_not(argc), computed_goto(1));
	printf("%d %d %g %d\n", asm_goto(argc), sum(3, 1, 2, 3), sum_double(2, 1.5, 2.5),
	       forwards(1, 2, 3));
	printf("%d %d %d %d\n", nests(argc), jumps_out(1), jumps_out(3), returns_again(3));
	printf("%d %d %d\n", cleans(1), cleans(2), cleans(3));
	printf("%d %d %d\n", return_address() != NULL, flat(2), tail(20));
	printf("%Lg %g %d %d\n", long_double(2), __real__ complex_double(3), returns_big(4).a[0],
	       (int)wide(4));
	printf("%d %d %d\n", forks(), parts(3) + parts(-1), of_alias(1) + also(2));
	printf("%d %d %d %d\n", parallel(30), indirect(1), elsewhere(3), unoptimized(4));
	printf("%d\n", argc > 5 ? cold(2) : 1);
#ifdef __x86_64__
	naked();
#endif
	ends(0);
}
