# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal: runs assay on a terminal, and checks the control sequences in its output."""

import os
import pty
import re

from harness import ASSAY

COLOURS = re.compile(r"\033\[(?:[012]|3[0-7])m")
PROGRESS = "\r\033[K"


def on_terminal(t, *words, status=0, env=None):
    """The bytes that assay writes to a terminal (standard output and standard error), without a
    pager."""
    leader, follower = pty.openpty()
    process = t.start(ASSAY, *map(str, words), stdout=follower, stderr=follower,
                      env={**os.environ, "TERM": "xterm", "ASSAY_PAGER": "", **(env or {})})
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:
        pass  # the other end is closed
    os.close(leader)
    t.equal(t.wait(process), status, f"status of {words}: {text[-500:]!r}")
    return text.replace(b"\r\n", b"\n")


def check_harmless(t, bytes, what, named=True):
    """Checks that no control sequence reaches the terminal except assay's own colours and progress
    line. A line feed in a quoted field of CSV is data."""
    try:
        text = bytes.decode()
    except UnicodeDecodeError as error:
        t.fail(f"{what}: {error}: {bytes[:500]!r}")
    text = COLOURS.sub("", text).replace(PROGRESS, "")
    acting = re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", text)
    if acting:
        near = text[max(0, acting.start() - 60):acting.end() + 20]
        t.fail(f"{what} has {acting.group()!r}: {near!r}")
    if "csv" not in what:
        # assay doctor begins lines with the word ok and a space.
        if re.search(r"\nok(?! )", text):
            t.fail(f"{what} has a line that a name began: {text[:500]!r}")
    if named:
        t.has(text, r"\x1b[7m", what)
