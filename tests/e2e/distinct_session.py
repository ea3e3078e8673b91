# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct_session: the status of a session in which each figure has a value of its own, and its truth.

    Session(t)             its media: status (JSON and text), and `metrics NAME [LABEL]`
    TRUTH                  the names of figures to their values
"""
import re

from distinct import Media

FIELDS = {
    "pid": 4713, "started_wall_ns": 1_700_000_000_000_000_003, "now_wall_ns": 1_700_000_012_345_678_901,
    "elapsed_ns": 12_345_678_901, "ticks_user": 10_321, "ticks_system": 2_741, "ticks_idle": 81_343,
    "ticks_unobserved": 127, "samples": 94_871, "records": 131_071, "lost_records": 29, "bytes": 3_271_681,
    "held_ns": 7_654_321_987, "held_most": 67_100_893, "left_samples": 1_237, "snapshots": 3,
    "observer_cpu_ns": 71_234_567, "observer_wakeups": 5_519, "read_gap_max_ns": 91_827_364,
    "period_ns": 2_003_009, "period_asked_ns": 1_004_009, "sample_cost_ns": 5_323, "batches_due": 977,
    "batches_sent": 941, "batches_waiting": 31, "batches_dropped": 5, "samples_due": 88_001,
    "samples_sent": 84_017, "samples_waiting": 3_343, "samples_dropped": 641, "send_failures": 17,
    "sender_cpu_ns": 33_445_566}
CPU = ("ring_bytes", "ring_used", "ring_used_max", "ring_used_average", "lost_records")
CPUS = ((528_384, 1_777, 91_733, 2_111, 7), (266_240, 1_543, 70_199, 4_447, 23))
RULE = {"value_milli": 3_427, "fired": 13, "held_back": 37, "fired_wall_ns": 1_700_000_005_123_456_789}
RUNNING, RING = 1, 1

TRUTH = {
    **{name: {"": value} for name, value in FIELDS.items()},
    **{f"of a CPU: {name}": {cpu: values[i] for cpu, values in enumerate(CPUS)} for i, name in enumerate(CPU)},
    **{f"of a rule: {name}": {"load>4": value} for name, value in RULE.items()},
    "of a rule: value": {"load>4": RULE["value_milli"] / 1000},
    "ticks": {"": sum(FIELDS[f"ticks_{name}"] for name in ("user", "system", "idle", "unobserved"))},
    "rate": {"": round(1e9 / FIELDS["period_ns"])}, "rate asked": {"": round(1e9 / FIELDS["period_asked_ns"])},
    "share of the session": {"": FIELDS["observer_cpu_ns"] / FIELDS["elapsed_ns"]},
    "the fullest buffer": {"": CPUS[0][2]}, "buffers": {"": CPUS[0][0] + CPUS[1][0]},
    "average use": {"": sum(values[3] // 2 for values in CPUS)},
    "share of a buffer": {cpu: values[2] / values[0] for cpu, values in enumerate(CPUS)},
}


class Session(Media):
    """Of the program that prints a status with given figures."""

    def __init__(self, t, figures):
        super().__init__(t, [], figures)
        self.figures = [f"{name}={value}" for name, value in {
            "state": RUNNING, "kind": RING, "ticks_known": 1, "machine_wide": 1, **FIELDS,
            "rule": ",".join(map(str, RULE.values()))}.items()]
        self.figures += [f"cpu={cpu}," + ",".join(map(str, values)) for cpu, values in enumerate(CPUS)]

    def printed(self, medium):
        return self.kept(medium, make=lambda: self.t.run(self.t.workload("session_figures"), medium, *self.figures).out)

    def document(self, command):
        return self.t.json(self.printed("json"))

    def text(self, command):
        return self.printed("text")

    def read_metrics(self, name, label=""):
        found = re.search(rf'^assay_{name}{{session="day"{label and "," + label}}} (\S+)$', self.printed("metrics"), re.M)
        return {"": float(found[1])}
