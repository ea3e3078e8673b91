# SPDX-License-Identifier: GPL-2.0-or-later
"""trigger_sites: proves that the triggers of a built program nest on every path through every
function.

    sites = TriggerSites(program, names, "nop")     names: paths of names files
    sites.wrong       what is wrong, one text each; [] is the proof
    sites.entered     names of functions whose own entry is the first thing they do
    sites.bare        functions without a trigger of their own
    sites.inlined     names whose entry is inside another function
    sites.unproven    ways that could not be followed (jumps through pointers)

The program is disassembled; of each function all ways are followed, from its first
instruction over jumps, jump tables, cold parts and landing pads of exceptions to where it
is left: by ret, by a jump to another function (a tail call), or outward by an exception.
What is open (a stack of tags) must be the same by whatever way a place is reached; an exit
must be that of the entry on top; the function's own entry comes before any call; and
nothing is open where it is left. A function that the compiler split off (f.part.0) may
close what its caller opened; its effect is taken to the place of the call.

As a command: trigger_sites.py --trigger nop --names FILE PROGRAM
"""

import argparse
import collections
import functools
import os
import re
import struct
import sys

from machine_code import ENDED, Image, LandingPads
from trigger_kinds import callee, find_triggers, slow_ways
from trigger_walk import NO_RETURN, THROWS, State, Walk

# They do not throw, even if a range of the call site table includes them.
NO_THROW = re.compile(r"__cxa_(begin_catch|end_catch|guard_|free_exception|allocate_exception|"
                      r"get_exception_ptr|atexit)|(mem|str)\w+$|_Zd[al]Pv\w*$|free$")

# A destructor without a table of its own contains no call that throws.
DESTROYS = re.compile(r"^_ZN.*D[0-4]Ev")
DELETES = re.compile(r"^_ZN.*D0Ev$")

SUFFIX = re.compile(r"\.(cold|part|constprop|isra|lto_priv|localalias|llvm)(\.\d+)*")
CLONE = re.compile(r"([CD])[0-9](E|I)")


def plain(symbol):
    """A symbol as in the source: without suffixes of the compiler."""
    return SUFFIX.split(symbol)[0]


def alike(symbol):
    """The same text for all clones of a constructor or destructor."""
    return CLONE.sub(r"\1?\2", symbol) if symbol.startswith("_Z") else symbol


def read_names(paths):
    """tag -> name, of functions and inline tags; (functions, inline)."""
    functions, inline = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in f:
                match = re.match(r"\s*(\S.*)/(\d+)\s*([!=]?)\s*$", line)
                if match and not line.lstrip().startswith("#"):
                    (inline if match[3] == "=" else functions)[int(match[2])] = match[1].strip()
    return functions, inline


class TriggerSites:
    """Reads and follows a program, and lists errors; see above."""

    def __init__(self, path, names, kind, hook="assay_tags_event"):
        self.image = Image(path)
        self.names, self.inline = read_names(names)
        self.by_name = collections.defaultdict(list)
        for tag, name in self.names.items():
            self.by_name[alike(name.split("@")[0])].append(tag)
        slow = slow_ways(self.image) if kind == "ring" else {}
        self.image.disassemble([(data, 8) for data in slow])
        self.triggers, self.slow_jumps = find_triggers(self.image, kind, hook, slow)
        self.by_argument, self.hook = kind == "call", hook
        self.pads = LandingPads(self.image)
        self.wrong, self.unproven = [], []
        self.entered, self.inlined, self.bare = set(), set(), set()
        self.effects, self.following, self.followed = {}, set(), set()
        self.no_return = self._find_no_return()
        self.throwing, self.sure_to_throw = self._find_throwing(), self._find_throwing(sure=True)
        self._unknown_tags()
        self.prove(self.image.starts)
        self._used_pieces()

    def prove(self, starts):
        """Adds the errors of the functions that begin there."""
        self.effects.clear()
        for start in starts:
            if not self._is_piece(start):
                self._prove(start)

    # Symbols and names

    def _names_at(self, start):
        return [f.name for f in self.image.by_start[start]]

    def _is_piece(self, start):
        """A part that was split off; it is followed from its callers."""
        return any(re.search(r"\.(cold|part)\b", name) for name in self._names_at(start))

    def _unknown_tags(self):
        for at, (_, tag) in sorted(self.triggers.items()):
            if tag is not None and tag & ~1 not in self.names and tag not in self.inline:
                self.wrong.append(f"{self.where(at)}: tag {tag} is in no names file")

    def _used_pieces(self):
        """A split-off part that no function calls was not followed."""
        for start in self.image.starts:
            function = self.image.by_start[start][0]
            if self._is_piece(start) and not any(function.start <= at < function.end
                                                 for at in self.followed):
                self.unproven.append(f"{function.name}: nothing leads there")

    def where(self, at):
        functions = self.image.at(at)
        name = f"{functions[0].name}+{at - functions[0].start:#x}" if functions else f"{at:#x}"
        return f"{name} ({self.image.code.get(at, '?')})"

    def tag_name(self, tag):
        name = self.names.get(tag & ~1, f"tag {tag}")
        return f"exit of {name}" if tag & 1 else name

    def own_tags(self, start):
        """Tags that the function may have: those of its names, and of its file if that is given. A
        deleting destructor belongs to the compiler, but may contain the inlined destructor of
        the source."""
        found = set()
        for function in self.image.by_start[start]:
            if DELETES.search(plain(function.name)):
                continue
            for tag in self.by_name.get(alike(plain(function.name)), ()):
                file = self.names[tag].partition("@")[2]
                if not file or not function.file or \
                        os.path.basename(file) == os.path.basename(function.file):
                    found.add(tag)
        return found

    # Paths

    @functools.cached_property
    def tables(self):
        """Places at which data begins that code refers to: each table ends before the next one."""
        found = set()
        for text in self.image.code.values():
            match = re.search(r"(?:\*|mov\s+)0x([0-9a-f]+)\(,%\w+,8\)|^lea\s.*# ([0-9a-f]+)", text)
            if match:
                found.add(int(match[1] or match[2], 16))
        return found

    def table(self, address, inside, relative):
        """Targets of a jump table: entries, as long as they are in the function."""
        size, targets = (4 if relative else 8), []
        while True:
            raw = self.image.read(address + len(targets) * size, size)
            if raw is None:
                break
            target = (address + struct.unpack("<i", raw)[0] if relative
                      else struct.unpack("<Q", raw)[0])
            if target not in self.image.code or not inside(target) or \
                    (targets and address + len(targets) * size in self.tables):
                break
            targets.append(target)
        return targets

    def indirect(self, at, text, inside):
        """Targets within the function of a jump through a register or a table."""
        match = re.match(r"jmp\s+\*(0x[0-9a-f]+)\(,%\w+,8\)", text)
        if match:
            return self.table(int(match[1], 16), inside, False)
        match = re.match(r"jmp\s+\*%(\w+)$", text)
        if not match:
            return []
        register, base = match[1], None
        for before in self.image.before(at, 60):
            code = self.image.code[before]
            absolute = re.match(r"mov\s+(0x[0-9a-f]+)\(,%\w+,8\),%" + register + "$", code)
            if absolute and not base:
                return self.table(int(absolute[1], 16), inside, False)
            if not inside(before):
                break
            relative = re.match(r"movslq\s+\(%(\w+),%(\w+),[14]\),%", code) or \
                re.match(r"mov\s+\(%(\w+),%(\w+),[14]\),%e", code)
            if relative and not base:
                base = {relative[1], relative[2]}
            lea = re.match(r"lea\s+.*\(%rip\),%(\w+)\s+# ([0-9a-f]+)", code)
            if lea and (lea[1] in base if base else lea[1] == register):
                targets = self.table(int(lea[2], 16), inside, True)
                if targets:
                    return targets
        return []

    def pieces(self, start):
        """Ranges of a function: its main part and its cold parts."""
        names = self._names_at(start)
        whole = {plain(name) if ".cold" in name else name for name in names}
        ranges = [(f.start, f.end) for f in self.image.by_start[start]]
        for name in whole:
            ranges += self.cold.get(name, ())
        return ranges

    @functools.cached_property
    def cold(self):
        found = collections.defaultdict(list)
        for function in self.image.functions:
            if ".cold" in function.name:
                found[function.name.split(".cold")[0]].append((function.start, function.end))
        return found

    def _find_no_return(self):
        """Functions that never return: all except those for which a return was found, from the
        innermost outward. (Functions that call each other may have no return between them.)"""
        known, users = set(self.image.starts), collections.defaultdict(set)
        for at, text in self.image.code.items():
            target = self._target(text)
            if target in known:
                users[target] |= {f.start for f in self.image.at(at)}
        todo = list(self.image.starts)
        while todo:
            start = todo.pop()
            if start in known and self._comes_back(start, start, known):
                known.discard(start)
                for user in users[start]:
                    todo += [user] + self.whole.get(user, [])
        return known

    @functools.cached_property
    def whole(self):
        """Maps cold parts to their functions."""
        by_name = collections.defaultdict(list)
        for function in self.image.functions:
            by_name[function.name].append(function.start)
        return {f.start: by_name[f.name.split(".cold")[0]] for f in self.image.functions
                if ".cold" in f.name}

    def _find_throwing(self, sure=False):
        """Functions that may end by throwing, as far as their calls show, or `sure`: that certainly
        may. (A range of a call site table may include calls between others that do not throw.)"""
        throwing, users, todo = set(), collections.defaultdict(set), []
        for at, text in self.image.code.items():
            if not text.startswith("call") or self.pads.at(at) not in (None, 0):
                continue
            within = {f.start for f in self.image.at(at)}
            within |= {whole for start in within for whole in self.whole.get(start, ())}
            if self._target(text) in self.image.by_start:
                users[self._target(text)] |= within
            elif self._throws_itself(text, within, self.pads.at(at)) and \
                    (not sure or self._is_sure(at, text)):
                todo += within
        while todo:
            start = todo.pop()
            if start not in throwing:
                throwing.add(start)
                todo += users[start]
        return throwing

    def _throws_itself(self, text, within, pad):
        """A call out of the image, or through a pointer."""
        name = callee(self.image, text) or ""
        destroys = any(DESTROYS.search(n) for start in within for n in self._names_at(start))
        return not NO_THROW.match(name) and name != self.hook and \
            not (destroys and pad is None and not THROWS.match(name))

    def can_throw(self, at, text):
        """True, False, or None: the compiler may know that it does not throw. A range of the call
        site table begins and ends with a call that throws. A call between them that leads out of
        the image may be to a noexcept function."""
        target, name = self._target(text), callee(self.image, text) or ""
        if NO_THROW.match(name) or name == self.hook:
            return False
        if target in self.image.by_start:
            may, sure = target in self.throwing, self._bounds(at)
            return True if target in self.sure_to_throw or (may and sure) else \
                None if may or sure else False
        return True if self._is_sure(at, text) or not self.pads.site(at) else None

    def _is_sure(self, at, text):
        return bool(THROWS.match(callee(self.image, text) or "")) or self._bounds(at)

    def _bounds(self, at):
        """True if a call is the first or the last one of its range."""
        site = self.pads.site(at)
        return site is not None and (site.start == at or self.image.next(at) == site.end)

    def comes_back(self, start, at):
        """True if a path from a place in a function leaves it, also by an exception."""
        return self._comes_back(start, at, self.no_return, thrown=True)

    def _comes_back(self, start, at, known, thrown=False):
        """True if the path reaches a ret or a jump out of the function; `thrown`: or a call that
        throws outward."""
        ranges = self.pieces(start)

        def inside(at):
            return any(low <= at < high for low, high in ranges) or not self.image.at(at)

        todo, seen = [at], set()
        while todo:
            at = todo.pop()
            while at is not None and at not in seen and at in self.image.code:
                seen.add(at)
                text = self.image.code[at]
                kind = text.split(None, 1)[0] if text else ""
                if kind in ("ret", "retq", "iretq"):
                    return True
                if kind in ("ud2", "hlt", "(bad)"):
                    break
                pad = self.pads.at(at) if kind == "call" else None
                if pad and pad != ENDED:
                    todo.append(pad)
                if thrown and pad == 0 and THROWS.match(callee(self.image, text) or ""):
                    return True
                if kind == "call" and self._ends(text, known):
                    break
                if kind == "jmp" and at in self.slow_jumps:
                    at = self.slow_jumps[at]
                    continue
                if kind.startswith(("j", "loop")):
                    target = self._target(text)
                    if target is None:
                        targets = self.indirect(at, text, inside)
                        if not targets:
                            return True
                        todo += targets
                    elif target != start and inside(target):
                        todo.append(target)
                    elif target not in known and not NO_RETURN.match(callee(self.image, text) or ""):
                        return True
                    if kind == "jmp":
                        break
                at = self.image.next(at)
        return False

    @staticmethod
    def _target(text):
        match = re.match(r"\w+\s+([0-9a-f]+)(\s|$)", text)
        return int(match[1], 16) if match else None

    def _ends(self, text, known):
        """A call that does not return."""
        name = callee(self.image, text) or ""
        return bool(NO_RETURN.match(name) or THROWS.match(name)) or self._target(text) in known

    # The proof

    def _prove(self, start):
        own = self.own_tags(start)
        walk = Walk(self, start, own, State(not own, ()))
        walk.run()
        if walk.fault and own and not walk.touched:
            # No trigger at all: only the source shows whether that is right.
            self.followed |= {at for at, _ in walk.seen}
            self.bare |= set(self._names_at(start))
            return
        self._take(walk)
        (self.entered if walk.own_entry else self.bare).update(self._names_at(start))

    def _take(self, walk):
        self.wrong += walk.wrong
        self.unproven += walk.unproven
        self.inlined |= {self.names.get(tag, f"tag {tag}") for tag in walk.inlined}
        self.followed |= {at for at, _ in walk.seen}

    def effect(self, start, open_tags):
        """A split-off part, called with `open_tags`: the tags that are open when it returns, and
        when it throws; None: it does not."""
        key = (start, open_tags)
        if key in self.effects or key in self.following:
            return self.effects.get(key, (open_tags, open_tags))
        self.following.add(key)
        walk = Walk(self, start, set(), State(True, open_tags), piece=True)
        walk.run()
        self._take(walk)
        if len(walk.returns) > 1:
            self.wrong.append(f"{self._names_at(start)[0]}: returns with different calls open")
        self.effects[key] = (next(iter(walk.returns), None), next(iter(walk.throws), open_tags))
        return self.effects[key]


def main():
    parser = argparse.ArgumentParser(description="Proves that a program's triggers nest.")
    parser.add_argument("--trigger", default="nop", choices=("ring", "nop", "load", "call"))
    parser.add_argument("--names", action="append", required=True)
    parser.add_argument("--hook", default="assay_tags_event")
    parser.add_argument("--bare", action="store_true", help="list functions without triggers")
    parser.add_argument("program")
    options = parser.parse_args()
    sites = TriggerSites(options.program, options.names, options.trigger, options.hook)
    for text in sites.wrong:
        print(f"wrong: {text}")
    for text in sites.unproven:
        print(f"unproven: {text}")
    for name in sorted(sites.bare) if options.bare else ():
        print(f"bare: {name}")
    print(f"{len(sites.triggers)} triggers; {len(sites.entered)} functions entered, "
          f"{len(sites.inlined)} inlined, {len(sites.bare)} bare; {len(sites.wrong)} wrong, "
          f"{len(sites.unproven)} unproven")
    sys.exit(1 if sites.wrong else 0)


if __name__ == "__main__":
    main()
