# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay top` on a terminal and as reports, and `assay report --tui`: what is on the screen, the
keys, figures that are those of the recording, mistakes, and the terminal afterwards."""

import json
import os
import re
import shutil
from collections import Counter

from attacks import EVIL_NAME
from calls_table import Table
from device_recorder import records
from device_truth import imported
from harness import ASSAY, main, need_waits, run, test
from screen import Screen

LEDGER = re.compile(r"^(?:[a-z ]+ -?[0-9.]+ +)+(?:resid|residual) -?[0-9.]+ %", re.MULTILINE)
TERM = re.compile(r"([a-z]+(?: [a-z]+)*) (-?[0-9.]+)")
TERMS = {"user": "user", "exit": "kernel_exit", "return from kernel": "kernel_exit", "kernel": "kernel",
         "irq": "irq", "interrupts": "irq", "idle": "idle", "steal": "steal", "unobs": "unobserved",
         "unobserved": "unobserved", "resid": "residual", "residual": "residual"}
ROW = re.compile(r"^ *([0-9.]+) %  +([0-9.]+) %  +([0-9.]+) %  +([0-9,]+)  (\S.*?)  +(user|kernel|irq|idle)"
                 r"  +(\S.*)$")


def has_rows(lines):
    return [match.groups() for match in map(ROW.match, lines) if match]


def ledger_of(text):
    """term -> percent, of the account on the screen; terms of 0.0 may be left out."""
    line = LEDGER.search(text)
    return {TERMS[name]: float(percent) for name, percent in TERM.findall(line[0])} if line else {}


def by_key(rows, *keys):
    return sorted(json.dumps([row.get(key) for key in keys]) for row in rows)


def settings(screen):
    """The terminal's settings, by stty, on the screen of the shell."""
    screen.prompt()
    screen.run("clear")
    screen.prompt()
    screen.run("stty", "-g")
    return screen.until(lambda lines: next((l for l in lines if re.fullmatch("[0-9a-f:]{40,}", l)), None))


@test
def the_screen_has_rows_and_an_account_and_q_restores_the_terminal(t):
    with Screen(t, 80, 24) as s:
        before = settings(s)
        s.run(ASSAY, "top", "-d", "0.3")
        s.until(has_rows)
        text = s.text()
        t.has(text, "the whole machine at 97 Hz", "the first line")
        t.has(text, "own cost", "the corner")
        t.true(all(len(line) <= 80 for line in s.lines()), "no line is longer than the screen")
        terms = ledger_of(text)
        t.true(terms, f"the account: {text}")
        # Each of the terms is rounded to a tenth.
        t.between(sum(terms.values()), 99.6, 100.4, "sum of the account")
        t.equal(s.flag("alternate_on"), "1", "the screen is beside the shell's")
        t.equal(s.flag("mouse_any_flag") or s.flag("mouse_standard_flag"), "1", "the mouse")
        s.keys("q")
        s.until(lambda lines: s.flag("alternate_on") == "0")
        t.equal(s.flag("mouse_any_flag"), "0", "the mouse afterwards")
        t.equal(s.flag("cursor_flag"), "1", "the cursor afterwards")
        t.equal(settings(s), before, "the terminal's settings afterwards")
        s.run(ASSAY, "top", "-d", "0.3")
        s.until(has_rows)
        s.keys("C-c")
        s.until(lambda lines: s.flag("alternate_on") == "0")
        t.equal(settings(s), before, "the terminal's settings after ^C")


@test
def keys_select_tables_filter_pause_and_open_pages(t):
    t.start(t.workload("loop"), "60000")
    with Screen(t, 80, 24) as s:
        s.run(ASSAY, "top", "-d", "0.3", "-g", "--window", "60")
        s.until("loop_body")
        s.keys("Space")
        s.until("PAUSED")
        s.keys("/")
        s.type("user loop_b.dy")
        s.until(lambda lines: len(has_rows(lines)) == 1)
        s.keys("Enter", "Enter")
        s.until("the callers of each sample in it")
        t.has(s.text(), "loop_body", "the inverted tree")
        s.keys("Escape")
        s.until("Processes")
        s.keys("a")
        # Notes on other programs of the machine may stand above.
        s.until(lambda lines: "loop_body: instructions" in "\n".join(lines))
        s.until("assembly")
        s.keys("Escape")
        s.until("filter: ")
        s.keys("Escape")
        s.until(lambda lines: "filter: " not in "\n".join(lines))
        s.keys("BTab")
        s.until("kernel  idle")
        s.keys("?")
        s.until("the line above")
        s.keys("x")
        s.until("kernel  idle")
        s.keys("t")
        s.until("The call tree")
        s.keys("Escape", "Space")
        s.until(lambda lines: "PAUSED" not in lines[0])
        s.keys("w")
        s.until("waits are not recorded: 'assay top --waits'")
        s.keys("T")
        s.until("since start")


@test
def the_screen_follows_the_size_of_the_terminal(t):
    with Screen(t, 80, 24) as s:
        s.run(ASSAY, "top", "-d", "0.3")
        s.until(has_rows)
        s.resize(130, 12)
        s.until("residual")
        t.true(len(s.lines()[11]) > 80, "the line of hints is longer")
        s.resize(30, 5)
        s.until(lambda lines: len(lines[0]) <= 30 and "Functions" in "\n".join(lines))
        s.resize(80, 24)
        s.until(has_rows)
        s.keys("q")
        s.prompt()


def shows(text, share):
    """Whether the text is the share in percent, rounded to its decimals: small shares have two."""
    return abs(float(text) - 100 * share) <= 0.501 * 10 ** -len(text.partition(".")[2])


@test
def a_snapshot_has_the_figures_on_the_screen(t):
    data = t.path("snap.data")
    t.start(t.workload("loop"), "60000")
    with Screen(t, 100, 40) as s:
        # Only the snapshot ends a window, so the screen has its figures.
        s.run(ASSAY, "top", "-d", "3000", "--window", "0", "-F", "997")
        s.until("the first samples are taken")
        t.until(lambda: os.path.exists("/proc/self") and s.flag("alternate_on") == "1", "the screen")
        s.keys("s")
        s.until("write to: top-")
        s.keys("C-u")
        s.type(str(data))
        s.keys("Enter")
        s.until("wrote ")
        rows = s.until(has_rows)
        ledger = ledger_of(s.text())
        s.keys("q")
        s.prompt()
    report = t.report(data)
    whole = report["ledger"]["wall_ns"] * report["ledger"]["cpus"]
    t.true(ledger, "the account on the screen")
    for key in set(TERMS.values()):
        share = 100 * report["ledger"][f"{key}_ns"] / whole
        # On a busy machine some ticks of the last moment arrive after the screen was drawn.
        t.near(ledger.get(key, 0), share, 0.35, key)
    known = {}
    for row in report["functions"]:
        name = os.path.basename(row["image"]), row["mode"], row["function"]
        known.setdefault(name, []).append(row)
    t.true(len(rows) > 3, f"rows on the screen: {rows}")
    for share, low, high, samples, image, mode, function in rows:
        if image.endswith("~") or function.endswith("~"):
            continue
        t.true(any(row["samples"] == int(samples.replace(",", "")) and
                   shows(share, row["share"]) and shows(low, row["low"]) and
                   shows(high, row["high"]) for row in known[image, mode, function]),
               f"{image} {function}: {samples} samples, {share} {low} {high}: {known[image, mode, function]}")


SAME = ("ledger", "events", "samples", "base_samples", "paths", "stacks")


@test
def one_report_has_the_figures_of_its_recording(t):
    data = t.path("a.data")
    t.start(t.workload("loop"), "60000")
    shown = t.json(t.assay("top", "--batch", "-n", "1", "-d", "1", "--json", "-g", "-F", "499",
                           "-o", data).out)
    report = t.report(data)
    for one in (shown, report):
        del one["stacks"]["images"]  # of those with equal numbers some are left out
    for key in SAME:
        t.equal(shown[key], report[key], key)
    figures = "share", "low", "high", "samples", "weight"
    t.equal(by_key(shown["functions"], "image", "function", "mode", *figures),
            by_key(report["functions"], "image", "function", "mode", *figures), "functions")
    t.equal(by_key(shown["processes"], "name", "pid", "share", "low", "high", "user_samples"),
            by_key(report["processes"], "name", "pid", "share", "low", "high", "user_samples"), "processes")


@test
def the_key_w_shows_waits_and_their_call_paths(t):
    need_waits(t)
    with Screen(t, 120, 30) as s:
        s.run(ASSAY, "top", "-d", "1", "--waits")
        s.until("Functions")
        s.keys("w")
        s.until("For what threads wait")
        s.until("holder  evidence")
        s.keys("Space")
        s.until("PAUSED")
        s.keys("Enter")
        s.until("call paths of its waits, with their wakers below")
        s.keys("Escape")
        s.until("holder  evidence")
        s.keys("w")
        s.until("Functions")
        t.true("For what threads wait" not in s.text(), "the page of waits is left")
        s.keys("?")
        s.until("for what threads wait (--waits)")
        s.keys("x", "q")
        s.prompt()


def of_row(row):
    """Other programs may write names of generated code after its samples: then only the report has them."""
    if row["image"].startswith(("[jit]", "//anon")):
        return "generated code"
    return row["image"], row["function"], row["mode"]


@test
def the_reports_of_a_batch_add_up_to_the_recording(t):
    data = t.path("a.data")
    out = t.assay("top", "--batch", "-n", "3", "-d", "0.4", "--json", "-F", "997", "-o", data).out
    parts = [json.loads(line) for line in out.splitlines()]
    report = t.report(data)
    t.equal(len(parts), 3, "reports")
    t.equal(sum(part["samples"] for part in parts), report["samples"], "samples")
    sums, want = Counter(), Counter()
    for part in parts:
        for row in part["functions"]:
            sums[of_row(row)] += row["samples"]
    for row in report["functions"]:
        want[of_row(row)] += row["samples"]
    t.equal((sums - want, want - sums), (Counter(), Counter()), "samples of functions: only in the parts, only in the report")
    for key in ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns"):
        t.equal(sum(part["ledger"][key] for part in parts), report["ledger"][key], key)


@test
def programs_that_are_deleted_during_top_keep_their_names(t):
    program, data = t.path("gone_loop"), t.path("a.data")
    shutil.copy(t.workload("loop"), program)
    env = {"XDG_CACHE_HOME": str(t.path("cache"))}
    job = t.start(program, "60000")
    watcher = t.start("sh", "-c", 'exec "$@" >"$0"', t.path("out"), ASSAY, "top", "--batch", "-n", "2", "-d", "1", "-o", data,
                      env=env)
    t.until(data.exists, "the recording")
    program.unlink()
    t.wait(watcher)
    job.kill()
    t.wait(job)
    names = {row["function"] for row in t.json(t.assay("report", "--json", data, env=env).out)["functions"]
             if row["image"].startswith(str(program))}
    t.true("loop_body" in names, f"functions of the program: {names}")


@test
def once_prints_tables(t):
    out = t.assay("top", "--once", "-d", "0.3", "--lines", "3").out
    for part in ("The whole machine", "residual", "Processes", "Functions", "total"):
        t.has(out, part)
    out = t.assay("top", "--once", "-d", "0.3", "--sort", "process,cpu").out
    t.has(out, "Samples by process, cpu")


@test
def mistakes_are_refused_with_the_way_out(t):
    for words, part in ((["top"], "needs a terminal"), (["top", "--json"], "are for --batch"),
                        (["top", "-n", "3"], "are for --batch"),
                        (["top", "--once", "-n", "4"], "prints one report"),
                        (["top", "ls"], "assay record -- ls"), (["top", "--once", "-d", "0"], "-d must be"),
                        (["top", "--once", "--sort", "x"], "the keys are process,"),
                        (["top", "--window", "61", "--once"], "--window must be")):
        t.has(t.assay(*words, status=2).err, part, f"assay {words}")
    t.has(t.assay("top", "--once", "-o", "/no/such/file", status=1).err, "/no/such", "the output")
    with Screen(t, 80, 24, term="dumb") as s:
        s.run(ASSAY, "top")
        s.until("cannot move its cursor")
        s.prompt()
        s.run("clear")
        s.prompt()
        s.run(ASSAY, "report", "--tui", "--json")
        s.until("without --brief")


@test
def an_ordinary_user_sees_their_own_processes(t):
    if os.geteuid():
        t.skip("needs root, to become another user")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        if int(f.read()) < 1:
            t.skip("kernel.perf_event_paranoid allows each user to sample the machine")
    t.need("setpriv")
    work = t.path("work")
    work.mkdir(mode=0o755)
    os.chmod(t.path(""), 0o755)
    for program in (ASSAY, t.workload("loop")):
        shutil.copy(program, work)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", "env", "HOME=/nonexistent"]
    t.start(*user, work / "loop", "60000")
    with Screen(t, 80, 24) as s:
        s.run(*user, work / "assay", "top", "-d", "0.3")
        s.until("loop_body")
        t.has(s.lines()[0], "your own processes", "the first line")
        t.has(s.text(), "You may not sample the", "the limit")
        s.keys("q")
        s.prompt()


@test
def a_recording_is_shown_with_foreign_names_escaped(t):
    data, work = t.path("a.data"), t.path("w")
    work.mkdir()
    for name in (EVIL_NAME, "関数関数関"):
        shutil.copy(t.workload("loop"), work / name)
        run(ASSAY, "record", "-q", "-g", "-F", "499", "-o", t.path(f"{len(name)}.data"), "--", work / name, "150")
    with Screen(t, 80, 24) as s:
        s.run(ASSAY, "report", "--tui", t.path(f"{len(EVIL_NAME)}.data"))
        s.until("loop_body")
        t.has(s.text(), "One command", "the first line")
        t.has(s.text(), r"e\x1b[7m", "the image")
        s.keys("BTab", "BTab")
        s.until("kernel  idle")
        t.has(s.text(), r"e\x1b[7m\x9b5m\r\nok", "the process")
        s.keys("Enter")
        s.until("functions and call tree")
        s.keys("Tab")
        s.until("main")
        s.keys("Escape", "q")
        s.prompt()
        s.run(ASSAY, "report", "--tui", t.path("5.data"))
        row = s.until(lambda lines: next((l for l in lines if "loop_body" in l), None))
        t.has(row, "関数関数関  ", "the image")
        # Wide characters take two columns: the columns of the next line are below those of this one.
        titles = next(l for l in s.lines() if "image" in l and "function" in l)
        t.equal(row.index("loop_body") + 5, titles.index("function"), "the column of functions")


@test
def counted_calls_event_tags_and_stores_are_shown(t):
    table = Table("prog", 42)
    outer = table.path(0, "main_loop", calls=1, net=100000)
    table.path(table.path(outer, "sort_items", calls=20, net=20000), "compare_two", calls=123, net=30000)
    calls = t.write("prog.calls", table.bytes())
    names = "parse/100\nlookup/102\nswtch/104!\n"
    events = [(10, 100), (40, 102), (50, 103), (70, 101), (80, 104), (90, 105)]
    tags = imported(t, records(events), names)
    data, store = t.path("s.data"), t.path("s.db")
    run(ASSAY, "record", "-q", "-g", "-F", "499", "-o", data, "--", t.workload("loop"), "300")
    run(t.workload("store_recording"), data, store, "0.1")
    with Screen(t, 110, 30) as s:
        for words, name, tree in ((("-f", calls), "compare_two", "sort_items"), ((tags,), "lookup", "parse"),
                                  (("--store", store), "loop_body", "main")):
            s.run(ASSAY, "report", "--tui", *words)
            row = s.until(lambda lines, name=name: next((l for l in lines if name in l), None))
            t.true("123" in row or name != "compare_two", f"the calls of {name}: {row}")
            s.keys("/")
            s.type(f"{name[:-2]}..")
            s.keys("Enter")
            s.until(lambda lines, name=name: any(name in l for l in lines) and "filter: " in "\n".join(lines))
            s.keys("Escape", ">", "?")
            s.until("the line above")
            s.keys("x", "t")
            s.until(lambda lines, tree=tree: any(tree in l for l in lines))
            s.keys("Escape", "q")
            s.until(lambda lines: s.flag("alternate_on") == "0")
            s.run("clear")
            s.prompt()


def sampled(t, store, *command):
    """Adds a session of this command to a store."""
    data = t.path("session.data")
    run(ASSAY, "record", "-q", "-g", "-F", "499", "-o", data, "--", *map(str, command))
    run(t.workload("store_recording"), data, store, "0.1")


@test
def a_store_is_read_again_and_new_windows_are_shown(t):
    store = t.path("s.db")
    sampled(t, store, t.workload("loop"), "300")
    with Screen(t, 110, 30) as s:
        s.run(ASSAY, "top", "--store", store, "-d", "0.3", "--window", "3600")
        s.until("loop_body")
        t.has(s.text(), f"all machines of {store}, last")
        t.lacks(s.text(), "touch_pages")
        s.keys("Space")
        s.until("PAUSED")
        s.keys("Space")
        s.until(lambda lines: "PAUSED" not in "\n".join(lines))
        sampled(t, store, t.workload("faults"), t.path("pages"))
        s.until(lambda lines: any("faults" in line for line in lines))
        s.keys("T")
        s.until("ended in the last")
        s.keys("q")
        s.until(lambda lines: s.flag("alternate_on") == "0")


@test
def reports_of_a_store_have_the_figures_of_its_report(t):
    store = t.path("s.db")
    sampled(t, store, t.workload("loop"), "300")
    report = t.json(t.assay("report", "--store", store, "--json").out)
    for line in t.assay("top", "--store", store, "--batch", "-n", "2", "-d", "0.1", "--window", "3600", "--json").out.splitlines():
        shown = json.loads(line)
        for key in ("processes", "functions", "ledger"):
            t.equal(shown.get(key), report.get(key), key)
    t.has(t.assay("top", "--store", store, "--once", "--window", "3600").out, "loop_body")
    t.equal(t.assay("top", "--store", store, "--once", "--host", "none*", status=1).out, "")
    for words, part in ((["-p", "1"], "options of sampling"), (["-o", "x"], "options of sampling"), (["--waits"], "options of sampling"),
                        (["--window", "0"], "above 0"), (["--window", "3601"], "above 0")):
        t.has(t.assay("top", "--once", "--store", store, *words, status=2).err, part, str(words))
    t.has(t.assay("top", "--once", "--host", "x", status=2).err, "need --store")


main()
