#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the corpora of the fuzz targets for what the kernel, the cache, servers and an administrator
write: make_system_corpus.py CORPUS

CORPUS is tests/fuzz/corpus. The small programs for debuginfod are built with cc."""

import pathlib
import struct
import subprocess
import sys
import tempfile

MAPS = """00400000-00401000 r-xp 00000000 fe:00 1234                               /usr/bin/true
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
7f0000002000-7f0000003000 r-xs 00001000 fe:00 99                         /tmp/a b (deleted)
7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]
"""
STAT = ("4711 (a) b) S 1 4711 4711 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2 3\n")
STATUS = "Name:\ta\nUid:\t0\t0\t0\t0\nNSpid:\t4711\t7\nSeccomp:\t0\nCapEff:\t000001ffffffffff\n"
CGROUP_1 = "4:perf_event:/a/nginx.service\n1:name=systemd:/a\n"
CGROUP_2 = ("0::/system.slice/docker-" + "0123456789abcdef" * 4 + ".scope\n")
POD = ("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_0a1b_0a1b_0a1b_"
       "0a1b2c3d4e5f.slice/cri-containerd-" + "0123456789abcdef" * 4 + ".scope\n")
MOUNTS_1 = "30 20 0:26 / /sys/fs/cgroup/perf\\040event rw shared:9 - cgroup cgroup rw,perf_event\n"
MOUNTS_2 = ("31 20 0:27 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
            "32 20 254:0 / / rw - ext4 /dev/vda rw\n"
            "33 20 0:50 / /home/u/m rw - fuse.sshfs u@h:/ rw,user_id=1000,group_id=1000\n")

KALLSYMS = ("ffffffff81000000 T _text\nffffffff81000100 t f\nffffffff81a00000 T _etext\n"
            "ffffffffc0000000 t m\t[ext4]\n")
MODULES = "ext4 811008 1 - Live 0xffffffffc0400000\nloop 40960 0 - Live 0xffffffffc0000000 (E)\n"
CPU_TIMES = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n"
MOUNT_LIST = "proc /proc proc rw,nosuid,hidepid=invisible 0 0\n"
LOCKS = "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF\n2: -> POSIX  ADVISORY  READ 7 00:1a:5 0 9\n"
SOCKETS = ("  sl  local_address rem_address\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00"
           "000000 00000000     0        0 4242 1 0000000000000000\n"
           "   1: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 00000000:"
           "00000000 00:00000000 00000000     0        0 4243 1 0000000000000000\n"
           "0000000000000000: 00000002 00000000 00010000 0001 01 4244 @/tmp/s\n")
PARTITIONS = "major minor  #blocks  name\n\n 254        0   10485760 vda\n"


def texts(*parts):
    return "%%\n".join(parts).encode()


def proc_process():
    yield "two", texts(MAPS, STAT, STATUS, "12 13 ", CGROUP_2, MOUNTS_2)
    yield "one", texts(MAPS, STAT, STATUS, "", CGROUP_1, MOUNTS_1)
    yield "pod", texts("", "", "", "", POD, MOUNTS_2)
    yield "long-path", texts(MAPS.replace("/usr/bin/true", "/" + "d" * 5000), STAT)
    yield "name-of-lines", texts("", "7 (\n) R 1) S 2 3", "NSpid:\t", "-1 99999999999 x")


def proc_system():
    yield "all", texts(KALLSYMS, MODULES, CPU_TIMES, STATUS, CGROUP_2, MOUNT_LIST, MOUNTS_2, LOCKS,
                       SOCKETS, PARTITIONS, "50000 100000\n", "1073741824\n")
    yield "hidden", texts("0000000000000000 T _text\n", "ext4 1 1 - Live 0x0\n", "cpu", "Seccomp:\t2",
                          "1:cpu:/a\n", "", "1 - fuse x,user_id=", "1:", "0: 0:0 0:0", "1 2 3", "max 0")


def record(kind, body):
    data = struct.pack("<HBBi", kind, 8, 0, 77) + body
    return bytes([(len(data) + 3) // 4 - 1]) + data.ljust((len(data) + 3) // 4 * 4, b"\0")


def function_graph():
    entry = record(11, struct.pack("<Qi", 0xffffffff81000000, 1))
    leave = record(10, struct.pack("<Qi", 0xffffffff81000000, 1))
    switch = record(12, b"a/b".ljust(16, b"\0") + struct.pack("<iiq16sii", 77, 120, 1, b"c", 78, 120))
    new = record(13, struct.pack("<i", 79) + b"\0" * 20 + struct.pack("<Q", 0x10000))
    program = record(14, struct.pack("<I", 5 << 16 | 12) + b"/bin/sh\0")
    yield "records", bytes([0]) + entry + switch + new + program + leave
    yield "format", bytes([2, 2, 4, 0xff, 0xff, 0, 0, 120, 8]) + entry + switch
    yield "filename", bytes([0]) + record(14, struct.pack("<I", 0xffffffff))
    yield "stats", b"\xffentries: 1\noverrun: 5\ncommit overrun: 0\ndropped events: 18446744073709551615\n"


def kept_tables():
    text = b"\0a.c\0f\0"
    units = struct.pack("<QIIIIII", 11, 1, 1, 1, 0, 1, 0)
    header = struct.pack("<16sQQ7Q", b"", 0, 0, 1, 1, 2, 1, 1, 3, len(text))
    segment = struct.pack("<QII", 0x1000, 0, 0)
    yield "inlines", (b"\0" + header + segment + units + segment + segment +
                      struct.pack("<IIII", 0xffffffff, 2, 1, 7) + struct.pack("<QII", 0x1000, 1, 7) + text)
    header = struct.pack("<16s6Q", b"", 0, 0, 0x1000, 0x1000, 2, 4)
    yield "kernel", (b"\1" + header + struct.pack("<4Q", 0x1000, 0x1010, 0, 0) +
                     struct.pack("<4Q", 0x2000, 0x2010, 2, 1) + b"a\0b\0")
    yield "anchors", b"\2ffffffff81000000\nffffffff81000100 f\nffffffffc0000000 m [ext4]\n"
    yield "costs", (b"\3assay costs 1\nhost h\nkernel 6.1\nclock tsc\nwall_ns 5\n"
                    b"sample 1.0 0.5 nan\nsample 1e300 1 2\n")


def agent_config():
    yield "usual", (b"# the agent\nstore = clickhouse://writer@db.example.com/assay\nfreq = 97\n"
                    b"budget=0.5\nstacks = yes\n\n  label-file = /etc/labels \r\nmetrics = 9464\n")
    yield "wrong-value", b"freq = abc\n"
    yield "refused", b"check = yes\n"
    yield "no-equals", b"\tfreq 97"
    yield "flag", b"waits = maybe\n"
    yield "zero", b"freq = 97\0\n"


def http_answer():
    status = struct.Struct("<H")
    yield "redirect", status.pack(302) + b"HTTP/1.1 302\r\nLocation: http://other/\x1b[2J\r\n\n\nx"
    yield "refused", status.pack(401) + b"HTTP/1.1 401\nx-clickhouse-exception-code:  516 \n\n\xe2\x80\xaeno"
    yield "good", status.pack(200) + b"http://user@[::1]:8123/a/b/\n\nbody"
    yield "address", status.pack(500) + b"https://HOST.example.com:65536/%20"


def push_spool():
    yield "batch", b"assay-push 1 9\nname=abcd\nbody"
    yield "empty-query", b"assay-push 1 0\n\n"
    yield "damaged", b"assay-push 1 99\nname\n"
    yield "negative", b"assay-push 1 -1\n\nx"


def debuginfod():
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "a.c")
        source.write_text("static inline int g(int x) { return x * 3; }\nint f(int x) { return g(x); }\n")
        for name, words in (("small", ["-g"]), ("packed", ["-g", "-gz"]), ("other-id", [])):
            program = pathlib.Path(directory, name)
            subprocess.run(["cc", "-O1", "-shared", "-nostdlib", "-Wl,--build-id=sha1", *words, "-o", program,
                            source], check=True)
            subprocess.run(["objcopy", "--only-keep-debug", program], check=True)
            yield name, program.read_bytes()
    yield "nowhere", b""
    yield "page-of-errors", b"<html>404</html>"


def main():
    corpus = pathlib.Path(sys.argv[1])
    for make in (proc_process, proc_system, function_graph, kept_tables, agent_config, http_answer,
                 push_spool, debuginfod):
        directory = corpus / make.__name__
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in make():
            (directory / name).write_bytes(content)


main()
