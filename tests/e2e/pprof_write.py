# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof_write: writes profiles in pprof's form (profile.proto), without assay.

    p = Profile(("samples", "count"), ("cpu", "nanoseconds"))
    leaf, main = p.place(0x1200, ("leaf", 7)), p.place(0x1100, ("main", 30))
    p.sample([leaf, main], [1, 1000], process="prog", pid=7)
    t.write("p.pb", p.bytes())
"""


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, list):
        value = b"".join(field(*v) for v in value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def packed(numbers):
    return b"".join(varint(n) for n in numbers)


class Profile:
    """A profile.proto that is being built; texts are numbered in the order of their use."""

    def __init__(self, *types):
        self.texts, self.body, self.functions, self.places = [""], b"", {}, {}
        for name, unit in types:
            self.body += field(1, self.type(name, unit))

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def type(self, name, unit):
        return [(1, self.text(name)), (2, self.text(unit))]

    def add(self, number, value):
        self.body += field(number, value)

    def mapping(self, start, limit, file, build_id=""):
        self.add(3, [(1, 1), (2, start), (3, limit), (5, self.text(file)),
                     (6, self.text(build_id))])

    def function(self, name, file=""):
        if name not in self.functions:
            self.functions[name] = len(self.functions) + 1
            self.add(5, [(1, self.functions[name]), (2, self.text(name)), (4, self.text(file))])
        return self.functions[name]

    def place(self, address, *lines, mapping=1):
        """lines: (function, line), the innermost first; empty: only an address."""
        key = (address, lines)
        if key not in self.places:
            self.places[key] = len(self.places) + 1
            made = [(1, self.places[key]), (2, mapping), (3, address)]
            for name, line in lines:
                made.append((4, [(1, self.function(name, "prog.c")), (2, line)]))
            self.add(4, made)
        return self.places[key]

    def sample(self, places, values, **labels):
        made = [(1, packed(places)), (2, packed(values))]
        for key, value in labels.items():
            made.append((3, [(1, self.text(key)), (2, self.text(value))] if isinstance(value, str)
                         else [(1, self.text(key)), (3, value)]))
        self.add(2, made)

    def bytes(self):
        return self.body + b"".join(field(6, text.encode()) for text in self.texts)
