# SPDX-License-Identifier: GPL-2.0-or-later
"""assay report on traces of event tags: the table, JSON, orders, groups and histograms of a small
capture with known figures; how a trace is recognised; and refused options."""
import contextlib
import json
import os
import sqlite3
import struct

from harness import main, test

NAMES = """# by hand
main/2
work/4
leaf/6
swtch/8!
MGET/11=
intr/12
"""
# (us, tag): main works, is switched out, is interrupted while it sleeps, and continues.
CAPTURE = [(0, 2), (10, 4), (30, 6), (70, 7), (80, 11), (100, 5), (120, 8), (150, 12), (160, 13),
           (200, 9), (210, 6), (215, 7), (230, 3)]
# elapsed, net, calls, max, avg, min
TRUTH = {"main": (150, 55, 1, 55, 55, 55), "work": (90, 50, 1, 50, 50, 50),
         "leaf": (45, 45, 2, 40, 22, 5), "intr": (10, 10, 1, 10, 10, 10)}
ELAPSED, IDLE = 230, 70
TABLE = """\
Elapsed time          230 us  (13 tags)
Accumulated run time  160 us  (69.57 %)
Idle time              70 us  (30.43 %)
Switches                1     (swtch)
Profiled functions      5     (11 triggers)

Elapsed  Net  Calls  (max/avg/min)  % real  % net  Function
    150   55      1  (55/55/55)      23.91  34.38  main
     90   50      1  (50/50/50)      21.74  31.25  work
     45   45      2  (40/22/5)       19.57  28.13  leaf
     10   10      1  (10/10/10)       4.35   6.25  intr

Times  Inline tag
    1  MGET
"""


def trace(t, name="small.tags", capture=CAPTURE, names=NAMES, begin=(1 << 24) - 37):
    """A capture whose clock wraps, as a trace."""
    dump = b"".join(struct.pack("<HI", tag, (begin + us) % (1 << 24))[:5] for us, tag in capture)
    t.assay("tags", "import", "--names", t.write("names", names), "-o", t.path(name),
            t.write("dump", dump))
    return t.path(name)


def functions(report):
    return [f["function"] for f in report["functions"]]


@test
def the_table_has_every_figure(t):
    result = t.assay("report", "--percent-limit", "0", trace(t))
    t.equal(result.out, TABLE, "report")
    t.equal(result.err, "", "standard error")


def of_steps():
    """Per 100 calls of leaf: 90 of 10 us, 9 of 100 us, 1 of 1000 us; five calls of work."""
    now, events = 0, [(0, 2)]
    for tag, durations in ((6, [10] * 90 + [100] * 9 + [1000]), (4, [50] * 5)):
        for us in durations:
            events += [(now, tag), (now + us, tag + 1)]
            now += us + 3
    return [*events, (now, 3)]


PERCENTILES = ("timed_calls", "p50_ns", "p90_ns", "p99_ns")


@test
def percentiles_are_those_of_known_durations(t):
    data = trace(t, capture=of_steps())
    rows = {row["function"]: row for row in t.report(data)["functions"]}
    t.equal(rows["leaf"]["timed_calls"], 100, "timed calls")
    for key, us in (("p50_ns", 10), ("p90_ns", 100), ("p99_ns", 1000)):
        t.between(rows["leaf"][key], us * 1000 * 15 / 16, us * 1000 * 17 / 16, key)
    t.equal([rows["work"][key] for key in PERCENTILES], [5, 50000, None, None],
            "of five calls only the median is known")
    t.equal([rows["main"][key] for key in PERCENTILES], [1, None, None, None], "of one call none is")
    t.has(t.assay("report", "--percent-limit", "0", "--by", "p50", data).out, """\
(max/avg/min)  p50  p90  p99  timed  % real  % net  Function
""", "a table sorted by one")
    rows = t.report(data, "--by", "p50")["functions"]
    t.equal([row["function"] for row in rows], ["work", "leaf", "main"], "sorted by p50")


@test
def sql_has_the_percentiles_of_the_report(t):
    data = trace(t, capture=of_steps())
    keys = ("min_ns", *PERCENTILES[1:], "max_ns", "timed_calls")
    asked = t.json(t.assay("sql", "--format", "json", data, "SELECT path, min_ns, p50_ns, p90_ns, "
                           "p99_ns, max_ns, timed_calls FROM calls").out)
    got = {row["path"].rsplit(";", 1)[-1]: [row[key] for key in keys] for row in asked}
    # Each function has one path here.
    t.equal(got, {row["function"]: [row[key] for key in keys] for row in t.report(data)["functions"]},
            "min to max")
    copy = t.path("copy.db")
    t.assay("export", "--to", "sqlite", "-o", copy, data)
    with contextlib.closing(sqlite3.connect(copy)) as db:
        t.equal(db.execute("SELECT path, p50_ns, timed_calls FROM calls").fetchall(),
                [(row["path"], row["p50_ns"], row["timed_calls"]) for row in asked], "a database")


@test
def json_has_every_figure(t):
    report = t.report(trace(t))
    t.equal(report["kind"], "tags", "kind")
    for key, want in {"elapsed_ns": ELAPSED * 1000, "idle_ns": IDLE * 1000, "tags": 13, "lost": 0,
                      "run_ns": (ELAPSED - IDLE) * 1000, "span_ns": ELAPSED * 1000,
                      "outside_ns": 0, "gaps": 0, "missing_exits": 0, "unmatched_exits": 0,
                      "unknown_tags": 0, "guesses": 0, "uncertain": 0, "open": 0, "switches": 1,
                      "streams": 1, "blocked_ns": None, "waiting_separated": True,
                      "clock_hz": 1000000}.items():
        t.equal(report[key], want, key)
    t.equal(functions(report), ["main", "work", "leaf", "intr"], "functions")
    for f in report["functions"]:
        elapsed, net, calls, most, _, least = TRUTH[f["function"]]
        got = tuple(f[key] for key in ("elapsed_ns", "net_ns", "calls", "max_ns", "avg_ns", "min_ns"))
        # The average is truncated to ns here.
        t.equal(got, (elapsed * 1000, net * 1000, calls, most * 1000, net * 1000 // calls, least * 1000),
                f["function"])
        t.near(f["real"], net / ELAPSED, 1e-9, "real of " + f["function"])
        t.near(f["net"], net / (ELAPSED - IDLE), 1e-9, "net of " + f["function"])
    t.near(sum(f["net"] for f in report["functions"]), 1, 1e-9, "all net")
    t.equal([(i["name"], i["count"]) for i in report["inline_tags"]], [("MGET", 1)], "inline tags")


@test
def orders_are_those_of_the_table(t):
    path = trace(t)
    for order, want in {"elapsed": "mwli", "net": "mwli", "calls": "lmwi", "max": "mwli",
                        "avg": "mwli", "min": "mwil", "name": "ilmw", "real": "mwli"}.items():
        got = "".join(name[0] for name in functions(t.report("-s", order, path)))
        t.equal(got, want, f"order by {order}")
    t.equal(functions(t.report("--sort", "calls,name", path)), ["leaf", "intr", "main", "work"],
            "two orders")
    bad = t.assay("report", "-s", "colour", path, status=2).err
    t.has(bad, "no table of this report has a column 'colour' to sort by; the columns are name, raw",
          "error")


@test
def rows_that_are_left_out_are_summed_up(t):
    path = trace(t)
    t.has(t.assay("report", "-n", "1", path).out,
          "        105      4                  45.65  65.63  [3 more]\n", "rest")
    report = t.report("-n", "1", path)
    t.equal(functions(report), ["main"], "functions")
    t.equal((report["rest"]["functions"], report["rest"]["net_ns"], report["rest"]["calls"]),
            (3, 105000, 4), "rest")
    t.equal(functions(t.report("--percent-limit", "30", path)), ["main", "work"], "above 30 %")


@test
def the_unit_can_be_chosen(t):
    path = trace(t)
    t.has(t.assay("report", "--unit", "ns", path).out, "Elapsed time          230,000 ns  (13 tags)",
          "ns")
    t.has(t.assay("report", "--unit", "ms", path).out, "Elapsed time          0 ms  (13 tags)", "ms")
    t.has(t.assay("report", "--unit", "s", path, status=2).err, "ns, us, ms", "error")


@test
def groups_add_up_and_have_a_chart(t):
    path = trace(t)
    rules = t.write("rules", "# subsystems\nuser: ma?n work\nkernel: intr le* # all of it\nuser: gone\n")
    report = t.report("--groups", rules, path)
    groups = {g["group"]: (g["functions"], g["calls"], g["net_ns"]) for g in report["groups"]}
    t.equal(groups, {"user": (2, 2, 105000), "kernel": (2, 3, 55000)}, "groups")
    t.near(sum(g["net"] for g in report["groups"]), 1, 1e-9, "all net")
    t.equal(report["unused_patterns"], ["gone"], "unused")
    text = t.assay("report", "--groups", rules, path).out
    t.has(text, "105      2          2   45.65  65.63  ***********       user\n", "chart")
    t.has(text, "matched no function: gone\n", "chart")
    rules = t.write("rules", "net: l*\n")
    groups = {g["group"]: g["net_ns"] for g in t.report("--groups", rules, path)["groups"]}
    t.equal(groups, {"net": 45000, "(other)": 115000}, "groups")
    rules = t.write("rules", "net: kernel! * prog! *\nwork: w*\n")
    groups = {g["group"]: g["net_ns"] for g in t.report("--groups", rules, path)["groups"]}
    t.equal(groups, {"net": 0, "work": 50000, "(other)": 110000}, "qualified patterns")


@test
def rules_that_are_wrong_name_their_line(t):
    path = trace(t)
    rules = t.write("rules", "net: a\nno colon\n")
    t.has(t.assay("report", "--groups", rules, path, status=1).err,
          f"{rules}, line 2: no ':' after a group's name; a line is 'GROUP: PATTERN", "error")
    t.has(t.assay("report", "--groups", t.path("none"), path, status=1).err,
          f"cannot read {t.path('none')}: No such file", "error")


@test
def the_call_tree_has_the_time_of_each_path(t):
    path = trace(t)
    t.equal(t.assay("report", "-g", path).out, TABLE[:TABLE.index("Elapsed  Net")] + """\
total       %  net  calls  call tree
  160  100.00              all
  150   93.75               process 1
  150   93.75   55      1    main
   90   56.25   50      1     work
   40   25.00   40      1      leaf
    5    3.13    5      1     leaf
   10    6.25               no process
   10    6.25   10      1    intr
1 line left out (--percent-limit 0 shows all)
""", "tree")
    # The switcher has no time of its own.
    t.has(t.assay("report", "-g", "--percent-limit", "0", path).out, "swtch\n", "all")
    report = t.report("-g", "--nested", path)
    t.equal(functions(report), ["main", "work", "leaf", "intr"], "functions")
    way = []
    node = report["tree"]
    while node["children"]:
        node = node["children"][0]
        way.append((node["name"], node["total_ns"], node["net_ns"], node["calls"]))
    t.equal(way, [("process 1", 150000, 0, 0), ("main", 150000, 55000, 1),
                  ("work", 90000, 50000, 1), ("leaf", 40000, 40000, 1)], "way")
    # Time in no known function is in the tree: 20 us after an exit without an entry.
    path = trace(t, "late.tags", [(0, 5), (20, 2), (50, 3)])
    lines = t.assay("report", "-g", path).out.splitlines()
    t.equal([line.split() for line in lines if line.startswith("   ")],
            [["50", "100.00", "all"], ["30", "60.00", "process", "1"],
             ["30", "60.00", "30", "1", "main"], ["20", "40.00", "20", "(outside)"]], "outside")


@test
def markdown_has_the_rows_of_the_table(t):
    out = t.assay("report", "--markdown", "-n", "1", trace(t)).out
    t.has(out, "| Elapsed time | 230 us | (13 tags) |\n", "heading")
    t.has(out, "| 150 | 55 | 1 | (55/55/55) | 23.91 | 34.38 | main |\n", "function")
    t.has(out, "|  | 105 | 4 |  | 45.65 | 65.63 | \\[3 more\\] |\n", "rest")


@test
def a_histogram_holds_each_call(t):
    times = [3, 3, 3, 3, 3, 20, 20, 20, 20, 700]
    capture, now = [(0, 2)], 5
    for time in times:
        capture += [(now, 6), (now + time, 7)]
        now += time + 1
    path = trace(t, capture=capture + [(now, 3)])
    h = t.report("--function", "leaf", path)["histogram"]
    t.equal((h["function"], h["time"], h["count"]), ("leaf", "net", 10), "histogram")
    t.equal((h["max_ns"], h["avg_ns"], h["min_ns"]), (700000, 79500, 3000), "range")
    for time in set(times):
        held = [s["count"] for s in h["steps"] if s["from_ns"] <= time * 1000 < s["to_ns"]]
        t.equal(held, [times.count(time)], f"calls of {time} us")
    t.equal(sum(s["count"] for s in h["steps"]), 10, "calls")
    for percent, time in (("50", 3), ("90", 20), ("99", 700)):
        p = h["percentiles_ns"][percent]
        t.true(p["from_ns"] <= time * 1000 < p["to_ns"], f"p{percent} is {p}, not of {time} us")
    text = t.assay("report", "--function", "leaf", path).out
    t.has(text, "leaf, net time of a call\n10 calls: max 700 us, avg 79 us, min 3 us\n", "histogram")
    t.has(text, "****************\n", "bars")


@test
def total_times_hold_callees(t):
    path = trace(t)
    for words, time in (((), 50), (("--total",), 90)):
        h = t.report("--function", "work", *words, path)["histogram"]
        t.equal(h["time"], "total" if words else "net", "time")
        t.equal(h["count"], 1, "calls")
        t.true(h["steps"][0]["from_ns"] <= time * 1000 < h["steps"][0]["to_ns"],
               f"step {h['steps']} of {time} us")
    t.has(t.assay("report", "--total", path, status=2).err, "--function NAME", "error")


@test
def steps_of_a_histogram_differ(t):
    # Calls of 0, 1 and 2 ticks of 0.4 ns, and of 40 us: the distribution with its gap has one step.
    times = [0] * 3 + [1] * 4 + [2] * 2 + [100000]
    now, lines = 1000, []
    for time in times:
        lines += [f"{now},2", f"{now + time},3"]
        now += time + 10
    t.assay("tags", "import", "--layout", "csv", "--hz", "2500000000", "-o", t.path("fast.tags"),
            "--names", t.write("names", "f/2\n"), t.write("csv", "\n".join(lines)))
    text = t.assay("report", "--function", "f", t.path("fast.tags")).out
    t.has(text, "10 calls: max 40.00 us, avg 4.00 us, min 0 ns", "histogram")
    rows = [line.split() for line in text.split("% calls")[1].splitlines() if line.strip()]
    t.equal([(row[:4], row[4]) for row in rows][:4],
            [(["0", "ns", "0.4", "ns"], "3"), (["0.4", "ns", "0.8", "ns"], "4"),
             (["0.8", "ns", "1.2", "ns"], "2"), (["1.2", "ns", rows[3][2], "us"], "0")], "steps")
    t.equal((len(rows), rows[4][4]), (5, "1"), f"the last step: {rows}")


@test
def fewer_rows_are_in_the_same_unit(t):
    # f takes 3 ns per call, g a millisecond: f took 3 % of the total.
    lines, now = ["0,4", "1000000,5"], 1000000
    for _ in range(10000):
        lines += [f"{now},2", f"{now + 3},3"]
        now += 3
    t.assay("tags", "import", "--layout", "csv", "--hz", "1000000000", "-o", t.path("two.tags"),
            "--names", t.write("names", "f/2\ng/4\n"), t.write("csv", "\n".join(lines)))
    for words in ((), ("-n", "1")):
        text = t.assay("report", "--full", *words, t.path("two.tags")).out
        t.has(text, "Elapsed time          1,030,000 ns", "report")
        t.has(text, "1,000,000  1,000,000", "report")


@test
def missing_functions_are_reported_with_the_way_out(t):
    t.has(t.assay("report", t.path("none.tags"), status=1).err, "'assay tags -o' would make one")
    result = t.assay("tags", "import", "-o", t.path("none.tags"), t.write("dump", ""))
    t.has(result.err, "dump has no records")
    text = t.assay("report", "--full", t.path("none.tags")).out
    t.has(text, "there are no events", "report")
    t.true("waiting is not separated" not in text, f"no times have waiting in them: {text}")


@test
def a_function_is_found_by_pattern_or_named_near(t):
    path = trace(t)
    t.equal(t.report("--function", "le*", path)["histogram"]["function"], "leaf", "pattern")
    several = t.assay("report", "--function", "*[ae]*", path, status=1).err
    t.has(several, "2 functions match *[ae]*: name one of main, leaf", "error")
    t.has(t.assay("report", "--function", "maim", path, status=1).err, "did you mean main?", "error")
    t.has(t.assay("report", "--function", "EA", path, status=1).err, "near it are leaf", "error")
    # Templates: the completions are those that contain the word; if there are several, the message
    # lists a few.
    long = trace(t, "long.tags", names=f"main/2\nBox<{'x' * 200}>::get(int)/4\ntarget/6\nget<int>(int)/12\n")
    near = t.assay("report", "--function", "get", long, status=1).err
    t.true(f"Box<{'x' * 72}..." in near and "get<int>(int)" in near, f"cut names: {near}")
    t.true("target" not in near and "x" * 80 not in near, f"words alone, cut: {near}")
    one = t.assay("report", "--function", "Box", long, status=1).err
    t.has(one, f"Box<{'x' * 200}>::get(int)", "the only one, in full")
    # These tags occurred, but have no times.
    t.has(t.assay("report", "--function", "swtch", path, status=1).err, "swtch switches processes", "error")
    t.has(t.assay("report", "--function", "MGET", path, status=1).err, "MGET is an inline tag", "error")


@test
def repairs_are_reported(t):
    # An exit at the start, a missing exit, an unknown tag, an open call.
    capture = [(0, 5), (10, 2), (20, 4), (30, 6), (50, 5), (60, 500), (70, 501), (80, 3), (90, 2)]
    path = trace(t, capture=capture)
    report = t.report(path)
    for key, want in {"unmatched_exits": 1, "missing_exits": 1, "unknown_tags": 2, "open": 1,
                      "outside_ns": 20000}.items():
        t.equal(report[key], want, key)
    t.true(report["uncertain"] >= 1, "the call without an exit is uncertain")
    t.near(sum(f["net_ns"] for f in report["functions"]) + report["outside_ns"], report["run_ns"], 0,
           "all net")
    text = t.assay("report", "--full", path).out
    for part in ("1 exit has no entry", "1 call ended without an exit", "2 events have tags",
                 "1 call had not ended", "leaf  ~1", "main  open 1", "(outside)\n", "tag 500"):
        t.has(text, part, "report")


@test
def names_can_be_added_where_there_are_none(t):
    path = trace(t, names="main/2\nleaf/6\nswtch/8!\nintr/12\n")
    before = t.report(path)
    t.equal(before["unknown_tags"], 3, "events of work and MGET")
    t.true("tag 4" in functions(before), "work has no name")
    more = t.write("more", "work/4\nother/6\nMGET/11=\n")
    result = t.assay("report", "--percent-limit", "0", "--names", more, path)
    t.equal(result.out, TABLE, "names in the trace have priority")
    h = t.report("--function", "tag 4", path)["histogram"]
    t.equal((h["count"], h["max_ns"]), (1, 50000), "calls of a tag without a name")
    t.assay("report", "--names", t.path("none"), path, status=1)


PROGRAM = """
__attribute__((noinline)) static void leaf(int n) { for (volatile int i = 0; i < n; i++); }
__attribute__((noinline)) static void WORK(int n) { leaf(n); leaf(n); }
int main(void) { for (int i = 0; i < TIMES; i++) WORK(i); return 0; }
"""


@test
def programs_that_ran_together_are_distinguished(t):
    t.need("gcc")
    source = t.write("both.c", PROGRAM)
    for name, times in (("one", 500), ("two", 70)):
        flags = t.assay("tags", "flags", "--names", t.path(f"{name}.names")).out.split()
        t.run("gcc", "-O1", f"-DWORK=work_{name}", f"-DTIMES={times}", source, "-o", t.path(name), *flags)
    t.assay("tags", "-q", "-o", t.path("both.tags"), "--", "sh", "-c", "./one; ./two; ./one",
            cwd=t.directory)
    report = t.report(t.path("both.tags"))
    calls = {(f["function"], f["program"]): f["calls"] for f in report["functions"]}
    t.equal(calls, {("main", "one"): 2, ("work_one", "one"): 1000, ("leaf", "one"): 2000,
                    ("main", "two"): 1, ("work_two", "two"): 70, ("leaf", "two"): 140}, "calls")
    t.equal(report["processes"], 3, "processes")
    # A tick is less than one ns, or a few: each figure loses less than one ns in the conversion.
    t.near(sum(f["net_ns"] for f in report["functions"]) + report["outside_ns"] + report["idle_ns"]
           + report["own_ns"],
           report["elapsed_ns"], 10, "all time")
    text = t.assay("report", "--full", t.path("both.tags")).out
    for name in ("leaf [one]", "leaf [two]", "main [one]", "main [two]", "work_one\n", "work_two\n"):
        t.has(text, name, "report")
    error = t.assay("report", "--function", "leaf", t.path("both.tags"), status=1).err
    t.has(error, "leaf [two]", "error")
    h = t.report("--function", "leaf [one]", t.path("both.tags"))["histogram"]
    t.equal((h["program"], h["count"]), ("one", 2000), "of both processes")


@test
def a_trace_is_recognised_by_its_content(t):
    path = trace(t, "any.name")
    t.equal(t.assay("report", "--percent-limit", "0", path).out, TABLE, "report")
    t.equal(t.assay("report", "--percent-limit", "0", f"{path}/").out, TABLE, "report")
    t.equal(t.assay("report", "--percent-limit", "0", "-i", path).out, TABLE, "report")
    os.mkdir(t.path("empty"))
    t.has(t.assay("report", t.path("empty"), status=1).err, "not a trace of event tags", "error")
    t.has(t.assay("intervals", path, status=1).err, "'assay report' and 'assay tags trace' show", "error")
    t.has(t.assay("report", path, path, status=2).err, "give them one by one", "error")
    t.has(t.assay("report", path, t.write("other", "x"), status=2).err,
          "holds event tags, and", "error")


@test
def without_a_file_the_newest_is_read(t):
    path = trace(t, "assay.tags")
    t.equal(t.assay("report", "--percent-limit", "0", cwd=t.directory).out, TABLE, "report")
    old = t.write("perf.data", "no recording")
    os.utime(old, (1, 1))
    result = t.assay("report", "--percent-limit", "0", cwd=t.directory)
    t.equal(result.out, TABLE, "report")
    t.has(result.err, "reading assay.tags; perf.data also exists", "note")
    os.utime(path / "metadata", (0, 0))
    t.has(t.assay("report", cwd=t.directory, status=1).err, "perf.data is not a recording", "error")
    # Options that only apply to tags.
    t.equal(functions(json.loads(t.assay("report", "--json", "-s", "name", cwd=t.directory).out)),
            ["intr", "leaf", "main", "work"], "functions")
    t.assay("report", "--unit", "us", cwd=t.directory)


@test
def options_that_mean_nothing_here_are_refused(t):
    path = trace(t)
    for words, part in ((["--cpu", "0"], "--cpu"), (["--dso", "x"], "--dso"),
                        (["--time", "1,2"], "'assay tags trace' has it"),
                        (["--no-idle"], "the column % net leaves idle time out")):
        t.has(t.assay("report", *words, path, status=2).err, part, "error")
    calls = t.write("perf.data", "no recording")
    t.has(t.assay("report", "--unit", "us", calls, status=2).err,
          "--unit needs event tags, which samples (perf.data) do not have", "error")


@test
def names_cannot_drive_a_terminal(t):
    path = trace(t, names=NAMES.replace("leaf/6", "le\x1b[31maf/6"))
    t.has(t.assay("report", "--full", path).out, r"le\x1b[31maf", "report")
    for words, status in (((), 0), (("--function", "le*"), 0), (("--function", "af"), 1)):
        result = t.assay("report", *words, path, status=status)
        t.lacks(result.out + result.err, "\x1b", "report")


main()
