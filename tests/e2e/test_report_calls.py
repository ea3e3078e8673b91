# SPDX-License-Identifier: GPL-2.0-or-later
"""assay report on files of call paths: its output equals the figures that were written to them."""
import fcntl
import json
import os
import pty
import re
import struct
import termios

from calls_table import LOST, UNSWITCHED, Table
from harness import BUILD, main, test


def sample():
    """A process with known figures."""
    table = Table("prog", 42, "prog --fast", flags=LOST, lost=7, own=5000, cpu_residual=300)
    table.nodes[0]["net"] = 500
    outer = table.path(0, "main", calls=1, net=100000, low=90000, high=90000, open=1)
    sort = table.path(outer, "sort", calls=2, net=20000, blocked=50000, preempted=700)
    table.path(sort, "_ZN3app3cmpEii", calls=100, net=30000, low=100, high=900, error=40)
    table.path(outer, "strlen", calls=7, net=700, library=True)
    table.path(outer, "setjmp", calls=3, library=True, counted=True)
    below = outer
    for calls in (1, 2, 4):
        below = table.path(below, "fib", calls=calls, net=10 * calls)
    table.path(below, "(other)", calls=9, net=90)
    return table


def write(t, *tables, name="prog.calls"):
    return t.write(name, b"".join(table.bytes() for table in tables))


def by_path(process):
    return {tuple(path["path"]): path for path in process["paths"]}


@test
def an_average_beyond_the_longest_call_is_not_printed(t):
    table = Table("prog", 42)
    outer = table.path(0, "main", calls=1, net=9000, low=9000, high=9000)
    table.path(outer, "within", calls=10, net=3000, low=100, high=290, error=200)
    table.path(outer, "beyond", calls=10, net=3000, low=100, high=290, error=50)
    data = write(t, table)
    functions = {row["path"][-1]: row for row in t.report(data)["processes"][0]["paths"]}
    t.equal([functions[name]["avg_ns"] for name in ("main", "within", "beyond")], [9000, None, 300], "averages")
    rows = {line.split()[-1]: line for line in t.assay("report", "-f", "--wide", data).out.splitlines() if line}
    t.true("300.0 ns" not in rows["within"] and "290.0 ns" in rows["within"], rows["within"])
    t.true("300.0 ns" in rows["beyond"] and "290.0 ns" not in rows["beyond"], rows["beyond"])


@test
def json_says_what_was_written(t):
    process = t.report(write(t, sample()))["processes"][0]
    t.equal((process["name"], process["pid"], process["flags"]), ("prog", 42, ["lost"]), "who")
    t.equal(process["own_ns"], 5000, "own cost")
    t.equal(process["wall_ns"], 100000 + 20000 + 30000 + 1360 + 5000 + 50700, "wall")
    paths = by_path(process)
    t.equal(len(paths), 10, "paths")
    t.equal(paths[("(outside)",)]["net_ns"], 500, "net outside")
    cmp = paths[("main", "sort", "app::cmp(int, int)")]
    t.equal([cmp[key] for key in ("calls", "net_ns", "net_error_ns", "min_ns", "avg_ns", "max_ns")],
            [100, 30000, 40, 100, 300, 900], "cmp")
    sort = paths[("main", "sort")]
    t.equal([sort[key] for key in ("total_ns", "wall_ns", "blocked_ns", "preempted_ns", "min_ns")],
            [50000, 100700, 50000, 700, None], "sort")
    t.equal(paths[("main",)]["open"], 1, "open calls of main")
    t.equal(paths[("main", "strlen")]["library"], "libc.so.6", "strlen's library")
    t.equal(paths[("main", "setjmp")]["net_ns"], None, "net of what is counted alone")
    t.equal(process["counted"], ["setjmp"], "counted alone")
    t.equal(paths[("main", "fib", "fib", "fib", "(other)")]["calls"], 9, "calls of (other)")


@test
def the_accounts_close_or_have_a_residual(t):
    data = write(t, sample())
    process = t.report(data)["processes"][0]
    for book in (process["books"], process["threads"][0]):
        t.near(book["net_ns"] + book["own_ns"] - book["cpu_ns"], book["cpu_residual_ns"], 1e-3,
               "CPU residual")
        t.equal(book["cpu_residual_ns"], 300, "CPU residual")
        t.near(book["net_ns"] + book["own_ns"] + book["blocked_ns"] + book["preempted_ns"] +
               book["tail_ns"] - book["wall_ns"], book["wall_residual_ns"], 1e-3, "wall residual")
    t.near(sum(path["net_ns"] or 0 for path in process["paths"]), process["books"]["net_ns"], 1e-3,
           "net of all paths")
    text = " ".join(t.assay("report", "--by-time", data).out.split())
    t.has(text, "residual 300.0 ns (0.19 %)")
    t.has(text, "7 events were lost")
    t.has(text, "setjmp [libc.so.6]: counted, not timed")


@test
def functions_count_recursion_once(t):
    process = t.report("-f", write(t, sample()))["processes"][0]
    functions = {row["function"]: row for row in process["functions"]}
    t.equal([functions["fib"][key] for key in ("calls", "net_ns", "total_ns", "wall_ns")],
            [7, 70, 160, 160], "fib")
    t.equal(sum(row["calls"] for row in process["functions"]),
            sum(path["calls"] for path in process["paths"]), "calls of all functions")


@test
def callers_and_callees_are_tables(t):
    data = write(t, sample())
    process = t.report("--callers", "fib", "--callees", "main", data)["processes"][0]
    t.equal({row["function"]: (row["calls"], row["total_ns"]) for row in process["callers"]},
            {"main": (1, 160), "fib": (6, 150)}, "callers of fib")
    t.equal({row["function"]: row["calls"] for row in process["callees"]},
            {"[self]": 1, "sort": 2, "strlen": 7, "setjmp": 3, "fib": 1}, "called by main")
    result = t.assay("report", "--callers", "absent", data, status=1)
    t.has(result.err, "no function that was called has the name absent")
    text = t.assay("report", "-g", "--percent-limit", "0", data).out
    t.has(text, "  fib  (recursion, 3 levels)")


def first_words(t, *words):
    """The first word of the last column, for each row."""
    lines = t.assay("report", *words).out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("calls"))
    column = lines[start].rindex("  ") + 2
    return [line[column:].split(" ")[0] for line in lines[start + 1:]]


@test
def rows_are_sorted_and_cut_as_asked(t):
    data = write(t, sample())
    t.equal(first_words(t, "-f", data)[:4], ["main", "app::cmp(int,", "sort", "strlen"], "by time")
    t.equal(first_words(t, "-f", "-t", data), first_words(t, "-f", data), "by time, asked for")
    t.equal(first_words(t, "-f", "-a", data)[:4], ["(other)", "(outside)", "app::cmp(int,", "fib"],
            "by name")
    t.equal(first_words(t, "-f", "-o", data)[:4], ["(outside)", "main", "sort", "app::cmp(int,"],
            "as first seen")
    t.equal(first_words(t, "-f", "-c", data)[:3], ["app::cmp(int,", "(other)", "strlen"], "by calls")
    t.equal(first_words(t, "-f", "-n", "2", data), ["main", "app::cmp(int,", "[6", "total"], "two")
    t.has(t.assay("report", "-f", "-a", "-c", data, status=2).err, "one order at a time")


@test
def letters_that_perf_has_too_keep_their_meaning(t):
    data = write(t, sample())
    names = Table("long", 1)
    below = 0
    for number in range(9):
        below = names.path(below, f"function_with_a_long_name_{number}", calls=1, net=10)
    long = write(t, names, name="long.calls")
    whole = " > ".join(f"function_with_a_long_name_{number}" for number in range(9))
    # -i (whole paths) before and after the file and before another option; and the long option.
    for words in (["-i", long], [long, "-i"], ["-i", "-n", "20", long], [long, "--full-paths"]):
        t.has(t.assay("report", *words).out, f"  {whole}\n", f"report {words}")
    tail = t.assay("report", "--by-time", "--input", long).out
    t.lacks(tail, whole, "paths by default")
    t.has(tail, "... function_with_a_long_name_8  (9)\n")
    t.has(t.assay("report", "-i", data).out, "  main > fib > fib > fib > (other)\n")
    t.has(t.assay("report", "--by-time", data).out, "  main > fib x3 > (other)  (5)\n")
    # -c with a name selects processes; -c alone sorts by calls.
    t.equal(t.report("-c", "prog", data)["processes"][0]["pid"], 42, "of that name")
    t.equal(t.report("-c", "gone", data)["processes"], [], "of no such name")
    for words in (["-c", data], [data, "-c"], ["-fc", data]):
        t.equal(first_words(t, *words)[0].split("(")[0], "main" if "-fc" not in words else "app::cmp",
                f"most calls of {words}")
    t.equal(t.report("--comm", "prog", "-c", data)["processes"][0]["paths"][0]["calls"], 100,
            "most calls")


@test
def options_of_the_other_kind_are_refused_by_name(t):
    data = write(t, sample())
    for words in (["--time", "0,1"], ["--event", "cycles"], ["--sort", "cpu"], ["--process-limit", "1"],
                  ["--tid", "1"], ["--cpu", "0"], ["--cgroup", "/x"], ["--no-idle"]):
        result = t.assay("report", *words, data, status=2)
        t.has(result.err, words[0] + " ", f"the error of {words}")
    other = t.path("samples.data")
    t.assay("record", "-o", other, "--", "true")
    t.has(t.assay("report", "--full-paths", other, status=2).err,
          "--full-paths needs a table of call paths, which samples (perf.data) do not have")
    for word, column in (("-a", "name"), ("-t", "net"), ("--by-calls", "calls")):
        t.has(t.assay("report", word, other, status=2).err,
              f"no table of this report has a column '{column}' to sort by; the columns are share",
              f"the error of {word}")
    t.has(t.assay("report", "-i", status=2, cwd=t.directory).err, "-i without a FILE")
    t.has(t.assay("report", "-i", other, data, status=2).err, "no common report")
    t.assay("report", "-i", other)
    t.has(t.assay("annotate", "main", "-i", data, status=None).err, "call paths")


@test
def processes_are_chosen_and_named(t):
    data = write(t, sample(), Table("two", 43))
    text = t.assay("report", "--by-time", data).out
    t.has(text, "prog (pid 42)")
    t.has(text, "two (pid 43)")
    t.equal([p["pid"] for p in t.report("--pid", "43", data)["processes"]], [43], "one of them")
    t.equal([p["pid"] for p in t.report(data, write(t, Table("x", 44), name="x"))["processes"]],
            [42, 43, 44], "of two files")
    t.has(t.assay("report", "--pid", "4x", data, status=2).err, "4x")
    symbols = t.report("-S", "app::cmp,strlen", data)["processes"][0]["paths"]
    t.equal([path["path"][-1] for path in symbols], ["app::cmp(int, int)", "strlen"], "functions")


@test
def waiting_not_separated_is_said_and_never_zero(t):
    table = Table("prog", 1, flags=UNSWITCHED)
    table.path(0, "main", calls=1, net=1000)
    data = write(t, table)
    process = t.report(data)["processes"][0]
    t.equal(process["flags"], ["unswitched"], "flags")
    t.equal([path["blocked_ns"] for path in process["paths"]], [None], "blocked")
    text = t.assay("report", "--by-time", data).out
    t.has(text, "waiting not separated")
    t.has(text, "not separated  not separated  main")


def in_terminal(t, width, *words):
    """The lines that assay writes to a terminal of this width, without colours."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = t.start(os.environ.get("ASSAY", BUILD / "assay"), *words, stdout=follower,
                      env={**os.environ, "TERM": "xterm", "ASSAY_PAGER": ""})
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:
        pass  # the other end is closed
    os.close(leader)
    t.equal(t.wait(process), 0, "status")
    return re.sub("\033\\[[0-9]*m", "", text.decode().replace("\r", "")).splitlines()


@test
def a_narrow_terminal_shows_whole_functions(t):
    data = write(t, sample())
    for width in (60, 80, 100, 120, 200):
        for words in (("-t", data), ("-f", data), ("-g", data)):
            lines = in_terminal(t, width, "report", *words)
            t.true(max(map(len, lines)) <= width,
                   f"no line is wider than {width}: {max(lines, key=len)!r}")
            t.true(any("app::cmp(int, int)" in line for line in lines), f"cmp at {width}: {words}")
    lines = in_terminal(t, 80, "report", "--wide", data)
    t.true(any("preempted" in line and "+/-" in line for line in lines), "--wide has all columns")


@test
def many_paths_take_little_more_than_the_file(t):
    table = Table("many", 9)
    for number in range(2000):
        outer = table.path(0, f"f{number}", calls=1, net=1000 + number)
        for _ in range(20):
            outer = table.path(outer, "again", calls=2, net=10)
    data = write(t, table)
    out = t.assay("report", "--nested", data, timeout=120).out
    process = json.loads(out)["processes"][0]
    t.equal(len(process["paths"]), 2000 * 21, "paths")
    t.equal(sum(path["calls"] for path in process["paths"]), 2000 * 41, "calls")
    rows = [line for line in t.assay("report", "--by-time", data).out.splitlines() if " > again " in line]
    t.equal(len(rows), 2000 * 20, "rows")
    t.has(t.assay("report", "-g", "--percent-limit", "0", data).out, "(recursion, 20 levels)")


@test
def deep_paths_are_named_by_their_nodes(t):
    table = Table("deep", 9)
    path = 0
    for number in range(16000):
        path = table.path(path, f"f{number % 7}", calls=1, net=10 + number)
    data = write(t, table)
    out = t.assay("report", "--json", data).out
    t.true(len(out) < 16000 * 1500, f"{len(out)} bytes for 16,000 levels")
    process = t.json(out)["processes"][0]
    t.equal([(node["id"], node["parent"], node["function"]) for node in process["nodes"]],
            [(i, i - 1 if i else None, f"f{i % 7}") for i in range(16000)], "nodes")
    t.equal([(path["node"], path["function"], path["net_ns"]) for path in process["paths"]],
            [(i, f"f{i % 7}", 10 + i) for i in reversed(range(16000))], "paths, most time first")
    few = t.report("-n", "2", data)["processes"][0]
    whole = t.json(t.assay("report", "--nested", "-n", "2", data).out)["processes"][0]
    t.equal([path["path"] for path in few["paths"]], [path["path"] for path in whole["paths"]],
            "names of the paths that are shown")
    t.true("nodes" not in whole, "no nodes in the nested form")


@test
def without_a_file_the_newer_recording_is_read(t):
    here = t.path("here")
    calls, samples = here / "assay.calls", here / "perf.data"
    err = t.assay("report", cwd=t.write("here/x", "").parent, status=1).err
    t.has(err, "'assay record' makes one ('assay calls' makes assay.calls")
    write(t, sample(), name="here/assay.calls")
    result = t.assay("report", "--json", cwd=here)
    t.equal((t.json(result.out)["kind"], result.err), ("calls", ""))
    t.assay("record", "-q", "-o", samples, "--", "true")
    for newer, kind in ((calls, "calls"), (samples, "samples")):
        for path in (calls, samples):
            os.utime(path, (1000, 2000 if path == newer else 1000))
        result = t.assay("report", "--json", cwd=here)
        t.equal(t.json(result.out).get("kind"), kind, f"{newer.name} is newer")
        t.has(result.err, f"reading {newer.name}; ")
        # An option that applies to one kind only selects the file of that kind.
        t.has(t.assay("report", "-f", "--by", "calls", cwd=here).out, "prog (pid 42)")
        t.has(t.assay("report", "--sort", "cpu", cwd=here).err, "reading perf.data; ")
        t.has(t.assay("export", "--to", "callgrind", "-o", "-", cwd=here).err,
              f"reading {newer.name}; ")
        t.equal(t.assay("report", "--json", calls, cwd=here).err, "", "a file was named")


@test
def a_filter_without_matches_lists_the_processes(t):
    t.has(t.assay("report", "--comm", "missing", write(t, sample())).out,
          "no process matches, of 1: prog (pid 42)")


main()
