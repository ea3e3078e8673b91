# SPDX-License-Identifier: GPL-2.0-or-later
"""The same figure in every medium: for each kind of recording, totals, functions (self, with their
callees), processes, causes of waits and terms of the account, from the report in JSON, in text and
in Markdown, the findings, the page, SQL, and each export.

The report in JSON is what the others are compared with; names are those found in the data, so a new
term or cause is compared, too. Numbers are equal where a medium has integers. DIFFERENCES lists what
differs on purpose, and why. Each test prints the number of figures that it compared per medium.
"""
import collections
import math
import platform
import re
import sqlite3
import subprocess

import media
from calls_program import build as build_calls
from device_ctf import write_ctf
from device_recorder import Recorder
from harness import Failure, main, nested, test
from page_data import Page
from perf_script import record as perf_record
from pprof_write import Profile
from sessions import Sessions
from tags_program import build as build_tags

# Functions and templates that the compiler inlines; code without symbols; waits for a lock and a
# pipe. Arguments are steps.
PROGRAM = r"""
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define INLINE static inline __attribute__((always_inline))
static volatile unsigned long sink;
template <class T> INLINE void spin(T n) { for (T i = 0; i < n; i++) sink = sink * 3 + 1; }
INLINE void heavy() { spin<unsigned long>(3000000); }
INLINE void light() { spin<unsigned>(1000000); }
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) { heavy(); light(); } }
__attribute__((noinline)) void other(int n) { for (int i = 0; i < n; i++) light(); }
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void *locks(void *)
{
	for (int i = 0; i < 8; i++) {
		pthread_mutex_lock(&table_lock);
		usleep(3000);
		light();
		pthread_mutex_unlock(&table_lock);
		usleep(500);
	}
	return nullptr;
}
/* mov $n, %ecx; 1: dec %ecx; jnz 1b; ret */
static void nameless(unsigned n)
{
	unsigned char code[] = {0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	void *at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code + 1, &n, 4);
	memcpy(at, code, sizeof(code));
	((void (*)())at)();
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "work")) { work(25); other(25); }
		if (!strcmp(argv[i], "nameless")) nameless(150000000);
		if (!strcmp(argv[i], "locks")) {
			pthread_t t[2];
			for (auto &one : t) pthread_create(&one, nullptr, locks, nullptr);
			for (auto &one : t) pthread_join(one, nullptr);
		}
	}
	return 0;
}
"""

# (kind of input, medium) to the figures that differ on purpose: a what, a value, or both.
DIFFERENCES = {
    # A slice is as long as its samples' weight: no number of samples. Idle CPUs have no slices.
    # A process has one name, also if it executed another program.
    ("samples", "chrome"): {"samples", "process"},
    # The stack of a switch ends in the scheduler in SQL (docs/SQL.md, samples).
    ("samples", "sql"): {("self", "runnable"), ("self", "blocked")},
    ("samples", "sqlite"): {("self", "runnable"), ("self", "blocked")},
    # The text of perf has the thread's name; interrupts have that of the thread that they hit.
    ("samples", "perf-script"): {"process"},
    # A callgrind file is one process.
    ("samples", "callgrind"): {"process"},
    ("calls", "callgrind"): {"process"},
    ("profile", "callgrind"): {"process"},
}


class Same:
    """Compares the media of one recording with the figures of its report in JSON."""

    def __init__(self, t, kind, file, words=()):
        self.t, self.kind, self.words = t, kind, list(words)
        self.file = [str(word) for word in (file if isinstance(file, list) else [file])]
        self.plain = [word for word in self.file if word != "--store"]  # as `assay sql` has it
        self.counts, self.wrong = {}, []

    def report(self, *words):
        return nested(self.t.json(self.t.assay("report", "--json", *self.words, *words, *self.file).out))

    def compare(self, medium, got, want, near=lambda key: 0, all_of=True):
        """Both have the same keys with numbers other than 0."""
        lacks = DIFFERENCES.get((self.kind, medium), set())
        keys = [key for key in {*want, *(got if all_of else ())} if not lacks & {*key[:2], tuple(key[:2])}]
        if not all_of:
            keys = [key for key in keys if key in got]
        bad = [(key, got.get(key, 0), want.get(key, 0)) for key in sorted(keys, key=str)
               if abs(got.get(key, 0) - want.get(key, 0)) > near(key)]
        self.counts[medium] = self.counts.get(medium, 0) + len(keys)
        self.wrong += [f"{medium}: {key} is {a}, not {b}" for key, a, b in bad[:6]]
        if not keys:
            self.wrong.append(f"{medium}: nothing to compare")

    def equal(self, medium, got, want, what):
        self.counts[medium] = self.counts.get(medium, 0) + 1
        if got != want:
            self.wrong.append(f"{medium}: {what} is {got!r}, not {want!r}")

    def end(self, what):
        print(f"# {what}: " + ", ".join(f"{m} {n}" for m, n in self.counts.items()), flush=True)
        if self.wrong:
            raise Failure("\n".join(self.wrong[:40]))


def one_name(rows, key, values):
    found = collections.Counter()
    for row in rows:
        for value, column in values.items():
            found[value, media.clean([row[key]])[0]] += row.get(column) or 0
    return found


def figures_of_samples(same, *more):
    """The figures of a report in JSON."""
    report = same.report("--sort", "function", "--children", *more)
    want = collections.Counter()
    waits = {value: f"{value}_ns" for value in ("runnable", "blocked")}
    for (value, name), number in one_name(report["rows"], "function", {
            "samples": "samples", "weight": "weight"}).items():
        want["self", value, name] = number
    for (value, name), number in one_name(report["rows"], "function", {"samples": "total_samples"}).items():
        want["total", value, name] = number
    flat = same.report("--sort", "function", *more)["rows"]
    for (value, name), number in one_name(flat, "function", waits).items():
        want["self", value, name] = number
    for (value, name), number in one_name(same.report("--sort", "process", *more)["rows"], "process", {
            "samples": "samples", "weight": "weight", **waits}).items():
        want["process", value, name] = number
    for value in ("samples", "weight", "runnable", "blocked"):
        want["all", value, ""] = sum(n for key, n in want.items() if key[:2] == ("self", value))
    return +want, report


def several_functions(rows):
    """Names of several functions: their totals may have samples in common."""
    counts = collections.Counter(media.clean([row["function"]])[0] for row in rows)
    return {name for name, count in counts.items() if count > 1}


def check_tables(same, want, functions, rows):
    """Text and Markdown of one table, and the functions of the standard table in each medium."""
    words = [*same.words, "--sort", "function", "--percent-limit", "0"]
    whole = want["all", "weight", ""] or 1
    share = {media.clean([row["function"]])[0]: row["share"] for row in rows}
    for medium, option, read in (("text", (), media.table_of_text),
                                 ("markdown", ("--markdown",), media.table_of_markdown)):
        got, total = collections.Counter(), 0
        for cells, name in read(same.t.assay("report", *option, *words, *same.file).out, "function"):
            if name == "total":
                total = int(cells[1].replace(",", ""))
                continue
            got["self", "samples", media.clean([name])[0]] += int(cells[1].replace(",", ""))
            if len(rows) == len(share) and not name.startswith("["):
                same.equal(medium, abs(float(cells[0].split()[0]) / 100 -
                                       share[media.clean([name])[0]]) < 0.00051, True, f"share of {name}")
        rest = sum(n for key, n in got.items() if key[2].startswith("[<"))
        same.compare(medium, {key: n for key, n in got.items() if not key[2].startswith("[<")}, want,
                     all_of=False)
        same.equal(medium, total, want["all", "samples", ""], "the total")
        same.equal(medium, sum(got.values()) , total, f"the sum of rows, with a rest of {rest}")
    page = Page.of_file(same.t.path("page.html"))
    for table in page.sections("functions"):
        names, _ = page.column(table, "function")
        _, samples = page.column(table, "samples")
        got = collections.Counter()
        for name, number in zip(names, samples):
            got["self", "samples", media.clean([name])[0]] += int(number)
        same.compare("page table", +got, {k: n for k, n in want.items() if k in got}, all_of=False)
    got = collections.Counter()
    for row in functions:
        got["self", "samples", media.clean([row["function"]])[0]] += row["samples"]
    same.compare("JSON functions", +got, {k: n for k, n in want.items() if k[:2] == ("self", "samples")})
    return whole


def check_account(same, command, document):
    """The account in text, Markdown and on the page, and its terms in JSON."""
    ledger, found = document["ledger"], {}
    page = Page.of_file(same.t.path("page.html"))
    full = () if command == "waits" else ("--full",)
    texts = same.t.assay(command, *full, *same.words, *same.file).out
    title = {"waits": "Where the threads' time went"}.get(command, "Where the time went")
    if f"\n{title}\n" not in texts:  # without switch records
        same.equal("page table", page.sections("ledger"), [], "accounts")
        return
    lines = texts[texts.index(title + "\n"):].splitlines()
    for line in lines[2:]:
        if not line.strip():
            break
        name, *cells = re.split(r"(?<=\S)\s{2,}", line.strip())
        found[name] = cells
    marks = same.t.assay(command, *full, "--markdown", *same.words, *same.file).out
    marks = marks[marks.index(f"### {title}\n"):].splitlines()
    for line in marks[4:]:
        if not line.startswith("|"):
            break
        name, *cells = [re.sub(r"&nbsp;|\\(?=.)", "", cell).strip() for cell in line.strip("| ").split(" | ")]
        same.equal("markdown", [cell for cell in cells if cell], found.get(name), f"account: {name}")
    grids = page.sections("ledger")
    same.equal("page table", len(grids), 1, "accounts")
    for grid in grids:
        for row in zip(*(page.texts(cells["text"]) for cells in grid["cells"])):
            name = row[0].strip()
            same.equal("page table", [cell for cell in row[1:] if cell], found.get(name), f"account: {name}")
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    for name, cells in found.items():
        ns = ledger.get(f"{name.replace(' ', '_')}_ns")
        if ns is None or not re.match(r"-?[\d.]+ [mun]?s$", cells[0]):
            continue
        number, word = cells[0].split()
        step = unit[word] * 10 ** -len(number.partition(".")[2])
        same.equal("text", abs(float(number) * unit[word] - ns) <= step * 0.51, True,
                   f"account: {name}, {cells[0]} of {ns} ns")


def check_findings(same, want, rows):
    """Each finding has the share of the report, and a query that gives it."""
    brief = same.t.json(same.t.assay("report", "--brief", "--json", *same.words, *same.file).out)
    of_process = {key[2]: n / want["all", "weight", ""] for key, n in want.items()
                  if key[:2] == ("process", "weight")}
    for finding in brief["findings"]:
        if finding["what"] == "process":
            same.equal("brief", math.isclose(finding["share"], of_process[finding["process"]],
                                             rel_tol=1e-6), True, f"share of {finding['process']}")
        if finding["what"] in ("process", "function") and finding["sql"] and finding["share"]:
            row, = same.t.json(same.t.assay("sql", "--format", "json", *same.words, *same.plain,
                                       finding["sql"]).out)
            same.equal("brief", math.isclose(row["share"], finding["share"], rel_tol=1e-6), True,
                       f"the query of {finding['process']} {finding['function']}: {row} {finding}")
    for reason in brief.get("reasons", ()):
        same.equal("brief", reason["share"] <= rows, True, "share")


def comparable(got, double):
    """Totals are in the report as samples; those of several functions of one name are not added up."""
    return +collections.Counter({key: n for key, n in got.items() if key[0] != "total" or (
        key[1] == "samples" and key[2] not in double)})


def check_sql(same, want, query, inclusive, double):
    got = media.sums(media.from_rows(query))
    same.compare("sql" if inclusive else "sqlite", comparable(got, double), want)
    views = collections.Counter()
    for name, samples, weight in query("SELECT function, samples, weight_ns FROM by_function"):
        views["self", "samples", media.clean([name])[0]] += samples
        views["self", "weight", media.clean([name])[0]] += weight
    for view in ("by_process", "by_application"):
        once = collections.Counter()
        for name, samples, weight in query(f"SELECT name, samples, weight_ns FROM {view}"):
            once["process", "samples", name] += samples
            once["process", "weight", name] += weight
        same.compare("sql views", once, {k: n for k, n in want.items() if k[:2] in (
            ("process", "samples"), ("process", "weight"))})
    same.compare("sql views", +views, {k: n for k, n in want.items() if k[:2] in (
        ("self", "samples"), ("self", "weight"))})


def check_samples(t, file, what, *words, store=False, inlines=False):
    same = Same(t, "samples", file, words)
    want, report = figures_of_samples(same)
    double = several_functions(report["rows"])
    paths_want = {key: n for key, n in want.items() if key[0] != "total" or key[2] not in double}
    weight = report["event"]["name"]
    rename = {"cpu": "weight", weight: "weight", "events": "weight"}
    waits = any(key[1] in ("runnable", "blocked") for key in want)
    t.assay("report", "--html", t.path("page.html"), "--full", *words, *same.file)
    check_tables(same, want, same.report("--full")["functions"], same.report("--sort", "function")["rows"])
    check_account(same, "report", report)
    if not inlines:
        check_findings(same, want, 1)
        query = media.sql(t, [*words, *same.plain])
        check_sql(same, paths_want, query, True, double)
        t.path("all.sqlite").unlink(missing_ok=True)
        t.assay("export", "--to", "sqlite", "-o", t.path("all.sqlite"), *words, *same.file)
        db = sqlite3.connect(t.path("all.sqlite"))
        db.create_function("leaf", 1, lambda stack: "")
        check_sql(same, paths_want, lambda text: db.execute(text).fetchall(), False, double)
        db.close()
    no_waits = {k: n for k, n in paths_want.items() if k[1] in ("samples", "weight")}
    for form, read in media.READERS.items():
        if store and form in media.TIMED + ("firefox",):
            continue
        if form == "chrome":
            busy, _ = figures_of_samples(same, "--no-idle")
            got = media.sums(read(t, same.file, [*words, "--no-idle"]))
            got = {key: n for key, n in got.items() if key[1] == "weight" and key[0] != "total"}
            same.compare(form, +collections.Counter(got), {
                key: n for key, n in busy.items() if key[1] == "weight"})
            continue
        if form in ("firefox", "perf-script"):  # samples of idle CPUs have their periods there
            busy, _ = figures_of_samples(same, "--no-idle")
            got = media.sums(read(t, same.file, [*words, "--no-idle"]), rename)
            same.compare(form, comparable(got, double), {
                key: n for key, n in busy.items()
                if key[1] in ("samples", "weight") and (key[0] != "total" or key[2] not in double)})
            continue
        got = media.sums(read(t, same.file, words), rename)
        if form == "folded":
            for value in ("weight", *(("runnable", "blocked") if waits else ())):
                got.update(media.sums(read(t, same.file, words, value)))
        same.compare(form, comparable(got, double), no_waits if form in ("firefox", "perf-script") else paths_want)
    own, _ = media.from_callgrind(t, same.file, words)
    got = collections.Counter()
    for name, values in own.items():
        for value, number in values.items():
            got["self", rename.get(value, value), name] += number
    same.compare("callgrind", +got, {k: n for k, n in paths_want.items() if k[0] == "self"})
    same.end(what)


def program(t):
    source = t.write("parts.cc", PROGRAM)
    t.need("g++")
    t.run("g++", "-O2", "-g", "-fno-omit-frame-pointer", "-pthread", "-o", t.path("parts"), source)
    return t.path("parts")


def recorded(t, *words, steps=("work",)):
    t.assay("record", "-q", "-F", "499", *words, "-o", t.path("s.data"), "--", program(t), *steps)
    return t.path("s.data")


@test
def samples_have_the_same_figures(t):
    nameless = ("nameless",) if platform.machine() == "x86_64" else ()
    check_samples(t, recorded(t, steps=("work", *nameless)), "samples")


@test
def samples_with_call_paths_have_the_same_figures(t):
    data = recorded(t, "-g")
    check_samples(t, data, "samples -g")
    check_samples(t, data, "samples -g, --inline", "--inline", inlines=True)


def only_of(t, program):
    """Words for a directory with the program alone: files of other programs come and go."""
    root = t.path("root")
    (root / str(program)[1:]).parent.mkdir(parents=True)
    (root / str(program)[1:]).write_bytes(program.read_bytes())
    return "--symfs", str(root)


@test
def samples_of_the_machine_have_the_same_figures(t):
    data = recorded(t, "-a", "-g", "-F", "199")
    check_samples(t, data, "samples -a -g", *only_of(t, t.path("parts")))


@test
def stacks_at_switches_have_the_same_figures(t):
    check_samples(t, recorded(t, "-g", "--off-cpu", steps=("locks", "work")), "samples -g --off-cpu")


def check_waits(t, file, what, *words):
    """Causes, the account and the summary of `assay waits`."""
    same = Same(t, "waits", file, words)
    doc = t.json(t.assay("waits", "--json", *words, *same.file).out)
    ledger, summary = doc["ledger"], doc["summary"]
    t.assay("waits", "--html", t.path("page.html"), "--percent-limit", "0", *words, *same.file)
    check_account(same, "waits", doc)
    for whole, parts in (("blocked_ns", ("named_ns", "unnamed_ns", "unknown_ns")),
                         ("wall_ns", ("oncpu_ns", "runnable_ns", "blocked_ns", "unseen_ns", "residual_ns"))):
        same.equal("json", sum(ledger[part] for part in parts), ledger[whole], f"the parts of {whole}")
    by_cause = collections.Counter()
    for row in doc["causes"]:
        ns = row["blocked_ns"] + row["runnable_ns"]
        by_cause[row["waiter"], row["kind"], row["name"], row["device"]] += ns
        same.equal("json", abs(row["share"] - ns / summary["whole"]) < 1e-6, True,
                   f"share of {row['kind']} {row['name']}: {row['share']}")
    same.equal("json", sum(by_cause.values()), ledger["blocked_ns"] + ledger["runnable_ns"], "all causes")
    largest = sorted(by_cause.values(), reverse=True)
    for reason, ns in zip(summary["reasons"], largest):
        same.equal("summary", (reason["value"], math.isclose(reason["share"], ns / summary["whole"], rel_tol=1e-6)),
                   (ns, True), f"reason {reason['function']}")
    for part in summary["parts"]:
        same.equal("summary", part["value"], ledger[f"{part['name']}_ns"], part["name"])
    causes = collections.Counter()
    for row in doc["causes"]:
        key = tuple(row[k] or "" for k in ("kind", "waiter", "name", "released_by"))
        for figure in ("blocked_ns", "runnable_ns", "count"):
            causes[figure, *key] += row[figure]
    page = Page.of_file(t.path("page.html"))
    got = collections.Counter()
    for table in page.sections("causes"):
        keys = list(zip(*(page.column(table, k)[0] for k in ("kind", "waiter", "name", "released_by"))))
        for figure, column in (("blocked_ns", "blocked"), ("runnable_ns", "runnable"), ("count", "count")):
            for key, number in zip(keys, page.column(table, column)[1]):
                got[(figure, *key)] += int(number)
    same.compare("page table", +got, +causes)
    got, want = collections.Counter(), collections.Counter()
    for waiter, blocked, runnable, count in media.sql(t, [*words[1:], *same.file])(
            "SELECT t.name, sum(blocked_ns), sum(runnable_ns), sum(waits) FROM waits w "
            "JOIN threads t ON t.id = w.thread WHERE NOT since_start GROUP BY 1"):
        got.update({("blocked_ns", waiter): blocked, ("runnable_ns", waiter): runnable, ("count", waiter): count})
    for (figure, _, waiter, _, _), number in causes.items():
        want[figure, waiter] += number
    same.compare("sql", {key: n for key, n in got.items() if key[1] == "parts"},
                 {key: n for key, n in want.items() if key[1] == "parts"})
    same.end(what)


@test
def waits_have_the_same_figures(t):
    data = recorded(t, "-g", "--waits", steps=("locks",))
    check_waits(t, data, "waits", "--all", *only_of(t, t.path("parts")))
    check_samples(t, data, "samples -g --waits", "--symfs", str(t.path("root")))


@test
def a_recording_of_perf_has_the_same_figures(t):
    t.need("perf")
    perf_record(str(t.path("p.data")), "-e", "cpu-clock", "-F", "499", "-g", "--", str(program(t)), "work")
    check_samples(t, t.path("p.data"), "perf record -g")


@test
def a_store_of_two_sessions_has_the_same_figures_and_its_gap(t):
    store, env, work = t.path("s.db"), t.runtime(), program(t)
    for _ in range(2):
        process = t.start("sh", "-c", f"read line; exec {work} work", stdin=subprocess.PIPE)
        t.assay("start", "--store", store, "-F", "499", "-g", "--name", "m", "-p", process.pid, env=env)
        process.communicate(b"\n")
        t.assay("stop", "--name", "m", env=env, status=None)
        t.run("sleep", "0.8")
    check_samples(t, ["--store", store], "a store", store=True)
    query = media.sql(t, [store])
    gaps = query("SELECT start_ns, end_ns, why FROM gaps")
    windows = query("SELECT start_ns, end_ns FROM windows ORDER BY start_ns")
    breaks = [(a, b, "no measurement ran") for (_, a), (b, _) in zip(windows, windows[1:]) if b - a >= 5e8]
    t.equal(gaps, breaks, "gaps")
    t.equal(len(gaps), 1, "number of gaps")
    note, = [w for w in t.report("--store", store)["warnings"] if "Nothing was measured" in w]
    t.has(note, f"{(gaps[0][1] - gaps[0][0]) / 1e9:.1f} s")
    t.has(note, gaps[0][2])


def check_paths(same, want, value, words=(), folded=None, near=lambda key: 0, dropped=None):
    """The exports and the page of a recording without times of samples. `value`: the main one;
    `dropped`: the figures of a format that has no negative values."""
    kinds = {key[:2] for key in want}
    for form, read in media.READERS.items():
        if form in media.TIMED:
            continue
        if form == "folded":
            rows = [row for name in folded for row in read(same.t, same.file, words, name)]
        else:
            rows = list(read(same.t, same.file, words))
        known = form == "json" and any(process for process, _, _ in rows) or form != "json" and known
        if form == "folded" and not known:
            rows = [(None, (process, *path), values) for process, path, values in rows]  # none is known
        has = {(what, value if name == "main" else name)
               for what in ("all", "self", "total", "process") for _, _, values in rows for name in values}
        of = dropped if dropped and form in ("folded", "speedscope") else want
        got = {key: n for key, n in media.sums(rows, {"main": value}).items() if key[:2] in kinds}
        if form == "firefox" and dropped:
            continue  # each path of each thread is a sample with its main value
        same.compare(form, got, {key: n for key, n in of.items() if key[:2] in has}, near)
    own, _ = media.from_callgrind(same.t, same.file, words)
    names = {name.lower(): name for _, name in kinds}  # callgrind writes them with a capital
    got = {("self", names[v], f): n for f, of in own.items() for v, n in of.items() if v in names}
    of = dropped or want
    same.compare("callgrind", got, {key: n for key, n in of.items() if key[0] == "self" and key[:2] in {
        k[:2] for k in got}}, near)


def figures_of_calls(doc):
    """The call paths in JSON. Exports round their times to ns."""
    return [(process["name"], media.clean(path["path"]), {"calls": path["calls"], "net": path["net_ns"]})
            for process in doc["processes"] for path in process["paths"]]


def check_calls(t, file, what):
    same = Same(t, "calls", file)
    doc = same.report()
    rows = figures_of_calls(doc)
    want = media.sums(rows)
    positive = media.sums([(p, w, {v: max(n, 0) for v, n in of.items()}) for p, w, of in rows])
    functions = collections.Counter()
    for process in same.report("-f")["processes"]:
        for row in process["functions"]:
            functions["self", "calls", row["function"]] += row["calls"]
            functions["self", "net", row["function"]] += row["net_ns"]
    selves = {key: n for key, n in want.items() if key[0] == "self"}
    written = lambda key: 1e-3 + 1e-8 * abs(selves.get(key, 0))  # JSON has nine digits
    same.compare("JSON functions", functions, selves, written)
    paths = len(rows) + 1
    within = lambda key: 0 if key[1] == "calls" else paths
    got = collections.Counter()
    for name, calls, net in media.sql(t, same.file)("SELECT function, samples, weight_ns FROM by_function"):
        got["self", "calls", name] += calls
        got["self", "net", name] += net
    same.compare("sql views", got, selves, within)
    got = collections.Counter()
    for path, calls, net in media.sql(t, same.file)("SELECT path, calls, net_ns FROM calls"):
        got["self", "calls", path.split(";")[-1]] += calls
        got["self", "net", path.split(";")[-1]] += net
    same.compare("sql", got, selves, written)
    for medium, option, read in (("text", (), media.table_of_text),
                                 ("markdown", ("--markdown",), media.table_of_markdown)):
        text = t.assay("report", "-f", *option, "--percent-limit", "0", *same.file).out
        got = collections.Counter()
        for cells, name in read(text, "function"):
            if name != "total":
                got["self", "calls", name] += int(cells[0].replace(",", ""))
        same.compare(medium, got, {key: n for key, n in selves.items() if key[1] == "calls"})
    own = lambda figures: {key: n for key, n in figures.items() if key[0] in ("self", "process")}
    check_paths(same, own(want), "net", (), ("calls", "net"), within, own(positive))
    same.end(what)


CALLS = r"""
#include <pthread.h>
#include <unistd.h>
static volatile int sum;
__attribute__((noinline)) void leaf(void) { sum++; }
__attribute__((noinline)) void branch(void) { leaf(); leaf(); }
__attribute__((noinline)) void rounds(int n) { for (int i = 0; i < n; i++) branch(); }
__attribute__((noinline)) void *work(void *n) { rounds((int)(long)n); usleep(2000); return NULL; }
int main(int argc, char **argv)
{
	pthread_t t[3];
	int n = argc > 1 ? 3 : 0;
	for (long i = 0; i < n; i++) pthread_create(&t[i], NULL, work, (void *)(500 + i));
	work((void *)100);
	for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
	return 0;
}
"""


@test
def counted_calls_have_the_same_figures(t):
    counted = build_calls(t, source=CALLS)
    t.assay("calls", "-q", "-o", t.path("one.calls"), "--", counted)
    check_calls(t, t.path("one.calls"), "calls")
    t.assay("calls", "-q", "-o", t.path("threads.calls"), "--", counted, "threads")
    check_calls(t, t.path("threads.calls"), "calls of threads")


def check_tags(t, file, what, processes=None):
    same = Same(t, "calls", file)
    doc = same.report()
    want = collections.Counter()
    for row in doc["functions"]:
        want["self", "calls", row["function"]] += row["calls"]
        want["self", "net", row["function"]] += row["net_ns"]
    if processes:  # the function that switches processes has no row: its time is idle
        want["self", "calls", Recorder.SWITCH] = doc["switches"]
    want = +want
    within = lambda key: 0 if key[1] == "calls" else 2 + len(want) * 4
    got, by_process = collections.Counter(), collections.Counter()
    for name, process, calls, net in media.sql(t, same.file)(
            "SELECT f.name, p.name, c.calls, c.net_ns FROM calls c JOIN functions f ON f.id = c.function "
            "JOIN processes p ON p.id = c.process"):
        got["self", "calls", name] += calls
        got["self", "net", name] += net
        by_process["process", "net", process] += net
    same.compare("sql", +got, want, within)
    # The time in no call is a row of the table, and no path.
    rows = [row for row in same.report("--sort", "process")["rows"] if row["process"] != "(outside)"]
    of_process = collections.Counter()
    for row in rows:
        of_process["process", "net", row["process"]] += row["net_ns"]
    same.compare("JSON processes", of_process, by_process, within)
    if processes is not None:
        t.equal({row["process"] for row in rows}, processes, "names of processes")
    for medium, option, read in (("text", (), media.table_of_text),
                                 ("markdown", ("--markdown",), media.table_of_markdown)):
        cells_of = {name: cells for cells, name in read(
            t.assay("report", "--sort", "process", *option, *same.file).out, "process")}
        for row in rows:
            same.equal(medium, row["process"] in cells_of, True, f"row of {row['process']}")
    check_paths(same, {**want, **by_process}, "net", (), ("calls", "net"), within)
    chrome = media.sums(media.READERS["chrome"](t, same.file, []))
    t.path("page.html").unlink()
    t.assay("report", "--html", t.path("page.html"), *same.file)
    lanes = collections.Counter(name for _, _, calls in Page.of_file(t.path("page.html")).lanes()
                                for name, _, _, _, kind in calls if not kind)
    of_calls = {key: n for key, n in want.items() if key[1] == "calls"}
    same.compare("chrome", {k: n for k, n in chrome.items() if k[:2] == ("self", "calls")
                            and not k[2].startswith("(")}, of_calls)
    same.compare("page lanes", {("self", "calls", media.clean([name])[0]): n for name, n in lanes.items()}, of_calls)
    same.end(what)


@test
def event_tags_have_the_same_figures(t):
    tagged = build_tags(t)
    t.assay("tags", "-q", "-o", t.path("t.tags"), "--", tagged, "rounds=300", "threads=2", "fork")
    check_tags(t, t.path("t.tags"), "tags")


@test
def a_trace_of_a_kernel_has_the_names_of_its_processes(t):
    """A device recorded who continues at each switch; the first process has its name from its second
    turn, and the last one has none."""
    r = Recorder()
    events, clock = [], 0

    def put(*tags):
        nonlocal clock
        for tag in tags:
            clock += 7
            events.append((clock, tag))

    names = {name: r.tag(name) for name in ("read", "write", "poll")}
    swtch = r.tag(r.SWITCH)

    def turn(function, pid, to, name):
        put(names[function], names[function] + 1, swtch)
        note = pid.to_bytes(4, "little") + to.to_bytes(4, "little") + name.encode() + b"\0"
        events.extend((clock + 1, 0xfff100 | byte) for byte in note if name)
        put(swtch + 1)

    for _ in range(3):
        turn("read", 20, 21, "sh")
        turn("write", 21, 22, "ls")
        turn("poll", 22, 20, "init")
    r.truth.events = events

    class All:
        def __getattr__(self, name):
            return {"randrange": lambda a, b: b, "choice": lambda of: of[0]}[name]

    trace = write_ctf(t.path("k.tags"), r, All(), id_bits=32)
    check_tags(t, trace, "tags of a kernel", {"init", "sh", "ls"})


def check_profile(t, file, what, value, folded):
    same = Same(t, "profile", file)
    want = collections.Counter()
    for row in same.report("--children")["functions"]:
        name = media.clean([row["function"]])[0]
        want["self", value, name] += row["self"]
        want["total", value, name] += row["total"]
    want = +want
    got = collections.Counter()
    for name, weight in media.sql(t, same.file)("SELECT function, weight_ns FROM by_function"):
        got["self", value, media.clean([name])[0]] += weight
    same.compare("sql views", +got, {k: n for k, n in want.items() if k[0] == "self"})
    for medium, option, read in (("text", (), media.table_of_text),
                                 ("markdown", ("--markdown",), media.table_of_markdown)):
        shown = {name for _, name in read(t.assay(
            "report", "--sort", "function", "--percent-limit", "0", *option, *same.file).out, "function")}
        for key in want:
            same.equal(medium, key[2] in shown or key[0] == "total", True, f"row of {key[2]}")
    check_paths(same, want, value, (), (folded,))
    same.end(what)


FOLDED = "prog;main;work;leaf 30\nprog;main;work 12\nprog;main;idle 5\nother;main 2\n"
CALLGRIND = """# callgrind format
version: 1
events: Ir
fn=main
1 10
cfn=work
calls=2 1
1 300

fn=work
1 200
cfn=leaf
calls=4 1
1 100

fn=leaf
1 100
"""
CHROME = """[{"ph":"B","pid":1,"tid":2,"name":"main","ts":0},
{"ph":"B","pid":1,"tid":2,"name":"work","ts":10},{"ph":"E","pid":1,"tid":2,"ts":40},
{"ph":"B","pid":1,"tid":2,"name":"idle","ts":50},{"ph":"E","pid":1,"tid":2,"ts":55},
{"ph":"E","pid":1,"tid":2,"ts":100}]"""


@test
def profiles_of_other_tools_have_the_same_figures(t):
    p = Profile(("samples", "count"), ("cpu", "nanoseconds"))
    p.mapping(0x1000, 0x90000, "/bin/prog", "ab12")
    leaf, both, outer = (p.place(0x1100, ("leaf", 1)), p.place(0x1200, ("inner", 2), ("outer", 3)),
                         p.place(0x1300, ("main", 4)))
    p.sample([leaf, both, outer], [3, 30], process="prog", pid=7)
    p.sample([both, outer], [2, 20], process="prog", pid=7)
    p.sample([outer], [1, 10], process="prog", pid=8)
    check_profile(t, t.write("a.pb", p.bytes()), "pprof", "cpu", "cpu")
    for name, text, value in (("a.folded", FOLDED, "samples"), ("a.callgrind", CALLGRIND, "Ir"),
                              ("a.json", CHROME, "wall")):
        doc = t.report(t.write(name, text))
        check_profile(t, t.path(name), name.partition(".")[2], doc["event"], doc["event"])


main()
