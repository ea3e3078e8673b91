#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_cfi_corpus.py DIRECTORY: small files with unwind tables, whole and damaged.

Needs as and ld. Files of the cache (cache-*) are those that assay keeps of
whole.so, copied there by hand when the format changes.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

# Functions with every instruction that the tables know.
SOURCE = """
    .intel_syntax noprefix
    .cfi_sections SECTIONS
    .text
f:  .cfi_startproc
    nop
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    nop
    .cfi_remember_state
    .cfi_def_cfa_register rbp
    .fill 100, 1, 0x90
    .cfi_restore_state
    .cfi_restore rbp
    .cfi_undefined rip
    nop
    .cfi_same_value rbx
    .cfi_register r12, r13
    .cfi_val_offset r14, 8
    .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
    .fill 300, 1, 0x90
    .cfi_escape 0x10, 3, 2, 0x77, 0x28
    .cfi_escape 0x16, 13, 3, 0x76, 0x08, 0x06
    .fill 700, 1, 0x90
    .cfi_escape 0x0f, 9, 0x76, 0x10, 0x7a, 0x00, 0x28, 1, 0, 0x06, 0x96
    nop
    .cfi_escape 0x2e, 8
    .cfi_escape 0x2f, 3, 2
    .cfi_escape 0x15, 6, 0x7e
    nop
    .cfi_escape 0x12, 7, 0x7d, 0x13, 0x7c
    ret
    .cfi_endproc
g:  .cfi_startproc simple
    .cfi_signal_frame
    .cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
    .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01
    .cfi_escape 0x10, 7, 3, 0x77, 0xa0, 0x01
    nop
    .cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
    ret
    .cfi_endproc
h:  .cfi_startproc
    nop
    .cfi_personality 0x1b, f
    .cfi_lsda 0x1b, f
    ret
    .cfi_endproc
"""


def build(sections, strip):
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "a.s").write_text(SOURCE.replace("SECTIONS", sections))
        subprocess.run(["as", "-o", "a.o", "a.s"], cwd=folder, check=True)
        subprocess.run(["ld", "-shared", "--build-id=sha1", "--eh-frame-hdr", strip, "-z",
                        "noseparate-code", "-o", "a.so", "a.o"], cwd=folder, check=True)
        return (folder / "a.so").read_bytes()


def section(data, want):
    """(offset, size) of a section, by its name."""
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for h in headers:
        start = headers[names][4] + h[0]
        if data[start:data.index(b"\0", start)].decode() == want:
            return h[4], h[5]
    raise LookupError(want)


def put(data, offset, piece):
    return data[:offset] + piece + data[offset + len(piece):]


def damaged(data):
    start, size = section(data, ".eh_frame")
    yield "no-sections", put(put(data, 40, bytes(8)), 60, bytes(4))
    for name, machine in ("arm64", 183), ("x86-32", 3), ("other", 22):
        yield name, put(data, 18, struct.pack("<H", machine))
    yield "long-cie", put(data, start, b"\xf0\xff\xff\x7f")
    yield "64-bit-length", put(data, start, b"\xff" * 12)
    yield "zeros", put(data, start, bytes(size))
    yield "ones", put(data, start, b"\xff" * size)
    yield "cie-of-itself", put(data, start + 28, b"\x04\0\0\0")
    yield "huge-range", put(data, start + 36, b"\xff\xff\xff\x7f")
    yield "restores", put(data, start + 44, b"\x0b" * 30)
    yield "remembers", put(data, start + 44, b"\x0a" * (size - 60))
    yield "registers", put(data, start + 44, b"\x05\xff\xff\xff\xff\x0f\x01" * 8)
    yield "cut", data[:start + size // 2]
    for at in range(8, size, 17):
        yield f"flip-{at:03}", put(data, start + at, bytes([data[start + at] ^ 0x15]))


def main():
    directory = pathlib.Path(sys.argv[1])
    data = build(".eh_frame", "-s")
    (directory / "whole.so").write_bytes(data)
    (directory / "debug-frame.so").write_bytes(build(".debug_frame", "-x"))
    for name, bad in damaged(data):
        (directory / name).write_bytes(bad)
    kept = directory / "cache-whole"
    if kept.exists():
        data = kept.read_bytes()
        for at in range(0, len(data), 37):
            (directory / f"cache-flip-{at:04}").write_bytes(
                put(data, at, bytes([data[at] ^ 0x81])))


main()
