// SPDX-License-Identifier: GPL-2.0-or-later
//
// startup: what runs before main and after it, and around threads, in C++.
// Usage: startup CASE
//
//	statics   static objects, constructor and destructor functions, atexit
//	locals    static objects within functions, made at their first call
//	threads   thread_local objects of eight threads, made and unmade
#include "truth_threads.h"


static volatile unsigned long sink;

static void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

namespace life {
class Object {
public:
	explicit Object(unsigned n);
	~Object();
	unsigned number() const;

private:
	unsigned n;
};
} // namespace life

life::Object::Object(unsigned value) : n(value)
{
	CALLED();
	leaf(n);
}

life::Object::~Object()
{
	CALLED();
	leaf(n);
}

unsigned life::Object::number() const
{
	CALLED();
	return n;
}

static life::Object first(1), second(2);
static life::Object several[3] = {life::Object(3), life::Object(4), life::Object(5)};
static thread_local life::Object of_thread(6);

__attribute__((constructor)) static void before_main()
{
	CALLED();
	leaf(7);
}

__attribute__((constructor(102))) static void early()
{
	CALLED();
	leaf(8);
}

__attribute__((destructor)) static void after_main()
{
	CALLED();
	leaf(9);
}

__attribute__((destructor(102))) static void late()
{
	CALLED();
	leaf(10);
}

static void at_end()
{
	CALLED();
	leaf(11);
}

static void statics()
{
	CALLED();
	atexit(at_end);
	leaf(first.number() + second.number() + several[1].number());
}

static unsigned once(unsigned n)
{
	static life::Object object(n);

	CALLED();
	return object.number();
}

static void locals()
{
	CALLED();
	for (unsigned i = 0; i < 50; i++)
		leaf(once(i));
}

static void *body(void *)
{
	static thread_local life::Object inner(12);

	CALLED();
	leaf(of_thread.number() + inner.number());
	return nullptr;
}

static void threads()
{
	CALLED();
	truth_threads(body, 8);
	leaf(of_thread.number());
}

int main(int argc, char **argv)
{
	static const truth_case cases[] = {
	        {"statics", statics}, {"locals", locals}, {"threads", threads}, {nullptr, nullptr}};

	CALLED();
	truth_run(cases, argv[argc > 1]);
	return 0;
}
