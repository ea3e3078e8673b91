# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay tags trace`: the code path of small captures in full, of long ones at once, and in
the forms of other tools; its sums are those of `assay report`."""
import collections
import gzip
import random
import re
import subprocess

from harness import ASSAY, main, test

NAMES = """main/500
swtch/600!
tsleep/602
f/604
g/606
clkintr/608
MGET/1002=
_ZN3net5inputEi/610
"""
TAGS = {"main": 500, "swtch": 600, "tsleep": 602, "f": 604, "g": 606, "clkintr": 608,
        "net::input(int)": 610}


def capture(t, events, name="capture", options=()):
    """A device's capture of (clock, tag) as a trace; its path."""
    dump = t.write(f"{name}.csv", "clock,tag\n" + "".join(f"{c},{tag}\n" for c, tag in events))
    names = t.write("names", NAMES)
    out = t.path(name)
    t.assay("tags", "import", "--layout", "csv", "--names", names, *options, "-o", out, dump)
    return out


def trace(t, *words, **options):
    return t.assay("tags", "trace", *words, **options).out


SLEEP = [(100, 500), (110, 604), (116, 1002), (120, 605), (150, 602), (160, 600), (170, 608),
         (175, 609), (300, 601), (310, 603), (400, 501)]


@test
def as_many_lines_as_asked_for_are_printed(t):
    data = capture(t, SLEEP)
    whole = trace(t, data).splitlines()
    for count in (1, 5, 11):
        result = t.assay("tags", "trace", "-n", count, data)
        t.equal(result.out.splitlines(), whole[:count], f"the first {count} lines")
        t.has(result.err, f"continues after {'these' if count > 1 else 'this'} {count} line{'s'[:count > 1]} (-n)")
    # If a time is after the last line, it was not searched, so there is no message about it.
    t.lacks(t.assay("tags", "trace", "-n", 2, "--to", "f#1", data).err, "was called")
    for count in (len(whole), 100):
        result = t.assay("tags", "trace", "-n", count, data)
        t.equal((result.out.splitlines(), result.err), (whole, ""), f"with -n {count}")
    t.has(t.assay("tags", "trace", "-n", 2, "--to", "chrome", data, status=2).err,
          "--lines is for text")


@test
def a_capture_with_a_context_switch_is_printed_line_by_line(t):
    t.equal(trace(t, capture(t, SLEEP)), """\
   0.000 000  -> main (130 us, 160 us)
   0.000 010    -> f (10 us, 10 us)
   0.000 016      == MGET
   0.000 020    <- f
   0.000 050    -> tsleep (20 us, 20 us)
   0.000 060      -> swtch (0 us, 0 us)
   0.000 060  ---- Context switch out ---- process 1
   0.000 070  -> clkintr (5 us, 5 us)
   0.000 075  <- clkintr
   0.000 200  ---- Context switch in ---- process 1, out 140 us
   0.000 200      <- swtch
   0.000 210    <- tsleep
   0.000 300  <- main
""")


@test
def wall_has_the_time_that_was_switched_out(t):
    out = trace(t, "--wall", "--depth", "2", capture(t, SLEEP))
    t.has(out, "-> main (130 us, 300 us)\n")
    t.has(out, "-> tsleep (20 us, 160 us)\n")


@test
def moments_functions_and_depth_choose(t):
    path = capture(t, SLEEP)
    t.equal(trace(t, "--from", "15us", "--to", "20us", path), """\
   0.000 000  .. main
   0.000 010    .. f
   0.000 016      == MGET
   0.000 020    <- f (10 us, 10 us)
""")
    t.equal(trace(t, "--from", "tsleep", "--to", "tsleep#1", "--depth", "2", path), """\
   0.000 000  .. main
   0.000 050    -> tsleep (20 us, 20 us)
   0.000 060  ---- Context switch out ---- process 1
   0.000 070  -> clkintr (5 us, 5 us)
   0.000 075  <- clkintr
   0.000 200  ---- Context switch in ---- process 1, out 140 us
   0.000 210    <- tsleep
""")
    t.equal(trace(t, "--function", "f", path), """\
   0.000 010  -> f (10 us, 10 us)
   0.000 016    == MGET
   0.000 020  <- f
""")
    t.equal(trace(t, "--window", "0", "--function", "f", path), """\
   0.000 010  -> f (...)
   0.000 016    == MGET
   0.000 020  <- f (10 us, 10 us)
""")


@test
def a_missing_moment_is_reported(t):
    path = capture(t, SLEEP)
    r = t.assay("tags", "trace", "--from", "f#7", path, status=1)
    t.equal(r.out, "", "output")
    t.has(r.err, "--from: f was called 1 time")
    r = t.assay("tags", "trace", "--to", "2s", "--from", "1s", path, status=1)
    t.has(r.err, "the trace ends before --from")
    r = t.assay("tags", "trace", "--to", "f#7", path)
    t.equal(r.out, trace(t, path), "all, where --to does not come")
    t.has(r.err, "--to: f was called 1 time")
    r = t.assay("tags", "trace", "--function", "no_such", path, status=2)
    t.has(r.err, "no function has the name 'no_such'")
    r = t.assay("tags", "trace", "--process", "77", path, status=1)
    t.has(r.err, "match no thread of the trace")
    r = t.assay("tags", "trace", "--from", "#1", path, status=2)
    t.has(r.err, "'#1' is not a valid point in time")
    r = t.assay("tags", "trace", cwd=t.directory, status=1)
    t.has(r.err, "there is no assay.tags here")
    r = t.assay("tags", "trace", "--to", "chrome", "--to", "folded", path, status=2)
    t.has(r.err, "one format at a time")
    r = t.assay("tags", "trace", "--to", "jpeg", path, status=2)
    t.has(r.err, "the formats of --to are chrome, pprof")
    r = t.assay("tags", "trace", "--depth", "0", path, status=2)
    t.has(r.err, "--depth must be at least 1")
    r = t.assay("tags", "trace", t.path("no_such"), status=1)
    t.has(r.err, "no such trace; ")
    t.has(r.err, "-- COMMAND' would create one")
    r = t.assay("tags", "trace", t.write("a_file", "x"), status=1)
    t.has(r.err, "a_file is not a trace of event tags")
    t.path("empty").mkdir()
    r = t.assay("tags", "trace", t.path("empty"), status=1)
    t.has(r.err, "and not a trace of event tags, which has a file 'metadata'")
    r = t.assay("tags", "trace", "--to", "pprof", "--depth", "1", path, status=2)
    t.has(r.err, "--depth would exclude")
    r = t.assay("tags", "trace", "--to", "callgrind", "--depth", "1", path, status=2)
    t.has(r.err, "callgrind contains all levels")


def at_random(seed, count):
    """A CPU's events with processes, interrupts in idle and lost exits."""
    dice = random.Random(seed)
    stacks, now, clock, events = [["main"]], 0, 0, []
    functions = ["f", "g", "tsleep", "net::input(int)"]
    events.append((clock, TAGS["main"]))
    while len(events) < count:
        clock += dice.randrange(1, 50)
        stack = stacks[now]
        what = dice.random()
        if what < 0.05:
            events.append((clock, TAGS["swtch"]))
            while dice.random() < 0.4:
                clock += dice.randrange(1, 50)
                events += [(clock, TAGS["clkintr"]), (clock + 3, TAGS["clkintr"] + 1)]
                clock += 3
            clock += dice.randrange(1, 500)
            if len(stacks) < 5 and dice.random() < 0.3:
                stacks.append([])
                now = len(stacks) - 1
            else:
                now = dice.randrange(len(stacks))
            events.append((clock, TAGS["swtch"] + 1))
        elif what < 0.5 and len(stack) < 12:
            stack.append(dice.choice(functions))
            events.append((clock, TAGS[stack[-1]]))
        elif len(stack) > 1:
            name = stack.pop()
            if dice.random() > 0.02:
                events.append((clock, TAGS[name] + 1))
        elif what > 0.9:
            events.append((clock, 1002))
    return events


TIME = re.compile(r"\((~?)([\d.]+) (us|s), (~?)([\d.]+) (us|s)\)$")


def microseconds(number, unit):
    return round(float(number) * (1000000 if unit == "s" else 1))


def sums_of_text(text):
    """By function: entered calls, and net; each call's times are counted once, at its entry or its
    exit."""
    calls, net = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        m = re.match(r" *\d+\.[\d ]{7}  +(->|<-) (.*)$", line)
        if not m:
            continue
        name = re.sub(r" \[.*\]$", "", m[2])
        times = TIME.search(name)
        name = re.sub(r" \((~?[\d.]+ u?s, ~?[\d.]+ u?s|\.\.\.)\)$", "", name)
        calls[name] += m[1] == "->"
        if times:
            net[name] += microseconds(times[2], times[3])
    return calls, net


@test
def lines_add_up_to_the_report(t):
    for seed in range(4):
        path = capture(t, at_random(seed, 5000), f"random{seed}")
        report = t.report(path)
        for window in ("65536", "40", "0"):
            calls, net = sums_of_text(trace(t, "--window", window, path))
            for f in report["functions"]:
                t.equal(net[f["function"]] * 1000, f["net_ns"], f"net of {f['function']}")
                t.equal(calls[f["function"]], f["calls"], f"calls of {f['function']}")
        t.true(len(report["functions"]) >= 6, "functions were called")


@test
def folded_and_pprof_add_up_to_the_report(t):
    path = capture(t, at_random(9, 5000))
    net = {f["function"]: f["net_ns"] for f in t.report(path)["functions"]}
    folded = trace(t, "--to", "folded", path)
    got = collections.Counter()
    for line in folded.splitlines():
        way, _, value = line.rpartition(" ")
        got[way.split(";")[-1]] += int(value)
    t.equal({k: v for k, v in got.items() if v}, {k: v for k, v in net.items() if v}, "net")
    t.equal(t.assay("export", "--to", "folded", path).out, folded, "export's")
    calls = t.assay("export", "--to", "folded", "--value", "calls", path).out
    t.equal(sum(int(line.rpartition(" ")[2]) for line in calls.splitlines()
                if ";swtch " not in line),
            sum(f["calls"] for f in t.report(path)["functions"]), "calls")
    t.assay("tags", "trace", "--to", "pprof", "-o", t.path("p.pb.gz"), path)
    t.has(gzip.decompress(t.path("p.pb.gz").read_bytes()), b"net::input(int)")


def check_chrome(t, text):
    """Checks the fields that readers of the format need; returns calls and net (the time minus that
    of the slices inside) by name."""
    open_, calls, net = collections.defaultdict(list), collections.Counter(), collections.Counter()
    last = {}
    for e in t.json(text)["traceEvents"]:
        track = e["pid"], e["tid"]
        if e["ph"] == "M":
            continue
        ns = round(e["ts"] * 1000)
        t.true(ns >= last.get(track, 0), f"time goes on: {e}")
        last[track] = ns
        stack = open_[track]
        if e["ph"] == "B":
            stack.append([e["name"], ns, 0])
            calls[e["name"]] += 1
        elif e["ph"] == "E":
            name, begin, inside = stack.pop()
            t.equal(e["name"], name, "what ends")
            t.true("args" not in e, "an E is its B's by name and arguments")
            net[name] += ns - begin - inside
            if stack:
                stack[-1][2] += ns - begin
        else:
            t.equal(e["ph"], "i", "phase")
    t.equal([s for s in open_.values() if s], [], "calls without an end")
    return calls, net


@test
def chrome_events_nest_and_add_up(t):
    path = capture(t, at_random(3, 5000))
    calls, net = check_chrome(t, trace(t, "--to", "chrome", path))
    for f in t.report(path)["functions"]:
        t.equal(net[f["function"]], f["net_ns"], f"net of {f['function']}")
        t.equal(calls[f["function"]], f["calls"], f"calls of {f['function']}")
    out = t.path("part.json")
    trace(t, "--to", "chrome", "--from", "5ms", "--to", "20ms", "-o", out, path)
    t.true(sum(check_chrome(t, out.read_text())[0].values()) > 100, "a part has calls")
    t.equal(t.assay("export", "--to", "chrome", path).out, trace(t, "--to", "chrome", path))


def long_capture(t):
    """Ten million events: main, and in it many calls of f, over a clock that wraps."""
    def event(tag, clock):
        return tag.to_bytes(2, "little") + clock.to_bytes(3, "little")
    block = b"".join(event(604, i * 4096) + event(605, i * 4096 + 2048) for i in range(4096))
    dump = t.write("long.dump", event(500, 0) + block * 1220 + event(501, 0))
    t.assay("tags", "import", "--names", t.write("names", NAMES), "-o", t.path("long"), dump)
    dump.unlink()
    return t.path("long")


@test
def a_long_trace_prints_at_once_and_in_little_memory(t):
    path = long_capture(t)
    p = t.start(ASSAY, "tags", "trace", path, stdout=subprocess.PIPE)
    first = [p.stdout.readline() for _ in range(3)]
    t.equal(b"".join(first).decode(), "   0.000 000  -> main (...)\n"
                                      "   0.000 000    -> f (2048 us, 2048 us)\n"
                                      "   0.002 048    <- f\n")
    # It waits for the reader now, since the pipe is full. Its memory, including the file's pages:
    status = open(f"/proc/{p.pid}/status").read()
    kb = {m[1]: int(m[2]) for m in re.finditer(r"(Rss\w+|VmHWM):\s+(\d+) kB", status)}
    t.true(sum(f.stat().st_size for f in path.iterdir()) > 75e6, "the trace is long")
    t.true(kb["VmHWM"] < (200000 if "asan" in ASSAY or "clang" in ASSAY else 40000),
           f"memory at the first lines: {kb}")
    p.stdout.close()
    t.equal(t.wait(p), -13, "how it ended (SIGPIPE)")
    last = subprocess.run(f"{ASSAY} tags trace --depth 1 {path} | tail -n 1", shell=True,
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    t.equal(last, "20468.203 520  <- main (10234.101760 s, 20468.203520 s)\n")
    # For JSON that is too large for its readers, the size is printed first.
    for words, warns in ((("export",), True), (("tags", "trace"), True),
                         (("tags", "trace", "--from", "20468s"), False)):
        p = t.start(ASSAY, *words, "--to", "chrome", path, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
        t.equal(p.stdout.read(1), b"{", "the first byte")
        p.kill()
        t.wait(p)
        told = p.stderr.read().decode()
        t.equal("about 639.8 MB of JSON will be written" in told, warns, f"{words}: {told}")


@test
def a_file_is_complete_or_absent_and_the_older_one_is_kept(t):
    path, out = capture(t, SLEEP), t.path("out")
    out.write_text("older")
    trace(t, "-o", out, path)
    t.equal(out.read_text(), trace(t, path))
    t.equal(t.path("out.old").read_text(), "older")
    t.assay("tags", "trace", "-o", t.path("none"), "--function", "no_such", path, status=2)
    t.equal([f.name for f in t.directory.iterdir() if f.name.startswith("none")], [])


main()
