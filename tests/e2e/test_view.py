# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay view`: the page on loopback, its limits, sessions that run, and what remains."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import time
import zlib

from harness import ASSAY, ROOT, main, run, test
from page_data import Page, blob_of
from sessions import LOOP, OTHER_USER, sessions
from time_limit import limit

FOLDED = "main;work 3\nmain;rest 1\n"
URL = re.compile(r"http://(127\.0\.0\.1|\[::1\]):(\d+)/\?token=([0-9a-f]{32})\n")
UNSERVED = ("is not installed (Debian: libmicrohttpd12)", "was built without libmicrohttpd")


class View:
    """A running `assay view`: its address, and requests to it."""

    def __init__(self, t, *words, env=None, cwd=None):
        self.t = t
        self.err = t.path("view.err")
        (t.path("tmp")).mkdir(exist_ok=True)
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": str(t.path("tmp")), **(env or {})}
        if not (env or {}).get("DISPLAY"):
            environment.pop("DISPLAY", None)
        environment.pop("WAYLAND_DISPLAY", None)
        with open(self.err, "wb") as err:
            self.process = t.start(ASSAY, "view", *words, stdout=subprocess.PIPE, stderr=err,
                                   env=environment, cwd=cwd or t.directory)
        line = self.process.stdout.readline().decode()
        found = URL.fullmatch(line)
        if not found:
            text = self.err.read_text()
            if any(words in text for words in UNSERVED):
                t.skip("libmicrohttpd is not installed")
            t.fail(f"no address: {line!r} {text}")
        self.host, self.port, self.token = found[1].strip("[]"), int(found[2]), found[3]
        self.name = f"{found[1]}:{self.port}"

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=limit(60))

    def get(self, path="/", token=None, method="GET", host=None, headers=()):
        """The response and its body. `token` "": none."""
        connection = self.connect()
        token = self.token if token is None else token
        connection.putrequest(method, path + (f"?token={token}" if token else ""), skip_host=True)
        if host != "":
            connection.putheader("Host", host or self.name)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response, body

    def status(self, *words, **options):
        return self.get(*words, **options)[0].status

    def blob(self):
        response, body = self.get("/data")
        self.t.equal(response.status, 200, "status of the data")
        return zlib.decompress(body)

    def children(self):
        pid = self.process.pid
        pids = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return {pathlib.Path(f"/proc/{child}/comm").read_text().strip(): int(child) for child in pids}

    def server(self):
        """The process that serves the page."""
        return self.children()["assay-web"]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.t.wait(self.process)

    def left(self):
        """Files that remain."""
        return list(self.t.path("tmp").iterdir())

    def is_open(self):
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection((self.host, self.port)).close()
            return True
        return False


def folded(t):
    return t.write("a.folded", FOLDED)


def is_running(pid):
    try:
        return " Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it exited between open and read
        return False


def rights(pid):
    """The user and the permitted capabilities of a process."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return (re.search(r"^Uid:\t(.*)$", text, re.M)[1].split("\t"),
            int(re.search(r"^CapPrm:\t(\w+)$", text, re.M)[1], 16))


def html_blob(t, *words):
    return blob_of(t.assay("report", "--html", "-", *words, text=False).out)


@test
def the_data_is_that_of_the_html_report(t):
    data = t.path("loop.data")
    t.assay("record", "-g", "-o", data, "--", t.workload("loop"))
    view = View(t, data)
    t.true(view.blob() == html_blob(t, data), "the data equals that of --html")
    response, body = view.get("/")
    t.equal(response.status, 200)
    html = t.assay("report", "--html", "-", data, text=False).out
    before = re.sub(rb'<meta http-equiv="Content-Security-Policy"[^>]*>', b"", html)
    t.equal(re.sub(rb'<script [^>]*id="assay-data"[^>]*>[^<]*</script>', b"DATA", body),
            re.sub(rb'<script [^>]*id="assay-data"[^>]*>[^<]*</script>', b"DATA", before),
            "the page without its data")
    t.has(body.decode(), f'data-url="data?token={view.token}"')
    t.lacks(body.decode(), 'data-events="')


@test
def filters_select_as_in_reports(t):
    view = View(t, "-S", "work", folded(t))
    blob = view.blob()
    t.true(blob == html_blob(t, "-S", "work", t.path("a.folded")), "the data equals that of --html")
    t.true(blob != html_blob(t, t.path("a.folded")), "a filter changes the data")


@test
def the_default_file_is_shown_without_a_session(t):
    t.write("perf.data", "")
    t.has(t.assay("view", status=1, cwd=t.directory, env=t.runtime()).err, "perf.data")


@test
def only_the_token_opens_the_page(t):
    view = View(t, folded(t))
    wrong = ("0" * 32, view.token[:-1], view.token + "0", view.token.upper() + "x", "%00", "a" * 9000)
    for path in ("/", "/data", "/events", "/other"):
        t.equal(view.status(path, token=""), 403, f"{path} without a token")
        for token in wrong:
            t.equal(view.status(path, token=token), 403, f"{path} with the token {token[:40]}")
    t.equal(view.status("/"), 200)
    t.equal(view.status("/data"), 200)
    t.equal(view.status("/other"), 404)
    t.equal(view.status("/../etc/passwd"), 404)
    t.equal(view.get("/", token=view.token + "&token=x")[0].status, 200)


@test
def only_own_hosts_are_answered(t):
    view = View(t, folded(t))
    for host in (f"127.0.0.1:{view.port}", f"localhost:{view.port}", f"[::1]:{view.port}",
                 f"LOCALHOST:{view.port}"):
        t.equal(view.status(host=host), 200, host)
    for host in ("127.0.0.1", "localhost", f"attacker.example:{view.port}", "attacker.example",
                 f"127.0.0.1:{view.port + 1}", f"127.0.0.1.attacker.example:{view.port}",
                 f"127.0.0.1:{view.port}@x", f"0.0.0.0:{view.port}"):
        t.equal(view.status(host=host), 403, host)
    t.between(view.status(host=""), 400, 403, "status without Host")
    t.between(view.status(headers=[("Host", "attacker.example")]), 400, 403, "status with two Hosts")


@test
def only_get_is_answered(t):
    view = View(t, folded(t))
    for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        response = view.get(method=method)[0]
        t.equal(response.status, 405, method)
        t.equal(response.getheader("Allow"), "GET")


@test
def answers_have_headers_that_protect_the_page(t):
    view = View(t, folded(t))
    for path, token in (("/", None), ("/data", None), ("/other", None), ("/", "")):
        headers = view.get(path, token=token)[0].headers
        policy = headers["Content-Security-Policy"]
        t.has(policy, "default-src 'none'")
        t.has(policy, "connect-src 'self'")
        t.has(policy, "frame-ancestors 'none'")
        t.equal(headers["X-Content-Type-Options"], "nosniff")
        t.equal(headers["Referrer-Policy"], "no-referrer")
        t.equal(headers["Cache-Control"], "no-store")
        t.equal(headers["Access-Control-Allow-Origin"], None)


def closes(connection):
    """Whether the other side has closed the connection. It sends nothing, or an error."""
    try:
        return not connection.recv(65536)
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


@test
def slow_clients_are_disconnected(t):
    view = View(t, folded(t))
    slow = socket.create_connection((view.host, view.port))
    silent = socket.create_connection((view.host, view.port))
    for connection in (slow, silent):
        connection.setblocking(False)
    slow.send(b"GET / HTTP/1.1\r\nX: ")

    def both_are_closed():
        time.sleep(0.2)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            slow.send(b"a")
        t.equal(view.status(), 200, "the answer to another client")
        return closes(slow) and closes(silent)

    t.until(both_are_closed, "both connections are closed")
    slow.close()
    silent.close()


@test
def many_connections_do_not_keep_others_out(t):
    view = View(t, folded(t))
    with contextlib.ExitStack() as stack:
        for number in range(150):
            stack.enter_context(socket.create_connection((view.host, view.port)))
            if number % 25 == 24:
                t.equal(view.status(), 200, f"the answer after {number + 1} silent connections")
    t.equal(view.status("/data"), 200)


@test
def long_and_broken_requests_do_no_harm(t):
    view = View(t, folded(t))
    for request in (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                    b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 20000 + b"\r\n",
                    b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                    b"\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00"):
        with socket.create_connection((view.host, view.port)) as connection:
            # A server that refuses may close first; then writing and shutdown() fail, each in its own way.
            with contextlib.suppress(OSError):
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                answer = connection.makefile("rb").read()
                t.true(not answer.startswith(b"HTTP/1.1 2"), f"{request[:30]} is refused")
    t.equal(view.status(), 200)


@test
def events_have_a_limit_of_pages(t):
    with sessions(t) as s:
        start(t, s)
        view = View(t, env=s.env)
        with contextlib.ExitStack() as stack:
            for number in range(17):
                connection = stack.enter_context(contextlib.closing(view.connect()))
                connection.request("GET", f"/events?token={view.token}")
                response = connection.getresponse()
                t.equal(response.status, 200 if number < 16 else 503, f"page {number}")
            t.equal(view.status(), 200)


def check_nothing_left(t, view, children):
    """`children`: of view.children(), before its end."""
    for name, pid in children.items():
        t.until(lambda: not is_running(pid), f"{name} has exited", timeout=10)
    t.true(not view.is_open(), "no port is open")
    t.equal(view.left(), [], "files")


@test
def signals_end_it_and_leave_nothing(t):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        view = View(t, folded(t))
        children = view.children()
        view.blob()
        t.equal(view.end(number), 0, f"status after signal {number}")
        t.true(not is_running(children["assay-web"]), "the server has exited before assay view")
        check_nothing_left(t, view, children)


@test
def a_kill_leaves_nothing(t):
    view = View(t, folded(t))
    children = view.children()
    t.equal(view.end(signal.SIGKILL), -signal.SIGKILL)
    check_nothing_left(t, view, children)


@test
def the_end_of_the_server_is_reported(t):
    view = View(t, folded(t))
    os.kill(view.server(), signal.SIGKILL)
    t.equal(t.wait(view.process), 1)
    t.has(view.err.read_text(), "view: the server of the page has exited")


@test
def the_processes_have_no_rights(t):
    if os.getuid():
        t.skip("needs root")
    view = View(t, folded(t))
    t.until(lambda: list(view.children()) == ["assay-web"], "the server is the only child")
    for pid in (view.process.pid, view.server()):
        t.equal(rights(pid), (["65534"] * 4, 0), "user and capabilities")
    t.path("a.folded").unlink()
    view.blob()
    view = View(t, folded(t), env={"SUDO_UID": "4711"})
    t.equal(rights(view.process.pid), (["4711"] * 4, 0), "user and capabilities after sudo")


@test
def other_users_are_not_served(t):
    if os.getuid():
        t.skip("needs root")
    view = View(t, folded(t))
    if "does not report who connects" in view.err.read_text():
        t.skip("this kernel does not report the owners of connections")
    client = ("import http.client,sys; c=http.client.HTTPConnection(sys.argv[1], timeout=60);"
              "c.request('GET', sys.argv[2]); print(c.getresponse().status)")
    words = ("/usr/bin/python3", "-c", client, view.name, f"/?token={view.token}")
    t.equal(t.run(*words).out, "200\n", "status for root")
    refused = t.run(*words, user=4711, status=1).err
    t.true("RemoteDisconnected" in refused or "ConnectionReset" in refused, refused[-300:])
    view = View(t, folded(t), env={"SUDO_UID": "4711"})
    words = (*words[:3], view.name, f"/?token={view.token}")
    t.equal(t.run(*words, user=4711).out, "200\n", "status for the user of sudo")
    t.equal(t.run(*words).out, "200\n", "status for root")
    t.run(*words, user=4712, status=1)


@test
def it_listens_on_loopback_alone(t):
    view = View(t, folded(t))
    listening = [line.split() for name in ("tcp", "tcp6")
                 for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    mine = [fields[1] for fields in listening
            if fields[3] == "0A" and fields[1].endswith(f":{view.port:04X}")]
    t.equal(mine, [f"0100007F:{view.port:04X}"], "listening sockets with the port")


@test
def ipv6_loopback_and_a_fixed_port_can_be_chosen(t):
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6) as free:
            port = free.getsockname()[1]
    except OSError:
        t.skip("there is no ::1")
    view = View(t, "--port", f"[::1]:{port}", folded(t))
    t.equal((view.host, view.port), ("::1", port))
    t.equal(view.status(), 200)
    again = t.assay("view", "--port", f"[::1]:{port}", t.path("a.folded"), status=1)
    t.has(again.err, f"view: cannot listen on [::1]:{port}: Address already in use")


@test
def mistakes_are_explained(t):
    data = folded(t)
    for port in ("0.0.0.0:80", "70000", "x", "[::]:80"):
        t.has(t.assay("view", "--port", port, data, status=2).err, "--port needs a number")
    env = t.runtime()
    t.has(t.assay("view", "--name", "x", data, status=2, env=env).err, "--name shows a session")
    t.has(t.assay("view", "--name", "x", status=1, env=env).err, "no session 'x' is running")
    t.has(t.assay("view", "--name", "a/b", status=2, env=env).err, "not a valid session name")
    t.has(t.assay("view", t.path("none.data"), status=1).err, "there is no file")
    t.has(t.assay("view", "--time", "0,1", data, status=2).err, "--time needs")
    broken = t.write("broken.calls", b"ASYCALLS" + bytes(100)), t.write("broken.pb", b"\x0a\xff\xff"), t.path("none.data")
    for words in (("--time", "0,1", data), *((file,) for file in broken)):
        err = t.assay("view", *words, status=None, env=env).err
        t.true(err.startswith("assay: view: ") or err.startswith("view: "), f"{words}: {err}")


@test
def a_missing_library_is_named(t):
    if os.getuid():
        t.skip("needs root")
    t.need("unshare", "mount", "ldconfig")
    libraries = re.findall(r"libmicrohttpd\.so\.12 .*=> (\S+)", t.run("ldconfig", "-p").out)
    View(t, folded(t)).end()
    hide = " && ".join(f"mount --bind /dev/null {os.path.realpath(path)}" for path in libraries)
    answer = t.run("unshare", "-m", "sh", "-c", f'{hide} && exec "$@"', "sh", ASSAY, "view",
                   t.path("a.folded"), status=1)
    t.has(answer.err, "libmicrohttpd.so.12, which is not installed (Debian: libmicrohttpd12)")
    t.equal(answer.out, "", "output")


def opener(t):
    """A directory with a program xdg-open that reports its user and its argument."""
    place = t.path("bin")
    place.mkdir(exist_ok=True)
    out = t.path("opened")
    out.mkdir(exist_ok=True)
    out.chmod(0o777)
    t.directory.chmod(0o755)
    script = t.write("bin/xdg-open", f'#!/bin/sh\necho "$(id -u) $1" >{out}/part\nmv {out}/part {out}/done\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return {"PATH": f"{place}:{os.environ['PATH']}", "DISPLAY": ":99"}, out / "done"


@test
def the_browser_is_opened_as_the_user(t):
    env, opened = opener(t)
    if os.getuid():
        user = os.getuid()
    else:
        user = OTHER_USER
        view = View(t, folded(t), env=env)
        t.until(lambda: "a browser is not started as root" in view.err.read_text(), "a message")
        env["SUDO_UID"] = str(user)
    view = View(t, folded(t), env=env)
    t.until(opened.exists, "xdg-open runs")
    t.equal(opened.read_text(), f"{user} http://{view.name}/?token={view.token}\n")


@test
def no_browser_is_opened_without_a_display_or_on_request(t):
    env, opened = opener(t)
    env["SUDO_UID"] = str(OTHER_USER)
    View(t, "--no-browser", folded(t), env=env).end()
    View(t, folded(t), env={**env, "DISPLAY": ""}).end()
    t.true(not opened.exists(), "xdg-open was not started")
    env["PATH"] = env["PATH"].split(":", 1)[1]
    if not any(os.access(f"{place}/xdg-open", os.X_OK) for place in env["PATH"].split(":")):
        view = View(t, folded(t), env=env)
        t.until(lambda: "xdg-utils" in view.err.read_text(), "a message about xdg-open")


class Events:
    """A page's stream of events."""

    def __init__(self, view):
        self.connection = view.connect()
        self.connection.request("GET", f"/events?token={view.token}")
        self.response = self.connection.getresponse()
        view.t.equal(self.response.status, 200)
        view.t.equal(self.response.getheader("Content-Type"), "text/event-stream")

    def next(self):
        while True:
            line = self.response.readline().decode()
            if line.startswith("event: "):
                return line[7:].strip()
            if not line:
                raise EOFError("the stream ended")


def samples_of(blob):
    """The number of samples in the page: the sum over the rows of the first value."""
    page = Page(blob)
    stacks = page.head["stacks"]
    return sum(page.array(stacks["rows"]["values"][0])) if stacks else 0


def start(t, s, *words):
    """Starts a session that samples a loop."""
    s("start", "-F", "200", "-p", t.start(*LOOP).pid, *words)


def follow(t, s, *words, file):
    """Starts a session, and follows it until it was stopped."""
    start(t, s, *words)
    view = View(t, env=s.env)
    t.has(view.get("/")[1].decode(), f'data-events="events?token={view.token}"')
    events = Events(view)
    first = samples_of(view.blob())
    t.until(lambda: events.next() == "update" and samples_of(view.blob()) > first,
            "an update with more samples")
    s("stop")
    while events.next() == "update":
        pass
    t.true(view.blob() == html_blob(t, file), "the last data equals that of --html")
    t.has(view.err.read_text(), "the session 'default' has ended")
    late = Events(view)
    t.equal([late.next(), late.next()], ["update", "end"], "events for a page that comes later")
    children = view.children()
    t.equal(view.end(), 0)
    check_nothing_left(t, view, children)


@test
def a_killed_viewer_of_a_session_leaves_nothing(t):
    with sessions(t) as s:
        start(t, s, "--ring", "-o", "ring.data")
        view = View(t, env=s.env)
        children = view.children()
        t.true({"assay-web", "assay-foreign"} <= set(children), f"processes: {children}")
        t.equal(view.end(signal.SIGKILL), -signal.SIGKILL)
        check_nothing_left(t, view, children)


@test
def a_session_into_a_file_is_followed_to_its_end(t):
    with sessions(t) as s:
        follow(t, s, "-o", "live.data", file=t.path("live.data"))


@test
def a_flight_recorder_is_followed_to_its_end(t):
    with sessions(t) as s:
        follow(t, s, "--ring", "-o", "ring.data", file=t.path("ring.data"))


@test
def a_session_into_a_store_is_followed_to_its_end(t):
    with sessions(t) as s:
        follow(t, s, "--store", t.path("live.db"), "--window", "1", file=t.path("live.db"))


def browser(t, view):
    """The lines of tests/page/follow.cjs."""
    build, packages = ROOT / "src/web/page/build", ROOT / "build-page/node_modules"
    t.need("node", "npm", "chromium")
    if not build.exists() or run(build, "packages", status=None, timeout=240).status != 0:
        t.skip("npm packages cannot be installed: npm's registry is not reachable")
    url = f"http://{view.name}/?token={view.token}"
    t.path("browser").mkdir()
    words = ("timeout", limit(120), "node", ROOT / "tests/page/follow.cjs", url)
    process = t.start(*words, stdout=subprocess.PIPE,
                      env={**os.environ, "NODE_PATH": str(packages), "TMPDIR": str(t.path("browser"))})
    try:
        for line in process.stdout:
            yield json.loads(line)
        t.fail("the browser has exited")
    finally:
        process.terminate()
        t.wait(process)


@test
def the_page_in_a_browser_follows_a_session(t):
    with sessions(t) as s:
        start(t, s, "-o", "live.data")
        view = View(t, env=s.env)
        lines = browser(t, view)
        first = next(lines)["samples"]
        t.true(next(lines)["samples"] > first, "the page gets more samples")
        s("stop")
        last = t.report(t.path("live.data"))["event"]["samples"]
        for line in lines:
            t.equal(line["problems"], [], "messages of the browser")
            if line["samples"] == last:
                break
        lines.close()


@test
def the_end_of_a_session_is_still_reported_by_status(t):
    with sessions(t) as s:
        start(t, s, "--duration", "1s")
        view = View(t, env=s.env)
        events = Events(view)
        while events.next() == "update":
            pass
        t.equal(s.json(status=1)["state"], "ended")


@test
def the_viewer_of_a_session_of_root_keeps_what_it_reads_with(t):
    if os.getuid():
        t.skip("needs root")
    with sessions(t) as s:
        start(t, s)
        view = View(t, env=s.env)
        t.equal(rights(view.server()), (["65534"] * 4, 0), "the server's user and capabilities")
        user, capabilities = rights(view.process.pid)
        t.equal(user, ["0"] * 4)
        t.equal(capabilities & 1 << 21, 0, "CAP_SYS_ADMIN")
        t.has(view.err.read_text(), "the session is root's")
        s("stop")
        t.until(lambda: not rights(view.process.pid)[1], "the capabilities are dropped", timeout=10)


main()
