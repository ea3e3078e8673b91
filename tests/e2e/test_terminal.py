# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that other users choose (of processes, files, directories) do not act on the terminal of
the reader: escape sequences, controls of C1 and cut characters are shown, in each message, report
and listing, on a terminal and in a pipe."""

import functools
import os
import pathlib
import re
import shutil
import tempfile
import atexit

from attacks import EVIL_NAME as EVIL
from harness import ASSAY, BUILD, main, run, test
from terminal import check_harmless, on_terminal


@functools.lru_cache(None)
def recording():
    """A program with such a name, in a directory with such a name."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    program = work / EVIL / EVIL
    program.parent.mkdir()
    shutil.copy(BUILD / "tests" / "workloads" / "loop", program)
    run(ASSAY, "record", "-q", "-g", "-o", work / "a.data", "--", program, "200")
    return work / "a.data"


@test
def reports_and_exports_show_names_as_they_are_spelled(t):
    data = recording()
    for words in (["report"], ["report", "--full"], ["report", "--wide"], ["report", "-g"], ["report", "--json"],
                  ["annotate", "loop_body"], ["export", "--to", "folded"],
                  ["sql", "--format", "csv"], ["sql", "--format", "json"], ["sql"]):
        query = ["SELECT name FROM by_application"] if words[0] == "sql" else []
        option = [data] if words[0] == "sql" else ["-i", data]
        words = [words[0], *words[1:], *option, *query]
        named = "json" not in " ".join(map(str, words))
        check_harmless(t, on_terminal(t, *words), words, named)


@test
def errors_and_notes_show_names_as_they_are_spelled(t):
    absent = t.path(EVIL) / EVIL
    for words, status in ((["report", "-i", absent], 1), (["record", "-o", absent, "true"], 1),
                          (["record", "--", absent], 127), (["sql", absent], 1),
                          (["report", "--" + EVIL], 2), ([EVIL], 2), (["tags", "names", absent], 1),
                          (["status", "--name", EVIL], 2), (["export", "--to", EVIL], 2)):
        check_harmless(t, on_terminal(t, *words, status=status), words)
        check_harmless(t, run(ASSAY, *words, status=status, text=False).err, words)


@test
def a_recording_ends_with_a_line_that_can_be_typed(t):
    t.path(EVIL).mkdir()
    data = t.path(EVIL) / EVIL
    shown = on_terminal(t, "record", "-o", data, "--", t.workload("loop"), "10")
    check_harmless(t, shown, "the line at the end")
    command = re.search(rb"'assay report (\$'.*')'", shown).group(1)
    typed = run("bash", "-c", b"printf %s ".decode() + command.decode(), text=False).out
    t.equal(typed, os.fsencode(data), "the path as bash reads it")
    # The earlier file is moved aside, and the session says so.
    check_harmless(t, on_terminal(t, "start", "-p", os.getpid(), "-o", data, env=t.runtime()),
                   "start")
    check_harmless(t, on_terminal(t, "status", env={"XDG_RUNTIME_DIR": str(t.path("run"))}),
                   "status")
    check_harmless(t, on_terminal(t, "stop", env={"XDG_RUNTIME_DIR": str(t.path("run"))}), "stop")


@test
def findings_of_the_machine_show_directories_as_they_are_spelled(t):
    check_harmless(t, on_terminal(t, "doctor", env={"ASSAY_CALLS_DIR": str(t.path(EVIL)),
                                                    "ASSAY_TAGS_DIR": str(t.path(EVIL))}), "doctor")


main()
