# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture device in QEMU: exact calls, bounded memory, a killed QEMU, start and stop, and no
effect on the guest."""

import os
import re
import stat
import subprocess

import qemu_guest
from harness import main, test
from time_limit import limit

ROUNDS = 1000
# 2 calls of leaf and one of branch, each with entry and exit, and a mark; rounds and start_c once.
EVENTS = 7 * ROUNDS + 4
CALLS = {"leaf": 2 * ROUNDS, "branch": ROUNDS, "rounds": 1, "start_c": 1}
ORDER = ["-> start_c", "-> rounds"] + ["-> branch", "-> leaf", "<- leaf", "-> leaf", "<- leaf",
                                       "== mark", "<- branch"] * ROUNDS + ["<- rounds",
                                                                           "<- start_c"]


def calls(t, trace):
    """The calls of each function and inline tag in the trace, and the report's JSON."""
    report = t.report(trace)
    return {row["function"]: row["calls"] for row in report["functions"]}, report


def packets(trace):
    """(events, discarded) of the first stream, read as FORMAT.md describes it."""
    data, at, events, discarded = (trace / "stream_0").read_bytes(), 0, 0, 0
    while at + 128 <= len(data):
        content = int.from_bytes(data[at + 24:at + 32], "little")
        size = int.from_bytes(data[at + 32:at + 40], "little")
        discarded = int.from_bytes(data[at + 40:at + 48], "little")
        events += (content // 8 - 128) // 8
        at += size // 8
    return events, discarded


def boot(t, line, options="", *more):
    """Boots the guest with the device; returns the trace and QEMU's result."""
    guest, names = qemu_guest.build(t)
    trace = t.path("trace")
    result = qemu_guest.boot(guest, line, f"out={trace},names={names}{options}", *more)
    t.has(result.stderr, "assay_device: ")
    return trace, result


def start(t, line, options):
    """Starts QEMU; returns the trace and the process, which prints the guest's output."""
    guest, names = qemu_guest.build(t)
    trace = t.path("trace")
    words = qemu_guest.command(guest, line, f"out={trace},names={names}{options}")
    process = subprocess.Popen(["timeout", "-s", "KILL", str(limit(20)), *words],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    return trace, process


def kill(process):
    os.killpg(process.pid, 9)
    process.communicate(timeout=limit(20))


@test
def all_calls_of_the_guest_are_recorded_in_order(t):
    trace, result = boot(t, str(ROUNDS))
    found, report = calls(t, trace)
    t.equal(found, CALLS, "calls")
    t.equal([(row["name"], row["count"]) for row in report["inline_tags"]], [("mark", ROUNDS)])
    t.equal((report["lost"], report["gaps"], report["unmatched_exits"], report["open"]),
            (0, 0, 0, 0), "lost events, gaps, unmatched exits, open calls")
    lines = t.assay("tags", "trace", trace).out.splitlines()
    t.equal([found.group() for line in lines if (found := re.search(r"(->|<-|==) \w+", line))],
            ORDER, "the order of the calls")
    t.has(result.stderr, f"assay_device: {EVENTS} events in {trace}")


@test
def functions_without_tags_are_counted_and_named(t):
    _, names = qemu_guest.build(t)
    with names.open("a") as out:
        out.write("# left out tiny\n# left out bad*/name\n# left out tiny@a.c\n")
    trace, _ = boot(t, "1")
    t.equal(t.report(trace)["left_out_functions"], 2)
    t.has(t.assay("report", "--full", trace).out, "2 functions have no tags")
    for status, words in ((1, ["report", "--function", "tiny", trace]),
                          (2, ["tags", "trace", trace, "--function", "tiny"]),
                          (2, ["tags", "trace", trace, "--from", "tiny@a.c"])):
        t.has(t.assay(*words, status=status).err, "has no tags: the plugin left it out as small",
              str(words))
    copy = t.path("copy")
    t.assay("export", "--to", "ctf", "-o", copy, trace)
    t.equal(t.report(copy)["left_out_functions"], 2, "functions of a copy")
    t.has((copy / "metadata").read_text(), "# left out tiny@a.c\n")


@test
def the_files_are_private(t):
    trace, _ = boot(t, "1")
    t.equal(stat.S_IMODE(trace.stat().st_mode), 0o700, "mode of the directory")
    t.equal({f.name: stat.S_IMODE(f.stat().st_mode) for f in trace.iterdir()},
            {"metadata": 0o600, "stream_0": 0o600}, "modes of the files")


@test
def the_guest_has_the_same_time_with_and_without_the_device(t):
    guest, _ = qemu_guest.build(t)
    alone = qemu_guest.boot(guest, str(ROUNDS))
    trace, result = boot(t, str(ROUNDS))
    t.true(re.fullmatch(r"[0-9a-f]{16}\n", alone.stdout), f"no time stamp: {alone.stdout}")
    t.equal(result.stdout, alone.stdout, "the guest's time stamp counter")
    first = (trace / "stream_0").read_bytes()
    (trace / "stream_0").rename(t.path("first"))
    (trace / "metadata").unlink()
    trace.rmdir()
    boot(t, str(ROUNDS))
    t.true((trace / "stream_0").read_bytes() == first, "a second run gave another trace")


@test
def a_full_memory_stops_and_is_reported(t):
    trace, result = boot(t, str(ROUNDS), ",mem=16k")
    events, discarded = packets(trace)
    t.equal(events + discarded, EVENTS, "recorded and discarded events")
    t.between(events, 1, 16384 // 8, "recorded events")
    t.has(result.stderr, "the memory is full: recording has stopped")
    t.has(result.stderr, f"{discarded} events were discarded because the memory was full")
    _, report = calls(t, trace)
    t.equal((report["tags"], report["lost"]), (events, discarded), "events and lost events")


@test
def a_reused_memory_keeps_the_last_events(t):
    trace, result = boot(t, str(ROUNDS), ",mem=16k,stop=wrap")
    events, discarded = packets(trace)
    t.equal(events + discarded, EVENTS, "recorded and discarded events")
    t.has(result.stderr, f"{discarded} events were discarded because older packets were reused")
    lines = re.findall(r"(?:->|<-|==) \w+", t.assay("tags", "trace", trace).out)
    t.equal(lines[-2:], ORDER[-2:], "the last events")


@test
def a_killed_qemu_leaves_all_events(t):
    trace, process = start(t, f"{ROUNDS} wait", "")
    t.true(process.stdout.readline().strip(), "the guest printed no time")
    kill(process)
    found, report = calls(t, trace)
    t.equal(found, CALLS, "calls")
    t.equal(report["tags"], EVENTS - 1, "events")  # start_c has not returned
    t.equal(report["open"], 1, "open calls")


@test
def recording_starts_and_stops_while_the_guest_runs(t):
    trace, process = start(t, "1 busy", ",mem=64k,start=off")
    t.true(process.stdout.readline().strip(), "the guest printed no time")
    t.equal(packets(trace) if (trace / "stream_0").exists() else (0, 0), (0, 0), "events before")
    (trace / ".control").write_text("start\n", encoding="ascii")
    t.has(process.stderr.readline(), "the memory is full")
    (trace / ".control").write_text("again\n", encoding="ascii")
    t.has(process.stderr.readline(), "write 'start' or 'stop'")
    kill(process)
    found, _ = calls(t, trace)
    t.equal(list(found), ["leaf"], "functions")


@test
def recording_starts_at_a_tag(t):
    trace, _ = boot(t, str(ROUNDS), ",start=tag:mark")
    found, report = calls(t, trace)
    t.equal(report["tags"], EVENTS - 7, "events")  # those of the first round before its mark
    t.equal(report["gaps"], 1, "gaps")
    t.equal(found["leaf"], 2 * ROUNDS - 2, "calls of leaf")


@test
def recording_ends_at_a_tag(t):
    trace, _ = boot(t, str(ROUNDS), ",start=tag:mark,end=tag:mark")
    lines = re.findall(r"(?:->|<-|==) \w+", t.assay("tags", "trace", trace).out)
    t.equal(lines, [*ORDER[7:14], "<- branch"], "events from the first mark to the second")


@test
def the_task_that_continues_is_recorded(t):
    trace, _ = boot(t, "1 switch")
    report = t.report(trace)
    t.equal((report["guesses"], report["unmatched_exits"], report["missing_exits"]), (0, 0, 0),
            "guesses, exits without entry, entries without exit")
    t.equal((report["processes"], report["inherited_exits"]), (2, 1), "processes, one begins")
    text = t.assay("tags", "trace", trace).out
    t.equal(re.findall(r"switch in ---- process (.*)\)", text),
            ["2 (fifteen letters 74565", "1 (one 1"], "processes")
    text = t.assay("tags", "trace", trace, "--process", "fifteen letters").out
    t.equal(re.findall(r"-> \w+", text), ["-> leaf", "-> __switch_to"], "calls of the other task")


@test
def wrong_options_are_refused(t):
    guest, names = qemu_guest.build(t)
    out = f"out={t.path('trace')}"
    for options, message in (("x=1", "x=1: unknown option"), ("mem=1M", "out=: the directory"),
                             (f"{out},mem=1", "mem=1: at least 4k"),
                             (f"{out},mem=1X", "mem=1X: not 'stream' or a size"),
                             (f"{out},stop=wrap", "a stream has no end; give mem=SIZE"),
                             (f"{out},names={names},start=tag:none", "has no such name"),
                             (f"{out},names={names},end=tag:none", "has no such name"),
                             (f"{out},names={names},end=off", "end=off: unknown option"),
                             (f"{out},names={names}.x", "cannot be read"),
                             (f"out={t.path('')}", "give another out=")):
        result = qemu_guest.boot(guest, "1", options)
        t.true(result.returncode != 0, f"{options}: QEMU ran")
        t.has(result.stderr, message, options)
        t.true(not t.path("trace").exists(), f"{options}: a trace was made")


main()
