# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks are walked while recording: other tools read the chains, the file of a killed recorder has
them, and a recorder that is too slow reports it and closes its time account."""

import os
import re
import signal
import struct
import time

from attacks import forged
from harness import main, run, test, test_of_shares
import harness

PARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
DEPTH = 3000  # deeper than any copy of the stack: the frames below have 48 bytes or more

PROGRAM = """
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) unsigned leaf(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
	return sink;
}
__attribute__((noinline)) unsigned down(unsigned depth, unsigned n)
{
	volatile char room[64];
	room[depth % 64] = 1;
	return (depth ? down(depth - 1, n) : leaf(n)) + room[depth % 64] + (sink & depth);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[2]); i++)
		down(atoi(argv[1]), 2000000);
	return 0;
}
"""


def program(t):
    t.need("gcc", "perf")
    source = t.write("walked.c", PROGRAM)
    t.run("gcc", "-O1", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-o",
          t.path("walked"), source)
    return t.path("walked")


def record(t, path, *words, **options):
    return t.assay("record", "-q", "-o", path, *words, **options)


def chains(t, path):
    """The functions of each sample of the clock, innermost first, as perf sees them."""
    text = t.run("perf", "script", "-i", path, "--no-inline", "-F", "event,ip,sym", timeout=120).out
    found = []
    for block in re.split(r"\n\s*\n", text):
        head, *frames = [line.split() for line in block.strip().splitlines()] or [[]]
        if head and head[0].startswith("cpu-clock") and "witness" not in head[0]:
            found.append([f[1].split("+")[0] for f in frames if len(f) > 1])
    return found


def cpu_ns(process):
    """A process's CPU time by the kernel's clock."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


REGS_USER, STACK_USER, TRANSACTION = 1 << 12, 1 << 13, 1 << 17


def sample_type(path):
    """The flags of the first attr in the file: perf's evlist does not show all of them."""
    with open(path, "rb") as f:
        data = f.read(65536)
    return struct.unpack_from("<Q", data, struct.unpack_from("<Q", data, 24)[0] + 24)[0]


@test_of_shares
def perf_reads_the_walked_chains(t):
    path = t.path("a.data")
    record(t, path, "-g", "--", program(t), 30, 300)
    found = chains(t, path)
    user = [c for c in found if "leaf" in c]
    t.true(len(user) > 100, f"only {len(user)} of {len(found)} samples are in leaf")
    wanted = ["leaf"] + 31 * ["down"] + ["main"]
    good = sum(c[c.index("leaf"):][:33] == wanted for c in user)
    t.true(good >= 0.99 * len(user), f"{good} of {len(user)} chains are {wanted}")
    rooted = sum(c[-1] == "_start" for c in user)
    t.true(rooted >= 0.99 * len(user), f"{rooted} of {len(user)} chains begin in _start")


@test_of_shares
def deep_stacks_are_read_by_others_without_a_word(t):
    path = t.path("deep.data")
    record(t, path, "-g", "--", program(t), DEPTH, 2000)
    stacks = t.report("-i", path)["stacks"]
    t.true(stacks["whole"] + stacks["stitched"] >= 0.95 * stacks["samples"],
           f"deep stacks are not whole: {stacks}")
    count = sum(r["samples"] for r in t.report("-i", path)["recordings"])
    done = t.run("perf", "script", "-i", path, "-G", "-F", "ip", timeout=120)
    t.equal(len([line for line in done.out.splitlines() if line.strip()]), count, "perf's count")
    t.equal(done.err, "", "what perf script complains of")
    t.equal(t.run("perf", "report", "--stdio", "-i", path, timeout=120).err, "",
            "what perf report complains of")
    if not os.access(PARSER, os.X_OK):
        t.skip("hotspot's parser is not installed")
    done = t.run(PARSER, "--input", path, "--output", t.path("parsed"), timeout=120)
    for words in ("unhandled", "non-zero", "bad "):
        t.lacks(done.err, words, "what hotspot's parser says")


@test
def samples_hold_chains_and_no_stacks(t):
    walked, plain = t.path("walked.data"), t.path("plain.data")
    record(t, walked, "-g", "--", program(t), 5, 100)
    record(t, plain, "-g", "fp", "--", t.path("walked"), 5, 100)
    bits = REGS_USER | STACK_USER | TRANSACTION
    t.equal(sample_type(walked) & bits, TRANSACTION, "what is in the samples")
    t.equal(sample_type(plain) & bits, 0, "what is in the samples of -g fp")
    # There are no frame pointers: the kernel's own walk does not reach main, the walk by tables
    # does.
    t.true(all("main" in c for c in chains(t, walked) if "leaf" in c), "main is missing")
    t.true(not any("main" in c for c in chains(t, plain)), "main without a frame pointer")


@test
def options_say_how(t):
    spin = program(t)
    for words, walks in ((["-g"], True), (["-gauto"], True), (["-g", "dwarf"], True),
                         (["--call-graph=dwarf"], True), (["--call-graph", "auto"], True),
                         (["-gfp"], False), (["-g", "fp"], False), (["--call-graph=fp"], False),
                         (["-dg", "fp"], False), (["-gd"], True)):
        path = t.path("o.data")
        record(t, path, *words, "--", spin, 3, 20)
        t.equal(bool(sample_type(path) & TRANSACTION), walks, f"record {' '.join(words)} walks")
    for words in (["--call-graph=lbr"], ["-g", "--stack-size", "12"], ["--stack-size", "65512"],
                  ["-g", "--stack-size", "0"], ["--stack-size", "8192"],
                  ["-gfp", "--stack-size", "8192"], ["--call-graph", "dwarf,8192"]):
        t.assay("record", "-o", t.path("no"), *words, "--", "true", status=2)


@test_of_shares
def a_killed_recorder_leaves_its_chains(t):
    path = t.path("killed.data")
    spin = t.start(program(t), 30, 100000)
    recorder = t.start(harness.ASSAY, "record", "-q", "-g", "-o", path, "-p", spin.pid)
    # A sample with its chain of 33 functions is less than 500 bytes.
    t.until(lambda: path.exists() and path.stat().st_size > 300_000, "samples in the file", 60)
    recorder.send_signal(signal.SIGKILL)
    t.wait(recorder)
    # Without names perf gives the event that checks the clock the same name as the clock; it has no
    # chains.
    found = [c for c in chains(t, path) if c]
    t.true(len(found) > 500, f"only {len(found)} samples are left")
    good = sum("down" in c and "main" in c for c in found)
    t.true(good >= 0.97 * len(found), f"{good} of {len(found)} chains are whole")
    report = t.report("-i", path)
    t.equal(report["stacks"]["broken"], 0, "broken stacks")
    t.true(report["stacks"]["whole"] >= 0.97 * report["stacks"]["samples"], report["stacks"])


@test
def rights_beyond_reading_are_dropped(t):
    if os.geteuid():
        t.skip("wants root")
    # DAC_READ_SEARCH, SYS_PTRACE, CHECKPOINT_RESTORE: mapped files of other processes, and memory
    reading = 1 << 2 | 1 << 19 | 1 << 40
    spin = t.start(program(t), 3, 100000)
    recorder = t.start(harness.ASSAY, "record", "-q", "-g", "-o", t.path("c.data"), "-p", spin.pid)

    def kept():
        """Capabilities other than those for reading, from their line in /proc."""
        with open(f"/proc/{recorder.pid}/status", encoding="ascii") as f:
            status = f.read()
        have = {line: int(re.search(rf"{line}:\s*(\w+)", status).group(1), 16) & ~reading
                for line in ("CapEff", "CapPrm", "CapInh")}
        return {line: rights for line, rights in have.items() if rights}
    t.until(lambda: not kept(), "no rights but those to read are kept")
    time.sleep(0.5)
    t.equal(kept(), {}, "rights that are kept")
    recorder.send_signal(signal.SIGINT)
    t.equal(t.wait(recorder), 0, "status")


def kept_tables(cache, program):
    """The entries of the cache of unwind tables for a build-id, by name."""
    build_id = re.search("Build ID: (.*)", run("readelf", "-n", program).out).group(1)
    return {path.name: path.read_bytes() for path in (cache / "assay/unwind").glob(build_id + "*")}


@test
def another_users_file_with_a_claimed_build_id_does_not_change_a_table(t):
    """The build-id is what a file says of itself: another user's process runs a forged copy under
    a recorder of root before the program itself is recorded."""
    if os.geteuid():
        t.skip("another user's process is needed, which only root can start")
    genuine = program(t)
    cache = {name: t.path(name) for name in ("clean", "attacked")}
    os.chmod(t.directory, 0o755)
    for path in cache.values():
        path.mkdir(mode=0o700)

    def recorded(name, *words):
        record(t, t.path("a.data"), "-F", "997", *words,
               env={"XDG_CACHE_HOME": str(cache[name])})
        return kept_tables(cache[name], genuine)

    truth = recorded("clean", "-g", "--", genuine, "5", "100")
    t.equal(len(truth), 1, "tables of the program")
    attack = recorded("attacked", "-g", "--", "setpriv", "--reuid", "65534", "--regid", "65534",
                      "--clear-groups", forged(t, genuine), "5", "100")
    t.equal(len(attack), 1, "tables after the attack")
    t.true(not attack.keys() & truth.keys(), "the forged copy's table has a name of its own")
    after = recorded("attacked", "-g", "--", genuine, "5", "100")
    t.equal({name: after.get(name) for name in truth}, truth, "the table after the attack")


@test_of_shares
def a_recorder_that_falls_behind_reports_it_and_its_account_closes(t):
    path = t.path("shed.data")
    spins = [t.start(program(t), 30, 100000) for _ in range(os.cpu_count())]
    had = sum(map(cpu_ns, spins))
    record(t, path, "-a", "-g", "-F", "10000", "--memory", "0.5", "--", "sleep", "3")
    had = sum(map(cpu_ns, spins)) - had
    for spin in spins:
        spin.kill()
    with open(path, "rb") as f:
        rates = re.findall(rb"(?m)^rate time_ns=(\d+) period_ns=(\d+)$", f.read())
    t.true(rates, "the rate was never lowered")
    for _, period in rates:
        t.equal(int(period) % 100000, 0, "a period is a multiple of the first one: remainder")
    ledger = t.report("-i", path)["ledger"]
    wall = ledger["wall_ns"] * ledger["cpus"]
    t.near(ledger["residual_ns"], 0, 0.02 * wall, "residual")
    parts = sum(ledger[k] for k in ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns", "steal_ns",
                                    "unobserved_ns", "residual_ns"))
    t.near(parts, wall, 1000, "the sum of all parts")
    # The time of the programs, except for the part before the rate was lowered.
    t.true(ledger["user_ns"] > 0.25 * had, f"user time is {ledger['user_ns']} of {had}")


if __name__ == "__main__":
    main()
