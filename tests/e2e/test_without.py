# SPDX-License-Identifier: GPL-2.0-or-later
"""report --without: functions and groups taken out, for each kind of recording."""
import struct

from calls_table import Table
from harness import *
from perf_write import PerfData
from pprof_write import Profile

PROGRAM = """
__attribute__((noinline)) int read_all(int x) { return x * 3; }
__attribute__((noinline)) int parse_line(int x) { return x * 5; }
__attribute__((noinline)) int helper(int x) { return x * 7; }
int main(int argc, char **argv) { return read_all(argc) + parse_line(argc) + helper(argc); }
"""
RULES = "input: read_*\nwork: parse_* helper\n"
# Own samples; parse_line calls helper.
CHAINS = ((("read_all", "main"), 5), (("parse_line", "main"), 3),
          (("helper", "parse_line", "main"), 2), (("main",), 2))
ALL = 12


def samples(t):
    t.run("cc", "-O1", "-no-pie", "-o", t.path("prog"), t.write("prog.c", PROGRAM))
    addresses = {words[2]: int(words[0], 16) + 2
                 for words in map(str.split, t.run("nm", t.path("prog")).out.splitlines())
                 if len(words) == 3}
    file = PerfData("prog", 42, t.path("prog"))
    for chain, count in CHAINS:
        for _ in range(count):
            file.sample([addresses[name] for name in chain])
    return t.write("samples.data", file.bytes())


def pprof(t):
    p = Profile(("samples", "count"))
    p.mapping(0x1000, 0x2000, "/bin/prog")
    places = {name: p.place(0x1000 + 16 * i, (name, i))
              for i, name in enumerate(("main", "read_all", "parse_line", "helper"))}
    for chain, count in CHAINS:
        p.sample([places[name] for name in chain], [count])
    return t.write("p.pb", p.bytes())


def calls(t):
    table = Table("prog", 42)
    ids = {(): 0}
    for chain in sorted((chain[::-1] for chain, _ in CHAINS), key=len):
        ids[chain] = table.path(ids[chain[:-1]], chain[-1], calls=1,
                                net=1000 * dict(CHAINS)[chain[::-1]])
    return t.write("c.calls", table.bytes())


def tags(t):
    """main 2 us, read_all 5, parse_line 3, helper in it 2."""
    names = "".join(f"{name}/{tag}\n" for tag, name in
                    ((2, "main"), (4, "read_all"), (6, "parse_line"), (8, "helper")))
    events = ((0, 2), (1, 4), (6, 5), (6, 6), (9, 8), (11, 9), (11, 7), (12, 3))
    t.assay("tags", "import", "--names", t.write("names", names), "-o", t.path("x.tags"),
            t.write("dump", b"".join(struct.pack("<HI", tag, us)[:5] for us, tag in events)))
    return t.path("x.tags")


def rows(report, unit):
    """name: (as is, without), in the unit; `normalised` agrees with them."""
    rest = report["without"]["remainder"]
    for row in report["rows"]:
        near(row["normalised"], row["without"] / rest)
    return {row.get("function") or row.get("group"):
            (round(row["share"] * ALL, 6), row["without"] / unit) for row in report["rows"]}


def near(a, b):
    if abs(a - b) > 1e-6:
        raise Failure(f"{a} is not {b}")


KINDS = (("samples", samples, None), ("pprof", pprof, 1), ("calls", calls, 1000),
         ("tags", tags, 1000))


def each_kind(t):
    for name, make, unit in KINDS:
        data = make(t)
        if unit is None:
            unit = t.report("--without", "main", data)["without"]["remainder"] / (ALL - 2)
        yield name, data, unit


@test
def functions_are_taken_out(t):
    for kind, data, unit in each_kind(t):
        report = t.report("--without", "parse_line", "--without", "read_all", data)
        t.equal(rows(report, unit), {"main": (2, 2), "helper": (2, 2), "parse_line": (3, 0),
                                     "read_all": (5, 0)}, kind)
        t.equal(report["without"], {"names": ["parse_line", "read_all"], "removed": 8 * unit,
                                    "remainder": 4 * unit, "share": report["without"]["share"]},
                f"{kind}, the removed time")
        t.near(report["without"]["share"], 8 / ALL, 1e-6, kind)


@test
def groups_are_taken_out(t):
    rules = t.write("rules", RULES)
    for kind, data, unit in each_kind(t):
        report = t.report("--groups", rules, "--without", "group:work", data)
        t.equal(rows(report, unit), {"main": (2, 2), "helper": (2, 0), "parse_line": (3, 0),
                                     "read_all": (5, 5)}, kind)
        report = t.report("--groups", rules, "--sort", "group", "--without", "helper", data)
        t.equal(rows(report, unit), {"[other]": (2, 2), "work": (5, 3), "input": (5, 5)},
                f"{kind}, a function of a group")
        report = t.report("--groups", rules, "--without", "group:[other]", data)
        t.equal(rows(report, unit)["main"], (2, 0), f"{kind}, the others")


@test
def callees_stay(t):
    for kind, data, unit in each_kind(t):
        report = t.report("--children", "--without", "parse_line", data)
        found = {row["function"]: row for row in report["rows"]}
        t.equal([found["parse_line"][key] / unit for key in ("total_without", "without")],
                [2, 0], f"{kind}, the caller")
        t.near(found["parse_line"]["total_normalised"], 2 / 9, 1e-6, f"{kind}, normalised")
        t.equal(found["main"]["total_without"] / unit, 9, f"{kind}, the outermost function")


def nodes_of(t, *words):
    report = t.json(t.assay("report", "--json", "-g", *words).out)
    return {node["name"]: node for node in report["tree"]}


@test
def the_tree_has_the_removed_time_as_a_node(t):
    for kind, data, unit in each_kind(t):
        nodes = nodes_of(t, "--without", "parse_line", data)
        t.equal({name: (nodes[name]["without"] / unit, nodes[name]["self_without"] / unit)
                 for name in ("all", "main", "read_all", "parse_line", "helper", "[removed]")},
                {"all": (12, 0), "main": (9, 2), "read_all": (5, 5), "parse_line": (2, 0),
                 "helper": (2, 2), "[removed]": (3, 3)}, kind)
        t.near(nodes["all"]["normalised"], 1, 1e-6, f"{kind}, the root")
        t.near(nodes["parse_line"]["normalised"], 2 / 9, 1e-6, f"{kind}, a node")
        t.equal(nodes["[removed]"]["normalised"], None, f"{kind}, the removed time")


@test
def the_removed_time_is_a_row_for_readers(t):
    text = t.assay("report", "--without", "parse_line", pprof(t)).out
    t.has(text, "without     parse_line: 3 of their own (25.0 %) taken out; normalised shares are\n"
                "            shares of the remaining 9\n", "the heading")
    t.has(text, """\
self           total           without  normalised  function
   5   41.7 %      5   41.7 %        5      55.6 %  read_all
   2   16.7 %     12  100.0 %        2      22.2 %  main
   2   16.7 %      2   16.7 %        2      22.2 %  helper
   3   25.0 %      5   41.7 %        0       0.0 %  parse_line
                                     3              [removed]
  12  100.0 %                       12     100.0 %  total
""", "the table")
    text = t.assay("report", "--markdown", "--without", "parse_line", pprof(t)).out
    t.has(text, "|  |  |  |  | 3 |  | \\[removed\\] |\n", "Markdown")
    t.has(t.assay("report", "--without", "parse_line", samples(t)).out, "[removed]", "samples")
    t.has(t.assay("report", "-g", "--percent-limit", "50", "--without", "main", samples(t)).out,
          " [removed]", "the tree, with a limit")
    for lines in (1, 2, 3, 100):
        for kind, data, _ in each_kind(t):
            tree = t.assay("report", "-g", "-n", str(lines), "--without", "parse_line", data).out
            t.equal(tree.count(" [removed]"), 1, f"{kind}, a tree of {lines} lines: {tree}")
    tree = t.assay("report", "--markdown", "-g", "-n", "1", "--without", "main", samples(t)).out
    t.has(tree, " [removed]", "a tree in Markdown")
    t.has(t.assay("report", "-n", "1", "--without", "main", samples(t)).out, "[removed]",
          "a table of one line")


@test
def filters_select_and_the_rest_adds_up(t):
    text = t.assay("report", "-S", "main,parse_line", "--without", "parse_line,", pprof(t),
                   status=1).err
    t.has(text, "parse_line,", "a comma does not separate")
    text = t.assay("report", "-S", "main,parse_line", "--without", "parse_line", pprof(t)).out
    lines = {line.split()[-1]: line.split()[:-1] for line in text.splitlines() if line.strip()}
    t.equal(lines["selected]"][-4:-1], ["7", "77.8", "%"], "not selected")
    t.equal(lines["[removed]"], ["3"], "removed")
    t.equal(lines["total"][-3:], ["12", "100.0", "%"], "total")
    report = t.report("-S", "main,parse_line", "--percentage", "relative", "--without",
                      "parse_line", pprof(t))
    t.equal((report["without"]["removed"], report["without"]["remainder"]), (3, 2), "relative")


@test
def names_that_match_nothing_are_errors(t):
    for kind, data, _ in each_kind(t):
        error = t.assay("report", "--without", "parse_lone", data, status=1).err
        t.has(error, "--without: no function that was called has the name parse_lone; "
                     "did you mean parse_line?", kind)
        error = t.assay("report", "--without", "group:libc/alocation", data, status=1).err
        t.has(error, "no group has the name libc/alocation; near it are 'group:libc/allocation'",
              f"{kind}, a group")
        error = t.assay("report", "--without", "libc/allocation", data, status=1).err
        t.has(error, "but a group has it: --without 'group:libc/allocation'",
              f"{kind}, a group without its prefix")
    t.has(t.assay("report", "--without", "main", "--callers", "main", pprof(t), status=2).err,
          "not --callers, --callees and --inverted", "callers")


main()
