# SPDX-License-Identifier: GPL-2.0-or-later
"""attacks: attacks of another user against root's assay; a test runs one of them or all.

    attacks.neighbour(t, "names", "60")         # tests/workloads/neighbour.c as user 65534
    hung, pids = attacks.hung(t, "program")     # tests/workloads/hung.c as user 4242

Each function starts one attack and returns when it works. Processes end with the test; a hung file
system has to be unmounted by closing the standard input of its process (`release()`).
"""

import os
import re
import shutil
import struct
import subprocess

STRANGER = 65534  # the other user
LEAK_LINES = 60  # of each file that build_leak() names
HUNG = 4242  # the user whose memory and files do not answer; root mounts for it
UNANSWERED = re.compile(
    rf"processes of user {HUNG}: \d+ reads? w\w+ not answered in time, \d+ more w")

# Control characters of C0 and C1, a line feed and a window title. The kernel cuts a command's name
# after 15 bytes, here within a character.
EVIL_NAME = "e\033[7m\u009b5m\r\nok\u20ac\u20ac"


def need_root(t):
    if os.geteuid():
        t.skip("needs root, to act as another user")
    t.directory.chmod(0o755)


def directory_of_user(t, name):
    path = t.path(name)
    path.mkdir(exist_ok=True)
    os.chown(path, STRANGER, STRANGER)
    return path


def write_as_user(path, content):
    path.write_bytes(content)
    os.chown(path, STRANGER, STRANGER)


def start(t, *words, **options):
    """Starts a program as the other user, in its own directory."""
    need_root(t)
    options = {"stdout": subprocess.DEVNULL, "cwd": directory_of_user(t, "stranger"), **options}
    return t.start(*words, user=STRANGER, group=STRANGER, extra_groups=[], **options)


def copy_for_user(t, program, name):
    """A copy of a program in a directory that the other user can enter."""
    if not t.path(name).exists():
        shutil.copy(program, t.path(name))
    return t.path(name)


def neighbour(t, *words):
    """tests/workloads/neighbour.c; returns when it is ready."""
    need_root(t)
    process = start(t, copy_for_user(t, t.workload("neighbour"), "neighbour"), *words,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    t.equal(process.stdout.readline(), b"ready\n", "what the attack prints")
    return process


def hung(t, what):
    """Starts tests/workloads/hung.c. Returns its process, and the pids of the user's processes; one
    of these hangs from now on."""
    if os.geteuid():
        t.skip("only root can give a FUSE file system to another user")
    if what != "stack-uffd" and not os.path.exists("/dev/fuse"):
        t.skip("there is no /dev/fuse here")
    os.chmod(t.directory, 0o755)
    where = []
    if what != "stack-uffd":
        where = [t.path(f"mounted-{what}")]
        where[0].mkdir()
    process = t.start(t.workload("hung"), what, *where, HUNG, stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if process.stdout.readline() != b"hung\n":
        if t.wait(process) == 77:
            t.skip(process.stderr.read().decode().strip())
        t.fail(f"the workload ended with status {process.returncode}")
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, check=True)
    return process, found.stdout.decode().split()


def release(t, process):
    """Ends the processes of hung(), and unmounts its file system."""
    process.stdin.close()
    t.wait(process)


def journal(store_bytes, victim):
    """A hot journal without pages that names a super-journal: SQLite deletes that file when it
    reads the journal."""
    magic = bytes.fromhex("d9d505f920a163d7")
    name = str(victim).encode()
    head = magic + struct.pack(">5I", 0, 4711, store_bytes // 4096, 512, 4096)
    return (head.ljust(512, b"\0") + struct.pack(">I", 0x40000000 // 4096 + 1) + name +
            struct.pack(">2I", len(name), sum(name)) + magic)


def forged(t, program):
    """A copy with the same build-id and other unwind rows: they give a wrong CFA."""
    section = re.search(r"\.eh_frame +PROGBITS +\w+ (\w+) (\w+)",
                        t.run("readelf", "-SW", program).out)
    at, size = (int(number, 16) for number in section.groups())
    with open(program, "rb") as f:
        content = f.read()
    rows = content[at:at + size].replace(b"\x0e\x10", b"\x0e\x18")
    t.true(rows != content[at:at + size], "the copy has other rows")
    copy = t.write("public/forged", content[:at] + rows + content[at + size:])
    copy.chmod(0o755)
    return copy


def leak_c(sources):
    """A program that names each line of the sources, and runs until it is killed."""
    text = ["volatile unsigned long v;", "__attribute__((noinline)) void leak_lines(void) {"]
    for source in sources:
        for line in range(1, LEAK_LINES + 1):
            text += [f'# {line} "{source}"', "for (int i = 0; i < 3000; i++) v += i;"]
    return "\n".join(text + ["}", "int usleep(unsigned);",
                      "int main(void) { for (;; usleep(PAUSE)) leak_lines(); }", ""])


def build_leak(t, home, sources, user=STRANGER, name="leak", flags=(), pause_us=0):
    """That program, compiled by the user in the directory `home` of the user. It sleeps between rounds."""
    t.need("cc")
    if not home.exists():
        home.mkdir()
        os.chown(home, user, user)
    source = home / f"{name}.c"
    source.write_text(leak_c(sources))
    os.chown(source, user, user)
    t.run("cc", "-O1", "-g", f"-DPAUSE={pause_us}", *flags, "-o", home / name, source, user=user, cwd=home)
    return home / name
