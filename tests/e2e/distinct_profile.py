# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct_profile: a profile of another tool (pprof) in which each figure has a value of its own, and its truth."""
import collections

from pprof_write import Profile

TIME, DURATION, PERIOD = 1_700_000_123_456_789_001, 2_345_678_901, 97_003
VALUES = ("samples", "wall", "cpu")  # the last one is that of the report
# (process, pid, path, the innermost function first, values)
SAMPLES = (("prog", 7, ("leaf", "inner", "outer", "main"), (307, 41_300_017, 30_011_003)),
           ("prog", 7, ("inner", "outer", "main"), (211, 27_700_031, 20_507_009)),
           ("tool", 9, ("main",), (101, 13_900_043, 11_003_017)),
           ("tool", 9, ("outer", "main"), (53, 9_100_057, 4_001_011)))
PLACES = {"leaf": (("leaf", 1),), "inner": (("inner", 2), ("outer", 3)), "outer": (("outer", 5),),
          "main": (("main", 4),)}


class PprofProfile:
    def __init__(self, t):
        p = Profile(("samples", "count"), ("wall", "nanoseconds"), ("cpu", "nanoseconds"))
        p.mapping(0x1000, 0x90000, "/bin/prog", "ab12")
        at = {name: p.place(0x1100 + 256 * i, *lines) for i, (name, lines) in enumerate(PLACES.items())}
        for process, pid, path, values in SAMPLES:
            # A place has the functions that are inlined in it: inner has outer, its caller.
            places = [name for i, name in enumerate(path) if not (i and name == "outer" and path[i - 1] == "inner")]
            p.sample([at[name] for name in places], list(values), process=process, pid=pid)
        p.add(9, TIME)
        p.add(10, DURATION)
        p.add(11, [(1, p.text("cpu")), (2, p.text("nanoseconds"))])
        p.add(12, PERIOD)
        self.data = t.write("distinct.pb", p.bytes())

    def truth(self):
        found = collections.defaultdict(collections.Counter)
        for process, pid, path, values in SAMPLES:
            for name, value in zip(VALUES, values):
                found[f"all {name}"][""] += value
                found[f"{name} of a process"][process] += value
                found[f"{name} of a function"][path[0]] += value
                for function in set(path):
                    found[f"{name} with callees"][function] += value
            found["pid"][process] = pid
        found = dict(found)
        whole = found["all cpu"][""]
        for what in ("a process", "a function"):
            found[f"share of {what}"] = {key: value / whole for key, value in found[f"cpu of {what}"].items()}
        found["share with callees"] = {key: value / whole for key, value in found["cpu with callees"].items()}
        found["values"] = {name: found[f"all {name}"][""] for name in VALUES}
        for name, value in (("time", TIME), ("end", TIME + DURATION), ("duration", DURATION), ("period", PERIOD),
                            ("samples times period", found["all samples"][""] * PERIOD),
                            ("CPUs", whole / DURATION)):
            found[name] = {"": value}
        return found
