# SPDX-License-Identifier: GPL-2.0-or-later
"""programs: runs assay and its workloads, for tests that compare with a known truth.

It adds to harness.py the functions that several tests of a file call with their own options.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile

import harness
from time_limit import limit

ROOT = str(harness.ROOT)
BUILD = str(harness.BUILD)
ASSAY = os.path.abspath(harness.ASSAY)
LONG = harness.LONG

Run = collections.namedtuple("Run", "status out err")


def comment(text):
    """A comment line in TAP."""
    for line in str(text).splitlines():
        print("# " + line, flush=True)


def skip(reason):
    """Raised when the test cannot run on this machine."""
    raise harness.Skip(reason)


def workload(name):
    return os.path.join(BUILD, "tests", "workloads", name)


def workdir():
    """A directory that is deleted with the object (use with `with`)."""
    return tempfile.TemporaryDirectory(prefix="assay-test-")


def environment():
    """The tests' environment: plain output, no debuginfod."""
    env = dict(os.environ, LC_ALL="C", PAGER="cat")
    env.pop("DEBUGINFOD_URLS", None)
    return env


def run(command, timeout=150, check=False, **kwargs):
    """Runs a program within limit(timeout); a negative status is the signal that ended it."""
    done = subprocess.run(list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=limit(timeout),
                          **{"env": environment(), **kwargs})
    result = Run(done.returncode, done.stdout.decode(errors="replace"),
                 done.stderr.decode(errors="replace"))
    if check:
        assert result.status == 0, \
            f"{' '.join(command)}: status {result.status}: {result.err[-800:]}"
    return result


def assay(*args, timeout=150, check=True, **kwargs):
    return run([ASSAY, *args], timeout=timeout, check=check, **kwargs)


def record(path, *args, timeout=150):
    return assay("record", "-o", path, *args, timeout=timeout)


def report(path, *args, timeout=150):
    """A report as JSON. A damaged part of the file is no error here."""
    done = assay("report", "-i", path, "--json", *args, timeout=timeout)
    try:
        return harness.nested(json.loads(done.out))
    except ValueError as error:
        raise AssertionError(f"report --json of {path}: {error}: {done.out[:300]!r}") from error


def rows(path, keys, *args):
    """The rows of `report --sort KEYS`: all of them, idle included."""
    found = report(path, "--sort", keys, "--percent-limit", "0", *args)
    return found["rows"]


def sample_count(found):
    """All samples of a report's recordings, of any event."""
    return sum(r["samples"] for r in found["recordings"])


def number(value):
    """An address in JSON: a number or a hexadecimal string."""
    return int(value, 16) if isinstance(value, str) else int(value)


class Code:
    """Instructions and functions of an ELF file, as binutils see them."""

    def __init__(self, path):
        self.path = path
        text = run(["objdump", "-d", "--no-show-raw-insn", path], timeout=120, check=True).out
        self.instructions = {int(a, 16): t.strip() for a, t in
                             re.findall(r"(?m)^\s*([0-9a-f]+):\t(.*)$", text)}
        self.functions = {}
        for address, size, name in re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)$",
                                              run(["nm", "-S", path], check=True).out):
            self.functions[name] = (int(address, 16), int(address, 16) + int(size, 16))

    def function_at(self, address):
        """The name of the function that contains an address, or None."""
        return next((name for name, (low, high) in self.functions.items()
                     if low <= address < high), None)

    def loops(self, function):
        """(first, last) instruction of each loop of a function, from its backward jumps."""
        low, high = self.functions[function]
        found = []
        for address, text in self.instructions.items():
            jump = re.match(r"j\w+\s+([0-9a-f]+)", text)
            if low <= address < high and jump and low <= int(jump.group(1), 16) <= address:
                found.append((int(jump.group(1), 16), address))
        return found


class Obeying:
    """A program that runs rounds on request, and confirms them."""

    def __init__(self, t, *words, env):
        self.t = t
        self.process = t.start(*words, "obey", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, **env})
        t.equal(self.process.stdout.readline(), b"ready\n")
        self.pid = self.process.pid

    def rounds(self, n):
        self.process.stdin.write(b"%d\n" % n)
        self.process.stdin.flush()
        self.t.equal(self.process.stdout.readline(), b"ok\n")

    def end(self):
        self.process.stdin.close()
        self.t.equal(self.t.wait(self.process), 0)


def need(*programs_):
    """Reason to skip when a program is missing, else None."""
    missing = [p for p in programs_ if not shutil.which(p)]
    return f"{', '.join(missing)} not installed" if missing else None
