# SPDX-License-Identifier: GPL-2.0-or-later
"""device_capture: simulates a kernel on one CPU, whose tags a capture device records.

    machine = Machine(seed, Plan(processes=3, begin=200, tags=1500))
    truth = machine.run()         see device_recorder

It simulates the scheduler and analyses nothing. Processes are generators that run bodies of
functions, sleep, and are woken by interrupts. Interrupts occur in functions, in interrupts of a
lower level, and in idle time. `swtch` switches processes, and idle time passes in it.
"""
import random

from device_recorder import CLOCK_BITS, Call, Full, Recorder


class Plan:
    """The parameters of a machine; everything else is random."""

    def __init__(self, processes=3, tags=1500, begin=0, longjmp=0.0, lost=0.0, shared_sleep=False,
                 same_paths=False, fifo=False, recursion=True, inline=True, gap=1 << CLOCK_BITS,
                 births=True, cut=False, again=False):
        self.processes = processes      # at the start
        self.tags = tags                # captured; the capture may have a few more
        self.begin = begin              # tags before the capture begins
        self.longjmp = longjmp          # probability, for each place where one is possible
        self.lost = lost                # probability that an exit is lost
        self.shared_sleep = shared_sleep  # all processes sleep in one function, below their own
        self.same_paths = same_paths    # no function identifies a process
        self.fifo = fifo                # processes continue in the order of their switches
        self.recursion = recursion and not (longjmp or lost)
        self.inline = inline
        self.gap = gap                  # limit of the distance of two events
        self.births = births            # processes start and exit during the capture
        self.again = again              # a process that wakes up may sleep again at once
        self.cut = cut                  # the capture ends at any event, also during a switch


class Process:
    def __init__(self, number, stack=()):
        self.number = number
        self.stack = list(stack)
        self.body = None
        self.waits = None  # the interrupt that it waits for
        self.slice = 0


class Interrupt:
    def __init__(self, name, level, mean, body):
        self.name, self.level, self.mean, self.body = name, level, mean, body
        self.time = 0


class LongJump(Exception):
    pass


class Machine(Recorder):
    """A kernel whose processes follow the seed."""

    def __init__(self, seed, plan=None):
        self.random = random.Random(seed)
        self.plan = plan = plan or Plan()
        super().__init__(plan.begin, plan.tags, plan.cut, self.random.randrange(1 << 30))
        self.runnable, self.sleeping, self.gone = [], [], []
        self.processes = 0
        self.scale = self.random.choice([1, 10, 200]) if self.plan.gap > 1 << 20 else 1
        self.functions()
        self.interrupts()

    # The programs

    def functions(self):
        """Functions with fixed bodies: each calls only later ones, and some themselves."""
        r = self.random
        self.bodies = {}
        self.leaves = [f"leaf{i}" for i in range(r.randrange(2, 6))]
        self.upper = [f"fun{i}" for i in range(r.randrange(3, 9))]
        for i, name in enumerate(self.leaves):
            self.bodies[name] = self.body(self.leaves[i + 1:], sleeps=False)
        for i, name in enumerate(self.upper):
            self.bodies[name] = self.body(self.upper[i + 1:] + self.leaves, sleeps=True, name=name)
        for name in [*self.upper, *self.leaves]:
            self.tag(name)

    def body(self, callees, sleeps, name=None):
        r, steps = self.random, []
        for _ in range(r.randrange(1, 6)):
            kind = r.random()
            if sleeps and callees and self.plan.longjmp and r.random() < 0.3:
                steps.append(r.choice([("catch", r.choice(callees)), ("throw",)]))
            elif kind < 0.45 or not callees:
                steps.append(("run", r.choice([0, 1, 2, 5, 20, 300]) * self.scale))
            elif kind < 0.8:
                steps.append(("call", r.choice(callees)))
            elif kind < 0.88 and sleeps:
                steps.append(("sleep",))
            elif kind < 0.94 and name and self.plan.recursion:
                steps.append(("again", name))
            elif self.plan.inline:
                steps.append(("inline", r.choice(["MARK", "POINT", "QUEUE"])))
        return steps

    def interrupts(self):
        """The clock interrupt always occurs, so the distance of two events is less than a wrap of
        the clock."""
        r = self.random
        longest = self.plan.gap - (self.plan.gap >> 3)
        tick = min(longest, r.choice([1000, 10000, 300000, longest]))
        self.irqs = [Interrupt("hardclock", 3, tick, self.body(self.leaves, sleeps=False))]
        for number in range(r.randrange(0, 4)):
            self.irqs.append(Interrupt(f"intr{number}", r.randrange(1, 3),
                                       min(longest, r.choice([500, 5000, 100000]) * self.scale),
                                       self.body(self.leaves, sleeps=False)))
        for irq in self.irqs:
            self.tag(irq.name)
            self.arm(irq)

    def arm(self, irq):
        irq.time = self.clock + 1 + self.random.randrange(irq.mean)

    # Time

    def spend(self, ticks, level=0):
        """The CPU is busy or idle for this time, except for interrupts."""
        while True:
            irq = min((i for i in self.irqs if i.level > level), key=lambda i: i.time, default=None)
            if irq is None or irq.time > self.clock + ticks:
                self.pass_time(ticks)
                return
            before = max(0, irq.time - self.clock)
            self.pass_time(before)
            ticks -= before
            self.interrupt(irq)

    def interrupt(self, irq):
        irq.time = float("inf")
        self.enter(irq.name)
        for _, ticks in self.execute(None, irq.body):
            self.spend(ticks, irq.level)
        self.leave(self.loses())
        self.arm(irq)
        for process in list(self.sleeping):
            if process.waits in (irq.name, None) and self.random.random() < 0.6:
                self.wake(process)

    def loses(self):
        """True if the next exit is lost."""
        if not self.plan.lost or self.random.random() >= self.plan.lost or len(self.stack) < 2:
            return False
        # A call that seems open when a process sleeps makes the process impossible to identify.
        if self.stack[-2].name.startswith(("sleep", "ast", "tsleep")):
            return False
        return self.may_lose([self.stack[-1]], self.stack[-2])

    # Processes

    def execute(self, process, body, depth=0):
        """A generator: yields what the function's body requests from the machine."""
        r = self.random
        for step in body:
            if step[0] == "run":
                yield ("run", step[1])
            elif step[0] == "inline":
                self.inline(step[1])
            elif step[0] == "sleep":
                if r.random() < 0.4:
                    yield from self.sleep(process)
            elif step[0] == "throw":
                if r.random() < self.plan.longjmp and process.catchers:
                    self.throw(process)
            elif step[0] == "catch":
                yield from self.catch(process, step[1], depth)
            elif step[0] == "call" or depth < 4 and r.random() < 0.5:
                yield from self.call(process, step[1], depth)

    def call(self, process, name, depth):
        self.enter(name)
        yield ("run", self.random.randrange(3))
        yield from self.execute(process, self.bodies[name], depth + 1)
        self.leave(self.loses())

    def catch(self, process, name, depth):
        process.catchers.append(len(self.stack))
        try:
            yield from self.call(process, name, depth)
        except LongJump:
            pass
        finally:
            process.catchers.pop()

    def throw(self, process):
        height = process.catchers[-1]
        calls = self.stack[height:]
        if not calls or not height or not self.may_lose(calls, self.stack[height - 1]):
            return
        del self.stack[height:]
        self.lose(calls, self.stack[-1])
        raise LongJump

    def own(self, process, name):
        return name if self.plan.same_paths else f"{name}_p{process.number}"

    def sleep(self, process, name="sleep", ready=False):
        """True if a function that identifies the process has ended."""
        self.enter(self.own(process, name))
        yield ("run", self.random.randrange(5))
        if self.plan.shared_sleep:
            self.enter("tsleep")
            yield ("run", self.random.randrange(3))
        yield ("ready" if ready else "sleep", 0)
        yield ("run", self.random.randrange(5))
        while self.plan.again and self.random.random() < 0.4:
            yield ("sleep", 0)
            yield ("run", self.random.randrange(5))
        if self.plan.shared_sleep:
            self.leave()
        if self.random.random() < 0.5:
            yield from self.call(process, self.random.choice(self.leaves), 0)
        self.undecided = False
        self.leave()

    def life(self, process):
        """A user's program: system calls, and time outside of any tag."""
        r = self.random
        process.catchers = []
        if process.stack:  # a fork's child: it continues at the same place as its parent
            yield ("run", 1)
            self.undecided = False
            self.leave()
        while True:
            yield ("run", r.choice([0, 1, 10, 100]) * self.scale)
            kind = r.random()
            if kind < 0.7:
                yield from self.call(process, r.choice(self.upper), 0)
            elif kind < 0.9:
                yield from self.sleep(process)
            else:
                yield from self.sleep(process, "ast", ready=True)
            if self.plan.births and r.random() < 0.02:
                self.birth()
            if self.plan.births and self.processes > 2 and r.random() < 0.01:
                self.enter(self.own(process, "exit"))
                yield ("run", 3)
                yield ("gone", 0)

    def birth(self):
        self.processes += 1
        child = Process(self.processes)
        child.stack = [Call(self.own(child, "fork")), Call(self.SWITCH)]
        child.body = self.life(child)
        self.runnable.append(child)

    def wake(self, process):
        self.sleeping.remove(process)
        process.waits = None
        self.runnable.append(process)

    def switch(self, process):
        """Simulates `swtch`; returns the process that continues."""
        process.stack = self.switch_out()
        self.full()
        self.spend(self.random.randrange(4))
        while not self.runnable or self.plan.fifo and self.first() not in self.runnable:
            self.spend(max(1, min(i.time for i in self.irqs) - self.clock))
        chosen = self.first() if self.plan.fifo else self.random.choice(self.runnable)
        self.spend(self.random.randrange(4))
        self.runnable.remove(chosen)
        self.switch_in(chosen.stack)
        return chosen

    def first(self):
        """FIFO: the process that was switched out first."""
        return min([*self.runnable, *self.sleeping], key=lambda p: p.slice)

    def run(self):
        for _ in range(self.plan.processes):
            self.birth()
        current, order = self.runnable.pop(0), 0
        self.stack = current.stack[:1]
        try:
            while True:
                kind, ticks = next(current.body)
                if kind == "run":
                    self.spend(ticks)
                    continue
                order += 1
                current.slice = order
                if kind == "sleep":
                    current.waits = self.random.choice([None, *(i.name for i in self.irqs)])
                    self.sleeping.append(current)
                elif kind == "ready":
                    self.runnable.append(current)
                else:
                    self.gone.append(current)
                current = self.switch(current)
        except Full:
            waiting = (*self.runnable, *self.sleeping, *self.gone)
            self.still_open(*(p.stack for p in waiting))
        return self.truth
