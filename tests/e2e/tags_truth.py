# SPDX-License-Identifier: GPL-2.0-or-later
"""tags_truth: reads a trace of event tags without assay.

    build = Tagged(t, trigger="ring")       a names file, and flags to compile with
    program = build.program("plain", "-O2") of tests/workloads/calls
    trace = Trace(directory, build.names)   packets and words, as docs/FORMAT.md has them
    trace.processes                         calls_truth.Counted by pid
    trace.unsound()                         errors in the trace, one text each

This reader only uses the layout of the stream and the order of entries and exits, so the output of
`assay report` can be compared with it.
"""

import array
import collections
import glob
import os
import re
import struct
import subprocess
import sys

from calls_truth import Counted, plain_name
from harness import ASSAY, ROOT, Failure, run
from time_limit import limit

SOURCES = [ROOT / "tests" / "workloads" / room for room in ("calls", "tags")]
RESERVED, SWITCHES, OWN, VOID = 0xFFF000, (0xFFFFF0, 0xFFFFF2, 0xFFFFF4), 0xFFFFF6, 0xFFFFFE
CLOCK = (1 << 40) - 1
GAP, FORKED = 1, 2

Packet = collections.namedtuple("Packet", "begin end discarded sequence pid tid flags words")


class Tagged:
    """Programs with triggers, of one names file."""

    def __init__(self, t, trigger="ring", assay=ASSAY):
        self.t, self.names = t, t.path(f"{trigger}.names")
        flags = [assay, "tags", "flags", "--names", self.names, "--trigger", trigger]
        self.compile = run(*flags, "--cflags").out.split()
        self.link = run(*flags, "--libs").out.split()

    def start(self, name, level, *more):
        """A running compiler, and the program that it will create."""
        source = next(p for room in SOURCES for p in (room / f"{name}.c", room / f"{name}.cpp")
                      if p.exists())
        cpp = source.suffix == ".cpp"
        library = "-shared" in more
        output = self.t.path(f"{name}{level}" + "".join(m for m in more if "PLUGIN" in m)[9:] +
                             (".so" if library else ""))
        return self.t.start("g++" if cpp else "gcc", *([] if cpp else ["-std=gnu17"]),
                            "-D_GNU_SOURCE", "-g1", "-w", "-pthread", level, *more, *self.compile,
                            "-o", output, source, *self.link, "-ldl",
                            stderr=subprocess.PIPE), output

    def finish(self, started):
        process, output = started
        error = process.communicate(timeout=limit(120))[1].decode(errors="replace")
        if process.returncode:
            raise Failure(f"{output}: {error[-1500:]}")
        return output

    def program(self, name, level, *more):
        return self.finish(self.start(name, level, *more))


def names_by_tag(path):
    """Function names as in the source, by entry tag."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            match = re.match(r"([^#\s].*)/(\d+)[!=]?$", line.rstrip("\n"))
            if match:
                found[int(match[2])] = match[1].split("@")[0]
    plain = subprocess.run(["c++filt"], input="\n".join(found.values()), text=True, check=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    return {tag: plain_name(name) for tag, name in zip(found, plain)}


def packets(path):
    """Packets of one stream's file."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        magic, _, begin, end, content, size, discarded, sequence, pid, tid, flags = \
            struct.unpack_from("<IIQQQQQQiiI", data, at)
        if magic != 0xC1FC1FC1 or not 1024 <= content <= size:
            raise Failure(f"{path}: no packet at {at}")
        words = array.array("Q")
        words.frombytes(data[at + 128:at + content // 8])
        if sys.byteorder != "little":
            words.byteswap()
        yield Packet(begin, end, discarded, sequence, pid, tid, flags, words)
        at += size // 8


class Trace:
    """All events of a trace, matched. `paths`: count them by path too."""

    def __init__(self, directory, names, paths=True):
        self.directory, self.names = str(directory), names_by_tag(names)
        self.processes = collections.defaultdict(Counted)
        self.forked, self.wrong = set(), []
        self.balance = collections.Counter()  # entries without exits, by name
        self.events = self.discarded = self.void = self.unmatched = self.open = 0
        self.gaps = self.own = self.switches = 0
        for path in sorted(glob.glob(f"{self.directory}/stream_*")):
            self._stream(path, paths)

    def _stream(self, path, paths):
        before, stacks, lost = 0, {}, 0
        for packet in packets(path):
            name = f"{os.path.basename(path)}, packet {packet.sequence}"
            if packet.begin < before:
                self.wrong.append(f"{name}: begins {before - packet.begin} ticks before the end "
                                  "of the one before")
            before = packet.end
            self.gaps += packet.flags & GAP
            if packet.flags & FORKED:
                self.forked.add(packet.pid)
            self._clock(packet, name)
            lost = max(lost, packet.discarded)
            self._events(packet, stacks.setdefault((packet.pid, packet.tid), []), paths)
        self.discarded += lost
        self.open += sum(len(stack) for stack in stacks.values())

    def _clock(self, packet, name):
        """Times never decrease, and the last one is the packet's end."""
        ticks = [word >> 24 for word in packet.words if word & 0xFFFFFF != VOID]
        if not ticks:
            return
        if packet.begin >> 40 == packet.end >> 40:
            sound = ticks == sorted(ticks) and ticks[0] >= packet.begin & CLOCK
        else:
            # The clock wraps once: the value before the wrap is greater than the value after it.
            turned = [t if t >= packet.begin & CLOCK else t + CLOCK + 1 for t in ticks]
            sound = turned == sorted(turned)
        if not sound:
            self.wrong.append(f"{name}: times go backwards")
        if ticks[-1] != packet.end & CLOCK:
            self.wrong.append(f"{name}: does not end with its last event")

    def _events(self, packet, stack, paths):
        counted = self.processes[packet.pid]
        names = self.names
        if not paths:
            self._counts(collections.Counter(word & 0xFFFFFF for word in packet.words), counted)
            return
        for word in packet.words:
            tag = word & 0xFFFFFF
            if tag >= RESERVED or not tag:
                self._counts({tag: 1}, counted)
                continue
            self.events += 1
            name = names.get(tag & ~1)
            if name is None:
                self.wrong.append(f"tag {tag} is in no names file")
            elif not tag & 1:
                counted.calls[name] += 1
                path = f"{stack[-1][1]};{name}" if stack else name
                counted.paths[path] += 1
                stack.append((tag, path))
            else:
                self._exit(tag - 1, stack)

    def _counts(self, tags, counted):
        """The count of each tag, without regard to the order."""
        for tag, count in tags.items():
            if tag >= RESERVED:
                self.void += count * (tag == VOID)
                self.own += count * (tag == OWN)
                self.switches += count * (tag in SWITCHES)
                continue
            self.events += count
            name = self.names.get(tag & ~1)
            if name is None:
                self.wrong.append(f"tag {tag} is in no names file")
                continue
            if not tag & 1:
                counted.calls[name] += count
            self.balance[name] += -count if tag & 1 else count

    def _exit(self, tag, stack):
        """Ends the nearest open call of the function; calls inside it were left by a jump."""
        for i in range(len(stack) - 1, -1, -1):
            if stack[i][0] == tag:
                del stack[i:]
                return
        self.unmatched += 1

    def unsound(self, lost=False):
        """Errors in the trace. `lost`: events may be discarded."""
        wrong = self.wrong[:8]
        if self.discarded and not lost:
            wrong.append(f"{self.discarded} events were discarded")
        if self.gaps and not lost:
            wrong.append(f"{self.gaps} gaps")
        return wrong
