#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_process_context_corpus.py DIRECTORY: inputs for fuzz_process_context: pages of OTEL_CTX with
their payloads, lines of /proc/PID/maps, and files of labels."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from pprof_write import field, varint  # noqa: E402


def text(value):
    return field(1, value.encode())


def pair(key, value):
    return field(1, field(1, key.encode()) + field(2, value))


def page(payload, version=2, size=None, when=7, magic=b"OTEL_CTX"):
    size = len(payload) if size is None else size
    return struct.pack("<8sIIQQ", magic, version, size, when, 0x1000) + payload


GOOD = field(1, pair("service.name", text("shop")) + pair("service.version", text("1.2")) +
             pair("k8s.pod.name", text("shop-1")) + pair("n", varint(3 << 3) + varint(42)) +
             pair("b", varint(2 << 3) + b"\1") +
             pair("d", varint(4 << 3 | 1) + struct.pack("<d", 0.5)))

CASES = {
    "good": page(GOOD),
    "payload": GOOD,
    "later": page(GOOD, version=3),
    "writing": page(GOOD, when=0),
    "huge": page(GOOD, size=0xffffffff),
    "magic": page(GOOD, magic=b"OTEL_CTY"),
    "cut": page(GOOD)[:-3],
    "extra": page(GOOD + field(2, field(1, b"threadlocal.x") + field(2, text("y")))),
    "array": page(field(1, pair("list", field(5, field(1, text("x")))))),
    "no_value": page(field(1, field(1, field(1, b"key")))),
    "no_key": page(field(1, field(1, field(2, text("value"))))),
    "odd_key": page(field(1, pair("a=b", text("x")) + pair("a\nb", text("x")))),
    "odd_value": page(field(1, field(1, field(1, b"k") + field(2, field(1, b"\xff\n\x00\xe2\x82"))))),
    "long": page(field(1, pair("k" * 128, text("\u00e9" * 300)) + pair("k" * 129, text("x")))),
    "many": page(field(1, b"".join(pair("k%d" % i, text("v")) for i in range(100)))),
    "twice": page(field(1, pair("a", text("1")) + pair("a", text("2")))),
    "nested_size": page(field(1, b"\x0a\xff\xff\xff\xff\x0f")),
    "maps_memfd": b"7f0000000000-7f0000001000 rw-p 00000000 00:01 42   /memfd:OTEL_CTX (deleted)",
    "maps_named": b"7f0000000000-7f0000001000 rw-p 00000000 00:00 0    [anon:OTEL_CTX]",
    "maps_other": b"7f0000000000-7f0000001000 rw-p 00000000 00:00 0",
    "labels": b'app="web"\ntier="a\\"b\\\\c\\n\\u00e9\\x41\\101\\U0001f600"\n# comment\nplain=x y\n',
    "labels_bad": b'=x\nno\na="x\nb="\\q"\nc="x"y\nd="\\u12"\ne="\\U00110000"\nf="\\400"\n',
    "empty": b"",
}


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for name, data in CASES.items():
        with open(os.path.join(directory, name), "wb") as f:
            f.write(data)


main()
