/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_view_fixture: a small model of call paths with recursion, waiting, a library function, a
 * function that is counted and not timed, and an open call. Figures in ns are small integers, so
 * that each sum is known. fixture_init() first, fixture_done() last. One thread. Uses: profile,
 * view.
 */
#ifndef ASSAY_TESTS_CALL_VIEW_FIXTURE_H
#define ASSAY_TESTS_CALL_VIEW_FIXTURE_H

#include "check.h"

#include "view/calls/call_check.h"
#include "view/calls/call_report.h"
#include "view/calls/call_rows.h"
#include "view/calls/call_tree.h"

#include <math.h>

enum { F_OUTSIDE, F_MAIN, F_SORT, F_CMP, F_FIB, F_STRLEN, F_SETJMP, F_NAMELESS, F_COUNT };

struct call_fixture {
	struct call_paths *paths;
	struct call_names *names;
	uint32_t functions[F_COUNT];
	uint32_t main, sort, cmp, fib, fib2, fib3, fib_sort, fib_sort_fib;
};

static inline uint32_t fixture_function(struct call_paths *c, uint32_t image, const char *name,
                                        uint64_t offset, bool library, bool counted)
{
	struct call_function f = {.kind = CALL_FUNCTION,
	                          .frame = {image, offset},
	                          .library = library,
	                          .counted = counted};

	if (name)
		f.name = intern_add(&c->images.names, name);
	return call_paths_function(c, &f);
}

static inline uint32_t fixture_path(struct call_process *p, uint32_t parent, uint32_t function,
                                    uint64_t calls, double net)
{
	uint32_t id = call_path_child(p, parent, function);
	struct call_path *path = &p->paths.items[id];

	path->calls = calls;
	path->net_ns = net;
	if (calls)
		call_path_range(path, net / (double)calls - 1, net / (double)calls + 1);
	return id;
}

static inline void fixture_functions(struct call_fixture *f)
{
	struct call_paths *c = f->paths;
	uint32_t program = image_table_named(&c->images, IMAGE_FILE, "/usr/bin/prog");
	uint32_t library = image_table_named(&c->images, IMAGE_FILE, "/lib/libc.so.6");

	f->functions[F_MAIN] = fixture_function(c, program, "main", 0x10, false, false);
	f->functions[F_SORT] = fixture_function(c, program, "sort", 0x20, false, false);
	f->functions[F_CMP] = fixture_function(c, program, "_ZN3app3cmpEii", 0x30, false, false);
	f->functions[F_FIB] = fixture_function(c, program, "fib", 0x40, false, false);
	f->functions[F_STRLEN] = fixture_function(c, library, "strlen", 0x50, true, false);
	f->functions[F_SETJMP] = fixture_function(c, library, "setjmp", 0x60, true, true);
	f->functions[F_NAMELESS] = fixture_function(c, program, NULL, 0x70, false, false);
}

static inline void fixture_thread(struct call_process *p, double net, double cpu)
{
	struct call_thread *t = vec_add(&p->threads);

	t->threads = 1;
	t->net_ns = net;
	t->own_ns = 299;
	t->blocked_ns = 5000;
	t->wall_ns = net + 299 + 5000 - 20;
	t->cpu_ns = cpu;
	t->cpu_residual_ns = net + 299 - cpu;
	t->wall_residual_ns = 20;
}

static inline void fixture_init(struct call_fixture *f)
{
	struct call_process *p;

	*f = (struct call_fixture){.paths = call_paths_new()};
	fixture_functions(f);
	call_paths_process(f->paths, "prog", 42);
	p = f->paths->processes.items;
	p->command = intern_add(&f->paths->images.names, "prog --fast");
	p->paths.items[0].net_ns = 50;
	f->main = fixture_path(p, 0, f->functions[F_MAIN], 1, 1000);
	p->paths.items[f->main].open = 1;
	f->sort = fixture_path(p, f->main, f->functions[F_SORT], 2, 200);
	p->paths.items[f->sort].blocked_ns = 5000;
	p->paths.items[f->sort].blocked_count = 3;
	f->cmp = fixture_path(p, f->sort, f->functions[F_CMP], 100, 300);
	f->fib = fixture_path(p, f->main, f->functions[F_FIB], 1, 10);
	f->fib2 = fixture_path(p, f->fib, f->functions[F_FIB], 2, 20);
	f->fib3 = fixture_path(p, f->fib2, f->functions[F_FIB], 4, 40);
	fixture_path(p, f->main, f->functions[F_STRLEN], 7, 70);
	fixture_path(p, f->main, f->functions[F_SETJMP], 3, 0);
	f->fib_sort = fixture_path(p, f->fib2, f->functions[F_SORT], 1, 5);
	f->fib_sort_fib = fixture_path(p, f->fib_sort, f->functions[F_FIB], 1, 6);
	/* This path has no calls and no time. */
	fixture_path(p, f->cmp, f->functions[F_NAMELESS], 0, 0);
	p->wall_ns = 7000;
	p->own_ns = 299;
	p->own_error_ns = 10;
	fixture_thread(p, 1701, 2000);
	f->functions[F_OUTSIDE] = p->paths.items[0].function;
	call_paths_close(f->paths);
	f->names = call_names_new(f->paths, NULL, false);
}

static inline struct call_process *fixture_process(const struct call_fixture *f)
{
	return f->paths->processes.items;
}

static inline void fixture_done(struct call_fixture *f)
{
	call_names_free(f->names);
	call_paths_free(f->paths);
}

static inline struct call_report fixture_report(const struct call_fixture *f)
{
	return (struct call_report){.paths = f->paths, .names = f->names, .request.limit = -1};
}

#endif
