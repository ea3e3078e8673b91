# SPDX-License-Identifier: GPL-2.0-or-later
"""perf_script: the contents of a recording according to `perf script`, for comparisons.

perf prints raw addresses for samples without chains. The file offset of an address is computed from
its mapping: perf prints the mapped file (dso), and the mapping events (--show-mmap-events) have its
address.
"""

import collections
import os
import re
import subprocess

from time_limit import limit

Sample = collections.namedtuple("Sample", "pid tid time event ip dso offset symbol")

MMAP = re.compile(r"PERF_RECORD_MMAP2? (-?\d+)/(-?\d+): \[(0x[0-9a-f]+|0)\((0x[0-9a-f]+|0)\) @ "
                  r"(0x[0-9a-f]+|0)(?: [^\]]*)?\]: \S+ (.*)$")
FORK = re.compile(r"PERF_RECORD_FORK\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)")
SAMPLE = re.compile(r"^\s*(-?\d+)(?:/(-?\d+)|\s+(-?\d+))\s+(\d+\.\d+):\s+(\S.*?):\s+"
                    r"([0-9a-f]+)(?: (.*?))? \(((?:/|\[|anon_inode).*)\)\s*$")


def perf(*args, timeout=300, check=True):
    """Runs perf and returns its output as text."""
    done = subprocess.run(["perf", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=limit(timeout))
    if check and done.returncode:
        raise RuntimeError(f"perf {' '.join(args)}: status {done.returncode}: "
                           + done.stderr.decode(errors="replace")[-500:])
    return done.stdout.decode(errors="replace")


def _misled(error):
    return b"util/build-id.c" in error


def record(path, *words, pipe=False):
    """Records with perf. If another recorder on the machine requests build-ids, kernels mark
    perf's records as if they had some, and perf 6.1 aborts: then perf must request them too."""
    for more in ((), ("--buildid-mmap",)):
        with open(path if pipe else os.devnull, "wb") as out:
            done = subprocess.run(
                ["perf", "record", "-q", "-o", "-" if pipe else path, *more, *words],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, timeout=limit(120))
        with open(path, "rb") as data:
            read = subprocess.run(["perf", "script", "-i", "-" if pipe else path, "-F", "ip"],
                                  stdin=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=limit(120))
        if not _misled(done.stderr) and not _misled(read.stderr):
            break
    if done.returncode:
        raise RuntimeError(f"perf record {' '.join(words)}: status {done.returncode}: "
                           + done.stderr.decode(errors="replace")[-500:])


class Maps:
    """Mappings by process, in the order of the recording; newer ones hide older ones."""

    def __init__(self):
        self.of = collections.defaultdict(list)

    def line(self, text):
        found = MMAP.search(text)
        if found:
            pid, _, start, size, pgoff, name = found.groups()
            self.of[int(pid)].append((int(start, 16), int(size, 16), int(pgoff, 16), name))
            return True
        found = FORK.search(text)
        if found:
            pid, _, parent, _ = map(int, found.groups())
            if pid != parent:
                self.of[pid] = list(self.of[parent])
            return True
        return "PERF_RECORD_" in text

    def offset(self, pid, ip, dso):
        """File offset of an address that perf placed in `dso`; None where no mapping has it."""
        for start, size, pgoff, name in reversed(self.of[pid]):
            if start <= ip < start + size:
                return ip - start + pgoff if name == dso else None
        return None


def samples(path, symbols=False):
    """Every sample of a recording, with the file offset for user addresses."""
    fields = "pid,tid,time,event,ip,dso" + (",sym" if symbols else "")
    text = perf("script", "-i", path, "-G", "--show-mmap-events", "--show-task-events", "--ns",
                "--no-demangle", "-F", fields)
    maps, held, unknown = Maps(), "", 0
    for line in text.splitlines():
        if maps.line(line) or not line.strip():
            continue
        # File names of other processes may contain line feeds.
        found = SAMPLE.match(line) or SAMPLE.match(f"{held}?{line}")
        if not found:
            unknown += bool(held)
            held = line
            if unknown > 50:
                raise RuntimeError(f"perf script prints lines of another form: {line!r}")
            continue
        held = ""
        pid, tid, tid2, time, event, ip, symbol, dso = found.groups()
        ip = int(ip, 16)
        user = ip < 1 << 63
        offset = maps.offset(int(pid), ip, dso) if user else None
        yield Sample(int(pid), int(tid or tid2), float(time), event, ip, dso, offset, symbol)
