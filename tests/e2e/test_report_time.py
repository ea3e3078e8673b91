# SPDX-License-Identifier: GPL-2.0-or-later
"""report --time: a part of a recording has its own length and account, and the accounts of adjacent
parts add up to the account of the whole."""

import json
import sys

from harness import ASSAY, main, run, test

PHASES = """
import time
def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)
def spin(seconds):
    end = now() + seconds
    while now() < end:
        pass
edges = [now()]
for phase in (spin, time.sleep, spin):
    phase(0.3)
    edges.append(now())
print(*("%.9f" % edge for edge in edges))
"""


def record(t, *options):
    data = t.path("perf.data")
    done = run(ASSAY, "record", "-q", "-o", data, *options, "--", sys.executable, "-c", PHASES)
    return data, done.out.split()


def report(data, *options):
    return json.loads(run(ASSAY, "report", "--json", *options, data).out)


def parts(data, edges):
    """The reports of all parts between the edges, from the start to the end."""
    bounds = ["", *edges, ""]
    return [report(data, "--time", f"{a},{b}") for a, b in zip(bounds, bounds[1:])]


def check_sums(t, whole, split, keys):
    for key in keys:
        t.equal(sum(part["ledger"][key] for part in split), whole["ledger"][key], key)
    t.equal(sum(part["samples"] for part in split), whole["samples"], "samples")
    t.equal(sum(part["recordings"][0]["samples"] for part in split),
            whole["recordings"][0]["samples"], "samples of all events")


def check_lengths(t, whole, split, edges):
    lengths = [round(float(b) * 1e9) - round(float(a) * 1e9) for a, b in zip(edges, edges[1:])]
    t.equal([part["ledger"]["elapsed_ns"] for part in split[1:-1]], lengths, "lengths")
    t.equal(sum(part["ledger"]["elapsed_ns"] for part in split), whole["ledger"]["elapsed_ns"],
            "sum of the lengths")


@test
def parts_of_one_command_add_up(t):
    data, edges = record(t)
    whole, split = report(data), parts(data, edges)
    check_lengths(t, whole, split, edges)
    check_sums(t, whole, split, ("user_ns", "kernel_exit_ns", "switched_oncpu_ns", "blocked_ns", "runnable_ns",
                                 "thread_wall_ns"))
    _, spin, asleep, again, _ = (part["ledger"] for part in split)
    t.true(asleep["blocked_ns"] >= 0.29e9, f"{asleep['blocked_ns']} ns blocked while it slept")
    t.true(spin["switched_oncpu_ns"] and again["switched_oncpu_ns"], "the loops ran")
    for part in split:
        t.equal(part["observer"]["cpu_ns"], None, "the recorder's own cost")
        t.equal(part["ledger"]["counted_oncpu_ns"], None, "the kernel's counter")


@test
def parts_of_the_machine_add_up(t):
    data, edges = record(t, "-a")
    whole, split = report(data), parts(data, edges)
    check_lengths(t, whole, split, edges)
    check_sums(t, whole, split, ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns"))
    for part in split[1:-1]:
        ledger = part["ledger"]
        t.equal([line["wall_ns"] for line in ledger["per_cpu"]],
                [ledger["elapsed_ns"]] * ledger["cpus"], "time of each CPU")
    for part in split:
        ledger = part["ledger"]
        t.equal(ledger["steal_measured_ns"], None, "steal is of the whole recording")
        t.equal(sum(ledger[key] for key in ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns",
                                            "unobserved_ns", "residual_ns")),
                ledger["wall_ns"] * ledger["cpus"], "the sum of the terms")
        t.equal(part["observer"]["start_cpu_ns"], None, "the cost of the set-up")
        t.true(part["observer"]["cpu_ns"] is not None, "the recorder's cost, from its switches")
    observed = sum(part["observer"]["cpu_ns"] for part in split)
    t.true(observed > 0, f"the recorder was {observed} ns on a CPU")


@test
def the_report_says_which_part_it_is_about(t):
    data, edges = record(t)
    text = run(ASSAY, "report", "--full", "--time", f"{edges[1]},{edges[2]}", data).out
    t.has(text, "\npart        from +")
    t.has(text, "known for the whole recording only")
    whole, all_of_it = (run(ASSAY, "report", "--full", *words, data).out
                        for words in ([], ["--time", "0%,100%"]))
    t.equal(all_of_it.split("\nnext ")[0], whole.split("\nnext ")[0], "the summary of the whole time")
    t.equal(all_of_it.split("\nOne command")[1], whole.split("\nOne command")[1], "the whole time")


@test
def windows_show_the_phases(t):
    data, edges = record(t)
    whole = report(data, "--process-limit", "0")
    line = whole["timeline"]
    start, window = line["start_ns"], line["window_ns"]
    weights = [sum(used) for used in zip(*(process["weights"] for process in line["processes"]))]
    t.equal(sum(weights), sum(row["weight"] for row in whole["functions"]
                              if row["mode"] in ("user", "kernel")), "weight of all windows")
    began, slept, woke, ended = ((round(float(edge) * 1e9) - start) // window for edge in edges)
    t.equal(weights[slept + 2:woke], [0] * (woke - slept - 2), "windows while it slept")
    t.true(any(weights[began:slept]) and any(weights[woke:ended + 1]), "windows of the loops")
    text = run(ASSAY, "report", "--full", data).out
    t.has(text, f"\nOver time, {len(weights)} windows of ")
    part = report(data, "--process-limit", "0", "--time", f"{edges[0]},{edges[1]}")["timeline"]
    t.true(part["start_ns"] <= round(float(edges[0]) * 1e9) < part["start_ns"] + part["step_ns"],
           f"the part's windows begin at {part['start_ns']}")


@test
def a_part_outside_of_the_recording_is_refused(t):
    data, _ = record(t)
    for part, why in (("100%,200%", "begins after the end"), ("150%,", "begins after the end"),
                      ("0%,0%", "ends at the begin"), (",0%", "ends at the begin")):
        t.has(t.assay("report", "--time", part, data, status=None).err, why, part)
    t.equal(report(data, "--time", "0%,200%")["samples"], report(data)["samples"], "the whole recording")


@test
def tables_of_processes_by_their_time(t):
    data, _ = record(t)
    whole = report(data, "--process-limit", "0")["process_functions"]
    used = {(process["name"], part): sum(row["weight"] for row in process[part])
            for process in whole for part in ("user", "kernel")}
    t.true(any(used.values()), "no samples")
    for ns in (0.5e6, 5e6, 50e6, 3600e9):
        for part, other in (("user", "kernel"), ("kernel", "user")):
            limit = f"{part}:{ns / 1e6:f}ms,{other}:100%,100%"
            shown = {process["name"] for process in
                     report(data, "--process-limit", limit)["process_functions"] if process[part]}
            t.equal(shown, {name for (name, of), weight in used.items() if of == part and weight >= ns},
                    limit)
    t.assay("record", "-q", "-e", "page-faults", "-o", t.path("faults.data"), "--", "true")
    t.has(t.assay("report", "--process-limit", "kernel:5ms", t.path("faults.data"), status=2).err,
          "--process-limit with a time needs samples of a timer, not of page-faults")
    t.report(t.path("faults.data"), "--process-limit", "kernel:5%")
    t.has(t.assay("report", "--process-limit", "5x", data, status=2).err,
          "--process-limit needs a share or a CPU time")


main()
