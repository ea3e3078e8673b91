# SPDX-License-Identifier: GPL-2.0-or-later
"""shadow_count: compares the call paths of a run, as counted by assay and by shadow.c in the same
run.

A path is a number: Paths numbers each pair of a parent path and a function's name, so that deep
recursions need no text until a path is printed.
"""

import collections
import platform

from harness import ROOT, Skip, run

SHADOW = ROOT / "tests" / "workloads" / "calls" / "shadow.c"


class Paths:
    def __init__(self):
        self.numbers, self.pairs = {}, [None]

    def number(self, parent, name):
        """The path of function `name` below the path `parent` (0: the root)."""
        number = self.numbers.setdefault((parent, name), len(self.pairs))
        if number == len(self.pairs):
            self.pairs.append((parent, name))
        return number

    def text(self, number):
        names = []
        while number:
            number, name = self.pairs[number]
            names.append(name)
        return ";".join(reversed(names))


def shadow_library(t):
    if platform.machine() != "x86_64":
        raise Skip("the shadow's hooks are of x86_64")
    library = t.path("shadow.so")
    t.run("gcc", "-O2", "-shared", "-fPIC", SHADOW, "-o", library)
    return library


def symbols_of(program):
    names = {}
    for line in run("nm", program).out.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            names.setdefault(int(words[0], 16), words[2])
    return names


def shadow_paths(path, program, paths):
    """The output of shadow.c: calls by path, and the number of exits that matched no entry."""
    names, calls, open_paths = symbols_of(program), collections.Counter(), [0]
    with open(path, encoding="ascii") as f:
        bad = int(f.readline().split()[1])
        for line in f:
            count, depth, function = line.split()
            del open_paths[int(depth):]
            # The runtime calls its hooks to measure them; these calls have no name here.
            if function == "-" or open_paths[-1] is None:
                open_paths.append(None)
                continue
            name = function[1:] if function[0] == "@" else names[int(function, 16)]
            open_paths.append(paths.number(open_paths[-1], name))
            calls[open_paths[-1]] += int(count)
    return calls, bad


def counted_paths(report, paths):
    """Calls by path, as assay's report has them."""
    calls = collections.Counter()
    for process in report["processes"]:
        numbers = {None: 0}
        for node in process["nodes"]:
            outside = node["function"] == "(outside)"
            numbers[node["id"]] = (numbers[node["parent"]] if outside else
                                   paths.number(numbers[node["parent"]], node["function"]))
        for path in process["paths"]:
            if path["calls"] and numbers[path["node"]]:
                calls[numbers[path["node"]]] += path["calls"]
    return calls


def differences(truth, counted, paths):
    """Paths with unequal counts, as text."""
    wrong = sorted((paths.text(path), counted[path], truth[path])
                   for path in set(truth) | set(counted) if truth[path] != counted[path])
    texts = [f"{path}: {got} calls, not {want}" for path, got, want in wrong[:5]]
    return texts + [f"{len(wrong)} of {len(truth)} paths"] if wrong else []


def measure(t, library, paths, command, **options):
    """Runs a program under both counters. Returns shadow's calls by path, and errors of either
    counter."""
    shadow, data = t.path("shadow.paths"), t.path("shadow.calls")
    t.assay("calls", "-q", "-o", data, "--", "sh", "-c",
            'SHADOW=$1 LD_PRELOAD="$2 $LD_PRELOAD"; export SHADOW LD_PRELOAD; shift 2; exec "$@"',
            "sh", shadow, library, *command, **options)
    report = t.json(t.assay("report", "--json", data, timeout=300).out)
    truth, bad = shadow_paths(shadow, command[0], paths)
    wrong = [f"{bad} exits of functions that were not the last entered"] if bad else []
    for process in report["processes"]:
        wrong += [f"{key} is {process[key]}" for key in ("lost_events", "unmatched_exits",
                                                         "other_calls") if process[key]]
    wrong += differences(truth, counted_paths(report, paths), paths)
    if not sum(truth.values()):
        wrong.append("no calls")
    return truth, wrong
