# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with known shares: the report's intervals contain the true share as often as they claim,
and are not wider than necessary.

So do the intervals of a program that runs in step with the timer. The program measures the share of
each run by its CPU clock. bench/coverage does the same with more programs, options and tables. Short
form: 12 recordings of each kind, with half of the long form's times and twice its rate: the numbers
of samples and of turns are the same. ASSAY_LONG=1: 134 recordings (402 in all), and stricter bounds.
"""

import collections
import json
import os
import statistics

import known_shares
from harness import main, test, test_of_shares
from programs import ASSAY, LONG, comment, record, report, workdir, workload

RECORDINGS = 134 if LONG else 12
# At a true coverage of 95 %, fewer than 6 of 12 intervals contain the true share once in two
# million times.
LEAST_COVERED = RECORDINGS * 93 // 100 if LONG else 6
# Ratio of the mean width to the observed scatter. The scatter of twelve errors is known within a
# factor of 5, except once in a million times (chi square, 11 degrees); that of 134, within a half.
WIDEST = 1.5 if LONG else 5.5
# The level of the warning is 0.002: more than this number of warnings in 12 occurs once in ten
# million times.
MOST_WARNED = RECORDINGS // 10 if LONG else 3
RATE = 997 if LONG else 1997
SECONDS = 1 if LONG else 0.5
# A thousand samples in step with the program count as a thousand independent ones.
STEP_SECONDS = 2 if LONG else 0.5

# The program takes turns by the wall clock: another process may take more CPU time from one turn
# than from the other.
UNDISTURBED = ["chrt", "-f", "1"] if os.geteuid() == 0 else []

Measured = collections.namedtuple("Measured", "share low high own warnings")


def rest_of(row):
    """What the interval of the other function says of one without samples."""
    return {"share": 0, "low": 0, "high": row["share"] - row["low"]}


def measure(work, *mode, rate=RATE):
    """One recording of the program `share`: the share of share_f in the report, and the true share
    of the run."""
    path = f"{work}/perf.data"
    done = record(path, "-q", "-F", str(rate), "--", *UNDISTURBED, workload("share"),
                  *map(str, mode))
    own = json.loads(done.out.strip().splitlines()[-1])["share_f"]
    found = report(path)
    rows = {f["function"]: f for f in found["functions"] if f["mode"] == "user"}
    assert "share_f" in rows or "share_g" in rows, f"not among {found['functions'][:5]}"
    f = rows.get("share_f") or rest_of(rows["share_g"])
    g = rows.get("share_g", {"share": 0})
    assert 0 <= f["low"] <= f["share"] <= f["high"] <= 1, f
    # The program's start and interrupts belong to neither function.
    both = f["share"] + g["share"]
    return Measured(f["share"] / both, f["low"] / both, f["high"] / both, own, found["warnings"])


def in_step(warnings):
    return any("in step" in warning for warning in warnings)


def intervals(name, *mode):
    """An interval is about its run alone: it contains the share that the run itself measured."""
    errors, widths, covered, warned = [], [], 0, 0
    with workdir() as work:
        for number in range(RECORDINGS):
            seed = [str(number + 1)] if mode[0] == "burst" else []
            m = measure(work, *mode, *seed)
            errors.append(m.share - m.own)
            widths.append(m.high - m.low)
            covered += m.low <= m.own <= m.high
            warned += in_step(m.warnings)
    width = statistics.fmean(widths)
    scatter = 2 * 1.96 * statistics.stdev(errors)
    comment(f"{name}: {covered} of {RECORDINGS} intervals hold the share of their run; mean width "
            f"{width:.4f} ({min(widths):.4f} to {max(widths):.4f}), {width / scatter:.2f} times the scatter "
            f"{scatter:.4f}; mean error {statistics.fmean(errors):+.4f}; warned of {warned}")
    assert covered >= LEAST_COVERED, f"only {covered} of {RECORDINGS} hold the share of their run"
    assert width <= WIDEST * scatter, f"{width / scatter:.2f} times as wide as the scatter"
    assert warned <= MOST_WARNED, f"{warned} recordings were warned of that are not in step"


@test_of_shares
def even_shares(t):
    """70/30 in turns of some milliseconds, with varying lengths."""
    intervals("even", "even", 7 * SECONDS, 3 * SECONDS, SECONDS)


@test_of_shares
def bursts(t):
    """70/30 in bursts of tens of milliseconds: far from independent samples."""
    intervals("burst", "burst", 35 * SECONDS, 15 * SECONDS, SECONDS)


@test_of_shares
def in_step_with_the_timer(t):
    """The interval contains the share that the run itself measured: it is extended to the interval of
    the second clock if both clocks differ."""
    right = warned = 0
    with workdir() as work:
        for _ in range(RECORDINGS):
            m = measure(work, "step", RATE, STEP_SECONDS)
            good = m.low <= m.own <= m.high
            right += good
            warned += in_step(m.warnings)
            comment(f"step: {m.share:.3f} [{m.low:.3f} {m.high:.3f}], truth {m.own:.3f}"
                    f"{', warned of' if in_step(m.warnings) else ''}")
    comment(f"in step: {right} of {RECORDINGS} right, {warned} warned of")
    assert right >= LEAST_COVERED, f"{RECORDINGS - right} intervals are without the truth"
    assert warned > 0, "no recording was warned of"


@test_of_shares
def the_same_program_out_of_step(t):
    """At another rate the same program, with 997 turns a second, is sampled correctly, without a
    warning. A warning by chance occurs once in 500 times; three in a row do not occur."""
    with workdir() as work:
        for _ in range(3):
            m = measure(work, "step", 997, 2, rate=1499)
            comment(f"out of step: {m.share:.3f} [{m.low:.3f} {m.high:.3f}], truth {m.own:.3f}")
            assert abs(m.share - m.own) < 0.08, f"{m.share:.3f}, truth {m.own:.3f}"
            if not in_step(m.warnings):
                return
        raise AssertionError(f"warned of each time: {m.warnings}")


def near(a, b):
    return all(abs(x - y) < 1e-6 for x, y in zip(a, b))


@test
def a_function_has_one_interval_in_all_tables(t):
    """Also if it runs in step with the timer: both clocks are in each table."""
    for option in (known_shares.Option(997, (), False), known_shares.Option(1999, ("-a",), False)):
        path = t.path("step.data")
        truth = known_shares.record(ASSAY, workload("known"), path, "step", option, 1)
        found = known_shares.tables(ASSAY, path, truth["name"])
        assert found["functions"], f"no function of {truth['name']}"
        for table in ("sort function", "sort line", "summary", "brief"):
            for function, row in found[table].items():
                assert near(row, found["functions"][function]), \
                    f"{function}: {row} in {table}, {found['functions'][function]} in functions"
        comment(f"{option.rate} Hz: {dict(found)}")


@test_of_shares
def intervals_of_all_tables_contain_the_truth(t):
    """The short form of bench/coverage: with a true coverage of 93 %, fewer than 70 of 100 are not seen."""
    held, all_of = collections.Counter(), collections.Counter()
    for number, program in enumerate(known_shares.PROGRAMS):
        path = t.path(f"{program}.data")
        option = known_shares.option_of(program, 7 * number)
        if option.rate > 2000:  # the cost of a sample is in the samples, and not in the CPU time
            option = option._replace(rate=1499)
        truth = known_shares.record(ASSAY, workload("known"), path, program, option, 0.7)
        for figure in known_shares.figures(ASSAY, path, truth):
            right = figure.low <= figure.truth <= figure.high
            held[figure.table] += right
            all_of[figure.table] += 1
            if not right:
                comment(f"{program} {option}: {figure}")
    comment({table: f"{held[table]} of {all_of[table]}" for table in all_of})
    for table in all_of:
        assert held[table] >= 0.7 * all_of[table], f"{table}: {held[table]} of {all_of[table]}"


if __name__ == "__main__":
    main()
