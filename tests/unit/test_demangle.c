/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle: names of C++ and Rust as they are shown. */
#include "symbol/demangle.h"

#include "check.h"

#include <stdlib.h>

static void check_demangled(const char *mangled, const char *wanted)
{
	char *name = demangle(mangled);

	CHECK_STR(name, wanted);
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

static void a_name_that_explodes_is_left_alone(void)
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
	RUN(a_name_that_explodes_is_left_alone);
	return check_end();
}
