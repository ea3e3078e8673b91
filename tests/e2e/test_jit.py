# SPDX-License-Identifier: GPL-2.0-or-later
"""Generated code has names: perf maps and jitdumps, of a program with known shares, of Node and of
a JVM.

The program (workloads/jit.c) runs jit_long and jit_short 70 to 30; with a
jitdump, jit_later takes the place of jit_long in memory after half of the time.
"""

import glob
import itertools
import json
import os
import re
import signal
import subprocess
import time

import perf_script
from harness import Skip, main, test_of_shares
from programs import ASSAY, LONG, assay, comment, environment, need, run, workdir, workload
from time_limit import limit

# The short form has as many samples as two seconds at 1999 Hz.
SECONDS = 6 if LONG else 1
RATE = "1999" if LONG else "3999"
NEAR = 0.04  # added to the sampling error of a share


def kept_apart(work):
    """An environment with a cache of its own."""
    return dict(environment(), XDG_CACHE_HOME=f"{work}/cache", HOME=work)


def run_jit(work, mode, *options, command=None):
    """Records the program; returns its pid."""
    job = command or [workload("jit"), mode, str(SECONDS), work]
    done = run([ASSAY, "record", "-o", f"{work}/a.data", "-F", RATE, *options, "--", *job],
               env=kept_apart(work))
    if done.status == 77:
        raise Skip("the workload is for x86-64 alone")
    assert done.status == 0, done.err
    return int(done.out.split()[0])


def names_of(work, *options, path="a.data"):
    """Share of the user's time by function, in images of generated code. A sample counts for its
    period, since a recorder that falls behind samples less often."""
    found = json.loads(assay("report", "-i", f"{work}/{path}", "--json", *options,
                             env=kept_apart(work)).out)
    shares = {}
    user = sum(f["weight"] for f in found["functions"] if f["mode"] == "user")
    for f in found["functions"]:
        if f["image"].startswith("[jit]") or f["image"].startswith("//anon"):
            shares[f["function"]] = shares.get(f["function"], 0) + f["weight"] / user
    comment(f"{ {name: round(share, 3) for name, share in shares.items() if share > 0.01} }")
    return shares, found


def forget_map(pid):
    if os.path.exists(f"/tmp/perf-{pid}.map"):
        os.unlink(f"/tmp/perf-{pid}.map")


def check_shares(shares, **wanted):
    for name, share in wanted.items():
        assert abs(shares.get(name, 0) - share) < NEAR, f"{name}: {shares.get(name, 0):.3f}, " \
            f"not {share}: {shares}"


def check_perf_map(*options):
    with workdir() as work:
        pid = run_jit(work, "map", *options)
        try:
            shares, found = names_of(work)
            check_shares(shares, jit_long=0.7, jit_short=0.3)
            assert not any("no names" in w for w in found["warnings"]), found["warnings"]
            assert {f["image"] for f in found["functions"] if f["function"] == "jit_long"} \
                == {"[jit] jit"}
        finally:
            forget_map(pid)
        # The recorder kept a copy of the map, so the names remain.
        check_shares(names_of(work)[0], jit_long=0.7, jit_short=0.3)


@test_of_shares
def a_perf_map_names_code_and_is_kept(t):
    check_perf_map()


@test_of_shares
def with_call_chains_too(t):
    check_perf_map("-g")


@test_of_shares
def without_the_map_the_reason_is_reported(t):
    with workdir() as work:
        pid = run_jit(work, "map")
        forget_map(pid)
        for path in glob.glob(f"{work}/cache/assay/jit/*"):
            os.unlink(path)
        shares, found = names_of(work)
        assert shares["[no symbol]"] > 0.95, shares
        assert any(f"jit (pid {pid}) generates code" in w for w in found["warnings"]), \
            found["warnings"]


@test_of_shares
def a_map_of_another_user_is_refused(t):
    if os.geteuid():
        raise Skip("only root can give files away")
    with workdir() as work:
        pid = run_jit(work, "silent")
        try:
            with open(f"/tmp/perf-{pid}.map", "w", encoding="ascii") as f:
                f.write("0 7fffffffffffffff liar\n")
            os.chown(f"/tmp/perf-{pid}.map", 12345, 12345)
            shares, found = names_of(work)
            assert shares["[no symbol]"] > 0.95, shares
            assert any("belongs to user 12345" in w for w in found["warnings"]), found["warnings"]
        finally:
            forget_map(pid)


@test_of_shares
def a_jitdump_distinguishes_functions_at_one_address(t):
    for options in ((), ("-g",)):
        with workdir() as work:
            run_jit(work, "dump", *options)
            shares, _ = names_of(work)
            check_shares(shares, jit_long=0.35, jit_later=0.35, jit_short=0.3)


@test_of_shares
def a_jitdump_that_is_deleted_is_kept(t):
    with workdir() as work:
        script = f"{workload('jit')} dump {SECONDS} {work} && rm {work}/jit-*.dump"
        run_jit(work, "dump", command=["sh", "-c", script])
        assert not glob.glob(f"{work}/jit-*.dump")
        check_shares(names_of(work)[0], jit_long=0.35, jit_later=0.35, jit_short=0.3)


@test_of_shares
def a_jitdump_of_a_running_process_is_kept(t):
    with workdir() as work:
        with subprocess.Popen([workload("jit"), "dump", "60", work],
                              stdout=subprocess.PIPE) as job:
            try:
                pid = int(job.stdout.readline())
                words = [ASSAY, "record", "-q", "-o", f"{work}/a.data", "-F", RATE,
                         "-p", str(pid)]
                with subprocess.Popen(words, env=kept_apart(work)) as recorder:
                    end = time.monotonic() + limit(20)
                    while not os.path.exists(f"{work}/a.data") and time.monotonic() < end:
                        time.sleep(0.01)
                    time.sleep(SECONDS)
                    recorder.send_signal(signal.SIGINT)
                    recorder.wait(limit(20))
                os.unlink(f"{work}/jit-{pid}.dump")
            finally:
                job.send_signal(signal.SIGKILL)
        check_shares(names_of(work)[0], jit_long=0.7, jit_short=0.3)


def jit_samples(report, *names):
    """Samples of functions of generated code, by name."""
    found = {}
    for row in report["functions"]:
        if row["image"].startswith("[jit]") and (not names or row["function"] in names):
            found[row["function"]] = found.get(row["function"], 0) + row["samples"]
    return found


@test_of_shares
def top_has_the_names_of_its_recording(t):
    for mode, options in (("map", ()), ("dump", ("-g",))):
        with workdir() as work, subprocess.Popen([workload("jit"), mode, "60", work],
                                                 stdout=subprocess.PIPE) as job:
            pid = int(job.stdout.readline() or 0)
            try:
                if not pid:
                    raise Skip("the workload is for x86-64 alone")
                shown = json.loads(assay("top", "--once", "-d", str(SECONDS), "-F", "999", "--json",
                                         "--comm", "jit", "-o", f"{work}/a.data", *options,
                                         env=kept_apart(work)).out)
            finally:
                job.kill()
                forget_map(pid)
            _, report = names_of(work, "--comm", "jit")
        comment(jit_samples(shown))
        assert sorted(jit_samples(shown)) == ["jit_long", "jit_short"], shown["functions"]
        assert jit_samples(shown) == jit_samples(report), (jit_samples(shown), jit_samples(report))


def generated_memory(pid):
    """The first executable memory of the process that belongs to no file."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as f:
        start, end = re.search(r"(?m)^(\w+)-(\w+) r.xp 0+ 00:00 0 *$", f.read()).groups()
    return int(start, 16), int(end, 16) - int(start, 16)


@test_of_shares
def top_reads_names_that_are_written_while_it_runs(t):
    with workdir() as work, subprocess.Popen([workload("jit"), "silent", "60", work],
                                             stdout=subprocess.PIPE) as job:
        pid = int(job.stdout.readline() or 0)
        path = f"/tmp/perf-{pid}.map"
        words = [ASSAY, "top", "--batch", "-d", "0.3", "--json", "--comm", "jit"]
        top = subprocess.Popen(words, env=kept_apart(work), stdout=subprocess.PIPE)
        try:
            if not pid:
                raise Skip("the workload is for x86-64 alone")
            start, size = generated_memory(pid)
            expected = ["first", "second"]
            for line in itertools.islice(top.stdout, 200):
                names = jit_samples(json.loads(line))
                if os.path.exists(path) and expected[0] in names:
                    expected.pop(0)
                    if not expected:
                        break
                elif os.path.exists(path):
                    continue
                with open(path, "a", encoding="ascii") as f:
                    f.write(f"{start:x} {size:x} {expected[0]}\n")
            assert not expected, f"no report had {expected[0]}"
        finally:
            for process in (top, job):
                process.kill()
                process.wait()
            top.stdout.close()
            forget_map(pid)


CONTAINED = """
mount --make-rprivate / && mount -t tmpfs none /mnt && cp "$0" /mnt/jit && mount --bind /mnt /tmp &&
exec /tmp/jit map "$1"
"""


@test_of_shares
def a_map_in_a_container_that_ended_is_kept(t):
    probe = run(["unshare", "--mount", "--pid", "--fork", "true"])
    if probe.status:
        raise Skip("containers cannot be made here: " + probe.err.strip())
    with workdir() as work:
        # The program is process 1 there: its map is perf-1.map, in a private /tmp.
        run_jit(work, "map", command=["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                                      CONTAINED, workload("jit"), str(SECONDS)])
        assert not os.path.exists("/tmp/perf-1.map")
        check_shares(names_of(work)[0], jit_long=0.7, jit_short=0.3)


@test_of_shares
def generated_code_is_annotated_with_lines(t):
    with workdir() as work:
        run_jit(work, "dump")
        text = assay("annotate", "--full", "-i", f"{work}/a.data", "jit_later", env=kept_apart(work)).out
        comment(text)
        assert re.search(r"generated\.js:10\n", text), text
        assert re.search(r"generated\.js:20\n.*\bnop\b", text), text  # which jit_long lacks
        hot = re.findall(r"(?m)^ *([\d.]+) % +\d+ +0x[0-9a-f]+ .*(imul|dec|jne)", text)
        assert sum(float(share) for share, _ in hot) > 95, text
        text = assay("annotate", "--full", "-i", f"{work}/a.data", "jit_long", env=kept_apart(work)).out
        assert "imul" in text and "nop" not in text, text


@test_of_shares
def perf_recordings_of_either_clock_are_read(t):
    for clock in (["-k", "mono"], []):
        with workdir() as work:
            perf_script.perf("record", "-q", "-B", "-N", "-o", f"{work}/perf.data", *clock,
                             "-e", "cpu-clock", "-F", RATE, "--",
                             workload("jit"), "dump", str(SECONDS), work)
            shares, found = names_of(work, path="perf.data")
            if clock:
                check_shares(shares, jit_long=0.35, jit_later=0.35, jit_short=0.3)
            else:  # without times to compare, the newest function is used, and the report says so
                check_shares(shares, jit_later=0.7, jit_short=0.3)
                assert any("another clock" in w for w in found["warnings"]), found["warnings"]


HOT_JS = """
function hotAdd(a, n) { let x = a; for (let i = 0; i < n; i++) x = (x * 31 + i) | 0; return x; }
function hotMul(a, n) { let x = a; for (let i = 0; i < n; i++) x = (x * 17 ^ i) | 0; return x; }
function turn(x) { return hotMul(hotAdd(x, 700000), 300000); }
console.log(process.pid);
const end = 1e6 * Number(process.argv[2]);  // CPU time
let x = 1;
while (process.cpuUsage().user < end) x = turn(x);
"""

HOT_JAVA = """
public class Hot {
    static int hotAdd(int x, int n) {
        for (int i = 0; i < n; i++) x = x * 31 + (i ^ (x >>> 3));
        return x;
    }
    static int hotMul(int x, int n) {
        for (int i = 0; i < n; i++) x = x * 17 ^ (i + (x >>> 5));
        return x;
    }
    public static void main(String[] a) {
        long end = System.currentTimeMillis() + 1000L * Integer.parseInt(a[0]);
        int x = 1;
        while (System.currentTimeMillis() < end) x = hotMul(hotAdd(x, 700000), 300000);
        System.out.println(ProcessHandle.current().pid() + " " + x);
    }
}
"""


def shares_by_perf(path):
    """Share of all samples by symbol, as perf report has it (it reads /tmp/perf-PID.map too)."""
    text = perf_script.perf("report", "-i", path, "--stdio", "-s", "sym", "--no-children",
                            "-g", "none", "-F", "sample,sym")
    found = {}
    for line in text.split("# Samples")[1].splitlines():  # the first event
        row = re.match(r"\s+(\d+)\s+\[.\] (.*?)\s*$", line)
        if row:
            found[row.group(2)] = found.get(row.group(2), 0) + int(row.group(1))
    return found


def record_in(work, *command):
    """Records a program that prints its pid first; returns the pid."""
    done = run([ASSAY, "record", "-o", f"{work}/a.data", "-F", "999", "--", *command],
               env=kept_apart(work), cwd=work, timeout=120)
    assert done.status == 0, done.err
    return int(done.out.split()[0])


def check_hot(work, pattern):
    """Both hot functions have names and most of the time, and hotAdd has the larger part."""
    shares, found = names_of(work)
    add = sum(s for name, s in shares.items() if re.search(pattern.format("hotAdd"), name))
    mul = sum(s for name, s in shares.items() if re.search(pattern.format("hotMul"), name))
    assert add + mul > 0.75 and add > 1.5 * mul > 0.15, shares
    return found


def check_like_perf(work, found, pattern):
    theirs = shares_by_perf(f"{work}/a.data")
    for function in ("hotAdd", "hotMul"):
        ours = {}
        for f in found["functions"]:
            if re.search(pattern.format(function), f["function"]):
                ours[f["function"]] = ours.get(f["function"], 0) + f["samples"]
        known = {name: n for name, n in theirs.items() if re.search(pattern.format(function), name)}
        comment(f"ours {ours}, perf's {known}")
        assert set(ours) == set(known) and known, (ours, known)
        # perf uses each line of the map for the whole recording, also before the line was written.
        for name, samples in ours.items():
            assert abs(samples - known[name]) <= 2, (ours, known)


@test_of_shares
def stacks_pass_generated_code_without_frame_pointers(t):
    with workdir() as work:
        done = run([ASSAY, "record", "-g", "-q", "-o", f"{work}/a.data", "-F", RATE, "--",
                    workload("trampoline"), str(SECONDS)], env=kept_apart(work))
        if done.status == 77:
            raise Skip("the workload is for x86-64 alone")
        lines = [line.rsplit(" ", 1) for line in
                 assay("export", "-i", f"{work}/a.data", "--to", "folded",
                       env=kept_apart(work)).out.splitlines()]
        stacks = [(path.split(";"), int(n)) for path, n in lines if "through_leaf" in path]
        total = sum(n for _, n in stacks)
        right = sum(n for path, n in stacks if
                    [f for f in path if f == "main" or f.startswith("through_")]
                    == ["main", "through_top", "through_mid", "through_leaf"])
        comment(f"{right} of {total} stacks of through_leaf are whole")
        assert total > 100 and right >= 0.99 * total, f"{right} of {total}: {stacks[:3]}"


def node(option):
    reason = need("node")
    if reason:
        raise Skip(reason)
    with workdir() as work:
        with open(f"{work}/hot.js", "w", encoding="ascii") as f:
            f.write(HOT_JS)
        pid = record_in(work, "node", option, "hot.js", str(SECONDS + 1))
        found = check_hot(work, r"{} .*hot\.js:\d+")
        if option == "--perf-basic-prof":
            check_like_perf(work, found, r"{} .*hot\.js:\d+")
        else:
            address = max(((f["samples"], f["function"]) for f in found["functions"]))[1]
            done = assay("annotate", "-i", f"{work}/a.data", address, env=kept_apart(work),
                         check=False)
            assert (re.search(r"\b(imul|lea|add)", done.out)
                    or "functions have the name" in done.err)
        forget_map(pid)


@test_of_shares
def node_with_a_perf_map(t):
    node("--perf-basic-prof")


@test_of_shares
def node_with_a_jitdump(t):
    node("--perf-prof")


@test_of_shares
def a_jvm_with_a_perf_map(t):
    reason = need("java", "javac")
    if reason:
        raise Skip(reason)
    with workdir() as work:
        with open(f"{work}/Hot.java", "w", encoding="ascii") as f:
            f.write(HOT_JAVA)
        run(["javac", "-d", work, f"{work}/Hot.java"], check=True, timeout=120)
        pid = record_in(work, "java", "-XX:+PreserveFramePointer",
                        "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
                        "-cp", work, "Hot", str(SECONDS + 3))
        pattern = r"\bHot[.:]+{}\b"
        check_like_perf(work, check_hot(work, pattern), pattern)
        forget_map(pid)


main()
