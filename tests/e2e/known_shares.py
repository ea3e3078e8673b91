# SPDX-License-Identifier: GPL-2.0-or-later
"""known_shares: recordings of the programs of tests/workloads/known.c, and whether the intervals of
each table of a report contain the shares that the program measured itself.

The true share of a function is its CPU time as a part of the process's. A table has shares of its own
base (the machine, the user time of a process), so a share and its interval are divided by the share
that the five functions have together in the table, and the true share by that of the five functions.
"""

import collections
import json
import os
import shutil
import subprocess

PROGRAMS = ("steady", "coarse", "bursts", "even", "phases", "rare", "step", "step10", "stepsleep",
            "threads", "pool", "children")
FUNCTIONS = ("fn_a", "fn_b", "fn_c", "fn_d", "fn_e")

Option = collections.namedtuple("Option", "rate words busy")
# Recording k of program p has the options of row (k + p).
OPTIONS = (
    Option(997, (), False),
    Option(997, ("-a",), False),
    Option(499, ("-g",), False),
    Option(4999, (), False),
    Option(1999, ("-a", "-g"), False),
    Option(97, (), False),
    Option(997, (), True),
    Option(1999, ("-a",), True),
    Option(4999, ("-g",), True),
    Option(97, ("-a",), False),
)

Figure = collections.namedtuple("Figure", "table function share low high truth")


def option_of(program, number):
    return OPTIONS[(number + PROGRAMS.index(program)) % len(OPTIONS)]


class Busy:
    """A loop for each CPU, while it is used with `with`."""

    def __init__(self, wanted):
        self.count = os.cpu_count() if wanted else 0

    def __enter__(self):
        self.loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(self.count)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


def record(assay, known, path, program, option, seconds):
    """Records one run. Returns the CPU times of the functions, in ns, and the name of the process, which
    no other process of this machine has. Its program is beside the recording: a report reads it."""
    own = os.path.join(os.path.dirname(path), f"known{os.getpid()}")
    if not os.path.exists(own):
        shutil.copy(known, own)
    with Busy(option.busy):
        done = subprocess.run([assay, "record", "-q", "-F", str(option.rate), *option.words, "-o", path, "--",
                               own, program, str(seconds), str(option.rate)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60 + 60 * seconds, check=True)
    return {**json.loads(done.stdout.strip().splitlines()[-1]), "name": os.path.basename(own)}


def report(assay, path, *words):
    done = subprocess.run([assay, "report", "-i", path, "--json", *words], stdout=subprocess.PIPE,
                          check=True, timeout=120)
    return json.loads(done.stdout)


def tables(assay, path, name):
    """The rows of the five functions in each table: {table: {function: (share, low, high)}}."""
    found = collections.defaultdict(dict)

    def add(table, row, function):
        if function in FUNCTIONS and row.get("mode", "user") == "user":
            found[table][function] = (row["share"], row["low"], row["high"])

    full = report(assay, path, "--percent-limit", "0")
    for row in full["functions"]:
        if os.path.basename(row["image"]) == name:
            add("functions", row, row["function"])
    for process in full["process_functions"]:
        for row in process["user"] if process["name"] == name else ():
            add("process_functions", row, row["function"])
    for row in full["summary"]["reasons"]:
        if row["process"] == name:
            add("summary", row, row["function"])
    chosen = ("--comm", name, "--percent-limit", "0")
    for row in report(assay, path, "--sort", "comm,dso,function", *chosen)["rows"]:
        if os.path.basename(row["image"]) == name:
            add("sort function", row, row["function"])
    for row in report(assay, path, "--sort", "line", *chosen)["rows"]:
        add("sort line", row, line_function(row["line"]))
    for row in report(assay, path, "--brief")["findings"]:
        if row["process"] == name:
            add("brief", row, row["function"])
    return found


def line_function(line):
    """The function of a line of known.c: each function is one line."""
    file, _, number = line.rpartition(":")
    if not file.endswith("known.c") or not number.isdigit():
        return None
    return LINES.get(int(number))


def source_lines():
    path = os.path.join(os.path.dirname(__file__), "..", "workloads", "known.c")
    with open(path, encoding="utf-8") as f:
        return {number: text[len("FUNCTION("):].split(",")[0] for number, text in enumerate(f, 1)
                if text.startswith("FUNCTION(fn_")}


LINES = source_lines()


def figures(assay, path, truth):
    """Each interval of each table, beside the truth."""
    found = tables(assay, path, truth["name"])
    all_ns = sum(truth[f] for f in FUNCTIONS)
    whole = sum(share for share, _, _ in found["functions"].values())
    result = []
    for table, rows in found.items():
        base = whole if table != "process_functions" else sum(s for s, _, _ in rows.values())
        result += [Figure(table, f, share / base, low / base, high / base, truth[f] / all_ns)
                   for f, (share, low, high) in rows.items()]
    return result
