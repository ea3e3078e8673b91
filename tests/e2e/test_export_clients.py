# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of other projects load what assay writes, without a warning, and have the totals of the
report: go tool pprof. callgrind_annotate is in test_export_formats, hotspot's parser of perf.data and
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


main()
