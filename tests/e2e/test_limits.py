# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs have limits (src/base/limit.h): a report of a larger one ends with a sentence that names the
file and the limit, and needs bounded memory."""

import os
import re
import resource
import socket
import subprocess

from harness import ASSAY, ROOT, main, test

MEMORY_BYTES = 512000 << 10  # ulimit -v 512000
SECONDS = 20
LIMIT = re.compile(r"/\* ([^|]+) \| ([^|]+) \*/\n((?:#define LIMIT_\w+ .+\n)+)")
VALUE = re.compile(r"#define LIMIT_(\w+) (.+)\n")


def value_text(name, value):
    """A value of the header as the page states it."""
    unit = re.fullmatch(r"LIMIT_(MB|SECONDS_NS)\((\d+)\)", value)
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


def bounded(t, *words, stdin=subprocess.DEVNULL):
    """Runs assay with a limit of the address space: its exit status and its messages."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([ASSAY, *map(str, words)], stdin=stdin, capture_output=True,
                          preexec_fn=limit, timeout=300, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=str(t.path("cache"))))
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


main()
