# SPDX-License-Identifier: GPL-2.0-or-later
"""otel_context: a busy process that publishes what OTEP 4719 describes, as an SDK does or as an
attacker would.

    p = publish(t, {"service.name": "shop"})            a process that is busy until the test ends
    p = publish(t, {...}, "pointer")                    with a fault, one of FAULTS

The process prints a line when its page is there. Each line that it reads makes it publish again,
with the attribute `round` incremented.
"""
import ctypes
import fcntl
import mmap
import os
import select
import struct
import subprocess
import sys

from pprof_write import field

FAULTS = ("pointer", "size", "writing", "version", "damaged", "changing", "waiting")


def payload(attributes):
    return field(1, b"".join(
        field(1, [(1, key.encode()), (2, [(1, value.encode())])]) for key, value in attributes.items()))


def publish(t, attributes, fault=""):
    p = t.start(sys.executable, __file__, fault, *(f"{k}={v}" for k, v in attributes.items()),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    t.equal(p.stdout.readline(), "published\n", "a page")
    return p


def waiting_page():
    """The address of a page that is never there: each access waits for this process (userfaultfd).
    None: it is not possible here."""
    page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    fd = ctypes.CDLL(None).syscall(323 if os.uname().machine == "x86_64" else 282, os.O_CLOEXEC)
    try:
        fcntl.ioctl(fd, 0xc018aa3f, bytearray(struct.pack("<QQQ", 0xaa, 0, 0)))  # UFFDIO_API
        fcntl.ioctl(fd, 0xc020aa00, bytearray(struct.pack("<QQQQ", address, 4096, 1, 0)))
    except OSError:
        return None
    waiting_page.kept = page, fd
    return address


class Page:
    def __init__(self, fault):
        self.fault, self.time = fault, 0
        fd = os.memfd_create("OTEL_CTX")
        os.ftruncate(fd, 65536)
        self.map = mmap.mmap(fd, 65536, flags=mmap.MAP_PRIVATE)
        os.close(fd)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))

    def write(self, attributes):
        data = payload(attributes)
        size, pointer, version, self.time = len(data), self.address + 32, 2, self.time + 7
        self.map[32:32 + size] = b"\xff" * size if self.fault == "damaged" else data
        if self.fault == "pointer":
            pointer = 0xdead000000000000
        if self.fault == "waiting":
            pointer = waiting_page() or 0
        if self.fault == "size":
            size = 0xffffffff
        if self.fault == "version":
            version = 3
        self.map[0:24] = struct.pack("<8sIIQ", b"OTEL_CTX", version, size, 0)
        self.map[24:32] = struct.pack("<Q", pointer)
        if self.fault != "writing":
            self.map[16:24] = struct.pack("<Q", self.time)


def run(fault, attributes):
    page, count = Page(fault), 0
    page.write(attributes)
    print("published", flush=True)
    while True:
        for _ in range(20000):
            if fault == "changing":
                page.map[16:24] = struct.pack("<Q", page.time)
                page.time += 1
        if select.select([sys.stdin], [], [], 0)[0]:
            if not sys.stdin.readline():
                return
            count += 1
            page.write({**attributes, "round": str(count)})


if __name__ == "__main__":
    run(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:]))
