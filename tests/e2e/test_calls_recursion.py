# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of call paths are exact where compilers inline recursive functions into themselves.

Programs of recursive_programs.py, by GCC and Clang at -O0 to -O3, with a second count of their
paths in the same run (shadow.c). The second count uses only the order of the hooks' calls and their
functions. The runtime distinguishes frames by stack pointer, return address and call site. An exit
that does not match the last open entry fails the test. Paths of
-O0 and of the other levels are equal, too: inlining changes no path.
"""

from harness import LONG, main, test
from package_programs import run_all
from recursive_programs import TEXTBOOK, write_program
from shadow_count import Paths, differences, measure, shadow_library

COMPILERS = {"gcc": [[]], "clang": [[], ["-finstrument-functions-after-inlining"]] if LONG else [[]]}
LEVELS = ("-O0", "-O1", "-O2", "-O3")
PROGRAMS = 100 if LONG else 2


def build_all(t, source, name):
    """Programs by compiler, its further options, and level."""
    programs, waiting = {}, []
    for compiler, variants in COMPILERS.items():
        t.need(compiler)
        for options in variants:
            for level in LEVELS:
                program = t.path(f"{name}-{compiler}{level}{len(options)}")
                hooks = options or ["-finstrument-functions"]
                programs[compiler, *options, level] = program
                waiting.append([compiler, level, "-w", "-fwrapv", *hooks, source, "-o", program, "-rdynamic"])
    run_all(t, waiting)
    return programs


def check(t, library, seed, textbook):
    """Runs all builds of one program; returns the number of calls and paths."""
    source = t.write(f"program{seed}.c", write_program(seed, textbook))
    found, plain, calls, count, paths = [], {}, 0, 0, Paths()
    for build, program in build_all(t, source, f"program{seed}").items():
        truth, wrong = measure(t, library, paths, [program])
        if "-finstrument-functions-after-inlining" not in build:
            wrong += [f"against -O0: {text}"
                      for text in differences(plain.setdefault(build[0], truth), truth, paths)]
        found += [f"seed {seed}, {' '.join(build)}: {text}" for text in wrong]
        calls, count = calls + sum(truth.values()), count + len(truth)
        program.unlink()
    return found, calls, count


@test
def paths_of_recursive_programs_equal_a_count_by_order_of_entries_and_exits(t):
    library, wrong, calls, paths = shadow_library(t), [], 0, 0
    for seed in range(PROGRAMS):
        # The short form has every textbook recursion once.
        textbook = 3 if LONG else sorted(TEXTBOOK)[seed::PROGRAMS]
        found, some_calls, some_paths = check(t, library, seed, textbook)
        wrong, calls, paths = wrong + found, calls + some_calls, paths + some_paths
    print(f"# {PROGRAMS} programs, {calls} calls in {paths} paths", flush=True)
    t.true(not wrong, "\n".join(wrong))


main()
