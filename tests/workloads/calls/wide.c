/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wide: many paths. Usage: wide CASE
 *
 *	callers  one function, called by 300 others, and these by it
 *	paths    ten functions call each other, five deep: 111110 paths
 *	levels   a path of 500 different stations, entered at each of them
 */
#include "truth.h"
#include "walkers.h"

static volatile unsigned long sink;

static APART void target(unsigned n)
{
	CALLED();
	sink += n;
}

#define CALLER(x)                                                                                  \
	static APART void caller_##x(unsigned n)                                                   \
	{                                                                                          \
		CALLED();                                                                          \
		PATH("main;callers;caller_" #x);                                                   \
		target(n);                                                                         \
		if (n & 1)                                                                         \
			target(n);                                                                 \
	}
#define TEN(m, x) m(x##0) m(x##1) m(x##2) m(x##3) m(x##4) m(x##5) m(x##6) m(x##7) m(x##8) m(x##9)
#define HUNDRED(m, x)                                                                              \
	TEN(m, x##0)                                                                               \
	TEN(m, x##1)                                                                               \
	TEN(m, x##2)                                                                               \
	TEN(m, x##3)                                                                               \
	TEN(m, x##4)                                                                               \
	TEN(m, x##5)                                                                               \
	TEN(m, x##6)                                                                               \
	TEN(m, x##7)                                                                               \
	TEN(m, x##8)                                                                               \
	TEN(m, x##9)

HUNDRED(CALLER, 0)
HUNDRED(CALLER, 1)
HUNDRED(CALLER, 2)

#define ITS_NAME(x) caller_##x,

static void (*const caller[])(unsigned) = {HUNDRED(ITS_NAME, 0) HUNDRED(ITS_NAME, 1)
                                                   HUNDRED(ITS_NAME, 2)};

static void callers(void)
{
	CALLED();
	for (unsigned round = 0; round < 7; round++)
		for (unsigned i = 0; i < 300; i++)
			caller[(i * 37 + round) % 300](i + round);
}

/* paths */

static void paths(void)
{
	CALLED();
	for (int i = 0; i < 2; i++)
		onward(5);
}

/* levels */

static void station_a(unsigned n);

static void station_b(unsigned n)
{
	CALLED();
	if (n)
		station_a(n - 1);
	target(n);
}

static void station_a(unsigned n)
{
	CALLED();
	if (n)
		n & 2 ? station_b(n - 1) : station_a(n - 1);
	target(n);
}

static void levels(void)
{
	CALLED();
	for (unsigned i = 0; i < 300; i++)
		station_a(i);
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"callers", callers}, {"paths", paths}, {"levels", levels}, {NULL, NULL}};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
