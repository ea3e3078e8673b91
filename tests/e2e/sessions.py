# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions in the background in a directory of a test."""
import contextlib
import os
import pathlib
import re
import signal

from harness import ASSAY, run

OTHER_USER = 65534
LOOP = ("sh", "-c", "while :; do :; done")


class Sessions:
    """The sessions of a user in a directory of the test; their processes end with the test."""

    def __init__(self, t):
        self.t = t
        self.env = {**t.runtime(), "TZ": "UTC"}
        self.runtime = t.path("run")
        self.place = self.runtime / "assay"

    def __call__(self, *words, status=0, cwd=None, **options):
        return run(ASSAY, *words, status=status, cwd=cwd or self.t.directory, env=self.env, **options)

    def json(self, *words, name="default", status=0):
        sessions = self.t.json(self("status", "--json", "--name", name, *words, status=status).out)
        return sessions["sessions"][0] if sessions["sessions"] else None

    def pid(self, name="default"):
        found = re.search(r"^pid (\d+)$", (self.place / f"{name}.lock").read_text(), re.M)
        return int(found[1]) if found else 0

    def end(self, number, name="default"):
        """Sends the session's process a signal, and waits until it has exited."""
        pid = self.pid(name)
        os.kill(pid, number)
        self.t.until(lambda: is_gone(pid), f"process {pid} is gone")
        return pid

    def left(self):
        return sorted(p.name for p in self.place.iterdir()) if self.place.exists() else []

    def clean(self):
        for lock in self.place.glob("*.lock"):
            pid = self.pid(lock.name[:-5])
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has exited
                if pid and "assay" in pathlib.Path(f"/proc/{pid}/comm").read_text(errors="replace"):
                    os.kill(pid, signal.SIGKILL)


def is_gone(pid):
    try:
        return " Z " in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the process exited between open and read
        return True


@contextlib.contextmanager
def sessions(t):
    s = Sessions(t)
    try:
        yield s
    finally:
        s.clean()


DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


def says(t, result, pattern, what):
    """Standard error is this line only; leading blanks are part of it."""
    if not re.fullmatch(pattern + "\n", result.err):
        t.fail(f"{what} should be {pattern!r}: {result}")
