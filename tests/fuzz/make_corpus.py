#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_corpus.py DIRECTORY: derives damaged files from the whole ones there.

Whole files are real recordings, named whole-*.data. Each damaged one is named
for its damage and the file that it came from; making them again gives the same
bytes.
"""
import pathlib
import struct
import sys

U64 = struct.Struct("<Q")
# Offsets in the header: magic 0, size 8, attr_size 16, attrs 24, data 40, features 72.
HEADER = {"size": 8, "attr-size": 16, "attrs-offset": 24, "attrs-size": 32,
          "data-offset": 40, "data-size": 48}


def put(data, offset, value):
    return data[:offset] + U64.pack(value) + data[offset + 8:]


def get(data, offset):
    return U64.unpack_from(data, offset)[0]


def damaged(data):
    """Yields (name, bytes) for a file with a full header."""
    start, size = get(data, HEADER["data-offset"]), get(data, HEADER["data-size"])
    table = start + size
    yield "cut-in-header", data[:60]
    yield "cut-in-attrs", data[:get(data, HEADER["attrs-offset"]) + 30]
    yield "cut-in-records", data[:start + size // 2 + 3]
    yield "cut-in-features", data[:table + 40]
    yield "other-order", data[:8][::-1] + data[8:]
    yield "first-format", b"PERFFILE" + data[8:]
    yield "killed", put(data, HEADER["data-size"], 0)[:table]
    yield "killed-with-bits", put(data, HEADER["data-size"], 0)
    yield "zeros", data[:start] + bytes(size) + data[table:]
    for name, offset in HEADER.items():
        yield f"huge-{name}", put(data, offset, 2**64 - 8)
        yield f"zero-{name}", put(data, offset, 0)
    yield "attrs-over-data", put(data, HEADER["attrs-offset"], start)
    yield "data-over-header", put(put(data, HEADER["data-offset"], 0),
                                  HEADER["data-size"], table)
    yield "odd-data", put(put(data, HEADER["data-offset"], start + 3),
                          HEADER["data-size"], size - 3)
    yield "all-features", data[:72] + b"\xff" * 32 + data[104:]
    ids = get(data, HEADER["attrs-offset"]) + get(data, HEADER["attr-size"]) - 16
    yield "huge-ids", put(data, ids + 8, 2**63)
    yield "ids-everywhere", put(put(data, ids, 0), ids + 8, len(data))
    yield "feature-outside", put(data, table, 2**63)
    yield "feature-in-data", put(put(data, table, start), table + 8, size)
    yield "size-0", data[:start + 6] + b"\0\0" + data[start + 8:]
    yield "size-huge", data[:start + 6] + b"\xf8\xff" + data[start + 8:]
    yield "noise", data[:start] + bytes(
        b ^ (0xff if i % 97 == 0 else 0) for i, b in enumerate(data[start:table])) + data[table:]


def comm_record(*parts):
    body = struct.pack("<II", 7, 7) + b"main".ljust(8, b"\0") + b"".join(parts)
    return struct.pack("<IHH", 3, 2, 8 + len(body)) + body


def file_of(*records):
    data = b"".join(records)
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, 1 | 2 | 4, 0, 1 << 9).ljust(128, b"\0")
    return struct.pack("<8sQQQQQQQQ32x", b"PERFILE2", 104, 144, 104, 144, 248, len(data), 0,
                       0) + attr + bytes(16) + data


def descriptors():
    """A file with names of descriptors: whole, without an end, with a huge number, too short."""
    record = comm_record
    return file_of(record(b"assayfDs", U64.pack(3), b"pipe:[42]".ljust(16, b"\0")),
                   record(b"assayfDs", U64.pack(4), b"/no/end/"),
                   record(b"assayfDs", U64.pack(2 ** 40), b"a".ljust(8, b"\0")),
                   record(b"assayfDs", U64.pack(5)), record(b"assayfDs"))


def labels():
    """Labels of a process, of all, without an end, with a wrong number, odd ones, too short."""
    record = comm_record
    return file_of(record(b"asayLbls", U64.pack(0), b"service.name=a\nb=2".ljust(24, b"\0")),
                   record(b"asayLbls", U64.pack(1), b"zone=a".ljust(8, b"\0")),
                   record(b"asayLbls", U64.pack(0), b"no=end--"),
                   record(b"asayLbls", U64.pack(2), b"a=b".ljust(8, b"\0")),
                   record(b"asayLbls", U64.pack(0), b"=\n==\n\xff\n".ljust(8, b"\0")),
                   record(b"asayLbls", U64.pack(0)), record(b"asayLbls"))


def main():
    directory = pathlib.Path(sys.argv[1])
    # One file of ours and one that is packed: the others damage the same fields.
    for stem in ("assay", "packed"):
        for name, data in damaged((directory / f"whole-{stem}.data").read_bytes()):
            (directory / f"{stem}-{name}").write_bytes(data)
    pipe = (directory / "whole-pipe.data").read_bytes()
    (directory / "pipe-cut").write_bytes(pipe[:len(pipe) // 2 + 5])
    (directory / "pipe-no-attrs").write_bytes(pipe[:16])
    (directory / "pipe-huge-attr").write_bytes(pipe[:28] + b"\xff\xff\xff\x7f" + pipe[32:])
    (directory / "descriptors").write_bytes(descriptors())
    (directory / "labels").write_bytes(labels())
    (directory / "empty").write_bytes(b"")
    (directory / "magic-alone").write_bytes(b"PERFILE2")


main()
