#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_calls_filter_corpus.py DIRECTORY: inputs for fuzz_calls_filter. A small shared object
with names of all kinds, whole, stripped, cut and with words changed, and names by themselves.
Needs gcc and binutils."""
import os
import random
import struct
import subprocess
import sys
import tempfile

SOURCE = "".join(f'void f{i}(void) __asm__("{name}"); void f{i}(void) {{}}\n' for i, name in enumerate([
    "plain", "foo.part.0", "_ZN2ns5Class6methodEv", "_ZN5ClassC1Ev", "_ZN5ClassD0Ev",
    "_ZN1AIiLi5EE1fIN1B1CEEEvv", "_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZN1AplERKS_",
    "_ZN12_GLOBAL__N_13fooEv", "_ZZ3foovENKUlvE_clEv", "_ZN9A", "_ZL3barv"])) + \
    "static __attribute__((used)) void hidden(void) {}\n"
NAMES = ["_ZN1AIiLi5EE1fIN1B1CEEEvv", "_Z99999999999999999999a", "_ZN1AIX", "_ZN1AILN1BEE", "[a-",
         "[!]]*x\\", "*a*a*a*a*b", "7f5e8000-7f5ea000 r-xp 00012000 fd:1f 49    /a\\012b (deleted)",
         "7f5e8000-7f5ea000 rw-s 00000000 00:00 0 ", "_ZNSt1aB5cxx11B1E", "_ZN1AIJDpT_EE1fEv"]


def build(folder, *flags):
    path = os.path.join(folder, "a.so")
    subprocess.run(["gcc", "-x", "c", "-", "-o", path, "-shared", "-nostdlib", "-O1", "-fno-asynchronous-unwind-tables",
                    "-Wl,-z,noseparate-code", "-Wl,-z,max-page-size=4096", *flags],
                   input=SOURCE.encode(), check=True)
    with open(path, "rb") as file:
        return file.read()


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    inputs = {f"text-{i:02}": name.encode() for i, name in enumerate(NAMES)}
    with tempfile.TemporaryDirectory() as folder:
        whole = build(folder, "-Wl,--build-id")
        inputs["whole.so"] = whole
        inputs["stripped.so"] = build(folder, "-s")
    shoff, = struct.unpack_from("<Q", whole, 40)
    dice = random.Random(4)
    for size in (0, 16, 63, 64, 200, shoff, shoff + 64, len(whole) - 1):
        inputs[f"cut-{size:05}"] = whole[:size]
    # Words of the header, the segments and the sections, each set to what may break a sum.
    spots = list(range(32, 64, 2)) + list(range(64, 64 + 4 * 56, 8)) + list(range(shoff, len(whole) - 8, 8))
    for i, spot in enumerate(dice.sample(spots, 60)):
        worst = dice.choice([b"\xff" * 8, b"\0" * 8, struct.pack("<Q", len(whole) - 1),
                             struct.pack("<Q", 1 << 63), struct.pack("<Q", 0xfffffff8)])
        size = 2 if spot < 64 else 8
        inputs[f"word-{i:02}-{spot:05}"] = whole[:spot] + worst[:size] + whole[spot + size:]
    for name, data in inputs.items():
        with open(os.path.join(out, name), "wb") as file:
            file.write(data)


main()
