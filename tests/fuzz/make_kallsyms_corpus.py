#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_kallsyms_corpus.py DIRECTORY: inputs for fuzz_kallsyms."""
import os
import sys

KERNEL = (b"ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
          b"ffffffff81000040 t do_work\nffffffff81000080 W weak_one\n"
          b"ffffffff81000080 T strong_one\nffffffff82000000 D data\n"
          b"ffffffff81fff000 T _etext\n")
MODULES = (b"ffffffffc0400000 t first\t[ext4]\nffffffffc0400010 t second\t[ext4]\n"
           b"ffffffffc0400020 t bpf_prog_1\t[bpf]\nffffffffc0400000 t again\t[xfs]\n")

INPUTS = {
    "empty": b"",
    "kernel": KERNEL,
    "modules": KERNEL + MODULES,
    "hidden": b"0000000000000000 T _text\n0000000000000000 t do_work\n",
    "windows-lines": KERNEL.replace(b"\n", b"\r\n"),
    "no-last-line-end": KERNEL[:-1],
    "no-names": b"ffffffff81000000 T \nffffffff81000040 t\nffffffff81000080\n",
    "long-name": b"ffffffff81000000 T " + b"x" * 5000 + b"\n" + KERNEL,
    "zero-bytes": KERNEL.replace(b"do_work", b"do\0work"),
    "last-address": b"ffffffffffffffff T end\nfffffffffffffff0 T before\n",
    "bad-digits": b"fffffffffffffffff81000000 T _text\n-1 T minus\n0x10 T hex\n",
    "unsorted": b"\n".join(reversed(KERNEL.splitlines())) + b"\n",
    "noise": bytes(range(256)),
}


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in INPUTS.items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)


main()
