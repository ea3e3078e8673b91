# SPDX-License-Identifier: GPL-2.0-or-later
"""device_recorder: a simulated CPU whose functions have tags, the events that a device in its socket
records, and the true figures.

    r = Recorder()
    r.enter("main"), r.pass_time(10), r.inline("MARK"), r.leave()
    records(r.truth.events)       the device's bytes
    r.names()                     the names file
    r.truth                       the true figures

The recorder adds all time to the running function at once, so the truth does not depend on rules
about streams of tags. Figures that a device cannot know are left out: a call counts if its entry was
captured; time in calls that were entered before is `outside`; idle time counts if the entry of the
`swtch` that began it was captured, or if the capture began in it.

Lost exits make some figures uncertain: Truth has the functions of such calls in `unsure`, and those
of which only the net is uncertain (the callers) in `unsure_net`.
Times are ticks of the device's clock (us).
"""

FIRST_TAG = 500
CLOCK_BITS = 24


class Function:
    def __init__(self):
        self.calls = self.elapsed = self.net = 0
        self.nets = []  # of calls that ended and have no lost exits
        self.open = 0   # calls that had not ended

    def __repr__(self):
        return f"Function({self.__dict__})"


class Truth:
    def __init__(self):
        self.events = []      # (time, tag)
        self.functions = {}   # name: Function
        self.inline = {}      # name: count
        self.idle = self.outside = 0
        self.unsure, self.unsure_net = set(), set()
        self.missing_exits = self.unmatched_exits = 0
        self.bare_switches = 0  # to a process without other known calls
        self.steps = []       # Step, in order

    @property
    def elapsed(self):
        return self.events[-1][0] - self.events[0][0]

    @property
    def run(self):
        return self.elapsed - self.idle

    def function(self, name):
        return self.functions.setdefault(name, Function())


class Step:
    """A line of the code path. Kinds: enter, exit, unmatched (an exit), inline, out and in
    (switches)."""

    def __init__(self, kind, time, name, depth, call):
        self.kind, self.time, self.name, self.depth, self.call = kind, time, name, depth, call


class Call:
    __slots__ = ("name", "seen", "net", "total", "broken", "stale", "ended")

    def __init__(self, name, seen=False):
        self.name, self.seen = name, seen
        self.net = self.total = 0
        self.broken = False  # an exit in the call itself was lost, or exits of its callees
        self.stale = []      # calls in it whose exits were lost
        self.ended = False


class Full(Exception):
    """The capture of the device is complete."""


class Recorder:
    """The CPU as its socket sees it: the stack of calls, and the time."""
    SWITCH = "swtch"

    def __init__(self, begin=0, tags=1 << 60, cut=True, start=0):
        self.begin, self.limit, self.cut = begin, tags, cut
        self.clock = start
        self.truth = Truth()
        self.tags = {}
        self.stack, self.idle, self.idle_known = [], False, False
        self.idle_unproved = False  # the capture began in idle, and `swtch` has not ended yet
        self.passed = 0
        self.capturing = False
        self.undecided = False  # the process that continues is not identified yet

    def tag(self, name):
        if name not in self.tags:
            self.tags[name] = max((t + 2 for t in self.tags.values()), default=FIRST_TAG)
        return self.tags[name]

    def names(self, without=()):
        """The names file, without the functions of `without`."""
        kinds = {name: "=" for name in self.truth.inline}
        kinds[self.SWITCH] = "!"
        return "".join(f"{name}/{tag}{kinds.get(name, '')}\n"
                       for name, tag in self.tags.items() if name not in without)

    def pass_time(self, ticks):
        self.clock += ticks
        if not self.capturing or not ticks:
            return
        truth = self.truth
        if self.stack and self.stack[-1].seen:
            self.stack[-1].net += ticks
            truth.function(self.stack[-1].name).net += ticks
        elif self.idle and self.idle_known and not self.stack:
            truth.idle += ticks
        else:
            truth.outside += ticks
        names = set()
        for call in self.stack:
            if call.seen:
                call.total += ticks
                if call.name not in names:
                    names.add(call.name)
                    truth.function(call.name).elapsed += ticks

    def emit(self, tag):
        """The CPU emits an event; true if the device recorded it."""
        self.passed += 1
        if self.passed <= self.begin:
            return False
        if not self.capturing:
            self.capturing = True
            self.idle_known = self.idle_unproved = self.begins_in_idle(tag)
        self.truth.events.append((self.clock, tag))
        return True

    def begins_in_idle(self, tag):
        """This shows that no interrupt was running that ends before `swtch` does."""
        entered = tag in self.tags.values()
        return self.idle and entered and not self.stack or tag == self.tag(self.SWITCH) + 1

    def inline(self, name):
        self.truth.inline.setdefault(name, 0)
        if self.emit(self.tag(name)):
            self.truth.inline[name] += 1
            self.step("inline", name)
            self.full()

    def step(self, kind, name, call=None):
        depth = sum(1 for c in self.stack if c.seen)
        self.truth.steps.append(Step(kind, self.clock, name, depth, call))

    def full(self):
        if len(self.truth.events) >= self.limit and (self.cut or not self.undecided):
            raise Full

    def enter(self, name):
        call = Call(name, self.emit(self.tag(name)))
        if call.seen:
            self.truth.function(name).calls += 1
            self.step("out" if name == self.SWITCH else "enter", name, call)
        self.stack.append(call)
        if call.seen and name != self.SWITCH:
            self.full()
        return call

    def leave(self, lose=False):
        call = self.stack.pop()
        if lose:
            self.lose([call], self.stack[-1])
            return
        taken = self.emit(self.tag(call.name) + 1)
        call.ended = True
        if taken and call.name == self.SWITCH:
            if self.idle_known:
                self.step("in", call.name, call)
        elif taken:
            self.step("exit" if call.seen else "unmatched", call.name, call)
        if call.seen:
            self.truth.missing_exits += len(call.stale)
            if call.broken:
                self.truth.unsure_net.add(call.name)
            else:
                self.truth.function(call.name).nets.append(call.net)
            bare = not any(c.seen for c in self.stack)
            self.truth.bare_switches += bare and call.name == self.SWITCH
        elif taken:
            self.truth.unmatched_exits += 1
        if taken and call.name != self.SWITCH:
            self.full()

    def unseen(self, name):
        """A call that was entered before the capture began."""
        self.tag(name)
        return Call(name)

    def still_open(self, *stacks):
        """The capture ends: the running calls are open, and so are those on other stacks."""
        if self.idle_unproved:
            self.truth.outside += self.truth.idle
            self.truth.idle = 0
        for stack in (self.stack, *stacks):
            for call in stack:
                self.truth.function(call.name).open += call.seen

    def switch_out(self):
        """`swtch` is entered: from now on the CPU is idle. Returns the stack that waits."""
        call = self.enter(self.SWITCH)
        stack, self.stack = self.stack, []
        self.idle, self.idle_known, self.undecided = True, call.seen, False
        return stack

    def switch_in(self, stack):
        """`swtch` returns, on another stack, or on the same."""
        self.stack, self.idle, self.undecided = stack, False, self.capturing
        self.leave()
        self.idle_unproved = False

    def lose(self, calls, by):
        """These calls have ended without an exit event. The exit of their caller `by` shows it."""
        for call in calls:
            call.broken = True
            self.truth.unsure.add(call.name)
            by.stale += [call, *call.stale]
        by.broken = True
        self.truth.unsure_net.add(by.name)

    def may_lose(self, calls, by):
        """True if the exit of `by` shows the end: it was captured, and no other open call has the
        same tag."""
        names = {c.name for call in calls for c in (call, *call.stale)}
        names |= {c.name for c in by.stale}
        return by.seen and by.name not in names and all(c.seen for c in calls)


# The device's bytes

def records(events, clock_bits=CLOCK_BITS, tag_bytes=2, clock_bytes=3, big_endian=False, pad=0):
    """Records of tag and clock, as `assay tags import` reads them by default."""
    order = "big" if big_endian else "little"
    mask = (1 << clock_bits) - 1
    return b"".join(tag.to_bytes(tag_bytes, order) + (time & mask).to_bytes(clock_bytes, order) +
                    bytes(pad) for time, tag in events)


def table(events, clock_bits=64, first="tag,clock"):
    mask = (1 << clock_bits) - 1
    return (first + "\n" if first else "") + "".join(
        f"{tag},{time & mask}\n" if first.startswith("tag") else f"{time & mask},{tag:#x}\n"
        for time, tag in events)
