# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring takes no more CPU time than its budget. The rate follows from the measured cost of a
sample, each sample has its own period, the time accounts close at all rates, and the report
lists the rates."""

import math
import os
import re
import signal
import subprocess
import time

from harness import ASSAY, main, stolen_ns, test, test_of_shares

FLOOR_HZ = 19
# Uses this CPU time, by the process's own clock, and prints its pid.
BURN = "import os, time\nprint(os.getpid())\nwhile time.process_time() < {}: pass"


def most_hz():
    """The kernel's limit of sampling rates, which it lowers if interrupts of a PMU take long."""
    with open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="ascii") as f:
        return int(f.read())


def records_all(t, *words, seconds=2, env=None):
    """Records the whole machine while a program uses this CPU time. Returns the report, and the ns
    of the program according to the samples."""
    path = t.path("budget.data")
    pid = t.assay("record", "-q", "-a", "-o", path, *words, "--", "python3", "-S", "-c",
                  BURN.format(seconds), env=env, timeout=150).out
    report = t.report(path, "--sort", "pid", "--percent-limit", "0")
    report["burnt_ns"] = sum(row["weight"] for row in report["rows"] if row["pid"] == int(pid))
    if report["ledger"]["scope"] != "machine":
        t.skip("the whole machine may not be sampled")
    return path, report


def books_close(t, report):
    ledger, recording = report["ledger"], report["recordings"][0]
    ticks = ledger["ticks"]
    t.near(ticks["all"] + ticks["missing"], ticks["due"], 4, "ticks seen and missing")
    t.near(ledger["residual_ns"], 0, 0.05 * ledger["wall_ns"] * ledger["cpus"], "the residual")
    t.near(sum(r["length_ns"] for r in recording["rates"]), ledger["elapsed_ns"], 5e6,
           "the time of all rates")
    t.near(sum(r["share"] for r in recording["rates"]), 1, 1e-6, "shares of the rates")


@test_of_shares
def the_rate_is_what_the_budget_allows(t):
    # If other programs use the CPU during those few ms, the cost of a sample is not measured, and the
    # session goes on with the cost that it believes in.
    for _ in range(3):
        asked = min(50000, most_hz())
        path, report = records_all(t, "-F", asked, "--budget", "1")
        recording = report["recordings"][0]
        if recording["budget"]["measured"]:
            break
    budget, rates = recording["budget"], recording["rates"]
    t.equal(budget["share"], 0.01, "budget")
    t.true(budget["sample_ns"] > 0, "a cost of a sample")
    if budget["measured"]:
        t.true(0 < budget["sample_low_ns"] <= budget["sample_ns"] * 1.5, "quartiles")
    t.equal(report["event"]["frequency_hz"], asked, "the rate asked for")
    t.true(rates, "the rate is as asked")
    t.equal(rates[0]["reason"], "budget", "why the first rate is what it is")
    for rate in rates:
        taken = budget["sample_ns"] / rate["period_ns"]
        t.true(taken <= 0.0101 or rate["period_ns"] >= 1e9 / FLOOR_HZ - 1,
               f"samples take {taken} of a CPU")
    books_close(t, report)
    text = t.assay("report", "--full", path).out
    t.has(text, "\nRates\n")
    t.has(text, "\nbudget ")
    t.has(text, f" at up to {asked} Hz")


@test_of_shares
def samples_stand_for_the_time_between_them(t):
    """With an empty cache the first unwind tables use much of the budget, so the rate usually
    changes."""
    t.need("perf")
    seconds, before = 4, stolen_ns()
    path, report = records_all(t, "-g", "-F", "20000", "--budget", "1", seconds=seconds,
                               env={"XDG_CACHE_HOME": str(t.path("cache"))})
    stolen = stolen_ns() - before
    rates = report["recordings"][0]["rates"]
    t.true(rates and rates[0]["period_ns"] > 50000, f"the rate is as asked: {rates}")
    books_close(t, report)
    # As perf reads the file, each sample has one of the periods that the report lists.
    text = t.run("perf", "script", "-i", path, "-F", "event,period", "-G", timeout=120).out
    found = {int(line.split()[0]) for line in text.splitlines()
             if line.split()[1:] and line.split()[1].startswith("cpu-clock:")}
    t.true(found, "perf finds no samples")
    t.true(found <= {rate["period_ns"] for rate in rates},
           f"{sorted(found)} are not all of the periods of {rates}")
    # Other programs may take the CPU from it at any moment, so its number of samples is random, and
    # small at low rates. Each sample counts for one period. A deviation of six standard deviations
    # occurs once in a hundred million times.
    chance = 6 * math.sqrt(sum(rate["period_ns"] * rate["length_ns"] for rate in rates))
    t.between(report["burnt_ns"], seconds * 1e9 * 0.98 - chance,
              seconds * 1e9 * 1.05 + chance + stolen, "time of the process that knows its own")


def samples_stand_for_cpu_time(t, report, threads):
    """The last tick of a thread comes up to a period before its end. At a change of the rate, the
    timer of a thread that waits keeps the rest of its old period. Lost records are no samples."""
    ledger, recording = report["ledger"], report["recordings"][0]
    least = 0.02 * ledger["oncpu_ns"]
    ends = threads * max(rate["period_ns"] for rate in recording["rates"])
    changes = sum(rate["period_ns"] for rate in recording["rates"])
    lost = recording["lost_records"] * 2 * report["event"]["period_ns"]
    t.between(ledger["unobserved_ns"], -least - changes, least + ends + changes + lost,
              "time without samples")


@test_of_shares
def the_period_is_that_of_the_event_and_not_of_the_thread(t):
    """A program and its clones on one CPU: when it switches between them, the kernel exchanges
    their events, and only those that assay opened have the lower rate."""
    t.need("taskset")
    for words in ((), ("-g",)):
        path = t.path("clones.data")
        t.assay("record", "-q", "-F", "4999", "--budget", "10%", *words, "-o", path, "--", "taskset",
                "-c", "0", t.workload("threads"), "2", "300", timeout=150)
        report = t.report(path)
        t.true(report["recordings"][0]["rates"], "the rate was not lowered")
        samples_stand_for_cpu_time(t, report, 3)


@test_of_shares
def the_period_of_clones_is_right_after_an_overload(t):
    """Other programs use the CPUs, so that the threads are switched between, and the kernel gives a
    sample that follows lost records the ids of another event."""
    t.need("taskset")
    path = t.path("behind.data")
    busy = [t.start("sh", "-c", "while :; do :; done") for _ in range(3)]
    recorder = t.start(ASSAY, "record", "-q", "-F", "4999", "-g", "--memory", "4", "-o", path, "--",
                       "taskset", "-c", "0", t.workload("threads"), "2", "600")
    # While it is stopped the buffers become full.
    t.until(path.exists, "the recording begins")
    time.sleep(0.5)
    recorder.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    recorder.send_signal(signal.SIGCONT)
    t.equal(t.wait(recorder), 0, "status of the recorder")
    for process in busy:
        process.kill()
    report = t.report(path)
    t.true(any(rate["reason"] == "behind" for rate in report["recordings"][0]["rates"]),
           f"the rate was not lowered: {report['recordings'][0]['rates']}")
    samples_stand_for_cpu_time(t, report, 3)


@test
def what_is_within_the_budget_is_sampled_as_asked(t):
    path, report = records_all(t, "-F", "997", "--budget", "100", seconds=1)
    recording = report["recordings"][0]
    t.equal(recording["rates"], [], "rates")
    t.equal(recording["budget"]["share"], 1, "budget")
    text = t.assay("report", "--full", path).out
    t.lacks(text, "\nRates\n")
    t.has(text, "cpu-clock at 997 Hz" if "cpu-clock" in text else " at 997 Hz")


@test_of_shares
def a_busy_machine_keeps_its_rate(t):
    """97 samples a second need a tenth of this budget. Programs that take the CPU while the costs are
    measured do not change the costs."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
            for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        path = t.path("budget.data")
        t.assay("record", "-q", "-a", "-F", "97", "--budget", "4", "-o", path, "--", "sleep", "3",
                timeout=60)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    recording = t.report(path)["recordings"][0]
    for rate in recording["rates"]:
        t.true(rate["period_ns"] < 1e9 / (2 * FLOOR_HZ), f"{rate} with {recording['budget']}")


@test
def no_rate_is_below_the_floor(t):
    _, report = records_all(t, "-F", "997", "--budget", "0.0001", seconds=1)
    recording = report["recordings"][0]
    for rate in recording["rates"]:
        t.near(rate["period_ns"], 1e9 / FLOOR_HZ, 1, "the period")
    t.true(recording["budget"]["spent"] > recording["budget"]["share"], "it was kept all the same")
    t.true(any("the budget was" in warning for warning in report["warnings"]),
           f"no warning: {report['warnings']}")


@test
def more_than_the_kernel_allows_is_a_ceiling(t):
    most, path = most_hz(), t.path("budget.data")
    for words in ((), ("--budget", "5")):
        err = t.assay("record", "-F", most * 3, *words, "-o", path, "--", "true").err
        report = t.report(path)
        t.equal(report["event"]["frequency_hz"], most, "the ceiling")
        t.true(any(f"not {most * 3}" in warning for warning in report["warnings"]),
               f"no warning: {report['warnings']}")
        t.has(err, f"kernel.perf_event_max_sample_rate={most * 3}")


@test
def the_default_rate_is_lowered_to_the_limit_of_the_kernel(t):
    """The file of the limit is another one in a namespace: the machine's limit stays."""
    t.need("unshare", "mount")
    if os.getuid() or t.run("unshare", "-m", "true", status=None).status:
        t.skip("mounting needs root")
    limited = ("unshare", "-m", "sh", "-c", f"mount --bind {t.write('limit', '500')} "
               '/proc/sys/kernel/perf_event_max_sample_rate && exec "$@"', "sh", ASSAY)
    path = t.path("limited.data")
    err = t.run(*limited, "record", "-o", path, "--", "true").err
    t.has(err, "At most 500 samples per second were taken, not 997")
    t.equal(t.report(path)["event"]["frequency_hz"], 500, "the rate")
    # A lower rate, a period and single events have nothing to do with the limit.
    for words in (("-F", "499"), ("-c", "1000000"), ("-e", "page-faults")):
        t.lacks(t.run(*limited, "record", *words, "-o", path, "--", "true").err, "At most")


@test
def what_set_up_takes_belongs_to_the_budget(t):
    out = t.path("a.data")
    # Any set-up takes more than a ten-thousandth of a second. The message appears before the
    # command runs.
    result = t.assay("record", "-a", "-o", out, "--budget", "0.01", "--duration", "1s", "--", "sh",
                     "-c", "echo runs >&2; sleep 1")
    t.true(re.match(r"assay: The budget of 0\.01 % of a CPU cannot be kept in 1 s: the set-up used "
                    r"[\d.]+ ms of CPU time\. A recording of \d+ s or more keeps it, or a budget of "
                    r"[\d.e+]+ %\.\nruns\n", result.err), str(result))
    recording = t.report(out)["recordings"][0]
    took = t.report(out)["observer"]["start_cpu_ns"] / t.report(out)["ledger"]["cpus"]
    t.true(recording["budget"]["spent"] * 1e9 >= took / 2, "the set-up is part of what was taken")
    # Without a duration, the message says after which time the budget is kept.
    result = t.assay("record", "-a", "-o", out, "--budget", "0.01", "--", "sh", "-c", "echo runs >&2")
    t.true(re.match(r"assay: A recording of less than [\d.]+ s uses more than the budget of 0\.01 % of "
                    r"a CPU: the set-up used [\d.]+ ms of CPU time\.\nruns\n", result.err), str(result))
    result = t.assay("record", "-q", "-o", out, "--budget", "0.01", "--duration", "1s")
    t.equal(result.err, "", "with -q")
    # The recorder takes less than a hundred seconds of a CPU.
    result = t.assay("record", "-a", "-o", out, "--budget", "100", "--duration", "100s", "--", "sh",
                     "-c", "kill -INT $PPID; exec sleep 100", status=None)
    t.lacks(result.err, "budget", "what is kept is not remarked")


@test
def events_whose_number_cannot_be_reduced(t):
    path = t.path("budget.data")
    t.assay("record", "-q", "-e", "page-faults", "--budget", "1", "-o", path, "--", "true")
    report = t.report(path)
    t.equal(report["recordings"][0]["budget"], None, "budget")
    t.true(any("The budget was not applied" in warning for warning in report["warnings"]), report["warnings"])


@test
def the_fastest_rate_leaves_other_programs_time(t):
    """Above 10,000 samples per second a budget of 50 % applies."""
    path = t.path("fast.data")
    for rate, share in (("10000", None), ("10001", 0.5)):
        t.assay("record", "-q", "-a", "-F", rate, "-o", path, "--", "true")
        budget = t.report(path)["recordings"][0]["budget"]
        t.equal(budget and budget["share"], share, f"budget of {rate} Hz")


@test
def buffers_that_were_too_small_are_reported(t):
    path = t.path("buffers.data")
    t.assay("record", "-q", "-a", "-F", "max", "--memory", "0.02", "-o", path, "--",
            "python3", "-S", "-c", BURN.format(1.5))
    report = t.report(path)
    buffers = report["recordings"][0]["buffers"]
    t.true(buffers, "the report has no buffers")
    for buffer in buffers:
        t.true(buffer["used_average"] <= buffer["used_max"] <= buffer["bytes"], str(buffer))
    t.true(any(b["used_max"] * 2 > b["bytes"] for b in buffers), f"none is full: {buffers}")
    t.has(t.assay("report", "--full", path).out, "\nBuffers\n")
    t.assay("record", "-q", "-o", path, "--", "true")
    t.lacks(t.assay("report", "--full", path).out, "\nBuffers\n")
    t.has(t.assay("report", "--wide", path).out, "\nBuffers\n")


if __name__ == "__main__":
    main()
