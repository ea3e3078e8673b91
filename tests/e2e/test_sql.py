# SPDX-License-Identifier: GPL-2.0-or-later
"""sql: the sums of queries on a recording or a store equal the figures of the report. `assay report
--json` of the same file is the truth for the tables.

The output is read by python's csv, json and sqlite3, and by sqlite3's shell if it is installed.
"""
import atexit
import collections
import contextlib
import csv
import functools
import hashlib
import io
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import sqlite3
import stat
import tempfile
import time

from harness import ASSAY, BUILD, Failure, main, run, test, test_of_shares
from time_limit import limit

NAME = "a\033[31m\nb"  # of a program that is controlled through a terminal


@functools.lru_cache(None)
def recording(_attempt=0):
    """A loop, then other programs, one of them in the kernel, with call chains; recorded once. 900
    million dependent multiplications take half a second of CPU time or more on any machine."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    loop, call, faults = (str(BUILD / "tests" / "workloads" / name)
                          for name in ("loop", "call", "faults"))
    shutil.copy(loop, directory / NAME)
    run(ASSAY, "record", "-g", "-F", "997", "-o", directory / "a.data", "--", "sh", "-c",
        '"$1" 400; "$2" 100; "$3" 100; "$4" "$5"', "sh", loop, directory / NAME, call, faults,
        directory / "pages")
    return directory / "a.data"


def rows(t, file, query, *options):
    return t.json(t.assay("sql", "--format", "json", *options, file, query).out)


def by_function(report):
    """Samples by function and image, from a report's JSON: its rows are separate for each mode."""
    sums = collections.Counter()
    for row in report["functions"]:
        sums[row["function"], os.path.basename(row["image"])] += row["samples"]
    return sums


def check_against_report(t, file, report, functions):
    own = {(row["function"], row["image"]): row["samples"]
           for row in rows(t, file, "SELECT function, image, sum(samples) AS samples "
                                    "FROM by_function GROUP BY 1, 2 HAVING sum(samples)")}
    theirs = by_function(report)
    for key in functions or theirs:
        if theirs[key]:
            t.equal(own.get(key), theirs[key], f"samples of {key}")
    t.equal(sum(own.values()), report["event"]["samples"], "all samples of the main event")
    processes = {(row["name"], row["instance"]): row
                 for row in rows(t, file, "SELECT * FROM by_process")}
    listed = {(row["name"], row["instance"]): row for row in report["processes"]}
    t.equal(set(processes), set(listed), "processes")
    for (name, instance), row in listed.items():
        mine = processes[name, instance]
        # In the report's JSON, kernel_samples include the idle samples.
        t.equal((mine["user"], mine["kernel"] + mine["idle"], mine["idle"], mine["interrupts"]),
                (row["user_samples"], row["kernel_samples"], row["idle_samples"],
                 row["interrupt_samples"]), f"user, kernel, idle samples and hits of {name!r}")
        t.near(mine["share"], row["share"], 1e-8, f"share of {name!r}")
    modes = {row["mode"]: row["samples"] for row in rows(t, file, "SELECT * FROM by_mode")}
    for mode in ("user", "idle"):
        t.equal(modes.get(mode, 0), sum(row[f"{mode}_samples"] for row in report["processes"]),
                f"{mode} samples")
    t.equal(modes.get("irq", 0), sum(row["interrupt_samples"] for row in report["processes"]),
            "samples in interrupts")
    for view in ("by_function", "by_process", "by_mode", "by_cpu", "by_thread", "by_application",
                 "by_application_address", "by_cgroup"):
        sums = rows(t, file, f"SELECT sum(samples) AS samples, sum(share) AS share FROM {view}")[0]
        t.equal(sums["samples"], report["event"]["samples"], f"samples in {view}")
        t.near(sums["share"], 1, 1e-9, f"shares in {view}")


@test
def sums_are_those_of_the_report(t):
    report = t.report("--percent-limit", "0", "--process-limit", "0", recording())
    check_against_report(t, recording(), report, None)
    top = rows(t, recording(), "SELECT * FROM by_function LIMIT 1")[0]
    t.equal((top["function"], top["image"]), ("loop_body", "loop"), "the function with most time")
    one = rows(t, recording(), "SELECT * FROM sessions JOIN hosts ON hosts.id = host")[0]
    t.equal((one["event"], one["ended"], one["name"]),
            ("cpu-clock", "stopped", report["recordings"][0]["hostname"]), "the session")


@test
def stacks_add_up_to_functions(t):
    text = rows(t, recording(), "SELECT stack_text(stack) AS text, leaf(stack) AS leaf, depth "
                                "FROM samples JOIN stacks ON stacks.id = stack "
                                "WHERE leaf(stack) = 'loop_body' ORDER BY samples DESC LIMIT 1")[0]
    t.true(text["text"].endswith(";main;loop_body"), f"main called it: {text}")
    t.equal(text["text"].count(";") + 1, text["depth"], "functions in the text")


@test
def what_was_cut_short_has_the_sums_of_its_report(t):
    """The names of events are at the end of the file: without them, the event that checks the clock
    is an unnamed event."""
    whole = recording().read_bytes()
    cut = t.path("cut.data")
    cut.write_bytes(whole[:len(whole) * 2 // 3])
    report = t.report(cut)
    names = [event["name"] for event in report["events"]]
    t.equal(len(set(names)), len(names), f"names of events: {names}")
    sums = rows(t, cut, "SELECT event, sum(samples) AS samples FROM samples GROUP BY event")
    t.equal({row["event"]: row["samples"] for row in sums},
            {event["name"]: event["samples"] for event in report["events"] if event["samples"]},
            "samples by event")
    main_event = rows(t, cut, "SELECT sum(samples) AS samples FROM by_function")[0]
    t.equal(main_event["samples"], report["event"]["samples"], "samples of the main event")


@test
def windows_part_the_samples(t):
    for seconds, least in (("0.05", 8), ("1", 1)):
        found = rows(t, recording(), "SELECT (SELECT sum(samples) FROM windows) AS windows, "
                     "(SELECT sum(samples) FROM samples) AS samples, (SELECT count(*) FROM "
                     "windows) AS count, (SELECT max(end_ns - start_ns) FROM windows) AS longest",
                     "--window", seconds)[0]
        t.equal(found["windows"], found["samples"], f"samples in windows of {seconds} s")
        t.true(found["count"] >= least, f"windows of {seconds} s: {found}")
        if found["count"] > 1:
            t.equal(found["longest"], int(float(seconds) * 1e9), "the length of a window")
    minutes = rows(t, recording(), "SELECT sum(samples) AS samples FROM by_minute")[0]
    t.equal(minutes["samples"], t.report(recording())["event"]["samples"], "samples by minute")


@test_of_shares
def a_difference_names_what_changed(t):
    """The loop ran first: it has all samples of the windows up to its last one, and none after it."""
    ends = rows(t, recording(t.attempt), "SELECT min(time_ns) AS a, max(time_ns) AS b, "
                "(SELECT max(time_ns) FROM samples JOIN processes p ON p.id = process "
                "WHERE p.name = 'loop') AS last FROM samples", "--window", "0.02")[0]
    a, b, last = ends["a"], ends["b"], ends["last"]
    t.true(a < last < b, f"there are windows of both: {ends}")
    found = rows(t, recording(t.attempt), "SELECT * FROM diff("
                 f"{a}, {last + 1}, {last + 1}, {b + 1}) "
                 "ORDER BY abs(change) DESC LIMIT 1", "--window", "0.02")[0]
    # Before `last`, the loop has nine of ten samples. After it, the loop has none, and call_inner
    # has two of three.
    t.equal(found["function"], "loop_body", "what changed most")
    t.true(found["change"] < -0.8 and found["beyond_chance"] == 1, f"it is gone: {found}")
    same = rows(t, recording(t.attempt), f"SELECT max(abs(change)) AS most, sum(beyond_chance) AS beyond "
                f"FROM diff({a}, {b}, {a}, {b})")[0]
    t.equal((same["most"], same["beyond"]), (0, 0), "a stretch against itself")


@test
def forms_hold_the_same_rows(t):
    query = ("SELECT name, pid, share, NULL AS missing, '' AS empty, 'a\"b,c' || char(10) AS odd "
             "FROM by_process ORDER BY pid, instance")
    objects = rows(t, recording(), query)
    text = run(ASSAY, "sql", "--format", "csv", recording(), query, text=False).out
    lines = list(csv.reader(io.StringIO(text.decode(), newline="")))
    t.equal(lines[0], list(objects[0]), "names of columns")
    t.equal(len(lines) - 1, len(objects), "rows")
    for line, row in zip(lines[1:], objects):
        t.equal((line[0], int(line[1]), float(line[2]), line[3:]),
                (row["name"].replace("\033", "\\x1b"), row["pid"], row["share"], ["", "", 'a"b,c\n']), "a row of csv")
        t.true(row["missing"] is None and row["empty"] == "", "NULL is null, and no text")
        t.true(isinstance(row["pid"], int) and isinstance(row["share"], float), "numbers")
    t.true(text.endswith(b"\n") and b'"",' in text, "lines end as those of other Unix tools do")
    t.true(b"\r" not in text, "no carriage return")
    table = t.assay("sql", recording(), query).out.splitlines()
    t.equal(len(table), len(objects) + 1, "lines of the table")
    twice = rows(t, recording(), "SELECT 1 AS a, 2 AS a")
    t.equal(twice, [{"a": 1, "a_2": 2}], "a name that comes twice")
    t.equal(rows(t, recording(), "SELECT * FROM calls"), [], "no rows")
    zeros = rows(t, recording(), "SELECT char(0, 65, 0) AS text, char(0) AS zero")
    t.equal(zeros, [{"text": "\0A\0", "zero": "\0"}], "a text with bytes of 0, in json")


@test
def a_name_does_not_drive_the_terminal(t):
    names = [row["name"] for row in rows(t, recording(), "SELECT name FROM by_application")]
    t.true(NAME in names, f"the name as it is, in json: {names}")
    out = t.assay("sql", recording(), "SELECT name FROM by_application").out
    t.has(out, r"a\x1b[31m\nb", "the table")
    t.lacks(out, "\033", "the table")
    bad = t.assay("sql", recording(), "SELECT 'x\033[31m", status=1).err
    t.lacks(bad, "\033", "the error")


@test
def statements_come_from_standard_input(t):
    out = t.assay("sql", "--format", "csv", recording(), input="SELECT 1;\n\nSELECT 2 AS b").out
    t.equal(out, "1\n1\nb\n2\n", "rows of two statements")
    t.equal(t.assay("sql", recording(), input="").out, "", "nothing asked")
    mixed = "-- what there is\n.mode csv\r\nSELECT 'a\n.tables' AS x;\n.mode json\nSELECT 1 AS one\n"
    out = t.assay("sql", recording(), input=mixed).out
    t.true(out.startswith('x\n"a\n.tables"\n'), f"what looks like a dot command in a text: {out}")
    t.equal(json.loads(out[out.index("["):]), [{"one": 1}], "another form from there on")
    t.equal(t.assay("sql", recording(), input=".quit\nSELECT 1;").out, "", ".quit ends it")
    bad = t.assay("sql", recording(), input="SELECT 1;\n.mode csv\n\nSELECT absent", status=1).err
    if sqlite3.sqlite_version_info >= (3, 38):
        t.has(bad, "(line 4, column 8)", "the place of the error")


@test
def impossible_queries_are_refused(t):
    bad = t.assay("sql", recording(), "SELECT 1;\nSELECT absent FROM samples", status=1).err
    t.has(bad, "no such column: absent", "the error")
    if sqlite3.sqlite_version_info >= (3, 38):
        t.has(bad, "(line 2, column 8)", "the error")
    t.has(t.assay("sql", t.path("none"), "SELECT 1", status=1).err, "there is no file", "the error")
    text = t.write("text", "hello")
    t.has(t.assay("sql", text, "SELECT 1", status=1).err, "is not a recording", "the error")
    for words in ((), (recording(), "SELECT 1", "SELECT 2"), ("--format", "xml", recording(), "x"),
                  ("--window", "-1", recording(), "SELECT 1"), ("-",)):
        t.assay("sql", *words, status=2, input="")
    broken = t.assay("sql", "--format", "json", recording(),
                     "SELECT abs(-9223372036854775807 - column1) FROM (VALUES (0), (1))", status=1)
    try:
        json.loads(broken.out)
        t.fail(f"what was cut short looks whole: {broken.out}")
    except ValueError:
        pass


@test
def dot_commands_are_questions_too(t):
    tables = t.assay("sql", "--format", "csv", recording(), ".tables").out
    t.has(tables, "by_function,view\n", ".tables")
    schema = t.assay("sql", recording(), ".schema by_function").out
    t.true(schema.startswith("-- function, image, samples, weight_ns, share\nCREATE VIEW by_function"),
           schema)
    one = t.assay("sql", "--format", "json", recording(), "SELECT 1 AS one").out
    t.true(one.endswith("]\n") and not one.endswith("\n\n"), f"JSON ends once: {one!r}")
    t.has(t.assay("sql", recording(), ".absent", status=1).err, "there is no .absent; .help lists",
          "the error")
    t.has(t.assay("sql", recording(), "SELECT * FROM by_functon", status=1).err,
          "no such table: by_functon; did you mean by_function?", "the error")


@test
def nothing_is_written_or_opened(t):
    before = hashlib.sha256(recording().read_bytes()).digest()
    other = t.path("other.db")
    for query, words in (
            (f"ATTACH '{other}' AS x", "ATTACH is refused"),
            (f"VACUUM INTO '{other}'", "refused"),
            ("PRAGMA writable_schema = 1", "PRAGMA writable_schema is refused"),
            ("SELECT load_extension('x')", "load_extension() is refused"),
            ("CREATE TABLE x (a)", "writing is refused"),
            ("DROP TABLE samples", "writing is refused")):
        t.has(t.assay("sql", recording(), query, status=1).err, words, query)
    t.true(not other.exists(), "nothing was opened")
    t.equal(hashlib.sha256(recording().read_bytes()).digest(), before, "the recording")
    t.equal(rows(t, recording(), "CREATE TEMP TABLE own (a); INSERT INTO own VALUES (7); "
                                 "SELECT a FROM own"), [{"a": 7}], "a table of one's own")


@test
def an_export_is_a_database_for_all(t):
    out = t.path("out.db")
    t.assay("export", "--to", "sqlite", "-o", out, recording())
    t.equal(stat.S_IMODE(out.stat().st_mode), 0o600, "the file's mode")
    db = sqlite3.connect(out)
    t.equal(db.execute("PRAGMA integrity_check").fetchone()[0], "ok", "its integrity")
    for name, in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
                            ).fetchall():
        mine = db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        theirs = rows(t, recording(), f"SELECT count(*) AS n FROM {name}")[0]["n"]
        t.equal(mine, theirs, f"rows of {name}")
    query = "SELECT function, image, samples FROM by_function ORDER BY 1, 2, 3"
    t.equal(db.execute(query).fetchall(),
            [tuple(row.values()) for row in rows(t, recording(), query)], "functions")
    db.close()
    if shutil.which("sqlite3"):
        text = run("sqlite3", out, "SELECT function FROM by_function LIMIT 1").out
        t.equal(text, "loop_body\n", "as sqlite3 reads it")
    t.has(t.assay("export", "--to", "sqlite", recording(), status=2).err, "-o", "the error")
    t.assay("export", "--to", "sqlite", "-o", t.path("x.db"), "--comm", "loop", recording(),
            status=2)
    t.assay("export", "--to", "sqlite", "-o", t.path("no/x.db"), recording(), status=1)
    left = sorted(path.name for path in t.directory.iterdir())
    t.equal(left, ["out.db"], "files that are left")


def check_time(t, file, where=""):
    """The samples, the time without a sample, and the time without switch records are all the
    time of each window and CPU. Returns the time."""
    found = rows(t, file, f"""
        WITH own AS (SELECT window, cpu, sum(weight) AS ns, count(*) AS n,
                            sum(CASE WHEN mode = 'idle' THEN weight ELSE 0 END) AS idle_ns
                     FROM samples WHERE event IN (SELECT event FROM sessions) GROUP BY 1, 2)
        SELECT l.wall_ns, coalesce(own.ns, 0) AS ns, l.unknown_ns, l.period_ns,
               (l.due_busy - l.seen_busy) * l.period_ns AS missing_ns, l.switches,
               l.idle_ns - coalesce(own.idle_ns, 0) AS idle_rest, coalesce(own.n, 0) AS n
        FROM ledger l JOIN windows w ON w.id = l.window
        LEFT JOIN own ON own.window = l.window AND own.cpu = l.cpu {where}""")
    for row in found:
        t.between(row["idle_rest"], 0, row["n"], f"idle time without rows: {row}")
        # The ends of each run of busy time are not at a tick.
        rest = row["wall_ns"] - row["ns"] - row["unknown_ns"] - row["missing_ns"]
        t.between(rest, -(2 + row["switches"] / 2) * row["period_ns"],
                  (2 + row["switches"] / 2) * row["period_ns"], f"the rest: {row}")
    return sum(row["wall_ns"] for row in found)


@test
def a_store_answers_as_a_report_of_it(t):
    store = t.path("s.db")
    env = t.runtime()
    t.assay("start", "--store", store, "--window", "1", "-F", "199", env=env)
    try:
        t.run(t.workload("loop"), "700")
        t.until(lambda: rows(t, store, "SELECT count(*) AS n FROM windows")[0]["n"],
                "the first window is in the store")
    finally:
        t.assay("stop", env=env)
    report = t.report("--percent-limit", "0", "--process-limit", "0", "--store", store)
    check_against_report(t, store, report, [("loop_body", "loop")])
    ledger = report["ledger"]
    t.near(check_time(t, store), ledger["wall_ns"] * ledger["cpus"], 1e4, "elapsed x CPUs")
    t.true(rows(t, store, "SELECT count(*) AS n FROM windows")[0]["n"] >= 2, "windows")
    t.has(t.assay("sql", store, "DELETE FROM sample", status=1).err, "writing is refused",
          "the error")
    t.assay("sql", "--window", "1", store, "SELECT 1", status=2)
    out = t.path("out.db")
    t.assay("export", "--to", "sqlite", "-o", out, store)
    db = sqlite3.connect(out)
    t.equal(db.execute("SELECT sum(samples) FROM samples").fetchone()[0],
            rows(t, store, "SELECT sum(samples) AS n FROM samples")[0]["n"], "exported samples")
    db.close()


class Terminal:
    """`assay sql` on a terminal of the test."""

    def __init__(self, t, *words, **env):
        self.t, self.out = t, ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update({"TERM": "dumb", "LC_ALL": "C.UTF-8", **env})
            os.execv(ASSAY, [ASSAY, "sql", *map(str, words)])

    def until(self, text, seconds=20):
        """The new output, up to `text`."""
        end = time.monotonic() + limit(seconds)
        while text not in self.out:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise Failure(f"waited for {text!r}: {self.out!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.out += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        seen, _, self.out = self.out.partition(text)
        return seen

    def type(self, text):
        os.write(self.fd, text.encode())

    def run(self, statement):
        """Types a statement that takes long, and waits until it has used 50 ms of CPU time."""
        def ticks():
            fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])
        least = ticks() + 5
        self.type(statement + "\n")
        self.t.until(lambda: ticks() >= least, f"{statement} runs")

    def ask(self, text, answer):
        self.type(text)
        self.until(answer)
        return self.until("assay> ")

    def end(self, seconds=20, keys=""):
        """Returns the exit status. The remaining output is read, so that the program can end.
        `keys` are typed repeatedly: between a prompt and the editor's change of the terminal's
        mode, the terminal itself interprets Ctrl-D."""
        end = time.monotonic() + limit(seconds)
        while True:
            with contextlib.suppress(OSError):
                self.type(keys)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise Failure(f"the shell goes on: {self.out!r}")
            with contextlib.suppress(OSError):
                if select.select([self.fd], [], [], 0.1)[0]:
                    self.out += os.read(self.fd, 65536).decode(errors="replace")


@test
def a_shell_runs_its_questions_in_turn(t):
    shell = Terminal(t, recording(), XDG_STATE_HOME=str(t.directory))
    shell.until("assay> ")
    shell.type("SELECT 40 + 2\n")
    shell.until("...> ")
    shell.ask(" AS answer; -- done\n", "    42")
    shell.ask(".mode csv\n", "\n")
    shell.ask("SELECT 'x' AS a, 1 AS b;\n", "a,b")
    shell.ask(".schema hosts\n", "release TEXT")
    shell.ask(".tables\n", "by_function")
    shell.ask(".mode xml\n", "table,csv,json")
    shell.ask(".nothing\n", "there is no .nothing")
    shell.ask("SELECT absent;\n", "no such column")
    # Ctrl-C ends a statement that would never end, and discards one that is being typed.
    shell.run("WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
              "SELECT max(x) FROM c;")
    shell.until("FROM c;")
    shell.ask("\x03", "interrupted")
    shell.type("SELECT 'half")
    shell.until("half")
    shell.ask("\x03", "\n")
    shell.ask("SELECT 6 * 7 AS whole;\n", "42")
    shell.type(".quit\n")
    t.equal(shell.end(), 0, "the exit status")
    history = t.directory / "assay" / "sql_history"
    t.equal(stat.S_IMODE(history.stat().st_mode), 0o600, "the history's mode")
    t.equal(stat.S_IMODE(history.parent.stat().st_mode), 0o700, "its directory's mode")
    lines = history.read_text().splitlines()
    t.equal((lines[0], lines[-1]), ("SELECT 40 + 2", ".quit"), "first and last line")
    t.true("SELECT 'half" not in lines, "what was not finished is not kept")


@test
def a_shell_has_the_history_of_earlier_shells(t):
    (t.directory / "assay").mkdir(0o700)
    history = t.write("assay/sql_history", "SELECT 6 * 7 AS before;\n")
    words = run("ldd", ASSAY, status=None).out
    shell = Terminal(t, recording(), XDG_STATE_HOME=str(t.directory), TERM="xterm")
    shell.until("assay> ")
    if "libedit" in words:
        shell.type("\x10")  # Ctrl-P: the line before
        shell.until("before;")
        shell.ask("\n", "42")
    t.equal(shell.end(keys="\x04"), 0, "the exit status at the end of input")
    t.has(history.read_text(), "before;", "the history")
    t.equal(stat.S_IMODE(history.stat().st_mode), 0o600, "its mode, which was wider")


@test
def end_of_input_typed_while_a_statement_runs_ends_the_shell(t):
    shell = Terminal(t, recording(), XDG_STATE_HOME=str(t.directory), TERM="xterm")
    shell.until("assay> ")
    shell.run("WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000000) "
              "SELECT max(x) FROM c;")
    shell.until("FROM c;")
    shell.type("\x04")
    t.equal(shell.end(), 0, "the exit status")
    t.has(shell.out, "2000000", "the answer, which comes first")


@test
def history_follows_no_link(t):
    (t.directory / "assay").mkdir(0o700)
    other = t.write("other", "mine\n")
    (t.directory / "assay" / "sql_history").symlink_to(other)
    shell = Terminal(t, recording(), XDG_STATE_HOME=str(t.directory))
    shell.until("assay> ")
    shell.ask("SELECT 1;\n", "1")
    shell.type(".quit\n")
    t.equal(shell.end(), 0, "the exit status")
    t.equal(other.read_text(), "mine\n", "the file behind the link")


main()
