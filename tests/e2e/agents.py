# SPDX-License-Identifier: GPL-2.0-or-later
"""assay agent with a configuration in the directory of a test."""
import contextlib
import os
import pathlib
import signal

from harness import ASSAY, run


class Agent:
    """An agent with a configuration in the directory of the test. `name`: of its session; several agents
    need a /run of their own."""

    def __init__(self, t, store, *lines, name="agent"):
        self.t, self.name, self.file = t, name, t.path(f"{name}.conf")
        self.spool = t.path("spool")
        self.env = {**t.runtime("run" if name == "agent" else f"run-{name}"), "ASSAY_CLICKHOUSE_PASSWORD": ""}
        self.configure(store, *lines)
        self.log = open(t.path(f"{name}.log"), "w+")
        self.process = None

    def configure(self, store, *lines):
        """With a budget that keeps the rate on a busy machine too."""
        self.t.write(self.file.name, "\n".join(
            [f"store = {store}", f"spool = {self.spool}", "window = 1", "# a comment", *lines,
             *([f"name = {self.name}"] if self.name != "agent" else []), "budget = 50", ""]))

    def start(self, *before):
        """`before`: words of a command that runs the agent as its own process."""
        env = {**os.environ, **self.env}
        del env["ASSAY_CLICKHOUSE_PASSWORD"]
        self.process = self.t.start(*before, ASSAY, "agent", "--config", self.file, env=env,
                                    stderr=self.log)

    def text(self):
        return self.t.path(f"{self.name}.log").read_text()

    def until_it_samples(self):
        self.t.until(lambda: "samples go to" in self.text() or self.process.poll() is not None,
                     "the agent samples")
        if "an agent runs on this machine" in self.text():
            self.t.skip("another agent runs on this machine")
        self.t.equal(self.process.poll(), None, f"exit status; {self.text()}")

    def status(self):
        found = run(ASSAY, "status", "--json", "--name", self.name, status=None, env=self.env).out
        sessions = self.t.json(found)["sessions"] if found else []
        return sessions[0] if sessions else None

    def sent(self):
        account = self.status()
        if not account or account["state"] != "running":
            return None
        for part in ("batches", "samples"):
            p = account["sent"][part]
            self.t.equal(p["sent"] + p["waiting"] + p["dropped"], p["due"], f"{part} of {p}")
        return account["sent"]

    def child(self, name, parent=None):
        """The process of that name below the agent's process."""
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                head, rest = path.read_text(errors="replace").rsplit(")", 1)
                if head.split("(", 1)[1] == name and int(rest.split()[1]) == parent:
                    return int(head.split()[0])
        return None

    def sampler(self):
        return self.child("assay", self.process.pid)

    def left(self):
        """Processes of all agents with this configuration."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if os.fsencode(self.file) in path.read_bytes().split(b"\0"):
                    found.append(path.parent.name)
        return found

    def kill(self, pid):
        with contextlib.suppress(ProcessLookupError, TypeError):
            os.kill(pid, signal.SIGKILL)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.t.equal(self.t.wait(self.process), 0, f"exit status; {self.text()}")
