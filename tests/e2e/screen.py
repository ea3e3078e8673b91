# SPDX-License-Identifier: GPL-2.0-or-later
"""screen: a terminal of a fixed size, driven and read back with tmux.

    with Screen(t, 80, 24) as s:
        s.run(ASSAY, "top")
        s.until("Functions")
        s.keys("Tab", "/")
        s.lines()

tmux has its own socket in the directory of the test, so that no other session is touched. The
shell in it is sh, and its prompt is "$ "; s.run() enters a command line.
"""
import os
import shlex
import subprocess
import time

from harness import Failure
from time_limit import limit


PROMPT = "ready>"


class Screen:
    def __init__(self, t, width, height, term="screen-256color"):
        t.need("tmux")
        self.t, self.size, self.term = t, (width, height), term
        self.socket = t.path("tmux")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *map(str, words)],
                              capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "ENV": "", "PS1": PROMPT,
                                   "TERM": "xterm-256color", "NO_COLOR": ""}).stdout

    def __enter__(self):
        width, height = self.size
        self.tmux("new-session", "-d", "-x", width, "-y", height,
                  f"TERM={self.term} PS1='{PROMPT} ' exec sh")
        self.prompt()
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def lines(self):
        """The lines of the screen, without blanks at their ends."""
        return self.tmux("capture-pane", "-p").split("\n")[:self.size[1]]

    def text(self):
        return "\n".join(self.lines())

    def run(self, *words):
        self.tmux("send-keys", "-l", shlex.join(map(str, words)))
        self.keys("Enter")

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def until(self, wanted, timeout=10):
        """Waits until the text, or what a function finds in the lines, is on the screen."""
        end = time.monotonic() + limit(timeout)
        while (before := time.monotonic()) < end:
            lines = self.lines()
            found = wanted(lines) if callable(wanted) else wanted in "\n".join(lines)
            if found:
                return found
            # Each check runs a program, which should not fill a CPU.
            time.sleep(min(max(0.05, 3 * (time.monotonic() - before)), 0.5))
        raise Failure(f"{wanted!r} did not come on the screen:\n" + "\n".join(lines))

    def prompt(self):
        """Waits until the shell is ready."""
        self.until(lambda lines: ([line for line in lines if line] or [""])[-1] == PROMPT)

    def flag(self, name):
        """A state of the terminal, such as alternate_on."""
        return self.tmux("display-message", "-p", "#{" + name + "}").strip()

    def resize(self, width, height):
        self.size = width, height
        self.tmux("resize-window", "-x", width, "-y", height)
