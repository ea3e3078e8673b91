# SPDX-License-Identifier: GPL-2.0-or-later
"""A report on several recordings has the facts of each: file, command, time, rate and loss. The
facts of a recording are those of the report on it alone.
"""
import re

from harness import main, test

RATES = {"slow.data": 500, "fast.data": 1000}
LOOP = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; : "


def record(t):
    """Two recordings of different commands at different rates."""
    for name, hz in RATES.items():
        t.assay("record", "-F", hz, "-o", t.path(name), "--", "sh", "-c", LOOP + name)
    return [t.path(name) for name in RATES]


def lines(text):
    """(label, text) of each fact of the heading; wrapped lines are joined."""
    found = []
    for line in text.splitlines():
        if re.match(r"[a-z]+  +\S", line):
            found.append(line.split(None, 1))
        elif line.startswith("      ") and found:
            found[-1][1] += " " + line.strip()
        elif found:
            break
    return found


def full(t, *words):
    text = t.assay("report", "--full", *words).out
    return text[re.search(r"^(\d+ commands|One command), ", text, re.M).start():].split("\n", 1)


@test
def json_has_the_facts_of_each_recording(t):
    paths = record(t)
    both = t.report(*paths)
    alone = [t.report(path) for path in paths]
    t.equal(both["recordings"], [report["recordings"][0] for report in alone], "recordings")
    t.equal([r["event"]["frequency_hz"] for r in both["recordings"]], list(RATES.values()), "rates")
    for recording, report, name in zip(both["recordings"], alone, RATES):
        t.true(recording["command"].endswith(name), f"the command of {name}: {recording['command']}")
        t.equal(recording["event"]["samples"], report["event"]["samples"], f"samples of {name}")
        t.equal(recording["elapsed_ns"], report["ledger"]["elapsed_ns"], f"time of {name}")
        t.equal(recording["lost"], report["observer"]["lost"], f"loss of {name}")
        t.equal(recording["observer_cpu_ns"], report["observer"]["cpu_ns"], f"cost of {name}")
        t.equal(report["event"]["frequency_hz"], RATES[name], f"the rate of {name} alone")
    t.equal(both["event"]["samples"], sum(r["event"]["samples"] for r in both["recordings"]), "all")
    t.equal((both["event"]["frequency_hz"], both["event"]["period_ns"]), (None, None),
            "the rate of both")


def check_lines(t, title, facts, paths):
    t.has(title, "2 commands, ", "title")
    labels = [label for label, _ in facts]
    starts = [i for i, label in enumerate(labels) if label == "file"]
    t.equal(len(starts), 2, "files")
    for start, path, hz in zip(starts, paths, RATES.values()):
        own = dict(facts[start:start + labels[start:].index("sampled") + 1])
        samples = t.report(path)["event"]["samples"]
        t.has(own["file"], path.name, "file")
        t.true(own["command"].endswith(path.name), f"command: {own['command']}")
        t.true(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", own["date"]), f"date: {own['date']}")
        t.has(own["sampled"], f"cpu-clock at {hz} Hz (every {1000 / hz:.3f} ms), {samples} samples",
              "rate")
        t.true(re.match(r"[\d.]+ m?s, ", own["sampled"]), f"length: {own['sampled']}")
        t.has(own["sampled"], "0 records lost", "loss")
    t.has(dict(facts)["event"], "cpu-clock at 500 to 1000 Hz, ", "the event of both")


@test
def text_has_lines_for_each_recording(t):
    paths = record(t)
    title, text = full(t, *paths)
    check_lines(t, title, lines(text), paths)
    t.has(t.assay("report", *paths).out, "2 commands, ", "summary")


@test
def markdown_has_lines_for_each_recording(t):
    paths = record(t)
    text = t.assay("report", "--full", "--markdown", *paths).out
    title, text = text[text.index("### 2 commands"):].split("\n", 1)
    facts = re.findall(r"^- \*\*(\w+)\*\*: (.*)$", text[:text.index("###")].replace("\\", ""), re.M)
    check_lines(t, title, facts, paths)


@test
def one_recording_has_its_rate_once(t):
    path = record(t)[0]
    title, text = full(t, path)
    t.has(title, "One command, ", "title")
    facts = lines(text)
    t.equal([label for label, _ in facts if label in ("file", "sampled", "event", "date")],
            ["file", "date", "event"], "labels")
    t.has(dict(facts)["event"], "cpu-clock at 500 Hz (every 2.000 ms), ", "event")


@test
def rates_of_equal_recordings_are_one_rate(t):
    path = record(t)[0]
    t.equal(t.report(path, path)["event"]["frequency_hz"], 500, "frequency_hz")
    t.has(full(t, path, path)[1], "cpu-clock at 500 Hz (every 2.000 ms), ", "event")


main()
