#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_querier_corpus.py DIRECTORY: inputs for fuzz_querier, requests by hand."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from pprof_write import field, varint as number  # noqa: E402

TYPE = b"process_cpu:cpu:nanoseconds:cpu:nanoseconds"
START, END = 1700000000000, 1700003600000
JSON = 0x80
TYPES, NAMES, VALUES, SERIES, SELECT, STACKS, PROFILE, DIFF = range(8)


def message(*fields):
    return b"".join(field(*f) for f in fields)


def real(key, value):
    return number(key << 3 | 1) + struct.pack("<d", value)


def selection(selector=b'{service_name="web.service"}'):
    return [(1, TYPE), (2, selector), (3, START), (4, END)]


def selector(text):
    return bytes([STACKS]) + message(*selection(text))


INPUTS = {
    "empty": bytes([TYPES]),
    "types": bytes([TYPES]) + message((1, START), (2, END)),
    "names": bytes([NAMES]) + message((1, b"{}"), (2, START), (3, END)),
    "values": bytes([VALUES]) + message((1, b"host"), (2, b'{host=~"web.*"}'), (3, START), (4, END)),
    "series": bytes([SERIES]) + message((1, b"{}"), (1, b""), (2, b"host"), (3, START), (4, END)),
    "select": bytes([SELECT]) + message(*selection(), (5, b"host"), (5, b"service_name")) + real(6, 15.0)
    + message((9, 10)),
    "step_nan": bytes([SELECT]) + real(6, float("nan")),
    "stacks": bytes([STACKS]) + message(*selection(), (5, 16384), (6, 1)),
    "stacks_spans": bytes([STACKS]) + message(*selection(), (11, b"9a517183f26a089d")),
    "profile": bytes([PROFILE]) + message(*selection()),
    "diff": bytes([DIFF]) + message((1, selection()), (2, selection(b"{}"))),
    "diff_nested": bytes([DIFF]) + message((1, [(1, [(1, selection())])])),
    "unknown_fields": bytes([STACKS]) + message((99, b"x"), (98, 7)) + real(97, 1.0),
    "wrong_types": bytes([STACKS]) + message((1, 7), (3, b"x")),
    "negative": bytes([STACKS]) + message((3, -1)),
    "backwards": bytes([STACKS]) + message((3, END), (4, START)),
    "truncated": bytes([STACKS]) + message(*selection())[:-3],
    "nul": bytes([STACKS]) + message((1, b"a\0b")),
    "long": bytes([STACKS]) + message((2, b"{" + b"a" * 9000)),
    "many": bytes([NAMES]) + message((1, b"{}")) * 65,
    "json_types": bytes([JSON | TYPES]) + b"{}",
    "json_select": bytes([JSON | SELECT]) + b'{"profileTypeID": "a", "labelSelector": "{}", "start": "1", "end": 2,'
    b' "groupBy": ["host"], "step": 15, "limit": null, "other": [{"a": 1}]}',
    "json_names": bytes([JSON | STACKS]) + b'{"profile_typeID": "a", "label_selector": "{a=\\"b\\"}", "max_nodes": 5}',
    "json_format": bytes([JSON | STACKS]) + b'{"format": "PROFILE_FORMAT_FLAMEGRAPH", "profileIdSelector": []}',
    "json_diff": bytes([JSON | DIFF]) + b'{"left": {"start": 1}, "right": {"end": "5", "spanSelector": ["a"]}}',
    "json_more": bytes([JSON | TYPES]) + b"{} {}",
    "json_deep": bytes([JSON | TYPES]) + b'{"a": ' + b"[" * 600,
    "json_number": bytes([JSON | STACKS]) + b'{"start": 1e300}',
    "json_cut": bytes([JSON | STACKS]) + b'{"profileTypeID": "a',
    "selector_all": selector(b'{a="1", b!="2", c=~"3|4", d!~"5"}'),
    "selector_blanks": selector(b' { a = "1" , } '),
    "selector_escapes": selector(b'{a="\\\\ \\" \\n \\t"}'),
    "selector_escape": selector(b'{a="\\x41"}'),
    "selector_open": selector(b'{a="1"'),
    "selector_quote": selector(b'{a="1}'),
    "selector_name": selector(b'{1a="1"}'),
    "selector_more": selector(b'{a="1"} or 1'),
    "selector_counts": selector(b'{a=~"((a{1,255}){1,255}){1,255}"}'),
    "selector_reference": selector(b'{a=~"(.*)\\\\1"}'),
    "selector_pattern": selector(b'{host=~"web[0-9]+\\\\.example\\\\.(com|org)"}'),
    "selector_group": selector(b'{a=~"a)|(b"}'),
    "selector_many": selector(b"{" + b'a="b",' * 40 + b"}"),
    "selector_sql": selector(b"{service_name=\"a'); DROP TABLE samples; --\"}"),
}


def main():
    for name, content in INPUTS.items():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(content)


if __name__ == "__main__":
    main()
