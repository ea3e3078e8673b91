# SPDX-License-Identifier: GPL-2.0-or-later
"""On a terminal, `assay report` prints through a pager, as git does."""

import atexit
import errno
import fcntl
import functools
import os
import pathlib
import pty
import shutil
import signal
import struct
import tempfile
import termios

from calls_table import Table
from harness import ASSAY, BUILD, main, run, test

KEPT = {"PATH", "HOME", "LC_ALL", "LANG", "TMPDIR"}


@functools.lru_cache(None)
def recording():
    work = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    run(ASSAY, "record", "-q", "-o", work / "a.data", "--", BUILD / "tests" / "workloads" / "loop",
        "200")
    return work / "a.data"


def in_terminal(words, env, keys=()):
    """The status, the output, and the settings of the terminal before and after. `keys`: pairs of
    a text that is waited for, and a key that is then pressed."""
    pid, terminal = pty.fork()
    if not pid:
        signal.alarm(60)  # ends the test if a pager waits for a key that does not come
        # A summary fits on this screen, so less ends without a key.
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 200, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        os.execve(ASSAY, [str(ASSAY), *map(str, words)], {**kept, "TERM": "xterm", **env})
    before, seen, at, keys = termios.tcgetattr(terminal), b"", 0, list(keys)
    try:
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                break
            if not piece:
                break
            seen += piece
            while keys and keys[0][0] in seen[at:]:
                at = seen.index(keys[0][0], at) + len(keys[0][0])
                os.write(terminal, keys.pop(0)[1])
        _, status = os.waitpid(pid, 0)
        after = termios.tcgetattr(terminal)
    finally:
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode().replace("\r\n", "\n"), before, after


def report(t, env, *words, status=0, keys=()):
    """What a report shows on a terminal."""
    got, text, before, after = in_terminal(["report", *words, recording()], env, keys)
    t.equal(got, status, f"status: {text[-500:]}")
    t.equal(after, before, "settings of the terminal")
    return text


def script(t, name, text):
    """A program that PAGER names instead of a pager."""
    path = t.write(name, "#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


@test
def the_pager_is_chosen_from_the_environment(t):
    one = script(t, "one", "echo by-one; cat")
    two = script(t, "two", "echo by-two; cat")
    t.has(report(t, {"ASSAY_PAGER": one, "PAGER": two}), "by-one", "ASSAY_PAGER first")
    text = report(t, {"PAGER": two})
    t.has(text, "by-two", "PAGER else")
    t.has(text, "Summary", "the report")
    t.has(text, "\033[1m", "bold headings, as on the terminal itself")
    t.has(report(t, {"PAGER": two}, "--full"), "by-two", "tables")
    t.has(report(t, {"PAGER": f"{two} a b"}), "by-two", "a pager with words")
    t.has(report(t, {"PAGER": f"'{two}' | sed s/Summary/by-shell/"}), "by-shell", "a command line")
    t.has(report(t, {}), "Summary", "less")


@test
def some_reports_have_no_pager(t):
    one = script(t, "one", "echo by-one; cat")
    for env, words in (({"ASSAY_PAGER": "", "PAGER": one}, []), ({"ASSAY_PAGER": "cat"}, []),
                       ({"PAGER": " "}, []), ({"PAGER": one}, ["--no-pager"]),
                       ({"PAGER": one, "TERM": "dumb"}, []), ({"PAGER": one}, ["--json"]),
                       ({"PAGER": one}, ["--markdown"]), ({"PAGER": "/nowhere/pager"}, []),
                       ({"PAGER": "no-such-pager -x"}, [])):
        text = report(t, env, *words)
        t.lacks(text, "by-one", f"{env} {words}")
        t.has(text, "ummary", f"{env} {words}")
    out = t.assay("report", recording(), env={"PAGER": one, "TERM": "xterm"}).out
    t.lacks(out, "by-one", "in a pipe")
    text = report(t, {"PAGER": one}, "--time", "nonsense", status=1)
    t.lacks(text, "by-one", "a message")


@test
def less_is_set_up_as_git_does_and_secured_for_sudo(t):
    show = script(t, "show", "cat >/dev/null; env")
    text = report(t, {"PAGER": show, "LESSOPEN": "x"})
    for wanted in ("LESS=FRX", "LV=-c", "LESSOPEN=x"):
        t.has("\n" + text, f"\n{wanted}\n", "environment")
    t.lacks(text, "LESSSECURE", "environment")
    text = report(t, {"PAGER": show, "LESS": "-S", "LV": "-x"})
    t.has(text, "LESS=-S\n", "the user's")
    t.lacks(text, "FRX", "environment")
    if os.geteuid() == 0:
        text = report(t, {"PAGER": show, "SUDO_UID": "1000", "LESSOPEN": "|evil", "LESSSECURE": "0"})
        t.has(text, "LESSSECURE=1\n", "environment")
        t.lacks(text, "LESSSECURE=0", "environment")
        t.lacks(text, "evil", "environment")


@test
def a_reader_who_leaves_early_ends_the_report_silently(t):
    for pager in ("true", "head -c 5", script(t, "leave", "exec 0<&-; exit 3")):
        text = report(t, {"PAGER": pager}, "--full")
        t.lacks(text, "assay:", "no message")
    # More output than a pipe and the buffers hold, so that assay still writes after the pager has
    # exited.
    table = Table("many", 9)
    for number in range(3000):
        table.path(0, f"function_{number}", calls=1, net=1000)
    big = t.write("many.calls", table.bytes())
    status, text, _, _ = in_terminal(["report", "-t", big], {"PAGER": "head -n 3"})
    t.equal(status, 0, "status")
    t.true(text.count("\n") <= 4, f"three lines alone: {text[-500:]}")


@test
def ctrl_c_is_left_to_the_pager(t):
    """assay gets the signal too, and continues to wait for the pager."""
    trap = script(t, "trap", "trap 'echo caught >/dev/tty' INT\ncat >/dev/null\necho ready >/dev/tty\n"
                             "read key </dev/tty\nread key </dev/tty; echo last")
    text = report(t, {"PAGER": trap}, keys=[(b"ready", b"\x03"), (b"caught", b"\n\n")])
    t.has(text, "last", "the pager's end")


main()
