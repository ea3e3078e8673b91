# SPDX-License-Identifier: GPL-2.0-or-later
"""device_ctf: a CTF 1.8 trace of a simulated device, written without assay.

Ids, clocks and packets have other sizes and fields than those that assay writes. Comments of TSDL
contain the notes by which assay recognises a device and its `!` and `=`.
"""
import struct

HEAD = """/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le;
	packet.header := struct { integer { size = 32; align = 8; } magic;
		integer { size = 32; align = 8; } stream_id; }; };
clock { name = cycles; freq = %d; };
typealias integer { size = 64; align = 8; map = clock.cycles.value; } := whole;
stream /*assay device*/ { id = 0;
	packet.context := struct { whole timestamp_begin; whole timestamp_end;
		integer { size = 64; align = 8; } content_size;
		integer { size = 64; align = 8; } packet_size; };
	event.header := struct { integer { size = %d; align = 8; } id;
		integer { size = %d; align = 8; map = clock.cycles.value; } timestamp; }; };
"""
MAGIC = 0xC1FC1FC1
HEADER = struct.Struct("<IIQQQQ")


def metadata(recorder, hz, id_bits, time_bits):
    text = HEAD % (hz, id_bits, time_bits)
    for name, tag in recorder.tags.items():
        inline = name in recorder.truth.inline
        mark = "/*assay =*/ " if inline else "/*assay !*/ " if name == recorder.SWITCH else ""
        text += f'event {mark}{{ id = {tag}; stream_id = 0; name = "{name}"; }};\n'
        if not inline:
            text += f'event {{ id = {tag + 1}; stream_id = 0; name = "{name}:exit"; }};\n'
    return text


def packet(events, id_bits, time_bits, padding):
    mask = (1 << time_bits) - 1
    body = b"".join(tag.to_bytes(id_bits // 8, "little") +
                    (time & mask).to_bytes(time_bits // 8, "little") for time, tag in events)
    content = HEADER.size + len(body)
    return HEADER.pack(MAGIC, 0, events[0][0], events[-1][0], 8 * content,
                       8 * (content + padding)) + body + bytes(padding)


def write_ctf(directory, recorder, random, hz=1000000, id_bits=16, time_bits=32):
    directory.mkdir()
    (directory / "metadata").write_text(metadata(recorder, hz, id_bits, time_bits))
    events, data = recorder.truth.events, b""
    while events:
        count = random.randrange(1, 400)
        data += packet(events[:count], id_bits, time_bits, random.choice([0, 1, 40, 4096]))
        events = events[count:]
    (directory / "stream").write_bytes(data)
    return directory
