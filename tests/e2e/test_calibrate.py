# SPDX-License-Identifier: GPL-2.0-or-later
"""record --calibrate measures by how much sampling slows programs; the report shows it, or says that
it could not be measured."""

import re

from harness import main, test


def recorded(t, *words):
    path = t.path("calibrated.data")
    t.assay("record", "-q", "-o", path, *words, "--", "true")
    return path, t.report(path)["recordings"][0]["calibration"]


@test
def the_report_shows_the_slowdown_or_why_it_is_not_known(t):
    path, found = recorded(t, "--calibrate")
    if found["slowdown"] is None:
        wanted = r"the slowdown by sampling is not known: the (machine|system) .*"
    else:
        t.true(found["low"] <= found["slowdown"] <= found["high"], found)
        wanted = r"sampling slows this machine by -?[\d.]+ % \+/- [\d.]+ at this rate"
    t.true(re.search(f"\nslowdown +{wanted}\n", t.assay("report", "--full", "-i", path).out),
           "the heading")
    t.true(re.search(wanted.split(" ", maxsplit=1)[0], t.assay("report", "-i", path).out), "the summary")


@test
def no_clock_no_slowdown(t):
    path, found = recorded(t, "--calibrate", "-e", "page-faults")
    t.equal(found, {"slowdown": None, "low": None, "high": None, "pairs": 0}, "calibration")
    t.has(t.assay("report", "--full", "-i", path).out,
          "the slowdown by sampling is not known: the event is no clock")


@test
def without_the_option_nothing_is_measured(t):
    path, found = recorded(t)
    t.equal(found, None, "calibration")
    t.lacks(t.assay("report", "--full", "-i", path).out, "slowdown")


if __name__ == "__main__":
    main()
