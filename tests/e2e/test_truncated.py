# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that another program makes shorter while a report reads them: each gives an error that
names the file, and no crash. A debugger's stops give the moment: right after the file is mapped."""

import ctypes
import os
import signal
import struct
import subprocess

from harness import ASSAY, main, run, test

TRACE_ME, NEXT_CALL, DETACH = 0, 24, 17  # of ptrace(2)
KEPT_BYTES = 4096

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]


def is_mapped(pid, path):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return any(line.rstrip("\n").endswith(path) for line in maps)


def truncated_while_read(t, path, *words):
    """The result of a command whose file is cut to its first page after the file was mapped."""
    path = os.path.realpath(path)
    t.true(os.path.getsize(path) > 2 * KEPT_BYTES, f"{path} has more than the page that is left")
    process = subprocess.Popen([ASSAY, *map(str, words)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: libc.ptrace(TRACE_ME, 0, None, None))
    os.waitpid(process.pid, 0)
    while not is_mapped(process.pid, path):
        assert libc.ptrace(NEXT_CALL, process.pid, None, None) == 0, "the program cannot go on"
        _, status = os.waitpid(process.pid, 0)
        assert os.WIFSTOPPED(status), f"the command ended before it mapped {path}"
        assert os.WSTOPSIG(status) == signal.SIGTRAP, f"signal {os.WSTOPSIG(status)}"
    os.truncate(path, KEPT_BYTES)
    assert libc.ptrace(DETACH, process.pid, None, None) == 0, "the program cannot go on alone"
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def check(t, path, *words):
    status, out, err = truncated_while_read(t, path, *words)
    t.equal(status, 1, f"status of {words}: {err}")
    t.has(err, f"{os.path.basename(path)} became shorter while it was read")
    t.equal(out, "", "no report of a part")


@test
def a_recording_that_is_cut_while_it_is_read_is_named(t):
    for words in ("report",), ("report", "--json"), ("sql", "SELECT count(*) FROM samples"):
        data = t.path("cut.data")
        t.assay("record", "-g", "-F", "2000", "-o", data, "--", t.workload("loop"), "100")
        if words[0] == "sql":
            check(t, data, "sql", data, words[1])
        else:
            check(t, data, *words, data)


@test
def a_call_table_that_is_cut_while_it_is_read_is_named(t):
    source = t.write("deep.c", "int deep(int n) { return n ? deep(n - 1) + 1 : 0; }\n"
                     "int main(void) { return deep(2000) != 2000; }\n")
    program, calls = t.path("deep"), t.path("cut.calls")
    run("cc", "-g", "-O0", "-finstrument-functions", "-o", program, source)
    t.assay("calls", "-o", calls, "--", program)
    check(t, calls, "report", calls)


@test
def a_stream_of_tags_that_is_cut_while_it_is_read_is_named(t):
    events = b"".join(struct.pack("<HI", 2 + i % 2, i)[:5] for i in range(20000))
    trace = t.path("cut.tags")
    t.assay("tags", "import", "--names", t.write("names", "main/2\n"), "-o", trace,
            t.write("dump", events))
    streams = [path for path in trace.iterdir() if path.stat().st_size > 2 * KEPT_BYTES]
    t.equal(len(streams), 1, "one stream")
    check(t, streams[0], "report", trace)


main()
