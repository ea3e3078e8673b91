# SPDX-License-Identifier: GPL-2.0-or-later
"""device_paper: builds captures of a 16+24-bit device call by call (device_recorder). Their totals
are like those that the first paper on this method printed.

figure3() has the paper's totals (elapsed, tags, run, idle) and its row of bcopy. The other rows,
and all of figure4() and figure5(), have numbers of this test, which are typical of such kernels.
The clock of each capture wraps once.
"""
from device_recorder import CLOCK_BITS, Recorder

TURN = 1 << CLOCK_BITS


class Script(Recorder):
    """A sequence of calls."""

    def call(self, name, *parts):
        """Parts are ticks in the function itself, or calls."""
        self.enter(name)
        self.do(*parts)
        self.leave()

    def do(self, *parts):
        for part in parts:
            if callable(part):
                part()
            else:
                self.pass_time(part)

    def idle_for(self, *parts, stack=None):
        """`swtch` from the running process, and back to it or to another one's stack."""
        own = self.switch_out()
        self.do(*parts)
        self.switch_in(own if stack is None else stack)
        return own


# A host that receives by TCP: 444 packets, a process that reads them, 12 at a time.

PACKETS, AT_A_TIME = 444, 12
BCOPY, IN_CKSUM = 165343, 153489  # net of all calls


def first_and_rest(total, count, least):
    """`count` numbers with this sum, as equal as possible, and none below `least`."""
    more, odd = divmod(total - least * count, count)
    return [least + more + (i < odd) for i in range(count)]


class Receiver(Script):
    def __init__(self):
        super().__init__(start=TURN - 250000)
        # One copy from the card and one to the user for each packet; the longest and the shortest.
        self.from_card = [1089, *first_and_rest(BCOPY - 1091 - 444 * 69, 443, 1)]
        self.to_user = [69] * PACKETS
        self.sums = first_and_rest(IN_CKSUM - 444 * 14, PACKETS, 1)
        self.clocks_in_copies, self.clocks_in_reads = 35, 14

    def tick(self):
        self.call("hardclock", 25)

    def bcopy(self, ticks):
        if ticks > 100 and self.clocks_in_copies:
            self.clocks_in_copies -= 1
            self.call("bcopy", 50, self.tick, ticks - 50)
        else:
            self.call("bcopy", ticks)

    def packet(self, i):
        """An interrupt, in the running process or in idle."""
        self.call("weintr", 13, lambda: self.call(
            "weread", 20, lambda: self.bcopy(self.from_card[i]), 15), 8)
        self.call("ipintr", 22, lambda: self.call("in_cksum", 14), 10, lambda: self.call(
            "tcp_input", 60, lambda: self.call("in_cksum", self.sums[i]), 20,
            lambda: self.call("sbappend", 12), 5, lambda: self.call("wakeup", 9), 10), 8)

    def spl(self, pairs):
        for _ in range(pairs):
            self.call("splnet", 6)
            self.call("splx", 5)

    def receive(self, i, last):
        parts = [30, lambda: self.spl(5), lambda: self.bcopy(self.to_user[i]), 20]
        if i % 30 == 7 and self.clocks_in_reads:
            self.clocks_in_reads -= 1
            parts.append(self.tick)
        if i % AT_A_TIME != AT_A_TIME - 1 and not last:
            parts.append(lambda: self.packet(i + 1))
        self.call("soreceive", *parts, lambda: self.spl(5 + 15 * last), 10)

    def read(self, first):
        """One system call: waits, and reads the received data."""
        wait = 135 + 27 * (first == 0)
        self.call("sbwait", 5, lambda: self.call(
            "tsleep", 8, lambda: self.idle_for(wait - 20, lambda: self.packet(first), 20), 4), 3)
        for i in range(first, first + AT_A_TIME):
            self.receive(i, i == PACKETS - 1)

    def run(self):
        for first in range(0, PACKETS, AT_A_TIME):
            last = first + AT_A_TIME == PACKETS
            parts = [10, lambda f=first: self.call("read", 6, lambda: self.read(f), 9), 20]
            if last:
                parts[2:2] = [lambda: self.bcopy(2), lambda: self.call("softclock", 15)]
            self.call("syscall", *parts)
        return self


def figure3():
    return Receiver().run()


# A process that forks; the child and the parent write to the pages that they share.

class Forker(Script):
    ENTRIES, PAGES, FAULTS = 9, 120, 61

    def __init__(self):
        super().__init__(start=TURN - 9000)
        self.child = None

    def pte(self, ticks=3):
        self.call("pmap_pte", ticks)

    def copy_page(self, page):
        self.call("pmap_enter", 12, self.pte, 9, self.pte, 6 + page % 4)

    def copy_entry(self, number):
        pages = range(number, self.PAGES, self.ENTRIES)
        self.call("vm_map_entry_copy", 25, *(lambda p=p: self.copy_page(p) for p in pages), 10)

    def fork(self):
        """The child gets its own stack, a copy of the parent's."""
        self.call("vmspace_fork", 80,
                  *(lambda n=n: self.copy_entry(n) for n in range(self.ENTRIES)), 40)
        self.call("cpu_fork", 30, lambda: self.call("bcopy", 410), 25)

    def fault(self, number):
        """A write to a shared page copies it. Some pages must be read from disk first."""
        wait = []
        if number % 20 == 5:
            wait = [lambda: self.call("vnode_pager_getpage", 90, lambda: self.call(
                "biowait", 6, lambda: self.call("tsleep", 9, self.disk, 5), 4), 30)]
        self.call("trap", 8, lambda: self.call(
            "vm_fault", 55, lambda: self.call("vm_page_lookup", 11), *wait,
            lambda: self.call("vm_object_shadow", 19),
            lambda: self.call("bcopy", 240 + number % 7),
            lambda: self.copy_page(number), 20), 6)

    def disk(self):
        """Idle until the disk has read the page."""
        self.idle_for(2800, lambda: self.call("wdintr", 35, lambda: self.call("wakeup", 14), 9), 12)

    def run(self):
        self.call("syscall", 12, lambda: self.call("fork1", 60, self.fork, 35), 15)
        for number in range(self.FAULTS):
            self.pass_time(7)  # the user's program: no tags
            self.fault(number)
        return self


def figure5():
    return Forker().run()


# Two processes in turn: one waits for the disk, the other for a page; interrupts in idle.

def figure4():
    r = Script(start=TURN - 300)
    reader, other = None, None
    r.enter("read")
    r.pass_time(8)
    r.enter("bread")
    r.pass_time(15)
    r.call("getblk", 22, lambda: r.call("splbio", 3), lambda: r.call("splx", 4), 5)
    r.enter("biowait")
    r.pass_time(4)
    r.enter("tsleep")
    r.pass_time(9)
    reader = r.switch_out()
    r.pass_time(6)
    # Another process that ran before the capture began: its open calls are unknown.
    r.switch_in([r.unseen("trap"), r.unseen("pagein"), r.unseen(r.SWITCH)])
    r.pass_time(5)
    r.leave()
    r.pass_time(12)
    r.leave()
    r.pass_time(40)
    r.enter("write")
    r.pass_time(11)
    r.inline("QUEUE_FULL")
    r.enter("pwait")
    r.pass_time(7)
    other = r.switch_out()
    r.pass_time(300)
    r.call("wdintr", 18, lambda: r.call("biodone", 9, lambda: r.call("wakeup", 10), 2), 4)
    r.pass_time(3)
    r.switch_in(reader)
    r.pass_time(5)
    r.leave()
    r.pass_time(3)
    r.leave()
    r.call("hardclock", 25)
    r.pass_time(6)
    r.leave()
    r.pass_time(14)
    r.leave()
    r.pass_time(30)
    r.enter("getpid")
    r.pass_time(2)
    r.leave()
    r.enter("wait4")
    r.pass_time(9)
    third = r.switch_out()
    r.pass_time(20)
    r.call("hardclock", 25)
    r.pass_time(5)
    r.switch_in(other)
    r.pass_time(6)
    r.leave()
    r.pass_time(8)
    r.leave()
    r.still_open(third)
    return r
