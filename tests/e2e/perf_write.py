# SPDX-License-Identifier: GPL-2.0-or-later
"""perf_write: writes a perf.data file of samples with call chains, without assay and perf.

    file = PerfData("prog", 42, program)    an ELF file that is linked at fixed addresses
    file.sample([leaf, caller, main])       addresses, the innermost first
    t.write("p.data", file.bytes())

The event is cpu-clock, or another (type, config). Each sample stands for PERIOD ns, and follows
PERIOD ns after the previous sample. kernel() maps the kernel's code, and kernel_sample() is a sample
in it.

    file = Recorded()                       several events, and the sections that the recorder writes
    clock = file.event("cpu-clock", SOFTWARE, CPU_CLOCK, period)
    file.at(time, cpu, pid, tid)            of the records that follow
    file.comm("prog"), file.maps(program), file.sample(clock, user=[leaf, main])
    file.account = "machine_wide 1\\n..."    the text of the account's section (docs/FORMAT.md)
"""
import struct

from harness import run

PERIOD = 1000
SOFTWARE, TRACEPOINT, CPU_CLOCK, DUMMY, ATTR_SIZE = 1, 2, 0, 9, 128
IP, TID, TIME, CPU, PERIOD_BIT, CALLCHAIN, RAW, IDENTIFIER = 1, 2, 4, 128, 256, 32, 1024, 1 << 16
MMAP, COMM, TASK, MMAP2 = 1 << 8, 1 << 9, 1 << 13, 1 << 23
FREQUENCY, SAMPLE_ID_ALL, CONTEXT_SWITCH = 1 << 10, 1 << 18, 1 << 26
RECORD_MMAP, RECORD_LOST, RECORD_COMM, RECORD_EXIT, RECORD_THROTTLE, RECORD_FORK = 1, 2, 3, 4, 5, 7
RECORD_SAMPLE, RECORD_MMAP2, RECORD_SWITCH, SWITCH_OUT, PREEMPTED = 9, 10, 15, 1 << 13, 1 << 14
KERNEL, USER = 1, 2
TRACING_DATA, HOSTNAME, RELEASE, VERSION, ARCH, CPUS, CPU_TEXT, COMMAND = 1, 3, 4, 5, 6, 7, 8, 11
EVENT_NAMES, CLOCK, CLOCKS, ACCOUNT = 12, 23, 29, 250
CONTEXT_KERNEL, CONTEXT_USER = 2 ** 64 - 128, 2 ** 64 - 512
NO_PID = 2 ** 32 - 1


class PerfData:
    def __init__(self, name, pid, program, event=(SOFTWARE, CPU_CLOCK)):
        self.pid, self.cpu, self.time, self.event = pid, 0, 10 ** 9, event
        self.records = bytearray()  # bytes would be copied with each record
        self._record(RECORD_COMM, struct.pack("<II", pid, pid) + _text(name))
        for offset, address, size in _code_of(program):
            self._record(RECORD_MMAP2, struct.pack("<IIQQQIIQQII", pid, pid, address, size, offset,
                                                   0, 0, 0, 0, 5, 2) + _text(str(program)))

    def _record(self, kind, body, mode=USER):
        self.records += struct.pack("<IHH", kind, mode, 8 + len(body)) + body

    def kernel(self, address, size):
        self._record(RECORD_MMAP, struct.pack("<IIQQQ", NO_PID, 0, address, size, address)
                     + _text("[kernel.kallsyms]_text"), KERNEL)

    def sample(self, chain):
        self._sample([CONTEXT_USER, *chain], USER)

    def kernel_sample(self, chain):
        self._sample([CONTEXT_KERNEL, *chain], KERNEL)

    def entered_sample(self, chain, at):
        """In the kernel, which was entered from the user's address `at`."""
        self._sample([CONTEXT_KERNEL, *chain, CONTEXT_USER, at], KERNEL)

    def _sample(self, addresses, mode):
        self.time += PERIOD
        self._record(RECORD_SAMPLE, struct.pack(
            f"<QIIQIIQQ{len(addresses)}Q", addresses[1], self.pid, self.pid, self.time, self.cpu, 0,
            PERIOD, len(addresses), *addresses), mode)

    def bytes(self):
        sample_type = IP | TID | TIME | CPU | PERIOD_BIT | CALLCHAIN
        attr = struct.pack("<IIQQQQQ", self.event[0], ATTR_SIZE, self.event[1], PERIOD, sample_type, 0,
                           MMAP | COMM | TASK | MMAP2).ljust(ATTR_SIZE, b"\0")
        attrs, size = 104, ATTR_SIZE + 16  # no ids: the place after an attr is empty
        header = struct.pack("<8sQQQQQQQQ32x", b"PERFILE2", attrs, size, attrs, size, attrs + size,
                             len(self.records), 0, 0)
        return header + attr + bytes(16) + self.records


class Recorded:
    def __init__(self):
        self.records, self.events, self.account, self.tracepoints = bytearray(), [], None, []
        self.clock, self.machine = None, {}
        self.at(0, 0, 0, 0)

    def at(self, time, cpu, pid, tid):
        self.time, self.cpu, self.pid, self.tid = time, cpu, pid, tid

    def event(self, name, kind, config, period, flags=0, raw=False):
        self.events.append((name, kind, config, period, flags, raw))
        return len(self.events)  # its id in the file

    def tracepoint(self, name, number, fields):
        """fields: (declaration, size); the common ones come first. The event counts each."""
        at, lines = 0, []
        for declaration, size in [("unsigned short common_type", 2), ("unsigned char common_flags", 1),
                                  ("unsigned char common_preempt_count", 1), ("int common_pid", 4), *fields]:
            lines.append(f"\tfield:{declaration};\toffset:{at};\tsize:{size};\tsigned:"
                         f"{int(not declaration.startswith('unsigned'))};")
            at += size
        system, word = name.split(":")
        self.tracepoints.append((system, f"name: {word}\nID: {number}\nformat:\n" + "\n".join(lines)
                                 + '\n\nprint fmt: "", 0\n'))
        return self.event(name, TRACEPOINT, number, 1, raw=True)

    def record(self, kind, body, misc=USER):
        body += struct.pack("<IIQIIQ", self.pid, self.tid, self.time, self.cpu, 0, 1)
        self.records += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def comm(self, name):
        self.record(RECORD_COMM, struct.pack("<II", self.pid, self.tid) + _text(name))

    def fork(self, parent):
        self.record(RECORD_FORK, struct.pack("<IIIIQ", self.pid, parent, self.tid, parent, self.time))

    def exit(self, parent):
        self.record(RECORD_EXIT, struct.pack("<IIIIQ", self.pid, parent, self.tid, parent, self.time))

    def maps(self, program):
        for offset, address, size in _code_of(program):
            self.record(RECORD_MMAP2, struct.pack("<IIQQQIIQQII", self.pid, self.tid, address, size, offset,
                                                  0, 0, 0, 0, 5, 2) + _text(str(program)))

    def kernel(self, address, size):
        self.record(RECORD_MMAP, struct.pack("<IIQQQ", NO_PID, 0, address, size, address)
                    + _text("[kernel.kallsyms]_text"), KERNEL)

    def lost(self, event, count):
        self.record(RECORD_LOST, struct.pack("<QQ", event, count), 0)

    def throttled(self, event):
        self.record(RECORD_THROTTLE, struct.pack("<QQQ", self.time, event, event), 0)

    def switch(self, pid, tid, out, preempted=False):
        """The other thread is `tid`."""
        self.record(RECORD_SWITCH, struct.pack("<II", pid, tid),
                    USER | (SWITCH_OUT if out else 0) | (PREEMPTED if preempted else 0))

    def sample(self, event, kernel=(), user=(), weight=None, raw=None):
        chain = ([CONTEXT_KERNEL, *kernel] if kernel else []) + ([CONTEXT_USER, *user] if user else [])
        body = struct.pack(f"<QQIIQIIQQ{len(chain)}Q", event, chain[1] if chain else 0, self.pid, self.tid,
                           self.time, self.cpu, 0, weight or self.events[event - 1][3], len(chain), *chain)
        if raw is not None:  # its size is part of what is aligned
            raw = raw.ljust(-(-(len(raw) + 4) // 8) * 8 - 4, b"\0")
            body += struct.pack("<I", len(raw)) + raw
        self.records += struct.pack("<IHH", RECORD_SAMPLE, KERNEL if kernel else USER, 8 + len(body)) + body

    def _attr(self, kind, config, period, flags, raw):
        sample_type = IDENTIFIER | IP | TID | TIME | CPU | PERIOD_BIT | CALLCHAIN | (RAW if raw else 0)
        return struct.pack("<IIQQQQQ", kind, ATTR_SIZE, config, period, sample_type, 0,
                           flags | SAMPLE_ID_ALL).ljust(ATTR_SIZE, b"\0")

    def _tracing(self):
        systems = dict.fromkeys(system for system, _ in self.tracepoints)
        out = (b"\x17\x08\x44tracing0.6\0\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + bytes(8)
               + b"header_event\0" + bytes(8) + struct.pack("<II", 0, len(systems)))
        for name in systems:
            texts = [text.encode() for system, text in self.tracepoints if system == name]
            out += name.encode() + b"\0" + struct.pack("<I", len(texts))
            out += b"".join(struct.pack("<Q", len(text)) + text for text in texts)
        return out + bytes(16)

    def _features(self):
        found = {number: _padded(text) for number, text in self.machine.items() if isinstance(text, str)}
        if COMMAND in found:
            found[COMMAND] = struct.pack("<I", 1) + found[COMMAND]
        if CPUS in self.machine:
            found[CPUS] = struct.pack("<II", *self.machine[CPUS])
        if self.tracepoints:
            found[TRACING_DATA] = self._tracing()
        if self.clock:  # (time since 1970, the same moment on CLOCK_MONOTONIC)
            found[CLOCK] = struct.pack("<Q", 1)
            found[CLOCKS] = struct.pack("<IIQQ", 1, 1, *self.clock)
        found[EVENT_NAMES] = struct.pack("<II", len(self.events), ATTR_SIZE) + b"".join(
            self._attr(*event) + struct.pack("<I", 1) + _padded(name) + struct.pack("<Q", i + 1)
            for i, (name, *event) in enumerate(self.events))
        if self.account:
            found[ACCOUNT] = self.account.encode()
        return found

    def bytes(self):
        features, size = self._features(), ATTR_SIZE + 16
        ids, attrs = 104, 104 + 8 * len(self.events)
        data = attrs + size * len(self.events)
        table = data + len(self.records)
        at, places, sections = table + 16 * len(features), b"", b""
        for number in sorted(features):
            places += struct.pack("<QQ", at + len(sections), len(features[number]))
            sections += features[number]
        bits = sum(1 << number for number in features).to_bytes(32, "little")
        header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", ids, size, attrs, size * len(self.events), data,
                             len(self.records), 0, 0) + bits
        return (header + struct.pack(f"<{len(self.events)}Q", *range(1, len(self.events) + 1))
                + b"".join(self._attr(*event) + struct.pack("<QQ", ids + 8 * i, 8)
                           for i, (_, *event) in enumerate(self.events))
                + self.records + places + sections)


def _padded(text):
    """A text of a section: its size, padded to a multiple of 64 bytes."""
    raw = text.encode() + b"\0"
    size = -(-len(raw) // 64) * 64
    return struct.pack("<I", size) + raw.ljust(size, b"\0")


def _text(text):
    """A text with its NUL, padded to a multiple of 8 bytes."""
    raw = text.encode() + b"\0"
    return raw.ljust(-(-len(raw) // 8) * 8, b"\0")


def _code_of(program):
    """(offset in the file, address, size) of the program's executable segments."""
    for line in run("readelf", "-lW", program).out.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:-1]:
            offset, address, size = (int(words[i], 16) for i in (1, 2, 5))
            low = address & 0xfff
            yield offset - low, address - low, size + low
