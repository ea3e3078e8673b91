# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages (--html): their data, decoded by page_data.py, has the sums of JSON and the paths of
exports, for every kind of recording; names keep every byte and harm nothing; files are written as
other outputs are."""
import collections
import json
import math
import os
import pathlib
import re
import shutil
import stat
import tempfile

import stores
import tags_program
from calls_table import Table
from harness import main, test
from page_data import Page, blob_of
from perf_write import PerfData
from pprof_write import Profile
from recursion_shapes import SHAPES, files, paths, whole, write_calls, write_pprof, write_samples

MAIN_VALUE = {"samples": ("samples", 1), "calls": ("net", 1000), "tags": ("net", 1000),
              "pprof": ("time", 1000)}


def page_of(t, command, *words, name="page.html", **options):
    t.assay(command, "--html", t.path(name), *words, **options)
    return Page.of_file(t.path(name))


def by_path(stacks, value):
    """The sums of a value by call path; inlined functions are functions of their own."""
    found = collections.Counter()
    column = stacks.value(value)
    for node, number in zip(stacks.node, column):
        found[stacks.path(node)] += number
    return +found


def folded(t, *words):
    """The same from an export to folded stacks, without the process."""
    found = collections.Counter()
    for line in t.assay("export", "--to", "folded", *words).out.splitlines():
        if not line.startswith("#"):
            way, number = line.rsplit(" ", 1)
            found[tuple(way.split(";")[1:])] += int(number)
    return found


def recorded(t, name="a.data"):
    path = t.path(name)
    t.assay("record", "-g", "-F", "997", "-o", path, "--", t.workload("btree"))
    return path


_directory = tempfile.TemporaryDirectory(prefix="assay-test-html-")  # for all tests


def recorded_machine(t):
    """A recording of the whole machine, made once. Its program has the priority, if root runs the test: a busy
    machine adds stacks of others to it as long as it runs."""
    path = pathlib.Path(_directory.name, "machine.data")
    if not path.exists():
        t.assay("record", "-g", "-F", "997", "-a", "-o", path, "--", "nice", "-n", "-5", t.workload("btree"))
    return path


@test
def shapes_of_recursion_have_their_paths(t):
    for kind, shape, file, what in files(t):
        value, unit = MAIN_VALUE[what.split(",")[0]]
        page = page_of(t, "report", "--inline", file)
        stacks = page.stacks()
        found = by_path(stacks, value)
        del found[("(outside)",)]
        t.equal(dict(found), {way: net * unit for way, net in paths(shape).items()}, what)
        rows = kind.rows(t.report(*kind.words, "--inline", file))
        own = collections.Counter()
        for way, number in found.items():
            own[way[-1]] += number
        t.equal(sum(own.values()), unit * whole(shape), f"{what}: the total")
        t.equal(dict(own), {row["function"]: row[kind.own] for row in rows if row[kind.own]},
                f"{what}: as JSON")


def chrome_calls(t, trace):
    """(name, begin ns, length ns) of each slice of the export to chrome, sorted."""
    events = json.loads(t.assay("tags", "trace", "--to", "chrome", trace).out)["traceEvents"]
    open_, calls = collections.defaultdict(list), []
    for event in events:
        stack = open_[event.get("pid"), event.get("tid")]
        if event["ph"] == "B":
            stack.append(event)
        elif event["ph"] == "E":
            begin = stack.pop()
            calls.append((begin["name"], round(begin["ts"] * 1000),
                          round(event["ts"] * 1000) - round(begin["ts"] * 1000)))
    return sorted(calls)


@test
def event_tags_have_the_calls_of_each_thread(t):
    trace = t.path("trace")
    t.assay("tags", "--wait", "-o", trace, "--", tags_program.build(t), "rounds=50", "threads=9", "waits=2",
            env=tags_program.place(t))
    lanes = page_of(t, "report", trace).lanes()
    t.equal(len(lanes), 10, "threads")
    calls = sorted((name, begin, length) for _, _, lane in lanes for name, begin, length, _, _ in lane)
    t.equal(calls, chrome_calls(t, trace), "the calls of the export to chrome")
    names = collections.Counter(name for name, _, _ in calls)
    t.equal((names["rounds"], names["branch"], names["leaf"]), (10, 95, 190), "calls of the program")
    for _, _, lane in lanes:
        open_ = []
        for name, begin, length, depth, _ in lane:
            t.true(depth <= len(open_), f"{name} has a caller at each depth")
            del open_[depth:]
            t.true(not open_ or begin + length <= open_[-1], f"{name} ends before its caller")
            open_.append(begin + length)


def absences(profile):
    """The lengths (ns) of the complete off-CPU markers in the export to the Firefox Profiler, by thread."""
    found = {}
    for thread in profile["threads"]:
        marks = thread["markers"]
        found[f"{thread['name']} {thread['tid']}"] = collections.Counter(
            round((end - start) * 1e6) for start, end in zip(marks["startTime"], marks["endTime"]) if end is not None)
    return found


@test
def switches_have_a_lane_for_each_thread(t):
    data = t.path("s.data")
    napper = t.path("napper")  # no other process of the machine has this name
    shutil.copy(shutil.which("dash") or shutil.which("sh"), napper)
    t.assay("record", "-a", "-F", "1999", "-o", data, "--", napper, "-c",
            "for i in $(seq 20); do sleep 0.02; done")
    page = page_of(t, "report", data)
    lanes, ref = page.lanes(), page.head["lanes"]
    t.true(ref["switches"] and ref["left"] == 0, "kind of the lanes")
    inner = {}
    for process, thread, spans in lanes:
        t.true(spans and process and thread, "a thread with its name")
        end = 0
        for name, begin, length, depth, out in spans:
            t.equal((depth, bool(out)), (0, name != "on a CPU"), f"{thread}: {name}")
            t.true(begin >= end and length > 0, f"{thread}: {name} at {begin}, after {end}")
            end = begin + length
            if out and begin and end < ref["duration_ns"]:
                inner.setdefault(thread, collections.Counter())[length] += 1
        t.true(end <= ref["duration_ns"], f"the end of {thread}")
    # The export has threads with samples alone, and also absences before the first sample.
    exported = absences(json.loads(t.assay("export", "--to", "firefox", data).out))
    both = {name for name in inner.keys() & exported.keys() if name.startswith("napper ")}
    t.true(sum(sum(inner[thread].values()) for thread in both) > 3, "absences in both")
    for thread in both:
        t.equal(inner[thread] - exported[thread], collections.Counter(), f"absences of {thread} in no export")
    lanes = page_of(t, "report", "--comm", "napper", data, name="c.html").lanes()
    t.equal({process for process, _, _ in lanes}, {"napper"}, "lanes of the selected processes")
    t.equal(page_of(t, "report", data, data, name="two.html").head["lanes"], None, "two recordings have none")


@test
def samples_have_the_sums_of_json_and_the_paths_of_exports(t):
    data = recorded_machine(t)
    page, report = page_of(t, "report", data), t.report("--full", data)
    stacks = page.stacks()
    t.equal(page.head["kind"], "samples")
    t.equal(page.head["title"], str(data))
    t.equal(stacks.total("samples"), report["samples"], "samples")
    t.equal(dict(by_path(stacks, "samples")), dict(folded(t, data)), "paths")
    t.equal(len(set(zip(stacks.node, stacks.owner))), len(stacks.node), "one row per path and owner")
    t.true(all(parent < node for node, parent in enumerate(stacks.nodes["parent"]) if node),
           "callers come before callees")
    own = collections.Counter()
    for node, samples in zip(stacks.node, stacks.value("samples")):
        while stacks.nodes["inlined"][node]:
            node = stacks.nodes["parent"][node]
        own[stacks.function(node)] += samples
    functions = collections.Counter()
    for row in report["functions"]:
        functions[row["function"]] += row["samples"]
    for name in ("btree_find_slot", "btree_lookup"):
        t.true(own[name] > 0, f"{name} has samples")
        t.equal(own[name], functions[name], name)
    # The table of the document has the same rows, as text and as numbers.
    table = page.sections("functions")[0]
    names, _ = page.column(table, "function")
    shown, numbers = page.column(table, "samples")
    t.equal([int(text.replace(",", "")) for text in shown], list(numbers), "texts and numbers")
    listed = collections.Counter()
    for name, number in zip(names, numbers):
        listed[name] += number
    t.equal(listed["btree_find_slot"], functions["btree_find_slot"], "in the table")


@test
def each_sample_has_its_time(t):
    data = recorded_machine(t)
    page = page_of(t, "report", data)
    stacks = page.stacks()
    report = t.report("--full", data)
    times = stacks.times
    t.equal(sum(e[3] for e in stacks.entries), stacks.total("samples"), "samples in time")
    per_row = collections.Counter()
    for _, row, cpu, samples, _ in stacks.entries:
        per_row[row] += samples
        t.true(cpu is not None and cpu < stacks.head["cpus"], f"CPU {cpu}")
    t.equal([per_row[row] for row in range(len(stacks.node))],
            [int(v) for v in stacks.value("samples")], "samples of each row")
    counts = collections.Counter(e[1] for e in stacks.entries)
    order = [counts[row] for row in range(len(stacks.node))]
    t.equal(order, sorted(order, reverse=True), "frequent rows come first")
    t.true(0 <= stacks.entries[0][0] and stacks.entries[-1][0] <= times["duration_ns"], "the span")
    t.equal((times["recordings"], times["window_ns"], times["weight_is_ns"]), (1, 0, True))
    # The same times as in another format, in steps.
    script = t.assay("export", "--to", "perf-script", "--no-idle", data).out
    stamps = re.findall(r"^\S.*? (\d+\.\d{9}): +\d+ cpu-clock: $", script, re.MULTILINE)
    idle = {i for i, pid in enumerate(stacks.owners["pid"]) if pid == 0}
    busy = [ns for ns, row, *_ in stacks.entries if stacks.owner[row] not in idle]
    t.equal(len(stamps), len(busy), "busy samples")
    apart = [float(stamps[i]) - float(stamps[0]) - (busy[i] - busy[0]) / 1e9
             for i in range(len(busy))]
    t.true(max(map(abs, apart)) <= times["step_ns"] / 1e9 + 2e-6, f"times: {max(apart)}")
    t.equal(report["event"]["period_ns"], times["period_ns"], "the usual weight")


@test
def filters_and_time_ranges_select(t):
    data = recorded_machine(t)
    for words in (["--comm", "btree"], ["-S", "btree_find_slot"], ["--time", "20%,60%"],
                  ["--no-idle"]):
        stacks = page_of(t, "report", *words, data).stacks()
        t.equal(stacks.total("samples"), t.report(*words, data)["samples"], str(words))
        t.equal(sum(e[3] for e in stacks.entries), stacks.total("samples"), f"{words}: in time")
    stacks = page_of(t, "report", "--comm", "btree", data).stacks()
    t.equal({stacks.names[p] for p in stacks.owners["process"]}, {"btree"}, "processes")


@test
def several_recordings_are_in_one_order(t):
    a, b = recorded(t, name="a.data"), recorded(t, name="b.data")
    stacks = page_of(t, "report", b, a).stacks()
    each = [page_of(t, "report", file).stacks() for file in (a, b)]
    t.equal(stacks.total("samples"), sum(s.total("samples") for s in each), "samples")
    t.equal(stacks.times["recordings"], 2)
    at = [e[0] for e in stacks.entries]
    t.equal(at, sorted(at), "the order of time")
    first = sum(e[3] for e in each[0].entries)
    gap = at[first] - at[first - 1]
    begins = each[1].times["begin_ns"] - each[0].times["begin_ns"]
    t.near(at[first] - at[0], begins + each[1].entries[0][0] - each[0].entries[0][0], 3e6,
           f"the second recording's begin, {gap} ns after the first one's end")


@test
def stores_have_windows(t):
    data, store = recorded_machine(t), t.path("a.db")
    t.run(t.workload("store_recording"), data, store, "0.2")
    page = page_of(t, "report", "--no-idle", "--store", store)
    t.equal(page.head["title"], str(store))
    stacks = page.stacks()
    t.equal(stacks.total("samples"), t.report("--no-idle", store)["samples"], "samples")
    t.equal(sum(e[3] for e in stacks.entries), stacks.total("samples"), "in time")
    with stores.reading(store) as db:
        windows = stores.number(db, "SELECT count(*) FROM windows WHERE samples > 0")
    t.true(0 < len({e[0] for e in stacks.entries}) <= windows, "a time for each window")
    t.true(stacks.times["window_ns"] > 0, "the length of windows")
    t.equal(stacks.times["step_ns"], stacks.times["finest_ns"], "the step of a small store")
    t.equal(len({entry[:3] for entry in stacks.entries}), len(stacks.entries), "one entry for each time, row and CPU")


@test
def hostile_names_keep_their_bytes(t):
    names = {"a</script><script>alert(1)//": None, "operator<<": None, "\"'&amp;<!--": None,
             "f<" + "std::vector<int, " * 230 + ">": None, "caf\u00e9 \u6f22": None,
             "\x1b[31mred\x07": "\\x1b[31mred\\x07", "two\nlines\t": "two\\nlines\\t"}
    profile = Profile(("samples", "count"))
    profile.mapping(0x1000, 0x9000, "/bin/</script>")
    for at, name in enumerate(names):
        profile.sample([profile.place(0x1000 + 16 * at, (name, 1))], [at + 1],
                       process="<b>prog</b>", pid=7)
    file = t.write("names.pb", profile.bytes().replace(b"caf\xc3\xa9", b"caf\xff "))
    want = {(shown or name).replace("caf\u00e9", "caf\\xff "): float(at + 1)
            for at, (name, shown) in enumerate(names.items())}
    page = page_of(t, "report", "--inline", file)
    html = t.path("page.html").read_bytes()
    stacks = page.stacks()
    t.equal(dict(by_path(stacks, "samples")), {(name,): v for name, v in want.items()}, "names")
    t.equal({stacks.names[p] for p in stacks.owners["process"]}, {"<b>prog</b>"})
    texts, numbers = page.column(page.sections("functions")[0], "function")
    t.equal(sorted(texts), sorted(want), "names in the table")
    t.equal(numbers, None, "numbers of names")
    for part in (b"alert(1)", b"operator<<", b"\x1b", b"</script><script>alert"):
        t.true(part not in html, f"{part} is not in the page")
    blob_of(html)  # has one element with data


@test
def code_of_hot_functions(t):
    program, data = t.path("hot"), t.path("hot.data")
    t.run("cc", "-O1", "-g", "-no-pie", "-o", program, t.write(
        "hot.c", "static volatile int sum;\nint hot(void)\n{\n\tsum += 1; /* a remark */\n"
        "\treturn sum;\n}\nint rare(void) { return sum; }\nint main(void) { return 0; }\n"))
    symbols = {words[2]: int(words[0], 16)
               for words in map(str.split, t.run("nm", program).out.splitlines())
               if len(words) == 3}
    file = PerfData("hot", 42, program)
    for _ in range(199):
        file.sample([symbols["hot"], symbols["main"] + 2])
    file.sample([symbols["rare"], symbols["main"] + 2])
    t.write("hot.data", file.bytes())
    page = page_of(t, "report", data)
    t.equal([code["function"] for code in page.head["code"]], ["hot"], "at least 1 %")
    document = page.head["code"][0]["document"]
    table = page.sections(document=document)[-1]
    _, samples = page.column(table, "samples")
    t.equal(sum(n for n in samples if n == n), 199, "samples of its instructions")
    t.has(page.blob.decode(errors="replace"), "a remark", "the data")
    bare = page_of(t, "report", "--no-source", data)
    t.equal(len(bare.head["code"]), 1)
    t.lacks(bare.blob.decode(errors="replace"), "a remark", "the data")
    alone = page_of(t, "annotate", "hot", data)
    t.equal((alone.head["kind"], alone.head["title"], alone.head["stacks"]),
            ("annotate", "hot", None))


@test
def durations_of_calls(t):
    table = Table("prog", 42)
    work = table.path(table.path(0, "main", calls=1, net=1000), "work", calls=3, net=300, low=50,
                      high=170)
    table.path(work, "leaf", calls=1, net=10)
    page = page_of(t, "report", t.write("a.calls", table.bytes()))
    stacks = page.stacks()
    most = {stacks.function(node): most for node, most in zip(stacks.node, stacks.calls["most"])}
    t.equal(most["work"], 170, "the longest call")
    t.true(math.isnan(most["leaf"]), "the duration of leaf is not known")
    names, numbers = page.column(page.sections("processes")[0]["parts"][0]["sections"][-1],
                                 "calls")
    t.equal(names, [str(int(number)) for number in numbers], "calls, as text and as numbers")


@test
def both_sides_of_a_comparison(t):
    sides = {}
    for side, times in (("a", 1), ("b", 2)):
        for run in "12":
            p = Profile(("cpu", "nanoseconds"))
            p.mapping(0x1000, 0x9000, f"/opt/{side}/libx.so.{run}")
            top = p.place(0x1100, ("main", 1))
            p.sample([top], [times * 10**6], process="prog", pid=7)
            p.sample([p.place(0x1200, ("f", 1)), top], [times * 10**7], process="prog", pid=7)
            sides.setdefault(side, []).append(t.write(f"{side}{run}.pb", p.bytes()))
    page = page_of(t, "diff", *sides["a"], "--", *sides["b"])
    t.equal(page.head["kind"], "diff")
    for key, times in (("before", 1), ("stacks", 2)):
        stacks = page.stacks(key)
        t.equal(dict(by_path(stacks, "cpu")), {("main",): 2e6 * times, ("main", "f"): 2e7 * times})
        t.equal((stacks.head["runs"], stacks.head["times"]), (2, None))
        t.equal([stacks.names[name] for name in stacks.images["name"]], ["libx.so"])
    grouped = page_of(t, "diff", "--sort", "group", *sides["a"], "--", *sides["b"])
    t.equal(grouped.stacks().total("cpu"), 4.4e7, "the functions of a comparison of groups")


@test
def other_commands_write_documents(t):
    data, counted = recorded(t), write_calls(t, "shape", SHAPES["direct"])
    for kind, words in (("intervals", [data]), ("reconcile", [data, counted]),
                        ("status", ["methods"])):
        command = "help" if kind == "status" else kind
        if kind == "status":
            t.assay("help", "methods", "--html", t.path("page.html"))
            page = Page.of_file(t.path("page.html"))
        else:
            page = page_of(t, command, *words)
        t.equal((page.head["kind"], page.head["stacks"]), (kind, None), kind)
        t.true(page.head["document"]["sections"], f"{kind} has sections")
    program = t.path("hooks")
    t.run("cc", "-finstrument-functions", "-o", program, t.write(
        "hooks.c", "int f(void) { return 0; }\nint main(void) { return f(); }\n"))
    page = page_of(t, "calls", "-o", t.path("hooks.calls"), "--", program)
    t.equal((page.head["kind"], page.head["title"]), ("calls", "hooks"))
    t.equal(by_path(page.stacks(), "calls")[("main", "f")], 1, "calls of f")


@test
def files_are_written_as_other_outputs(t):
    pb, page = write_pprof(t, "p", SHAPES["direct"]), t.path("page.html")
    samples = write_samples(t, "s", SHAPES["direct"])
    t.equal(t.assay("report", "--html", page, pb).err, "", "messages")
    t.equal(stat.S_IMODE(os.stat(page).st_mode), 0o600, "the mode")
    first = page.read_bytes()
    t.assay("report", "--html", page, "--sort", "function", pb)
    t.equal(t.path("page.html.old").read_bytes(), first, "the older page")
    t.equal(t.assay("report", "--html", "-", pb, text=False).out, first, "standard output")
    os.symlink(page, t.path("link.html"))
    for words, status, message in (
            (["--html", t.path("link.html"), pb], 2, "link"),
            (["--html", t.path("none") / "a.html", pb], 2, "none"),
            (["--html", pb, pb], 2, "is the recording"),
            (["--html", page, "--json", pb], 2, "--json prints another form"),
            (["--html", page, "--markdown", pb], 2, "--markdown prints another form"),
            (["--html", page, "--brief", pb], 2, "--brief"),
            (["--no-source", samples], 2, "--no-source is for")):
        t.has(t.assay("report", *words, status=status).err, message, f"the message of {words}")
    t.true(pb.read_bytes().startswith(b"\x0a"), "the recording is unchanged")
    t.equal(sorted(p.name for p in t.directory.glob("*.part")), [], "files left over")


main()
