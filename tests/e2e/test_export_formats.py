# SPDX-License-Identifier: GPL-2.0-or-later
"""export: each kind of recording in each format of call paths, with the same sums. Names of other
tools are written unchanged, or escaped as the format requires. callgrind_annotate is the client of
callgrind; csv and json have Python's own readers.
"""
import collections
import csv
import io
import re

from harness import main, run, test
from otlp_read import Otlp
from pprof_write import Profile
from recursion_shapes import files

TEMPLATE = "std::map<" + "std::pair<int, char>, " * 180 + "int>::operator[]"
NAMES = ["main", "operator<<", TEMPLATE, 'a"b\\c;d</script>', "\x1b[31mred\x07", "line\nfeed", "é"]


def named(t):
    """A profile whose path is NAMES, the first one outermost, 3 samples and 30 ns; and a pair of
    recursive calls, 2 samples and 20 ns."""
    p = Profile(("samples", "count"), ("cpu", "nanoseconds"))
    p.mapping(0x1000, 0x90000, "/bin/prog", "ab12")
    places = [p.place(0x1100 + 16 * i, (name, i + 1)) for i, name in enumerate(NAMES)]
    p.sample(places[::-1], [3, 30], process="prog", pid=7, thread="work", tid=8)
    p.sample([places[1], places[0], places[1], places[0]], [2, 20], process="prog", pid=7)
    return t.write("names.pb", p.bytes())


def shown(name):
    """A name as assay writes it: control characters are escaped."""
    return re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", name).replace("\\x0a", "\\n")


def from_csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return rows, [key for key in rows[0] if key not in
                  ("process", "pid", "thread", "tid", "function", "path")]


def from_json(doc):
    """Path of names, outermost first, to values."""
    found = collections.defaultdict(lambda: [0] * len(doc["values"]))
    for sample in doc["samples"]:
        way, at = [], sample["path"]
        while doc["paths"][at]["parent"] is not None:
            place = doc["places"][doc["paths"][at]["place"]]
            way += [doc["functions"][f["function"]]["name"] for f in place["functions"]]
            at = doc["paths"][at]["parent"]
        for i, value in enumerate(sample["values"]):
            found[tuple(way[::-1])][i] += value
    return found


def from_speedscope(doc, profile):
    found, frames = collections.Counter(), doc["shared"]["frames"]
    for stack, weight in zip(profile["samples"], profile["weights"]):
        found[tuple(frames[f]["name"] for f in stack[1:])] += weight
    return found


@test
def every_kind_has_the_same_paths_in_each_format(t):
    for _, _, file, what in files(t):
        doc = t.json(t.assay("export", "--inline", "--to", "json", file).out)
        want = from_json(doc)
        rows, values = from_csv(t.assay("export", "--inline", "--to", "csv", file).out)
        t.equal(len(values), len(doc["values"]), f"{what}: values")
        got = collections.defaultdict(lambda: [0] * len(values))
        for row in rows:
            for i, value in enumerate(values):
                got[tuple(row["path"].split(";"))][i] += int(row[value])
        t.equal(dict(got), dict(want), f"{what}: csv")
        otlp = Otlp(t.assay("export", "--inline", "--to", "otlp", file, text=False).out)
        for i, profile in enumerate(otlp.profiles):
            value = doc["values"][i]
            t.equal(profile.type, (value["name"], value["unit"]), f"{what}: type in otlp")
            got = collections.Counter()
            for way, number, _ in profile.samples:
                got[way] += number
            t.equal(dict(got), {way: v[i] for way, v in want.items() if v[i]}, f"{what}: otlp")
        scope = t.json(t.assay("export", "--inline", "--to", "speedscope", file).out)
        for i, profile in enumerate(scope["profiles"]):
            t.equal(profile["name"], doc["values"][i]["name"], f"{what}: name of a value")
            t.equal(+from_speedscope(scope, profile),
                    {way: v[i] for way, v in want.items() if v[i] > 0}, f"{what}: speedscope")
            t.equal(profile["endValue"], sum(profile["weights"]), f"{what}: end")


def annotated(t, path, *words):
    """callgrind_annotate's figures by function; it must print no warning."""
    result = run("callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", *words,
                 path)
    t.equal(result.err, "", "warnings of callgrind_annotate")
    return {m[2]: int(m[1].replace(",", "")) for m in
            re.finditer(r"^\s*([\d,]+)[ .\d,]*  (?:\S*?:)?(.+?)(?: \[.*\])?$", result.out, re.M)}


@test
def callgrind_annotate_has_the_totals_of_every_kind(t):
    t.need("callgrind_annotate")
    for _, shape, file, what in files(t):
        doc = t.json(t.assay("export", "--inline", "--to", "json", file).out)
        value = next(i for i, v in enumerate(doc["values"]) if v["unit"] == "nanoseconds")
        out = t.path("out.cg")
        t.assay("export", "--inline", "--to", "callgrind", "-o", out, file)
        event = doc["values"][value]["name"].capitalize() + "_ns"
        found = annotated(t, out, f"--show={event}", f"--sort={event}")
        t.equal(found["PROGRAM TOTALS"], sum(v[value] for v in from_json(doc).values()),
                f"{what}: all")
        found = annotated(t, out, f"--show={event}", f"--sort={event}", "--inclusive=yes")
        for function, us in shape.totals.items():
            if us:
                t.equal(found[function], us * 1000, f"{what}: {function} with its callees")


@test
def callgrind_annotate_finds_the_sources_of_samples(t):
    """With --auto=yes, the default, it reads each file and needs a line in it."""
    t.need("callgrind_annotate")
    source = t.write("hot.c", "static inline void inner(volatile int *sum) { *sum += 1; }\n"
                              "int main(void)\n{\n\tvolatile int sum = 0;\n\n"
                              "\tfor (int i = 0; i < 200000000; i++)\n\t\tinner(&sum);\n}\n")
    t.run("cc", "-g", "-O2", "-o", t.path("hot"), source)
    t.assay("record", "-g", "-o", t.path("s.data"), "--", t.path("hot"))
    t.assay("export", "--to", "callgrind", "-o", t.path("out.cg"), t.path("s.data"))
    for words in ((), ("--inclusive=yes",)):
        result = run("callgrind_annotate", *words, t.path("out.cg"))
        t.equal(result.err, "", "warnings")
        t.has(result.out, "hot.c")


@test
def names_are_complete_and_harmless_in_each_format(t):
    data, want = named(t), [shown(name) for name in NAMES]
    short, long = ("main", "operator<<") * 2, tuple(want)
    doc = t.json(t.assay("export", "--to", "json", data).out)
    t.equal(dict(from_json(doc)), {long: [3, 30], short: [2, 20]}, "json")
    t.equal(doc["images"], [{"name": "/bin/prog", "build_id": "ab12"}], "json: images")
    rows, _ = from_csv(t.assay("export", "--to", "csv", data).out)
    by_samples = {int(row["samples"]): row for row in rows}
    t.equal(by_samples[3]["path"], ";".join(name.replace(";", ":") for name in want), "csv")
    t.equal(by_samples[3]["function"], want[-1], "csv: function")
    t.equal([by_samples[3][key] for key in ("process", "pid", "thread", "tid", "cpu_ns")],
            ["prog", "7", "work", "8", "30"], "csv: owner")
    scope = t.json(t.assay("export", "--to", "speedscope", data).out)
    t.equal(from_speedscope(scope, scope["profiles"][1]), {long: 30, short: 20}, "speedscope")
    otlp = Otlp(t.assay("export", "--to", "otlp", data, text=False).out).profiles[1]
    t.equal(otlp.samples, [
        (long, 30, {"process.executable.name": "prog", "process.pid": 7, "thread.name": "work",
                    "thread.id": 8}),
        (short, 20, {"process.executable.name": "prog", "process.pid": 7})], "otlp")
    text = t.assay("export", "--to", "callgrind", data).out
    for name in want:
        t.true(re.search(rf"fn=\(\d+\) {re.escape(name)}$", text, re.M), f"callgrind: {name[:40]}")
    for form in ("json", "csv", "speedscope", "callgrind", "folded"):
        out = t.assay("export", "--to", form, data).out
        t.true(not re.search(r"[\x00-\x09\x0b-\x1f]", out), f"{form}: no control characters")


@test
def values_below_zero_are_written_or_reported(t):
    p = Profile(("calls", "count"), ("net", "nanoseconds"))
    p.mapping(0x1000, 0x9000, "/bin/prog")
    p.sample([p.place(0x1100, ("less", 1))], [1, -40], process="prog", pid=7)
    p.sample([p.place(0x1200, ("more", 2))], [1, 100], process="prog", pid=7)
    data = t.write("below.pb", p.bytes())
    for form in ("csv", "json"):
        t.has(t.assay("export", "--to", form, data).out, "-40")
    for form in ("speedscope", "callgrind", "folded"):
        words = ("--value", "net") if form == "folded" else ()
        result = t.assay("export", "--to", form, *words, data)
        t.has(result.err, "1 path is with -40 together excluded")


main()
