# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of an unprivileged user try to stop or to fill a recording by root.

Each attack runs as user 65534. The recording continues, its memory has a limit, and its warnings
count the omitted data.
"""
import os
import signal

from attacks import neighbour
from harness import *


def note(t, report, *parts):
    """The warning of a report that has all these parts."""
    found = [n for n in report["warnings"] if all(part in n for part in parts)]
    t.equal(len(found), 1, f"number of warnings with {parts} in {report['warnings']}")
    return found[0]


@test
def long_path_does_not_stop_a_recording(t):
    neighbour(t, "paths", "1")
    t.assay("record", "-a", "-o", t.path("a.data"), "--", "true")
    report = t.report(t.path("a.data"))
    note(t, report, "1 mapping of a file whose path is longer than 4095 bytes")
    t.has(t.assay("report", "--full", t.path("a.data")).out, "longer than 4095 bytes")


@test
def long_path_does_not_stop_a_session(t):
    neighbour(t, "paths", "1")
    env = t.runtime()
    t.assay("start", "--ring=8M", "-o", t.path("a.data"), env=env)
    t.assay("stop", env=env)
    note(t, t.report(t.path("a.data")), "1 mapping of a file whose path is longer")


@test
def mappings_of_a_process_have_a_bound(t):
    neighbour(t, "paths", "400")
    t.assay("record", "-a", "-o", t.path("a.data"), "--", "true")
    report = t.report(t.path("a.data"))
    cut = int(note(t, report, "longer than 4095 bytes").split()[0])
    dropped = int(note(t, report, "mappings were left out (1 process)").split()[0])
    t.equal(cut + dropped, 400, "mappings with a long path")
    t.between(cut, 200, 260, "mappings that fit into 1 MB")


@test
def mappings_that_a_store_session_leaves_out_are_reported(t):
    neighbour(t, "paths", "400")
    env, db = t.runtime(), t.path("a.db")
    t.assay("start", "--store", db, "--window", "1", env=env)
    t.has(t.assay("status", env=env).out, "mappings were left out (")
    t.assay("stop", env=env)
    report = t.report(db)
    note(t, report, "mappings were left out (")
    note(t, report, "longer than 4095 bytes")
    found = t.assay("sql", db, "SELECT count(*) FROM notes JOIN sessions s ON s.id = session "
                    "WHERE note LIKE '%left out (%'").out
    t.has(found, "1")


def memory_kb(t, words, **options):
    """Runs assay to its end; returns its largest memory use."""
    process = t.start(ASSAY, *words, **options)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    t.equal(process.returncode, 0, f"status of assay {words[0]}")
    return usage.ru_maxrss


@test
def hostile_processes_do_not_fill_the_memory(t):
    """With call stacks: by a sparse file of unwind tables, by names, and by deleted files."""
    seconds = 60 if LONG else 2
    env = {**os.environ, "XDG_CACHE_HOME": str(names_of_kernel(t.path("cache")))}
    attackers = [neighbour(t, *words) for words in (("sparse", "2000"), ("names", str(seconds + 60)),
                                                    ("files", str(seconds + 60)))]
    most = memory_kb(t, ["record", "-a", "-g", "-o", t.path("a.data"), "--", "sleep",
                         str(seconds)], env=env)
    for process in attackers:
        os.killpg(process.pid, signal.SIGKILL)
    print(f"# {most >> 10} MB")
    t.true(most < 256 << 10, f"the recorder took {most >> 10} MB")
    note(t, t.report(t.path("a.data"), env=env), "1 file has more unwind information than assay reads from a file")


@test
def mappings_that_a_session_drops_are_reported(t):
    """A process maps files at new addresses without end: status and the report count what the table
    of a flight recorder and of a store drop."""
    neighbour(t, "files", "3600")
    for words in (("--ring=1M", "-o", t.path("a.data")), ("--store", t.path("a.db"), "--window",
                                                          "1")):
        env = t.runtime(words[0][2:6])

        def dropped():
            session = t.json(t.assay("status", "--json", env=env).out)["sessions"][0]
            found = [n for n in session["notes"] if "with too many of them" in n]
            return int(found[0].split()[0]) if found else 0

        t.assay("start", *words, env=env)
        count = t.until(dropped, "a count of dropped mappings in the status")
        t.assay("stop", env=env)
        report = t.report(words[2] if words[1] == "-o" else words[1])
        reported = int(note(t, report, "mappings of processes with too many of them were dropped: "
                            "code in them has no names").split()[0])
        t.true(reported >= count, f"{reported} in the report, {count} in the status")


@test
def a_flood_of_changed_modes_is_bounded(t):
    neighbour(t, "modes", "60")
    t.assay("record", "-a", "-g", "-o", t.path("a.data"), "--", "sleep", "1")
    report = t.report(t.path("a.data"))
    note(t, report, "2 recorded files changed so often that changes were no longer watched")
    t.has(t.assay("report", "--full", t.path("a.data")).out, "2 recorded files changed so often")


main()
