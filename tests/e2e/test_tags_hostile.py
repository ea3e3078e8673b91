# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of event tags that others damage: links and files of other users in the directory,
garbage in the memory of a program that runs or has ended, a file that shrinks while it is read, and
two collectors at the same time. assay ends with a trace or an error, and never by a signal."""
import os
import random
import shutil
import subprocess
import threading
import time

from attacks import STRANGER
from harness import ASSAY, main, test
from tags_program import build, calls_of, left_over, of_rounds, place


def recorded(t, rounds=300):
    """The file of a program that has ended."""
    t.run(build(t), f"rounds={rounds}", env=place(t))
    path, = t.path("recorded").iterdir()
    return path


def tags(t, *words):
    """Any status but the one of a signal or of a failed check is right."""
    result = t.assay("tags", *words, env=place(t), status=None)
    t.true(result.status in (0, 1), f"{words}: status {result.status}: {result.err}")
    return result


def whole(t, data, rounds=300):
    t.equal(calls_of(t.report(data)), {**of_rounds(rounds), "main": 1}, "calls")


@test
def what_is_no_file_of_the_user_is_left_alone(t):
    path = recorded(t)
    here = path.parent
    shutil.copy(path, t.path("elsewhere"))
    (here / "11-1-0.tags").symlink_to(t.path("elsewhere"))
    os.mkfifo(here / "12-1-0.tags", 0o600)
    (here / "13-1-0.tags").mkdir()
    (here / "14-1-0.tags").write_bytes(b"")
    others = {"11-1-0.tags", "12-1-0.tags", "13-1-0.tags", "14-1-0.tags"}
    if not os.geteuid():
        shutil.copy(path, here / "15-1-0.tags")
        os.chown(here / "15-1-0.tags", STRANGER, STRANGER)
        others.add("15-1-0.tags")
    pid = int(path.name.split("-")[0])
    rows = t.json(t.assay("tags", "list", "--json", env=place(t)).out)["processes"]
    t.equal([(row["pid"], row["state"]) for row in rows], [(pid, "ended")], "the list")
    tags(t, "get", "-q", "-o", t.path("got"))
    whole(t, t.path("got"))
    t.equal(set(left_over(t)), others, "what is left")


@test
def garbage_in_an_ended_recording_ends_in_a_trace_or_an_error(t):
    path = recorded(t)
    good = path.read_bytes()
    chance = random.Random(16)
    for _ in range(6):
        data = bytearray(good)
        for _ in range(chance.choice((1, 20, 2000))):
            at = chance.choice((chance.randrange(400), chance.randrange(1 << 16),
                                chance.randrange(len(data) - 8)))
            data[at:at + 8] = chance.randbytes(8)
        del data[chance.choice((len(data), chance.randrange(len(data)))):]
        path.write_bytes(data)
        tags(t, "list")
        tags(t, "get", "-q", "--keep", "-o", t.path("got"))
        if t.path("got").exists():
            t.assay("report", t.path("got"))
            shutil.rmtree(t.path("got"))


def disturb(path, ended, disturbance):
    while not ended.is_set():
        try:
            disturbance(path)
        except OSError:
            return
        time.sleep(0.001)


@test
def a_file_may_shrink_while_it_is_read(t):
    path = recorded(t)
    good = path.read_bytes()
    chance, ended = random.Random(17), threading.Event()

    def shrink(path):
        os.truncate(path, chance.randrange(len(good)))
        time.sleep(0.002)
        path.write_bytes(good)

    thread = threading.Thread(target=disturb, args=(path, ended, shrink))
    thread.start()
    try:
        for _ in range(5):
            tags(t, "list")
            tags(t, "get", "-q", "--keep", "-o", t.path("got"))
            shutil.rmtree(t.path("got"), ignore_errors=True)
    finally:
        ended.set()
        thread.join()


@test
def a_program_may_write_garbage_into_its_ring(t):
    """Header, rings, states and packets of a file that `assay tags` drains."""
    chance, ended = random.Random(18), threading.Event()
    process = subprocess.Popen(
        [ASSAY, "tags", "-q", "-o", t.path("live"), "--", build(t), "rounds=300", "waits=200",
         "rounds=30000", "waits=200", "rounds=30000"],
        env={**os.environ, **place(t)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = []
    while not found and process.poll() is None:
        found = list(t.path("recorded").rglob("*-*-*.tags"))
        time.sleep(0.005)

    t.true(found, "the program has a file")

    def garbage(path):
        with open(path, "r+b", buffering=0) as f:
            # The program itself uses the header, so this only changes what assay reads.
            f.seek(chance.choice((chance.randrange(1 << 14, 1 << 18), 1 << 20)))
            f.write(chance.randbytes(64))

    thread = threading.Thread(target=disturb, args=(found[0], ended, garbage))
    thread.start()
    status = process.wait(60)
    ended.set()
    thread.join()
    # The program may crash by its own garbage; assay then ends with 128 + the signal.
    t.true(status >= 0, f"assay ended by signal {-status}")
    if t.path("live").exists():
        t.assay("report", t.path("live"))


@test
def two_collectors_share_a_recording(t):
    recorded(t)
    both = [subprocess.Popen([ASSAY, "tags", "get", "-q", "-o", t.path(f"of{i}")],
                             env={**os.environ, **place(t)}, stderr=subprocess.PIPE, text=True)
            for i in range(2)]
    for process in both:
        err = process.communicate(timeout=60)[1]
        t.true(process.returncode in (0, 1), f"status {process.returncode}: {err}")
    done = [i for i, process in enumerate(both) if not process.returncode]
    t.true(done, "one of them has a trace")
    for i in done:
        whole(t, t.path(f"of{i}"))
    t.equal(left_over(t), [], "what is left")


main()
