# SPDX-License-Identifier: GPL-2.0-or-later
"""report --sort group: functions mapped to groups by rules, for each kind of recording."""

import sqlite3

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
RULES = """# a test
input: read_*
work: prog! parse_* other
caller: helper
"""


def groups(t, data, *words):
    rows = t.report(data, "--sort", "group", "--percent-limit", "0", *words)["rows"]
    return {row["group"]: row.get("samples", row.get("calls", row.get("self"))) for row in rows}


def samples(t):
    t.run("cc", "-O1", "-no-pie", "-o", t.path("prog"), t.write("prog.c", PROGRAM))
    addresses = {words[2]: int(words[0], 16) + 2
                 for words in map(str.split, t.run("nm", t.path("prog")).out.splitlines())
                 if len(words) == 3}
    file = PerfData("prog", 42, t.path("prog"))
    for chain, count in ((("read_all", "main"), 5), (("parse_line", "main"), 3),
                         (("helper", "parse_line", "main"), 2), (("main",), 1)):
        for _ in range(count):
            file.sample([addresses[name] for name in chain])
    return t.write("samples.data", file.bytes())


def calls(t):
    table = Table("prog", 42)
    outer = table.path(0, "main", calls=1, net=100)
    table.path(outer, "read_all", calls=5, net=500)
    table.path(outer, "parse_line", calls=3, net=300)
    return t.write("c.calls", table.bytes())


@test
def rules_of_the_user_come_before_those_of_assay(t):
    rules, data = t.write("rules", RULES), samples(t)
    t.equal(groups(t, data, "--groups", rules), {"input": 5, "work": 5, "[other]": 1}, "samples")
    t.equal(groups(t, data), {"[other]": 11}, "samples, without rules of the user")
    t.equal(groups(t, data, "--groups", t.write("m", "memory: mem*\n")), {"[other]": 11},
            "samples, with rules that match nothing")


@test
def groups_alone_sorts_by_group(t):
    rules = t.write("rules", RULES)
    got = t.report(samples(t), "--groups", rules)
    t.equal({row["group"] for row in got["rows"]}, {"input", "work", "[other]"}, "groups")


@test
def counted_calls_have_groups(t):
    t.equal(groups(t, calls(t), "--groups", t.write("rules", RULES)),
            {"input": 5, "work": 3, "[other]": 1}, "calls")


@test
def a_command_that_is_counted_has_groups(t):
    t.run("cc", "-O1", "-finstrument-functions", "-o", t.path("prog"), t.write("prog.c", PROGRAM))
    out = t.assay("calls", "--sort", "group", "--json", "-o", t.path("c.calls"), "--",
                  t.path("prog"), status=None).out
    rows = json.loads(out)["rows"]
    t.equal([(row["group"], row["calls"]) for row in rows], [("[other]", 4)], "groups")


@test
def bars_are_a_chart_of_each_sorted_table(t):
    rules = t.write("rules", RULES)
    text = t.assay("report", "--bars", "--groups", rules, samples(t)).out
    t.has(text, """
  share                    samples  group
 45.5 %  *******                 5  input
 45.5 %  *******                 5  work
  9.1 %  *                       1  [other]
100.0 %                         11  total
""", "groups")
    text = t.assay("report", "-f", "--by", "calls", "--bars", calls(t)).out
    lines = [line.split() for line in text.splitlines() if line.endswith(("read_all", "parse_line", "main"))]
    t.equal([(line[0], line[1]) for line in lines if line[0].isdigit()],
            [("5", "*" * 9), ("3", "*" * 5), ("1", "**")], "of the column that sorts")
    t.lacks(t.assay("report", "--groups", rules, samples(t)).out, "***", "without the option")


def sql(t, data, query, *words):
    return t.json(t.assay("sql", "--format", "json", *words, data, query).out)


@test
def sql_has_the_groups_of_reports(t):
    rules, query = t.write("rules", RULES), "SELECT name, samples FROM by_group"
    for kind, data in (("samples", samples(t)), ("calls", calls(t))):
        found = {row["name"]: row["samples"] for row in sql(t, data, query, "--groups", rules)}
        t.equal(found, groups(t, data, "--groups", rules), kind)
    data = samples(t)
    t.assay("export", "--to", "sqlite", "-o", t.path("x.db"), data)
    with contextlib.closing(sqlite3.connect(t.path("x.db"))) as db:
        t.equal(db.execute(query).fetchall(), [("[other]", 11)], "an exported database")
    query = ("SELECT function_group('tcp_ack', '[kernel.kallsyms]') AS a, function_group('tcp_ack') AS b, "
             "function_group('_int_malloc', 'libc.so.6') AS c, function_group(NULL) AS d, "
             "function_group('read_x', 'any') AS e")
    t.equal(sql(t, data, query, "--groups", rules),
            [{"a": "kernel/network", "b": "[other]", "c": "libc/allocation", "d": None, "e": "input"}],
            "function_group")
    t.has(t.assay("sql", "--groups", t.write("bad", "x"), data, query, status=1).err, "bad, line 1",
          "rules that are wrong")


@test
def errors_name_the_file_and_the_line(t):
    data = samples(t)
    result = t.assay("report", "--groups", t.write("bad", "input: read_*\nno colon\n"), data,
                     status=1)
    t.has(result.err, "bad, line 2", "the place")
    result = t.assay("report", "--groups", t.write("bad", "input: read_*\nx: libc.so*!\n"), data,
                     status=1)
    t.has(result.err, "bad, line 2: no pattern after the last FILE!", "a qualifier without a pattern")
    t.has(t.assay("report", "--groups", t.path("missing"), data, status=1).err, "missing",
          "a file that does not exist")


main()
