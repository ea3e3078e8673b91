#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_rules_file_corpus.py DIRECTORY: inputs for fuzz_rules_file."""
import os
import sys

INPUTS = {
    "plain": b"# subsystems\nnet: tcp_* ip_* in_cksum\ndisk: *::flush # all of them\nnet: splnet\n",
    "blanks": b"  net\t:  a\tb  \r\n\t\n   # c\nx:y",
    "no-colon": b"net: a\nno colon here\n",
    "no-group": b": a b\n",
    "no-pattern": b"net:\n",
    "comment-only-behind": b"net: # a\n",
    "own-group": b"(other): a\n",
    "colons": b"cpp: std::* a::b:: ::c\n:::\n",
    "zero": b"net: a\0b c\n",
    "control": b"net: \x1b[31m\n",
    "bytes": bytes(range(256)),
    "no-newline": b"net: a",
    "long": b"net: " + b"x" * 5000 + b"\n" + b"y" * 3000 + b": z\n",
    "empty": b"",
    "lines": b"\n" * 300 + b"a",
}


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in INPUTS.items():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)


main()
