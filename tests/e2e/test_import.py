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
    t.equal(own(t, file), {"a": 2.6, "b": 3, "main": 1}, "folded, packed")
    t.equal(t.report("-g", "--full", file)["tree"]["total"], 6.6, "the tree")


@test
def callgrinds_own_file_has_its_total(t):
    t.need("valgrind")
    out = t.path("vg.out")
    run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-instr=yes", "true")
    totals = next(line for line in out.read_text().splitlines() if line.startswith("totals:"))
    rows = t.report("--full", out)["functions"]
    t.equal(sum(row["self"] for row in rows), int(totals.split()[1]), "instructions")


JUMPS = """version: 1
positions: line
events: Ir
fl=(1) a.c
fn=(1) main
10 5
jfi=(2) b.h
jump=3 +2
10
jfn=(2) other
jcnd=1/2 *
+1
12 0x7
fi=(2)
40 8
fn=(2)
+1 1
"""


@test
def jumps_of_callgrind_may_define_names(t):
    file = t.write("cg.out", JUMPS)
    t.equal(own(t, file), {"main": 20, "other": 1}, "costs; lines of jumps have none")
    t.has(t.assay("report", t.write("f.out", JUMPS.replace("10 5", "10 5.5"))).err,
          "1 number has a fraction: rounded")


EVENTS = """events: Ir Dr Dw I1mr D1mr
fn=(1) main
10 5 4 3 2 1
cob=(8)
cfi=(12)
cfn=(2) other
calls=3 30
11 400
ob=(8)
fn=(2)
30 7 6 5 4 3
"""


@test
def every_event_and_undefined_objects_of_callgrind_are_read(t):
    file = t.write("cg.out", EVENTS)
    for event, want in (("Ir", (5, 7)), ("Dw", (3, 5)), ("I1mr", (2, 4)), ("D1mr", (1, 3))):
        t.equal(own(t, file, "--event", event), dict(zip(("main", "other"), want)), event)
    result = t.assay("report", "--full", "--event", "D1mr", file)
    t.has(result.err, "of 5 events 3 are read, always with the wanted one; omitted: Dw, I1mr\n")
    t.has(result.err, "2 names of files or objects are not defined")
    t.has(result.out, "(8)", "the object has its number as name")


@test
def all_forms_of_valgrinds_files_have_their_total(t):
    t.need("valgrind", "gcc")
    t.run("gcc", "-g", "-O1", "-xc", "-o", t.path("p"), "-",
          input="int main(int n, char **v) { for (int i = 0; i < 99; i++) if (i % 7) n ^= i; return !n; }")
    for form in (["--collect-jumps=yes"], ["--collect-jumps=yes", "--dump-instr=yes"],
                 ["--collect-jumps=yes", "--compress-strings=no", "--compress-pos=no"],
                 ["--cache-sim=yes", "--branch-sim=yes"], ["--collect-systime=nsec"],
                 ["--separate-threads=yes", "--separate-callers=2"]):
        out = t.path("vg.out")
        for old in t.directory.glob("vg.out*"):
            old.unlink()
        t.run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *form, t.path("p"))
        out = next(f for f in sorted(t.directory.glob("vg.out*"), reverse=True))
        totals = next(line for line in out.read_text().splitlines() if line.startswith("totals:"))
        rows = t.report("--full", "--event", "Ir", out)["functions"]
        t.equal(sum(row["self"] for row in rows), int(totals.split()[1]), " ".join(form))


@test
def fractions_of_folded_stacks_are_exact(t):
    for lines, total, export in (
            ("main;a 0.25\nmain;b 0.4\nmain;c 0.35\n", "samples 1.00", "main;a 0.25"),
            ("main;a 1.4\n" * 5 + "main;b 2\n", "samples 9.0", "main;a 7.0"),
            ("main;a 1.0\nmain;b 2.\n", "samples 3\n", "main;a 1\n"),
            ("main;a 0.1000000004\nmain;b 1\n", "samples 1.100000000", "main;a 0.100000000")):
        file = t.write("x.folded", lines)
        text = t.assay("report", file)
        t.has(text.out, total, "the total")
        t.has(t.assay("export", "--to", "folded", file).out, export, "the export")
    t.has(text.err, "1 number has more than 9 decimals: rounded")
    a, b = t.write("a.folded", "main;a 1.5\nmain;b 1\n"), t.write("b.folded", "main;a 3\nmain;b 2\n")
    t.lacks(t.assay("diff", a, b, status=None).out, "15", "values of different decimals")


@test
def two_columns_of_folded_stacks_are_two_values(t):
    file = t.write("d.folded", "main;a 5 7\nmain;b 10 2\nmain;a 1 1\n")
    t.equal(own(t, file), {"a": 8, "b": 2}, "after")
    t.equal(own(t, file, "--event", "before"), {"a": 6, "b": 10}, "before")
    file = t.write("m.folded", "main;a 5 7\nmain;b 10\n")
    t.equal(own(t, file), {"a 5": 7, "b": 10}, "one column")
    t.has(t.assay("report", file).err, "1 of 2 lines end in two numbers")


@test
def lines_of_folded_stacks_may_be_long_or_packed(t):
    deep = ";".join(f"com.example.Service.method{i}" for i in range(40000)) + " 3\n"
    for text in (deep + "a;b 1\n", "b 1\n" + deep, "# " + "x" * 70000 + "\n" + deep + "b 1\n",
                 "\ufeffa;b\t4  \r\n"):
        for name, content in (("x.folded", text), ("x.gz", gzip.compress(text.encode()))):
            t.equal(t.report(t.write(name, content))["values"][0]["total"], 4, text[:20])


@test
def numbers_that_are_no_counts_are_refused_with_their_line(t):
    for number, said in (("-5", "'-5' is negative"), ("1e3", "'1e3' has an exponent"),
                         ("2.5E-1", "'2.5E-1' has an exponent"), ("-1 4", "'-1' is negative"),
                         ("99999999999999999999", "more than 64 bits")):
        for lines, place in ((f"main;a {number}\n", 1), (f"main;b 1\nmain;a {number}\n", 2)):
            text = t.assay("report", t.write("n.folded", lines), status=1).err
            t.has(text, said)
            if "64 bits" not in said:
                t.has(text, f"damaged at line {place}")


@test
def times_of_trace_events_may_be_texts(t):
    event = '[{"ph":"X","pid":"1","tid":"2","ts":%s,"dur":%s,"name":"a"},{"ph":"X","pid":1,"tid":2,' \
            '"ts":0,"dur":1,"name":"b"}]'
    t.equal(own(t, t.write("t.json", event % ('"10"', '"2.5"'))), {"a": 2500, "b": 1000}, "texts")
    t.equal(own(t, t.write("t.json", event % ("1e1", '"2.5e1"'))), {"a": 25000, "b": 1000}, "powers")
    for ts, dur in (('"soon"', "1"), ("1", '""'), ("true", "1"), ("1", "[3]")):
        file = t.write("t.json", event % (ts, dur))
        t.has(t.assay("report", file, status=1).err, "a time is not a number of microseconds")
    file = t.write("t.json", event % ("null", "3"))
    t.equal(own(t, file), {"b": 1000}, "without a time")
    t.has(t.assay("report", file).err, "1 event is no slice")


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
def events_and_samples_beside_slices_are_counted(t):
    other = '{"ph":"P","pid":1,"tid":2,"ts":1,"name":"ProfileChunk"}'
    form = '{"samples":[{"ts":"1","sf":1},{"ts":"2","sf":1}],"traceEvents":[%s]}'
    err = t.assay("report", t.write("a.json", form % (
        other + ',{"ph":"X","pid":1,"tid":2,"ts":1,"dur":3,"name":"main"}'))).err
    t.has(err, "1 event is no slice")
    t.has(err, "2 samples are beside the slices: omitted")
    err = t.assay("report", t.write("b.json", form % other), status=1).err
    t.has(err, "b.json contains no slices")
    t.has(err, "ui.perfetto.dev show its 3 other events")


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
