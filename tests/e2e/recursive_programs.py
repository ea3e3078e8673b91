# SPDX-License-Identifier: GPL-2.0-or-later
"""recursive_programs: C programs of functions that call themselves and each other.

write_program(seed) gives the text of one: a choice of textbook recursions (TEXTBOOK) and a
group of random functions, which a compiler may inline into each other and into themselves.
The same seed gives the same text. Every program ends: a depth falls with each call, and a
fuel that all functions share limits how many calls there are.
"""

import random

HEAD = """
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
#define FORCED static inline __attribute__((always_inline))
/* The shadow's number of open calls, see shadow.c. */
int shadow_depth;
volatile long sink;
static int fuel;
struct wide { long a, b, c, d; };
"""

TEXTBOOK = {
    "fib": ("""
static int fib_leaf(int n) { return n; }
int fib(int n) { return n < 2 ? fib_leaf(n) : fib(n - 1) + fib(n - 2); }
""", "fib(13)"),
    "ackermann": ("""
static int ack(int m, int n)
{ return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
""", "ack(2, 6)"),
    "tak": ("""
static int tak(int x, int y, int z)
{ return y >= x ? z : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)); }
""", "tak(8, 5, 2)"),
    "hanoi": ("""
static void move(int from, int to) { sink += from * 3 + to; }
static void hanoi(int n, int a, int b, int c)
{ if (!n) return; hanoi(n - 1, a, c, b); move(a, c); hanoi(n - 1, b, a, c); }
""", "(hanoi(8, 1, 2, 3), 0)"),
    "hofstadter": ("""
static int male(int n);
static int female(int n) { return n ? n - male(female(n - 1)) : 1; }
static int male(int n) { return n ? n - female(male(n - 1)) : 0; }
static int hof_q(int n) { return n < 3 ? 1 : hof_q(n - hof_q(n - 1)) + hof_q(n - hof_q(n - 2)); }
""", "male(14) + hof_q(9)"),
    "parity": ("""
static int odd(unsigned n);
static int even(unsigned n) { return n ? odd(n - 1) : 1; }
static int odd(unsigned n) { return n ? even(n - 1) : 0; }
""", "even(40) + odd(33)"),
    "tree": ("""
struct tree { struct tree *left, *right; int key; };
static struct tree trees[200]; static int trees_used;
static struct tree *tree_put(struct tree *t, int key)
{ if (!t) { t = &trees[trees_used++]; t->key = key; return t; }
  if (key < t->key) t->left = tree_put(t->left, key); else t->right = tree_put(t->right, key);
  return t; }
static int tree_depth(const struct tree *t)
{ int l, r; if (!t) return 0; l = tree_depth(t->left); r = tree_depth(t->right);
  return 1 + (l > r ? l : r); }
static void tree_walk(const struct tree *t, void (*visit)(int))
{ if (t) { tree_walk(t->left, visit); visit(t->key); tree_walk(t->right, visit); } }
static void tree_visit(int key) { sink += key; }
static int tree_all(void)
{ struct tree *t = 0; trees_used = 0; memset(trees, 0, sizeof(trees));
  for (int i = 0; i < 60; i++) t = tree_put(t, i * 37 % 101);
  tree_walk(t, tree_visit); return tree_depth(t); }
""", "tree_all()"),
    "quicksort": ("""
static void exchange(int *a, int *b) { int c = *a; *a = *b; *b = c; }
static int cut(int *v, int low, int high)
{ int pivot = v[high], at = low;
  for (int i = low; i < high; i++) if (v[i] < pivot) exchange(&v[i], &v[at++]);
  exchange(&v[at], &v[high]); return at; }
static void quicksort(int *v, int low, int high)
{ if (low < high) { int at = cut(v, low, high);
  quicksort(v, low, at - 1); quicksort(v, at + 1, high); } }
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int sort_all(void)
{ int v[64]; for (int i = 0; i < 64; i++) v[i] = i * 29 % 67;
  quicksort(v, 0, 63); qsort(v, 64, sizeof(*v), by_value); return v[7]; }
""", "sort_all()"),
    "queens": ("""
static int safe(const int *rows, int n)
{ for (int i = 0; i < n; i++)
    if (rows[i] == rows[n] || abs(rows[i] - rows[n]) == n - i) return 0;
  return 1; }
static int place(int *rows, int n, int size)
{ int found = 0; if (n == size) return 1;
  for (rows[n] = 0; rows[n] < size; rows[n]++) if (safe(rows, n)) found += place(rows, n + 1, size);
  return found; }
""", "place((int[8]){0}, 0, 5)"),
    "permute": ("""
static void swap_at(char *s, int a, int b) { char c = s[a]; s[a] = s[b]; s[b] = c; }
static void permute(char *s, int at, int n)
{ if (at == n) { sink += s[0]; return; }
  for (int i = at; i < n; i++) { swap_at(s, at, i); permute(s, at + 1, n); swap_at(s, at, i); } }
""", "(permute((char[]){1, 2, 3, 4, 5}, 0, 5), 0)"),
    "gcd_power": ("""
static long gcd(long a, long b) { return b ? gcd(b, a % b) : a; }
static long power(long x, int n)
{ long h; if (!n) return 1; h = power(x, n / 2); return n & 1 ? h * h * x : h * h; }
static int collatz(long n) { return n == 1 ? 0 : 1 + (n & 1 ? collatz(3 * n + 1) : collatz(n / 2)); }
""", "(int)gcd(46368, 28657) + (int)power(3, 13) + collatz(27)"),
    "matrix": ("""
static struct wide times(struct wide x, struct wide y)
{ return (struct wide){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d,
                       x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d}; }
static struct wide raised(struct wide x, int n)
{ return n == 1 ? x : n & 1 ? times(raised(x, n - 1), x) : times(raised(x, n / 2), raised(x, n - n / 2)); }
""", "(int)raised((struct wide){1, 1, 1, 0}, 23).b"),
    "varargs": ("""
static long var_sum(int depth, int n, ...)
{ long sum = 0; va_list l; va_start(l, n);
  for (int i = 0; i < n; i++) sum += va_arg(l, long);
  va_end(l); return depth ? sum + var_sum(depth - 1, 9, sum, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L) : sum; }
""", "(int)var_sum(9, 2, 1L, 2L)"),
    "escape": ("""
static jmp_buf escape_to;
static NOINLINE void escape_down(int n) { if (!n) longjmp(escape_to, 1); escape_down(n - 1); sink++; }
static int escape_try(int n)
{ int depth = shadow_depth, after = 0;
  if (!setjmp(escape_to)) escape_down(n); else { shadow_depth = depth; sink += n; }
  return after; }
static int escape_all(int n)
{ int x = n ? escape_all(n - 1) : 0; x += escape_try(n); x += escape_try(n + 2); return x; }
""", "escape_all(6)"),
}


class Group:
    """Random functions that call each other, by depth."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.kinds = [rng.choice(["plain", "plain", "plain", "many", "wide", "var", "pointer"])
                      for _ in range(rng.randint(5, 10))]

    def function(self, i):
        return f"{self.name}_{i}"

    def head(self, i):
        kind, name = self.kinds[i], self.function(i)
        return {"plain": f"long {name}(int d, long x)",
                "pointer": f"long {name}(int d, long x)",
                "many": f"long {name}(int d, long x, long a, long b, long c, long e, long f, long g, long h)",
                "wide": f"struct wide {name}(int d, struct wide w)",
                "var": f"long {name}(int d, long x, ...)"}[kind]

    def value(self):
        return self.rng.choice(["x", "x + 1", "x ^ d", "(x >> 1)", "x * 3", "d", "y"])

    def call(self, nested=2):
        """A call as an expression of type long."""
        rng, i = self.rng, self.rng.randrange(len(self.kinds))
        x = self.call(nested - 1) if nested and rng.random() < 0.3 else self.value()
        d = rng.choice(["d - 1", "d - 1", "d - 2"])
        name = self.function(i)
        if self.kinds[i] == "many":
            rest = ", ".join(self.value() for _ in range(7))
            return f"{name}({d}, {x}, {rest})"
        if self.kinds[i] == "wide":
            return f"{name}({d}, (struct wide){{{x}, d, x, 4}}).{rng.choice('abcd')}"
        if self.kinds[i] == "var":
            return f"{name}({d}, {x}, 1L, 2L, 3L, 4L, 5L, {self.value()} + 0L, 7L)"
        if self.kinds[i] == "pointer":
            return f"{self.name}_table[({self.value()}) & 3]({d}, {x})"
        return f"{name}({d}, {x})"

    def statement(self):
        return self.rng.choice([
            lambda: f"y += {self.call()};",
            lambda: f"y ^= {self.call()} + {self.call()};",
            lambda: f"if (x & {self.rng.choice([1, 2, 4])}) y += {self.call()};",
            lambda: f"if (y > x) y -= {self.call()}; else y += {self.name}_help(d, {self.value()});",
            lambda: f"for (int i = 0; i < {self.rng.randint(2, 3)}; i++) y += {self.call(1)};",
            lambda: f"y += {self.name}_help(d, {self.value()}) + {self.name}_forced(d, {self.value()});",
            lambda: f"{{ char *m = alloca(16 + (d & 3) * 16); m[0] = (char)y; y += {self.call(1)} + m[0]; }}",
            lambda: f"{{ char m[9 + (d & 7)]; m[0] = (char)x; y += {self.call(1)} + m[0]; }}",
            lambda: f"y += {self.call(1)}; y += {self.name}_help(d, y); y += {self.call(1)};",
            lambda: f"switch (x & 3) {{ case 0: y += {self.call(1)}; break; case 1: y ^= 5; break; "
                    f"default: y += {self.call(1)}; }}",
        ])()

    def body(self, i):
        wide = self.kinds[i] == "wide"
        result = "(struct wide){y, d, x, 1}" if wide else "y"
        lines = ["long x = w.a, y = d;" if wide else "long y = d;"]
        if self.kinds[i] == "var":
            lines.append("va_list l; va_start(l, x); y += va_arg(l, long); va_end(l);")
        if self.kinds[i] == "many":
            lines.append("y += a ^ b ^ c ^ e ^ f ^ g ^ h;")
        lines.append(f"if (d <= 0 || --fuel < 0) return {result};")
        lines += [self.statement() for _ in range(self.rng.randint(1, 3))]
        if not wide and self.rng.random() < 0.3:
            result = self.call(1)
        return "\n\t".join(lines + [f"return {result};"])

    def text(self):
        """Declarations, helpers, functions."""
        rng, name = self.rng, self.name
        storage = [rng.choice(["static ", "static ", "static inline ", "", "static NOINLINE "])
                   for _ in self.kinds]
        plain = [self.function(i) for i, kind in enumerate(self.kinds)
                 if kind in ("plain", "pointer")] or [f"{name}_help"]
        table = ", ".join(rng.choice(plain) for _ in range(4))
        return "\n".join(
            [f"{s}{self.head(i)};" for i, s in enumerate(storage)]
            + [f"static long {name}_leaf(long x) {{ return x * 5 + 1; }}",
               f"static long {name}_help(int d, long x) "
               f"{{ return d & 1 ? {name}_leaf(x) : {name}_leaf(x + 1) ^ d; }}",
               f"FORCED long {name}_forced(int d, long x) {{ return {name}_help(d, x) - {name}_leaf(d); }}",
               f"static long (*volatile {name}_table[4])(int, long) = {{{table}}};"]
            + [f"{s}{self.head(i)}\n{{\n\t{self.body(i)}\n}}" for i, s in enumerate(storage)])

    def run(self):
        """Calls some of them from outside."""
        self_calls = [f"({{ int d = {self.rng.randint(5, 8)}; long x = {self.rng.randint(1, 9)}, "
                      f"y = 3; fuel = {self.rng.choice([300, 1000, 3000])}; {self.call(0)}; }})"
                      for _ in range(2)]
        return " + ".join(self_calls)


def write_program(seed, textbook=3):
    """The text of a program: this number of textbook recursions, or those named, and a random
    group."""
    rng = random.Random(seed)
    names = rng.sample(sorted(TEXTBOOK), textbook) if isinstance(textbook, int) else textbook
    group = Group(rng, "r")
    parts = [HEAD] + [TEXTBOOK[name][0] for name in names] + [group.text()]
    runs = [TEXTBOOK[name][1] for name in names] + [group.run()]
    calls = "".join(f"\tsink += {run};\n" for run in runs)
    return "\n".join(parts) + f"\nint main(void)\n{{\n{calls}\treturn 0;\n}}\n"
