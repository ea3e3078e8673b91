# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of other tools that assay does not read are refused by the name of their format, with a way to
their contents, by every command that reads files; and texts that only look like them are not.
"""
import cProfile
import gzip
import json
import struct

from harness import main, test
from perf_write import PerfData

V8 = {"nodes": [{"id": 1, "callFrame": {"functionName": "(root)"}}], "startTime": 1, "samples": [1]}
GECKO = {"meta": {"interval": 1}, "libs": [], "threads": [{"stackTable": {}}]}
SCRIPT = "prog  4211/4212  [001]  99.125000:     250000 cycles:u: \n\t    55d0c0 work+0x10 (/bin/prog)\n\n"
MASSIF = "desc: (none)\ncmd: ./prog\ntime_unit: i\n#-----------\nsnapshot=0\n"
FORMATS = {
    "a.jfr": (b"FLR\0\0\2\0\1" + bytes(60), "Java Flight Recorder", "jfrconv"),
    "b.json": (json.dumps({"exporter": "x", "$schema":
                           "https://www.speedscope.app/file-format-schema.json"}), "speedscope",
               "folded"),
    "c.json.gz": (gzip.compress(json.dumps({"meta": {"preprocessedProfileVersion": 60}}).encode()),
                  "Firefox Profiler", "export --to firefox"),
    "d.json": (json.dumps(GECKO), "Firefox or samply", "perf.data"),
    "e.cpuprofile": (json.dumps(V8), ".cpuprofile", "--perf-basic-prof"),
    "f.massif": (MASSIF, "massif", "ms_print f.massif"),
    "g.json": ('{"dhatFileVersion":2,"mode":"heap"}', "dhat", "--xtree-memory=full"),
    "gmon.out": (b"gmon" + struct.pack("<I", 1) + bytes(12), "gprof", "gprof PROGRAM gmon.out"),
    "h.txt": ("# ========\n" + SCRIPT, "perf script", "stackcollapse-perf.pl h.txt"),
    "i.txt": ("main;a 3\n".encode("utf-16"), "UTF-16", "iconv"),
    "j.zst": (b"\x28\xb5\x2f\xfd" + bytes(20), "zstd", "unpack"),
    "trace.dat": (b"\x17\x08\x44tracing6\0", "trace-cmd", "trace-cmd report trace.dat"),
    "k.nettrace": (b"Nettrace" + bytes(20), ".NET", "--format Chromium k.nettrace"),
    "l.trace": (b"go 1.22 trace\0\0\0" + bytes(20), "execution trace of Go", "-pprof=sync"),
    "m.svg": ('<?xml version="1.0"?>\n<svg width="1">', "SVG", "folded stacks"),
}


def refused(t, name, form, way, *words):
    text = t.assay(*words, cwd=t.directory, status=1).err
    for part in (name, form, "assay does not read", way):
        t.has(text, part, f"{' '.join(words)} of {name}")


@test
def formats_that_are_not_read_are_named_with_a_way(t):
    for name, (content, form, way) in FORMATS.items():
        t.write(name, content)
        refused(t, name, form, way, "report", name)
    for words in (("export", "--to", "folded"), ("sql",), ("annotate", "main", "-i")):
        refused(t, "a.jfr", "Java Flight Recorder", "jfrconv", *words, "a.jfr")


@test
def a_profile_of_python_is_named(t):
    cProfile.run("sum(range(9))", str(t.path("x.prof")))
    refused(t, "x.prof", "cProfile", "pstats x.prof", "report", "x.prof")


@test
def a_way_that_is_named_works(t):
    t.need("valgrind")
    out = t.path("kcg")
    t.run("valgrind", "--tool=memcheck", "--xtree-memory=full", f"--xtree-memory-file={out}", "true")
    t.has(t.assay("report", out).out, "recorded")


@test
def a_key_far_behind_the_beginning_is_found(t):
    far = {"padding": "x" * 300000}
    t.write("far.json", json.dumps({**far, **V8}))
    refused(t, "far.json", ".cpuprofile", "--perf-basic-prof", "report", "far.json")
    t.write("trace.json", json.dumps({**far, "traceEvents": [
        {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 7, "name": "a"}]}))
    t.equal(t.report(t.path("trace.json"))["functions"][0]["self"], 7000, "trace events are found")


@test
def the_other_byte_order_is_refused_with_a_way(t):
    t.need("gcc")
    t.run("gcc", "-xc", "-no-pie", "-o", t.path("p"), "-", input="int main(void) { return 0; }")
    t.write("big.data", PerfData("p", 4, t.path("p")).bytes()[:8][::-1] + bytes(200))
    refused(t, "big.data", "big-endian", "perf script -i big.data", "report", "big.data")


@test
def traces_of_lttng_are_named(t):
    t.write("lt/metadata", struct.pack("<I", 0x75d11d57) + bytes(60))
    t.write("lt/channel0_0", bytes(100))
    text = t.assay("report", "lt", cwd=t.directory, status=1).err
    for part in ("lt is a trace of LTTng", "'babeltrace2 lt'", "assay record"):
        t.has(text, part)
    t.lacks(text, "sink.ctf.fs", "a conversion cannot help")


@test
def a_recording_of_uftrace_is_named(t):
    for file in ("info", "task.txt", "default.opts"):
        t.write(f"uf/{file}", "")
    refused(t, "uf", "uftrace", "--flame-graph -d uf", "report", "uf")


@test
def other_texts_have_no_false_name(t):
    for name, text in (("a.json", '{"nodes": 3}'), ("b.txt", "desc: a note\ntime: later\n"),
                       ("c.txt", "10:30: the meeting begins:\n  3 people\n")):
        t.has(t.assay("report", t.write(name, text), status=1).err,
              "is not a recording that assay reads", name)


main()
