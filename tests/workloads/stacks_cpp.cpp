/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks_cpp: exceptions thrown through known frames, with destructors on the
 * way: time is spent in the throw, in the unwinder and in handlers.
 *
 * Usage: stacks_cpp [SECONDS [DEPTH]].
 */
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

static volatile uint64_t sink;

struct guard {
	uint64_t turns;
	~guard()
	{
		for (uint64_t i = 0; i < turns; i++)
			sink = sink * 3 + i;
	}
};

__attribute__((noinline)) void throws(unsigned depth)
{
	guard g{200};

	if (depth <= 1)
		throw std::runtime_error("bottom");
	throws(depth - 1);
	sink = sink + 1;
}

__attribute__((noinline)) void catches(unsigned depth)
{
	try {
		throws(depth);
	} catch (const std::runtime_error &) {
		guard g{2000};
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	unsigned depth = argc > 2 ? (unsigned)atoi(argv[2]) : 10;

	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		for (int i = 0; i < 20; i++)
			catches(depth);
	return 0;
}
