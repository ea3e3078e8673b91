# SPDX-License-Identifier: GPL-2.0-or-later
"""export --to ADDRESS: each kind of recording is received with its totals; failures of back ends are
repeated or reported.
"""
import collections
import os
import ssl

from harness import main, test
from pprof_read import Pprof
from push_server import Server, pprof_totals, pushed, resource, totals
from recursion_shapes import files, write_pprof, SHAPES

SHAPE = next(iter(SHAPES.values()))
SERVERS = ("otlp+http", "pyroscope+http", "pyroscope-ingest+http")


def expected(t, file):
    doc = t.json(t.assay("export", "--to", "json", file).out)
    sums = {v["name"]: sum(s["values"][i] for s in doc["samples"])
            for i, v in enumerate(doc["values"])}
    return {name: value for name, value in sums.items() if value}


def received(requests):
    sums = collections.Counter()
    for r in requests:
        sums.update(totals(r))
    return {name: value for name, value in sums.items() if value}


@test
def each_kind_of_recording_arrives_with_its_totals(t):
    seen = set()
    for kind, _, file, what in files(t):
        if kind in seen:
            continue
        seen.add(kind)
        want = expected(t, file)
        for scheme in SERVERS:
            with Server() as s:
                t.assay("export", "--to", s.url(scheme), file)
                t.equal(received(s.requests), want, f"{what}: {scheme}")
        t.assay("export", "--to", f"pprof-dir:{t.path('out')}", file)
        written, = t.path("out").iterdir()
        t.equal({k: v for k, v in pprof_totals(written.read_bytes()).items() if v}, want, what)
        t.equal(written.stat().st_mode & 0o777, 0o600, "mode")
        written.unlink()
    t.equal(len(seen), 4, "kinds")


@test
def a_recording_arrives_with_its_labels(t):
    file = t.path("a.data")
    t.assay("record", "-F", "500", "-o", file, "--", t.workload("loop"))
    want = expected(t, file)
    host = os.uname().nodename
    with Server() as s:
        t.assay("export", "--to", s.url("otlp+http"), file)
        t.assay("export", "--to", s.url("otlp+http"), "--service", "shop", file)
        t.assay("export", "--to", s.url("pyroscope+http"), "--service", "shop", file)
        t.assay("export", "--to", s.url("pyroscope-ingest+http"), "--service", "shop", file)
    first, second, push, ingest = s.requests
    for r in s.requests:
        t.equal(received([r]), want, r.path)
    attributes, ids = resource(first.body)
    t.equal((attributes["service.name"], attributes["host.name"]), ("loop", host), "attributes")
    build_id = t.run("readelf", "-n", t.workload("loop")).out.split("Build ID: ")[1].split()[0]
    t.equal(attributes["service.version"], build_id, "version")
    t.equal([len(i) for i in ids], [16, 16], "ids")
    again, ids_again = resource(second.body)
    t.equal(again["service.name"], "shop", "--service")
    t.true(ids != ids_again, "another resource has other ids")
    (labels, _, name), = pushed(push.body)
    t.equal(labels, {"__name__": "process_cpu", "service_name": "shop", "hostname": host,
                     "version": build_id}, "labels")
    t.equal(len(name), 36, "UUID")
    t.equal(ingest.query["format"], "pprof", "format")
    t.equal(ingest.query["name"], f"shop{{hostname={host},version={build_id}}}", "name")
    t.true(int(ingest.query["until"]) > int(ingest.query["from"]) > 1e9, "times in seconds")
    t.equal(first.headers["Content-Type"], "application/x-protobuf", "type")
    t.equal(push.headers["Content-Type"], "application/proto", "type")


@test
def passing_failures_are_repeated(t):
    file = write_pprof(t, "a", SHAPE)
    for plan in ([503], [(429, {"Retry-After": "1"})], ["cut"], [502, 504]):
        with Server() as s:
            s.plan = list(plan)
            t.assay("export", "--to", s.url("otlp+http"), file)
            t.equal(len(s.requests), len(plan) + 1, f"requests: {plan}")
            t.equal(received(s.accepted()), expected(t, file), f"totals: {plan}")
            t.equal(len({r.body for r in s.requests}), 1, "the same bytes")


@test
def refusals_are_reported_once(t):
    file = write_pprof(t, "a", SHAPE)
    partial = bytes([0x0a, 9, 8, 2, 0x12, 5]) + b"a\x1b[1m"
    for answer, part in ((401, "status 401 (the token was refused, or is missing)"),
                         ((400, {}, b"no such tenant\n"), "status 400: no such tenant"),
                         ((302, {"Location": "http://192.0.2.1/"}), "redirects to http://192.0.2.1/"),
                         ((200, {}, b"x" * (2 << 20)), "is larger than 1048576 bytes"),
                         ((200, {}, partial), "rejected 2 profiles: a\\x1b[1m"),
                         ((429, {"Retry-After": "86400"}), "status 429")):
        with Server() as s:
            s.otherwise = answer
            out = t.assay("export", "--to", s.url("otlp+http"), file, status=1)
            t.has(out.err, part)
            t.equal(len(s.requests), 1, f"requests: {part}")


@test
def an_absent_server_is_reported(t):
    with Server() as s:
        url = s.url("pyroscope+http")
    out = t.assay("export", "--to", url, write_pprof(t, "a", SHAPE), status=1)
    t.has(out.err, "/push.v1.PusherService/Push: ")


@test
def tokens_are_sent_to_this_machine_or_by_tls(t):
    file, token = write_pprof(t, "a", SHAPE), t.write("token", "s3cret\n")
    out = t.assay("export", "--to", "otlp+http://192.0.2.1", "--token-file", token, file, status=2)
    t.has(out.err, "chmod 600")
    token.chmod(0o600)
    out = t.assay("export", "--to", "otlp+http://192.0.2.1", "--token-file", token, file, status=1)
    t.has(out.err, "not sent to another machine without TLS")
    with Server() as s:
        t.assay("export", "--to", s.url("otlp+http"), "--token-file", token, file)
        t.assay("export", "--to", f"otlp+http://me@127.0.0.1:{s.port}", "--token-file", token, file)
    t.equal([r.headers["Authorization"] for r in s.requests],
            ["Bearer s3cret", "Basic bWU6czNjcmV0"], "Authorization")


@test
def wrong_addresses_are_refused(t):
    file = write_pprof(t, "a", SHAPE)
    for to, part in (("otlp+ftp://h", "otlp+ftp: is not one of otlp+http://"),
                     ("otlp+http://me:pw@h", "must not contain a password"),
                     ("otlp+http://me@h", "--token-file"), ("pprof-dir:", "names no directory"),
                     ("otlp+http://h/?x", "must not have a query"), ("oltp", "choose from: pprof")):
        out = t.assay("export", "--to", to, file, status=2)
        t.has(out.err, part)
        t.lacks(out.err, "pw")
    t.has(t.assay("export", "--to", "otlp+http://h", "-o", "x", file, status=2).err, "-o is for")
    t.has(t.assay("export", "--to", "otlp", "--service", "x", file, status=2).err, "for an address")
    out = t.assay("export", "--to", "otlp+https://127.0.0.1:1", "--ca-file", t.path("none"), file,
                  status=2)
    t.has(out.err, str(t.path("none")))


@test
def certificates_and_their_names_are_verified(t):
    t.need("openssl")
    file, cert, key = write_pprof(t, "a", SHAPE), t.path("cert.pem"), t.path("key.pem")
    t.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key,
          "-out", cert, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    with Server(tls=tls) as s:
        named = f"otlp+https://localhost:{s.port}"
        t.assay("export", "--to", named, "--ca-file", cert, file)
        t.equal(received(s.requests), expected(t, file), "totals")
        t.has(t.assay("export", "--to", named, file, status=1).err, "certificate")
        out = t.assay("export", "--to", s.url("otlp+https"), "--ca-file", cert, file, status=1)
        t.has(out.err, "127.0.0.1")
        t.equal(len(s.requests), 1, "requests")


main()
