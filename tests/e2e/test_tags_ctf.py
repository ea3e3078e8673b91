#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of event tags, as babeltrace2 reads them: every event, time, name and loss.

The traces are random ones of tests/unit/format/test_ctf_random.c, which also says what is in
them.
"""
import collections
import re

from harness import BUILD, main, test

HZ, OFFSET_TICKS = 2595126000, 1700000000 * 2595126000 + 320385924
EVENT = re.compile(r'\[(\d+)\] \S+ (.*): \{ pid = (\d+), (?:tid|cpu_id) = (\d+), flags = (\d+), '
                   r'thread = "(.*?)", process = "(.*)" \}$')
LOSS = re.compile(r"Tracer discarded (\d+) events .*stream_(\d+)\"")


def written(t, path, seed):
    """(events by stream, losses by stream) that a random trace must have."""
    events, losses = collections.defaultdict(list), collections.defaultdict(list)
    program = BUILD / "tests" / "unit" / "test_ctf_random"
    for line in t.run(program, path, seed).out.splitlines():
        kind, stream, *rest = line.split("\t")
        if kind == "event":
            ticks, name, pid, tid, thread, process = rest
            events[int(stream)].append((int(ticks), name, pid, tid, thread, process))
        else:
            losses[int(stream)].append(int(rest[0]))
    return events, losses


def seen(t, path):
    """As above, from babeltrace2's output. Streams are identified by their thread."""
    events, losses = collections.defaultdict(list), collections.defaultdict(list)
    result = t.run("babeltrace2", "--clock-cycles", "--no-delta", path)
    for line in result.out.splitlines():
        match = EVENT.match(line)
        t.true(match, f"babeltrace2's line is understood: {line}")
        ticks, name, pid, tid, _, thread, process = match.groups()
        events[int(thread.split()[1])].append(
            (int(ticks), name, pid, tid, thread, process.replace('\\"', '"')))
    for line in result.err.splitlines():
        if match := LOSS.search(line):
            losses[int(match.group(2))].append(int(match.group(1)))
        else:
            t.true(re.search("Tracer (may have )?discarded", line), f"no other complaint: {line}")
    return events, losses


@test
def babeltrace2_sees_every_event_and_loss(t):
    t.need("babeltrace2")
    for seed in (1, 2, 3):
        path = t.path(f"trace{seed}")
        want, want_losses = written(t, path, seed)
        got, losses = seen(t, path)
        t.true(sum(map(len, want.values())) > 10000, "there are events")
        for stream, events in want.items():
            t.equal(len(got[stream]), len(events), f"events of stream {stream}")
            t.equal(got[stream], events, f"stream {stream}")
            t.equal(losses[stream], want_losses[stream], f"losses of stream {stream}")


@test
def babeltrace2_gives_the_time_of_day_in_nanoseconds(t):
    t.need("babeltrace2")
    path = t.path("trace")
    want, _ = written(t, path, 4)
    lines = t.run("babeltrace2", "--clock-seconds", "--no-delta", path).out.splitlines()
    got = sorted(int(s) * 10**9 + int(ns) for s, ns in
                 (re.match(r"\[(\d+)\.(\d{9})\]", line).groups() for line in lines))
    right = sorted((ticks + OFFSET_TICKS) * 10**9 // HZ
                   for events in want.values() for ticks, *_ in events)
    t.equal(len(got), len(right), "events")
    # babeltrace2 rounds the clock and its offset separately, and computes with doubles.
    t.true(max(abs(a - b) for a, b in zip(got, right)) <= 2, "each within two nanoseconds")


def copy_of(t, path):
    """A copy written by babeltrace2: texts are strings there, ids and times have 64 bits, there are
    no comments, and the metadata has only the events that occurred, in that order."""
    copy = t.path(f"{path.name}.copy")
    t.run("babeltrace2", "convert", path, "--component=sink.ctf.fs", f'--params=path="{copy}"')
    return next(copy.rglob("metadata")).parent


def check_copy(t, path):
    copy = copy_of(t, path)
    t.has((copy / "metadata").read_text(), "string {", "the copy's metadata")
    one, other = t.report(path), t.report(copy)
    one["summary"].pop("next")  # these command lines name the directories
    other["summary"].pop("next")
    t.equal(other.keys(), one.keys(), "keys")
    for key in ("profiled_functions", "triggers"):  # names without events are comments of a trace
        one.pop(key)
    for key, value in one.items():
        t.equal(other[key], value, f"{key} of the copy")
    return other, copy


@test
def a_copy_that_babeltrace2_makes_says_the_same(t):
    t.need("babeltrace2")
    # In these traces the first packet of a stream reports no loss, since babeltrace2 does not show
    # that.
    for seed in (1, 5):
        path = t.path(f"trace{seed}")
        written(t, path, seed)
        report, _ = check_copy(t, path)
        t.true(report["lost"] and report["gaps"] and report["switches"], "there is what to keep")


@test
def a_copy_keeps_kinds_and_functions_of_which_half_came(t):
    t.need("babeltrace2")
    names = t.write("names", "swtch/600!\nbegun/602\nended/604\nspot/606=\nwork/608\n"
                             "odd:exit/611=\nback/612!\n")
    events = [602, 608, 609, 606, 605, 611, 700, 600, 608, 609, 601, 613, 608]
    dump = t.write("dump.csv", "".join(f"{10 * i},{tag}\n" for i, tag in enumerate(events)))
    t.assay("tags", "import", "--names", names, "--layout", "csv", "-o", t.path("device"), dump)
    report, copy = check_copy(t, t.path("device"))
    path = t.assay("tags", "trace", t.path("device")).out
    t.equal(t.assay("tags", "trace", copy).out, path, "code path of the copy")
    for line in ("== spot", "<- ended [no", "== odd:exit", "-> swtch", "<- back [no"):
        t.has(path, line, "the code path")
    t.equal(report["unknown_tags"], 1, "unknown tags")
    t.equal(report["switches"], 1, "switches")
    t.equal(report["idle_ns"], 20000, "idle")  # of 30: an interrupt took 10


main()
