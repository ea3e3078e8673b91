# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports of recursion contain the call paths as they are, for every shape of recursion_shapes.py
and every kind of recording; formats that sum up by function count each path once.
"""
import collections
import re

from harness import main, test
from pprof_read import Pprof
from recursion_shapes import files, paths, self_of, ways


def folded(t, file):
    """The numbers of an export by path from main on."""
    found = collections.Counter()
    for line in t.assay("export", "--inline", "--to", "folded", file).out.splitlines():
        if not line.startswith("#"):
            way, number = line.rsplit(" ", 1)
            way = [name.removesuffix("_[i]") for name in way.split(";")]
            found[tuple(way[way.index("main"):])] += int(number)
    return found


@test
def exports_contain_the_paths_as_they_are(t):
    for kind, shape, file, what in files(t):
        per_us = 1 if kind.unit == 1 else 1000
        got = folded(t, file)
        t.equal({way: number / per_us for way, number in got.items() if number}, paths(shape),
                f"{what}: folded stacks")
        made = t.path(file.name + ".exported.pb.gz")
        t.assay("export", "--inline", "--to", "pprof", "-o", made, file)
        pprof, ways = Pprof(made), collections.Counter()
        value = next(i for i, (_, unit) in enumerate(pprof.types) if unit == "nanoseconds")
        for way, values, _ in pprof.samples:
            ways[way] += values[value]
        t.equal({way: ns / 1000 for way, ns in ways.items() if ns}, paths(shape), f"{what}: pprof")


SQL_PATHS = """
    WITH RECURSIVE way(stack, parent, text) AS (
        SELECT s.id, s.parent, n.name FROM stacks s JOIN frames f ON f.id = s.frame
        JOIN functions n ON n.id = f.function
        UNION ALL
        SELECT way.stack, s.parent, n.name || ';' || way.text
        FROM way JOIN stacks s ON s.id = way.parent JOIN frames f ON f.id = s.frame
        JOIN functions n ON n.id = f.function)
    SELECT text, sum(weight) AS weight FROM samples JOIN way USING (stack)
    WHERE parent = 0 AND weight > 0 GROUP BY text"""


@test
def sql_contains_the_paths_as_they_are(t):
    """In the tables of samples, inlined functions are a part of the function around them."""
    for _, shape, file, what in files(t, without=(("samples", "inlined"),)):
        got = collections.Counter()
        for row in t.json(t.assay("sql", "--format", "json", file, SQL_PATHS).out):
            way = tuple(row["text"].split(";"))
            got[way[way.index("main"):]] += row["weight"] / 1000
        t.equal(got, paths(shape), what)


def callgrind(text):
    """Own time of each function; (calls, time) of each pair of caller and callee. Times are us."""
    names, own, pairs, at, called = {}, collections.Counter(), {}, None, None
    for line in text.splitlines():
        word = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if word and word[3]:
            names[word[2]] = word[3]
        if word and word[1] == "fn":
            at = names[word[2]]
        elif word:
            called = names[word[2]]
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif at and re.match(r"\d+ -?\d+", line):
            us = int(line.split()[1]) / 1000
            if called:
                pairs[at, called], called = (calls, us), None
            else:
                own[at] += us
    return own, pairs


@test
def callgrind_counts_each_path_once(t):
    """The calls of a function add up to its total if only its outermost calls have the time."""
    for _, shape, file, what in files(t, "calls"):
        own, pairs = callgrind(t.assay("export", "--inline", "--to", "callgrind", file).out)
        t.equal(+own, self_of(shape), f"{what}: own")
        calls = collections.Counter(
            (way[-2] if way[1:] else "(outside)", way[-1]) for way in ways(shape))
        t.equal({pair: number for pair, (number, _) in pairs.items()}, calls, f"{what}: calls")
        totals = collections.Counter()
        for (_, callee), (_, us) in pairs.items():
            totals[callee] += us
        t.equal(totals, shape.totals, f"{what}: totals")


@test
def chrome_contains_each_call(t):
    for _, shape, file, what in files(t, "tags"):
        events = t.json(t.assay("export", "--inline", "--to", "chrome", file).out)["traceEvents"]
        got, way, last = collections.Counter(), (), 0
        for event in events:
            if event["ph"] not in "BE":
                continue
            got[way] += round(event["ts"] - last, 3)
            last = event["ts"]
            way = way + (event["name"],) if event["ph"] == "B" else way[:-1]
        t.equal(+got, paths(shape), what)


@test
def a_report_of_an_export_has_the_same_totals(t):
    for kind, shape, file, what in files(t):
        made = t.path(file.name + ".again.pb.gz")
        t.assay("export", "--inline", "--to", "pprof", "-o", made, file)
        event = next(v["name"] for v in t.report(made)["values"] if v["unit"] == "nanoseconds")
        rows = t.report("--children", "--event", event, made)["functions"]
        t.equal({row["function"]: row["total"] / 1000 for row in rows}, shape.totals, what)


main()
