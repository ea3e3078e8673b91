# SPDX-License-Identifier: GPL-2.0-or-later
"""push_server: a receiver of pushed profiles on loopback, which fails as the test says.

    with Server() as s:
        s.plan = [503, "cut", 200]      answers of the next requests; after them `s.otherwise` (200)
        s.requests                      every request: path, query, headers, body (unpacked), status
        s.url("otlp+http")              the address for --to

Answers: a status, (status, headers), (status, headers, body), or "cut" (the connection ends in the
middle of the answer), "hang" (no answer until the server ends).
"""
import collections
import gzip
import http.server
import threading
import urllib.parse

from otlp_read import Otlp
from pprof_read import Pprof, fields

Request = collections.namedtuple("Request", "path query headers body answer")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        owner = self.server.owner
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        with owner.lock:
            answer = owner.plan.pop(0) if owner.plan else owner.otherwise
            url = urllib.parse.urlsplit(self.path)
            owner.requests.append(Request(url.path, dict(urllib.parse.parse_qsl(url.query)),
                                          dict(self.headers), body, answer))
        self.give(answer)

    def give(self, answer):
        if answer == "hang":
            self.server.owner.ended.wait()
            self.close_connection = True
            return
        if answer == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf")
            self.close_connection = True
            return
        parts = answer if isinstance(answer, tuple) else (answer,)
        status, headers, body = parts + ((), b"")[len(parts) - 1:]
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that ends the connection is part of the tests."""


class Server:
    """`tls`: an ssl.SSLContext; None: http."""
    def __init__(self, port=0, tls=None):
        self.plan, self.requests, self.otherwise = [], [], 200
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.http = _Http(("127.0.0.1", port), _Handler)
        if tls:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)
        self.http.owner = self
        self.port = self.http.server_port
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.http.shutdown()
        self.http.server_close()

    def url(self, scheme):
        return f"{scheme}://127.0.0.1:{self.port}"

    def accepted(self):
        return [r for r in self.requests if r.answer == 200]


def pushed(body):
    """Of push.v1.PushRequest: (labels, pprof, id) of each series."""
    found = []
    for number, series in fields(body):
        assert number == 1, "series"
        labels, profile, name = {}, None, None
        for field, value in fields(series):
            inner = dict(fields(value))
            if field == 1:
                labels[inner[1].decode()] = inner[2].decode()
            else:
                profile, name = inner[1], inner[2].decode()
        found.append((labels, profile, name))
    return found


def totals(request):
    """The sum of each value, by its name."""
    sums = collections.Counter()
    if request.path.endswith("/v1development/profiles"):
        for p in Otlp(request.body).profiles:
            sums[p.type[0]] += sum(value for _, value, _ in p.samples)
        return sums
    bodies = [request.body] if request.path == "/ingest" else [p for _, p, _ in pushed(request.body)]
    for body in bodies:
        sums.update(pprof_totals(body))
    return sums


def pprof_totals(body):
    profile = Pprof(body)
    sums = collections.Counter()
    for _, values, _ in profile.samples:
        for (name, _), value in zip(profile.types, values):
            sums[name] += value
    return sums


def resource(body):
    """The attributes of the resource of an OTLP request, and the ids of its profiles."""
    top = dict(fields(body))
    attributes, ids = {}, []
    for number, value in fields(top[1]):
        if number == 1:
            for _, pair in fields(value):
                inner = dict(fields(pair))
                attributes[inner[1].decode()] = dict(fields(inner[2]))[1].decode()
        elif number == 2:
            ids += [dict(fields(p))[7] for n, p in fields(value) if n == 2]
    return attributes, ids
