# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that act on a reader (escape sequences, C1 controls, directions of text, formulas of a
spreadsheet) in every medium that assay writes. MEDIA has one line for each medium: the words that write
it, and the form in which a reader of it gets the name. docs/SECURITY.md has the same table."""

import atexit
import csv
import functools
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import ASSAY, BUILD, main, run, test
from page_data import Page
from pprof_read import Pprof
from otlp_read import Otlp
from screen import Screen
from terminal import on_terminal

FUNCTION = "=\u202e\033m\u009bA"  # as long as loop_body, whose name it replaces in the program
PROCESS = "-\u2066\033]0;t\007"  # at most 15 bytes
FUNCTION_TEXT, PROCESS_TEXT = "=\\u202e\\x1bm\\x9bA", "-\\u2066\\x1b]0;t\\x07"
# All that must not be in the bytes of a medium: controls except line feeds and tabs, DEL, C1, hidden.
ACTING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@functools.lru_cache(None)
def recording():
    work = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    program = work / PROCESS
    code = (BUILD / "tests" / "workloads" / "loop").read_bytes()
    program.write_bytes(code.replace(b"loop_body\0", FUNCTION.encode() + b"\0"))
    program.chmod(0o755)
    run(ASSAY, "record", "-q", "-g", "-o", work / "a.data", "--", program, "200")
    return work / "a.data"


def words_in(value):
    """All texts of a JSON value."""
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in words_in(part)]
    if isinstance(value, list):
        return [text for item in value for text in words_in(item)]
    return [value] if isinstance(value, str) else []


def of_json(data):
    return words_in(json.loads(data))


def of_csv(data):
    return [field for row in csv.reader(io.StringIO(data.decode())) for field in row]


def of_lines(data):
    return [part for line in data.decode().splitlines() for part in re.split(r"  +|;|\) | \||\| ", line)]


def of_pprof(data):
    profile = Pprof(data)
    return [word for path, _, labels in profile.samples for word in (*path, *labels.values())]


def of_otlp(data):
    return [word for profile in Otlp(data).profiles for path, _, keys in profile.samples
            for word in (*path, *keys.values()) if isinstance(word, str)]


def markdown(text):
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)


QUERY = "SELECT function FROM by_function UNION SELECT name FROM by_application"
DATA = object()  # the recording
# The medium, its words, its reader, the names of the function and of the process as they are read.
# The reader None: bytes in which names are searched. BINARY: texts are within binary data.
BINARY = {"pprof", "otlp", "sqlite"}
MEDIA = [
    ("text", ["report", "--full", "-i", DATA], None, FUNCTION_TEXT, PROCESS_TEXT),
    ("tree", ["report", "-g", "-i", DATA], None, FUNCTION_TEXT, PROCESS_TEXT),
    ("annotate", ["annotate", FUNCTION, "-i", DATA], None, FUNCTION_TEXT, None),
    ("JSON", ["report", "--json", "--full", "-i", DATA], of_json, FUNCTION, PROCESS),
    ("Markdown", ["report", "--markdown", "--full", "-i", DATA], None, markdown(FUNCTION_TEXT),
     markdown(PROCESS_TEXT)),
    ("table of SQL", ["sql", DATA, QUERY], None, FUNCTION_TEXT, PROCESS_TEXT),
    ("CSV of SQL", ["sql", "--format", "csv", DATA, QUERY], of_csv, "'" + FUNCTION_TEXT,
     "'" + PROCESS_TEXT),
    ("JSON of SQL", ["sql", "--format", "json", DATA, QUERY], of_json, FUNCTION, PROCESS),
    ("csv", ["export", "--to", "csv", "-o", "-", "-i", DATA], of_csv, "'" + FUNCTION_TEXT,
     "'" + PROCESS_TEXT),
    ("json", ["export", "--to", "json", "-o", "-", "-i", DATA], of_json, FUNCTION_TEXT, PROCESS_TEXT),
    ("folded", ["export", "--to", "folded", "-o", "-", "-i", DATA], None, FUNCTION_TEXT,
     PROCESS_TEXT.replace(";", ":")),
    ("callgrind", ["export", "--to", "callgrind", "-o", "-", "-i", DATA], None, FUNCTION_TEXT, None),
    ("pprof", ["export", "--to", "pprof", "-o", "-", "-i", DATA], of_pprof, FUNCTION_TEXT,
     PROCESS_TEXT),
    ("speedscope", ["export", "--to", "speedscope", "-o", "-", "-i", DATA], of_json, FUNCTION_TEXT,
     PROCESS_TEXT),
    ("firefox", ["export", "--to", "firefox", "-o", "-", "-i", DATA], of_json, FUNCTION_TEXT,
     PROCESS_TEXT),
    ("chrome", ["export", "--to", "chrome", "-o", "-", "-i", DATA], of_json, FUNCTION_TEXT,
     PROCESS_TEXT),
    ("perf-script", ["export", "--to", "perf-script", "-o", "-", "-i", DATA], None, FUNCTION_TEXT,
     PROCESS_TEXT),
    ("otlp", ["export", "--to", "otlp", "-o", "-", "-i", DATA], of_otlp, FUNCTION_TEXT, PROCESS_TEXT),
]
# Media of `export` that have no text of their own to be read here.
OTHER_EXPORTS = {"ctf": "names of tags in metadata: tests/unit/format/test_ctf.c",
                 "sqlite": "values of a database: what reads it escapes them"}


@test
def names_of_every_medium_act_on_no_reader(t):
    for what, words, reader, *names in MEDIA:
        words = [recording() if word is DATA else word for word in words]
        data = run(ASSAY, *words, text=False).out
        if what not in BINARY:
            acting = ACTING.search(data.decode())
            t.true(not acting, f"{what} has {acting and acting.group()!r} near "
                               f"{acting and data.decode()[max(0, acting.start() - 50):acting.end()]!r}")
        texts = reader(data) if reader else data.decode()
        for name in filter(None, names):
            t.true(name in texts if not reader else any(name == text or name in str(text).split(";")
                                                        for text in texts),
                   f"{what} has the name as {name!r}: {data[:2000]!r}")


@test
def every_format_of_export_is_in_the_list(t):
    refused = run(ASSAY, "export", "--to", "none", status=2).err
    known = {what for what, *_ in MEDIA} | set(OTHER_EXPORTS)
    listed = set(" ".join(refused.split()).split("choose from: ")[1].split(", "))
    t.true(len(listed) >= 10 and listed <= known, f"{listed - known} of {listed} is in no list")


@test
def a_terminal_gets_what_a_pipe_gets(t):
    for what, words, *_ in MEDIA:
        if what in BINARY:
            continue
        words = [recording() if word is DATA else word for word in words]
        shown = re.sub(rb"\033\[(?:[012]|3[0-7])m", b"", on_terminal(t, *words)).replace(b"\r\033[K", b"")
        acting = ACTING.search(shown.decode())
        t.true(not acting, f"{what} on a terminal has {acting and acting.group()!r}")


@test
def a_query_chooses_no_escape_for_the_terminal(t):
    query = "select 'a,'||char(27)||'[8mhidden', char(27)||'[8mx', 'b,'||char(27)||']0;t'||char(7), char(155)"
    shown = on_terminal(t, "sql", "--format", "csv", recording(), query)
    t.true(not ACTING.search(shown.decode()), f"{shown!r}")
    piped = run(ASSAY, "sql", "--format", "csv", recording(), query, text=False).out
    t.equal(piped, shown, "in a pipe")


@test
def a_spreadsheet_gets_texts_and_no_formulas(t):
    texts = ["=1+1", "+1", "-1", "@A1", "\t=1", "'quoted", "a=1", "plain", 'say "x"', "two\nlines"]
    values = ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
    rows = list(csv.reader(io.StringIO(run(
        ASSAY, "sql", "--format", "csv", recording(), f"select {values}, -1, -1.5").out)))
    fields = rows[1]
    for text, field in zip(texts, fields):
        t.true(field[0] not in "=+-@\t", f"{field!r} of {text!r} is no formula")
        t.equal(field.removeprefix("'"), text, "without one apostrophe")
    t.equal(fields[len(texts):], ["-1", "-1.5"], "numbers stay numbers")


@test
def the_page_has_names_as_text(t):
    page = t.path("page.html")
    run(ASSAY, "report", "--html", page, "-i", recording())
    t.true(not ACTING.search(page.read_text()), "the file")
    texts = Page.of_file(page).stacks().names
    t.true(FUNCTION_TEXT in texts and PROCESS_TEXT in texts, f"{texts}")


@test
def the_screen_shows_names_escaped(t):
    with Screen(t, 120, 40) as s:
        s.run(ASSAY, "report", "--tui", "-i", recording())
        s.until("Functions")
        s.until(FUNCTION_TEXT)
        t.true(not ACTING.search(s.text()), "the screen")
        s.keys("q")


@test
def errors_and_reports_of_folded_stacks_are_escaped(t):
    folded = t.write("a.folded", f"main;{FUNCTION} 5\nmain 3\n")
    t.has(t.assay("report", "--full", folded).out, FUNCTION_TEXT, "the report")
    for words in (["report", "-i", t.path(FUNCTION)], ["export", "--to", FUNCTION], [FUNCTION]):
        err = subprocess.run([ASSAY, *map(str, words)], capture_output=True, timeout=60).stderr.decode()
        t.true(not ACTING.search(err) and "\\u202e" in err, f"{err!r}")


main()
