# SPDX-License-Identifier: GPL-2.0-or-later
"""tags list, get, capture, import, names, flags: running programs are listed, copied and switched
without being disturbed; dumps of other devices are converted to traces; names and flags give builds
what they need."""
import os
import signal
import struct
import subprocess
import time

from harness import BUILD, ROOT, main, test
from programs import Obeying
from tags_program import build, calls_of, events_of, left_over, of_rounds, place


class Recorded(Obeying):
    """A program that records itself."""

    def __init__(self, t, program, *steps, env=None):
        super().__init__(t, program, *steps, env={**place(t), **(env or {})})


def tags(t, *words, **options):
    return t.assay("tags", *words, env=place(t), **options)


def got(t, *words):
    tags(t, "get", "-q", "-o", t.path("got"), *words)
    return t.report(t.path("got"))


def listed(t, *words):
    found = t.json(tags(t, "list", "--json", *words).out)
    found.pop("assay")  # the version
    return found


@test
def files_of_ended_processes_are_bounded(t):
    program = build(t)
    env = {**os.environ, "XDG_RUNTIME_DIR": t.path(".")}
    env.pop("ASSAY_TAGS_DIR", None)
    os.chmod(t.path("."), 0o700)
    held = t.path("assay/tags")
    for _ in range(16):
        subprocess.run([program], env=env, check=True)
    t.equal(len(os.listdir(held)), 16)
    subprocess.run([program], env=env, check=True)
    t.equal(len(os.listdir(held)), 1)


@test
def what_runs_is_listed(t):
    t.equal(listed(t), {"processes": [], "ended": 0})
    t.has(tags(t, "list").err, "no process of yours records event tags now")
    program = build(t)
    first = Recorded(t, program, env={"ASSAY_TAGS_START": "off"})
    second = Recorded(t, program, "rounds=100000",
                      env={"ASSAY_TAGS_MEM": "64k", "ASSAY_TAGS_MODE": "stop"})
    rows = {row["pid"]: row for row in listed(t)["processes"]}
    t.equal(sorted(rows), sorted((first.pid, second.pid)), "who is listed")
    t.equal(rows[first.pid]["capture"], "off")
    t.equal(rows[second.pid]["capture"], "full")
    t.equal(rows[second.pid]["packets"], rows[second.pid]["room"], "packets in use")
    t.true(rows[second.pid]["discarded"] > 0, "events were discarded")
    t.has(rows[second.pid]["command"], "rounds=100000")
    t.has(tags(t, "list").out, "program")
    t.equal([row["pid"] for row in listed(t, second.pid)["processes"]], [second.pid])
    first.end()
    found = listed(t)
    t.equal(found["ended"], 1, "recordings of the ended")
    t.equal({row["pid"]: (row["state"], row["capture"]) for row in found["processes"]},
            {first.pid: ("ended", None), second.pid: ("running", "full")})
    t.has(tags(t, "list").out, "ended")
    checks = t.json(t.assay("doctor", "--json", env=place(t)).out)["checks"]
    t.equal([check["what"] for check in checks if check["name"] == "recorded processes"],
            ["1 running, 1 ended"])
    t.has(tags(t, "list").err, "1 recording of an exited process")


@test
def a_program_that_another_one_replaced_has_ended(t):
    """The process still runs, with another program that records nothing."""
    program = build(t)
    process = subprocess.Popen(["/bin/cat", "rounds=9", "exec"], executable=program,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               env={**os.environ, **place(t)})
    while os.readlink(f"/proc/{process.pid}/exe").endswith("program"):
        time.sleep(0.01)
    t.equal([row["state"] for row in listed(t, process.pid)["processes"]], ["ended"])
    process.stdin.close()
    process.wait()


@test
def get_copies_and_disturbs_no_program(t):
    program = build(t)
    runs = Recorded(t, program, "rounds=2000")
    t.equal(calls_of(got(t)), {**of_rounds(2000), "main": 1})
    runs.rounds(10)
    t.equal(calls_of(got(t, runs.pid)), {**of_rounds(2000, 10), "main": 1})
    report = got(t)
    t.equal(report["tags"], events_of(2000, 10) + 1, "events")
    t.equal(report["open"], 1, "calls that go on")
    runs.end()
    t.equal(got(t, "--keep")["tags"], events_of(2000, 10) + 2, "events of the ended")
    t.equal(len(left_over(t)), 1, "kept recordings")
    t.equal(got(t)["tags"], events_of(2000, 10) + 2, "events of the ended")
    t.equal(left_over(t), [], "recordings that are in a trace")
    result = tags(t, "get", "-o", t.path("got"), status=1)
    t.has(result.err, "no process of yours records event tags")
    t.equal(t.report(t.path("got"))["tags"], events_of(2000, 10) + 2, "the older trace stays")


@test
def all_existing_files_become_one_trace(t):
    program = build(t)
    runs = Recorded(t, program, "rounds=20")
    t.run(program, "rounds=300", env=place(t))
    t.run(program, "rounds=4000", "kill", env=place(t), status=-signal.SIGKILL)
    report = got(t)
    t.equal(calls_of(report), {**of_rounds(20, 300, 4000), "main": 3})
    t.equal(report["processes"], 3, "processes")
    t.equal(report["lost"] + report["unknown_tags"] + report["missing_exits"], 0, "damage")
    t.equal(len(left_over(t)), 1, "recordings that are left: of who runs")
    runs.end()


@test
def capture_is_switched_off_and_on(t):
    runs = Recorded(t, build(t), "rounds=1")
    t.has(tags(t, "capture", "off").out, f"{runs.pid} program: off")
    runs.rounds(500)
    t.equal(listed(t)["processes"][0]["capture"], "off")
    tags(t, "capture", "off")  # again: nothing changes
    t.equal(calls_of(got(t)), {**of_rounds(1), "main": 1}, "calls while it was off")
    tags(t, "capture", "-q", "on", runs.pid)
    runs.rounds(40)
    counts = calls_of(got(t))
    # Events after the switch go to the open packet, or to a new one.
    t.equal(counts, {**of_rounds(1, 40), "main": 1}, "calls since")
    tags(t, "capture", "off")
    runs.rounds(500)
    t.equal(calls_of(got(t)), {**of_rounds(1, 40), "main": 1}, "calls while it was off again")
    runs.end()


@test
def a_name_drives_no_terminal(t):
    program = t.path("a\x1b[2Jb")
    os.rename(build(t), program)
    runs = Recorded(t, program, "rounds=1")
    for words in (("capture", "off"), ("list",)):
        out = tags(t, *words).out
        t.has(out, "a\\x1b[2Jb")
        t.lacks(out, "\x1b")
    runs.end()


@test
def wrong_arguments_are_refused(t):
    for words, part in (((), "'on' or 'off'"), (("up",), "'on' or 'off'")):
        t.has(tags(t, "capture", *words, status=2).err, part)
    t.has(tags(t, "capture", "on", status=1).err, "no process of yours records event tags now")
    t.has(tags(t, "get", "1", status=1).err, "process 1 is not a process of yours that records event tags")
    t.has(tags(t, "list", "x", status=2).err, "'x' is not a process id")
    directory = t.path("recorded")
    (directory / "12-34-0.tags").write_bytes(b"ASAYTAGS" + bytes(5000))
    t.equal(listed(t), {"processes": [], "ended": 0})
    directory.chmod(0o755)
    t.has(tags(t, "list", status=1).err, "chmod 700")
    directory.chmod(0o700)


@test
def damaged_recordings_are_left_out(t):
    program = build(t)
    t.run(program, "rounds=3000", env=place(t))
    path = next(t.path("recorded").iterdir())
    data = bytearray(path.read_bytes())
    at = struct.unpack_from("<Q", data, 56)[0]
    struct.pack_into("<Q", data, at + 24, 1 << 60)  # content_bits of the first packet
    path.write_bytes(data)
    result = tags(t, "get", "-o", t.path("got"))
    t.has(result.err, "1 packet is left out")
    t.equal(t.report(t.path("got"))["gaps"], 1, "gaps")


# import


def dump(*events):
    """The original device: 16 bits of tag, 24 of microseconds."""
    return b"".join(struct.pack("<HI", tag, clock & 0xffffff)[:5] for clock, tag in events)


NAMES = "main/500\nread/502\nswtch/504!\nmark/506=\n"
EVENTS = [(0xfffff0, 500), (0xfffff8, 502), (0x1000002, 503), (0x1000004, 506), (0x1000010, 501)]


def imported(t, content, *options):
    tags(t, "import", "-q", "--names", t.write("n.names", NAMES), "-o", t.path("i.tags"),
         *options, t.write("dump", content))
    return t.report(t.path("i.tags"))


def figures(report):
    return {f["function"]: (f["calls"], f["elapsed_ns"], f["net_ns"]) for f in report["functions"]
            if f["calls"]}


@test
def dumps_become_traces(t):
    want = {"main": (1, 32000, 22000), "read": (1, 10000, 10000)}
    report = imported(t, dump(*EVENTS))
    t.equal(figures(report), want, "calls, elapsed and net ns")
    t.equal(report["elapsed_ns"], 32000, "elapsed")
    t.equal(report["tags"], 5, "tags")
    content = b"".join(struct.pack(">IH", clock & 0xffffff, tag) for clock, tag in EVENTS)
    t.equal(figures(imported(t, content, "--layout", "clock:32,tag:16", "--big-endian",
                             "--clock-bits", "24")), want)
    lines = "".join(f"{clock & 0xffffff}, {tag:#x}\n" for clock, tag in EVENTS)
    t.equal(figures(imported(t, lines, "--layout", "csv", "--clock-bits", "24")), want)
    t.equal(figures(imported(t, dump(*EVENTS), "--hz", "2M"))["main"], (1, 16000, 11000))


@test
def errors_in_dumps_are_reported(t):
    path = t.write("dump", dump(*EVENTS) + b"xy")
    words = ("import", "-o", t.path("i.tags"))
    result = tags(t, *words, path)
    t.has(result.err, "2 bytes after its last complete record")
    t.has(result.err, "5 events, whose clock wrapped 1 time")
    t.equal(t.report(t.path("i.tags"))["unknown_tags"], 5, "tags without a name")
    for options, part, status in ((("--layout", "tag:3"), "layout", 1),
                                  (("--hz", "0"), "--hz must", 2),
                                  (("--clock-bits", "99"), "--clock-bits must", 2),
                                  (("--names", t.path("none")), "none", 1)):
        t.has(tags(t, *words, *options, path, status=status).err, part)
    t.has(tags(t, *words, t.path("none"), status=1).err, str(t.path("none")))
    t.has(tags(t, *words, status=2).err, "needs one file")


# names, flags


@test
def names_for_assembly_are_given_and_stay(t):
    path, header = t.path("a.names"), t.path("tags_names.h")
    out = tags(t, "names", path, "--add", "first", "--add", "second", "--header", header).out
    t.has(out, "0 functions, 2 inline tags")
    before = header.read_text()
    t.has(before, "#define ASSAY_TAG_first ")
    names = path.read_text()
    stamp = header.stat().st_mtime_ns
    tags(t, "names", path, "--add", "second", "--header", header)
    t.equal(path.read_text(), names, "the names file")
    t.equal(header.stat().st_mtime_ns, stamp, "when the header was written")
    tags(t, "names", path, "--add", "third", "--header", header)
    t.equal(header.read_text().splitlines()[:3], before.splitlines()[:3], "older tags")
    t.has(header.read_text(), "#define ASSAY_TAG_third ")
    t.equal(tags(t, "names", path, "--header", "-").out, header.read_text())
    t.has(tags(t, "names", t.write("bad", "x/1\ny/1=\n"), status=1).err, "bad")
    t.has(tags(t, "names", status=2).err, "needs one names file")


@test
def names_lists_the_tags_of_a_program(t):
    program = build(t)
    out = tags(t, "names", program).out
    t.has(out, "6 functions, 1 inline tag, 0 switch functions")


@test
def flags_build_programs(t):
    program = build(t)
    words = tags(t, "flags", "--names", "x.names", cwd=t.directory).out.split()
    t.true(f"-fplugin-arg-assay_tags-names={t.directory.resolve()}/x.names" in words,
           "the names file's path is whole")
    t.true(f"-I{ROOT / 'include'}" in words, f"the header's place: {words}")
    t.true(f"-L{BUILD / 'runtime'}" in words, f"the libraries' place: {words}")
    compile = tags(t, "flags", "--cflags", cwd=t.directory).out.split()
    link = tags(t, "flags", "--libs").out.split()
    t.true(compile and link and not set(compile) & set(link), "compiling and linking apart")
    # Compiles and links in separate steps; the flags are the first arguments.
    t.run("gcc", *compile, "-c", "-o", t.path("a.o"), t.path("program.c"), cwd=t.directory)
    t.run("gcc", "-o", t.path("a"), *link, t.path("a.o"), "-pthread")
    t.run(t.path("a"), "rounds=8", env=place(t))
    t.equal(calls_of(got(t)), {**of_rounds(8), "main": 1})
    t.has(tags(t, "flags", "--trigger", "nop").out, "assay_tags-trigger=nop")
    t.equal(tags(t, "flags", "--trigger", "nop", "--libs").out, "\n", "nop needs nothing")
    t.has(tags(t, "flags", "--trigger", "x", status=2).err, "ring")
    t.has(tags(t, "flags", "x", status=2).err, "takes no arguments")
    t.true(program.exists(), "the program is there")


ALONE = """
__attribute__((noinline)) int leaf(int n) { return n * 3; }
int main(void) { volatile int sum = 0; for (int i = 0; i < 5; i++) sum += leaf(i); return 0; }
"""


@test
def flags_stand_before_objects_of_static_programs_too(t):
    t.need("gcc")
    source = t.write("alone.c", ALONE)
    for kind in ("ring", "call", "load", "nop"):
        for static in ((), ("-static",)):
            words = tags(t, "flags", "--names", t.path(kind), "--trigger", kind).out.split()
            t.run("gcc", *static, *words, source, "-o", t.path("alone"))
            t.run(t.path("alone"), env=place(t))
            if kind in ("ring", "call"):
                t.equal(calls_of(got(t)), {"leaf": 5, "main": 1}, f"{kind} {static}")
    t.equal(left_over(t), [], "what load and nop recorded")


ASSEMBLY = """
#include <assay/tags.h>
#include "tags_names.h"
	.globl fast
	.type fast, @function
fast:
	ASSAY_TAG_ENTER(fast)
	ASSAY_TAG(queue_full)
	ASSAY_TAG_EXIT(fast)
	ret
	.section .note.GNU-stack,"",@progbits
"""


@test
def tags_of_assembly_have_their_names(t):
    t.need("gcc")
    names = t.write("asm.names", "fast/40\n")
    tags(t, "names", names, "--add", "queue_full", "--header", t.path("tags_names.h"))
    t.write("fast.S", ASSEMBLY)
    t.write("main.c", "void fast(void); int main(void) { fast(); fast(); return 0; }\n")
    for bare in ((), ("-DASSAY_TAGS_BARE",)):
        t.run("gcc", *tags(t, "flags", "--names", names).out.split(), *bare, f"-I{t.directory}",
              t.path("fast.S"), t.path("main.c"), "-o", t.path("asm"))
        t.run(t.path("asm"), env=place(t))
        report = got(t)
        if bare:
            t.equal(report["unknown_tags"], 6, "events without a name")
            continue
        t.equal(calls_of(report), {"fast": 2, "main": 1, "queue_full": 2})
        t.equal(report["unknown_tags"], 0, "events without a name")


main()
