# SPDX-License-Identifier: GPL-2.0-or-later
"""`assay view` over a store on a ClickHouse server: the pages of the fleet, and Pyroscope's query API
with requests as Grafana's data source sends them."""
import collections
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import threading
import urllib.parse
import zlib

import clickhouse_server
import old_windows
import pprof_read
from clickhouse_server import Between
from harness import ASSAY, ROOT, main, run, test
from page_data import Page
from pprof_write import field, varint
from sessions import OTHER_USER
from time_limit import limit

HOSTS = ("web1", "web2", "db[1]")
HOSTILE = "a'); DROP TABLE samples; --"
CONTAINER = "0af30af30af3"
SERVICES = {"loop": ("/system.slice/web.service", "web"),
            "boxed": (f"/system.slice/docker-{CONTAINER * 5}0af3.scope", CONTAINER),
            "hostile": (f"/system.slice/{HOSTILE}.service", HOSTILE)}
VERSIONS = {"web1": "1.2", "web2": "1.3*", "db[1]": "1.2"}
# Of the processes of a program, on all machines and on one. app.tier and app_tier have one name.
LABELS = {"loop": {"k8s.pod.name": "web-1", "app.tier": "it's \\ \"front\""},
          "boxed": {"k8s.pod.name": HOSTILE, "container.id": f"{CONTAINER * 5}0af3"},
          "hostile": {HOSTILE.replace(" ", "_"): "x", "k8s.pod.name": "web-2"},
          "plain": {"host": "made-up", "version": "made-up", "2nd": "y"}}
LABELS_OF_DB = {"boxed": {**LABELS["boxed"], "app_tier": "back"}}
HOSTILE_LABEL = re.sub(r"\W", "_", HOSTILE)
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SAMPLES = "process_cpu:samples:count:cpu:nanoseconds"
API = "/querier.v1.QuerierService/"
_store = None


def store(t):
    """Three machines with the same windows, and services of known programs."""
    global _store
    server = clickhouse_server.server(t)
    if _store:
        return _store
    name, data, loop = server.store("fleet"), t.path("a.data"), t.workload("loop")
    copies = [t.path(program) for program in ("boxed", "hostile", "plain")]
    for copy in copies:
        shutil.copy(loop, copy)
    t.assay("record", "-a", "-g", "-F", "499", "-o", data, "--", "nice", "-n", "-5", "sh", "-c",
            f"{loop} 200 & for program in {loop} {' '.join(map(str, copies))}; do $program 100; done; wait")
    for host in HOSTS:
        file = t.path(f"{host}.db")
        t.run(t.workload("store_recording"), data, file, "0.05", host)
        with contextlib.closing(sqlite3.connect(file)) as db, db:
            for program, (cgroup, _) in SERVICES.items():
                text = db.execute("INSERT INTO name (text) VALUES (?) RETURNING id", (cgroup,)).fetchone()[0]
                db.execute("UPDATE process SET cgroup = ? WHERE name = (SELECT id FROM name WHERE"
                           " text = ?)", (text, program))
            version = db.execute("INSERT INTO name (text) VALUES (?) RETURNING id", (VERSIONS[host],)).fetchone()[0]
            db.execute("UPDATE process SET version = NULL")
            db.execute("UPDATE process SET version = ? WHERE name = (SELECT id FROM name WHERE text = 'loop')",
                       (version,))
            label(db, {**LABELS, **(LABELS_OF_DB if host == "db[1]" else {})})
        t.assay("store", "copy", file, name)
    _store = name
    return name


def label(db, labels):
    """Gives labels to the processes of programs in a file."""
    for program, pairs in labels.items():
        text = "\n".join(f"{key}={value}" for key, value in sorted(pairs.items()))
        name = db.execute("INSERT INTO name (text) VALUES (?) RETURNING id", (text,)).fetchone()[0]
        db.execute("UPDATE process SET labels = ? WHERE name = (SELECT id FROM name WHERE text = ?)",
                   (name, program))


class Fleet:
    """A running `assay view` of a store."""

    def __init__(self, t, *words, env=None):
        self.t, self.err = t, t.path("view.err")
        with open(self.err, "wb") as err:
            self.process = t.start(ASSAY, "view", "--no-browser", *words, stdout=subprocess.PIPE, stderr=err,
                                   env={**os.environ, **(env or {})})
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/\?token=([0-9a-f]{32})\n", line)
        if not found:
            text = self.err.read_text()
            if "libmicrohttpd" in text:
                t.skip("libmicrohttpd is not installed")
            t.fail(f"no address: {line!r} {text}")
        self.name, self.token = found[1], found[2]

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.name, timeout=limit(60))
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def page(self, status=200, **selection):
        """The page's data for a selection, or the text of a refusal."""
        query = urllib.parse.urlencode({"token": self.token, **selection})
        answer, content = self.request("GET", f"/data?{query}")
        self.t.equal(answer.status, status, content[:300])
        return Page(zlib.decompress(content)) if status == 200 else content.decode()

    def call(self, method, body, status=200, kind="application/json", token=None):
        """A call as connect-go makes it."""
        headers = {"Content-Type": kind, "Connect-Protocol-Version": "1", "Accept-Encoding": "gzip",
                   "Authorization": f"Bearer {self.token if token is None else token}"}
        answer, content = self.request("POST", API + method, body, headers)
        self.t.equal(answer.status, status, f"{method}: {content[:300]}")
        return answer, content

    def json(self, method, request, status=200):
        answer, content = self.call(method, json.dumps(request), status)
        self.t.equal(answer.getheader("Content-Type"), "application/json")
        return json.loads(content)

    def proto(self, method, message):
        answer, content = self.call(method, message, kind="application/proto")
        self.t.equal(answer.getheader("Content-Type"), "application/proto")
        return fields(content)


def fields(message):
    """The fields of a protobuf message: (number, value)."""
    return list(pprof_read.fields(message))


def double(value):
    return struct.unpack("<d", value.to_bytes(8, "little"))[0]


def first(message, number, default=0):
    return next((value for key, value in message if key == number), default)


_reports = {}  # of the store, which no test changes


def report(t, *words):
    if words not in _reports:
        _reports[words] = report_of_store(t, *words)
    return _reports[words]


def report_of_store(t, *words):
    return t.json(t.assay("report", "--json", "--no-idle", "--store", store(t), *words).out)


def totals(t, *words):
    """Samples and CPU time of a report without idle time."""
    found = report(t, *words)["functions"]
    return sum(row["samples"] for row in found), sum(row["weight"] for row in found)


def whole(t):
    """A request's times: all windows of the store. ms since 1970."""
    found = clickhouse_server.server(t).ask("SELECT min(start_ns), max(end_ns) FROM windows_2", "fleet").split()
    return {"start": int(found[0]) // 10**6, "end": int(found[1]) // 10**6 + 1}


def table(page, key):
    """The rows of a table of the document: name to cells."""
    section = next(s for s in page.head["document"]["sections"] if s.get("key") == key)
    names = [c["name"] for c in section["columns"]]
    values = {name: page.array(cells["value"]) for name, cells in zip(names, section["cells"]) if cells["value"]}
    values |= {name: page.texts(cells["text"]) for name, cells in zip(names, section["cells"])
               if name == "services"}
    texts = page.texts(section["cells"][names.index(key[:-1])]["text"])
    return {texts[i]: {name: v[i] for name, v in values.items()} for i in range(section["rows"])}


@test
def the_first_page_lists_services_and_machines(t):
    view = Fleet(t, store(t))
    page = view.page()
    t.equal(page.head["kind"], "fleet")
    services, hosts = table(page, "services"), table(page, "hosts")
    t.equal(set(hosts), set(HOSTS))
    t.equal(set(services), {"[no service]", *(name for _, name in SERVICES.values())})
    for host in HOSTS:
        samples, cpu_ns = totals(t, "--host", host.replace("[", "[[]"))
        t.equal((hosts[host]["samples"], hosts[host]["time"]), (samples, cpu_ns), host)
    for _, service in SERVICES.values():
        samples, _ = totals(t, "--host", "*", "--service", service)
        t.equal(services[service]["samples"], samples, service)
    versions = table(page, "versions")
    t.equal(set(versions), {"1.2", "1.3*", "[no version]"})
    for version in ("1.2", "1.3*"):
        samples, cpu_ns = totals(t, "--host", "*", "--build", version.replace("*", "[*]"))
        t.equal((versions[version]["samples"], versions[version]["time"]), (samples, cpu_ns), version)
        t.true(samples, "the version has samples")
        of_service = {}
        for _, service in SERVICES.values():
            got = t.assay("report", "--json", "--no-idle", "--store", clickhouse_server.server(t).store("fleet"),
                          "--host", "*", "--build", version.replace("*", "[*]"), "--service", service, status=None)
            of_service[service] = got.status == 0
        t.equal(sorted(versions[version]["services"].split(", ")),
                sorted(s for s, has in of_service.items() if has), f"services of {version}")
    whole_page = view.request("GET", f"/?token={view.token}")[1].decode()
    t.has(whole_page, f'data-url="data?token={view.token}" data-asks="1"')
    t.equal(view.page(host="web1", show="").head["kind"], "fleet")
    t.equal(set(table(view.page(host="web1"), "hosts")), {"web1"})


@test
def a_selection_is_the_report_of_its_part(t):
    view = Fleet(t, store(t))
    for words, selection in ((("--host", "web1"), {"host": "web1"}),
                             (("--host", "db[[]1]"), {"host": "db[1]"}),
                             (("--host", "*", "--service", HOSTILE), {"service": HOSTILE}),
                             (("--host", "*", "--build", "1.3[*]"), {"build": "1.3*"}),
                             (("--host", "web2", "--service", CONTAINER), {"host": "web2", "service": CONTAINER})):
        page = view.page(show="report", **selection)
        t.equal(page.head["kind"], "samples")
        rows = page.head["stacks"]["rows"]["values"][0]
        t.equal(sum(page.array(rows)), totals(t, *words)[0], f"samples of {selection}")
    answer = view.page(show="report", host="we*", status=500)
    t.has(answer, "no data of machine 'we[*]'")
    t.has(view.page(show="report", **{"from": "--help"}, status=400), "--help")
    t.has(view.page(show="report", **{"from": "@2", "until": "@1"}, status=400), "is not after")
    t.equal(clickhouse_server.server(t).ask("EXISTS TABLE samples_2", "fleet"), "1")


@test
def sides_of_a_comparison_and_changes_are_pages(t):
    view = Fleet(t, store(t))
    page = view.page(show="diff", host_a="web1", host="web2")
    t.equal(page.head["kind"], "diff")
    for side in ("--host=web1", "--host=web2"):
        t.has(page.head["title"], side)
    sides = [sum(page.array(page.head[side]["rows"]["values"][0])) for side in ("before", "stacks")]
    t.equal(sides, [totals(t, "--host", host)[0] for host in ("web1", "web2")], "samples of the sides")
    page = view.page(show="diff", build_a="1.2", build="1.3*")
    sides = [sum(page.array(page.head[side]["rows"]["values"][0])) for side in ("before", "stacks")]
    t.equal(sides, [totals(t, "--host", "*", "--build", build)[0] for build in ("1.2", "1.3[*]")], "versions")
    t.equal(view.page(show="watch", host="web1").head["kind"], "watch")
    words = ("diff", "--host", "web1", store(t), "--", "--host", "web2", "--json")
    found = t.json(t.assay(*words).out)
    t.true(len(found["before"]) == len(found["after"]) > 1, "parts of the time are the runs of both sides")
    t.equal(found["whole"]["before"], found["whole"]["after"], "CPU time of equal machines")


@test
def a_store_without_data_in_the_range_shows_its_last_hour(t):
    server, name = clickhouse_server.server(t), clickhouse_server.server(t).store("old")
    t.assay("store", "create", name)
    view = Fleet(t, name)
    t.has(json.dumps(view.page().head), "The store has no data yet")
    old = 1_600_000_000
    server.ask(f"INSERT INTO hosts (id, name) VALUES (1, 'old')", "old")
    server.ask(f"INSERT INTO windows_2 (host, time, key, part, start_ns, end_ns) VALUES"
               f" (1, {old}, 1, 1, {old}000000000, {old + 10}000000000)", "old")
    text = json.dumps(view.page().head)
    t.has(text, "2020-09-13T12:26:50Z")
    t.lacks(text, "no data of this time range")
    t.has(json.dumps(view.page(**{"from": "-1h"}).head), "no data of this time range")


@test
def grafanas_calls_return_the_figures_of_reports(t):
    view = Fleet(t, "--pyroscope", store(t))
    times = whole(t)
    span = varint(3 << 3) + varint(times["start"]) + varint(4 << 3) + varint(times["end"])
    types = [fields(value) for _, value in view.proto("ProfileTypes", b"")]
    t.equal([first(x, 1) for x in types], [CPU.encode(), SAMPLES.encode()])
    for selector, words in (("{}", ("--host", "*")), ('{host="web1"}', ("--host", "web1")),
                            ('{service_name="web"}', ("--host", "*", "--service", "web")),
                            ('{host=~"web.", service_name!="web"}', None)):
        samples, cpu_ns = (totals(t, *words) if words else
                           [a - b for a, b in zip(totals(t, "--host", "web?"),
                                                  totals(t, "--host", "web?", "--service", "web.service"))])
        for kind, want in ((SAMPLES, samples), (CPU, cpu_ns)):
            selection = field(1, kind.encode()) + field(2, selector.encode()) + span
            graph = fields(first(view.proto("SelectMergeStacktraces", selection + field(5, 16384)), 1))
            t.equal(first(graph, 3), want, f"total of {kind} {selector}")
            check_levels(t, graph)
            series = view.proto("SelectSeries", selection + varint(6 << 3 | 1) + struct.pack("<d", 15))
            t.equal(round(sum(double(first(fields(point), 1)) for _, line in series for key, point in fields(line)
                              if key == 2)), want, f"sum of the series of {kind} {selector}")


@test
def the_queries_of_grafana_md_have_the_figures_of_reports(t):
    store(t)
    server, times = clickhouse_server.server(t), whole(t)
    start, end = times["start"] // 1000 - 1, times["end"] // 1000 + 1
    macros = {"$__timeFilter(time)": f"time BETWEEN toDateTime({start}) AND toDateTime({end})",
              "$__interval_s": "15", "$__fromTime": f"toDateTime({start})", "$__toTime": f"toDateTime({end})"}
    queries = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/GRAFANA.md").read_text(), re.S)
    t.equal(len(queries), 5)
    answers = []
    for query in queries:
        for name, value in macros.items():
            query = query.replace(name, value)
        answers.append([line.split("\t") for line in server.ask(query, "fleet").splitlines()])
    cpus, machines, functions, growth, missed = answers
    _, cpu_ns = totals(t, "--host", "*")
    t.equal(round(sum(float(row[2]) for row in cpus) * 15 * 1e9), cpu_ns, "CPU time of all services")
    t.equal({row[0]: (round(float(row[1]) * 1e9), int(row[2])) for row in machines},
            {host: totals(t, "--host", "web1")[::-1] for host in HOSTS})
    own = collections.Counter()
    for row in report(t, "--host", "*")["functions"]:
        own[row["function"]] += row["weight"]
    t.equal(round(float(functions[0][1]) * 1e9), own[functions[0][0]], "own CPU time of the first function")
    t.equal(round((float(growth[0][1]) + float(growth[0][2])) * 1e9), own[growth[0][0]], "both halves")
    t.equal({row[0] for row in missed}, set(HOSTS))


def check_levels(t, graph):
    """A graph as Grafana reads it: bars of one level are inside those of the level above."""
    names = [value for key, value in graph if key == 1]
    t.equal(names[0], b"total")
    above = [(0, first(graph, 3))]
    for level in (pprof_read.packed(first(fields(value), 1)) for key, value in graph if key == 2):
        at, bars, parent = 0, [], 0
        for offset, width, own, name in zip(*[iter(level)] * 4):
            at += offset
            while parent < len(above) and at + width > above[parent][1]:
                parent += 1
            t.true(parent < len(above) and above[parent][0] <= at, "a bar is below one bar")
            t.true(own <= width and name < len(names), "the own width, and the name")
            bars.append((at, at + width))
            at += width
        above = bars


@test
def labels_and_series_are_those_of_the_store(t):
    view = Fleet(t, "--pyroscope", store(t))
    times = whole(t)
    t.equal(set(view.json("LabelValues", {**times, "name": "host"})["names"]), set(HOSTS))
    found = view.json("LabelValues", {**times, "name": "service_name", "matchers": ['{host="web1"}']})["names"]
    t.equal(set(found), {"[no service]", *(name for _, name in SERVICES.values())})
    t.equal(view.json("LabelValues", {**times, "name": "pod"})["names"], [])
    t.equal(view.json("LabelValues", {**times, "name": "k8s.pod.name"})["names"], [], "not a name")
    t.equal(set(view.json("LabelValues", {**times, "name": "version"})["names"]), {"1.2", "1.3*"})
    one = view.json("LabelValues", {**times, "name": "host", "matchers": ['{host="web2"}', '{host=~"db.*"}']})
    t.equal(set(one["names"]), {"web2", "db[1]"})
    pairs = view.json("Series", {**times, "labelNames": ["host", "service_name"], "matchers": []})["labelsSet"]
    t.equal(len(pairs), 12)
    graph = view.json("SelectMergeStacktraces", {**times, "profileTypeID": SAMPLES, "maxNodes": "0",
                                                 "labelSelector": '{version="1.2", host=~"web.*"}'})["flamegraph"]
    t.equal(int(graph["total"]), totals(t, "--host", "web1", "--build", "1.2")[0], "samples of a version")
    lines = view.json("SelectSeries", {**times, "profileTypeID": SAMPLES, "labelSelector": "{}", "step": 15,
                                       "groupBy": ["host"]})["series"]
    sums = {line["labels"][0]["value"]: sum(p["value"] for p in line["points"]) for line in lines}
    t.equal(sums, {host: totals(t, "--host", "web1")[0] for host in HOSTS})
    top = view.json("SelectSeries", {**times, "profileTypeID": SAMPLES, "labelSelector": "{}", "step": 15,
                                     "groupBy": ["service_name"], "limit": 1})["series"]
    t.equal(len(top), 1)
    t.equal(view.json("SelectMergeStacktraces", {"start": 1, "end": 2, "profileTypeID": CPU}), {}, "no data")
    t.equal(view.json("SelectMergeStacktraces", {**times, "profileTypeID": CPU,
                                                 "labelSelector": '{pod="x"}'}), {}, "an unknown label")


OWN = ["__profile_type__", "host", "service_name", "version"]


def of_processes(found):
    """(samples, those of them in interrupts) of a report that selects by labels. It lists interrupts with the
    process that they interrupted, and does not count them."""
    interrupts = sum(row["interrupt_samples"] for row in found["processes"])
    return sum(row["samples"] for row in found["functions"]) + interrupts, interrupts


def by_label(t, key):
    """The samples of each value of a label, in reports."""
    rows = report(t, "--host", "*", "--sort", f"label:{key}")["rows"]
    counted = {row[key]: row["samples"] for row in rows if row[key] not in ("[no label]", "[interrupts]")}
    found = {}
    for value, n in counted.items():
        pattern = re.sub(r"[*?\[,\\]", "?", value)
        found[value], interrupts = of_processes(report(t, "--host", "*", "--label", f"{key}={pattern}"))
        t.equal(n, found[value] - interrupts, f"--sort and --label {key}={value}")
    return found


def series(view, times, selector="{}", *labels, kind=SAMPLES):
    """The sum of each line: the values of these labels, "" for a label that it does not have."""
    request = b"".join([field(1, kind.encode()), field(2, selector.encode()), field(3, times["start"]),
                        field(4, times["end"]), *(field(5, name.encode()) for name in labels),
                        varint(6 << 3 | 1), struct.pack("<d", 15)])
    found = collections.Counter()
    for _, line in view.proto("SelectSeries", request):
        pairs = [fields(value) for key, value in fields(line) if key == 1]
        pairs = {first(pair, 1).decode(): first(pair, 2).decode() for pair in pairs}
        assert set(pairs) <= set(labels), pairs
        values = tuple(pairs.get(name, "") for name in labels)
        assert values not in found, values
        found[values] = sum(double(first(fields(point), 1)) for key, point in fields(line) if key == 2)
    return dict(found)


def graph(view, times, selector, kind=SAMPLES):
    """The total of a flame graph."""
    found = view.json("SelectMergeStacktraces", {**times, "profileTypeID": kind, "labelSelector": selector})
    return int(found["flamegraph"]["total"]) if found else 0


@test
def labels_of_processes_select_and_group_as_in_reports(t):
    view = Fleet(t, "--pyroscope", store(t))
    times, (all_, all_ns) = whole(t), totals(t, "--host", "*")
    t.equal(sum(series(view, times, "{}", "k8s_pod_name", kind=CPU).values()), all_ns, "CPU time of all lines")
    pods = by_label(t, "k8s.pod.name")
    t.equal(set(pods), {"web-1", "web-2", HOSTILE})
    found = series(view, times, "{}", "k8s_pod_name")
    t.equal(found, {**{(pod,): n for pod, n in pods.items()}, ("",): all_ - sum(pods.values())})
    both = series(view, times, "{}", "host", "k8s_pod_name")
    for host in HOSTS:
        for pod, n in pods.items():
            t.equal(both[host, pod] * len(HOSTS), n, f"samples of {pod} on {host}")
    quoted = HOSTILE.replace("\\", "\\\\")
    for selector, words in (
            ('{k8s_pod_name="web-1"}', ("k8s.pod.name=web-1",)),
            ('{k8s_pod_name=~"web-.*"}', ("k8s.pod.name=web-*",)),
            (f'{{k8s_pod_name="{quoted}"}}', ("k8s.pod.name=a')*",)),
            ('{k8s_pod_name!="", container_id=~"0af3.*"}', ("container.id=0af3*", "k8s.pod.name=*")),
            (f'{{{HOSTILE_LABEL}="x"}}', (HOSTILE.replace(" ", "_") + "=x",)),
            ('{_nd!=""}', ("2nd=*",))):
        found = report(t, "--host", "*", "--label", ",".join(words))
        samples, interrupts = of_processes(found)
        t.true(samples, f"{words} has samples")
        t.equal(graph(view, times, selector), samples, selector)
        cpu_ns, counted_ns = graph(view, times, selector, CPU), sum(row["weight"] for row in found["functions"])
        t.equal(series(view, times, selector, kind=CPU), {(): cpu_ns}, f"CPU time of {selector}")
        t.true(cpu_ns == counted_ns if not interrupts else cpu_ns > counted_ns, f"{cpu_ns}, {counted_ns}")
        t.equal(series(view, times, selector), {(): samples}, selector)
        one = selector.replace("}", ', host="web2"}')
        t.equal(graph(view, times, one) * len(HOSTS), samples, one)
    for selector, want in (('{k8s_pod_name!="web-1"}', all_ - pods["web-1"]),
                           ('{k8s_pod_name!~"web-.*"}', all_ - pods["web-1"] - pods["web-2"]),
                           ('{k8s_pod_name=""}', all_ - sum(pods.values())),
                           ('{k8s_pod_name="none"}', 0),
                           ('{k8s_pod_name="web-1", service_name!="web"}', 0),
                           ('{k8s_pod_name="web-1", version="1.3*"}', pods["web-1"] // len(HOSTS))):
        t.equal(graph(view, times, selector), want, selector)
        t.equal(sum(series(view, times, selector).values()), want, selector)
    t.equal(clickhouse_server.server(t).ask("EXISTS TABLE samples_2", "fleet"), "1")


@test
def names_and_values_of_labels_are_those_of_the_selection(t):
    view = Fleet(t, "--pyroscope", store(t))
    times = whole(t)

    def names(*matchers):
        return view.json("LabelNames", {**times, "matchers": matchers})["names"]

    def values(name, *matchers):
        return sorted(view.json("LabelValues", {**times, "name": name, "matchers": matchers})["names"])

    t.equal(names(), OWN + sorted(["_nd", "app_tier", "container_id", "k8s_pod_name", HOSTILE_LABEL]))
    t.equal(names('{service_name="web"}'), OWN + ["app_tier", "k8s_pod_name"])
    t.equal(names('{k8s_pod_name="web-2"}'), OWN + sorted([HOSTILE_LABEL, "k8s_pod_name"]))
    t.equal(names('{k8s_pod_name="none"}'), OWN)
    t.equal(names('{_nd="y", host="web1"}', '{container_id!="", host="web2"}'),
            OWN + ["_nd", "container_id", "k8s_pod_name"])
    t.equal(values("k8s_pod_name"), sorted(["web-1", "web-2", HOSTILE]))
    t.equal(values("k8s_pod_name", '{service_name="web"}'), ["web-1"])
    t.equal(values("k8s_pod_name", '{_nd!=""}', '{service_name="web", host="web1"}'), ["web-1"])
    t.equal(values("service_name", '{k8s_pod_name="web-1"}'), ["web"])
    t.equal(values("host", '{k8s_pod_name="web-1"}', '{host="none"}'), sorted(HOSTS))
    t.equal(values("host", '{_nd="y"}'), sorted(HOSTS), "a process does not choose its host")
    t.equal(values("version", '{_nd="y"}'), [])
    t.equal(values("host", '{host="made-up"}'), [])
    t.equal(values(HOSTILE), [])
    t.equal(series(view, times, "{}", HOSTILE), {("",): totals(t, "--host", "*")[0]})
    t.equal(clickhouse_server.server(t).ask("EXISTS TABLE samples_2", "fleet"), "1")
    found = view.json("Series", {**times, "labelNames": ["k8s_pod_name", "host"], "matchers": ['{host=~"web."}']})
    sets = [{pair["name"]: pair["value"] for pair in one["labels"]} for one in found["labelsSet"]]
    pods = ["web-1", "web-2", HOSTILE, None]
    t.equal(sorted(map(str, sets)), sorted(str({"host": host, **({"k8s_pod_name": pod} if pod else {})})
                                           for host in ("web1", "web2") for pod in pods))
    found = view.json("Series", {**times, "matchers": ['{k8s_pod_name="web-1", host="web1"}']})["labelsSet"]
    t.equal([{pair["name"]: pair["value"] for pair in one["labels"]} for one in found],
            [{"__profile_type__": kind, "host": "web1", "service_name": "web", "version": "1.2",
              "k8s_pod_name": "web-1", "app_tier": LABELS["loop"]["app.tier"]} for kind in (CPU, SAMPLES)])


@test
def two_labels_with_one_name_are_refused_where_the_name_is_used(t):
    view = Fleet(t, "--pyroscope", store(t))
    times = whole(t)
    query = {**times, "profileTypeID": SAMPLES, "step": 15}
    for method, request in (("LabelValues", {"name": "app_tier"}),
                            ("LabelValues", {"name": "host", "matchers": ['{app_tier="back"}']}),
                            ("LabelNames", {"matchers": ['{app_tier="back"}']}),
                            ("Series", {"labelNames": ["app_tier"]}),
                            ("Series", {}),
                            ("SelectSeries", {"groupBy": ["app_tier"], "labelSelector": "{}"}),
                            ("SelectSeries", {"labelSelector": '{app_tier="back"}'}),
                            ("SelectMergeStacktraces", {"labelSelector": '{app_tier!~"b.*"}'}),
                            ("SelectMergeStacktraces", {"labelSelector": '{app_tier="none"}'})):
        found = view.json(method, {**query, **request}, 400)
        t.equal(found["code"], "invalid_argument")
        t.has(found["message"], "two labels of the selected processes have the name app_tier here")
        t.has(found["message"], "'app.tier'")
        t.has(found["message"], "'app_tier'")
        t.has(found["message"], "by host or service_name")
    selector = '{app_tier!="", host=~"web."}'
    front = by_label(t, "app.tier")[LABELS["loop"]["app.tier"]]
    t.equal(graph(view, times, selector) * len(HOSTS), front * 2, selector)
    t.equal(series(view, times, '{host="db[1]", service_name!="web"}', "app_tier")["back",] * len(HOSTS),
            by_label(t, "k8s.pod.name")[HOSTILE])


@test
def sums_of_all_machines_do_not_answer_for_labels(t):
    server, name, file = clickhouse_server.server(t), clickhouse_server.server(t).store("pods"), t.path("pods.db")
    old_windows.stored(t, file, "web1", "web2")
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        label(db, {"loop": {"k8s.pod.name": "web-1"}})
    t.assay("store", "copy", file, name)
    words = ("report", "--json", "--no-idle", "--store", file, "--host", "*")
    pod, _ = of_processes(t.json(t.assay(*words, "--label", "k8s.pod.name=web-1").out))
    all_ = sum(row["samples"] for row in t.json(t.assay(*words).out)["functions"])
    view = Fleet(t, "--pyroscope", name)
    for step in "windows", "sums":
        for selector, samples in (('{k8s_pod_name="web-1"}', pod), ('{k8s_pod_name=""}', all_ - pod), ("{}", all_)):
            t.equal(graph(view, {"start": 1}, selector), samples, f"{step}: {selector}")
        t.assay("store", "keep", "--fine", "1s", "--coarse", "30d", name)
        t.true(server.ask("SELECT count() FROM windows_2 WHERE host = 0", "pods") != "0", "there are sums")


@test
def a_comparison_and_a_pprof_profile_have_the_same_totals(t):
    view = Fleet(t, "--pyroscope", store(t))
    times = whole(t)
    side = {**times, "profileTypeID": SAMPLES}
    graph = view.json("Diff", {"left": {**side, "labelSelector": '{host="web1"}'},
                               "right": {**side, "labelSelector": "{}"}})["flamegraph"]
    one, all_ = totals(t, "--host", "web1")[0], totals(t, "--host", "*")[0]
    t.equal([int(graph[key]) for key in ("leftTicks", "rightTicks", "total")], [one, all_, one + all_])
    request = field(1, SAMPLES.encode()) + field(3, times["start"]) + field(4, times["end"])
    profile = t.write("p.pb", view.call("SelectMergeProfile", request, kind="application/proto")[1])
    t.equal(sum(row["self"] for row in t.json(t.assay("report", "--json", "--event", "samples", profile).out)
                ["functions"]), all_, "samples of the pprof profile")


@test
def wrong_calls_are_refused(t):
    view = Fleet(t, "--pyroscope", store(t))
    times = whole(t)
    good = {**times, "profileTypeID": CPU, "labelSelector": "{}", "step": 15}
    for method, request, status, code in (
            ("SelectSeries", {**good, "labelSelector": "host=x"}, 400, "invalid_argument"),
            ("SelectSeries", {**good, "labelSelector": '{host=~"(a{9}){9}"}'}, 400, "invalid_argument"),
            ("SelectSeries", {**good, "profileTypeID": "memory"}, 400, "invalid_argument"),
            ("SelectSeries", {**good, "start": 0, "step": 1}, 400, "invalid_argument"),
            ("SelectSeries", {**good, "aggregation": 1}, 501, "unimplemented"),
            ("SelectMergeStacktraces", {**good, "spanSelector": ["1"]}, 501, "unimplemented"),
            ("SelectHeatmap", good, 404, "unimplemented"),
            ("Series", {"matchers": ["{"]}, 400, "invalid_argument")):
        t.equal(view.json(method, request, status)["code"], code, method)
    hostile = {**good, "labelSelector": '{service_name="' + HOSTILE + "'\\\\\\\" OR 1\"}"}
    t.equal(view.json("SelectMergeStacktraces", hostile), {}, "a hostile name selects nothing")
    t.equal(clickhouse_server.server(t).ask("EXISTS TABLE samples_2", "fleet"), "1")
    view.call("ProfileTypes", "{}", 403, token="0" * 32)
    view.call("ProfileTypes", "{}", 403, token="")
    view.call("ProfileTypes", "{}", 400, kind="text/plain")
    view.call("ProfileTypes", "x" * 70000, 413)
    view.call("ProfileTypes", b"\xff\xff", 400, kind="application/proto")
    answer, _ = view.request("GET", API + "ProfileTypes", headers={"Authorization": f"Bearer {view.token}"})
    t.equal((answer.status, answer.getheader("Allow")), (405, "POST"))
    for host in ("attacker.example", f"attacker.example:{view.name.split(':')[1]}"):
        answer, _ = view.request("POST", API + "ProfileTypes", "{}",
                                 {"Host": host, "Authorization": f"Bearer {view.token}"})
        t.equal(answer.status, 403, host)
    view.call("ProfileTypes", "{}")


@test
def without_the_option_nothing_is_called(t):
    view = Fleet(t, "--store", store(t))
    view.call("ProfileTypes", "{}", 405)
    t.has(t.assay("view", "--pyroscope", t.write("a.folded", "a 1\n"), status=2).err, "clickhouse://HOST/DATABASE")
    t.has(t.assay("view", "--pyroscope", "--host", "web1", store(t), status=2).err, "without --host")
    t.has(t.assay("view", "--no-browser", "clickhouse://127.0.0.1:1/a", status=1).err, "127.0.0.1:1")
    t.has(t.assay("view", "--user", "no-such-user", store(t), status=2).err, "no user no-such-user")


@test
def the_token_can_be_known_before(t):
    path = t.path("token")
    view = Fleet(t, "--token-file", path, store(t))
    t.equal(path.read_text(), view.token + "\n")
    t.equal(stat.S_IMODE(path.stat().st_mode), 0o600)
    t.equal(Fleet(t, "--token-file", path, store(t)).token, view.token)
    path.chmod(0o644)
    t.has(t.assay("view", "--token-file", path, store(t), status=1).err, "can be read by other users")
    path.chmod(0o600)
    path.write_text("x\n")
    t.has(t.assay("view", "--token-file", path, store(t), status=1).err, "32 hexadecimal digits")


@test
def the_processes_have_no_rights_and_the_named_user_connects(t):
    if os.getuid():
        t.skip("needs root")
    password = t.write("password", "\n")
    password.chmod(0o600)
    view = Fleet(t, "--pyroscope", "--user", "games", store(t),
                 env={"ASSAY_CLICKHOUSE_PASSWORD_FILE": str(password)})
    password.unlink()
    view.page()
    pids = [view.process.pid, *map(int, open(f"/proc/{view.process.pid}/task/{view.process.pid}/children")
                                   .read().split())]
    for pid in pids:
        text = open(f"/proc/{pid}/status").read()
        t.equal(re.search(r"^CapPrm:\t(\w+)$", text, re.M)[1].strip("0"), "", "capabilities")
        t.lacks(re.search(r"^Uid:\t(.*)$", text, re.M)[1].split("\t"), "0")
    if "does not report who connects" in view.err.read_text():
        t.skip("this kernel does not report the owners of connections")
    client = ("import http.client,sys; c=http.client.HTTPConnection(sys.argv[1], timeout=60);"
              "c.request('POST', sys.argv[2], '{}', {'Content-Type': 'application/json', 'Authorization':"
              " 'Bearer ' + sys.argv[3]}); print(c.getresponse().status)")
    words = ("/usr/bin/python3", "-c", client, view.name, API + "LabelNames", view.token)
    t.equal(t.run(*words, user=5).out, "200\n", "status for the named user")
    t.run(*words, user=OTHER_USER, status=1)


class Gate:
    """A proxy to the server that holds questions while it is closed."""

    def __init__(self, t):
        self.open, self.held = threading.Event(), threading.Event()
        self.open.set()
        proxy = Between(clickhouse_server.server(t).port, self.decide)
        self.store = clickhouse_server.server(t).store("fleet", port=proxy.port)

    def decide(self, path, body):
        if not self.open.is_set():
            self.held.set()
            self.open.wait(limit(120))

    def close(self):
        self.held.clear()
        self.open.clear()


def unanswered(view):
    """A connection with a request whose answer is not read."""
    connection = http.client.HTTPConnection(view.name, timeout=limit(60))
    connection.request("GET", f"/data?token={view.token}")
    return connection


@test
def many_questions_wait_and_further_ones_are_refused(t):
    store(t)
    gate = Gate(t)
    view = Fleet(t, gate.store)
    gate.close()
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(contextlib.closing(unanswered(view)))
        t.true(gate.held.wait(limit(60)), "the first question is at the server")
        for _ in range(15):
            stack.enter_context(contextlib.closing(unanswered(view)))

        def is_refused():
            connection = stack.enter_context(contextlib.closing(unanswered(view)))
            connection.sock.settimeout(0.5)
            try:
                return connection.getresponse().status == 503
            except TimeoutError:
                return False

        t.until(is_refused, "a question is refused while 16 wait")
        t.equal(view.request("GET", f"/?token={view.token}")[0].status, 200, "the page itself is served")
        gate.open.set()
        t.equal(first.getresponse().status, 200)
    view.page()


@test
def a_signal_ends_it_at_once(t):
    store(t)
    gate = Gate(t)
    view = Fleet(t, gate.store)
    view.page()
    view.process.terminate()
    t.equal(t.wait(view.process), 0, "while it waits for requests")
    view = Fleet(t, gate.store)
    gate.close()
    with contextlib.closing(unanswered(view)):
        t.true(gate.held.wait(limit(60)), "the question is at the server")
        view.process.terminate()
        t.equal(t.wait(view.process), -signal.SIGTERM, "while the server works")
    gate.open.set()


@test
def the_page_in_a_browser_has_links_to_its_parts(t):
    build, packages = ROOT / "src/web/page/build", ROOT / "build-page/node_modules"
    t.need("node", "npm", "chromium")
    if not build.exists() or run(build, "packages", status=None, timeout=240).status != 0:
        t.skip("npm packages cannot be installed: npm's registry is not reachable")
    view = Fleet(t, store(t))
    t.path("browser").mkdir()
    words = ("node", ROOT / "tests/page/fleet.cjs", f"http://{view.name}/?token={view.token}")
    out = t.run(*words, timeout=limit(120), env={**os.environ, "NODE_PATH": str(packages),
                                                 "TMPDIR": str(t.path("browser"))}).out
    found = t.json(out)
    t.equal(found["problems"], [], "messages of the browser")
    t.equal(set(found["hosts"]), set(HOSTS))
    t.equal(found["selected"], "samples", "the kind of the page behind a machine's link")
    t.has(found["chips"], "host web1")
    t.equal(found["compared"], "diff")


main()
