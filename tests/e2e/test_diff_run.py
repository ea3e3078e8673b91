# SPDX-License-Identifier: GPL-2.0-or-later
"""assay diff --run and assay record --repeat: commands that are run in turn and compared."""
import os

from harness import *

SOURCE = """
#include <stdlib.h>
volatile unsigned long sum;
__attribute__((noinline)) void change(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void keep(long n) { for (long i = 0; i < n; i++) sum ^= i; }
int main(int argc, char **argv)
{
	change(atol(argv[1]));
	keep(20000000);
	return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def program(t):
    path = t.path("work")
    t.run("cc", "-O1", "-o", path, t.write("work.c", SOURCE))
    return path


def left(t):
    """Files in the directory for temporary recordings."""
    return os.listdir(t.path("tmp"))


def compare(t, *words, **options):
    os.makedirs(t.path("tmp"), exist_ok=True)
    return t.assay("diff", *words, env={"TMPDIR": t.path("tmp")}, **options)


def changed_by_holm(measures):
    """The measures whose change Holm's correction finds at a level of 5 % for all together."""
    tested = sorted((row for row in measures if row["p"] is not None), key=lambda row: row["p"])
    found = set()
    for i, row in enumerate(tested):
        if row["p"] > 0.05 / (len(tested) - i):
            break
        found.add(row["measure"])
    return found


@test_of_shares
def a_change_of_a_factor_of_four_is_found(t):
    work = program(t)
    got = t.json(compare(t, "--json", "--run", "4", "-F", "4000", f"{work} 20000000",
                         f"{work} 160000000").out)
    t.equal([len(got["before"]), len(got["after"])], [4, 4], "runs")
    t.equal(got["work"], "run", "unit of work")
    t.equal([got["command_before"], got["command_after"]],
            [f"{work} 20000000", f"{work} 160000000"], "commands")
    changed = {row["function"]: row for row in got["changes"]}
    t.true("change" in changed, f"the function that changed, in {list(changed)}")
    t.true(changed["change"]["low"] > 1, f"{changed['change']}")
    measures = {row["measure"]: row for row in got["measures"]}
    t.true(measures["user_ns"]["after"] > measures["user_ns"]["before"], "CPU time")
    for key in ("wall_ns", "user_ns", "rss_bytes", "minor_faults"):
        t.true(measures[key]["before"] > 0, f"{key} is measured")
    t.true(measures["user_ns"]["p"] < 0.05, f"CPU time, test: {measures['user_ns']}")
    t.equal({row["measure"] for row in got["measures"] if row["changed"]},
            changed_by_holm(got["measures"]), f"the tests together: {got['measures']}")
    t.equal(left(t), [], "temporary recordings that are left")


@test
def recordings_are_kept_on_request_and_read_again(t):
    work, kept = program(t), t.path("kept")
    first = t.json(compare(t, "--json", "--run", "2", "-F", "4000", "--keep", kept,
                           f"{work} 20000000", f"sh -c '{work} 20000000'").out)
    t.equal(sorted(os.listdir(kept)), ["a1.data", "a2.data", "b1.data", "b2.data"], "files")
    files = [os.path.join(kept, name) for name in ("a1.data", "a2.data", "b1.data", "b2.data")]
    second = t.json(t.assay("diff", "--json", *files[:2], "--", *files[2:]).out)
    t.equal(second["measures"], first["measures"], "what the runs used")
    for words, key, reverse in ((["--by", "function"], "function", False),
                                (["--by", "after"], "after", True)):
        rows = t.json(t.assay("diff", "--json", *words, *files[:2], "--", *files[2:]).out)["rows"]
        values = [row[key] for row in rows if row["function"] != "[others]"]
        t.true(len(values) > 1, f"rows: {rows}")
        t.equal(values, sorted(values, reverse=reverse), f"order of {words}")
    t.has(t.assay("diff", "--by", "nosuch", files[0], files[2], status=2).err,
          "choose from: size, before, after, change, low, high, q, image, function", "wrong key")
    t.has(t.assay("report", "--sort", "nosuch", files[0], status=2).err,
          "--sort has the keys process,instance,thread,cpu,image,function,", "wrong key")


@test
def older_recordings_in_the_directory_are_kept(t):
    kept = t.path("kept")
    compare(t, "--run", "2", "--keep", kept, "true", "true")
    t.write("kept/a1.data", "the first")
    for series in (1, 2):
        err = compare(t, "--run", "1", "--keep", kept, "true", "true").err
        t.has(err, f"are in {kept}/old.{series} now", "the message")
    t.equal(sorted(os.listdir(kept)), ["a1.data", "b1.data", "old.1", "old.2"], "files")
    t.equal(sorted(os.listdir(kept / "old.1")), ["a1.data", "a2.data", "b1.data", "b2.data"],
            "the first series")
    t.equal((kept / "old.1" / "a1.data").read_text(), "the first", "the contents")


@test
def two_equal_runs_have_intervals_with_a_width(t):
    """A standard error of 0 would make any interval certain."""
    for row in t.json(compare(t, "--json", "--run", "2", "true", "true").out)["measures"]:
        if row["change"] is not None:
            t.true(row["high"] > row["low"], f"an interval with a width: {row}")
    t.has(" ".join(compare(t, "--run", "2", "true", "true").out.split()),
          "Corrected for their number (Holm, 5 %), ", "the note")


@test
def output_and_failures_of_commands(t):
    work = program(t)
    quiet = compare(t, "--run", "1", "--warm-up", "0", "echo spoken", "echo spoken")
    t.true("spoken" not in quiet.out.replace("echo spoken", ""), "no output by default")
    t.equal(quiet.err, "", "no messages")
    shown = compare(t, "--run", "2", "--warm-up", "0", "--show-output", "--prepare",
                    "echo prepared", "--json", "echo spoken", "true")
    t.json(shown.out)
    t.equal(sorted(shown.err.split()), ["prepared"] * 4 + ["spoken"] * 2, "output on stderr")
    result = compare(t, "--run", "2", f"{work} 1000 3", "true", status=125)
    t.has(result.err, "command A failed with exit status 3", "the failure")
    compare(t, "--run", "1", "--ignore-failure", f"{work} 1000 3", "true")
    t.has(compare(t, "--run", "1", "/nonexistent/x", "true", status=127).err, "/nonexistent/x",
          "a command that does not exist")
    t.has(compare(t, "--run", "1", "true", status=2).err, "two commands", "one command")
    t.has(compare(t, "--run", "1", "--from", "10:00", "true", "true", status=2).err, "--from",
          "a range")
    t.has(compare(t, "--run", "1", "--prepare", "exit 5", "true", "true", status=125).err,
          "--prepare failed with exit status 5", "a failed preparation")
    t.equal(left(t), [], "temporary recordings that are left")


BIG = "python3 -c 'b\"x\"*200000000'"  # 200 MB


@test
def each_failure_has_its_own_status(t):
    def status(status, *words):
        return compare(t, "--run", "2", "--warm-up", "0", *words, status=status)

    fails = ("--fail-if", "rss > +50%")
    status(0, *fails, "true", "true")
    status(1, *fails, "true", BIG)
    status(125, *fails, "true", "(exit 3)")
    status(125, *fails, "--prepare", "false", "true", "true")
    status(127, *fails, "true", "nosuchcommand; exit $?")
    status(126, *fails, "true", "/; exit $?")
    status(127, *fails, "nosuchcommand", "true")
    t.has(compare(t, "--run", "1", "--warm-up", "0", *fails, "true", "true", status=3).err,
          "two runs or more", "one run a side has no interval")


@test_of_shares
def rows_of_what_a_run_used_have_conditions(t):
    sleeps = ("--run", "3", "sleep 0.1", "sleep 0.5")
    for name in ("wall", "wall time", "wall_ns"):
        t.has(compare(t, "--fail-if", f"{name} > 20%", *sleeps, status=1).err,
              "wall time is beyond +20.0 %: interval ", name)
    for name in ("minor-faults", "minor page faults", "minor_faults"):
        t.has(compare(t, "--fail-if", f"{name} > 50%", "--run", "2", "--warm-up", "0", BIG, BIG).err,
              "minor page faults is within +50.0 %", name)


@test
def mistakes_are_refused_before_anything_runs(t):
    log = t.path("log")

    def refused(text, *words, status=2):
        t.has(compare(t, *words, status=status).err, text, f"the message for {words}")

    made = f"sh -c 'echo >> {log}'"
    for empty in ("", " ", " \t\n "):
        refused("command B is empty", "--run", "2", made, empty)
        refused("command A is empty", "--run", "2", empty, made)
    refused("nosuchcommand cannot be run: there is no such program", "--run", "2", made,
            "nosuchcommand x", status=127)
    refused("cannot be run: Permission denied", "--run", "2", made, t.write("x", ""), status=126)
    refused("is no condition", "--fail-if", "more", "--run", "2", made, made)
    refused("rows of the kind 'function'", "--fail-if", "group > 5%", "--run", "2", made, made)
    refused("--sort and --groups", "--waits", "--sort", "group", "--run", "2", made, made)
    refused(f"cannot read {t.path('none')}: No such file", "--groups", t.path("none"), "--run", "2", made, made)
    refused("1 or more", "--run", "0", made, made)
    refused("two commands", "--run", "2", made, made, made)
    t.true(not os.path.exists(log), "a command ran")
    for words in (["--keep", t.path("kept")], ["--prepare", "true"], ["--warm-up", "0"],
                  ["--warm-up", "1"], ["--show-output"], ["--ignore-failure"], ["-F", "99"], ["-g"]):
        refused("needs --run N", *words, "a.data", "b.data")
    refused("--keep needs --run N", "a.data", "--", "b.data", "--keep", t.path("kept"))
    t.has(t.assay("record", "--repeat", "0", "--", "true", status=2).err, "1 or more", "no run")
    compare(t, "--run", "1", "true", "--", "true")


@test
def prepare_runs_before_each_run(t):
    log = t.path("log")
    compare(t, "--run", "2", "--warm-up", "1", "--prepare", f"echo p >> {log}", f"echo a >> {log}",
            f"echo b >> {log}")
    with open(log, encoding="utf-8") as f:
        t.equal("".join(f.read().split()), "papb" + "papb" + "pbpa", "order of the runs")


@test
def record_repeats_a_command(t):
    work, out = program(t), t.path("r.data")
    result = t.assay("record", "--repeat", "3", "-o", out, "--", work, "1000000")
    t.has(result.err, "3 runs were recorded", "the closing line")
    for i in (1, 2, 3):
        t.true(t.report(f"{out}.{i}")["event"]["samples"] >= 0, f"file {i}")
    t.equal(t.assay("record", "--repeat", "3", "-o", out, "--", work, "1000", "7",
                    status=7).status, 7, "the status of a command that fails")
    t.has(t.assay("record", "--repeat", "3", "-o", out, status=2).err, "needs a command",
          "no command")


@test
def commands_get_an_empty_standard_input(t):
    """A terminal or a pipe would be read by the first run alone, or wait for a user."""
    log = t.path("log")
    reads = f"sh -c 'cat >> {log}; cat | wc -c >> {log}'"
    compare(t, "--run", "1", "--prepare", f"cat >> {log}", reads, reads, input="x" * 100)
    t.assay("record", "--repeat", "2", "-o", t.path("r.data"), "--", "sh", "-c",
            f"cat | wc -c >> {log}", input="x" * 100)
    with open(log, encoding="utf-8") as f:
        t.equal(f.read().split(), ["0"] * 6, "bytes that the commands read")


main()
