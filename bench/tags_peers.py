# SPDX-License-Identifier: GPL-2.0-or-later
"""tags_peers: functions that the benches of event tags share: building programs with triggers and
for other tracers, and recording with both."""

import json
import os
import shlex
import shutil

from calls_peers import HERE, ROOT, compile_c, fail, run

PLAIN = ["-O2", "-fno-inline", "-fno-optimize-sibling-calls"]
BTREE = os.path.join(ROOT, "tests/workloads/btree.c")


def assay_of(build):
    program = os.path.abspath(os.path.join(build, "assay"))
    if not os.path.exists(program):
        fail(f"{program} is not there: build first, or name the directory with --build")
    return program


def flags_of(assay, work, name, trigger):
    """The compiler's options for triggers, with a names file of the program's own."""
    names = os.path.join(work, name + ".names")
    return shlex.split(run([assay, "tags", "flags", "--names", names,
                            "--trigger", trigger])["out"])


def tagged(assay, work, name, source, trigger, *flags):
    """Builds a program whose functions have triggers, with the flags of `assay tags flags`."""
    return compile_c(work, name, source, *PLAIN, *flags, *flags_of(assay, work, name, trigger))


def ring_library(work):
    return compile_c(work, "tags_ring.so", os.path.join(HERE, "tags_ring.c"), "-O2", "-fPIC",
                     "-shared")


def place(work, name):
    """An empty directory that belongs only to this user."""
    path = os.path.join(work, name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path, 0o700)
    return path


def check_ring(assay, work, events, memory):
    """Checks the last run: its rings must hold as many events as fit."""
    data = os.path.join(work, "got.tags")
    shutil.rmtree(data, ignore_errors=True)
    run([assay, "tags", "get", "-q", "-o", data], ASSAY_TAGS_DIR=os.path.join(work, "rings"))
    tags = json.loads(run([assay, "report", "--json", data])["out"])["tags"]
    if tags < 0.9 * min(events, (memory << 20) / 8):
        fail(f"the rings of {memory} MB hold {tags} events only: the measurement is "
             "not valid")


def uftrace_record(work, program, *words, data="uftrace.data"):
    data = os.path.join(work, data)
    shutil.rmtree(data, ignore_errors=True)
    return run(["uftrace", "record", "--no-libcall", "--no-event", "-d", data, program, *words])


def assay_tags(assay, work, words, *options, data="assay.tags", runner=run):
    """`assay tags OPTIONS -- WORDS`, without its report."""
    data = os.path.join(work, data)
    for path in (data, data + ".old"):
        shutil.rmtree(path, ignore_errors=True)
    return runner([assay, "tags", "-q", *options, "-o", data, "--", *words],
                  ASSAY_TAGS_DIR=place(work, "rings"))


def assay_record(assay, work, program, *words, mode="stream", memory=64, data="assay.tags"):
    """The same with a mode and the memory of the rings."""
    return assay_tags(assay, work, [program, *words], "--mode", mode, "--memory", str(memory),
                      data=data)


def directory_bytes(path):
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))
