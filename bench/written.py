# SPDX-License-Identifier: GPL-2.0-or-later
"""written: recordings that a bench writes itself, with tests/e2e/perf_write.py.

    path, addresses = program(work)      a program with FUNCTIONS functions
    file = Recording("program", 42, path)
    file.sample(chain); open(...).write(file.bytes())
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
from perf_write import PerfData  # noqa: E402

FUNCTIONS = 400


class Recording(PerfData):
    """As PerfData, for many records."""

    def __init__(self, *words):
        self.parts = []
        super().__init__(*words)

    def _record(self, *words):
        super()._record(*words)
        self.parts.append(self.records)
        self.records = b""

    def bytes(self):
        self.records = b"".join(self.parts)
        return super().bytes()


def program(work):
    source, path = os.path.join(work, "program.c"), os.path.join(work, "program")
    with open(source, "w", encoding="ascii") as f:
        for i in range(FUNCTIONS):
            f.write(f"int function_{i}(int x) {{ return x * {i + 3} + {i}; }}\n")
        f.write("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-O1", "-no-pie", "-fno-ipa-icf", "-o", path, source], check=True)
    symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    return path, [int(words[0], 16) + 2 for words in map(str.split, symbols.splitlines())
                  if len(words) == 3 and words[2].startswith("function_")]
