# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate_coverage: which end-to-end tests execute a line. Used by tests/mutate.

    coverage = Coverage(copy, directory)
    coverage.measure(names)            runs each test once, unless its result is there
    coverage.tests("src/a.c", 20, 10, 30)   those that execute the function in lines 10 to 30, nearest to line 20

A build of its own, in which each block of the code of src/ notes that it is executed (mutate_coverage.c). The
result of a test is kept in DIRECTORY/covered/TEST.json: {"seconds": n, "lines": {path: [line]}}.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from mutate_run import run

HERE = pathlib.Path(__file__).resolve().parent
# Code of src/ alone: that of the runtime is loaded into other programs, and is freestanding.
COMPILER = """#!/bin/sh
case " $* " in
*" -c "*/src/*) exec cc -fsanitize-coverage=trace-pc -O0 -g1 "$@" -O0 -g1 ;;
esac
exec cc "$@"
"""
SYMBOLIZERS = ("llvm-symbolizer", "llvm-symbolizer-14", "llvm-symbolizer-19")


class Coverage:
    def __init__(self, copy, directory):
        self.copy, self.kept = copy, directory / "covered"
        self.build = directory / "build-covered"
        self.results = {}
        self.env = {**copy.env, "ASSAY": str(self.build / "assay"), "ASSAY_BUILD": str(self.build)}

    def set_up(self):
        """Builds all that end-to-end tests run."""
        self.build.mkdir(exist_ok=True)
        library, compiler = self.build / "libcovered.a", self.build / "covered-cc"
        subprocess.run(["cc", "-O1", "-c", HERE / "mutate_coverage.c", "-o", self.build / "covered.o"], check=True)
        subprocess.run(["ar", "rcs", library, self.build / "covered.o"], check=True)
        if not compiler.exists() or compiler.read_text() != COMPILER:  # ccache knows it by its time
            compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        prefix = "ccache " if shutil.which("ccache") else ""
        again = ["--reconfigure"] if (self.build / "build.ninja").exists() else []
        words = ["meson", "setup", *again, self.build, self.copy.tree, "-Dwerror=false", "-Doptimization=0",
                 f"-Dc_link_args={library}", f"-Dcpp_link_args={library}", "-Dlibdir=lib", "-Dunit_tests=false"]
        for step in (words, ["ninja", "-C", self.build]):
            status, out = run(step, 3600, env={**self.env, "CC": f"{prefix}{compiler}", "CXX": f"{prefix}c++"})
            if status != 0:
                sys.exit(f"The build in {self.build} failed:\n{out[-3000:]}")

    def executed(self, directory):
        """{path: {line}} that programs of this build executed, by the files that they wrote."""
        symbolizer = next(filter(None, map(shutil.which, SYMBOLIZERS)), None)
        lines = {}
        for file in directory.iterdir():
            program = next((p for p in (self.build / file.name, self.build / "tests" / "workloads" / file.name)
                            if p.is_file()), None)
            data = file.read_bytes()
            at = [match.start() for match in re.finditer(b"\1", data)]
            if not program or not at:
                continue
            words = [symbolizer, "--functions=none", "--no-inlines", f"--obj={program}"] if symbolizer else [
                "addr2line", "-e", program]
            # The address is that of the return: the call is before it.
            out = subprocess.run(words, input="\n".join(hex(a - 1) for a in at), capture_output=True, text=True,
                                 check=True).stdout
            for path, line in re.findall(r"^(\S+?):(\d+)", out, flags=re.M):
                path = os.path.normpath(self.build / path)
                if path.startswith(f"{self.copy.tree}/") and int(line):
                    lines.setdefault(os.path.relpath(path, self.copy.tree), set()).add(int(line))
        return {path: sorted(of) for path, of in lines.items()}

    def measure(self, names, seconds=240):
        """Runs the tests that have no result yet; a test that fails has one, too."""
        self.kept.mkdir(exist_ok=True)
        for name in names:
            result = self.kept / f"{name}.json"
            if not result.exists():
                with tempfile.TemporaryDirectory() as directory:
                    os.chmod(directory, 0o1777)
                    began = time.monotonic()
                    run([sys.executable, self.copy.tree / "tests" / "e2e" / f"{name}.py"], seconds, limited=True,
                        env={**self.env, "ASSAY_COVERED": directory}, cwd=self.build)
                    taken = time.monotonic() - began
                    lines = self.executed(pathlib.Path(directory))
                result.write_text(json.dumps({"seconds": taken, "lines": lines}))
                print(f"{name}: {taken:.0f} s, {sum(map(len, lines.values()))} blocks", flush=True)
            self.results[name] = json.loads(result.read_text())

    def tests(self, path, line, first, last):
        """The names of tests that execute the function, those that execute the nearest block first."""
        found = []
        for name, result in self.results.items():
            of = [at for at in result["lines"].get(path, []) if first <= at <= last]
            if of:
                before = [at for at in of if at <= line]
                found.append((line - max(before) if before else last, result["seconds"], name))
        return [(name, seconds) for _, seconds, name in sorted(found)]
