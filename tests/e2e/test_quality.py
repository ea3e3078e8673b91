# SPDX-License-Identifier: GPL-2.0-or-later
"""The heading reports the quality of call chains. It is compared with chains that perf prints, with
the known call chains of a program, and with sums that must agree."""

import re

from harness import main, test, test_of_shares
from programs import assay, comment, record, report, run, skip, workdir, workload
import perf_script

# The first functions of programs and threads. Any other outermost function that perf prints is a
# broken chain.
BEGINNINGS = {"_start", "__clone3", "clone3", "__clone", "clone", "__GI___clone3", "__GI___clone"}
QUALITIES = ("whole", "stitched", "truncated", "broken", "unknown")

# Frame pointers in all code of the test, on threads whose first function is not libc's C code.
FRAMES = r"""
static volatile unsigned sink;
__attribute__((noinline)) void leaf(void)
{
	for (unsigned i = 0; i < 1000000; i++)
		sink += i;
	__asm__ volatile("");
}
__attribute__((noinline)) void down(unsigned depth)
{
	if (depth)
		down(depth - 1);
	else
		leaf();
	__asm__ volatile("");
}
__attribute__((noinline, used)) void begin(void)
{
	for (int i = 0; i < 1500; i++)
		down(i % 3 ? 5 : 200);
	__asm__ volatile("mov $60, %eax\n\txor %edi, %edi\n\tsyscall");
}
__asm__(".globl _start\n.type _start,@function\n_start: xor %ebp, %ebp\n\tand $-16, %rsp\n\t"
        "call begin\n\thlt\n.size _start,.-_start\n");
"""


def closes(stacks):
    """The samples are the sum over the qualities, and the reasons add up to the bad ones."""
    assert stacks["samples"] == sum(stacks[q] for q in QUALITIES), f"does not add up: {stacks}"
    bad = stacks["truncated"] + stacks["broken"]
    told = sum(r["samples"] for r in stacks["reasons"])
    assert told == bad, f"{bad} samples truncated or broken, reasons for {told}: {stacks}"
    named = sum(i["samples"] for i in stacks["images"])
    assert named <= bad and len(stacks["images"]) <= 3, f"images: {stacks}"
    assert bool(bad) == bool(stacks["images"]), f"images: {stacks}"


def stacks_of(path, *args):
    stacks = report(path, *args)["stacks"]
    assert stacks is not None, "no call chains in the recording"
    closes(stacks)
    return stacks


def chains(path, program):
    """The user's functions of each sample of the program, innermost first, as perf prints them."""
    text = perf_script.perf("script", "-i", path, "--comm", program, "--no-inline",
                            "-F", "event,ip,sym,dso")
    for block in re.split(r"\n\s*\n", text):
        head, _, body = block.strip("\n").partition("\n")
        if "cpu-clock" in head and "witness" not in head:
            frames = re.findall(r"(?m)^\s*([0-9a-f]+) (.*) \((.*)\)$", body)
            yield [symbol for _, symbol, dso in frames if "kernel" not in dso and
                   not dso.endswith(".ko")]


def built(work):
    """The program with frames of 200 and of 5 functions, one sample in three in the deep ones."""
    with open(f"{work}/frames.c", "w", encoding="utf-8") as f:
        f.write(FRAMES)
    done = run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-static",
                "-nostdlib", "-fno-stack-protector", "-o", f"{work}/frames", f"{work}/frames.c"])
    if done.status:
        skip(f"cannot build: {done.err}")
    return f"{work}/frames"


@test
def frame_pointers_are_judged_as_perf_prints_them(t):
    with workdir() as work:
        program = built(work)
        path = f"{work}/perf.data"
        perf_script.record(path, "-g", "-F", "2000", program)
        found = [c for c in chains(path, "frames") if c]
        whole = sum(c[-1] in BEGINNINGS for c in found)
        stacks = stacks_of(path, "--comm", "frames")
        comment(f"{len(found)} chains, {whole} begin in _start; {stacks}")
        assert len(found) > 100 and 0 < whole < len(found), "the program is no test"
        assert abs(stacks["samples"] - len(found)) <= len(found) // 100
        assert abs(stacks["whole"] - whole) <= 1 + len(found) // 200, \
            f"{stacks['whole']} whole, perf prints {whole}"
        # 200 frames are more than the kernel follows; no frame is broken.
        assert abs(stacks["truncated"] - (len(found) - whole)) <= 2 + len(found) // 100


@test_of_shares
def recorded_stacks_are_whole(t):
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, "-g", "-F", "2000", "--", workload("call"), "300")
        stacks = stacks_of(path)
        whole = stacks["whole"] + stacks["stitched"]
        comment(f"assay record -g: {stacks}")
        assert stacks["samples"] > 100, f"only {stacks['samples']} samples"
        assert whole >= 0.97 * stacks["samples"], f"{whole} of {stacks['samples']} are whole"
        text = assay("report", "--full", "-i", path).out
        assert re.search(r"(?m)^stacks +\d+\.\d %\s+whole", text), "no line in the heading"


@test_of_shares
def copies_of_perf_are_walked(t):
    with workdir() as work:
        path = f"{work}/perf.data"
        # A long duration, so that the start and the end are a smaller part of it than the permitted
        # error.
        perf_script.record(path, "--call-graph", "dwarf,8192", "-F", "500", workload("call"), "300")
        stacks = stacks_of(path, "--comm", "call")
        comment(f"perf record --call-graph dwarf: {stacks}")
        assert stacks["samples"] > 30, f"only {stacks['samples']} samples"
        assert stacks["whole"] >= 0.97 * stacks["samples"], f"not whole: {stacks}"
        functions = {f["function"] for f in report(path, "--comm", "call", "--children", "--sort",
                                                   "function")["rows"]}
        assert {"main", "_start"} <= functions, f"no main or _start: {sorted(functions)[:20]}"


@test
def without_chains_there_is_no_quality(t):
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, "--", workload("loop"))
        assert report(path)["stacks"] is None
        assert not re.search(r"(?m)^stacks ", assay("report", "--full", "-i", path).out)


if __name__ == "__main__":
    main()
