/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_libraries_cpp: exceptions through library functions that are followed. The
 * library functions that are counted are those named in L() or LIBRARY(); the
 * compiler's own (operator new, __cxa_begin_catch) are not counted. A wrong result ends the
 * program with status 3. Usage: calls_libraries_cpp CASE
 *
 *	outer     thrown in a callback of qsort, caught by qsort's caller
 *	direct    the same, caught by the function that called qsort itself
 *	inner     thrown and caught within the callback
 *	levels    through three levels of callbacks, with destructors on the way
 *	thrown    thrown by the library itself: std::stoi, std::string::at
 *	once      out of std::call_once, which runs a callback by pthread_once
 *	threads   outer and levels, in four threads
 *	streams   a manipulator's address is given to the library that has it
 */
#include "calls/truth.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define LIBRARY(name) TRUTH_COUNT("calls", name, 1)
#define L(function, ...)                                                                           \
	({                                                                                         \
		LIBRARY(#function);                                                                \
		function(__VA_ARGS__);                                                             \
	})

UNSEEN static void need(bool condition)
{
	if (!condition)
		_exit(3);
}

static APART int throw_it(const void *, const void *)
{
	CALLED_AS("throw_it");
	LIBRARY("__cxa_throw");
	throw std::runtime_error("thrown");
}

static APART void sort_with(int (*callback)(const void *, const void *))
{
	char two[2] = {2, 1};

	CALLED_AS("sort_with");
	L(qsort, two, 2, 1, callback);
}

static APART void outer()
{
	int caught = 0;

	CALLED_AS("outer");
	for (int i = 0; i < 1000; i++) {
		try {
			sort_with(throw_it);
		} catch (const std::exception &e) {
			caught += L(strspn, e.what(), "thrown") == 6;
		}
	}
	need(caught == 1000);
}

static thread_local int destroyed;

struct guard {
	UNSEEN guard()
	{
	}
	UNSEEN ~guard()
	{
		destroyed++;
	}
};

static APART void direct()
{
	char two[2] = {2, 1};
	int caught = 0;

	CALLED_AS("direct");
	for (int i = 0; i < 1000; i++) {
		guard g;

		try {
			L(qsort, two, 2, 1, throw_it);
		} catch (const std::exception &e) {
			caught += L(strspn, e.what(), "thrown") == 6;
		}
	}
	need(caught == 1000);
}

static APART int catch_it(const void *a, const void *b)
{
	CALLED_AS("catch_it");
	try {
		throw_it(a, b);
	} catch (const std::exception &e) {
		return L(strspn, e.what(), "thrown") == 6;
	}
	return 0;
}

static APART void inner()
{
	char two[2];

	CALLED_AS("inner");
	for (int i = 0; i < 1000; i++) {
		two[0] = 2;
		two[1] = 1;
		L(qsort, two, 2, 1, catch_it);
		need(two[0] == 1);
	}
}

static APART int level_two(const void *, const void *)
{
	guard g;

	CALLED_AS("level_two");
	sort_with(throw_it);
	return 0;
}

static APART int level_one(const void *, const void *)
{
	guard g;

	CALLED_AS("level_one");
	try {
		sort_with(level_two);
	} catch (int) {
		need(false);
	}
	return 0;
}

static APART void levels()
{
	CALLED_AS("levels");
	destroyed = 0;
	for (int i = 0; i < 200; i++) {
		try {
			sort_with(level_one);
			need(false);
		} catch (const std::runtime_error &) {
			need(L(strspn, "caught", "acught") == 6);
		}
	}
	need(destroyed == 400);
}

static APART void thrown()
{
	volatile int caught = 0;
	std::string text = "abc";

	CALLED_AS("thrown");
	for (int i = 0; i < 100; i++) {
		try {
			caught += std::stoi("x");
		} catch (const std::invalid_argument &) {
			caught = caught + 1;
		}
		try {
			caught += text.at(7 + i);
		} catch (const std::out_of_range &) {
			caught = caught + L(strspn, "1", "1");
		}
	}
	need(caught == 200);
}

static int runs;

static APART void run_once()
{
	CALLED_AS("run_once");
	if (++runs < 4)
		throw 7;
}

static APART void once()
{
	std::once_flag flag;
	int caught = 0;

	CALLED_AS("once");
	for (int i = 0; i < 5; i++) {
		try {
			std::call_once(flag, run_once);
		} catch (int seven) {
			caught += seven;
		}
	}
	need(caught == 21 && runs == 4);
}

static APART void in_thread()
{
	CALLED_AS("in_thread");
	outer();
	levels();
}

static APART void in_threads()
{
	std::vector<std::thread> threads;

	CALLED_AS("in_threads");
	for (int i = 0; i < 4; i++)
		threads.emplace_back(in_thread);
	for (auto &t : threads)
		t.join();
}

static APART void streams()
{
	std::ostringstream out;

	CALLED_AS("streams");
	for (int i = 0; i < 10; i++)
		out << i << ' ' << 0.5 << std::endl;
	need(L(strcspn, out.str().c_str(), "x") == 60);
}

static const struct truth_case cases[] = {
        {"outer", outer},        {"direct", direct},   {"inner", inner},
        {"levels", levels},      {"thrown", thrown},   {"once", once},
        {"threads", in_threads}, {"streams", streams}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	CALLED();
	truth_run(cases, argc > 1 ? argv[1] : NULL);
	return 0;
}
