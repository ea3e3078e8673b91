# SPDX-License-Identifier: GPL-2.0-or-later
"""report --brief: at most 4 KB, for every kind of recording; the query of each finding gives its
share, also for names of foreign files.
"""
from harness import main, run, test
from pprof_write import Profile
from recursion_shapes import files

KEYS = ["assay", "schema", "recorded", "unit", "findings", "limits", "parts", "omitted"]


def check(t, file, what):
    """The findings; each query has one row with the same share, also as the text prints it."""
    out = t.assay("report", "--brief", "--json", file).out
    t.true(len(out.encode()) <= 4096, f"{what}: {len(out.encode())} bytes of JSON")
    brief = t.json(out)
    t.equal((list(brief), brief["schema"]), (KEYS, "assay-brief/1"), f"{what}: keys")
    for finding in brief["findings"]:
        row, = t.json(t.assay("sql", "--format", "json", file, finding["sql"]).out)
        t.near(row["share"], finding["share"], 1e-6, f"{what}: {finding['sql']}")
    text = t.assay("report", "--brief", file).out
    t.true(len(text.encode()) <= 4096, f"{what}: {len(text.encode())} bytes of text")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("assay sql ")]
    t.equal(len(lines), len(brief["findings"]), f"{what}: a line for each finding")
    for line, finding in zip(lines, brief["findings"]):
        words = run("sh", "-c", "printf '%s\\n' " + line).out.splitlines()
        t.equal((words[:2], words[-1]), (["assay", "sql"], finding["sql"]), f"{what}: the line")
    return brief


@test
def every_kind_has_findings_that_its_queries_reproduce(t):
    for _, shape, file, what in files(t):
        if not what.endswith("direct"):
            continue
        brief = check(t, file, what)
        functions = [f for f in brief["findings"] if f["what"] == "function"]
        t.equal((functions[0]["function"], len(functions)), ("f", 3), f"{what}: functions")
        t.near(functions[0]["share"], 9 / 15, 1e-6, f"{what}: share")


@test
def a_recording_has_intervals_processes_and_parts(t):
    data = t.path("s.data")
    t.assay("record", "-o", data, "--", "sh", "-c", f"{t.workload('btree')}; true")
    brief = check(t, data, "samples")
    first = brief["findings"][0]
    t.true(first["low"] < first["share"] < first["high"], "the interval contains the share")
    summary = t.report(data)["summary"]
    t.near(first["share"], summary["reasons"][0]["share"], 1e-9, "as in the report")
    t.true("user" in brief["parts"], "parts of the time")


@test
def long_and_strange_names_are_cut_and_found_by_their_queries(t):
    p = Profile(("samples", "count"))
    p.mapping(0x1000, 0x9000, "/bin/prog")
    names = ["std::map<" + "std::pair<int, é>, " * 220 + f"int>::f{i}" for i in range(2)]
    names += ["it's \x1b[31m\n $(x) \"q\""]
    for i, name in enumerate(names):
        p.sample([p.place(0x1100 + 16 * i, (name, 1))], [50 - 7 * i], process="a'b" * 40, pid=7)
    p.sample([p.place(0x1900, ("last", 1))], [2], process="other", pid=8)
    brief = check(t, t.write("names.pb", p.bytes()), "names")
    t.equal([f["share"] for f in brief["findings"] if f["what"] == "function"],
            [round(n / 131, 9) for n in (50, 43, 36)], "each name by itself")
    t.true(all(len((f["function"] or "").encode()) <= 120 for f in brief["findings"]), "cut")


@test
def options_that_select_a_part_are_refused(t):
    data = t.write("a.folded", "main;f 3\n")
    for words in (("--full",), ("--sort", "image"), ("--comm", "x"), ("-g",), ("--event", "samples"),
                  ("--json", "--nested"), (data,)):
        t.has(t.assay("report", "--brief", *words, data, status=2).err, "--brief ")


main()
