#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""count.py DIRECTORY [SKIPS]: counts the tests that left results in DIRECTORY.

*.tap contain TAP; *.json are meson's test logs, one JSON object per line. A program that prints
nothing, stops before the end of its plan, or is killed is a failed test. SKIPS lists the expected
skips, one "PROGRAM: TEST" per line; any other skip then fails. "# UNSTEADY" after a test of shares
means that it failed once and then passed: each is listed with its failure, and more than a few in
one run are a failure.
"""
import json
import pathlib
import re
import sys

LINE = re.compile(r"(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)(?:\s*#\s*(SKIP|TODO|UNSTEADY)\b\s*(.*))?$", re.I)

# A busy machine may cause this number; more show a program that fails sometimes.
MOST_UNSTEADY = 8  # a busy machine moves shares


class Count:
    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []
        self.unsteady = []

    def fail(self, program, test, words):
        self.failures.append((program, test, [w for w in words if w.strip()][-30:]))

    def tap(self, program, text, died=None):
        """Counts the lines of one program; `died` says how it ended if it did not end normally."""
        seen = failed = 0
        plan = None
        words = []
        for line in text.splitlines():
            planned = re.match(r"1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?$", line, re.I)
            match = LINE.match(line)
            if planned:
                plan = int(planned.group(1))
                if plan == 0:
                    self.skips.append((program, "all", planned.group(2) or ""))
            elif line.startswith("Bail out!"):
                died = line
            elif match:
                seen += 1
                if match.group(1):
                    failed += 1
                    self.fail(program, match.group(3), words)
                elif match.group(4) and match.group(4).upper() == "SKIP":
                    self.skips.append((program, match.group(3), match.group(5)))
                else:
                    self.passed += 1
                if match.group(4) and match.group(4).upper() == "UNSTEADY":
                    self.unsteady.append((program, match.group(3), words))
                words = []
            else:
                words.append(line)
        if died and not failed:
            self.fail(program, died, words)
        elif plan is None and not failed:
            self.fail(program, "no plan: it did not come to its end", words)
        elif plan is not None and plan != seen and not failed:
            self.fail(program, f"{plan} tests planned, {seen} seen", words)

    def meson(self, build, text):
        tests = [json.loads(line) for line in text.splitlines() if line.strip()]
        if not tests:
            self.fail(build, "its tests did not run", [])
        for test in tests:
            program = f"{build}/{test['name'].split(' / ')[-1]}"
            out = test.get("stdout") or ""
            err = (test.get("stderr") or "").splitlines()
            bad = test["result"] in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS")
            died = f"{test['result']}, exit status {test.get('returncode')}" if bad else None
            if re.search(r"^(not )?ok\b|^1\.\.", out, re.M):
                before = len(self.failures)
                self.tap(program, out, died)
                if len(self.failures) > before:
                    self.failures[-1][2].extend(err[-30:])
            elif bad:
                self.fail(program, died, out.splitlines() + err)
            elif test["result"] == "SKIP":
                self.skips.append((program, "all", ""))
            else:
                self.passed += 1


def expected_skips(path):
    lines = (line.split("#")[0].strip() for line in pathlib.Path(path).read_text().splitlines())
    return {line for line in lines if line}


def main(directory, skips=None):
    count = Count()
    for path in sorted(pathlib.Path(directory).iterdir()):
        text = path.read_text(errors="replace") if path.suffix in (".tap", ".json") else ""
        if path.suffix == ".tap":
            before = len(count.failures)
            count.tap(path.stem, text)
            log = path.with_suffix(".log")
            # The messages of a check are in its TAP already.
            if len(count.failures) > before and log.exists() and not count.failures[-1][2]:
                count.failures[-1][2].extend(log.read_text(errors="replace").splitlines()[-30:])
        elif path.suffix == ".json":
            count.meson(path.stem, text)
    if skips:
        expected = expected_skips(skips)
        for program, test, reason in count.skips:
            if f"{program}: {test}" not in expected:
                count.fail(program, f"{test} (skipped, and not in {skips})", [reason])
    for program, test, reason in count.skips:
        print(f"skipped: {program}: {test}: {reason or 'no reason given'}")
    if len(count.unsteady) > MOST_UNSTEADY:
        count.fail("script/test", f"{len(count.unsteady)} tests failed and then passed", [])
    for title, tests in (("unsteady", count.unsteady), ("FAILED", count.failures)):
        for program, test, words in tests:
            print(f"{title}: {program}: {test}")
            for word in words:
                print(f"    {word}")
    if not count.passed and not count.failures:
        count.fail("script/test", "no test ran", [])
        print("FAILED: no test has such a name")
    tail = f", {len(count.skips)} skipped" if count.skips else ""
    print(f"{count.passed} passed, {len(count.failures)} failed{tail}")
    return 1 if count.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
