/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that a filter selects: those of this program, found by its symbols; plain C++ names
 * as c++filt writes them.
 */
#include "calls/port.h"
#include "linux/code/filter.h"
#include "linux/code/images.h"
#include "linux/code/symbols.h"

#include "check.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The core's part of the port. */
static size_t memory_left;

void *port_memory(size_t bytes)
{
	void *at = MAP_FAILED;

	if (bytes <= memory_left)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

int alpha_one(void);
int alpha_two(void);
int beta_one(void);
int mangled(void) __asm__("_ZN5first6secondIiE6methodEv") __attribute__((noinline));
int cloned(void) __asm__("gamma_one.part.0") __attribute__((noinline));
int alias(void) __attribute__((alias("beta_one")));

__attribute__((noinline)) int alpha_one(void)
{
	return 1;
}

__attribute__((noinline)) int alpha_two(void)
{
	return 2;
}

__attribute__((noinline)) int beta_one(void)
{
	return 3;
}

int mangled(void)
{
	return 4;
}

int cloned(void)
{
	return 5;
}

static int added;

static int add(const struct assay_calls_image *image)
{
	return added++;
}

static bool wants(int (*function)(void))
{
	uint64_t address = (uint64_t)(uintptr_t)function;

	return filter_wants(address, images_find(address));
}

/* One letter for each function that is wanted: a, A (two), b, m, c. */
static const char *wanted(const char *patterns)
{
	static char letters[8];
	int used = 0;

	filter_begin(patterns);
	for (int twice = 0; twice < 2; twice++) {
		used = 0;
		if (wants(alpha_one))
			letters[used++] = 'a';
		if (wants(alpha_two))
			letters[used++] = 'A';
		if (wants(beta_one))
			letters[used++] = 'b';
		if (wants(mangled))
			letters[used++] = 'm';
		if (wants(cloned))
			letters[used++] = 'c';
		letters[used] = 0;
	}
	return letters;
}

static void globs_match_as_the_shells(void)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
	        {"", "", true},
	        {"", "a", false},
	        {"*", "", true},
	        {"*", "abc", true},
	        {"a*c", "abc", true},
	        {"a*c", "ac", true},
	        {"a*c", "acb", false},
	        {"*b*", "abc", true},
	        {"a?c", "abc", true},
	        {"a?c", "ac", false},
	        {"?", "", false},
	        {"[a-c]x", "bx", true},
	        {"[a-c]x", "dx", false},
	        {"[!a-c]x", "dx", true},
	        {"[^a-c]x", "ax", false},
	        {"[]]", "]", true},
	        {"[a-]", "-", true},
	        {"[-a]", "-", true},
	        {"[", "[", true},
	        {"[ab", "[ab", true},
	        {"\\*", "*", true},
	        {"\\*", "a", false},
	        {"a\\", "a\\", true},
	        {"*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	         false},
	        {"ns::*::m*", "ns::Class::method", true},
	        {"abc", "abcd", false},
	        {"abcd", "abc", false},
	        {"**", "x", true},
	        {"*.so*", "libx.so.6", true},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (filter_glob(cases[i].pattern, cases[i].text) != cases[i].matches)
			printf("# \"%s\" and \"%s\"\n", cases[i].pattern, cases[i].text);
		CHECK_EQ(filter_glob(cases[i].pattern, cases[i].text), cases[i].matches);
	}
}

static void no_patterns_want_everything(void)
{
	const char *none[] = {NULL, "", ",", " , ", "!"};

	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++) {
		CHECK_STR(wanted(none[i]), "aAbmc");
		CHECK(!filter_is_set());
	}
	CHECK_STR(wanted("x"), "");
	CHECK(filter_is_set());
}

static void the_last_that_matches_decides(void)
{
	CHECK_STR(wanted("alpha_*"), "aA");
	CHECK_STR(wanted(" alpha_one , beta_one "), "ab");
	CHECK_STR(wanted("alpha_*,!*_two"), "a");
	CHECK_STR(wanted("!*_two,alpha_*"), "aA");
	CHECK_STR(wanted("!*_one"), "Am");
	CHECK_STR(wanted("!*_one,!alpha_two"), "m");
	CHECK_STR(wanted("!*,alpha_two"), "A");
	CHECK_STR(wanted("*,!*,alpha_two,!alpha_?wo,beta*"), "b");
}

static void each_name_of_a_function_counts(void)
{
	CHECK_STR(wanted("alias"), "b");
	CHECK_STR(wanted("beta_one,!alias"), "");
	CHECK_STR(wanted("!beta_one,alias"), "b");
	CHECK_STR(wanted("_ZN5first*"), "m");
	CHECK_STR(wanted("first::second::*"), "m");
	CHECK_STR(wanted("second::*"), "");
	CHECK_STR(wanted("gamma_one"), "c");
	CHECK_STR(wanted("gamma_one.part.0"), "c");
}

static void images_are_named_by_path_or_last_part(void)
{
	char exe[4096] = {0}, patterns[4200];
	const char *name;

	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	name = strrchr(exe, '/') + 1;
	CHECK_STR(wanted(name), "aAbmc");
	CHECK_STR(wanted(exe), "aAbmc");
	CHECK_STR(wanted("libc.so*"), "");
	snprintf(patterns, sizeof(patterns), "%s,!alpha_*", name);
	CHECK_STR(wanted(patterns), "bmc");
	snprintf(patterns, sizeof(patterns), "alpha_*,!%s", exe);
	CHECK_STR(wanted(patterns), "");
	snprintf(patterns, sizeof(patterns), "!%s", name);
	CHECK_STR(wanted(patterns), "");
	CHECK(filter_wants(4096, -1)); /* of no image, so it has no name */
	filter_begin(exe);
	CHECK(!filter_wants(4096, -1));
}

/* Thousands of symbols match; when memory is exhausted, the answers are the same. */
static void memory_makes_no_difference(void)
{
	const char *patterns = "*,!alpha_two,!gamma*";

	memory_left = 0;
	CHECK_STR(wanted(patterns), "abm");
	memory_left = 1 << 15;
	CHECK_STR(wanted(patterns), "abm");
	memory_left = 1 << 30;
	CHECK_STR(wanted(patterns), "abm");
}

static void *ask_on(void *unused)
{
	uint64_t address = (uint64_t)(uintptr_t)printf;
	long wrong = 0;

	for (int i = 0; i < 100; i++) {
		wrong += !wants(alpha_one) + wants(alpha_two) + !wants(mangled);
		wrong += !filter_wants(address, images_find(address));
	}
	return (void *)wrong;
}

static void threads_agree(void)
{
	for (int round = 0; round < 20; round++) {
		pthread_t threads[4];

		filter_begin("*,!alpha_two,*printf");
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, ask_on, NULL);
		for (int i = 0; i < 4; i++) {
			void *wrong;

			pthread_join(threads[i], &wrong);
			CHECK_EQ((long)wrong, 0);
		}
	}
}

static void errno_of_the_program_is_unchanged(void)
{
	errno = 4711;
	filter_begin("alpha_one");
	wants(alpha_one);
	CHECK_EQ(errno, 4711);
}

static void names_are_made_plain(void)
{
	static const char *const names[][2] = {
	        {"_Z3fooi", "foo"},
	        {"_ZL3foov", "foo"},
	        {"_ZN2ns5Class6methodEv", "ns::Class::method"},
	        {"_ZNK2ns5Class6methodEv", "ns::Class::method"},
	        {"_ZN5ClassC1Ev", "Class::Class"},
	        {"_ZN5ClassC2Ei", "Class::Class"},
	        {"_ZN5ClassD0Ev", "Class::~Class"},
	        {"_ZN1AIiLi5EE1fIN1B1CEEEvv", "A::f"},
	        {"_ZN1AIJ2EFEEC2Ev", "A::A"},
	        {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
	        {"_ZSt4sortIPiEvT_S1_", "std::sort"},
	        {"_ZN1AplERKS_", "A::operator+"},
	        {"_ZlsRSo1A", "operator<<"},
	        {"_ZN1AnwEm", "A::operator new"},
	        {"_ZdaPv", "operator delete[]"},
	        {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"},
	        {"_ZN1A1fB5cxx11Ev", "A::f"},
	};
	static const char *const others[] = {
	        "",
	        "_Z",
	        "foo",
	        "_ZTV1A",
	        "_ZGVZ3foovE1x",
	        "_ZZ3foovENKUlvE_clEv",
	        "_ZN",
	        "_ZN1",
	        "_ZN9AE",
	        "_Z99999999999999999999a",
	        "_ZNE",
	        "_ZN1AI",
	        "_ZN1AIX",
	        "_ZNC1Ev",
	};
	char plain[64];

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		CHECK(symbols_plain(names[i][0], strlen(names[i][0]), plain, sizeof(plain)));
		CHECK_STR(plain, names[i][1]);
		/* The buffer is too small: there is no name, and nothing is written beyond it. */
		for (size_t room = 0; room <= strlen(names[i][1]); room++) {
			memset(plain, '#', sizeof(plain));
			CHECK(!symbols_plain(names[i][0], strlen(names[i][0]), plain, room));
			CHECK_EQ(plain[room], '#');
		}
	}
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK(!symbols_plain(others[i], strlen(others[i]), plain, sizeof(plain)));
}

int main(void)
{
	memory_left = 1 << 30;
	images_begin(add, NULL, NULL);
	RUN(globs_match_as_the_shells);
	RUN(no_patterns_want_everything);
	RUN(the_last_that_matches_decides);
	RUN(each_name_of_a_function_counts);
	RUN(images_are_named_by_path_or_last_part);
	RUN(memory_makes_no_difference);
	RUN(threads_agree);
	RUN(errno_of_the_program_is_unchanged);
	RUN(names_are_made_plain);
	return check_end();
}
