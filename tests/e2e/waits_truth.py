# SPDX-License-Identifier: GPL-2.0-or-later
"""waits_truth: records programs that log their own waits, and compares `assay waits` with the log.

The programs are in tests/workloads/waiting; truth.h there describes the log. A time of the log is
that of the call without the CPU time of the thread, a count is the kernel's.
"""
import collections
import json
import os
import re
import time

from harness import ASSAY, BUILD, ROOT, go_environment

SOURCES = ROOT / "tests" / "workloads" / "waiting"
SHARE = 0.02  # of all waits of the same thread
# Other programs do not change the order in which the threads run.
REAL_TIME = ["chrt", "-r", "1"]
ORDINARY = ["nice", "-n", "15"]
# Records that are lost hide waits: the recorder comes before other load, and after real-time threads.
RECORDER = ["nice", "-n", "-15"]
RECORDINGS = 4  # at most, while records are lost

Row = collections.namedtuple("Row", "waiter kind name by function holder")
Figures = collections.namedtuple("Figures", "ns count")


def program(name):
    return str(BUILD / "tests" / "workloads" / "waiting" / name)


def record_all(t, words, data, flags=(), **options):
    """Records a program, again if records were lost: other programs may switch more often than can be
    recorded, which assay reports. `words` begin with the priority of the program, else it has that of
    the recorder. Returns the result, and whether records were lost in the last recording, too."""
    for attempt in range(RECORDINGS):
        time.sleep(attempt)
        done = t.run(*RECORDER, ASSAY, "record", "--waits", "--memory", "256", *flags, "-o", data, "--",
                     *words, status=None, **options)
        dropped = "records were dropped" in done.err
        if done.status or not dropped:
            break
    return done, dropped


def recorded(t, words, name, *flags):
    """Records the program; returns its log and the document of `assay waits --json`."""
    log, data = t.path(f"{name}.json"), t.path(f"{name}.data")
    done, dropped = record_all(t, words, data, flags, cwd=t.directory, env={"TRUTH": str(log)})
    if done.status == 77:
        t.skip(f"{name}: the kernel or the file system does not have it")
    t.equal(done.status, 0, f"status of the recording of {name}: {done}")
    got = t.json(t.assay("waits", "--json", data).out)
    got["dropped"] = dropped
    with open(log, encoding="utf-8") as f:
        return json.load(f), got, data


def off_cpu_ns(wait):
    """By the kernel's records of the thread's switches if the program read them, else the time of the
    call without the CPU time."""
    return wait["off_ns"] if wait.get("off_ns", -1) >= 0 else wait["ns"] - wait["cpu_ns"]


def table_of(log):
    """The rows of the log, in the order of their first waits."""
    sums = {}
    for wait in log["waits"]:
        row = Row(*(wait[key] for key in Row._fields))
        ns, count = sums.get(row, (0, 0))
        sums[row] = Figures(ns + off_cpu_ns(wait), count + wait["blocks"])
    return sums


def fits(texts, got):
    """Whether one of the texts of the log, separated by `|`, is in the text of the report."""
    return not texts or any(text in (got or "") for text in texts.split("|"))


def is_released_by(row, text):
    """`THREAD in FUNCTION`; a compiler's suffix of the function is ignored."""
    by, _, function = (text or "").rpartition(" in ") if " in " in (text or "") else (text, "", "")
    return (not row.by or row.by == by) and (not row.function
                                             or row.function == function.split(".")[0])


def causes_of(got, row, releaser=True):
    """The causes of the report that a row of the log is about."""
    return [c for c in got["causes"]
            if fits(row.waiter, c["waiter"]) and c["kind"] in row.kind.split("|")
            and fits(row.name, c["name"])
            and (not releaser or is_released_by(row, c["released_by"]))]


def blocked_ns(causes, kind=""):
    """Waits of the log last until the thread runs again; a cause `cpu` has no blocked time."""
    return sum((0 if kind == "cpu" else c["blocked_ns"]) + c["runnable_ns"] for c in causes)


class Comparison:
    """The differences of one program, as texts, and the lines of its table."""

    def __init__(self, name, log, got, exact=True):
        self.name, self.log, self.got = name, log, got
        self.rows = table_of(log)
        self.wrong, self.unequal, self.lines = [], [], []
        self.lost_ns = collections.Counter()
        if got["dropped"]:
            self.count_lost()
        self.totals = collections.Counter()
        for row, figures in self.rows.items():
            self.totals[row.waiter] += figures.ns
        for row, figures in self.rows.items():
            if row.kind != "join":
                self.compare_time(row, figures)
        if exact:
            self.compare_counts()
        self.compare_holders(exact)

    def count_lost(self):
        """What lost records may hide of each thread: waits without a stack or a releaser."""
        for cause in self.got["causes"]:
            is_other = cause["kind"] == "other"
            is_hidden = is_other or not cause["released_by"]
            self.lost_ns[cause["waiter"]] += blocked_ns([cause]) if is_hidden else cause["lost_ns"]

    def compare_time(self, row, want):
        causes = causes_of(self.got, row)
        ns, total = blocked_ns(causes, row.kind), self.totals[row.waiter]
        away = (ns - want.ns) / total if total else 0
        self.lines.append("%-10s %-12s %-16s %-14s %-10s %-22s %9.1f %9.1f %+6.2f %%" % (
            self.name, row.waiter, row.kind, row.name.split("|")[0][:14], row.by, row.function,
            want.ns / 1e6, ns / 1e6, away * 100))
        allowed = SHARE * total + self.lost_ns[row.waiter]
        if abs(ns - want.ns) > allowed:
            self.unequal.append(f"{row}: {ns / 1e6:.3f} ms, not {want.ns / 1e6:.3f} ms: "
                                f"{away * 100:+.2f} % of the waits of {row.waiter}")

    def compare_counts(self):
        """Counts do not depend on who released: they are compared for each object."""
        counts = collections.Counter()
        for row, figures in self.rows.items():
            counts[row._replace(by="", function="", holder="")] += figures.count
        for row, want in counts.items():
            got = sum(c["count"] for c in causes_of(self.got, row, releaser=False))
            # Exits and starts of threads are waits, too, and not in the log.
            least = 0 if self.got["dropped"] else want
            if row.kind not in ("join", "cpu", "sleep") and not least <= got <= want:
                self.wrong.append(f"{row}: {got} waits, not {want}")

    def compare_holders(self, exact):
        """No holder without evidence, and none of an object of the log that is not in the log. The
        kernel and libraries have locks of their own."""
        held = {row for row in self.rows if row.holder}
        logged = {row.name for row in self.rows if row.name}
        for cause in self.got["causes"]:
            if not cause["holder"]:
                continue
            if not cause["evidence"]:
                self.wrong.append(f"a holder without evidence: {cause}")
            if exact and any(fits(name, cause["name"]) for name in logged) and not any(
                    cause in causes_of(self.got, row) and fits(row.holder, cause["holder"])
                    for row in held):
                self.wrong.append(f"a holder that is not in the log: {cause}")
        for row in held:
            causes = causes_of(self.got, row)
            total = blocked_ns(causes)
            with_holder = blocked_ns([c for c in causes if fits(row.holder, c["holder"])
                                      and c["holder"]])
            if total - with_holder > SHARE * self.totals[row.waiter] + self.lost_ns[row.waiter]:
                self.wrong.append(f"{row}: no holder for {(total - with_holder) / 1e6:.3f} ms")


def script_words(t, name):
    """The command of a program in another language; skips if its language is not installed."""
    source = SOURCES / name
    if name.endswith(".py"):
        return ["/usr/bin/python3", str(source)]
    if name.endswith(".go"):
        t.need("go")
        built = t.path("channels")
        t.run("go", "build", "-o", built, source, timeout=240, env=go_environment())
        return [str(built)]
    t.need("javac", "java")
    t.run("javac", "-d", t.directory, source, timeout=240)
    return ["java", "-cp", str(t.directory), os.path.splitext(name)[0]]


def off_cpu_by_perf(t, data):
    """Thread -> figures of its time off the CPU, by perf's reading of the switch records. Times
    without a beginning or an end in the recording are not counted."""
    text = t.run("perf", "script", "--ns", "--show-switch-events", "-F", "tid,time,event,trace", "-i",
                 data).out
    since, sums = {}, collections.defaultdict(lambda: Figures(0, 0))
    for tid, seconds, ns, what in re.findall(
            r"^\s*(\d+)\s+(\d+)\.(\d{9}): PERF_RECORD_SWITCH_CPU_WIDE (IN|OUT)", text, re.M):
        now = int(seconds) * 10**9 + int(ns)
        if what == "OUT":
            since[tid] = now
        elif tid in since:
            ns, count = sums[int(tid)]
            sums[int(tid)] = Figures(ns + now - since.pop(tid), count + 1)
    return sums
