# SPDX-License-Identifier: GPL-2.0-or-later
"""Inlined functions in reports: a program of known shares, all of it inlined into one
function. The program counts the CPU time of each part itself."""

import json
import math
import os

from harness import main, test, test_of_shares

PROGRAM = r"""
#include <stdio.h>
#include <time.h>
#define AI static inline __attribute__((always_inline))
static volatile unsigned long sink;
__attribute__((noinline)) static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
AI void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 3 + 1;
}
AI void heavy(void) { spin(3000000); }
AI void light(void) { spin(1000000); }
__attribute__((noinline)) void work(double *h, double *l)
{
	for (int i = 0; i < 60; i++) {
		double a = now(), b;
		heavy();
		b = now();
		light();
		*h += b - a;
		*l += now() - b;
	}
}
__attribute__((noinline, noclone)) unsigned long deep(int n)
{
	unsigned long r;
	if (!n) {
		spin(150000000);
		return sink;
	}
	r = deep(n - 1);
	sink = r;
	return r + 1;
}
int main(int argc, char **argv)
{
	double h = 0, l = 0;
	if (argc > 1)
		return (int)deep(300) & 1;
	work(&h, &l);
	printf("{\"heavy\": %f, \"light\": %f}\n", h, l);
	return 0;
}
"""


def build(t, *flags):
    t.need("gcc")
    t.write("parts.c", PROGRAM)
    t.run("gcc", "-O2", "-g", "-fno-omit-frame-pointer", *flags, "-o", t.path("parts"),
          t.path("parts.c"))
    return t.path("parts")


def environment(t):
    return {"XDG_CACHE_HOME": str(t.path("cache"))}


def record(t, program, *words):
    done = t.assay("record", "-q", "-F", "997", "-g", "fp", "-o", t.path("a.data"), "--", program,
                   *words, status=None)
    return done.out


def nodes(tree, path=()):
    """(path of names, node) of each node."""
    path = (*path, tree["name"])
    yield path, tree
    for child in tree["children"]:
        yield from nodes(child, path)


def inlined_shares(found):
    """name: share, for the inlined functions that `work` itself calls. A sample in an interrupt has
    nodes of its own, under [interrupts]."""
    shares = {}
    for path, node in nodes(found["tree"]):
        if node.get("inlined") and path[-2] == "work":
            shares[path[-1]] = shares.get(path[-1], 0) + node["share"]
    return shares


@test_of_shares
def inlined_functions_have_nodes_with_their_shares(t):
    truth = json.loads(record(t, build(t)))
    found = t.report("-g", "--inline", t.path("a.data"), env=environment(t))
    shares = inlined_shares(found)
    t.equal(sorted(shares), ["heavy", "light"], "inlined functions of work")
    both = shares["heavy"] + shares["light"]
    t.between(both, 0.8, 1.0001, "share of both")
    share = truth["heavy"] / (truth["heavy"] + truth["light"])
    # Five standard deviations (once in two million times); of 400 samples that is 0.11.
    samples = both * found["tree"]["samples"]
    t.near(shares["heavy"] / both, share, 5 * math.sqrt(share * (1 - share) / samples),
           "share of heavy")
    spins = [path for path, node in nodes(found["tree"])
             if path[-1] == "spin" and node.get("inlined")]
    t.equal({path[-2] for path in spins}, {"heavy", "light"}, "who calls spin")
    # The table of functions counts them apart, too.
    own = {row["function"]: row["samples"] for row in found["functions"]}
    t.equal(own.get("spin"), sum(node["self_samples"] for path, node in nodes(found["tree"])
                                 if path[-1] == "spin"), "samples of spin in the table")


@test
def without_inlined_functions_they_are_not_there(t):
    record(t, build(t))
    with_ = t.report("-g", "--inline", t.path("a.data"), env=environment(t))
    without = t.report("-g", t.path("a.data"), env=environment(t))
    names = {row["function"] for row in without["functions"]}
    t.true("work" in names and not names & {"heavy", "light", "spin"}, f"functions {names}")
    t.equal([path for path, node in nodes(without["tree"]) if node.get("inlined")], [])
    t.equal(with_["tree"]["samples"], without["tree"]["samples"])
    share = {path[-1]: node["share"] for path, node in nodes(with_["tree"])}["work"]
    t.equal({path[-1]: node["share"] for path, node in nodes(without["tree"])}["work"], share)
    text = t.assay("report", "-g", "--inline", t.path("a.data"), env=environment(t)).out
    t.has(text, "heavy (inlined)")
    for words in ((), ("--no-inline",), ("--inline", "--no-inline")):
        text = t.assay("report", "-g", *words, t.path("a.data"), env=environment(t)).out
        t.lacks(text, "(inlined)")


@test
def the_index_is_kept_and_gives_the_same_report(t):
    program = build(t, "-Wl,--build-id=0x0123456789abcdef")
    record(t, program)
    first = t.assay("report", "-g", "--inline", t.path("a.data"), env=environment(t)).out
    kept = t.path("cache") / "assay" / "inline" / "0123456789abcdef"
    t.true(kept.exists(), f"{kept} is not there")
    t.equal(t.assay("report", "-g", "--inline", t.path("a.data"), env=environment(t)).out, first)
    content = kept.read_bytes()
    kept.write_bytes(content[:len(content) // 2])
    t.equal(t.assay("report", "-g", "--inline", t.path("a.data"), env=environment(t)).out, first)
    t.equal(len(kept.read_bytes()), len(content), "bytes of the index made again")
    os.chmod(t.path("cache"), 0o500)
    t.equal(t.assay("report", "-g", "--inline", t.path("a.data"),
                    env={"XDG_CACHE_HOME": "/proc/none", "HOME": "/proc/none"}).out, first)


@test_of_shares
def annotate_names_inlined_functions(t):
    record(t, build(t))
    text = t.assay("annotate", "work", t.path("a.data"), env=environment(t)).out
    line = 1 + PROGRAM.splitlines().index("		heavy();")
    spin = 1 + PROGRAM.splitlines().index("AI void heavy(void) { spin(3000000); }")
    t.has(text, f"; inlined: spin at parts.c:{spin}, in heavy at parts.c:{line}")
    t.lacks(t.assay("annotate", "--no-inline", "work", t.path("a.data"),
                    env=environment(t)).out, "inlined")
    found = t.json(t.assay("annotate", "--json", "work", t.path("a.data"),
                           env=environment(t)).out)
    hot = sum(i["share"] for i in found["instructions"]
              if [f["function"] for f in i["inlined"]][:1] == ["spin"])
    t.between(hot, 0.9, 1.0001, "share of instructions of spin")
    refused = t.assay("annotate", "heavy", t.path("a.data"), env=environment(t), status=1).err
    t.has(refused, "heavy was inlined: its instructions are in its callers")
    t.has(refused, "'assay annotate work'")


@test
def split_dwarf_is_read_and_missed(t):
    t.need("gcc")
    t.write("parts.c", PROGRAM)
    t.run("gcc", "-O2", "-g", "-gsplit-dwarf", "-fno-omit-frame-pointer", "-c", "parts.c",
          cwd=t.directory)
    t.run("gcc", "-o", "parts", "parts.o", cwd=t.directory)
    record(t, t.path("parts"))
    for dwo in t.directory.glob("*.dwo"):
        dwo.rename(t.path("hidden"))
        missed = t.report("-g", "--inline", t.path("a.data"), env=environment(t))
        t.path("hidden").rename(dwo)
    t.equal(inlined_shares(missed), {})
    t.true(any("inlined functions" in text for text in missed["warnings"]), missed["warnings"])
    found = t.report("-g", "--inline", t.path("a.data"), env=environment(t))
    t.equal(sorted(inlined_shares(found)), ["heavy", "light"])
    t.true(not any("inlined functions" in text for text in found["warnings"]), found["warnings"])


@test_of_shares
def lines_of_source_are_keys(t):
    record(t, build(t))
    found = t.report("--sort", "srcline", t.path("a.data"), env=environment(t))
    line = 1 + PROGRAM.splitlines().index("		sink = sink * 3 + 1;")
    share = {os.path.basename(row["line"]): row["share"] for row in found["rows"]}
    loops = sum(share.get(f"parts.c:{n}", 0) for n in (line - 1, line))
    t.between(loops, 0.8, 1.0001, "share of the loop's two lines")


@test_of_shares
def deep_recursion_is_one_line(t):
    record(t, build(t), "deep")
    text = t.assay("report", "-g", "--percent-limit", "10", t.path("a.data"),
                   env=environment(t)).out
    # frame pointers reach no deeper than the kernel's 127 frames
    t.true("deep  (recursion, 1" in text, text[-1500:])
    t.equal(text.count("deep  ("), 1, "lines of deep")
    found = t.report("-g", "--inline", t.path("a.data"), env=environment(t))
    # While the program enters or leaves the recursion (some us), the stack is less deep and begins
    # in main.
    levels = [node["recursion"] for path, node in nodes(found["tree"])
              if path[-1] == "deep" and node["share"] > 0.1]
    t.true(len(levels) == 1 and levels[0] > 100, f"levels {levels}")


main()
