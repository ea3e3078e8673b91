# SPDX-License-Identifier: GPL-2.0-or-later
"""Recursion has one answer in samples, counted calls, event tags and pprof profiles: the total of
a function counts each call path once; a call tree folds whole repeated rounds only and never moves
a path under another caller; exports and SQL contain the paths as they are.

Each shape is written as a file of each kind. Times are us; a sample stands for one us. The totals
and trees are calculated by hand from the paths.
"""
import collections
import itertools
import re
import struct

from calls_table import Table
from harness import main, test
from perf_write import PerfData
from pprof_read import Pprof
from pprof_write import Profile

INLINED = {"inner"}  # in outer; samples and pprof profiles say so

# A chain of calls: (function, net). Chains of one shape begin with the same function.
Shape = collections.namedtuple("Shape", "chains totals tree")


def chain(text):
    return [(word.rstrip("0123456789"), int(re.search(r"\d+$", word)[0])) for word in text.split()]


def node(name, total, own, *children, levels=0, functions=0):
    return name, total, own, levels, functions, sorted(children)


SHAPES = {
    "direct": Shape(
        [chain("main1 f2 f3 f4 leaf5")],
        {"main": 15, "f": 14, "leaf": 5},
        node("main", 15, 1, node("f", 14, 9, node("leaf", 5, 5), levels=3, functions=1))),
    # The last `even` is not a complete round, so it is not folded: it stays below `odd`.
    "mutual": Shape(
        [chain("main1 even2 odd3 even4 odd5 leaf6")],
        {"main": 21, "even": 20, "odd": 18, "leaf": 6},
        node("main", 21, 1, node("even", 20, 2, node(
            "odd", 18, 8, node("even", 4, 4), node("leaf", 6, 6)), levels=2, functions=2))),
    "nested": Shape(
        [chain("main1 f2 g3 f4 leaf5")],
        {"main": 15, "f": 14, "g": 12, "leaf": 5},
        node("main", 15, 1, node("f", 14, 2, node("g", 12, 3, node(
            "f", 9, 4, node("leaf", 5, 5)))))),
    # f g f g f: two rounds are folded. The last f is below g, with the time of the f in the middle.
    "a round and a half": Shape(
        [chain("main1 f2 g3 f4 g5 f6 leaf7")],
        {"main": 28, "f": 27, "g": 25, "leaf": 7},
        node("main", 28, 1, node("f", 27, 2, node("g", 25, 8, node(
            "f", 17, 10, node("leaf", 7, 7))), levels=2, functions=2))),
    "two callers": Shape(
        [chain("main1 f2 g3 f4 leaf5"), chain("main0 h6 f7 leaf8")],
        {"main": 36, "f": 29, "g": 12, "h": 21, "leaf": 13},
        node("main", 36, 1,
             node("f", 14, 2, node("g", 12, 3, node("f", 9, 4, node("leaf", 5, 5)))),
             node("h", 21, 6, node("f", 15, 7, node("leaf", 8, 8))))),
    "inlined": Shape(
        [chain("main1 outer0 inner2 outer0 inner3 leaf4")],
        {"main": 10, "outer": 9, "inner": 9, "leaf": 4},
        node("main", 10, 1, node("outer", 9, 0, node("inner", 9, 5, node("leaf", 4, 4)), levels=2,
                                 functions=2))),
}


def paths(shape):
    """Call paths with time of their own: net by the names of the functions, outermost first."""
    found = collections.Counter()
    for calls in shape.chains:
        for depth, (_, net) in enumerate(calls, 1):
            if net:
                found[tuple(name for name, _ in calls[:depth])] += net
    return found


def whole(shape):
    return sum(paths(shape).values())


# The writers: a file of each kind


def write_calls(t, name, shape):
    table, known = Table("prog", 42), {(): 0}
    for calls in shape.chains:
        way = ()
        for function, net in calls:
            if way + (function,) not in known:
                known[way + (function,)] = table.path(known[way], function, calls=1, net=net * 1000)
            way += (function,)
    return t.write(f"{name}.calls", table.bytes())


def write_tags(t, name, shape):
    """A chain continues where the previous one ended, below the function that both begin with."""
    tags, events, now = {}, [], 0
    tag = lambda function: tags.setdefault(function, 2 + 2 * len(tags))
    for number, calls in enumerate(shape.chains):
        for function, net in calls[number > 0:]:
            events.append((now, tag(function)))
            now += net
        events += [(now, tag(function) + 1) for function, _ in calls[:0:-1]]
    events.append((now, tag("main") + 1))
    dump = b"".join(struct.pack("<HI", tag, at)[:5] for at, tag in events)
    names = t.write(f"{name}.names", "".join(f"{f}/{tag}\n" for f, tag in tags.items()))
    t.assay("tags", "import", "--names", names, "-o", t.path(f"{name}.tags"),
            t.write(f"{name}.dump", dump))
    return t.path(f"{name}.tags")


def places(way):
    """The functions of each place in the code, outermost place first: an inlined function is at the
    place of the function before it."""
    found = []
    for function in way:
        if function in INLINED:
            found[-1] = found[-1] + (function,)
        else:
            found.append((function,))
    return found


def write_pprof(t, name, shape):
    profile = Profile(("time", "nanoseconds"))
    profile.mapping(0x1000, 0x9000, "/bin/prog")
    addresses = {}
    for way, net in paths(shape).items():
        stack = [profile.place(addresses.setdefault(place, 0x1000 + 16 * len(addresses)),
                               *((function, 1) for function in place[::-1]))
                 for place in places(way)]
        profile.sample(stack[::-1], [net * 1000], process="prog", pid=42)
    return t.write(f"{name}.pb", profile.bytes())


PROGRAM = """
static volatile int sum;
#define ADD sum += 1; sum += 2; sum += 3; sum += 4
static inline __attribute__((always_inline)) void inner(void) { ADD; }
#define FUNCTION(name) void name(void) { ADD; }
FUNCTION(f) FUNCTION(g) FUNCTION(h) FUNCTION(even) FUNCTION(odd) FUNCTION(leaf)
void outer(void) { inner(); }
int main(void) { ADD; return 0; }
"""


def addresses_of(t):
    """The address of each function, with the functions that are inlined there; and the program."""
    program = t.path("prog")
    t.run("cc", "-O1", "-g", "-no-pie", "-fno-ipa-icf", "-o", program, t.write("prog.c", PROGRAM))
    symbols = {}
    for line in t.run("nm", "-S", program).out.splitlines():
        words = line.split()
        if len(words) == 4:
            symbols[words[3]] = int(words[0], 16), int(words[1], 16)
    found = {(function,): begin + 4 for function, (begin, size) in symbols.items() if size > 8}
    begin, size = symbols["outer"]
    inlined = [at for at in range(begin, begin + size) if t.run(
        "addr2line", "-f", "-i", "-e", program, hex(at)).out.split("\n")[0] == "inner"]
    # The address before it is inlined code, too: it is the call if this is a return address.
    found[("outer", "inner")] = inlined[len(inlined) // 2]
    return found, program


def write_samples(t, name, shape):
    if not hasattr(t, "addresses"):
        t.addresses = addresses_of(t)
    addresses, program = t.addresses
    file = PerfData("prog", 42, program)
    for way, net in paths(shape).items():
        for _ in range(net):
            file.sample([addresses[place] for place in places(way)[::-1]])
    return t.write(f"{name}.data", file.bytes())


# Words of the report command; JSON keys of self and total, with the factor to us; the text's column
# of totals
Kind = collections.namedtuple("Kind", "write words rows own total unit column")
KINDS = {
    "samples": Kind(write_samples, ("--children", "--sort", "function"), lambda r: r["rows"],
                    "samples", "total_samples", 1, "total"),
    "calls": Kind(write_calls, ("-f",), lambda r: r["processes"][0]["functions"], "net_ns",
                  "total_ns", 1000, "total"),
    "tags": Kind(write_tags, (), lambda r: r["functions"], "net_ns", "elapsed_ns", 1000, "Elapsed"),
    "pprof": Kind(write_pprof, ("--children",), lambda r: r["functions"], "self", "total", 1000,
                  "total"),
}


def files(t, *kinds, without=()):
    """(kind, shape, file, what) of each kind and shape."""
    for word, kind in KINDS.items():
        for name, shape in SHAPES.items():
            if (not kinds or word in kinds) and (word, name) not in without:
                yield kind, shape, kind.write(t, f"{word} {name}".replace(" ", "-"), shape), \
                    f"{word}, {name}"


def self_of(shape):
    found = collections.Counter()
    for way, net in paths(shape).items():
        found[way[-1]] += net
    return +found


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


def cell(line, header, column):
    """The cell of a column that is aligned to the right of its title."""
    end = re.search(rf"(^|\s){column}(?=\s|$)", header).end()
    return re.split(r"\s\s+", line[:end].rstrip("\n"))[-1].strip()


def texts(us, shape):
    """A time as tables print it: with its unit, without it, or as a share."""
    return {f"{us:.2f} us", f"{us}", f"{100 * us / whole(shape):.1f} %"}


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
            report = t.report("--callers", function, "--callees", function,
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


def ways(shape):
    return {tuple(name for name, _ in calls[:depth])
            for calls in shape.chains for depth in range(1, len(calls) + 1)}


@test
def text_has_the_same_callers_and_callees(t):
    for word, kind in KINDS.items():
        for (name, function), want in NEIGHBOURS.items():
            shape = SHAPES[name]
            text = t.assay("report", "--callers", function, "--callees", function,
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


# Paths: exports fold nothing


def folded(t, file):
    """The numbers of an export by path from main on."""
    found = collections.Counter()
    for line in t.assay("export", "--to", "folded", file).out.splitlines():
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
        t.assay("export", "--to", "pprof", "-o", made, file)
        pprof, ways = Pprof(made), collections.Counter()
        value = next(i for i, (_, unit) in enumerate(pprof.types) if unit == "nanoseconds")
        for way, values, _ in pprof.samples:
            ways[way] += values[value]
        t.equal({way: ns / 1000 for way, ns in ways.items() if ns}, paths(shape), f"{what}: pprof")


@test
def a_report_of_an_export_has_the_same_totals(t):
    for kind, shape, file, what in files(t):
        made = t.path(file.name + ".again.pb.gz")
        t.assay("export", "--to", "pprof", "-o", made, file)
        event = next(v["name"] for v in t.report(made)["values"] if v["unit"] == "nanoseconds")
        rows = t.report("--children", "--event", event, made)["functions"]
        t.equal({row["function"]: row["total"] / 1000 for row in rows}, shape.totals, what)


# Call trees


def tree_of_text(text):
    """The node `main` of a call tree in text: name, cells of total and self, levels, functions."""
    lines = text.splitlines()
    start, header = next((i, line) for i, line in enumerate(lines) if line.endswith("call tree")
                         and "total" in line)
    column, own = header.index("call tree"), "self" if " self " in header else "net"
    way, top = [], None
    for line in lines[start + 1:]:
        name = line[column:].rstrip()
        if not name:
            break
        depth = len(name) - len(name.lstrip())
        word = re.search(r"recursion(?: of (\d+) functions)?, (\d+) levels", name)
        made = [name.split()[0], cell(line, header, "total"), cell(line[:column], header, own),
                int(word[2]) if word else 0, int(word[1] or 1) if word else 0, []]
        way = [(d, n) for d, n in way if d < depth]
        if way:
            way[-1][1][5].append(made)
        if made[0] == "main":
            top = made
        way.append((depth, made))
    return top


def differences(got, want, shape, at=""):
    """The errors in a tree printed as text, one sentence each."""
    name, total, own, levels, functions, children = want
    at += "/" + name
    if got[1] not in texts(total, shape):
        yield f"{at} has total {got[1]}, not {total} us"
    if got[2] not in (texts(own, shape) if own else {"", "0 s", "0.0 %"}):
        yield f"{at} has net {got[2]}, not {own} us"
    if (got[3], got[4]) != (levels, functions):
        yield f"{at} has {got[3]} levels of {got[4]} functions, not {levels} of {functions}"
    below = {child[0]: child for child in got[5] if child[1] not in ("0 s", "0", "0.0 %")}
    if sorted(below) != [child[0] for child in children]:
        yield f"below {at} are {sorted(below)}, not {[child[0] for child in children]}"
        return
    for child in children:
        yield from differences(below[child[0]], child, shape, at)


def check_trees(t, *kinds):
    wrong = []
    for _, shape, file, what in files(t, *kinds):
        text = t.assay("report", "-g", "--percent-limit", "0", file).out
        wrong += [f"{what}: {d}" for d in differences(tree_of_text(text), shape.tree, shape)]
    t.equal(wrong, [], "differences")


@test
def the_tree_of_samples_folds_whole_rounds_only(t):
    check_trees(t, "samples")


@test
def the_tree_of_a_pprof_profile_folds_whole_rounds_only(t):
    check_trees(t, "pprof")


@test
def the_tree_of_counted_calls_folds_whole_rounds_only(t):
    check_trees(t, "calls")


@test
def the_tree_of_event_tags_folds_whole_rounds_only(t):
    check_trees(t, "tags")


@test
def the_trees_of_json_are_those_of_the_text(t):
    for word, total, own, unit in (("samples", "samples", "self_samples", 1),
                                   ("pprof", "total", "self", 1000),
                                   ("tags", "total_ns", "net_ns", 1000)):
        for _, shape, file, what in files(t, word):
            way = t.report("-g", file)["tree"]
            while way["name"] != "main":
                way = next(child for child in way["children"] if child[total])

            def plain(n):
                levels = n.get("recursion", 0)
                return (n["name"], n[total] / unit, n[own] / unit, levels,
                        sorted(plain(child) for child in n["children"] if child[total]))

            def levels_only(n):
                return n[0], n[1], n[2], n[3], sorted(map(levels_only, n[5]))
            t.equal(plain(way), levels_only(shape.tree), what)


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
        ("--process-limit", "1"): ("tables for each process", "calls tags pprof"),
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
