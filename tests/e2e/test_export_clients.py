# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of other projects load what assay writes, without a warning, and have the totals of the
report: go tool pprof, and, where script/build-clients built them in the directory ASSAY_CLIENTS, the
readers of the Firefox Profiler and of speedscope. callgrind_annotate is in test_export_formats, hotspot's parser of perf.data and
perf in test_peers, babeltrace2 in test_tags_ctf."""
import collections
import os
import re

from harness import main, test
from recursion_shapes import files


def go_pprof(t, form, path, *words):
    t.need("go")
    result = t.run("go", "tool", "pprof", form, *words, path,
                   env={**os.environ, "HOME": str(t.directory)})
    # Event tags have names, but no files.
    t.equal(result.err.replace("Main binary filename not available.\n", ""), "", "messages of pprof")
    return result.out


def raw_sums(text):
    """The sum of each value in `pprof -raw`, by the name of the value."""
    lines = text.split("Samples:\n", 1)[1].split("Locations\n", 1)[0].splitlines()
    names = [word.split("/")[0] for word in lines[0].split()]
    sums = collections.Counter()
    for line in lines[1:]:
        found = re.match(r"\s+((?:-?\d+ +)*-?\d+): ", line + " ")
        if found:
            sums.update(dict(zip(names, map(int, found[1].split()))))
    return sums


def top(text):
    """Function to flat value in `pprof -top`, in the unit of the call."""
    rows = text[text.index("flat%"):].splitlines()[1:]
    found = collections.Counter()
    for row in rows:
        words = row.split(None, 5)
        found[words[5].removesuffix(" (inline)")] += float(re.sub("[a-zA-Z]+$", "", words[0]))
    return found


def exported(t, data, *words):
    path = t.path("out.pb.gz")
    t.assay("export", "--to", "pprof", "-o", path, *words, data)
    return path


@test
def pprof_has_the_totals_and_functions_of_samples(t):
    data = t.path("s.data")
    t.assay("record", "-g", "-o", data, "--", t.workload("btree"))
    report, path = t.report("--no-inline", data), exported(t, data, "--no-inline")
    t.equal(raw_sums(go_pprof(t, "-raw", path)),
            {"samples": report["samples"], "cpu": report["event"]["weight"]}, "sums")
    text = go_pprof(t, "-top", path, "-sample_index=samples", "-nodefraction=0", "-nodecount=100000")
    t.has(text, "File: btree\n", "the main program")
    t.has(text, f"of {report['samples']} total", "the total")
    want = collections.Counter()
    for f in report["functions"]:
        want[f["function"]] += f["samples"]
    got = top(text)
    for name, samples in want.items():
        if not name.startswith("["):
            t.equal(got[name], samples, f"samples of {name}")


@test
def pprof_has_the_totals_of_each_kind(t):
    for _, _, file, what in files(t):
        path = exported(t, file)
        sums = raw_sums(go_pprof(t, "-raw", path))
        folded = {}
        for value in [name for name in sums if sums[name]]:
            wanted = {"cpu": "weight"}.get(value, value)
            words = () if what.startswith("pprof") else ("--value", wanted)
            lines = t.assay("export", "--to", "folded", *words, file).out.splitlines()
            folded[value] = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        t.equal(+sums, folded, f"{what}: sums")
        t.true(folded, f"{what}: has values")
        go_pprof(t, "-top", path)


def loaded(t, client, *files):
    """What the reader finds in each file (clients/load.ts)."""
    reader = os.path.join(os.environ.get("ASSAY_CLIENTS", ""), "load.cjs")
    if not os.environ.get("ASSAY_CLIENTS"):
        t.skip("ASSAY_CLIENTS names no directory of script/build-clients")
    t.need("node")
    return [t.json(line) for line in t.run("node", reader, client, *files).out.splitlines()]


def sums_of(t, data, *values):
    """The sum of each value in folded stacks; profiles of pprof have their main value alone."""
    def total(*words):
        return sum(int(line.rsplit(" ", 1)[1])
                   for line in t.assay("export", "--to", "folded", *words, data).out.splitlines())
    return [total(*(("--value", value) if value else ())) for value in values]


def written(t, data, *forms):
    paths = []
    for form in forms:
        paths.append(t.path(f"out.{form}"))
        t.assay("export", "--to", form, "-o", paths[-1], data)
    return paths


@test
def the_firefox_profiler_upgrades_files_and_has_their_totals(t):
    for _, _, file, what in files(t):
        found, = loaded(t, "firefox", *written(t, file, "firefox"))
        t.true(found["version"] >= 66, f"{what}: version {found['version']}")
        if what.startswith("samples"):
            t.equal([found["samples"], found["cpu_ns"]], sums_of(t, file, "samples", "weight"), what)
        else:
            main_value = "net" if what.startswith(("calls", "tags")) else None
            t.equal([round(found["weight"] * 1e6)], sums_of(t, file, main_value), what)
    data = t.path("s.data")
    t.assay("record", "-g", "-o", data, "--", t.workload("waits"), "100")
    found, = loaded(t, "firefox", *written(t, data, "firefox"))
    t.equal([found["samples"], found["cpu_ns"]], sums_of(t, data, "samples", "weight"), "a recording")
    t.equal(round(found["counters_ms"] * 1e6), found["cpu_ns"], "counters")
    t.true(found["markers"] > 5, f"{found['markers']} markers")


@test
def speedscope_has_the_totals_of_each_form(t):
    for _, _, file, what in files(t):
        values = {"samples": ("samples", "weight"), "pprof": (None,)}.get(what.split(",")[0], ("net",))
        want = sums_of(t, file, *values)
        scope, folded, callgrind = loaded(t, "speedscope",
                                          *written(t, file, "speedscope", "folded", "callgrind"))
        for value in want:
            for form, found in (("speedscope", scope), ("callgrind", callgrind)):
                t.true(value in [profile["total"] for profile in found], f"{what}, {form}: {value} in {found}")
        t.equal([profile["total"] for profile in folded], want[:1], f"{what}: folded")
        if what.startswith(("samples", "tags")):
            chrome, = loaded(t, "speedscope", *written(t, file, "chrome"))
            t.near(sum(profile["total"] for profile in chrome) * 1000, want[-1], 1, f"{what}: chrome")
        if what.startswith("samples"):
            pprof, = loaded(t, "speedscope", *written(t, file, "pprof"))
            t.equal([profile["total"] for profile in pprof], want[-1:], f"{what}: pprof")


main()
