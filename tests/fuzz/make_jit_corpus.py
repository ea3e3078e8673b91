#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_jit_corpus.py DIRECTORY: small jitdumps and perf maps, whole and damaged."""
import pathlib
import struct
import sys

LOAD, MOVE, LINES, CLOSE, UNWINDING = range(5)


def header(magic=0x4a695444, version=1, size=40, machine=62, flags=0):
    return struct.pack("<6IQQ", magic, version, size, machine, 0, 7, 1, flags)


def record(kind, time, body, size=None):
    return struct.pack("<2IQ", kind, 16 + len(body) if size is None else size, time) + body


def load(time, address, code, index, name, size=None):
    return record(LOAD, time, struct.pack("<2I4Q", 7, 7, address, address,
                                          len(code) if size is None else size, index)
                  + name + b"\0" + code)


def move(time, old, new, size, index):
    return record(MOVE, time, struct.pack("<2I5Q", 7, 7, old, old, new, size, index))


def lines(time, address, count, *entries):
    body = struct.pack("<2Q", address, count)
    for at, line, name in entries:
        body += struct.pack("<Qii", at, line, 0) + name + b"\0"
    return record(LINES, time, body)


# .eh_frame of a function of 11 bytes, and its index
TABLE = bytes.fromhex("1400000000000000017a5200017810011b0c070890010000"
                      "140000001c000000d0ffffff0b00000000440e10460e0800")
INDEX = bytes.fromhex("011b033bccffffff01000000c0ffffffe8ffffff")


def unwinding(table, index=INDEX, size=None, index_size=None):
    table += index
    return record(UNWINDING, 1, struct.pack("<3Q", len(table) if size is None else size,
                                            len(index) if index_size is None else index_size,
                                            len(table)) + table)


def with_table(*records):
    return header() + b"".join(records) + load(2, 0x1000, b"x" * 11, 1, b"f")


def main():
    directory = pathlib.Path(sys.argv[1])
    two = ((0x1000, 5, b"a.js"), (0x1008, 6, b"\xff"))
    whole = (header() + lines(1, 0x1000, 2, *two) + load(1, 0x1000, b"x" * 32, 1, b"f")
             + record(UNWINDING, 2, bytes(24)) + load(2, 0x1010, b"y" * 32, 2, b"g")
             + move(3, 0x1000, 0x3000, 32, 1) + load(4, 0x3000, b"x" * 32, 3, b"f"))
    files = {
        "whole": whole + record(CLOSE, 5, b""),
        "cut": whole[:-20],
        "other-order": header(magic=0x4454694a),
        "version": header(version=9),
        "header-size": header(size=0xffffffff),
        "small-header": header(size=3),
        "cpu-clock": header(flags=1) + whole[40:],
        "record-size-0": header() + record(LOAD, 1, bytes(64), 0) + whole[40:],
        "record-size-huge": header() + record(LOAD, 1, bytes(64), 0xfffffff0),
        "no-name-end": header() + record(LOAD, 1, struct.pack("<2I4Q", 7, 7, 0, 0x10, 1, 1) + b"f"),
        "code-size-huge": header() + load(1, 0x1000, b"x" * 8, 1, b"f", 2**63),
        "code-size-long": header() + load(1, 0x1000, b"x" * 8, 1, b"f", 2**31 - 1),
        "wraps": header() + load(1, 2**64 - 8, b"x" * 32, 1, b"f"),
        "lines-many": header() + lines(1, 0x1000, 2**62, *two) + load(1, 0x1000, b"x", 1, b"f"),
        "lines-below": header() + lines(1, 0x9000, 2, *two) + load(1, 0x9000, b"x", 1, b"f"),
        "lines-shifted": header() + lines(1, 0x1000, 1, (0x1040, 5, b"a"))
                         + load(1, 0x1000, b"x" * 9, 1, b"f"),
        "lines-no-file": header() + lines(1, 0x1000, 1, (0x1000, 5, b"\xff"))
                         + load(1, 0x1000, b"x" * 9, 1, b"f"),
        "move-unknown": header() + move(1, 0x1000, 0x2000, 8, 77),
        "move-often": header() + load(1, 0x1000, b"x" * 32, 1, b"f")
                      + b"".join(move(t, 0x1000 + t, 0x1001 + t, 32, 1) for t in range(2, 40)),
        "unwinding": with_table(unwinding(TABLE)) + move(3, 0x1000, 0x3000, 11, 1),
        "unwinding-often": with_table(unwinding(TABLE * 20), unwinding(TABLE * 2)),
        "unwinding-no-machine": header(machine=0) + with_table(unwinding(TABLE))[40:],
        "unwinding-size": with_table(unwinding(TABLE, size=2**63)),
        "unwinding-index-size": with_table(unwinding(TABLE, index_size=2**63)),
        "unwinding-cut": with_table(unwinding(TABLE[:41])),
        "unwinding-absolute": with_table(unwinding(TABLE.replace(b"\x1b", b"\0"))),
        "unwinding-elsewhere": with_table(unwinding(TABLE.replace(b"\xd0", b"\x10"))),
        "map": b"1000 20 f\n0x2000 0x20 g h\r\n1010 8 later\n",
        "map-nonsense": b"\n 1 2 3\nzz 1 f\n1 zz f\n1 2\n1 2 \n1 0 f\nffffffffffffffff 2 f\n1 2 f",
        "map-long-numbers": b"11111111111111111 2 f\n1 80000000 f\n1 7fffffff f\n",
        "map-nul": b"1000 20 f\0g\n\0\n1000 \0 f\n",
        "empty": b"",
    }
    for name, data in files.items():
        (directory / name).write_bytes(data)


main()
