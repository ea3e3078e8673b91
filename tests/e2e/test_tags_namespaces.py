# SPDX-License-Identifier: GPL-2.0-or-later
"""tags in PID namespaces: processes that have other ids inside than for assay run to their end, and
the switches of their threads are found."""

from harness import main, run, test
from programs import Obeying
from tags_program import build, calls_of, left_over, of_rounds, place

INSIDE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


def need(t):
    t.need("unshare")
    if run(*INSIDE, "true", status=None).status:
        t.skip("PID namespaces may not be made here")


def record(t, *command):
    result = t.assay("tags", "-q", "-o", t.path("x.tags"), "--", *command, env=place(t))
    t.equal(left_over(t), [], "what is left in the directory")
    report = t.report(t.path("x.tags"))
    for key in ("lost", "gaps", "missing_exits", "unmatched_exits", "open"):
        t.equal(report[key], 0, key)
    return report, result.err


@test
def a_process_in_a_namespace_is_followed_to_its_end(t):
    need(t)
    report, err = record(t, *INSIDE, build(t), "rounds=20", "waits=500", "rounds=300", "waits=500",
                         "threads=2")
    t.lacks(err, "still running")
    t.equal(calls_of(report), {**of_rounds(20, 300, 1, 2), "main": 1, "waits": 2})
    t.equal(report["processes"], 1, "processes")
    if report["waiting_separated"]:  # in that case the sleeps are blocked time, at least
        t.true(report["blocked_ns"] >= 1000 * 10**6, "its switches are found")


@test
def processes_of_two_namespaces_that_have_the_same_id_are_two(t):
    need(t)
    program = build(t)
    one = " ".join((*INSIDE, str(program), "rounds=9", "waits=400", "rounds=30"))
    report, _ = record(t, "sh", "-c", f"{one} & {one} & wait")
    t.equal(calls_of(report), {**of_rounds(9, 30, 9, 30), "main": 2, "waits": 2})


@test
def what_runs_in_a_namespace_is_not_removed(t):
    need(t)
    program = Obeying(t, *INSIDE, build(t), env=place(t))
    for rounds in (4, 5):
        program.rounds(rounds)
        t.assay("tags", "get", "-o", t.path(f"{rounds}.tags"), env=place(t))
        t.equal(len(left_over(t)), 1, "files, as it runs")
    t.equal(calls_of(t.report(t.path("5.tags"))), {**of_rounds(4, 5), "main": 1})
    t.has(t.assay("tags", "list", env=place(t)).out, "program", "the list")
    program.end()
    t.assay("tags", "get", "-o", t.path("end.tags"), env=place(t))
    t.equal(left_over(t), [], "files, as it has ended")


main()
