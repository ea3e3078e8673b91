# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct_samples: a recording of --waits in which each figure has a value of its own, and its truth.

    m = Machine(t)         writes two programs, the kernel's symbols and m.data; m.words: how to read it
    m.truth()              the figures, from the schedule below
    m.stored(name)         a store of it; m.stored_truth()

The schedule is data: SCHEDULE has for each CPU the threads in their order, with the length of each
turn. The account of the recorder is ACCOUNT, whose values are numbers at random with no relation.
"""
import collections
import os
import re
import struct

import perf_write
from perf_write import Recorded
from stores import environment

START, WALL, PERIOD = 7_000_000_000, 1_700_000_000_123_456_789, 250_007
PHASE = (61_001, 97_003)  # of the timer of each CPU
KERNEL = 0xffffffff81000000
SERVER, CLIENT = 1101, 2207
NAMES = {1101: "server", 1102: "pool", 1103: "pool", 2207: "client", 2208: "helper", 2209: "napper",
         3019: "kworker"}
PROCESS = {1101: SERVER, 1102: SERVER, 1103: SERVER, 2207: CLIENT, 2208: CLIENT, 2209: CLIENT, 3019: 3019}
SYMBOLS = ("entry_SYSCALL_64_after_hwframe", "do_syscall_64", "ksys_read", "pipe_read", "schedule",
           "asm_exc_page_fault", "do_user_addr_fault", "handle_mm_fault", "asm_sysvec_apic_timer_interrupt",
           "hrtimer_interrupt", "handle_softirqs", "net_rx_action", "ksys_write", "pipe_write",
           "try_to_wake_up", "do_nanosleep", "cpu_idle", "copy_page", "ret_from_fork_asm", "worker_thread")
FUNCTIONS = {"server": ("main", "work", "leaf", "lookup", "reply"), "client": ("main", "ask", "parse")}
BASE = {"server": 0x401000, "client": 0x501000}
SIZE = 64
CALL = ("entry_SYSCALL_64_after_hwframe", "do_syscall_64")
FAULT = ("asm_exc_page_fault", "do_user_addr_fault", "handle_mm_fault")
TIMER = ("asm_sysvec_apic_timer_interrupt", "hrtimer_interrupt")
SOFTIRQ = ("asm_sysvec_apic_timer_interrupt", "handle_softirqs", "net_rx_action")
READ, WRITE, SLEEP = (*CALL, "ksys_read", "pipe_read"), (*CALL, "ksys_write", "pipe_write"), (*CALL, "do_nanosleep")

WORKER = ("ret_from_fork_asm", "worker_thread")

# A percentile needs 100 waits: the naps become longer, each by another step.
NAPS = tuple(turn for i in range(121) for turn in (
    (2209, 15_013 + 13 * i, ("S", SLEEP), (5_003 + 11 * i, "irq", 1)),
    (0, 40_009 + 701 * i + 7 * i * i + 90_001 * (i == 119), None, None)))

# (thread, 0: idle; length in ns; why it ended: a state and the kernel's stack; for the next turn of the
# thread: (how long it was runnable, who woke it: a thread or a kind of interrupt, on which CPU))
SCHEDULE = (
    ((0, 3_171_003, None, None),
     (1101, 21_340_019, ("S", READ), (702_017, 2207, 0)),
     (2207, 9_870_041, ("R", TIMER), None),
     (1102, 13_090_007, ("S", SLEEP), (1_310_047, "irq", 0)),
     (2207, 15_450_011, ("S", READ), None),
     (1101, 11_930_017, ("D", FAULT), None),
     (0, 7_710_023, None, None),
     (1102, 17_510_037, None, None)),
    ((2208, 6_610_013, ("S", READ), (210_011, "softirq", 1)),
     (0, 4_030_029, None, None),
     (2208, 8_290_043, ("S", READ), (3_190_003, 1102, 0)),
     (1103, 19_070_047, ("R", TIMER), None),
     (2208, 3_370_053, ("S", SLEEP), (57_013, "irq", 1)),
     (1103, 10_190_059, ("S", SLEEP), None),
     (0, 4_130_061, None, None),
     *NAPS,
     (3019, 10_850_071, ("S", WORKER), None),
     (0, 1_050_073, None, None),
     (2208, 12_410_068, None, None)))
# What the ticks of a thread find, again and again: the user's functions, and the kernel's above them.
WORK = {
    1101: ((("main", "work", "leaf"), ()),) * 5 + ((("main", "work"), ()),) * 2
          + ((("main", "lookup", "leaf"), ()), (("main", "work"), READ), (("main", "lookup"), FAULT)),
    1102: ((("main", "lookup"), ()),) * 3 + ((("main", "reply"), ()), (("main", "reply"), WRITE),
                                            (("main", "work", "leaf"), TIMER)),
    1103: ((("main", "reply"), ()), (("main", "work", "leaf"), ()), (("main", "work", "leaf"), SOFTIRQ),
           (("main", "lookup"), READ), (("main", "lookup"), READ), (("main", "work"), FAULT)),
    2207: ((("main", "ask"), ()), (("main", "ask"), WRITE), (("main", "ask", "parse"), ()),
           (("main", "ask", "parse"), ()), (("main",), ())),
    2208: ((("main", "parse"), ()), (("main", "parse"), ()), (("main", "parse"), FAULT),
           (("main", "ask"), TIMER), (("main",), ("copy_page",))),
    2209: ((("main", "ask"), SLEEP), (("main", "parse"), FAULT)),
    3019: (((), (*WORKER, "copy_page")),),
    0: (((), ("cpu_idle",)),) * 9 + (((), ("cpu_idle", *TIMER)),) * 2 + (((), ("cpu_idle", *SOFTIRQ)),),
}
# Ticks that were due and did not come: (CPU, number of the tick).
MISSING = {(0, n) for n in (31, 32, 33, 70, 71, 118, 220)} | {(1, n) for n in (5, 61, 90, 300)} | {
    (0, 6), (1, 30), (1, 31), (1, 33), (1, 260)}
# The recorder asks the kernel at the end, so its account has more than the records of losses.
LOST, THROTTLED = (2, 1), (4, 5)

ACCOUNT = {
    "observer_cpu_ns": 4_913_377, "observer_start_cpu_ns": 8_630_929, "observer_bytes": 771_649,
    "observer_wakeups": 379, "flush_asked_ns": 31_700_003, "flushes": 23, "flush_cpu_ns": 612_713,
    "observer_pid": 3319, "reader_pid": 3323, "reads_unanswered": 13, "reads_not_made": 19,
    "exit_status": -1}
ACCOUNT_CPUS = tuple(dict(zip((
    "stat_user_ns", "stat_system_ns", "stat_irq_ns", "stat_softirq_ns", "stat_idle_ns", "stat_iowait_ns",
    "stat_steal_ns", "lost_records", "ring_bytes", "ring_used_max", "ring_used_sum", "ring_reads"), values))
    for values in ((52_300_019, 11_700_021, 2_410_001, 1_130_003, 14_900_027, 1_390_007, 830_023, 3, 528_384,
                    91_733, 4_418_863, 163),
                   (41_200_009, 9_100_033, 1_910_011, 3_470_029, 33_700_039, 2_530_031, 470_021, 1, 266_240,
                    70_199, 2_901_791, 127)))
UNWIND = {"samples": 557, "frames": 1783, "by_frame_pointer": 211, "stitched_frames": 71, "memory_reads": 991,
          "tables": 17, "table_rows": 6143, "table_ns": 2_770_003, "cpu_ns": 1_470_017}
BUDGET = {"share_ppm": 22_700, "cost_ns": 5_309, "cost_low_ns": 4_703, "cost_high_ns": 6_101, "cost_samples": 89,
          "spent_ppm": 17_911, "most_ppm": 29_303, "looked_ns": 81_000_011, "over_ns": 9_700_019, "record_ns": 1_283}
CALIBRATION = {"state": 1, "pairs": 43, "slowdown_ppm": 7_307, "low_ppm": 5_101, "high_ppm": 9_613}
# From these times on, by the account; the samples do not follow it.
RATES = ({"time_ns": START + 17_300_021, "period_ns": 310_019, "budget": 1},
         {"time_ns": START + 41_700_043, "period_ns": 570_037},
         {"time_ns": START + 83_900_057, "period_ns": PERIOD})
COMMAND = {"wall_ns": 88_100_017, "user_ns": 51_900_011, "system_ns": 9_700_043, "rss_bytes": 18_763_776,
           "minor_faults": 1_453, "major_faults": 37, "voluntary_switches": 269, "involuntary_switches": 101}

Turn = collections.namedtuple("Turn", "cpu thread start end why woken")
Sample = collections.namedtuple("Sample", "cpu thread user kernel time")
# kind: of the waker, preempted, open (until the end), start (since the start)
Wait = collections.namedtuple("Wait", "thread kind waker blocked runnable state stack start end cpu")


def pairs(values):
    return " ".join(f"{key}={value}" for key, value in values.items())


class Machine:
    def __init__(self, t):
        self.t, self.address = t, {}
        self.users = [thread for thread in NAMES if NAMES[PROCESS[thread]] in FUNCTIONS]
        self.turns = [turn for cpu in (0, 1) for turn in self.turns_of(cpu)]
        self.ends = [max(turn.end for turn in self.turns if turn.cpu == cpu) for cpu in (0, 1)]
        self.programs = {name: self.program(name) for name in FUNCTIONS}
        self.kallsyms = t.write("kallsyms", f"{KERNEL:x} T _text\n" + "".join(
            f"{self.kernel_address(name) - 8:x} T {name}\n" for name in SYMBOLS)
            + f"{KERNEL + SIZE * (len(SYMBOLS) + 1):x} T _etext\n")
        self.samples = []  # of the clock
        self.waits = list(self.waits_of())
        self.bytes = self.recording().bytes()
        self.data = t.write("distinct.data", self.bytes)
        self.words = ["--kallsyms", self.kallsyms]

    def stored(self, store, host=""):
        """A store with the recording as its only window, of this host. The kernel's names of a store are the running kernel's."""
        if os.geteuid() != 0:
            self.t.skip("the kernel's symbols of the test are mounted, which needs root")
        self.t.need("unshare")
        self.t.run("unshare", "-m", "sh", "-c", 'mount --bind "$1" /proc/kallsyms && shift && exec "$@"', "sh",
                   self.kallsyms, self.t.workload("store_recording"), self.data, store, "100", host, "waits",
                   env=environment(self.t))
        return store

    def turns_of(self, cpu):
        at = START + (1_009, 2_903)[cpu]
        for thread, length, why, woken in SCHEDULE[cpu]:
            yield Turn(cpu, thread, at, at + length, why, woken)
            at += length

    def program(self, name):
        code, path = self.t.path(f"{name}.o"), self.t.path(name)
        self.t.run("as", "-o", code, self.t.write(f"{name}.s", ".text\n" + "".join(
            f".globl {f}\n.type {f}, @function\n{f}: .skip {SIZE}, 0x90\n.size {f}, {SIZE}\n"
            for f in FUNCTIONS[name])))
        self.t.run("ld", f"-Ttext={BASE[name]:#x}", "-e", "main", "-o", path, code)
        return path

    def kernel_address(self, name):
        return KERNEL + SIZE * (1 + SYMBOLS.index(name)) + 8

    def user_address(self, thread, name):
        program = NAMES[PROCESS[thread]]  # the kernel's threads have no frames of a program
        return BASE[program] + SIZE * FUNCTIONS[program].index(name) + 8

    def stacks(self, thread, user, kernel):
        return {"kernel": [self.kernel_address(name) for name in kernel[::-1]],
                "user": [self.user_address(thread, name) for name in user[::-1]]}

    def running(self, cpu, time):
        return next(turn.thread for turn in self.turns if turn.cpu == cpu and turn.start <= time < turn.end)

    def account_text(self):
        lines = ["machine_wide 1", f"start_ns {START}", f"end_ns {max(self.ends)}"]
        lines += [f"{key} {value}" for key, value in ACCOUNT.items()]
        for cpu, values in enumerate(ACCOUNT_CPUS):
            lines.append(f"cpu {cpu} start_ns={START + (1_009, 2_903)[cpu]} end_ns={self.ends[cpu]} "
                         + pairs(values))
        lines += [f"{key} {pairs(values)}" for key, values in (
            ("unwind", UNWIND), *(("rate", rate) for rate in RATES), ("budget", BUDGET),
            ("calibration", CALIBRATION), ("command", COMMAND))]
        return "\n".join(lines) + "\n"

    def recording(self):
        file = Recorded()
        file.machine = {perf_write.HOSTNAME: "host.example", perf_write.RELEASE: "6.9.1", perf_write.ARCH: "x86_64",
                        perf_write.VERSION: "assay test", perf_write.CPUS: (5, 2), perf_write.CPU_TEXT: "a CPU",
                        perf_write.COMMAND: "assay record"}
        file.clock = WALL, START
        file.account = self.account_text()
        self.clock = file.event("cpu-clock", perf_write.SOFTWARE, perf_write.CPU_CLOCK, PERIOD)
        self.switch = file.tracepoint("sched:sched_switch", 311, [
            ("pid_t prev_pid", 4), ("int prev_prio", 4), ("long prev_state", 8), ("pid_t next_pid", 4)])
        self.waking = file.tracepoint("sched:sched_waking", 317, [("pid_t pid", 4), ("int target_cpu", 4)])
        file.event("dummy", perf_write.SOFTWARE, perf_write.DUMMY, 1, perf_write.MMAP | perf_write.COMM
                   | perf_write.TASK | perf_write.MMAP2 | perf_write.CONTEXT_SWITCH)
        self.beginning(file)
        events = []
        for turn in self.turns:
            events += self.ticks_of(turn) + self.switches_of(turn)
        for time, cpu, thread, put in sorted(events, key=lambda event: event[:2]):
            file.at(time, cpu, PROCESS.get(thread, 0), thread)
            put(file)
        for cpu in (0, 1):
            file.at(self.ends[cpu] - 10, cpu, 0, 0)
            file.lost(self.clock, LOST[cpu])
            for _ in range(THROTTLED[cpu]):
                file.throttled(self.clock)
        return file

    def beginning(self, file):
        file.at(START, 0, 0, 0)
        file.kernel(KERNEL, SIZE * (len(SYMBOLS) + 1))
        for thread, name in NAMES.items():
            file.at(START, 0, PROCESS[thread], thread)
            file.comm(name)
            if name in self.programs:
                file.maps(self.programs[name])

    def ticks_of(self, turn):
        found, first = [], START + (1_009, 2_903)[turn.cpu] + PHASE[turn.cpu]
        for number in range(10_000):
            time = first + number * PERIOD
            if not turn.start <= time < turn.end or (turn.cpu, number) in MISSING:
                continue
            user, kernel = WORK[turn.thread][number % len(WORK[turn.thread])]
            self.samples.append(Sample(turn.cpu, turn.thread, user, kernel, time))
            stacks = self.stacks(turn.thread, user, kernel)
            found.append((time, turn.cpu, turn.thread, lambda file, s=stacks: file.sample(self.clock, **s)))
        return found

    def waits_of(self):
        """All waits. A turn says by whom the thread is woken for its next turn."""
        for thread in NAMES:
            last, why, woken = START, None, None
            for turn in sorted((turn for turn in self.turns if turn.thread == thread), key=lambda turn: turn.start):
                length = turn.start - last
                runnable, waker, cpu = woken or (length if why and why[0] == "R" else 0, None, None)
                kind = ("start" if not why else "preempted" if why[0] == "R" else "thread" if isinstance(waker, int)
                        else waker)
                if kind == "thread" and self.running(cpu, turn.start - runnable) != waker:
                    raise ValueError(f"{waker} does not run before {turn}")
                state, stack = why or (None, ())
                if why or self.start_of(turn) == turn.start:
                    yield Wait(thread, kind, waker, length - runnable, runnable, state, stack, last, turn.start, cpu)
                last, why, woken = turn.end, turn.why, turn.woken
            if why and last < max(self.ends):
                yield Wait(thread, "open", None, max(self.ends) - last, 0, *why, last, max(self.ends), None)

    def switches_of(self, turn):
        """To this turn, and the wake-up before it."""
        last = next((other for other in self.turns if other.cpu == turn.cpu and other.end == turn.start), None)
        found = []
        if last:
            found.append((turn.start, turn.cpu, last.thread, lambda file: self.put_switch(file, last, turn)))
        for wait in self.waits:
            if wait.thread == turn.thread and wait.end == turn.start and wait.kind in ("thread", "irq", "softirq"):
                now = self.running(wait.cpu, wait.end - wait.runnable)
                found.append((wait.end - wait.runnable, wait.cpu, now,
                              lambda file, now=now, wait=wait: self.put_waking(file, now, wait, turn)))
        return found

    def put_waking(self, file, now, wait, turn):
        flags = {"irq": 8, "softirq": 16, "thread": 0}[wait.kind]
        stack = {"irq": TIMER, "softirq": SOFTIRQ, "thread": WRITE}[wait.kind]
        raw = struct.pack("<HBBIII", 317, flags, 0, now, turn.thread, turn.cpu)
        file.sample(self.waking, raw=raw, **self.stacks(now, WORK[now][0][0], (*stack, "try_to_wake_up")))

    def put_switch(self, file, last, turn):
        state, stack = last.why or ("R", ())
        if last.thread:
            number = {"R": 0x100, "S": 1, "D": 2}[state]
            raw = struct.pack("<HBBIIIQI", 311, 0, 0, last.thread, last.thread, 0, number, turn.thread)
            file.sample(self.switch, raw=raw, **self.stacks(
                last.thread, WORK[last.thread][0][0], (*stack, "schedule")))
        file.switch(PROCESS.get(turn.thread, 0), turn.thread, True, state == "R")
        file.at(turn.start, turn.cpu, PROCESS.get(turn.thread, 0), turn.thread)
        file.switch(PROCESS.get(last.thread, 0), last.thread, False)

    # ---- what the media must have --------------------------------------------------

    def sum_of(self, key, value, items):
        found = collections.Counter()
        for item in items:
            found[key(item)] += value(item)
        return dict(found)

    def mode(self, sample):
        return ("idle" if not sample.thread else "user" if not sample.kernel
                else "irq" if sample.kernel[0].startswith("asm_sysvec") else "kernel")

    def ticks(self, *wanted):
        """Of each CPU: the samples of these modes."""
        return {cpu: sum(sample.cpu == cpu and self.mode(sample) in wanted for sample in self.samples)
                for cpu in (0, 1)}

    def missing(self, busy):
        first = [START + (1_009, 2_903)[cpu] + PHASE[cpu] for cpu in (0, 1)]
        return {cpu: sum(c == cpu and bool(self.running(c, first[c] + n * PERIOD)) == busy for c, n in MISSING)
                for cpu in (0, 1)}

    def truth(self):
        """The name of a figure to its values by key; a figure without rows has the key ""."""
        found = {}
        self.add_account(found)
        self.add_ledger(found)
        self.add_rows(found)
        self.add_waits(found)
        return {name: values if isinstance(values, dict) else {"": values} for name, values in found.items()}

    def stored_truth(self):
        """A store counts a wait when it ends."""
        found = self.truth()
        still = collections.Counter(f"{NAMES[wait.thread]}/" for wait in self.waits if wait.kind == "open")
        found["of a cause: waits"] = {key: value - still[key] for key, value in found["of a cause: waits"].items()}
        found["waits"] = {"": found["waits"][""] - sum(still.values())}
        process = lambda thread: NAMES[PROCESS[thread]]
        found["threads of a process"] = self.sum_of(process, lambda thread: 1, NAMES)
        elapsed = found["elapsed"][""]
        found["wall of the threads of a process"] = self.sum_of(process, lambda thread: elapsed, NAMES)
        found["not seen of a process"] = self.sum_of(
            lambda wait: process(wait.thread), lambda wait: wait.blocked,
            [wait for wait in self.waits if wait.kind == "start"])
        found["budget: taken"] = {"": BUDGET["looked_ns"] // 10 ** 6 * BUDGET["spent_ppm"]}
        return found

    def truth_of_hosts(self, hosts):
        """Of that many hosts with the same window: all is added up but what is of one host, or a share."""
        one = re.compile("share|rate|budget|pid|period|mean|elapsed|start|end|CPUs|lost$|samples of all|second"
                         "|account|of a cause: (longest|median|99|share)|weight of (an|the) event")
        return {name: values if one.match(name) else {key: hosts * value for key, value in values.items()}
                for name, values in self.stored_truth().items()}

    def add_account(self, found):
        for key, value in ACCOUNT.items():
            found[f"account: {key}"] = value
        for key in ACCOUNT_CPUS[0]:
            found[f"account of a CPU: {key}"] = {cpu: ACCOUNT_CPUS[cpu][key] for cpu in (0, 1)}
        found["account of a CPU: average use"] = {cpu: a["ring_used_sum"] // a["ring_reads"]
                                                  for cpu, a in enumerate(ACCOUNT_CPUS)}
        for name, values in (("budget", BUDGET), ("calibration", CALIBRATION)):
            for key, value in values.items():
                found[f"{name}: {key}"] = value / 1e6 if key.endswith("_ppm") else value
        self.add_rates(found)
        found["first sample"] = min(s.time for s in self.samples)
        found["last sample"] = max(s.time for s in self.samples)
        found["samples of all events"] = len(self.samples) + self.count_switches() + self.count_wakings()
        found["samples"] = len(self.samples)
        found["samples of an event"] = {"cpu-clock": len(self.samples), "sched:sched_switch": self.count_switches(),
                                        "sched:sched_waking": self.count_wakings()}
        found["elapsed"] = max(self.ends) - START
        found["start since 1970"], found["end since 1970"] = WALL, WALL + max(self.ends) - START
        found["period"] = PERIOD
        found["CPUs"] = 2
        found["size of the file"] = len(self.bytes)
        found["second of the start"] = WALL // 10 ** 9
        found["lost, by records"] = sum(LOST)
        found["lost"] = sum(cpu["lost_records"] for cpu in ACCOUNT_CPUS)

    def add_rates(self, found):
        times = [0, *(rate["time_ns"] - START for rate in RATES), max(self.ends) - START]
        lengths = {begin: end - begin for begin, end in zip(times, times[1:])}
        found["rate: length"] = lengths
        found["rate: period"] = dict(zip(times, (PERIOD, *(rate["period_ns"] for rate in RATES))))
        found["rate: share"] = {begin: length / times[-1] for begin, length in lengths.items()}
        found["rate: begin"] = {"budget": times[1], "fell behind": times[2]}
        found["rate: length by reason"] = {"budget": lengths[times[1]], "fell behind": lengths[times[2]]}
        found["rate: frequency"] = {
            name: round(1e9 / rate["period_ns"]) for name, rate in zip(("budget", "fell behind"), RATES)}
        found["slowed for the budget"], found["slowed since it fell behind"] = lengths[times[1]], lengths[times[2]]

    def count_switches(self):
        return sum(bool(turn.thread and turn.why) for turn in self.turns)

    def count_wakings(self):
        return sum(wait.kind in ("thread", "irq", "softirq") for wait in self.waits)

    def start_of(self, turn):
        """A thread that runs when a CPU begins has run since the recording began, and likewise at the end."""
        return START if turn.start == START + (1_009, 2_903)[turn.cpu] else turn.start

    def end_of(self, turn):
        return turn.end if turn.why else max(self.ends)

    def add_ledger(self, found):
        per_cpu = lambda name, values: found.update({f"of a CPU: {name}": values, name: sum(values.values())})
        length = lambda turn: turn.end - turn.start
        wall = self.sum_of(lambda turn: turn.cpu, length, self.turns)
        idle = self.sum_of(lambda turn: turn.cpu, length, [turn for turn in self.turns if not turn.thread])
        irqs = self.ticks("irq")
        hard = [sample for sample in self.samples
                if self.mode(sample) == "irq" and "hrtimer_interrupt" in sample.kernel]
        times = lambda ticks: {cpu: count * PERIOD for cpu, count in ticks.items()}
        missing, still = self.missing(True), self.missing(False)
        steal = {cpu: a["stat_steal_ns"] for cpu, a in enumerate(ACCOUNT_CPUS)}
        unobserved = {cpu: missing[cpu] * PERIOD - steal[cpu] for cpu in (0, 1)}
        parts = (times(self.ticks("user")), times(self.ticks("kernel")), times(irqs), idle, steal, unobserved)
        per_cpu("wall", wall)
        per_cpu("busy", {cpu: wall[cpu] - idle[cpu] for cpu in (0, 1)})
        for name, values in zip(("user", "kernel", "interrupts", "idle", "steal", "unobserved"), parts):
            per_cpu(name, values)
        per_cpu("residual", {cpu: wall[cpu] - sum(part[cpu] for part in parts) for cpu in (0, 1)})
        found["part of the account"] = {name: found[name] for name in (
            "user", "kernel", "interrupts", "idle", "steal", "unobserved", "residual")}
        found["share of the account"] = {
            name: value / found["wall"] for name, value in found["part of the account"].items()}
        for name in ("user", "kernel", "interrupts", "idle", "steal", "unobserved", "residual"):
            found[f"share of a CPU: {name}"] = {cpu: found[f"of a CPU: {name}"][cpu] / wall[cpu] for cpu in (0, 1)}
        found["share of the observer"] = ACCOUNT["observer_cpu_ns"] / found["wall"]
        found["mean wall"] = found["wall"] // 2
        found["lost time"] = sum(min(ACCOUNT_CPUS[cpu]["lost_records"] * PERIOD, unobserved[cpu]) for cpu in (0, 1))
        kernel = [sample for sample in self.samples if self.mode(sample) == "kernel"]
        for name, chosen in (("system calls", lambda s: s.kernel[0] == CALL[0]),
                             ("faults", lambda s: s.kernel[0] == FAULT[0]),
                             ("kernel threads", lambda s: s.thread == 3019),
                             ("other", lambda s: s.kernel == ("copy_page",))):
            found[name] = PERIOD * sum(map(chosen, kernel))
        found["hard interrupts"], found["softirqs"] = PERIOD * len(hard), found["interrupts"] - PERIOD * len(hard)
        # A sample of idle time stands for its part of the idle time that the switches have.
        self.idle_weight = {cpu: idle[cpu] / self.ticks("idle")[cpu] for cpu in (0, 1)}
        found["interrupts in idle"] = sum(self.weight(s) for s in self.samples if not s.thread and len(s.kernel) > 1)
        per_cpu("switches", {cpu: sum(turn.cpu == cpu for turn in self.turns) - 1 for cpu in (0, 1)})
        seen = {mode: sum(self.ticks(mode).values()) for mode in ("user", "kernel", "irq", "idle")}
        ticks = {**seen, "all": len(self.samples), "due": len(self.samples) + len(MISSING),
                          "missing": len(MISSING), "missing_busy": sum(missing.values()),
                          "missing_idle": sum(still.values()), "throttled": sum(THROTTLED)}
        found.update({f"ticks: {name}": value for name, value in ticks.items()})
        found["detail of the account"] = {
            "syscalls": found["system calls"], "faults": found["faults"], "kernel threads": found["kernel threads"],
            "other": found["other"], "hard": found["hard interrupts"], "softirqs": found["softirqs"],
            "interrupts in it": found["interrupts in idle"], "lost": found["lost time"]}
        own = sum(s.thread in self.users for s in self.samples)
        found["stacks: with a user's part"], found["stacks: without a user's part"] = own, len(self.samples) - own
        found["stacks: of an image"] = self.sum_of(
            lambda s: str(self.programs[NAMES[PROCESS[s.thread]]]), lambda s: 1,
            [s for s in self.samples if s.thread in self.users])
        found["stacks: of a reason"] = {"frame pointers end there": own}
        found["samples of busy time"] = len(self.samples) - seen["idle"]
        found["samples of idle time"] = seen["idle"]
        busy = self.ticks("user", "kernel", "irq")
        found["of a CPU: seen while busy"], found["of a CPU: seen while idle"] = busy, self.ticks("idle")
        found["of a CPU: due while busy"] = {cpu: busy[cpu] + missing[cpu] for cpu in (0, 1)}
        found["of a CPU: due while idle"] = {cpu: self.ticks("idle")[cpu] + still[cpu] for cpu in (0, 1)}
        found["of a CPU: weight while busy"] = times(busy)
        found["of a CPU: weight while idle"] = times(self.ticks("idle"))
        found["of a CPU: period"] = {0: PERIOD, 1: PERIOD}
        found["of a CPU: throttled"] = dict(enumerate(THROTTLED))
        found["of a CPU: samples"] = self.ticks("user", "kernel", "irq", "idle")
        found["of a CPU: samples in the kernel"] = self.ticks("kernel", "irq")
        found["of a CPU: samples of idle time"] = self.ticks("idle")
        found["of a CPU: samples of users"] = self.ticks("user")
        found["of a CPU: weight"] = self.sum_of(lambda s: s.cpu, self.weight, self.samples)
        every = sum(found["of a CPU: weight"].values())
        found["of a CPU: share"] = {cpu: value / every for cpu, value in found["of a CPU: weight"].items()}

    def weight(self, sample):
        return PERIOD if sample.thread else self.idle_weight[sample.cpu]

    def owner(self, sample):
        """The process; interrupts are one of their own."""
        return ("[interrupts]" if self.mode(sample) == "irq" else NAMES[PROCESS[sample.thread]] if sample.thread
                else "swapper")

    def add_rows(self, found):
        every = sum(map(self.weight, self.samples))
        function = lambda s: f"{(*s.user, *s.kernel)[-1]}/{self.mode(s)}"
        name = lambda s: (*s.user, *s.kernel)[-1]
        for what, key in (("a function by mode", function), ("a function", name), ("a process", self.owner),
                          ("a mode", self.mode)):
            found[f"samples of {what}"] = self.sum_of(key, lambda s: 1, self.samples)
            found[f"weight of {what}"] = self.sum_of(key, self.weight, self.samples)
            found[f"share of {what}"] = {k: v / every for k, v in found[f"weight of {what}"].items()}
        found["weight of a busy process"] = {
            name: found["weight of a process"][name] for name in ("server", "client", "kworker")}
        found["share of a large process"] = {name: found["share of a process"][name]
                                             for name in ("server", "client", "[interrupts]")}
        found["weight of the event"] = PERIOD * len(self.samples)
        found["weight of an event"] = {"cpu-clock": PERIOD * len(self.samples)}
        found["weight of an event"].update({e: found["samples of an event"][e] for e in (
            "sched:sched_switch", "sched:sched_waking")})
        found["samples of a function with callees"] = self.sum_of(lambda item: item, lambda item: 1, [
            name for s in self.samples for name in {*s.user, *s.kernel}])
        thread = lambda s: -1 if self.mode(s) == "irq" else s.thread
        found["samples of a thread"] = self.sum_of(thread, lambda s: 1, self.samples)
        found["weight of a thread"] = self.sum_of(thread, self.weight, self.samples)
        found["samples of users of a thread"] = self.sum_of(thread, lambda s: self.mode(s) == "user", self.samples)
        found["samples of the kernel of a thread"] = self.sum_of(
            thread, lambda s: self.mode(s) in ("kernel", "irq"), self.samples)
        found["samples of idle time of a thread"] = self.sum_of(thread, lambda s: not s.thread, self.samples)
        found["share of a thread"] = {key: value / every for key, value in found["weight of a thread"].items()}
        found["pid of a thread"] = {**PROCESS, 0: 0, -1: -1}
        found["samples of the kernel and of idle time of a process"] = self.sum_of(
            self.owner, lambda s: self.mode(s) != "user", self.samples)
        self.add_parts(found, "the kernel's functions", function, lambda s: self.mode(s) in ("kernel", "irq"))
        self.add_parts(found, "the server's functions", name,
                       lambda s: self.owner(s) == "server" and self.mode(s) == "user")
        self.add_parts(found, "the server's calls", name,
                       lambda s: self.owner(s) == "server" and self.mode(s) == "kernel")
        found["share of the server"] = found["share of a process"]["server"]
        for mode, modes in (("users", ("user",)), ("the kernel", ("kernel", "irq")), ("idle time", ("idle",))):
            found[f"samples of {mode} of a process"] = self.sum_of(
                self.owner, lambda s, modes=modes: self.mode(s) in modes, self.samples)
        found["interrupts that hit a process"] = self.sum_of(
            lambda s: NAMES[PROCESS[s.thread]], lambda s: 1, [s for s in self.samples if self.mode(s) == "irq"])
        found["pid of a process"] = {**{NAMES[pid]: pid for pid in set(PROCESS.values())}, "swapper": 0}
        found["pid of a row"] = {**found["pid of a process"], "[interrupts]": -1}

    def add_parts(self, found, what, key, chosen):
        """Shares are those of the chosen samples."""
        some = [sample for sample in self.samples if chosen(sample)]
        found[f"samples of {what}"] = self.sum_of(key, lambda s: 1, some)
        found[f"weight of {what}"] = self.sum_of(key, self.weight, some)
        found[f"share of {what}"] = {k: v / len(some) for k, v in found[f"samples of {what}"].items()}

    def add_waits(self, found):
        waited = [wait for wait in self.waits if wait.kind != "start"]
        woken = [wait for wait in waited if wait.kind in ("thread", "irq", "softirq")]
        by_thread = [wait for wait in woken if wait.kind == "thread"]
        woken_by = lambda wait: f"{KINDS[wait.kind]}/{wait.waker if wait.kind == 'thread' else ''}"
        edge = lambda wait: f"{wait.waker}/{wait.thread}"
        process = lambda wait: NAMES[PROCESS[wait.thread]]
        function = lambda wait: f"{wait.stack[-1]}/{'irq' if wait.state == 'R' else 'kernel'}"
        for name in ("blocked", "runnable"):
            value = lambda wait, name=name: getattr(wait, name)
            found[name] = sum(map(value, waited))
            found[f"{name} of a process"] = self.sum_of(process, value, waited)
            found[f"{name} of a function by mode"] = self.sum_of(function, value, waited)
            found[f"{name} of a function"] = self.sum_of(lambda wait: wait.stack[-1], value, waited)
            # Switch records alone have no wake-ups: what is not preempted is blocked.
            found[f"{name} of a process by switches"] = self.sum_of(
                process, lambda wait, name=name: (wait.blocked + wait.runnable)
                if (wait.state == "R") == (name == "runnable") else 0, waited)
            found[f"{name} of a thread"] = self.sum_of(lambda wait: wait.thread, value, waited)
            found[f"{name} of a kind"] = self.sum_of(lambda wait: KINDS[wait.kind], value, self.waits)
            found[f"{name} by a waker"] = self.sum_of(woken_by, value, woken)
            found[f"{name} by a thread"] = self.sum_of(edge, value, by_thread)
        found["on CPU of a process"] = self.sum_of(
            lambda turn: NAMES[PROCESS[turn.thread]], lambda turn: self.end_of(turn) - self.start_of(turn),
            [turn for turn in self.turns if turn.thread])
        found["on CPU"] = sum(found["on CPU of a process"].values())
        found["waits of a kind"] = self.sum_of(lambda wait: KINDS[wait.kind], lambda wait: 1, self.waits)
        found["waits by a waker"] = self.sum_of(woken_by, lambda wait: 1, woken)
        found["waits"], found["wakings"] = len(waited), self.count_wakings()
        found["threads"] = len(NAMES)
        found["wall of all threads"] = len(NAMES) * found["elapsed"]
        found["preempted"] = sum(wait.runnable for wait in waited if wait.state == "R")
        found["woken and runnable"] = found["runnable"] - found["preempted"]
        found["before the first record"] = sum(wait.blocked for wait in self.waits if wait.kind == "start")
        found["not seen"] = found["wall of all threads"] - found["on CPU"] - found["blocked"] - found["runnable"]
        found["blocked without a waker"] = sum(wait.blocked for wait in waited if wait.kind == "open")
        found["part of the waits"] = {
            "on CPU": found["on CPU"], "runnable": found["runnable"], "preempted": found["preempted"],
            "after a wake-up": found["woken and runnable"], "blocked": found["blocked"],
            "not seen": found["not seen"]}
        found["summary of the waits"] = {"oncpu": found["on CPU"], "blocked": found["blocked"],
                                         "runnable": found["runnable"], "unseen": found["not seen"]}
        found["share of the summary of the waits"] = {
            name: value / found["wall of all threads"] for name, value in found["summary of the waits"].items()}
        for name, key, chosen in (("of a thread", lambda wait: wait.thread, waited),
                                  ("by a waker", woken_by, woken), ("by a thread", edge, by_thread)):
            found[f"longest {name}"] = {}
            for wait in chosen:
                length = wait.blocked + wait.runnable
                found[f"longest {name}"][key(wait)] = max(found[f"longest {name}"].get(key(wait), 0), length)
        self.add_causes(found, waited)

    def released_by(self, wait):
        if wait.kind == "preempted":
            return NAMES[next(turn.thread for turn in self.turns if turn.start == wait.start)]
        if wait.kind == "thread":
            return f"{NAMES[wait.waker]} in {WORK[wait.waker][0][0][-1]}"
        return f"[{KINDS[wait.kind]}]" if wait.kind != "open" else ""

    def add_causes(self, found, waited):
        causes = collections.defaultdict(list)
        for wait in waited:
            causes[f"{NAMES[wait.thread]}/{self.released_by(wait)}"].append(wait)
        lengths = lambda waits: sorted(wait.blocked + wait.runnable for wait in waits)
        rank = lambda waits, part: lengths(waits)[round(part * (len(waits) - 1))]
        for name, value in (("blocked", lambda waits: sum(wait.blocked for wait in waits)),
                            ("runnable", lambda waits: sum(wait.runnable for wait in waits)),
                            ("share", lambda waits: sum(lengths(waits)) / found["wall of all threads"]),
                            ("lost", lambda waits: sum(wait.blocked for wait in waits if wait.kind == "open")),
                            ("waits", len), ("longest", lambda waits: lengths(waits)[-1]),
                            ("median", lambda waits: rank(waits, 0.5) if len(waits) > 100 else 0),
                            ("99th percentile", lambda waits: rank(waits, 0.99) if len(waits) > 100 else 0)):
            found[f"of a cause: {name}"] = {key: value(waits) for key, waits in causes.items()}


KINDS = {"start": "not seen", "preempted": "preempted", "open": "lost", "thread": "thread", "irq": "interrupt",
         "softirq": "softirq"}
