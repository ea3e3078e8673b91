# SPDX-License-Identifier: GPL-2.0-or-later
"""Retention and upgrades of stores on a ClickHouse server: the same figures before and
after, and as a file that its own retention keeps."""
import contextlib
import random
import shutil
import sqlite3
import subprocess
import urllib.request
import zlib

import clickhouse_server
from harness import ASSAY, LONG, main, test
from page_data import Page
from old_windows import BEGIN_NS, add_waits, light, report, same, stored, waits
from stores import environment
from time_limit import limit


def levels(server, database, of="host != 0", what="count()"):
    found = server.ask(f"SELECT toString(level), {what} FROM windows_2 WHERE {of} GROUP BY level"
                       " ORDER BY level", database)
    return {int(level): int(count) for level, count in
            (line.split("\t") for line in found.split("\n") if line)}


@test
def windows_on_a_server_are_merged_as_in_a_file(t):
    server = clickhouse_server.server(t)
    # Windows of two hours are merged when the two hours are over.
    file, name = stored(t, t.path("keep.db"), "web1", "web2", windows=38), server.store("keep")
    add_waits(file)
    t.assay("store", "copy", file, name)
    before = {host: report(t, name, host) for host in ("web1", "*")}
    waited = {host: waits(t, file, host) for host in before}
    t.true(len(waited["*"]["causes"]) == 5 and waited["*"]["waits"], waited)
    chosen = [waits(t, store, "*", "--service", "svc1*", "--comm", "prog1,prog2")
              for store in (name, file)]
    t.equal(*chosen, "waits of a service")
    for step in (("--fine", "1s", "--coarse", "30d"), ("--fine", "1s", "--coarse", "1s")):
        kept = t.path(f"kept{step[3]}.db")
        shutil.copy(file, kept)
        t.assay("store", "keep", *step, kept)
        t.has(t.assay("store", "keep", *step, name).err, "merged into")
        t.has(t.assay("store", "keep", *step, name).err, "0 windows are merged into 0")
        for host in before:
            same(t, report(t, name, host), before[host], f"{step} of {host}")
            t.equal(waits(t, name, host), waited[host], f"waits: {step} of {host}")
        t.equal(waits(t, kept, "*"), waited["*"], f"waits: {step} in a file")
        same(t, report(t, kept, "web1"), before["web1"], f"{step} in a file")
    t.true(levels(server, "keep")[2] >= 2, levels(server, "keep"))
    few = t.json(t.assay("report", "--json", "--store", name, "--host", "*",
                         env=environment(t, ASSAY_CLICKHOUSE_PATHS="4")).out)["functions"]
    t.equal(sum(f["samples"] for f in few), sum(f[0] for f in before["*"]["functions"].values()),
            "with rare paths as one, all samples are there")
    t.true("[other]" in [f["function"] for f in few] and len(few) < len(before["*"]["functions"]), few)
    t.assay("store", "keep", *step, name, env=environment(t, ASSAY_CLICKHOUSE_GRACE="0"))
    t.equal(server.ask("SELECT count() FROM windows_2 WHERE key IN (SELECT arrayJoin(replaces) FROM"
                       " windows_2 WHERE host != 0)", "keep"), "0", "replaced windows are deleted")
    for host in before:
        same(t, report(t, name, host), before[host], f"after the deletion, of {host}")
        t.equal(waits(t, name, host), waited[host], f"waits: after the deletion, of {host}")
    t.assay("store", "copy", name, t.path("back.db"))
    same(t, report(t, t.path("back.db"), "web1"), before["web1"], "a copy of merged windows")
    t.equal(waits(t, t.path("back.db"), "*"), waited["*"], "waits of a copy")
    query = "SELECT sum(waits), sum(blocked_ns), max(max_ns), count(*) > 0 FROM waits"
    t.equal(t.assay("sql", name, query).out, t.assay("sql", t.path("back.db"), query).out, "sql")


@test
def two_machines_may_merge_the_same_windows(t):
    server = clickhouse_server.server(t)
    name = server.store("twice")
    t.assay("store", "copy", stored(t, t.path("twice.db"), "web1"), name)
    before = report(t, name, "web1")
    t.assay("store", "keep", "--fine", "1s", name)
    # Another machine merged the same windows a moment later, and did not see all of them.
    server.ask("INSERT INTO windows_2 SELECT host, time, key, part - 1, session, start_ns, end_ns,"
               " level, merged, samples, lost_records, observer_cpu_ns, period_ns, unobserved_ns,"
               " wall_offset_ns, has_rate, slowed_budget_ns, slowed_behind_ns, taken_ns,"
               " taken_of_ns, over_ns, most_ppm, sample_ns, arraySlice(replaces, 1, 2),"
               " parts, written + 5 FROM windows_2 WHERE level = 1", "twice")
    same(t, report(t, name, "web1"), before)
    days = t.assay("store", "keep", "--keep", "1h", name).err
    t.has(days, "0 days are deleted")


def sums(server, database):
    """level of the sums of all hosts -> number of windows in them"""
    return levels(server, database, "host = 0", "sum(length(replaces))")


def alter(t, server, change, database):
    server.ask(f"ALTER TABLE {change}", database)
    t.until(lambda: server.ask("SELECT count() FROM system.mutations WHERE is_done = 0") == "0", change)


def check_rows_of_sums(t, server, database):
    """All parts of a sum have the same samples. Then sums as earlier versions of assay made them."""
    found = server.ask("SELECT window, uniqExact(n), any(n), any(own), count() FROM (SELECT part, sum(samples) AS n"
                       " FROM samples_2 WHERE host = 0 GROUP BY part) ANY INNER JOIN (SELECT arrayJoin(arrayPushBack("
                       "parts, part)) AS part, part AS window, samples AS own FROM windows_2 WHERE host = 0) USING"
                       " part GROUP BY window", database)
    t.true(found, "sums have rows")
    for line in found.split("\n"):
        _, different, samples, own, parts = map(int, line.split("\t"))
        t.equal((different, samples, parts), (1, own, 5), "samples of the parts of a sum")
    server.ask("CREATE TABLE kept ENGINE = Memory AS SELECT * FROM windows_2 WHERE host = 0", database)
    yield "of all kinds of rows"
    alter(t, server, "windows_2 UPDATE parts = arraySlice(parts, 1, 3) WHERE host = 0", database)
    yield "without rows of machines"
    alter(t, server, "windows_2 UPDATE parts = arraySlice(parts, 1, 1) WHERE host = 0", database)
    yield "without plain rows"
    alter(t, server, "windows_2 UPDATE parts = emptyArrayUInt64() WHERE host = 0", database)
    yield "without totals"
    alter(t, server, "windows_2 DELETE WHERE host = 0", database)
    server.ask("INSERT INTO windows_2 SELECT * FROM kept", database)


def first_page(t, name, *words):
    """The first page of `assay view`: sums by service, version and machine."""
    end = BEGIN_NS // 10 ** 9 + 86400
    view = t.start(ASSAY, "view", "--no-browser", "--from", f"@{end - 2 * 86400}", "--until", f"@{end}", *words,
                   name, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    address = view.stdout.readline().decode().strip()
    if not address:
        return "libmicrohttpd is not installed"
    with urllib.request.urlopen(address.replace("/?", "/data?"), timeout=limit(60)) as answer:
        page = zlib.decompress(answer.read())
    view.terminate()
    view.wait()
    found = Page(page)
    # The table of the machines' states has their age.
    return {s["key"]: [list(found.column(s, c["name"])) for c in s["columns"]]
            for key in ("services", "versions", "hosts") for s in found.sections(key)}


@test
def recent_windows_of_several_hosts_have_sums(t):
    server = clickhouse_server.server(t)
    # An hour of a million samples would have rare paths, which are one in its sum.
    windows, rows = (400, (4, 6)) if LONG else (120, (20, 30))
    file = light(t, t.path("recent.db"), "web1", "web2", windows=windows, rows=rows)
    name = server.store("recent")
    t.assay("store", "copy", file, name)
    parts = ("--service", "svc1*"), ("--build", "2.*"), ("--service", "svc2*", "--build", "1.*")
    expected, chosen = report(t, name, "*"), [report(t, name, "*", *words) for words in parts]
    differences = t.assay("diff", "--json", "--host", "web*", name, "--", "--host", "*", name).out
    pages = [first_page(t, name, *words) for words in ((), *parts)]
    t.has(t.assay("store", "keep", "--fine", "30d", name).err, "new sums of all machines")
    t.has(t.assay("store", "keep", "--fine", "30d", name).err, "0 new sums")
    found = sums(server, "recent")
    # An hour, 10 minutes, a minute: no window has two of them.
    t.equal(set(found) - {16, 20, 24}, set(), "levels of sums")
    t.true(found[20] and found[24] and bool(found.get(16)) == LONG, found)
    t.true(2 * windows - 30 < sum(found.values()) < 2 * windows, f"{found} of {2 * windows} windows")
    same(t, report(t, name, "*"), expected, "with sums")
    text = t.assay("report", "--full", "--store", name, "--host", "*", env=environment(t)).out
    t.lacks(text, "Over time", "a sum of windows has no times")
    t.has(" ".join(text.split()), "Their order is not known")
    t.equal(t.assay("diff", "--json", "--host", "web*", name, "--", "--host", "*", name).out,
            differences, "a comparison")
    # What remains of the windows shows that reports of all hosts read the sums.
    alter(t, server, "samples_2 DELETE WHERE host != 0 AND part IN (SELECT part FROM windows_2 WHERE key IN"
          " (SELECT arrayJoin(replaces) FROM windows_2 WHERE host = 0))", "recent")
    for rows in check_rows_of_sums(t, server, "recent"):
        same(t, report(t, name, "*"), expected, f"of sums alone, {rows}")
        for words, figures in zip(parts, chosen):
            same(t, report(t, name, "*", *words), figures, f"{words}, {rows}")
        if rows == "of all kinds of rows":
            t.equal([first_page(t, name, *words) for words in ((), *parts)], pages, "the first page")
    alter(t, server, "samples_2 DELETE WHERE host = 0 AND service != 0", "recent")
    same(t, report(t, name, "*"), expected, "of plain rows alone")


@test
def sums_of_windows_that_were_merged_are_deleted(t):
    server = clickhouse_server.server(t)
    file, name = light(t, t.path("merged.db"), "web1", "web2", windows=110), server.store("merged")
    t.assay("store", "copy", file, name)
    expected = report(t, name, "*")
    t.assay("store", "keep", "--fine", "30d", name)
    before = sums(server, "merged")
    # 10 minutes of one more machine arrive late, and have a sum of their own.
    late = light(t, t.path("late.db"), "web3", windows=70)
    t.assay("store", "copy", late, name)
    same(t, report(t, name, "web[12]"), expected, "of the first machines")
    t.assay("store", "keep", "--fine", "30d", name)
    t.true(sum(sums(server, "merged").values()) > sum(before.values()), sums(server, "merged"))
    all_hosts = report(t, name, "*")
    for _ in range(2):
        t.assay("store", "keep", "--fine", "1s", name, env=environment(t, ASSAY_CLICKHOUSE_GRACE="0"))
    after = sums(server, "merged")
    t.true(after.get(21) and after.get(20, 0) < before[20], f"{before}, then {after}")
    same(t, report(t, name, "*"), all_hosts, "after the deletion")
    same(t, report(t, name, "web[12]"), expected, "of the first machines, merged")


@test
def many_hosts_are_chosen_by_a_pattern(t):
    """Of few hosts the statements have a list, of many a table, of all neither."""
    server = clickhouse_server.server(t)
    file, name = light(t, t.path("many.db"), "web1", "web2", "db1"), server.store("many")
    t.assay("store", "copy", file, name)
    expected = {hosts: report(t, name, hosts) for hosts in ("web*", "*")}
    server.ask("INSERT INTO hosts (id, name, release, arch, cpu, cpus, seen) SELECT number + 1000,"
               " concat('web', toString(number + 1000)), '', '', '', 1, 1 FROM system.numbers LIMIT 1200",
               "many")
    for hosts, of in (("web*", "web*"), ("web[12]", "web*"), ("*", "*")):
        same(t, report(t, name, hosts), expected[of], f"of {hosts}")
    t.assay("diff", "--json", "--host", "web*", name, "--", "--host", "[wd]*[12]", name)


@test
def damaged_histograms_of_waits_are_counted(t):
    server = clickhouse_server.server(t)
    file, name = light(t, t.path("damaged.db"), "web1", windows=70), server.store("damaged")
    add_waits(file)
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE wait SET times = times || ' 3' WHERE window IN (SELECT id FROM window"
                   " ORDER BY start_ns LIMIT 2)")
        damaged = db.execute("SELECT count(*) FROM wait WHERE times LIKE '% 3'").fetchone()[0]
    t.assay("store", "copy", file, name)
    t.assay("store", "copy", name, t.path("back.db"))
    for store in (file, name, t.path("back.db")):
        found = t.json(t.assay("waits", "--json", "--store", store).out)
        # A server adds up the histograms of each cause before.
        t.true(0 < found["damaged_histograms"] <= damaged, f"{store}: {found['damaged_histograms']}")
        t.true(store == name or found["damaged_histograms"] == damaged, f"all of {store}")
    t.has(t.assay("waits", "--store", file).out, "histograms of the store are damaged")
    t.assay("store", "keep", "--fine", "1s", file)
    found = t.json(t.assay("waits", "--json", "--store", file).out)
    t.true(0 < found["damaged_histograms"] <= damaged, "of merged windows")


KILLS = 40 if LONG else 4


@test
def a_run_that_is_killed_loses_and_repeats_nothing(t):
    """The command or the server is killed at a random moment, again and again."""
    server = clickhouse_server.server(t)
    file, name = t.path("killed.db"), server.store("killed")
    t.run(t.workload("store_writer"), file, 0, 1500 if LONG else 160, 5, 20)
    t.assay("store", "copy", file, name)
    expected = report(t, name, "*")
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    print(f"# seed {seed}")
    # A moment of the run: at one of its requests, before or after the server has it.
    moment = [0, ""]
    running = [None]

    def decide(path, body):
        moment[0] -= 1
        if moment[0]:
            return None
        if moment[1] == "client":
            running[0].kill()
            return dice.choice(["drop", "cut"])
        if moment[1] == "server":
            server.stop()
            return "drop"
        return dice.choice(["cut", "drop", "repeat"])

    proxy = clickhouse_server.Between(server.port, decide)
    proxy.passed = None
    ended = []
    for i in range(KILLS):
        moment[:] = [1 + int(dice.random() ** 2 * 60), dice.choice(["client", "server", "network"])]
        running[0] = t.start(ASSAY, "store", "keep", "--fine", "1s", server.store("killed", proxy.port),
                             stderr=subprocess.DEVNULL, env=environment(t, ASSAY_CLICKHOUSE_GRACE="0"))
        ended.append(t.wait(running[0]))
        if server.process.poll() is not None:
            server.start()
        same(t, report(t, name, "*"), expected, f"after kill {i}")
    for step in (("--fine", "1s"), ("--fine", "1s")):
        t.assay("store", "keep", *step, name, env=environment(t, ASSAY_CLICKHOUSE_GRACE="0"))
        same(t, report(t, name, "*"), expected, f"after {step}")
    print(f"# exit states: { {state: ended.count(state) for state in sorted(set(ended))} },"
          f" levels: {levels(server, 'killed')}")
    # The same steps in a file: the same windows. The slot of the newest window is not over: a
    # file merges a part of it, a server waits for its end.
    t.assay("store", "keep", "--fine", "1s", file)
    here, there = [windows_of(t, store) for store in (file, name)]
    t.true(len(here) > 2, here)
    t.equal(there, here, "windows, and rows of each")


def windows_of(t, store):
    """Times, counts and sums of each window of the slots that are over, by assay's own views."""
    return t.assay("sql", store, "SELECT w.start_ns, w.end_ns, w.samples, count(*), sum(s.samples),"
                   " sum(s.weight), sum(s.blocked_ns) FROM windows w JOIN samples s ON s.window ="
                   " w.id WHERE w.start_ns / 600000000000 < (SELECT max(end_ns) - 1000000000 FROM"
                   " windows) / 600000000000 GROUP BY w.id ORDER BY 1, 2").out.splitlines()


V1_WINDOWS = ("host, time, key, part, session, start_ns, end_ns, level, merged, samples,"
              " lost_records, observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns, has_rate,"
              " slowed_budget_ns, slowed_behind_ns, taken_ns, taken_of_ns, over_ns, most_ppm,"
              " sample_ns")
V1_SAMPLES = ("service, host, time, part, program, thread, stack, cpu, mode, event, region,"
              " stack_end, samples, weight, idle_ns, runnable_ns, blocked_ns")


@test
def a_store_is_upgraded_while_writers_of_version_1_send(t):
    """Writers of version 1 send rows without names of columns."""
    server = clickhouse_server.server(t)
    new, old = server.store("newer"), server.store("older")
    t.assay("store", "copy", stored(t, t.path("upgrade.db"), "web1"), new)
    server.ask("CREATE DATABASE older")
    ledger, window = server.ask("SELECT groupArray(parts[1]), groupArray(part) FROM windows_2 WHERE"
                                " notEmpty(parts)", "newer").split()
    for table in server.ask("SHOW TABLES", "newer").split():
        if table == "store_version":
            server.ask("CREATE TABLE store_version (version UInt32) ENGINE = ReplacingMergeTree"
                       " ORDER BY version", "older")
            server.ask("INSERT INTO store_version VALUES (1)", "older")
        elif not table.endswith("_2") and not table.startswith("wait"):
            create = server.ask(f"SHOW CREATE TABLE {table} FORMAT TSVRaw", "newer")
            server.ask(create.replace("newer.", "older."), "older")
            columns = server.ask("SELECT name FROM system.columns WHERE database = 'newer' AND table"
                                 f" = '{table}'").split()
            # Rows of the ledger had the part of their window.
            chosen = ", ".join(f"transform(part, {ledger}, {window}, part)" if table == "ledger" and
                               column == "part" else column for column in columns)
            server.ask(f"INSERT INTO {table} SELECT {chosen} FROM newer.{table}", "older")
    for table, columns, order in (("windows", V1_WINDOWS, "(host, time, key)"),
                                  ("samples", V1_SAMPLES, "(service, host, time)")):
        chosen = columns.replace(" weight,", " samples * period + weight AS weight,")
        server.ask(f"CREATE TABLE {table} ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY"
                   f" {order} AS SELECT {chosen} FROM newer.{table}_2 WHERE start_ns <"
                   f" {BEGIN_NS + 3600 * 10**9}" if table == "windows" else
                   f"CREATE TABLE {table} ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY"
                   f" {order} AS SELECT {chosen} FROM newer.{table}_2 WHERE part IN (SELECT part"
                   " FROM older.windows)", "older")
    t.has(t.assay("report", "--store", old, status=1).err, f"assay store create {old}")
    t.assay("store", "create", old)
    # The rest of the windows comes from a writer that still runs.
    chosen = V1_SAMPLES.replace(" weight,", " samples * period + weight AS weight,")
    server.ask(f"INSERT INTO samples SELECT {chosen} FROM newer.samples_2 WHERE part NOT IN"
               " (SELECT part FROM windows_2)", "older")
    server.ask(f"INSERT INTO windows SELECT {V1_WINDOWS} FROM newer.windows_2 WHERE part NOT IN"
               " (SELECT part FROM windows_2)", "older")
    same(t, report(t, old, "web1"), report(t, new, "web1"))
    t.assay("store", "create", old)
    same(t, report(t, old, "web1"), report(t, new, "web1"), "a second upgrade changes nothing")


@test
def a_diff_of_all_hosts_is_that_of_a_file(t):
    server = clickhouse_server.server(t)
    file, name = stored(t, t.path("diff.db"), "web1", "web2"), server.store("diffs")
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        texts = [db.execute("INSERT INTO name (text) VALUES (?) RETURNING id", (text,))
                 .fetchone()[0] for text in ("1.0", "2.0")]
        db.execute("UPDATE process SET version = CASE WHEN host = 1 THEN ? ELSE ? END", texts)
    t.assay("store", "copy", file, name)
    half = BEGIN_NS // 10**9 + 1800
    words = ("--host", "*", "--until", f"@{half}", "STORE", "--", "--from", f"@{half + 1}", "STORE")
    both = [t.json(t.assay("diff", "--json", *(store if w == "STORE" else w for w in words), env=environment(t))
                   .out.replace(str(store), "")) for store in (file, name)]
    t.equal(*[{k: v for k, v in side.items() if k not in ("next", "command")} for side in both])
    same(t, *[report(t, store, "*", "--build", "1.*") for store in (name, file)], "a version")
    sides = t.json(t.assay("diff", "--json", "--host", "*", "--build", "1.*", name, "--", "--build",
                           "2.0", name).out)
    t.true(sides["before"] and sides["after"], "a diff of two versions")
    t.has(t.assay("report", "--store", name, "--host", "*", "--build", "3", status=1).err,
          "it has: 1.0, 2.0")


main()
