# SPDX-License-Identifier: GPL-2.0-or-later
"""A report of a store, compared with the report of a recording with the same events, and with the
known behaviour of the recorded programs."""
import contextlib
import os
import shutil
import sqlite3
import struct
import time

import attacks
import stores
from harness import main, run, test, test_of_shares


PAGE = 4096


def mixed(t, name="a.data"):
    """A recording of the machine with programs of known kinds on it."""
    path = t.path(name)
    script = (f"{t.workload('loop')} 300 & {t.workload('faults')} {t.path('pages')} >/dev/null & "
              f"for i in 1 2 3 4 5 6 7 8; do {t.workload('loop')} 20; done; wait")
    t.assay("record", "-a", "-g", "-F", "499", "-o", path, "--", "sh", "-c", script)
    return path


def stored(t, recording, seconds="0.4", name="a.db"):
    path = t.path(name)
    t.run(t.workload("store_recording"), recording, path, seconds)
    return path


def functions(report):
    """Samples by function, image and mode. Not [no tick came]: idle windows without a tick depend
    on the length of windows."""
    sums = {}
    for row in filter(lambda row: row["samples"], report["functions"]):
        key = (row["function"], row["image"], row["mode"])
        sums[key] = sums.get(key, 0) + row["samples"]
    return sums


def windows_of(store):
    """Waits until the store has this many windows, while a session writes it."""
    try:
        with stores.reading(store) as db:
            return stores.number(db, "SELECT count(*) FROM windows")
    except sqlite3.OperationalError:  # no tables yet
        return 0


def lasting(sums, since):
    """Without generated code, and without functions of files that were removed or replaced since that
    time, as the programs of other tests are. Functions get their names when a report or a store is made."""
    return {key: samples for key, samples in sums.items() if not key[1].startswith(("/", "[jit]")) or
            key[1].startswith("/") and is_older(key[1], since)}


def is_older(path, than):
    try:
        return os.stat(path).st_ctime < than
    except OSError:
        return False


def differences(one, other):
    return [(key, one.get(key), other.get(key)) for key in sorted({*one, *other})
            if one.get(key) != other.get(key)]


def numbers(value, name=""):
    """All numbers of nested objects and lists by their dotted names."""
    for key, item in enumerate(value) if isinstance(value, list) else value.items():
        if isinstance(item, (dict, list)):
            yield from numbers(item, f"{name}{key}.")
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            yield name + key, item


# Times and counts that depend on missing ticks, and on their state: busy or idle.
BY_MISSING_TICKS = ("due", "missing", "missing_busy", "missing_idle", "lost", "lost_ns",
                    "steal_ns", "unobserved_ns", "residual_ns", "residual_expected_ns",
                    "in_idle_ns")  # in units of the mean idle sample


def books_agree(t, got, want, windows):
    """Two ledgers of the same events, one of them in windows, have the same terms. One tick for each
    window and CPU is an exception: the tick that was due at the end of the window. It may be served
    in the next window and charged to another state, or come after the end of sampling."""
    got, want = dict(numbers(got)), dict(numbers(want))
    # Without its code a program's returns from the kernel are its user time: another test may have
    # removed the program.
    exits = got.pop("kernel_exit_ns"), want.pop("kernel_exit_ns")
    t.near(*exits, want["user_ns"] // 20, "kernel_exit_ns")
    got["user_ns"] += exits[0]
    want["user_ns"] += exits[1]
    t.equal(sorted(got), sorted(want), "terms of the ledger")
    t.true(len(want) > 20, f"the ledger has {len(want)} terms")
    ticks = windows * want["cpus"]
    tick_ns = 1_000_000_000 // 499 + 1
    for name, value in want.items():
        slack = ticks if name.split(".")[-1] in BY_MISSING_TICKS else 0
        t.near(got[name], value, slack * (tick_ns if name.endswith("_ns") else 1), name)


@test
def a_store_reports_what_its_recording_does(t):
    began = time.time() - 1  # times of files are those of the last tick
    recording = mixed(t)
    a, b = t.report("-i", recording), t.report(stored(t, recording))
    one, other = lasting(functions(a), began), lasting(functions(b), began)
    differ = differences(one, other)
    odd = sum(samples or 0 for _, samples, _ in differ)
    t.true(odd <= sum(one.values()) / 50, f"functions differ: {differ[:9]}")
    for key, samples in one.items():
        if key[0] in ("loop_body", "do_syscall_64", "clear_page_erms"):
            t.equal(other.get(key), samples, f"samples of {key}")
    t.true(any(key[0] == "loop_body" for key in one), "loop_body was sampled")
    t.equal(b["event"]["samples"], a["event"]["samples"], "samples")
    programs = {p["name"]: (p["instances"], p["samples"]) for p in a["processes"]} \
        if "instances" in a["processes"][0] else {}
    for p in b["processes"]:
        if programs and p["name"] in programs:
            t.equal((p["instances"], p["samples"]), programs[p["name"]], p["name"])


@test
def the_books_of_a_store_are_those_of_its_recording(t):
    recording = mixed(t)
    store = stored(t, recording)
    books_agree(t, t.report(store)["ledger"], t.report("-i", recording)["ledger"],
                windows_of(store))


@test
def windows_of_any_length_have_the_same_sums(t):
    began = time.time() - 1
    recording = mixed(t)
    short = t.report(stored(t, recording, "0.1", "short.db"))
    long = t.report(stored(t, recording, "60", "long.db"))
    one, other = functions(short), functions(long)
    t.equal(differences(lasting(one, began), lasting(other, began)), [], "functions that differ")
    t.equal(sum(one.values()), sum(other.values()), "samples of all functions")
    books_agree(t, short["ledger"], long["ledger"], windows_of(t.path("short.db")))


@test
def names_outlive_the_files_they_are_from(t):
    program = t.path("mill")
    shutil.copy(t.workload("loop"), program)
    recording = t.path("a.data")
    t.assay("record", "-F", "499", "-o", recording, "--", program, "300")
    store = stored(t, recording)
    os.unlink(program)
    mine = {key: n for key, n in functions(t.report(store)).items() if "mill" in key[1]}
    t.true(mine.get(("loop_body", str(program), "user"), 0) > 50, f"functions are {mine}")
    # The recording can only report this while the file exists, or if it was kept.
    shutil.copy(t.workload("btree"), program)
    again = {key: n for key, n in functions(t.report(store)).items() if "mill" in key[1]}
    t.equal(again, mine, "functions with another file in that place")


@test
def callers_have_names_without_their_files(t):
    program, recording = t.path("mill"), t.path("a.data")
    shutil.copy(t.workload("call"), program)
    t.assay("record", "-g", "-F", "499", "-o", recording, "--", program, "1000", "199", "1")
    store = stored(t, recording)
    os.unlink(program)
    tree = t.assay("export", "--to", "folded", "--store", store).out
    mine = {tuple(f for f in line.rsplit(" ", 1)[0].split(";") if f in ("main", "call_outer", "call_inner"))
            for line in tree.splitlines() if "call_inner" in line}
    # main and call_outer have almost no samples of their own.
    t.true(("main", "call_outer", "call_inner") in mine, f"{mine} in {tree[:2000]}")
    t.lacks("\n".join(line for line in tree.splitlines() if "call_inner" in line), "[mill]", "a caller without a name")


# The call is the last instruction of `last`: its return address is in no function, or in the next.
LAST = r"""
__attribute__((noinline, noreturn)) void ends(void)
{
	for (volatile long i = 0; i < 100000000; i++)
		;
	__builtin_trap();
}
__attribute__((noinline)) void last(void) { ends(); }
__attribute__((noinline)) void next(void) { __asm__ volatile(""); }
int main(void) { last(); next(); }
"""


@test
def a_caller_that_ends_with_its_call_has_its_name(t):
    t.need("gcc")
    t.write("last.c", LAST)
    t.run("gcc", "-O2", "-g", "-fno-reorder-functions", "-falign-functions=1", "-fno-optimize-sibling-calls",
          "-o", t.path("last"), t.path("last.c"))
    t.assay("record", "-q", "-g", "-F", "499", "-o", t.path("a.data"), "--", t.path("last"), status=None)
    store = stored(t, t.path("a.data"))
    names = t.assay("sql", "--format", "csv", store, "SELECT name FROM functions").out.split()
    t.true({"last", "ends"} <= set(names) and "next" not in names, f"functions of the store: {names}")


@test
def what_is_no_store_s_is_refused_in_words(t):
    recording = t.path("a.data")
    t.assay("record", "-o", recording, "--", t.workload("loop"), "30")
    store = stored(t, recording)
    for words, part, status in (
            (("report", "--from", "-1h", "-i", recording), "--from is for stores", None),
            (("report", store, "--time", "1,2"), "use --from and --until for a part", None),
            (("report", store, "--from", "soon"), "'soon' is not a time; use", None),
            (("report", store, "--from", "12:00", "--to", "11:00"), "is not after --from", None),
            (("export", "--to", "folded", store, "--until", "2020-01-01"),
             "has no data of the requested time", None),
            (("report", store, "--from", "2020-01-01", "--to", "2020-01-02"),
             "has no data of the requested time; its data is from", None),
            (("report", store, "--host", "elsewhere"), "has no data of machine 'elsewhere'", None),
            (("report", store, recording), "give no other file", None),
            (("intervals", store), "not the time of each sample", None),
            (("report", "--store", t.path("no.db")), "no.db", None)):
        got = t.assay(*words, status=status)
        t.true(got.status in (1, 2), f"{words}: status {got.status}")
        t.has(got.err, part, str(words))
        t.equal(got.out, "", f"output of {words}")


def of_each_command(store):
    return (("report", "--store", store), ("annotate", "-i", store, "loop_body"),
            ("export", "--to", "folded", "-i", store), ("diff", store, "--", store),
            ("watch", store), ("waits", "--store", store), ("sql", store, "SELECT * FROM samples"))


@test
def a_schema_of_another_program_is_refused(t):
    """An endless view in place of a table."""
    recording = t.path("a.data")
    t.assay("record", "-o", recording, "--", t.workload("loop"), "30")
    store = stored(t, recording)
    with contextlib.closing(sqlite3.connect(store)) as db:
        db.executescript(attacks.ENDLESS_VIEW)
    for words in of_each_command(store):
        got = t.assay(*words, status=None, timeout=30)
        t.true(got.status in (1, 2, 125), f"{words}: status {got.status}")
        t.has(got.err, "is not one of a store of assay", str(words))


def interior(child, cells):
    """A page of a table with so many pointers to one page."""
    cell = struct.pack(">IB", child, 0x7f)
    places = [PAGE - len(cell) * (i + 1) for i in range(cells)]
    head = struct.pack(">BHHHBI", 5, 0, cells, places[-1], 0, child)
    head += b"".join(struct.pack(">H", place) for place in places)
    return head.ljust(PAGE - cells * len(cell), b"\0") + cell * cells


@test
def pages_that_lead_into_each_other_end_a_report(t):
    """Of a table with 500 ** 4 times its rows."""
    recording = t.path("a.data")
    t.assay("record", "-o", recording, "--", t.workload("loop"), "30")
    store = stored(t, recording)
    with contextlib.closing(sqlite3.connect(store)) as db:
        db.executescript("PRAGMA journal_mode = DELETE")
        roots = db.execute("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name IN"
                           " ('host', 'session', 'window', 'gap', 'event')").fetchall()
    content = bytearray(store.read_bytes())
    for (root,) in roots:
        at = (root - 1) * PAGE
        if content[at] != 13:  # a leaf of a table
            continue
        content += content[at:at + PAGE]
        for _ in range(3):
            content += interior(len(content) // PAGE, 500)
        content[at:at + PAGE] = interior(len(content) // PAGE, 500)
    content[28:32] = struct.pack(">I", len(content) // PAGE)
    content[92:96] = content[24:28]
    store.write_bytes(content)
    for words in of_each_command(store)[:-2]:
        got = t.assay(*words, status=None, timeout=60)
        t.true(got.status in (1, 2, 125), f"{words}: status {got.status}")
        t.has(got.err, "it needs more work than a store of its size", str(words))


@test
def other_commands_read_a_store_too(t):
    recording = t.path("a.data")
    t.assay("record", "-g", "-F", "499", "-o", recording, "--", t.workload("loop"), "300")
    store = stored(t, recording)
    folded = t.assay("export", "--to", "folded", "-i", store).out
    t.has(folded, "loop_body", "folded stacks")
    annotated = t.json(t.assay("annotate", "--json", "-i", store, "loop_body").out)
    t.equal(annotated["function"], "loop_body", "function")
    hits = [i for i in annotated["instructions"] if i["samples"]]
    t.true(hits, "instructions were hit")


@test_of_shares
def a_sessions_store_reports_the_programs_that_ran(t):
    env = t.runtime()
    store = t.path("day.db")
    before = time.time()
    t.assay("start", "--store", store, "--window", "1", "-F", "199", env=env)
    try:
        t.run(t.workload("loop"), "500")
        t.until(lambda: windows_of(store), "the first window is in the store")
    finally:
        t.assay("stop", env=env)
    report = t.report("--store", store, "--from", f"@{before - 1:.3f}", "--until", "now")
    loop = sum(n for key, n in functions(report).items() if key[0] == "loop_body")
    with contextlib.closing(sqlite3.connect(store)) as db:
        (got,) = db.execute("SELECT sum(s.samples) FROM samples s JOIN stacks k ON k.id = s.stack "
                            "JOIN frames f ON f.id = k.frame JOIN functions u ON u.id = f.function "
                            "WHERE u.name = 'loop_body' AND s.event = 'cpu-clock'").fetchone()
        (windows, wall) = db.execute("SELECT count(DISTINCT window), sum(wall_ns) FROM ledger") \
            .fetchone()
    t.equal(loop, got, "samples of loop_body")
    t.true(loop > 20, f"loop_body had {loop} samples")
    t.true(windows >= 2, f"{windows} windows")
    t.near(report["ledger"]["wall_ns"] * os.cpu_count(), wall, 10_000_000 * os.cpu_count(),
           "wall of the ledger")
    # The account covers all of the time.
    t.true(abs(report["ledger"]["residual_ns"]) < 0.05 * wall, "the books close")


main()
