# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls: a program with known calls is recorded; numbers, errors and files are exact."""
import json

from harness import main, test


def recorded(t, *options):
    data = t.path("calls.data")
    t.assay("record", "--syscalls", *options, "-o", data, "--", t.workload("system_calls"), t.path("file"))
    return data


def rows(t, data, *options):
    return json.loads(t.assay("waits", "--syscalls", "--json", data, *options).out)


def one(t, report, call, **want):
    found = [r for r in report["system_calls"] if r["call"] == call]
    t.equal(sum(r["count"] for r in found), want["count"], f"{call}: calls")
    t.equal(sum(r["failed"] for r in found), want.get("failed", 0), f"{call}: failed calls")
    return found


@test
def numbers_and_errors_are_exact(t):
    report = rows(t, recorded(t))
    one(t, report, "preadv", count=500)
    one(t, report, "pwrite64", count=200)
    one(t, report, "getppid", count=70)
    bad = one(t, report, "fchdir", count=11, failed=11)
    t.equal(bad[0]["errors"], {"EBADF": 11}, "errors")
    sleeps = one(t, report, "clock_nanosleep", count=5)[0]
    t.true(sleeps["ns"] >= 5 * 20e6 and sleeps["max_ns"] >= 20e6, f"the sleeps are too short: {sleeps}")
    missing = [r for r in report["system_calls"] if r["call"] == "openat" and r["errors"].get("ENOENT", 0) >= 37]
    t.equal(len(missing), 1, "rows with the failed opens")
    t.equal(report["calls"], sum(r["count"] for r in report["system_calls"]), "sum of the rows")
    t.equal(report["beyond"], 0, "calls beyond the limit")
    # Each of the three threads ends in a call; the entry of the first exec is before the recording.
    t.equal((report["last"], report["unreturned"], report["unentered"]), (3, 0, 1), "calls without a pair")


@test
def calls_are_selected_and_have_a_histogram(t):
    data = recorded(t)
    report = rows(t, data, "--call", "pwrite64,getppid")
    t.equal(sorted((r["call"], r["count"]) for r in report["system_calls"]),
            [("getppid", 70), ("pwrite64", 200)], "rows")
    t.equal(sum(step["count"] for step in report["histogram"]), 270, "calls of the histogram")
    text = t.assay("waits", "--syscalls", data, "--sort", "count", "--percent-limit", "0").out
    t.has(text, "ENOENT", "the table")
    t.has(t.assay("waits", "--call", "read", data, status=2).err, "--syscalls", "the error")
    t.has(t.assay("waits", "--syscalls", "-g", data, status=2).err, "do not apply", "the error")


@test
def the_cost_is_stated_beforehand(t):
    data = t.path("true.data")
    err = t.assay("record", "--syscalls", "-o", data, "--", "true").err
    t.has(err, "Each system call of the traced processes takes about", "the message")


@test
def a_recording_without_system_calls_is_refused(t):
    data = t.path("plain.data")
    t.assay("record", "-q", "-o", data, "--", "true")
    t.has(t.assay("waits", "--syscalls", data, status=1).err, "record --syscalls", "the error")


main()
