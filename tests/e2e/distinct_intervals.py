# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct_intervals: a recording whose samples come late by known times, and the truth of `assay intervals`."""
import math
import statistics

import perf_write
from perf_write import Recorded

PERIOD, START, SAMPLES = 250_007, 5_000_000_000, (211, 173)
MISSING = ({13, 40, 77}, {8, 9, 101, 102, 140})  # ticks of each CPU
PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
CURVE = 20


def late(cpu, tick):
    """Few ticks are in time, and show the timer's grid."""
    return 0 if tick % 23 == 0 else (tick * tick * (37, 53)[cpu] + 911 * tick) % (19_001, 23_003)[cpu] + 101


def quantile(values, part):
    """By linear interpolation, R's type 7."""
    place = part * (len(values) - 1)
    below = math.floor(place)
    above = values[min(below + 1, len(values) - 1)]
    return values[below] + (place - below) * (above - values[below])


class Clock:
    def __init__(self, t):
        self.times, self.late = [], []
        file = Recorded()
        event = file.event("cpu-clock", perf_write.SOFTWARE, perf_write.CPU_CLOCK, PERIOD)
        found = []
        for cpu in (0, 1):
            ticks = [tick for tick in range(SAMPLES[cpu] + len(MISSING[cpu])) if tick not in MISSING[cpu]]
            self.late.append([late(cpu, tick) for tick in ticks])
            self.times.append([START + cpu * 70_001 + tick * PERIOD + late(cpu, tick) for tick in ticks])
            found += [(time, cpu) for time in self.times[cpu]]
        end = max(found)[0] + 1
        file.account = f"machine_wide 1\nstart_ns {START}\nend_ns {end}\n" + "".join(
            f"cpu {cpu} start_ns={START} end_ns={end} ring_bytes=4096\n" for cpu in (0, 1))
        for time, cpu in sorted(found):
            file.at(time, cpu, 42, 42)
            file.sample(event, user=[0x1000])
        self.data = t.write("intervals.data", file.bytes())

    def truth(self):
        found = {"period": {"": PERIOD}, "samples": dict(enumerate(SAMPLES)),
                 "missing": {cpu: len(ticks) for cpu, ticks in enumerate(MISSING)}}
        for cpu, times in enumerate(self.times):
            every = sorted(b - a for a, b in zip(times, times[1:]))
            drop = math.ceil(0.005 * len(every))
            for name, values in (("intervals", every), ("trimmed", every[drop:-drop]),
                                 ("late", sorted(self.late[cpu]))):
                for figure, value in (
                        ("count", len(values)), ("mean", float(statistics.mean(values))),
                        ("deviation", statistics.stdev(values)), ("least", values[0]), ("most", values[-1]),
                        ("curve", sum(quantile(values, i / CURVE) for i in range(CURVE + 1))),
                        *((f"{p} %", quantile(values, p / 100)) for p in PERCENTILES)):
                    found.setdefault(f"{name}: {figure}", {})[cpu] = value
            found.setdefault("delayed from", {})[cpu] = int(2 * quantile(sorted(self.late[cpu]), 0.5))
            found.setdefault("histogram", {})[cpu] = len(every)
        for figure in ("count", "mean", "deviation", "least", "50 %", "99 %", "most"):
            found[f"text: {figure}"] = {title: found[f"{name}: {figure}"][0] for title, name in (
                ("intervals", "intervals"), ("without extremes", "trimmed"), ("late by", "late"))}
        return found
