# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions in the background: invalid clients, other users, rights, and files that are released.
docs/SESSIONS.md lists these cases in a table."""
import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

from harness import ASSAY, main, run, test
from sessions import OTHER_USER, says, sessions
from time_limit import limit


def speak(path, bytes):
    """A client without assay."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(str(path))  # waits while the queue is full
    peer.settimeout(limit(20))
    if bytes:
        peer.sendall(bytes)
    return peer


def hear(peer):
    text = b""
    try:
        while piece := peer.recv(65536):
            text += piece
    except ConnectionResetError:
        pass
    return text.decode()


@test
def silent_and_invalid_clients_delay_no_other(t):
    with sessions(t) as s:
        s("start")
        where = s.place / "default.sock"
        silent = [speak(where, b"assay-session 1\nver" if n % 2 else b"") for n in range(60)]
        before = s.json()
        t.equal(before["state"], "running", "status among silent clients")
        for sent, reply in ((b"assay-session 1\nverb dance\nend\n", "that cannot be a verb"),
                            (b"assay-session 7\nend\n", "it speaks version 7"),
                            (b"GET / HTTP/1.1\n\nend\n", "no message of an assay session"),
                            (b"assay-session 1\nverb snapshot\noutput a\nend\n", "is not absolute"),
                            (b"x" * 20000, "longer than 16384 bytes")):
            t.has(hear(speak(where, sent)), reply, f"the answer to {sent[:40]}")
        hasty = speak(where, b"assay-session 1\nverb status\nend\n")
        hasty.close()
        t.until(lambda: s.json()["samples"] > before["samples"], "sampling goes on")
        s("stop")
        for peer in silent:
            peer.close()


@test
def a_client_that_stops_and_exits_leaves_the_account_for_the_next(t):
    with sessions(t) as s:
        s("start")
        speak(s.place / "default.sock", b"assay-session 1\nverb stop\nend\n").close()
        t.until(lambda: s.left() == ["default.ended"], "the session has ended")
        result = s("stop")
        t.has(result.out, "Session default: stopped\n")


@test
def another_user_is_not_heard(t):
    if os.getuid():
        t.skip("it takes root to be another user")
    with sessions(t) as s:
        s("start")
        where = s.place / "default.sock"
        # The permissions allow everything; the session still checks the user.
        for path in (t.directory, s.runtime, s.place):
            path.chmod(0o755)
        where.chmod(0o777)
        script = ("import socket,sys\np=socket.socket(socket.AF_UNIX)\np.connect(sys.argv[1])\n"
                  "try:\n p.sendall(b'assay-session 1\\nverb stop\\nend\\n')\n print(p.recv(99))\n"
                  "except OSError: print(b'')\n")
        t.equal(run("python3", "-c", script, where, user=OTHER_USER, cwd="/").out, "b''\n",
                "what another user hears")
        says(t, s("status", status=1), rf"assay: status: {s.place} is open to others \(mode 755\); "
             "chmod 700 it", "a place that is open")
        s.place.chmod(0o700)
        t.equal(s.json()["state"], "running", "it was not stopped")
        s("stop")


@test
def a_place_that_is_not_ours_is_not_used(t):
    with sessions(t) as s:
        elsewhere = t.path("elsewhere")
        elsewhere.mkdir()
        s.place.symlink_to(elsewhere)
        t.has(s("start", status=1).err, f"assay: start: {s.place} is not a directory, or is a link")
        s.place.unlink()
        s.runtime.chmod(0o777)
        t.has(s("start", status=1).err, "assay: start: other users may write to the directory "
              f"{s.runtime} (mode 0777), and could put files there; set XDG_RUNTIME_DIR to a "
              "directory of yours")
        s.env["XDG_RUNTIME_DIR"] = "run"
        t.has(s("start", status=1).err, "$XDG_RUNTIME_DIR, 'run', is not an absolute path; set it to")
        s.env["XDG_RUNTIME_DIR"] = str(t.path("missing"))
        t.has(s("stop", status=1).err, "missing: No such file or directory; set it to a directory of "
              "yours")
        t.equal(os.listdir(elsewhere), [], "what was written behind the link")
        if os.getuid():
            return
        # The environment as su leaves it: root's XDG_RUNTIME_DIR for another user.
        s.env["XDG_RUNTIME_DIR"] = str(s.runtime)
        s.runtime.chmod(0o700)
        t.directory.chmod(0o755)
        program = t.path("assay")
        program.write_bytes(pathlib.Path(ASSAY).read_bytes())
        program.chmod(0o755)
        result = run(program, "start", user=OTHER_USER, cwd="/tmp", status=1, env=s.env)
        t.has(result.err, f"{s.place}: Permission denied; set XDG_RUNTIME_DIR to a directory of yours")


@test
def a_user_without_a_runtime_directory_gets_the_variable_to_set(t):
    if os.getuid() or os.path.exists(f"/run/user/{OTHER_USER}"):
        t.skip("it takes root to be a user who has none")
    program = t.path("assay")
    t.directory.chmod(0o755)
    program.write_bytes(pathlib.Path(ASSAY).read_bytes())
    program.chmod(0o755)
    for command in ("start", "stop"):
        result = run(program, command, user=OTHER_USER, cwd="/tmp", status=1,
                     env={"XDG_RUNTIME_DIR": ""})
        says(t, result, f"assay: {command}: /run/user/{OTHER_USER}: No such file or directory; set "
             r"XDG_RUNTIME_DIR to a directory of yours \(mode 700\), where sessions are found",
             command)


@test
def what_a_user_may_not_sample_is_said_at_the_start(t):
    paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if os.getuid() or paranoid < 2:
        t.skip("it takes root to be a user, and a kernel that keeps things from one")
    with sessions(t) as s:
        program = t.path("assay")
        program.write_bytes(pathlib.Path(ASSAY).read_bytes())
        program.chmod(0o755)
        for path in (t.directory, s.runtime):
            os.chown(path, OTHER_USER, OTHER_USER)
        result = run(program, "start", "-o", t.path("x.data"), user=OTHER_USER, cwd="/", env=s.env)
        first, *rest = result.err.splitlines()
        t.true(first.startswith("assay: sampling "), result)
        t.true(any(line.startswith("assay: You may not sample the kernel: ") for line in rest), result)
        t.equal(t.path("x.data").stat().st_uid, OTHER_USER, "whose file it is")
        account = t.json(run(program, "stop", "--json", user=OTHER_USER, cwd="/", env=s.env).out)
        t.equal(["assay: " + note for note in account["notes"]], rest, "the account's notes")
        if any("You may not sample the whole machine: " in line for line in rest):
            t.has(first, "sampling your own processes at 997 Hz into", "what is sampled")
            t.equal(account["sampled"], "your own processes at 997 Hz", "sampled")


@test
def root_without_a_runtime_directory_has_one_in_run(t):
    t.need("unshare", "mount")
    if os.getuid() or run("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/run",
                          status=None).status:
        t.skip("it takes root to have a /run of one's own")
    theirs = t.path("theirs")
    theirs.mkdir(mode=0o700)
    os.chown(theirs, OTHER_USER, OTHER_USER)
    t.directory.chmod(0o755)
    script = ("mount -t tmpfs tmpfs /run && $ASSAY start -o /run/x.data && "
              "test -S /run/assay/default.sock && $ASSAY stop")
    for runtime in ("", theirs):  # as su leaves it
        result = run("unshare", "-m", "sh", "-c", script,
                     env={"XDG_RUNTIME_DIR": str(runtime), "ASSAY": ASSAY})
        t.has(result.out, "Read it with 'assay report /run/x.data'.\n")
    t.equal(os.listdir(theirs), [], "what root leaves with another user")


@test
def many_removed_snapshots_have_one_note(t):
    with sessions(t) as s:
        says(t, s("start", "--ring=1000000G", status=2), r"assay: start: --ring=1000000G: this "
             r"machine has \d+ MB of memory", "a ring that no machine holds")
        s("start", "--ring", "-o", "a.data", "--snapshots", 1)
        made = [re.search(r"Snapshot in (\S+);", s("snapshot").out)[1] for _ in range(4)]
        left = [str(p) for p in t.directory.glob("a.data-*")]
        t.equal(len(left), 1, f"snapshots that are left of {made}")
        t.equal([n for n in t.json(s("stop", "--json").out)["notes"] if "deleted" in n],
                [f"3 snapshots were deleted, the last was {made[2]}: the newest 1 are kept "
                 "(--snapshots)"], "notes")


@test
def a_rule_writes_a_snapshot_of_the_flight_recorder(t):
    with sessions(t) as s:
        s("start", "--ring", "--when", "process=loop", "--snapshots", 1)
        run(t.workload("loop"), "1")
        account = t.until(lambda: (a := s.json())["snapshots"] and a, "a snapshot")
        t.equal([note for note in account["notes"] if "snapshot" in note],
                [f"process=loop held: snapshot {account['snapshot']}"], "notes")
        t.true(t.report(account["snapshot"])["samples"] > 0, "samples of before")
        s("stop")


def holders(path, word=b""):
    """The number of processes that have the file open and whose command line contains `word`."""
    found = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            line = link.parent.parent / "cmdline"
            if os.readlink(link) == str(path) and word in line.read_bytes():
                found.add(link.parts[2])
    return len(found)


@test
def files_are_released_when_asked(t):
    """A session holds a program of a mounted file system open until it is asked to close it."""
    t.need("mount", "umount")
    env, place = t.runtime(), t.path("mounted")
    place.mkdir()
    if os.geteuid() or run("mount", "-t", "tmpfs", "tmpfs", place, status=None).status:
        t.skip("nothing can be mounted here")
    try:
        shutil.copy(t.workload("short"), place)
        t.assay("start", "--ring=8M", "-a", "-o", t.path("a.data"), env=env)
        run(place / "short", "200000")
        # Another recorder of the machine may hold the file earlier.
        session = os.fsencode(t.path("a.data"))
        t.until(lambda: holders(place / "short", session) > 0, "the file is held open")
        t.true(run("umount", place, status=None).status != 0, "nothing can be unmounted")
        t.assay("status", "--release-files", env=env)
        # Another recorder of the machine may hold the file for a moment, too.
        t.until(lambda: run("umount", place, status=None).status == 0, "the place is unmounted")
    finally:
        run("umount", "-l", place, status=None)
    t.assay("stop", env=env)
    warnings = t.report(t.path("a.data"))["warnings"]
    t.true(any("closed on request (status --release-files)" in w for w in warnings), warnings)


MAPS_A_DUMP = """
import mmap, os, sys
with open(f"{sys.argv[1]}/jit-{os.getpid()}.dump", "w+b") as dump:
    dump.write(bytes(4096))
    dump.flush()
    code = mmap.mmap(dump.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
    print(dump.name, flush=True)
    sys.stdin.read()
"""


@test
def jitdumps_are_released_when_asked(t):
    """A session holds a jitdump of a mounted file system open until it is asked to close it."""
    t.need("mount", "umount")
    env, place = t.runtime(), t.path("mounted")
    place.mkdir()
    if os.geteuid() or run("mount", "-t", "tmpfs", "tmpfs", place, status=None).status:
        t.skip("nothing can be mounted here")
    try:
        t.assay("start", "--ring=8M", "-a", "-o", t.path("a.data"), env=env)
        writer = t.start(sys.executable, "-c", MAPS_A_DUMP, place, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        path = writer.stdout.readline().decode().strip()
        session = os.fsencode(t.path("a.data"))
        t.until(lambda: holders(path, session), "the session holds the dump open")
        writer.stdin.close()
        t.wait(writer)
        t.true(holders(path, session), "the session does not hold the dump any more")
        t.assay("status", "--release-files", env=env)
        t.until(lambda: not holders(path, session), "the session closes the dump")
    finally:
        run("umount", "-l", place, status=None)
    t.assay("stop", env=env)


main()
