# SPDX-License-Identifier: GPL-2.0-or-later
"""export: files for other tools have the same figures as the report.

callgrind's own counts and callgrind_annotate's sums are the truth of the callgrind form; the pprof
form is read by pprof_read, which shares no code with the encoder.
"""
import collections
import os
import pty
import re
import stat
import subprocess

from harness import ASSAY, main, run, test
from pprof_read import Pprof

# Direct and mutual recursion, callbacks, and pairs of functions with several callers.
PROGRAM = r"""
#include <stdlib.h>
#include <unistd.h>
volatile int sum;
__attribute__((noinline)) void spin(int n) { for (int i = 0; i < n * 100; i++) sum++; }
__attribute__((noinline)) int rec(int n) { spin(1); return n ? rec(n - 1) + 1 : 0; }
int even(int n);
__attribute__((noinline)) int odd(int n) { spin(2); return n ? even(n - 1) : 0; }
__attribute__((noinline)) int even(int n) { return n ? odd(n - 1) : 1; }
__attribute__((noinline)) int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) void apply(void (*f)(int), int n) { for (int i = 0; i < n; i++) f(i); }
__attribute__((noinline)) void wait_a_little(void) { usleep(20000); }
int main(void)
{
	int values[100];

	for (int i = 0; i < 100; i++)
		values[i] = i * 7919 % 101;
	for (int i = 0; i < 20; i++) {
		rec(i);
		even(i);
	}
	qsort(values, 100, sizeof(*values), compare);
	apply(spin, 50);
	wait_a_little();
	return 0;
}
"""
OWN = {"main", "spin", "rec", "odd", "even", "compare", "apply", "wait_a_little"}


def counted(t):
    """A recording of all calls of the program."""
    source = t.write("prog.c", PROGRAM)
    program, recording = t.path("prog"), t.path("prog.calls")
    run("cc", "-g", "-O0", "-finstrument-functions", "-o", program, source)
    t.assay("calls", "-o", recording, "--", program)
    return recording


def own_program(report):
    return next(p for p in report["processes"] if p["name"] == "prog")


def by_path(report):
    """Path to (calls, net, blocked, preempted), summed over processes."""
    paths = collections.defaultdict(lambda: [0, 0.0, 0.0, 0.0])
    for process in report["processes"]:
        for p in process["paths"]:
            for i, key in enumerate(("calls", "net_ns", "blocked_ns", "preempted_ns")):
                paths[tuple(p["path"])][i] += p[key]
    return paths


@test
def pprof_of_calls_has_every_path_and_value(t):
    recording = counted(t)
    t.assay("export", "--to", "pprof", "-o", t.path("p.pb.gz"), recording)
    pprof = Pprof(t.path("p.pb.gz"))
    t.equal(pprof.types, [("calls", "count"), ("net", "nanoseconds"),
                          ("blocked", "nanoseconds"), ("preempted", "nanoseconds")], "types")
    t.equal(pprof.default, "net", "the value that is shown first")
    got = collections.defaultdict(lambda: [0] * 4)
    for path, values, labels in pprof.samples:
        t.true("process" in labels and labels["pid"] > 0, "labels say whose it is")
        for i, value in enumerate(values):
            got[path][i] += value
    want = {path: v for path, v in by_path(t.report(recording)).items() if any(v)}
    for path, values in want.items():
        t.equal(got[path][0], values[0], f"calls of {path}")
        for i in (1, 2, 3):
            t.near(got[path][i], values[i], 1.01, f"{pprof.types[i][0]} of {path}")
    for i in (1, 2, 3):
        t.near(sum(v[i] for v in got.values()), sum(v[i] for v in want.values()), 2,
               f"{pprof.types[i][0]} of all")
    build_ids = {pprof.strings[m[6]] for m in pprof.mappings.values() if 6 in m}
    notes = run("readelf", "-n", t.path("prog")).out
    t.true(re.search(r"Build ID: (\w+)", notes)[1] in build_ids, "the program's build-id")


@test
def folded_lines_add_up_to_the_report(t):
    recording = counted(t)
    paths = by_path(t.report(recording))
    columns = {"calls": [0], "net": [1], "blocked": [2], "preempted": [3], "wall": [1, 2, 3]}
    for value, of in columns.items():
        result = t.assay("export", "--to", "folded", "--value", value, recording)
        want = collections.Counter()
        for path, values in paths.items():
            want[path] += sum(values[i] for i in of)
        got = collections.Counter()
        for line in result.out.splitlines():
            if line.startswith("# left out"):
                continue
            way, number = line.rsplit(" ", 1)
            got[tuple(way.split(";")[1:])] += int(number)
        t.true(min(got.values(), default=1) > 0, "numbers above nothing alone")
        for path, number in want.items():
            t.near(got[path], max(number, 0), 0 if value == "calls" else 3.1, f"{value} of {path}")
        t.equal("excluded" in result.err, result.out.startswith("# left out"),
                "both places report the excluded paths")


def callgrind_pairs(text):
    """(caller, callee) to calls; valgrind's recursion levels are one function."""
    names, pairs, at, callee = {}, collections.Counter(), "", ""

    def name(word):
        number, rest = re.match(r"\((\d+)\)(?: (.*))?$", word).groups()
        if rest:
            names[number] = re.sub(r"'\d+$", "", rest)
        return names[number]

    for line in text.splitlines():
        if line.startswith("fn="):
            at = name(line[3:])
        elif line.startswith("cfn="):
            callee = name(line[4:])
        elif line.startswith("calls="):
            pairs[at, callee] += int(line[6:].split()[0])
    return pairs


@test
def callgrind_counts_each_pair_as_valgrind_does(t):
    t.need("valgrind")
    recording = counted(t)
    ours = callgrind_pairs(t.assay("export", "--to", "callgrind", recording).out)
    run("cc", "-g", "-O0", "-o", t.path("plain"), t.path("prog.c"))
    run("valgrind", "--tool=callgrind", f"--callgrind-out-file={t.path('vg.out')}",
        t.path("plain"))
    theirs = callgrind_pairs(t.path("vg.out").read_text())
    # If an uninstrumented library calls back, assay reports the caller of the library as the
    # caller.
    known = {pair: n for pair, n in theirs.items() if set(pair) <= OWN}
    got = {pair: n for pair, n in ours.items() if set(pair) <= OWN and pair[1] != "compare"}
    t.true(len(known) >= 8, "pairs to compare")
    t.equal(got, known, "calls of each pair")
    t.equal(sum(n for pair, n in ours.items() if pair[1] == "compare"),
            sum(n for pair, n in theirs.items() if pair[1] == "compare"), "calls of compare")


def annotated(t, path, event, *options):
    """callgrind_annotate's figure of each function, and PROGRAM TOTALS."""
    out = run("callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no",
              f"--show={event}", f"--sort={event}", *options, path).out
    found = {}
    for line in out.splitlines():
        m = re.match(r"\s*([\d,]+)\s+(?:(PROGRAM TOTALS)|\S*?:(.+?)(?: \[.*\])?$)", line)
        if m:
            found[m[2] or m[3]] = int(m[1].replace(",", ""))
    return found


@test
def callgrind_annotate_finds_the_reports_times(t):
    t.need("callgrind_annotate")
    recording = counted(t)
    t.assay("export", "--to", "callgrind", "-o", t.path("out.cg"), recording)
    report = by_path(t.report(recording))
    for column, event in ((1, "Net_ns"), (2, "Blocked_ns")):
        alone, below = collections.Counter(), collections.Counter()
        for path, values in report.items():
            if values[column] < 0:
                continue
            alone[path[-1]] += values[column]
            for function in set(path):
                below[function] += values[column]
        slack = len(report) + 1  # whole numbers: the error is less than one for each path
        found = annotated(t, t.path("out.cg"), event)
        t.near(found["PROGRAM TOTALS"], sum(alone.values()), slack, f"{event} of all")
        for function in OWN:
            t.near(found.get(function, 0), alone[function], slack, f"{event} of {function}")
        found = annotated(t, t.path("out.cg"), event, "--inclusive=yes")
        for function in OWN:
            t.near(found.get(function, 0), below[function], slack,
                   f"{event} of {function} and below")
    t.true(below["wait_a_little"] > 15e6, "the wait is there to be found")


@test
def samples_add_up_to_the_report(t):
    data = t.path("s.data")
    t.assay("record", "-g", "-o", data, "--", t.workload("btree"))
    report = t.report("--no-inline", data)
    lines = t.assay("export", "--to", "folded", "--no-inline", data).out.splitlines()
    own = collections.Counter()
    for line in lines:
        own[line.rsplit(" ", 1)[0].split(";")[-1]] += int(line.rsplit(" ", 1)[1])
    t.equal(sum(own.values()), report["samples"], "samples in all lines")
    named = collections.Counter()
    for f in report["functions"]:
        named[f["function"]] += f["samples"]
    for function, samples in named.items():
        if not function.startswith("["):
            t.equal(own[function], samples, f"samples of {function}")
    weight = t.assay("export", "--to", "folded", "--value", "weight", data).out
    t.equal(sum(int(line.rsplit(" ", 1)[1]) for line in weight.splitlines()),
            report["event"]["weight"], "the time that they stand for")
    t.assay("export", "--to", "pprof", "-o", t.path("s.pb.gz"), data)
    pprof = Pprof(t.path("s.pb.gz"))
    t.equal(pprof.types, [("samples", "count"), ("cpu", "nanoseconds")], "types")
    t.equal([sum(v[i] for _, v, _ in pprof.samples) for i in (0, 1)],
            [report["samples"], report["event"]["weight"]], "sums")
    first = next(iter(pprof.mappings.values()))
    t.equal(os.path.basename(pprof.strings[first[5]]), "btree", "the first mapping is the program")
    # No form counts interrupts for a process.
    sums = collections.Counter()
    for p in report["processes"]:
        sums[p["name"]] += p["user_samples"] + p["kernel_samples"]
    sums = +sums
    labelled = collections.Counter()
    for _, values, labels in pprof.samples:
        labelled[labels["process"]] += values[0]
    t.equal(labelled, sums, "samples of each process in pprof")
    folded = collections.Counter()
    for line in lines:
        folded[line.split(";")[0]] += int(line.rsplit(" ", 1)[1])
    t.equal(folded, sums, "samples of each process in folded stacks")
    table = t.report("--sort", "process", data)["rows"]
    t.equal({row["process"]: row["samples"] for row in table}, sums, "in the table by process")
    tree = t.report("-g", data)["tree"]["children"]
    t.equal({node["name"]: node["samples"] for node in tree}, sums, "in the tree")
    for name, samples in sums.items():
        alone = t.report("--comm", name, data)
        t.equal(alone["samples"], samples, f"with the filter for {name}")


@test
def files_are_private_and_complete_and_replace_no_other(t):
    data, out = t.path("s.data"), t.path("out")
    t.assay("record", "-o", data, "--", "true")
    out.write_text("precious")
    t.assay("export", "--to", "folded", "-o", out, data)
    t.equal(stat.S_IMODE(out.stat().st_mode), 0o600, "mode")
    t.equal(t.path("out.old").read_text(), "precious", "what was there before")
    t.assay("export", "--to", "pprof", data, cwd=t.directory)
    t.true(t.path("profile.pb.gz").read_bytes()[:2] == b"\x1f\x8b", "the default name, gzip'd")
    piped = t.assay("export", "--to", "pprof", "-o", "-", data, text=False).out
    t.equal(piped, t.path("profile.pb.gz").read_bytes(), "the same through a pipe")
    t.equal(sorted(p.name for p in t.directory.iterdir()),
            ["out", "out.old", "profile.pb.gz", "s.data"], "nothing else is left behind")
    t.assay("export", "--to", "folded", "-o", t.path("no/such/out"), data, status=1)
    with open("/dev/full", "w") as full:
        done = subprocess.run([ASSAY, "export", "--to", "pprof", "-o", "-", str(data)],
                              stdout=full, stderr=subprocess.PIPE, text=True)
    t.equal(done.returncode, 1, "a full disk fails")
    t.has(done.stderr, "No space left")


@test
def an_output_that_is_the_input_is_refused(t):
    data, link = t.path("perf.data"), t.path("link")
    t.assay("record", "-o", data, "--", "true")
    before = data.read_bytes()
    os.link(data, link)
    for form in ("folded", "pprof", "callgrind", "chrome", "sqlite"):
        for words in (("-o", data, data), ("-o", link, data), ("-o", data, "-i", link), ("-o", data)):
            result = t.assay("export", "--to", form, *words, status=2, cwd=t.directory)
            t.has(result.err, "name another file with -o")
    t.equal(data.read_bytes(), before, "the recording")
    t.equal(sorted(p.name for p in t.directory.iterdir()), ["link", "perf.data"], "files")
    t.assay("export", "--to", "pprof", "-o", t.path("profile.pb.gz"), data)
    result = t.assay("export", "--to", "pprof", "profile.pb.gz", status=2, cwd=t.directory)
    t.has(result.err, "the output profile.pb.gz is the input file profile.pb.gz")


@test
def recordings_and_stores_are_not_replaced(t):
    data, store, table = t.path("a.data"), t.path("s.db"), t.path("c.calls")
    t.assay("record", "-q", "-o", data, "--", "true")
    t.assay("start", "--foreground", "--name", t.directory.name, "--store", store,
            "--duration", "500ms")
    t.assay("calls", "-o", table, "--", t.workload("loop"), "1", status=None)
    measured = {path: path.read_bytes() for path in (data, store, table) if path.exists()}
    t.true(len(measured) >= 2, list(measured))
    for path in measured:
        for words in (("report", "--html", path, "-i", data), ("export", "--to", "folded", "-o", path, "-i", data),
                      ("export", "--to", "csv", "-o", path, "-i", data), ("record", "-o", path, "--", "true"),
                      ("calls", "-o", path, "--", "true")):
            if (words[0] == "record" and path == data) or (words[0] == "calls" and path == table):
                continue
            t.has(t.assay(*words, status=None).err, "name another file", f"{words} and {path.name}")
            t.equal(path.read_bytes(), measured[path], f"{words} and {path.name}")
    t.assay("record", "-q", "-o", data, "--", "true")
    t.equal(t.path("a.data.old").read_bytes(), measured[data], "a recording is replaced by a recording")
    for words in (("record", "-o", "-", "--", "true"), ("calls", "-o", "-", "--", "true")):
        t.has(t.assay(*words, status=1, cwd=t.directory).err, "- is no file name here; ./- is one")


@test
def wrong_arguments_are_refused_with_the_way_out(t):
    data = t.path("s.data")
    t.assay("record", "-o", data, "--", "true")
    for words, status, said in (
            (("export", data), 2, "--to is missing"),
            (("export", "--to", "svg", data), 2, "pprof, callgrind, folded"),
            (("export", "--to", "ctf", data), 2, "ctf is not for samples, which can be"),
            (("export", "--to", "folded", "--value", "net", data), 2, "samples and weight"),
            (("export", "--to", "pprof", "--value", "samples", data), 2, "--to folded"),
            (("export", "--to", "folded", "--event", "moon", data), 1, "was not recorded"),
            (("export", "--to", "callgrind", t.path("none")), 1, "there is no file"),
            (("export", "--to", "folded", "/bin/true"), 1, "is a program or library, which assay does not read")):
        t.has(t.assay(*words, status=status).err, said)
    master, slave = pty.openpty()
    done = subprocess.run([ASSAY, "export", "--to", "pprof", "-o", "-", str(data)], stdout=slave,
                          stderr=subprocess.PIPE, text=True)
    os.close(slave)
    os.close(master)
    t.equal(done.returncode, 2, "no bytes to a terminal")
    t.has(done.stderr, "terminal")


main()
