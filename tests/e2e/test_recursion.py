# SPDX-License-Identifier: GPL-2.0-or-later
"""Recursion has one answer in samples, counted calls, event tags and pprof profiles: the tables
of functions, callers and callees of every shape of recursion_shapes.py, in text, JSON and SQL.
"""
import itertools
import re

from harness import main, test
from recursion_shapes import KINDS, SHAPES, cell, files, self_of, texts, ways, whole, write_samples

# Totals of functions


# The samples of a function that is inlined are those of the function around it in the tables of
# samples: `inner` has no row there.
NO_ROW = (("samples", "inlined"),)


@test
def json_counts_each_path_once(t):
    for kind, shape, file, what in files(t, without=NO_ROW):
        rows = {row["function"]: row for row in kind.rows(t.report(
            *kind.words, "--percent-limit", "0", file)) if row["function"] in shape.totals}
        t.equal({name: row[kind.total] / kind.unit for name, row in rows.items()}, shape.totals,
                f"{what}: totals")
        t.equal({name: row[kind.own] / kind.unit for name, row in rows.items() if row[kind.own]},
                self_of(shape), f"{what}: own")


@test
def samples_of_inlined_functions_count_once_in_the_function_around_them(t):
    shape = SHAPES["inlined"]
    rows = t.report("--children", "--sort", "function", write_samples(t, "inlined", shape))["rows"]
    t.equal({row["function"]: (row["samples"], row["total_samples"]) for row in rows},
            {"main": (1, 10), "outer": (5, 9), "leaf": (4, 4)}, "self and total")


@test
def text_has_the_same_totals(t):
    for kind, shape, file, what in files(t, without=NO_ROW):
        lines = t.assay("report", *kind.words, "--percent-limit", "0", file).out.splitlines()
        header = next(line for line in lines if re.search(r"function$", line, re.I)
                      and kind.column in line)
        rows = {line.split()[-1]: cell(line, header, kind.column)
                for line in lines[lines.index(header) + 1:] if line.strip()}
        for function, total in shape.totals.items():
            t.true(rows.get(function) in texts(total, shape),
                   f"{what}: the total of {function} is {rows.get(function)}, not {total} us")


SQL_TOTALS = """
    WITH RECURSIVE leaves AS (
        SELECT stack AS leaf, sum(weight) AS weight FROM samples WHERE stack > 0 GROUP BY stack),
    up(leaf, stack, weight) AS (
        SELECT leaf, leaf, weight FROM leaves
        UNION ALL
        SELECT leaf, s.parent, weight FROM up JOIN stacks s ON s.id = up.stack WHERE s.parent > 0),
    once AS (
        SELECT DISTINCT leaf, f.function AS function, weight
        FROM up JOIN stacks s ON s.id = up.stack JOIN frames f ON f.id = s.frame)
    SELECT n.name AS function, sum(weight) AS total
    FROM once JOIN functions n ON n.id = once.function GROUP BY n.id"""


@test
def sql_has_the_same_totals(t):
    for _, shape, file, what in files(t, without=NO_ROW):
        rows = t.json(t.assay("sql", "--format", "json", file, SQL_TOTALS).out)
        got = {row["function"]: row["total"] / 1000 for row in rows}
        t.equal({name: got.get(name) for name in shape.totals}, shape.totals, what)


# Callers and callees: each path is in the part of the outermost call of the function

# Calculated by hand, for a function of a shape: (part, total) of each of its callers and callees.
NEIGHBOURS = {
    ("nested", "f"): ({"main": (14, 14), "g": (0, 9)},
                      {"g": (12, 12), "leaf": (0, 5), "[self]": (2, 6)}),
    ("nested", "g"): ({"f": (12, 12)}, {"f": (9, 9), "[self]": (3, 3)}),
    ("direct", "f"): ({"main": (14, 14), "f": (0, 12)},
                      {"f": (12, 12), "leaf": (0, 5), "[self]": (2, 9)}),
    ("mutual", "even"): ({"main": (20, 20), "odd": (0, 15)},
                         {"odd": (18, 18), "[self]": (2, 6)}),
    ("a round and a half", "g"): ({"f": (25, 25)}, {"f": (22, 22), "[self]": (3, 8)}),
    ("two callers", "f"): ({"main": (14, 14), "g": (0, 9), "h": (15, 15)},
                           {"g": (12, 12), "leaf": (8, 13), "[self]": (9, 13)}),
    ("two callers", "leaf"): ({"f": (13, 13)}, {"[self]": (13, 13)}),
    ("inlined", "inner"): ({"outer": (9, 9)},
                           {"outer": (7, 7), "leaf": (0, 4), "[self]": (2, 5)}),
    ("inlined", "outer"): ({"main": (9, 9), "inner": (0, 7)}, {"inner": (9, 9)}),
}


def neighbour_rows(report, key):
    """(part, total) in shares of the recording, and calls, of each row by its name."""
    rows = report[key] if key in report else report["processes"][0][key]
    total = next(name for name in ("total_ns", "samples", "total") if name in rows[0])
    share = lambda row: row["share"] if "share" in row else row[total]
    return {row.get("function", row.get("name")): (row["part_share"], share(row),
                                                   row.get("calls")) for row in rows}


@test
def json_has_the_same_callers_and_callees(t):
    for word, kind in KINDS.items():
        for (name, function), want in NEIGHBOURS.items():
            shape = SHAPES[name]
            what = f"{word}, {function} of {name}"
            report = t.report("--inline", "--callers", function, "--callees", function,
                              kind.write(t, f"{word} {name}".replace(" ", "-"), shape))
            for key, rows in zip(("callers", "callees"), want):
                got = neighbour_rows(report, key)
                # Shares of counted calls are of net; their table has no share of the total.
                unit = 1e-3 if word == "calls" else whole(shape)
                t.equal({row: (round(part * whole(shape), 6), round(total * unit, 6))
                         for row, (part, total, _) in got.items() if total}, rows,
                        f"{what}: {key}")
                t.equal(round(sum(part for part, _, _ in got.values()) * whole(shape), 6),
                        shape.totals[function], f"{what}: the parts of {key} add up")
            if kind.own == "net_ns":
                calls = sum(way[-1] == function for way in ways(shape))
                got = neighbour_rows(report, "callers")
                t.equal(sum(row[2] for row in got.values()), calls, f"{what}: calls")


@test
def text_has_the_same_callers_and_callees(t):
    for word, kind in KINDS.items():
        for (name, function), want in NEIGHBOURS.items():
            shape = SHAPES[name]
            text = t.assay("report", "--inline", "--callers", function, "--callees", function,
                           "--percent-limit", "0",
                           kind.write(t, f"{word} {name}".replace(" ", "-"), shape)).out
            for key, title, rows in zip(("caller", "callee"), ("Callers of", "Called by"), want):
                lines = text[text.index(f"{title} {function}\n"):].splitlines()[1:]
                got = {line.split()[-1]: cell(line, lines[0], "part")
                       for line in itertools.takewhile(str.strip, lines[1:])}
                rows = {row: part for row, (part, _) in rows.items()}
                for row, part in [*rows.items(), ("total", shape.totals[function])]:
                    wanted = texts(part, shape) | {f"{part}.00 ms"} if part else {"0", "0 s"}
                    t.true(got.get(row) in wanted,
                           f"{word}, {key} of {function} of {name}: the part of {row} is "
                           f"{got.get(row)}, not {part}")


@test
def outermost_functions_have_no_caller(t):
    shape = SHAPES["nested"]
    for word, kind in KINDS.items():
        report = t.report("--callers", "main", kind.write(t, word, shape))
        row = "(outside)" if word == "calls" else "[no caller]"
        t.equal(list(neighbour_rows(report, "callers")), [row], word)


@test
def an_unknown_function_is_an_error_with_names_near_it(t):
    for word, kind in KINDS.items():
        file = kind.write(t, word, SHAPES["nested"])
        for option in ("--callers", "--callees"):
            result = t.assay("report", option, "lead", file, status=1)
            t.has(result.err, "no function that was called has the name lead; did you mean leaf?")
            t.equal(result.out, "", "output")


# Options mean the same for each kind


def table(t, word, *words):
    """The rows of a report on the shape with two callers: (function, own us, total us)."""
    kind = KINDS[word]
    report = t.report(*words, kind.write(t, f"options-{word}", SHAPES["two callers"]))
    rows = report.get("rows") or (
        report["processes"][0]["functions"] if word == "calls" else report["functions"])
    own = lambda row: row[kind.own] / kind.unit
    total = lambda row: (row.get(kind.total) or row.get("total_ns") or 0) / kind.unit
    return [(row["function"], own(row), total(row)) for row in rows if own(row) or total(row)]


@test
def options_mean_the_same_for_each_kind(t):
    """--sort, --children, --by, --symbol, -n, --percent-limit, --percentage, --wide, --markdown."""
    own = {"f": 13, "leaf": 13, "h": 6, "g": 3, "main": 1}
    totals = [("main", 36), ("f", 29), ("h", 21), ("leaf", 13), ("g", 12)]
    names = {"samples": "function", "calls": "name", "tags": "name", "pprof": "function"}
    for word in KINDS:
        by_function = ("--sort", "function", "--percent-limit", "0")
        t.equal({name: net for name, net, _ in table(t, word, "--sort", "process,function")}, own,
                f"{word}: by process and function")
        t.equal([(name, total) for name, _, total in table(t, word, "--children", *by_function)],
                totals, f"{word}: with children")
        t.equal([name for name, _, _ in table(t, word, "--by", names[word], *by_function)],
                sorted(own), f"{word}: sorted by name")
        t.equal([(name, net) for name, net, _ in table(t, word, "--symbol", "leaf", *by_function)],
                [("leaf", 13)], f"{word}: one function")
        t.equal(len(table(t, word, "--sort", "function", "-n", "2")), 2, f"{word}: two lines")
        t.equal({name for name, _, _ in table(t, word, "--sort", "function", "--percent-limit", "20")},
                {"f", "leaf"}, f"{word}: from 20 % on")
        file = t.path("options-" + word)
        file = next(path for path in t.directory.iterdir() if path.stem == file.name and
                    path.suffix in (".data", ".calls", ".tags", ".pb"))
        # A limit does not apply to rows that a filter named, and totals still add up.
        text = t.assay("report", "-S", "leaf", "--sort", "function", "--percent-limit", "99", file).out
        t.true(any(line.split()[-1:] == ["leaf"] for line in text.splitlines()), f"{word}: leaf: {text}")
        t.has(text, "[not selected]", f"{word}: the rest of the total")
        t.true(" more]" not in text, f"{word}: no row is left out: {text}")
        if word == "calls":
            t.has(t.assay("report", "-f", "-S", "leaf", file).out, "[not selected]", "call paths")
        for words in (("-S", "leaf", "--percentage", "relative", "-f"), ("--wide", "-f")):
            text = t.assay("report", *words, file).out
            t.has(text, "100.0 %" if word != "tags" or "-S" in words else "36.11", f"{word}: {words}")
        lines = t.assay("report", "--markdown", "-f", file).out.splitlines()
        t.true(any(line.startswith("|") and "leaf" in line for line in lines), f"{word}: Markdown")
        t.has(t.assay("report", "-f", "--by", "colour", file, status=2).err,
              "no table of this report has a column 'colour' to sort by; the columns are",
              f"{word}: a column that is not there")
        t.has(t.assay("report", "--pid", "4x", file, status=2).err, "'4x' is not a process number",
              f"{word}: no number")
        t.has(t.assay("report", "--sort", "function,colour", file, status=2).err,
              "--sort knows no key 'colour'", f"{word}: a key that is not there")


@test
def what_a_kind_does_not_have_is_one_sentence(t):
    names = {"samples": "samples (perf.data)", "calls": "call paths (assay.calls)",
             "tags": "event tags (assay.tags)", "pprof": "pprof profiles"}
    facts = {
        ("--cpu", "0"): ("the CPU of each row", "calls tags pprof"),
        ("--sort", "cpu"): ("the CPU of each row", "calls tags pprof"),
        ("--cgroup", "/x"): ("the cgroup of each row", "calls tags pprof"),
        ("--tid", "1"): ("the thread of each row", "calls"),
        ("--dso", "x"): ("the file of each function", "tags"),
        ("--sort", "line"): ("the source line of each row", "tags"),
        ("--time", "0,1"): ("the time of each row", "calls tags pprof"),
        ("--event", "x"): ("several events", "calls tags"),
        ("--instances",): ("a row for each process", "tags pprof"),
        ("--process-limit", "user:1%"): ("tables for each process", "calls tags pprof"),
        ("--no-idle",): ("idle time among the rows", "calls tags pprof"),
        ("--full-paths",): ("a table of call paths", "samples tags pprof"),
        ("--function", "x"): ("the time of each call", "samples calls pprof"),
        ("--unit", "ns"): ("event tags", "samples calls pprof"),
        ("--symfs", "/"): ("code addresses without names", "tags pprof"),
        ("--no-demangle",): ("names as the linker knows them", "pprof"),
    }
    for word, kind in KINDS.items():
        file = kind.write(t, f"refused-{word}", SHAPES["direct"])
        for words, (fact, kinds) in facts.items():
            option = " ".join(words[:1 + (words[0] == "--sort")])
            sentence = f"report: {option} needs {fact}, which {names[word]} do not have"
            if word in kinds.split():
                result = t.assay("report", *words, file, status=2)
                t.has(result.err, sentence, f"{word}: {words}")
                t.equal(result.out, "", f"{word}: {words}")
            else:
                t.lacks(t.assay("report", *words, file, status=None).err, f"{fact}, which {names[word]}",
                        f"{word}: {words}")


main()
