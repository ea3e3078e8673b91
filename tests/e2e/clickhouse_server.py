# SPDX-License-Identifier: GPL-2.0-or-later
"""clickhouse_server: a ClickHouse server of the tests on loopback, and servers that misbehave.

    server = clickhouse_server.server(t)      started at the first use, ended with the test program
    server.store("name")                      the name of a store on it
    server.ask("SELECT 1")                    the answer as text
    Between(server.port, decide)              a proxy: decide(path, body) returns None, "drop" (the
                                              request is not passed on), "cut" (its answer is lost),
                                              "repeat" (the server gets it twice)
    Answering(status, body)                   a server that gives this answer to each request
"""
import atexit
import http.client
import http.server
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from time_limit import limit

PROGRAM = "clickhouse-server"
CONFIG = """<yandex>
<logger><level>none</level></logger>
<http_port>{http}</http_port>{https}<tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{data}/</path><tmp_path>{place}/tmp/</tmp_path>
<format_schema_path>{place}/formats/</format_schema_path>
<users_config>{place}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<openSSL><server><certificateFile>{place}/tls.crt</certificateFile>
<privateKeyFile>{place}/tls.key</privateKeyFile><verificationMode>none</verificationMode>
</server></openSSL>
<mark_cache_size>67108864</mark_cache_size>
</yandex>
"""
USER = ("<{0}><password>{1}</password><networks><ip>127.0.0.1</ip></networks>"
        "<profile>{2}</profile><quota>default</quota></{0}>")
USERS = ("<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default>"
         "<reader><readonly>2</readonly></reader></profiles><users>"
         + USER.format("default", "", "default") + USER.format("writer", "se'cret", "default")
         + USER.format("reader", "", "reader") + "</users><quotas><default/></quotas></yandex>\n")

# Pages that were freed are used again, since giving them back to the kernel is a tenth of the CPU time.
MALLOC = {"MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1,narenas:2"}
LEAST_FREE_BYTES = 4 << 30

_server = None


def new_place():
    """A directory for a server, in memory where there is enough of it: each insert makes some forty files,
    and making them on a disk is half of the server's CPU time."""
    memory = "/dev/shm"
    try:
        enough = shutil.disk_usage(memory).free >= LEAST_FREE_BYTES and os.access(memory, os.W_OK)
    except OSError:
        enough = False
    return tempfile.mkdtemp(prefix="assay-clickhouse-", dir=memory if enough else None)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`disk`: a directory for its data, in the mount namespace of process `inside`."""
    def __init__(self, disk=None, inside=None):
        self.place = new_place()
        self.data, self.before = disk or f"{self.place}/data", []
        if inside:
            self.before = ["nsenter", "-t", str(inside), "-m"]
        self.port = free_port()
        self.tcp = free_port()
        self.configure("")
        with open(f"{self.place}/users.xml", "w") as f:
            f.write(USERS)
        self.start()

    def configure(self, https):
        with open(f"{self.place}/config.xml", "w") as f:
            f.write(CONFIG.format(http=self.port, tcp=self.tcp, place=self.place, https=https,
                                  data=self.data))

    def tls(self, t):
        """Restarts the server with TLS too, for the name localhost; returns the port."""
        t.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
              "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
              "-keyout", f"{self.place}/tls.key", "-out", f"{self.place}/tls.crt")
        port = free_port()
        self.stop()
        self.configure(f"<https_port>{port}</https_port>")
        self.start()
        return port

    def start(self):
        self.process = subprocess.Popen(
            [*self.before, PROGRAM, f"--config-file={self.place}/config.xml"], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **MALLOC})
        end = time.monotonic() + limit(60)
        while time.monotonic() < end:
            try:
                return self.ask("SELECT 1")
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the ClickHouse server does not answer")

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.stop()
        shutil.rmtree(self.place, ignore_errors=True)

    def store(self, database, port=None, user=""):
        return f"clickhouse://{user}127.0.0.1:{port or self.port}/{database}"

    def ask(self, sql, database="default"):
        url = f"http://127.0.0.1:{self.port}/?database={database}"
        try:
            with urllib.request.urlopen(url, sql.encode(), timeout=limit(600)) as answer:
                return answer.read().decode(errors="surrogateescape").rstrip("\n")
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{sql}: {error.read().decode()}") from None


def server(t):
    global _server
    if not shutil.which(PROGRAM):
        t.skip(f"{PROGRAM} is not installed (Debian: clickhouse-server)")
    if not _server:
        _server = Server()
        atexit.register(_server.end)
    return _server


class Listening:
    """An HTTP server in threads; it ends with the test program."""
    def __init__(self, handle):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                handle(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def log_message(self, *args):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args):
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


class Between(Listening):
    def __init__(self, port, decide):
        self.requests, self.port_behind = [], port
        self.passed = []  # (path, body, headers) of inserts; None: they are not kept

        def handle(request, body):
            self.requests.append(request.path)
            headers = {k: v for k, v in request.headers.items()
                       if k.lower() not in ("host", "accept-encoding")}
            if self.passed is not None and "INSERT" in request.path:
                self.passed.append((request.path, body, headers))
            what = decide(request.path, body)
            for _ in range(0 if what == "drop" else 2 if what == "repeat" else 1):
                answer, content = self.send(request.path, body, headers)
            if what in ("drop", "cut"):
                request.close_connection = True
                return request.connection.shutdown(socket.SHUT_RDWR)
            request.send_response(answer.status)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)

        super().__init__(handle)

    def send(self, path, body, headers):
        to = http.client.HTTPConnection("127.0.0.1", self.port_behind, timeout=limit(60))
        to.request("POST", path, body, headers)
        answer = to.getresponse()
        content = answer.read()
        to.close()
        return answer, content

    def again(self):
        """All inserts so far reach the server once more."""
        for request in self.passed:
            self.send(*request)


class Answering(Listening):
    """`body`: bytes, or a function that writes the body itself, without a length."""
    def __init__(self, status, body, headers=()):
        def handle(request, _):
            request.send_response(status)
            for name, value in headers:
                request.send_header(name, value)
            if callable(body):
                request.send_header("Connection", "close")
                request.end_headers()
                request.close_connection = True
                return body(request.wfile)
            if "Content-Length" not in dict(headers):
                request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
            request.close_connection = True

        super().__init__(handle)
