# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler's plugin: triggers on every way in and out, names that stay, clear errors.

Programs of tests/workloads/tags_plugin/ are compiled here with gcc and the plugin. Where
they run, triggers call a hook that holds exits against entries (hook.c); how often each
function is called follows from the programs' source.
"""

import fcntl
import os
import re
import struct

from harness import BUILD, LONG, ROOT, main, run, test

PLUGIN = BUILD / "plugin" / "gcc" / "assay_tags.so"
SOURCES = ROOT / "tests" / "workloads" / "tags_plugin"
C = ["gcc", "-w", "-fopenmp", f"-I{ROOT}/include"]
CXX = ["g++", "-w", "-std=c++20"]

CALLS_OF_C = {
    "fibonacci": 177, "computed_goto": 1, "asm_goto": 1, "sum": 1, "sum_double": 1,
    "forwards": 1, "digits": 2, "nests": 1, "nests.inner": 1, "nests.inner.2": 1,
    "jumps_out": 2, "jumps_out.inner": 2, "returns_again": 1, "jump_back": 3, "cleans": 3,
    "cleaned": 5, "return_address": 1, "always": 1, "flat": 1, "tail": 21, "long_double": 1,
    "complex_double": 1, "returns_big": 1, "wide": 1, "forks": 1, "parts": 2, "of_alias": 2,
    "switches": 30, "parallel": 1, "resolved": 1, "elsewhere": 1, "unoptimized": 1,
    "constructor": 1, "main": 1, "ends": 1, "in chosen_not": 1, "small": 1}
# longjmp out of jump_back, goto out of jumps_out.inner; exit() inside main and ends
LOST_OF_C = {"jump_back": 3, "jumps_out.inner": 1, "main": 1, "ends": 1}
NEVER_IN_C = ("never_called", "is_empty", "chosen_not", "resolver", "naked", "hook")

CALLS_OF_CXX = {
    "_ZN7derivedC4Ev": 2, "_ZN7derivedD4Ev": 2, "_ZN7derived4stepEv": 3, "_ZN4baseC4Ei": 3,
    "_ZN4baseD4Ev": 2, "_ZN4rootD4Ev": 3, "_Z5twiceIiET_S0_": 5, "_Z9factoriali": 1,
    "_Z12throws_neveri": 1, "make": 2, "_ZN5triesC4Ei": 2, "_Z6throwsi": 7, "hidden::f": 1,
    "of_hidden": 1, "_Z8count_toi": 1, "_ZN8sequence12promise_type11yield_valueEi": 3,
    "main": 1, "objects": 1, "functions": 1}
ALIKE = {"_ZL4makei": "make", "_ZN12_GLOBAL__N_16hidden1fEi": "hidden::f",
         "_ZN12_GLOBAL__N_19of_hiddenEi": "of_hidden", "_ZL7objectsv": "objects",
         "_ZL9functionsv": "functions"}


def arguments(names, **others):
    """The plugin's arguments for the compiler: arguments(names, trigger="call", not_files="x") and
    so on."""
    words = [f"-fplugin={PLUGIN}", f"-fplugin-arg-assay_tags-names={names}"]
    return words + [f"-fplugin-arg-assay_tags-{key.replace('_', '-')}={value}"
                    for key, value in others.items()]


def need(t):
    t.need("gcc", "g++", "objdump", "readelf")
    if not PLUGIN.exists():
        t.skip("the GCC plugin was not built")


def lines_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def names_in(path):
    """tag -> name as in the file."""
    found = {}
    for line in lines_of(path):
        name, tag = line.rstrip("!=").rsplit("/", 1)
        assert int(tag) not in found, f"{tag} twice"
        found[int(tag)] = name
    return found


def inline_in(path):
    return ",".join(line.rsplit("/", 1)[1].rstrip("=") for line in lines_of(path)
                    if line.endswith("="))


def plain(name):
    name = name.split("@")[0]
    return ALIKE.get(name, name)


def section(t, path):
    """The lines of its section of the names file; [] if there is none."""
    out = t.path("section.bin")
    out.unlink(missing_ok=True)
    run("objcopy", "-O", "binary", "--only-section=assay_tags_names",
        "--set-section-flags", "assay_tags_names=alloc", path, out)
    return out.read_text().splitlines() if out.exists() else []


def symbols(path):
    return {line.split()[-1] for line in run("nm", path).out.splitlines()}


def compiled(t, text, *flags, name="one.c", status=0, **others):
    """Compiles this text. Returns the path of the object, or with another expected status the
    compiler's output."""
    source = t.write(name, text)
    compiler = CXX if name.endswith(".cpp") else C
    result = run(*compiler, "-O2", *flags, *arguments(t.path("names"), **others), "-c", source,
                 "-o", t.path("one.o"), cwd=t.directory, status=status)
    return result.err if status else t.path("one.o")


class Ran:
    """The output of a program, and the counts of its hook."""

    def __init__(self, t, program):
        names = t.path("names")
        seen = t.path("seen")
        result = run(program, env={"INLINE": inline_in(names), "HOOK_OUT": str(seen)})
        self.out = result.out
        self.calls, self.sums = {}, {}
        for line in seen.read_text().splitlines():
            word, *numbers = line.split()
            if word == "call":
                self.calls[int(numbers[0])] = int(numbers[1])
            else:
                self.sums[word] = int(numbers[0])
        self.entries, self.lost = {}, {}
        marked = set(inline_in(names).split(","))
        for tag, name in names_in(names).items():
            entered, left = self.calls.get(tag, 0), self.calls.get(tag + 1, 0)
            self.entries[plain(name)] = self.entries.get(plain(name), 0) + entered
            if str(tag) not in marked and entered != left:
                self.lost[plain(name)] = entered - left


def check_ways(t, compiler, source, flags, calls, lost, sums, **others):
    hook = t.path("hook.o")
    if not hook.exists():
        run("gcc", "-O2", "-c", SOURCES / "hook.c", "-o", hook)
        run(*compiler, "-O2", SOURCES / source, "-o", t.path("plain"))
    t.path("names").unlink(missing_ok=True)
    program = t.path("program")
    run(*compiler, *flags, *arguments(t.path("names"), trigger="call", hook="hook", **others),
        SOURCES / source, hook, "-pthread", "-o", program)
    got = Ran(t, program)
    what = " ".join(map(str, flags))
    t.equal(got.out, run(t.path("plain")).out, f"{what}: what the program prints")
    t.equal(got.sums, sums, f"{what}: sums of the hook")
    t.equal({name: got.entries.get(name) for name in calls}, calls, f"{what}: calls")
    t.equal(got.lost, lost, f"{what}: entries without exit")
    return got


@test
def every_way_in_and_out_of_c(t):
    need(t)
    for flags in (["-O0"], ["-O1", "-g"], ["-O2"], ["-O3", "-fexceptions"], ["-Os"],
                  ["-O2", "-flto"], ["-O2", "-fsanitize=undefined,address"],
                  ["-O2", "-fstack-protector-all", "-fcf-protection", "-ffunction-sections"]):
        got = check_ways(t, C, "ways.c", flags, CALLS_OF_C, LOST_OF_C,
                         {"wrong": 0, "skipped": 4, "open": 2})
        for name in NEVER_IN_C:
            t.true(name not in got.entries, f"{flags}: {name} has no tag")


@test
def every_way_in_and_out_of_cxx(t):
    need(t)
    for flags in (["-O0", "-g"], ["-O1", "-fnon-call-exceptions"], ["-O2"], ["-O3"], ["-Os"],
                  ["-O2", "-flto"]):
        check_ways(t, CXX, "ways.cpp", flags, CALLS_OF_CXX, {},
                   {"wrong": 0, "skipped": 0, "open": 0})
        names = t.path("names").read_text()
        for variant in ("4baseC1E", "4baseC2E", "4baseD2E", "7derivedC1E", "7derivedD0E"):
            t.lacks(names, variant, "names")
        t.lacks(names, "at_once", "names")
        locals_ = [line for line in names.splitlines() if "5local1fE" in line]
        t.equal(len(locals_), 2, f"{flags}: local classes of the same name")
        lambdas = [line for line in names.splitlines() if "functionsvENKUl" in line]
        t.equal(len(lambdas), 3, f"{flags}: lambdas of functions()")


@test
def tail_calls_are_kept_after_the_exit(t):
    need(t)
    for compiler, source, calls, lost, sums in (
            (C, "ways.c", CALLS_OF_C, LOST_OF_C, {"wrong": 0, "skipped": 4, "open": 2}),
            (CXX, "ways.cpp", CALLS_OF_CXX, {}, {"wrong": 0, "skipped": 0, "open": 0})):
        t.path("hook.o").unlink(missing_ok=True)  # of the other source
        for flags in (["-O1"], ["-O2", "-flto"], ["-O2"], ["-O3", "-g"])[:4 if LONG else 2]:
            check_ways(t, compiler, source, flags, calls, lost, sums, tail_calls="yes")
    text = ("int g(int); int x; extern int (*p)(int); int k(int *);\n"
            "int both(int a) { if (a) return g(a); if (x) return p(a + 1); return 0; }\n"
            "static inline int in(int a) { x += 2; return g(a); }\n"
            "int outer(int a) { x--; return in(a); }\n"
            "int stays(int a) { return k(&a); }\nint more(int a) { return g(a) + 1; }\n")
    code = run("objdump", "-d", "--no-show-raw-insn",
               compiled(t, text, "-fcf-protection=none", trigger="nop", tail_calls="yes")).out
    words = {name: re.findall(r"\t(nopl   0x5a\w+|jmp +\*|jmp|call|ret)",
                              code.split(f"<{name}>:")[1].split("\n\n")[0])
             for name in ("both", "outer", "stays", "more")}
    kinds = {name: " ".join(word.split()[0] for word in found) for name, found in words.items()}
    t.equal(kinds["both"].count("nopl jmp"), 2, f"tail calls of both: {kinds['both']}")
    t.equal(kinds["outer"], "nopl nopl nopl nopl jmp", "outer with its inlined function")
    t.equal(kinds["stays"], "nopl call nopl ret", "a call that needs the stack")
    t.equal(kinds["more"], "nopl call nopl ret", "a call whose value is changed")


SMALL = """
int x, *p;
__attribute__((noinline)) void other(void) { for (int i = 0; i < x; i++) p[i] = i; }
static inline __attribute__((always_inline)) int always(int a) { return a * a + 3; }
__attribute__((noinline)) int small(int a) { return a + x; }
__attribute__((noinline)) static int local(int a) { return a ^ x; }
int inlines(int a) { return always(a) + small(a + 1); }
__attribute__((noinline)) void seldom(int a) { if (__builtin_expect(a == 7, 0)) other(); x += a; }
__attribute__((noinline)) void always_calls(void) { other(); }
__attribute__((noinline)) void loops(int a) { while (a--) p[a] = 0; }
__attribute__((noinline)) void large(int a)
{ p[1] = a; p[2] = a + 1; p[3] = a * 3; p[4] = a ^ x; p[5] = a - x; p[6] = a | 2; p[7] = a & x;
  p[x] = a * x; p[a] = x * 5; p[a + x] = a % 7; p[a - x] = a / 3; }
__attribute__((section(".cpuidle.text"))) void default_idle(void) { x++; }
int uses(int a) { loops(a); seldom(a); large(a); return local(a) + local(a + 1); }
"""


@test
def small_functions_are_left_out_and_named(t):
    need(t)
    names = t.path("names")
    path = compiled(t, SMALL, *KERNEL, trigger="nop", leaf_size=20)
    kept = {"other", "inlines", "always_calls", "loops", "large", "default_idle", "uses"}
    t.equal({line.split("/")[0] for line in lines_of(names)}, kept, "functions with tags")
    comments = [line for line in names.read_text().splitlines() if line.startswith("# left out")]
    t.equal(sorted(comments), ["# left out local@one.c", "# left out seldom", "# left out small"],
            "functions without tags")
    code = run("objdump", "-d", "--no-show-raw-insn", path).out
    t.equal("0x5a" in code.split("<small>:")[1].split("ret")[0], False, "triggers in small")
    compiled(t, SMALL, *KERNEL, trigger="nop", leaf_size=20)
    t.equal(names.read_text().count("# left out small\n"), 1, "comments after a second compilation")
    t.has(t.assay("tags", "names", names).out, "3 left out")
    for value in ("x", "-1", "1001", "2 "):
        t.has(compiled(t, SMALL, *KERNEL, trigger="nop", leaf_size=value, status=1),
              "give a number of instructions", value)


def write_many(t, count):
    """count files in 4 directories, f.c in each of them, and a makefile that enters them."""
    t.write("common.h", "static __attribute__((noinline)) int common(int x) { return x ^ 5; }\n"
                        "static inline int unused(int x) { return x; }\n")
    for i in range(count):
        text = '#include "../common.h"\n'
        for k in range(5):
            text += (f"static __attribute__((noinline)) int helper{k}(int x)"
                     f" {{ return x * {k + 2} + {i}; }}\n"
                     f"int f{i}_{k}(int x) {{ return helper{k}(x) + common(x); }}\n")
        t.write(f"d{i % 4}/f.c" if i < 4 else f"d{i % 4}/f{i}.c", text)
    t.write("Makefile", "all: $(patsubst %.c,%.o,$(wildcard d*/*.c))\n%.o: %.c\n"
                        "\t@cd $(<D) && gcc -O1 $(FLAGS) -c $(<F) -o $(@F)\n")


@test
def parallel_compilers_give_unique_and_stable_tags(t):
    need(t)
    t.need("make")
    count = 200 if LONG else 40
    write_many(t, count)
    names = t.path("names")
    flags = "FLAGS=" + " ".join(arguments(names))
    run("make", "-s", "-j8", flags, cwd=t.directory, timeout=200)
    once = names.read_bytes()
    given = names_in(names)
    want = {f"f{i}_{k}" for i in range(count) for k in range(5)} | {"common@common.h"}
    for i in range(count):
        file = f"d{i % 4}/f.c" if i < 4 else f"d{i % 4}/f{i}.c"
        want |= {f"helper{k}@{file}" for k in range(5)}
    t.equal(set(given.values()), want, "names")
    t.equal(len(given), len(want), "tags, each of one name")
    t.equal(sorted(given), list(range(2, 2 + 2 * len(want), 2)), "tags")

    before = t.path("d1/f5.o").read_bytes()
    run("make", "-s", "-B", "-j8", flags, cwd=t.directory, timeout=200)
    t.equal(names.read_bytes(), once, "the names file after all was compiled again")
    t.equal(t.path("d1/f5.o").read_bytes(), before, "an object that was compiled again")

    # The user's marks and comments stay; new lines come after them.
    edited = once.decode().replace("f7_1/", "# mine\n f7_1 / ", 1)
    tag = next(tag for tag, name in given.items() if name == "f9_2")
    edited = edited.replace(f"f9_2/{tag}\n", f"f9_2/{tag}!\n").rstrip("\n")
    names.write_text(edited)
    t.write("d1/f9.c", t.path("d1/f9.c").read_text() + "int fresh(int x) { return x + 1; }\n")
    run("make", "-s", "-j8", flags, cwd=t.directory)
    text = names.read_text()
    t.true(text.startswith(edited + "\n"), "what the user wrote stays")
    t.equal(text[len(edited):].split(), ["#", "from", "d1/f9.c", f"fresh/{max(given) + 2}"],
            "what was appended")
    t.true(f"f9_2/{tag}!" in section(t, t.path("d1/f9.o")), "the mark is embedded")


def waiting_compiler(t, names, held):
    """Starts a compiler that has read the names and waits for the lock to extend them, while the
    open file `held` has the lock."""
    fcntl.flock(held, fcntl.LOCK_SH)
    source = t.write("one.c", "int f(int x) { return x + 1; }\n")
    compiler = t.start("gcc", "-c", *arguments(names), source, "-o", t.path("one.o"))

    def waits():
        with open("/proc/locks", encoding="utf-8") as locks:
            return any("->" in line and f":{os.fstat(held.fileno()).st_ino} " in line
                       for line in locks)
    t.until(lambda: waits() or compiler.poll() is not None, "a compiler that waits")
    t.true(compiler.poll() is None, "the compiler waits for the lock")
    return compiler


@test
def compilers_wait_for_the_lock_and_read_new_names(t):
    need(t)
    names = t.write("names", "before/2\n")
    with open(names, "a", encoding="utf-8") as f:
        compiler = waiting_compiler(t, names, f)
        f.write("between/4\n")
    t.equal(t.wait(compiler), 0, "status of the compiler")
    t.equal(lines_of(names), ["before/2", "between/4", "f/6"], "names")


@test
def a_file_that_an_editor_replaced_is_read_again(t):
    need(t)
    names = t.write("names", "old/2\n")
    with open(names, "a", encoding="utf-8") as f:
        compiler = waiting_compiler(t, names, f)
        os.rename(t.write("edited", "# mine\nold/20\n"), names)
    t.equal(t.wait(compiler), 0, "status of the compiler")
    t.equal(lines_of(names), ["old/20", "f/22"], "names")


@test
def an_entry_sets_the_first_tag(t):
    need(t)
    t.write("names", "first/500\n")
    compiled(t, "int f(int x) { return x + 1; }\nint g(int x) { asm(\"# assay tag here\");"
                " return f(x); }\nint h(int x) { return x - 1; }\n", "-O0")
    t.equal([line for line in lines_of(t.path("names"))],
            ["first/500", "f/502", "g/504", "h/506", "here/508="], "names")


@test
def functions_have_even_tags_behind_places_with_odd_ones(t):
    need(t)
    names = t.path("names")
    for name, places in (("f", ("one",)), ("g", ("two", "three")), ("h", ("four",)), ("i", ())):
        compiled(t, f"int {name}(int x) {{ return x + 1; }}\n", "-O0", name=name + ".c")
        for place in places:
            t.assay("tags", "names", names, "--add", place, "--header", t.path("places.h"))
    t.equal(lines_of(names), ["f/2", "one/4=", "g/6", "two/8=", "three/9=", "h/10", "four/12=",
                              "i/14"], "names")


@test
def functions_are_chosen(t):
    need(t)
    text = ("namespace net { struct link { int up(int x) { return x + 1; } int down(int x)"
            " { return x - 1; } }; int tcp_in(int x) { return link().up(x); }\n"
            "int tcp_out(int x) { return link().down(x); } }\n"
            "int tcp_in(int x) { return x * 2; }\nstatic auto f = [](int x) { return x + 9; };\n"
            "int other(int x) { return f(x); }\n")

    def chosen(**others):
        t.path("names").unlink(missing_ok=True)
        path = compiled(t, text, "-O0", name="net/one.cpp", **others)
        return {line.rsplit("/", 1)[0].split("@")[0] for line in section(t, path)}

    up, down = "_ZN3net4link2upEi", "_ZN3net4link4downEi"
    inner, outer, to = "_ZN3net6tcp_inEi", "_Z6tcp_ini", "_ZN3net7tcp_outEi"
    everything = chosen()
    t.equal(len(everything), 7, f"functions in {everything}")
    t.equal(chosen(only="tcp_*"), {inner, outer, to}, "-only=tcp_*")
    t.equal(chosen(only="net::*"), {up, down, inner, to}, "-only=net::*")
    t.equal(chosen(only="up,other"), {up, "_Z5otheri"}, "-only=up,other")
    t.equal(chosen(**{"not": "net::link::*"}), everything - {up, down}, "-not=net::link::*")
    t.equal(chosen(only="net::*", **{"not": "*_out"}), {up, down, inner}, "-only and -not")
    t.equal(chosen(files="net/*"), everything, "-files=net/*")
    t.equal(chosen(files="lib/*,*.h"), set(), "-files=lib/*")
    t.equal(chosen(not_files="net/*"), set(), "-not-files=net/*")


@test
def sections_name_what_a_unit_uses(t):
    need(t)
    t.write("names", "elsewhere/2\n")
    text = ('#include "assay/tags.h"\nint x; static void s(void) { x++; }\n'
            'void f(void) { s(); ASSAY_TAG("a place, \\"so\\""); }\n')
    path = compiled(t, text)
    given = {line for line in lines_of(t.path("names"))} - {"elsewhere/2"}
    t.equal(set(section(t, path)), given, "embedded names")
    t.equal({line.rsplit("/", 1)[0] for line in given}, {"s@one.c", "f", 'a place, "so"'}, "names")
    t.true("assay_tags_image" in symbols(path), "the helper is asked for")
    t.true("assay_tags_image" not in symbols(compiled(t, text, trigger="nop")), "nop needs none")
    path = compiled(t, text, embed="no")
    t.equal(section(t, path), [], "with -embed=no")
    t.true("assay_tags_image" not in symbols(path), "with -embed=no")
    lines = run("readelf", "-SW", compiled(t, text)).out.splitlines()
    line = next(line for line in lines if "assay_tags_names" in line)
    t.true(re.search(r"PROGBITS .* A +0 +0 +1$", line.strip()), f"section: {line}")


TWO = ("int x;\nvoid f(void) { x++; }\nint g(int a) { if (a < 0) return 1;"
       " f(); return a * 2; }\n")


@test
def long_nops_carry_magic_and_tag(t):
    need(t)
    path = compiled(t, TWO, "-fno-inline", "-fno-reorder-blocks", trigger="nop")
    tags = {name: tag for tag, name in names_in(t.path("names")).items()}
    got = []
    text = run("objdump", "-d", "--insn-width=8", path).out
    for match in re.finditer(r"0f 1f 84 00 ((?:[0-9a-f]{2} ){3}5a)\s*nopl ", text):
        got.append(struct.unpack("<I", bytes.fromhex(match[1]))[0])
    want = {0x5A << 24 | tags[name] + end for name in ("f", "g") for end in (0, 1)}
    t.equal(set(got), want, "long NOPs")
    for dialect in ("-masm=intel", "-fpic"):
        other = run("objdump", "-d", "--insn-width=8", compiled(
            t, TWO, "-fno-inline", "-fno-reorder-blocks", dialect, trigger="nop")).out
        t.equal(len(re.findall("0f 1f 84 00 .. .. .. 5a", other)), len(got), dialect)


@test
def the_body_of_a_function_is_between_its_triggers(t):
    need(t)
    text = ("struct node { struct node *next; long value; };\n"
            "long follow(struct node *p) { return p->next->value; }\n"
            "long divide(long a, long b) { return a / b; }\n"
            "double quotient(double a, double b) { return a / b; }\n")
    for trigger, mark in (("nop", "nopl"), ("load", "testb"), ("ring", "rdtsc")):
        for level in ("-O1", "-O2", "-O3"):
            path = compiled(t, text, level, "-fomit-frame-pointer", trigger=trigger)
            for name, does in (("follow", ["mov", "mov"]), ("divide", ["idiv"]),
                               ("quotient", ["divsd"])):
                code = run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}",
                           path).out.split(f"<{name}>:")[1].split("ret")[0]
                words = re.findall(r"\t(\w+)", code)
                exit_at = len(words) - 1 - words[::-1].index(mark)
                inside = words[words.index(mark):exit_at]
                got = [word for word in inside if word in does]
                t.true(len(got) >= len(does), f"{trigger} {level} {name}: {' '.join(words)}")
                t.true(not [w for w in words[exit_at:] if w in ("idiv", "divsd")],
                       f"{trigger} {level} {name}: {' '.join(words)}")


@test
def loads_are_one_instruction_at_base_plus_tag(t):
    need(t)
    for dialect in ("-masm=att", "-masm=intel", "-fpic"):
        path = compiled(t, TWO, "-fno-inline", dialect, trigger="load")
        text = run("objdump", "-dr", path).out
        tags = names_in(t.path("names"))
        # The field counts from its own address, the processor from the end of it and of the
        # immediate.
        got = {int(n or "0", 16) + 5
               for n in re.findall(r"testb .*\n.*PC32\s+assay_tags_base(\S*)", text)}
        t.equal(got, {tag + end for tag in tags for end in (0, 1)}, f"{dialect}: tags read")


@test
def rings_are_written_by_the_sequence_of_the_contract(t):
    need(t)
    want = ("mov mov lfence rdtsc shl or mov xadd lea sub cmp jae mov shr cmp jne shl or cmp jb mov").split()
    for dialect in ("-masm=att", "-masm=intel", "-fpic"):
        path = compiled(t, "int x;\nvoid f(void) { x++; }\n", dialect, "-fomit-frame-pointer",
                        "-fcf-protection=none", trigger="ring")
        text = run("objdump", "-d", "--no-show-raw-insn", "--disassemble=f", path).out
        got = [line.split("\t")[1].split()[0] for line in text.splitlines() if "\t" in line]
        t.equal(got[:len(want)], want, f"{dialect}: instructions of the entry")
        t.true({"assay_tags_self", "assay_tags_slow"} <= symbols(path), "what it refers to")
        # After the jump of the slow path: the tag, and the address to continue at.
        code = t.path("text.bin")
        run("objcopy", "-O", "binary", "--only-section=.text", path, code)
        found = re.findall(rb"(?s)\xff\x25....(....)(....)", code.read_bytes())
        t.equal([struct.unpack("<I", tag)[0] for tag, _ in found], [2, 3], "tags of slow ways")


@test
def kernels_keep_their_always_inlines(t):
    need(t)
    text = ("int x;\nstatic inline __attribute__((always_inline)) void always(void) { x++; }\n"
            "__attribute__((section(\".noinstr.text\"))) void quiet(void) { x--; }\n"
            "void f(void) { always(); }\n")
    path = compiled(t, text, "-mcmodel=kernel", "-fno-pic", trigger="nop")
    t.equal([line.split("/")[0] for line in section(t, path)], ["f"], "names")
    t.has(compiled(t, text, "-mcmodel=kernel", "-fno-pic", status=1), "a kernel has no rings")


LINUX = """
#ifdef FILE
#line 1 FILE
#endif
#define SECTION(name) __attribute__((section(name)))
#define notrace __attribute__((no_instrument_function))
#define noinstr __attribute__((noinline)) notrace SECTION(".noinstr.text")
int x;
static __attribute__((noinline)) void own(void) { x++; }
void plain(void) { own(); }
void SECTION(".head.text") early(void) { x++; }
void SECTION(".init.text") init(void) { x++; }
void notrace untraced(void) { x++; }
void __attribute__((patchable_function_entry(0, 0))) unpatched(void) { x++; }
void noinstr quiet(void) { x++; }
void noinstr do_syscall_64(void) { x++; }
void noinstr exc_page_fault(void) { x++; }
void noinstr common_interrupt(void) { x++; }
void noinstr sysvec_apic_timer_interrupt(void) { x++; }
void SECTION(".irqentry.text") of_section(void) { x++; }
void SECTION(".cpuidle.text") default_idle(void) { x++; }
void __switch_to(void) { x++; }
"""
KERNEL = ["-mcmodel=kernel", "-fno-pic", "-D__KERNEL__"]


def names_of_linux(t, file, *flags, trigger="nop", **others):
    """The names, with their marks, of LINUX as this file of the kernel's sources."""
    t.path("names").unlink(missing_ok=True)
    path = t.path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    compiled(t, LINUX, *flags, name=file, trigger=trigger, **others)
    if not t.path("names").exists():
        return set()
    return {re.sub(r"/\d+", "", line) for line in lines_of(t.path("names"))}


@test
def functions_of_the_kernel_are_chosen_and_marked(t):
    need(t)
    calls = {"plain", "own@kernel/a.c", "init"}
    marked = {"of_section^", "default_idle~", "__switch_to!"}
    entries = {"do_syscall_64", "exc_page_fault", "common_interrupt^",
               "sysvec_apic_timer_interrupt^"}
    t.equal(names_of_linux(t, "kernel/a.c", *KERNEL), calls | marked | entries, "kernel/a.c")
    t.equal(names_of_linux(t, "kernel/a.c", *KERNEL, trigger="call"), calls | marked,
            "a trigger with an effect")
    ordinary = {name.rstrip("!~^") for name in calls | marked} | {"early", "unpatched"}
    t.equal(names_of_linux(t, "kernel/a.c"), ordinary, "a program")


@test
def programs_within_the_kernel_get_no_triggers(t):
    need(t)
    for file in ("arch/x86/entry/vdso/vclock_gettime.c", "arch/x86/purgatory/purgatory.c",
                 "arch/x86/boot/compressed/misc.c"):
        t.equal(names_of_linux(t, file, "-fPIC", "-D__KERNEL__"), set(), file)
        t.true(names_of_linux(t, file, "-fPIC"), f"{file} of another program")
    t.true(names_of_linux(t, "arch/x86/entry/vdso/vma.c", *KERNEL), "the kernel's part")
    for file in ("arch/x86/mm/mem_encrypt_identity.c", "include/linux/page-flags.h"):
        names = names_of_linux(t, "kernel/a.c", *KERNEL, f'-DFILE="{file}"')
        t.equal({name for name in names if "own@" in name or "plain" in name}, set(), file)


@test
def files_are_relative_to_the_root(t):
    need(t)
    marked = {"of_section^", "default_idle~", "__switch_to!", "common_interrupt^",
              "sysvec_apic_timer_interrupt^"}
    t.equal(names_of_linux(t, "src/net/a.c", *KERNEL, root=t.path("src"), files="net/*",
                           only="own"), {"own@net/a.c"} | marked, "names")
    t.equal(names_of_linux(t, "src/fs/a.c", *KERNEL, root=t.path("src"), files="net/*"), marked,
            "another folder: the time of each process, of interrupts and idle time are known")
    t.equal(names_of_linux(t, "src/fs/a.c", *KERNEL, root=t.path("src"), files="net/*",
                           **{"not": "__*,*_interrupt", "not_files": "fs/b.c"}),
            {"of_section^", "default_idle~"}, "names that are excluded")
    t.has(compiled(t, "int f(void) { return 1; }\n", root="", status=1), "directory of the sources")


@test
def a_mark_of_the_names_file_stays(t):
    need(t)
    t.write("names", "__switch_to/8\n")
    compiled(t, "int x;\nvoid __switch_to(void) { x++; }\nvoid default_idle(void) { x--; }\n",
             *KERNEL, trigger="nop")
    t.equal(lines_of(t.path("names")), ["__switch_to/8", "default_idle/10"], "names")


@test
def link_time_code_needs_the_plugin_too(t):
    need(t)
    path = compiled(t, "int main(void) { return 0 * 2; }\nint f(int x) { return x; }\n", "-flto")
    result = run("gcc", "-flto", "-O2", path, "-o", t.path("program"), status=None)
    t.true(result.status != 0, "it should not link")
    t.has(result.err, "give -fplugin=assay_tags.so and its arguments to the link, too")


@test
def wrong_plugin_arguments_are_refused(t):
    need(t)
    text = "int f(int x) { return x + 1; }\n"
    t.has(compiled(t, text, trigger="bell", status=1), "ring, nop, load and call")
    t.has(compiled(t, text, hook="mine", status=1), "trigger=call")
    t.has(compiled(t, text, trigger="call", hook="a-b", status=1), "a C function")
    t.has(compiled(t, text, embed="maybe", status=1), "yes or no")
    t.has(compiled(t, text, only=",", status=1), "give patterns separated by commas")
    t.has(compiled(t, text, colour="red", status=1), "no such argument")
    source = t.write("one.c", text)
    got = run("gcc", "-c", f"-fplugin={PLUGIN}", source, "-o", t.path("x.o"), status=1).err
    t.has(got, "names=FILE is missing")
    t.has(run("gcc", "-c", *arguments(""), source, "-o", t.path("x.o"), status=1).err, "names")
    got = compiled(t, 'void f(void) { asm("# assay tag a/b"); }\n', status=1)
    t.has(got, "one.c:1")
    t.has(got, "cannot be an inline tag")


@test
def invalid_names_files_are_refused(t):
    need(t)
    text = "int f(int x) { return x + 1; }\n"
    for line, says in (("nonsense", "there is no / before a tag"), ("f/x2", "is no tag"),
                       ("f/16773120", "is no tag"), ("/2", "there is no name"),
                       ("f/3", "even"), ("g/2", "'s in line 2"), ("f/9000\nf/9002", "has tag"),
                       ("f/2 # mine", "is no tag"), ("f/-4", "is no tag")):
        t.write("names", "# a comment\nother/2\n" + line + "\n")
        got = compiled(t, text, status=1)
        t.has(got, f"names:{3 + line.count(chr(10))}: ")
        t.has(got, says)
        t.equal(t.path("names").read_text(), "# a comment\nother/2\n" + line + "\n", "the file")
    t.path("names").unlink()
    t.path("names").mkdir()
    t.has(compiled(t, text, status=1), "names")
    source = t.write("one.c", text)
    for path in ("/proc/names", t.path("nowhere/names")):
        got = run("gcc", "-c", *arguments(path), source, "-o", t.path("x.o"), status=1).err
        t.has(got, f"{path}: cannot be extended")


@test
def when_tags_run_out_the_files_that_took_them_are_named(t):
    need(t)
    text = "int f(int x) { return x + 1; }\nint g(int x) { return x + 2; }\n"
    lines = "# from src/big.c\n" + "".join(f"b{tag}/{tag}\n" for tag in range(2, 60, 2))
    lines += "# from src/small.c\nlast/65532\n"
    t.write("names", lines)
    got = compiled(t, text, trigger="load", status=1)
    t.has(got, "g finds no tag: all up to 65535 are taken (the trigger that loads has 16 bits)")
    t.has(got, "Most are of src/big.c (58), src/small.c (2)")
    t.equal(t.path("names").read_text(), lines, "the file")
    compiled(t, text, trigger="nop")
    t.has(t.path("names").read_text(), "f/65534\ng/65536\n")
    t.write("names", "last/16773118\n")
    t.has(compiled(t, text, trigger="nop", status=1), "all up to 16773119 are taken")


main()
