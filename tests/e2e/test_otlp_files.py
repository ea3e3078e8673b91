# SPDX-License-Identifier: GPL-2.0-or-later
"""OTLP profiles as other programs write them: fields in any order, several messages with the size
before each (the collector's file exporter), samples with the former field numbers; and versions and
encodings that are not read.
"""
import collections
import json
import struct

from harness import main, test
from pprof_write import field, packed, varint

TEXTS = ["", "cpu", "nanoseconds", "main", "leaf", "thread.name", "samples", "count"]
MAIN, LEAF = 3, 4
SAMPLE_NOW = {"stack": 1, "attributes": 2, "link": 3, "values": 4, "times": 5}
SAMPLE_BEFORE = {"stack": 1, "values": 2, "attributes": 3, "link": 4, "times": 5}


def message(parts, last_first):
    """Parts: (number, bytes of a field), of one number in their order."""
    parts = sorted(parts, key=lambda part: -part[0] if last_first else part[0])
    return b"".join(data for _, data in parts)


class Writer:
    """ProfilesData whose messages have their fields in one order."""

    def __init__(self, last_first=False, dictionary_first=False, sample=SAMPLE_NOW):
        self.last_first, self.dictionary_first, self.numbers = last_first, dictionary_first, sample

    def of(self, *parts):
        """A message. A part: (number, number, text, message or a list of numbers)."""
        return message([(n, self.fixed(n, v) if isinstance(v, float) else
                         field(n, packed(v) if isinstance(v, tuple) else v)) for n, v in parts],
                       self.last_first)

    @staticmethod
    def fixed(number, value):
        return varint(number << 3 | 1) + struct.pack("<Q", int(value))

    def dictionary(self):
        functions = [b""] + [self.of((1, text)) for text in (MAIN, LEAF)]
        places = [b""] + [self.of((3, self.of((1, function)))) for function in (1, 2)]
        stacks = [b"", self.of((1, (2, 1))), self.of((1, (1,)))]  # main;leaf and main
        attributes = [b"", self.of((1, 5), (2, self.of((1, b"worker"))))]
        tables = {1: [b""], 2: places, 3: functions, 4: [b""], 5: [text.encode() for text in TEXTS],
                  6: attributes, 7: stacks}
        return self.of(*((n, entry) for n, table in tables.items() for entry in table))

    def profile(self, samples, kind, time_ns, duration_ns):
        body = [(1, self.of((1, kind), (2, kind + 1))), (3, float(time_ns)), (4, duration_ns)]
        for sample in samples:
            body.append((2, self.of(*((self.numbers[key], value) for key, value in sample.items()))))
        return self.of(*body)

    def data(self, resources, kind=1, time_ns=10**18, duration_ns=10**9):
        """`resources`: process to samples."""
        parts = []
        for process, samples in resources.items():
            key = self.of((1, b"process.executable.name"), (2, self.of((1, process.encode()))))
            profile = self.profile(samples, kind, time_ns, duration_ns)
            parts.append((1, self.of((1, self.of((1, key))), (2, self.of((2, profile))), (3, b"url"))))
        dictionary = field(2, self.dictionary())
        outer = b"".join(field(*part) for part in parts)
        return dictionary + outer if self.dictionary_first else outer + dictionary


SAMPLES = {"ape": [{"stack": 1, "attributes": (1,), "values": (700,)},
                   {"stack": 2, "attributes": (1,), "values": (30, 40)}],
           "bee": [{"stack": 1, "attributes": (1,), "values": (5,)}]}
PATHS = {"ape;main;leaf": 700, "ape;main": 70, "bee;main;leaf": 5}
TIMES = {"ape": [{"stack": 1, "attributes": (1,), "times": struct.pack("<3Q", 1, 2, 3)}]}


def by_path(t, file):
    found = collections.Counter()
    for line in t.assay("export", "--to", "folded", file).out.splitlines():
        path, value = line.rsplit(" ", 1)
        found[path] += int(value)
    return dict(found)


@test
def fields_come_in_any_order_and_samples_with_former_numbers(t):
    for last_first in (False, True):
        for dictionary_first in (False, True):
            for sample in (SAMPLE_NOW, SAMPLE_BEFORE):
                file = t.write("x.otlp", Writer(last_first, dictionary_first, sample).data(SAMPLES))
                what = f"last first {last_first}, dictionary first {dictionary_first}, {sample}"
                report = t.report(file)
                t.equal([(v["name"], v["total"]) for v in report["values"]], [("cpu", 775)], what)
                t.equal(by_path(t, file), PATHS, what)


@test
def former_numbers_are_known_without_attributes_and_by_times(t):
    bare = {"ape": [{"stack": 1, "values": (700,)}]}
    file = t.write("a.otlp", Writer(sample=SAMPLE_BEFORE).data(bare))
    t.equal(by_path(t, file), {"ape;main;leaf": 700})
    for sample in (SAMPLE_NOW, SAMPLE_BEFORE):
        file = t.write("b.otlp", Writer(sample=sample).data(TIMES, kind=6))
        t.equal(by_path(t, file), {"ape;main;leaf": 3}, sample)


@test
def a_number_is_a_link_or_an_attribute_only_if_there_is_one(t):
    # Values one by one have the form of the former link; the table has one link, that of none.
    alone = {"ape": [{"stack": 1, "attributes": (1,), "values": 700}, {"stack": 2, "values": 70}]}
    file = t.write("a.otlp", Writer().data(alone))
    t.equal(by_path(t, file), {"ape;main;leaf": 700, "ape;main": 70})
    # A former value with times; there are two attributes.
    timed = {"ape": [{"stack": 1, "values": (700,), "times": struct.pack("<3Q", 1, 2, 3)},
                     {"stack": 2, "values": (2,), "times": struct.pack("<1Q", 1)}]}
    file = t.write("b.otlp", Writer(sample=SAMPLE_BEFORE).data(timed))
    t.equal(by_path(t, file), {"ape;main;leaf": 700, "ape;main": 2})


@test
def messages_with_their_sizes_are_added_up(t):
    def sized(data):
        return struct.pack(">I", len(data)) + data

    one = Writer(True, True, SAMPLE_BEFORE).data(SAMPLES)
    two = Writer().data({"bee": SAMPLES["bee"]}, time_ns=10**18 + 5 * 10**9)
    file = t.write("x.bin", sized(one) + sized(two))
    t.equal(by_path(t, file), PATHS | {"bee;main;leaf": 10})
    report = t.report(file)
    t.equal((report["time_ns"], report["duration_ns"]), (10**18, 6 * 10**9), "from first to last")
    file = t.write("cut.bin", sized(one) + sized(two)[:-7])
    t.equal(by_path(t, file), PATHS, "a message that is cut is not read")
    t.has(t.assay("report", file).out + t.assay("report", file).err,
          f"the last message is cut: its {len(two) - 3} bytes are not read")
    file = t.write("first.bin", sized(one)[:-7])
    t.has(t.assay("report", file, status=1).err, "first.bin is cut: it ends within its first message")
    file = t.write("bad.bin", sized(one) + sized(b"\x0a\x7f\0"))
    t.has(t.assay("report", file, status=1).err, f"bad.bin is damaged at byte {len(one) + 8}")


@test
def the_wanted_values_are_read_also_behind_others(t):
    data = b""
    for kind in (1, 3, 4, 5, 6):  # cpu, main, leaf, thread.name, samples
        one = Writer().data({"ape": [{"stack": 1, "values": (kind,)}]}, kind=kind)
        data += struct.pack(">I", len(one)) + one
    file = t.write("x.bin", data)
    for kind, event in ((1, "cpu"), (6, "samples")):
        t.equal(t.report("--event", event, file)["books"]["total"], kind, event)
    t.has(t.assay("report", file).err, "profiles of 4 types of values are read; 1 more is omitted")


@test
def versions_and_encodings_that_are_not_read_are_named(t):
    w = Writer()
    old = w.of((1, w.of((1, 1), (2, 2))), (2, w.of((1, 0), (2, 2), (3, (700,)))), (3, (1, 2)))
    text = json.dumps({"resourceProfiles": [], "dictionary": {"stringTable": [""]}})
    for name, content, said, way in (
            ("old.otlp", field(1, w.of((2, w.of((2, old))))) + field(2, w.dictionary()),
             "old.otlp is an OTLP profile of a version that has no table of stacks", "newer version"),
            ("x.json", text, "x.json is OTLP profiles as JSON", "format: proto")):
        for words in (("report",), ("export", "--to", "folded")):
            said_text = t.assay(*words, t.write(name, content), status=1).err
            t.has(said_text, said)
            t.has(said_text, way)


main()
