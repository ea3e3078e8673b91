# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores on a ClickHouse server: the same figures as stores in files, batches that are sent again,
several machines, hostile names and answers."""
import contextlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import urllib.parse

import clickhouse_server
import distinct_table
import old_windows
import stores
from clickhouse_server import Answering, Between
from distinct import Media, compare
from distinct_samples import Machine
from harness import ASSAY, LONG, long_test, main, run, test
from otel_context import publish
from stores import environment
from time_limit import limit

MEMORY_BYTES = 512000 << 10  # ulimit -v 512000
# Programs of other tests may be removed after one of two stores has got its names.
OWN = ("--comm", "loop,faults,sh,swapper")
# Warnings are about files of this machine, which other programs may remove between two reports.
# Remarks and limits depend on the programs of other tests, too: some are deleted between two reports.
BY_STORE = ("path", "bytes", "command", "warnings", "remarks", "limits")


_directory = tempfile.TemporaryDirectory(prefix="assay-test-clickhouse-")  # for all tests


def recording(t):
    """A recording of the machine with programs of known kinds on it, made once. They have the priority, if root
    runs the test, so that it is short on a busy machine too."""
    path = os.path.join(_directory.name, "a.data")
    if not os.path.exists(path):
        loop = t.workload("loop")
        t.assay("record", "-a", "-g", "-F", "499", "-o", path, "--", "nice", "-n", "-5", "sh", "-c",
                f"{loop} 100 & {t.workload('faults')} {t.path('pages')} >/dev/null & "
                f"for i in 1 2 3; do {loop} 20; done; wait")
    return path


def stored(t, store, host=None, source=None):
    t.run(t.workload("store_recording"), source or recording(t), store, "0.05",
          *([host] if host else []), env=environment(t))
    return store


def both(t, database):
    """The same windows in a file and on a server."""
    server = clickhouse_server.server(t)
    return stored(t, t.path(f"{database}.db")), stored(t, server.store(database))


def figures(value):
    """A report without what depends on the store's place."""
    if isinstance(value, dict):
        return {k: figures(v) for k, v in value.items() if k not in BY_STORE and k != "next"}
    return [figures(v) for v in value] if isinstance(value, list) else value


def report(t, store, *words, command="report"):
    return figures(t.json(t.assay(command, "--json", "--store", store, *words,
                                  env=environment(t)).out))


@test
def each_figure_has_its_column(t):
    """The same table as for a file: test_distinct."""
    m = Machine(t)
    store = m.stored(clickhouse_server.server(t).store("distinct"))
    read = Media(t, ["--store", store, *m.words], distinct_table.STORE)
    compare(distinct_table.STORE, m.stored_truth(), read.read, distinct_table.STORES_WITHOUT)


@test
def figures_of_two_hosts_are_added(t):
    """The server makes the sums, by other queries than those for one host."""
    m = Machine(t)
    store = clickhouse_server.server(t).store("two_hosts")
    for host in ("a.example", "b.example"):
        m.stored(store, host)
    read = Media(t, ["--store", store, "--host", "*", *m.words], distinct_table.HOSTS)
    compare(distinct_table.HOSTS, m.truth_of_hosts(2), read.read, distinct_table.HOSTS_WITHOUT)


@test
def both_engines_give_the_same_reports(t):
    file, name = both(t, "same")
    for words in (OWN, ("-g", *OWN), ("--sort", "comm,cpu", *OWN), ("--sort", "dso,sym", *OWN),
                  ("--comm", "loop", "--no-idle"), ("--full", *OWN)):
        t.equal(report(t, name, *words), report(t, file, *words), f"report {words}")
    t.true(report(t, file)["functions"], "the report has functions")
    t.equal(*[t.assay("sql", store, "SELECT w.start_ns, count(*), sum(s.samples), sum(s.weight), sum(s.blocked_ns)"
                      " FROM windows w JOIN samples s ON s.window = w.id GROUP BY 1 ORDER BY 1",
                      env=environment(t)).out for store in (name, file)], "sql")
    watched = [t.json(t.assay("watch", "--json", store, env=environment(t)).out) for store in (name, file)]
    for found in watched:  # functions of other programs, whose files may be gone before the second store is written
        del found["pooled"]
    t.equal(*watched, "watch")


@test
def a_time_range_gives_the_same_report(t):
    file, name = both(t, "ranges")
    with stores.reading(file) as db:
        starts = [row[0] / 1e9 for row in stores.rows(db, "SELECT start_ns FROM windows ORDER BY 1")]
    t.true(len(starts) > 2, starts)
    # On a busy machine the programs may have no sample in a single window.
    words = ("--from", f"@{starts[1] + 0.01:.3f}", "--until", f"@{starts[-1] - 0.01:.3f}", *OWN)
    t.equal(report(t, name, *words), report(t, file, *words))
    t.true(len(report(t, file, *words)["functions"]), "the range has functions")
    out = t.assay("report", "--store", name, "--until", "@1", status=1).err
    t.has(out, "no data of the requested time; its data is from 20")
    sides = [t.assay("diff", "--json", "--from", f"@{starts[0]:.3f}", "--until",
                     f"@{starts[1]:.3f}", store, "--", "--from", f"@{starts[1] + 0.01:.3f}",
                     store, env=environment(t)).out.replace(str(store), "") for store in (file, name)]
    t.equal(figures(json.loads(sides[0])), figures(json.loads(sides[1])), "diff")


@test
def a_copy_to_a_server_and_back_is_equal(t):
    server = clickhouse_server.server(t)
    file, name, back = stored(t, t.path("copy.db")), server.store("copied"), t.path("back.db")
    t.assay("store", "copy", file, name)
    t.assay("store", "copy", name, back)
    t.equal(report(t, back), report(t, file))
    t.equal(report(t, name), report(t, file))
    t.has(t.assay("store", "copy", name, back, status=1).err, "exists")
    tables = ("window", "ledger_cpu", "buffer", "sample", "session", "session_event")
    with stores.reading(file) as one, stores.reading(back) as other:
        for table in tables:
            count = f"SELECT count(*) FROM {table}"
            t.equal(stores.number(other, count), stores.number(one, count), table)


@test
def a_batch_that_is_sent_again_counts_once(t):
    server = clickhouse_server.server(t)
    file, name = stored(t, t.path("again.db")), server.store("again")
    expected = report(t, file)
    inserts = []

    def lose_answers(path, body):
        """The server has all rows, but the first answer for each table is lost."""
        query = urllib.parse.unquote(path)
        if "INSERT" in query and query not in inserts:
            inserts.append(query)
            return "cut"
        return None

    proxy = Between(server.port, lose_answers)
    by_proxy = server.store("again", proxy.port)
    t.assay("store", "create", name)
    for attempt in range(20):
        copy = run(os.environ["ASSAY"], "store", "copy", file, by_proxy, status=None)
        if not copy.status:
            break
        t.has(copy.err, by_proxy, "the error names the server")
    # libcurl repeats some requests by itself, but not those of `samples` and `ledger`.
    t.true(attempt >= 2, f"{attempt} attempts failed")
    parts = int(server.ask("SELECT uniq(part) FROM samples_2", "again"))
    windows = int(server.ask("SELECT count() FROM windows_2", "again"))
    keys = int(server.ask("SELECT uniq(key) FROM windows_2", "again"))
    t.true(parts > keys, f"{parts} parts of {keys} windows")
    t.equal(report(t, name), expected, "after lost answers")
    # A writer that sent the windows twice at the same time committed both.
    server.ask("INSERT INTO windows_2 SELECT host, time, key, part + 1, session, start_ns, end_ns,"
               " level, merged, samples, lost_records, observer_cpu_ns, period_ns, unobserved_ns,"
               " wall_offset_ns, has_rate, slowed_budget_ns, slowed_behind_ns, taken_ns,"
               " taken_of_ns, over_ns, most_ppm, sample_ns, replaces, parts, written FROM windows_2", "again")
    t.equal(report(t, name), expected, "with windows that were committed twice")
    t.assay("store", "copy", file, name)
    t.equal(int(server.ask("SELECT count() FROM windows_2", "again")), 2 * windows,
            "a further copy adds nothing")


@test
def requests_that_a_proxy_repeats_count_once(t):
    server = clickhouse_server.server(t)
    # Two slots of 10 minutes are over; in the long form also an hour, of which a sum is made.
    file = old_windows.light(t, t.path("repeats.db"), "web1", "web2", windows=300 if LONG else 110)
    name = server.store("repeats")
    proxy = Between(server.port, lambda path, body: "repeat" if "INSERT" in path else None)
    by_proxy = server.store("repeats", proxy.port)
    t.assay("store", "copy", file, by_proxy)
    hosts = ("web1", "*")
    expected = {host: old_windows.report(t, file, host) for host in hosts}
    for _ in range(2):
        t.equal(report(t, name, "--host", "web1"), report(t, file, "--host", "web1"), "of a host")
        for host in hosts:
            old_windows.same(t, old_windows.report(t, name, host), expected[host], f"of {host}")
        proxy.again()  # much later
    windows, parts = (int(server.ask(sql, "repeats")) for sql in (
        "SELECT uniqExact(key) FROM windows_2", "SELECT uniqExact(part) FROM samples_2"))
    t.equal(parts, 4 * windows, "arrivals")
    keep = ("store", "keep", "--fine", "1s", "--coarse", "1s")
    t.assay(*keep, by_proxy)
    proxy.again()
    for _ in range(2):
        for host in hosts:
            old_windows.same(t, old_windows.report(t, name, host), expected[host],
                             f"of {host}, merged")
        t.assay(*keep, name, env=environment(t, ASSAY_CLICKHOUSE_GRACE="0"))
    t.equal(server.ask("SELECT count() FROM windows_2 WHERE key IN (SELECT arrayJoin(replaces) FROM"
                       " windows_2 WHERE host != 0)", "repeats"), "0", "replaced windows are deleted")
    hours = int(server.ask("SELECT count() FROM windows_2 WHERE host = 0", "repeats"))
    t.true(hours or not LONG, "rows of the sum of an hour")


@test
def windows_wait_while_the_server_is_away(t):
    server = clickhouse_server.server(t)
    file, name = stored(t, t.path("away.db")), server.store("away")
    away = []
    proxy = Between(server.port, lambda path, body: "drop" if away and "INSERT" in path else None)
    by_proxy = server.store("away", proxy.port)
    t.assay("store", "create", name)
    away.append(True)
    writer = run(t.workload("store_recording"), recording(t), by_proxy, "0.05",
                 env=environment(t), status=1)
    t.has(writer.err, "wait in")
    t.equal(server.ask("SELECT count() FROM windows_2", "away"), "0", "the server has no window")
    away.clear()
    run(t.workload("store_recording"), recording(t), by_proxy, "100000", env=environment(t))
    with stores.reading(file) as db:
        count, samples = stores.rows(db, "SELECT count(*), sum(samples) FROM windows")[0]
    t.equal(server.ask("SELECT count() - 1, toUInt64(sum(samples) / 2) FROM windows_2", "away"),
            f"{count}\t{samples}", "the windows of both sessions")
    spool = [f for f in os.listdir(t.path("spool")) if f.endswith(".db")]
    with contextlib.closing(sqlite3.connect(f"{t.path('spool')}/{spool[0]}")) as db:
        t.equal(db.execute("SELECT count(*) FROM window WHERE level >= 0 AND level < 4")
                .fetchone()[0], 0, "windows that wait")


WINDOW_S = 10
BEGIN_S = 1700000000  # of store_writer


def written(t, store, first, count, size=None, status=0, rows=(5, 20), env=None):
    """Windows of store_writer by a spool: ({"account": [due, sent, waiting, dropped], "samples":
    ...}, the words on standard error)."""
    more = {"SPOOL_BYTES": str(size)} if size else {}
    run_ = t.run(t.workload("store_writer"), store, first, count, *rows, status=status,
                 env=environment(t, **more, **(env or {})))
    lines = [line.split() for line in run_.out.splitlines()]
    return {words[0]: [int(x) for x in words[1:]] for words in lines
            if words[0] in ("account", "samples")}, run_.err


def of_server(server, database):
    """(windows, samples) that the server has; a merged window counts as its parts."""
    return [int(x) for x in server.ask(
        "SELECT sum(n), sum(s) FROM (SELECT any(merged) AS n, any(samples) AS s FROM windows_2"
        " WHERE host != 0 GROUP BY key)", database).split("\t")]


def cut_off(server, name):
    """A proxy that drops all inserts while the list `away` is not empty."""
    away = []
    proxy = Between(server.port, lambda path, body: "drop" if away and "INSERT" in path else None)
    proxy.passed = None
    return server.store(name, proxy.port), away


def caught_up(t, store, first, size=None):
    """Sessions of one window until none waits: the end of one sends for some seconds, which may be
    too short on a busy machine. The next window, and (windows sent, their samples, dropped)."""
    sent = dropped = samples = 0
    for i in range(first, first + 30):
        account, _ = written(t, store, i, 1, size, status=None)
        for part in account.values():
            t.equal(part[0], sum(part[1:]), f"{account}")
        sent += account["account"][1]
        dropped += account["account"][3]
        samples += account["samples"][1]
        if not account["account"][2]:
            return i + 1, (sent, samples, dropped)
    return t.fail(f"windows wait: {account}")


@long_test
def an_hour_without_the_server_is_caught_up(t):
    server = clickhouse_server.server(t)
    name, count = server.store("hour"), 360
    by_proxy, away = cut_off(server, "hour")
    t.assay("store", "create", name)
    away.append(True)
    account, err = written(t, by_proxy, 0, count, status=1)
    t.has(err, f"{count} windows wait in")
    t.equal(account["account"], [count, 0, count, 0])
    t.equal(of_server(server, "hour"), [0, 0])
    away.clear()
    last, (sent, samples, _) = caught_up(t, by_proxy, count)
    t.equal(sent, last, "all windows are sent")
    t.equal(of_server(server, "hour"), [sent, samples], "on the server")
    file = t.path("hour.db")
    written(t, file, 0, count)
    for i in range(count, last):
        written(t, file, i, 1)
    spooled, direct = [old_windows.report(t, store, "*") for store in (name, file)]
    t.equal(spooled["functions"], direct["functions"])
    t.equal(spooled["ledger"], direct["ledger"])


@long_test
def a_full_spool_merges_and_drops_the_oldest_and_counts_them(t):
    """Without the server for most of a day, with a spool that is too small."""
    server = clickhouse_server.server(t)
    name, count = server.store("bound"), 8000
    size = 2000000  # all windows, merged, need 2.2 MB
    by_proxy, away = cut_off(server, "bound")
    t.assay("store", "create", name)
    away.append(True)
    account, _ = written(t, by_proxy, 0, count, size, status=1)
    due, sent, waiting, dropped = account["account"]
    t.equal((due, sent + waiting + dropped), (count, count), "windows")
    t.equal(account["samples"][0], sum(account["samples"][1:]), "samples")
    t.true(dropped, f"windows were dropped: {account}")
    spool = max(t.path("spool").glob("*.db"), key=os.path.getsize)
    bytes_ = sum(os.path.getsize(p) for p in t.path("spool").iterdir())
    print(f"# spool of {size} bytes: {bytes_} bytes, {account}")
    t.true(bytes_ < 2 * size, f"{bytes_} bytes of the spool")
    # The windows of the first attempt to send (level 8 and above) stay as they are.
    with stores.reading(spool) as db:
        taken, sizes = [[n for n, in stores.rows(
            db, f"SELECT merged FROM window WHERE level {levels} ORDER BY start_ns")]
            for levels in (">= 8", "BETWEEN 0 AND 3")]
    t.equal(sum(taken) + sum(sizes), waiting, "windows that wait are in the spool")
    t.equal(sizes[-1], 1, "the newest one is not merged")
    t.true(max(sizes) > 1, "old windows were merged")
    t.equal(sizes, sorted(sizes, reverse=True), "the oldest are merged first")
    away.clear()
    last, (sent, samples, more) = caught_up(t, by_proxy, count, size)
    t.equal(of_server(server, "bound"), [sent, samples], "the server has all that was sent")
    gone = dropped + more
    t.equal(sent + gone, last, "windows")
    gaps = [[int(x) for x in line.split("\t")] for line in server.ask(
        "SELECT start_ns, max(end_ns) FROM gaps WHERE why = 'the spool was full' GROUP BY start_ns",
        "bound").splitlines()]
    t.equal(sum(end - start for start, end in gaps), gone * WINDOW_S * 10**9, f"gaps: {gaps}")


@test
def a_full_disk_below_the_spool_loses_counted_windows_only(t):
    if os.geteuid():
        t.skip("only root mounts a disk of its own")
    server = clickhouse_server.server(t)
    by_proxy, away = cut_off(server, "disk")
    t.assay("store", "create", server.store("disk"))
    disk = t.path("disk")
    disk.mkdir()
    away.append(True)
    writer = t.start("unshare", "-m", "sh", "-c",
                     'mount -t tmpfs -o size=12m,mode=700 none "$1" || exit 77; '
                     'head -c 10900000 /dev/zero > "$1/other"; exec "$2" "$3" 0 400 100 40',
                     "sh", disk, t.workload("store_writer"), by_proxy,
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     env={**os.environ, "ASSAY_SPOOL": str(disk), "STEPS": "1"})
    said = {"full": 0, "window": 0}
    account = {}
    for line in writer.stdout:
        word, *numbers = line.decode().split()
        if word not in said:
            account[word] = [int(x) for x in numbers]
            continue
        said[word] += 1
        if numbers == ["200"]:
            os.unlink(f"/proc/{writer.pid}/root{disk}/other")
            away.clear()
        os.write(writer.stdin.fileno(), b"s" if numbers == ["399"] else b".")
    if writer.wait() == 77:
        t.skip("no mount namespaces here")
    t.true(said["window"] > 20, f"{said}")
    due, sent, waiting, dropped = account["account"]
    t.equal((due, waiting), (said["window"], 0), "windows that were written are due")
    t.equal(sent + dropped, due, "and all were sent, or counted")
    t.equal(of_server(server, "disk"), [sent, account["samples"][1]], "on the server")
    t.equal(said["full"] + said["window"], 400, "all windows: written, or reported as not written")


@test
def a_full_disk_is_left_when_the_server_is_back(t):
    """A disk of 2 MB, which the spool and a file of another program fill while the server is away.
    Each window is sent once, or counted."""
    if os.geteuid():
        t.skip("only root mounts a disk of its own")
    server = clickhouse_server.server(t)
    for name, other in (("alone", 0), ("beside", 1300000)):
        by_proxy, away = cut_off(server, name)
        t.assay("store", "create", server.store(name))
        disk = t.path(name)
        disk.mkdir()
        away.append(True)
        count, back, last = 600, 300, 590
        writer = t.start("unshare", "-m", "sh", "-c",
                         'mount -t tmpfs -o size=2m,mode=700 none "$1" || exit 77; '
                         f'head -c {other} /dev/zero > "$1/other"; exec "$2" "$3" 0 {count} 100 40',
                         "sh", disk, t.workload("store_writer"), by_proxy, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE,
                         env={**os.environ, "ASSAY_SPOOL": str(disk), "STEPS": "1"})
        said, account = {"full": [], "window": []}, {}
        for line in writer.stdout:
            word, *numbers = line.decode().split()
            if word not in said:
                account[word] = [int(x) for x in numbers]
                continue
            number = int(numbers[0])
            said[word].append(number)
            # The other program takes the rest of the disk.
            if number == 100 and other:
                with contextlib.suppress(OSError):
                    with open(f"/proc/{writer.pid}/root{disk}/other", "ab", 0) as f:
                        while True:
                            f.write(bytes(4096))
            if number == back:
                away.clear()
            # Without the waits it would be faster than the server, and the disk would be full again.
            os.write(writer.stdin.fileno(), b"s" if number == back or number >= last else b".")
        if writer.wait() == 77:
            t.skip("no mount namespaces here")
        print("#", name, len(said["window"]), account, "full:", *said["full"])
        t.equal(len(said["full"]) + len(said["window"]), count, "windows: written, or not")
        due, sent, waiting, dropped = account["account"]
        t.equal((due, sent + dropped), (len(said["window"]), due), "windows due, and all")
        t.equal(waiting, 0, "windows that wait")
        t.equal(account["samples"][0], sum(account["samples"][1:]), "samples")
        t.equal(of_server(server, name), [sent, account["samples"][1]], "on the server")
        t.true([n for n in said["window"] if n > last], "windows are written at the end")


@long_test
def a_full_disk_of_the_server_is_reported_and_nothing_is_lost(t):
    clickhouse_server.server(t)
    disk = t.path("small")
    disk.mkdir()
    keeper = t.start("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=24m none "$1" && mkdir'
                     ' "$1/data" && exec sleep 9999', "sh", disk)
    inside = f"/proc/{keeper.pid}/root{disk}"
    t.until(lambda: os.path.isdir(f"{inside}/data") or keeper.poll() is not None, "the disk")
    if keeper.poll() is not None:
        t.skip("only root mounts a disk of its own")
    server = clickhouse_server.Server(f"{disk}/data", keeper.pid)
    try:
        name = server.store("small")
        t.assay("store", "create", name)
        t.run("nsenter", "-t", keeper.pid, "-m", "sh", "-c",
              f'head -c 100000000 /dev/zero > "{disk}/other"', status=None)
        account, err = written(t, name, 0, 20, status=1)
        t.has(err, name)
        t.true("space" in err or "disk" in err.lower(), f"the reason: {err}")
        t.equal(account["account"][:3], [20, 0, 20])
        t.lacks(err, "\x1b")
        os.unlink(f"{inside}/other")
        last, (sent, samples, _) = caught_up(t, name, 20)
        t.equal(sent, last, "all windows are sent")
        t.equal(of_server(server, "small"), [sent, samples], "on the server")
        file = t.path("small.db")
        written(t, file, 0, 20)
        for i in range(20, last):
            written(t, file, i, 1)
        t.equal(*[old_windows.report(t, store, "*")["functions"] for store in (name, file)])
    finally:
        server.end()


def sums(found, key="functions"):
    total = {}
    for row in found[key]:
        name = (row["function"], row["image"], row["mode"])
        total[name] = total.get(name, 0) + row["samples"]
    return total


@test
def hosts_are_read_alone_and_together(t):
    server = clickhouse_server.server(t)
    file, name = t.path("hosts.db"), server.store("hosts")
    for store in (file, name):
        for host in ("web1", "web2", "db1"):
            stored(t, store, host)
    one = report(t, name, "--host", "web1", *OWN)
    t.equal(one, report(t, file, "--host", "web1", *OWN), "one host")
    for pattern, count in (("web*", 2), ("*", 3)):
        both_stores = [report(t, store, "--host", pattern, *OWN) for store in (name, file)]
        for found in both_stores:
            t.equal(len(found["recordings"]), count, "recordings")
            t.equal({k: v for k, v in sums(found).items() if v},
                    {k: count * v for k, v in sums(one).items() if v}, f"sums of {pattern}")
        books = [found["ledger"] for found in both_stores]
        t.equal(books[0], books[1], "the account in sum")
        for store in (name, file):
            found = report(t, store, "--host", pattern)
            shown = report(t, store, "--once", "--window", "3600", "--host", pattern, command="top")
            t.equal((shown["functions"], shown["ledger"]), (found["functions"], found["ledger"]), "top")
    for store in (file, name):
        err = t.assay("report", "--store", store, status=1).err
        t.has(err, "several machines")
        t.has(err, "db1, web1, web2")
        t.has(t.assay("report", "--store", store, "--host", "mail*", status=1).err, "mail*")


@test
def a_service_is_read_alone(t):
    server = clickhouse_server.server(t)
    file, name = stored(t, t.path("services.db")), server.store("services")
    paths = ("/system.slice/web.service", "/system.slice/docker-" + "0af3" * 16 + ".scope")
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        names = [db.execute("INSERT INTO name (text) VALUES (?) RETURNING id", (path,))
                 .fetchone()[0] for path in paths]
        for program, cgroup in zip(("loop", "faults"), names):
            db.execute("UPDATE process SET cgroup = ? WHERE name = (SELECT id FROM name WHERE"
                       " text = ?)", (cgroup, program))
    t.assay("store", "copy", file, name)
    for service, program in (("web", "loop"), ("w*.service", "loop"), ("0af30af3*", "faults")):
        found = [report(t, store, "--service", service) for store in (name, file)]
        t.equal(found[0], found[1], service)
        t.equal({row["name"] for row in found[0]["process_functions"]}, {program}, service)
    t.has(t.assay("report", "--store", name, "--service", "mail", status=1).err,
          "it has: 0af30af30af3, web")


@test
def labels_are_those_of_the_recording(t):
    server = clickhouse_server.server(t)
    source, program = t.path("labels.data"), publish(t, {"service.name": "shop", "tier": "it's \\ one",
                                                         "service.version": "1.2"})
    t.assay("record", "--labels", "-p", program.pid, "-o", source, "--duration", "500ms")
    file = stored(t, t.path("labels.db"), source=source)
    name = stored(t, server.store("labels"), source=source)
    for words in (("--sort", "service,label:tier"), ("--label", "tier=it*"),
                  ("--service", "shop", "--build", "1.*", "--sort", "container,pod")):
        t.equal(report(t, name, *words), report(t, file, *words), f"report {words}")
    row, = [row for row in report(t, name, "--sort", "service,label:tier")["rows"]
            if row["service"] == "shop" and row["tier"] != "[no label]"]
    t.equal(row["tier"], "it's \\ one", "a label")
    t.equal(server.ask("SELECT count() > 0 FROM samples_2 WHERE service IN (SELECT id FROM names"
                       " WHERE text = 'shop')", "labels").strip(), "1", "the service on the server")


@test
def names_are_never_statements(t):
    server = clickhouse_server.server(t)
    name, host = server.store("names"), "a'; DROP TABLE samples; --\\\n\t\"`\x01é"
    program = t.path("x'); DROP--")
    shutil.copy(t.workload("loop"), program)
    data = t.path("names.data")
    t.assay("record", "-F", "499", "-o", data, "--", program, "20")
    file = t.path("names.db")
    for store in (file, name):
        stored(t, store, host, data)
    t.equal(report(t, name), report(t, file))
    t.equal({row["name"] for row in report(t, name)["process_functions"]},
            {os.path.basename(program)[:15]})
    t.equal(report(t, name, "--host", host.replace("\\", "?")), report(t, file), "by host")
    t.has(t.assay("report", "--store", name, "--host", "' OR 1", status=1).err, "' OR 1")
    t.equal(server.ask("EXISTS TABLE samples_2", "names"), "1")
    for wrong in ("clickhouse://127.0.0.1/a;b", "clickhouse://127.0.0.1/", "clickhouse://x y/a",
                  "clickhouse://127.0.0.1:99999/a", "clickhouse://127.0.0.1/a/b"):
        t.has(t.assay("report", "--store", wrong, status=1).err, "clickhouse://[USER@]HOST")


@test
def passwords_are_not_in_names(t):
    server = clickhouse_server.server(t)
    as_writer = server.store("secret", user="writer@")
    t.has(t.assay("store", "create", as_writer, status=1).err, "ASSAY_CLICKHOUSE_PASSWORD")
    with_password = server.store("secret", user="writer:se'cret@")
    refused = t.assay("store", "create", with_password, status=1).err
    t.has(refused, "visible for other users")
    t.lacks(refused, "se'cret")
    t.assay("store", "create", as_writer,
            env={**os.environ, "ASSAY_CLICKHOUSE_PASSWORD": "se'cret"})
    t.assay("store", "copy", stored(t, t.path("secret.db")), as_writer, env={
        **os.environ, "ASSAY_CLICKHOUSE_PASSWORD_FILE": t.write("password", "se'cret\n")})
    t.has(t.assay("store", "make", as_writer, status=2).err, "'make' is not a subcommand; there are create")
    for wrong in ("https://db.example.com/assay", "clickhouse:/db.example.com/assay"):
        t.has(t.assay("store", "create", wrong, status=1).err, f"'{wrong}' is not the name of a store on a server")
    reader = server.store("secret", user="reader@")
    t.true(report(t, reader)["functions"], "a user who may only read")
    t.has(t.assay("store", "create", server.store("other", user="reader@"), status=1).err,
          "the server refuses it")


@test
def a_store_of_a_later_version_is_refused(t):
    server = clickhouse_server.server(t)
    name = server.store("later")
    t.has(t.assay("report", "--store", name, status=1).err, f"assay store create {name}")
    t.assay("store", "create", name)
    t.has(t.assay("report", "--store", name, status=1).err, "still empty")
    server.ask("INSERT INTO store_version VALUES (77)", "later")
    t.has(t.assay("report", "--store", name, status=1).err, "version 77")


def endless(out):
    with contextlib.suppress(OSError):
        while True:
            out.write(bytes(1 << 20))


@test
def hostile_answers_are_reported(t):
    version = struct.pack("<I", 3)
    answers = {
        "status 500: Something broke": Answering(500, b"Something broke\n\x1b[31m"),
        "status 302": Answering(302, b"", [("Location", "file:///etc/passwd")]),
        "not in the expected form": Answering(200, version + b"\xff" * 9),
        "cut off": Answering(200, b"\x01"),
        "end of response with": Answering(200, b"abc", [("Content-Length", "1000")]),
        "for its version": Answering(200, endless),
    }
    for words, server in answers.items():
        name = f"clickhouse://127.0.0.1:{server.port}/db"
        refused = t.assay("report", "--store", name, status=1).err
        if words == "end of response with":
            words = name
        t.has(refused, words)
        t.lacks(refused, "\x1b")
    no_server = f"clickhouse://127.0.0.1:{clickhouse_server.free_port()}/db"
    t.has(t.assay("report", "--store", no_server, status=1).err, no_server)
    t.has(t.assay("start", "--store", no_server, status=1, env=environment(t)).err, no_server)


def text(value):
    return bytes([len(value)]) + value.encode()


ROW = 92  # bytes of a row of samples
ANSWERS = [  # a store with one window: the first words that a question has choose its answer
    ("FROM store_version", struct.pack("<I", 3)),
    ("FROM hosts", struct.pack("<Q", 1) + text("web1") + bytes(3) + struct.pack("<I", 2)),
    ("FROM session_events", b""), ("FROM ledger", b""), ("FROM gaps", b""),
    ("FROM sessions", struct.pack("<QQ", 1, 1) + text("") + struct.pack("<QQ", 10 ** 9, 2 * 10 ** 9)
     + bytes(4) + bytes([1]) + bytes(64) + bytes(1)),
    ("SELECT key, part", struct.pack("<QQQQQBI", 1, 1, 1, 10 ** 9, 2 * 10 ** 9, 0, 1)
     + struct.pack("<QQQQQQ", 9, 0, 0, 10 ** 7, 0, 0) + bytes(2)),
    ("SELECT toUInt64(count(DISTINCT", struct.pack("<QQQ", 1, 10 ** 9, 2 * 10 ** 9)),
]


def rows_of_samples(part, distinct, pause=0):
    """A body of valid rows without an end. `distinct`: each has a thread and a stack of its own."""
    count = 32768
    block = bytearray().join(struct.pack("<QQQHBQQBQQQQQQ", part, i if distinct else 1,
                                         i if distinct else 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0)
                             for i in range(count))

    def body(out):
        with contextlib.suppress(OSError):
            for n in itertools.count():
                for place in (10, 18) if distinct else ():  # the third byte of each
                    block[place::ROW] = bytes([n % 256]) * count
                out.write(block)
                time.sleep(pause)
    return body


def store_with(samples):
    """A server whose answer to the question for samples is this body."""
    def handle(request, body):
        question = urllib.parse.unquote_plus(request.path) + body.decode(errors="replace")
        request.send_response(200)
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        for words, answer in ANSWERS:
            if words in question:
                return request.wfile.write(answer)
        if "SELECT part, thread" in question:
            samples(request.wfile)

    return f"clickhouse://127.0.0.1:{clickhouse_server.Listening(handle).port}/db"


def limited_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@test
def an_endless_answer_of_valid_rows_is_refused(t):
    """Rows with names of their own, and rows of windows that were not asked for, which are not kept."""
    query = "SELECT count(*) FROM samples"
    for words, rows, command, *words_after in (
            ("need more than 300 MB", rows_of_samples(1, True), "sql", query),
            ("for samples is larger than 1073741824 bytes", rows_of_samples(2, False), "report")):
        done = subprocess.run([ASSAY, command, store_with(rows), *words_after],
                              capture_output=True, preexec_fn=limited_memory, check=False,
                              timeout=limit(120), text=True)
        t.equal(done.returncode, 1, f"status of {command}: {done.stderr}")
        t.has(done.stderr, words)
        t.has(done.stderr, "select a shorter time")


@test
def a_long_answer_shows_its_progress_and_ctrl_c_ends_it(t):
    ours, theirs = os.openpty()
    report = subprocess.Popen([ASSAY, "report", "--store", store_with(rows_of_samples(2, False, 0.1))],
                              stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while not re.search(rb"samples from the server: \d+ rows, [\d.]+ MB \(Ctrl-C ends\)", shown):
        shown += os.read(ours, 4096)
    report.send_signal(signal.SIGINT)
    t.equal(report.wait(limit(20)), -signal.SIGINT, "the end of the report")
    os.close(ours)


main()
