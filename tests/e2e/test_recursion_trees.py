# SPDX-License-Identifier: GPL-2.0-or-later
"""Call trees of recursion fold whole repeated rounds only, for every shape of recursion_shapes.py,
every kind of recording, in text and JSON, with callers or callees first. Inverted trees have each
function's own time at the first level.
"""
import collections
import re

from harness import main, test
from recursion_shapes import KINDS, SHAPES, Shape, cell, chain, files, node, self_of, texts, ways


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
        text = t.assay("report", "-g", "--inline", "--percent-limit", "0", file).out
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
            report = t.json(t.assay("report", "-g", "--inline", "--nested", file).out)
            t.equal(tree_of_json(report, word), shape.tree, what)


# Inverted trees: callees above callers


def nodes_of(node, key, way=()):
    """(way, node) of each node below a node of nested JSON that has a value; a way is names, with
    ":LEVELS/FUNCTIONS" at a recursion."""
    for child in node["children"]:
        recursion = f":{child['recursion']}/{child['recursion_functions']}" \
            if "recursion" in child else ""
        here = way + (child[key] + recursion,)
        yield here, child
        yield from nodes_of(child, key, here)


def inverted(t, word, file, *words):
    report = t.json(t.assay("report", "--inverted", "--inline", "--nested", *words, file).out)
    return report.get("inverted_tree") or report["processes"][0]["inverted_tree"]


@test
def inverted_trees_have_the_paths_of_each_function(t):
    for word in KINDS:
        name, total, own, unit = KEYS[word]
        for _, shape, file, what in files(t, word):
            root = inverted(t, word, file)
            got = {" ".join(way): n[own] / unit for way, n in nodes_of(root, name) if n[own]}
            t.equal(got, shape.inverted, what)
            for n in [root] + [n for _, n in nodes_of(root, name)]:
                t.equal(n[total], n[own] + sum(child[total] for child in n["children"]),
                        f"{what}: the children of {n[name]} add up")
            t.equal({n[name]: n[total] / unit for n in root["children"] if n[total]},
                    self_of(shape), f"{what}: the first level is the own time")
            calls = {"calls": len(ways(shape)),  # a path is one call there, and each event here
                     "tags": 1 + sum(len(chain) - 1 for chain in shape.chains)}
            t.equal(sum(n.get("calls", 0) for n in root["children"]), calls.get(word, 0),
                    f"{what}: calls")


@test
def inverted_trees_in_text_have_the_same_values(t):
    for word in KINDS:
        for _, shape, file, what in files(t, word):
            text = t.assay("report", "--inverted", "--inline", "--percent-limit", "0", file).out
            want = collections.Counter()
            for path, us in shape.inverted.items():
                path = [name.split(":")[0] for name in path.split()]
                for end in range(1, len(path) + 1):
                    want[tuple(path[:end])] += us
            lines = text.splitlines()
            start = next(i for i, line in enumerate(lines) if line.endswith("inverted call tree"))
            column = lines[start].index("inverted call tree")
            title = "self" if word in ("samples", "pprof") else "net"
            way, got = [], {}
            for line in lines[start + 2:]:
                label = line[column:]
                if not label.strip():
                    break
                way[len(label) - len(label.lstrip()) - 1:] = [label.split()[0]]
                got[tuple(way)] = cell(line, lines[start], title)
            for path, us in want.items():
                t.true(got.get(path) in texts(us, shape),
                       f"{what}: {path} has {got.get(path)}, not {us} us")
            rest = {path: value for path, value in got.items() if path not in want}
            t.equal({value for value in rest.values()} - {"0 s", "0", ""}, set(),
                    f"{what}: other nodes")


# leaf has 2 % of all, of which g caused less than 1 %.
SMALL = Shape([chain("main960 f0 leaf12"), chain("main0 g0 leaf8"), chain("main0 h0 even20")],
              {}, None, None)


@test
def limits_of_trees_are_shares_of_what_is_selected(t):
    for word, kind in KINDS.items():
        file = kind.write(t, f"{word}-small", SMALL)
        for option in ("-g", "--inverted"):
            text = t.assay("report", option, "--inline", "-S", "leaf", "--percent-limit", "1", file).out
            for name in ("f", "g", "leaf"):
                t.true(re.search(rf" {name}$", text, re.M), f"{word} {option}: {name}: {text}")
            text = t.assay("report", option, "--inline", "-S", "leaf", "--percent-limit", "50", file).out
            t.true(not re.search(r" g$", text, re.M), f"{word} {option}: 40 % is below 50 %")
            t.true(re.search(r" f$", text, re.M), f"{word} {option}: 60 % is above 50 %")
            text = t.assay("report", option, "--inline", "--percent-limit", "1", file).out
            t.true(not re.search(r" g$", text, re.M), f"{word} {option}: 0.8 % of all")


@test
def inverted_trees_are_not_for_without(t):
    file = KINDS["samples"].write(t, "without", SHAPES["direct"])
    t.has(t.assay("report", "--inverted", "--inline", "--without", "f", file, status=2).err,
          "not --callers, --callees and --inverted")



main()
