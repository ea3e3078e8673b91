# SPDX-License-Identifier: GPL-2.0-or-later
"""trigger_kinds: finds triggers in machine code by their instructions. include/assay/tags.h defines
the long NOP and the load; include/assay/tags_wire.h defines the ring's sequence with its slow path.
The place of a trigger is the one instruction that records the event: for the ring, the store of the
fast path and the jump of the slow path to the runtime (each call executes one of them).
"""

import collections
import re
import struct

MAGIC = 0x5A
TAGS = 1 << 24

Trigger = collections.namedtuple("Trigger", "at tag")  # tag None: the value of %edi


def nop_triggers(image):
    found = {}
    for at, text in image.code.items():
        match = re.match(r"nopl\s+0x([0-9a-f]{1,8})\(%[er]ax,%[er]ax,1\)", text)
        if match and int(match[1], 16) >> 24 == MAGIC:
            found[at] = Trigger(at, int(match[1], 16) & TAGS - 1)
    return found


def load_triggers(image):
    """Reads of the 64 KB after assay_tags_base: these tags have 16 bits."""
    base = image.symbols["assay_tags_base"]
    found = {}
    for at, text in image.code.items():
        match = re.match(r"testb\s+\$0x0,0x[0-9a-f]+\(%rip\)\s+# ([0-9a-f]+)", text)
        if match and 0 < int(match[1], 16) - base < 1 << 16:
            found[at] = Trigger(at, int(match[1], 16) - base)
    return found


def call_triggers(image, hook):
    """Calls of the hook. Their tag is the value of %edi on the path to the call."""
    return {at: Trigger(at, None) for at, text in image.code.items()
            if re.match(r"(call|jmp)\s", text) and callee(image, text) == hook}


def slow_ways(image):
    """The slow paths of the ring: {address of the data after it: (tag, address to continue at)}."""
    found = {}
    for section in image.sections:
        if not section.name.startswith(".text"):
            continue
        text = image.read(section.address, section.size)
        # lea 1f(%rip), %rax; jmp *slot(%rip) (or a jmp that the linker made shorter); 1:
        for match in re.finditer(rb"(?s)\x48\x8d\x05(....)(?:\xff\x25....|\xe9....\x90|\x67\xe9....)",
                                 text):
            data = section.address + match.end()
            target = section.address + match.start() + 7 + struct.unpack("<i", match[1])[0]
            if target == data and match.end() + 8 <= len(text):
                tag, back = struct.unpack_from("<Ii", text, match.end())
                found[data] = (tag, (data + back) % (1 << 64))
    return found


def ring_triggers(image, slow):
    """Fast paths end with the store of the event, slow paths with their jump to the runtime."""
    found, jumps = {}, {}
    for data, (tag, back) in slow.items():
        jump = next(image.before(data, 1))
        if image.code[jump] == "nop":  # padding, if the linker made it shorter
            jump = next(image.before(jump, 1))
        found[jump], jumps[jump] = Trigger(jump, tag), back
    for at, text in image.code.items():
        match = re.match(r"or\s+\$0x([0-9a-f]+),%rax$", text)
        if match and re.match(r"shl\s+\$0x18,%rax$", image.code[next(image.before(at, 1))]):
            store = at
            for _ in range(4):
                store = image.next(store)
                if re.match(r"mov\s+%rax,(0x0)?\(%r\w+\)$", image.code[store]):
                    found[store] = Trigger(store, int(match[1], 16))
                    break
    return found, jumps


def callee(image, text):
    """The name of the target of a call or jump; None: through a pointer."""
    match = re.search(r"<([^>]+)>$", text)
    if not match:
        return None
    name = re.split(r"@|\+0x", match[1])[0]
    if re.match(r"\w+\s+\*", text):
        # Through its own slot: call *slot(%rip) of -fno-plt.
        return name if "(%rip)" in text and "@" in match[1] else None
    return name


def find_triggers(image, kind, hook, slow):
    """{address: Trigger}, and for the ring {last jump of a slow path: address to continue at}."""
    if kind == "ring":
        return ring_triggers(image, slow)
    if kind == "call":
        return call_triggers(image, hook), {}
    return {"nop": nop_triggers, "load": load_triggers}[kind](image), {}
