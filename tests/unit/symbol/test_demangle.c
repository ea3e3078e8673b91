/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle: names of C++, Rust, D, OCaml and Ada as they are shown; C names do not change. */
#include "base/memory/buf.h"
#include "symbol/demangle/demangle.h"

#include "check.h"

#include <stdlib.h>

static void check_demangled(const char *mangled, const char *wanted)
{
	char *name = demangle(mangled);

	CHECK_STR(name ? name : "as it is", wanted ? wanted : "as it is");
	free(name);
}

static void names_are_demangled(void)
{
	check_demangled("_ZN5space3BoxIlE5twiceEl", "space::Box<long>::twice(long)");
	check_demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	                "core::fmt::Write::write_fmt");
	check_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_demangled("_Z3fooi@plt", "foo(int)@plt");
	CHECK(demangle("main") == NULL);
	CHECK(demangle("_Zebra") == NULL);
	CHECK(demangle("_") == NULL);
	CHECK(demangle("") == NULL);
	CHECK(demangle_matches("foo(int)", "foo"));
	CHECK(demangle_matches("foo(int)", "foo(int)"));
	CHECK(!demangle_matches("foobar(int)", "foo"));
	CHECK(!demangle_matches("fo", "foo"));
}

static void names_of_d_are_demangled(void)
{
	char *bare;

	check_demangled("_Dmain", "D main");
	check_demangled("_D1d4Node3addMFiZv", "d.Node.add(int)");
	check_demangled("_D1d4Node6__ctorMFiZCQtQt", "d.Node.this(int)");
	check_demangled("_D1a1bFNaNbIKAyaPvDFiZaXi",
	                "a.b(in ref immutable(char)[], void*, char delegate(int)...)");
	check_demangled("_D1a1bFHAyaG3iB1iZv", NULL); /* a tuple that has no end */
	check_demangled("_D1a1bFHAyaG3iPFiZvZv",
	                "a.b(int[3][immutable(char)[]], void function(int))");
	check_demangled("_D1a__T1bTiVii7Vb1Va97VAyaa3_78797AZv", NULL);
	check_demangled("_D1a__T1bTiVii7ViN3Vb1Va97VAyaa3_78797aZQBhFZv",
	                "a.b!(int, 7, -3, true, 'a', \"xyz\").b()");
	check_demangled("_D1a__T1bS_D1a1cFiZvZQoFZv", "a.b!(a.c(int)).b()");
	check_demangled("_D3foo3barFS3foo1SQhZv.part.0", "foo.bar(foo.S, foo.S).part.0");
	check_demangled("_D3foo3barFiZv@plt", "foo.bar(int)@plt");
	check_demangled("_D3foo3bar", NULL);
	check_demangled("_D3foo3barFiZvX", NULL);
	check_demangled("_D9foo3barFiZv", NULL);
	check_demangled("_D3fooQzFiZv", NULL);
	bare = demangle_bare("_D3foo3barFiZv");
	CHECK_STR(bare, "foo.bar");
	free(bare);
}

static void names_of_ocaml_are_demangled(void)
{
	check_demangled("camlStdlib__List__map_236", "Stdlib.List.map_236");
	check_demangled("camlStdlib__List.map_236", "Stdlib.List.map_236");
	check_demangled("camlO__$2b$2b_90", "O.++_90");
	check_demangled("camlO__entry", "O.entry");
	check_demangled("camlO__fun_187", "O.fun_187");
	check_demangled("camlDune__exe__Main.x'_3", "Dune.exe.Main.x'_3");
}

/* C functions whose names look like those of other languages. */
static void names_of_c_stay(void)
{
	static const char *const names[] = {"caml_alloc",
	                                    "caml_call_gc",
	                                    "caml__x_1",
	                                    "camlCase",
	                                    "camlCase_1",
	                                    "camlFoo__bar",
	                                    "camlfoo__bar_1",
	                                    "caml",
	                                    "camlF-o__b_1",
	                                    "_D",
	                                    "_Dx",
	                                    "_D1",
	                                    "_Data",
	                                    "_D2x",
	                                    "_D0a",
	                                    "_Dispatch_one",
	                                    "json__write_int",
	                                    "pkg__spin",
	                                    "g_object__ref",
	                                    "_ada_main",
	                                    "camlFoo$zz__b_1",
	                                    "camlFoo__"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_demangled(names[i], NULL);
}

static void check_ada(const char *mangled, const char *wanted)
{
	char *name = demangle_ada(mangled);

	CHECK_STR(name ? name : "as it is", wanted ? wanted : "as it is");
	free(name);
}

static void names_of_ada_are_demangled(void)
{
	check_ada("pkg__child__spin__2", "pkg.child.spin");
	check_ada("_ada_prog", "prog");
	check_ada("pkg__workerTB", "pkg.worker");
	check_ada("pkg__workerTKB", "pkg.worker");
	check_ada("ada__strings__unbounded__Oadd__2", "ada.strings.unbounded.\"+\"");
	check_ada("pkg__spin.cold", "pkg.spin.cold");
	check_ada("__gnat_malloc", NULL);
	check_ada("main", NULL);
	check_ada("Memcpy__x", NULL);
	check_ada("", NULL);
	CHECK(demangle_is_gnat("adainit") && demangle_is_gnat("__gnat_malloc"));
	CHECK(demangle_is_gnat("pkg___elabb"));
	CHECK(!demangle_is_gnat("main") && !demangle_is_gnat("___elabb"));
}

/* Types that refer to pairs of themselves, and names that can be read in two ways at each level. */
static void names_of_d_that_grow_exponentially_are_not_changed(void)
{
	struct buf doubling = {0}, nested = {0};

	buf_puts(&doubling, "_D1a1bFB");
	buf_puts(&doubling, "iiZ");
	for (int i = 0; i < 40; i++)
		buf_puts(&doubling, i ? "BQhQjZ" : "BQfQhZ");
	buf_puts(&doubling, "Zv");
	buf_puts(&nested, "_D1a1bF");
	for (int i = 0; i < 3000; i++)
		buf_puts(&nested, "S1aF");
	CHECK(demangle(buf_text(&doubling)) == NULL);
	CHECK(demangle(buf_text(&nested)) == NULL);
	buf_done(&doubling);
	buf_done(&nested);
}

/* f(A<int, int>, A<the one before, the one before>, ...): each doubles the name. */
static char *doubling_name(int times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024];
	size_t length = (size_t)snprintf(name, sizeof(name), "_Z1f1AIiiE");

	for (int i = 0; i < times; i++)
		length += (size_t)snprintf(name + length, sizeof(name) - length, "S_IS%c_S%c_E",
		                           digits[i], digits[i]);
	return demangle(name);
}

static void names_that_grow_exponentially_are_not_changed(void)
{
	char *name = doubling_name(3);

	CHECK(name && strstr(name, "A<A<A<A<int, int>") != NULL);
	free(name);
	name = doubling_name(30);
	CHECK(name == NULL);
	free(name);
}

int main(void)
{
	RUN(names_are_demangled);
	RUN(names_that_grow_exponentially_are_not_changed);
	RUN(names_of_d_are_demangled);
	RUN(names_of_d_that_grow_exponentially_are_not_changed);
	RUN(names_of_ocaml_are_demangled);
	RUN(names_of_c_stay);
	RUN(names_of_ada_are_demangled);
	return check_end();
}
