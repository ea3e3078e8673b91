# SPDX-License-Identifier: GPL-2.0-or-later
"""Central configuration: agents take options from a server, those of a list alone; their own file comes first, and a
wrong value, a hostile server or none leaves the session as it is."""
import os
import pathlib
import re
import time
import urllib.request

import clickhouse_server
from agents import Agent
from clickhouse_server import Answering, Listening, free_port
from harness import main, test
from sessions import is_gone

AWAY = "clickhouse://127.0.0.1:1/none"
# A host name and a /run of its own, so that several agents run.
MACHINE = ("unshare", "-u", "-m", "sh", "-c", 'mount -t tmpfs none /run && hostname "$0" && exec "$@"')


class Central:
    """A central configuration, as the administrator sees it."""
    def __init__(self, t, database):
        self.t, self.server = t, clickhouse_server.server(t)
        self.database, self.name = database, self.server.store(database)
        self("create")

    def __call__(self, *words, status=0, **options):
        return self.t.assay("store", "config", self.name, *words, status=status, **options)

    def list(self):
        return [(o["machines"], o["option"], o["value"]) for o in self.t.json(self("--json").out)["options"]]

    def write(self, machines, option, value):
        """As a hostile writer: unchecked, and later than all rows before."""
        self.server.ask("INSERT INTO agent_options (time, machines, option, value) SELECT (SELECT greatest(now(),"
                        f" max(time) + 1) FROM agent_options), '{machines}', '{option}', '{value}'", self.database)


def agent_of(t, central, *lines, **options):
    agent = Agent(t, AWAY, f"central = {central}", *lines, **options)
    agent.env["ASSAY_CENTRAL_MS"] = "100"
    return agent


def begin(t, agent, host="web1"):
    if os.geteuid() or t.run("unshare", "-u", "-m", "true", status=None).status:
        t.skip("needs root and namespaces")
    agent.start(*MACHINE, host)


def rate(agent):
    """Of the session that runs now, as it was asked for."""
    account = agent.status()
    found = re.search(r"at (\d+) Hz", account["sampled"]) if account and account["state"] == "running" else None
    return int(found[1]) if found else None


def until_rate(t, agent, hz):
    t.until(lambda: rate(agent) == hz or agent.process.poll() is not None, f"{hz} Hz of {agent.name}")
    t.equal(agent.process.poll(), None, f"exit status; {agent.text()}")


@test
def options_reach_the_machines_of_a_pattern(t):
    central = Central(t, "central")
    # Of the patterns the one with the most letters counts, and not the last one.
    for machines, hz in (("web1", 61), ("web*", 199), ("*", 50)):
        central("set", machines, f"freq={hz}")
    web, other = agent_of(t, central.name, name="web"), agent_of(t, central.name, "freq = 73", name="other")
    begin(t, web)
    begin(t, other, "db1")
    until_rate(t, web, 61)
    t.has(web.text(), "the server sets freq = 61\n")
    until_rate(t, other, 73)  # its own file comes first
    central("set", "web?", "freq=198")  # of the same number of letters, and later
    central("unset", "web1", "freq")
    until_rate(t, web, 198)
    t.equal(central.list(), [("*", "freq", "50"), ("web*", "freq", "199"), ("web?", "freq", "198")])
    t.equal(rate(other), 73)
    for agent in (web, other):
        agent.stop()


@test
def wrong_values_leave_the_session_as_it_is(t):
    central, port = Central(t, "wrong"), free_port()
    central("set", "*", "freq=50")
    agent = agent_of(t, central.name, f"metrics = {port}")
    begin(t, agent)
    until_rate(t, agent, 50)
    session = agent.sampler()

    def is_used():
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
        return re.search(r"_central_config_successful\{session=.agent.\} (\d)", text)[1]

    def notes():
        return " ".join(agent.status()["notes"])

    t.equal(is_used(), "1", "the first answer")
    for option, value, words in (("freq", "abc", "-F needs a number"), ("budgett", "1", "there is no option --budgett"),
                                 ("budget", "11", "a server may set at most 10"), ("stack-size", "7", "--stack-size must be"),
                                 ("spool", "/etc", "'spool' is for the machine's own configuration only"),
                                 ("token-file", "/etc/shadow", "'token-file' is for the machine's own"),
                                 ("store", AWAY, "'store' is for the machine's own"),
                                 ("service", "x", "--service is for --to only"),
                                 ("waits", "perhaps", "'waits' is yes or no"),
                                 ("freq", "9\\nstore = y", "a text that is no option"),
                                 ("freq", "9" * 300, "a text of more than 256 bytes")):
        central.write("?*", option, value)
        t.until(lambda: words in notes(), f"{option} = {value}: {words}")
        t.equal(is_used(), "0", option)
        t.has(agent.text(), words)
        # Before it is written, the same is an error of the command.
        if option != "service" and len(value) < 300:
            t.has(central("set", "*", f"{option}={value.encode().decode('unicode_escape')}", status=2).err,
                  "control character" if "\\n" in value else words)
        central.server.ask("INSERT INTO agent_options (time, machines, option, removed) SELECT (SELECT max(time) + 1"
                           f" FROM agent_options), '?*', '{option}', 1", central.database)
        t.until(lambda: is_used() == "1", f"{option} is removed")
        t.equal(agent.sampler(), session, f"process that samples after {option}")
    t.equal(rate(agent), 50)
    central.write("*", "to", "otlp+http://127.0.0.1:1")
    t.until(lambda: is_used() == "0", "the last wrong option")
    t.equal(agent.sampler(), session, "process that samples")
    central.server.ask("RENAME TABLE agent_options TO elsewhere", central.database)
    t.until(lambda: "cannot be read" in notes() and "there is no central configuration" in notes(), "no table")
    t.equal(agent.sampler(), session, "process that samples")
    agent.stop()


@test
def without_an_answer_the_file_counts(t):
    answers = [None, (200, b"\2"), (200, b"\xff" * 40), (500, b"\x1b[31mno\n"), (200, b"x" * (1 << 21)), (307, b"")]
    asked = []

    def handle(request, _):
        answer = answers[min(len(asked), len(answers) - 1)]
        asked.append(answer)
        request.close_connection = True
        if answer:
            request.send_response(answer[0])
            request.send_header("Location", AWAY)
            request.send_header("Content-Length", str(len(answer[1])))
            request.end_headers()
            request.wfile.write(answer[1])

    agent = agent_of(t, f"clickhouse://127.0.0.1:{Listening(handle).port}/x", "freq = 61")
    begin(t, agent)
    until_rate(t, agent, 61)
    session = agent.sampler()
    t.until(lambda: len(asked) > len(answers), "all answers")
    text = agent.text()
    # Two of them have the same reason, which is printed once.
    t.equal(len(re.findall("the central configuration cannot be read: ", text)), len(answers) - 1, text)
    t.lacks(text, "\x1b", "the log")
    t.has(" ".join(agent.status()["notes"]), "the central configuration cannot be read")
    t.equal(agent.sampler(), session, "process that samples")
    agent.stop()


@test
def a_process_without_rights_asks(t):
    def dribble(out):
        while True:
            out.write(b"\1")
            out.flush()
            time.sleep(0.1)

    agent = agent_of(t, f"clickhouse://127.0.0.1:{Answering(200, dribble).port}/x")
    begin(t, agent)
    t.until(lambda: agent.child("assay-central", agent.process.pid), "the process that asks")
    asking = pathlib.Path(f"/proc/{agent.child('assay-central', agent.process.pid)}")
    t.until(lambda: "NoNewPrivs:\t1" in (asking / "status").read_text(), "it has given up its rights")
    rights = (asking / "status").read_text()
    t.has(rights, "CapPrm:\t0000000000000000")
    t.has(rights, "Uid:\t65534\t65534\t65534\t65534")
    files = [os.readlink(f) for f in (asking / "fd").iterdir() if int(f.name) > 2]
    t.equal([f for f in files if not f.startswith(("socket:", "pipe:", "anon_inode:[event"))], [], "its files")
    # The first session waits for it; the agent can be ended.
    agent.stop()
    t.until(lambda: is_gone(int(asking.name)), "the process that asks has ended")


@test
def the_command_checks_what_it_writes(t):
    server = clickhouse_server.server(t)
    central = Central(t, "command")
    t.equal(central.list(), [])
    t.has(central().out, "0 in clickhouse://")
    for words, status, says in ((("set", "*"), 2, "give machines and options"), (("set", "*", "freq"), 2, "needs OPTION=VALUE"),
                                (("unset", "*", "freq=1"), 2, "needs the name of an option alone"),
                                (("unset", "*", "freq"), 2, "'freq' is not set for '*'"),
                                (("set", "", "freq=1"), 2, "the pattern of machines is empty"),
                                (("set", "*" * 300, "freq=1"), 2, "more than 256 bytes"),
                                (("change",), 2, "'change': after the name comes create, set or unset"),
                                (("set", "*", "stack-size=8192"), 2, "--stack-size needs -g")):
        t.has(central(*words, status=status).err, says, words)
    t.equal(central.list(), [])
    # Options that are correct together only.
    central("set", "*", "call-graph=auto", "stack-size=8192", "service=x")
    central("set", "*", "stack-size=4096")
    t.has(central("set", "*", "call-graph=fp", status=2).err, "--stack-size needs -g, and not fp")
    t.equal(central.list(), [("*", "call-graph", "auto"), ("*", "service", "x"), ("*", "stack-size", "4096")])
    t.equal(server.ask("SELECT count(), countIf(author = '') FROM agent_options", "command"), "4\t0")
    t.has(t.assay("store", "config", server.store("none"), status=1).err, "'assay store config clickhouse://")
    t.has(t.assay("store", "config", "file.db", status=2).err, "is not a database on a server")
    file = t.write("agent.conf", f"store = {AWAY}\ncentral = file.db\n")
    t.has(t.assay("agent", "--check", "--config", file, status=2).err, "--central file.db is not a database")
    t.assay("store", "create", server.store("checked"))
    file = t.write("agent.conf", f"store = {server.store('checked')}\ncentral = {central.name}\n")
    t.has(t.assay("agent", "--check", "--config", file, status=1).err, "--service is for --to only")
    central("unset", "*", "service")
    told = t.assay("agent", "--check", "--config", file).err
    t.has(told, "the server sets stack-size = 4096\n")
    t.has(told, "the server has the store")


main()
