#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_tag_rings_corpus.py DIRECTORY: files of event tags, whole and broken, for fuzz_tag_rings."""
import pathlib
import struct
import sys

PAGE, RING, PACKET, COUNT = 4096, 128, 1024, 4
RINGS, STATES = PAGE, PAGE + 2 * RING
TEXT, PACKETS = STATES + 16, STATES + 16 + 48
VOID = 0xfffffe
NAMES = b"main/2\nleaf/4\n"

# Places in the header, by name.
AT = {"version": 8, "header_bytes": 12, "mode": 16, "capture": 20, "off": 24, "on": 32,
      "packet_bytes": 44, "rings": 48, "states": 56, "text": 64, "place": 72, "count": 80,
      "ring_count": 96, "text_bytes": 104}
WIDE = {"off", "on", "rings", "states", "text", "place", "count", "ring_count", "text_bytes"}


def packet(sequence, begin, words, ring=0, **other):
    fields = {"magic": 0xC1FC1FC1, "bits": (128 + 8 * len(words)) * 8, "tid": 7, **other}
    head = struct.pack("<IIQQQQQQiiII16s16sQQQ", fields["magic"], 0, begin, begin + len(words),
                       fields["bits"], PACKET * 8, 0, sequence, 7, fields["tid"], 0, 0, b"t", b"p",
                       ring, 0, 0)
    body = b"".join(struct.pack("<Q", word) for word in words)
    return (head + body).ljust(PACKET, b"\0")


def words(begin, count, tag=2):
    return [(begin + i) << 24 & (1 << 64) - 1 | tag for i in range(count)]


def whole(kept=(2, 1, 2, 0), packets=None, size=None, **fields):
    values = {"version": 1, "header_bytes": PAGE, "mode": 3, "capture": 1, "off": 0, "on": 0,
              "packet_bytes": PACKET, "rings": RINGS, "states": STATES, "text": TEXT,
              "place": PACKETS, "count": COUNT, "ring_count": 2, "text_bytes": len(NAMES),
              **fields}
    file = bytearray(PACKETS + COUNT * PACKET)
    file[0:8] = b"ASAYTAGS"
    for name, value in values.items():
        struct.pack_into("<Q" if name in WIDE else "<I", file, AT[name], value)
    struct.pack_into("<i", file, RINGS, 7)
    struct.pack_into("<4I", file, STATES, *kept)
    file[TEXT:TEXT + len(NAMES)] = NAMES
    if packets is None:
        packets = [packet(0, 100, words(100, 5)), packet(1, 200, words(200, 3), bits=0),
                   packet(0, 150, [words(150, 1)[0], 0, 151 << 24 | VOID, 152 << 24 | 3], ring=1)]
    for i, p in enumerate(packets):
        file[PACKETS + i * PACKET:PACKETS + (i + 1) * PACKET] = p
    return bytes(file[:size])


FILES = {
    "whole": whole(),
    "empty": b"",
    "header": whole(size=PAGE),
    "cut": whole(size=PACKETS + 300),
    "off": whole(off=102, on=104),
    "off_for_good": whole(off=102),
    "states_in_header": whole(kept=(2, 2, 2, 2), states=0),
    "states_in_packets": whole(states=PACKETS),
    "packets_in_header": whole(place=0),
    "packets_behind": whole(place=1 << 40),
    "rings_everywhere": whole(ring_count=16384),
    "many_packets": whole(count=1 << 40),
    "text_behind": whole(text=1 << 40, text_bytes=1 << 20),
    "all_words": whole(packets=[packet(0, 100, words(100, 112))]),
    "backwards": whole(packets=[packet(0, 100, [5 << 24 | 2, 4 << 24 | 2, 3 << 24 | 3])]),
    "late": whole(packets=[packet(0, 1 << 63, words(1, 2))]),
    "same_sequence": whole(packets=[packet(0, 100, words(100, 2)), packet(0, 100, words(100, 2)),
                                    packet(0, 100, words(100, 2))], kept=(2, 2, 2, 2)),
    "bits": whole(packets=[packet(0, 100, words(100, 2), bits=1 << 62)]),
    "bad_ring": whole(packets=[packet(0, 100, words(100, 2), ring=1 << 33)]),
}

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, content in FILES.items():
    (out / name).write_bytes(content)
