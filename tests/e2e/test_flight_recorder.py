# SPDX-License-Identifier: GPL-2.0-or-later
"""A flight recorder whose memory has been overwritten: its snapshot is a recording of the last
interval, with a time account that closes for it, and the names of processes that started before.
perf reads the same from it."""
import collections
import contextlib
import os
import re
import signal
import subprocess

import perf_script
import programs
from harness import ASSAY, main, run, test, test_of_shares

DEEP = """
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) unsigned leaf(void)
{
	for (;;)
		sink++;
	return sink;
}
__attribute__((noinline)) unsigned down(unsigned depth)
{
	volatile char room[64];
	room[depth % 64] = 1;
	return (depth ? down(depth - 1) : leaf()) + room[depth % 64] + (sink & depth);
}
int main(int argc, char **argv)
{
	return down(atoi(argv[1])) == 1;
}
"""


class Recorder:
    """A session in a directory of its own."""

    def __init__(self, t):
        self.t = t
        self.env = t.runtime()

    def __call__(self, *words, **options):
        return run(ASSAY, *words, cwd=self.t.directory, env=self.env, **options)

    def status(self):
        return self.t.json(self("status", "--json").out)["sessions"][0]

    def snapshot(self, name="snap"):
        """The report of the snapshot in the file of that name."""
        self("snapshot", "-o", name)
        return self.t.report(self.t.path(name))

    def went_round(self):
        """A snapshot after the first records have been evicted from the memory."""
        def taken():
            report = self.snapshot()
            return any("earlier records were evicted" in w for w in report["warnings"]) and report
        return self.t.until(taken, "the memory is full", 90)


@contextlib.contextmanager
def recorder(t, *words):
    r = Recorder(t)
    r("start", "--ring=1M", *words)
    try:
        yield r
    finally:
        with contextlib.suppress(Exception):
            r("stop")


def by_name(rows, key, name):
    return next((row for row in rows if row[key] == name), None)


def check_books(t, report):
    ledger = report["ledger"]
    t.true(ledger["closed"], "the books are closed")
    whole = ledger["wall_ns"] * ledger["cpus"]
    t.true(abs(ledger["residual_ns"]) <= 0.02 * whole, f"a residual of 2 % at most: {ledger}")
    ticks = ledger["ticks"]
    t.equal(ticks["due"] - ticks["missing"], ticks["all"], "ticks that were due and came")
    for cpu in ledger["per_cpu"]:
        t.near(cpu["wall_ns"], ledger["elapsed_ns"], 0.01 * ledger["elapsed_ns"], "a CPU's stretch")


def moved(report, began):
    return report["recordings"][0]["first_sample_ns"] > began and report


def places_by_perf(path):
    found = collections.Counter()
    for s in perf_script.samples(path):
        if s.event == "cpu-clock" and s.offset is not None and not s.dso.startswith("//"):
            found[s.pid, s.dso, s.offset] += 1
    return found


def places_by_us(path):
    found = collections.Counter()
    for row in programs.rows(path, "instance,image,address", "--event", "cpu-clock"):
        # perf prints no location for memory without a file (generated code of other programs).
        if row["image"].startswith(("/", "[vdso]")) and not row["image"].startswith("//"):
            found[row["pid"], row["image"], programs.number(row["offset"])] += row["samples"]
    return found


@test_of_shares
def the_last_interval_has_a_closed_account_and_earlier_names(t):
    t.need("perf")
    with recorder(t, "-F", 4000) as r:
        loop = t.start(t.workload("loop"), "1000000")
        report = r.went_round()
        began = report["recordings"][0]["first_sample_ns"]
        # A program that exits before the snapshot.
        short = t.start(t.workload("loop"), "50", stdout=subprocess.DEVNULL)
        t.wait(short)
        report = t.until(lambda: moved(r.snapshot(), began), "the stretch moved on")
        loop.kill()
        t.wait(loop)
        snap = t.path("snap")
        check_books(t, report)
        pids = [p["pid"] for p in report["processes"] if p["name"] == "loop"]
        t.true({loop.pid, short.pid} <= set(pids), f"loops {loop.pid}, {short.pid}: {pids}")
        body = by_name(report["functions"], "function", "loop_body")
        t.true(body and body["image"].endswith("/loop"), f"loop_body: {report['functions'][:3]}")
        theirs, ours = places_by_perf(snap), places_by_us(snap)
        t.true(sum(theirs.values()) > 100, f"perf sees {sum(theirs.values())} places")
        t.equal(sorted((ours - theirs).items())[:5], [], "places that perf has not")
        t.equal(sorted((theirs - ours).items())[:5], [], "places that perf alone has")
        done = t.run("perf", "report", "-i", snap, "--stdio", "--comm", "loop", timeout=120)
        t.has(done.out, "loop_body", "perf's report")
        t.equal(done.err, "", "what perf complains of")
        # The recording has the records that are in memory at the end.
        r("stop")
        report = t.report(t.path("perf.data"))
        check_books(t, report)
        t.has(" ".join(report["warnings"]), " s of a recording of ", "notes")


@test_of_shares
def deep_stacks_refer_to_callers_recorded_before_the_interval(t):
    t.need("gcc")
    t.run("gcc", "-O1", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-o",
          t.path("deep"), t.write("deep.c", DEEP))
    deep = t.start(t.path("deep"), 3000)
    with recorder(t, "-g", "-F", 2000, "-p", deep.pid) as r:
        stacks = r.went_round()["stacks"]
        t.true(stacks["samples"] > 20, f"there are samples: {stacks}")
        # A short stay in the kernel may hide a stack; evicted records hide none.
        t.true(stacks["whole"] + stacks["stitched"] >= 0.95 * stacks["samples"],
               f"deep stacks are not whole: {stacks}")
        t.true(stacks["stitched"] > 0, f"they are deeper than the copies: {stacks}")
        folded = t.assay("export", "--to", "folded", "-o", "-", t.path("snap")).out
        chains = [line for line in folded.splitlines() if ";leaf " in line]
        samples = sum(int(line.split()[-1]) for line in chains)
        reach = sum(int(line.split()[-1]) for line in chains if ";main;down;" in line)
        t.true(reach >= 0.95 * samples > 0, f"{reach} of {samples} reach main: {chains[:1]}")


@test
def a_rule_and_a_signal_write_a_snapshot(t):
    # With a name that no other program has.
    name = f"loop-{os.getpid()}"
    run("cp", t.workload("loop"), t.path(name))
    with recorder(t, "--when", f"exit={name}", "--when", "load > 100000", "--snapshots", 1) as r:
        names = lambda: sorted(p for p in os.listdir(t.directory)
                               if re.fullmatch(r"perf\.data-\d{8}T\d{6}(-\d)?", p))
        run(t.path(name), "100")
        # The file exists before it is complete.
        t.until(lambda: r.status()["snapshots"] == 1, "a snapshot when loop ended")
        first = names()[0]
        report = t.report(t.path(first))
        t.true(by_name(report["functions"], "function", "loop_body"), "what it did is in it")
        os.kill(r.status()["pid"], signal.SIGUSR2)
        t.until(lambda: r.status()["snapshots"] == 2, "another one by a signal")
        t.true(names() and first not in names(), "it is in the place of the first")
        status = r.status()
        t.equal(status["snapshots"], 2, "snapshots")
        t.equal([rule["rule"] for rule in status["rules"]], [f"exit={name}", "load > 100000"],
                "rules")
        one, other = status["rules"]
        t.equal((one["fired"], one["value"], one["fired_ns"] > 0), (1, None, True), "exit=loop")
        t.equal((other["fired"], other["holds"], other["fired_ns"]), (0, False, None), "load")
        t.true(other["value"] is not None, "the load is known")
        t.true(0 < status["held_ns"] <= status["elapsed_ns"], "how long a time is held")
        t.true(status["bytes"] <= status["held_most_bytes"], "how much")
        t.true(f"the snapshot {t.path(first)} was deleted: the newest 1 are kept (--snapshots)" in
               status["notes"], f"notes are {status['notes']}")


@test
def an_invalid_rule_is_refused_with_the_place_and_the_valid_ones(t):
    r = Recorder(t)
    result = r("start", "--ring", "--when", "lod > 4", status=2)
    for words in ("'lod > 4', at letter 1", "load>4", "process=NAME"):
        t.has(result.err, words, "standard error")
    t.equal(os.listdir(t.directory), ["run"], "what is left")


main()
