#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_calls_corpus.py DIRECTORY: small tables of call paths, whole and damaged."""
import pathlib
import struct
import sys

THREAD, NODES, WAITS, IMAGES, NAMES, TEXT, BOOKS, BOOK, MORE, CLOCKS = range(1, 11)
PAGE = 4096
BEGIN = 1000000
HIGH, LOW = 2**63 - 1, -2**63
GONE = 1 << 63


def header(used, **with_):
    """The fields that a reader looks at; the rest of the page is zeros."""
    f = dict(magic=b"ASYCALLS", version=1, header=PAGE, flags=0, state=2, epoch=0, pid=4711,
             first=(BEGIN, 7000000), latest=(BEGIN + 4000000, 9000000), end=BEGIN + 1900,
             inner=10 * 1024, outer=6 * 1024, lengths=3)
    f.update(with_)
    head = struct.pack("<8s2I2Q4I2i2I2Q", f["magic"], f["version"], f["header"], used, 1 << 20,
                       f["flags"], f["state"], f["epoch"], 65535, f["pid"], 1, 0, 2, 99, 10**9)
    head += struct.pack("<5Q", *f["first"], *f["latest"], f["end"])
    head += struct.pack("<8i", f["inner"], f["outer"], 512, 256, 20480, 30720, 10240,
                        f["lengths"])
    head += struct.pack("<12i", 30720, 10240, 51200, 6144, 81920, 5120, *[0] * 6)
    head += struct.pack("<6Q64s512s", 0, 0, 0, 0, 0, 0, b"prog", b"prog -x")
    return head.ljust(PAGE, b"\0")


def chunk(kind, items, thread=0, used=None, size=None):
    body = b"".join(items)
    pages = -(-(64 + len(body)) // PAGE) * PAGE
    head = struct.pack("<2I2Q5Q", kind, thread, pages if size is None else size,
                       len(items) if used is None else used, *[0] * 5)
    return (head + body).ljust(pages, b"\0")


def thread(tid, current, root, last=1900, epoch=0, enter=(0, 0, 0), stacks=()):
    body = struct.pack("<Q2IiI2Q", BEGIN + last, current, root, tid, epoch, 1, BEGIN)
    body += struct.pack("<3Q4Q", 5000, BEGIN, 5000, 0, 0, 100, 3)
    body += struct.pack("<6Q", *enter, 0, 0, 0)
    body += struct.pack("<I64I16s", len(stacks), *(list(stacks) + [0] * (64 - len(stacks))),
                        b"worker")
    return body


def node(function, parent, calls, net, low=HIGH, high=LOW, wait=0):
    return struct.pack("<Q2I4I2Q2q", function, parent, wait, 0, 0, 0, 0, calls, net, low, high)


def wait(at, blocked, preempted):
    return struct.pack("<4Q2I3Q", blocked, preempted, 1, 1, at, 0, 0, 0, 0)


def image(start, end, path, gone=0):
    return struct.pack("<5Q2I32s304s", start, end, 0x1000, 8 << 32 | 1, 5, gone, 20,
                       b"\x11" * 20, path)


def table(nodes=None, threads=None, waits=None, images=None, more=b"", **with_):
    """Header, thread at unit 65, nodes from 129, waits from 193, images."""
    if nodes is None:
        nodes = [node(0, 0, 0, 300), node(0x400100, 129, 1, 1000, 900, 900),
                 node(0x500200, 130, 10, 500, -3, 80), node(1, 131, 2, 5),
                 node(0x500300 | GONE | 2 << 48, 130, 3, 70), node(0x999 | 1 << 60, 130, 4, 0)]
    parts = chunk(THREAD, [threads or thread(4711, 131, 129)])
    parts += chunk(NODES, nodes, 65)
    parts += chunk(WAITS, [wait(131, 4000, 600)] if waits is None else waits, 65)
    parts += chunk(IMAGES, images or [image(0x400000, 0x401000, b"/bin/prog"),
                                      image(0x500000, 0x501000, b"/lib/gone.so", 1),
                                      image(0x500000, 0x501000, b"/lib/new.so")])
    parts += more
    return header(PAGE + len(parts), **with_) + parts


def recording():
    word = GONE | 1 << 48
    nodes = [node(0, 0, 0, 300), node(word | 0x1100, 129, 1, 2**64 - 5),
             node(word | 0x1200 | 1 << 62, 130, 10, 500, 1, 99)]
    more = chunk(NAMES, [struct.pack("<Q4IQ", word | 0x1100, 1, 5, 12, 0, 0)])
    more += chunk(TEXT, [b"\0one\0one.c\0"], used=11)
    more += chunk(BOOKS, [struct.pack("<4I5q9Q", 1 << 19, 1, 5, 0, 950, 100, 5, 1024, 512,
                                      *[77] * 9)])
    more += chunk(BOOK, [struct.pack("<9qQiI5Q", 950, LOW, 800, 100, 40, 5, 5, LOW, 0, 2, 7, 1,
                                     *[0] * 5)])
    more += chunk(MORE, [struct.pack("<2Iq2Q", 131, 2, 33, 0, 0)])
    return table(nodes, thread(0, 0, 129), images=[image(0, 0, b"/bin/prog", 1 | 1 << 8)],
                 more=more, inner=0, outer=0)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(exist_ok=True)
    whole = table()
    cycle = [node(0, 0, 0, 1), node(0x400100, 131, 1, 1), node(0x400200, 130, 1, 1)]
    long_chain = [node(0, 0, 0, 1)] + [node(0x400000 + i, 128 + i, 1, 1) for i in range(1, 200)]
    baseline = table(more=chunk(CLOCKS, [struct.pack("<i4xQQQ", 4711, 6000, 10, 0)]),
                     state=1, end=0, latest=(BEGIN + 20000, 8000000))
    running = table(state=1, end=0, threads=thread(4711, 131, 129, stacks=(130, 9, 132)))
    files = {
        "whole": whole,
        "running": running,
        "recording": recording(),
        "with-baseline": running.ljust(32768, b"\0") + baseline,
        "samples": table(threads=thread(4711, 131, 129, enter=(100, 2500, 62600))),
        "samples-huge": table(threads=thread(4711, 131, 129, enter=(2**64 - 1,) * 3)),
        "kernel": table(flags=512, nodes=[node(0, 0, 0, 1), node(0xffff81001000, 129, 5, 9),
                                          node(2, 129, 1, 1)]),
        "epoch": table(epoch=1),
        "lengths-many": table(lengths=2**31 - 1),
        "cut": whole[:-20],
        "cut-nodes": whole[:2 * PAGE + 200],
        "header-cut": whole[:900],
        "magic": table(magic=b"ASYCALLX"),
        "version": table(version=2),
        "header-bytes": table(header=64),
        "no-rate": table(latest=(BEGIN, 7000000)),
        "rate-back": table(first=(2**63, 2**63)),
        "cycle": table(cycle),
        "self": table([node(0, 0, 0, 1), node(0x400100, 130, 1, 1)]),
        "long-chain": table(long_chain, waits=[]),
        "backward-chain": table([node(0x400000 + i, 129 + i + 1, 1, 1) for i in range(199)],
                                waits=[]),
        "inner-root": table([node(0, 0, 0, 1), node(0, 129, 1, 1), node(0x400100, 130, 1, 1)]),
        "counts-huge": table([node(0, 0, 0, 1), node(0x400100, 129, 2**64 - 1, 2**64 - 1, LOW, HIGH),
                              node(0x400200, 129, 2**63, 2**63, LOW + 1, HIGH - 1)]),
        "waits-nowhere": table(waits=[wait(0, 1, 1), wait(77, 1, 1), wait(2**32 - 1, 1, 1)]),
        "waits-huge": table(waits=[wait(130, 2**64 - 1, 2**63)] * 3),
        "image-none": table([node(0, 0, 0, 1), node(0x400100 | GONE | 9 << 48, 129, 1, 1),
                             node(0x400100 | GONE, 129, 1, 1)]),
        "image-sizes": table(images=[struct.pack("<5Q2I32s304s", 2**64 - 1, 5, 9, 0, 0, 0,
                                                 2**32 - 1, b"", b"x" * 304)]),
        "chunk-huge": table(more=chunk(NODES, [], 65, size=2**63)),
        "chunk-odd": table(more=chunk(NODES, [], 65, size=5000)),
        "chunk-zeros": table(more=bytes(3 * PAGE) + chunk(NODES, [node(0x400900, 130, 1, 1)], 65)),
        "chunk-unknown": table(more=chunk(99, [b"x" * 64])),
        "chunk-used": table(more=chunk(NODES, [], 65, used=2**64 - 1)),
        "text-no-end": recording().replace(b"one.c\0", b"one.cc"),
        "empty": b"",
        "two": recording() + recording(),
    }
    for name, data in files.items():
        (directory / name).write_bytes(data)
    for name, data in (("whole", whole), ("recording", recording()), ("running", running)):
        for i in range(9):
            damaged = bytearray(data)
            at = (i * 2654435761 >> 3) % len(data) if i % 3 == 0 else \
                (i % 5) * PAGE + (i * 37) % 500
            damaged[at] ^= 1 << i % 8 | 0x80 >> i % 3
            (directory / f"{name}-flip-{i:02}").write_bytes(damaged)


if __name__ == "__main__":
    main()
