# SPDX-License-Identifier: GPL-2.0-or-later
"""Every example of docs/SQL.md runs on each kind of file that it is for: it succeeds, returns rows,
and where the file's contents are known the result is compared with them. Calls, tags, pprof and
events as tables are compared with the output of assay, perf and babeltrace2 for the same file."""
import collections
import gzip
import re
import shutil
import struct

from harness import ASSAY, BUILD, ROOT, go_environment, main, test

DOCUMENT = ROOT / "docs" / "SQL.md"
KINDS = {"samples", "store", "calls", "tags", "pprof"}

Example = collections.namedtuple("Example", "number title kinds query")

# f calls leaf twice, g itself and leaf: main;f;leaf and so on, with these counts. leaf takes nearly
# all of the time, and so also page faults and stolen time.
PROGRAM = """
static volatile int sink;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void f(void) { leaf(10000); leaf(20000); }
__attribute__((noinline)) void g(int n) { if (n) g(n - 1); leaf(5000); }
int main(void) { for (int i = 0; i < 100; i++) f(); g(10); return 0; }
"""
CALLS = {"main": 1, "f": 100, "g": 11, "leaf": 211}
PAIRS = {("(outside)", "main"): 1, ("main", "f"): 100, ("f", "leaf"): 200, ("main", "g"): 1,
         ("g", "g"): 10, ("g", "leaf"): 11}

# A device's capture, (us, tag): main works, is switched out, is interrupted, and continues.
TAGS = "main/2\nwork/4\nleaf/6\nswtch/8!\nMGET/11=\nintr/12\n"
CAPTURE = [(0, 2), (10, 4), (30, 6), (70, 7), (80, 11), (100, 5), (120, 8), (150, 12), (160, 13),
           (200, 9), (210, 6), (215, 7), (230, 3)]
# calls, net, total in us, by path
TAG_PATHS = {"main": (1, 55, 150), "main;work": (1, 50, 90), "main;work;leaf": (1, 40, 40),
             "main;leaf": (1, 5, 5), "main;swtch": (1, 0, 0), "intr": (1, 10, 10)}


def examples():
    found = []
    for part in re.split(r"^### ", DOCUMENT.read_text(), flags=re.M)[1:]:
        head = re.match(r"(\d+)\. (.*)\n\nOf: ([a-z, ]+)\. \S", part)
        if not head:
            continue
        query = "\n".join(line[4:] for line in part.split("\n") if line.startswith("    "))
        found.append(Example(int(head[1]), head[2], head[3].split(", "), query))
    return found


def ask(t, file, query):
    return t.json(t.assay("sql", "--format", "json", file, query).out)


def one(t, file, query):
    rows = ask(t, file, query)
    t.equal(len(rows), 1, f"rows of {query}")
    return rows[0]


def run_examples(t, kind, file, empty=(), whole=()):
    """The results by number; each has rows, except for those in `empty`. For those in `whole`, all
    rows without their LIMIT, since other programs may run too."""
    answers = {}
    for example in examples():
        if kind in example.kinds:
            query = example.query.rstrip()
            if example.number in whole:
                query = re.sub(r" LIMIT \d+;$", ";", query)
            rows = answers[example.number] = ask(t, file, query)
            t.true(rows or example.number in empty,
                   f"example {example.number} has rows of {kind}")
    t.true(answers, f"there are examples of {kind}")
    return answers


def samples_file(t):
    data = t.path("s.data")
    t.assay("record", "-a", "-g", "-o", data, "--", t.workload("threads"), "3", "30")
    return data


def calls_file(t):
    program, data = t.path("prog"), t.path("a.calls")
    t.run("gcc", "-O1", "-g", "-finstrument-functions", "-o", program,
          t.write("prog.c", PROGRAM))
    t.assay("calls", "-o", data, "--", program)
    return data


def tags_file(t):
    dump = b"".join(struct.pack("<HI", tag, us)[:5] for us, tag in CAPTURE)
    t.assay("tags", "import", "--names", t.write("names", TAGS), "-o", t.path("a.tags"),
            t.write("dump", dump))
    return t.path("a.tags")


@test
def twenty_examples_and_more_each_of_some_kind(t):
    found = examples()
    t.equal([e.number for e in found], list(range(1, len(found) + 1)), "numbers")
    t.true(len(found) >= 20, "there are twenty")
    t.equal(len(found), len(re.findall(r"^### \d", DOCUMENT.read_text(), re.M)), "all understood")
    for example in found:
        t.true(set(example.kinds) <= KINDS, f"kinds of {example.number}")
        t.true(example.query.rstrip().endswith(";"), f"{example.number} ends")


@test
def the_document_has_every_table_and_column(t):
    """Each table that SQLite lists has a heading in the document, and each column a line."""
    text = DOCUMENT.read_text()
    tables = re.split(r"^### ", text.split("## Views")[0], flags=re.M)[1:]
    told = {part.split("\n")[0]: re.findall(r"`(\w+)`", part) for part in tables}
    file = tags_file(t)
    for table in ask(t, file, "SELECT name FROM temp.sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' "
                              "OR name = 'stack_groups'"):
        name = table["name"]
        if name == "diff":
            continue
        columns = [c["name"] for c in ask(t, file, f"PRAGMA table_info({name})")]
        t.true(name in told, f"{name} has a heading")
        t.equal([c for c in columns if c not in told[name]], [], f"columns of {name} that are not in the document")
    views = ask(t, file, "SELECT name FROM temp.sqlite_master WHERE type = 'view' "
                         "AND name != 'stack_groups'")
    for view in views:
        line = re.search(rf"^\| `{view['name']}` \|(.*)$", text, re.M)
        t.true(line, f"{view['name']} has a line")
        told_of = set(re.findall(r"`(\w+)`", line[1])) | {"samples", "share"}
        columns = {c["name"] for c in ask(t, file, f"PRAGMA table_info({view['name']})")}
        t.true(columns <= told_of, f"columns of {view['name']} that are not in the document: {columns - told_of}")


@test
def examples_hold_of_samples(t):
    file = samples_file(t)
    answers = run_examples(t, "samples", file, empty={8}, whole={1, 2, 5, 9, 10, 20})
    report = t.report(file)
    main_event = report["event"]
    threads = next(p for p in report["processes"] if p["name"] == "threads")

    def of(p):
        return p["user_samples"] + p["kernel_samples"]
    functions = {(f["function"]): f["samples"] for f in report["functions"]}
    t.equal(next(r["samples"] for r in answers[1] if r["function"] == "threads_work"),
            functions["threads_work"], "samples of threads_work, as the report has them")
    t.equal(next(r["samples"] for r in answers[2] if r["name"] == "threads"), of(threads),
            "samples of threads, as the report has them")
    workers = {r["name"]: r["samples"] for r in answers[5] if r["process"] == "threads"}
    t.true({"worker-0", "worker-1", "worker-2"} <= set(workers), f"workers by name: {workers}")
    t.equal(sum(r["user"] + r["kernel"] + r["idle"] for r in answers[6]), main_event["samples"],
            "samples of all CPUs")
    t.equal(sum(r["busy"] + r["idle"] for r in answers[7]), main_event["samples"],
            "samples of all minutes")
    t.true(any(r["stack"].endswith(";threads_work") for r in answers[9]), "its stack is hot")
    total = {r["function"]: r for r in answers[10]}
    t.true("threads_work" in total, f"it is among what takes most: {list(total)}")
    t.equal(len(answers[14]), report["recordings"][0]["cpus_online"], "CPUs of the ledger")
    t.true(any(r["name"].endswith("/threads") for r in answers[20]), "it was mapped")


@test
def examples_hold_of_calls(t):
    file = calls_file(t)
    answers = run_examples(t, "calls", file, empty={23})
    t.equal({r["function"]: r["calls"] for r in answers[21]}, CALLS, "calls")
    t.equal({(r["caller"], r["callee"]): r["calls"] for r in answers[22]}, PAIRS, "pairs")
    t.equal({r["caller"] for r in answers[11]}, {"f", "g"}, "who calls leaf, the hottest")
    t.equal(answers[9][0]["stack"], "main;f;leaf", "hottest stack")
    t.equal([r["name"] for r in answers[12]], ["prog"], "processes")


@test
def examples_hold_of_tags(t):
    file = tags_file(t)
    answers = run_examples(t, "tags", file, empty={5, 23})
    t.equal({r["function"]: r["calls"] for r in answers[21]},
            {"main": 1, "work": 1, "leaf": 2, "swtch": 1, "intr": 1}, "calls")
    t.equal({r["kind"]: r["events"] for r in answers[17]}, {"entry": 6, "exit": 6, "inline": 1},
            "events by kind")
    t.equal([r["name"] for r in answers[18]], ["main", "work", "leaf", "leaf", "MGET"], "the first")
    t.equal({r["name"]: (r["longest_ns"], r["calls"]) for r in answers[24]},
            {"leaf": (40000, 2), "intr": (10000, 1)}, "single calls")
    t.equal({r["path"]: (r["calls"], r["net_ns"] / 1000, r["total_ns"] / 1000) for r in
             ask(t, file, "SELECT * FROM calls")},
            TAG_PATHS, "calls by path")


@test
def examples_hold_of_pprof(t):
    calls = calls_file(t)
    file = t.path("a.pb.gz")
    t.assay("export", "--to", "pprof", "-o", file, calls)
    answers = run_examples(t, "pprof", file)
    t.equal(answers[9][0]["stack"], "main;f;leaf", "hottest stack")
    t.equal({r["caller"] for r in answers[11]}, {"f", "g"}, "who calls leaf")
    # The same queries as on the calls themselves, with the same results.
    for query in ("SELECT f.name, sum(calls) AS n FROM calls c JOIN functions f ON f.id = c.function "
                  "GROUP BY 1 ORDER BY 1",
                  "SELECT path, calls FROM calls WHERE calls > 0 ORDER BY path",
                  "SELECT sum(samples) AS samples FROM samples"):
        t.equal(ask(t, file, query), ask(t, calls, query), query)
    want, got = (one(t, f, "SELECT sum(weight) AS ns FROM samples")["ns"] for f in (calls, file))
    t.near(got, want, 20, "net of all, each path rounded")


@test
def examples_hold_of_a_store(t):
    file, place = t.path("s.db"), t.runtime()
    t.assay("start", "--store", file, "--window", "1", "-g", env=place)
    t.run(t.workload("threads"), "3", "60")
    t.assay("stop", env=place)
    answers = run_examples(t, "store", file, empty={8, 25, 27})
    t.true(any(r["name"] == "threads" for r in
               ask(t, file, "SELECT name FROM by_application")), "it is in the store")
    t.equal(sum(r["user"] + r["kernel"] + r["idle"] for r in answers[6]),
            one(t, file, "SELECT sum(samples) AS n FROM samples WHERE event IN "
                         "(SELECT event FROM sessions)")["n"], "samples of all CPUs")


@test
def a_profile_of_samples_has_the_results_of_the_samples(t):
    data, file = t.path("l.data"), t.path("l.pb.gz")
    t.assay("record", "-g", "-o", data, "--", t.workload("loop"), "200")
    t.assay("export", "--to", "pprof", "-o", file, data)
    # Library functions are left out: a profile contains the functions that were inlined into
    # others.
    for query in ("SELECT function, sum(samples) AS n FROM by_function WHERE function = 'loop_body' "
                  "GROUP BY 1",
                  "SELECT sum(samples) AS n FROM by_function",
                  "SELECT stack_text(stack) AS s, sum(samples) AS n, sum(weight) AS w FROM samples "
                  "WHERE event IN (SELECT event FROM sessions) AND s LIKE '%;main;loop_body%' GROUP BY 1 "
                  "ORDER BY 1"):
        t.equal(ask(t, file, query), ask(t, data, query), query)
    folded, again = (sorted(line for line in t.assay("export", "--to", "folded", f).out.split("\n")
                            if ";main;loop_body" in line) for f in (data, file))
    t.equal(again, folded, "folded stacks of the profile and of the samples")
    t.true(any("loop_body" in line for line in folded), "the loop is in them")
    t.has(t.assay("export", "--to", "folded", "--value", "calls", file, status=2).err,
          "has no values named calls: they are samples, cpu", "error")
    t.has(t.assay("annotate", "-i", file, "main", status=1).err, "'assay sql'", "what to do with it instead")


@test
def a_profile_can_come_from_anywhere(t):
    """Written by hand, not packed, strings last: two values, a label, an inlined function."""
    def number(v):
        return bytes([v & 0x7f | 0x80]) + number(v >> 7) if v > 0x7f else bytes([v])

    def field(key, v):
        if isinstance(v, int):
            return number(key << 3) + number(v)
        if isinstance(v, list):
            v = b"".join(field(*pair) for pair in v)
        return number(key << 3 | 2) + number(len(v)) + v
    profile = field(1, [(1, 1), (2, 2)]) + field(1, [(1, 3), (2, 4)])
    profile += field(2, [(1, number(1) + number(2)), (2, number(3) + number(30000)),
                         (3, [(1, 9), (2, 10)])])
    profile += field(4, [(1, 1), (4, [(1, 1)]), (4, [(1, 2)])]) + field(4, [(1, 2), (4, [(1, 3)])])
    profile += b"".join(field(5, [(1, i), (2, 4 + i)]) for i in (1, 2, 3))
    profile += b"".join(field(6, s) for s in (b"", b"samples", b"count", b"cpu", b"nanoseconds",
                                              b"inner", b"outer", b"main", b"x", b"color", b"red"))
    for name, content in (("plain.pb", profile), ("packed.pb.gz", gzip.compress(profile))):
        file = t.write(name, content)
        result = t.assay("sql", "--format", "json", file,
                         "SELECT stack_text(stack) AS stack, samples, weight, event FROM samples")
        t.equal(t.json(result.out), [{"stack": "main;outer;inner", "samples": 3, "weight": 30000,
                                      "event": "cpu"}], name)
        t.has(result.err, "labels besides", "what was left out")
    result = t.assay("sql", t.write("cut.pb.gz", gzip.compress(profile)[:-20]),
                     "SELECT 1 FROM samples", status=1)
    t.has(result.err, "cut.pb.gz", "error")
    t.has(result.err, "byte", "error")


GO = """
package main

import (
	"os"
	"runtime/pprof"
)

var sink int

//go:noinline
func spin(n int) {
	for i := 0; i < n; i++ {
		sink += i * i
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil || pprof.StartCPUProfile(file) != nil {
		os.Exit(1)
	}
	for i := 0; i < 400; i++ {
		spin(5000000)
	}
	pprof.StopCPUProfile()
	file.Close()
}
"""


@test
def a_profile_of_go_is_read(t):
    if not shutil.which("go"):
        t.skip("go is not installed")
    program, file = t.path("spin"), t.path("cpu.pb.gz")
    t.run("go", "build", "-o", program, t.write("spin.go", GO), timeout=240,
          env=go_environment())
    # On a busy machine the runtime preempts the loop by signals, whose handlers have samples too.
    t.run(program, file, env={"GODEBUG": "asyncpreemptoff=1"})
    rows = ask(t, file, "SELECT function, samples, share FROM by_function LIMIT 1")
    t.equal(rows[0]["function"], "main.spin", "where the time is")
    t.true(rows[0]["share"] > 0.9, f"nearly all: {rows}")
    sums = one(t, file, "SELECT sum(samples) AS n, sum(weight) AS ns, min(event) AS event FROM samples")
    period = one(t, file, "SELECT period_ns FROM sessions")["period_ns"]
    t.equal((sums["event"], sums["ns"]), ("cpu", sums["n"] * period), "samples and their weight")
    t.equal(one(t, file, "SELECT name FROM processes")["name"], "spin", "the first mapping's name")


@test
def events_are_those_that_perf_counts(t):
    t.need("perf")
    data = t.path("e.data")
    t.assay("record", "-a", "-g", "-o", data, "--", t.workload("short"))
    counts = collections.Counter(re.findall(
        r"PERF_RECORD_(\w+)", t.run("perf", "report", "-D", "-i", data).out))
    want = {"sample": counts["SAMPLE"], "mmap": counts["MMAP"] + counts["MMAP2"],
            "comm": counts["COMM"], "fork": counts["FORK"], "exit": counts["EXIT"],
            "switch": counts["SWITCH"] + counts["SWITCH_CPU_WIDE"]}
    t.true(all(want.values()), f"perf sees some of each: {want}")
    # The machine was too busy.
    rare = {"lost": counts["LOST"] + counts["LOST_SAMPLES"],
            "throttle": counts["THROTTLE"] + counts["UNTHROTTLE"]}
    want.update({kind: n for kind, n in rare.items() if n})
    got = {r["kind"]: r["n"] for r in
           ask(t, data, "SELECT kind, count(*) AS n FROM events GROUP BY kind")}
    got["comm"] += got.pop("outer_stack", 0)  # in records of that type
    t.equal(got, want, "events")
    # The sums equal those of samples.
    for role in ask(t, data, "SELECT DISTINCT event FROM samples"):
        name = role["event"]
        t.equal(one(t, data, f"SELECT count(*) AS n FROM events WHERE kind = 'sample' AND "
                             f"name = '{name}'")["n"],
                one(t, data, f"SELECT sum(samples) AS n FROM samples WHERE event = '{name}'")["n"],
                f"samples of {name}")
    rows = ask(t, data, "SELECT seq, time_ns FROM events WHERE time_ns > 0")
    t.equal([r["time_ns"] for r in rows], sorted(r["time_ns"] for r in rows), "times are in order")
    wall = one(t, data, "SELECT start_ns, end_ns FROM sessions")
    t.true(wall["start_ns"] > 10 ** 18, "the wall's clock")
    t.between(one(t, data, "SELECT min(time_ns) AS n FROM events WHERE kind = 'sample'")["n"],
              wall["start_ns"] - 10 ** 9, wall["end_ns"] + 10 ** 9, "a sample's time")


@test
def events_of_compressed_recordings_are_all_there(t):
    t.need("perf")
    data = t.path("z.data")
    t.run("perf", "record", "-q", "-B", "-z", "-e", "cpu-clock", "-F", "4000", "-o", data, "--",
          t.workload("loop"), "100")
    want = t.report(data)["event"]["samples"]
    t.true(want > 100, f"there are samples: {want}")
    t.equal(one(t, data, "SELECT count(*) AS n FROM events WHERE kind = 'sample'")["n"], want,
            "samples")
    # perf recorded no wall clock, so all times are those of the recording's clock.
    own = 10 ** 17
    times = one(t, data, "SELECT max(time_ns) AS event, (SELECT end_ns FROM sessions) AS session "
                         "FROM events")
    t.true(0 < times["event"] < own and 0 < times["session"] < own, f"own clock: {times}")


@test
def a_limit_reads_no_more_than_it_needs(t):
    """The file is truncated within its records; a further read would report that."""
    data = t.path("e.data")
    t.assay("record", "-a", "-F", "5000", "-o", data, "--", t.workload("loop"), "300")
    whole = data.read_bytes()
    cut = t.write("cut.data", whole[:len(whole) * 9 // 10])
    first = "SELECT seq, time_ns, kind, name, value FROM events LIMIT 20"
    t.equal(ask(t, cut, first), ask(t, data, first), "the first events")
    rows = ask(t, cut, "SELECT kind, detail FROM events ORDER BY seq DESC LIMIT 1")
    t.equal(rows[0]["kind"], "warning", "the last row says that it is cut short")
    t.equal(one(t, data, "SELECT count(*) AS n FROM events a JOIN (SELECT 1 LIMIT 3) "
                         "WHERE a.seq <= 3")["n"], 3, "rows of a join")


@test
def a_pipe_has_no_events_and_says_so(t):
    data = t.path("e.data")
    t.assay("record", "-o", data, "--", t.workload("short"))
    script = 'cat "$1" | "$0" sql - "$2"'
    result = t.run("sh", "-c", script, ASSAY, data, "SELECT count(*) FROM events", status=None)
    t.true(result.status != 0, "it fails")
    t.has(result.err, "standard input is not a file", "error")
    t.run("sh", "-c", script, ASSAY, data, "SELECT sum(samples) FROM samples")


@test
def events_of_tags_are_those_of_babeltrace2(t):
    t.need("babeltrace2")
    program = BUILD / "tests" / "unit" / "test_ctf_random"
    for seed in (1, 2):
        path = t.path(f"trace{seed}")
        t.run(program, path, seed)
        lines = t.run("babeltrace2", "--clock-seconds", "--no-delta", path).out.splitlines()
        rows = ask(t, path, "SELECT time_ns, tid, kind FROM events WHERE kind <> 'lost'")
        t.true(len(rows) > 10000, "there are events")
        t.equal(len(rows), len(lines), "events")
        times = [line[1:line.index("]")].replace(".", "") for line in lines]
        t.equal([r["time_ns"] for r in rows], sorted(r["time_ns"] for r in rows), "in order")
        # If the clock of a stream seems to go back, its time stands still here.
        late = sum(str(r["time_ns"]) != time for r, time in zip(rows, times))
        t.true(late < len(rows) / 100, f"times, except {late} of {len(rows)}")


@test
def calls_are_those_of_the_report(t):
    file = calls_file(t)
    want = {";".join(p["path"]): (p["calls"], p["net_ns"], p["total_ns"], p["min_ns"], p["max_ns"])
            for p in t.report(file)["processes"][0]["paths"]}
    rows = ask(t, file, "SELECT * FROM calls")
    got = {r["path"]: (r["calls"], r["net_ns"], r["total_ns"], r["min_ns"], r["max_ns"])
           for r in rows}
    t.equal(set(got), set(want), "paths")
    for path, values in want.items():
        for a, b in zip(got[path], values):
            t.true(a == b if None in (a, b) else abs(a - b) <= 1e-6 * abs(b), f"{path}: {a}, {b}")
    t.equal(sum(r["depth"] == r["path"].count(";") + 1 for r in rows if r["parent"]),
            len(rows) - 1, "depths")


main()
