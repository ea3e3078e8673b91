# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of a store of several machines on a ClickHouse server."""
import contextlib
import json
import random
import shutil
import sqlite3
import subprocess
import time
import urllib.parse
import urllib.request
import zlib

import clickhouse_server
from harness import ASSAY, main, test
from page_data import Page
from perf_write import PerfData

WINDOWS = 12
WINDOW_NS = 10 * 10**9
HOUR = 3600


def machine(t, name, host, ago, ended=None, gap=None):
    """A machine whose last window ended `ago` seconds before now."""
    file, end_ns = t.path(f"{host}.db"), (int(time.time()) - ago) * 10**9
    t.run(t.workload("store_writer"), file, 0, WINDOWS, 2, 10)
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        last, = db.execute("SELECT max(end_ns) FROM window").fetchone()
        db.execute("UPDATE window SET start_ns = start_ns + ?1, end_ns = end_ns + ?1", (end_ns - last,))
        db.execute("UPDATE host SET name = ?", (host,))
        db.execute("UPDATE session SET start_ns = start_ns + ?1, version = '1.' || ?2, end_ns = ?3, ended = ?4",
                   (end_ns - last, host, ended and end_ns, ended))
        db.execute("DELETE FROM gap")
        for why, length in gap or []:
            db.execute("INSERT INTO gap (host, start_ns, end_ns, why) SELECT id, ?, ?, ? FROM host",
                       (end_ns - (length + 200) * 10**9, end_ns - 200 * 10**9, why))
    t.assay("store", "copy", file, name)


def arrived(t, database, host, ago):
    """The windows of a host came `ago` seconds before now."""
    server = clickhouse_server.server(t)
    server.ask(f"ALTER TABLE windows_2 UPDATE written = now() - {ago} WHERE host ="
               f" (SELECT any(id) FROM hosts WHERE name = '{host}')", database)
    t.until(lambda: server.ask("SELECT count() FROM system.mutations WHERE NOT is_done") == "0",
            "the times of arrival are changed")


def states(t, name, *words, status=0):
    out = t.assay("store", "machines", "--json", *words, name, status=status).out
    return {row["host"]: row for row in t.json(out)["machines"]}, t.json(out)


def fleet(t):
    """A store with a machine in each state."""
    server = clickhouse_server.server(t)
    name = server.store("states")
    if server.ask("SELECT count() FROM system.databases WHERE name = 'states'") == "1":
        return name
    t.assay("store", "create", name)
    machine(t, name, "good", 5)
    machine(t, name, "silent", 2 * HOUR)
    machine(t, name, "late", 1800)
    machine(t, name, "stopped", 2 * HOUR, "stopped")
    machine(t, name, "failed", 600, "failed")
    machine(t, name, "full", 5, gap=[("the spool was full", 100), ("suspended", 50)])
    machine(t, name, "ahead", -500)
    arrived(t, "states", "silent", 2 * HOUR - 5)
    return name


@test
def machines_that_are_silent_behind_or_failing_are_listed(t):
    found, whole = states(t, fleet(t))
    t.equal({host: row["state"] for host, row in found.items()},
            {"good": "sending", "silent": "silent", "late": "behind", "stopped": "ended", "failed": "failing",
             "full": "failing", "ahead": "sending"})
    t.equal(whole["states"], {"silent": 1, "failing": 2, "behind": 1, "sending": 2, "ended": 1})
    t.equal([row["host"] for row in whole["machines"]],
            ["silent", "failed", "full", "late", "ahead", "good", "stopped"], "the worst come first")
    t.equal({host: row["windows"] for host, row in found.items()},
            {"good": WINDOWS, "silent": 0, "late": WINDOWS, "stopped": 0, "failed": WINDOWS, "full": WINDOWS,
             "ahead": WINDOWS})
    t.equal((found["full"]["dropped_ns"], found["full"]["gaps_ns"]), (100 * 10**9, 150 * 10**9))
    t.equal({row["assay_version"] for row in whole["machines"]}, {"1." + host for host in found})
    t.true(1800 <= found["late"]["behind_ns"] / 1e9 < 1800 + 300, found["late"])
    t.equal(found["late"]["waiting"], found["late"]["behind_ns"] // WINDOW_NS)
    t.equal((found["silent"]["waiting"], found["silent"]["behind_ns"]), (None, None), "it is not known")
    t.true(2 * HOUR - 5 <= found["silent"]["age_ns"] / 1e9 < 2 * HOUR + 300, found["silent"])
    t.true(100 < found["ahead"]["clock_ahead_ns"] / 1e9 <= 500, found["ahead"])
    t.equal((found["failed"]["ended"], found["stopped"]["ended"], found["good"]["ended"]), ("failed", "stopped", None))


@test
def a_condition_is_about_states(t):
    name = fleet(t)
    text = t.assay("store", "machines", "--fail-if", "silent,behind", name, status=1)
    t.has(text.err, "silent is silent, late is behind")
    t.has(text.out, "1 silent, 2 failing, 1 behind, 2 sending, 1 ended")
    t.assay("store", "machines", "--host", "good", "--fail-if", "silent,failing,behind", name)
    t.assay("store", "machines", "--host", "late", "--after", "2h", "--fail-if", "behind", name)
    t.assay("store", "machines", "--host", "good", "--after", "1s", "--fail-if", "silent", name, status=1)
    t.has(t.assay("store", "machines", "--fail-if", "dead", name, status=2).err, "silent")
    t.has(t.assay("store", "machines", "--host", "none", name, status=125).err, "no machine 'none'")
    t.run(t.workload("store_writer"), t.path("one.db"), 0, 1, 1, 1)
    t.has(t.assay("store", "machines", t.path("one.db"), status=2).err, "a store in a file")
    t.has(t.assay("store", "machines", "clickhouse://127.0.0.1:1/a", status=125).err, "127.0.0.1:1")


@test
def the_clock_of_a_note_is_listed(t):
    name, server = fleet(t), clickhouse_server.server(t)
    server.ask("INSERT INTO sessions SELECT host, id, boot, start_ns, end_ns, ended, version, command, release,"
               " machine_wide, clock, wall_offset_ns, writer, share_ppm, cost_low_ns, cost_high_ns, cost_samples,"
               " record_ns, ['a note', 'the clock of this machine was 1700 s behind that of the server: so are'],"
               " changed + 1 FROM sessions WHERE host = (SELECT any(id) FROM hosts WHERE name = 'late')", "states")
    found, _ = states(t, name)
    t.equal(found["late"]["clock_ahead_ns"], -1700 * 10**9)
    t.equal(found["late"]["state"], "sending" if found["late"]["behind_ns"] <= 120 * 10**9 else "behind")
    t.true(100 <= found["late"]["behind_ns"] / 1e9 < 100 + 300, "the clock is corrected")


@test
def the_first_page_has_the_machines(t):
    name = fleet(t)
    view = t.start(ASSAY, "view", "--no-browser", name, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    address = view.stdout.readline().decode().strip()
    if not address:
        t.skip("libmicrohttpd is not installed")
    where = urllib.parse.urlsplit(address)
    with urllib.request.urlopen(f"{where.scheme}://{where.netloc}/data?{where.query}", timeout=60) as answer:
        page = Page(zlib.decompress(answer.read()))
    section, = page.sections("machines")
    hosts, _ = page.column(section, "host")
    kinds, _ = page.column(section, "state")
    expected, whole = states(t, name)
    t.equal(dict(zip(hosts, kinds)), {host: row["state"] for host, row in expected.items()})


@test
def sql_reads_the_chosen_part_alone(t):
    name, file = fleet(t), t.path("part.db")

    def rows(query, *words):
        return json.loads(t.assay("sql", "--format", "json", *words, name, query).out)

    t.equal(rows("SELECT name FROM hosts ORDER BY 1", "--host", "[gl]*"), [{"name": "good"}, {"name": "late"}])
    t.equal(rows("SELECT count(*) AS n FROM windows", "--host", "good"), [{"n": WINDOWS}])
    last = rows("SELECT max(end_ns) AS ns FROM windows", "--host", "late")[0]["ns"]
    words = ("--host", "late", "--from", f"@{last // 10**9 - 25}", "--until", f"@{last // 10**9 - 15}")
    t.equal(rows("SELECT count(*) AS n, max(end_ns) AS last FROM windows", *words), [{"n": 2, "last": last - 10**10}])
    t.assay("store", "copy", *words, name, file)
    sums = "SELECT count(*) AS n, sum(samples) AS s, sum(weight) AS w FROM samples"
    t.equal(rows(sums, *words), json.loads(t.assay("sql", "--format", "json", file, sums).out), "as of a copy")
    t.has(t.assay("sql", "--host", "none", name, "SELECT 1", status=1).err, "no data of machine 'none'")
    t.has(t.assay("sql", "--from", "-1h", file, "SELECT 1", status=1).err, "select with WHERE")
    t.has(t.assay("sql", "--until", "nonsense", name, "SELECT 1", status=1).err, "--until")
    t.has(t.assay("sql", "--host", "a", t.write("a.folded", "a 1\n"), "SELECT 1", status=1).err, "is a recording")


FUNCTIONS = [f"work{i}" for i in range(30)]
PROGRAM = "\n".join(
    f"__attribute__((noinline)) int {f}(int x) {{ return x * {i + 3} + {i}; }}"
    for i, f in enumerate(FUNCTIONS)) + """
int main(int argc, char **argv) { return %s; }
""" % " + ".join(f"{f}(argc)" for f in FUNCTIONS)


def planted(t):
    """Three machines with random samples; on web2 work0 takes three times as long in the second half."""
    file, program = t.path("planted.db"), t.path("prog")
    if file.exists():
        return file
    t.run("cc", "-O1", "-no-pie", "-fno-ipa-icf", "-o", program, t.write("prog.c", PROGRAM))
    addresses = {words[2]: int(words[0], 16) + 2
                 for words in map(str.split, t.run("nm", program).out.splitlines()) if len(words) == 3}
    for n, host in enumerate(("web1", "web2", "db[1]")):
        recording, chance = PerfData("prog", 42, program), random.Random(n + 1)
        for half in (1, 3 if host == "web2" else 1):
            for function in chance.choices(FUNCTIONS, [half] + [1] * 29, k=6000):
                recording.sample([addresses[function], addresses["main"]])
        seconds = str((recording.time - 10 ** 9) / 1e9 / 60)
        t.run(t.workload("store_recording"), t.write(f"{n}.data", recording.bytes()), file, seconds, host)
    return file


@test
def a_change_of_one_of_many_machines_is_found(t):
    file, name = planted(t), clickhouse_server.server(t).store("planted")
    t.assay("store", "copy", file, name)
    for store in (file, name):
        found = t.json(t.assay("watch", "--json", "--host", "*", store).out)
        changes = [c for c in found["changes"] if c["host"] != "[all machines]"]
        t.equal([(c["host"], c["function"], c["verdict"]) for c in changes], [("web2", "work0", "regression")], store)
        t.equal(found["machines"], 3)
        t.equal({c["function"] for c in found["changes"]}, {"work0"})
        alone = t.json(t.assay("watch", "--json", "--host", "web2", store).out)
        one, = [c for c in alone["changes"] if c["function"] == "work0"]
        t.equal({k: changes[0][k] for k in ("time_ns", "before", "after", "change", "low", "high")},
                {k: one[k] for k in ("time_ns", "before", "after", "change", "low", "high")}, "as of it alone")
        t.true(found["tested"] >= 3 * alone["tested"], "the tests of all machines, and of their sum")
        rest = t.json(t.assay("watch", "--json", "--host", "db*", store).out)
        t.equal((rest["machines"], rest["changes"]), (1, []))
    text = t.assay("watch", "--host", "*", name, "--fail-if", "regression > 20%", status=1)
    t.has(text.out, "web2")
    t.assay("watch", "--host", "db*", name, "--fail-if", "work0 > 500%", status=None)
    t.has(t.assay("watch", "--host", "mail*", name, status=125).err, "mail*")


@test
def changes_of_many_machines_are_kept_once(t):
    name = clickhouse_server.server(t).store("kept")
    t.assay("store", "copy", planted(t), name)
    words = ("watch", "--json", "--keep", "--new", "--host", "*", name)
    first, again = t.json(t.assay(*words).out)["changes"], t.json(t.assay(*words).out)["changes"]
    t.true(len(first) >= 1, "all are new")
    t.equal(again, [], "each is reported once")
    after = t.json(t.assay("watch", "--json", "--host", "*", name).out)["changes"]
    t.true(all(c["found_ns"] for c in after), after)
    one, = t.json(t.assay("watch", "--json", "--host", "web2", name).out)["changes"]
    t.true(one["found_ns"], "a search of the machine alone knows it")


@test
def changes_of_a_service_are_known_with_its_suffix_and_without(t):
    path, name = t.path("shop.db"), clickhouse_server.server(t).store("shop")
    shutil.copy(planted(t), path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO name (text) VALUES ('/system.slice/shop.service')")
        db.execute("UPDATE process SET cgroup = (SELECT max(id) FROM name)")
    t.assay("store", "copy", path, name)
    for service, new in (("shop.service", True), ("shop", False), ("shop.service", False)):
        found = t.json(t.assay("watch", "--json", "--keep", "--new", "--host", "web2", "--service", service, name).out)
        t.equal(bool(found["changes"]), new, f"new changes of {service}")


main()
