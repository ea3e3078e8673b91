# SPDX-License-Identifier: GPL-2.0-or-later
"""trigger_walk: all paths through one function, and the tags that are open at each place;
trigger_sites.py has the rules."""

import collections
import re

from machine_code import ENDED
from trigger_kinds import callee

# They do not return. An exception continues at a landing pad, if there is one.
THROWS = re.compile(r"__cxa_(re)?throw|__cxa_bad_|__cxa_throw_bad_|_ZSt\d+__throw_|_Unwind_Resume")
NO_RETURN = re.compile(r"(abort|_?_?exit|_Exit|quick_exit|pthread_exit|__assert_fail|"
                       r"__stack_chk_fail|_*(sig)?longjmp(_chk)?|__fortify_fail|__chk_fail|"
                       r"_ZSt9terminatev|__cxa_call_unexpected|__cxa_call_terminate|"
                       r"__cxa_pure_virtual|errx?|verrx?)$")
# They are called while no tag is open, at the start or the end of the program.
OUTSIDE = re.compile(r"_Unwind_Resume|__stack_chk_fail|__cxa_call_unexpected|_ZSt9terminatev|"
                     r"__cxa_call_terminate|__cxa_(begin|end)_catch$|_{1,2}fentry__|mcount$")

# begun: the function's own entry has been passed. open: the tags of open entries. argument: the
# value of %edi, if it is known and holds the tag.
State = collections.namedtuple("State", "begun open argument", defaults=(None,))


class Walk:
    """All paths through one function."""

    def __init__(self, sites, start, own, state, piece=False):
        self.sites, self.image, self.start, self.own = sites, sites.image, start, own
        self.piece, self.first = piece, state
        self.ranges = sites.pieces(start)
        self.wrong, self.unproven = [], []
        self.inlined, self.returns, self.throws = set(), set(), set()
        self.own_entry = self.touched = self.fault = False
        self.seen = {}

    def inside(self, at):
        return any(low <= at < high for low, high in self.ranges) or not self.image.at(at)

    def bad(self, at, text, state):
        self.fault = True
        opened = " > ".join(self.sites.tag_name(tag) for tag in state.open) or "nothing"
        self.wrong.append(f"{self.sites.where(at)}: {text}; open: {opened}")

    def run(self):
        self.todo, self.doubtful = [(self.start, self.first)], []
        while (self.todo or self.doubtful) and len(self.wrong) < 5:
            if self.todo:
                at, state = self.todo.pop()
            else:
                at, state = self.doubtful.pop()
                if any(pad == at for pad, _ in self.seen):
                    continue
            while at is not None:
                at, state = self.step(at, state)

    def step(self, at, state):
        """One instruction: the next addresses, and the tags that are open there."""
        key = (at, state.argument)
        if key in self.seen:
            before = self.seen[key]
            # Paths that end the program are allowed with any open tags.
            if before != state and self.sites.comes_back(self.start, at):
                self.bad(at, f"reached with {len(before.open)} and with {len(state.open)} calls "
                         "open, or before and after the entry", state)
            return None, None
        self.seen[key] = state
        text = self.image.code.get(at)
        if text is None or len(state.open) > 100:
            self.bad(at, "no code" if text is None else "calls open without end", state)
            return None, None
        if self.sites.by_argument:
            state = State(state.begun, state.open, self.argument(at, text, state))
        if at in self.sites.triggers:
            state = self.event(at, self.sites.triggers[at].tag, state)
            if at in self.sites.slow_jumps:
                return self.sites.slow_jumps[at], state
            if text.startswith("jmp"):  # the hook returns to the caller
                self.leave(at, "is left by a jump", state)
                return None, None
            return self.image.next(at), state
        kind = text.split(None, 1)[0] if text else ""
        if kind == "call":
            return self.call(at, text, state)
        if kind.startswith("j") or kind.startswith("loop"):
            return self.jump(at, kind, text, state)
        if kind in ("ret", "retq"):
            self.leave(at, "is left", state)
            return None, None
        if kind in ("ud2", "hlt", "(bad)"):
            return None, None
        return self.onward(at), state

    def onward(self, at):
        """The next instruction, if it is in the function: a call at its end does not return."""
        following = self.image.next(at)
        return following if following is not None and self.inside(following) else None

    def argument(self, at, text, state):
        """The value of %edi after an instruction (before a call)."""
        match = re.match(r"mov\s+\$0x([0-9a-f]+),%[er]di$", text)
        if match:
            return int(match[1], 16)
        return None if re.search(r"%([er]di|dil?)$", text) else state.argument

    def event(self, at, tag, state):
        self.touched = True
        if tag is None:
            tag = state.argument
            if tag is None or (tag & ~1 not in self.sites.names and tag not in self.sites.inline):
                self.bad(at, f"the hook is called with tag {tag}", state)
                return state
        if tag in self.sites.inline:
            if not state.begun:
                self.bad(at, f"inline tag {tag} before the entry", state)
            return state
        if tag & 1:
            if not state.open or state.open[-1] != tag - 1:
                self.bad(at, f"{self.sites.tag_name(tag)} is not of what is open", state)
                return state
            return State(True, state.open[:-1])
        if not state.begun:
            if tag in self.own:
                self.own_entry = True
            else:
                self.bad(at, f"{self.sites.tag_name(tag)} is entered before the function "
                         "itself", state)
        elif not state.open and self.own:
            self.bad(at, f"{self.sites.tag_name(tag)} is entered after the exit", state)
        else:
            self.inlined.add(tag)
        return State(True, state.open + (tag,))

    def leave(self, at, how, state):
        if self.piece:
            self.returns.add(state.open)
        elif not state.begun:
            self.bad(at, f"{how} without its entry", state)
        elif state.open:
            self.bad(at, f"{how} with calls open", state)

    def call(self, at, text, state):
        sites, target = self.sites, self.sites._target(text)
        name = callee(self.image, text) or ""
        after = thrown = state.open
        if target is not None and target in self.image.by_start and sites._is_piece(target):
            after, thrown = sites.effect(target, state.open)
        elif not state.begun and not OUTSIDE.match(name):
            self.bad(at, "calls before its entry", state)
        elif not state.open and self.own and not self.piece and not OUTSIDE.match(name) \
                and not sites._ends(text, sites.no_return):
            self.bad(at, "calls after its exit", state)
        self.unwind(at, text, State(state.begun, thrown))
        if after is None or sites._ends(text, sites.no_return):
            return None, None
        return self.onward(at), State(state.begun or after != state.open, after)

    def unwind(self, at, text, state):
        pad, name = self.sites.pads.at(at), callee(self.image, text) or ""
        throws = self.sites.can_throw(at, text)
        if not throws:
            # A landing pad to which no other path leads is followed from here.
            if throws is None and pad and pad != ENDED:
                self.doubtful.append((pad, state))
        elif pad and pad != ENDED:
            self.todo.append((pad, state))
        elif self.piece:
            if pad == 0 or THROWS.match(name):
                self.throws.add(state.open)
        elif state.open and (pad == 0 or (pad is None and THROWS.match(name))):
            self.bad(at, "is left by an exception with calls open", state)

    def jump(self, at, kind, text, state):
        target = self.sites._target(text)
        if target is None:
            self.indirect(at, text, state)
        elif self.inside(target) and (target != self.start or state.open) and \
                not self.outside_text(target):
            self.todo.append((target, state))
        elif target in self.image.by_start or self.outside_text(target):
            self.tail(at, target, text, state)
        else:
            self.bad(at, "jumps into the midst of another function", state)
        return (None, None) if kind == "jmp" else (self.onward(at), state)

    def outside_text(self, target):
        section = self.image.section_at(target)
        return section is None or section.name.startswith(".plt")

    def tail(self, at, target, text, state):
        if target in self.image.by_start and self.sites._is_piece(target):
            after, _ = self.sites.effect(target, state.open)
            if after is not None:
                self.leave(at, "is left", State(state.begun, after))
        elif not self.sites._ends(text, self.sites.no_return):
            self.leave(at, "is left by a jump", state)

    def indirect(self, at, text, state):
        targets = self.sites.indirect(at, text, self.inside)
        self.todo += [(target, state) for target in set(targets)]
        if not targets and (state.open or self.piece):
            self.unproven.append(f"{self.sites.where(at)}: a jump through a pointer with "
                                 f"{len(state.open)} calls open")
        elif not targets:
            self.leave(at, "is left by a jump", state)
