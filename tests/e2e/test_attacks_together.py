# SPDX-License-Identifier: GPL-2.0-or-later
"""All attacks of another user at the same time, against three recorders of root on a machine that
compiles: a recording with stacks, a store and a flight recorder.

No file of root is deleted or changed, the sessions answer, the memory of each recorder and of the
process that reads for it has a bound, each loss is reported, and the time accounts of all three
close. Other commands of root run beside them, against attacks of their own. Five seconds; with
ASSAY_LONG=1 the test takes ten minutes and prints representative figures."""

import concurrent.futures
import contextlib
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import attacks
from attacks import EVIL_NAME, STRANGER, UNANSWERED
from calls_table import Table
from harness import ASSAY, BUILD, LONG, Skip, limit, main, run, test
from terminal import check_harmless, on_terminal

SECONDS = 600 if LONG else 5
MEMORY_BYTES = 256 << 20
HANGING = ("stack-fuse", "program", "dump", "stack-uffd")
CUT_TABLE = ("was truncated while it was read", "it was cut")
RECORDERS = ("record", "store", "ring")
# A report may need so much memory beside the recording, which it maps, and so much CPU time.
REPORT_BYTES, REPORT_CPU_S = 512000 << 10, 30
SECRET = "a line that only root may read"


def state_of(directory):
    """Owner, mode, times and content of every file, directory and link below the path."""
    found = {}
    for where, folders, files in os.walk(directory):
        for name in (".", *folders, *files):
            path = os.path.join(where, name)
            st = os.lstat(path)
            content = b""
            if name in files and not os.path.islink(path):
                with open(path, "rb") as f:
                    content = hashlib.sha256(f.read()).digest()
            found[path] = (st.st_ino, st.st_uid, st.st_mode, st.st_mtime_ns, content)
    return found


def resident(pid):
    """Bytes of a process's memory, shared pages divided among their users; 0 after its end."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
            for line in f:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) << 10
    return 0


def children(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    return []


class Target:
    """Root's files, which must not change, and the attacker's directories."""

    def __init__(self, t):
        attacks.need_root(t)
        self.t = t
        self.canaries = t.path("canaries")
        self.canaries.mkdir()
        for name in ("victim", "flight.data", "a.db", "a.db-journal", "calls"):
            (self.canaries / name).write_text(f"{name} of root\n")
        self.secret = self.canaries / "secret"
        self.secret.write_text(f"{SECRET}\n" * attacks.LEAK_LINES)
        self.secret.chmod(0o600)
        self.before = state_of(self.canaries)
        self.home = attacks.directory_of_user(t, "home")
        self.shared = t.path("shared")
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.user_assay = attacks.copy_for_user(t, ASSAY, "assay")
        self.env = {**t.runtime(), "XDG_CACHE_HOME": str(t.path("cache")), "SUDO_UID": ""}

    def unchanged(self):
        self.t.equal(state_of(self.canaries), self.before, "the files of root")


class Attackers:
    """Starts all attacks. `skipped` gets the reason of each attack that cannot run."""

    def __init__(self, t, target, stack):
        self.t, self.target, self.skipped, self.hung = t, target, {}, []
        lasting = str(2 * limit(SECONDS))
        self.plant()
        self.sampled = self.start_sampled(lasting)
        self.signal_sampled(signal.SIGSTOP)
        for what in HANGING:
            try:
                self.hung.append(attacks.hung(t, what)[0])
                stack.callback(attacks.release, t, self.hung[-1])
            except Skip as reason:
                self.skipped[what] = str(reason)
        for words in (("paths", "400"), ("sparse", "2000"), ("names", lasting),
                      ("modes", lasting), ("files", lasting)):
            attacks.neighbour(t, *words)
        self.storm()
        # It needs samples enough to be in the first rows of the report.
        evil = attacks.copy_for_user(t, t.workload("loop"), EVIL_NAME)
        attacks.start(t, evil, "1000000000")

    def start_sampled(self, lasting):
        """Programs that attack with their samples. They only take CPU time until there are recorders."""
        t = self.t
        bomb = attacks.build_bomb(t, lambda program: attacks.put_long_line_program(
            program, 30 << 20 if LONG else 10 << 20))
        leak = attacks.build_leak(t, self.target.home, [self.target.secret], pause_us=20000)
        stacks = t.workload("stacks")
        return [attacks.start(t, "nice", "-n", "19", bomb), attacks.start(t, leak),
                attacks.start(t, attacks.forged(t, stacks), "recurse", lasting, "20"),
                t.start(stacks, "recurse", lasting, "20", stdout=subprocess.DEVNULL)]

    def signal_sampled(self, number):
        for process in self.sampled:
            os.killpg(process.pid, number)

    def plant(self):
        """Journals beside stores, links in shared directories, a directory that is replaced by a
        link repeatedly, and a table that is truncated repeatedly."""
        t, home, shared = self.t, self.target.home, self.target.shared
        victim = self.target.canaries / "victim"
        for name in ("day.db", "a.db"):
            attacks.write_as_user(home / name, b"SQLite format 3\0".ljust(4096, b"\0"))
            attacks.write_as_user(home / f"{name}-journal", attacks.journal(4096, victim))
            attacks.write_as_user(home / f"{name}-wal", b"x" * 5000)
        for link in (shared / "assay", home / "link"):
            link.symlink_to(self.target.canaries)
            os.lchown(link, STRANGER, STRANGER)
        out = attacks.directory_of_user(t, "home/out")
        attacks.neighbour(t, "swap", out, self.target.canaries)
        self.tables = attacks.directory_of_user(t, "tables")
        self.tables.chmod(0o700)
        table = Table("prog", os.getpid())
        for i in range(2000):
            table.path(0, f"f{i}", calls=1, net=1)
        with open("/proc/self/stat", encoding="ascii") as f:
            birth = f.read().rpartition(")")[2].split()[19]
        path = self.tables / f"{os.getpid()}-{birth}-0.calls"
        attacks.write_as_user(path, table.bytes())
        attacks.neighbour(t, "cut", path)

    def storm(self):
        t = self.t
        names = attacks.directory_of_user(t, "storm")
        program = attacks.copy_for_user(t, t.workload("instances"), "instances")
        for i in range(50):
            (names / f"i-{i}").symlink_to(program)
        attacks.start(t, program, "storm", "1000000000", "500", "50", names)


class Recorders:
    """Root's recording, store and flight recorder, and their measured memory."""

    def __init__(self, t, target, stack):
        self.t, self.env = t, target.env
        self.data, self.ring, self.store = t.path("a.data"), t.path("ring.data"), t.path("day.db")
        self.log = open(t.path("record.err"), "w+", encoding="utf-8", errors="replace")
        self.process = t.start(ASSAY, "record", "-a", "-g", "-o", self.data,
                               stderr=self.log, env={**os.environ, **self.env})
        stack.callback(self.abandon)
        self.begun = self.both({"store": ("start", "--store", self.store, "--window", "5"),
                                "ring": ("start", "--ring=8M", "-g", "-o", self.ring)})
        self.pids = {s["name"]: s["pid"] for s in self.status()}
        self.pids["record"] = self.process.pid
        self.longest_answer = self.longest_start = self.most_together = 0
        self.most = {}

    def __call__(self, *words, **options):
        return run(ASSAY, *words, env=self.env, **options)

    def both(self, commands):
        """Runs a command for each session, at the same time; the results by name."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            begun = {name: pool.submit(self, *words, "--name", name) for name, words in commands.items()}
            return {name: future.result() for name, future in begun.items()}

    def bounded(self, *words):
        size = REPORT_BYTES + sum(os.path.getsize(path) for path in (self.data, self.ring, self.store)
                                  if path in words)
        return run("prlimit", f"--as={size}", f"--cpu={REPORT_CPU_S}", "--", ASSAY, *words, env=self.env)

    def status(self):
        return self.t.json(self("status", "--json").out)["sessions"]

    def abandon(self):
        """Ends the sessions of a test that failed."""
        for name in ("store", "ring"):
            self("stop", "--name", name, status=None)

    def measure(self):
        """Measures the memory once, queries the sessions, and runs a command that queries no
        session: its duration is that of any program on such a machine."""
        begin = time.monotonic()
        sessions = self.status()
        answered = time.monotonic()
        self("--version")
        self.longest_answer = max(self.longest_answer, answered - begin)
        self.longest_start = max(self.longest_start, time.monotonic() - answered)
        self.t.equal({s["name"]: s["state"] for s in sessions},
                     {"store": "running", "ring": "running"}, "the sessions")
        self.t.equal(self.process.poll(), None, "the recorder's end")
        sizes = {name: resident(pid) + sum(map(resident, children(pid)))
                 for name, pid in self.pids.items()}
        for name, size in sizes.items():
            self.most[name] = max(self.most.get(name, 0), size)
        self.most_together = max(self.most_together, sum(sizes.values()))

    def end(self):
        """The accounts of the sessions, by name."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        accounts = {name: self.t.json(done.out) for name, done in
                    self.both({name: ("stop", "--json") for name in ("store", "ring")}).items()}
        self.t.equal(self.t.wait(self.process), 0, "the recorder's status")
        self.took = time.monotonic() - begin
        self.log.seek(0)
        self.said = self.log.read()
        return accounts


class Others:
    """Other commands of root, each against an attack of its own, which run beside the recorders: an
    agent whose socket name a user holds, reports of a store with an endless view and of servers that
    are silent or do not end, and counted calls of a process that asks for tables without end."""

    DISK_BYTES = 32 << 20

    def __init__(self, t, target, stack):
        self.t, self.env, self.commands = t, target.env, {}
        self.disk = t.path("disk")
        self.disk.mkdir(mode=0o700)
        t.run("mount", "-t", "tmpfs", "-o", f"size={self.DISK_BYTES},mode=700", "none", self.disk)
        stack.callback(t.run, "umount", "-l", self.disk)
        holder = attacks.start(t, "/usr/bin/python3", "-c", attacks.HOLD, "0", stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        t.equal(holder.stdout.readline(), b"held\n", "what the holder of the name prints")
        self.view, self.stripped, self.tables = self.store_with_view(), self.stripped_recording(), self.handed()
        self.most_on_disk = 0

    def begin(self):
        """Starts the commands."""
        t = self.t
        silent, endless = attacks.Server(True), attacks.Server(False)
        self.start("agent", "unshare", "-m", "sh", "-c", "mount -t tmpfs none /run && exec \"$@\"", "sh",
                   ASSAY, "agent", "--store", "clickhouse://127.0.0.1:1/none", "--spool", t.path("spool"),
                   env=t.runtime("agent"))
        self.start("silent", ASSAY, "report", "--store", f"clickhouse://127.0.0.1:{silent.port}/db")
        self.start("endless", ASSAY, "report", "--store", f"clickhouse://127.0.0.1:{endless.port}/db")
        self.start("view", ASSAY, "report", "--store", self.view)
        self.start("debuginfod", ASSAY, "report", "--debuginfod", self.stripped, env={
            "XDG_CACHE_HOME": str(self.disk), "DEBUGINFOD_CACHE_PATH": str(t.path("client")),
            "DEBUGINFOD_URLS": f"http://127.0.0.1:{endless.port}"})
        self.start("greedy", ASSAY, "calls", "-q", "-o", t.path("g.calls"), "--", "python3",
                   t.write("greedy.py", attacks.GREEDY), env=self.tables)

    def start(self, name, *words, env=None):
        with open(self.t.path(f"{name}.log"), "w", encoding="utf-8") as log:
            self.commands[name] = self.t.start(*words, stdout=log, stderr=log,
                                               env={**os.environ, **self.env, **(env or {})})

    def store_with_view(self):
        """A store of a user, who has replaced a table."""
        store = self.t.path("view.db")
        recording = self.t.path("view.data")
        self.t.assay("record", "-q", "-o", recording, "--", self.t.workload("loop"), "30")
        self.t.run(self.t.workload("store_recording"), recording, store, "0.4")
        with contextlib.closing(sqlite3.connect(store)) as db:
            db.executescript(attacks.ENDLESS_VIEW)
        os.chown(store, STRANGER, STRANGER)
        return store

    def stripped_recording(self):
        program, recording = self.t.path("stripped"), self.t.path("stripped.data")
        self.t.run("strip", "--strip-all", "-o", program, self.t.workload("loop"))
        self.t.assay("record", "-q", "-o", recording, "--", program, "30")
        return recording

    def handed(self):
        directory = self.t.path("handed")
        directory.mkdir(mode=0o700)
        for name in ("calls", "tags"):
            shutil.copy(BUILD / "runtime" / f"libassay-{name}.so", self.t.directory)
        return {"ASSAY_CALLS_DIR": str(directory), "LD_LIBRARY_PATH": str(self.t.directory),
                "ASSAY_CALLS_LIBRARY": str(self.t.path("libassay-calls.so"))}

    def measure(self):
        used = os.statvfs(self.disk)
        self.most_on_disk = max(self.most_on_disk, (used.f_blocks - used.f_bfree) * used.f_frsize)
        self.t.equal(self.commands["agent"].poll(), None, "the end of the agent")

    def end(self):
        t = self.t
        self.commands["agent"].send_signal(signal.SIGTERM)
        expected = {"agent": (0, "windows wait in"), "silent": (1, "has not answered for"),
                    "endless": (1, "another program answers there"), "view": (1, "is not one of a store of assay"),
                    "debuginfod": (0, "samples"), "greedy": (1, "files ")}
        for name, (status, words) in expected.items():
            got = t.wait(self.commands[name])
            text = t.path(f"{name}.log").read_text(errors="replace")
            t.equal(got, status, f"{name}: {text}")
            t.has(text, words, name)
        t.true(self.most_on_disk < self.DISK_BYTES * 2 // 3, f"{self.most_on_disk} bytes from debuginfod")


def start_build(t):
    """Two compiler jobs that start again whenever they end."""
    t.need("cc")
    source = t.write("build/big.c", "\n".join(
        f"double f{i}(double *a, int n) {{ double s = {i}; for (int j = 0; j < n; j++) "
        f"s = s * a[j] + {i} / (a[j] + 1); return s; }}" for i in range(1500)))
    return [t.start("sh", "-c", f"while :; do cc -O2 -g -c -o {source}.{i}.o {source}; done") for i in range(2)]


def act_as_root(t, r, target, attackers):
    """Commands of root that use paths prepared by the attacker. If a link appears and disappears,
    both results are correct."""
    home, shared = target.home, target.shared
    t.has(r("start", "--store", home / "day.db", "--name", "x", status=1).err,
          "belongs to another user", "start into a planted store")
    t.has(r("record", "-q", "-o", home / "link" / "flight.data", "--", "true", status=1).err,
          "belongs to another user", "record over a link")
    t.true(r("record", "-q", "-o", home / "out" / "flight.data", "--", "true",
             status=None).status in (0, 1), "record into a directory that is swapped")
    t.has(run(ASSAY, "start", "-o", t.path("y.data"), status=1,
              env={**target.env, "XDG_RUNTIME_DIR": str(shared)}).err,
          "shared/assay is not a directory, or is a link", "start in a place with a link")
    t.has(run(ASSAY, "calls", "list", env={**target.env, "ASSAY_CALLS_DIR": str(attackers.tables)},
              status=1).err, "another user", "tables of another user")
    own = run(target.user_assay, "calls", "get", status=None, user=STRANGER,
              env={"ASSAY_CALLS_DIR": str(attackers.tables)}, cwd=home)
    if own.status:
        t.equal(own.status, 1, f"a table that is cut while it is read: {own}")
        t.true(any(part in own.err for part in CUT_TABLE), f"it is named: {own}")
    else:
        t.has(own.out, "prog (pid", "a table that was whole when it was read")
    target.unchanged()


def check_books(t, name, report):
    """Recorded and missing ticks add up to the ticks that were due, and the terms to the total
    time."""
    ledger = report["ledger"]
    ticks = ledger["ticks"]
    t.true(ledger["closed"], f"{name}: the account closes")
    t.equal(ticks["all"] + ticks["missing"], ticks["due"], f"{name}: ticks that were due")
    t.equal(ticks["user"] + ticks["kernel"] + ticks["irq"] + ticks["idle"], ticks["all"],
            f"{name}: ticks that came")
    t.equal(ticks["missing_busy"] + ticks["missing_idle"], ticks["missing"],
            f"{name}: ticks that did not come")
    t.between(ticks["lost"], 0, ticks["missing"], f"{name}: ticks that were dropped")
    whole = ledger["wall_ns"] * ledger["cpus"]
    terms = sum(ledger[key] for key in ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns", "steal_ns",
                                        "unobserved_ns", "residual_ns"))
    t.near(terms, whole, 1000, f"{name}: sum of the terms")
    print(f"# {name}: {report['recordings'][0]['samples']} samples, "
          f"{report['recordings'][0].get('lost_records')} records dropped, ticks {ticks}, "
          f"residual {ledger['residual_ns'] / whole:.4%}", flush=True)


def check_reported(t, name, words, skipped):
    """Each loss that an attack causes is reported."""
    with_stacks = name != "store"
    parts = ["longer than 4095 bytes", "mappings were left out"]
    if with_stacks:
        parts += ["more unwind information than assay reads", "changed so often"]
    for part in parts:
        t.has(words, part, name)
    if len(skipped) < len(HANGING):
        t.true(UNANSWERED.search(words), f"{name} says nothing on reads not answered: {words}")


def check_counts(t, accounts, said):
    """The report has each count that the session had at its end, and no smaller number."""
    for name, account in accounts.items():
        for sentence in account["notes"]:
            number, text = sentence.partition(" ")[::2]
            if not number.isdigit() or "with too many of them" not in text:
                continue
            reported = [int(n.split()[0]) for n in said[name] if "with too many of them" in n and
                        "code in them has no names" in n]
            t.true(reported and max(reported) >= int(number), f"{name}: {sentence} in {said[name]}")
            print(f"# {name}: {sentence}", flush=True)


def check_stacks(t, report):
    """Another file claims the build-id of this program: its stacks are those of the program."""
    found = {row["function"]: row["total_samples"] for row in report["functions"]
             if row["image"].endswith("/stacks")}
    t.true(found["spin_leaf"] > 0, "the program has samples")
    for caller in ("recurse", "turn", "main"):
        t.true(found.get(caller, 0) >= found["spin_leaf"] * 0.95, f"{caller} in {found}")


def end_all(processes):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def print_figures(r, rounds, attackers, accounts):
    for what, reason in attackers.skipped.items():
        print(f"# not part of it: {what}: {reason}")
    most = ", ".join(f"{kind} {size >> 20} MB" for kind, size in sorted(r.most.items()))
    print(f"# {rounds} answers of status, the longest {r.longest_answer:.2f} s; the longest of "
          f"--version {r.longest_start:.2f} s")
    gaps = ", ".join(f"{name} {a['read_gap_max_ns'] / 1e9:.2f} s" for name, a in accounts.items())
    print(f"# the longest time between two reads of the buffers: {gaps}")
    print(f"# memory at most {r.most_together >> 20} MB together; each with its reader: {most}")
    print(f"# the end of all three took {r.took:.2f} s", flush=True)


@test
def all_attacks_together(t):
    target = Target(t)
    with contextlib.ExitStack() as stack:
        others = Others(t, target, stack)
        attackers = Attackers(t, target, stack)
        r = Recorders(t, target, stack)
        build = start_build(t)
        attackers.signal_sampled(signal.SIGCONT)
        others.begin()
        end = time.monotonic() + SECONDS
        rounds = 0
        while time.monotonic() < end or rounds < 6:
            r.measure()
            others.measure()
            if not rounds % 50:
                act_as_root(t, r, target, attackers)
            rounds += 1
            time.sleep(0.2)
        end_all([*build, *attackers.sampled])
        accounts = r.end()
        # Reports are read on a quiet machine.
        end_all(set(t.processes) - {*attackers.hung, *others.commands.values()})
        others.end()
    print_figures(r, rounds, attackers, accounts)
    reports = {name: t.json(r.bounded("report", "--json", *words).out) for name, words in
               (("record", (r.data,)), ("ring", (r.ring,)), ("store", ("--store", r.store)))}
    shown = on_terminal(t, "report", "--full", r.data, env=r.env)
    target.unchanged()
    said = {"record": reports["record"]["warnings"], "ring": reports["ring"]["warnings"],
            "store": [r.begun["store"].err, *accounts["store"]["notes"],
                      *reports["store"]["warnings"]]}
    for name in RECORDERS:
        check_books(t, name, reports[name])
        check_reported(t, name, " ".join(" ".join(said[name]).split()), attackers.skipped)
    check_counts(t, accounts, {name: reports[name]["warnings"] for name in accounts})
    check_harmless(t, shown, "the report")
    source = r.bounded("annotate", "--json", "-i", r.data, "leak_lines").out
    t.lacks(source, SECRET, "annotate")
    t.has(t.json(source)["left_out"], str(target.secret), "what annotate left out")
    check_stacks(t, t.json(r("report", "--json", "--children", "--comm", "stacks", r.data).out))
    for name, size in r.most.items():
        t.true(size < MEMORY_BYTES, f"memory of {name}: {size >> 20} MB")


main()
