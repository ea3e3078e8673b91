# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with known stacks, without frame pointers: at least 99 % of their call chains are whole,
and each chain is the known sequence of functions of the program, as perf reads it from assay's
recording and as gdb sees it at the same place."""

import collections
import os
import re
import shutil

from harness import main, run, test, test_of_shares

# As many samples as in a second at 997 Hz, in half of the time.
RATE = "1999"
SECONDS = "0.5"
# If the share of whole chains is below this, the unwinder has an error. The rest are instants for
# which no table is right, for example while an exception sets a new stack pointer.
LEAST_WHOLE = 0.99

START = r"_start>(__libc_start_main[^>]*>)?(__libc_start_call_main>)?main>"


def record(t, name, *words, rate=RATE):
    path = t.path(f"{name}.data")
    cache = {"XDG_CACHE_HOME": str(t.path("cache"))}
    t.assay("record", "-q", "-g", "-F", rate, "-o", path, "--", *words, env=cache, timeout=120)
    return path


def whole(t, path, least=LEAST_WHOLE):
    """The report's counts of stacks; fails if too few are whole."""
    stacks = t.report("-i", path, timeout=120)["stacks"]
    good = stacks["whole"] + stacks["stitched"]
    t.true(stacks["samples"] > 200, f"only {stacks['samples']} samples have a stack")
    t.true(good >= least * stacks["samples"], f"too few whole stacks: {stacks}")
    return stacks


def chains(t, path):
    """User functions of each sample, outermost first, as perf reads assay's file."""
    text = run("perf", "script", "-i", path, "-F", "ip,sym,dso", "--no-inline",
               "--max-stack", "2000", timeout=120).out
    for block in text.split("\n\n"):
        frames = re.findall(r"(?m)^\s*([0-9a-f]+) (\S+) \((.*)\)$", block)
        user = [name.split("@")[0] for _, name, dso in frames
                if not dso.startswith("[kernel") and not dso.startswith("[guest")]
        if user:
            yield ">".join(reversed(user))


def expect(t, path, innermost, pattern, least=LEAST_WHOLE):
    """Checks that chains that end in `innermost` match the pattern; returns the most frequent
    chain."""
    seen = collections.Counter(c for c in chains(t, path) if c.split(">")[-1] == innermost)
    total = sum(seen.values())
    good = sum(n for c, n in seen.items() if re.fullmatch(pattern, c))
    other = [c for c, _ in seen.most_common() if not re.fullmatch(pattern, c)][:3]
    t.true(total >= 100, f"only {total} samples in {innermost}")
    t.true(good >= least * total, f"{good} of {total} chains fit {pattern}; others: {other}")
    return seen.most_common(1)[0][0]


def gdb_chain(t, program, *words, at="spin_leaf"):
    """The functions that gdb sees at a place, outermost first."""
    t.need("gdb")
    text = run("gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off",
               "-ex", "set confirm off", "-ex", "set breakpoint pending on",
               "-ex", "set backtrace past-main on",
               "-ex", f"break {at}", "-ex", "handle SIGUSR1 nostop noprint pass",
               "-ex", "run", "-ex", "bt -frame-info short-location", "--args", program, *words,
               timeout=120, status=None).out
    names = re.findall(r"(?m)^#\d+\s+(?:<([^>]+)>|(?:0x[0-9a-f]+ in )?(\S+))", text)
    found = [signal and "<signal>" or name for signal, name in names]
    t.true(found, f"gdb gave no backtrace: {text[-600:]}")
    return ">".join(reversed(found))


def alike(chain):
    """Makes names of functions comparable: C libraries have several names for one function."""
    chain = re.sub(r"__libc_start_main[^>]*", "__libc_start_main", chain)
    chain = re.sub(r"__restore_rt|<signal>", "<signal>", chain)
    # The first function of a coroutine has a name only in the symbol table.
    chain = re.sub(r"^(\?\?>)+|^__start_context>", "", chain)
    # raise() is a chain of static functions of the C library's own, inlined or not.
    return re.sub(r">(__pthread_kill\w*>|pthread_kill\w*>|__GI_\w*>|raise>)+", ">", chain)


def seen_by_gdb(t, path, program, *words, at, among=100, through=False):
    """The sequence that gdb sees when it first reaches a function is one that was sampled. `through`:
    the function is short and has callers at several places, so its caller was sampled, too."""
    if not shutil.which("gdb"):
        return
    ours = collections.Counter(alike(c).replace("[unknown]", "??") for c in chains(t, path))
    want = alike(gdb_chain(t, program, *words, at=at))
    caller = want.rpartition(">")[0]
    seen = ours[want] > 0 or through and any(c == caller or c.startswith(caller + ">") for c in ours)
    t.true(seen, f"gdb sees {want}, which is none of {ours.most_common(among)}")


def known(t, mode, pattern, *words, innermost="spin_leaf", program="stacks", gdb=True,
          least=LEAST_WHOLE, rate=RATE, seconds=SECONDS):
    t.need("perf")
    path = record(t, mode, t.workload(program), mode, seconds, *words, rate=rate)
    whole(t, path, least)
    got = expect(t, path, innermost, pattern, least)
    if gdb and shutil.which("gdb"):
        want = gdb_chain(t, t.workload(program), mode, "20", *words, at=innermost)
        t.equal(alike(got), alike(want), f"the commonest chain of {mode}")


@test
def leaf_functions(t):
    known(t, "leaf", START + "(turn>)?spin_leaf")


@test_of_shares
def recursion_of_20_and_1000(t):
    known(t, "recurse", START + "(turn>)?(recurse>){20}spin_leaf")
    known(t, "recurse", START + "(turn>)?(recurse>){1000}spin_leaf", "1000")


@test_of_shares
def time_at_every_depth(t):
    known(t, "depths", START + "(turn>)?(recurse_spin>){1,100}spin_leaf", "100", gdb=False)


@test_of_shares
def twenty_thousand_deep(t):
    t.need("perf")
    path = record(t, "depths", t.workload("stacks"), "depths", "1.5", "20000")
    stacks = whole(t, path)
    t.true(stacks["stitched"] > stacks["samples"] / 2, f"few are stitched: {stacks}")
    for chain in chains(t, path):
        t.true(chain.count(">") < 1100, "a chain is longer than the innermost part should be")
        if chain.endswith("spin_leaf") and "main" not in chain:
            t.true(re.fullmatch("(recurse_spin>)+spin_leaf", chain), f"not one of ours: {chain}")


@test
def twenty_thousand_deep_at_the_bottom(t):
    path = record(t, "bottom", t.workload("stacks"), "bottom", "1", "20000")
    whole(t, path)
    tree = t.report("-g", "-i", path)["tree"]
    levels = 0
    while tree["name"] != "spin_leaf":
        tree = max(tree["children"], key=lambda node: node["samples"])
        levels += tree.get("recursion", 1) if "image" in tree else 0
    t.need("gdb")
    text = run("gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off",
               "-ex", "set backtrace past-main on", "-ex", "set backtrace limit 30000",
               "-ex", "break spin_leaf", "-ex", "run", "-ex", "bt -3", "--args",
               t.workload("stacks"), "bottom", "20", "20000", timeout=120).out
    t.equal(levels, int(re.findall(r"(?m)^#(\d+)", text)[-1]) + 1, "frames from top to bottom")


@test
def variable_frames(t):
    known(t, "alloca", START + "(turn>)?(vary>){40}spin_leaf", "40")


@test
def realigned_frames(t):
    known(t, "realigned", START + "(turn>)?(realigned_arguments>){10}(realigned>){5}spin_leaf")


@test
def signal_handlers(t):
    known(t, "signal", START + r"(turn>)?(raises>){10}.*>__restore_rt>on_signal>spin_leaf")


@test_of_shares
def signal_handlers_on_their_own_stack(t):
    # The interrupted stack is not part of a copy: it is read from the process, or known from
    # earlier samples. Those of the first moments are missing, so it runs longer, and a recorder
    # that falls behind reads it too late.
    known(t, "altstack", START + r"(turn>)?(raises>){10}.*>__restore_rt>on_signal>spin_leaf",
          rate="997", seconds="1")


@test
def long_jumps(t):
    known(t, "longjmp", START + "(turn>)?(jumps>){1,20}spin_leaf", gdb=False)
    seen_by_gdb(t, t.path("longjmp.data"), t.workload("stacks"), "longjmp", "20", at="spin_leaf")


@test
def stubs_of_the_linkage_table(t):
    t.need("perf")
    path = record(t, "plt", t.workload("stacks"), "plt", SECONDS)
    whole(t, path)
    inside = [c for c in chains(t, path) if "spin_plt" in c]
    good = sum(1 for c in inside if re.match(START + "(turn>)?spin_plt(>|$)", c))
    t.true(len(inside) >= 100 and good >= LEAST_WHOLE * len(inside),
           f"{good} of {len(inside)} lead to spin_plt")
    seen_by_gdb(t, path, t.workload("stacks"), "plt", "20", at="spin_plt")


@test
def stubs_that_no_section_describes(t):
    """Of lld, which writes no unwind tables for them: functions, and functions chosen at the start."""
    t.need("ld.lld")
    source = t.path("stubs.c")
    source.write_text("static void *pick(void); void stub(void) __attribute__((ifunc(\"pick\")));"
                      "void other(void); static void chosen(void) { __asm__ volatile(\"\"); }"
                      "static void *pick(void) { return chosen; }"
                      "__attribute__((noinline)) void hot(long n)"
                      "{ while (n--) { stub(); other(); } }"
                      "int main(void) { hot(60000000); return 0; }")
    t.path("other.c").write_text("void other(void) { __asm__ volatile(\"\"); }")
    for name, other, flags in (("lazy", ["-shared"], ["-Wl,-z,lazy"]), ("now", ["-shared"], ["-Wl,-z,now"]),
                               ("static", ["-c"], ["-static"])):
        t.run("clang", "-O1", "-fPIC", *other, "-o", t.path("other.o"), t.path("other.c"))
        t.run("clang", "-O1", "-fuse-ld=lld", *flags, "-o", t.path("stubs"), source, t.path("other.o"))
        path = record(t, name, t.path("stubs"))
        got = list(chains(t, path))  # perf has no names for these stubs
        good = sum(1 for c in got if ">main>hot" in c)
        alone = [c for c in got if ">" not in c and c != "_start"]
        t.true(good >= 100 and len(alone) <= (1 - LEAST_WHOLE) * good,
               f"{name}: {good} lead to hot, and {len(alone)} have no caller: {alone[:3]}")


@test
def the_vdso(t):
    t.need("perf")
    path = record(t, "vdso", t.workload("stacks"), "vdso", SECONDS)
    whole(t, path)
    inside = [c for c in chains(t, path) if "spin_vdso>" in c]
    good = sum(1 for c in inside if re.match(START + "(turn>)?spin_vdso>", c))
    t.true(len(inside) >= 100 and good >= LEAST_WHOLE * len(inside),
           f"{good} of {len(inside)} lead to spin_vdso")


@test
def coroutines(t):
    known(t, "coroutine", r"__start_context>coroutine_main>(coroutine_inner>){8}spin_leaf")


@test
def threads(t):
    known(t, "threads", r"(__)?clone3?>start_thread>thread_main>(recurse>){10}spin_leaf")


@test
def stripped(t):
    whole(t, record(t, "stripped", t.workload("stacks_stripped"), "recurse", SECONDS, "50"))


@test
def static_pie(t):
    if not os.path.exists(os.path.join(os.path.dirname(t.workload("stacks")), "stacks_static")):
        t.skip("this compiler makes no static-pie")
    known(t, "recurse", START + "(turn>)?(recurse>){30}spin_leaf", "30", program="stacks_static")


@test
def exceptions(t):
    t.need("perf")
    path = record(t, "cpp", t.workload("stacks_cpp"), SECONDS)
    whole(t, path)
    inside = [c for c in chains(t, path) if "catches" in c]
    t.true(len(inside) >= 100, f"only {len(inside)} samples below catches()")
    bad = [c for c in inside if not re.match(START + "catches", c)]
    t.true(len(bad) <= (1 - LEAST_WHOLE) * len(inside), f"not from main: {bad[:3]}")
    # During a throw, while the unwinder of the C++ library runs.
    seen_by_gdb(t, path, t.workload("stacks_cpp"), "20", at="_Unwind_Find_FDE", through=True)


@test
def assembly_with_tables(t):
    t.need("perf")
    path = record(t, "asm", t.workload("stacks_asm"), SECONDS)
    whole(t, path)
    got = expect(t, path, "asm_spin", START + "asm_outer>asm_saved_in_register>asm_spin")
    if shutil.which("gdb"):
        want = gdb_chain(t, t.workload("stacks_asm"), "20", at="asm_spin")
        t.equal(alike(got), alike(want), "the chain in assembly")


@test
def stacks_are_walked_by_unwind_tables_only(t):
    """-g dwarf: frame pointers are not used, and are not necessary here."""
    t.need("perf")
    path = t.path("dwarf.data")
    t.assay("record", "-q", "-g", "dwarf", "-F", RATE, "-o", path, "--", t.workload("stacks"),
            "recurse", SECONDS, "200", env={"XDG_CACHE_HOME": str(t.path("cache"))}, timeout=120)
    whole(t, path)
    expect(t, path, "spin_leaf", START + "(turn>)?(recurse>){200}spin_leaf")


@test
def copies_made_by_perf(t):
    """perf's own recordings with copied stacks are walked by the report."""
    t.need("perf")
    path = t.path("perf.data")
    run("perf", "record", "-q", "-B", "-F", "999", "--call-graph", "dwarf,16384", "-o", path, "--",
        t.workload("stacks"), "recurse", SECONDS, "150", timeout=120)
    whole(t, path)


main()
