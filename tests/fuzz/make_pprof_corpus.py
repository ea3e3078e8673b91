#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_pprof_corpus.py DIRECTORY: inputs for fuzz_pprof, profiles by hand."""
import gzip
import os
import sys


def number(v):
    out = bytearray()
    v &= (1 << 64) - 1
    while v > 0x7f:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def field(key, v):
    """A number, bytes, or a message of pairs."""
    if isinstance(v, int):
        return number(key << 3) + number(v)
    if isinstance(v, list):
        v = b"".join(field(k, x) for k, x in v)
    return number(key << 3 | 2) + number(len(v)) + v


STRINGS = [b"", b"samples", b"count", b"cpu", b"nanoseconds", b"/bin/work", b"0123abcd", b"main",
           b"work.c", b"inner", b"process", b"work", b"pid", b"thread", b"tid", b"color", b"red",
           b"caf\xe9\0\n"]


def profile(types=2, strings=STRINGS, extra=b"", values=(3, 30), locations=(2, 1), last=b""):
    out = b"".join(field(1, [(1, 1 + 2 * i), (2, 2 + 2 * i)]) for i in range(types))
    out += field(2, [(1, b"".join(map(number, locations))), (2, b"".join(map(number, values))),
                     (3, [(1, 10), (2, 11)]), (3, [(1, 12), (3, 77)]), (3, [(1, 13), (2, 7)]),
                     (3, [(1, 14), (3, 78)])])
    out += field(3, [(1, 1), (2, 0x1000), (3, 0x9000), (4, 0x2000), (5, 5), (6, 6), (7, 1)])
    out += field(4, [(1, 1), (2, 1), (3, 0x1010), (4, [(1, 1), (2, 9)])])
    out += field(4, [(1, 2), (2, 1), (3, 0x1020), (4, [(1, 2), (2, 4)]), (4, [(1, 1), (2, 10)])])
    out += field(5, [(1, 1), (2, 7), (3, 7), (4, 8), (5, 3)])
    out += field(5, [(1, 2), (3, 9), (4, 8)])
    out += extra
    out += b"".join(field(6, s) for s in strings)
    out += field(9, 1700000000 * 10**9) + field(10, 5) + field(11, [(1, 3), (2, 4)])
    return out + field(12, 10) + field(13, 16) + field(14, 3) + last


CALLS = [b"", b"calls", b"count", b"net", b"nanoseconds"] + STRINGS[5:]

INPUTS = {
    "calls": profile(strings=CALLS, extra=field(2, [(1, 2), (2, 1), (2, 2)])),
    "plain": profile(),
    "packed": gzip.compress(profile(), mtime=0),
    "two-streams": gzip.compress(profile()[:50], mtime=0) + gzip.compress(profile()[50:], mtime=0),
    "cut": profile()[:100],
    "packed-cut": gzip.compress(profile(), mtime=0)[:-30],
    "packed-damaged": gzip.compress(profile(), mtime=0)[:60] + b"xxxx",
    "six-types": profile(types=6, values=(1, 2, 3, 4, 5, 6)),
    "too-few-values": profile(values=(1,)),
    "negative": profile(values=(-1, -5)),
    "largest": profile(values=((1 << 63) - 1, 1 << 63),
                       extra=field(2, [(1, 2), (2, (1 << 63) - 1), (2, 1 << 63)])),
    "singly": profile(extra=field(2, [(1, 2), (1, 1), (2, 1), (2, 2)])),
    "no-locations": profile(locations=()),
    "no-such-location": profile(locations=(99,)),
    "deep": profile(locations=(1,) * 30 + (2,)),
    "other-label": profile(extra=field(2, [(2, 1), (2, 2), (3, [(1, 15), (2, 16)])])),
    "text-number": profile(extra=field(2, [(2, 1), (2, 2), (3, [(1, 12), (2, 6)])])),
    "few-strings": profile(strings=STRINGS[:6]),
    "odd-text": profile(extra=field(5, [(1, 3), (2, 17)]) + field(4, [(1, 3), (4, [(1, 3)])])
                        + field(2, [(1, 3), (2, 1), (2, 1)])),
    "no-lines": profile(extra=field(4, [(1, 3), (2, 1), (3, 0xffff)])
                        + field(2, [(1, 3), (2, 1), (2, 1)])),
    "no-function": profile(extra=field(4, [(1, 3), (4, [(1, 55)])]) + field(2, [(1, 3), (2, 1), (2, 1)])),
    "no-mapping": profile(extra=field(4, [(1, 3), (2, 55)]) + field(2, [(1, 3), (2, 1), (2, 1)])),
    "twice": profile(extra=field(4, [(1, 2)])),
    "id-0": profile(extra=field(5, [(2, 7)])),
    "large-ids": profile(extra=field(4, [(1, 1 << 63), (3, 5)])
                         + field(2, [(1, 1 << 63), (2, 1), (2, 1)])),
    "mapping-of-all": profile(extra=field(3, [(1, 2), (3, (1 << 64) - 1), (4, (1 << 64) - 1)])
                              + field(4, [(1, 3), (2, 2), (3, 5)])
                              + field(2, [(1, 3), (2, 1), (2, 1)])),
    "wrong-kind": profile(last=field(2, 5)),
    "group": profile(last=b"\xa3\x06"),
    "endless-number": profile(last=b"\x48" + b"\xff" * 12),
    "comments": profile(last=field(13, number(7) + number(8)) + field(13, b"\xff")),
    "no-types": b"".join(field(6, s) for s in STRINGS),
    "empty": b"",
    "later": profile(last=field(99, b"x") + field(100, 5) + b"\xad\x06abcd" + b"\xb1\x06abcdefgh"),
}


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for name, content in INPUTS.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)


main()
