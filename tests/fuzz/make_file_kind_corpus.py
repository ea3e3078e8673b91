#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_file_kind_corpus.py DIRECTORY: inputs for fuzz_file_kind."""
import gzip
import os
import sys

PPROF = b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x01a\x32\x01b"
DATABASE = b"SQLite format 3\0" + bytes(52)

INPUTS = {
    "empty": b"",
    "perf-data": b"PERFILE2\x68\0\0\0",
    "perf-data-other-order": b"2ELIFREP\0\0\0\x68",
    "perf-data-old": b"PERFFILE",
    "calls": b"ASYCALLS\1\0\0\0",
    "tags": b"ASAYTAGS\1\0\0\0",
    "database": DATABASE + bytes(32),
    "store": DATABASE + b"assy" + bytes(28),
    "store-cut": DATABASE + b"as",
    "jitdump": b"DTiJ\1\0\0\0",
    "pprof": PPROF,
    "pprof-cut": PPROF[:-1],
    "legacy-heap": b"\n heap profile: 13: 15 [47: 25] @ heap/1048576\n",
    "legacy-count": b"goroutine profile: total 7\n",
    "legacy-cpu": b"".join(n.to_bytes(8, "little") for n in (0, 3, 0, 10000, 0)),
    "text": b"main;f 12\n",
}


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    inputs = dict(INPUTS)
    for name in "perf-data", "pprof", "pprof-cut", "legacy-heap", "calls", "empty":
        inputs["packed-" + name] = gzip.compress(INPUTS[name], mtime=0)
    inputs["packed-cut"] = gzip.compress(PPROF, mtime=0)[:-12]
    inputs["packed-noise"] = b"\x1f\x8b\x08" + bytes(range(200, 256))
    for name, data in inputs.items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)


main()
