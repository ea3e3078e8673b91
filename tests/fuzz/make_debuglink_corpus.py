#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_debuglink_corpus.py DIRECTORY: small ELF files that speak of debug files.

Each is named for what is odd about it; making them again gives the same bytes.
"""
import lzma
import pathlib
import struct
import sys

SYMTAB, STRTAB, PROGBITS, EXEC, DYN, REL = 2, 3, 1, 2, 3, 1


def elf(sections, kind=DYN):
    """An x86-64 file with these sections: (name, type, bytes, link, flags, address)."""
    names = b"\0"
    places = []
    body = b""
    for name, _, data, *_ in sections:
        places.append((len(names), 64 + len(body), len(data)))
        names += name.encode() + b"\0"
        body += data + bytes(-len(data) % 8)
    shstr = len(names)
    names += b".shstrtab\0"
    table = 64 + len(body) + len(names)
    table += -table % 8
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", kind, 62, 1, 0, 0, table, 0, 64, 56, 0, 64,
        len(sections) + 2, len(sections) + 1)
    headers = bytes(64)
    for (name, place, size), (_, stype, _, link, flags, address) in zip(places, sections):
        entry = 24 if stype == SYMTAB else 0
        headers += struct.pack("<IIQQQQIIQQ", name, stype, flags, address, place, size, link, 0,
                               8, entry)
    headers += struct.pack("<IIQQQQIIQQ", shstr, STRTAB, 0, 0, 64 + len(body), len(names), 0, 0,
                           1, 0)
    out = head + body + names
    return out + bytes(table - len(out)) + headers


def inner(count=3, kind=DYN, extra=()):
    """What MiniDebugInfo packs: a table of local functions."""
    names, symbols = b"\0", bytes(24)
    for i in range(count):
        symbols += struct.pack("<IBBHQQ", len(names), 2, 0, 1, 0x1000 + 16 * i, 16)
        names += f"local_{i}".encode() + b"\0"
    return elf([(".text", PROGBITS, b"\x90" * 16 * max(count, 1), 0, 6, 0x1000),
                (".symtab", SYMTAB, symbols, 3, 0, 0),
                (".strtab", STRTAB, names, 0, 0, 0), *extra], kind)


def link(name, crc=b"\1\2\3\4"):
    name += b"\0"
    return name + bytes(-len(name) % 4) + crc


def linked(data):
    return elf([(".gnu_debuglink", PROGBITS, data, 0, 0, 0)])


def packed(data):
    return elf([(".gnu_debugdata", PROGBITS, data, 0, 0, 0)])


def xz(data, **options):
    return lzma.compress(data, **options)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    whole = xz(inner())
    large = {"format": lzma.FORMAT_XZ, "check": lzma.CHECK_CRC32,
             "filters": [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 29}]}
    files = {
        "link": linked(link(b"program.debug")),
        "link-with-slash": linked(link(b"../../etc/passwd")),
        "link-up": linked(link(b"..")),
        "link-here": linked(link(b".")),
        "link-empty": linked(link(b"")),
        "link-without-end": linked(b"abcdefgh"),
        "link-without-checksum": linked(b"abc\0"),
        "link-half-checksum": linked(b"abc\0\1\2"),
        "link-to-itself": linked(link(b"3")),
        "link-long": linked(link(b"x" * 5000)),
        "link-control-bytes": linked(link(b"\x1b[2J\n%s%n")),
        "packed": packed(whole),
        "packed-many": packed(xz(inner(3000))),
        "packed-cut": packed(whole[:len(whole) // 2]),
        "packed-flipped": packed(whole[:40] + bytes([whole[40] ^ 255]) + whole[41:]),
        "packed-nothing": packed(b""),
        "packed-no-xz": packed(b"not xz at all" * 4),
        "packed-tail": packed(whole + b"more"),
        "packed-twice": packed(xz(whole)),
        "packed-bomb": packed(xz(bytes(64 << 20))),
        "packed-needs-memory": packed(xz(inner(), **large)),
        "packed-no-elf": packed(xz(b"text" * 100)),
        "packed-relocatable": packed(xz(inner(kind=REL))),
        "packed-in-packed": packed(xz(inner(
            extra=[(".gnu_debugdata", PROGBITS, whole, 0, 0, 0)]))),
        "packed-and-symbols": inner(extra=[(".gnu_debugdata", PROGBITS, whole, 0, 0, 0)]),
        "both": elf([(".gnu_debuglink", PROGBITS, link(b"a.debug"), 0, 0, 0),
                     (".gnu_debugdata", PROGBITS, whole, 0, 0, 0)]),
        "xz-alone": whole,
    }
    for name, data in files.items():
        (directory / name).write_bytes(data)


main()
