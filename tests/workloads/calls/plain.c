/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain: calls that return, in C. Usage: plain CASE
 *
 *	plain      a calls b and c, b calls d
 *	recurse    10 deep, 1000 times; `deep` 10000 and `abyss` 100000 deep, once
 *	mutual     two and three functions that call each other
 *	tree       Fibonacci's: recursion that branches
 *	pointers   through pointers, qsort and lfind
 *	shapes     alloca, arrays of variable length, variadic functions, structs, tail calls
 *	inlining   what the compiler takes into its callers, a recursion into itself among it
 */
#include "truth.h"

#include <search.h>
#include <stdarg.h>

#pragma GCC diagnostic ignored "-Wvla"

static volatile unsigned long sink;

/* plain */

static void d(unsigned n)
{
	CALLED();
	PATH("main;plain;a;b;d");
	sink += n;
}

static void b(unsigned n)
{
	CALLED();
	PATH("main;plain;a;b");
	for (unsigned i = 0; i < n; i++)
		d(i);
}

static void c(unsigned n)
{
	CALLED();
	PATH("main;plain;a;c");
	sink += n;
}

static void a(unsigned n)
{
	CALLED();
	PATH("main;plain;a");
	b(n);
	c(n);
	b(n + 1);
}

static void plain(void)
{
	CALLED();
	for (unsigned i = 0; i < 300; i++)
		a(i % 17);
}

/* recursion */

static unsigned down(unsigned n)
{
	CALLED();
	if (n == 0)
		return 1;
	return down(n - 1) + (unsigned)(sink & 1);
}

static void recurse(void)
{
	CALLED();
	for (int i = 0; i < 1000; i++)
		sink += down(9);
}

static void deep(void)
{
	CALLED();
	sink += down(9999);
}

static void abyss(void)
{
	CALLED();
	sink += down(99999);
}

static unsigned odd(unsigned n);
static unsigned three_a(unsigned n);

static unsigned even(unsigned n)
{
	CALLED();
	return n == 0 ? 1 : odd(n - 1);
}

static unsigned odd(unsigned n)
{
	CALLED();
	return n == 0 ? 0 : even(n - 1);
}

static unsigned three_c(unsigned n)
{
	CALLED();
	return n ? three_a(n - 1) + (unsigned)sink : 0;
}

static unsigned three_b(unsigned n)
{
	CALLED();
	return n % 3 ? three_c(n) : three_a(n / 2);
}

static unsigned three_a(unsigned n)
{
	CALLED();
	return n ? three_b(n) + three_c(n / 3) : 0;
}

static void mutual(void)
{
	CALLED();
	for (unsigned i = 0; i < 40; i++)
		sink += even(i) + odd(i) + three_a(i);
}

static unsigned fibonacci(unsigned n)
{
	CALLED();
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void tree(void)
{
	CALLED();
	sink += fibonacci(21);
}

/* pointers */

static int compare(const void *left, const void *right)
{
	unsigned l = *(const unsigned *)left, r = *(const unsigned *)right;

	CALLED();
	return l < r ? -1 : l > r;
}

static unsigned twice(unsigned n)
{
	CALLED();
	return 2 * n;
}

static unsigned thrice(unsigned n)
{
	CALLED();
	return 3 * n;
}

static unsigned apply(unsigned (*function)(unsigned), unsigned n)
{
	CALLED();
	PATH("main;pointers;apply");
	return function(n);
}

static void pointers(void)
{
	unsigned (*const functions[])(unsigned) = {twice, thrice};
	unsigned numbers[500], seed = 1;
	size_t count = 9;

	CALLED();
	for (unsigned i = 0; i < 500; i++)
		numbers[i] = seed = seed * 1103515245u + 12345u;
	qsort(numbers, 500, sizeof(numbers[0]), compare);
	for (unsigned i = 0; i < 500; i++) {
		sink += lfind(&numbers[i], numbers, &count, sizeof(numbers[0]), compare) != NULL;
		sink += apply(functions[numbers[i] & 1], i);
	}
}

/* shapes of frames and signatures */

struct large {
	unsigned long word[40];
};

static unsigned long on_stack(unsigned n)
{
	volatile unsigned char *p = __builtin_alloca(16 + n);

	CALLED();
	p[n] = (unsigned char)n;
	return p[n] + twice(n);
}

static unsigned long of_length(unsigned n)
{
	volatile unsigned char bytes[n + 1];

	CALLED();
	bytes[n] = (unsigned char)n;
	return bytes[n] + on_stack(n / 2);
}

static unsigned long sum(unsigned n, ...)
{
	unsigned long all = 0;
	va_list list;

	CALLED();
	va_start(list, n);
	while (n--)
		all += va_arg(list, unsigned long);
	va_end(list);
	return all;
}

static struct large filled(unsigned n)
{
	struct large l;

	CALLED();
	for (unsigned i = 0; i < 40; i++)
		l.word[i] = n + i;
	return l;
}

static long double mixed(int i, double x, long double y, float z, struct large l, unsigned n)
{
	CALLED();
	return i + x + y + z + l.word[n % 40];
}

static unsigned long tail_last(unsigned long n)
{
	CALLED();
	return n;
}

static unsigned long tail(unsigned long n, unsigned long all)
{
	CALLED();
	if (n == 0)
		return tail_last(all);
	return tail(n - 1, all + n);
}

static void shapes(void)
{
	CALLED();
	for (unsigned i = 0; i < 300; i++) {
		struct large l = filled(i);

		sink += of_length(i * 3) + sum(3, 1ul, 2ul, (unsigned long)i);
		sink += (unsigned long)mixed(1, 2.0, 3.0L, 4.0f, l, i) + tail(20, i);
	}
}

/* inlining */

static inline __attribute__((always_inline)) unsigned always(unsigned n)
{
	CALLED();
	return n * 7 + 1;
}

static inline unsigned maybe(unsigned n)
{
	CALLED();
	return always(n) + always(n + 1);
}

static APART unsigned never(unsigned n)
{
	CALLED();
	PATH("main;inlining;never");
	return maybe(n) + always(n);
}

static inline unsigned into_itself(unsigned n)
{
	CALLED();
	return n ? into_itself(n - 1) + always(n) : maybe(n);
}

static void inlining(void)
{
	CALLED();
	for (unsigned i = 0; i < 300; i++) {
		sink += maybe(i) + never(i) + into_itself(i % 11);
		for (unsigned k = 0; k < 3; k++)
			sink += always(k);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"plain", plain},       {"recurse", recurse}, {"deep", deep},
	        {"abyss", abyss},       {"mutual", mutual},   {"tree", tree},
	        {"pointers", pointers}, {"shapes", shapes},   {"inlining", inlining},
	        {NULL, NULL},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
