# SPDX-License-Identifier: GPL-2.0-or-later
"""distinct: reads figures from each medium, and compares them with a recording's truth by a declared table.

    FIGURES = (("idle of a CPU", "json report ledger.per_cpu cpu idle_ns", "sql ledger cpu idle_ns"), ...)
    compare(FIGURES, truth, Media(t, [file, "--kallsyms", map]).read)

`truth`: the name of a figure to {key: value}; the key of a figure without rows is "". A place is a
medium and words, as in a shell:

    json COMMAND PATH KEY COLUMN   rows of a document by their keys (A/B: two columns); KEY -: no rows
    sql TABLE KEY COLUMN           the same of `assay sql`; QUERIES has tables that need a join
    text COMMAND HEAD KEY COLUMN   the table whose head begins with HEAD; KEY "": the text before the head's
                                   words, $: the last cell; a further word is the unit of all cells
                                   the same table in Markdown must have the figure too
    line COMMAND PATTERN           the group of a regular expression in the text
    tags NUMBER UNIT               columns of the table of event tags
    page KEY_OF_TABLE KEY COLUMN   tables of the document in the page of the report
    FORMAT WHAT VALUE              sums of an export (media.sums): self cpu; json-paths is the export to JSON,
                                   page-stacks the call paths of the page
    callgrind VALUE                its own values of functions, and their calls
    metrics NAME LABEL             of a session: distinct_session.py; seconds become ns
    otlp-pid                       the pids of processes

Numbers are equal; a text has them to its last digit, a truth that is a float to 6 digits. `~PERCENT`
after the name of a figure is its tolerance. Rows that are 0 may be missing.
"""
import collections
import json
import re
import shlex

import media
from harness import Failure, nested
from otlp_read import Otlp
from page_data import Page

# Tables that need a join: thread ids in place of rows.
WAITS = "SELECT w.*, t.tid FROM waits w JOIN threads t ON t.id = w.thread WHERE NOT since_start"
QUERIES = {
    "waits, since the start not": WAITS,
    "longest waits": f"SELECT tid, max(max_ns) AS max_ns FROM ({WAITS}) GROUP BY tid",
    "wait_graph": """SELECT g.*, t.tid AS tid, k.tid AS waker_tid FROM wait_graph g
                     JOIN threads t ON t.id = g.thread JOIN threads k ON k.id = g.waker""",
    "calls of functions": "SELECT f.name, c.* FROM calls c JOIN functions f ON f.id = c.function WHERE c.depth > 0",
    "wakings": "SELECT k.*, t.tid FROM wakings k LEFT JOIN threads t ON t.id = k.waker",
}
NUMBER = r"-?[\d,]+(?:\.(\d+))?"
UNITS = {"": 1, "%": 0.01, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1e3, "MB": 1e6}
FACTORS = (1, 2, 10, 100, 1000, 1e6, 1e9)


class Shown:
    """A number of a text: what it stands for, and half of its last digit."""

    def __init__(self, text):
        found = re.fullmatch(rf"({NUMBER}) ?({'|'.join(filter(None, UNITS))})?", text)
        if not found:
            raise ValueError(f"no number: {text!r}")
        unit = UNITS[found[3] or ""]
        self.value, self.text = float(found[1].replace(",", "")) * unit, text
        self.near = 0.5001 * unit * 10 ** -len(found[2] or "") if found[2] or unit != 1 else 0

    def __repr__(self):
        return self.text


class Media:
    """words: files and options of all commands; a store is a file for `assay sql`."""

    def __init__(self, t, words, figures):
        self.t, self.words, self.cache = t, [str(word) for word in words], {}
        places = [shlex.split(place) for _, *places in figures for place in places]
        self.tables = list(dict.fromkeys(words[1] for words in places if words[0] == "sql"))

    def kept(self, *key, make):
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    def read(self, place):
        medium, *words = shlex.split(place)
        reader = getattr(self, f"read_{medium}".replace("-", "_"), None)
        return reader(*words) if reader else self.read_export(medium, *words)

    # ---- documents -----------------------------------------------------------

    def document(self, command):
        return self.kept("json", command, make=lambda: nested(self.t.json(self.t.assay(
            *command.split("+"), "--json", *self.words).out)))

    def read_json(self, command, path, key, column):
        found = self.document(command)
        for step in path.split(".") if path != "-" else ():
            found = found[int(step)] if step.isdigit() else found[step]
        return rows_of(found, key, column)

    def text(self, command):
        return self.kept("text", command, make=lambda: self.t.assay(*command.split("+"), *self.words).out)

    def read_text(self, command, head, key, column, unit=""):
        return shown_in(grid(self.text(command), head.split()), key, column, unit)

    def read_markdown(self, command, head, key, column, unit=""):
        return shown_in(markdown_grid(self.text(f"{command}+--markdown"), head.split()), key, column, unit)

    def read_tags(self, number, unit=""):
        """A column of the classic table of event tags."""
        row = r"^ *(\d+) +(\d+) +(\d+) +\((\d+)/(\d+)/(\d+)\) +(\S+) +(\S+) +(\S+)$"
        return {found[8]: Shown(f"{found[int(number)]} {unit}".strip())
                for found in re.findall(row, self.text("report+-f"), re.M)}

    def read_line(self, command, pattern):
        found = re.search(pattern, re.sub(r"\n +", " ", self.text(command)))
        if not found:
            raise Failure(f"{command}: no line with {pattern}")
        return {"": Shown(found[1])}

    def page(self):
        def make():
            self.t.assay("report", "--html", self.t.path("distinct.html"), *self.words)
            return Page.of_file(self.t.path("distinct.html"))
        return self.kept("page", make=make)

    def read_page(self, section, key, column):
        found = collections.Counter()
        for table in self.page().sections(section)[:1]:
            keys = zip(*(map(str.strip, self.page().column(table, name)[0]) for name in key.split("/")))
            texts, numbers = self.page().column(table, column)
            for k, text, number in zip(keys, texts, numbers or [None] * len(texts)):
                if text:
                    found["/".join(k)] = Shown(text) if number is None else number
        return found

    # ---- SQL ------------------------------------------------------------------

    def rows(self, table):
        return self.kept("sql", make=self.all_rows)[table]

    def all_rows(self):
        """By one command: a query takes as long as a report."""
        text = self.t.assay("sql", "--format", "json", *(word for word in self.words if word != "--store"),
                            ";".join(QUERIES.get(table, f"SELECT * FROM {table}") for table in self.tables)).out
        found, at, decoder = [], 0, json.JSONDecoder()
        while text[at:].strip():
            rows, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
            found.append(rows)
        return dict(zip(self.tables, found))

    def read_sql(self, table, key, column):
        rows = self.rows(table)
        return rows_of(rows[0] if key == "-" else rows, key, column)

    # ---- exports -----------------------------------------------------------------

    def read_export(self, form, what, value):
        form, _, more = form.partition("+")
        form = {"json-paths": "json", "page-stacks": "page"}.get(form, form)
        sums = self.kept(form, more, make=lambda: media.sums(
            media.READERS[form](self.t, self.words, [], *([more] if more else []))))
        return {name: number for (w, v, name), number in sums.items() if (w, v) == (what, value)}

    def read_callgrind(self, value):
        own, others = self.kept("callgrind", make=lambda: media.from_callgrind(self.t, self.words, []))
        return {name: values[value] for name, values in (others if value == "calls" else own).items()}

    def read_otlp_pid(self):
        found = {}
        for profile in Otlp(media.export(self.t, "otlp", self.words, [], text=False)).profiles:
            for _, _, keys in profile.samples:
                found[keys.get("process.executable.name", "")] = keys["process.pid"]
        return found


def rows_of(found, key, column):
    """Values of a column by the keys of rows; rows with one key are added up, and the numbers of a list."""
    if key == "-":
        return {"": number_of(part_of(found, column))}
    sums = {}
    for row in found:
        name = "/".join("" if row[name] is None else str(row[name]) for name in key.split("/"))
        value = part_of(row, column)
        if value is not None:
            sums[name] = sums.get(name, 0) + number_of(value)
    return sums


def part_of(row, column):
    """Of objects in objects: A.B."""
    for name in column.split("."):
        row = row[name]
    return row


def number_of(value):
    return sum(value) if isinstance(value, list) else value


def grid(text, head):
    """The rows of the table whose head begins with these words: {column: cell}; "" is what is before them."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if line.split()[:len(head)] == head), None)
    if at is None:
        raise Failure(f"no table with the head {head}")
    columns = [(m.start(), m.end(), m[0]) for m in re.finditer(r"\S+(?: \S+)*", lines[at])]
    for line in lines[at + 1:]:
        if not line.strip():
            return
        row = {"": line[:columns[0][0]].strip()}
        for m in re.finditer(r"\S+(?: \S+)*", line):
            for start, end, name in columns:
                if m.end() == end or m.start() == start:
                    row[name] = m[0]
        if lines[at][0] == " ":  # the first column has no head
            row[""] = re.split(r"\s{2,}", line.strip())[0]
        row["$"] = re.split(r"\s{2,}", line.strip())[-1]
        yield row


def markdown_grid(text, head):
    """The same of a table in Markdown."""
    columns = None
    for line in text.splitlines():
        if not line.startswith("|"):
            if columns:
                return
            continue
        cells = re.sub(r"&nbsp;|\\(?=[^|])", "", line[1:])
        cells = [re.split(r"\s{2,}", cell.strip())[0] for cell in re.split(r" (?<!\\)\|(?: |$)", cells)][:-1]
        if not columns:
            columns = cells if " ".join(cells).split()[:len(head)] == head else None
        elif not re.fullmatch(r"[|: -]+", line):
            yield {**dict(zip(columns, cells)), "$": next(filter(None, reversed(cells)), "")}
    if columns is None:
        raise Failure(f"no table in Markdown with the head {head}")


def shown_in(rows, key, column, unit):
    found = {}
    for row in rows:
        if column in row and row[column]:
            found["/".join(row.get(name, "") for name in key.split("/"))] = Shown(f"{row[column]} {unit}".strip())
    return found


def differs(got, want, part):
    near = abs(want) * part
    if isinstance(got, Shown):
        near, got = near + got.near + 1e-9 * abs(got.value), got.value
    elif isinstance(want, float) or isinstance(got, float):
        near += 5e-7 * abs(want) + (1.5 if abs(want) > 1000 else 0)
    return abs(got - want) > near


def compare(figures, truth, read, without=()):
    """Reads all places of all figures, and fails with the names of the figures that differ. `without`:
    patterns of "figure: place" that this recording does not have, and why."""
    wrong, count, used = [], 0, set()
    for figure, *places in figures:
        figure, _, percent = figure.partition(" ~")
        if figure not in truth:
            wrong.append(f"{figure}: the truth does not have it")
            continue
        want = {str(key): value for key, value in truth[figure].items()}
        absent = {place: {pattern for pattern in without if re.fullmatch(pattern, f"{figure}: {place}")}
                  for place in places}
        used.update(*absent.values())
        places = [place for place in places if not absent[place]]
        in_markdown = ["markdown" + place[4:] for place in places if re.match(r"text (?!status )", place)]
        for place in [*places, *in_markdown]:
            try:
                got = read(place)
                if place.startswith("metrics ") and "_seconds" in place:
                    got = {key: value * 1e9 for key, value in got.items()}
            except (KeyError, IndexError, StopIteration, TypeError, ValueError, AssertionError, Failure) as error:
                wrong.append(f"{figure}: {place} cannot be read: {error!r}")
                continue
            got = {key: value for key, value in got.items() if value is not None}
            for key, value in want.items():
                count += 1
                if value and key not in got:
                    wrong.append(f"{figure}: {place} lacks {key!r}, which is {value}")
                elif key in got and differs(got[key], value, float(percent or 0) / 100):
                    wrong.append(f"{figure}: {place} has {got[key]} for {key!r}, not {value}")
            if place.startswith("page "):  # with the rows of sums
                continue
            wrong += [f"{figure}: {place} has {value} for {key!r}, which should not be there"
                      for key, value in got.items() if key not in want and value and not isinstance(value, Shown)]
    wrong += [f"no place is {pattern}" for pattern in set(without) - used]
    print(f"# {count} figures", flush=True)
    if wrong:
        raise Failure("\n".join(wrong[:80]))


def leaves(value, path=""):
    """The paths of all numbers of a document, without the places in arrays."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def check_complete(figures, read, elsewhere=(), partial=()):
    """Each number of the documents and each number of the tables of SQL that the places read is in a place, or
    in `elsewhere`: {its path: why it is not here}. `partial`: commands of which a few numbers are read."""
    named, documents, tables = set(), set(), set()
    for _, *places in figures:
        for medium, *words in map(shlex.split, places):
            if medium == "json":
                command, path, key, column = words
                documents.add(command)
                path = re.sub(r"\.\d+\b", "", path.replace("-", ""))
                named |= {f"json {command} {path}.{name}".replace(" .", " ") for name in (column, *key.split("/"))}
            elif medium == "sql":
                table, key, column = words
                tables.add(table)
                named |= {f"sql {table} {name}" for name in (column, *key.split("/"))}
    wanted = {f"json {command} {path}" for command in documents - {*partial}
              for path in leaves(read.document(command))}
    for table in tables - set(QUERIES):
        wanted |= {f"sql {table} {name}" for row in read.rows(table) for name, value in row.items()
                   if isinstance(value, (int, float)) and value}
    missing = sorted(path for path in wanted - named
                     if not any(re.fullmatch(pattern, path) for pattern in elsewhere))
    unused = sorted(pattern for pattern in elsewhere if not any(re.fullmatch(pattern, path) for path in wanted))
    if missing or unused:
        raise Failure("\n".join([f"in no place of the table: {path}" for path in missing]
                                + [f"is in no document: {pattern}" for pattern in unused]))


def intervals(value, path=""):
    """The intervals of a document: (path, low, share, high)."""
    if isinstance(value, dict):
        middle = value.get("share", value.get("slowdown"))
        if value.get("low") is not None and middle is not None:
            yield path, value["low"], middle, value["high"]
        for key, part in value.items():
            yield from intervals(part, f"{path}.{key}")
    elif isinstance(value, list):
        for part in value:
            yield from intervals(part, path)


def check_intervals(document):
    found = list(intervals(document))
    wrong = [f"{path}: {middle} is not between {low} and {high}" for path, low, middle, high in found
             if not low <= middle <= high or low == high]
    if wrong or not found:
        raise Failure("\n".join(wrong) or "no intervals")


def check_distinct(figures, truth, related=()):
    """No figure is another one, or a simple multiple of it: an exchange would not be seen. `related`: those
    that are 0 or a multiple by their meaning."""
    plain, wrong = {}, []
    for figure, *_ in figures:
        figure = figure.partition(" ~")[0]
        values = sorted((str(key), float(value)) for key, value in truth.get(figure, {}).items() if value)
        if figure in related:
            continue
        if not values:
            wrong.append(f"{figure} is 0")
        plain[figure] = values
    for factor in FACTORS:
        scaled = {}
        for figure, values in plain.items():
            scaled.setdefault(tuple((key, value * factor) for key, value in values), []).append(figure)
        for figure, values in plain.items():
            wrong += [f"{figure} is {factor} x {other}" for other in scaled.get(tuple(values), ())
                      if other != figure]
    if wrong:
        raise Failure("\n".join(wrong))
