# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of tracepoints keep their fields: perf reads the recording, and SQL has the same values."""
import json
import re

from harness import ASSAY, main, test

POINT = "sched:sched_process_exec"


def recorded(t, *words):
    """Records the execs of three programs. tracefs is mounted for the recorder alone."""
    data = t.path("exec.data")
    t.need("unshare")
    t.run("unshare", "-m", "sh", "-c",
          'mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing; exec "$@"',
          "sh", ASSAY, "record", "-e", POINT, *words, "-o", data, "--",
          "sh", "-c", "/bin/true; /bin/echo; /bin/true")
    return data


def fields(t, data):
    rows = t.assay("sql", "--format", "json", data, "SELECT tid, fields FROM events "
                   "WHERE kind = 'sample' ORDER BY seq").out
    return [(row["tid"], json.loads(row["fields"])) for row in json.loads(rows)]


@test
def perf_and_sql_have_the_same_fields(t):
    for words in ((), ("-g",)):
        data = recorded(t, *words)
        got = fields(t, data)
        text = t.run("perf", "script", "-F", "tid,event,trace", "-i", data).out
        want = re.findall(r"^\s*(\d+) +%s: filename=(\S+) pid=(\d+) old_pid=(\d+)" % POINT, text, re.M)
        t.equal([(str(tid), f["filename"], str(f["pid"]), str(f["old_pid"])) for tid, f in got], want,
                f"fields {words}")
        t.equal([f["filename"] for _, f in got if f["filename"] != "/bin/sh"][-3:],
                ["/bin/true", "/bin/echo", "/bin/true"], "programs")


@test
def fields_of_a_recording_of_perf_are_read(t):
    data = t.path("perf.data")
    t.need("perf")
    t.run("unshare", "-m", "perf", "record", "-q", "-B", "-e", POINT, "-o", data, "--", "sh", "-c",
          "/bin/true; /bin/echo")
    t.equal([f["filename"] for _, f in fields(t, data)][-2:], ["/bin/true", "/bin/echo"], "programs")


@test
def a_report_has_a_row_for_each_value_of_a_field(t):
    data = recorded(t, "-g")
    text = t.run("perf", "script", "-F", "event,trace", "-i", data).out
    execs = re.findall(r"%s: filename=(\S+) pid=(\d+) old_pid=(\d+)" % POINT, text)

    def rows(*words):
        report = json.loads(t.assay("report", data, "--json", *words).out)
        t.equal(report["event"]["name"], POINT, "the event, which has the field")
        return report["rows"]
    by_file = {r["field:filename"]: r["samples"] for r in rows("--sort", "field:filename")}
    t.equal(by_file, {f: sum(e[0] == f for e in execs) for f, _, _ in execs}, "samples by file")
    t.equal(by_file["/bin/true"], 2, "/bin/true")
    both = {(r["field:filename"], r["field:old_pid"], r["process"]) for r in rows("--sort", "filename,old_pid,process")}
    t.equal({(f, old, f.rsplit("/")[-1]) for f, _, old in execs}, both, "two fields and a key")
    out = t.assay("report", data, "--sort", "filename", "-g").out
    t.has(out, f"Samples by field:filename", "the title")
    t.has(out, "Call tree", "the tree beside the table")


@test
def a_field_that_does_not_exist_is_an_error(t):
    data = recorded(t)
    err = t.assay("report", data, "--sort", "field:filenam", status=2).err
    t.has(err, "--sort field:filenam: sched:sched_process_exec has no such field, did you mean 'filename'?; "
          "its fields are filename, pid, old_pid", "the fields")
    clock = t.path("clock.data")
    t.assay("record", "-o", clock, "--", "true")
    t.has(t.assay("report", clock, "--sort", "field:pid", status=2).err,
          "the recording has no fields of tracepoints: record it with 'assay record -e SYSTEM:NAME'", "a clock")
    t.has(t.assay("report", data, "--sort", "process,filenam", status=2).err,
          "--sort knows no key 'filenam'", "a word without field:")
    t.has(t.assay("report", data, "--sort", "field:a,field:b,field:c,field:d,field:e", status=2).err,
          "4 fields at most", "too many")


@test
def a_missing_tracepoint_is_an_error(t):
    err = t.assay("record", "-e", "sched:no_such_event", "--", "true", status=1).err
    t.has(err, "tracepoint 'sched:no_such_event' does not exist in tracefs", "the error")


main()
