# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel call paths, in a guest whose kernel has the tracer: counts are compared with those of a
program that counts its own system calls and with the kernel's kprobes. Waiting and its causes,
interrupts, losses, and the restored state of the tracer at the end are checked, too."""

import collections
import json
import os
import re
import sys

from harness import main, test
from programs import BUILD, ROOT, comment, run, skip
from time_limit import limit

sys.path.insert(0, os.path.join(ROOT, "tests", "guest"))
import guest  # noqa: E402

OUT = os.path.join(BUILD, "guest-calls-out")
PROGRAMS = [os.path.join(BUILD, "tests", "guest", name)
            for name in ("kernel_paths", "kernel_truth")]
TIMEOUT = limit(100)  # one boot; 40 s on a machine that has nothing else to do

# Emulators with a thread for each CPU fail when one CPU patches code that another one runs: the
# kernel meets a breakpoint that it has already removed, and stops. If reading the clock accesses a
# device, each reading takes an emulator so long that traced timer interrupts use all the time
# between them.
QEMU = ["-accel", "tcg,thread=single",
        "-append", "console=ttyS0 quiet panic=-1 clocksource=tsc tsc=reliable"]

ASSAY = os.path.join(OUT, "program", "assay")  # without its debug information, which takes time to load
FLAG_LOST, FLAG_KERNEL, FLAG_FILTERED, FLAG_RUNNING = 1 << 4, 1 << 9, 1 << 7, 1 << 17
GETPPID, UNLINK, SLEEP, FORK, THREADS, PIPE = 300, 40, 10, 150, 100, 10

JOB = f"""
cd /out
T=/sys/kernel/tracing
step() {{
    echo "step: $*" >/dev/console
}}
state() {{
    for f in current_tracer trace_clock buffer_size_kb tracing_on set_ftrace_pid set_event_pid \\
        set_graph_function set_graph_notrace max_graph_depth options/function-fork options/event-fork \\
        options/overwrite events/sched/sched_switch/enable events/task/task_newtask/enable \\
        events/sched/sched_process_exec/enable; do
        echo "$f: $(cat $T/$f)"
    done
}}
echo 1408 >$T/buffer_size_kb
echo 3 >$T/max_graph_depth
echo boot >$T/trace_clock
state >before
step busy
echo do_rmdir >$T/set_ftrace_filter
echo function >$T/current_tracer
kernel_paths true >busy.txt 2>&1
echo "status $?, $(cat $T/current_tracer)" >>busy.txt
echo nop >$T/current_tracer
echo >$T/set_ftrace_filter

step kprobes
echo 'p:truth/unlink do_unlinkat' >>$T/kprobe_events
echo 'p:truth/sleep hrtimer_nanosleep' >>$T/kprobe_events
echo 1 >$T/events/truth/enable
step all
kernel_paths kernel_truth getppid {GETPPID} unlink {UNLINK} sleep {SLEEP} fork {FORK} \\
    threads {THREADS} >all.txt || exit 10
step profile
cat $T/kprobe_profile >kprobes
echo 0 >$T/events/truth/enable
state >after

step waits
(cd /tmp && assay calls --kernel --waits -q -o assay.calls -- kernel_truth sleep {SLEEP} pipe {PIPE} &&
    assay waits perf.data assay.calls --json >/out/waits.json) 2>waits.err || exit 12
state >after_waits

step tiny
kernel_paths -b 32 -f '__*_sys_getppid' -f '__x64_sys_unlin*k' kernel_truth unlink 10 \\
    getppid 20000 >tiny.txt || exit 11

step kill
kernel_paths -f no_such_function true >nosuch.txt 2>&1
echo "status $?" >>nosuch.txt

kernel_paths -f __x64_sys_unlink kernel_truth sleep 3000 >/dev/null 2>&1 &
pid=$!
for i in $(seq 600); do pidof kernel_truth >/dev/null && break; usleep 100000; done
usleep 300000
state >during
kill -9 $pid
step killed
for i in $(seq 100); do state >killed; cmp -s killed before && break; usleep 100000; done
for p in $(pidof kernel_truth); do kill -9 $p; done
true
"""

Path = collections.namedtuple("Path", "calls net error blocked blocked_count preempted "
                              "preempted_count least most open names")
Thread = collections.namedtuple("Thread", "tid name wall net own blocked preempted tail residual")

state = {}


class Process:
    def __init__(self, words):
        self.pid, self.parent, self.name = int(words[0]), int(words[1]), words[2]
        self.flags, self.lost, self.unmatched, self.resyncs = map(int, words[3:7])
        self.wall, self.own, self.inner, self.outer = map(float, words[7:11])
        self.threads, self.paths = [], []

    def calls(self, function):
        """The sum of all paths that end in the function."""
        return sum(p.calls for p in self.paths if p.names and p.names[-1] == function)


def parse(text):
    """The lines of kernel_paths: (events, lost, cost known, exit status), processes."""
    summary, processes = None, []
    for line in text.splitlines():
        kind, *words = line.split("\t")
        if kind == "run":
            summary = [int(w) for w in words]
        elif kind == "process":
            processes.append(Process(words))
        elif kind == "thread":
            processes[-1].threads.append(Thread(int(words[0]), words[1],
                                                *map(float, words[2:])))
        elif kind == "path":
            numbers = [float(w) for w in words[:10]]
            numbers[0] = int(words[0])
            processes[-1].paths.append(Path(*numbers, tuple(words[10:])))
    assert summary, f"no output: {text[:300]}"
    return summary, processes


def the_guest():
    """One boot for all tests."""
    if not os.path.exists(PROGRAMS[0]):
        skip("built without libtracefs")
    if "result" not in state:
        os.makedirs(os.path.dirname(ASSAY), exist_ok=True)
        run(["strip", "-o", ASSAY, os.path.join(BUILD, "assay")])
        try:
            state["result"] = guest.boot(guest.kernel(guest.default_cache()), JOB, OUT, [*PROGRAMS, ASSAY],
                                         timeout=TIMEOUT, options=QEMU)
        except guest.GuestError as error:
            state["result"] = error
    result = state["result"]
    if isinstance(result, guest.GuestError):
        if "did not end its script" in str(result):
            raise AssertionError(str(result)[-3000:])
        skip(str(result))
    assert result.status == 0, \
        f"the job ended with status {result.status}: {result.text('stderr')[-800:]}"
    return result


def all_processes():
    summary, processes = parse(the_guest().text("all.txt"))
    return summary, [p for p in processes if p.pid], [p for p in processes if not p.pid]


@test
def calls_are_those_of_the_program(t):
    summary, programs, _ = all_processes()
    comment(f"{the_guest().seconds:.0f} s in the guest, {summary[0]} events, cost of a call "
            f"{programs[0].inner:.0f} + {programs[0].outer:.0f} ns")
    assert summary[1] == 0, f"{summary[1]} events lost"
    assert summary[3] == 0, f"status {summary[3]} of the command"
    assert len(programs) == 4, f"processes: {[(p.pid, p.name) for p in programs]}"
    command, *children = programs
    t.equal(command.name, "kernel_truth", "name of the process")
    assert all(p.parent == command.pid and p.name == "kernel_truth" for p in children)
    t.equal(command.calls("__x64_sys_getppid"), GETPPID + 4 * THREADS, "the command's getppid")
    t.equal([p.calls("__x64_sys_getppid") for p in children], [FORK] * 3, "the children's")
    t.equal(command.calls("__x64_sys_unlink"), UNLINK, "unlink")
    t.equal(command.calls("do_unlinkat"), UNLINK, "do_unlinkat")
    assert len(command.threads) == 5 and all(len(p.threads) == 1 for p in children)


@test
def calls_are_those_that_kprobes_count(t):
    _, programs, _ = all_processes()
    hits = {name: int(count) for name, count in
            re.findall(r"(\w+)\s+(\d+)\s+\d+", the_guest().text("kprobes"))}
    for probe, function in (("unlink", "do_unlinkat"), ("sleep", "hrtimer_nanosleep")):
        found = sum(p.calls(function) for p in programs)
        t.equal(found, hits[probe], f"calls of {function}")
        assert found >= SLEEP, f"{function}: {found}"


@test
def paths_lead_from_the_entry(t):
    _, programs, _ = all_processes()
    paths = {p.names for p in programs[0].paths}
    way = next(n for n in paths if n[-1:] == ("do_unlinkat",))
    assert way[-2] == "__x64_sys_unlink", f"do_unlinkat is called by {way}"
    assert all(n[:i] in paths for n in paths for i in range(len(n))), "a path without its parent"
    # __x64_sys_getppid may be a root, or called by its dispatcher. No other function calls it.
    ways = {n for n in paths if n[-1:] == ("__x64_sys_getppid",)}
    assert len(ways) == 1 and len(next(iter(ways))) <= 3, ways


@test
def sleeping_is_blocked_and_not_net(t):
    _, programs, _ = all_processes()
    sleeps = [p for p in programs[0].paths if "hrtimer_nanosleep" in p.names]
    calls = sum(p.calls for p in sleeps if p.names[-1] == "hrtimer_nanosleep")
    t.equal(calls, SLEEP, "sleeps")
    assert sum(p.blocked_count for p in sleeps) >= SLEEP
    blocked = sum(p.blocked for p in sleeps)
    assert blocked >= SLEEP * 10e6 * 0.9, f"{blocked / 1e6:.1f} ms blocked"
    assert next(p for p in sleeps if p.blocked).names[-1] in ("schedule", "__schedule"), sleeps
    waited = sum(p.blocked for p in programs[0].paths)
    assert waited == sum(th.blocked for th in programs[0].threads) or \
        abs(waited - sum(th.blocked for th in programs[0].threads)) < 1000


@test
def the_books_close(t):
    _, programs, interrupts = all_processes()
    for p in programs + interrupts:
        assert p.flags & FLAG_KERNEL
        for thread in p.threads:
            assert abs(thread.residual) < 10, f"{p.name}/{thread.tid}: residual {thread.residual}"
        net = sum(path.net for path in p.paths)
        threads = sum(thread.net for thread in p.threads)
        assert abs(net - threads) < 1 + len(p.paths), f"{net} in paths, {threads} in threads"
    for p in programs:
        assert not p.flags & (FLAG_LOST | FLAG_RUNNING), p.flags
        t.equal((p.unmatched, p.resyncs), (0, 0), f"unmatched exits, resyncs of {p.pid}")


@test
def interrupts_are_counted_separately(t):
    _, programs, interrupts = all_processes()
    assert interrupts, "no interrupt in all that time"
    timers = ("__sysvec_apic_timer_interrupt", "irq_enter_rcu", "hrtimer_interrupt")
    assert sum(p.calls(timers[0]) for p in interrupts) > 0
    for p in interrupts:
        t.equal(p.name[:11], "interrupts/", "name")
        assert all(path.names[0] == "(interrupt)" for path in p.paths if path.names)
    for p in programs:
        for name in timers:
            t.equal(p.calls(name), 0, f"{name} on the program's own paths")


@test
def blocked_calls_have_causes_and_wakers(t):
    found = json.loads(the_guest().text("waits.json"))
    rows = [r for r in found["calls"] if r["waiter"] == "kernel_truth" and r["function"] != "(outside)"]
    counts, functions = collections.Counter(), collections.defaultdict(set)
    for row in rows:
        counts[row["kind"], row["released_by"]] += row["count"]
        functions[row["kind"]].add(row["function"])
    # The child sleeps before it writes each byte, and its parent waits for it at the end. The program
    # knows from the kernel which of these calls left the CPU. In a slow guest not all do.
    truth = collections.Counter()
    for kind, count in re.findall(r"left the CPU: (\w+) (\d+)", the_guest().text("waits.err")):
        truth[kind] += int(count)
    comment(f"{dict(truth)} calls left the CPU, of {SLEEP + PIPE} and {PIPE}")
    for kind, cause in (("sleep", "[interrupt]"), ("pipe", "kernel_truth in write_slowly")):
        t.equal(counts[kind, cause], truth[kind], f"{kind} of {dict(counts)}")
    t.equal(functions["sleep"], {"do_nanosleep"}, "functions that sleep")
    assert functions["pipe"] <= {"pipe_read", "anon_pipe_read"}, functions
    assert not found["calls_beyond"] and all(r["kind"] != "other" for r in rows), rows
    counted, waited = found["calls_counted_ns"], found["calls_waited_ns"] - found["calls_outside_ns"]
    comment(f"{counted / 1e6:.1f} ms blocked as counted, {waited / 1e6:.1f} ms by the recording")
    # The tracer and the recorder take some time of each switch, which an emulator makes longer.
    assert abs(waited - counted) < 0.1 * counted, f"{waited} ns, not {counted}"


@test
def losses_are_counted(t):
    summary, processes = parse(the_guest().text("tiny.txt"))
    command = processes[0]
    assert summary[1] > 0 and command.flags & FLAG_LOST, "nothing lost in a buffer of 32 KB?"
    t.equal(sum(p.lost for p in processes), summary[1], "lost events of the processes")
    counted = command.calls("__x64_sys_getppid")
    comment(f"{counted} of 20000 calls counted, {summary[1]} events lost")
    assert 0 < counted < 20000


@test
def functions_limit_the_roots(t):
    _, processes = parse(the_guest().text("tiny.txt"))
    command = processes[0]
    assert command.flags & FLAG_FILTERED
    roots = {p.names[0] for p in command.paths if p.names}
    assert roots <= {"__x64_sys_getppid", "__x64_sys_unlink", "(other)"}, roots
    assert "__x64_sys_getppid" in roots


@test
def another_tracer_is_not_changed(t):
    text = the_guest().text("busy.txt")
    assert "status 1, function\n" in text and "in use" in text, text


@test
def a_function_that_is_not_there_is_refused(t):
    text = the_guest().text("nosuch.txt")
    assert "status 1\n" in text and "no_such_function" in text, text
    assert "available_filter_functions" in text, text


@test
def all_settings_are_restored(t):
    result = the_guest()
    t.equal(result.text("after"), result.text("before"), "tracefs after a run")
    t.equal(result.text("after_waits"), result.text("before"), "tracefs after a run with --waits")


@test
def all_settings_are_restored_after_a_kill(t):
    result = the_guest()
    assert "current_tracer: function_graph" in result.text("during"), result.text("during")
    t.equal(result.text("killed"), result.text("before"), "tracefs after kill -9")


@test
def without_the_tracer_the_message_has_the_way_out(t):
    """The machine's kernel may have the tracer or not; without permission the command fails in both
    cases."""
    if not os.path.exists(PROGRAMS[0]):
        skip("built without libtracefs")
    done = run(["setpriv", "--reuid", "65534", "--clear-groups", PROGRAMS[0], "true"]) \
        if os.getuid() == 0 else run([PROGRAMS[0], "true"])
    t.equal(done.status, 1, "status")
    assert re.search(r"root|FUNCTION_GRAPH_TRACER", done.err), done.err


if __name__ == "__main__":
    main()
