# SPDX-License-Identifier: GPL-2.0-or-later
"""A report begins with a summary: its figures are those of the tables, its limits are those of the
recording, and the command lines that it suggests run."""

import atexit
import functools
import os
import pathlib
import shutil
import struct
import tempfile

from calls_table import LOST, Table
from harness import ASSAY, BUILD, main, run, test
from pprof_write import Profile


@functools.lru_cache(None)
def samples():
    """A busy command with a few processes, in a directory whose name a shell would split."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-")) / "two words"
    work.mkdir()
    atexit.register(shutil.rmtree, work.parent, ignore_errors=True)
    loop = BUILD / "tests" / "workloads" / "loop"
    run(ASSAY, "record", "-q", "-g", "-F", "997", "-o", work / "a.data", "--", "sh", "-c",
        f"{loop} 600 & sleep 0.3; {loop} 300; wait")
    return work / "a.data"


def calls(t):
    """main: 600 us of its own, fib below it 300 us, strlen 100 us."""
    table = Table("prog", 42, flags=LOST, lost=3)
    outer = table.path(0, "main", calls=1, net=600_000)
    inner = table.path(outer, "fib", calls=2, net=200_000)
    table.path(inner, "fib", calls=2, net=100_000)
    table.path(outer, "strlen", calls=9, net=100_000)
    table.path(outer, "small", calls=1, net=10)
    return t.write("prog.calls", table.bytes())


def tags(t):
    events = [(0, 2), (10, 4), (30, 6), (70, 7), (100, 5), (120, 8), (200, 9), (210, 6), (215, 7),
              (230, 3)]
    t.assay("tags", "import", "--names", t.write("names", "main/2\nwork/4\nleaf/6\nswtch/8!\n"),
            "-o", t.path("x.tags"),
            t.write("dump", b"".join(struct.pack("<HI", tag, us)[:5] for us, tag in events)))
    return t.path("x.tags")


def pprof(t):
    p = Profile(("samples", "count"), ("cpu", "nanoseconds"), ("alloc", "bytes"))
    p.mapping(0x1000, 0x2000, "/bin/prog")
    leaf, top = p.place(0x1200, ("leaf<int>(char)", 7)), p.place(0x1100, ("main", 30))
    p.sample([leaf, top], [3, 3000, 20])
    p.sample([top], [1, 1000, 10])
    return t.write("p.pb", p.bytes())


def kinds(t):
    return {"samples": samples(), "calls": calls(t), "tags": tags(t), "pprof": pprof(t)}


def steps(text):
    """The suggested command lines."""
    lines = text[text.index("\nnext ") + 1:].splitlines()
    return [line[12:] for line in lines if line[12:].startswith("assay ")]


@test
def every_kind_has_about_ten_lines_and_the_tables_follow_if_asked(t):
    for kind, file in kinds(t).items():
        text = t.assay("report", file).out
        t.true(text.startswith("Summary\nrecorded "), f"{kind}: {text}")
        t.between(len(text.splitlines()), 8, 20, f"lines of {kind}: {text}")
        t.has(text, "\nlimits ", kind)
        t.equal(steps(text)[-1].split("--full")[0], "assay report ", f"the last step of {kind}")
        full = t.assay("report", "--full", file).out
        begin = text[:text.rindex("assay report --full")].rstrip().splitlines()
        t.equal([line.split("  # ")[0].rstrip() for line in full.splitlines()[:len(begin)]],
                [line.split("  # ")[0].rstrip() for line in begin], f"{kind}: the same beginning")
        for words in (["-g"], ["-n", "5"], ["--percent-limit", "0"]):
            part = t.assay("report", *words, file).out
            t.lacks(part, "Summary", f"{kind} {words}")
        table = t.assay("report", "--percent-limit", "0", file).out.splitlines()
        t.equal(t.assay("report", "--full", "--percent-limit", "0", file).out.splitlines()[
            -len(table):], table, f"{kind}: the tables with --full")


@test
def options_of_the_input_request_no_table(t):
    for words in (["--time", "0%,90%"], ["--event", "cpu-clock"], ["--no-demangle"],
                  ["--no-inline"], ["--color", "never"], ["-i", samples()]):
        text = t.assay("report", *words, *([] if "-i" in words else [samples()])).out
        t.true(text.startswith("Summary\n"), f"{words}: {text}")
    t.true(t.assay("report", "--names", t.path("names"), tags(t)).out.startswith("Summary\n"),
           "--names")
    t.true(t.assay("report", "--markdown", samples()).out.startswith("### Summary\n"), "Markdown")
    for words in (["--comm", "loop"], ["--wide"], ["--no-idle"], ["--symbol", "loop_body"],
                  ["--sort", "cpu"], ["--instances"], ["--percentage", "relative"]):
        t.lacks(t.assay("report", *words, samples()).out, "Summary", words)


@test
def the_figures_are_those_of_the_tables(t):
    r = t.report(samples())
    s, ledger = r["summary"], r["ledger"]
    t.equal(s["whole"], ledger["thread_wall_ns"], "the whole")
    t.equal(sum(part["value"] for part in s["parts"]), s["whole"], "the sum of the parts")
    values = {part["name"]: part["value"] for part in s["parts"]}
    for name, key in (("user", "user_ns"), ("kernel_exit", "kernel_exit_ns"), ("blocked", "blocked_ns"), ("runnable", "runnable_ns"),
                      ("residual", "residual_ns")):
        t.equal(values[name], ledger[key], name)
    rows = t.report("--sort", "process,image,function,mode", samples())["rows"]
    first = s["reasons"][0]
    t.equal((first["process"], first["function"]), ("loop", "loop_body"), "the largest")
    row = next(row for row in rows if row["function"] == "loop_body")
    t.equal([first[key] for key in ("share", "low", "high")],
            [row[key] for key in ("share", "low", "high")], "its share and interval")
    t.equal(s["processes"][0]["name"], "loop", "the largest process")

    s = t.report(calls(t))["summary"]
    t.equal([(x["function"], x["value"], x["share"]) for x in s["reasons"]],
            [("main", 600_000, 0.599994), ("fib", 300_000, 0.299997),
             ("strlen", 100_000, 0.099999)], "functions, recursion summed")
    t.equal([x["name"] for x in s["limits"] if x["name"] == "lost"], ["lost"], "limits")

    s = t.report(tags(t))["summary"]
    t.equal([(x["name"], x["value"]) for x in s["parts"]],
            [("functions", 150_000), ("outside", 0), ("unknown", 0), ("gap", 0), ("idle", 80_000),
             ("own_cost", 0)], "parts")
    t.equal([(x["function"], x["value"]) for x in s["reasons"]],
            [("main", 55_000), ("work", 50_000), ("leaf", 45_000)], "functions")

    s = t.report(pprof(t))["summary"]
    t.equal((s["unit"], s["whole"]), ("bytes", 30), "the default value")
    s = t.report("--event", "cpu", pprof(t))["summary"]
    t.equal([(x["function"], x["value"], x["share"]) for x in s["reasons"]],
            [("leaf<int>(char)", 3000, 0.75), ("main", 1000, 0.25)], "functions")


@test
def the_suggested_commands_run(t):
    path = {"PATH": f"{pathlib.Path(ASSAY).resolve().parent}:{os.environ['PATH']}"}
    for kind, file in kinds(t).items():
        for words in ([], ["--no-demangle"] if kind != "pprof" else ["--no-inline"]):
            for step in steps(t.assay("report", *words, file).out):
                if "COMMAND" in step or step.startswith("assay doctor"):
                    continue
                t.true(t.run("sh", "-c", step, env=path).out, f"{kind}: {step} prints nothing")


@test
def code_without_a_known_end_is_not_suggested(t):
    """A stripped program whose hot function comes after the last dynamic symbol."""
    source = t.write("p.c", """
        __attribute__((noinline)) static void hot(long turns)
        { for (long i = 0; i < turns; i++) __asm__ volatile(""); }
        int main(void) { hot(400000000); }""")
    run("gcc", "-O1", "-rdynamic", "-s", "-fvisibility=hidden", source, "-o", t.path("p"))
    t.assay("record", "-q", "-o", t.path("p.data"), "--", t.path("p"))
    text = t.assay("report", t.path("p.data")).out
    for step in steps(text):
        t.lacks(step, "annotate", text)
    function = next(f["function"] for f in t.report(t.path("p.data"))["functions"] if f["mode"] == "user")
    t.true(function.startswith(("[after ", "[no symbol")), function)
    if function.startswith("[after "):
        t.has(t.assay("annotate", function, "-i", t.path("p.data"), status=1).err,
              "no symbol follows this code")


@test
def limits_are_named_and_else_none_are_known(t):
    table = Table("prog", 42)
    table.path(0, "main", calls=1, net=600_000)
    t.has(t.assay("report", t.write("good.calls", table.bytes())).out,
          "\nlimits      none known\n", "a good file")
    t.has(t.assay("report", calls(t)).out, "events were lost", "lost events")
    t.assay("record", "-q", "-o", t.path("none.data"), "--", "true")
    text = t.assay("report", t.path("none.data")).out
    t.true("no samples of running code" in text or "a short recording" in text, text)
    cut = samples().read_bytes()
    t.write("cut.data", cut[:len(cut) * 3 // 4])
    t.has(t.assay("report", t.path("cut.data")).out, "the file was cut short", "a cut file")


main()
