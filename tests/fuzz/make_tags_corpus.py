#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_tags_corpus.py DIRECTORY: names files, CTF traces and dumps, whole and damaged,
into DIRECTORY/names_file, DIRECTORY/ctf and DIRECTORY/tag_dump."""
import pathlib
import struct
import sys

OURS = b"""/* CTF 1.8 */
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text;
trace { major = 1; minor = 8; byte_order = le;
\tpacket.header := struct { u32 magic; u32 stream_id; }; };
env { tracer_name = "assay"; command = "a \\"b\\" \\303\\251"; switches = 1; };
clock { name = ticks; freq = 2595126000; offset_s = 1700000000; offset = 99; };
typealias integer { size = 40; align = 8; map = clock.ticks.value; } := time40;
typealias integer { size = 64; align = 8; map = clock.ticks.value; } := time64;
stream /*assay device*/ { id = 0; packet.context := struct {
\ttime64 timestamp_begin; time64 timestamp_end; u64 content_size; u64 packet_size;
\tu64 events_discarded; u64 packet_seq_num; u32 pid; u32 tid; u64 flags;
\ttext thread[16]; text process[40]; };
\tevent.header := struct { integer { size = 24; align = 8; } id; time40 timestamp; }; };
event { id = 502; stream_id = 0; name = "main"; };
event { id = 503; stream_id = 0; name = "main:exit"; };
event /*assay !*/ { id = 600; stream_id = 0; name = "swtch"; };
event { id = 601; stream_id = 0; name = "swtch:exit"; };
event /*assay =*/ { id = 702; stream_id = 0; name = "pl\\141ce"; };
event /*assay ?*/ { id = 900; stream_id = 0; name = "tag_900"; };
event /*assay s*/ { id = 16777204; stream_id = 0; name = "sched_switched_in"; };
/*assay names 0
other/1000
spot/1002=
*/"""

PLAIN = b"""/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000000; };
stream { event.header := struct { integer { size = %d; align = %d; } id;
\tinteger { size = %d; align = %d; map = clock.c.value; } timestamp; }; };
event { name = "main"; id = 500; }; event { name = "main:exit"; id = 501; };"""

BIG = b"""/* CTF 1.8 */
struct head { integer { size = 32; align = 8; } magic; enum : integer { size = 8; } { a = 1 } e; };
trace { major = 1; minor = 8; byte_order = be; packet.header := struct head; };
clock { name = c; freq = 1000000; };
stream { packet.context := struct { integer { size = 32; align = 8; } content_size;
\tinteger { size = 16; align = 8; } events_discarded;
\tfloating_point { exp_dig = 8; mant_dig = 24; } f; };
\tevent.header := struct { integer { size = 16; align = 8; } id;
\tinteger { size = 64; align = 8; } timestamp; }; };"""


def packet(words, begin=100, sequence=0, discarded=0, flags=0, magic=0xC1FC1FC1, stream=0,
           end=None, content=None, size=None):
    bits = (128 + 8 * len(words)) * 8
    last = words[-1] >> 24 if words else begin
    head = struct.pack("<IIQQQQQQiiQ", magic, stream, begin, last if end is None else end,
                       bits if content is None else content, bits if size is None else size,
                       discarded, sequence, 7, 8, flags)
    return (head + b"thread".ljust(16, b"\0") + b"process".ljust(40, b"\0")
            + b"".join(struct.pack("<Q", word) for word in words))


def number(value):
    """LEB128."""
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def block(words, begin=100, count=None, columns=None, **others):
    """A compressed block, in a frame of zstd with one raw block."""
    clock, clocks = begin & 2**40 - 1, b""
    for word in words:
        clocks += number((word >> 24) - clock & 2**40 - 1)
        clock = word >> 24
    columns = columns or clocks + b"".join(number(word & 2**24 - 1) for word in words)
    frame = (b"\x28\xb5\x2f\xfd\x20" + bytes([len(columns)])
             + struct.pack("<I", len(columns) << 3 | 1)[:3] + columns)
    head = packet(words, begin=begin, **others)[:128]
    return struct.pack("<4sIII", b"ATZ1", len(words) if count is None else count, len(columns),
                       len(frame)) + head + frame


def strings_in_the_context(words):
    cut = b"\n%%\n"
    files = {}
    copy = OURS.replace(b"text thread[16]", b"string thread").replace(
        b"text process[40]", b"string process")
    strings = packet(words)[:72] + b"thread\0" + b"\0" + packet(words)[128:]
    strings = strings[:24] + struct.pack("<QQ", 8 * len(strings), 8 * len(strings)) + strings[40:]
    files["strings"] = copy + cut + strings + strings
    files["strings-open"] = copy + cut + strings[:72] + b"x" * 5000
    for at in (73, 79, 80, 81, 90):
        files[f"strings-cut-{at}"] = copy + cut + strings + strings[:at]
    files["strings-many"] = copy.replace(b"string thread", b"string a; " * 9 + b"string thread") + cut
    return files


def damaged(ours, whole):
    files = {}
    for at in range(3, len(whole), 41):
        flipped = bytearray(whole)
        flipped[at] ^= 0x81
        files[f"flip-{at:03}"] = ours + bytes(flipped)
        files[f"cut-{at:03}"] = ours + whole[:at]
    return files


def ctf():
    words = [(100 + i) << 24 | tag for i, tag in enumerate((502, 702, 503, 900, 600, 16777204))]
    whole = packet(words) + packet(words, sequence=1, discarded=3, flags=3)
    turn = [(2**40 - 5) << 24 | 502, 3 << 24 | 503]
    events = b"".join(struct.pack("<HI", 500 + i % 2, 10 * i)[:5] for i in range(20))
    ours, cut = OURS + b"\n%%\n", b"\n%%\n"
    files = {
        "whole": ours + whole,
        "empty-stream": ours,
        "no-stream": OURS,
        "packed": ours + block(words) + block(words, sequence=1, discarded=3, flags=3),
        "packed-cut": ours + block(words) + block(words, sequence=1)[:-3],
        "packed-zeros": ours + block(words) + bytes(40),
        "packed-count": ours + block(words, count=131072),
        "packed-columns": ours + block(words, columns=b"\xff" * 40),
        "packed-turn": ours + block(turn, begin=2**40 - 9, end=2**40 + 3),
        "turn": ours + packet(turn, begin=2**40 - 9, end=2**40 + 3),
        "near-the-end": ours + packet(words, begin=2**64 - 2, end=2**64 - 1),
        "backwards": ours + packet(words[::-1]),
        "late": ours + packet(words, end=101),
        "jump": ours + packet(words) + packet(words, begin=1, sequence=9),
        "zeros": ours + whole + bytes(300),
        "all-zeros": ours + bytes(300),
        "magic": ours + whole[:176] + b"\1" + whole[177:],
        "stream-id": ours + packet(words, stream=9),
        "content-huge": ours + packet(words, content=2**64 - 1, size=2**64 - 1),
        "content-small": ours + packet(words, content=8),
        "content-odd": ours + packet(words, content=1024 + 70),
        "size-0": ours + packet(words, content=0, size=0),
        "size-small": ours + packet(words, size=1024),
        "size-large": ours + packet(words, size=2**45),
        "discarded-back": ours + packet(words, discarded=9) + packet(words, sequence=1),
        "original": PLAIN % (16, 8, 24, 8) + cut + events,
        "original-cut": PLAIN % (16, 8, 24, 8) + cut + events[:-2],
        "bits": PLAIN % (9, 1, 23, 1) + cut + events,
        "odd-bits": PLAIN % (7, 1, 30, 1) + cut + events,
        "wide": PLAIN % (32, 64, 64, 64) + cut + struct.pack("<QQQQ", 500, 2**63, 501, 5),
        "big": BIG + cut + struct.pack(">IBIHfHQHQ", 0xC1FC1FC1, 1, 280, 4, 0, 500, 5, 501, 2**50),
        "not-closed": OURS[:700],
        "comment-open": OURS + b"/* never",
        "string-open": OURS.replace(b'"main"', b'"main'),
        "names-taken": OURS.replace(b"other/1000", b"other/502") + cut,
        "names-elsewhere": OURS.replace(b"names 0", b"names 9") + cut,
        "no-clock": OURS.replace(b"name = ticks", b"name = other") + cut,
        "id-twice": OURS.replace(b"id = 503", b"id = 502") + cut,
        "array-huge": OURS.replace(b"thread[16]", b"thread[18446744073709551615]") + cut,
        "align-huge": OURS.replace(b"size = 24; align = 8", b"size = 24; align = 4096") + cut,
        "deep": b"trace { packet.header := " + b"struct { " * 50,
        "explodes": b"struct a0 { };" + b"".join(
            b"struct a%d { struct a%d x; struct a%d y; };" % (i, i - 1, i - 1)
            for i in range(1, 40)) + b"trace { packet.header := struct a39; };" + OURS,
        "variant": b"trace { packet.header := struct { variant <x> { } y; }; };",
        "typedef": b"typedef integer { size = 8; } byte[4]; enum e { A, B };" + ours + whole,
        "empty": b"",
    }
    files |= strings_in_the_context(words)
    return files | damaged(ours, whole)


def names_file():
    return {
        "whole": b"# names\nfirst/500\nmain/502\nswtch/600!\nMGET/1002=\nparse@src/lex.c/504\n",
        "blanks": b"  a b / 12 = \r\n\t\n/\n",
        "no-newline": b"main/2",
        "odd": b"main/3\n",
        "range": b"main/16773119=\nmain/16773120\n",
        "taken": b"a/2\nb/2\n",
        "exit-taken": b"a/3=\nb/2\n",
        "alike": b"_a/2\n_b@f/4\n_c@g/6\n_d@g/8\n@/10\n@x/12\n",
        "descending": b"".join(b"f%d/%d\n" % (i, 2000 - 2 * i) for i in range(300)),
        "huge-number": b"a/99999999999999999999\n",
        "nul": b"a\0b/2\n",
        "marks": b"a/2!!\nb/4=!\n=/6=\n!/8!\n",
        "bytes": bytes(range(256)),
        "empty": b"",
    }


def tag_dump():
    records = b"".join(struct.pack("<HI", 500 + i % 2, i * 900000 % 2**24)[:5] for i in range(60))
    return {
        "original": b"tag:16,clock:24 le 0\n" + records,
        "cut": b"tag:16,clock:24 le 0\n" + records[:-3],
        "big": b"tag:16,clock:24 be 0\n" + records,
        "narrow": b"tag:16,clock:24 le 20\n" + records,
        "wide": b"clock:64,tag:24,pad:8 le 0\n" + bytes(range(240)),
        "zeros": b"tag:8,clock:8 le 0\n" + bytes(40),
        "layout-empty": b" le 0\n",
        "layout-long": b"tag:16,clock:64,pad:64 le 0\n",
        "csv": b"csv le 0\n1,502\n2,503\n",
        "csv-names": b"csv le 24\n\xef\xbb\xbf\"tag\";\"clock\"\r\n502;0x10\r\n503;0xf\r\n",
        "csv-bits": b"csv le 8\n1,2\n255,3\n0,4\n",
        "csv-far": b"csv le 0\n0,0\n18446744073709551615,2\n18446744073709551615,3\n",
        "csv-back": b"csv le 0\n2,2\n1,2\n",
        "csv-columns": b"csv le 0\n" + b"tag," * 70 + b"clock\n",
        "csv-long": b"csv le 0\n" + b"1" * 70000,
        "csv-empty-cells": b"csv le 0\n,\n,,\n\"\",\"\n",
        "empty": b"\n",
    }


def main():
    for name, files in (("ctf", ctf()), ("names_file", names_file()), ("tag_dump", tag_dump())):
        directory = pathlib.Path(sys.argv[1]) / name
        directory.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            (directory / file).write_bytes(data)


main()
