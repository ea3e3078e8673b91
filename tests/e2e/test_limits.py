# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs have limits (src/base/limit.h): a report of a larger one ends with a sentence that names the
file and the limit, and needs bounded memory. With ASSAY_LONG=1 the debug information of other users is
several times larger than the memory of a report; otherwise it is a little above the limits."""

import gzip
import os
import re
import resource
import socket
import sqlite3
import struct
import subprocess

import attacks
from harness import ASSAY, LONG, ROOT, main, names_of_kernel, test

MEMORY_BYTES = 512000 << 10  # ulimit -v 512000
SECONDS = 20
LIMIT = re.compile(r"/\* ((?:(?!\*/)[^|])+) \| ([^|]+) \*/\n((?:#define LIMIT_\w+ .+\n)+)")
VALUE = re.compile(r"#define LIMIT_(\w+) (.+)\n")


def value_text(name, value):
    """A value of the header as the page states it."""
    unit = re.fullmatch(r"LIMIT_(MB|SECONDS(?:_MS|_NS)?)\((\d+)\)", value)
    if unit:
        return f"{unit[2]} {'MB' if unit[1] == 'MB' else 's'}"
    shift = re.fullmatch(r"\(\(\w+\)(\d+) << (\d+)\)", value)
    return f"{int(shift[1]) << int(shift[2]) if shift else int(value):,}"


def table():
    """The table of the page, from the header."""
    text = (ROOT / "src" / "base" / "limit.h").read_text()
    lines = ["| limit of | value | above it |", "|---|---|---|"]
    for what, above, values in LIMIT.findall(text):
        shown = ", from ".join(value_text(*v) for v in VALUE.findall(values))
        lines.append(f"| {what} | {shown} | {above} |")
    return "\n".join(lines)


def bounded(t, *words, stdin=subprocess.DEVNULL, out=None):
    """Runs assay with a limit of the address space: its exit status and its messages. `out`: a list
    that gets its standard output."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([ASSAY, *map(str, words)], stdin=stdin, capture_output=True,
                          preexec_fn=limit, timeout=300, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=str(names_of_kernel(t.path("cache")))))
    if out is not None:
        out.append(done.stdout.decode(errors="replace"))
    t.true(0 <= done.returncode < 128, f"assay {words} ended with {done.returncode}: {done.stderr}")
    return done.returncode, done.stderr.decode(errors="replace")


def endless(t, head):
    """A pipe that begins with these bytes and has no end."""
    t.path("head").write_bytes(head)
    return t.start("sh", "-c", f"cat '{t.path('head')}' /dev/zero",
                   stdout=subprocess.PIPE).stdout


@test
def the_page_states_the_limits_of_the_header(t):
    page = (ROOT / "docs" / "SECURITY.md").read_text()
    t.has(page, f"<!-- src/base/limit.h -->\n{table()}\n<!-- end -->")
    text = (ROOT / "src" / "base" / "limit.h").read_text()
    stated = sum(len(VALUE.findall(values)) for _, _, values in LIMIT.findall(text))
    t.equal(stated, len(VALUE.findall(text)), "limits with a comment of the page's form")


@test
def endless_standard_input_ends_with_an_error(t):
    recording = t.path("small.data")
    t.assay("record", "-q", "-o", recording, "--", "true")
    for head, says in ((b"\x1f\x8b\x08\0\0\0\0\0\0\3", "is damaged"), (b"", "not a perf.data file"),
                       (recording.read_bytes(), "standard input")):
        status, messages = bounded(t, "report", "-i", "-", stdin=endless(t, head))
        t.equal(status, 1, messages)
        t.has(messages, says)


@test
def a_named_pipe_a_socket_and_a_device_are_no_inputs(t):
    pipe, place, device = t.path("pipe"), t.path("socket"), "/dev/zero"
    os.mkfifo(pipe)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place))
    data = t.path("data")
    t.assay("record", "-q", "-o", data, "--", "true")
    for words in (["report", "-i"], ["report", "-i", data, "--groups"], ["sql"],
                  ["diff", data], ["intervals", "-i"], ["export", "--to", "folded", "-o", t.path("o")],
                  ["tags", "names"], ["tags", "import", "-o", t.path("trace")],
                  ["report", "--store"], ["view"], ["waits", "-i"]):
        for path, says in ((pipe, "pipe|regular file"), (place, "socket|regular file|No such device"),
                           (device, "device|regular file")):
            status, messages = bounded(t, *words, path)
            t.true(status in (1, 2) and re.search(says, messages) and str(path) in messages,
                   f"{words} {path}: {status} {messages}")
    server.close()


@test
def a_pipe_of_the_shell_is_read(t):
    data = t.path("data")
    t.assay("record", "-q", "-o", data, "--", "true")
    for command in (f"cat {data} | {ASSAY} report -i -",
                    f"gzip -c {data} | {ASSAY} report -i -", f"{ASSAY} report -i <(cat {data})"):
        done = t.run("bash", "-c", command)
        t.has(done.out, "samples")


@test
def a_recording_that_unpacks_to_gigabytes_is_an_error(t):
    data, packed = t.path("data"), t.path("packed")
    t.assay("record", "-q", "-o", data, "--", "true")
    with gzip.open(packed, "wb", compresslevel=1) as out:
        out.write(data.read_bytes())
        for _ in range(700):
            out.write(bytes(1 << 20))
    status, messages = bounded(t, "report", "-i", packed)
    t.equal(status, 1, messages)
    t.has(messages, f"no memory to unpack {packed}")


@test
def folded_stacks_have_limits_of_lines_paths_and_functions(t):
    line, paths, names = t.path("line"), t.path("paths"), t.path("names")
    line.write_text("main;a 1\n" + "a;b" * (2 << 20) + " 1\n")
    with open(paths, "w") as out:
        for i in range(8400):
            out.write("".join(f"{(i * 500 + j) % 9973};" for j in range(500)) + f"{i} 1\n")
    with open(names, "w") as out:
        for i in range(530):
            out.write("".join(f"{i * 1000 + j};" for j in range(1000)) + f"{i} 1\n")
    for path, says in ((line, "more than 4 MB in line 2"), (paths, "different call paths"),
                       (names, "different functions")):
        done = t.assay("report", "-i", path, status=1)
        t.has(done.err, str(path))
        t.has(done.err, says)


@test
def long_names_of_a_store_are_errors(t):
    store = t.path("store.db")
    t.assay("start", "--foreground", "--store", store, "--duration", "1s", env=t.runtime())
    database = sqlite3.connect(store)
    database.execute("UPDATE name SET text = text || hex(zeroblob(1000000))" +
                     ("" if LONG else " WHERE rowid = (SELECT max(rowid) FROM name)"))
    database.commit()
    database.close()
    status, messages = bounded(t, "report", "--store", store)
    t.equal(status, 1, messages)
    t.has(messages, f"{store}")
    t.has(messages, "too big")


def put_many_units(path, count):
    """Empty units before the unit of the program (DWARF 4)."""
    unit = struct.pack("<IHIBB", 8, 4, 0, 8, 0)
    attacks.put_section(path, b".debug_info", unit * count + attacks.section_of(path, b".debug_info"))


def put_many_abbreviations(path, count):
    """Abbreviations of five to seven bytes before those of the program."""
    def uleb(n):
        out = bytearray()
        while n > 0x7f:
            out.append(n & 0x7f | 0x80)
            n >>= 7
        return bytes(out + bytes([n]))

    attacks.put_section(path, b".debug_abbrev", b"".join(uleb(n) + b"\x11\0\0\0"
                                                for n in range(200, 200 + count))
                + attacks.section_of(path, b".debug_abbrev"))


def put_units_in_one_list(path, count):
    """Units that begin by turns at the first and at the second of 65,000 abbreviations."""
    first = b"\x01\x11\0\0\0"
    at = len(attacks.section_of(path, b".debug_abbrev"))
    attacks.put_section(path, b".debug_abbrev", attacks.section_of(path, b".debug_abbrev") + first * 65000 + b"\0")
    attacks.put_section(path, b".debug_info", b"".join(
        struct.pack("<IHIBB", 8, 4, at + len(first) * (i % 2), 8, 0) for i in range(count))
        + attacks.section_of(path, b".debug_info"))


def put_many_symbols(path, count):
    """Copies of the symbol of spin_body."""
    symbols, names = attacks.section_of(path, b".symtab"), attacks.section_of(path, b".strtab")
    at = names.index(b"\0spin_body\0") + 1
    known = next(symbols[i:i + 24] for i in range(0, len(symbols), 24)
                 if struct.unpack_from("<I", symbols, i)[0] == at)
    attacks.put_section(path, b".symtab", symbols + known * count)


def record_beside(t, process, *words):
    """Records while the process runs, and ends it: reports need the CPU."""
    t.assay("record", "-q", *words, "--duration", "300ms")
    process.kill()
    t.wait(process)


def report_of_program(t, change):
    """A report, within limits, of a program of another user with changed debug information."""
    attacks.need_root(t)
    program = attacks.build_bomb(t, change)
    data, out = t.path("data"), []
    record_beside(t, attacks.start(t, program), "-a", "-o", data)
    status, messages = bounded(t, "report", "--full", "--sort", "line", "--comm", "bomb", "-i", data, out=out)
    t.equal((status, messages), (0, ""))
    return out[0]


@test
def a_line_table_of_another_user_takes_bounded_memory(t):
    page = report_of_program(t, lambda program: attacks.put_long_line_program(
        program, 40 << 20 if LONG else 10 << 20))
    t.has(page, "spin.c:3")
    t.has(page, "of its inlined functions are unknown")


@test
def units_and_abbreviations_of_another_user_take_bounded_memory(t):
    for change, count in ((put_many_units, 4 << 20 if LONG else 300000),
                          (put_many_abbreviations, 6 << 20 if LONG else 100000)):
        page = report_of_program(t, lambda program: change(program, count))
        t.has(page, "spin_body")
        t.has(page, "of its inlined functions are unknown")


@test
def units_that_share_one_list_of_abbreviations_take_bounded_time(t):
    page = report_of_program(t, lambda program: put_units_in_one_list(program, 250000))
    t.has(page, "spin_body")
    t.has(page, "of its inlined functions are unknown")


@test
def symbols_of_another_user_take_bounded_memory(t):
    page = report_of_program(t, lambda program: put_many_symbols(
        program, 8 << 20 if LONG else 2200000))
    t.has(page, "spin_body")


@test
def symbols_above_the_limit_are_counted(t):
    text = (ROOT / "src" / "base" / "limit.h").read_text()
    most = int(value_text(*re.search(r"LIMIT_(ELF_SYMBOLS) (.+)", text).groups()).replace(",", ""))
    left_out = []
    for more in (3, 10):
        program = attacks.build_bomb(t, lambda program: put_many_symbols(program, most + more))
        data = t.path("data")
        process = t.start(program)
        record_beside(t, process, "-o", data, "-p", process.pid)
        page = t.assay("report", "--full", "-i", data).out
        t.has(page, "spin_body")
        found = re.search(r"bomb: (\d+) of its symbols were left out", " ".join(page.split()))
        left_out.append(int(found[1]) if found else 0)
    t.between(left_out[0], 4, 3 + 50, "the copies above the limit, and the program's own symbols")
    t.equal(left_out[1] - left_out[0], 7, "seven more copies")


main()
