# SPDX-License-Identifier: GPL-2.0-or-later
"""assay watch: a store in which one function takes three times as long from the middle on."""
import contextlib
import json
import pathlib
import random
import shutil
import sqlite3
import tempfile

from harness import *
from page_data import Page
from perf_write import PERIOD, PerfData

FUNCTIONS = [f"work{i}" for i in range(30)]
PROGRAM = "\n".join(
    f"__attribute__((noinline)) int {f}(int x) {{ return x * {i + 3} + {i}; }}"
    for i, f in enumerate(FUNCTIONS)) + """
int main(int argc, char **argv) { return %s; }
""" % " + ".join(f"{f}(argc)" for f in FUNCTIONS)


_directory = tempfile.TemporaryDirectory(prefix="assay-test-watch-")  # for all tests


def store(t):
    """Made once; no test changes it."""
    program, path = (pathlib.Path(_directory.name, name) for name in ("prog", "a.db"))
    if path.exists():
        return path
    t.run("cc", "-O1", "-no-pie", "-fno-ipa-icf", "-o", program, t.write("prog.c", PROGRAM))
    addresses = {words[2]: int(words[0], 16) + 2
                 for words in map(str.split, t.run("nm", program).out.splitlines())
                 if len(words) == 3}
    file, chance = PerfData("prog", 42, program), random.Random(1)
    for half in (1, 3):
        for function in chance.choices(FUNCTIONS, [half] + [1] * 29, k=6000):
            file.sample([addresses[function], addresses["main"]])
    seconds = str((file.time - 10 ** 9) / 1e9 / 60)
    t.run(t.workload("store_recording"), t.write("a.data", file.bytes()), path, seconds)
    return path


@test
def the_changed_function_is_found(t):
    found = json.loads(t.assay("watch", "--json", store(t)).out)
    t.true(found["points"] > 20, found)
    [change] = [c for c in found["changes"] if c["verdict"] == "regression"]
    t.equal(change["function"], "work0")
    t.true(1 < change["change"] < 4 and change["low"] < change["change"] < change["high"], change)
    middle = 10 ** 9 + 6000 * PERIOD
    t.true(abs(change["time_ns"] - middle) < 3 * found["point_ns"], change)
    t.assay("watch", "--html", t.path("page.html"), store(t))
    page = Page.of_file(t.path("page.html"))
    t.equal((page.head["kind"], page.head["title"]), ("watch", str(store(t))))
    functions, _ = page.column(page.sections("changes")[0], "function")
    t.equal(functions[:1], ["work0"], "in the page")


def store_with_requests(t):
    """The same with an event that counts requests: three times as many in the second half."""
    path = t.path("requests.db")
    shutil.copy(store(t), path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        columns = [column[1] for column in db.execute("PRAGMA table_info(sample)")]
        row = dict(zip(columns, db.execute("SELECT * FROM sample LIMIT 1").fetchone()))
        middle = 10 ** 9 + 6000 * PERIOD
        windows = db.execute("SELECT id, start_ns FROM window WHERE end_ns > 1e9").fetchall()
        db.execute("INSERT INTO name (id, text) VALUES (9999, 'app:request')")
        db.execute("INSERT INTO event (id, name, role) VALUES (99, 9999, 3)")
        for window, start_ns in windows:
            row.update(window=window, event=99, samples=1,
                       weight=1000 if start_ns < middle else 3000)
            db.execute(f"INSERT INTO sample ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                       tuple(row.values()))
    return path


@test
def costs_are_per_event_that_counts_work(t):
    path = store_with_requests(t)
    found = json.loads(t.assay("watch", "--json", "--work", "app:request", path).out)
    t.equal(found["work"], "app:request")
    # The function that became slower did three times the work; the others a third per request.
    changes = {c["function"]: c for c in found["changes"]}
    t.equal(len([c for f, c in changes.items() if f != "work0" and c["change"] < -0.5]), 29)
    t.true("work0" not in changes or abs(changes["work0"]["change"]) < 0.3, changes.get("work0"))
    t.has(t.assay("watch", "--work", "app:request", path).out, "CPU time per app:request")
    t.equal(t.assay("watch", "--work", "wall", path).out, t.assay("watch", "--wall", path).out)


@test
def the_points_of_a_window_are_compared(t):
    found = json.loads(t.assay("watch", "--json", "--window", "16", store(t)).out)
    t.equal(found["window"], 16)
    [change] = found["changes"]
    t.equal((change["function"], change["verdict"]), ("work0", "regression"))
    whole = json.loads(t.assay("watch", "--json", store(t)).out)
    t.true(found["smallest_change"] > whole["smallest_change"], "fewer points find less")


@test
def readers_get_a_table(t):
    text = t.assay("watch", store(t)).out
    t.has(text, "regression")
    t.has(text, "work0")


@test
def the_exit_status_follows_the_condition(t):
    t.has(t.assay("watch", "--fail-if", "regression > 20%", store(t), status=1).err,
          "work0 is beyond +20.0 %: interval ")
    t.has(t.assay("watch", "--fail-if", "work1 > 20%", store(t)).err, "no such change is listed")
    t.assay("watch", "--fail-if", "nonsense", store(t), status=2)
    t.has(t.assay("watch", "--fail-if", "wrok1 > 20%", store(t), status=2).err,
          "did you mean 'work1'?")


@test
def changes_are_kept_and_reported_once(t):
    path = t.path("kept.db")
    shutil.copy(store(t), path)
    before = json.loads(t.assay("watch", "--json", path).out)["changes"]
    t.equal({change["found_ns"] for change in before}, {None}, "no change is known")
    t.equal(len(json.loads(t.assay("watch", "--keep", "--new", "--json", path).out)["changes"]),
            len(before), "all are new")
    after = json.loads(t.assay("watch", "--json", path).out)
    t.true(all(change["found_ns"] for change in after["changes"]), after["changes"])
    t.equal(after["earlier"], [], "all were found again")
    again = json.loads(t.assay("watch", "--keep", "--new", "--json", path).out)
    t.equal(again["changes"], [], "each is reported once")
    kept = json.loads(t.assay("sql", "--format", "json", path, "SELECT * FROM changes").out)
    t.equal({change["function"] for change in kept}, {change["function"] for change in before})
    part = json.loads(t.assay("watch", "--json", "--until", "1970-01-01T00:00:01.010Z", path).out)
    t.equal(len(part["changes"]) + len(part["earlier"]) >= len(before), True, "others were found earlier")


# Kinds of history, for tests/workloads/store_history. A change is in function 0, 1, ... at window 60 %
# of the time.
HISTORIES = {
    "constant": {}, "few functions": {"functions": 4}, "few windows": {"functions": 4, "windows": 24, "samples": 2000},
    "noise": {"noise": 0.2, "load_noise": 0.3},
    "rhythm in a day": {"functions": 4, "seconds": 600, "windows": 144, "rhythm": 0.6},
    "rhythm of days": {"seconds": 1800, "windows": 240, "rhythm": 0.6},
    "load doubles": {"functions": 4, "load": 2, "load_at": 80},
    "load doubles with the change": {"functions": 4, "load": 2, "load_at": 120},
    "load halves": {"functions": 8, "load": 0.5, "load_at": 150},
    "one program of two": {"functions": 4, "still": 4, "load": 2, "load_at": 80},
    "the smaller program": {"functions": 4, "still": 12, "load": 2, "load_at": 80},
    "full CPU": {"functions": 4, "closed": 1},
    "starts and ends": {"functions": 4, "begin": 10, "end": 5, "still": 4},
    "pause before the change": {"functions": 6, "gap": 300, "gap_at": 120},
    "merged windows": {"windows": 400, "seconds": 60, "merged": 200},
}
SEEDS = 20 if LONG else 2


def changes_of(t, kind, seed, change):
    """(changes, the planted function, the time of its window) of a store."""
    history = {"windows": 200, "seconds": 10, "functions": 20, **HISTORIES[kind]}
    at, function = history["windows"] * 6 // 10, seed % min(history["functions"], 8)
    path = t.path("history.db")
    t.run(t.workload("store_history"), path, f"seed={seed + 1000 * int(10 * change)}", f"change={change}",
          f"at={at}", f"function={function}", *(f"{key}={value}" for key, value in HISTORIES[kind].items()))
    found = json.loads(t.assay("watch", "--json", path).out)["changes"]
    path.unlink()
    start = 1700000000 + history["seconds"] * (at + history.get("gap", 0))
    return found, f"f{function}", start, history["seconds"]


@test
def busier_times_are_no_changes(t):
    for kind in HISTORIES:
        for seed in range(SEEDS):
            found, *_ = changes_of(t, kind, seed, 1)
            t.equal([(c["function"], c["change"]) for c in found], [], f"{kind}, seed {seed}")


@test
def a_planted_change_is_found_at_its_window(t):
    for kind in HISTORIES:
        right = others = 0
        for seed in range(SEEDS):
            found, function, start, seconds = changes_of(t, kind, seed, 2)
            for c in found:
                t.near(c["after"] / c["before"], 1 + c["change"], 1e-6, f"{kind}: after / before")
                if c["function"] == function and c["verdict"] == "regression":
                    right += abs(c["time_ns"] / 1e9 - start) <= 2 * seconds and c["low"] <= 1 <= c["high"]
                else:
                    others += 1
        t.true(right >= 0.9 * SEEDS, f"{kind}: {right} of {SEEDS}")
        t.true(others <= 0.1 * SEEDS, f"{kind}: {others} other changes")


@long_test
def a_planted_change_of_30_percent_is_found(t):
    for kind in HISTORIES:
        right = others = 0
        for seed in range(SEEDS):
            found, function, start, seconds = changes_of(t, kind, seed, 1.3)
            mine = [c for c in found if c["function"] == function and c["verdict"] == "regression"]
            # A point before a pause is near one after it.
            pause = seconds * HISTORIES[kind].get("gap", 0)
            right += any(min(abs(c["time_ns"] / 1e9 - at) for at in (start, start - pause)) <= 10 * seconds
                         for c in mine)
            others += len(found) - len(mine)
        t.true(right >= 0.9 * SEEDS, f"{kind}: {right} of {SEEDS}")
        t.true(others <= 0.1 * SEEDS, f"{kind}: {others} other changes")


@test
def an_unsure_search_does_not_pass(t):
    # A change that the search cannot find is possible: below --least, or in too short a time.
    before = ("--until", "1970-01-01T00:00:01.005Z")
    t.has(t.assay("watch", "--fail-if", "regression > 5%", *before, store(t), status=3).err,
          "too few samples")
    short = ("--from", "1970-01-01T00:00:01.0112Z")
    t.has(t.assay("watch", "--fail-if", "regression > 900%", *short, store(t), status=3).err,
          "may be beyond")
    t.has(t.assay("watch", "--fail-if", "work1 > 5%", "--until", "1970-01-01T00:00:01.002Z", store(t),
                  status=3).err, "work1 may be beyond +5.0 %: too few samples")


@test
def a_short_time_is_reported_as_too_short(t):
    text = t.assay("watch", "--from", "1970-01-01T00:00:01.0112Z", store(t)).out
    t.has(text, "too short")


@test
def wrong_options_and_files_are_refused(t):
    t.has(t.assay("watch", "--rate", "200", store(t), status=2).err, "--rate is 0 to 100")
    t.has(t.assay("watch", "--window", "5", store(t), status=2).err, "at least 6 points")
    t.has(t.assay("watch", "--work", "nothing", store(t), status=2).err, "has cpu-clock")
    t.has(t.assay("watch", "--work", "run", store(t), status=2).err, "has no runs")
    t.has(t.assay("watch", "--wall", "--work", "x", store(t), status=2).err, "not both")
    t.assay("watch", t.write("empty.db", ""), status=2)
    t.assay("watch", t.write("short.db", open(store(t), "rb").read()[:3000]), status=125)


main()
