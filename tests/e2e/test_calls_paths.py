# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of call paths are exact in lua and sqlite3's shell, built by GCC and Clang at -O3.

Each path of one run is compared with the count of shadow.c, which uses only the order of entries
and exits (see test_calls_recursion.py). lua ends calls by longjmp(), which has no exits. Its one
setjmp() is in the macro LUAI_TRY, which a header of this test defines: it saves the shadow's count
of open calls before setjmp() and puts it back after a jump. The runtime gets no such help.

The build of lua by GCC always runs; the other three builds take minutes and run with --long only.
"""

from harness import LONG, ROOT, main, test
from package_programs import (LUA_FLAGS, SQLITE3_FLAGS, compile_all, link, lua_files,
                              sqlite3_files)
from shadow_count import Paths, measure, shadow_library

SCRIPTS = ROOT / "tests" / "workloads" / "calls"
COMPILE = ["-O3", "-w", "-finstrument-functions"]

# A fixed seed of lua's hashes makes a failure easier to repeat.
TRY = """
#include <setjmp.h>
__attribute__((weak)) int shadow_depth;
#define luai_jmpbuf jmp_buf
#define LUAI_THROW(L, c) _longjmp((c)->b, 1)
#define LUAI_TRY(L, c, a) \\
	{ \\
		int depth_before = shadow_depth; \\
		if (_setjmp((c)->b) == 0) { \\
			a \\
		} else \\
			shadow_depth = depth_before; \\
	}
#define luai_makeseed(L) 4711
"""


def check(t, what, command, **options):
    paths = Paths()
    truth, wrong = measure(t, shadow_library(t), paths, command, timeout=120, **options)
    print(f"# {what}: {sum(truth.values())} calls in {len(truth)} paths", flush=True)
    t.true(not wrong, "\n".join(wrong))
    return {paths.text(path).split(";")[-1] for path in truth}


def lua(t, compiler):
    t.need("gcc", compiler)
    directory = t.path(f"lua-{compiler}")
    directory.mkdir()
    (directory / "try.h").write_text(TRY)
    compile_all(t, directory, lua_files(directory),
                [compiler, *COMPILE, *LUA_FLAGS, "-I.", "-include", "try.h"])
    program = link(t, directory, "lua", [compiler, "-rdynamic"], "-lm")
    called = check(t, f"lua, {compiler} -O3", [program, SCRIPTS / "paths.lua"])
    t.true({"luaD_throw", "lua_resume", "match", "subexpr", "auxsort"} <= called,
           "the script called what recurses, throws and yields")


def sqlite3(t, compiler, files):
    t.need("gcc", compiler)
    directory = t.path(f"sqlite3-{compiler}")
    directory.mkdir()
    compile_all(t, directory, files,
                [compiler, *COMPILE, *SQLITE3_FLAGS, f"-I{t.path('tree')}"])
    program = link(t, directory, "sqlite3", [compiler, "-rdynamic"], "-lm")
    # No configuration file of the user is read. Two statements are wrong, so the shell's exit
    # status is not 0.
    called = check(t, f"sqlite3, {compiler} -O3", [program, "-init", "/dev/null", ":memory:",
                                                  f".read {SCRIPTS / 'paths.sql'}"], status=1)
    t.true({"sqlite3VdbeExec", "sqlite3Select", "balance_nonroot"} <= called,
           "the statements did their work")


@test
def paths_of_lua_by_gcc_with_all_optimisation(t):
    lua(t, "gcc")


if LONG:
    @test
    def paths_of_lua_by_clang_with_all_optimisation(t):
        lua(t, "clang")

    @test
    def paths_of_sqlite3_by_gcc_and_clang_with_all_optimisation(t):
        t.need("make", "tclsh")
        files = sqlite3_files(t, t.path("tree"))
        for compiler in ("gcc", "clang"):
            sqlite3(t, compiler, files)


main()
