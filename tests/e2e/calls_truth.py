# SPDX-License-Identifier: GPL-2.0-or-later
"""calls_truth: compares the calls that programs count themselves with a report.

The programs of tests/workloads/calls write their counts to a file (truth.h). Truth holds them by
process; compare() compares a report's processes with it and returns the differences as text, or
none.
"""

import collections
import functools
import re

from harness import Failure

# Functions that compilers add, which the source cannot count.
ADDED = re.compile(r"^(_GLOBAL__|__static_initialization_and_destruction|__cxx_global|__tcf_|"
                   r"__tls_init|TLS |_ZT[HW]|global constructors)")
NO_FUNCTION = ("(outside)", "(other)", "(interrupt)")


@functools.cache
def plain_name(name):
    """A function's name without result and arguments: this form is the same for C, C++, GCC and
    Clang."""
    if name in NO_FUNCTION or ADDED.match(name):
        return name
    return re.split(r"[ *&]", name.split("(")[0].strip())[-1]


class Truth:
    """Counts by process: calls, paths, and the number of additional calls that are allowed (slack)."""

    def __init__(self, path):
        self.calls = collections.defaultdict(collections.Counter)
        self.paths = collections.defaultdict(collections.Counter)
        self.slack = collections.defaultdict(collections.Counter)
        with open(path, encoding="utf-8") as f:
            for line in f:
                pid, kind, count, name = line.rstrip("\n").split(" ", 3)
                where = {"calls": self.calls, "path": self.paths, "slack": self.slack}[kind]
                if kind == "calls":
                    name = plain_name(name)
                where[int(pid)][name] += int(count)

    def total(self):
        return sum(sum(counts.values()) for counts in self.calls.values())


class Counted:
    """A report's counts of one process (by pid, which exec does not change)."""

    def __init__(self):
        self.calls = collections.Counter()
        self.paths = collections.Counter()
        self.ends = {}  # number of names: calls by the last names of a path

    def add(self, path, calls):
        names = [plain_name(name) for name in path]
        names = [name for name in names if name != "(outside)"]
        if not names or not calls:
            return
        self.calls[names[-1]] += calls
        self.paths[";".join(names)] += calls
        self.ends.clear()

    def of_path(self, path):
        """Calls by whole path; "...;a;b": the sum of all paths that end in a;b."""
        if not path.startswith("...;"):
            return self.paths[path]
        end = path[4:]
        names = end.count(";") + 1
        if names not in self.ends:
            self.ends[names] = ends = collections.Counter()
            for whole, calls in self.paths.items():
                last = whole.split(";")[-names:]
                if len(last) == names:
                    ends[";".join(last)] += calls
        return self.ends[names][end]


def counted_of(report):
    """Counts by pid."""
    processes = collections.defaultdict(Counted)
    for process in report["processes"]:
        counted = processes[process["pid"]]
        for path in process["paths"]:
            counted.add(path["path"], path["calls"])
    return processes


def unsound(report, strangers=False):
    """The reasons why a report says that it is incomplete, one text each. `strangers`: children
    without a table exist, and their loss is reported."""
    wrong = []
    for process in report["processes"]:
        if "damaged" in process["flags"]:
            wrong.append(f"process {process['pid']}: its table is said to be damaged")
        wrong += [f"process {process['pid']}: {key} is {process[key]}"
                  for key in ("lost_events", "other_calls") if process[key] and not strangers]
    return wrong


def compare(truth, processes, paths=True, strangers=False):
    """Differences, one text each. `strangers`: processes without own counts may exist."""
    wrong = []
    if not truth.calls:
        wrong.append("the program printed no counts")
    for pid in sorted(set(truth.calls) | set(processes)):
        if pid not in processes:
            wrong.append(f"process {pid} is missing, with {sum(truth.calls[pid].values())} calls")
            continue
        if pid not in truth.calls:
            if not strangers and processes[pid].calls:
                wrong.append(f"process {pid} told no truth: {dict(processes[pid].calls)}")
            continue
        wrong += differences(pid, truth, processes[pid], paths)
    return wrong


def differences(pid, truth, counted, paths):
    wrong = []
    for name in sorted(set(truth.calls[pid]) | set(counted.calls)):
        if ADDED.match(name):
            continue
        want, got = truth.calls[pid][name], counted.calls[name]
        if not want <= got <= want + truth.slack[pid][name]:
            wrong.append(f"process {pid}: {name}: {got} calls, not {want}")
    for path, want in sorted(truth.paths[pid].items()) if paths else ():
        got = counted.of_path(path)
        if got != want:
            wrong.append(f"process {pid}: path {path}: {got} calls, not {want}")
    return wrong


def run_counted(t, assay, command, status=0, env=None):
    """Runs a program that counts its own calls under an assay command. Returns the program's
    counts, and the result."""
    truth, command = t.write("truth", ""), list(command)
    if "orphan" in command:
        # The program's child may exit after the program. The command that started it waits for
        # both.
        command = ["sh", "-c", '"$@"; sleep 0.5', "sh", *command]
    result = t.assay(*assay, "--", *command, env={"TRUTH": str(truth), **(env or {})}, status=None)
    # A signal is reported as by a shell.
    if result.status != (status if status >= 0 else 128 - status):
        raise Failure(f"{' '.join(map(str, command))}: status {result.status}, not {status}: "
                      f"{result.err[-1500:]}")
    return Truth(truth), result


def first_differences(what, found):
    """At most 12 of the differences that were found, each with the name of the case."""
    shown = [f"{what}: {text}" for text in found[:12]]
    return shown + [f"{what}: and {len(found) - 12} more"] if len(found) > 12 else shown
