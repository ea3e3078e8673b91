# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of profiles in pprof's form: an exported recording has the report of the recording, a
profile that is written here (pprof_write) has known figures, and go's own pprof has the same table
if it is installed.
"""
import collections
import gzip
import re
import shutil

from harness import main, test
from pprof_write import Profile


def by_hand():
    """
    main (prog.c:30) calls outer, which has inner inlined at prog.c:7; outer calls itself. samples,
    ms of cpu: main 1 5; main outer+inner 3 30; main outer+inner outer+inner 2 20; helper 4 40, of
    another process.
    """
    p = Profile(("samples", "count"), ("cpu", "milliseconds"))
    p.mapping(0x1000, 0x9000, "/bin/prog", "ab12")
    top, calls = p.place(0x1100, ("main", 30)), p.place(0x1200, ("inner", 7), ("outer", 12))
    helper = p.place(0x1300, ("helper", 50))
    one = {"process": "prog", "pid": 7}
    p.sample([top], [1, 5], **one)
    p.sample([calls, top], [3, 30], **one)
    p.sample([calls, calls, top], [2, 20], **one)
    p.sample([helper], [4, 40], process="other", pid=8, colour="red")
    p.add(9, 1700000000 * 10**9)
    p.add(10, 190 * 10**6)
    p.add(11, p.type("cpu", "milliseconds"))
    p.add(12, 10)
    p.add(13, p.text("made by hand"))
    return p


def figures(rows, *keys):
    return {tuple(r[k] for k in keys): (r["self"], r.get("total")) for r in rows}


def nodes(node):
    return (node["name"], node.get("inlined", False), node.get("recursion", 0), node["total"],
            node["self"], sorted(nodes(child) for child in node["children"]))


def by_path(root, total, own):
    """A tree by path from the root: nodes of the same path are added up."""
    found, way = collections.defaultdict(lambda: (0, 0)), [("", root)]
    while way:
        path, node = way.pop()
        path += f"/{node['name']} x{node.get('recursion', 0)}"
        found[path] = (found[path][0] + node[total], found[path][1] + node[own])
        way += [(path, child) for child in node["children"]]
    return found


def nameable(name):
    """Frames without a name have the name of their image in an export, and an address range in
    others."""
    return "[" not in name and "->" not in name


@test
def an_export_has_the_report_of_its_recording(t):
    data, file = t.path("s.data"), t.path("s.pb.gz")
    t.assay("record", "-g", "-o", data, "--", t.workload("btree"))
    t.assay("export", "--to", "pprof", "-o", file, data)
    for inline in ((), ("--no-inline",)):
        source = t.report("-g", "--children", "--sort", "image,function", *inline, data)
        got = t.report("-g", "--children", "--event", "samples", *inline, file)
        t.equal(got["books"]["total"], source["samples"], "samples")
        want = by_path(source["tree"], "samples", "self_samples")
        have = by_path(got["tree"], "total", "self")
        wrong = [(path, want.get(path), have.get(path)) for path in {*want, *have}
                 if nameable(path) and want.get(path) != have.get(path)]
        t.true(len(want) > 10, "paths to compare")
        t.equal(sorted(wrong)[:3], [], f"the call tree {inline}")
    # In samples, inlined functions count for the functions that contain them.
    want = {(r["image"], r["function"]): (r["samples"], r["total_samples"])
            for r in source["rows"] if nameable(r["function"])}
    have = figures(got["functions"], "image", "function")
    wrong = [(k, v, have.get(k)) for k, v in want.items() if have.get(k) != v]
    t.equal(wrong[:3], [], "self and total of each function")
    t.true(len(want) > 10, "functions to compare")
    cpu = t.report(file)
    t.equal((cpu["event"], cpu["books"]["total"]), ("cpu", source["event"]["weight"]),
            "the time that the samples stand for")
    t.equal(cpu["books"]["samples_times_period"], cpu["books"]["samples"] * cpu["period"]["value"],
            "the period of each")
    t.equal(t.report("--comm", "btree", "--event", "samples", file)["books"]["selected"],
            t.report("--comm", "btree", data)["samples"], "samples of a process")


@test
def counted_calls_have_the_same_sums(t):
    source = t.write("prog.c", "int leaf(int n) { return n; } int rec(int n) { return n ? "
                     "rec(n - 1) + leaf(n) : 0; } int main(void) { return rec(9) < 0; }")
    t.run("cc", "-O0", "-g", "-finstrument-functions", "-o", t.path("prog"), source)
    t.assay("calls", "-o", t.path("c.calls"), "--", t.path("prog"))
    t.assay("export", "--to", "pprof", "-o", t.path("c.pb.gz"), t.path("c.calls"))
    got = t.report("--event", "calls", t.path("c.pb.gz"))
    t.equal({r["function"]: r["self"] for r in got["functions"]},
            {"main": 1, "rec": 10, "leaf": 9}, "calls")
    net = t.report(t.path("c.pb.gz"))
    t.equal(net["event"], "net", "the default")
    t.equal(sum(r["self"] for r in net["functions"]), net["books"]["total"], "net")
    t.equal(net["values"][0], {"name": "calls", "unit": "count", "total": 20}, "values")


@test
def every_figure_of_a_profile_by_hand(t):
    for name, content in (("p.pb", by_hand().bytes()), ("p.pb.gz", gzip.compress(by_hand().bytes()))):
        file = t.write(name, content)
        r = t.report("--children", file)
        t.equal(figures(r["functions"], "image", "function"),
                {("/bin/prog", "main"): (5, 55), ("/bin/prog", "inner"): (50, 50),
                 ("/bin/prog", "outer"): (0, 50), ("/bin/prog", "helper"): (40, 40)}, "functions")
        t.equal([row["function"] for row in r["functions"]], ["main", "inner", "outer", "helper"],
                "most total first")
        t.equal(r["books"], {"total": 95, "selected": 95, "functions": 95, "below_paths": 0,
                             "below": 0, "samples": 10, "samples_times_period": 100,
                             "per_duration": 0.5}, "books")
        t.equal((r["kind"], r["event"], r["time_ns"], r["duration_ns"], r["comments"]),
                ("pprof", "cpu", 1700000000 * 10**9, 190 * 10**6, ["made by hand"]), "heading")
        t.equal(r["period"], {"value": 10, "name": "cpu", "unit": "milliseconds"}, "period")
        t.equal(r["images"], [{"image": "/bin/prog", "build_id": "ab12"}], "images")
        t.equal(figures(r["processes"], "process"), {("prog",): (55, None), ("other",): (40, None)},
                "processes")
    plain = t.report(file)
    t.equal([row["function"] for row in t.report("-f", file)["rows"]],
            ["inner", "helper", "main"], "by function")
    t.equal([row["function"] for row in plain["functions"]], ["inner", "helper", "main"],
            "without callees: functions with own time")
    t.equal(figures(t.report("--no-inline", file)["functions"], "function"),
            {("outer",): (50, 50), ("helper",): (40, 40), ("main",): (5, 55)}, "no inlines")
    t.equal(figures(t.report("--event", "samples", file)["functions"], "function")[("inner",)],
            (5, 5), "other values")
    lines = t.report("--sort", "line", "--children", file)["rows"]
    t.equal(figures(lines, "line"), {("prog.c:30",): (5, 55), ("prog.c:7",): (50, 50),
                                     ("prog.c:12",): (0, 50), ("prog.c:50",): (40, 40)}, "lines")
    t.equal(figures(t.report("--sort", "instance,function", file)["rows"], "pid", "function"),
            {(7, "main"): (5, None), (7, "inner"): (50, None), (8, "helper"): (40, None)}, "keys")


@test
def the_tree_folds_recursion_and_names_what_is_inlined(t):
    file = t.write("p.pb", by_hand().bytes())
    tree = t.report("-g", file)["tree"]
    inner = ("inner", True, 0, 50, 50, [])
    outer = ("outer", False, 2, 50, 0, [inner])
    # outer inner outer inner: a round of two functions, two times.
    t.equal(nodes(tree), ("all", False, 0, 95, 0,
                          [("other", False, 0, 40, 0, [("helper", False, 0, 40, 40, [])]),
                           ("prog", False, 0, 55, 0, [("main", False, 0, 55, 5, [outer])])]),
            "tree")
    text = t.assay("report", "-g", file).out
    t.has(text, "inner (inlined)")
    t.has(text, "outer  (recursion of 2 functions, 2 levels)")
    bare = t.report("-g", "--no-inline", file)["tree"]
    # outer outer: a round of one function, two times.
    t.equal(nodes(bare)[5][1], ("prog", False, 0, 55, 0, [
        ("main", False, 0, 55, 5, [("outer", False, 2, 50, 50, [])])]), "without inlines")


@test
def the_nested_form_has_the_same_nodes(t):
    file = t.write("p.pb", by_hand().bytes())
    listed = t.json(t.assay("report", "--json", "-g", file).out)["tree"]
    t.equal([node["id"] for node in listed], list(range(len(listed))), "ids are places")
    t.equal([node["parent"] for node in listed], [None, 0, 1, 2, 3, 0, 5], "callers")
    put = t.json(t.assay("report", "--nested", "-g", file).out)["tree"]
    t.equal(nodes(put), nodes(t.report("-g", file)["tree"]), "nodes")


@test
def filters_choose_and_the_rest_stays_a_row(t):
    file = t.write("p.pb", by_hand().bytes())
    for words, selected in ((("--comm", "prog"), 55), (("--pid", "8"), 40), (("-S", "inner"), 50),
                            (("--dso", "prog"), 95), (("--dso", "/bin/other"), 0)):
        r = t.report(*words, file)
        t.equal((r["books"]["selected"], sum(f["self"] for f in r["functions"])),
                (selected, selected), " ".join(words))
    text = t.assay("report", "--comm", "prog", file).out
    t.has(text, "[not selected]")
    t.has(text, "57.9 %")
    share = t.report("--comm", "prog", "--percentage", "relative", file)["functions"][0]["share"]
    t.near(share, 50 / 55, 1e-9, "of what is selected")
    cut = t.assay("report", "--percent-limit", "50", file).out
    t.has(cut, "[<50%: 2 more]")
    t.has(t.assay("report", "-n", "1", file).out, "[2 more]")


@test
def an_option_that_the_file_cannot_follow_is_refused(t):
    file = t.write("p.pb", by_hand().bytes())
    for words, says in ((("--cpu", "0"), "--cpu needs the CPU of each row, which pprof profiles do not have"), (("--no-idle",), "--no-idle"),
                        (("--time", "0,1"), "--time"),
                        (("--unit", "us"), "--unit"), (("--sort", "cpu"), "--sort cpu needs the CPU of each row, which pprof profiles do not have"),
                        (("--sort", "process", "--children"), "--comm and --pid"),
                        (("--pid", "x"), "not a process number")):
        r = t.assay("report", *words, file, status=2)
        t.has(r.err, says, " ".join(words))
        t.equal(r.out, "", " ".join(words))
    r = t.assay("report", "--event", "wall", file, status=1)
    t.has(r.err, "has no values named wall: they are samples, cpu")
    r = t.assay("report", "--tid", "5", file, status=1)
    t.has(r.err, "--tid: no sample of this profile has a thread id")
    t.has(t.assay("report", file, file, status=2).err, "one by one")
    t.has(t.assay("annotate", "main", "-i", file, status=1).err, "'assay report' shows")


@test
def addresses_without_names_are_shown_with_a_note(t):
    p = Profile(("space", "bytes"))
    p.mapping(0x1000, 0x9000, "/bin/bare", "go-id/with/slashes")
    p.sample([p.place(0x1100), p.place(0x1200)], [2500000])
    p.sample([p.place(0x1200)], [-500])
    p.sample([], [7])
    p.add(7, p.text("malloc.*"))
    p.add(8, p.text("mallopt"))
    file = t.write("bare.pb", p.bytes())
    r = t.report("--children", file)
    t.equal(figures(r["functions"], "function"),
            {("bare+0x100",): (2500000, 2500000), ("bare+0x200",): (-500, 2499500),
             ("[no call path]",): (7, 7)}, "places")
    t.equal((r["books"]["below_paths"], r["books"]["below"]), (1, -500), "below nothing")
    t.equal(r["images"][0]["build_id"], "go-id/with/slashes", "a build-id that is no number")
    t.equal((r["drop_frames"], r["keep_frames"]), ("malloc.*", "mallopt"), "frames to hide")
    t.equal((r["time_ns"], r["duration_ns"], r["period"]), (None, None, None), "missing times")
    missing = "; ".join(r["missing"])
    for says in ("the time of the recording", "the duration", "the sampling period",
                 "the functions of 2 of 2 places",
                 "lines of source code", "process id or thread"):
        t.has(missing, says)
    text = t.assay("report", "--full", file).out
    t.has(text, "hides functions that match malloc.*, except mallopt")
    t.has(text, "2.5 MB")
    t.has(" ".join(text.split()), "1 call path is negative, -500 bytes together")


@test
def the_default_value_is_that_of_pprof_and_omitted_labels_are_reported(t):
    types = [(name, "count") for name in ("a", "b", "c", "d", "e", "f")]
    for default, main_value in ((None, "f"), ("b", "b"), ("nothing", "f")):
        p = Profile(*types)
        p.sample([p.place(1, ("main", 1), mapping=0)], [1, 2, 3, 4, 5, 6], colour="red")
        if default:
            p.add(14, p.text(default))
        file = t.write("d.pb", p.bytes())
        r = t.report(file)
        t.equal((r["event"], r["books"]["total"]), (main_value, "abcdef".index(main_value) + 1),
                f"default {default}")
    t.equal(len(r["warnings"]), 2, "labels and values that are left out")
    for name, value in zip("abcdef", range(1, 7)):
        t.equal(t.report("--event", name, file)["books"]["total"], value, name)
    t.has(t.assay("report", file).err, "labels besides")


def folded(t, file, *words):
    """The lines of an export as {frames: number}."""
    lines = t.assay("export", "--to", "folded", *words, file).out.splitlines()
    return {path: int(number) for path, number in (line.rsplit(" ", 1) for line in lines)}


@test
def folded_prints_the_value_that_is_asked_for_whatever_its_name(t):
    """wall is a sum, and weight another name of it, in recordings of assay; not so in a profile of
    another tool."""
    names = ("samples", "cpu", "wall", "alloc_space", "weight")
    for default in (*names, "nothing"):
        p = Profile(*((name, "count") for name in names))
        p.mapping(0x1000, 0x9000, "/bin/prog")
        p.sample([p.place(0x1100, ("main", 1))], [1, 20, 300, 4000, 50000])
        p.add(14, p.text(default))
        file = t.write("values.pb", p.bytes())
        t.equal(folded(t, file), {"prog;main": 1}, f"samples is the default, {default} is main")
        for i, name in enumerate(names):
            t.equal(folded(t, file, "--value", name), {"prog;main": (i + 1) * 10**i}, name)
    refused = t.assay("export", "--to", "folded", "--value", "net", file, status=2)
    t.has(refused.err, "no values named net: they are samples, cpu, wall, alloc_space, weight")
    for name in ("wall", "weight", "calls"):
        p = Profile((name, "bytes"))
        p.sample([p.place(0x1100, ("main", 1), mapping=0)], [7])
        t.equal(folded(t, t.write("one.pb", p.bytes())), {"main": 7}, f"{name} alone")
    p = Profile(("calls", "count"), ("net", "bytes"))
    p.sample([p.place(0x1100, ("main", 1), mapping=0)], [7, 8])
    t.equal(folded(t, t.write("two.pb", p.bytes())), {"main": 8}, "no recording of calls")


@test
def folded_has_no_frame_for_a_process_that_is_not_known(t):
    p = Profile(("samples", "count"))
    main, leaf = (p.place(i, (name, 1), mapping=0) for i, name in ((1, "main"), (2, "leaf")))
    p.sample([leaf, main], [1])
    p.sample([leaf, main], [20], process="one;two")
    p.sample([], [300])
    p.sample([], [4000], process="other")
    p.sample([main], [-50000])
    file = t.write("bare.pb", p.bytes())
    got = t.assay("export", "--to", "folded", file)
    t.equal(got.out.splitlines(), ["# left out: 1 path with -50000 together, which is negative",
                                   "[no call path] 300", "main;leaf 1", "one:two;main;leaf 20",
                                   "other 4000"], "lines")
    t.has(got.err, "has no negative values")


@test
def a_value_without_a_name_is_reported_and_exported(t):
    p = Profile(("", ""))
    p.sample([p.place(1, ("main", 1), mapping=0)], [53])
    file = t.write("unnamed.pb", p.bytes())
    t.has(t.assay("report", "--full", file).out, "A profile of a value without a name")
    t.equal(t.report("--event", "", file)["books"]["total"], 53, "the value by its empty name")
    t.equal(folded(t, file), {"main": 53}, "folded")


@test
def damage_is_refused_with_its_place(t):
    p = by_hand()
    p.add(7, 999)
    bad = Profile(("cpu", "nanoseconds"))
    bad.add(5, [(1, 1), (2, 999)])
    bad.add(4, [(1, 1), (4, [(1, 1)])])
    bad.sample([1], [1])
    for name, content, says in (
            ("frames.pb", p.bytes(), "string 999 of"),
            ("name.pb", bad.bytes(), "string 999 of"),
            ("cut.pb.gz", gzip.compress(by_hand().bytes())[:-12], "byte")):
        r = t.assay("report", t.write(name, content), status=1)
        t.has(r.err, name)
        t.has(r.err, says)
        t.has(r.err, "byte")


@test
def very_deep_profiles_are_summed(t):
    p = Profile(("samples", "count"))
    p.mapping(0x1000, 0x1 << 40, "/bin/deep")
    deep = [p.place(0x1000 + i, (f"f{i}", 1)) for i in range(3000)]
    for i in range(300):
        p.sample(deep[i:], [1], pid=i, process="deep")
    file = t.write("deep.pb", p.bytes())
    r = t.report("--children", "-g", file)
    totals = figures(r["functions"], "function")
    t.equal((totals[("f2999",)], totals[("f0",)]), ((0, 300), (1, 1)), "outermost, innermost")
    t.equal(r["tree"]["total"], 300, "the tree has all")


@test
def go_tool_pprof_has_the_same_table(t):
    if not shutil.which("go"):
        t.skip("go is not installed")
    data, exported = t.path("s.data"), t.path("s.pb.gz")
    t.assay("record", "-g", "-o", data, "--", t.workload("btree"))
    t.assay("export", "--to", "pprof", "-o", exported, data)
    for file in (t.write("p.pb.gz", gzip.compress(by_hand().bytes())), exported):
        top = t.run("go", "tool", "pprof", "-top", "-symbolize=none", "-nodecount=100000",
                    "-nodefraction=0", "-sample_index=samples", file, timeout=120).out.splitlines()
        begin = next(i for i, line in enumerate(top) if line.split()[:1] == ["flat"])
        theirs = {}
        for line in top[begin + 1:]:
            flat, _, _, total, _, name = line.split(None, 5)
            theirs[re.sub(r" \((partial-)?inline\)$", "", name)] = (int(flat), int(total))
        ours = {row["function"]: (row["self"], row["total"]) for row in t.report(
            "--children", "--event", "samples", "--sort", "function", file)["rows"]}
        t.true(len(ours) >= 4, "functions to compare")
        t.equal(ours, theirs, f"{file}: self and total of each function")


main()
