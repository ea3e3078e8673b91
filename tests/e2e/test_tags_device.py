# SPDX-License-Identifier: GPL-2.0-or-later
"""test_tags_device: captures of a device, read and reported, against a simulated kernel
that knows the truth (device_capture).

ASSAY_SEEDS sets how many machines each test simulates.
"""
import os
import random
import re

from harness import LONG, main, test

from device_capture import Machine, Plan
from device_ctf import write_ctf
from device_recorder import CLOCK_BITS, Recorder, records, table
from device_truth import Against, imported, reported, rows

SEEDS = int(os.environ.get("ASSAY_SEEDS", 1500 if LONG else 24))
US = 1000


def simulate(t, first, plan_of):
    """Simulates machines with many seeds, and compares each with its report."""
    for seed in range(first, first + SEEDS):
        machine = Machine(seed, plan_of(random.Random(seed)))
        machine.run()
        Against(t, reported(t, machine), machine.truth, seed).all()


@test
def processes_interrupts_and_idle_are_those_of_the_kernel(t):
    simulate(t, 0, lambda r: Plan(processes=r.randrange(1, 7), tags=r.choice([40, 400, 3000])))


@test
def captures_may_begin_at_any_event(t):
    simulate(t, 10000, lambda r: Plan(processes=r.randrange(1, 7), begin=r.randrange(1, 900),
                                      tags=r.choice([20, 200, 1500])))


@test
def processes_are_distinguished_by_callers_if_all_sleep_in_one_function(t):
    simulate(t, 20000, lambda r: Plan(processes=r.randrange(2, 7), shared_sleep=True, tags=1000))


@test
def a_long_capture_with_many_processes_and_turns_of_the_clock_is_exact(t):
    machine = Machine(3, Plan(processes=60, begin=777, tags=1000000 if LONG else 150000))
    truth = machine.run()
    t.true(truth.elapsed > 3 << CLOCK_BITS, "the clock does not turn round: choose another seed")
    Against(t, reported(t, machine), truth, 3).all()


@test
def calls_that_longjmp_left_and_exits_that_got_lost_change_no_other_figure(t):
    lost = set()

    def plan_of(r):
        return Plan(processes=r.randrange(1, 5), longjmp=0.8 * r.random(), tags=1200,
                    lost=r.choice([0, 0.01, 0.1]), begin=r.choice([0, 300]))

    for seed in range(30000, 30000 + SEEDS):
        machine = Machine(seed, plan_of(random.Random(seed)))
        truth = machine.run()
        report = reported(t, machine)
        Against(t, report, truth, seed).all()
        lost |= truth.unsure
    t.true(lost, "no exit was lost: the test tests nothing")


@test
def ambiguous_processes_are_counted_and_the_time_adds_up(t):
    guesses = 0
    for seed in range(40000, 40000 + SEEDS):
        r = random.Random(seed)
        plan = Plan(processes=r.randrange(2, 7), same_paths=True, tags=1000, cut=r.random() < 0.5,
                    begin=r.choice([0, 200]), longjmp=r.choice([0, 0.3]))
        machine = Machine(seed, plan)
        machine.run()
        report = reported(t, machine)
        Against(t, report, machine.truth, seed).books()
        guesses += report["guesses"]
    t.true(guesses > SEEDS, "guesses were not reported")


@test
def among_ambiguous_processes_the_one_that_waited_longest_continues(t):
    """A kernel that keeps this order is analysed correctly, although many switches are guessed."""
    guesses = 0
    for seed in range(50000, 50000 + SEEDS):
        machine = Machine(seed, Plan(processes=3, fifo=True, again=True, births=False, cut=True,
                                     shared_sleep=seed % 2 == 0, tags=1000))
        truth = machine.run()
        report = reported(t, machine)
        against = Against(t, report, truth, seed)
        against.books()
        against.time(report, "idle_ns", truth.idle)
        guesses += report["guesses"]
        for name, row in against.rows.items():
            against.time(row, "net_ns", truth.functions[name].net)
            against.time(row, "elapsed_ns", truth.functions[name].elapsed)
    t.true(guesses > SEEDS, "guesses were not reported")


def by_hand(t, names, events):
    """The report of the given events: (time, name), or (time, -name) for exits."""
    tags = {name.rstrip("!="): 500 + 2 * i for i, name in enumerate(names.split())}
    text = "".join(f"{name.rstrip('!=')}/{tags[name.rstrip('!=')]}{name[len(name.rstrip('!=')):]}\n"
                   for name in names.split())
    data = records([(time, tags[name.lstrip("-")] + name.startswith("-")) for time, name in events])
    report = t.report(imported(t, data, text))
    times = {name: (row["calls"], row["elapsed_ns"] // US, row["net_ns"] // US)
             for name, row in rows(report).items()}
    return report, times


@test
def an_exit_without_a_matching_caller_goes_to_the_process_that_waited_longest(t):
    """The exit of `a` is lost after its process has left `sleep`."""
    report, times = by_hand(t, "top a b sleep fork swtch!", [
        (0, "top"), (1, "a"), (3, "sleep"), (6, "swtch"), (10, "-swtch"),
        (11, "-fork"), (11, "b"), (12, "sleep"), (14, "swtch"), (20, "-swtch"),
        (25, "-sleep"), (27, "-top"), (30, "swtch"), (31, "-swtch"), (33, "-sleep"), (36, "-b")])
    t.equal(times["top"], (1, 6 + 7, 1), "calls, elapsed and net of top")
    t.equal(times["b"], (1, 3 + 5, 1 + 3), "of b")
    t.equal((report["missing_exits"], report["guesses"]), (1, 1), "missing exits and guesses")
    t.equal(report["idle_ns"], (4 + 6 + 1) * US, "idle")


@test
def a_switch_function_in_another_is_one_switch(t):
    report, times = by_hand(t, "f swtch! idle! irq", [
        (0, "f"), (10, "swtch"), (12, "idle"), (20, "irq"), (25, "-irq"), (30, "-idle"),
        (33, "-swtch"), (40, "-f")])
    t.equal(times, {"f": (1, 17, 17), "irq": (1, 5, 5)}, "calls, elapsed and net")
    t.equal((report["run_ns"], report["idle_ns"]), (22 * US, 18 * US), "run and idle")
    t.equal(report["processes"], 1, "processes")


LINE = re.compile(r"^ *(\d+)\.(\d{3}) (\d{3})  ( *)(->|<-|==) (\S+)(.*)$")
SWITCH_LINE = re.compile(r"^ *(\d+)\.(\d{3}) (\d{3})  ---- Context switch (in|out) ----")
ARROWS = {"enter": "->", "exit": "<-", "unmatched": "<-", "inline": "=="}


def ticks_of(text):
    """Microseconds of "12 us" or "1.500000 s"."""
    number, unit = text.split()
    return round(float(number) * 1000000) if unit == "s" else int(number)


def path_lines(text):
    """(time, depth, arrow, name, (net, total) or None) of each line of a code path."""
    for line in text.splitlines():
        found = SWITCH_LINE.match(line)
        if found:
            yield int(found[1] + found[2] + found[3]), None, found[4], Machine.SWITCH, None
            continue
        found = LINE.match(line)
        if not found or found[6] == Machine.SWITCH:
            continue
        times = re.search(r"\((?!\.\.\.)([^,]*), (.*?)\)", found[7])
        yield (int(found[1] + found[2] + found[3]), len(found[4]) // 2, found[5], found[6],
               times and (ticks_of(times[1]), ticks_of(times[2])))


def true_lines(truth):
    begin = truth.events[0][0]
    for step in truth.steps:
        if step.kind in ("in", "out"):
            yield step.time - begin, None, step.kind, step.name, None
            continue
        ended = step.kind == "enter" and step.call.ended
        yield (step.time - begin, step.depth, ARROWS[step.kind], step.name,
               (step.call.net, step.call.total) if ended else None)


@test
def the_code_path_has_each_call_in_its_caller_with_its_times(t):
    for seed in range(100000, 100000 + SEEDS):
        r = random.Random(seed)
        shared = r.random() < 0.5
        # A process that slept before the capture began, in a function in which all processes sleep,
        # is taken for another one.
        machine = Machine(seed, Plan(processes=r.randrange(1, 6), tags=r.choice([60, 600]),
                                     begin=0 if shared else r.choice([0, 300]),
                                     shared_sleep=shared))
        truth = machine.run()
        directory = imported(t, records(truth.events), machine.names())
        got = list(path_lines(t.assay("tags", "trace", directory).out))
        open_calls = {id(step.call) for step in truth.steps
                      if step.kind == "enter" and not step.call.ended}
        t.true(len(got) >= len(truth.steps), f"machine {seed}: lines are missing")
        wanted = list(true_lines(truth))
        for i, (line, want) in enumerate(zip(got, wanted)):
            if want[4] is None:  # open at the end: its times are those until then
                line = (*line[:4], None)
            t.equal(line, want, f"machine {seed}: line {i + 1} of the code path")
        t.equal(len(got) - len(wanted), len(open_calls),
                f"machine {seed}: lines for what is open at the end")


@test
def csv_other_layouts_and_byte_orders_give_the_same_report(t):
    for seed in range(60000, 60000 + max(SEEDS // 6, 3)):
        machine = Machine(seed, Plan(tags=800, begin=seed % 2 * 100, gap=1 << 16))
        events = machine.run().events
        plain = reported(t, machine)
        Against(t, plain, machine.truth, seed).all()
        mask = (1 << 40) - 1
        wide = b"".join((time & mask).to_bytes(5, "little") + bytes([9]) +
                        tag.to_bytes(4, "little") for time, tag in events)
        for what, data, options in (
                ("CSV", table(events), ["--layout", "csv"]),
                ("CSV, clock first, wrapping", table(events, 20, first="clock,tag"),
                 ["--layout", "csv", "--clock-bits", "20"]),
                ("CSV without a first line", table(events, first=""), ["--layout", "csv"]),
                ("big-endian", records(events, big_endian=True), ["--big-endian"]),
                ("a field between", wide, ["--layout", "clock:40,pad:8,tag:32"]),
                ("fewer bits that turn round", records(events, 17, clock_bytes=4),
                 ["--layout", "tag:16,clock:32", "--clock-bits", "17"])):
            t.equal(reported(t, machine, *options, data=data), plain,
                    f"machine {seed}: the report of {what}")


@test
def a_ctf_trace_of_others_of_the_same_capture_gives_the_same_report(t):
    widths = [(16, 32), (16, 24), (24, 40), (32, 32), (32, 64), (64, 64)]
    for seed in range(65000, 65000 + max(SEEDS // 6, len(widths))):
        machine = Machine(seed, Plan(tags=1500, begin=seed % 2 * 100))
        machine.run()
        id_bits, time_bits = widths[seed % len(widths)]
        directory = write_ctf(t.path(f"foreign{seed}"), machine, random.Random(seed),
                              id_bits=id_bits, time_bits=time_bits)
        report = t.report(directory)
        Against(t, report, machine.truth, f"{seed}, {id_bits} and {time_bits} bits").all()
        own = reported(t, machine)
        # The command lines name the directories.
        report["summary"].pop("next")
        own["summary"].pop("next")
        t.equal(report, own, f"machine {seed}: the report of a foreign trace")


@test
def a_clock_of_another_rate_gives_other_times(t):
    for seed in range(70000, 70000 + max(SEEDS // 6, 3)):
        machine = Machine(seed, Plan(tags=800))
        machine.run()
        for hz in (3000000, 1000000000, 32768):
            report = reported(t, machine, "--hz", hz)
            Against(t, report, machine.truth, seed, hz).all()


@test
def a_clock_that_turns_round_between_all_events_loses_no_time(t):
    """Consecutive intervals of one tick less than a wrap of the clock."""
    turn = 1 << CLOCK_BITS
    machine = Recorder(start=turn - 5)
    for _ in range(200):
        machine.enter("leaf0")
        machine.pass_time(turn - 1)
        machine.leave()
        machine.pass_time(turn - 1)
    machine.enter("leaf1")
    machine.leave()
    Against(t, reported(t, machine), machine.truth, "of long waits").all()
    report = reported(t, machine)
    t.equal(rows(report)["leaf0"]["net_ns"], 200 * (turn - 1) * US, "net of leaf0")
    t.equal(report["outside_ns"], 200 * (turn - 1) * US, "time outside")


@test
def tags_without_a_name_are_counted_and_keep_their_times(t):
    for seed in range(80000, 80000 + max(SEEDS // 6, 3)):
        machine = Machine(seed, Plan(tags=800))
        truth = machine.run()
        missing = max((n for n in truth.functions if n != Machine.SWITCH),
                      key=lambda n: truth.functions[n].calls)
        tag = machine.tags[missing]
        names = machine.names(without=[missing])
        report = t.report(imported(t, records(truth.events), names))
        t.equal(report["unknown_tags"], sum(1 for e in truth.events if e[1] in (tag, tag + 1)),
                f"machine {seed}: unknown tags")
        row = rows(report)[f"tag {tag}"]
        t.equal(row["net_ns"], truth.functions[missing].net * US, f"machine {seed}: its net")
        t.equal(row["calls"], truth.functions[missing].calls, f"machine {seed}: its calls")


@test
def babeltrace_reads_the_same_events_from_what_was_imported(t):
    t.need("babeltrace2")
    for seed in range(90000, 90003):
        machine = Machine(seed, Plan(tags=2000, begin=100))
        events = machine.run().events
        directory = imported(t, records(events), machine.names())
        names = {tag: name for name, tag in machine.tags.items()}
        names.update({tag + 1: f"{name}:exit" for name, tag in machine.tags.items()
                      if name not in machine.truth.inline})
        got = []
        text = t.run("babeltrace2", "--clock-cycles", directory).out
        for line in text.splitlines():
            time, rest = line[1:].split("]", 1)
            name = rest.split("{")[0].split()[-1].rstrip(":")
            got.append((int(time), name))
        t.equal([time - got[0][0] for time, _ in got], [e[0] - events[0][0] for e in events],
                f"machine {seed}: times")
        t.equal([name for _, name in got], [names[tag] for _, tag in events],
                f"machine {seed}: names")


@test
def many_captures_of_one_machine_are_read_as_well_as_one(t):
    """A dump that is truncated at any byte, also within a record: the part that exists is reported."""
    machine = Machine(7, Plan(tags=300, cut=True))
    data = records(machine.run().events)
    for cut in sorted(random.Random(7).sample(range(10, len(data)), 20)):
        report = reported(t, machine, data=data[:cut])
        t.equal(report["tags"], cut // 5, f"tags of {cut} bytes")


@test
def an_import_that_fails_leaves_no_directory(t):
    dump = t.path("bad.csv")
    dump.write_text("clock,tag\n1,no number\n")
    for words in (("--layout", "csv", dump), (t.path("none"),)):
        t.assay("tags", "import", "-o", t.path("out"), *words, status=1)
        t.true(not t.path("out").exists(), f"a directory after {words}")


@test
def functions_of_a_kernel_have_its_groups(t):
    names = "tcp_ack/100\nvfs_read/102\n__switch_to/104!\n"
    events = [(10, 100), (40, 101), (50, 102), (70, 103), (80, 104), (90, 105)]
    trace = imported(t, records(events), names)
    found = {row["group"]: row["calls"] for row in t.report(trace, "--sort", "group")["rows"]}
    t.equal({name: found.get(name) for name in ("kernel/network", "kernel/file systems")},
            {"kernel/network": 1, "kernel/file systems": 1}, "groups")


if __name__ == "__main__":
    main()
