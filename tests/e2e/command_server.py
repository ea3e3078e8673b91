# SPDX-License-Identifier: GPL-2.0-or-later
"""command_server: runs many commands of assay, on damaged files, without a start of the program for each.

    server = CommandServer(ASSAY_ASAN)
    status, out, err = server.run("report", "-i", path, timeout=20)

tests/command_server.c of the same build runs each command in a child process, from main() to exit().
The start of a program with sanitizers takes longer than most of the commands, and so does a check for
leaks. Environment and working directory are those of the server's start. A server is used by one thread.
"""
import atexit
import os
import pathlib
import select
import signal
import subprocess
import tempfile

from harness import Failure
from time_limit import limit

FIELD = "\x1f"
# A sanitizer stores the place of each allocation, and writes to new memory. Both need pages of memory.
OPTIONS = "malloc_context_size=1:max_malloc_fill_size=256"


class CommandServer:
    def __init__(self, assay, env=None):
        self.words = [pathlib.Path(assay).parent / "tests" / "command_server"]
        if not os.access(self.words[0], os.X_OK):
            raise Failure(f"{self.words[0]} is not built")
        self.env, self.process = dict(env or os.environ), None
        self.env["ASAN_OPTIONS"] = ":".join(filter(None, (self.env.get("ASAN_OPTIONS"), OPTIONS)))
        self.work = tempfile.TemporaryDirectory(prefix="assay-test-")
        self.files = [os.path.join(self.work.name, name) for name in ("out", "err")]
        atexit.register(self.end)

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                        start_new_session=True, env=self.env)

    def end(self):
        """Ends the server and the command that it runs."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None

    def run(self, *words, timeout=150, address_space=0, leaks=False):
        """The status (negative: the signal that ended the command) and both outputs, as bytes.
        `address_space`: its limit. `leaks`: a build with sanitizers checks for leaks."""
        if not self.process:
            self.start()
        request = FIELD.join(map(str, (int(leaks), address_space, *self.files, *words)))
        assert "\n" not in request, words
        self.process.stdin.write(request.encode() + b"\n")
        if not select.select([self.process.stdout], [], [], limit(timeout))[0]:
            self.end()
            raise subprocess.TimeoutExpired(words, limit(timeout))
        status = self.process.stdout.readline()
        if not status:
            self.end()
            raise Failure(f"the server of commands ended at {words}")
        return (int(status), *(pathlib.Path(path).read_bytes() for path in self.files))
