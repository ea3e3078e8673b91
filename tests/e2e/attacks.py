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
import socket
import struct
import subprocess
import threading

STRANGER = 65534  # the other user
LEAK_LINES = 60  # of each file that build_leak() names
HUNG = 4242  # the user whose memory and files do not answer; root mounts for it
UNANSWERED = re.compile(
    rf"processes of user {HUNG}: \d+ reads? w\w+ not answered in time, \d+ more w")

# Control characters of C0 and C1, a line feed and a window title. The kernel cuts a command's name
# after 15 bytes, here within a character.
EVIL_NAME = "e\033[7m\u009b5m\r\nok\u20ac\u20ac"


# The name of a socket that earlier agents used as their lock, with a full queue of connections, and
# the port of the metrics; then attempts to lock the file.
HOLD = """
import fcntl, os, socket, sys, time
held = []
for name in (b"\\0assay-agent", b"\\0assay-agent\\0"):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        s.bind(name)
        s.listen(0)
    except OSError:
        pass  # another test holds it
    held.append(s)
port = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("held", flush=True)
sys.stdin.readline()
for how in (os.O_RDONLY, os.O_RDWR | os.O_CREAT):
    try:
        fcntl.lockf(os.open("/run/assay.agent", how), fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("locked", flush=True)
    except OSError as error:
        print(error.errno, flush=True)
port.close()
time.sleep(600)
"""

# A process that gave up its rights and asks for tables without end; it tries to change their sizes.
GREEDY = r"""
import mmap, os, socket, struct, sys
name = os.environ["ASSAY_CALLS_DIR"][-107:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
held, total = [], 0
for i in range(400):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\0" + name)
    s.send(b"ASYHAND1" + struct.pack("<QQ", 1 << 40, 65536))
    data, fds, *_ = socket.recv_fds(s, 64, 4)
    size, code, _ = struct.unpack("<QiI", data)
    assert bool(fds) == (code == 0), (fds, code)
    for fd in fds:
        assert os.fstat(fd).st_size == size
        for length in (0, size + 4096):
            try:
                os.ftruncate(fd, length)
                sys.exit("the size was changed")
            except PermissionError:
                pass
        held.append(fd)
        total += size
    s.close()
assert len(held) <= 256 and total <= 4 << 30, (len(held), total)
print("files", len(held))
"""

SPIN = """/* Runs until it is killed. */
volatile unsigned long v;
__attribute__((noinline)) void spin_body(void) { for (int i = 0; i < 1000000; i++) v += i; }
int main(void) { for (;;) spin_body(); }
"""

# In a store of assay: an endless view in place of a table.
ENDLESS_VIEW = """PRAGMA journal_mode = DELETE; PRAGMA legacy_alter_table = ON;
    ALTER TABLE sample RENAME TO s0; CREATE VIEW sample AS WITH RECURSIVE c (x) AS
    (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT s0.* FROM s0, c"""


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


def section_header(content, wanted):
    """The offset of a section's header in an ELF file of 64 bits."""
    headers, = struct.unpack_from("<Q", content, 0x28)
    size, count, names = struct.unpack_from("<HHH", content, 0x3a)
    texts, = struct.unpack_from("<Q", content, headers + names * size + 0x18)
    for at in range(headers, headers + count * size, size):
        begin = texts + struct.unpack_from("<I", content, at)[0]
        if content[begin:content.index(0, begin)] == wanted:
            return at
    raise AssertionError(f"no section {wanted}")


def section_of(path, name):
    content = path.read_bytes()
    offset, size = struct.unpack_from("<QQ", content, section_header(content, name) + 0x18)
    return content[offset:offset + size]


def put_section(path, name, bytes_):
    """Replaces the content of a section."""
    content = bytearray(path.read_bytes())
    struct.pack_into("<QQ", content, section_header(content, name) + 0x18, len(content), len(bytes_))
    path.write_bytes(content + bytes_)


def put_long_line_program(path, count):
    """Adds `count` rows, a byte each, to the line table (DWARF 4) of a program."""
    table = section_of(path, b".debug_line")
    length, version, head = struct.unpack_from("<IHI", table)
    base, opcode_base = struct.unpack_from("b", table, 13)[0], table[15]
    rows = bytes([1 - base + opcode_base, -1 - base + opcode_base]) * (count // 2)
    program = table[10 + head:4 + length][:-3] + rows + b"\0\1\1"
    put_section(path, b".debug_line",
                struct.pack("<IHI", 6 + head + len(program), version, head)
                + table[10:10 + head] + program)


def build_bomb(t, change):
    t.need("gcc")
    program = t.path("bomb")
    t.run("gcc", "-O1", "-g", "-gdwarf-4", "-o", program, t.write("spin.c", SPIN))
    change(program)
    program.chmod(0o755)
    return program


class Server:
    """A server on loopback that accepts each request by HTTP and never answers, or never ends."""

    def __init__(self, silent):
        self.silent = silent
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                client.recv(65536)
                if not self.silent:
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
                    while True:
                        client.sendall(bytes(65536))
                while client.recv(65536):
                    pass
            except OSError:
                pass
