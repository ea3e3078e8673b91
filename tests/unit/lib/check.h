/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check: the functions of a unit test. A test program runs its functions with RUN and ends with
 * `return check_end();`. It prints TAP, which script/test counts.
 */
#ifndef ASSAY_TESTS_CHECK_H
#define ASSAY_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_tests, check_failed_tests, check_failures;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			check_failures++;                                                          \
			printf("# %s:%d: not true: %s\n", __FILE__, __LINE__, #condition);         \
		}                                                                                  \
	} while (0)

#define CHECK_EQ(got, want)                                                                        \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_) {                                                               \
			check_failures++;                                                          \
			printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_,  \
			       want_);                                                             \
		}                                                                                  \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!got_ || strcmp(got_, want_)) {                                                \
			check_failures++;                                                          \
			printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got,    \
			       got_ ? got_ : "(null)", want_);                                     \
		}                                                                                  \
	} while (0)

#define RUN(function)                                                                              \
	do {                                                                                       \
		check_failures = 0;                                                                \
		function();                                                                        \
		check_tests++;                                                                     \
		check_failed_tests += check_failures != 0;                                         \
		printf("%sok %d - %s\n", check_failures ? "not " : "", check_tests, #function);    \
		fflush(stdout);                                                                    \
	} while (0)

/* A number of random cases: with the sanitizers a quarter of those of the other build. */
#ifdef CHECK_SANITIZED
#define CHECK_CASES(count) ((count) / 4)
#else
#define CHECK_CASES(count) (count)
#endif

/* True if ASSAY_LONG is set (script/test --long): tests with a long form run it. */
static inline bool check_long(void)
{
	const char *text = getenv("ASSAY_LONG");

	return text && *text;
}

static inline int check_end(void)
{
	printf("1..%d\n", check_tests);
	return check_failed_tests != 0;
}

#endif
