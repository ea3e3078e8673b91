# SPDX-License-Identifier: GPL-2.0-or-later
"""harness: functions for end-to-end tests.

    from harness import *

    @test
    def report_names_the_program(t):
        t.assay("record", "-o", t.path("a.data"), "--", t.workload("loop"))
        t.equal(t.report(t.path("a.data"))["functions"][0]["function"], "loop")

    main()

Each function is one test; its name with spaces is the test's name. `t` is a
Test: it has a temporary directory, which is removed when the test ends, processes, which are ended
then, and checks that raise. Prints TAP. A failed test does not stop the following ones. The
environment: ASSAY is the program (build/assay), ASSAY_BUILD is the build directory, ASSAY_LONG
requests the long forms. ASSAY_AGAIN is set where a test of shares (test_of_shares) that fails is
run again, up to three times: it passes if one of these runs passes, and is listed as unsteady. A
test of counts or contents is never retried.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from time_limit import limit

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build")).resolve()
ASSAY = os.environ.get("ASSAY", str(BUILD / "assay"))
LONG = bool(os.environ.get("ASSAY_LONG"))
AGAIN = bool(os.environ.get("ASSAY_AGAIN"))

# A shell starts programs in the background with SIGINT ignored, and programs of tests would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

_tests = []


def go_environment(cgo=False):
    """For `go build` of one file. All tests share the cache that the user's own builds have: it has
    the standard library."""
    return {"GO111MODULE": "off", "GOFLAGS": "", "CGO_ENABLED": str(int(cgo)),
            "GOCACHE": str(pathlib.Path.home() / ".cache" / "go-build")}


def stolen_ns():
    """The total time that a hypervisor took from this machine's CPUs. No thread's CPU clock
    includes it, but samples and the wall clock do."""
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8]) * 10**9 // os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """A failed check; its text has the actual and the expected value."""


class Skip(Exception):
    """The test cannot be run here; its text is the reason."""


def test(function):
    """A test of counts or contents: it has one right answer, and is run once."""
    _tests.append(function)
    return function


def sizes_of(program):
    """The sizes of a program's sections, as `size` adds them up."""
    sizes = {"text": 0, "data": 0, "bss": 0}
    out = subprocess.run(["readelf", "-S", "-W", str(program)], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        if not re.match(r"\s+\[ *[1-9]", line):
            continue
        kind, _, _, size, *rest = line.split("]", 1)[1].split()[1:]
        flags = rest[1] if not rest[1].isdigit() else ""
        if "A" in flags:
            name = "bss" if kind == "NOBITS" else "data" if "W" in flags else "text"
            sizes[name] += int(size, 16)
    return sizes


def test_of_shares(function):
    """A test of a share of time or of samples, which depends on the load of the machine. Only
    tests of this kind run a second time if they fail."""
    function.of_shares = True
    return test(function)


def long_test(function):
    """A test that runs with ASSAY_LONG alone."""
    return test(function) if LONG else function


class Result:
    """How a program ended: status, out, err (text), and the words it was called with."""

    def __init__(self, words, status, out, err):
        self.words, self.status, self.out, self.err = words, status, out, err

    def __str__(self):
        return f"{' '.join(map(str, self.words))}: status {self.status}\n{self.out}{self.err}"


def run(*words, timeout=150, status=0, input=None, env=None, cwd=None, text=True, user=None):
    """Runs a program to its end. `status`: the expected one; None: any.

    A program that outlives limit(timeout) is killed with its children. `env` adds
    to the environment. `user` is a user id to run as.
    """
    words = [str(word) for word in words]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})}, start_new_session=True,
        user=user, group=user, extra_groups=[] if user is not None else None)
    try:
        out, err = process.communicate(input.encode() if isinstance(input, str) else input,
                                       limit(timeout))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"{' '.join(words)}: still running after {limit(timeout)} s") from None
    if text:
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
    result = Result(words, process.returncode, out, err)
    if status is not None and result.status != status:
        raise Failure(f"status should be {status}: {result}")
    return result


def names_of_kernel(cache):
    """The path of a cache that has the names of the running kernel, if the cache of the tests has
    them: a report needs a third of a second to read them from the kernel."""
    cache = pathlib.Path(cache)
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    for kept in pathlib.Path(home, "assay", "kallsyms").glob("*"):
        place = cache / "assay" / "kallsyms"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(kept, place / kept.name)
    return cache


def nested(report):
    """Puts each node of a call tree into its caller, and names into call paths, as --nested does."""
    if isinstance(report.get("tree"), list):
        nodes = report["tree"]
        for node in nodes:
            node["children"] = []
            if node["parent"] is not None:
                nodes[node["parent"]]["children"].append(node)
        report["tree"] = nodes[0]
    for process in report["processes"] if report.get("kind") == "calls" else ():
        nodes = process.get("nodes", [])
        for path in process.get("paths", []):
            names, at = [], path["node"]
            while at is not None:
                names.append(nodes[at]["function"])
                at = nodes[at]["parent"]
            path["path"] = names[::-1]
    return report


class Test:
    def __init__(self, attempt=0):
        self.attempt = attempt  # of a test of shares: what earlier ones recorded is not used again
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-"))
        self.processes = []

    # Environment

    def path(self, name):
        """A path in the test's own directory."""
        return self.directory / name

    def write(self, name, content):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def workload(self, name):
        """A program of tests/workloads, built."""
        path = BUILD / "tests" / "workloads" / name
        if not path.exists():
            raise Failure(f"{path} is not built")
        return str(path)

    def runtime(self, name="run"):
        """An environment with its own directory for sessions."""
        path = self.path(name)
        path.mkdir(mode=0o700)
        return {"XDG_RUNTIME_DIR": str(path)}

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                raise Skip(f"{program} is not installed")

    def skip(self, reason):
        raise Skip(reason)

    # Programs

    def assay(self, *words, **options):
        """Runs assay; options as of run()."""
        return run(ASSAY, *words, **options)

    def report(self, *words, **options):
        """The JSON of `assay report --json WORDS`, nodes of call trees put into their callers."""
        return nested(self.json(self.assay("report", "--json", *words, **options).out))

    def run(self, *words, **options):
        return run(*words, **options)

    def start(self, *words, **options):
        """Starts a program in the background; it ends with the test at the latest."""
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([str(word) for word in words], start_new_session=True, **options)
        self.processes.append(process)
        return process

    def wait(self, process, timeout=150):
        """Waits for the process from start(); returns its status."""
        try:
            return process.wait(limit(timeout))
        except subprocess.TimeoutExpired:
            raise Failure(f"{process.args}: still running after {limit(timeout)} s") from None

    def until(self, condition, what, timeout=60):
        """Waits until condition() is true, and returns its value. A condition that takes long, since it runs a
        program, is checked less often: it should not fill a CPU."""
        end = time.monotonic() + limit(timeout)
        while (before := time.monotonic()) < end:
            value = condition()
            if value:
                return value
            time.sleep(min(max(0.02, 3 * (time.monotonic() - before)), 0.5))
        raise Failure(f"waited {limit(timeout)} s for this: {what}")

    def json(self, text):
        try:
            return json.loads(text)
        except ValueError as error:
            raise Failure(f"no JSON: {error}: {text[:300]!r}") from None

    # Checks

    def fail(self, what):
        raise Failure(what)

    def true(self, condition, what):
        if not condition:
            raise Failure(what)

    def equal(self, got, want, what="value"):
        if got != want:
            raise Failure(f"{what} is {got!r}, not {want!r}")

    def near(self, got, want, tolerance, what="value"):
        if not abs(got - want) <= tolerance:
            raise Failure(f"{what} is {got!r}, not {want!r} within {tolerance!r}")

    def between(self, got, low, high, what="value"):
        if not low <= got <= high:
            raise Failure(f"{what} is {got!r}, not between {low!r} and {high!r}")

    def has(self, text, part, what="text"):
        if part not in text:
            raise Failure(f"{what} has no {part!r}: {text[:2000]}")

    def lacks(self, text, part, what="text"):
        if part in text:
            raise Failure(f"{what} has {part!r}, which should not be there: {text[:2000]}")

    def end(self):
        for process in self.processes:
            # The group first, for the processes that it started; the process itself may have
            # exited.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def need_waits(t):
    """Skips a test of `assay top` that needs wake-ups."""
    if os.geteuid():
        t.skip("the tracepoints of the scheduler need root")
    if "Wakers: not available" in t.assay("top", "--once", "--waits", "-d", "0.1", "-o", t.path("try.data")).out \
            + t.assay("report", t.path("try.data")).out:
        t.skip("the tracepoints of the scheduler are not available")


def _attempt(function, number):
    """Returns the reason of a skip or None, and the reason of a failure or ""."""
    t = Test(number)
    try:
        function(t)
    except Skip as skip:
        return str(skip), ""
    except Failure as failure:
        return None, str(failure)
    except Exception:  # an error in the test's code fails the test, and the other tests run
        return None, traceback.format_exc()
    finally:
        t.end()
    return None, ""


def _run_one(number, function):
    """Prints the test's line; returns False if it failed."""
    line = f"ok {number} - {function.__name__.replace('_', ' ')}"
    failures = []
    start, cpu = time.monotonic(), sum(os.times()[:4])
    for attempt in range(4 if AGAIN and hasattr(function, "of_shares") else 1):
        skip, words = _attempt(function, attempt)
        if skip is not None:
            line += f" # SKIP {skip}"
        elif not words and failures:
            line += " # UNSTEADY"
        if not words:
            break
        failures.append(words)
    else:
        line = f"not {line}"
    for words in failures:
        for word in words.splitlines()[:60]:
            print(f"# {word}")
    print(f"# {time.monotonic() - start:.1f} s, {sum(os.times()[:4]) - cpu:.1f} s CPU")
    print(line, flush=True)
    return not line.startswith("not")


def main():
    """Runs the tests whose names contain one of the words given, or all; then exits."""
    if not os.access(ASSAY, os.X_OK):
        print(f"Bail out! {ASSAY} is not there: build it, or set ASSAY")
        sys.exit(1)
    chosen = [f for f in _tests
              if not sys.argv[1:] or any(word in f.__name__ for word in sys.argv[1:])]
    good = [_run_one(number, function) for number, function in enumerate(chosen, 1)]
    print(f"1..{len(chosen)}", flush=True)
    sys.exit(0 if all(good) else 1)
