# SPDX-License-Identifier: GPL-2.0-or-later
"""device_truth: captures of a simulated device imported, and their reports compared with
what the simulation knows (device_recorder.Truth).
"""
from device_recorder import Recorder, records


def imported(t, data, names, *options, name="capture"):
    """Imports a dump's bytes (or CSV text) as a CTF directory."""
    dump, names_file = t.write(name + ".dump", data), t.write(name + ".names", names)
    t.assay("tags", "import", "--names", names_file, *options, "-o", t.path(name), dump)
    return t.path(name)


def reported(t, machine, *options, data=None):
    data = records(machine.truth.events) if data is None else data
    return t.report(imported(t, data, machine.names(), *options))


def rows(report):
    return {row["function"]: row for row in report["functions"]}


def check_order(t, row, name):
    """The figures of one call are of the same calls."""
    keys = ("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")
    t.equal(len({row[key] is None for key in ("min_ns", "avg_ns", "max_ns")}), 1, f"{name}: known")
    t.true(row["max_ns"] is None or row["min_ns"] <= row["avg_ns"] <= row["max_ns"],
           f"{name}: the average is between the bounds")
    known = [row[key] for key in keys if row[key] is not None]
    t.equal(known, sorted(known), f"{name}: {keys} in order")
    if row["max_ns"] is not None:
        t.true(row["elapsed_min_ns"] <= row["elapsed_avg_ns"] <= row["elapsed_max_ns"] and
               row["min_ns"] <= row["elapsed_min_ns"] and
               row["max_ns"] <= row["elapsed_max_ns"], f"{name}: times with callees")


class Against:
    """Checks a report against a truth; `ns`: the length of a tick."""

    def __init__(self, t, report, truth, seed, hz=1000000):
        self.t, self.report, self.truth, self.hz = t, report, truth, hz
        self.what = f"machine {seed}: "
        self.rows = rows(report)

    def ns(self, ticks):
        return ticks * 1000000000 // self.hz

    def equal(self, got, want, what):
        self.t.equal(got, want, self.what + what)

    def time(self, row, key, ticks):
        self.equal(row[key], self.ns(ticks), f"{key} of {row.get('function', 'the report')}")

    def books(self):
        """Checks that apply to every report."""
        truth, report = self.truth, self.report
        self.time(report, "elapsed_ns", truth.elapsed)
        self.equal(report["tags"], len(truth.events), "tags")
        near = self.t.near
        near(report["run_ns"] + report["idle_ns"] + report["gap_ns"], report["elapsed_ns"], 2,
             self.what + "run, idle and gaps")
        parts = report["outside_ns"] + report["unknown_ns"] + sum(row["net_ns"] for row in self.rows.values())
        near(parts, report["run_ns"], len(self.rows) + 2, self.what + "outside and all net")
        for row in self.rows.values():
            name = self.what + row["function"]
            self.t.true(row["net_ns"] <= row["elapsed_ns"] + 1 and
                        row["elapsed_ns"] <= report["run_ns"] + 1, name + " has net over elapsed")
            check_order(self.t, row, name)
        self.counts()

    def counts(self):
        functions = {name: f for name, f in self.truth.functions.items()
                     if f.calls and name != Recorder.SWITCH}
        self.equal({name: row["calls"] for name, row in self.rows.items()},
                   {name: f.calls for name, f in functions.items()}, "calls")
        self.equal({row["name"]: row["count"] for row in self.report["inline_tags"]},
                   {name: count for name, count in self.truth.inline.items() if count},
                   "inline tags")

    def damage(self):
        """The report contains no event that did not happen."""
        self.equal(self.report["missing_exits"], self.truth.missing_exits, "missing exits")
        # A process of which only `swtch` is known cannot be distinguished from a new one.
        self.t.between(self.report["unmatched_exits"], self.truth.unmatched_exits,
                       self.truth.unmatched_exits + self.truth.bare_switches,
                       self.what + "unmatched exits")
        for key in ("guesses", "lost", "gaps", "unknown_tags", "backwards"):
            self.equal(self.report[key], 0, key)

    def times(self):
        truth = self.truth
        for key, ticks in (("idle_ns", truth.idle), ("run_ns", truth.run)):
            self.time(self.report, key, ticks)
        if not truth.unsure:
            self.time(self.report, "outside_ns", truth.outside)
        for name, row in self.rows.items():
            self.function(truth.functions[name], row, name in truth.unsure,
                          name in truth.unsure_net)

    def function(self, f, row, unsure, unsure_net):
        if not unsure:
            self.time(row, "elapsed_ns", f.elapsed)
        if not unsure and not unsure_net:
            self.time(row, "net_ns", f.net)
            average = self.ns(sum(f.nets)) // len(f.nets) if f.nets else None
            self.equal(row["avg_ns"], average, f"avg_ns of {row['function']}")
            self.equal(row["open"], f.open, f"open of {row['function']}")
            self.equal(row["uncertain"], 0, f"uncertain of {row['function']}")
            self.t.near(row["real"], f.net / self.truth.elapsed, 1e-9, "real")
            self.t.near(row["net"], f.net / self.truth.run, 1e-9, "net")
        if f.nets:
            self.time(row, "max_ns", max(f.nets))
            self.time(row, "min_ns", min(f.nets))

    def all(self):
        self.books()
        self.damage()
        self.times()
