# SPDX-License-Identifier: GPL-2.0-or-later
"""known_stacks: programs whose call structure is known, generated, and a judge of their stacks.

A function's name has the name of its caller: f_ab_cd is called by f_ab alone, which main calls.
Names that begin with t are the first functions of threads, those with c of coroutines. A frame has
its true name by its place in the file and the symbol table that the linker wrote, so stripped
programs are judged, too.

    for form in forms(count, seed):      # the same for each seed
        program = build(form, directory)
        verdict = judge(program, rows)   # of QUERY, by `assay sql`
"""
import bisect
import collections
import json
import os
import pathlib
import random
import re
import string

from harness import go_environment, run

LINKERS = ("bfd", "gold", "lld", "mold")
COMPILERS = ("gcc", "clang", "rustc", "go")

# How the program is linked: names of the option, words for the linker, linkers without it.
MODES = {
    "pie": ["-fPIE", "-pie"],
    "no-pie": ["-fno-pie", "-no-pie"],
    "static-pie": ["-fPIE", "-static-pie"],
    "static": ["-fno-pie", "-no-pie", "-static"],
}
LINK_OPTIONS = {
    "now": (["-Wl,-z,now"], ()),
    "lazy": (["-Wl,-z,lazy"], ()),
    "rosegment": (["-Wl,--rosegment"], ("bfd", "mold")),
    "no-rosegment": (["-Wl,--no-rosegment"], ("bfd", "gold", "mold")),
    "separate-code": (["-Wl,-z,separate-code"], ("gold",)),
    "noseparate-code": (["-Wl,-z,noseparate-code"], ("gold",)),
    "relr": (["-Wl,-z,pack-relative-relocs"], ("gold", "lld")),
    "pack-relr": (["-Wl,--pack-dyn-relocs=relr"], ("bfd", "gold", "lld")),
    "gc-sections": (["-ffunction-sections", "-Wl,--gc-sections"], ()),
    "no-build-id": (["-Wl,--build-id=none"], ()),
    "no-eh-frame-hdr": (["-Wl,--no-eh-frame-hdr"], ("gold", "mold")),
}
CODE_OPTIONS = {
    "O0": ["-O0"], "O1": ["-O1"], "O2": ["-O2"], "O3": ["-O3"], "Os": ["-Os"],
}
MORE_CODE = {
    "endbr": ["-fcf-protection=full"],
    "no-endbr": ["-fcf-protection=none"],
    "no-plt": ["-fno-plt"],
    "frame-pointers": ["-fno-omit-frame-pointer"],
    "protector": ["-fstack-protector-all"],
    "clash": ["-fstack-clash-protection"],
    "avx": ["-mavx"],
}
# What is left of the unwind tables and symbols: words for the compiler.
TABLES = {
    "eh": [],
    "debug-frame": ["-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
}
FILES = {
    "plain": [],
    "split-dwarf": ["-g", "-gsplit-dwarf"],
    "compressed": ["-g", "-gz=zlib", "-Wl,--compress-debug-sections=zlib"],
    "separate": ["-g"],
    "stripped": [],
}
LEAVES = ("plain", "plt", "ifunc", "tail", "noreturn", "alloca", "signal", "vdso", "coroutine", "fiber",
          "thread", "bare")
RUST_LEAVES = ("plain", "plt", "tail", "noreturn", "virtual", "vdso", "thread")
GO_LEAVES = ("plain", "interface", "noreturn", "vdso", "deep", "thread", "cgo")

Form = collections.namedtuple("Form", "number compiler linker mode words code tables file leaves")


def forms(count, seed=1):
    """So many forms: each linker, compiler and leaf in turn, the other options by chance."""
    chance = random.Random(seed)
    leaf = 0
    for number in range(count):
        compiler = chance.choices(COMPILERS, (8, 8, 3, 2))[0]
        linker = LINKERS[number % len(LINKERS)]
        mode = chance.choice(list(MODES))
        all_leaves = {"rustc": RUST_LEAVES, "go": GO_LEAVES}.get(compiler, LEAVES)
        leaves = [all_leaves[(leaf + i) % len(all_leaves)] for i in range(3)]
        leaf += 3
        allowed = [n for n, (_, without) in LINK_OPTIONS.items() if linker not in without]
        words = chance.sample(allowed, chance.randrange(1, 4))
        words = [w for i, w in enumerate(words) if not any(
            {w, o} in ({"now", "lazy"}, {"rosegment", "no-rosegment"}, {"relr", "pack-relr"},
                       {"separate-code", "noseparate-code"}) for o in words[:i])]
        # Programs with these words do not start, or the linker refuses them.
        if linker == "mold" and (compiler == "rustc" or "static" not in mode):
            words = [w for w in words if w not in ("relr", "pack-relr")]
        if linker == "gold" and mode == "static-pie":
            mode = "static"
        code = [chance.choice(list(CODE_OPTIONS)), *chance.sample(list(MORE_CODE), chance.randrange(3))]
        code = [w for i, w in enumerate(code) if {w, *code[:i]} & {"endbr", "no-endbr"} != {"endbr", "no-endbr"}]
        tables, file = chance.choice(list(TABLES)), chance.choice(list(FILES))
        if tables == "debug-frame" and file == "stripped":
            file = "separate"
        yield Form(number, compiler, linker, mode, tuple(words), tuple(code), tables, file, tuple(leaves))


def text_of(form):
    return (f"{form.number}: {form.compiler} {form.linker} {form.mode} {' '.join(form.words)} "
            f"{' '.join(form.code)} {form.tables} {form.file} [{' '.join(form.leaves)}]")


class Names:
    """Parts of names: two letters each, none of them twice in a program."""

    def __init__(self, chance):
        self.left = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
        chance.shuffle(self.left)

    def below(self, name):
        return f"{name}_{self.left.pop()}"


# C

C_HEAD = """
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#if __clang__
#define N __attribute__((noinline))
#define TAIL __attribute__((musttail))
#define BARE __attribute__((no_stack_protector))
#else
#define BARE __attribute__((no_stack_protector)) /* runs before there are thread's own data */
#define N __attribute__((noinline, noclone))
#define TAIL
#endif
volatile long sink;
"""

# Each makes the frame of a function in its own way. {calls}: an expression.
C_BODIES = (
    "N long {name}(long n)\n{{\n\tlong r = {k};\n\tr += {calls};\n\treturn r + sink;\n}}\n",
    "N long {name}(long n)\n{{\n\tvolatile char room[{k}];\n\troom[n % 7] = 1;\n\tlong r = {calls};\n"
    "\treturn r + room[n % 7] + sink;\n}}\n",
    "N long {name}(long n)\n{{\n\t__attribute__((aligned(64))) volatile long room[8];\n\troom[n % 7] = {k};\n"
    "\tlong r = {calls};\n\treturn r + room[n % 7] + sink;\n}}\n",
    "N long {name}(long n)\n{{\n\tlong a = sink + {k}, b = sink * 3, c = sink ^ n, d = sink - n, e = sink | n;\n"
    "\tlong r = {calls};\n\treturn r + a * b + c * d + e;\n}}\n",
    "N long {name}(long n)\n{{\n\tchar *room = alloca(n % 100 + {k});\n\troom[0] = (char)n;\n"
    "\t__asm__ volatile(\"\" : : \"r\"(room) : \"memory\");\n\tlong r = {calls};\n\treturn r + room[0] + sink;\n}}\n",
    "N long {name}(long n)\n{{\n\tif (sink == -{k})\n\t\treturn n;\n\tlong r = {calls};\n\treturn r * {k} + sink;\n}}\n",
)
C_WORK = "for (long i = 0; i < n * {times}; i++)\n\t\tsink += i ^ {k};"


class C:
    """A program in C: its text, that of a shared library, and the rules of its structure."""
    bodies, work_text = C_BODIES, C_WORK

    def __init__(self, form, chance):
        self.form, self.chance, self.names = form, chance, Names(chance)
        self.main, self.library, self.start = [], [], []
        self.heads = []
        self.calls = collections.defaultdict(list)  # of functions that are not written yet
        self.reach = set()    # functions that may call the C library
        self.through = set()  # (caller, callee) with functions of the C library between them
        self.tails = {}       # caller, perhaps by a jump, of a function
        inner = []
        for leaf in form.leaves:
            above = chance.choice(inner) if inner and chance.random() < 0.4 else "f"
            for _ in range(chance.randrange(1, 5)):
                below = self.names.below(above)
                self.calls[above].append(f"{below}(n)")
                inner.append(below)
                above = below
            getattr(self, leaf)(above)
        for name in reversed(inner):
            self.chain(name)

    def number(self):
        return self.chance.randrange(9, 250)

    def work(self, times=40):
        return self.work_text.format(times=times, k=self.number())

    def chain(self, name):
        body = self.chance.choice(self.bodies)
        self.heads.append(f"N long {name}(long n);")
        self.main.append(body.format(name=name, k=self.number(), calls=" + ".join(self.calls[name])))

    def function(self, above, text, kind="long", words="N", times=40):
        """A function that `above` calls; {name}, {work} in its text."""
        name = self.names.below(above)
        self.heads.append(f"{words} {kind} {name}(long n);")
        self.main.append(f"{words} {kind} {name}(long n)\n{{\n\t"
                         + text.replace("WORK", self.work(times)).replace("NAME", name) + "\n}\n")
        return name

    def plain(self, above):
        self.calls[above].append(f"{self.function(above, 'WORK return n;')}(n)")

    def plt(self, above):
        name = self.names.below(above)
        first, second = self.names.below(name), self.names.below(name)
        third = self.names.below(second)
        self.heads.append(f"N long {name}(long n); void {first}(void); void {second}(void);")
        self.main.append(f"N long {name}(long n)\n{{\n\tfor (long i = 0; i < n * 30; i++) {{\n\t\t{first}();"
                         f"\n\t\t{second}();\n\t}}\n\treturn n + sink;\n}}\n")
        self.library.append(f"void {third}(void);\nvoid {first}(void) {{ __asm__ volatile(\"\"); }}\n"
                            f"void {second}(void) {{ {third}(); __asm__ volatile(\"nop\"); }}\n"
                            f"void {third}(void) {{ __asm__ volatile(\"nop;nop\"); }}\n")
        self.calls[above].append(f"{name}(n)")
        self.reach |= {name, second}  # the dynamic linker, at the first call

    def ifunc(self, above):
        name = self.names.below(above)
        chosen = self.names.below(name)
        self.heads.append(f"N long {name}(long n);")
        self.main.append(
            f"static void {chosen}(void) {{ __asm__ volatile(\"nop\"); }}\n"
            f"BARE static void *pick_{chosen}(void) {{ return (void *){chosen}; }}\n"
            f"void any_{chosen}(void) __attribute__((ifunc(\"pick_{chosen}\")));\n"
            f"N long {name}(long n)\n{{\n\tfor (long i = 0; i < n * 60; i++)\n\t\tany_{chosen}();"
            f"\n\treturn n + sink;\n}}\n")
        self.calls[above].append(f"{name}(n)")
        self.reach.add(name)

    def tail(self, above):
        last = self.function(above, "WORK return n ^ sink;")
        first = self.names.below(above)
        self.heads.append(f"N long {first}(long n);")
        self.main.append(f"N long {first}(long n)\n{{\n\tWORK\n\tTAIL return {last}(n);\n}}\n"
                         .replace("WORK", self.work()))
        self.calls[above].append(f"{first}(n)")
        self.tails[last] = first

    def noreturn(self, above):
        outer = self.names.below(above)
        middle = self.names.below(outer)
        inner = self.function(middle, f"WORK\n\tlongjmp(back_{outer}, 1);", "void", "__attribute__((noreturn)) N")
        self.main.append(f"N void {middle}(long n)\n{{\n\tWORK\n\t{inner}(n);\n}}\n".replace("WORK", self.work()))
        self.main.append(f"N long {outer}(long n)\n{{\n\tif (!_setjmp(back_{outer}))\n\t\t{middle}(n);\n"
                         f"\treturn sink;\n}}\n")
        self.heads.append(f"static jmp_buf back_{outer}; N void {middle}(long n); N long {outer}(long n);")
        self.calls[above].append(f"{outer}(n)")
        self.reach |= {outer, inner}
        self.tails[inner] = middle

    def alloca(self, above):
        name = self.names.below(above)
        last = self.function(name, "WORK return n;")
        self.heads.append(f"N long {name}(long n);")
        self.main.append(f"N long {name}(long n)\n{{\n\tlong r = 0;\n\tfor (long i = 1; i < 4; i++) {{\n"
                         f"\t\tvolatile char *room = alloca(i * n % 3000 + 8);\n\t\troom[0] = 1;\n"
                         f"\t\tr += {last}(n / 3 + room[0]);\n\t}}\n\treturn r;\n}}\n")
        self.calls[above].append(f"{name}(n)")

    def deep(self, above):
        """A stack that is deeper than its copy; not among LEAVES."""
        name = self.names.below(above)
        self.heads.append(f"N long {name}(long n);")
        self.main.append(f"N long {name}(long n)\n{{\n\tvolatile char room[900];\n\troom[n % 7] = 1;\n"
                         f"\tif (n > 0)\n\t\treturn {name}(n - 1) + room[n % 7];\n\tn = 100;\n\tWORK\n"
                         f"\treturn room[n % 7];\n}}\n".replace("WORK", self.work()))
        self.calls[above].append(f"{name}(n)")
        self.through.add((name, name))

    def signal(self, above):
        name = self.names.below(above)
        handler = self.names.below(name)
        inner = self.function(handler, "WORK return sink;")
        self.heads.append(f"N long {name}(long n); void {handler}(int, siginfo_t *, void *);")
        self.main.append(f"void {handler}(int s, siginfo_t *i, void *c)\n{{\n\t(void)s; (void)i;\n"
                         f"\t{inner}(100);\n\t((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP] += 2;\n}}\n"
                         f"N long {name}(long n)\n{{\n\t__asm__ volatile(\"ud2\" : : : \"memory\");"
                         f"\n\treturn n + sink;\n}}\n")
        # One handler for each program: forms have a leaf once.
        self.start.append(f"sigaction(SIGILL, &(struct sigaction){{.sa_sigaction = {handler}, .sa_flags = SA_SIGINFO}},"
                          f" NULL);")
        self.calls[above].append(f"{name}(n)")
        self.through.add((name, handler))
        self.reach |= {name, handler}

    def vdso(self, above):
        name = self.function(above, "struct timespec t; for (long i = 0; i < n * 3; i++) {"
                                    " clock_gettime(CLOCK_MONOTONIC, &t); sink += t.tv_nsec; } return sink;")
        self.calls[above].append(f"{name}(n)")
        self.reach.add(name)

    def coroutine(self, above):
        name = self.names.below(above)
        entry = self.names.below("c")
        inner = self.function(entry, "WORK return sink;")
        self.heads.append(f"N long {name}(long n); N void {entry}(void);"
                          f"static ucontext_t in_{entry}, out_{entry};")
        self.main.append(f"N void {entry}(void)\n{{\n\tfor (;;) {{\n\t\t{inner}(100);\n"
                         f"\t\tswapcontext(&in_{entry}, &out_{entry});\n\t}}\n}}\n"
                         f"N long {name}(long n)\n{{\n\tif (!in_{entry}.uc_stack.ss_sp) {{\n"
                         f"\t\tgetcontext(&in_{entry});\n\t\tin_{entry}.uc_stack.ss_size = 65536;\n"
                         f"\t\tin_{entry}.uc_stack.ss_sp = malloc(65536);\n"
                         f"\t\tmakecontext(&in_{entry}, {entry}, 0);\n\t}}\n"
                         f"\tswapcontext(&out_{entry}, &in_{entry});\n\treturn n + sink;\n}}\n")
        self.calls[above].append(f"{name}(n)")
        self.reach |= {name, entry}

    def fiber(self, above):
        """A switch of stacks in assembly: the first function has the return address 0."""
        name = self.names.below(above)
        entry = self.names.below("c")
        inner = self.function(entry, "WORK return sink;")
        saved = "rbx rbp r12 r13 r14 r15".split()
        code = ["push %" + r for r in saved] + ["mov %rsp,(%rdi)", "mov %rsi,%rsp"] + \
            ["pop %" + r for r in saved[::-1]] + ["ret"]
        self.main.append(f"void move_{entry}(void **from, void *to);\n__asm__(\".text\\n.type move_{entry},@function\\n"
                         f"move_{entry}: {'; '.join(code)}\\n.size move_{entry},.-move_{entry}\");\n"
                         f"N void {entry}(void)\n{{\n\tfor (;;) {{\n\t\t{inner}(100);\n"
                         f"\t\tmove_{entry}(&in_{entry}, out_{entry});\n\t}}\n}}\n"
                         f"N long {name}(long n)\n{{\n\tif (!in_{entry}) {{\n"
                         f"\t\tlong *top = (long *)((char *)aligned_alloc(4096, 65536) + 65536);\n"
                         f"\t\ttop[-2] = 0;\n\t\ttop[-3] = (long){entry};\n\t\tin_{entry} = top - 9;\n\t}}\n"
                         f"\tmove_{entry}(&out_{entry}, in_{entry});\n\treturn n + sink;\n}}\n")
        self.heads.append(f"N long {name}(long n); N void {entry}(void); static void *in_{entry}, *out_{entry};")
        self.calls[above].append(f"{name}(n)")
        self.reach |= {name, entry}

    def bare(self, above):
        """Functions in assembly without unwind tables."""
        name = self.names.below(above)
        first, second = self.names.below(name), self.names.below(name)
        loop = "mov $10000, %eax; 1: dec %eax; jnz 1b"
        for bare, code in ((first, loop), (second, f"push %rbx; push %r12; {loop}; pop %r12; pop %rbx")):
            self.main.append(f"__asm__(\".text\\n.type {bare},@function\\n{bare}: {code}; ret\\n"
                             f".size {bare},.-{bare}\");\n")
        self.heads.append(f"N long {name}(long n); void {first}(void); void {second}(void);")
        self.main.append(f"N long {name}(long n)\n{{\n\t{first}();\n\t{second}();\n\treturn n + sink;\n}}\n")
        self.calls[above].append(f"{name}(n)")

    def thread(self, above):
        name = self.names.below(above)
        entry = self.names.below("t")
        # A clock of a thread needs its period to tick once, so threads run longer than that.
        inner = self.function(entry, "WORK return sink;", times=10000)
        self.heads.append(f"N long {name}(long n); void *{entry}(void *);")
        self.main.append(f"void *{entry}(void *n)\n{{\n\t{inner}((long)n);\n\tsink++;\n\treturn n;\n}}\n"
                         f"N long {name}(long n)\n{{\n\tstatic int turn;\n\tpthread_t t;\n"
                         f"\tif (turn++ % 64 == 0 && !pthread_create(&t, NULL, {entry}, (void *)n))\n\t\tpthread_join(t, NULL);\n"
                         f"\treturn n + sink;\n}}\n")
        self.calls[above].append(f"{name}(n)")
        self.reach |= {name}

    def text(self):
        parts = self.main[:]
        # A function after another is what a wrong lookup of a noreturn call finds.
        self.chance.shuffle(parts)
        return (C_HEAD + "\n".join(self.heads) + "\n" + "\n".join(parts)
                + "\nint main(void)\n{\n\tstruct timespec t;\n\tlong n = 100, r = 0;\n\t" + "\n\t".join(self.start)
                + "\n\tdo {\n\t\tr += " + " + ".join(self.calls["f"])
                + ";\n\t\tclock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);\n\t} while (t.tv_sec * 1000 + t.tv_nsec / 1000000"
                  " < MILLISECONDS);\n\treturn r == 1;\n}\n")


# Rust

RUST_HEAD = """
#![allow(dead_code, unused, static_mut_refs, unconditional_panic)]
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
static SINK: AtomicI64 = AtomicI64::new(0);
fn sink() -> i64 { SINK.load(Relaxed) }
trait Work { fn run(&self, n: i64) -> i64; }
"""
RUST_WORK = "for i in 0..n * {times} {{ SINK.fetch_xor(black_box(i) ^ {k}, Relaxed); }}"
RUST_BODIES = (
    "#[inline(never)] fn {name}(n: i64) -> i64 {{ let r = {k} + {calls}; r + sink() }}\n",
    "#[inline(never)] fn {name}(n: i64) -> i64 {{ let mut room = [1u8; {k}]; black_box(&mut room); "
    "let r = {calls}; black_box(&room); r + room[3] as i64 + sink() }}\n",
    "#[inline(never)] fn {name}(n: i64) -> i64 {{ let v = black_box(vec![n; {k}]); let r = {calls}; "
    "r + v[1] + sink() }}\n",
)


class Rust(C):
    bodies, work_text = RUST_BODIES, RUST_WORK

    def add(self, name, body):
        self.main.append(f"#[inline(never)] fn {name}(n: i64) -> i64 {{ {body} }}\n")

    def leaf(self, above, body, times=20):
        name = self.names.below(above)
        self.add(name, body.replace("WORK", self.work(times)))
        return name

    def plain(self, above):
        self.calls[above].append(f"{self.leaf(above, 'WORK n')}(n)")

    def plt(self, above):
        name = self.names.below(above)
        first, second = self.names.below(name), self.names.below(name)
        self.main.append(f"extern \"C\" {{ fn {first}(); fn {second}(); }}\n")
        self.add(name, f"for _ in 0..n * 30 {{ unsafe {{ {first}(); {second}(); }} }} n + sink()")
        self.library.append(f"void {first}(void) {{ __asm__ volatile(\"\"); }}\n"
                            f"void {second}(void) {{ __asm__ volatile(\"nop\"); }}\n")
        self.calls[above].append(f"{name}(n)")

    def tail(self, above):
        first = self.names.below(above)
        last = self.leaf(first, "WORK n ^ sink()")
        self.add(first, f"WORK {last}(n)".replace("WORK", self.work(20)))
        self.calls[above].append(f"{first}(n)")
        self.tails[last] = first

    def noreturn(self, above):
        """A panic that is caught: its frames are those of the library."""
        outer = self.names.below(above)
        middle = self.names.below(outer)
        last = self.names.below(middle)
        self.main.append(f"#[inline(never)] fn {last}(n: i64) -> ! {{ {self.work(2000)} "
                         f"std::panic::resume_unwind(Box::new(n)) }}\n")
        self.add(middle, f"SINK.fetch_add(1, Relaxed); {last}(n)")
        self.add(outer, f"if sink() & 63 == 0 {{ std::panic::catch_unwind(|| {middle}(n)).unwrap_or(1) }} "
                        f"else {{ SINK.fetch_add(1, Relaxed); n }}")
        self.calls[above].append(f"{outer}(n)")
        self.through.add((outer, middle))  # a closure

    def virtual(self, above):
        name = self.names.below(above)
        last = self.names.below(name)
        kind = "S" + last
        self.main.append(f"struct {kind}(i64); impl Work for {kind} {{ #[inline(never)] fn run(&self, n: i64) -> i64 "
                         f"{{ {last}(n + self.0) + sink() }} }}\n")
        self.add(last, "WORK n".replace("WORK", self.work(20)))
        self.add(name, f"let b: Box<dyn Work> = black_box(Box::new({kind}(n & 1))); b.run(n) + sink()")
        self.calls[above].append(f"{name}(n)")
        self.through.add((name, last))

    def vdso(self, above):
        name = self.leaf(above, "for _ in 0..n * 3 { SINK.fetch_add("
                                "std::time::Instant::now().elapsed().as_nanos() as i64, Relaxed); } n")
        self.calls[above].append(f"{name}(n)")
        self.reach.add(name)

    def thread(self, above):
        name = self.names.below(above)
        entry = self.names.below("t")
        self.add(entry, f"let r = {self.leaf(entry, 'WORK n', 2000)}(n); r + sink()")
        self.main.append(f"static mut TURN_{entry}: u32 = 0;\n")
        self.add(name, f"unsafe {{ TURN_{entry} += 1; if TURN_{entry} % 64 == 1 {{ "
                       f"std::thread::spawn(move || {entry}(n)).join().unwrap(); }} }} n + sink()")
        self.calls[above].append(f"{name}(n)")

    def text(self):
        self.chance.shuffle(self.main)
        return (RUST_HEAD + "\n".join(self.main) + "\nextern \"C\" { fn keep_me(); }\n"
                "#[inline(never)]\nfn main() {\n    let (mut r, n) = (0i64, black_box(100i64));\n"
                "    unsafe { keep_me() };\n"
                "    let mut t = [0i64; 2];\n    extern \"C\" { fn clock_gettime(c: i32, t: *mut i64) -> i32; }\n"
                "    loop {\n        r ^= " + " ^ ".join(self.calls["f"]) + ";\n"
                "        unsafe { clock_gettime(2, t.as_mut_ptr()) };\n"
                "        if t[0] * 1000 + t[1] / 1000000 >= MILLISECONDS { break; }\n    }\n    black_box(r);\n}\n")


# Go

GO_BODIES = (
    "//go:noinline\nfunc {name}(n int64) int64 {{\n\tr := {k} + {calls}\n\treturn r + sink\n}}\n",
    "//go:noinline\nfunc {name}(n int64) int64 {{\n\tvar room [{k}]byte\n\troom[n%7] = 1\n\tr := {calls}\n"
    "\treturn r + int64(room[n%7]) + sink\n}}\n",
)


class Go(C):
    bodies, work_text = GO_BODIES, "for i := int64(0); i < n*{times}; i++ {{\n\t\tsink += i ^ {k}\n\t}}"

    def __init__(self, form, chance):
        self.c = []
        super().__init__(form, chance)

    def add(self, name, body):
        self.main.append(f"//go:noinline\nfunc {name}(n int64) int64 {{\n\t{body}\n}}\n")

    leaf = Rust.leaf

    def plain(self, above):
        self.calls[above].append(f"{self.leaf(above, 'WORK; return n')}(n)")

    def interface(self, above):
        name = self.names.below(above)
        last = self.names.below(name)
        self.main.append(f"type S{last} int64\n\n//go:noinline\nfunc (s S{last}) run(n int64) int64 {{\n"
                         f"\treturn {last}(n+int64(s)) + sink\n}}\n")
        self.add(last, f"{self.work()}; return n")
        self.add(name, f"var w worker = S{last}(n & 1); return w.run(n) + sink")
        self.calls[above].append(f"{name}(n)")
        self.through.add((name, last))

    def noreturn(self, above):
        outer = self.names.below(above)
        middle = self.names.below(outer)
        last = self.names.below(middle)
        self.main.append(f"//go:noinline\nfunc {last}(n int64) {{\n\t{self.work(400)}\n\tpanic(n)\n}}\n")
        self.add(middle, f"sink++; {last}(n); return n")
        self.add(outer, f"defer func() {{ recover() }}(); return {middle}(n)")
        self.calls[above].append(f"{outer}(n)")

    def vdso(self, above):
        self.calls[above].append(
            f"{self.leaf(above, 'for i := int64(0); i < n*3; i++ { sink += time.Now().UnixNano() }; return n')}(n)")

    def deep(self, above):
        """A stack that grows."""
        name = self.names.below(above)
        self.add(name, f"var room [600]byte; room[n%7] = 1; if n > 0 {{ return {name}(n-1) + int64(room[n%7]) }}; "
                       f"n = 20; {self.work()}; return n")
        self.calls[above].append(f"{name}(n)")
        self.through.add((name, name))

    def thread(self, above):
        name = self.names.below(above)
        entry = self.names.below("t")
        self.main.append(f"//go:noinline\nfunc {entry}(n int64, done chan int64) {{\n"
                         f"\tdone <- {self.leaf(entry, 'WORK; return n', 400)}(n)\n}}\n")
        self.add(name, f"done := make(chan int64); go {entry}(n, done); return <-done")
        self.calls[above].append(f"{name}(n)")

    def cgo(self, above):
        name = self.names.below(above)
        last = self.names.below(name)
        self.c.append(f"static volatile long sink_{last};\n__attribute__((noinline)) static long {last}(long n)\n"
                      f"{{ for (long i = 0; i < n * 100; i++) sink_{last} += i; return n; }}\n")
        self.add(name, f"return int64(C.{last}(C.long(n)))")
        self.calls[above].append(f"{name}(n)")
        self.through.add((name, last))

    def text(self):
        self.chance.shuffle(self.main)
        c = f"/*\n{''.join(self.c)}*/\nimport \"C\"\n" if self.c else ""
        return (f"package main\n\n{c}import (\n\t\"syscall\"\n\t\"time\"\n)\n\nvar sink int64\n\n"
                "type worker interface{ run(n int64) int64 }\n\n" + "\n".join(self.main)
                + "\nfunc main() {\n\tvar u syscall.Rusage\n\tr, n := time.Now().Unix(), int64(100)\n\tfor {\n\t\tr += "
                + " + ".join(self.calls["f"]) + "\n\t\tsyscall.Getrusage(0, &u)\n"
                "\t\tif u.Utime.Nano()+u.Stime.Nano() > MILLISECONDS*1000000 {\n\t\t\tbreak\n\t\t}\n\t}\n\tsink = r\n}\n")


Program = collections.namedtuple("Program", "form path rules images")


def build_c(form, directory, milliseconds):
    chance = random.Random(form.number)
    source = C(form, chance)
    directory = pathlib.Path(directory)
    (directory / "main.c").write_text(source.text())
    (directory / "library.c").write_text("\n".join(source.library) + "\nvoid keep_me(void) {}\n")
    cc = [form.compiler, f"-fuse-ld={form.linker}", "-Wno-unused-command-line-argument", f"-DMILLISECONDS={milliseconds}",
          *(w for c in form.code for w in {**CODE_OPTIONS, **MORE_CODE}[c]), *TABLES[form.tables],
          *FILES[form.file]]
    link = [w for name in form.words for w in LINK_OPTIONS[name][0]]
    if "static" in form.mode:
        library = "library.o"
        run(*cc, MODES[form.mode][0], "-c", "-o", library, "library.c", cwd=directory)
    else:
        library = "libknown.so"
        run(*cc, "-fPIC", "-shared", *link, "-o", library, "library.c", cwd=directory)
    run(*cc, *MODES[form.mode], *link, "-o", "known", "main.c", library, "-lpthread",
        *["-Wl,-rpath,$ORIGIN"] * ("static" not in form.mode), cwd=directory)
    return finish(form, directory, source, ["known"] + ["libknown.so"] * (library == "libknown.so"))


# What was built

class Symbols:
    """The functions of a file by its symbol table and sections, as offsets in the file."""

    def __init__(self, path):
        out = run("readelf", "-lSsW", path).out
        loads = [tuple(int(x, 16) for x in m) for m in re.findall(
            r"^  LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", out, re.M)]

        def place(address):
            for offset, start, size in loads:
                if start <= address < start + size:
                    return address - start + offset
            return None

        self.stubs = [(int(o, 16), int(o, 16) + int(s, 16)) for o, s in re.findall(
            r"\] \.i?plt[.\w]*\s+PROGBITS\s+\w+ (\w+) (\w+)", out)]
        found = {}
        for value, size, kind, name in re.findall(
                r"^ +\d+: (\w+) +(\w+) (FUNC|NOTYPE|IFUNC) +\w+ +\w+ +\d+ (\S+)", out, re.M):
            at = place(int(value, 16))
            if at is None or name.startswith(("$", ".L")):
                continue
            size = int(size, 0)
            if at not in found or (size > 0, own(name) is not None, kind != "IFUNC") > found[at][1]:
                found[at] = (at + size, (size > 0, own(name) is not None, kind != "IFUNC"), name)
        self.starts = sorted(found)
        self.found = found

    def name(self, offset):
        """The name at a place; "[stub]" in a linkage table, None: no function."""
        if any(a <= offset < b for a, b in self.stubs):
            return "[stub]"
        i = bisect.bisect_right(self.starts, offset)
        if not i:
            return None
        end, _, name = self.found[self.starts[i - 1]]
        return name if offset < end or end == self.starts[i - 1] else None


OWN = re.compile(r"(?:^|[.:]|\d)([fct](?:_[a-z]{2})+)(?=$|[.\d]|::)")
MAIN = re.compile(r"main$|main\.main$|known::main$|_ZN5known4main17h")


def own(name):
    """The function of the program that a symbol names, or None."""
    if not name or name.startswith(("pick_", "any_", "move_")) or re.search(r"\.func\d|closure", name):
        return None
    got = OWN.search(name)
    return got[1] if got else "main" if MAIN.match(name) else None


def jumps(path, pairs):
    """The functions that the other one of their pair jumps to."""
    if not pairs:
        return set()
    at, found = None, set()
    for line in run("objdump", "-d", "--no-show-raw-insn", path).out.splitlines():
        start = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if start:
            at = own(start[1])
            continue
        jump = re.search(r"\bjmp\w*\s+[0-9a-f]+ <([^>]*)>", line)
        if jump and pairs.get(own(jump[1])) == at:
            found.add(own(jump[1]))
    return found


class Rules:
    """What calls what."""

    def __init__(self, source, jumped):
        self.reach, self.through, self.tails, self.jumps = source.reach, source.through, source.tails, jumped
        self.language = source.form.compiler

    def calls(self, caller, callee):
        above = self.tails.get(callee, callee.rpartition("_")[0])
        if callee in self.jumps:  # the frame of the function that jumps is replaced
            above = above.rpartition("_")[0]
        return caller == ("main" if above == "f" else above)


def finish(form, directory, source, files):
    directory = pathlib.Path(directory)
    images = {name: Symbols(directory / name) for name in files}
    rules = Rules(source, jumps(directory / "known", source.tails))
    for name in files:
        path = directory / name
        if form.file == "separate":
            run("objcopy", "--only-keep-debug", path, f"{path}.debug")
            run("strip", "-g" if form.number % 2 else "-s", path)
            run("objcopy", f"--add-gnu-debuglink={path}.debug", path, cwd=directory)
        elif form.file == "stripped":
            run("strip", "-s", path)
    return Program(form, directory / "known", rules, images)


# Stacks

QUERY = {
    "samples": "SELECT stack, mode, stack_end, sum(samples) AS n FROM samples WHERE event IN (SELECT event FROM "
               "sessions) AND process IN (SELECT id FROM processes WHERE name = 'known') GROUP BY 1, 2, 3",
    "stacks": "SELECT s.id AS id, s.parent AS parent, f.offset AS offset, f.caller AS caller, f.kernel AS kernel, "
              "n.name AS function, i.name AS image, i.kind AS kind FROM stacks s JOIN frames f ON f.id = s.frame "
              "LEFT JOIN functions n ON n.id = f.function LEFT JOIN images i ON i.id = f.image",
}

Frame = collections.namedtuple("Frame", "own name image shown")
LOADER = re.compile(r"ld-linux|^ld-")
THREADS = {"clone", "clone3", "__clone", "__clone3", "__clone_internal"}
BEGIN = {"_start", "__libc_start_main", "_rt0_amd64", "_rt0_amd64_linux", "runtime.rt0_go.abi0", "runtime.rt0_go",
         "runtime.mstart", "runtime.mstart.abi0", "runtime.goexit", "runtime.goexit.abi0", "runtime.mcall",
         "runtime.morestack.abi0", "runtime.sigtramp.abi0"}


class Verdict:
    def __init__(self):
        self.good = self.total = self.invented = self.start = self.misnamed = self.bare = 0
        self.faults = collections.Counter()

    def fault(self, what, frames, end, n):
        shown = ">".join((f.own or f.name or f"[{f.image}]") for f in frames)
        self.faults[f"{what}: {shown} ({end})"] += n


def frames_of(program, stacks, stack):
    """The user's part of a stack, outermost first."""
    frames = []
    while stack:
        row = stacks[stack]
        if not row["kernel"]:
            symbols = program.images.get(row["image"])
            offset = row["offset"] - (1 if row["caller"] else 0)
            name = symbols.name(offset) if symbols else row["function"]
            # Rust has a function main of its own; the one that the C library calls is above it.
            known = own(name) if symbols and (name != "main" or program.form.compiler != "rustc") else None
            frames.append(Frame(known, name, row["image"], row["function"]))
        stack = row["parent"]
    return frames[::-1]


def starts(frames, end):
    """Whether a stack without functions of the program is of its start, or of the start or end of a thread."""
    name = frames[0].name or ""
    return (LOADER.search(frames[0].image or "") or name.startswith("_dl_") or any(f.name in BEGIN for f in frames)
            or name in THREADS and end in ("whole", "stitched"))


def fault_of(rules, frames):
    """(what is wrong with the stack or None, whether a caller is invented)"""
    at = [i for i, f in enumerate(frames) if f.own]
    first = frames[at[0]].own
    root = first == "main" or "_" in first and first[0] in "tc" and first.count("_") == 1
    for a, b in zip(at, at[1:]):
        caller, callee = frames[a].own, frames[b].own
        if callee == "main" or callee[0] in "ct" and callee.count("_") == 1:
            return "root is called", True
        if (caller, callee) not in rules.through:
            if not rules.calls(caller, callee):
                return f"{caller} calls {callee}", True
            if b - a > 1:
                return f"between {caller} and {callee}", True
    inner = frames[at[-1] + 1:]
    if inner and frames[at[-1]].own not in rules.reach | {"main"} and (
            len(inner) > 1 or inner[0].name != "[stub]") and rules.language in ("gcc", "clang"):
        return f"{frames[at[-1]].own} calls the library", True
    if not root:
        return "not from a root", False
    return None, False


def judge(program, samples, stacks):
    verdict, stacks = Verdict(), {row["id"]: row for row in stacks}
    for row in samples:
        n, frames = row["n"], frames_of(program, stacks, row["stack"])
        if not frames:
            verdict.bare += n
            continue
        if not any(f.own for f in frames):
            if starts(frames, row["stack_end"]):
                verdict.start += n
            else:
                verdict.total += n
                verdict.fault("no function of the program", frames, row["stack_end"], n)
            continue
        verdict.total += n
        what, invented = fault_of(program.rules, frames)
        if what:
            verdict.invented += n * invented
            verdict.fault(what, frames, row["stack_end"], n)
            continue
        verdict.good += n
        if program.form.file != "stripped" and any(f.own and own(f.shown) != f.own for f in frames):
            verdict.misnamed += n
            wrong = [f for f in frames if f.own and own(f.shown) != f.own]
            verdict.faults[f"{wrong[0].own} is named {wrong[0].shown}"] += n
    return verdict


def measure(program, assay, directory, rate=1999):
    """Records the program and judges its stacks."""
    data = pathlib.Path(directory) / "known.data"
    env = {"XDG_CACHE_HOME": str(pathlib.Path(directory) / "cache")}
    run(assay, "record", "-q", "-g", "-F", rate, "-o", data, "--", program.path, env=env)
    rows = {name: json.loads(run(assay, "sql", "--format", "json", "--window=1000", data, query, env=env).out)
            for name, query in QUERY.items()}
    return judge(program, **rows)


def build_rust(form, directory, milliseconds):
    source = Rust(form, random.Random(form.number))
    directory = pathlib.Path(directory)
    (directory / "main.rs").write_text(source.text().replace("MILLISECONDS", str(milliseconds)))
    (directory / "library.c").write_text("\n".join(source.library) + "\nvoid keep_me(void) {}\n")
    static = "static" in form.mode
    library = "libknown.a" if static else "libknown.so"
    link = [w for name in form.words for w in LINK_OPTIONS[name][0] if w.startswith("-Wl")]
    if static:
        run("gcc", "-O1", "-c", "-o", "library.o", "library.c", cwd=directory)
        run("ar", "rcs", library, "library.o", cwd=directory)
    else:
        run("gcc", "-O1", "-fPIC", "-shared", f"-fuse-ld={form.linker}", *link, "-o", library, "library.c",
            cwd=directory)
    level = next(w for w in form.code if w in CODE_OPTIONS)[1]
    options = [f"-Copt-level={level}", "-Ccodegen-units=1", "-Clinker=gcc",
               f"-Clink-arg=-fuse-ld={form.linker}", *(f"-Clink-arg={w}" for w in link),
               f"-Crelocation-model={'pie' if 'pie' in form.mode and form.mode != 'no-pie' else 'static'}",
               f"-Ctarget-feature={'+' if static else '-'}crt-static",
               *["-Cforce-frame-pointers=yes"] * ("frame-pointers" in form.code),
               *["-Cdebuginfo=2"] * (form.file in ("separate", "split-dwarf", "compressed")),
               *["-Csplit-debuginfo=unpacked"] * (form.file == "split-dwarf"),
               *["-Clink-arg=-Wl,-rpath,$ORIGIN"] * (not static), "-L.", f"-l{'static' if static else 'dylib'}=known"]
    run("rustc", "--edition=2021", "--crate-name=known", *options, "-o", "known", "main.rs", cwd=directory)
    return finish(form, directory, source, ["known"] + ["libknown.so"] * (not static))


def build_go(form, directory, milliseconds):
    source = Go(form, random.Random(form.number))
    directory = pathlib.Path(directory)
    (directory / "main.go").write_text(source.text().replace("MILLISECONDS", str(milliseconds)))
    link = [w for name in form.words for w in LINK_OPTIONS[name][0] if w.startswith("-Wl")]
    outside = form.number % 2 or source.c
    static = "static" in form.mode
    words = f"-linkmode=external '-extldflags=-fuse-ld={form.linker} {' '.join(link)}{' -static' * static}'"
    run("go", "build", *[f"-ldflags={words}"] * bool(outside),
        *["-gcflags=-N -l"] * ("O0" in form.code),
        f"-buildmode={'pie' if form.mode == 'pie' else 'exe'}", "-o", "known", "main.go", cwd=directory,
        env=go_environment(cgo=True), timeout=240)
    return finish(form, directory, source, ["known"])


def build(form, directory, milliseconds=200):
    builders = {"rustc": build_rust, "go": build_go}
    return builders.get(form.compiler, build_c)(form, directory, milliseconds)
