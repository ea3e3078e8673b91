// SPDX-License-Identifier: GPL-2.0-or-later
//
// exceptions: calls that end by throwing, in C++. Usage: exceptions CASE
//
//	across       thrown across 1, 5 and 50 frames, with and without cleanups, in loops
//	same         caught in the function that throws
//	rethrow      caught and thrown on, also by another type
//	destructors  that call functions, throw and catch, while frames are unwound
//	construction thrown by a member's constructor
//	levels       caught at each seventh level of a recursion that goes on below
//	threads      all of it in four threads
//
// No functions of the standard library's headers: these would be instrumented too.
#include "truth_threads.h"


static volatile unsigned long sink;

struct Oops {
	unsigned depth;
};

struct Other {
	unsigned depth;
};

namespace frame {
struct Guard {
	unsigned n;
	explicit Guard(unsigned n);
	~Guard();
};
} // namespace frame

static void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

frame::Guard::Guard(unsigned value) : n(value)
{
	CALLED();
}

frame::Guard::~Guard()
{
	CALLED();
	leaf(n);
}

static APART void dive(unsigned depth)
{
	frame::Guard guard(depth);

	CALLED();
	if (depth == 0)
		throw Oops{depth};
	dive(depth - 1);
	sink++;
}

static APART void bare_dive(unsigned depth)
{
	CALLED();
	if (depth == 0)
		throw Oops{depth};
	bare_dive(depth - 1);
	sink++;
}

static APART void after(unsigned n)
{
	CALLED();
	PATH("...;attempt;after");
	leaf(n);
}

static APART void attempt(void (*function)(unsigned), unsigned depth)
{
	CALLED();
	try {
		function(depth);
	} catch (const Oops &oops) {
		after(oops.depth);
	}
	after(depth);
}

static void across()
{
	static const unsigned depths[] = {0, 1, 5, 50};

	CALLED();
	for (unsigned i = 0; i < 200; i++)
		for (unsigned depth : depths) {
			attempt(dive, depth);
			attempt(bare_dive, depth);
		}
	leaf(0);
}

static void same()
{
	CALLED();
	for (unsigned i = 0; i < 500; i++) {
		try {
			leaf(i);
			if (i % 3)
				throw Oops{i};
			leaf(i);
		} catch (const Oops &oops) {
			leaf(oops.depth);
		}
	}
}

static APART void pass_on(unsigned depth)
{
	CALLED();
	if (depth == 0)
		throw Oops{depth};
	try {
		pass_on(depth - 1);
	} catch (const Oops &) {
		leaf(depth);
		if (depth & 1)
			throw;
		throw Oops{depth};
	}
}

static APART void turned(unsigned depth)
{
	CALLED();
	try {
		pass_on(depth);
	} catch (const Oops &oops) {
		throw Other{oops.depth};
	}
}

static void rethrow()
{
	CALLED();
	for (unsigned i = 0; i < 200; i++) {
		attempt(pass_on, i % 12);
		try {
			turned(i % 7);
		} catch (const Other &other) {
			leaf(other.depth);
		}
	}
}

namespace frame {
struct Catcher {
	explicit Catcher(unsigned n);
	~Catcher();
	unsigned n;
};
} // namespace frame

frame::Catcher::Catcher(unsigned value) : n(value)
{
	CALLED();
}

frame::Catcher::~Catcher()
{
	CALLED();
	attempt(bare_dive, n);
	leaf(n);
}

static APART void with_catchers(unsigned depth)
{
	frame::Catcher outer(depth % 5);
	frame::Guard middle(depth);
	frame::Catcher inner(depth % 3);

	CALLED();
	if (depth == 0)
		throw Oops{depth};
	with_catchers(depth - 1);
	sink++;
}

static void destructors()
{
	CALLED();
	for (unsigned i = 0; i < 60; i++)
		attempt(with_catchers, i % 9);
}

namespace parts {
struct Part {
	explicit Part(unsigned n);
	~Part();
};

struct Whole {
	frame::Guard first;
	Part second;
	Part third;
	explicit Whole(unsigned n);
	~Whole();
};

struct Base {
	Base();
	virtual ~Base();
	virtual void act(unsigned n);
};

struct Derived : Base {
	Derived();
	~Derived() override;
	void act(unsigned n) override;
};
} // namespace parts

parts::Part::Part(unsigned n)
{
	CALLED();
	if (n % 4 == 3)
		throw Oops{n};
}

parts::Part::~Part()
{
	CALLED();
}

/* It may end in its members' constructors: it counts before them. */
parts::Whole::Whole(unsigned n)
	: first(({
		  CALLED();
		  n;
	  })),
	  second(n), third(n + 1)
{
	sink++;
}

parts::Whole::~Whole()
{
	CALLED();
}

parts::Base::Base()
{
	CALLED();
}

parts::Base::~Base()
{
	CALLED();
}

void parts::Base::act(unsigned n)
{
	CALLED();
	if (n & 1)
		throw Oops{n};
}

parts::Derived::Derived()
{
	CALLED();
}

parts::Derived::~Derived()
{
	CALLED();
}

void parts::Derived::act(unsigned n)
{
	CALLED();
	Base::act(n + 1);
	leaf(n);
}

static APART void make(unsigned n)
{
	CALLED();
	parts::Whole whole(n);
	parts::Derived derived;
	parts::Base *base = &derived;

	base->act(n);
}

static void construction()
{
	CALLED();
	for (unsigned i = 0; i < 400; i++)
		attempt(make, i);
}

static APART void level(unsigned depth)
{
	CALLED();
	leaf(depth);
	if (depth == 0)
		throw Oops{0};
	if (depth % 7) {
		level(depth - 1);
		return;
	}
	try {
		level(depth - 1);
	} catch (const Oops &) {
		leaf(depth);
		if (depth > 30)
			level(depth - 20);
		throw;
	}
}

static void levels()
{
	CALLED();
	for (unsigned i = 0; i < 50; i++)
		attempt(level, i);
}

static void *body(void *)
{
	CALLED();
	across();
	same();
	rethrow();
	destructors();
	construction();
	levels();
	return nullptr;
}

static void threads()
{
	CALLED();
	truth_threads(body, 4);
}

int main(int argc, char **argv)
{
	static const truth_case cases[] = {
	        {"across", across},
	        {"same", same},
	        {"rethrow", rethrow},
	        {"destructors", destructors},
	        {"construction", construction},
	        {"levels", levels},
	        {"threads", threads},
	        {nullptr, nullptr},
	};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
