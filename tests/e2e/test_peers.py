# SPDX-License-Identifier: GPL-2.0-or-later
"""Other tools read recordings of assay, and assay reads recordings of perf: sample counts are
equal."""

import json
import os
import re
import struct
import subprocess

import perf_script
from harness import ASSAY, main, test
from programs import assay, comment, record, report, run, sample_count, skip, workdir, workload
from time_limit import limit

PARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
PARSER_MAGIC = b"QPERFSTREAM\0"
PARSER_SAMPLES = (13, 14)  # its message types Sample and TracePointSample


def scene():
    """A command with visible effects: threads, short processes, waiting."""
    return ["sh", "-c", f"{workload('threads')} 2 50; for i in 1 2 3 4 5; do {workload('short')}; "
            f"done; {workload('waits')} 50; {workload('call')} 30"]


def parser_samples(path, work):
    out = f"{work}/parsed"
    run([PARSER, "--input", path, "--output", out], timeout=120, check=True)
    with open(out, "rb") as f:
        data = f.read()
    assert data.startswith(PARSER_MAGIC), f"hotspot's parser wrote {data[:20]!r}"
    at, count = len(PARSER_MAGIC) + 4, 0
    while at + 4 < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        count += data[at + 4] in PARSER_SAMPLES
        at += 4 + size
    return count


def ours(path):
    return sample_count(report(path))


def others_read(*options):
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, *options, "--", *scene())
        count = sum(1 for _ in perf_script.samples(path))
        assert count > 50, f"only {count} samples"
        assert ours(path) == count, f"assay reads {ours(path)} samples, perf {count}"
        done = run(["perf", "report", "--stdio", "-i", path], timeout=120, check=True)
        assert "call_inner" in done.out, "perf report does not name call_inner"
        for line in done.err.splitlines():
            # Processes of other users, whose files are deleted or in containers.
            file = re.match(r"Failed to open (\S+), continuing without symbols", line)
            if file and "-a" in options and not os.path.exists(file.group(1)):
                continue
            assert "unknown" not in line.lower() and "fail" not in line.lower(), \
                f"perf report complains: {line}"
        comment(f"record {' '.join(options)}: {count} samples, perf agrees")
        if not os.access(PARSER, os.X_OK):
            skip("hotspot's parser is not installed")
        parsed = parser_samples(path, work)
        assert parsed == count, f"hotspot's parser reads {parsed} samples, perf {count}"


@test
def others_read_a_command(t):
    others_read("-F", "997")


@test
def others_read_call_chains(t):
    others_read("-F", "997", "-g")


@test
def others_read_the_machine(t):
    others_read("-a", "-g", "-F", "997")


@test
def others_read_off_cpu(t):
    others_read("-F", "997", "--off-cpu")


def perf_records(*options, pipe=False):
    """assay reads a recording of perf, and finds the same number of samples as perf."""
    with workdir() as work:
        path = f"{work}/perf.data"
        command = [workload("call"), "50"] if pipe else scene()
        perf_script.record(path, *options, "--", *command, pipe=pipe)
        if pipe:
            with open(path, "rb") as f:
                text = subprocess.run(["perf", "script", "-i", "-", "-G", "-F", "ip"], stdin=f,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      timeout=limit(60), check=True).stdout
        else:
            text = perf_script.perf("script", "-i", path, "-G", "-F", "ip").encode()
        count = sum(1 for line in text.splitlines() if line.strip())
        assert count > 20, f"only {count} samples"
        found = report(path)
        assert sample_count(found) == count, \
            f"assay reads {sample_count(found)} samples, perf {count}"
        functions = {f["function"] for f in found["functions"]}
        wanted = "faults" in " ".join(options) or "call_inner" in functions
        assert wanted, f"call_inner is not among {sorted(functions)[:20]}"
        comment(f"perf record {' '.join(options)}: {count} samples, assay agrees")


@test
def reads_plain(t):
    perf_records("-F", "997")


@test
def reads_call_chains(t):
    perf_records("-F", "997", "-g")


@test
def reads_machine_wide(t):
    perf_records("-F", "997", "-a", "-g")


@test
def reads_dwarf(t):
    perf_records("-F", "499", "--call-graph", "dwarf")


@test
def reads_compressed(t):
    perf_records("-F", "997", "-g", "-z")


@test
def reads_page_faults(t):
    perf_records("-e", "page-faults", "-c", "1")


@test
def reads_two_events(t):
    perf_records("-e", "cpu-clock,page-faults", "-F", "997")


@test
def reads_a_pipe(t):
    perf_records("-F", "997", "-g", pipe=True)


@test
def reads_standard_input(t):
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, "-F", "997", "-g", "--", workload("call"), "50")
        want = report(path)
        with open(path, "rb") as file:
            content = file.read()
            file.seek(0)
            from_file = subprocess.run([ASSAY, "report", "--json", "-"], stdin=file, timeout=limit(60),
                                       capture_output=True, check=True).stdout
        piped = subprocess.run([ASSAY, "report", "--json", "-i", "-"], input=content, timeout=limit(60),
                               capture_output=True, check=True).stdout
        for found in map(json.loads, (from_file, piped)):
            assert found["functions"] == want["functions"], found["functions"][:3]
            assert found["recordings"][0]["path"] == "standard input", found["recordings"]
        for wrong, word in ((["--time", "10%,20%"], b"read only once"), ([], b"is empty")):
            refused = subprocess.run([ASSAY, "report", *wrong, "-"], input=b"", timeout=limit(60),
                                     capture_output=True)
            assert refused.returncode == 1 and word in refused.stderr, refused


@test
def reads_several_files_in_one_call(t):
    with workdir() as work:
        paths = [f"{work}/one", f"{work}/two"]
        for path in paths:
            record(path, "-F", "997", "--", workload("call"), "50")
        both = json.loads(assay("report", "--json", *paths).out)
        assert sample_count(both) == sum(ours(path) for path in paths)
        assert both["samples"] == sum(report(path)["samples"] for path in paths)


if __name__ == "__main__":
    main()
