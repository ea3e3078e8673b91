# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the data of a page of `assay report --html`: docs/FORMAT.md describes it."""

import array
import base64
import json
import math
import re
import struct
import zlib

MAGIC = b"assaypg1"
TYPES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f64": "d"}
ELEMENT = re.compile(rb'<script type="application/octet-stream" id="assay-data" '
                     rb'data-format="1">([A-Za-z0-9+/=]*)</script>')


def blob_of(html):
    """The inflated data of a complete page."""
    found = ELEMENT.findall(html)
    if len(found) != 1:
        raise ValueError("%d elements with data" % len(found))
    return zlib.decompress(base64.b64decode(found[0], validate=True))


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            values.append(value)
            value = shift = 0
    return values


class Page:
    def __init__(self, blob):
        if blob[:8] != MAGIC:
            raise ValueError("no data of a page")
        size, zero = struct.unpack_from("<II", blob, 8)
        if zero:
            raise ValueError("bytes 12 to 15 are not 0")
        self.blob = blob
        self.head = json.loads(blob[16:16 + size].decode("utf-8"))
        self.base = (16 + size + 7) // 8 * 8

    @classmethod
    def of_file(cls, path):
        with open(path, "rb") as file:
            return cls(blob_of(file.read()))

    def array(self, ref):
        """The items of a reference; of varints the numbers."""
        if ref["at"] % 8:
            raise ValueError("an array is not aligned")
        at = self.base + ref["at"]
        if ref["type"] == "varint":
            return varints(self.blob[at:at + ref["count"]])
        items = array.array(TYPES[ref["type"]])
        items.frombytes(self.blob[at:at + ref["count"] * items.itemsize])
        if len(items) != ref["count"]:
            raise ValueError("an array ends after the data")
        return items

    def texts(self, ref):
        offsets = self.array(ref["offsets"])
        data = self.array(ref["bytes"]).tobytes()
        return [data[a:b].decode("utf-8") for a, b in zip(offsets, offsets[1:])]

    def sections(self, key=None, document=None):
        document = document or self.head["document"]
        return [s for s in document["sections"] if key is None or s["key"] == key]

    def column(self, table, name):
        """(texts, numbers) of a column of a table or tree; numbers may be None."""
        for column, cells in zip(table["columns"], table["cells"]):
            if column["name"] == name:
                value = cells["value"]
                return self.texts(cells["text"]), value and self.array(value)
        raise KeyError(name)

    def lanes(self):
        """(process, thread, [(name, begin ns, length ns, depth, kind)]) of each lane; None: none."""
        head = self.head["lanes"]
        if not head:
            return None
        names, columns = self.texts(head["names"]), {}
        for key in ("begin", "length", "name", "depth", "kind"):
            columns[key] = list(self.array(head[key]))
            if len(columns[key]) != head["count"]:
                raise ValueError(f"{len(columns[key])} items of {key}")
        lanes, at = [], 0
        for process, thread, count in zip(self.texts(head["process"]), self.texts(head["thread"]),
                                          self.array(head["spans"])):
            calls, now = [], 0
            for i in range(at, at + count):
                now += columns["begin"][i]
                calls.append((names[columns["name"][i]], now, columns["length"][i],
                              columns["depth"][i], columns["kind"][i]))
            lanes.append((process, thread, calls))
            at += count
        return lanes

    def stacks(self, key="stacks"):
        return Stacks(self, self.head[key]) if self.head[key] else None


class Stacks:
    """The call paths of a page."""

    def __init__(self, page, head):
        self.head = head
        self.names = page.texts(head["texts"])
        for part in ("images", "functions", "nodes", "owners"):
            setattr(self, part, {k: page.array(v) for k, v in head[part].items()})
        rows = head["rows"]
        self.node, self.owner = page.array(rows["node"]), page.array(rows["owner"])
        self.values = [page.array(ref) for ref in rows["values"]]
        self.calls = head["calls"] and {k: page.array(v) for k, v in head["calls"].items()}
        self.times = head["times"]
        if self.times:
            self.entries = list(self.read_entries(page))

    def read_entries(self, page):
        """(ns since begin_ns, row, cpu or None, samples, weight) of each entry."""
        t = self.times
        columns = {k: page.array(t[k]) for k in ("time", "row", "cpu", "samples", "weight")}
        weights, tick = iter(columns["weight"]), 0
        for time, row, cpu, samples in zip(columns["time"], columns["row"], columns["cpu"],
                                           columns["samples"]):
            tick += time
            weight = next(weights) if samples & 1 else (samples >> 1) * t["period_ns"]
            yield tick * t["step_ns"], row, cpu - 1 if cpu else None, samples >> 1, weight
        if len(columns["time"]) != t["count"] or next(weights, None) is not None:
            raise ValueError("the columns of the entries differ in length")

    def value(self, name):
        """The column of rows with this value."""
        return self.values[[v["name"] for v in self.head["values"]].index(name)]

    def total(self, name):
        return math.fsum(self.value(name))

    def function(self, node):
        return self.names[self.functions["name"][self.nodes["function"][node]]]

    def path(self, node):
        """The names from the outermost function to the node."""
        names = []
        while node:
            names.append(self.function(node))
            node = self.nodes["parent"][node]
        return tuple(reversed(names))
