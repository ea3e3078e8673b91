/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_fixture: counted call paths by hand, whose every sum is known.
 *
 * Two processes of one program, "prog" 7 and 8; net ns beside each path, calls
 * in parentheses:
 *
 *	(outside) 100
 *	  main (1) 10
 *	    f (2) 20
 *	      g (4) 40
 *	        f (3) 5           f is open twice, by way of g
 *	          leaf (6) 1000
 *	    leaf (5) 7
 *	    rec (1) 1             rec calls itself, two levels
 *	      rec (1) 2
 *	        rec (1) 4
 *
 * The second process has main (1) 3 alone, blocked 50. Sums: net 1192, rec 7,
 * f with all below 1065, g 1045, leaf 1007, main 1089 + 3.
 *
 * fixture_begin() or fixture_calls() first, fixture_name() when all is there,
 * fixture_end() last. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_TESTS_NAMED_FIXTURE_H
#define ASSAY_TESTS_NAMED_FIXTURE_H

#include "profile/calls/call_paths.h"
#include "view/symbolized/symbolized.h"

struct named_fixture {
	struct call_paths *calls;
	struct call_names *names;
	struct symbolized_profile n;
	uint32_t image;
};

static uint32_t fixture_function(struct named_fixture *x, const char *name)
{
	struct call_function f = {.kind = CALL_FUNCTION};

	f.name = intern_add(&x->calls->images.names, name);
	f.file = intern_add(&x->calls->images.names, "/src/prog.c");
	f.line = 10 * f.name;
	f.frame.image = x->image;
	f.frame.offset = 0x1000 + 16 * (uint64_t)f.name;
	return call_paths_function(x->calls, &f);
}

static uint32_t fixture_call(struct named_fixture *x, uint32_t process, uint32_t parent,
                             const char *name, uint64_t calls, double net_ns)
{
	uint32_t function = fixture_function(x, name);
	struct call_process *p = &x->calls->processes.items[process];
	uint32_t path = call_path_child(p, parent, function);

	p->paths.items[path].calls += calls;
	p->paths.items[path].net_ns += net_ns;
	return path;
}

static void fixture_begin(struct named_fixture *x)
{
	struct image image = {.kind = IMAGE_FILE,
	                      .build_id = {.size = 4, .bytes = {1, 2, 3, 0xab}}};

	memset(x, 0, sizeof(*x));
	x->calls = call_paths_new();
	image.path = intern_add(&x->calls->images.names, "/bin/prog");
	x->image = image_table_add(&x->calls->images, &image);
}

/* Closes the model and names it. */
static void fixture_name(struct named_fixture *x, uint32_t depth_max)
{
	static const struct filter all;

	call_paths_close(x->calls);
	x->names = call_names_new(x->calls, NULL, false);
	symbolized_profile_init(&x->n);
	x->n.depth_max = depth_max;
	CHECK(!named_of_calls(&x->n, x->calls, x->names, NULL, &all, NULL));
}

static void fixture_calls(struct named_fixture *x)
{
	uint32_t first, second, main, f, g, rec;

	fixture_begin(x);
	first = call_paths_process(x->calls, "prog", 7);
	second = call_paths_process(x->calls, "prog", 8);
	x->calls->processes.items[first].paths.items[0].net_ns = 100;
	main = fixture_call(x, first, 0, "main", 1, 10);
	f = fixture_call(x, first, main, "f", 2, 20);
	g = fixture_call(x, first, f, "g", 4, 40);
	f = fixture_call(x, first, g, "f", 3, 5);
	fixture_call(x, first, f, "leaf", 6, 1000);
	fixture_call(x, first, main, "leaf", 5, 7);
	rec = fixture_call(x, first, main, "rec", 1, 1);
	rec = fixture_call(x, first, rec, "rec", 1, 2);
	fixture_call(x, first, rec, "rec", 1, 4);
	main = fixture_call(x, second, 0, "main", 1, 3);
	x->calls->processes.items[second].paths.items[main].blocked_ns = 50;
}

static void fixture_end(struct named_fixture *x)
{
	symbolized_profile_done(&x->n);
	call_names_free(x->names);
	call_paths_free(x->calls);
}

#endif
