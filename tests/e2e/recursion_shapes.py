# SPDX-License-Identifier: GPL-2.0-or-later
"""Shapes of recursion, with totals and trees calculated by hand from their call paths.

Each shape is written as a file of each kind: samples, counted calls, event tags, pprof profiles.
The rule for recursion: the total of a function counts each call path once; a call tree folds whole
repeated rounds only and never moves a path under another caller; exports and SQL contain the paths
as they are. Times are us; a sample stands for one us. test_recursion.py compares tables with the
shapes, test_recursion_trees.py trees, test_recursion_exports.py exports.
"""
import collections
import re
import struct

from calls_table import Table
from perf_write import PerfData
from pprof_write import Profile

INLINED = {"inner"}  # in outer; samples and pprof profiles say so

# A chain of calls: (function, net). Chains of one shape begin with the same function. `inverted` has
# the paths of the bottom-up tree, innermost function first, and the time that ends there; f:3/1 is
# a recursion of 3 levels and 1 function.
Shape = collections.namedtuple("Shape", "chains totals tree inverted")


def chain(text):
    return [(word.rstrip("0123456789"), int(re.search(r"\d+$", word)[0])) for word in text.split()]


def node(name, total, own, *children, levels=0, functions=0):
    return name, total, own, levels, functions, sorted(children)


SHAPES = {
    "direct": Shape(
        [chain("main1 f2 f3 f4 leaf5")],
        {"main": 15, "f": 14, "leaf": 5},
        node("main", 15, 1, node("f", 14, 9, node("leaf", 5, 5), levels=3, functions=1)),
        {"main": 1, "f:3/1 main": 9, "leaf f:3/1 main": 5}),
    # Two paths of different depth: the deepest recursion is shown.
    "two depths": Shape(
        [chain("main1 f2 f3 leaf5"), chain("main0 f0 f0 f4 leaf6")],
        {"main": 21, "f": 20, "leaf": 11},
        node("main", 21, 1, node("f", 20, 9, node("leaf", 11, 11), levels=3, functions=1)),
        {"main": 1, "f:3/1 main": 9, "leaf f:3/1 main": 11}),
    # The last `even` is not a complete round, so it is not folded: it stays below `odd`.
    "mutual": Shape(
        [chain("main1 even2 odd3 even4 odd5 leaf6")],
        {"main": 21, "even": 20, "odd": 18, "leaf": 6},
        node("main", 21, 1, node("even", 20, 2, node(
            "odd", 18, 8, node("even", 4, 4), node("leaf", 6, 6)), levels=2, functions=2)),
        {"main": 1, "even main": 2, "odd:2/2 even main": 8, "even odd even main": 4,
         "leaf odd:2/2 even main": 6}),
    # As above: the paths that end in the second f and g are not complete rounds.
    "three functions": Shape(
        [chain("main1 f2 g3 h4 f5 g6 h7 leaf8")],
        {"main": 36, "f": 35, "g": 33, "h": 30, "leaf": 8},
        node("main", 36, 1, node("f", 35, 2, node("g", 33, 3, node(
            "h", 30, 11, node("f", 11, 5, node("g", 6, 6)), node("leaf", 8, 8))),
            levels=2, functions=3)),
        {"main": 1, "f main": 2, "g f main": 3, "h:2/3 g f main": 11, "f h g f main": 5,
         "g f h g f main": 6, "leaf h:2/3 g f main": 8}),
    "nested": Shape(
        [chain("main1 f2 g3 f4 leaf5")],
        {"main": 15, "f": 14, "g": 12, "leaf": 5},
        node("main", 15, 1, node("f", 14, 2, node("g", 12, 3, node(
            "f", 9, 4, node("leaf", 5, 5))))),
        {"main": 1, "f main": 2, "g f main": 3, "f g f main": 4, "leaf f g f main": 5}),
    # f g f g f: two rounds are folded. The last f is below g, with the time of the f in the middle.
    "a round and a half": Shape(
        [chain("main1 f2 g3 f4 g5 f6 leaf7")],
        {"main": 28, "f": 27, "g": 25, "leaf": 7},
        node("main", 28, 1, node("f", 27, 2, node("g", 25, 8, node(
            "f", 17, 10, node("leaf", 7, 7))), levels=2, functions=2)),
        {"main": 1, "f:2/2 main": 2, "g:2/2 f main": 8, "f:2/2 g f main": 10,
         "leaf f:2/2 g f main": 7}),
    "two callers": Shape(
        [chain("main1 f2 g3 f4 leaf5"), chain("main0 h6 f7 leaf8")],
        {"main": 36, "f": 29, "g": 12, "h": 21, "leaf": 13},
        node("main", 36, 1,
             node("f", 14, 2, node("g", 12, 3, node("f", 9, 4, node("leaf", 5, 5)))),
             node("h", 21, 6, node("f", 15, 7, node("leaf", 8, 8)))),
        {"main": 1, "f main": 2, "g f main": 3, "f g f main": 4, "leaf f g f main": 5,
         "h main": 6, "f h main": 7, "leaf f h main": 8}),
    "inlined": Shape(
        [chain("main1 outer0 inner2 outer0 inner3 leaf4")],
        {"main": 10, "outer": 9, "inner": 9, "leaf": 4},
        node("main", 10, 1, node("outer", 9, 0, node("inner", 9, 5, node("leaf", 4, 4)), levels=2,
                                 functions=2)),
        {"main": 1, "inner:2/2 outer main": 5, "leaf inner:2/2 outer main": 4}),
}


def paths(shape):
    """Call paths with time of their own: net by the names of the functions, outermost first."""
    found = collections.Counter()
    for calls in shape.chains:
        for depth, (_, net) in enumerate(calls, 1):
            if net:
                found[tuple(name for name, _ in calls[:depth])] += net
    return found


def whole(shape):
    return sum(paths(shape).values())


# The writers: a file of each kind


def write_calls(t, name, shape):
    table, known = Table("prog", 42), {(): 0}
    for calls in shape.chains:
        way = ()
        for function, net in calls:
            if way + (function,) not in known:
                known[way + (function,)] = table.path(known[way], function, calls=1, net=net * 1000)
            way += (function,)
    return t.write(f"{name}.calls", table.bytes())


def write_tags(t, name, shape):
    """A chain continues where the previous one ended, below the function that both begin with."""
    tags, events, now = {}, [], 0
    tag = lambda function: tags.setdefault(function, 2 + 2 * len(tags))
    for number, calls in enumerate(shape.chains):
        for function, net in calls[number > 0:]:
            events.append((now, tag(function)))
            now += net
        events += [(now, tag(function) + 1) for function, _ in calls[:0:-1]]
    events.append((now, tag("main") + 1))
    dump = b"".join(struct.pack("<HI", tag, at)[:5] for at, tag in events)
    names = t.write(f"{name}.names", "".join(f"{f}/{tag}\n" for f, tag in tags.items()))
    t.assay("tags", "import", "--names", names, "-o", t.path(f"{name}.tags"),
            t.write(f"{name}.dump", dump))
    return t.path(f"{name}.tags")


def places(way):
    """The functions of each place in the code, outermost place first: an inlined function is at the
    place of the function before it."""
    found = []
    for function in way:
        if function in INLINED:
            found[-1] = found[-1] + (function,)
        else:
            found.append((function,))
    return found


def write_pprof(t, name, shape):
    profile = Profile(("time", "nanoseconds"))
    profile.mapping(0x1000, 0x9000, "/bin/prog")
    addresses = {}
    for way, net in paths(shape).items():
        stack = [profile.place(addresses.setdefault(place, 0x1000 + 16 * len(addresses)),
                               *((function, 1) for function in place[::-1]))
                 for place in places(way)]
        profile.sample(stack[::-1], [net * 1000], process="prog", pid=42)
    return t.write(f"{name}.pb", profile.bytes())


PROGRAM = """
static volatile int sum;
#define ADD sum += 1; sum += 2; sum += 3; sum += 4
static inline __attribute__((always_inline)) void inner(void) { ADD; }
#define FUNCTION(name) void name(void) { ADD; }
FUNCTION(f) FUNCTION(g) FUNCTION(h) FUNCTION(even) FUNCTION(odd) FUNCTION(leaf)
void outer(void) { inner(); }
int main(void) { ADD; return 0; }
"""


def addresses_of(t):
    """The address of each function, with the functions that are inlined there; and the program."""
    program = t.path("prog")
    t.run("cc", "-O1", "-g", "-no-pie", "-fno-ipa-icf", "-o", program, t.write("prog.c", PROGRAM))
    symbols = {}
    for line in t.run("nm", "-S", program).out.splitlines():
        words = line.split()
        if len(words) == 4:
            symbols[words[3]] = int(words[0], 16), int(words[1], 16)
    found = {(function,): begin + 4 for function, (begin, size) in symbols.items() if size > 8}
    begin, size = symbols["outer"]
    inlined = [at for at in range(begin, begin + size) if t.run(
        "addr2line", "-f", "-i", "-e", program, hex(at)).out.split("\n")[0] == "inner"]
    # The address before it is inlined code, too: it is the call if this is a return address.
    found[("outer", "inner")] = inlined[len(inlined) // 2]
    return found, program


def write_samples(t, name, shape):
    if not hasattr(t, "addresses"):
        t.addresses = addresses_of(t)
    addresses, program = t.addresses
    file = PerfData("prog", 42, program)
    for way, net in paths(shape).items():
        for _ in range(net):
            file.sample([addresses[place] for place in places(way)[::-1]])
    return t.write(f"{name}.data", file.bytes())


# Words of the report command; JSON keys of self and total, with the factor to us; the text's column
# of totals
Kind = collections.namedtuple("Kind", "write words rows own total unit column")
KINDS = {
    "samples": Kind(write_samples, ("--children", "--sort", "function"), lambda r: r["rows"],
                    "samples", "total_samples", 1, "total"),
    "calls": Kind(write_calls, ("-f",), lambda r: r["processes"][0]["functions"], "net_ns",
                  "total_ns", 1000, "total"),
    "tags": Kind(write_tags, (), lambda r: r["functions"], "net_ns", "elapsed_ns", 1000, "Elapsed"),
    "pprof": Kind(write_pprof, ("--children",), lambda r: r["functions"], "self", "total", 1000,
                  "total"),
}


def files(t, *kinds, without=()):
    """(kind, shape, file, what) of each kind and shape."""
    for word, kind in KINDS.items():
        for name, shape in SHAPES.items():
            if (not kinds or word in kinds) and (word, name) not in without:
                yield kind, shape, kind.write(t, f"{word} {name}".replace(" ", "-"), shape), \
                    f"{word}, {name}"


def self_of(shape):
    found = collections.Counter()
    for way, net in paths(shape).items():
        found[way[-1]] += net
    return +found


def ways(shape):
    return {tuple(name for name, _ in calls[:depth])
            for calls in shape.chains for depth in range(1, len(calls) + 1)}


def cell(line, header, column):
    """The cell of a column that is aligned to the right of its title."""
    end = re.search(rf"(^|\s){column}(?=\s|$)", header).end()
    return re.split(r"\s\s+", line[:end].rstrip("\n"))[-1].strip()


def texts(us, shape):
    """A time as tables print it: with its unit, without it, or as a share."""
    return {f"{us:.2f} us", f"{us}", f"{100 * us / whole(shape):.1f} %"}
