# SPDX-License-Identifier: GPL-2.0-or-later
"""otlp_read: reads OTLP profiles (ProfilesData of profiles.v1development), without assay.

    for profile in Otlp(data).profiles:
        profile.type                       (name, unit)
        for path, value, attributes in profile.samples:   path: outermost first
"""
import collections

from pprof_read import fields, packed

Profile = collections.namedtuple("Profile", "type samples period time")
MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS = range(1, 8)


def every(data):
    """Field to the list of its values."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


class Otlp:
    def __init__(self, data):
        top = every(data)
        self.tables = every(top[2][0])
        self.strings = [text.decode() for text in self.tables[STRINGS]]
        for table in (MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS):
            assert not self.tables[table][0], f"element 0 of table {table} is empty"
        self.attributes = [self.attribute(every(a)) for a in self.tables[ATTRIBUTES]]
        assert len(set(self.attributes)) == len(self.attributes), "attributes are unique"
        self.profiles = [self.profile(every(profile)) for resource in top[1]
                         for scope in every(resource)[2] for profile in every(scope)[2]]

    def attribute(self, a):
        value = every(a[2][0]) if a[2] else {}
        if 8 in value:
            return self.strings[a[1][0]], self.strings[value[8][0]]
        # A number of a choice is written also if it is 0: else there is no value.
        assert 3 in value or not a[1], f"attribute {self.strings[a[1][0]]} has no value"
        number = value[3][0] if 3 in value else 0
        return self.strings[a[1][0]] if a[1] else "", number - (number >> 63 << 64)

    def functions(self, location):
        """Outermost first."""
        names = []
        for line in every(self.tables[LOCATIONS][location])[3]:
            function = every(self.tables[FUNCTIONS][every(line)[1][0]])
            names.append(self.strings[function[1][0]] if function[1] else "")
        return names[::-1]

    def path(self, stack):
        way = []
        for location in packed(b"".join(every(self.tables[STACKS][stack])[1]))[::-1]:
            way += self.functions(location)
        return tuple(way)

    def profile(self, p):
        kind, samples = every(p[1][0]), []
        for sample in map(every, p[2]):
            keys = [self.attributes[i] for i in packed(b"".join(sample[2]))]
            assert len(dict(keys)) == len(keys), "each key once"
            value, = packed(b"".join(sample[4]))
            samples.append((self.path(sample[1][0] if sample[1] else 0), value, dict(keys)))
        return Profile((self.strings[kind[1][0]], self.strings[kind[2][0]]), samples,
                       p[6][0] if p[6] else 0, p[3][0] if p[3] else 0)
