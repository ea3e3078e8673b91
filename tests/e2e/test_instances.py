# SPDX-License-Identifier: GPL-2.0-or-later
"""Every instance by name: reused pids, programs in one pid, threads, the kernel's own threads
and containers are distinguished, and no process of a storm is missing."""

import collections
import csv
import io
import os
import pathlib
import re
import sqlite3
import subprocess
import time

import stores
from harness import ASSAY, BUILD, LONG, main, run, test, test_of_shares
from otel_context import FAULTS, publish, waiting_page
from sessions import sessions

Instance = collections.namedtuple("Instance", "name instance pid parent start end kernel cgroup")

COLUMNS = "name, instance, pid, parent, start_ns, end_ns, kernel, cgroup"
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def instances(t, path, where="1"):
    """Rows of the table of processes, oldest first; figures are converted to numbers."""
    out = t.assay("sql", path, f"select {COLUMNS} from processes where {where} order by start_ns",
                  "--format", "csv").out
    found = []
    for row in csv.DictReader(io.StringIO(out)):
        values = [int(v) if re.fullmatch(r"-?\d+", v) else v for v in row.values()]
        found.append(Instance(*values))
    return found


def links(t, count):
    """A directory with the generator under `count` names, i-0 and so on."""
    directory = t.path("links")
    directory.mkdir()
    first = directory / "i-0"
    first.write_bytes(pathlib.Path(t.workload("instances")).read_bytes())
    first.chmod(0o755)
    for i in range(1, count):
        os.link(first, directory / f"i-{i}")
    return f"{directory}/"


def storm_words(t, *words):
    """A storm's command; it prints its pid first."""
    return ["sh", "-c", 'echo $$; exec "$@"', "sh", t.workload("instances"), "storm", *words]


def of_storm(t, path, text):
    """The report of the generator and the recorded children; other processes may have
    children with such names, too."""
    pid, _, lines = text.partition("\n")
    return truth(lines), instances(t, path, "name like 'i-%' and parent in (select id from "
                                   f"processes where pid = {int(pid)})")


def truth(text):
    """The report of the generator: (name, pid) of each process, with its count."""
    return collections.Counter((name, int(pid))
                               for pid, name, _ in (line.split() for line in text.splitlines()))


def told(found):
    return collections.Counter((i.name, i.pid) for i in found)


def need_root(t, what):
    if os.geteuid():
        t.skip(f"only root may {what}")


def check_numbers(t, found):
    """The instances of one name are numbered 1, 2, ... without gaps."""
    numbers = collections.defaultdict(list)
    for i in found:
        numbers[i.name].append(i.instance)
    for name, given in numbers.items():
        t.equal(sorted(given), list(range(1, len(given) + 1)), f"the instances of {name}")


@test
def one_pid_again_and_again_is_many_instances(t):
    need_root(t, "choose pids")
    t.need("unshare")
    program, made = t.workload("instances"), links(t, 3)
    args = ["unshare", "--pid", "--fork", "--mount-proc"]
    if run(*args, "true", status=None).status:
        t.skip("no pid namespace can be made here")
    generated = []
    script = f"{program} reuse 300 3 {made} && {program} reuse 300 3 {made}"
    result = run(*args, ASSAY, "record", "-o", t.path("a.data"), "--", "sh", "-c", script)
    generated = truth(result.out)
    t.equal(len(generated), 3, "names")
    found = [i for i in instances(t, t.path("a.data")) if i.name.startswith("i-")]
    t.equal(told(found), generated, "who had the pid")
    t.equal({i.pid for i in found}, {300}, "the pid")
    t.equal([(i.name, i.instance) for i in found],
            [(f"i-{n}", number) for number in (1, 2) for n in range(3)], "their order")
    for before, after in zip(found, found[1:]):
        t.true(before.end <= after.start, f"{before} ended before {after} began")


@test_of_shares
def in_a_pid_namespace_outside_processes_are_not_taken_for_idle(t):
    need_root(t, "make a pid namespace")
    t.need("unshare")
    args = ["unshare", "--pid", "--fork", "--mount-proc"]
    if run(*args, "true", status=None).status:
        t.skip("no pid namespace can be made here")
    for _ in range(os.cpu_count()):
        t.start("sh", "-c", "while :; do :; done")
    result = run(*args, ASSAY, "record", "-a", "-o", t.path("a.data"), "--", "sh", "-c",
                 "head -n 1 /proc/stat; sleep 0.5; head -n 1 /proc/stat")
    t.has(result.err, "This is a container with its own process ids")
    t.has(t.assay("report", "--full", t.path("a.data")).out, "its own process ids")
    ledger = t.report(t.path("a.data"))["ledger"]
    t.true(ledger["residual_ns"] > -ledger["wall_ns"] / 20, f"time is counted twice: {ledger}")
    # How many CPUs were busy, by the counters of the kernel: a CPU quota may leave some idle.
    first, last = ([int(word) for word in line.split()[1:9]] for line in result.out.splitlines())
    spent = [b - a for a, b in zip(first, last)]
    user, ticks = (spent[0] + spent[1]) / max(sum(spent), 1), ledger["ticks"]
    t.true(user > 0.01, f"no process is busy: {spent}")
    t.true(ticks["user"] > user / 2 * ticks["all"], f"{user} of the time are user's: {ticks}")


@test
def a_program_with_a_reused_pid_is_another_instance(t):
    t.assay("record", "-o", t.path("a.data"), "--", "sh", "-c",
            f"exec sh -c 'exec {t.workload('short')} 2000'")
    found = instances(t, t.path("a.data"))
    names = [(i.name, i.instance) for i in found][-3:]
    t.equal(names, [("sh", 1), ("sh", 2), ("short", 1)], "programs of the process")
    t.equal(len({i.pid for i in found[-3:]}), 1, "their pids")
    t.equal(found[-3].end, found[-2].start, "where one ends the next begins")


@test
def threads_have_their_names_and_processes_theirs(t):
    t.assay("record", "-o", t.path("a.data"), "--", t.workload("instances"), "threads", 5)
    out = t.assay("sql", t.path("a.data"),
                  "select threads.name, processes.name, instance from threads join processes on "
                  "processes.id = process where processes.name = 'instances'", "--format",
                  "csv").out
    rows = sorted(out.split()[1:])
    t.equal(rows, sorted([f"t-{i},instances,1" for i in range(5)] + ["instances,instances,1"]),
            "threads")


@test
def a_child_that_names_itself_is_known_by_that(t):
    result = t.assay("record", "-o", t.path("a.data"), "--", t.workload("instances"), "rename", 20)
    found = instances(t, t.path("a.data"), "name like 'ri-%'")
    t.equal(told(found), truth(result.out), "names")
    t.equal({i.instance for i in found}, {1}, "numbers")
    lines = t.report("-i", t.path("a.data"), "--sort", "instance", "--percent-limit", "0")["rows"]
    for row in lines:
        if row["process"].startswith("ri-"):
            t.equal((row["process"], row["pid"]) in truth(result.out), True, f"{row}")


def processes_now():
    """The pids of kernel threads, by their flag PF_KTHREAD, and the pids of all other processes."""
    kernel, others = set(), set()
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        flags = int(text.rpartition(")")[2].split()[6])
        (kernel if flags & 0x200000 else others).add(int(stat.parent.name))
    return kernel, others


@test
def kernel_threads_are_distinguished(t):
    before, others = processes_now()
    if not before:
        t.skip("the kernel's threads are not to be seen here")
    need_root(t, "record the machine")
    t.assay("record", "-a", "-o", t.path("a.data"), "--", t.workload("instances"), "burn", 20)
    kernel, others_after = processes_now()
    found = instances(t, t.path("a.data"))
    told_kernel = {i.pid for i in found if i.kernel}
    # Processes that exist before and after the recording existed all the time; others start and
    # exit at any moment.
    t.equal(before & kernel - told_kernel, set(),
            "threads of the kernel that are not known as such")
    t.equal(others & others_after & told_kernel, set(), "processes that are taken for such threads")
    for i in found:
        t.true(not i.name.startswith("instances") or not i.kernel, f"{i} is one")


def own_cgroups():
    """A directory for cgroups whose numbers samples contain, or None."""
    for place in (CGROUPS, CGROUPS / "unified"):
        if (place / "cgroup.procs").exists() and (place / "cgroup.controllers").exists():
            return place
    return None


class Cgroups:
    """Cgroups of the test, removed with the object."""

    def __init__(self, t, *names):
        place = own_cgroups()
        if not place:
            t.skip("no cgroup2 is mounted")
        self.made = []
        try:
            for name in names:
                self.made.append(place / f"assay-{os.getpid()}-{name}")
                self.made[-1].mkdir()
        except OSError as error:
            self.made.pop()
            self.remove()
            t.skip(f"no cgroup can be made here: {error}")

    def __enter__(self):
        return [f"/{path.name}" for path in self.made], self.made

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for path in self.made:
            for _ in range(100):
                try:
                    path.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)


def within(cgroup, *command):
    """The command line that runs the command in a cgroup."""
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(cgroup), *map(str, command)]


def counts_by_perf(path):
    """Samples by cgroup and name, as perf counts them; N/A: the kernel did not report it."""
    out = run("perf", "report", "-i", path, "--sort", "cgroup,comm", "--stdio", "-n", "-g", "none",
              "--no-children").out
    return collections.Counter({(cgroup, name): int(count) for count, cgroup, name in
                                re.findall(r"(?m)^\s*[\d.]+%\s+(\d+)\s+(\S+)\s+(.*\S)\s*$", out)})


@test
def samples_by_cgroup_are_those_of_perf(t):
    need_root(t, "make cgroups")
    t.need("perf")
    burn = [t.workload("instances"), "burn", "150"]
    with Cgroups(t, "a", "b", "late") as (names, paths):
        paths[2].rmdir()
        late = f"mkdir {paths[2]}; " + " ".join(
            f"'{word}'" for word in within(paths[2], *burn))
        commands = " & ".join(" ".join(f"'{word}'" for word in within(path, *burn))
                              for path in paths[:2])
        result = t.assay("record", "-a", "--all-cgroups", "--no-witness", "-o", t.path("a.data"),
                         "--", "sh", "-c", f"{commands} & wait; {late}")
        if "Cgroups were not recorded" in result.err:
            t.skip("this kernel does not report cgroups")
    rows = t.report("-i", t.path("a.data"), "--sort", "cgroup,process", "--percent-limit",
                    "0")["rows"]
    theirs = counts_by_perf(t.path("a.data"))
    t.equal(sum(row["samples"] for row in rows), sum(theirs.values()), "all samples")
    interrupts = sum(row["samples"] for row in rows if row["process"] == "[interrupts]")
    # A process belongs to its last cgroup. The processes that never moved must agree exactly,
    # except for one sample.
    for name in names:
        ours = sum(row["samples"] for row in rows
                   if (row["cgroup"], row["process"]) == (name, "instances"))
        t.true(ours, f"nothing burnt in {name}: {rows}")
        # perf counts interrupts for the process that they hit.
        hits = theirs[name, "instances"] - ours
        t.true(0 <= hits <= interrupts, f"samples in {name}: {ours}, of perf "
                                        f"{theirs[name, 'instances']}, {interrupts} interrupts")
    chosen = t.report("-i", t.path("a.data"), "--sort", "cgroup,process", "--percent-limit", "0",
                      "--cgroup", names[0])["rows"]
    t.equal({row["cgroup"] for row in chosen if row["process"] != "[not selected]"} - {None},
            {names[0]}, "what --cgroup leaves")
    inside = [i for i in instances(t, t.path("a.data")) if i.cgroup in names]
    t.equal(sorted(i.name for i in inside if i.name == "instances"), ["instances"] * 3,
            "who burnt in them")


@test
def a_process_that_never_runs_is_in_the_cgroup_where_it_was_found(t):
    need_root(t, "make cgroups")
    with Cgroups(t, "a", "b") as (names, paths):
        # They sleep before the recording begins, and are never sampled.
        sleepers = [t.start(*within(path, "sleep", 1000)) for path in paths]
        for sleeper in sleepers:
            t.until(lambda: pathlib.Path(f"/proc/{sleeper.pid}/comm").read_text() == "sleep\n",
                    "it sleeps")
        env = {"XDG_RUNTIME_DIR": str(t.path(""))}
        os.chmod(t.path(""), 0o700)
        result = t.assay("record", "-a", "--all-cgroups", "-o", t.path("a.data"), "--", "true")
        if "Cgroups were not recorded" in result.err:
            t.skip("this kernel does not report cgroups")
        for words in (("--ring", "--all-cgroups", "-o", t.path("r.data")),
                      ("--store", t.path("a.db"))):
            run(ASSAY, "start", *words, env=env)
            run(ASSAY, "stop", env=env)
        for data in ("a.data", "r.data", "a.db"):
            where = {i.pid: i.cgroup for i in instances(t, t.path(data))}
            for sleeper, name in zip(sleepers, names):
                t.equal(where.get(sleeper.pid), name, f"cgroup of {sleeper.pid} in {data}")
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


@test
def without_all_cgroups_no_cgroup_is_guessed(t):
    t.assay("record", "-o", t.path("a.data"), "--", t.workload("instances"), "burn", 30)
    err = t.assay("report", "-i", t.path("a.data"), "--sort", "cgroup", status=2).err
    t.has(err, "--sort cgroup needs the cgroup of each row, which this recording does not have; "
          "'assay record --all-cgroups' records it")


def lost(t, path):
    return t.report("-i", path)["recordings"][0]["lost_records"]


@test
def a_storm_of_processes_is_recorded_completely(t):
    need_root(t, "record the machine")
    result = t.assay("record", "-a", "-o", t.path("a.data"), "--",
                     *storm_words(t, 4000 if LONG else 1500, 2000, 40, links(t, 40)), timeout=120)
    want, found = of_storm(t, t.path("a.data"), result.out)
    missing = want - told(found)
    t.equal(told(found) - want, collections.Counter(), "instances that never were")
    dropped = lost(t, t.path("a.data"))
    t.true(sum(missing.values()) <= dropped, f"{sum(missing.values())} are missing")
    if not missing:
        check_numbers(t, instances(t, t.path("a.data"), "name like 'i-%'"))
    endless = [i for i in found if not i.end]
    t.true(len(endless) <= dropped, f"without an end: {endless[:5]}")


@test
def a_process_that_starts_while_recording_begins_counts_once(t):
    need_root(t, "record the machine")
    with open(t.path("truth"), "w") as out:
        # It runs until it is stopped, and then waits for its children.
        storm = t.start(*storm_words(t, 1000000, 2000, 40, links(t, 40)), stdout=out)
    t.until(lambda: t.path("truth").read_text().count("\n") > 1, "the storm")
    for name in ("a.data", "b.data"):
        t.assay("record", "-a", "-o", t.path(name), "--", "sleep", 0.1)
    storm.terminate()
    t.equal(t.wait(storm), 0, "the storm's status")
    for name in ("a.data", "b.data"):
        want, found = of_storm(t, t.path(name), t.path("truth").read_text())
        t.true(len(found) > 20, f"{len(found)} instances in a storm")
        t.equal(told(found) - want, collections.Counter(), "instances that never were")


@test
def a_storm_of_processes_is_stored_completely(t):
    need_root(t, "record the machine")
    env = t.runtime()
    t.assay("start", "-a", "-F", 97, "--window", 1, "--store", t.path("a.db"), env=env)
    try:
        result = run(*storm_words(t, 6000 if LONG else 2000, 2000, 50, links(t, 50)), timeout=120)
        status = t.json(t.assay("status", "--json", env=env).out)
        pid = status["sessions"][0]["pid"]
        memory = pathlib.Path(f"/proc/{pid}/status").read_text()
    finally:
        t.assay("stop", env=env)
    want, found = of_storm(t, t.path("a.db"), result.out)
    t.equal(told(found) - want, collections.Counter(), "instances that never were")
    dropped = int(t.assay("sql", t.path("a.db"), "select sum(lost_records) from windows",
                          "--format", "csv").out.split()[1])
    missing = sum((want - told(found)).values())
    t.true(missing <= dropped, f"{missing} are missing, {dropped} records were dropped")
    if not missing:
        check_numbers(t, instances(t, t.path("a.db"), "name like 'i-%'"))
    # Rings of 4 MB for each CPU, and the memory for the aggregation.
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", memory).group(1))
    t.true(peak < (40 + 5 * os.cpu_count()) << 10, f"the session took {peak} kB")


if LONG:
    @test
    def a_whole_day_closes_its_books(t):
        for names in (4000, 1000000):
            run(BUILD / "tests" / "unit" / "test_day", timeout=1700,
                env={"ASSAY_LONG": "1", "ASSAY_DAY_NAMES": str(names)})


CONTAINER = "da1bdd84c8b25938081afe48da7075e2a211d2b1a62e01c894b4e5f3ffab670a"
SHOP = {"service.name": "shop", "service.version": "1.2", "k8s.pod.name": "shop-1",
        "container.id": "claimed"}


def rows_by(t, path, keys, *words):
    """The samples of a recording or store by these keys."""
    rows = t.report("-i", path, "--sort", ",".join(keys), "--no-idle", *words)["rows"]
    names = [key.removeprefix("label:") for key in keys]
    return {tuple(row[name] for name in names): row["samples"] for row in rows}


@test
def labels_come_from_the_process_and_its_control_group(t):
    with Cgroups(t, f"docker-{CONTAINER}.scope") as (_, made):
        shop, plain = publish(t, SHOP), t.start(t.workload("loop"), "20000")
        for p in shop, plain:
            (made[0] / "cgroup.procs").write_text(str(p.pid))
        extra = t.path("labels")
        extra.write_text('# of the machine\nk8s.cluster.name="pro\\u0064"\n')
        path = t.path("a.data")
        t.assay("record", "--labels", "--label-file", extra, "-p", f"{shop.pid},{plain.pid}", "-o",
                path, "--duration", "700ms")
        for p in shop, plain:
            p.kill()
            p.wait()
    keys = ("service", "container", "label:container.id", "label:k8s.pod.name",
            "label:k8s.cluster.name")
    found = rows_by(t, path, keys)
    # The kernel says in which container a process is.
    known = {("shop", CONTAINER, CONTAINER, "shop-1", "prod"),
             (CONTAINER[:12], CONTAINER, CONTAINER, "[no label]", "prod")}
    t.true(known <= set(found), f"labels: {found}")
    shops = sum(n for key, n in found.items() if key[0] == "shop")
    t.equal(sum(rows_by(t, path, ("service",), "--label", "k8s.pod.name=shop*").values()), shops,
            "samples of the pod")
    t.equal(sum(rows_by(t, path, ("service",), "--label",
                        f"service.name=*,container.id={CONTAINER}").values()), shops, "two names")
    t.equal(rows_by(t, path, ("service",), "--label", "k8s.pod.name=none"), {}, "no such pod")
    text = t.assay("report", "-i", path, "--sort", "container").out
    t.has(text, CONTAINER[:12], "the short id")
    t.true(CONTAINER not in text, "the short id")
    t.has(t.assay("report", "-i", path, "--sort", "label:a,label:b,label:c,label:d,label:e",
                  status=2).err, "4 labels at most", "too many")


@test
def a_store_has_labels(t):
    shop, store = publish(t, SHOP), t.path("a.db")
    with sessions(t) as s:
        s("start", "--store", store, "--window", "1", "-p", shop.pid)
        t.until(lambda: labels_in(t, store), "labels of the process")
        s("stop")
    found = t.assay("sql", store, "select version, labels from processes where labels like "
                    "'%shop%'", "--format", "csv").out
    t.has(found, "1.2", "the version")
    t.has(found, "k8s.pod.name=shop-1", "labels")
    rows = t.report("--store", store, "--sort", "service,label:k8s.pod.name", "--service", "sh*",
                    "--build", "1.*")["rows"]
    found = {(row["service"], row["k8s.pod.name"]) for row in rows}
    t.equal(found - {("[interrupts]", "[interrupts]")}, {("shop", "shop-1")}, "rows")


def labels_in(t, store):
    try:
        with stores.reading(store) as db:
            return stores.number(db, "SELECT count(*) FROM processes WHERE labels LIKE '%shop-1%'")
    except sqlite3.OperationalError:  # no tables yet
        return 0


@test
def changed_labels_are_read_again(t):
    shop = publish(t, SHOP)
    recording = t.start(ASSAY, "record", "--labels", "-p", shop.pid, "-o", t.path("a.data"),
                        "--duration", "2500ms", stderr=subprocess.DEVNULL)
    t.until(t.path("a.data").exists, "the recording begins")
    time.sleep(0.3)
    shop.stdin.write("again\n")
    shop.stdin.flush()
    t.equal(t.wait(recording), 0, "status")
    rows = t.assay("sql", t.path("a.data"), "select name from events where kind = 'labels' order by "
                   "time_ns", "--format", "csv").out
    t.has(rows, "service.name=shop", "labels")
    t.has(rows, "round=1", "later labels")


@test
def faulty_pages_give_no_labels(t):
    made = {fault: publish(t, {"service.name": fault}, fault) for fault in FAULTS}
    t.assay("record", "--labels", "-p", ",".join(str(p.pid) for p in made.values()), "-o",
            t.path("a.data"), "--duration", "1s")
    found = {key[0] for key in rows_by(t, t.path("a.data"), ("service",))}
    # A page that changes all the time may be read at a moment without a change.
    t.equal(found & set(FAULTS) - {"changing"}, set(), f"services: {found}")
    text = " ".join(t.assay("report", "--full", "-i", t.path("a.data")).out.split())
    t.has(text, "damaged", "note")
    if waiting_page():
        t.has(text, "not answered in time", "a page that waits for its process")


@test
def recordings_without_labels_say_how_to_record_them(t):
    t.assay("record", "-o", t.path("a.data"), "--", t.workload("loop"), "20")
    for words in ("--sort", "label:a"), ("--sort", "pod"), ("--label", "a=b"):
        t.has(t.assay("report", "-i", t.path("a.data"), *words, status=2).err, "record --labels", words)
    t.has(t.assay("record", "--labels", "--label-file", "/dev/null", "true", status=1).err,
          "not a regular file", "a device")


main()
