# SPDX-License-Identifier: GPL-2.0-or-later
"""What other kernels and recorders write into perf.data: names of code that the kernel generated,
with their times; user stacks in records of their own; samples that a filter rejected; marks in call
chains that are not known. And the names of BPF programs in recordings of assay.
"""
import os
import struct
import time

import stores
from harness import ASSAY, main, run, test

IP, TID, TIME, CPU, PERIOD, CALLCHAIN, IDENTIFIER = 1, 2, 4, 128, 256, 32, 1 << 16
SAMPLE_ID_ALL, COMM, TASK, MMAP2 = 1 << 18, 1 << 9, 1 << 13, 1 << 23
KERNEL_MARK, USER_MARK, DEFERRED_MARK = -128, -512, -640
KERNEL, USER, MS = 1, 2, 1000000
CODE = 0xffffffffa0001000


def words(*values):
    return struct.pack(f"<{len(values)}Q", *(v & (2 ** 64 - 1) for v in values))


def text(value):
    raw = value.encode() + b"\0"
    return raw.ljust(-(-len(raw) // 8) * 8, b"\0")


class Stream:
    """perf.data as `perf record -o -` writes it."""

    def __init__(self):
        attr = struct.pack("<IIQQQQQ", 1, 128, 0, MS, IP | TID | TIME | CPU | PERIOD | CALLCHAIN
                           | IDENTIFIER, 0, SAMPLE_ID_ALL | COMM | TASK | MMAP2).ljust(128, b"\0")
        self.out = b"PERFILE2" + words(16)
        self.record(64, attr + words(7))
        self.other(3, struct.pack("<II", 9, 9) + text("work"), 0, USER)

    def record(self, kind, body, misc=0):
        self.out += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def other(self, kind, body, time, misc=KERNEL):
        self.record(kind, body + struct.pack("<IIQIIQ", 9, 9, time, 0, 0, 7), misc)

    def code(self, time, address, size, name, kind=1, ended=0):
        self.other(17, struct.pack("<QIHH", address, size, kind, ended) + text(name), time)

    def sample(self, time, *chain, mode=KERNEL):
        ip = next(address for address in chain if address > 0)
        self.record(9, words(7, ip) + struct.pack("<IIQIIQ", 9, 9, time, 0, 0, MS)
                    + words(len(chain), *chain), mode)


def folded(t, stream):
    lines = t.assay("export", "--to", "folded", t.write("p.data", stream.out)).out.splitlines()
    return {way: int(n) for way, n in (line.rsplit(" ", 1) for line in lines)}


@test
def code_of_the_kernel_has_its_name_from_its_record_on(t):
    s = Stream()
    for i in range(4):
        s.sample((10 + i) * MS, KERNEL_MARK, CODE + 8)
    s.code(20 * MS, CODE, 64, "bpf_prog_11_first")
    s.code(21 * MS, CODE + 4096, 64, "ftrace_trampoline", kind=2)
    for i in range(3):
        s.sample((30 + i) * MS, KERNEL_MARK, CODE + 8, CODE + 4096 + 63)
    s.sample(40 * MS, KERNEL_MARK, CODE + 64)
    s.code(50 * MS, CODE, 64, "bpf_prog_11_first", ended=1)
    s.sample(51 * MS, KERNEL_MARK, CODE + 8)
    s.code(52 * MS, CODE, 128, "bpf_prog_22_second")
    s.sample(53 * MS, KERNEL_MARK, CODE + 100)
    t.equal(folded(t, s), {"work;[no symbol]": 6, "work;ftrace_trampoline;bpf_prog_11_first": 3,
                           "work;bpf_prog_22_second": 1})
    images = {row["image"] for row in t.report("--full", "--sort", "dso", t.path("p.data"))["functions"]}
    t.true({"[bpf]"} <= images, f"images: {images}")


@test
def names_of_code_are_used_inside_a_mapping_of_the_kernel(t):
    s = Stream()
    s.code(1 * MS, CODE, 64, "kprobe_insn_page", kind=2)
    s.other(1, struct.pack("<IIQQQ", 2 ** 32 - 1, 0, CODE - 4096, 1 << 20, CODE - 4096)
            + text("[kernel.kallsyms]_text"), 2 * MS)
    s.sample(3 * MS, KERNEL_MARK, CODE + 1)
    t.equal(folded(t, s), {"work;kprobe_insn_page": 1})


def mapped(s, name="/none/prog"):
    s.other(10, struct.pack("<IIQQQIIQQII", 9, 9, 0x400000, 0x10000, 0, 8, 1, 5, 0, 5, 2) + text(name),
            MS, USER)


def depths(t, stream):
    """Frames of each stack, to samples."""
    found = {}
    for way, count in folded(t, stream).items():
        found[way.count(";")] = found.get(way.count(";"), 0) + count
    return found


@test
def user_stacks_in_records_of_their_own_are_joined_by_cookie(t):
    for mark in ((), (USER_MARK,)):
        s = Stream()
        mapped(s)
        for i in range(6):
            s.sample((10 + 10 * i) * MS, KERNEL_MARK, 0xffffffff81000010, DEFERRED_MARK, 70 + i // 2)
            if i % 2:  # one record for two samples
                user = (*mark, *range(0x400100, 0x400100 + 16 * (i + 1), 16))
                s.other(22, words(70 + i // 2, len(user), *user), (11 + 10 * i) * MS, USER)
        t.equal(depths(t, s), {3: 2, 5: 2, 7: 2}, f"frames of the user and one of the kernel ({mark})")


@test
def a_cookie_that_is_used_again_means_the_next_record(t):
    s = Stream()
    mapped(s)
    for i, user in enumerate(((0x400100,), (0x400100, 0x400200, 0x400300))):
        s.sample((10 + 10 * i) * MS, KERNEL_MARK, 0xffffffff81000010, DEFERRED_MARK, 5)
        s.other(22, words(5, len(user), *user), (11 + 10 * i) * MS, USER)
    t.equal(depths(t, s), {2: 1, 4: 1})


@test
def a_missing_user_stack_and_unknown_marks_are_counted(t):
    s = Stream()
    for i in range(5):
        s.sample((10 + i) * MS, KERNEL_MARK, 0xffffffff81000010, DEFERRED_MARK, 90 + i)
    for i in range(3):
        s.sample((20 + i) * MS, KERNEL_MARK, 0xffffffff81000010, -3000, 0x400100)
    s.other(22, words(90, 500, 1), 12 * MS, USER)  # more addresses than the record has
    file = t.write("p.data", s.out)
    report = t.report(file)
    t.has(" ".join(report["warnings"]), "call chains of 4 samples is missing")
    t.equal(report["stacks"]["unknown_marks"], 7, "unknown marks")
    t.has(" ".join(t.assay("report", "--full", file).out.split()), "7 call chains are cut at a mark")


@test
def samples_that_a_filter_rejected_are_not_lost(t):
    s = Stream()
    s.sample(10 * MS, KERNEL_MARK, CODE)
    s.other(13, words(9000), 11 * MS, 1 << 15)
    s.other(13, words(3), 12 * MS, 0)
    report = t.report(t.write("p.data", s.out))
    recording = report["recordings"][0]
    t.equal((recording["lost_samples"], recording["rejected_samples"]), (3, 9000))
    t.has(" ".join(report["warnings"]), "rejected 9000 samples")


def bpf_program(t):
    """A program that loads and runs BPF code."""
    t.need("gcc")
    if os.geteuid():
        t.skip("not root")
    program = t.path("bpf")
    t.run("gcc", "-O1", "-o", program, os.path.join(os.path.dirname(__file__), "../workloads/bpf_loop.c"))
    if run(program, "0", status=None).status:
        t.skip("no BPF programs can be loaded here")
    return program


@test
def a_recording_names_bpf_programs(t):
    """The program is loaded before the recording begins, and while it runs."""
    program = bpf_program(t)
    before = t.start(program, "3")
    t.until(lambda: "assay_loop" in open("/proc/kallsyms", encoding="ascii").read(), "the program")
    for when, command in (("before", ["sleep", "1"]), ("during", [program, "1"])):
        if when == "during":
            t.wait(before)
        t.assay("record", "-a", "-g", "-q", "-o", t.path("d"), "--", *command)
        ways = t.assay("export", "--to", "folded", t.path("d")).out.splitlines()
        below = [line.rsplit(" ", 1) for line in ways if "bpf_test_run;" in line]
        named = sum(int(n) for way, n in below if way.endswith("_assay_loop"))
        unnamed = sum(int(n) for way, n in below if "[no symbol]" in way or "[unknown]" in way)
        t.true(named and not unnamed, f"{when}: named {named}, without a name {unnamed}")


@test
def bpf_programs_are_in_time_for_each_of_several_recorders(t):
    """Linux writes the record of a new program too long for all recorders but one: it ends with old bytes of
    their buffers, which are small here, so that they have some."""
    program = bpf_program(t)
    files = [t.path(f"{i}.data") for i in range(2)]
    command = ["sh", "-c", f"{program} 1; for i in 1 2 3 4 5 6 7 8 9; do {program} 0; done; {program} 1"]
    options = ["--memory", "1", "-F", "2999"]
    for path in files:
        command = [ASSAY, "record", "-a", "-g", "-q", *options, "-o", path, "--", *command]
    store, env = t.path("a.db"), t.runtime()
    session = t.start(ASSAY, "start", "--foreground", *options, "--store", store, "--window", "1",
                      env={**os.environ, **env})
    t.until(lambda: t.assay("status", status=None, env=env).status == 0, "the session")
    began = time.time()
    t.run(*command)
    took = time.time() - began
    t.assay("stop", env=env)
    t.equal(t.wait(session), 0, "the end of the session")
    with stores.reading(store) as db:
        t.true(stores.number(db, "SELECT max(end_ns) FROM window") < (time.time() + 2) * 1e9, "the last window")
    for path in files:
        report = t.report(path)
        lasted = report["recordings"][0]["elapsed_ns"] / 1e9
        t.true(1 < lasted < took, f"{lasted} of {took} s")
        ways = t.assay("export", "--to", "folded", path).out.splitlines()
        t.true(any(way.rpartition(" ")[0].endswith("_assay_loop") for way in ways), "the program has its name")


main()
