# SPDX-License-Identifier: GPL-2.0-or-later
"""agent: every window arrives once, or is counted, whatever is killed and whatever the network does;
mistakes and refusals are reported in clear sentences."""
import collections
import contextlib
import errno
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import attacks
import clickhouse_server
from agents import Agent
from clock_shim import HOUR, SECOND, Clocks
from clickhouse_server import Answering, Between, free_port
from harness import ASSAY, LONG, main, run, test
from sessions import is_gone

EVENTS = 200 if LONG else 20
END_NS = 100000000  # in which all CPUs are disabled, also on a busy machine
SLEW_NS = 1000000  # by which windows that follow each other may differ


Window = collections.namedtuple("Window", "host session start end samples summed cpus")
Cpu = collections.namedtuple("Cpu", "cpu wall period due seen lost steal missing_busy")


def table(server, database, sql):
    return [[int(x) for x in line.split("\t")] for line in server.ask(sql, database).splitlines()]


def windows_of(server, database):
    """All windows as a reader counts them, by their starts."""
    sums = dict(table(server, database, "SELECT part, sum(samples) FROM samples_2 GROUP BY part"))
    cpus = {}
    for part, *cpu in table(server, database, "SELECT part, cpu, wall_ns, period_ns, due_busy +"
                            " due_idle, seen_busy + seen_idle, lost, steal_ns, due_busy - seen_busy FROM ledger"):
        cpus.setdefault(part, []).append(Cpu(*cpu))
    seen = {}
    for line in server.ask("SELECT key, part, if(empty(parts), part, parts[1]), host, session,"
                           " start_ns, end_ns, samples FROM windows_2", database).splitlines():
        key, part, ledger, *values = map(int, line.split("\t"))
        # As readers do: the smallest part of a key counts.
        if key not in seen or part < seen[key][0]:
            seen[key] = part, Window(*values, sums.get(part, 0), sorted(cpus.get(ledger, [])))
    return sorted((w for _, w in seen.values()), key=lambda w: w.start)


def check_ticks(t, windows):
    """For each host and CPU over the whole time: each tick that was due is recorded, dropped or
    unobserved, once. `due` is derived from the time of the windows alone. Unobserved are those at
    times when the timer of a CPU is not served, and their number has no bound: a host stops a busy
    CPU for up to 50 ms while it provides memory, which is not stolen time, and some kernels serve
    no timer of an idle virtual CPU that they do not need. Busy times are printed."""
    total = {}
    last = {w.session: w for w in windows}
    for w in windows:
        t.equal([c.cpu for c in w.cpus], sorted({c.cpu for c in w.cpus}), "each CPU once")
        for c in w.cpus:
            # A CPU is measured until its events are disabled: the last window ends after the last of them.
            early = END_NS if w is last[w.session] else SLEW_NS
            t.true(-SLEW_NS <= w.end - w.start - c.wall <= early, f"{c.wall} ns of a CPU in a window: {w}")
            at = total.setdefault((w.host, c.cpu), [0] * 7)
            stolen = -(-c.steal // c.period)
            for i, value in enumerate((w.end - w.start, c.due * c.period, c.due, c.seen, c.lost,
                                       stolen, c.period)):
                at[i] += value
            if c.missing_busy - c.lost > stolen + 5:
                print(f"# ticks missing: window at {w.start} of {(w.end - w.start) / SECOND:.2f} s, {c}")
    for key, (time_ns, due_ns, due, seen, lost, _, periods_ns) in total.items():
        # A window begins and ends between two ticks, of its rate.
        t.near(due_ns, time_ns, 2 * periods_ns, f"ticks that were due, of {key}")
        # Lost records are of all kinds, so there may be more of them than ticks.
        t.between(seen, 0, due + len(windows), f"ticks that were seen, of {key}; {lost} records were lost")
    return total


def check_once(t, server, database):
    """No time is there twice, none is missing within a session, and each part is complete."""
    windows = windows_of(server, database)
    last = {}
    for i, w in enumerate(windows):
        t.equal(w.summed, w.samples, "samples of a window's part")
        if i:
            t.true(w.start > windows[i - 1].end - SLEW_NS, "two windows have the same time")
        if w.session in last:
            t.near(w.start, last[w.session], SLEW_NS, "begin of a window: the end of the one before")
        last[w.session] = w.end
    return windows


def check_report(t, server, name, database, windows, total):
    """The report's account is that of the rows: recorded + dropped + unobserved = due."""
    found = t.json(t.assay("report", "--json", "--store", name).out)
    cpus = len({cpu for _, cpu in total})
    ledger, ticks = found["ledger"], found["ledger"]["ticks"]
    whole = sum(w.end - w.start for w in windows)
    t.near(ledger["wall_ns"], whole, len(windows) * SLEW_NS, "the report's time")
    t.near(ticks["due"], sum(at[2] for at in total.values()), cpus * len(windows) + 1, "due")
    # In periods of the requested rate, which a budget changes: each window is rounded.
    t.near(ticks["all"] + ticks["missing"], ticks["due"], cpus * len(windows),
           "recorded + missing (dropped and unobserved)")
    t.true(found["functions"], "the store has functions")


class Network:
    """Between agent and server: decides at random what happens to a request."""

    def __init__(self, server, seed):
        self.random, self.bad = random.Random(seed), False
        self.proxy = Between(server.port, self.decide)

    def decide(self, path, body):
        what = self.random.choice(["drop", "cut", "delay", "repeat", None]) if self.bad else None
        if what == "delay":
            time.sleep(self.random.random() / 4)
            return None
        return what


def harm(agent, server, network, dice):
    """One moment of many."""
    what = dice.choice(["network", "network", "agent", "sender", "sampler", "server"])
    if what == "network":
        network.bad = not network.bad
    elif what == "agent":
        agent.kill(agent.process.pid)
        agent.process.wait()
        agent.start()
    elif what == "sampler":
        agent.kill(agent.sampler())
    elif what == "sender":
        agent.kill(agent.child("assay-send", agent.sampler()))
    else:
        server.stop()
        time.sleep(dice.random() / 2)
        server.start()
    return what


@test
def windows_count_once_whatever_is_killed(t):
    server = clickhouse_server.server(t)
    name = server.store("chaos")
    t.assay("store", "create", name)
    dice = random.Random(20)
    network = Network(server, 21)
    agent = Agent(t, server.store("chaos", network.proxy.port))
    agent.start()
    agent.until_it_samples()
    done = []
    for _ in range(EVENTS):
        time.sleep(dice.random() / 2)
        done.append(harm(agent, server, network, dice))
    network.bad = False
    # The pauses of both processes have an end.
    t.until(lambda: agent.process.poll() is not None
            or (agent.sent() or {"batches": {"waiting": 1}})["batches"]["waiting"] == 0
            and agent.sent()["batches"]["sent"], f"all windows are sent after {done}", 90)
    agent.stop()
    t.until(lambda: not agent.left(), "no process is left")
    network.proxy.again()  # all inserts of all the time, once more
    windows = check_once(t, server, "chaos")
    t.true(len(windows) >= 3, f"{len(windows)} windows")
    total = check_ticks(t, windows)
    check_report(t, server, name, "chaos", windows, total)
    print(f"# {len(done)} moments: { {what: done.count(what) for what in sorted(set(done))} },"
          f" {len(windows)} windows, ticks (due, seen, lost, stolen): {[at[2:6] for at in total.values()]}")


@test
def a_sampler_that_is_killed_before_it_samples_begins_again(t):
    agent = Agent(t, "clickhouse://127.0.0.1:1/none")
    agent.start()
    t.until(agent.sampler, "the process that samples")
    agent.kill(agent.sampler())
    t.until(lambda: "killed by signal 9; it begins again" in agent.text() or agent.process.poll() is not None,
            "the agent begins again")
    agent.until_it_samples()
    agent.stop()


@test
def a_store_that_is_away_is_caught_up(t):
    server = clickhouse_server.server(t)
    name = server.store("later")
    passing = []
    proxy = Between(server.port, lambda path, body: None if passing else "drop")
    agent = Agent(t, server.store("later", proxy.port))
    agent.start()
    agent.until_it_samples()
    t.has(agent.text(), "windows wait in", "the first message")
    t.until(lambda: (agent.sent() or {"batches": {"waiting": 0}})["batches"]["waiting"] >= 2,
            "two windows wait")
    t.true(agent.sent()["failure"], "the state has the failure")
    # The configuration is read again; windows of the session before wait in the same spool.
    agent.process.send_signal(signal.SIGHUP)
    t.until(lambda: "was read again" in agent.text(), "the configuration is read")
    t.assay("store", "create", name)
    passing.append(True)
    t.until(lambda: (agent.sent() or {"batches": {"waiting": 1}})["batches"]["waiting"] == 0
            and agent.sent()["batches"]["sent"] >= 3, "all windows are sent", 90)
    agent.stop()
    t.true(len(check_once(t, server, "later")) >= 3, "three windows")


@test
def a_signal_to_the_whole_group_ends_the_session(t):
    """As an impatient Ctrl-C in a terminal: the session gets no second signal, which would kill it."""
    server = clickhouse_server.server(t)
    agent = Agent(t, server.store("group"))
    for _ in range(3):
        agent.start()
        agent.until_it_samples()
        while agent.process.poll() is None:
            os.killpg(agent.process.pid, signal.SIGINT)
            time.sleep(0.005)
        t.equal(t.wait(agent.process), 0, f"exit status; {agent.text()}")
        agent.log.truncate(0)
    ends = server.ask("SELECT DISTINCT ended FROM sessions", "group").split()
    t.equal(ends, ["stopped"], "ends of sessions")


def until_sent(t, agent, count):
    t.until(lambda: (agent.sent() or {"batches": {"sent": 0}})["batches"]["sent"] >= count,
            f"{count} windows are sent", 90)


@test
def a_wrong_clock_is_reported_and_changes_no_sum(t):
    t.need("gcc")
    server = clickhouse_server.server(t)
    name, clocks = server.store("clocks"), Clocks(t)
    t.assay("store", "create", name)
    agent = Agent(t, name)
    agent.env.update(clocks.env)
    clocks.move(wall=HOUR)
    agent.start()
    agent.until_it_samples()
    until_sent(t, agent, 2)
    clocks.move(wall=-HOUR)  # right again
    half = (time.time_ns() + HOUR // 2) / SECOND
    t.until(lambda: server.ask(f"SELECT count() > 1 FROM windows_2 WHERE start_ns < {half:.0f}000000000",
                               "clocks") == "1", "windows by the right clock", 90)
    account = agent.status()
    agent.stop()
    windows = windows_of(server, "clocks")
    for w in windows:
        t.equal(w.summed, w.samples, "samples of a window's part")
        t.true(0 < w.end - w.start < 60 * SECOND, f"a window of {w.end - w.start} ns")
    check_ticks(t, windows)
    t.true(sum(w.end - w.start for w in windows) >= account["elapsed_ns"] - 3 * SECOND,
           "all time, by both clocks")
    # Ranges are compared with the clock of the machine.
    ahead = [w for w in windows if w.start > half * SECOND]
    t.true(1 <= len(ahead) < len(windows), f"{len(ahead)} windows of the wrong time")
    for words, chosen in ((("--from", f"@{half:.0f}"), ahead),
                          (("--until", f"@{half:.0f}"), [w for w in windows if w not in ahead])):
        found = t.report("--store", name, *words)
        t.equal(sum(r["samples"] for r in found["recordings"]), sum(w.samples for w in chosen), words)
    found = t.report("--store", name)
    warnings = " ".join(found["warnings"])
    t.has(warnings, "ahead of that of the server", "what the report tells")
    t.has(warnings, "the clock was set back")


@test
def a_renamed_machine_is_another_host_from_the_next_session_on(t):
    if os.geteuid():
        t.skip("only root renames a machine")
    server = clickhouse_server.server(t)
    name = server.store("renamed")
    t.assay("store", "create", name)
    agent = Agent(t, name)
    agent.start("unshare", "-u", "sh", "-c", 'hostname first; exec "$@"', "sh")
    agent.until_it_samples()
    until_sent(t, agent, 1)
    t.run("nsenter", "-t", agent.process.pid, "-u", "hostname", "second")
    until_sent(t, agent, 3)
    t.equal(server.ask("SELECT DISTINCT name FROM hosts", "renamed"), "first")
    agent.process.send_signal(signal.SIGHUP)
    t.until(lambda: server.ask("SELECT uniq(host) FROM windows_2", "renamed") == "2",
            "windows of the new name", 90)
    agent.stop()
    windows = check_once(t, server, "renamed")
    check_ticks(t, windows)
    for host, order in (("first", 0), ("second", -1)):
        found = t.report("--store", name, "--host", host)
        t.equal(sum(r["samples"] for r in found["recordings"]),
                sum(w.samples for w in windows if w.host == windows[order].host), host)


@test
def a_second_agent_and_mistakes_are_refused(t):
    agent = Agent(t, "clickhouse://127.0.0.1:1/none")
    agent.start()
    agent.until_it_samples()
    second = t.assay("agent", "--store", "clickhouse://127.0.0.1:1/none", status=1, env=agent.env).err
    t.has(second, f"as process {agent.process.pid}")
    t.has(second, f"kill {agent.process.pid}")
    agent.configure("clickhouse://127.0.0.1:1/none", "budgett = 3")
    agent.process.send_signal(signal.SIGHUP)
    t.until(lambda: "stays as it was" in agent.text(), "the mistake is reported")
    t.has(agent.text(), f"{agent.file}:5: there is no option --budgett; did you mean --budget?")
    agent.stop()
    for line, words in (("window = x", ":1: --window: 'x' is not a number"),
                        ("config = y", ":1: 'config' is for the command line only"),
                        ("no sign", ":1: a line is 'option = value', not 'no sign'"),
                        ("store = day.db", "--store day.db is a file"),
                        ("", "there is no place for the samples"),
                        ("to = x\nstore = y", "exclude each other"),
                        ("metrics = 10.0.0.1:80\nto = pprof-dir:/x", "--metrics needs a number"),
                        ("metrics = 10.0.0.1:80\nto = pprof-dir:/x", "not '10.0.0.1:80'")):
        file = t.write("wrong.conf", line + "\n")
        t.has(t.assay("agent", "--config", file, status=2).err, words, line)
    file.chmod(0o666)
    t.has(t.assay("agent", "--config", file, status=2).err, "other users may write to it")
    t.has(t.assay("agent", "--config", t.path("none"), status=2).err, "none: No such file")


@test
def another_user_does_not_keep_the_agent_from_starting(t):
    port = free_port()
    agent = Agent(t, "clickhouse://127.0.0.1:1/none", f"metrics = {port}")
    other = attacks.start(t, "/usr/bin/python3", "-c", attacks.HOLD, port, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True)
    t.equal(other.stdout.readline(), "held\n", "what the other user prints")
    agent.start()
    agent.until_it_samples()
    t.has(agent.text(), f"another program uses port {port}; metrics are served when it is free")
    other.stdin.write("\n")
    other.stdin.flush()
    t.equal([other.stdout.readline(), other.stdout.readline()], [f"{errno.EACCES}\n"] * 2,
            "errors of the other user")
    # The service (another user, with rights) sees the lock of root.
    second = run("setpriv", f"--reuid={attacks.STRANGER}", "--clear-groups", ASSAY, "agent",
                 "--store", "clickhouse://127.0.0.1:1/none", status=1, env=agent.env).err
    t.has(second, f"an agent runs on this machine, as process {agent.process.pid} of user 0")

    def served():
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read()

    t.until(served, "the metrics are served")
    agent.stop()


@test
def a_wrong_value_does_not_end_the_agent(t):
    """Of a file that is read again. A session that cannot begin with the new values is followed by
    one with the old ones."""
    port = free_port()
    store = "clickhouse://127.0.0.1:1/none"
    agent = Agent(t, store, f"metrics = {port}")
    agent.start()
    agent.until_it_samples()
    sampler = agent.sampler()

    def reloads():
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
        return re.search(r"_reload_successful\{session=.agent.\} (\d)", text)[1]

    t.equal(reloads(), "1", "the first configuration")
    for line, words in (("freq = abc", "-F needs a number"), ("freq = 0", "-F needs a number"),
                        ("stack-size = 1\ncall-graph = dwarf", "--stack-size must be"),
                        ("budget = 500", "--budget must be"), ("memory = 0", "--memory must be"),
                        ("label-file = /none", "/none: No such file"),
                        ("spool-size = -1", "--spool-size"), ("window = 0", "--window")):
        file = t.write("wrong.conf", f"store = {store}\n{line}\n")
        t.has(t.assay("agent", "--check", "--config", file, status=2).err, words, line)
        before = agent.text().count("stays as it was")
        agent.file.write_text(f"store = {store}\nspool = {agent.spool}\n{line}\n")
        agent.process.send_signal(signal.SIGHUP)
        t.until(lambda: agent.text().count("stays as it was") > before, line)
        t.equal(agent.sampler(), sampler, f"process that samples after {line}")
        t.equal(reloads(), "0", line)
    # A value that only a session can refuse: a spool that is a file.
    agent.file.write_text(f"store = {store}\nspool = {t.write('file', '')}\nbudget = 50\n")
    agent.process.send_signal(signal.SIGHUP)
    t.until(lambda: "the one before is used again" in agent.text(), "the agent goes back")
    t.until(lambda: (agent.status() or {"state": ""})["state"] == "running", "another session")
    t.equal(reloads(), "0", "the spool is a file")
    agent.configure(store, f"metrics = {port}")
    agent.process.send_signal(signal.SIGHUP)
    t.until(lambda: reloads() == "1" and agent.sampler(), "a correct configuration")
    t.equal(agent.process.poll(), None, f"exit status; {agent.text()}")
    agent.stop()


@test
def the_state_is_served_on_loopback(t):
    port = free_port()
    agent = Agent(t, "clickhouse://127.0.0.1:1/none", f"metrics = {port}")
    agent.start()
    agent.until_it_samples()
    url = f"http://127.0.0.1:{port}/metrics"
    text = urllib.request.urlopen(url, timeout=60).read().decode()
    t.has(text, '\nassay_up{session="agent"} 1\n')
    t.has(text, '\n# TYPE assay_samples_total counter\nassay_samples_total{session="agent"} ')
    t.has(text, '\nassay_send_failing{session="agent"} 1\n')
    shown = run(ASSAY, "status", "--metrics", env=agent.env).out
    names = [re.findall(r"^(?!assay_config)(\w+)\{", x, re.M) for x in (text, shown)]
    t.equal(names[0], names[1], "metrics of both")
    for path, host, code in (("/", None, 404), ("/metrics", "evil.example", 403)):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}",
                                         headers={"Host": host} if host else {})
        try:
            urllib.request.urlopen(request, timeout=60)
            t.fail(f"{path} was served")
        except urllib.error.HTTPError as error:
            t.equal(error.code, code, path)
    web = agent.child("assay-metrics", agent.process.pid)
    rights = pathlib.Path(f"/proc/{web}/status").read_text()
    t.has(rights, "CapPrm:\t0000000000000000")
    t.has(rights, "NoNewPrivs:\t1")
    agent.stop()
    t.until(lambda: is_gone(web), "the process that serves has ended")


@test
def refusals_of_the_server_are_reported(t):
    server = clickhouse_server.server(t)
    t.assay("store", "create", server.store("refused"))
    token = t.write("token", "wrong\n")
    token.chmod(0o600)

    def check(store, words, *lines):
        file = t.write("check.conf", "\n".join([f"store = {store}", *lines, ""]))
        told = t.assay("agent", "--check", "--config", file, status=1).err
        t.has(told, words, store)
        t.lacks(told, "e.what()", store)
        t.lacks(told, "\r", store)

    user = server.store("refused", user="writer@")
    check(user, "the server refuses it", f"token-file = {token}")
    t.write("token", "se'cret\n")
    file = t.write("right.conf", f"store = {user}\ntoken-file = {token}\n")
    t.has(t.assay("agent", "--check", "--config", file).err, "the server has the store")
    token.chmod(0o644)
    t.has(t.assay("agent", "--check", "--config", file, status=2).err, str(token))
    for status, body in ((200, b"x" * 100), (500, b"\x1b[31mno\n"), (302, b""), (200, b"")):
        false = Answering(status, body)
        check(f"clickhouse://127.0.0.1:{false.port}/x", f"127.0.0.1:{false.port}")
    false = Answering(400, b"This port is for another program.\r\n")
    check(f"clickhouse://127.0.0.1:{false.port}/x", "is for another program.\n")
    false = Answering(200, b"")
    t.lacks(t.assay("agent", "--check", "--store", f"clickhouse://127.0.0.1:{false.port}/x",
                    status=1).err, "\x1b", "the message")


def dribble(out):
    """A byte now and then, without an end."""
    with contextlib.suppress(OSError):
        while True:
            out.write(b"\3")
            out.flush()
            time.sleep(0.2)


@test
def hostile_servers_cost_no_samples_and_no_windows(t):
    """One agent for each answer: slow without an end, other columns, a redirect, counts below zero."""
    if os.geteuid() or t.run("unshare", "-m", "true", status=None).status:
        t.skip("needs root and namespaces")
    answers = ((200, dribble), (200, b"\3\0\0\0" + b"\xff" * 90), (200, b"\3\0\0\0"),
               (307, b"", [("Location", "http://127.0.0.1:1/")]), (200, b"\xff" * 8))
    agents = []
    for number, answer in enumerate(answers):
        store = f"clickhouse://127.0.0.1:{Answering(*answer).port}/x"
        agent = Agent(t, store, name=f"agent{number}")
        agent.spool = t.path(f"spool{number}")
        agent.configure(store)
        agents.append(agent)
        # Several agents of a machine need a /run of their own.
        agent.start("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh")
    for agent in agents:
        agent.until_it_samples()
        t.until(lambda: (agent.sent() or {"batches": {"waiting": 0}})["batches"]["waiting"] >= 2,
                f"windows wait, {agent.name}", 60)
        t.equal(agent.sent()["batches"]["sent"], 0, agent.name)
        t.true(agent.status()["samples"], "samples")
        t.lacks(agent.text(), "killed by signal", agent.name)
    for agent in agents:
        agent.process.send_signal(signal.SIGTERM)
    for agent in agents:
        t.equal(t.wait(agent.process), 0, f"exit status; {agent.text()}")
        t.until(lambda: not agent.left(), "no process is left")


@test
def tls_is_verified(t):
    t.need("openssl")
    server = clickhouse_server.server(t)
    port = server.tls(t)
    name = f"clickhouse+https://localhost:{port}/tls"
    t.assay("store", "create", server.store("tls"))

    def check(name, status, *lines):
        file = t.write("tls.conf", "\n".join([f"store = {name}", *lines, ""]))
        return t.assay("agent", "--check", "--config", file, status=status).err

    authority = f"ca-file = {server.place}/tls.crt"
    t.has(check(name, 0, authority), "the server has the store")
    t.has(check(name, 1), "certificate", "without the authority")
    wrong = check(name.replace("localhost", "127.0.0.1"), 1, authority)
    t.has(wrong, "127.0.0.1", "another name than that of the certificate")
    t.has(wrong, "certificate")


main()
