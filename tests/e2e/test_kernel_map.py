# SPDX-License-Identifier: GPL-2.0-or-later
"""A map of another kernel, or a changed one, is refused by every command; the right one is used."""
import os
import pathlib
import random

from harness import main, test

STEP = 0x200000  # KASLR moves a kernel by a multiple of this


def kallsyms(t):
    lines = [line.split(" ", 2) for line in pathlib.Path("/proc/kallsyms").read_text().splitlines()]
    if os.geteuid() or not any(int(line[0], 16) for line in lines):
        t.skip("kernel addresses are hidden")
    return [(int(address, 16), kind, name) for address, kind, name in lines]


def moved(lines, by, keep=()):
    return [(address if name in keep else address + by, kind, name) for address, kind, name in lines]


def other_build(lines):
    """The same functions, of which some became larger."""
    rng, by, other = random.Random(1), 0, []
    for address, kind, name in lines:
        by += 16 * (rng.random() < 0.01 and name not in ("_text", "_stext"))
        other.append((address + by, kind, name))
    return other


def write(t, name, lines):
    return t.write(name, "".join(f"{address:016x} {kind} {text}\n" for address, kind, text in lines))


def wrong_maps(t):
    """Files, and a word of the reason."""
    lines = kallsyms(t)
    own = [line for line in lines if "\t" not in line[2]]
    return {
        write(t, "by_0x40", moved(lines, 0x40)): "moves by multiples",
        write(t, "functions_by_0x40", moved(lines, 0x40, ("_text", "_stext"))): "is not of the recorded",
        write(t, "other_build", other_build(lines)): "is not of the recorded",
        write(t, "half", own[:len(own) // 2]): "is cut short",
        write(t, "second_half", own[len(own) // 2:]): "neither _text nor _stext",
        write(t, "hidden", [(0, kind, name) for _, kind, name in lines]): "are hidden",
        t.write("empty", ""): "no symbols",
        t.path("missing"): "No such file",
    }


def names(t, *words):
    return [(row["function"], row["samples"]) for row in t.report(*words)["functions"] if row["mode"] == "kernel"]


def check_recording(t, data):
    wrong = wrong_maps(t)
    want = names(t, data)
    t.true(len(want) > 3, f"kernel functions: {want}")
    for file, reason in wrong.items():
        got = t.assay("report", "--kallsyms", file, data, status=1)
        t.has(got.err, reason, f"the reason: {file}")
        t.has(got.err, str(file), "the file")
        t.equal(got.out, "", "the report")
    lines = kallsyms(t)
    own = [line for line in lines if "\t" not in line[2]]
    for name, right in (("right", lines), ("no_modules", own), ("elsewhere", moved(own, 13 * STEP))):
        t.equal(names(t, "--kallsyms", write(t, name, right), data), want, name)


@test
def a_map_is_compared_with_a_recording(t):
    kallsyms(t)
    data = t.path("a.data")
    t.assay("record", "-a", "-F", "997", "-g", "-o", data, "--", "dd", "if=/dev/urandom", "of=/dev/null",
            "bs=64k", "count=1500")
    check_recording(t, data)


@test
def a_map_is_compared_with_a_recording_of_perf(t):
    kallsyms(t)
    t.need("perf")
    data = t.path("p.data")
    t.run("perf", "record", "-q", "-a", "-F", "997", "-o", data, "--", "dd", "if=/dev/urandom",
          "of=/dev/null", "bs=64k", "count=1500")
    check_recording(t, data)


@test
def every_command_refuses_a_wrong_map(t):
    wrong = write(t, "other", other_build(kallsyms(t)))
    data = t.path("a.data")
    t.assay("record", "-F", "997", "-g", "-o", data, "--", "dd", "if=/dev/urandom", "of=/dev/null", "bs=64k",
            "count=500")
    query = "SELECT count(*) FROM samples"
    for words in (["report", data], ["report", "--brief", data], ["report", "--html=page.html", data],
                  ["annotate", "main", data], ["export", "--to", "folded", data], ["sql", data, query],
                  ["diff", data, data]):
        got = t.assay(words[0], "--kallsyms", wrong, *words[1:], status=None, cwd=t.path("."))
        t.true(got.status != 0, f"{words[0]} fails: {got}")
        t.has(got.err, "is not of the recorded kernel", words[0])
        t.equal(got.out, "", f"the output of {words[0]}")
    t.true(not os.path.exists(t.path("page.html")), "no page is written")


@test
def a_map_is_compared_with_a_store(t):
    wrong = write(t, "functions_by_0x40", moved(kallsyms(t), 0x40, ("_text", "_stext")))
    right = write(t, "right", kallsyms(t))
    store, env = t.path("s.db"), {"XDG_RUNTIME_DIR": t.path("run")}
    os.mkdir(t.path("run"), 0o700)
    t.assay("start", "--name", "map", "--store", store, "-F", "997", env=env)
    t.run("dd", "if=/dev/urandom", "of=/dev/null", "bs=64k", "count=1500")
    t.assay("stop", "--name", "map", env=env)
    got = t.assay("report", "--store", store, "--kallsyms", wrong, status=1)
    t.has(got.err, "recorded functions differ", "the reason")
    t.equal(names(t, "--store", store, "--kallsyms", right), names(t, "--store", store), "the right map")


main()
