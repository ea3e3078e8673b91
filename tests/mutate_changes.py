# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate_changes: lists small changes to a C source, and selects some of them by a seed.
changes_of() relies on the house style: the braces of a function are in column 0, and binary
operators have spaces around them. candidates() chooses. Used by tests/mutate.
"""
import collections
import hashlib
import itertools
import os
import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Statements that only release a resource: without one there is a leak, which the builds with
# sanitizers find. Assertions are not behaviour either.
GIVES_BACK = re.compile(
    r"\b(free|munmap|f?close|closedir|unlink|rmdir|assert|prefetch|\w+_(done|free|close|unref|"
    r"prefetch|clear|destroy))\s*\(")


# The C source: the parts that may be changed


class Change:
    """One change of one file: text[begin:end] becomes `new`."""

    def __init__(self, path, text, begin, end, new, kind):
        self.path, self.begin, self.end, self.new, self.kind = path, begin, end, new, kind
        self.line = text.count("\n", 0, begin) + 1
        first = text.rfind("\n", 0, begin) + 1
        last = text.find("\n", end)
        self.before = " ".join(text[first:last].split())
        self.after = " ".join((text[first:begin] + new + text[end:last]).split())
        # Line numbers do not change.
        self.new += "\n" * (text.count("\n", begin, end) - new.count("\n"))

    def key(self):
        column = hashlib.sha1(f"{self.before}\0{self.after}\0{self.begin}".encode()).hexdigest()
        return f"{self.path}:{self.line}:{column[:12]}"

    def applied(self, text):
        return text[:self.begin] + self.new + text[self.end:]


def masked(text):
    """The text with comments, strings and preprocessor lines blanked, of the same length."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text,
                  flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def functions(code):
    """(header, begin, end) of each function: the house style has its braces in column 0."""
    for match in re.finditer(r"^\{\n.*?^\}$", code, flags=re.M | re.S):
        start = max(code.rfind("\n\n", 0, match.start()), code.rfind("}\n", 0, match.start()),
                    code.rfind(";\n", 0, match.start()))
        yield code[start + 2:match.start()], match.start(), match.end()


def replacements(code, begin, end, pattern, table, kind):
    for match in re.compile(pattern).finditer(code, begin, end):
        new = table.get(match.group(1))
        if new:
            yield match.start(1), match.end(1), new, kind


def operators(code, begin, end):
    yield from replacements(code, begin, end, r"(?<= )(<=|>=|<|>)(?=[ \n])",
                            {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}, "boundary")
    yield from replacements(code, begin, end, r"(?<= )(==|!=)(?=[ \n])",
                            {"==": "!=", "!=": "=="}, "equality")
    yield from replacements(code, begin, end, r"(?<= )(\+|-|\*|/|%|<<|>>|&|\|)(?=[ \n])",
                            {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>",
                             ">>": "<<", "&": "|", "|": "&"}, "arithmetic")
    yield from replacements(code, begin, end, r"(?<= )(\+=|-=|\|=|&=)(?=[ \n])",
                            {"+=": "-=", "-=": "+=", "|=": "=", "&=": "="}, "assignment")
    yield from replacements(code, begin, end, r"(?<= )(&&|\|\|)(?=[ \n])",
                            {"&&": "||", "||": "&&"}, "logic")
    for match in re.compile(r"!(?=[\w(*])").finditer(code, begin, end):
        yield match.start(), match.end(), "", "negation"


def operand_end(code, at):
    """Where the operand that begins at `at` ends."""
    depth = 0
    while True:
        c = code[at]
        if c in "([{":
            depth += 1
        elif depth and c in ")]}":
            depth -= 1
        elif not depth and (c in ")]};?:," or code[at:at + 2] in ("&&", "||")):
            return at
        at += 1


STOPS = re.compile(r"([(\[{;?:,]|&&|\|\||[^=!<>]=|\breturn )$")


def operand_begin(code, at):
    """Where the operand that ends at `at` begins."""
    depth = 0
    while True:
        c = code[at - 1]
        if c in ")]}":
            depth += 1
        elif depth and c in "([{":
            depth -= 1
        elif (not depth and STOPS.search(code, max(0, at - 8), at) and
              code[at - 1:at + 1] != "=="):
            break
        at -= 1
    while code[at].isspace():
        at += 1
    return at


def conditions(code, begin, end):
    """One side of && or || is left out; a branch is never taken."""
    for match in re.compile(r" (?:&&|\|\|)\s").finditer(code, begin, end):
        right = operand_end(code, match.end())
        while code[right - 1].isspace():
            right -= 1
        yield match.start(), right, "", "condition"
        yield operand_begin(code, match.start()), match.end(), "", "condition"
    for match in re.compile(r"\bif \(").finditer(code, begin, end):
        close = match.end()
        while code[close] != ")":
            close = operand_end(code, close)
            close += code[close] != ")"
        yield match.end(), close, f"0 && ({code[match.end():close]})", "branch"


def constants(code, begin, end):
    for match in re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])").finditer(
            code, begin, end):
        value = int(match.group(1), 16 if match.group(1).startswith("0x") else 10)
        # For a size or a duration, a difference of one does not matter.
        near = {value + 1, max(value - 1, 0)} if value <= 64 else {value // 2, 2 * value}
        for new in sorted(near - {value}):
            text = hex(new) if match.group(1).startswith("0x") else str(new)
            yield match.start(), match.end(), text + match.group(2), "constant"


def statements(code, begin, end):
    whole = re.compile(
        r"(?<=[;{}:)]\n)(\t+)(\w+\([^;{}]*\)|[*]?[\w.>\[\]()-]+ (?:[-+*/|&^]|<<|>>)?= [^;{}]*|"
        r"[\w.>\[\]-]+(?:\+\+|--)|\+\+[\w.>\[\]-]+);$", re.M)
    for match in whole.finditer(code, begin, end):
        if not GIVES_BACK.search(match.group(2)) and not match.group(2).startswith("return"):
            yield match.start(2), match.end(2), "", "statement"
    yield from replacements(code, begin, end, r"\t(break|continue);",
                            {"break": "/* break */", "continue": "break"}, "jump")


def returns(header, code, begin, end):
    kind = re.split(r"\w+\(", header, maxsplit=1)[0]
    for match in re.compile(r"\breturn ([^;]+);").finditer(code, begin, end):
        value = match.group(1)
        if "bool" in kind:
            new = {"true": "false", "false": "true"}.get(value, f"!({value})")
        elif "*" in kind:
            new = "NULL" if value != "NULL" else None
        elif re.search(r"\b(u?int\d*_t|int|size_t|ssize_t|unsigned|long|double|off_t)\b", kind):
            new = f"({value}) + 1" if len(value) > 2 else {"0": "1", "1": "0"}.get(value)
        else:
            new = None
        if new:
            yield match.start(1), match.end(1), new, "return"


# Faults of values that pass through: another value of the same type, another unit, an addend less, one
# more of a size.
PASS_THROUGH = ("field", "unit", "addend", "size")
READ = r"(?![\w(\[]|\s*(?:[-+|&*/]?=[^=]|\+\+|--|\.|->))"  # of a member that is read as a value
MEMBER = re.compile(r"(?<=[\w\])])(?:->|\.)(\w+)\b" + READ)


def struct_fields(texts):
    """{field: the other fields of its type in its structs}"""
    others = collections.defaultdict(set)
    for text in texts:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for body in re.findall(r"\bstruct \w* ?\{\n(.*?)\n\}", text, flags=re.S):
            types = collections.defaultdict(set)
            for kind, names in re.findall(r"^\t((?:const |struct |enum |unsigned |long )*\w+ \*?)([\w, ]+)(?:\[\w+\])?;",
                                          body, flags=re.M):
                types[kind.strip()].update(re.findall(r"\w+", names))
            for names in types.values():
                for name in names:
                    others[name] |= names - {name}
    return others


def pass_through(code, begin, end, fields, used):
    for match in MEMBER.finditer(code, begin, end):
        # A field that the file does not use is mostly one of another struct.
        for other in sorted(fields.get(match.group(1), set()) & used):
            yield match.start(1), match.end(1), other, "field"
        if match.group(1).endswith("_ns"):
            yield match.start(1), match.end(1), f"{match.group(1)} / 1000", "unit"
        if match.group(1) in ("count", "size", "len", "length"):
            yield match.start(1), match.end(1), f"{match.group(1)} + 1", "size"
    for match in re.compile(r"\bsizeof\([^()]*\)").finditer(code, begin, end):
        yield match.end(), match.end(), " + 1", "size"
    for match in re.compile(r"(?<=[\w)\]]) \+ (?=[\w(*])").finditer(code, begin, end):
        last = operand_end(code, match.end())
        following = re.compile(r" [-+*/%<>=!&|^?]+ ").search(code, match.end(), last)
        yield match.start(), following.start() if following else last, "", "addend"


def changes_of(path, text, fields):
    """All possible changes of this file; fields: struct_fields() of all files."""
    code = masked(text)
    used = set(re.findall(r"(?:->|\.)(\w+)", code))
    code_of_definitions = re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group()), text)
    found = []
    for header, begin, end in functions(code):
        found += operators(code, begin, end)
        found += conditions(code, begin, end)
        found += constants(code, begin, end)
        found += statements(code, begin, end)
        found += returns(header, code, begin, end)
        found += pass_through(code, begin, end, fields, used)
    for match in re.finditer(r"^#define \w+ ", text, flags=re.M):
        line = text.find("\n", match.end())
        if '"' not in text[match.end():line]:
            found += constants(code_of_definitions, match.end(), line)
    made = []
    for begin, end, new, kind in found:
        # Text that only the mask blanked is restored.
        if kind == "branch":
            new = f"0 && ({text[begin:end]})"
        elif kind == "return" and code[begin:end] in new:
            new = new.replace(code[begin:end], text[begin:end])
        made.append(Change(path, text, begin, end, new, kind))
    return made


# The choice of changes


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def places_of(arguments):
    """PATH, PATH:LINE or PATH:FIRST-LAST, as (path, first, last)."""
    places = []
    for argument in arguments:
        path, _, lines = argument.partition(":")
        first, _, last = lines.partition("-")
        path = os.path.relpath(os.path.abspath(path), ROOT) if os.path.exists(path) else path
        places.append((path, int(first or 1), int(last or first or 10**9)))
    return places


def candidates(tree, known, options):
    """The changes in the order that the seed gives: lines are drawn from all files alike, and one change of
    each. Every second change is one of a value that passes through."""
    texts = {path: (tree / path).read_text() for path in known}
    headers = [path.read_text() for path in (tree / "src").rglob("*.h")]
    fields = struct_fields([*texts.values(), *headers])
    lines = {True: collections.defaultdict(list), False: collections.defaultdict(list)}
    places = places_of(options.places)
    for path in sorted(known):
        if (options.room and room_of(path) not in options.room) or (
                places and not any(path == p for p, _, _ in places)):
            continue
        for change in changes_of(path, texts[path], fields):
            if not places or any(path == p and first <= change.line <= last for p, first, last in places):
                lines[change.kind in PASS_THROUGH][path, change.line].append(change)
    dice = random.Random(options.seed)
    drawn = []
    for of in (lines[True], lines[False]):
        order = sorted(of)
        dice.shuffle(order)
        kinds = [dice.choice(sorted({change.kind for change in of[line]})) for line in order]
        drawn.append([dice.choice([change for change in of[line] if change.kind == kind])
                      for line, kind in zip(order, kinds)])
    if options.kind:
        drawn = [drawn[options.kind == "small"]]
    mixed = [change for pair in itertools.zip_longest(*drawn) for change in pair if change]
    # Two kinds may give the same change: in `return 0`, the 0 is a constant and a returned value.
    return list({change.key(): change for change in mixed}.values())
