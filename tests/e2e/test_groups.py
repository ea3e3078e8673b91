# SPDX-License-Identifier: GPL-2.0-or-later
"""report --sort group: functions mapped to groups by rules, for each kind of recording."""

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
def errors_name_the_file_and_the_line(t):
    data = samples(t)
    result = t.assay("report", "--groups", t.write("bad", "input: read_*\nno colon\n"), data,
                     status=1)
    t.has(result.err, "bad, line 2", "the place")
    t.has(t.assay("report", "--groups", t.path("missing"), data, status=1).err, "missing",
          "a file that does not exist")


main()
