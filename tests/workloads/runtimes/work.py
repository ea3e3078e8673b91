# SPDX-License-Identifier: GPL-2.0-or-later
"""What Python programs do: parse, sort, match, recurse, allocate. argv: seconds."""
import json
import re
import sys
import time
import zlib


def parse(n):
    return json.loads(json.dumps({str(i): [i, i * 1.5, "x" * (i % 7)] for i in range(n)}))


def match(text):
    return sum(len(m.group()) for m in re.finditer(r"(\w+)-(\d+)", text))


def recurse(n):
    return n if n < 2 else recurse(n - 1) + recurse(n - 2)


def order(n):
    return sorted(range(n), key=lambda i: -((i * 2654435761) % 4294967296))


def squeeze(text):
    return len(zlib.compress(text.encode() * 4, 6))


def main(seconds):
    text = " ".join(f"word{i}-{i}" for i in range(2000))
    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        parse(2000)
        match(text)
        recurse(16)
        order(5000)
        squeeze(text)
        rounds += 1
    return rounds


if __name__ == "__main__":
    print(main(float(sys.argv[1])))
