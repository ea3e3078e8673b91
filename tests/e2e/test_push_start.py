# SPDX-License-Identifier: GPL-2.0-or-later
"""start --to: every batch of a session is sent, waits in the spool or is dropped, whatever the back
end does, and the batches that were sent contain the samples that the account has."""
import collections
import os
import signal

from harness import LONG, main, test
from otel_context import publish
from push_server import Server, pprof_totals, pushed, resource, totals
from sessions import sessions

WORK = "while :; do i=0; while [ $i -lt 8000 ]; do i=$((i+1)); done; sleep 0.03; done"
PARTS = ("batches", "samples")


class Run:
    """A session that sends samples of a process that is busy about a third of the time, or of the
    whole machine."""

    def __init__(self, t, s, url, *words, machine=False):
        self.t, self.s, self.url = t, s, url
        self.busy = t.start("sh", "-c", WORK)
        one = () if machine else ("-p", self.busy.pid)
        s("start", "--to", url, "--spool", t.path("spool"), "--window", "1", *one, *words)

    def account(self):
        return self.check(self.s.json())

    def check(self, doc):
        sent = doc["sent"]
        for part in PARTS:
            p = sent[part]
            self.t.equal(p["sent"] + p["waiting"] + p["dropped"], p["due"], f"{part}: {sent}")
        return sent

    def until(self, condition, what):
        self.t.until(lambda: condition(self.account()), what)

    def stop(self):
        self.busy.kill()
        doc = self.t.json(self.s("stop", "--json").out)
        self.last = doc["sessions"][0] if "sessions" in doc else doc
        return self.check(self.last)


def samples(requests):
    return sum(totals(r)["samples"] for r in requests)


@test
def all_windows_arrive_after_passing_failures(t):
    with sessions(t) as s, Server() as server:
        server.plan = [503, "cut", (429, {"Retry-After": "1"})]
        run = Run(t, s, server.url("otlp+http"), machine=True)
        run.until(lambda a: a["batches"]["sent"] >= 2, "two batches were sent")
        sent = run.stop()
    t.equal(sent["batches"]["waiting"] + sent["batches"]["dropped"], 0, "left")
    t.equal(sent["failures"], 3, "failures")
    t.equal(sent["failure"], None, "no failure since the last success")
    good = server.accepted()
    t.equal(len(good), sent["batches"]["due"], "batches received")
    t.equal(samples(good), sent["samples"]["due"], "samples received")
    # Idle CPUs are not sent; all others are, of every window.
    ticks = run.last["ticks"]
    t.equal(sent["samples"]["due"], ticks["user"] + ticks["system"], "samples of busy CPUs")
    attributes, ids = zip(*(resource(r.body) for r in good))
    t.equal({a["host.name"] for a in attributes}, {os.uname().nodename}, "host")
    t.true(all(a["service.name"] for a in attributes), "service")
    t.equal(len({i for pair in ids for i in pair}), 2 * len(good), "ids differ")


@test
def batches_wait_while_the_back_end_is_away(t):
    with sessions(t) as s:
        with Server() as server:
            port, url = server.port, server.url("pyroscope+http")
        run = Run(t, s, url, "--service", "shop")
        run.until(lambda a: a["batches"]["waiting"] >= 2, "two batches wait")
        first = run.stop()
        t.equal((first["batches"]["sent"], first["batches"]["dropped"]), (0, 0), "not sent")
        place, = t.path("spool").iterdir()
        t.equal(place.stat().st_mode & 0o777, 0o700, "mode of the spool")
        files = [f for f in place.iterdir() if f.name != "lock"]
        t.equal(len(files), first["batches"]["due"], "files")
        t.equal({f.stat().st_mode & 0o777 for f in files}, {0o600}, "mode of batches")
        with Server(port) as server:
            run = Run(t, s, url, "--service", "shop")
            run.until(lambda a: a["batches"]["sent"] > first["batches"]["due"], "all were sent")
            sent = run.stop()
        t.equal(sent["batches"]["waiting"], 0, "waiting")
        t.equal(samples(server.requests), sent["samples"]["due"], "samples of both sessions")
        t.equal([f.name for f in place.iterdir()], ["lock"], "the spool is empty")


@test
def a_full_spool_drops_the_oldest_batches(t):
    with sessions(t) as s:
        with Server() as server:
            url = server.url("otlp+http")
        run = Run(t, s, url, "--spool-size", "0.01")
        run.until(lambda a: a["batches"]["dropped"] >= 2, "batches were dropped")
        sent = run.stop()
        place, = t.path("spool").iterdir()
        files = [f for f in place.iterdir() if f.name != "lock"]
        t.true(sum(f.stat().st_size for f in files) <= 10000, "bytes in the spool")
        t.equal(len(files), sent["batches"]["waiting"], "files")
        t.has(" ".join(run.last["notes"]), "--spool-size")


@test
def a_refused_token_is_not_sent_again_and_again(t):
    token = t.write("token", "old\n")
    token.chmod(0o600)
    with sessions(t) as s, Server() as server:
        server.otherwise = 401
        run = Run(t, s, server.url("otlp+http"), "--token-file", token)
        run.until(lambda a: a["batches"]["waiting"] >= 3, "three batches wait")
        t.equal(len(server.requests), 1, "requests")
        t.has(run.account()["failure"], "status 401 (the token was refused")
        server.otherwise = 200
        token.write_text("new\n", encoding="ascii")
        run.until(lambda a: a["batches"]["sent"] >= 3, "the batches were sent")
        sent = run.stop()
        t.equal(server.requests[-1].headers["Authorization"], "Bearer new", "token")
        t.equal(samples(server.accepted()), sent["samples"]["due"], "samples")


@test
def a_batch_that_the_back_end_rejects_is_dropped(t):
    with sessions(t) as s, Server() as server:
        server.plan = [400]
        run = Run(t, s, server.url("pyroscope-ingest+http"))
        run.until(lambda a: a["batches"]["sent"] >= 1, "a batch was sent")
        sent = run.stop()
        t.equal(sent["batches"]["dropped"], 1, "dropped")
        t.equal(samples(server.accepted()), sent["samples"]["sent"], "samples")
        t.has(" ".join(run.last["notes"]), "the back end did not accept")


@test
def a_killed_session_leaves_its_batches_to_the_next(t):
    seen = collections.Counter()
    with sessions(t) as s, Server() as server:
        server.plan = ["hang"]
        for _ in range(20 if LONG else 2):
            run = Run(t, s, server.url("otlp+http"))
            run.until(lambda a: a["batches"]["due"] >= 2, "two batches")
            s.end(signal.SIGKILL)
            run.busy.kill()
        run = Run(t, s, server.url("otlp+http"))
        run.until(lambda a: a["batches"]["sent"] >= 2, "batches were sent")
        sent = run.stop()
        t.equal(sent["batches"]["waiting"], 0, "waiting")
        for r in server.accepted():
            seen[resource(r.body)[1][0]] += 1
        place, = t.path("spool").iterdir()
        t.equal([f.name for f in place.iterdir()], ["lock"], "the spool is empty")
        # At least once: a repeated batch has the same id.
        hung = {resource(r.body)[1][0] for r in server.requests if r.answer == "hang"}
        t.true(hung <= set(seen), "the batch without an answer was sent again")


@test
def a_silent_back_end_does_not_delay_the_end_for_ever(t):
    with sessions(t) as s, Server() as server:
        server.otherwise = "hang"
        run = Run(t, s, server.url("otlp+http"))
        run.until(lambda a: a["batches"]["waiting"] >= 1, "a batch waits")
        sent = run.stop()
        t.equal(sent["batches"]["waiting"], sent["batches"]["due"], "all batches wait")


@test
def windows_become_files_of_pprof(t):
    with sessions(t) as s:
        run = Run(t, s, f"pprof-dir:{t.path('out')}")
        run.until(lambda a: a["batches"]["sent"] >= 2, "two files")
        sent = run.stop()
    files = list(t.path("out").iterdir())
    t.equal(len(files), sent["batches"]["due"], "files")
    t.equal(sum(pprof_totals(f.read_bytes())["samples"] for f in files), sent["samples"]["due"],
            "samples")


@test
def mistakes_are_reported_before_sampling(t):
    with sessions(t) as s, Server() as server:
        url = server.url("otlp+http")
        for words, part in ((("--to", "otlp+http://"), "SCHEME://HOST"),
                            (("--to", "localhost:4318"), "SCHEME://HOST"),
                            (("--to", url, "--store", "x"), "--to excludes --store"),
                            (("--spool", "x"), "--spool is for what is sent"),
                            (("--to", url, "--window", "0"), "--window must be"),
                            (("--to", url, "--spool-size", "0"), "--spool-size needs"),
                            (("--to", url, "--token-file", "none"), "none")):
            t.has(s("start", *words, status=2).err, part)
        run = Run(t, s, url)
        out = s("start", "--name", "b", "--to", url, "--spool", t.path("spool"), status=1)
        t.has(out.err, "another session sends to this address")
        t.has(s("snapshot", status=1).err, "snapshot")
        t.has(s("status").out, f"to          {url}")
        run.stop()


@test
def labels_of_processes_are_sent(t):
    labels = {"service.name": "shop", "service.version": "1.2", "k8s.pod.name": "shop-1"}
    publisher = publish(t, labels)
    bodies = {}
    with sessions(t) as s:
        for scheme in "otlp+http", "pyroscope+http":
            with Server() as server:
                s("start", "--to", server.url(scheme), "--spool", t.path("spool"), "--window", "1",
                  "-p", publisher.pid)
                t.until(lambda: any(b"shop-1" in r.body for r in server.accepted()), "a batch")
                s("stop")
            bodies[scheme] = [r.body for r in server.accepted() if b"shop-1" in r.body][-1]
    sent = resource(bodies["otlp+http"])[0]
    t.equal({key: sent.get(key) for key in labels}, labels, "attributes")
    names = pushed(bodies["pyroscope+http"])[0][0]
    t.equal({key: names.get(key) for key in ("service_name", "version", "k8s_pod_name")},
            {"service_name": "shop", "version": "1.2", "k8s_pod_name": "shop-1"}, "a series")


main()
