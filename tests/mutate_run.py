# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate_run: runs a program with a time limit, and ends all of its processes. Used by tests/mutate."""
import os
import resource
import signal
import subprocess


def limits():
    """A change may make a test write or allocate without a limit. Tests may set other limits."""
    for kind, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 4 << 30),
                       (resource.RLIMIT_DATA, 4 << 30)):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def run(words, seconds, limited=False, **more):
    """(status, output); the status is None after a timeout. Child processes end with the
    command."""
    process = subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=limits if limited else None,
                               **more)
    try:
        out, _ = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        out, status = b"", None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if status is None:
        process.communicate()
    return status, out.decode(errors="replace")
