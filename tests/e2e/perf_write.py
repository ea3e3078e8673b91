# SPDX-License-Identifier: GPL-2.0-or-later
"""perf_write: writes a perf.data file of samples with call chains, without assay and perf.

    file = PerfData("prog", 42, program)    an ELF file that is linked at fixed addresses
    file.sample([leaf, caller, main])       addresses, the innermost first
    t.write("p.data", file.bytes())

The event is cpu-clock, or another (type, config). Each sample stands for PERIOD ns, and follows
PERIOD ns after the previous sample. kernel() maps the kernel's code, and kernel_sample() is a sample
in it.
"""
import struct

from harness import run

PERIOD = 1000
SOFTWARE, CPU_CLOCK, ATTR_SIZE = 1, 0, 128
IP, TID, TIME, CPU, PERIOD_BIT, CALLCHAIN = 1, 2, 4, 128, 256, 32
MMAP, COMM, TASK, MMAP2 = 1 << 8, 1 << 9, 1 << 13, 1 << 23
RECORD_MMAP, RECORD_COMM, RECORD_SAMPLE, RECORD_MMAP2, KERNEL, USER = 1, 3, 9, 10, 1, 2
CONTEXT_KERNEL, CONTEXT_USER = 2 ** 64 - 128, 2 ** 64 - 512
NO_PID = 2 ** 32 - 1


class PerfData:
    def __init__(self, name, pid, program, event=(SOFTWARE, CPU_CLOCK)):
        self.pid, self.cpu, self.time, self.records, self.event = pid, 0, 10 ** 9, b"", event
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
