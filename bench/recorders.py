# SPDX-License-Identifier: GPL-2.0-or-later
"""recorders: functions of benches that run a recorder beside a load: starting and ending it, and
its use of CPU time and memory.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ENDED_WELL = (0, -signal.SIGINT, 128 + signal.SIGINT)


def assay_of(build):
    path = os.path.join(build, "assay")
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there; build first, or give --build")
    return os.path.abspath(path)


def perf():
    return shutil.which("perf") or sys.exit("perf is not installed")


def compiled(source, work):
    """Builds a C program of this directory."""
    path = os.path.join(work, os.path.splitext(source)[0])
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", path, os.path.join(HERE, source)],
                   check=True)
    return path


class Recorder:
    """A running recorder; its CPU time and memory are those of its own process."""

    def __init__(self, command, settle=1.5, env=None):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=env)
        time.sleep(settle)  # until it has recorded the running processes
        if self.process.poll() is not None:
            sys.exit(f"{' '.join(command)} ended: {self.process.stderr.read().decode()}")

    def cpu_ns(self):
        """CPU time of all its threads, by the scheduler's own count."""
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/schedstat", encoding="ascii") as f:
                total += int(f.read().split()[0])
        return total

    def _field(self, name, key):
        with open(f"/proc/{self.process.pid}/{name}", encoding="ascii") as f:
            for line in f:
                if line.startswith(key + ":"):
                    return int(line.split()[1]) / 1024
        return float("nan")

    def memory_mb(self):
        """(largest resident size, its share of the memory that is resident now), with rings."""
        return self._field("status", "VmHWM"), self._field("smaps_rollup", "Pss")

    def stop(self, patience=30):
        self.process.send_signal(signal.SIGINT)
        try:
            _, words = self.process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            sys.exit(f"{' '.join(self.command)} does not end")
        if self.process.returncode not in ENDED_WELL:
            sys.exit(f"{' '.join(self.command)} ended with status {self.process.returncode}: "
                     f"{words.decode()}")
        return words.decode()


def interval_of_median(values):
    """By ranks, so that no form of the distribution is assumed."""
    spread = 0.98 * len(values) ** 0.5
    values = sorted(values)
    return (values[max(int(len(values) / 2 - spread), 0)],
            values[min(int(len(values) / 2 + spread), len(values) - 1)])


def spread(values, scale=1.0, digits=2):
    """Median, and quartiles in brackets (for few values: the smallest and the largest)."""
    low, high = min(values), max(values)
    if len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
    return (f"{scale * statistics.median(values):.{digits}f} "
            f"[{scale * low:.{digits}f} {scale * high:.{digits}f}]")


def machine():
    kernel = os.uname()
    return f"{kernel.sysname} {kernel.release} {kernel.machine}, {os.cpu_count()} CPUs"
