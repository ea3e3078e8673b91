#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_go_corpus.py DIRECTORY...: small files with a Go table of each format, whole and damaged."""
import pathlib
import struct
import sys

BASE, TEXT, TABLE = 0x400000, 0x100, 0x200
FUNCTIONS = (
    ("main.framed", 0x40, 0, ((0, 4), (24, 44), (0, 1), (24, 15))),
    ("main.pushed", 0x40, 0, ((0, 1), (8, 7), (32, 48))),
    ("runtime.goexit", 0x20, 1, ((0, 16),)),
    ("runtime.gogo", 0x10, 2, ((0, 16),)),
    ("runtime.asyncPreempt", 0x30, 0, ((0, 1), (8, 300))),
)
# magic, words of the header, those of the parts, bytes of a number, a record's places and size
FORMATS = {
    "go2": (0xfffffffb, 1, None, 8, (8, 20, 0, 40)),
    "go16": (0xfffffffa, 7, (2, 5, 6), 8, (8, 20, 41, 44)),
    "go18": (0xfffffff0, 8, (3, 6, 7), 4, (4, 16, 37, 40)),
    "go20": (0xfffffff1, 8, (3, 6, 7), 4, (4, 16, 41, 44)),
}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def steps_of(shape):
    out, last = b"", -1
    for depth, length in shape:
        change = depth - last
        out += varint(change << 1 if change >= 0 else (-change << 1) - 1) + varint(length)
        last = depth
    return out + b"\0"


def table(magic, words, parts, field, places, text):
    name_at, steps_at, flags_at, record_size = places
    header = 8 + 8 * words
    size = (2 * len(FUNCTIONS) + 1) * field
    names_at = header + size + record_size * len(FUNCTIONS)
    names, steps = b"", b"\0"
    entries, records = b"", b""
    steps_at_all = names_at + sum(len(f[0]) + 1 for f in FUNCTIONS)
    place = 0 if parts and field == 4 else text
    kind = "<Q" if field == 8 else "<I"
    for name, length, flags, shape in FUNCTIONS:
        record = bytearray(record_size)
        struct.pack_into("<I", record, name_at, len(names) + (0 if parts else names_at))
        struct.pack_into("<I", record, steps_at, len(steps) + (0 if parts else steps_at_all))
        if flags_at:
            record[flags_at] = flags
        entries += struct.pack(kind, place)
        entries += struct.pack(kind, size + len(records) + (0 if parts else header))
        place += length
        records += record
        names += name.encode() + b"\0"
        steps += steps_of(shape)
    head = bytearray(struct.pack("<IHBB", magic, 0, 1, 8) + bytes(8 * words))
    struct.pack_into("<Q", head, 8, len(FUNCTIONS))
    if parts:
        for part, at in zip(parts, (names_at, steps_at_all, header)):
            struct.pack_into("<Q", head, 8 + 8 * part, at)
    if field == 4:
        struct.pack_into("<Q", head, 24, text)
    return bytes(head) + entries + struct.pack(kind, place) + records + names + steps


def elf(content):
    code = bytearray(b"\xcc" * (TABLE - TEXT))
    code[:9] = bytes.fromhex("4883ec1848896c2410")
    code[0x40] = code[0xb0] = 0x55
    size = TABLE + len(content)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, BASE + TEXT, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, size, size, 4096)
    return head + bytes(TEXT - len(head)) + bytes(code) + content


def main():
    for directory in map(pathlib.Path, sys.argv[1:]):
        for name, (magic, words, parts, field, places) in FORMATS.items():
            whole = elf(table(magic, words, parts, field, places, BASE + TEXT))
            (directory / name).write_bytes(whole)
            for at in range(TABLE + 6, len(whole), 61):
                bad = bytearray(whole)
                bad[at] ^= 0x95
                (directory / f"{name}-flip-{at:04}").write_bytes(bad)
        moved = bytearray(whole)
        struct.pack_into("<Q", moved, TABLE + 24, 0)
        (directory / "go20-unplaced").write_bytes(moved)


main()
