/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth: counts a program's own calls, independently of assay.
 *
 * Each function begins with CALLED(), which counts it under its name, and may
 * say PATH("main;a;b"), the whole path by which it was called, or
 * PATH("...;a;b"), how the path ends. Counters are static, in a section of
 * their own, and grow atomically: threads and signal handlers may use them.
 *
 * At the end, after all other functions of the program, the counts are added to
 * the file that $TRUTH names, a line each: "PID calls COUNT NAME", "PID path
 * COUNT PATH". A program that does not reach its end calls truth_tell() before. A forked child
 * calls truth_forked() first, to discard the counts of its parent. SLACK(name, n): up to n more
 * calls than counted may have been entered, because a jump left them before they could count. Uses:
 * no code of assay.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function, unused))
#define APART __attribute__((noinline))

struct truth_counter {
	const char *kind, *name;
	unsigned long count;
	unsigned long unused;
};

#ifdef __cplusplus
#define TRUTH_NAME __PRETTY_FUNCTION__
extern "C" {
#else
#define TRUTH_NAME __func__
#endif

#define TRUTH_COUNT(kind_, name_, n_)                                                              \
	do {                                                                                       \
		static struct truth_counter truth_here                                             \
		        __attribute__((section("truth"), used, aligned(32))) = {kind_, name_, 0,   \
		                                                                0};                \
		__atomic_fetch_add(&truth_here.count, (n_), __ATOMIC_RELAXED);                     \
	} while (0)
#define CALLED() TRUTH_COUNT("calls", TRUTH_NAME, 1)
#define CALLED_AS(name_) TRUTH_COUNT("calls", name_, 1)
#define PATH(path_) TRUTH_COUNT("path", path_, 1)
#define SLACK(name_, n_) TRUTH_COUNT("slack", name_, n_)

extern struct truth_counter truth_begin[] __asm__("__start_truth")
        __attribute__((visibility("hidden"), weak));
extern struct truth_counter truth_end[] __asm__("__stop_truth")
        __attribute__((visibility("hidden"), weak));

UNSEEN static void truth_forked(void)
{
	struct truth_counter *c;

	for (c = truth_begin; c < truth_end; c++)
		__atomic_store_n(&c->count, 0, __ATOMIC_RELAXED);
}

static const char *truth_path;

/* Before a program can clear its environment. */
UNSEEN __attribute__((constructor(101))) static void truth_at_begin(void)
{
	truth_path = getenv("TRUTH");
}

/* Adds the counts to the file and goes on from zero. */
UNSEEN static void truth_tell(void)
{
	struct truth_counter *c;
	int fd = truth_path ? open(truth_path, O_WRONLY | O_APPEND | O_CLOEXEC) : 2;

	if (fd < 0) {
		dprintf(2, "truth: cannot open %s\n", truth_path);
		_exit(120);
	}
	for (c = truth_begin; c < truth_end; c++) {
		unsigned long n = __atomic_exchange_n(&c->count, 0, __ATOMIC_RELAXED);

		if (n)
			dprintf(fd, "%d %s %lu %s\n", (int)getpid(), c->kind, n, c->name);
	}
	if (fd != 2)
		close(fd);
}

/* Runs last of all: priorities count downward at the end. */
UNSEEN __attribute__((destructor(101))) static void truth_at_end(void)
{
	truth_tell();
}

/* Prints how the program ends, on stderr. */
UNSEEN static inline void truth_usage(const char *what)
{
	dprintf(2, "truth: no such case: %s\n", what);
	exit(2);
}

struct truth_case {
	const char *name;
	void (*run)(void);
};

/* Runs the case that the first argument names. */
UNSEEN static inline void truth_run(const struct truth_case *cases, const char *name)
{
	for (; cases->name; cases++) {
		if (name && !strcmp(cases->name, name)) {
			cases->run();
			return;
		}
	}
	truth_usage(name ? name : "(none)");
}

#ifdef __cplusplus
}
#endif

#endif
