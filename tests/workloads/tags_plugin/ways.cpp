// SPDX-License-Identifier: GPL-2.0-or-later
// ways: functions of C++ with all ways in and out: exceptions, constructors and destructors
// with virtual bases, function-try-blocks, constant expressions, lambdas, coroutines.
#include <coroutine>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

struct root {
	int count = 0;
	virtual void step();
	virtual ~root();
};

struct base : virtual root {
	int b;
	base(int x);
	~base();
	void step() override;
};

struct derived : base {
	int d;
	derived() : base(3)
	{
		d = b;
	}
	~derived()
	{
		puts("~derived");
	}
	void step() override
	{
		if (++d == 5)
			throw d;
	}
};

void root::step()
{
	count++;
}
root::~root()
{
	puts("~root");
}
base::base(int x)
{
	b = x;
	if (x > 100)
		throw std::runtime_error("too big");
}
base::~base()
{
	puts("~base");
}
void base::step()
{
	b += 2;
}

template <class T> T twice(T t)
{
	return t + t;
}

constexpr int factorial(int n)
{
	int r = 1;
	for (int i = 2; i <= n; i++)
		r *= i;
	return r;
}
static_assert(factorial(5) == 120);
int of_size[factorial(3)];
static_assert(factorial(6) == 720); // once more, of the same function

struct literal {
	int v;
	constexpr literal(int x) : v(x)
	{
		v++;
	}
	constexpr int get() const
	{
		int q = v;
		return q;
	}
};
constexpr literal five(4);
static_assert(five.get() == 5);

consteval int at_once(int a)
{
	int b = a;
	return b * 2;
}

int throws_never(int a) noexcept
{
	return a == 3 ? 1 : twice(a);
}

static int make(int a)
{
	if (a)
		throw 1;
	return 7;
}

struct tries {
	int v;
	tries(int a)
	try : v(make(a)) {
		v++;
	} catch (int) {
		puts("caught while constructing");
		throw 2.0;
	}
};

static int initialised = twice(21);

namespace
{
struct hidden {
	int f(int a)
	{
		return a + initialised;
	}
};
int of_hidden(int x)
{
	return hidden{}.f(x);
}
} // namespace

struct sequence {
	struct promise_type {
		int value = 0;
		sequence get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			throw;
		}
	};
	std::coroutine_handle<promise_type> handle;
};

sequence count_to(int n)
{
	for (int i = 0; i < n; i++)
		co_yield twice(i);
}

// Thrown through 7 of them.
__attribute__((noinline)) int throws(int depth)
{
	if (depth == 0)
		throw std::runtime_error("deep");
	std::vector<int> v(depth);
	return throws(depth - 1) + (int)v.size();
}

typedef struct {
	int q;
	int method(int a)
	{
		return a + q;
	}
} unnamed;

static void objects()
{
	derived d;
	root *p = &d;
	for (int i = 0; i < 3; i++)
		try {
			p->step();
		} catch (int e) {
			printf("caught %d\n", e);
		}
	root *heap = new derived;
	delete heap;
	try {
		base b(200);
	} catch (std::exception &e) {
		puts(e.what());
	}
	try {
		tries t(1);
	} catch (double) {
		puts("a double");
	}
	printf("%d\n", tries(0).v);
}

static void functions()
{
	auto one = [&](int a) { return puts("one"), a + 1; };
	auto two = [](int a) { return puts("two"), a + 2; };
	std::function<int(int)> f = one;
	{
		auto one = [](int a) { return puts("another one"), a + 7; };
		one(3);
	}
	printf("%d %d\n", f(2), two(3));
	struct local {
		int f()
		{
			return puts("local");
		}
	};
	local().f();
	{
		struct local {
			int f()
			{
				return puts("another local");
			}
		};
		local().f();
	}
}

int main()
{
	objects();
	functions();
	printf("%d %d %d %d\n", throws_never(5), of_hidden(3), factorial(initialised > 0 ? 4 : 3),
	       at_once(3));
	sequence s = count_to(3);
	for (s.handle.resume(); !s.handle.done(); s.handle.resume())
		printf("yields %d\n", s.handle.promise().value);
	s.handle.destroy();
	try {
		throws(6);
	} catch (std::exception &) {
		puts("caught");
	}
	unnamed u{3};
	printf("%d\n", u.method(3));
	return 0;
}
