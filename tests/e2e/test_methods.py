# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor --measure measures what the methods cost here; help methods shows them with their date."""

import json
import os
import re
import stat

from harness import ROOT, main, test

COSTS = ["sample", "sample_chain", "sample_stack", "switch", "call", "tag"]


def own_cache(t):
    return {"XDG_CACHE_HOME": str(t.path("cache"))}


@test
def costs_are_measured_or_have_a_reason(t):
    env = own_cache(t)
    found = json.loads(t.assay("doctor", "--measure", "--json", env=env).out)
    t.equal([row["cost"] for row in found["costs"]], COSTS, "costs")
    for row in found["costs"]:
        t.true((row["ns"] is None) == bool(row["reason"]), f"a figure or a reason: {row}")
        if row["low_ns"]:
            t.true(row["low_ns"] <= row["ns"] <= row["high_ns"], f"quartiles: {row}")
    by_name = {row["cost"]: row["ns"] for row in found["costs"]}
    # On a busy machine there may be no figure, which is then the only reason.
    measured = by_name["call"] is not None
    if measured:
        t.true(1 < by_name["call"] < 1e6, by_name)
    else:
        reason = next(row["reason"] for row in found["costs"] if row["cost"] == "call")
        t.has(reason, "the machine is too busy")
    kept = t.path("cache") / "assay" / "costs" / "machine"
    t.equal(stat.S_IMODE(os.stat(kept).st_mode), 0o600, "mode of the kept file")
    methods = json.loads(t.assay("help", "methods", "--json", env=env).out)
    t.equal(methods["measured_ns"], found["measured_ns"], "the date")
    calls = next(m for m in methods["methods"] if m["commands"] == "calls")
    text = t.assay("help", "methods", env=env).out
    if measured:
        t.near(calls["event_ns"], by_name["call"], 0.1, "the kept cost of a call")
        t.has(text, "ns a call (measured here)")
    t.true(re.search(r"Costs of this machine were measured at \d{4}-\d\d-\d\d", text), text)


@test
def no_file_is_left_in_the_directories_of_the_runtimes(t):
    env = {**own_cache(t), "ASSAY_CALLS_DIR": str(t.path("calls")), "ASSAY_TAGS_DIR": str(t.path("tags"))}
    t.assay("doctor", "--measure", env=env)
    for name in ("calls", "tags"):
        left = os.listdir(t.path(name)) if os.path.exists(t.path(name)) else []
        t.equal(left, [], name)


@test
def without_a_measurement_usual_costs_are_shown(t):
    env = own_cache(t)
    methods = json.loads(t.assay("help", "methods", "--json", env=env).out)
    t.equal(methods["measured_ns"], None, "the date")
    for method in methods["methods"]:
        t.equal([method["event_ns"], method["cpu_share"]], [None, None], method["method"])
    text = t.assay("help", "methods", env=env).out
    t.has(text, "Costs are those of usual machines.")
    t.lacks(text, "measured here")


@test
def damaged_and_foreign_files_are_ignored(t):
    env = own_cache(t)
    t.assay("doctor", "--measure", env=env)
    kept = t.path("cache") / "assay" / "costs" / "machine"
    good = kept.read_text()
    for bad in ("", "x", good[20:], good.replace("assay costs 1", "assay costs 9"),
                re.sub(r"host .*", "host another.machine", good), "assay costs 1\n" + "\n" * 9000,
                re.sub(r"wall_ns .*", "wall_ns", good)):
        kept.write_text(bad)
        t.equal(json.loads(t.assay("help", "methods", "--json", env=env).out)["measured_ns"], None,
                bad[:40])
    kept.write_text(re.sub(r"call .*", "call nan inf -1", good))
    methods = json.loads(t.assay("help", "methods", "--json", env=env).out)
    t.equal(next(m for m in methods["methods"] if m["commands"] == "calls")["event_ns"], None, "nan")


@test
def a_cache_that_cannot_be_written_is_reported(t):
    (t.path("file")).write_text("")
    done = t.assay("doctor", "--measure", env={"XDG_CACHE_HOME": str(t.path("file"))})
    t.has(done.err, "the costs are not kept for 'assay help methods'")
    t.has(done.out, "What measuring costs on ")


@test
def the_documentation_has_the_same_methods(t):
    methods = json.loads(t.assay("help", "methods", "--json", env=own_cache(t)).out)["methods"]
    text = (ROOT / "docs" / "MEASURING.md").read_text()
    for m in methods:
        row = f"| {m['method']} | {m['commands']} | {m['sees']} | {m['hampered_by']} | {m['usual_costs']} |"
        t.true(row in text, f"docs/MEASURING.md should have the row:\n{row}")


@test
def wrong_words(t):
    t.has(t.assay("help", "methods", "record", status=2).err, "takes no arguments")
    t.has(t.assay("doctor", "--measure", "now", status=2).err, "takes no arguments")


if __name__ == "__main__":
    main()
