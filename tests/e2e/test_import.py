# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of other tools (OTLP, folded stacks, callgrind, trace events) in report, diff, sql and
export: what assay exports is read back with the same sums, files of other producers have known
figures, and a damaged file is named with the place.
"""
import collections
import gzip

from harness import main, run, test
from recursion_shapes import files, paths, self_of

CALLGRIND = """version: 1
creator: callgrind-3.19.0
cmd: ./prog
positions: line
events: Ir Dr

fl=(1) prog.c
fn=(1) main
10 5 1
+1 7
cfn=(2) operator<<
calls=3 30
* 400 40
fi=(2) inline.h
90 8 2
fe=(1)
12 1
fn=(2)
30 400 40
"""
CHROME = """{"traceEvents":[
{"ph":"M","pid":1,"tid":2,"name":"process_name","args":{"name":"prog"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"work"}},
{"ph":"X","pid":1,"tid":2,"ts":12,"dur":3,"name":"leaf"},
{"ph":"B","pid":1,"tid":2,"ts":10,"name":"main"},
{"ph":"X","pid":1,"tid":2,"ts":20.5,"dur":1.25,"name":"caf\\u00e9 \\u001b[31m"},
{"ph":"E","pid":1,"tid":2,"ts":30},
{"ph":"i","pid":1,"tid":2,"ts":31,"name":"mark"}]}"""


def own(t, file, *words):
    """Function to its own value."""
    return {row["function"]: row["self"] for row in t.report("--full", *words, file)["functions"]
            if row["self"]}


def by_path(t, file, value):
    found = collections.Counter()
    for line in t.assay("export", "--to", "folded", "--value", value, file).out.splitlines():
        if not line.startswith("#"):
            way, number = line.rsplit(" ", 1)
            way = tuple(way.split(";"))
            found[way[way.index("main"):]] += int(number)
    return found


@test
def exports_are_read_back_with_the_same_paths(t):
    for _, shape, file, what in files(t):
        want = {way: us * 1000 for way, us in paths(shape).items()}
        pprof = t.path("x.pb.gz")
        t.assay("export", "--inline", "--to", "pprof", "-o", pprof, file)
        value = next(v["name"] for v in t.report(pprof)["values"] if v["unit"] == "nanoseconds")
        t.assay("export", "--inline", "--to", "otlp", "-o", t.path("x.otlp"), file)
        t.equal(by_path(t, t.path("x.otlp"), value), want, f"{what}: otlp")
        if "calls" not in what:
            t.assay("export", "--inline", "--to", "callgrind", "-o", t.path("x.cg"), file)
            t.equal(own(t, t.path("x.cg"), "--event", value.capitalize() + "_ns"),
                    {name: us * 1000 for name, us in (+self_of(shape)).items()},
                    f"{what}: callgrind")


@test
def folded_stacks_and_trace_events_of_recursion_are_read_back(t):
    for kind, shape, file, what in files(t, "samples", "tags"):
        if "samples" in what:
            t.assay("export", "--inline", "--to", "folded", "-o", t.path("x.folded"), file)
            t.equal(by_path(t, t.path("x.folded"), "samples"), paths(shape), f"{what}: folded")
        t.assay("export", "--inline", "--to", "chrome", "-o", t.path("x.json"), file)
        t.equal(by_path(t, t.path("x.json"), "time"),
                {way: us * 1000 for way, us in paths(shape).items()}, f"{what}: chrome")


@test
def files_by_hand_have_their_figures(t):
    file = t.write("callgrind.out.1", CALLGRIND)
    t.equal(own(t, file), {"operator<<": 400, "main": 21}, "callgrind: the first event")
    t.equal(own(t, file, "--event", "Dr"), {"operator<<": 40, "main": 3}, "the second event")
    t.equal(own(t, file, "--event", "calls"), {"operator<<": 3}, "calls")
    t.has(t.assay("report", file).err, "no call paths")
    file = t.write("trace.json", CHROME)
    t.equal(own(t, file), {"main": 15750, "leaf": 3000, "café \\x1b[31m": 1250}, "trace events")
    t.has(t.assay("report", file).err, "1 event is no slice")
    file = t.write("stacks.gz", gzip.compress(b"main;a;b 3\nmain;a 2.6\nmain 1\n# x\n"))
    t.equal(own(t, file), {"a": 3, "b": 3, "main": 1}, "folded, packed")
    t.equal(t.report("-g", "--full", file)["tree"]["total"], 7, "the tree")


@test
def callgrinds_own_file_has_its_total(t):
    t.need("valgrind")
    out = t.path("vg.out")
    run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-instr=yes", "true")
    totals = next(line for line in out.read_text().splitlines() if line.startswith("totals:"))
    rows = t.report("--full", out)["functions"]
    t.equal(sum(row["self"] for row in rows), int(totals.split()[1]), "instructions")


@test
def sql_and_diff_read_them(t):
    a = t.write("a.folded", "main;f 900\nmain;g 100\n")
    b = t.write("b.folded", "main;f 100\nmain;g 900\n")
    rows = t.json(t.assay("sql", "--format", "json", a, "SELECT sum(samples) n FROM samples").out)
    t.equal(rows, [{"n": 1000}], "sql")
    out = t.assay("diff", a, b, status=None).out
    for line in ("f", "g"):
        t.has(out, line)


@test
def damaged_files_are_named_with_the_place(t):
    for name, text, said in (
            ("a.folded", "main;f 3\n" * 2000 + "main;f x\n", "is damaged at line 2001"),
            ("b.cg", "# callgrind format\nevents: Ir\nfn=(3)\n1 2\n", "is damaged at line 3"),
            ("c.json", '{"traceEvents":[{"ph":"X"},\n', "is damaged at byte 28"),
            ("d.json", '{"traceEvents":[]}', "contains no slices")):
        file = t.write(name, text)
        for words in (("report", file), ("export", "--to", "pprof", "-o", "-", file)):
            result = t.assay(*words, status=1)
            t.has(result.err, f"{name} {said}")
    file = t.write("x.otlp", t.assay("export", "--to", "otlp", t.write("a.folded", "main;f 3\n"),
                                     text=False).out[:-9])
    t.has(t.assay("report", file, status=1).err, "x.otlp is damaged at byte")
    t.has(t.assay("report", "--event", "moon", t.write("a.folded", "main;f 3\n"), status=1).err,
          "has no values named moon: they are samples")


main()
