# SPDX-License-Identifier: GPL-2.0-or-later
"""calls_table: writes tables of call paths by the layout in docs/FORMAT.md.

A second implementation of the format, independent of assay's writer. The report on such a file is
known in advance, since all figures are given and one tick is one ns.

    table = Table("prog", 42)
    main = table.path(0, "main", calls=1, net=1000)
    table.path(main, "work", calls=3, net=300, blocked=50)
    t.write("prog.calls", table.bytes())
"""
import collections
import struct

NONE = 2 ** 63 - 1
UNIT, PAGE = 64, 4096
COST = 8 + 2 * 6  # numbers in struct assay_calls_cost
FULL, UNSWITCHED, LOST, RESYNCED = 1, 4, 16, 64
COUNTED, LIBRARY, INHERITED = 1 << 60, 1 << 61, 1 << 62
OTHER = 1
THREAD, NODES, WAITS, IMAGES, NAMES, TEXT, BOOKS, BOOK, MORE = range(1, 10)
TIMES, SUMS, BUCKETS = 11, 0xffffffff, 6  # buckets of one item
PROGRAM, LIBC = 0x400000, 0x7f0000000000


class Table:
    """A recording's table of one process with one thread; times in ns."""

    def __init__(self, name, pid, command="", flags=0, lost=0, own=0, cpu_residual=0, **more):
        self.name, self.pid, self.command = name, pid, command or name
        self.flags, self.lost, self.own, self.cpu_residual = flags, lost, own, cpu_residual
        self.more = collections.defaultdict(int, more)  # fields of the header and of the books
        self.nodes = []
        self.functions = {}  # word -> name
        self.texts = b"\0"
        self._node(0, None)

    def _node(self, word, parent, calls=0, net=0, low=NONE, high=-NONE - 1, blocked=0, preempted=0,
              open=0, error=0, lengths=(), blocks=1, preempts=1):
        self.nodes.append(dict(function=word, parent=parent, calls=calls, net=net, low=low,
                               high=high, blocked=blocked, preempted=preempted, open=open,
                               error=error, lengths=lengths, blocks=blocks, preempts=preempts))
        return len(self.nodes) - 1

    def path(self, parent, name, library=False, counted=False, inherited=False, **figures):
        """Adds a call path below another path (0: the root), and returns its number. lengths: of single
        calls, each timed."""
        kind = LIBRARY * library | COUNTED * counted
        word = OTHER if name == "(other)" else next(
            (word for word, known in self.functions.items()
             if known == name and word & (LIBRARY | COUNTED) == kind), None)
        if word is None:
            word = (LIBC if library else PROGRAM) + 16 * (len(self.functions) + 1) | kind
            self.functions[word] = name
        return self._node(word | INHERITED * inherited, parent, **figures)

    def sum(self, key):
        return sum(node[key] for node in self.nodes)

    def _text(self, text):
        self.texts += text.encode() + b"\0"
        return len(self.texts) - len(text.encode()) - 1

    def bytes(self):
        net, own, given = self.sum("net"), self.own, self.more
        wall = given["tail"] - given["wall_residual"] + net + own + self.sum("blocked") + self.sum("preempted")
        first = 2 * PAGE // UNIT + 1
        waits_at = (2 * PAGE + _pages(UNIT * len(self.nodes))) // UNIT + 1
        nodes, waits, more, times = [], [], [], []
        for number, n in enumerate(self.nodes, first):
            wait = waits_at + len(waits) if n["blocked"] or n["preempted"] else 0
            if wait:
                waits.append(struct.pack("<4QIIQ16x", n["blocked"], n["preempted"],
                                         n["blocks"] * (n["blocked"] != 0),
                                         n["preempts"] * (n["preempted"] != 0), number, 0, 0))
            if n["open"] or n["error"]:
                more.append(struct.pack("<IIq16x", number, n["open"], n["error"]))
            times += _times(number, n["lengths"])
            parent = 0 if n["parent"] is None else first + n["parent"]
            nodes.append(struct.pack("<QIIIIIIQqqq", n["function"], parent, wait, 0, 0, 0, 0,
                                     n["calls"], n["net"], n["low"], n["high"]))
        names = [struct.pack("<QI20x", word, self._text(name))
                 for word, name in self.functions.items()]
        images = [struct.pack("<QQ24xII32x304s", start, start + (1 << 32), 0, 0, path)
                  for start, path in ((PROGRAM, b"/nowhere/prog"), (LIBC, b"/nowhere/libc.so.6"))]
        books = struct.pack("<IIIIqqqqqQQ56x", self.flags, self._text(self.name),
                            self._text(self.command), 0, wall, own, given["own_error"], given["inner"],
                            given["outer"], given["table_bytes"], given["uncounted"])
        book = struct.pack("<9qQiI40x", wall, net + own - self.cpu_residual, net, own,
                           self.sum("blocked"), self.sum("preempted"), given["tail"], self.cpu_residual,
                           given["wall_residual"], given["threads"] or 1, 0, self._text("worker"))
        thread = struct.pack("<QIIiIQ88x48xI256x16s4x", 0, 0, first, 0, 0, 1, 0, b"worker")
        at = PAGE // UNIT + 1
        body = (_chunk(THREAD, 0, [thread]) + _chunk(NODES, at, nodes) +
                _chunk(WAITS, at, waits) + _chunk(IMAGES, 0, images) + _chunk(NAMES, 0, names) +
                _chunk(BOOKS, 0, [books]) + _chunk(BOOK, 0, [book]) + _chunk(MORE, 0, more) + _chunk(TIMES, at, times) +
                _chunk(TEXT, 0, [self.texts], len(self.texts)))
        return self._header(wall, PAGE + len(body)) + body

    def _header(self, wall, used):
        return struct.pack(
            f"<8sIIQQIIIIiiIIQQQQQQQ{COST}i6Q64s512s", b"ASYCALLS", 1, PAGE, used, used,
            self.flags & 0xffff, 2, 0, 1 << 20, self.pid, 1, 0, 1, 77, 10 ** 18, 0, 0, 10 ** 9,
            10 ** 9, wall, *[0] * COST, self.lost, *(self.more[key] for key in (
                "other_calls", "unmatched_exits", "resyncs", "deferred", "nested_stacks")), self.name.encode(),
            self.command.encode()).ljust(PAGE, b"\0")


def _bucket(ns):
    """One for each value below 8, then eight for each power of two."""
    highest = ns.bit_length() - 1
    return ns if ns < 8 else (highest - 2) * 8 + (ns >> (highest - 3) & 7)


def _times(node, lengths):
    """Items of the durations of a node, and their sums: timed calls, and the squares of what each stands for."""
    if not lengths:
        return
    counts = {}
    for length in lengths:
        counts[_bucket(length)] = counts.get(_bucket(length), 0) + 1
    for first in sorted({bucket // BUCKETS * BUCKETS for bucket in counts}):
        yield struct.pack("<IIII6Q", node, first, 0, 0, *(counts.get(first + i, 0) for i in range(BUCKETS)))
    yield struct.pack("<IIII6Q", node, SUMS, 0, 0, len(lengths), len(lengths), 0, 0, 0, 0)


def _pages(size):
    """The bytes of a chunk with this number of bytes of items."""
    return -(-(UNIT + size) // PAGE) * PAGE


def _chunk(kind, thread, items, count=None):
    body = b"".join(items)
    if not body:
        return b""
    head = struct.pack("<IIQQ40x", kind, thread, _pages(len(body)),
                       len(items) if count is None else count)
    return (head + body).ljust(_pages(len(body)), b"\0")
