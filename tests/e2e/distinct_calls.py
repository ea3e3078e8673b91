# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct_calls: a table of counted calls in which each figure has a value of its own, and its truth."""
import math

from calls_table import Table

OWN, CPU_RESIDUAL = 70_201, 1_009
# The process; inner and outer are the costs of a call in 1/1024 ns.
MORE = {"own_error": 811, "inner": 13_313, "outer": 19_457, "table_bytes": 331_777, "uncounted": 3, "tail": 23_209,
        "wall_residual": 4_001, "threads": 7, "lost": 59, "other_calls": 83, "unmatched_exits": 19, "resyncs": 13,
        "deferred": 101}
PATHS = {"main": (), "work": ("main",), "leaf": ("main", "work"), "reply": ("main",)}


def lengths(count, first, step, square, last):
    """Of `count` calls; the last one is the longest by far."""
    return [first + step * i + i * i // square for i in range(count - 1)] + [last]


class Calls:
    def __init__(self, t):
        table = Table("prog", 4217, command="prog -x", own=OWN, cpu_residual=CPU_RESIDUAL, **MORE)
        self.lengths = {"main": [1_000_003], "work": lengths(311, 4_001, 17, 3, 91_813),
                        "leaf": lengths(1277, 201, 1, 409, 27_011), "reply": lengths(173, 907, 31, 5, 29_917)}
        self.figures = {"main": {}, "work": {"blocked": 503_017, "preempted": 91_033, "blocks": 41, "preempts": 29},
                        "leaf": {"blocked": 17_029, "blocks": 5, "error": 307},
                        "reply": {"preempted": 23_039, "preempts": 11, "open": 1}}
        nodes = {}
        for name, path in PATHS.items():
            calls = self.lengths[name]
            nodes[name] = table.path(nodes[path[-1]] if path else 0, name, calls=len(calls), net=sum(calls),
                                     low=min(calls), high=max(calls), lengths=calls if len(calls) > 1 else (),
                                     **self.figures[name])
        self.data = t.write("distinct.calls", table.bytes())

    def of_all(self, value):
        return {name: value(name) for name in PATHS}

    def with_callees(self, values):
        return {name: sum(value for other, value in values.items() if other == name or name in PATHS[other])
                for name in PATHS}

    def truth(self):
        given = lambda key: self.of_all(lambda name: self.figures[name].get(key, 0))
        timed = lambda name: len(self.lengths[name]) > 1
        rank = lambda part: lambda name: sorted(self.lengths[name])[
            math.ceil(part * len(self.lengths[name])) - 1] if timed(name) else 0
        found = {"calls": self.of_all(lambda name: len(self.lengths[name])),
                 "net": self.of_all(lambda name: sum(self.lengths[name])), "blocked": given("blocked"),
                 "preempted": given("preempted"), "blocks": given("blocks"), "preempts": given("preempts"),
                 "open": given("open"), "least": self.of_all(lambda name: min(self.lengths[name])),
                 "most": self.of_all(lambda name: max(self.lengths[name])), "error": given("error"),
                 "timed": self.of_all(lambda name: len(self.lengths[name]) if timed(name) else 0)}
        for part in (50, 90, 99):
            found[f"{part} %"] = self.of_all(rank(part / 100))
        for name in ("net", "blocked", "preempted", "error"):
            found[f"{name} with callees"] = self.with_callees(found[name])
        net = sum(found["net"].values())
        found["mean"] = self.of_all(lambda name: found["net"][name] / found["calls"][name])
        found["share"] = self.of_all(lambda name: found["net"][name] / net)
        found["wall"] = self.of_all(lambda name: sum(
            found[f"{part} with callees"][name] for part in ("net", "blocked", "preempted")))
        all_of = {name: sum(found[name].values()) for name in ("blocked", "preempted")}
        wall = net + OWN + sum(all_of.values()) + MORE["tail"] - MORE["wall_residual"]
        books = {"wall": wall, "CPU clock": net + OWN - CPU_RESIDUAL, "net": net, "own cost": OWN,
                 "CPU residual": CPU_RESIDUAL, **all_of,
                 "tail": MORE["tail"], "wall residual": MORE["wall_residual"]}
        found.update({f"books: {name}": {"": value} for name, value in books.items()})
        found.update({f"thread: {name}": {"worker (7 threads)": value} for name, value in books.items()})
        found["books: own share"] = {"": OWN / (net + OWN)}
        found["books: share of the CPU residual"] = {"": CPU_RESIDUAL / (net + OWN - CPU_RESIDUAL)}
        found["books: share of the wall residual"] = {"": MORE["wall_residual"] / wall}
        found.update({f"process: {name}": {"": value} for name, value in MORE.items()})
        found["process: pid"] = {"": 4217}
        for name in ("inner", "outer"):
            found[f"process: {name}"] = {"": MORE[name] / 1024}
        found["part"] = {"functions": net, "own_cost": OWN, **all_of, "tail": MORE["tail"],
                         "residual": -MORE["wall_residual"]}
        found["share of the parts"] = {name: value / wall for name, value in found["part"].items()}
        return found
