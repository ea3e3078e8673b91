# SPDX-License-Identifier: GPL-2.0-or-later
"""Different builds of one program: rows of their functions are one. Many machines: a short heading."""
import re
import shutil

from harness import main, test
from old_windows import light
from page_data import Page
from stores import environment

SOURCE = """
#include <stdlib.h>
static volatile unsigned long sink;
#if BUILD == 2
static __attribute__((noinline)) void added(void) { for (int i = 0; i < 1000; i++) sink += i; }
#endif
static __attribute__((noinline)) void inner(void) { for (int i = 0; i < 1000; i++) sink += i * BUILD; }
static __attribute__((noinline)) void outer(void) { inner(); sink++; }
int main(int argc, char **argv)
{
    for (long i = atol(argv[1]); i; i--) {
#if BUILD == 2
        added();
#endif
        outer();
    }
    return 0;
}
"""


@test
def functions_of_two_builds_are_one_row(t):
    t.need("gcc")
    program, files, seen = t.path("work"), [], {"inner": 0, "added": 0}
    t.write("work.c", SOURCE)
    for build in (1, 2):
        t.run("gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", f"-DBUILD={build}",
              "-o", program, t.path("work.c"))
        files.append(t.path(f"{build}.data"))
        build_id = re.search(r"Build ID: (\w+)", t.run("readelf", "-n", program).out).group(1)
        kept = t.path(f"root/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, kept)
        t.assay("record", "-g", "-F", "997", "-o", files[-1], "--", program, "200000")
        for f in t.json(t.assay("report", "--json", files[-1]).out)["functions"]:
            if f["function"] in seen:
                seen[f["function"]] += f["samples"]
    files = ["--symfs", t.path("root"), *files]
    found = t.json(t.assay("report", "-g", "--json", *files).out)
    rows = [f for f in found["functions"] if f["image"] == str(program)]
    names = [f["function"] for f in rows]
    t.equal(len(names), len(set(names)), f"functions of {rows}")
    t.equal(sum(f["samples"] for f in rows if f["function"] in seen), sum(seen.values()), "samples of both")
    text = t.assay("report", "-g", *files).out
    tree = text[text.index("Call tree"):] if "Call tree" in text else text
    tree = tree.split("[interrupts]")[0]  # below it are the paths that handlers interrupted
    t.equal(len(re.findall(r"\binner\b", tree)), 1, f"nodes of the tree: {tree}")
    t.assay("report", "--html", t.path("page.html"), *files)
    stacks = Page.of_file(t.path("page.html")).stacks()
    names = [stacks.names[i] for i in stacks.functions["name"]]
    t.equal(names.count("inner"), 1, f"functions of the page: {names}")
    by_image = t.json(t.assay("report", "--json", "--sort", "image", *files).out)["rows"]
    t.equal([r["image"] for r in by_image].count(str(program)), 1, f"images: {by_image}")


@test
def annotate_lists_functions_of_one_name_in_a_line(t):
    t.need("gcc")
    for part in ("one", "two"):
        t.write(f"{part}.c", "static __attribute__((noinline, noclone)) void same(volatile long *n)\n"
                f"{{ for (long i = 0; i < 100000000; i++) *n += i; }}\nvoid {part}(volatile long *n) {{ same(n); }}\n")
    t.write("main.c", "void one(volatile long *); void two(volatile long *);\n"
            "int main(void) { volatile long n = 0; one(&n); two(&n); return 0; }\n")
    t.run("gcc", "-O1", "-g", "-o", t.path("twice"), t.path("main.c"), t.path("one.c"), t.path("two.c"))
    t.assay("record", "-F", "499", "-o", t.path("twice.data"), "--", t.path("twice"))
    refused = t.assay("annotate", "same", t.path("twice.data"), status=2).err
    t.equal(len(refused.splitlines()), 1, refused)
    t.lacks(refused, "\\n")
    places = re.findall(r"(?:of these: |, )(twice:0x[0-9a-f]+) \(same, \d+ samples?\)", refused)
    t.equal(len(places), 2, refused)
    for place in places:
        t.has(t.assay("annotate", place, t.path("twice.data")).out, "same in ")


@test
def a_report_of_many_machines_is_short(t):
    store = light(t, t.path("many.db"), *(f"web{i}" for i in range(12)), windows=2)
    env = environment(t)
    text = t.assay("report", "--full", "--store", store, "--host", "web*", env=env).out
    t.equal(text[:text.index("time  ")].count(str(store)), 1, f"the store's name: {text[:3000]}")
    t.has(text, "12 machines, ")
    t.equal(len(re.findall(r"^machine ", text, re.M)), 3, "machines that are described")
    t.has(text, "9 more recordings of 9 machines; --json lists all")
    t.has(text, "wall of all CPUs")
    found = t.report("--store", store, "--host", "web*")
    t.equal(len({r["hostname"] for r in found["recordings"]}), 12, "machines of the JSON")
    t.equal(sum(r["samples"] for r in found["recordings"]), sum(f["samples"] for f in found["functions"]), "samples")
    one = t.assay("report", "--full", "--store", store, "--host", "web3", env=env).out
    t.has(one, "The whole machine, ")


@test
def sessions_of_one_machine_are_one_machine(t):
    store = t.path("sessions.db")
    for _ in range(2):
        t.run(t.workload("store_writer"), store, 0, 2, 3, 30)
    text = t.assay("report", "--full", "--store", store, env=environment(t)).out
    t.equal(len(t.report("--store", store)["recordings"]), 2, "sessions")
    t.has(text, "The whole machine, ")
    t.has(text, "wall x 1 CPU")


main()
