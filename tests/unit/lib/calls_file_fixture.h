/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_file_fixture: reads a table of calls_fixture.h into the model, finds its paths, and
 * compares their times. call_paths_free() and free() at the end. One thread. Uses: format.
 */
#ifndef ASSAY_TESTS_CALLS_FILE_FIXTURE_H
#define ASSAY_TESTS_CALLS_FILE_FIXTURE_H

#include "calls_fixture.h"
#include "check.h"
#include "format/calls/calls_file.h"

#include <math.h>

/*
 * Times are results of divisions: they are equal if they differ by less than a millionth of a
 * nanosecond.
 */
#define CHECK_NS(got, want)                                                                        \
	do {                                                                                       \
		double got_ns = (got), want_ns = (want);                                           \
		if (!(fabs(got_ns - want_ns) < 1e-6)) {                                            \
			check_failures++;                                                          \
			printf("# %s:%d: %s is %.9g, not %.9g\n", __FILE__, __LINE__, #got,        \
			       got_ns, want_ns);                                                   \
		}                                                                                  \
	} while (0)

static inline struct call_paths *read_with(struct fx *f, const struct calls_state *state)
{
	struct call_paths *c = call_paths_new();
	struct error err = {0};
	size_t used = 0;

	CHECK_EQ(
	        calls_file_read(c, f->bytes, fx_header(f)->used_bytes, "table", state, &used, &err),
	        0);
	CHECK_EQ(used, fx_header(f)->used_bytes);
	CHECK_STR(err.text, "");
	CHECK_EQ(c->processes.count, 1);
	call_paths_close(c);
	return c;
}

static inline const struct call_process *process_of(const struct call_paths *c)
{
	return &c->processes.items[0];
}

/* The path of functions by their frames' offsets, ended by 0; NULL: there is none. */
static inline const struct call_path *path_at(const struct call_paths *c, const uint64_t *offsets)
{
	const struct call_process *p = process_of(c);
	uint32_t i = 0;

	for (; *offsets; offsets++) {
		for (i = p->paths.items[i].first_child; i != CALL_PATH_NONE;
		     i = p->paths.items[i].sibling)
			if (c->functions.items[p->paths.items[i].function].frame.offset == *offsets)
				break;
		if (i == CALL_PATH_NONE)
			return NULL;
	}
	return &p->paths.items[i];
}

#define PATH(c, ...) path_at(c, (const uint64_t[]){__VA_ARGS__, 0})

/* root -> a (once) -> b (ten times); a call costs 10 ticks inside and 6 outside. */
struct abc {
	struct fx *f;
	uint32_t thread, a, b;
};

static inline struct abc abc_new(void)
{
	struct abc x = {.f = fx_new()};
	struct assay_calls_cost *cost = &fx_header(x.f)->cost;

	cost->inner = 10 * 1024;
	cost->outer = 6 * 1024;
	cost->inner_error = 512; /* half a tick */
	cost->outer_error = 256;
	cost->enter_read = 20 * 1024;
	cost->exit_read = 30 * 1024;
	x.thread = fx_thread(x.f, 4711, 1900, 300);
	x.a = fx_node(x.f, x.thread, fx_record(x.f, x.thread)->root, 0x1000, 1, 1000);
	x.b = fx_node(x.f, x.thread, x.a, 0x2000, 10, 500);
	fx_record(x.f, x.thread)->own = 100;
	fx_header(x.f)->end_ticks = FX_BEGIN + 1900;
	return x;
}

#endif
