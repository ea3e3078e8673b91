# SPDX-License-Identifier: GPL-2.0-or-later
"""assay diff: recordings with known changes of known functions, as files of each kind.

A run has a number of samples of each function; single runs differ by chance, with a fixed seed.
"""
import json
import random

from calls_table import Table
from harness import *
from perf_write import PerfData
from pprof_write import Profile

FUNCTIONS = [f"work{i}" for i in range(30)]
PROGRAM = "\n".join(
    f"__attribute__((noinline)) int {f}(int x) {{ return x * {i + 3} + {i}; }}"
    for i, f in enumerate(FUNCTIONS)) + """
__attribute__((noinline)) int parent(int x) { return x + 77; }
int main(int argc, char **argv) { return parent(argc) + %s; }
""" % " + ".join(f"{f}(argc)" for f in FUNCTIONS)
MEAN = 40


def program(t):
    if not hasattr(t, "program"):
        t.program = t.path("prog")
        t.run("cc", "-O1", "-no-pie", "-fno-ipa-icf", "-o", t.program, t.write("prog.c", PROGRAM))
        t.addresses = {words[2]: int(words[0], 16) + 2
                       for words in map(str.split, t.run("nm", t.program).out.splitlines())
                       if len(words) == 3}
    return t.program


def counts(seed, factors):
    chance = random.Random(seed)
    return {f: max(0, round(chance.gauss(mean, mean ** 0.5)))
            for f in FUNCTIONS for mean in [MEAN * factors.get(f, 1)]}


def samples(t, name, seed, chain=("main",), **factors):
    file = PerfData("prog", 42, program(t))
    each = [f for f, n in counts(seed, factors).items() for _ in range(n)]
    random.Random(seed).shuffle(each)
    for function in each:
        file.sample([t.addresses[f] for f in (function, *chain)])
    return t.write(f"{name}.data", file.bytes())


def calls(t, name, seed, **factors):
    table = Table("prog", 42)
    outer = table.path(0, "main", calls=1, net=1000)
    for function, n in counts(seed, factors).items():
        table.path(outer, function, calls=n, net=1000 * n)
    return t.write(f"{name}.calls", table.bytes())


def pprof(t, name, seed, **factors):
    file = Profile(("samples", "count"), ("cpu", "nanoseconds"))
    file.mapping(0x1000, 0x2000, "/usr/bin/prog")
    for i, (function, n) in enumerate(counts(seed, factors).items()):
        file.sample([file.place(0x1000 + 16 * i, (function, 1))], [n, n * 1000])
    return t.write(f"{name}.pb", file.bytes())


def sides(t, write, runs=5, **factors):
    """The words of a comparison: A... -- B..."""
    a = [write(t, f"a{i}", 2 * i) for i in range(runs)]
    b = [write(t, f"b{i}", 2 * i + 1, **factors) for i in range(runs)]
    return [*a, "--", *b]


def diff(t, *words, **options):
    return json.loads(t.assay("diff", "--json", "--work", "run", *words, **options).out)


@test
def changed_function_is_found_in_each_kind(t):
    for write in samples, calls, pprof:
        found = diff(t, *sides(t, write, work7=2))
        t.equal([c["function"] for c in found["changes"]], ["work7"], write.__name__)
        change = found["changes"][0]
        t.between(change["change"], 0.7, 1.4, "change")
        t.true(change["low"] < change["change"] < change["high"] and change["low"] > 0.02,
               f"interval {change}")
        t.true(change["q"] < 0.05, f"q {change['q']}")
        t.between(change["after"] - change["before"], 25_000, 55_000, "ns more in each run")
        t.equal((found["new"], found["gone"], found["moved"]), ([], [], []), "other changes")
        t.between(found["smallest_change"], 0.2, 1.5, "smallest change")
        t.equal(found["strength"], "strong")


@test
def equal_programs_have_no_change(t):
    found = diff(t, *sides(t, samples))
    t.equal([c["function"] for c in found["changes"]], [])
    t.equal(found["whole"]["changed"], False)
    t.has(t.assay("diff", *sides(t, samples)).out, "none shows a change")


@test
def groups_are_compared_like_functions(t):
    rules = t.write("rules", "first: work?\nsecond: work??\n")
    more = {f"work{i}": 1.25 for i in range(10)}
    for write in samples, calls, pprof:
        words = sides(t, write, **more)
        found = diff(t, "--groups", rules, *words)
        t.equal([c["group"] for c in found["changes"]], ["first"], write.__name__)
        t.between(found["changes"][0]["change"], 0.15, 0.35, f"{write.__name__}, change")
        rows = {row["group"]: row for row in found["rows"]}
        t.true({"first", "second"} <= set(rows) <= {"first", "second", "[other]", "[others]"},
               f"rows {set(rows)}")
        own = diff(t, *words)
        t.near(sum(row["before"] for row in rows.values()),
               sum(row["before"] for row in own["rows"]), 1, f"{write.__name__}, the sum")
        t.true("function" not in rows["first"] and "image" not in rows["first"], "keys")
    text = t.assay("diff", "--sort", "group", "--groups", rules, *sides(t, samples, **more)).out
    t.has(text, "Changed groups", "title")
    t.has(text, "groups were tested" if "were tested" in text else "tested groups", "summary")
    t.has(t.assay("diff", "--groups", rules, *sides(t, samples, **more), "--work", "run",
                  "--fail-if", "first > 5%", status=1).err, "first is beyond", "condition")
    t.has(t.assay("diff", "--groups", rules, *sides(t, samples, **more), "--fail-if", "fist > 5%",
                  status=2).err, "did you mean 'first'?", "unknown group")
    found = diff(t, "--sort", "group", "--groups", rules, samples(t, "one", 1),
                 samples(t, "two", 2, **{f"work{i}": 2 for i in range(10)}))
    t.equal((found["strength"], {row["group"] for row in found["rows"]}),
            ("recordings", {"first", "second"}), "one run a side")


@test
def new_and_gone_functions_have_their_own_lists(t):
    found = diff(t, *sides(t, samples, work3=0, work4=0.001))
    t.equal(sorted(c["function"] for c in found["gone"]), ["work3", "work4"])
    t.equal([c["function"] for c in found["changes"]], [])
    words = sides(t, samples, work3=0)
    middle = words.index("--")
    found = diff(t, *words[middle + 1:], "--", *words[:middle])
    t.equal([c["function"] for c in found["new"]], ["work3"])
    t.equal(found["new"][0]["change"], None, "change of a new function")


@test
def time_that_moved_within_a_caller_is_no_change(t):
    def write(t, name, seed, into="work1"):
        file = PerfData("prog", 42, program(t))
        for function, n in counts(seed, {}).items():
            for _ in range(n):
                file.sample([t.addresses[f] for f in (function, "main")])
        for _ in range(400 + seed % 3):
            file.sample([t.addresses[f] for f in (into, "parent", "main")])
        return t.write(f"{name}.data", file.bytes())

    a = [write(t, f"a{i}", 2 * i) for i in range(5)]
    b = [write(t, f"b{i}", 2 * i + 1, "work2") for i in range(5)]
    found = diff(t, *a, "--", *b)
    t.equal([c["function"] for c in found["changes"]], [])
    t.equal({c["function"]: c["within"] for c in found["moved"]},
            {"work1": "parent", "work2": "parent"})
    paths = [p["path"] for p in found["paths"]]
    t.equal(sorted(paths), ["main > parent > work1", "main > parent > work2"])


@test
def one_run_a_side_is_an_indication(t):
    a, b = samples(t, "a", 1), samples(t, "b", 2, work5=5)
    text = t.assay("diff", a, b).out
    t.has(" ".join(text.split()), "one run on a side does not show the scatter between runs")
    t.equal([c["function"] for c in diff(t, a, b)["changes"]], ["work5"])
    t.equal(diff(t, a, b), diff(t, a, "--", b))
    text = t.assay("diff", *sides(t, samples, runs=2)).out
    t.has(" ".join(text.split()), "An indication: two runs")


@test
def few_samples_are_no_result(t):
    few = samples(t, "few", 1, work0=0.1, **{f: 0 for f in FUNCTIONS[1:]})
    t.has(" ".join(t.assay("diff", few, few).out.split()), "No function has enough samples for a test.")
    t.has(t.assay("diff", "--fail-if", "work0 > 5%", few, few, status=3).err,
          "may be beyond +5.0 %: too few samples")


@test
def time_per_second_is_named_where_it_was_not_asked_for(t):
    words = samples(t, "a", 1), samples(t, "b", 2)
    t.has(" ".join(t.assay("diff", *words).out.split()), "If each side did the same work")
    for work in ("wall", "run"):
        t.lacks(t.assay("diff", "--work", work, *words).out, "not of whole commands")


@test
def exit_status_tells_sure_from_possible(t):
    more = {f: 1.3 for f in FUNCTIONS}
    words = sides(t, samples, **more)
    for condition, status in (("regression > 10%", 1), ("regression > 60%", 0),
                              ("regression>29", 3), ("work1 > 25%", 3), ("function > 500%", 0)):
        done = t.assay("diff", "--work", "run", "--fail-if", condition, *words, status=status)
        t.has(done.err, "interval" if status else "is within", condition)
    t.assay("diff", "--work", "run", *words, "--fail-if", "regression > 10%", status=1)


@test
def wrong_uses_are_refused(t):
    a, b = samples(t, "a", 1), pprof(t, "b", 2)
    for words, message in ((["--", a], "two sides are compared"), ([a], "two sides are compared"),
                           ([a, b], "only recordings of one kind"),
                           ([a, a, "--rate", "500"], "--rate is 0 to 100"),
                           ([a, a, "--least", "-5"], "--least is not negative"),
                           ([a, a, "--fail-if", "more"], "is no condition"),
                           ([a, a, "--fail-if", "nothing > 2%"], "no function has the name nothing"),
                           ([a, a, "--fail-if", "wrok1 > 2%"], "did you mean 'work1'?"),
                           ([a, a, "--fail-if", "regresion > 2%"], "did you mean 'regression'?"),
                           ([a, a, "--fail-if", "wal > 2%"], "did you mean 'wall'?"),
                           ([a, a, "--fail-if", "wall > 2%"], "the wall time is known only if"),
                           ([a, a, "--work", "requests"], "was not recorded"),
                           ([a, a, "--from", "10:00"], "--from is for stores")):
        done = t.assay("diff", *words, status=None)
        t.true(done.status in (2, 125), f"{words}: status {done.status}")
        t.has(done.err, message)
    t.has(t.assay("diff", a, t.path("none"), status=125).err, "there is no file")


@test
def store_ranges_are_compared(t):
    env, db = t.runtime(), t.path("a.db")
    t.assay("start", "--store", db, "--window", "1", env=env)
    t.run("timeout", "4", "sh", "-c", "while :; do :; done", status=124)
    t.assay("stop", env=env)
    middle = t.assay("sql", db, "SELECT (min(start_ns) + max(end_ns)) / 2 / 1000000000 "
                     "FROM windows").out.split()[-1]
    found = diff(t, db, "--until", f"@{middle}", "--", "--from", f"@{middle}")
    t.equal(found["strength"], "recordings")
    t.true(found["whole"]["before"] > 0 and found["whole"]["after"] > 0, f"{found['whole']}")
    for words in (("diff", "--work", "x", db, db), ("watch", "--work", "x", db)):
        err = t.assay(*words, status=None).err
        t.has(err, "has cpu-clock")
        t.lacks(err, "witness", "an event that counts no work")


@test
def markdown_and_narrow_terminals_have_the_tables(t):
    words = sides(t, samples, work7=2)
    t.has(t.assay("diff", "--markdown", "--work", "run", *words).out, "| work7")
    text = t.assay("diff", "--work", "run", *words).out
    t.has(text, "Changed functions")
    t.true(max(map(len, text.splitlines())) <= 100, "width")


main()
