# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of generated programs, whose call structure is known: of each linker and compiler, many
options, and each way in which a function ends or is entered (known_stacks.py). At least 99 % of the
samples are whole and right, and no caller is invented. ASSAY_LONG: two hundred programs by chance."""

import shutil

import known_stacks
from harness import ASSAY, LONG, Failure, long_test, main, run, test_of_shares
from known_stacks import Form

LEAST = 0.99
# A switch of stacks in assembly without unwind tables is not right for a few instructions.
LEAST_EACH = 0.97

# Each linker, mode, kind of table and leaf at least once.
FIXED = (
    Form(1, "gcc", "bfd", "pie", ("lazy", "separate-code"), ("O2", "endbr"), "eh", "plain",
         ("plt", "ifunc", "tail")),
    Form(2, "clang", "lld", "no-pie", ("now", "no-rosegment"), ("O1",), "eh", "stripped", ("plt", "ifunc", "noreturn")),
    Form(3, "gcc", "gold", "pie", ("rosegment", "gc-sections"), ("Os", "no-plt"), "debug-frame", "separate",
         ("signal", "vdso", "noreturn")),
    Form(4, "clang", "mold", "static-pie", ("relr",), ("O3", "no-endbr"), "eh", "plain", ("ifunc", "coroutine", "tail")),
    Form(5, "gcc", "lld", "static", ("gc-sections",), ("O2", "protector"), "debug-frame", "compressed",
         ("ifunc", "alloca", "thread")),
    Form(6, "gcc", "mold", "pie", ("lazy", "no-build-id"), ("O0",), "eh", "split-dwarf", ("bare", "fiber", "signal")),
    Form(7, "rustc", "bfd", "pie", ("now",), ("O3",), "eh", "plain", ("plt", "noreturn", "virtual")),
    # A stack deeper than its copy, with frame pointers.
    Form(9, "clang", "lld", "pie", ("rosegment",), ("O1", "frame-pointers"), "eh", "plain", ("deep", "bare", "alloca")),
    Form(8, "go", "bfd", "no-pie", ("lazy",), ("O2",), "eh", "plain", ("vdso", "deep", "thread")),
)


def usable(form):
    """Whether the tools for the form are installed."""
    return shutil.which(form.compiler) and shutil.which("mold" if form.linker == "mold" else f"ld.{form.linker}")


def measured(t, form):
    """The verdict on a form, or None: the program cannot be built, or does not run by itself."""
    if not usable(form):
        return None
    directory = t.path(str(form.number))
    directory.mkdir()
    try:
        program = known_stacks.build(form, directory)
    except Failure:
        if not LONG:
            raise
        return None
    if run(program.path, status=None).status:
        return None
    verdict = known_stacks.measure(program, ASSAY, directory)
    shutil.rmtree(directory)
    share = verdict.good / max(verdict.total, 1)
    text = f"{known_stacks.text_of(form)}: {verdict.good} of {verdict.total} right, " \
           f"{verdict.invented} with an invented caller, {verdict.misnamed} misnamed"
    if verdict.good < verdict.total or verdict.misnamed:
        text += "".join(f"\n  {n} {fault[:300]}" for fault, n in verdict.faults.most_common(4))
    print("# " + text.replace("\n", "\n# "), flush=True)
    t.true(verdict.total > 100, f"few samples: {text}")
    t.true(share >= LEAST_EACH, text)
    t.equal(verdict.misnamed, 0, f"functions with the name of another one: {text}")
    return verdict


def judged(t, forms, least):
    verdicts = [v for v in (measured(t, form) for form in forms) if v]
    if not verdicts:
        t.skip("no compiler and linker of the forms is installed")
    t.true(len(verdicts) >= least, f"only {len(verdicts)} programs were built and run")
    good, total = (sum(getattr(v, name) for v in verdicts) for name in ("good", "total"))
    t.true(good >= LEAST * total, f"{good} of {total} stacks are whole and right")
    t.equal(sum(v.invented for v in verdicts), 0, "stacks with an invented caller")


@test_of_shares
def stacks_of_each_linker_and_leaf_are_whole_and_right(t):
    judged(t, FIXED, 1)


@long_test
def stacks_of_two_hundred_programs_are_whole_and_right(t):
    judged(t, known_stacks.forms(220), 200)


main()
