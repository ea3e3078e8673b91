# SPDX-License-Identifier: GPL-2.0-or-later
"""tags: the trace of a command equals the known behaviour of its source, for all ways in which it
ends and for all programs that it starts; discarded events are counted; error messages say what to
do."""
import json
import os
import signal
import subprocess

from device_truth import check_order
from harness import ASSAY, main, run, sizes_of, test, test_of_shares
from tags_program import SHORT, build, calls_of, events_of, left_over, of_rounds, place


def record(t, program, *steps, options=(), status=0, **others):
    """Runs the program under assay tags; returns the contents of the trace."""
    result = t.assay("tags", "-q", "-o", t.path("x.tags"), *options, "--", program, *steps,
                     status=status, **{"env": place(t), **others})
    t.equal(left_over(t), [], "what is left in the directory")
    report = t.report(t.path("x.tags"))
    report["err"] = result.err
    return report


def none_missing(t, report):
    for key in ("lost", "gaps", "missing_exits", "unknown_tags", "backwards"):
        t.equal(report[key], 0, key)


@test
def calls_are_those_of_the_source_code(t):
    report = record(t, build(t), "rounds=3000", "marks=5", "exit=3", status=3)
    t.equal(calls_of(report), {**of_rounds(3000), "main": 1, "marks": 1, "mark": 5})
    t.equal(report["tags"], events_of(3000) + 2 + 2 + 5, "events")
    t.equal(report["unmatched_exits"], 0, "unmatched exits")
    t.equal(report["processes"], 1, "processes")
    none_missing(t, report)


@test
def threads_are_streams_with_their_own_calls(t):
    report = record(t, build(t), "threads=9")
    t.equal(calls_of(report), {**of_rounds(*range(1, 10)), "main": 1})
    t.equal(report["threads"], 10, "threads")
    none_missing(t, report)


@test
def children_are_followed_through_fork_and_exec(t):
    program = build(t)
    report = record(t, program, "rounds=2", "fork", "rounds=3")
    t.equal(calls_of(report), {**of_rounds(2, 7, 3), "main": 1})
    t.equal(report["processes"], 2, "processes")
    # The program that it executes has its own recording, and the same process.
    report = record(t, program, "rounds=2", "exec", "rounds=30", "fork")
    t.equal(calls_of(report), {**of_rounds(2, 30, 7), "main": 2})
    none_missing(t, report)
    report = record(t, "/bin/sh", "-c", f"{program} rounds=4; {program} rounds=5; true")
    t.equal(calls_of(report), {**of_rounds(4, 5), "main": 2})
    t.equal(report["processes"], 2, "processes")
    none_missing(t, report)


@test
def exits_of_calls_that_a_child_inherited_are_distinguished(t):
    report = record(t, build(t), "rounds=2", "split", "rounds=3")
    t.equal(calls_of(report), {**of_rounds(2, 3, 3), "main": 1})
    t.equal(report["processes"], 2, "processes")
    t.equal(report["inherited_exits"], 1, "exits of calls from before the fork")  # the child's main
    t.equal(report["unmatched_exits"], 0, "exits without an entry")
    none_missing(t, report)
    text = t.assay("report", "--full", t.path("x.tags")).out
    t.has(text, "1 exit is of a function that was entered before a fork")
    t.lacks(text, "no entry")


@test
def a_killed_program_has_all_its_events(t):
    program = build(t)
    for end, status in (("kill", 137), ("abort", 134)):
        report = record(t, program, "rounds=1000", end, status=status)
        t.equal(calls_of(report), {**of_rounds(1000), "main": 1}, f"calls before {end}")
        t.equal(report["tags"], events_of(1000) + 1, "events")
        t.equal(report["open"], 1, "calls that had not ended")


@test
def signals_reach_the_command(t):
    program = build(t)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = t.start(ASSAY, "tags", "-q", "-o", t.path("s.tags"), "--", program,
                          "rounds=10", "say", "forever", stdout=subprocess.PIPE,
                          env={**os.environ, **place(t)})
        t.equal(process.stdout.readline(), b"said\n")
        process.send_signal(number)
        t.equal(t.wait(process), 128 + number, "status")
        t.equal(calls_of(t.report(t.path("s.tags"))), {**of_rounds(10), "main": 1})


@test_of_shares
def waiting_is_separated(t):
    report = record(t, build(t), "waits=60", "rounds=10", "waits=70")
    if "not separate" in report["err"]:
        t.equal(report["waiting_separated"], False)
        t.skip("perf_event is denied: switches are not seen")
    t.true(report["waiting_separated"], "waiting is separated")
    # A sleep may last longer, and never shorter.
    t.true(report["blocked_ns"] >= 130e6 * 0.999, f"blocked: {report['blocked_ns']}")
    sums = sum(function["net_ns"] for function in report["functions"]
               if function["function"] != "(outside)")
    books = report["idle_ns"] + report["outside_ns"] + report.get("own_ns", 0) + sums
    t.near(books, report["elapsed_ns"], len(report["functions"]) + 3, "the books in ns")
    waits = [f for f in report["functions"] if f["function"] == "waits"][0]
    t.true(waits["net_ns"] + waits["elapsed_ns"] < 2 * 130e6,
           f"waiting is in no function's time: {waits}")
    none_missing(t, report)


@test
def where_switches_are_denied_the_report_says_so(t):
    program = build(t)
    result = t.run(t.workload("noperf"), ASSAY, "tags", "-o", t.path("x.tags"), "--", program,
                   "waits=30", env=place(t))
    t.has(result.err, "waiting time is not separate")
    report = t.report(t.path("x.tags"))
    t.equal(report["waiting_separated"], False, "waiting_separated")
    waits = [f for f in report["functions"] if f["function"] == "waits"][0]
    t.true(waits["net_ns"] >= 30e6 * 0.999, f"waiting is in the function's time: {waits}")
    none_missing(t, report)


@test
def a_long_run_passes_through_little_memory(t):
    # A pause after each part that fits into the buffer: the drain reads it, and no event is lost.
    steps = [word for _ in range(60) for word in ("rounds=1000", "waits=20")]
    report = record(t, build(t), *steps, options=("--memory", "512k"))
    have = report["tags"] + report["lost"]
    t.equal(have, events_of(*[1000] * 60) + 2 * 60 + 2, "events, with those that were lost")
    t.true(report["tags"] > (512 << 10) / 8, "more events came through than there is room")


def check_holes(t, report):
    """Time in holes is in no function, and the parts add up; no figure of a call is of an
    incomplete one."""
    t.near(sum(report[f"{part}_ns"] for part in ("run", "idle", "own", "gap")),
           report["elapsed_ns"], 4, "the parts of the elapsed time")
    t.near(sum(row["net_ns"] for row in report["functions"]) + report["outside_ns"] +
           report["unknown_ns"], report["run_ns"], len(report["functions"]) + 2, "the run time")
    t.true(report["gap_ns"] > 0, "there is a hole")
    t.true(report["cut"] > 0, "calls are open at the hole")
    t.equal(sum(row["cut"] for row in report["functions"]), report["cut"], "cut calls")
    for row in report["functions"]:
        check_order(t, row, row["function"])
        t.true(row["max_ns"] is None or row["timed_calls"] <= row["calls"] - row["cut"] - row["open"],
               f"{row['function']}: percentiles are of complete calls")


@test
def discarded_records_are_counted(t):
    program = build(t)
    truth = events_of(100000) + 2
    report = record(t, program, "rounds=100000", options=("--memory", "128k", "--mode", "stop"))
    t.equal(report["tags"] + report["lost"], truth, "events, with those that were lost")
    t.between(report["tags"], 1, (128 << 10) / 8, "events that found room")
    check_holes(t, report)
    t.equal([row["cut"] for row in report["functions"] if row["function"] == "main"], [1], "main")
    t.true(report["gap_ns"] > report["run_ns"], "after the memory was full, nothing is known")
    # A difference that the hole can explain is no change of a function.
    for data, options in (("y.tags", ("--memory", "128k", "--mode", "stop")), ("whole.tags", ())):
        t.assay("tags", "-q", "-o", t.path(data), *options, "--", program, "rounds=100000",
                env=place(t))
    diff = json.loads(t.assay("diff", "--json", t.path("y.tags"), t.path("whole.tags")).out)
    t.true(diff["before"][0]["missing_ns"] > 0, "the comparison has the missing time")
    # On a busy machine a function of some us really differs between two runs.
    t.equal([f for f in diff["changes"] + diff["new"] + diff["gone"]
             if max(f["before"] or 0, f["after"] or 0) > 1e6], [], "changed functions")
    report = record(t, program, "rounds=100000", options=("--memory", "64k"))
    t.equal(report["tags"] + report["lost"], truth, "events, with those that were lost")
    told = t.assay("tags", "-o", t.path("z.tags"), "--memory", "64k", "--mode", "stop", "--",
                   program, "rounds=100000", env=place(t))
    t.has(told.err, "events were lost, since the memory was full and recording stopped")


@test
def a_drain_that_stops_counts_all_lost_events(t):
    """The program fills its rings while assay is stopped, and exits before assay continues."""
    program, data, truth = build(t), t.path("stopped.tags"), events_of(100000) + 2
    process = subprocess.Popen([ASSAY, "tags", "-q", "-o", data, "--memory", "64k", "--", "sh", "-c",
                                f"kill -STOP $PPID; {program} rounds=100000; kill -CONT $PPID"],
                               env={**os.environ, **place(t)})
    t.equal(process.wait(), 0, "the status of assay")
    report = t.report(data)
    t.equal(report["tags"] + report["lost"], truth, "events, with those that were lost")
    t.true(report["lost"] > truth / 2, "events were lost while assay was stopped")
    t.has(t.assay("report", data).out, "events were lost")


@test
def threads_that_wait_lose_no_event(t):
    report = record(t, build(t), "rounds=200000", options=("--memory", "64k", "--wait"))
    t.equal(report["tags"], events_of(200000) + 2, "events")
    none_missing(t, report)
    refused = t.assay("tags", "--wait", "--mode", "stop", "--", "true", status=2)
    t.has(refused.err, "--wait is for --mode stream")


@test
def a_compressed_trace_says_the_same(t):
    steps = ("rounds=3000", "waits=5", "marks=7", "rounds=500")
    packed, plain, again = t.path("packed.tags"), t.path("plain.tags"), t.path("again.tags")
    t.assay("tags", "-q", "-o", packed, "--compress", "--wait", "--", build(t), *steps,
            env=place(t))
    report = t.report(packed)
    t.assay("export", "--to", "ctf", "-o", plain, packed)
    t.assay("export", "--to", "ctf", "--compress", "-o", again, plain)
    for copy in (plain, again):
        other = t.report(copy)
        for each in (report, other):
            each["summary"].pop("next", None)  # commands with the trace's path
        t.equal(other, report, f"the report of {copy}")
    size = {path: os.path.getsize(f"{path}/stream_0") for path in (packed, plain, again)}
    t.true(size[packed] < size[plain] / 4, f"bytes: {size}")
    t.true(size[again] < size[plain] / 4, f"bytes: {size}")
    for words in (("--to", "ctf", plain), ("--to", "ctf", "-o", plain, plain),
                  ("--to", "folded", "--compress", plain)):
        t.assay("export", *words, status=2)


@test
def a_flight_recorder_has_the_latest(t):
    report = record(t, build(t), "rounds=100000", "marks=7", "kill", status=137,
                    options=("--memory", "128k", "--mode", "wrap"))
    counts = calls_of(report)
    t.equal(counts["mark"], 7, "marks, the last events")
    t.between(report["tags"], 1000, (128 << 10) / 8, "events kept")
    t.equal(report["lost"], 0, "lost")


@test
def capture_begins_and_ends_on_request(t):
    report = record(t, build(t), "rounds=5", "start", "rounds=20", "stop", "rounds=300",
                    "start", "marks=4", options=("--start", "off"))
    t.equal(calls_of(report), {**of_rounds(20), "marks": 1, "mark": 4})
    program = build(t)
    told = t.assay("tags", "-o", t.path("z.tags"), "--start", "off", "--", program, "rounds=5",
                   env=place(t))
    t.has(told.err, "recording was not started")


LIBRARY = """
__attribute__((noinline)) void in_library(void) { __asm__ volatile(""); }
void enter_library(void) { for (int i = 0; i < 6; i++) in_library(); }
"""


@test
def a_line_shows_that_capture_has_begun(t):
    program = build(t)
    for options, count in ((("-q",), 0), (("--start", "off"), 0), ((), 1)):
        told = t.assay("tags", *options, "-o", t.path("x.tags"), "--", program, "rounds=1",
                       "waits=300", env=place(t)).err
        t.equal(told.count("capture has begun"), count, f"the line with {options}")


@test
def sizes_are_those_of_both_programs(t):
    program, native = build(t, "short", SHORT, extra=["-O2"]), t.path("native")
    run("gcc", "-O2", "-o", native, t.path("short.c"))
    shown = ("tags", "--native", native, "-o", t.path("x.tags"))
    sizes = json.loads(t.assay(*shown, "--json", "--", program, env=place(t)).out)["sizes"]
    for name, got in sizes.items():
        for key, path in (("with_bytes", program), ("without_bytes", native)):
            want = sizes_of(path)
            t.equal(got[key], want[name] if name != "all" else sum(want.values()), f"{name}: {key}")
    t.has(t.assay(*shown, "--", program, env=place(t)).out, "Size of the program in bytes", "table")
    shown = t.assay("tags", "--native", "/nowhere", "--", program, status=2, env=place(t))
    t.has(shown.err, "no program /nowhere", "a missing program is found before COMMAND runs")


@test
def libraries_that_are_loaded_later_have_names(t):
    program = build(t, extra=["-ldl"])
    library = build(t, "library.so", LIBRARY, extra=["-shared", "-fPIC"])
    report = record(t, program, "rounds=3", f"library={library}")
    t.equal(calls_of(report), {**of_rounds(3), "main": 1, "enter_library": 1, "in_library": 6})
    none_missing(t, report)


@test
def two_names_of_one_tag_are_reported(t):
    program = build(t, extra=["-ldl"])
    library = build(t, "library.so", LIBRARY, names="other.names", extra=["-shared", "-fPIC"])
    result = t.assay("tags", "-o", t.path("y.tags"), "--", program, f"library={library}",
                     env=place(t))
    t.has(result.err, "with one names file")
    t.equal(t.report(t.path("y.tags"))["tags"], 2 + 2 + 12, "events")


@test
def an_older_trace_is_kept_aside(t):
    program = build(t)
    record(t, program, "rounds=1")
    record(t, program, "rounds=2")
    t.equal(calls_of(t.report(t.path("x.tags")))["branch"], 2)
    t.equal(calls_of(t.report(t.path("x.tags.old")))["branch"], 1)
    record(t, program, "rounds=3")
    t.equal(calls_of(t.report(t.path("x.tags.old")))["branch"], 2)
    t.path("mine").mkdir()
    t.write("mine/letter", "dear")
    result = t.assay("tags", "-o", t.path("mine"), "--", program, "rounds=1", status=1,
                     env=place(t))
    t.has(result.err, "exists: ")
    t.equal(t.path("mine/letter").read_text(), "dear")


@test
def a_command_without_tags_gets_the_reason(t):
    program = build(t)
    record(t, program, "rounds=1")
    words = ("tags", "-o", t.path("x.tags"), "--")
    result = t.assay(*words, "/bin/true", status=1, env=place(t))
    t.has(result.err, "neither /bin/true nor a program that it started is built with")
    t.has(result.err, "assay tags flags")
    t.equal(calls_of(t.report(t.path("x.tags")))["branch"], 1, "the older trace stays")
    script = t.write("script", "#!/bin/sh\nexit 4\n")
    script.chmod(0o755)
    t.has(t.assay(*words, script, status=4, env=place(t)).err, "is a script, for /bin/sh")
    result = t.assay(*words, "/usr/bin/env", "-u", "ASSAY_TAGS_DIR",
                     f"XDG_RUNTIME_DIR={t.path('elsewhere')}", program, "rounds=1", status=1,
                     env=place(t))
    t.has(result.err, "no event tags were written")
    t.has(t.assay(*words, t.path("none"), status=127, env=place(t)).err, "cannot be run")
    t.has(t.assay(*words, t.directory, status=126, env=place(t)).err, "cannot be run")
    t.has(t.assay("tags", "--", "list", status=127, env=place(t)).err, "if 'assay tags list' was meant")
    t.has(t.assay("tags", status=2).err, "needs a command to run")
    t.has(t.assay("tags", "--memory", "x", "--", "true", status=2).err, "--memory needs MB")
    # Impossible report options are refused before the command runs.
    for status, text, words in ((2, "there is no column 'x' to sort by", ("-s", "x")),
                                (2, "--sort cpu needs the CPU of each row", ("-s", "cpu")),
                                (2, "no function was named", ("--total",)),
                                (1, "cannot open the rules file", ("--groups", t.path("none")))):
        result = t.assay("tags", *words, "--", "touch", t.path("ran"), status=status)
        t.has(result.err, text)
        t.true(not t.path("ran").exists(), f"{text}: nothing ran")
    t.equal(left_over(t), [], "what is left in the directory")


@test
def the_report_is_printed_and_quiet_prints_nothing(t):
    program = build(t)
    result = t.assay("tags", "-o", t.path("x.tags"), "--", program, "rounds=5", env=place(t))
    t.has(result.out, "Elapsed time")
    t.has(result.out, "branch")
    t.has(result.err, "34 events in 1 stream of 1 process")
    result = t.assay("tags", "-q", "-o", t.path("x.tags"), "--", program, "rounds=5",
                     env=place(t))
    t.equal(result.out, "")
    t.lacks(result.err, "events in")


@test
def programs_that_continue_are_reported_and_read_later(t):
    program = build(t)
    result = t.assay("tags", "-o", t.path("x.tags"), "--", program, "leave", env=place(t))
    t.has(result.err, "1 process is still running")
    t.equal(calls_of(t.report(t.path("x.tags"))), {**of_rounds(7), "main": 1})
    running = t.json(t.assay("tags", "list", "--json", env=place(t)).out)["processes"]
    t.equal(len(running), 1, "processes that are listed")
    os.kill(running[0]["pid"], signal.SIGKILL)
    t.until(lambda: [each["state"] for each in t.json(
        t.assay("tags", "list", "--json", env=place(t)).out)["processes"]] == ["ended"],
            "it has ended")
    t.assay("tags", "get", "-q", "-o", t.path("y.tags"), env=place(t))
    t.equal(left_over(t), [], "what is left in the directory")


@test
def trouble_with_the_trace_does_not_end_the_command(t):
    program = build(t)
    t.path("out").mkdir()
    # A directory of another user is created while the command runs.
    result = t.assay("tags", "-o", t.path("out/x.tags"), "--", "/bin/sh", "-c",
                     f"mkdir -p {t.path('out/x.tags')}/mine; {program} rounds=3; sleep 0.1; "
                     f"{program} rounds=3; echo done", status=1, env=place(t))
    t.has(result.out, "done")
    t.has(result.err, "x.tags")
    t.has(result.err, "assay tags get")
    t.true(t.path("out/x.tags/mine").exists(), "what was there is gone")


@test
def babeltrace_counts_the_same(t):
    t.need("babeltrace2")
    record(t, build(t), "rounds=500", "threads=3")
    lines = t.run("babeltrace2", t.path("x.tags")).out.splitlines()
    names = [line.split(") ", 1)[1].split(":  " if ":  " in line else ": {")[0].split()[-1]
             for line in lines]
    t.equal(names.count("leaf"), 2 * (500 + 1 + 2 + 3), "entries of leaf")
    t.equal(names.count("leaf:exit"), names.count("leaf"), "exits of leaf")


main()
