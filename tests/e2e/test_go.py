# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole stacks and names of Go programs, whose only tables may be those of their runtime.

The truth is the structure of the program: main.spin is called by main.main and by main.worker, and
only runtime.main and the start of a goroutine are above them. In the second program (switches.go),
main.main alone calls functions that run on the stack of the thread.
"""

import collections
import os
import re
import shutil

from harness import go_environment, main, test_of_shares
from programs import ASSAY, LONG, ROOT, comment, report, run, skip, workdir

PROGRAMS = os.path.join(ROOT, "tests", "workloads", "runtimes")
SECONDS = 8 if LONG else 3
WHOLE = 0.95
END = "runtime.goexit"

CALLERS = {
    ("main.main", "runtime.main", END): "main",
    ("main.worker", "main.main.func1", END): "worker",  # Go 1.17 and later wrap the go statement
    ("main.worker", END): "worker",
}
OWN = {"main.spin", "main.fib", "main.(*node).insert", "main.words"}


def build(work, *options, cgo=False, source="work.go"):
    if not shutil.which("go"):
        skip("go is not installed")
    run(["go", "build", *options, "-o", f"{work}/work", f"{PROGRAMS}/{source}"], timeout=240, check=True,
        env={**os.environ, **go_environment(cgo)})
    return f"{work}/work"


def name_of(node):
    """Without the suffix for the calling convention, which the linker appends."""
    return re.sub(r"\.abi(0|internal)$", "", node["name"])


def callers_of_spin(node, above=()):
    """(names of the callers, innermost first, samples) of each main.spin in the call tree."""
    name = name_of(node)
    if name == "main.spin":
        yield above, node["samples"]
        return
    for child in node.get("children", []):
        yield from callers_of_spin(child, (name, *above))


def judge_truth(tree):
    callers, ends = collections.Counter(), collections.Counter()
    for process in tree["children"]:
        for begin in process["children"]:
            ends[name_of(begin)] += begin["samples"]
            for above, samples in callers_of_spin(begin):
                callers[above] += samples
    total = sum(callers.values())
    right = sum(n for above, n in callers.items() if above in CALLERS)
    seen = {CALLERS[above] for above in callers if above in CALLERS}
    comment(f"{right} of {total} chains of main.spin right; stacks end in {ends.most_common(7)}")
    assert total > 100, f"only {total} samples of main.spin"
    assert right >= 0.99 * total, f"chains of main.spin: {callers.most_common(5)}"
    assert seen == {"main", "worker"}, f"only {seen} called main.spin"
    assert ends[END] > 0.8 * sum(ends.values()), f"stacks end in {ends.most_common(8)}"


def judge(work, program):
    path = f"{work}/work.data"
    run([ASSAY, "record", "-g", "-F", "997", "-o", path, "--", program, str(SECONDS)],
        timeout=120, check=True)
    told = report(path, "-g", "--comm=work")
    stacks = told["stacks"]
    comment(f"{stacks['whole']} of {stacks['samples']} stacks whole; others: {stacks['reasons']}")
    assert stacks["samples"] > 500, f"only {stacks['samples']} samples"
    assert stacks["whole"] >= WHOLE * stacks["samples"], f"stacks: {stacks}"
    names = {f["function"] for f in told["functions"] if f["image"].endswith("/work")}
    assert OWN <= names, f"not named: {OWN - names}"
    unnamed = sum(f["share"] for f in told["functions"] if f["function"] == "[no symbol]")
    assert unnamed < 0.01, f"{unnamed:.3f} of the time has no name"
    judge_truth(told["tree"])


@test_of_shares
def go_has_whole_stacks_and_names(t):
    with workdir() as work:
        judge(work, build(work))


@test_of_shares
def stripped_go_has_whole_stacks_and_names(t):
    with workdir() as work:
        judge(work, build(work, "-ldflags=-s -w"))


@test_of_shares
def stripped_go_that_is_loaded_anywhere_has_whole_stacks_and_names(t):
    with workdir() as work:
        judge(work, build(work, "-buildmode=pie", "-ldflags=-s -w"))


@test_of_shares
def stripped_go_of_another_linker_has_whole_stacks_and_names(t):
    if not shutil.which("gcc"):
        skip("gcc is not installed")
    with workdir() as work:
        judge(work, build(work, "-buildmode=pie", "-ldflags=-s -w -linkmode=external", cgo=True))


# The callers of functions that read the clock on the stack of the thread: in other versions of Go
# the compiler inlines runtime.nanotime.
CLOCKS = re.compile(r"runtime\.(nanotime1?|walltime1?)$|time\.now$")
CLOCK_CALLERS = re.compile(r"time\.|runtime\.(nanotime|walltime)$|main\.")


def below(node, name, above="", inside=False):
    """(caller, name, in a frame of that name, samples of the row itself) of each row of the tree."""
    own = name_of(node)
    inside = inside or own == name
    children = node.get("children", [])
    yield above, own, inside, node["samples"] - sum(c["samples"] for c in children)
    for child in children:
        yield from below(child, name, own, inside)


@test_of_shares
def stacks_continue_on_the_goroutine_that_called_the_runtime(t):
    with workdir() as work:
        program = build(work, source="switches.go")
        run([ASSAY, "record", "-g", "-F", "997", "-o", f"{work}/a.data", "--", program, "2"],
            timeout=120, check=True)
        rows = list(below(report(f"{work}/a.data", "-g", "--comm=work")["tree"], "main.main"))
        total = sum(n for *_, n in rows)
        inside = sum(n for _, _, inside, n in rows if inside)
        pairs = {(above, own) for above, own, inside, _ in rows if inside}
        clocks = {pair for pair in pairs if CLOCKS.search(pair[1])}
        comment(f"{inside} of {total} samples below main.main; {len(pairs)} pairs, of clocks {clocks}")
        assert total > 100 and clocks, f"{total} samples, {pairs}"
        # The rest is the start of the runtime, its garbage collector and idle threads.
        assert inside > 0.9 * total, f"{inside} of {total} samples below main.main"
        wrong = {pair for pair in clocks if not CLOCK_CALLERS.match(pair[0])}
        assert not wrong, f"impossible callers: {wrong}"


main()
