# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof_read: reads profiles in pprof's form (profile.proto), without assay and its encoder.

    for path, values, labels in Pprof(t.path("p.pb.gz")).samples:   path: outermost first
"""
import collections
import gzip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >> 63 else value)
    return values


class Pprof:
    def __init__(self, source):
        """Of a file, or of its bytes."""
        data = source if isinstance(source, bytes) else source.read_bytes()
        every = collections.defaultdict(list)
        for number, value in fields(gzip.decompress(data)):
            every[number].append(value)
        self.strings = [s.decode() for s in every[6]]
        assert self.strings[0] == ""
        message = lambda m: dict(fields(m))
        self.types = [(self.strings[m[1]], self.strings[m[2]]) for m in map(message, every[1])]
        self.mappings = {m[1]: m for m in map(message, every[3])}
        self.functions = {m[1]: self.strings[m[2]] for m in map(message, every[5])}
        self.locations = dict(map(self.location, every[4]))
        self.samples = [self.sample(m) for m in every[2]]
        self.default = self.strings[every[14][0]]

    def location(self, data):
        """Its functions, outermost first; the mapping must exist."""
        number, lines = 0, []
        for field, value in fields(data):
            if field == 1:
                number = value
            elif field == 2:
                assert value in self.mappings
            elif field == 4:
                lines.append(self.functions[dict(fields(value))[1]])
        return number, lines[::-1]

    def sample(self, data):
        path, values, labels = [], [], {}
        for field, value in fields(data):
            if field == 1:
                path = [f for number in packed(value)[::-1] for f in self.locations[number]]
            elif field == 2:
                values = packed(value)
            elif field == 3:
                label = dict(fields(value))
                labels[self.strings[label[1]]] = (self.strings[label[2]] if 2 in label
                                                  else label.get(3, 0))
        return tuple(path), values, labels
