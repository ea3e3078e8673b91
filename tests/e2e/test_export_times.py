# SPDX-License-Identifier: GPL-2.0-or-later
"""export: formats that contain the time of each sample (chrome, firefox, perf-script) have the paths
and sums of the folded stacks, in the order of time.
"""
import collections
import re

from harness import main, test
from perf_write import PerfData
from recursion_shapes import files


def from_script(text):
    """Samples of `perf script`: (comm, pid, cpu, time in ns, period, event, path)."""
    found, path = [], []
    for line in text.splitlines() + [""]:
        head = re.match(r"(\S.*?)\s+(\d+)/(\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{9}):\s+(\d+) (.*): $",
                        line)
        frame = re.match(r"\t\s*([0-9a-f]+) (.+) \((.*)\)$", line)
        if head:
            sample, path = head, []
        elif frame:
            path.append(frame[2])
        elif sample:
            comm, pid, tid, cpu, s, ns, period, event = sample.groups()
            found.append((comm, int(pid), int(tid), cpu, int(s) * 10**9 + int(ns), int(period),
                          event, tuple(path[::-1])))
            sample = None
    return found


def slices(t, doc):
    """Path to ns, over all threads; each B must have its E."""
    found, open_of, last = collections.Counter(), collections.defaultdict(list), {}
    for event in doc["traceEvents"]:
        if event["ph"] not in "BE":
            continue
        thread = event["pid"], event["tid"]
        way, ns = open_of[thread], round(event["ts"] * 1000)
        t.true(ns >= last.get(thread, 0), "times of a thread do not go back")
        if way:
            found[tuple(way)] += ns - last[thread]
        last[thread] = ns
        if event["ph"] == "B":
            way.append(event["name"])
        else:
            t.equal(way.pop(), event["name"], "the end of a slice")
    t.true(not any(open_of.values()), "every slice ends")
    return +found


def from_firefox(t, doc):
    """Path to the weight of its samples; checks version 66's tables."""
    shared, found = doc["shared"], collections.Counter()
    for name, table in shared.items():
        for column, values in table.items() if isinstance(table, dict) else ():
            if column != "length":
                t.equal(len(values), table["length"], f"length of {name}.{column}")
    ways, stacks, frames = [], shared["stackTable"], shared["frameTable"]
    for i, (frame, offset) in enumerate(zip(stacks["frame"], stacks["prefixOffset"])):
        name = shared["stringArray"][shared["funcTable"]["name"][frames["func"][frame]]]
        ways.append((ways[i - offset] if offset else ()) + (name,))
    for thread in doc["threads"]:
        samples = thread["samples"]
        t.equal(samples["time"], sorted(samples["time"]), "times of a thread")
        for i, stack in enumerate(samples["stack"]):
            weight = samples["weight"][i] if samples["weight"] else 1
            found[ways[stack] if stack is not None else ()] += weight
    return found


def folded(t, file, *words):
    found = collections.Counter()
    for line in t.assay("export", "--to", "folded", *words, file).out.splitlines():
        way, number = line.rsplit(" ", 1)
        found[tuple(way.split(";")[1:])] += int(number)
    return found


@test
def each_shape_of_recursion_has_its_paths(t):
    for _, _, file, what in files(t, "samples"):
        want, weights = folded(t, file), folded(t, file, "--value", "weight")
        script = from_script(t.assay("export", "--to", "perf-script", file).out)
        t.equal(collections.Counter(sample[-1] for sample in script), want, f"{what}: perf-script")
        periods = collections.Counter()
        for sample in script:
            periods[sample[-1]] += sample[5]
        t.equal(periods, weights, f"{what}: periods")
        chrome = t.json(t.assay("export", "--to", "chrome", file).out)
        t.equal(slices(t, chrome), weights, f"{what}: chrome")
        firefox = t.json(t.assay("export", "--to", "firefox", file).out)
        t.equal(from_firefox(t, firefox), want, f"{what}: firefox")


@test
def a_recording_has_its_times_threads_and_busy_cpus(t):
    data = t.path("s.data")
    t.assay("record", "-g", "-F", "500", "-o", data, "--", t.workload("btree"))
    want = folded(t, data)
    script = from_script(t.assay("export", "--to", "perf-script", data).out)
    t.equal(collections.Counter(sample[-1] for sample in script), want, "perf-script")
    times = [sample[4] for sample in script]
    t.equal(times, sorted(times), "the order of time")
    t.equal({sample[6] for sample in script}, {"cpu-clock"}, "the event")
    doc = t.json(t.assay("export", "--to", "firefox", data).out)
    t.equal(from_firefox(t, doc), want, "firefox")
    t.equal((doc["meta"]["preprocessedProfileVersion"], doc["meta"]["interval"]), (66, 2), "meta")
    t.true("btree" in [thread["name"] for thread in doc["threads"]], "the thread")
    weights = folded(t, data, "--value", "weight")
    events = t.json(t.assay("export", "--to", "chrome", data).out)
    t.equal(slices(t, events), weights, "chrome")
    busy = [sum(e["args"].values()) for e in events["traceEvents"] if e["ph"] == "C"]
    t.near(sum(busy) * 100e6, sum(weights.values()), len(busy) * 100e3, "the counter")


def absences(t, data):
    """By tid: (state, ns) of each time off the CPU since the thread's exec, from single events."""
    found, out = collections.defaultdict(list), {}
    for row in t.json(t.assay("sql", "--format", "json", data, "SELECT time_ns, tid, kind, name "
                              "FROM events WHERE kind IN ('switch', 'comm') ORDER BY seq").out):
        tid, time = row["tid"], row["time_ns"]
        if row["kind"] == "comm":
            found.pop(tid, None)
            out.pop(tid, None)
        elif row["name"] != "in":
            out[tid] = time, row["name"] == "preempted"
        elif tid in out:
            begin, preempted = out.pop(tid)
            found[tid].append(("preempted" if preempted else "blocked", time - begin))
    return found


@test
def firefox_has_switches_and_cpu_use(t):
    data = t.path("s.data")
    t.assay("record", "-F", "500", "-o", data, "--", t.workload("waits"), "100")
    doc = t.json(t.assay("export", "--to", "firefox", data).out)
    strings, want, seen = doc["shared"]["stringArray"], absences(t, data), 0
    for thread in doc["threads"]:
        if thread["name"] != "waits":
            continue  # interrupts, and the recorder's child before its exec
        table = thread["markers"]
        t.equal({len(column) for column in table.values() if isinstance(column, list)},
                {table["length"]}, "length of columns")
        rows = zip(table["name"], table["startTime"], table["endTime"], table["phase"])
        got = [(strings[name], round((end - start) * 1e6)) for name, start, end, phase in rows
               if phase == 1]
        t.equal(got, want.get(thread["tid"], []), f"times off the CPU of {thread['tid']}")
        seen += len(got)
    t.true(seen > 5, f"{seen} markers")
    weights, busy = folded(t, data, "--value", "weight"), 0
    for counter in doc["counters"]:
        t.equal(doc["threads"][counter["mainThreadIndex"]]["pid"], counter["pid"], "the process")
        samples = counter["samples"]
        t.equal(samples["time"], sorted(set(samples["time"])), "times of a counter")
        t.equal(len(samples["count"]), samples["length"], "length of a counter")
        busy += sum(samples["count"])
    t.equal(round(busy * 1e6), sum(weights.values()), "CPU time of all counters")
    first = t.json(t.assay("export", "--to", "firefox", "--limit", "3", data).out)
    last = max(max(thread["samples"]["time"]) for thread in first["threads"])
    for thread in first["threads"]:
        t.true(all(start <= last for start in thread["markers"]["startTime"]),
               "no marker begins after the last sample")


@test
def firefox_has_the_main_value_of_recordings_without_times(t):
    for _, shape, file, what in files(t, "calls", "pprof", "tags"):
        doc = t.json(t.assay("export", "--to", "firefox", file).out)
        got = collections.Counter()
        for way, ms in from_firefox(t, doc).items():
            got[way[way.index("main"):] if "main" in way else way] += ms * 1000
        want = collections.Counter()
        for names in shape.chains:
            for i, (_, net) in enumerate(names):
                want[tuple(name for name, _ in names[:i + 1])] += net
        t.equal({way: round(us) for way, us in got.items() if us}, dict(+want), what)
        t.equal({thread["samples"]["weightType"] for thread in doc["threads"]}, {"tracing-ms"},
                f"{what}: unit")


@test
def a_limit_takes_the_first_samples_and_is_reported(t):
    data = t.path("s.data")
    t.assay("record", "-F", "500", "-o", data, "--", t.workload("btree"))
    whole = from_script(t.assay("export", "--to", "perf-script", data).out)
    result = t.assay("export", "--to", "perf-script", "--limit", "7", data)
    t.equal(from_script(result.out), whole[:7], "the first samples")
    t.has(result.err, f"--limit: the first 7 of {len(whole)} samples")
    t.equal(t.assay("export", "--to", "chrome", "--limit", "1M", data).err, "", "all are written")
    stacks = t.write("a.folded", "main;f 3\n")
    for words, said in (
            (("--to", "firefox", "--limit", "7", stacks), "is exported as a whole"),
            (("--to", "folded", "--limit", "7", data), "sums of all samples"),
            (("--to", "chrome", data, data), "each of these 2 recordings has its own clock")):
        t.has(t.assay("export", *words, status=2).err, said)


@test
def a_large_file_is_announced_with_the_way_out(t):
    # 2000 samples of 1000 functions: 150 bytes for each function of each sample.
    file = PerfData("deep", 42, t.workload("call"))
    before = len(file.records)
    file.sample([0x401000 + 4 * i for i in range(1000)])
    file.records += file.records[before:] * 1999
    data, out = t.write("p.data", file.bytes()), t.path("out.json")
    said = t.assay("export", "--to", "chrome", "-o", out, data).err
    t.has(said, "export: up to ")
    t.has(said, " MB will be written, and most tools load some hundred MB; --limit N, --time and the "
          "filters write a part", "warning")
    t.equal(t.assay("export", "--to", "chrome", "--limit", "1000", "-o", out, data).err,
            "assay: export: --limit: the first 1000 of 2000 samples\n", "below the limit")
    t.equal(t.assay("export", "--to", "firefox", "-o", out, data).err, "", "a small format")


main()
