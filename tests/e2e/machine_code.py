# SPDX-License-Identifier: GPL-2.0-or-later
"""machine_code: functions, instructions and landing pads of an ELF file, for checks of machine
code.

Image reads sections, symbols, and instructions (by objdump; x86-64, little-endian).
Data between instructions can be replaced first (`data`), so that the instruction after it is
disassembled from its first byte. landing_pads() decodes .eh_frame and .gcc_except_table: it finds
where a call continues if it throws.
"""

import bisect
import collections
import os
import re
import struct
import subprocess
import tempfile

Section = collections.namedtuple("Section", "name type address offset size link")
Function = collections.namedtuple("Function", "name start end local file")
# Where a call that throws continues: pad is an address, or 0 (the exception leaves the function).
CallSite = collections.namedtuple("CallSite", "start end pad")

ENDED = -1  # instead of a landing pad: the call does not throw, or the program is ended
SYMTAB, STT_FUNC, STT_FILE, STT_IFUNC, NOBITS = 2, 2, 4, 10, 8


class Image:
    """An ELF file. `code` is text by address, once disassemble() was called."""

    def __init__(self, path):
        self.path = str(path)
        with open(path, "rb") as f:
            self.bytes = f.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: no 64-bit little-endian ELF file")
        self.sections = self._sections()
        self.symbols, self.functions = {}, []
        self._read_symbols()
        self.starts = sorted({f.start for f in self.functions})
        self.by_start = collections.defaultdict(list)
        for function in self.functions:
            self.by_start[function.start].append(function)
        self.code, self.order, self.following = {}, [], {}

    def _sections(self):
        offset, = struct.unpack_from("<Q", self.bytes, 40)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, offset + i * size)
               for i in range(count)]
        table = raw[names][4]
        return [Section(self._text(table + r[0]), r[1], r[3], r[4], r[5], r[6]) for r in raw]

    def _text(self, offset):
        return self.bytes[offset:self.bytes.index(b"\0", offset)].decode()

    def _read_symbols(self):
        file = ""
        for table in (s for s in self.sections if s.type == SYMTAB):
            text = self.sections[table.link].offset
            for at in range(table.offset, table.offset + table.size, 24):
                name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.bytes, at)
                name, kind, local = self._text(text + name), info & 15, info >> 4 == 0
                if kind == STT_FILE:
                    file = name
                elif section:
                    self.symbols.setdefault(name, value)
                    if kind in (STT_FUNC, STT_IFUNC) and size:
                        self.functions.append(Function(name, value, value + size, local,
                                                       file if local else ""))

    def section(self, name):
        return next((s for s in self.sections if s.name == name), None)

    def section_at(self, address):
        return next((s for s in self.sections if s.address and
                     s.address <= address < s.address + s.size), None)

    def read(self, address, size):
        """Bytes at an address; None: they are not in the file."""
        section = self.section_at(address)
        if not section or section.type == NOBITS or address + size > section.address + section.size:
            return None
        at = section.offset + address - section.address
        return self.bytes[at:at + size]

    def at(self, address):
        """The functions that contain an address."""
        i = bisect.bisect_right(self.starts, address)
        for start in reversed(self.starts[max(0, i - 4):i]):
            found = [f for f in self.by_start[start] if f.start <= address < f.end]
            if found:
                return found
        return []

    def disassemble(self, data=()):
        """Fills `code`. `data`: (address, size) of bytes that are not instructions."""
        path, blanked = self.path, None
        if data:
            content = bytearray(self.bytes)
            for address, size in data:
                section = self.section_at(address)
                at = section.offset + address - section.address
                content[at:at + size] = b"\x90" * size
            with tempfile.NamedTemporaryFile(prefix="assay-code-", delete=False) as blanked:
                blanked.write(content)
            path = blanked.name
        try:
            done = subprocess.run(["objdump", "-d", "-w", "--no-show-raw-insn", path], check=True,
                                  stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})
        finally:
            if blanked:
                os.unlink(blanked.name)
        line = re.compile(r"\s*([0-9a-f]+):\t(?:(?:notrack|bnd|repz|cs|ds|data16|addr32) )*(.*)")
        for text in done.stdout.decode(errors="replace").splitlines():
            match = line.match(text)
            if match:
                self.code[int(match[1], 16)] = match[2].strip()
        self.order = sorted(self.code)
        self.following = dict(zip(self.order, self.order[1:]))

    def next(self, address):
        """The address of the next instruction; None at the end."""
        return self.following.get(address)

    def before(self, address, count):
        """The addresses of up to `count` previous instructions, the nearest first."""
        i = bisect.bisect_left(self.order, address)
        return reversed(self.order[max(0, i - count):i])


class Bytes:
    """Reads DWARF numbers from the bytes at an address."""

    def __init__(self, data, address, at=0):
        self.data, self.address, self.at = data, address, at

    def number(self, size, signed=False):
        self.at += size
        return int.from_bytes(self.data[self.at - size:self.at], "little", signed=signed)

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def encoded(self, how):
        """A pointer in the encoding `how` (DW_EH_PE_*): absolute, or relative to its own address."""
        here = self.address + self.at
        kind = how & 15
        if kind == 1:
            value = self.uleb()
        else:
            size, signed = {0: (8, False), 2: (2, False), 3: (4, False), 4: (8, False),
                            10: (2, True), 11: (4, True), 12: (8, True)}[kind]
            value = self.number(size, signed)
        if value and how & 0x70 == 0x10:
            value += here
        return value & (1 << 64) - 1


def frame_tables(image):
    """(begin, end, address of the function's exception table or 0) of .eh_frame's entries."""
    section = image.section(".eh_frame")
    if not section:
        return
    r = Bytes(image.read(section.address, section.size), section.address)
    commons = {}
    while r.at < section.size:
        begin = r.at
        length = r.number(4)
        if not length:
            break
        end, here = r.at + length, r.at
        common = r.number(4)
        if not common:
            commons[begin] = common_entry(r)
        else:
            pointer, lsda, augmented = commons[here - common]
            start = r.encoded(pointer)
            size = r.encoded(pointer & 15)
            table = 0
            if augmented:
                r.uleb()
                table = r.encoded(lsda) if lsda != 255 else 0
            yield start, start + size, table
        r.at = end


def common_entry(r):
    """(encoding of code pointers, of table pointers or 255: none, augmented) of a CIE."""
    version, letters = r.number(1), b""
    while True:
        letter = r.number(1)
        if not letter:
            break
        letters += bytes([letter])
    r.uleb()
    r.uleb()
    r.number(1) if version == 1 else r.uleb()
    pointer, lsda = 0, 255
    if letters[:1] == b"z":
        r.uleb()
        for letter in letters[1:].decode():
            if letter == "R":
                pointer = r.number(1)
            elif letter == "L":
                lsda = r.number(1)
            elif letter == "P":
                r.encoded(r.number(1))
    return pointer, lsda, letters[:1] == b"z"


def call_sites(image, begin, table):
    """CallSites of one exception table."""
    section = image.section_at(table)
    r = Bytes(image.read(section.address, section.size), section.address, table - section.address)
    how = r.number(1)
    base = r.encoded(how) if how != 255 else begin
    if r.number(1) != 255:
        r.uleb()
    how = r.number(1)
    length = r.uleb()
    end = r.at + length
    sites = []
    while r.at < end:
        start, size, pad = (r.encoded(how & 15) for _ in range(3))
        r.uleb()
        sites.append(CallSite(begin + start, begin + start + size, base + pad if pad else 0))
    return sites


class LandingPads:
    """Returns the place at which a call continues if it throws."""

    def __init__(self, image):
        self.frames = sorted((begin, end, call_sites(image, begin, table) if table else None)
                             for begin, end, table in frame_tables(image))
        self.begins = [frame[0] for frame in self.frames]

    def at(self, address):
        """An address; 0: the caller; None: there is no table; ENDED: the program ends."""
        sites = self._sites(address)
        site = self.site(address)
        return None if sites is None else site.pad if site else ENDED

    def site(self, address):
        """The range that contains an address; None: there is none."""
        for site in self._sites(address) or ():
            if site.start <= address < site.end:
                return site
        return None

    def _sites(self, address):
        i = bisect.bisect_right(self.begins, address) - 1
        return self.frames[i][2] if i >= 0 and address < self.frames[i][1] else None
