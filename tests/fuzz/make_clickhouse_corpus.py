#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_clickhouse_corpus.py DIRECTORY: answers of ClickHouse servers, for fuzz_clickhouse: a store
of one window, and each of its answers damaged. Making them again gives the same bytes."""
import os
import struct
import sys

HOST, HOST2, SESSION, EVENT, KEY, PART, THREAD, PROCESS, STACK, FRAME, FRAME2, IMAGE = range(101, 113)
NAME, PATH, FUNCTION, CGROUP, SERVICE = range(201, 206)
NULL, START, SECOND = -1 << 63, 1700000000 * 10 ** 9, 10 ** 9
SIZES = {"q": "<q", "d": "<I", "w": "<H", "b": "<B"}


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def row(letters, *values):
    out = b""
    for letter, value in zip(letters, values, strict=True):
        if letter == "s":
            out += varint(len(value)) + value
        elif letter == "a":
            out += varint(len(value)) + b"".join(struct.pack("<q", v) for v in value)
        elif letter == "t":
            out += varint(len(value)) + b"".join(varint(len(v)) + v for v in value)
        else:
            out += struct.pack(SIZES[letter], value)
    return out


def store(hosts=1, service=False, copies=1, sums=False):
    """The answers in the order of the questions."""
    host = b"".join(row("qssssd", HOST + i, b"web%d" % i, b"6.1", b"x86_64", b"cpu", 2)
                    for i in range(hosts))
    session = row("qqsqqssssbqqqqqqqqt", HOST, SESSION, b"boot", START, NULL, b"", b"1", b"start",
                  b"6.1", 1, 1, 0, 77, 10000, 1, 2, 3, 4, [b"a note", b""])
    place = row("qwqqqqqqqq", SESSION, 0, EVENT, 1, 0, 0, 0, 97, 10309278, 32)
    windows = b"".join(
        row("qqqqqbdqqqqqqbqqqqqqqa", KEY, PART + i, SESSION, START, START + 10 * SECOND, 0, 1, 3, 0,
            5, 10309278, 0, START, 1, 1, 2, 3, 4, 5, 6, 7, [PART]) for i in range(copies))
    cpu = row("qdbqqqqqqqqqqqqqqqbbbqqqq", SESSION if sums else PART, 0, 1, *[SECOND] * 15, 1, 1, 1, 4096, 77, 7, 0)
    gap = row("qqqs", HOST, START - SECOND, START, b"suspended")
    key = (NAME, 0) if sums else (PART, THREAD)
    sample = (row("qqqwbqqbqqqqqq", *key, STACK, 1, 0, EVENT, IMAGE, 0, 3, 30, 0, 0, NAME, 0)
              + row("qqqwbqqbqqqqqq", *key, 0, 65535, 2, EVENT, 0, 99, 0, 5, 1, 2, 0, 0))
    thread = row("qqqqqqb", THREAD, PROCESS, NULL, 0, NULL, NULL, 0)
    process = row("qqqdqqqqqbbdqqq", HOST, PROCESS, NAME, 1, 42, 0, START, SECOND, CGROUP, 0, 0, 1,
                  1, 2, 3)
    stack = row("qa", STACK, [FRAME, FRAME2])
    frames = (row("qqqbqq", FRAME, IMAGE, 4096, 2, 0, FUNCTION)
              + row("qqqbqq", FRAME2, IMAGE, 16, 0, FUNCTION, 0))
    image = row("qbqsqqq", IMAGE, 0, PATH, b"\x11" * 20, 0, 0, 0)
    names = b"".join(row("qs", i, text) for i, text in (
        (NAME, b"loop"), (PATH, b"/usr/bin/loop"), (FUNCTION, b"main"),
        (CGROUP, b"/system.slice/web.service")))
    event = row("qsb", EVENT, b"cpu-clock", 0)
    out = [host, session, place, windows, struct.pack("<Q", 1)]
    out += [row("qqa", PART + 9, START, [KEY])] if sums else []
    out += [cpu, gap]
    if service:
        out += [struct.pack("<Q", SERVICE), row("qs", SERVICE, b"web.service")]
    return out + [sample] + ([] if sums else [thread, process]) + [stack, frames, image, names, event]


def packed(answers, flags=0):
    return bytes([flags]) + b"".join(struct.pack("<H", len(a)) + a for a in answers)


def inputs():
    yield "plain", packed(store())
    yield "sums", packed(store(hosts=2, sums=True), 1)
    yield "parts", packed(store(sums=True), 4)
    yield "service", packed(store(service=True), 2)
    yield "sent-twice", packed(store(copies=2))
    yield "empty", packed([])
    for i, answer in enumerate(store()):
        def changed(other):
            return packed([*store()[:i], other, *store()[i + 1:]])
        yield f"cut-{i}", changed(answer[:-1])
        yield f"twice-{i}", changed(answer * 2)
        yield f"ones-{i}", changed(b"\xff" * len(answer))
        yield f"missing-{i}", changed(b"")
        yield f"zeros-{i}", changed(bytes(len(answer)))
    deep = store()
    deep[10] = row("qa", STACK, [FRAME] * 3000)
    yield "deep", packed(deep)
    deep[10] = row("q", STACK) + b"\xff" * 8 + b"\x7f" + bytes(64)
    yield "long-array", packed(deep)


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, data in inputs():
        with open(os.path.join(sys.argv[1], name), "wb") as file:
            file.write(data)


main()
