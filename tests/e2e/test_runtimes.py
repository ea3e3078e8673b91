# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole stacks of common programs: a build, Python, Node, Java.

Each job is recorded by `assay record -g` and by `perf record --call-graph dwarf` at the same time.
perf script reads both files, and the same rule applies to both: a stack is whole if its outermost
frame is the start of a thread.
"""

import collections
import os
import re
import shutil

import perf_script
from harness import main, test_of_shares
from programs import ASSAY, LONG, ROOT, comment, report, run, skip, workdir

RUNTIMES = os.path.join(ROOT, "tests", "workloads", "runtimes")
SECONDS = 8 if LONG else 3
WHOLE = 0.97
BEGIN = {"_start", "clone3", "__clone3", "clone", "__clone", "thread_start", "_dl_start_user"}

MAIN = ("__libc_start_main", "__libc_start_call_main")  # called only by the program's _start

Stacks = collections.namedtuple("Stacks", "samples whole ends depth")


def frame_of(line):
    """(function, image) of a line of a chain."""
    found = re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line)
    return found.groups() if found else ("?", "?")


def reaches_the_start(frames, leave_start_out):
    """Stripped programs have no name for _start; perf's own walk ends one frame before it."""
    if not frames:
        return False
    if leave_start_out and frames[-1][0].startswith(MAIN):
        return True
    return frames[-1][0] in BEGIN or (frames[-1][0] == "[unknown]" and len(frames) > 1
                                      and frames[-2][0].startswith(MAIN))


def judge(path, wanted, leave_start_out=False):
    """The number of samples of the (comm, pid) that have a whole user stack, by perf script."""
    text = perf_script.perf("script", "-i", path, "--no-inline", "-F",
                            "comm,pid,tid,time,event,ip,sym,dso", timeout=900)
    ends = collections.Counter()
    samples = whole = depth = 0
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        head = re.match(r"\s*(.*?)\s+(\d+)/(\d+)\s+([\d.]+):\s+(\S+):", lines[0] if lines else "")
        if not head or "cpu-clock" not in head.group(5) or "witness" in head.group(5):
            continue
        if not wanted(head.group(1), int(head.group(2))):
            continue
        frames = [frame_of(line) for line in lines[1:]]
        samples += 1
        depth += len(frames)
        if reaches_the_start(frames, leave_start_out):
            whole += 1
        else:
            ends[frames[-1] if frames else ("no frames", "")] += 1
    return Stacks(samples, whole, ends, depth / max(samples, 1))


def record_both(work, *job):
    """Both at the same time: perf samples assay's job and assay."""
    ours, theirs = f"{work}/ours.data", f"{work}/theirs.data"
    run(["perf", "record", "-q", "--buildid-mmap", "-F", "499", "-e", "cpu-clock", "--call-graph", "dwarf",
         "-m", "4096", "-o", theirs, "--", ASSAY, "record", "-g", "-F", "997", "-o", ours, "--",
         *job], timeout=300, check=True, cwd=work)  # where runtimes write logs
    return ours, theirs


def compare(name, ours, theirs, wanted, processes):
    mine, perfs = judge(ours, wanted), judge(theirs, wanted, leave_start_out=True)
    stacks = report(ours, *[f"--comm={c}" for c in processes]).get("stacks", {})
    for who, s in (("assay", mine), ("perf", perfs)):
        comment(f"{name}: {who}: {s.samples} samples, {s.whole / max(s.samples, 1):.4f} whole, "
                f"{s.depth:.1f} frames; other ends: {dict(s.ends.most_common(4))}")
    comment(f"{name}: assay says {stacks}")
    assert mine.samples > 200, f"{name}: only {mine.samples} samples"
    assert mine.whole >= WHOLE * mine.samples, \
        f"{name}: {mine.whole} of {mine.samples} stacks whole: {mine.ends.most_common(8)}"
    # Samples in interrupts are of the program in perf script, and of no program in assay's report.
    told = (stacks["whole"] + stacks["stitched"]) * mine.samples / max(stacks["samples"], 1)
    assert abs(told - mine.whole) <= 0.02 * mine.samples + 5, \
        f"{name}: assay reports {told:.0f} whole stacks of as many samples, perf script shows {mine.whole}"
    return mine, perfs


def job_of(work, *command):
    """The command under a shell that writes its pid to a file, and a function that recognises its
    samples."""
    script = f"echo $$ >{work}/pid; exec \"$@\""

    def wanted(comm, pid):
        with open(f"{work}/pid", encoding="ascii") as f:
            return pid == int(f.read()) and comm != "sh"

    return ["sh", "-c", script, "sh", *command], wanted


@test_of_shares
def a_build_has_whole_stacks(t):
    for program in ("gcc", "make"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    source = os.path.join(ROOT, "src")
    files = [f"{source}/view/samples/flat.c", f"{source}/format/perf/perf_record_decode.c",
             f"{source}/symbol/symbolizer.c", f"{source}/cmd/cli/option.c", f"{source}/view/account/account.c"]
    with workdir() as work:
        rules = "".join(f"{i}.o:\n\tgcc -O2 -g -D_GNU_SOURCE -DASSAY_VERSION='\"0\"' -I{source} "
                        f"-c -o $@ {f}\n" for i, f in enumerate(files * (3 if LONG else 1)))
        count = len(files) * (3 if LONG else 1)
        with open(f"{work}/Makefile", "w", encoding="utf-8") as f:
            f.write("all: " + " ".join(f"{i}.o" for i in range(count)) + "\n" + rules)
        ours, theirs = record_both(work, "make", "-s", "-j2", "-C", work)
        tools = ("cc1", "as", "gcc", "make", "sh")
        compare("build", ours, theirs, lambda comm, pid: comm in tools, tools)


@test_of_shares
def python_has_whole_stacks(t):
    with workdir() as work:
        job, wanted = job_of(work, "python3", f"{RUNTIMES}/work.py", str(SECONDS))
        compare("python3", *record_both(work, *job), wanted, ["python3"])


def node(*options):
    if not shutil.which("node"):
        skip("node is not installed")
    with workdir() as work:
        job, wanted = job_of(work, "node", *options, f"{RUNTIMES}/work.js", str(SECONDS))
        compare(f"node {' '.join(options)}", *record_both(work, *job), wanted, ["node"])


@test_of_shares
def node_with_a_perf_map_has_whole_stacks(t):
    node("--perf-basic-prof")


@test_of_shares
def node_with_interpreted_frames_has_whole_stacks(t):
    node("--perf-basic-prof", "--interpreted-frames-native-stack")


@test_of_shares
def a_jvm_with_frame_pointers_has_whole_stacks(t):
    if not shutil.which("javac"):
        skip("javac is not installed")
    with workdir() as work:
        run(["javac", "-d", work, f"{RUNTIMES}/Work.java"], timeout=120, check=True)
        job, wanted = job_of(work, "java", "-XX:+PreserveFramePointer",
                             "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
                             "-cp", work, "Work", str(SECONDS))
        compare("java", *record_both(work, *job), wanted, ["java"])


main()
