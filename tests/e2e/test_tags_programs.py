# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs from Debian's sources with triggers: each function has one on every way in and
out (trigger_sites.py proves it from the machine code), and the programs' own tests pass,
with each kind of trigger.

lua and zlib are C, tinyxml2 is C++; zstd and jsoncpp, which take minutes, and all kinds of triggers
in each program are run with --long. A second check shows that no function is missing: each function that
-finstrument-functions instruments without optimisation has an entry here, or a reason.
"""

import glob
import os
import random
import re
import shutil
import subprocess

from harness import ASSAY, LONG, main, run, test
from machine_code import Image
from package_programs import JOBS, LUA_FLAGS, lua_files, source
from time_limit import limit
from trigger_sites import TriggerSites

KINDS = ("ring", "nop", "load", "call")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os") if LONG else ("-O2",)

# Functions that compilers and libraries add to a program, from their own objects.
ADDED = {"_start", "_init", "_fini", "_dl_relocate_static_pie", "deregister_tm_clones",
         "register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "tell_names", "atexit",
         "at_quick_exit"}


class Program:
    """How a program is built: files, flags, libraries. A file with its own flags: (path, flag...)."""

    def __init__(self, files, flags=(), libraries=(), compiler="gcc"):
        self.files = [(f,) if isinstance(f, (str, os.PathLike)) else f for f in files]
        self.flags = list(flags)
        self.libraries, self.compiler = list(libraries), compiler

    def build(self, t, name, more, link=()):
        """Compiles the files, several at a time; returns the program's path."""
        directory = t.path(name + ".objects")
        directory.mkdir()
        waiting, running, failed = list(self.files), [], []
        while waiting or running:
            while waiting and len(running) < JOBS:
                path, *own = waiting.pop()
                out = f"{directory}/{len(waiting)}.o"
                running.append(t.start(self.compiler, "-g1", "-w", "-fno-pie", *self.flags, *own,
                                       *more, "-c", path, "-o", out, stderr=subprocess.PIPE))
            done = running.pop(0)
            error = done.communicate(timeout=limit(300))[1].decode(errors="replace")
            if done.returncode:
                failed.append(f"{done.args[-3]}: {error[-500:]}")
        t.true(not failed, "\n".join(failed))
        t.run(self.compiler, "-no-pie", *sorted(glob.glob(f"{directory}/*.o")), "-o", t.path(name),
              *self.libraries, *link, timeout=120)
        return t.path(name)

    def tagged(self, t, name, kind, level):
        """Builds the program with triggers; returns the program, and its proof."""
        names = t.path(name + ".names")
        flags = [ASSAY, "tags", "flags", "--names", names, "--trigger", kind]
        program = self.build(t, name, [level, *run(*flags, "--cflags").out.split()],
                             run(*flags, "--libs").out.split())
        return program, TriggerSites(program, [names], kind)


def proven(t, sites, what):
    t.equal(sites.wrong[:10], [], f"{what}: wrong")
    t.equal(sites.unproven[:10], [], f"{what}: not followed")
    t.true(len(sites.entered) > 50, f"{what}: only {len(sites.entered)} functions have an entry")
    print(f"# {what}: {len(sites.triggers)} triggers, {len(sites.entered)} functions and "
          f"{len(sites.inlined)} inlined", flush=True)


# (program, kind) -> TriggerSites of the build at -O2.
_sites = {}


def all_kinds(t, name, program, own_tests, short):
    """`own_tests(command)` runs the program's own tests; `command` is the program, and the command
    that runs it. `short`: the kinds of the short form."""
    for level in LEVELS:
        for kind in KINDS if LONG else short:
            what = f"{name}{level}-{kind}"
            path, sites = program.tagged(t, what, kind, level)
            proven(t, sites, what)
            if level == "-O2":
                _sites[name, kind] = sites
            own_tests([ASSAY, "tags", "-q", "-o", t.path("tags"), "--", path]
                      if kind == "ring" else [path])


def instrumented(path):
    """Functions that call the hook of -finstrument-functions."""
    image, found = Image(path), set()
    image.disassemble()
    for at, text in image.code.items():
        if "__cyg_profile_func_enter" in text and text.startswith(("call", "jmp")):
            found |= {f.name for f in image.at(at)}
    return found


def does_nothing(sites, name):
    """True for an empty body: at -O0, only its frame and the places of its arguments."""
    (start,) = {f.start for f in sites.image.functions if f.name == name}
    end = sites.image.by_start[start][0].end
    plain = re.compile(r"push +%rbp|mov +%rsp,%rbp|mov\w* +%\w+,-0x[0-9a-f]+\(%rbp\)|nopl? *.*|"
                       r"pop +%rbp|leave|ret|sub +\$0x[0-9a-f]+,%rsp|endbr64|xchg +%ax,%ax")
    return all(plain.fullmatch(sites.image.code[at]) for at in sites.image.order
               if start <= at < end)


def nothing_forgotten(t, name, program, made_up):
    """Compares all functions at -O0. `made_up`: functions that the compiler adds to the source."""
    cyg = program.build(t, name + "-cyg", ["-O0", "-finstrument-functions"])
    _, sites = program.tagged(t, name + "-O0", "nop", "-O0")
    proven(t, sites, name + "-O0")
    must = instrumented(cyg)
    t.true(len(must) > 100, f"only {len(must)} functions are instrumented")
    forgotten = [f for f in sorted(must - sites.entered)
                 if not made_up(f) and not does_nothing(sites, f)]
    t.equal(forgotten, [], "functions without a trigger")
    more = [f for f in sorted(sites.entered - must)]
    t.equal(more, [], "functions with a trigger that should have none")
    left = [f for f in sorted(sites.bare - must - ADDED)]
    t.true(not [f for f in left if not made_up(f)], f"functions that neither instruments: {left}")


def lua_program(t):
    return Program(lua_files(t.path(".")), [*LUA_FLAGS, f"-I{t.path('.')}"], ["-lm"])


SCRIPT = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words, seed = {}, 1
for i = 1, 2000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  words[i] = string.format("%08x", seed)
end
table.sort(words)
for i = 2, #words do assert(words[i - 1] <= words[i]) end
local caught = 0
for i = 1, 200 do
  if not pcall(function() if i % 2 == 0 then error("even") end end) then caught = caught + 1 end
end
local generator = coroutine.wrap(function() for i = 1, 500 do coroutine.yield(i * i) end end)
local sum = 0
for i = 1, 500 do sum = sum + generator() end
collectgarbage()
print(fib(15), caught, sum, load("return 6 * 7")(), (("x"):rep(9):gsub("x", "yy")))
"""


@test
def lua_has_triggers_on_every_path_and_works(t):
    t.need("gcc")
    script = t.write("script.lua", SCRIPT)

    def own_tests(command):
        t.equal(run(*command, script, cwd=t.path(".")).out,
                "610\t100\t41791750\t42\tyyyyyyyyyyyyyyyyyy\n", "the script's answer")

    all_kinds(t, "lua", lua_program(t), own_tests, ("ring", "nop"))


@test
def lua_nothing_is_forgotten(t):
    t.need("gcc")
    nothing_forgotten(t, "lua", lua_program(t), lambda name: False)


@test
def lua_each_trigger_that_is_missing_is_found(t):
    """A check of the proof itself: a program in which any one of the triggers is removed is found
    wrong."""
    t.need("gcc")
    sites = _sites.pop(("lua", "nop"), None) or lua_program(t).tagged(t, "lua", "nop", "-O2")[1]
    followed = set(sites.followed)
    chosen = random.Random(5).sample(sorted(sites.triggers), 200)
    for at in chosen:
        # On a path that ends the program, or after its end, no exit is necessary.
        if at not in followed or not all(sites.comes_back(f.start, at) for f in sites.image.at(at)):
            continue
        trigger = sites.triggers.pop(at)
        sites.wrong.clear()
        sites.bare.clear()
        within = {f.start for f in sites.image.at(at)}
        for start in list(within):
            within |= set(sites.whole.get(start, ()))
        sites.prove(within)
        # A function without any remaining trigger is reported as bare.
        t.true(sites.wrong or sites.bare,
               f"{sites.where(at)}: {sites.tag_name(trigger.tag)} was not missed")
        sites.triggers[at] = trigger


@test
def zlib_passes_its_tests(t):
    t.need("gcc")
    src = source("zlib")
    library = sorted(glob.glob(f"{src}/*.c"))
    for name in ("example", "infcover") if LONG else ("example",):
        program = Program([*library, f"{src}/test/{name}.c"],
                          ["-DZ_HAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1", f"-I{src}"])

        # Their exit status is the result.
        all_kinds(t, name, program, lambda command: run(*command, cwd=t.path(".")),
                  ("load", "call"))


def tinyxml2(t):
    src = source("tinyxml2")
    shutil.copytree(src, t.path("tree"))
    return Program([f"{src}/tinyxml2.cpp", f"{src}/xmltest.cpp"], [f"-I{src}"], compiler="g++")


@test
def tinyxml2_passes_its_tests(t):
    t.need("g++")
    program = tinyxml2(t)
    (t.path("tree") / "resources" / "out").mkdir(exist_ok=True)

    def own_tests(command):
        out = run(*command, cwd=t.path("tree"), timeout=100).out
        passed = re.search(r"Pass (\d+), Fail 0", out)
        t.true(passed and int(passed[1]) > 400, f"its tests: {out[-300:]}")

    all_kinds(t, "xmltest", program, own_tests, ("ring",))


@test
def tinyxml2_nothing_is_forgotten(t):
    """Functions of the compiler: deleting destructors, and implicit members."""
    t.need("g++")
    nothing_forgotten(t, "xmltest", tinyxml2(t), lambda name: re.search(
        r"D0Ev$|XMLVisitorC[12]Ev$|TestUtilD[12]Ev$|^_ZdlPvS_$|^_GLOBAL__|^_Z41__static_init", name))


ZSTD_MAIN = """
#include <string.h>
int fuzzer(int argc, const char **argv);
int zstreamtest(int argc, const char **argv);
int main(int argc, const char **argv)
{
	return !strcmp(argv[1], "fuzzer") ? fuzzer(argc - 1, argv + 1) : zstreamtest(argc - 1, argv + 1);
}
"""

# The tests that do not depend on the seed take minutes with rings (of fuzzer, with all kinds): -t1
# leaves them out.
ZSTD_TESTS = (("zstreamtest", "-i1", "-s1"), ("fuzzer", "-t1", "-i60", "-s1"),
              ("zstreamtest", "-t1", "-i20", "-s2"),
              ("zstreamtest", "--newapi", "-t1", "-i20", "-s3"))


def zstd_passes_its_tests(t):
    t.need("gcc")
    src = source("libzstd")
    library = [path for part in ("common", "compress", "decompress", "dictBuilder")
               for path in sorted(glob.glob(f"{src}/lib/{part}/*.c"))]
    helpers = [f"{src}/{path}.c" for path in ("programs/datagen", "programs/util",
                                              "programs/timefn", "tests/seqgen",
                                              "tests/external_matchfinder")]
    # Two programs share the library, which takes most of the time, so it is compiled once.
    tests = [(f"{src}/tests/{name}.c", f"-Dmain={name}") for name in ("fuzzer", "zstreamtest")]
    flags = ["-DZSTD_DISABLE_ASM", "-DZSTD_MULTITHREAD", "-DXXH_NAMESPACE=ZSTD_", "-pthread",
             *(f"-I{src}/{d}" for d in ("lib", "lib/common", "lib/compress", "lib/dictBuilder",
                                        "programs", "tests"))]
    program = Program([*library, *helpers, *tests, t.write("both.c", ZSTD_MAIN)], flags,
                      ["-pthread"])
    for kind in KINDS:
        path, sites = program.tagged(t, f"zstd-{kind}", kind, "-O2")
        proven(t, sites, f"zstd-{kind}")
        for words in ZSTD_TESTS[kind == "ring":]:
            # A trace of the whole run would have many GB, so only the end is traced.
            out = run(*([ASSAY, "tags", "-q", "--mode", "wrap", "--memory", "16", "-o",
                         t.path("tags"), "--"] if kind == "ring" else []),
                      path, *words, timeout=600).err
            t.has(out, "fuzzer tests completed", " ".join(words))


def jsoncpp_passes_its_tests(t):
    """Exceptions through inlined code, and code that is generated by the linker (LTO)."""
    t.need("g++")
    src = source("libjsoncpp")
    files = [path for part in ("lib_json", "test_lib_json")
             for path in sorted(glob.glob(f"{src}/src/{part}/*.cpp"))]
    for level, kind in (("-O2", "ring"), ("-O1", "call"), ("-O0", "load")):
        program = Program(files, [f"-I{src}/include", f"-I{src}/src/lib_json"], compiler="g++")
        path, sites = program.tagged(t, f"jsontest{level}-{kind}", kind, level)
        proven(t, sites, f"jsontest{level}-{kind}")
        out = run(*([ASSAY, "tags", "-q", "-o", t.path("tags"), "--"] if kind == "ring" else []),
                  path, cwd=t.path("."), timeout=300)
        t.has(out.out + out.err, "All 119 tests passed", "its tests")


if LONG:
    test(zstd_passes_its_tests)
    test(jsoncpp_passes_its_tests)


main()
