# SPDX-License-Identifier: GPL-2.0-or-later
"""media: reads the call paths of a recording from each medium that assay writes, without assay.

    for process, path, values in media.READERS["pprof"](t, file, []):

`path`: names, outermost first, with ":" for ";", as some formats have it. `values`: name to number,
times in ns. The process is None where the medium has none. A medium for which the recording has no
times of samples is refused by assay: see TIMED.
"""
import collections
import csv
import io
import re

from harness import nested
from otlp_read import Otlp
from page_data import Page
from pprof_read import Pprof

TIMED = ("perf-script", "chrome")  # formats that only a recording with times has
UNIT = {"tracing-ms": 1e6, "samples": 1, "bytes": 1}


def clean(names):
    return tuple(name.replace(";", ":") for name in names)


def value_name(name):
    """The weight of samples is `cpu`, or the event's name."""
    return name.removesuffix("_ns")


def export(t, form, file, words, text=True):
    return t.assay("export", "--to", form, "-o", "-", *words, *file, text=text).out


def from_json(t, file, words):
    doc = t.json(export(t, "json", file, words))
    names = [value["name"] for value in doc["values"]]
    for sample in doc["samples"]:
        path, at = [], sample["path"]
        while doc["paths"][at]["parent"] is not None:
            place = doc["places"][doc["paths"][at]["place"]]
            path += [doc["functions"][f["function"]]["name"] for f in place["functions"]]
            at = doc["paths"][at]["parent"]
        yield sample["process"], clean(path[::-1]), dict(zip(names, sample["values"]))


def from_csv(t, file, words):
    for row in csv.DictReader(io.StringIO(export(t, "csv", file, words))):
        yield row.pop("process").removeprefix("'"), tuple(row["path"].removeprefix("'").split(";")), {
            value_name(key): int(value) for key, value in row.items()
            if key not in ("pid", "thread", "tid", "function", "path")}


def from_otlp(t, file, words):
    for profile in Otlp(export(t, "otlp", file, words, text=False)).profiles:
        for path, value, keys in profile.samples:
            yield keys.get("process.executable.name", ""), clean(path), {profile.type[0]: value}


def from_pprof(t, file, words):
    profile = Pprof(export(t, "pprof", file, words, text=False))
    for path, values, labels in profile.samples:
        yield labels.get("process", ""), clean(path), dict(
            zip((name for name, _ in profile.types), values))


def from_speedscope(t, file, words):
    doc = t.json(export(t, "speedscope", file, words))
    names = [frame["name"] for frame in doc["shared"]["frames"]]
    for profile in doc["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            process, *path = (names[frame] for frame in stack)
            yield process, clean(path), {profile["name"]: weight}


def from_folded(t, file, words, value="samples"):
    for line in export(t, "folded", file, [*words, "--value", value]).splitlines():
        if line.startswith("# left out"):
            continue
        path, _, number = line.rpartition(" ")
        process, *path = path.split(";")
        yield process, tuple(path), {value: int(number)}


def from_firefox(t, file, words):
    doc = t.json(export(t, "firefox", file, words))
    shared, paths = doc["shared"], []
    for i, (frame, offset) in enumerate(zip(shared["stackTable"]["frame"],
                                            shared["stackTable"]["prefixOffset"])):
        function = shared["frameTable"]["func"][frame]
        name = shared["stringArray"][shared["funcTable"]["name"][function]]
        paths.append((paths[i - offset] if offset else ()) + clean([name]))
    for thread in doc["threads"]:
        samples = thread["samples"]
        unit = UNIT[samples["weightType"]]
        for i, stack in enumerate(samples["stack"]):
            path = paths[stack] if stack is not None else ()
            if samples["weight"]:
                yield thread["processName"], path, {"main": round(samples["weight"][i] * unit)}
            else:
                yield thread["processName"], path, {"samples": 1, "weight": samples["threadCPUDelta"][i]}


def from_perf_script(t, file, words):
    for block in export(t, "perf-script", file, words).split("\n\n"):
        head, *lines = block.strip("\n").split("\n")
        if head:
            weight = int(re.search(r": +(\d+) \S+: *$", head)[1])
            path = [re.match(r"\t *[0-9a-f]+ (.*) \((?:inlined|[/\[].*)\)$", line)[1] for line in lines]
            yield None, clean(path[::-1]), {"samples": 1, "weight": weight}


def from_chrome(t, file, words):
    """Slices of threads; the rows of waits are not call paths. `calls`: the number of slices."""
    open_, names, ended = collections.defaultdict(list), {}, collections.Counter()
    for event in t.json(export(t, "chrome", file, words))["traceEvents"]:
        key = event["pid"], event.get("tid", 0)
        if event["ph"] == "M" and event["name"] == "process_name":
            names[event["pid"]] = event["args"]["name"]
        if event["ph"] not in "BE" or key[1] >= 1 << 30:
            continue
        now, stack = round(event["ts"] * 1000), open_[key]
        if event["ph"] == "B":
            stack.append([event["name"], now, 0])
            continue
        name, begin, inner = stack.pop()
        if stack:
            stack[-1][2] += now - begin
        path = clean([*(call[0] for call in stack), name])
        ended[names[event["pid"]], path] += 0
        yield names[event["pid"]], path, {"weight": now - begin - inner, "calls": 1}


def from_callgrind(t, file, words):
    """Own values of each function, its values with callees and `calls` from others, and no paths."""
    names, own, total = {}, collections.defaultdict(collections.Counter), collections.defaultdict(
        collections.Counter)
    at = called = columns = None
    for line in export(t, "callgrind", file, words).splitlines():
        word = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if line.startswith("events: "):
            columns = [value_name(name.lower()) for name in line.split()[1:]]
        elif word:
            if word[3]:
                names[word[2]] = clean([word[3]])[0]
            if word[1] == "fn":
                at = names[word[2]]
            else:
                called = names[word[2]]
        elif line.startswith("calls="):
            total[called]["calls"] += int(re.match(r"calls=(\d+)", line)[1])
        elif at and re.match(r"[+\-*\d]+ -?\d", line):
            values = dict(zip(columns, map(int, line.split()[1:])))
            (total[called] if called else own[at]).update(values)
            called = None
    return own, total


def from_page(t, file, words, command="report"):
    t.assay(command, "--html", t.path("page.html"), *words, *file)
    stacks = Page.of_file(t.path("page.html")).stacks()
    paths = {}
    for node in sorted(set(stacks.node)):
        paths[node] = clean(stacks.path(node))
    columns = [(value["name"], stacks.value(value["name"])) for value in stacks.head["values"]]
    for row, (node, owner) in enumerate(zip(stacks.node, stacks.owner)):
        yield stacks.names[stacks.owners["process"][owner]], paths[node], {
            name: column[row] for name, column in columns}


SQL_STACKS = """SELECT s.id, s.parent, n.name FROM stacks s LEFT JOIN frames f ON f.id = s.frame
    LEFT JOIN functions n ON n.id = f.function ORDER BY s.id"""
SQL_SAMPLES = """SELECT s.stack, p.name AS process, s.mode = 'kernel' AND s.stack IN
    (SELECT stack FROM interrupts) AS interrupt, s.samples, s.weight, s.runnable_ns, s.blocked_ns,
    s.event IN (SELECT event FROM sessions) AS main
    FROM samples s LEFT JOIN processes p ON p.id = s.process"""


def from_rows(query):
    """Of the tables of `assay sql`; query(text): rows."""
    paths = {0: ()}
    for stack, parent, name in query(SQL_STACKS):
        paths[stack] = paths[parent] + clean([name or "[no symbol]"])
    for stack, process, interrupt, samples, weight, runnable, blocked, main in query(SQL_SAMPLES):
        yield "[interrupts]" if interrupt and main else process, paths.get(stack, ()), {
            **({"samples": samples, "weight": weight} if main else {}),
            "runnable": runnable or 0, "blocked": blocked or 0}


def sql(t, file):
    """A function that runs a query on a recording."""
    return lambda query: [tuple(row.values()) for row in t.json(
        t.assay("sql", "--format", "json", *file, query).out)]


READERS = {"json": from_json, "csv": from_csv, "otlp": from_otlp, "pprof": from_pprof,
           "speedscope": from_speedscope, "folded": from_folded, "firefox": from_firefox,
           "perf-script": from_perf_script, "chrome": from_chrome, "page": from_page}


def sums(rows, rename=None, positive=False):
    """The figures of call paths: {(what, value, name): number}. what: all, self, total, process."""
    found, one = collections.Counter(), collections.Counter()
    for process, path, values in rows:
        for value, number in values.items():
            one[process, path, (rename or {}).get(value, value)] += number
    for (process, path, value), number in one.items():
        if positive and number < 0:
            continue
        found["all", value, ""] += number
        found["process", value, process] += number
        found["self", value, path[-1] if path else "[no address]"] += number
        for name in set(path):
            found["total", value, name] += number
    return +found if positive else found


def table_of_text(text, last):
    """The rows of the first table with the column `last` at its end, as (first cells, last cell)."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if re.search(rf"\S  +{last}$", line))
    at = lines[head].rindex(last)
    for line in lines[head + 1:]:
        if not line.strip():
            return
        yield re.split(r"(?<=\S)\s{2,}", line[:at].strip()), line[at:].strip()


def table_of_markdown(text, last):
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("|") and line.rstrip(" |").split(" ")[-1] == last)
    for line in lines[head + 2:]:
        if not line.startswith("|"):
            return
        cells = [re.sub(r"\\(.)", r"\1", cell) for cell in re.split(r" (?<!\\)\| ", line.strip("| "))]
        yield cells[:-1], cells[-1]
