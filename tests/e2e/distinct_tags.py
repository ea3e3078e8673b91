# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct_tags: a trace of event tags in which each figure has a value of its own, and its truth.

A device of one CPU recorded it: times are us, the calls are in one process, and CALLS says how long each lasts.
"""
import math
import pathlib

from device_ctf import write_ctf
from device_recorder import Recorder

US = 1000
IDLE = tuple(701 + 137 * i + 29 * i * i for i in range(13))
GAP = 3  # between calls
# Of each function: the own time of its calls. Two of three calls of `read` call `parse` once or twice.
CALLS = {"read": [1_009 + 17 * i + i * i // 9 for i in range(116)] + [7_919],
         "parse": [211 + 3 * i + i * i // 7 for i in range(118)] + [4_021],
         "reply": [9_001 + 101 * i for i in range(210)] + [53_003]}


class First:
    """The first choices of a random generator, for write_ctf()."""

    def randrange(self, low, high):
        return high

    def choice(self, of):
        return of[0]


class Tags:
    def __init__(self, t):
        self.recorder, self.now, self.events = Recorder(), 1_000, []
        self.tags = {name: self.recorder.tag(name) for name in CALLS}
        self.elapsed = {name: [] for name in CALLS}
        self.tags["idle"] = self.recorder.tag(self.recorder.SWITCH)
        left = {name: iter(values) for name, values in CALLS.items()}
        for i in range(len(CALLS["read"])):
            self.call(left, "read", ["parse"] * ((i + 1) % 3 if i < 114 else 2 if i < 116 else 1))
        for i in range(len(CALLS["reply"])):
            self.call(left, "reply")
            if i < len(IDLE):
                self.put(self.tags["idle"], IDLE[i])
                self.put(self.tags["idle"] + 1, GAP)
        if any(next(values, None) for values in left.values()):
            raise ValueError("calls are left")
        self.recorder.truth.events = self.events
        self.data = write_ctf(pathlib.Path(t.path("distinct.tags")), self.recorder, First(), id_bits=32)

    def put(self, tag, after):
        self.events.append((self.now, tag))
        self.now += after

    def call(self, left, name, inner=()):
        begin = self.now
        self.put(self.tags[name], next(left[name]))
        for callee in inner:
            self.call_flat(left, callee)
        self.elapsed[name].append(self.now - begin)
        self.put(self.tags[name] + 1, GAP)

    def call_flat(self, left, name):
        """A call in a call: the time until the caller continues is 0."""
        length = next(left[name])
        self.put(self.tags[name], length)
        self.put(self.tags[name] + 1, 0)
        self.elapsed[name].append(length)

    def truth(self):
        rank = lambda part: {name: US * sorted(values)[math.ceil(part * len(values)) - 1] for name, values in CALLS.items()}
        of = lambda sums, values: {name: US * sums(values[name]) for name in CALLS}
        whole = self.events[-1][0] - self.events[0][0]
        net = sum(map(sum, CALLS.values()))
        run = whole - sum(IDLE)
        found = {
            "calls": {name: len(values) for name, values in CALLS.items()},
            "net": of(sum, CALLS), "least": of(min, CALLS), "most": of(max, CALLS),
            "mean": of(lambda values: sum(values) / len(values), CALLS),
            "elapsed": of(sum, self.elapsed), "least elapsed": of(min, self.elapsed),
            "most elapsed": of(max, self.elapsed), "mean elapsed": of(lambda values: sum(values) / len(values), self.elapsed),
            "50 %": rank(0.5), "90 %": rank(0.9), "99 %": rank(0.99),
            "share of the run time": {name: sum(values) / run for name, values in CALLS.items()},
            "share of the elapsed time": {name: sum(values) / whole for name, values in CALLS.items()},
            "share of all calls": {name: sum(values) / net for name, values in CALLS.items()},
            "whole": {"": US * whole}, "run": {"": US * run}, "idle": {"": US * sum(IDLE)},
            "outside": {"": US * (run - net)}, "tags": {"": len(self.events)}, "switches": {"": len(IDLE)},
            "functions": {"": len(self.tags)}, "triggers": {"": 2 * len(self.tags)}, "ticks per second": {"": 10 ** 6}}
        found["mean in whole us"] = of(lambda values: sum(values) // len(values), CALLS)
        found["calls and switches"] = {**found["calls"], "swtch": len(IDLE)}
        found["blocked"] = {"swtch": US * sum(IDLE)}
        found["tag"] = {name: self.tags[name] for name in CALLS}
        found["part"] = {"functions": US * net, "outside": US * (run - net), "idle": US * sum(IDLE)}
        found["share of the parts"] = {name: value / (US * whole) for name, value in found["part"].items()}
        return found
