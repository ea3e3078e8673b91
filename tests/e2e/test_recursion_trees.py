# SPDX-License-Identifier: GPL-2.0-or-later
"""Call trees of recursion fold whole repeated rounds only, for every shape of recursion_shapes.py,
every kind of recording, in text and JSON.
"""
import re

from harness import main, test
from recursion_shapes import KINDS, cell, files, node, texts


def tree_of_text(text):
    """The node `main` of a call tree in text: name, cells of total and self, levels, functions."""
    lines = text.splitlines()
    start, header = next((i, line) for i, line in enumerate(lines) if line.endswith("call tree")
                         and "total" in line)
    column, own = header.index("call tree"), "self" if " self " in header else "net"
    way, top = [], None
    for line in lines[start + 1:]:
        name = line[column:].rstrip()
        if not name:
            break
        depth = len(name) - len(name.lstrip())
        word = re.search(r"recursion(?: of (\d+) functions)?, (\d+) levels", name)
        made = [name.split()[0], cell(line, header, "total"), cell(line[:column], header, own),
                int(word[2]) if word else 0, int(word[1] or 1) if word else 0, []]
        way = [(d, n) for d, n in way if d < depth]
        if way:
            way[-1][1][5].append(made)
        if made[0] == "main":
            top = made
        way.append((depth, made))
    return top


def differences(got, want, shape, at=""):
    """The errors in a tree printed as text, one sentence each."""
    name, total, own, levels, functions, children = want
    at += "/" + name
    if got[1] not in texts(total, shape):
        yield f"{at} has total {got[1]}, not {total} us"
    if got[2] not in (texts(own, shape) if own else {"", "0 s", "0.0 %"}):
        yield f"{at} has net {got[2]}, not {own} us"
    if (got[3], got[4]) != (levels, functions):
        yield f"{at} has {got[3]} levels of {got[4]} functions, not {levels} of {functions}"
    below = {child[0]: child for child in got[5] if child[1] not in ("0 s", "0", "0.0 %")}
    if sorted(below) != [child[0] for child in children]:
        yield f"below {at} are {sorted(below)}, not {[child[0] for child in children]}"
        return
    for child in children:
        yield from differences(below[child[0]], child, shape, at)


def check_trees(t, *kinds):
    wrong = []
    for _, shape, file, what in files(t, *kinds):
        text = t.assay("report", "-g", "--percent-limit", "0", file).out
        wrong += [f"{what}: {d}" for d in differences(tree_of_text(text), shape.tree, shape)]
    t.equal(wrong, [], "differences")


@test
def the_tree_of_samples_folds_whole_rounds_only(t):
    check_trees(t, "samples")


@test
def the_tree_of_a_pprof_profile_folds_whole_rounds_only(t):
    check_trees(t, "pprof")


@test
def the_tree_of_counted_calls_folds_whole_rounds_only(t):
    check_trees(t, "calls")


@test
def the_tree_of_event_tags_folds_whole_rounds_only(t):
    check_trees(t, "tags")


# Keys of a node in JSON: name, total, self, and the factor to us
KEYS = {"samples": ("name", "samples", "self_samples", 1), "pprof": ("name", "total", "self", 1000),
        "calls": ("function", "total_ns", "net_ns", 1000),
        "tags": ("name", "total_ns", "net_ns", 1000)}


def tree_of_json(report, word):
    """The tree in node()'s form, from main on; nodes without a value are left out."""
    name, total, own, unit = KEYS[word]
    root = report["tree"] if "tree" in report else report["processes"][0]["tree"]

    def plain(n):
        return node(n[name], n[total] / unit, n[own] / unit,
                    *(plain(child) for child in n.get("children", ()) if child[total]),
                    levels=n.get("recursion", 0),
                    functions=n.get("recursion_functions", int("recursion" in n)))

    while root[name] != "main":
        root = next(child for child in root["children"] if child[total])
    return plain(root)


@test
def the_trees_of_json_are_those_of_the_text(t):
    for word in KINDS:
        for _, shape, file, what in files(t, word):
            report = t.json(t.assay("report", "-g", "--nested", file).out)
            t.equal(tree_of_json(report, word), shape.tree, what)



main()
