# SPDX-License-Identifier: GPL-2.0-or-later
"""record: the processes that it follows, how it ends, the command lines that it refuses, and its
time account, which closes."""
import os
import signal
import stat
import time

from harness import *


def samples_of(report, name):
    """User and kernel samples of all processes of a name."""
    rows = [row for row in report["processes"] if row["name"] == name]
    return sum(row["user_samples"] + row["kernel_samples"] for row in rows)


@test
def status_of_the_command_is_passed_on(t):
    out = t.path("a.data")
    t.assay("record", "-o", out, "--", "true", status=0)
    t.assay("record", "-o", out, "--", "sh", "-c", "exit 7", status=7)
    t.assay("record", "-o", out, "--", "sh", "-c", "kill -9 $$", status=137)
    t.assay("record", "-o", out, "--", "./no-such-program", status=127)


@test
def failed_start_leaves_the_older_recording(t):
    out = t.path("a.data")
    t.assay("record", "-o", out, "--", "true")
    before = out.read_bytes()
    result = t.assay("record", "-o", out, "--", "./no-such-program", status=127)
    t.has(result.err, "no-such-program", "the error")
    t.equal(out.read_bytes() == before, True, "the older recording is unchanged")
    t.equal(sorted(os.listdir(t.directory)), ["a.data"], "files")


@test
def older_recording_becomes_old(t):
    out = t.path("a.data")
    t.assay("record", "-o", out, "--", "true")
    before = out.read_bytes()
    t.assay("record", "-o", out, "--", "true")
    t.equal(t.path("a.data.old").read_bytes() == before, True, "a.data.old is the older one")


@test
def file_is_private_and_no_link_is_followed(t):
    out, victim = t.path("a.data"), t.write("victim", "precious")
    t.assay("record", "-o", out, "--", "true")
    t.equal(stat.S_IMODE(out.stat().st_mode), 0o600, "mode")
    link = t.path("link")
    link.symlink_to(victim)
    result = t.assay("record", "-o", link, "--", "true", status=1)
    t.has(result.err, "symbolic link", "the error")
    t.equal(victim.read_text(), "precious", "what the link points to")


@test
def interrupt_ends_a_recording_cleanly(t):
    recorders = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        out = t.path(f"{number}.data")
        recorders[number] = out, t.start(ASSAY, "record", "-a", "-o", out, stderr=subprocess_pipe())
        t.until(lambda: out.exists() and out.stat().st_size > 4096, "the recording begins")
    time.sleep(1.2)
    for number, (out, recorder) in recorders.items():
        recorder.send_signal(number)
        t.equal(t.wait(recorder), 0, "status")
        report = t.report(out)
        t.true(report["recordings"][0]["truncated"] is False, "the file was closed")
        t.true(report["ledger"]["closed"], "the account is there")


def subprocess_pipe():
    import subprocess
    return subprocess.PIPE


@test
def only_the_command_and_its_children_are_recorded(t):
    out = t.path("a.data")
    other = t.start(t.workload("short"), "60000000")
    t.assay("record", "-F", "4999", "-o", out, "--", "sh", "-c",
            f"for i in 1 2 3 4 5 6 7 8; do {t.workload('short')} 20000; done")
    report = t.report(out)
    names = {row["name"] for row in report["processes"] if row["user_samples"]}
    pids = {row["pid"] for row in report["processes"] if row["name"] == "short"}
    t.true("short" in names, f"children are there: {names}")
    t.equal(len(pids), 8, "instances of short")
    t.true(other.pid not in pids, "a process that is no child is not there")


@test_of_shares
def process_that_lives_two_milliseconds_is_named(t):
    out = t.path("a.data")
    shell = int(t.assay("record", "-a", "-F", "9999", "-o", out, "--", "sh", "-c",
                        f"echo $$; for i in $(seq 50); do {t.workload('short')} 2000; done").out)
    report = t.report(out)
    functions = {row["function"]: row["samples"] for row in report["functions"]
                 if row["image"].endswith("/short")}
    sampled = {row["instance"] for row in report["processes"]
               if row["name"] == "short" and row["user_samples"]}
    ran = t.json(t.assay("sql", "--format", "json", out, "SELECT instance, oncpu_ns FROM processes "
                         "WHERE name = 'short' AND parent IN "
                         f"(SELECT id FROM processes WHERE pid = {shell})").out)
    t.equal(len({row["instance"] for row in ran}), 50, "instances of short")
    # 2 ms on the clock: a process that had a CPU for half of that has five ticks or more at 10 kHz,
    # one in ten of them in the kernel. A hypervisor may take the CPU from a few processes at that
    # moment.
    due = [row["instance"] for row in ran if row["oncpu_ns"] >= 1_000_000]
    t.true(due, "none of 50 had a CPU for a millisecond")
    t.true(len(sampled.intersection(due)) >= 0.8 * len(due),
           f"of {len(due)} processes with a millisecond {len(sampled.intersection(due))} have samples")
    t.true(functions.get("short_spin", 0) > 0.5 * sum(functions.values()),
           f"their function is named: {functions}")


def ran_for(pid):
    """CPU time in hundredths of a second; 0 for a process that has exited."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            words = f.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@test
def running_process_is_sampled_by_its_pid(t):
    out = t.path("a.data")
    victim = t.start(t.workload("short"), "300000000")
    other = t.start(t.workload("short"), "300000000")
    t.until(lambda: ran_for(victim.pid) > 0.05 and ran_for(other.pid) > 0.05, "both run")
    recorder = t.start(ASSAY, "record", "-q", "-o", out, "-p", victim.pid)
    t.until(lambda: out.exists() and out.stat().st_size > 4096, "the recording begins")
    before = ran_for(victim.pid)
    t.until(lambda: ran_for(victim.pid) > before + 0.5, "it runs while it is recorded")
    recorder.send_signal(signal.SIGINT)
    t.equal(t.wait(recorder), 0, "status")
    report = t.report(out)
    pids = {row["pid"] for row in report["processes"] if row["user_samples"]}
    t.equal(pids, {victim.pid}, "processes with samples")
    t.true(other.poll() is None and victim.poll() is None, "both still run")


@test
def recording_ends_with_the_process(t):
    out = t.path("a.data")
    victim = t.start(t.workload("short"), "60000000")
    recorder = t.start(ASSAY, "record", "-q", "-o", out, "-p", victim.pid)
    t.until(lambda: out.exists() and out.stat().st_size > 4096, "the recording begins")
    victim.kill()
    # A zombie also counts as ended.
    t.equal(t.wait(recorder, 30), 0, "status")  # by itself, it would go on for a minute
    t.wait(victim)


@test
def each_page_fault_is_counted_and_its_mapping_named(t):
    out = t.path("a.data")
    truth = t.json(t.assay("record", "-q", "-e", "page-faults", "-d", "-o", out, "--",
                           t.workload("faults"), t.path("file")).out)
    report = t.report("--sort", "region,function", out)
    touched = {}
    for row in report["rows"]:
        if row["function"].startswith("faults_touch"):
            touched.setdefault(row["function"], []).append((row["region"], row["samples"]))
    file, anonymous = touched["faults_touch_file"], touched["faults_touch_anonymous"]
    t.equal(sum(n for region, n in file if region.startswith(str(t.path("file")))),
            truth["file_pages"], "faults in the file's mapping")
    # The function's own code may have to be mapped, too.
    t.equal(sum(n for region, n in anonymous if not region.endswith("/faults")),
            truth["anonymous_pages"], "faults in anonymous memory")


@test
def context_switches_are_sampled(t):
    out = t.path("a.data")
    t.assay("record", "-e", "context-switches", "-o", out, "--", "sh", "-c",
            "for i in 1 2 3 4 5; do sleep 0.01; done")
    report = t.report(out)
    t.true(samples_of(report, "sleep") >= 5, "each sleep switched away")


@test_of_shares
def discarded_records_are_counted(t):
    out = t.path("a.data")
    # The rings are not read for half a second, while all CPUs are busy.
    for _ in range(os.cpu_count()):
        t.start(t.workload("short"), "1000000000")
    result = t.assay("record", "-a", "-F", "10000", "--memory", "0.008", "-o", out, "--",
                     "sh", "-c",
                     "sleep 0.2; kill -STOP $PPID; sleep 0.5; kill -CONT $PPID; sleep 0.3")
    report = t.report(out)
    ledger = report["ledger"]
    t.has(result.err, "dropped", "the closing line")
    t.true(report["observer"]["lost"] > 0, "lost records are in the report")
    t.true(ledger["unobserved_ns"] > 0, "the time that they stood for is unobserved")
    t.near(ledger["residual_ns"] / (ledger["wall_ns"] * ledger["cpus"]), 0, 0.05, "residual")


@test
def lost_records_are_not_all_ticks(t):
    """The rings are not read while 300 processes start and exit, so they are full at once."""
    out = t.path("a.data")
    # Few ticks on all CPUs: the lost records are those of processes.
    t.assay("record", "-a", "-F", max(5, 100 // os.cpu_count()), "--memory", "0.008", "-o", out,
            "--", "sh", "-c",
            "kill -STOP $PPID; i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done; "
            "kill -CONT $PPID")
    report = t.report(out)
    ledger = report["ledger"]
    ticks = ledger["ticks"]
    t.true(report["observer"]["lost"] > ticks["due"], f"lost are {report['observer']['lost']} records")
    t.true(ticks["lost"] <= ticks["missing"], f"ticks are lost that were not missing: {ticks}")
    for line in (ledger, *ledger["per_cpu"]):
        t.true(line.get("lost_ns", 0) <= max(line["unobserved_ns"], 0), f"more than all: {line}")


@test_of_shares
def books_of_the_machine_close(t):
    out = t.path("a.data")
    t.start(t.workload("short"), "4000000")
    began = time.monotonic()
    t.assay("record", "-a", "-o", out, "--", "sleep", "2")
    took = time.monotonic() - began
    ledger = t.report(out)["ledger"]
    whole = ledger["wall_ns"] * ledger["cpus"]
    terms = sum(ledger[key] for key in ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns", "steal_ns",
                                        "unobserved_ns", "residual_ns"))
    t.near(terms / whole, 1, 1e-6, "sum of the terms / wall x CPUs")
    t.near(ledger["residual_ns"] / whole, 0, 0.03, "residual")
    t.between(ledger["wall_ns"] / 1e9, 1.99, took, "wall seconds")
    t.equal(ledger["cpus"], os.cpu_count(), "CPUs")


@test_of_shares
def waiting_of_a_program_agrees_with_its_own_clocks(t):
    out = t.path("a.data")
    before = stolen_ns()
    truth = t.json(t.assay("record", "-q", "-g", "--off-cpu", "-o", out, "--",
                           t.workload("waits"), "300").out)
    stolen = stolen_ns() - before
    report = t.report("--children", "--sort", "pid,symbol", out)
    rows = {row["function"]: row for row in report["rows"] if row.get("pid") == truth["pid"]}
    for name, least_ns in (("wait_sleep", 600e6), ("wait_pipe", 0)):
        waited = truth[name]["wall_ns"] - truth[name]["cpu_ns"]
        t.true(rows[name]["blocked_ns"] >= least_ns, f"{name}: it slept so long at least")
        # On a busy machine it also waited for a CPU after it woke up.
        t.between(rows[name]["blocked_ns"] + rows[name]["runnable_ns"], 0.95 * waited - stolen,
                  1.05 * waited, f"{name}: waiting, by its own clocks {waited} ns")
    contend = truth["wait_contend"]["wall_ns"] - truth["wait_contend"]["cpu_ns"]
    t.between(rows["wait_contend"]["runnable_ns"], 0.9 * contend - stolen, 1.1 * contend,
              f"wait_contend: runnable, by its own clocks {contend} ns")


@test_of_shares
def books_of_a_process_close(t):
    out = t.path("a.data")
    truth = t.json(t.assay("record", "-q", "-o", out, "--", t.workload("waits"), "200").out)
    ledger = t.report(out)["ledger"]
    known = ledger["switched_oncpu_ns"] + ledger["runnable_ns"] + ledger["blocked_ns"]
    t.near((known + ledger["unknown_ns"]) / ledger["thread_wall_ns"], 1, 1e-6,
           "on-CPU + runnable + blocked + unknown / lifetimes")
    t.equal(ledger["switched_oncpu_ns"] - ledger["oncpu_ns"], ledger["residual_ns"],
            "the residual is the difference between switch records and the kernel's counter")
    # Before its first run, the waiting time of the recorder's child is unknown; after that, all of
    # it is known.
    t.between(ledger["unknown_ns"], 0, ledger["elapsed_ns"] - truth["all"]["wall_ns"], "unknown")
    t.equal(ledger["oncpu_ns"], ledger["counted_oncpu_ns"], "on-CPU")
    t.near(ledger["switched_oncpu_ns"] / ledger["counted_oncpu_ns"], 1, 0.03,
           "on-CPU by switch records / by the kernel's counter")


@test
def refusals_say_why_and_what_to_do(t):
    for words, part, status in (
            (("-e", "no-such-event"), "no-such-event", 1),
            (("-p", "4194300"), "4194300", 1),
            (("-p", "x"), "'x'", 2),
            (("-F", "x"), "'x'", 2),
            (("-F", "10", "-c", "10"), "-c", 2),
            (("-o", "/"), "directory", 1),
            (("-o", "/no/such/place/a.data"), "/no/such/place/a.data", 1)):
        result = t.assay("record", *words, "--", "true", status=None) if words[0] != "-p" \
            else t.assay("record", *words, status=None)
        t.equal(result.status, status, f"status of {words}")
        t.has(result.err, part, f"error of {words}")
    # An empty variable of a script in the place of a command does not make assay sample the machine
    # without end.
    t.equal(t.assay("record", "--", status=2).err, "assay: record: no COMMAND follows '--'\n")
    t.has(t.assay("record", "-p", "redis", "--", "true", status=2).err, "pgrep")


main()
