#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guest: boots Debian's cloud kernel under QEMU and runs one shell script in it.

The kernel comes from the distribution's package (apt-get download, checked by
apt), is unpacked into a cache directory and is never installed. An initramfs
has busybox, the requested modules with their dependencies, and the requested
programs with their shared libraries. Files that the script writes to /out are
returned as a directory, through a virtio disk that has a tar archive; the
serial console is returned as text.

    guest.py [--program PATH]... [--module NAME]... [--qemu OPTION]... [--out DIR] SCRIPT

Needs qemu-system-x86, busybox-static, apt, dpkg. Works without KVM (TCG).
"""

import argparse
import ctypes
import fcntl
import glob
import gzip
import io
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

META_PACKAGE = "linux-image-cloud-amd64"
DISK_BYTES = 64 << 20
DISK_MODULES = ["virtio_pci", "virtio_blk"]

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /out /root /etc
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tracefs trace /sys/kernel/tracing
/bin/busybox mount -t debugfs debug /sys/kernel/debug
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
echo 'root:x:0:0:root:/root:/bin/sh' >/etc/passwd
hostname guest
for module in $(cat /modules/order); do
    insmod /modules/$module || echo "insmod $module failed"
done
echo guest-begin
sh /job >/out/stdout 2>/out/stderr
echo $? >/out/status
cd /out && tar cf /dev/vda . && sync
echo guest-end
reboot -f
"""


class GuestError(Exception):
    """The guest cannot be had here, with the reason."""


def need(program):
    path = shutil.which(program)
    if not path:
        raise GuestError(f"{program} is not installed")
    return path


def run(*args, **kwargs):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=1800, **kwargs).stdout


def kernel_package():
    """The package that the cloud kernel's metapackage stands for."""
    text = run(need("apt-cache"), "depends", META_PACKAGE).decode()
    found = re.search(r"Depends: (linux-image-\S+)", text)
    if not found:
        raise GuestError(f"apt knows no {META_PACKAGE}")
    return found.group(1)


LZ4_LEGACY = 0x184C2102
LZ4_BLOCK_BYTES = 8 << 20


def decompress_lz4(payload):
    """LZ4's legacy frame, by the library that apt itself uses (the tool is seldom there)."""
    try:
        library = ctypes.CDLL("liblz4.so.1")
    except OSError as error:
        raise GuestError(str(error)) from error
    content, at = b"", 4
    room = ctypes.create_string_buffer(LZ4_BLOCK_BYTES)
    while at + 4 < len(payload):
        size = struct.unpack_from("<I", payload, at)[0]
        got = library.LZ4_decompress_safe(payload[at + 4:at + 4 + size], room, size,
                                          LZ4_BLOCK_BYTES)
        if got < 0:
            raise GuestError("the boot image's payload is damaged")
        content += room.raw[:got]
        at += 4 + size
    return content


def decompress(payload):
    """What a boot image holds, whichever way Debian compressed it."""
    if struct.unpack_from("<I", payload)[0] == LZ4_LEGACY:
        return decompress_lz4(payload)
    for magic, command in ((b"\xfd7zXZ\0", ["xz", "-dcq", "--single-stream"]),
                           (b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]),
                           (b"\x1f\x8b\x08", ["gzip", "-dcq"])):
        if payload.startswith(magic):
            # The size that follows the stream makes the tool complain; its output counts.
            return subprocess.run([need(command[0])] + command[1:], input=payload, timeout=900,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return b""


class Kernel:
    """An unpacked kernel package: its image and its modules."""

    def __init__(self, root):
        self.root = root
        self.image = glob.glob(f"{root}/boot/vmlinuz-*")[0]
        self.release = os.path.basename(self.image)[len("vmlinuz-"):]
        self.modules = {}
        for directory, _, names in os.walk(f"{root}/lib/modules"):
            for name in names:
                if name.endswith(".ko"):
                    key = name[:-3].replace("-", "_")
                    self.modules[key] = os.path.join(directory, name)

    def module(self, name):
        path = self.modules.get(name.replace("-", "_"))
        if not path:
            raise GuestError(f"kernel {self.release} has no module {name}")
        return path

    def order(self, names):
        """The modules with all that they depend on, in the order to load them."""
        done = []

        def visit(name):
            name = name.replace("-", "_")
            if name in done or name not in self.modules:
                return  # one that is built in is not there as a file
            with open(self.modules[name], "rb") as f:
                found = re.search(rb"\0depends=([^\0]*)\0", f.read())
            for other in (found.group(1).decode() if found else "").split(","):
                if other:
                    visit(other)
            done.append(name)

        for name in names:
            self.module(name)
            visit(name)
        return done

    def vmlinux(self):
        """The uncompressed kernel (ELF, stripped), taken out of the boot image."""
        path = f"{self.root}/vmlinux"
        if os.path.exists(path):
            return path
        with open(self.image, "rb") as f:
            image = f.read()
        # The boot protocol's header: sectors of setup code, where the payload is and its size.
        setup_sectors = image[0x1F1] or 4
        offset, size = struct.unpack_from("<II", image, 0x248)
        payload = image[(setup_sectors + 1) * 512 + offset:][:size]
        content = decompress(payload)
        if not content.startswith(b"\x7fELF"):
            raise GuestError(f"{self.image}: no compressed kernel found in it")
        with open(path + ".new", "wb") as f:
            f.write(content)
        os.rename(path + ".new", path)
        return path


def kernel(cache):
    """Debian's cloud kernel, downloaded and unpacked into the cache unless it is there."""
    root = os.path.join(cache, "kernel")
    os.makedirs(cache, exist_ok=True)
    # One at a time: tests that run side by side want it.
    with open(os.path.join(cache, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not glob.glob(f"{root}/boot/vmlinuz-*"):
            unpack_kernel(cache, root)
    return Kernel(root)


def unpack_kernel(cache, root):
    try:
        run(need("apt-get"), "download", kernel_package(), cwd=cache)
        deb = glob.glob(f"{cache}/linux-image-*.deb")[0]
        shutil.rmtree(root + ".new", ignore_errors=True)
        run(need("dpkg-deb"), "-x", deb, root + ".new")
    except (subprocess.SubprocessError, IndexError) as error:
        detail = getattr(error, "stderr", b"") or b""
        raise GuestError(f"no kernel package: {error} {detail.decode(errors='replace')}")
    os.rename(root + ".new", root)


def loaded_later(program):
    """The disassembler, which assay loads when it needs it; ldd does not see it."""
    with open(program, "rb") as f:
        names = set(re.findall(rb"libcapstone\.so\.\d+", f.read()))
    known = subprocess.run(["ldconfig", "-p"], stdout=subprocess.PIPE, timeout=240).stdout.decode()
    return [path for name, path in re.findall(r"^\s+(\S+) \(libc6,\S*(?:x86-64|AArch64).*=> (\S+)", known, re.M)
            if name.encode() in names]


def libraries(program):
    """Shared libraries and loader of a program, as ldd sees them."""
    text = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=240).stdout.decode()
    return sorted(set(re.findall(r"(/\S+) \(0x", text)))


class Initramfs:
    """A cpio archive (newc), gzip'd."""

    def __init__(self):
        self.out = io.BytesIO()
        self.inode = 1
        self.names = set()

    def entry(self, name, mode, data):
        self.inode += 1
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self.out.write(header + b"\0" * (-len(header) % 4) + data + b"\0" * (-len(data) % 4))

    def parents(self, name):
        parts = name.split("/")[:-1]
        for i in range(1, len(parts) + 1):
            self.directory("/".join(parts[:i]))

    def directory(self, name):
        if name and name not in self.names:
            self.names.add(name)
            self.entry(name, stat.S_IFDIR | 0o755, b"")

    def data(self, name, data, mode=0o755):
        name = name.lstrip("/")
        if name in self.names:
            return
        self.parents(name)
        self.names.add(name)
        self.entry(name, stat.S_IFREG | mode, data)

    def file(self, name, path):
        with open(path, "rb") as f:
            self.data(name, f.read())

    def program(self, path, name=None):
        self.file(name or "/bin/" + os.path.basename(path), path)
        for library in libraries(path) + loaded_later(path):
            self.file(library, library)

    def write(self, path):
        self.entry("TRAILER!!!", 0, b"")
        with gzip.open(path, "wb", compresslevel=1) as f:
            f.write(self.out.getvalue())


class Result:
    """What came back: status of the script, the console, files of /out under `out`."""

    def __init__(self, out, console, seconds, boot_seconds):
        self.out, self.console = out, console
        self.seconds, self.boot_seconds = seconds, boot_seconds
        self.status = int(self.text("status") or -1)

    def path(self, name):
        return os.path.join(self.out, name)

    def text(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""


def boot(a_kernel, script, out, programs=(), modules=(), files=None, timeout=120, options=(),
         on_line=None):
    """Runs a shell script in a fresh guest. `files` maps guest names to host paths; `options`
    are more of QEMU's. on_line() gets each line of the console."""
    qemu = need("qemu-system-x86_64")
    order = a_kernel.order(DISK_MODULES + list(modules))
    with tempfile.TemporaryDirectory(prefix="assay-guest-") as work:
        tree = Initramfs()
        tree.file("/bin/busybox", need("busybox"))
        tree.data("/init", INIT.encode())
        tree.data("/job", script.encode())
        for name in order:
            path = a_kernel.module(name)
            tree.file("/modules/" + os.path.basename(path), path)
        tree.data("/modules/order", "\n".join(os.path.basename(a_kernel.module(name))
                                             for name in order).encode() + b"\n")
        for program in programs:
            tree.program(program)
        for name, path in (files or {}).items():
            tree.file(name, path)
        tree.write(f"{work}/initramfs")
        with open(f"{work}/disk", "wb") as disk:
            disk.truncate(DISK_BYTES)
        return start(qemu, a_kernel, work, out, timeout, options, on_line)


def start(qemu, a_kernel, work, out, timeout, options, on_line):
    accel = [] if "-accel" in options else ["-accel", "tcg"]
    command = [qemu, *accel, "-m", "1G", "-smp", "2", "-nographic", "-no-reboot",
               "-monitor", "none", "-nic", "none",
               "-kernel", a_kernel.image, "-initrd", f"{work}/initramfs",
               "-drive", f"file={work}/disk,format=raw,if=virtio",
               "-append", "console=ttyS0 quiet panic=-1", *options]
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    lines, boot_seconds = [], None
    killer = threading.Timer(timeout, process.kill)
    killer.start()
    try:
        for line in process.stdout:
            lines.append(line.decode(errors="replace"))
            if "guest-begin" in lines[-1]:
                boot_seconds = time.monotonic() - begin
            if on_line:
                on_line(lines[-1])
        process.wait()
    finally:
        killer.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
    seconds = time.monotonic() - begin
    console = "".join(lines)
    if "guest-end" not in console:
        raise GuestError(f"the guest did not end its script in {timeout} s; console:\n{console}")
    os.makedirs(out, exist_ok=True)
    with tarfile.open(f"{work}/disk") as archive:
        for member in archive:
            name = os.path.normpath(member.name)
            if member.isfile() and not name.startswith(("/", "..")):
                target = os.path.join(out, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as f:
                    shutil.copyfileobj(archive.extractfile(member), f)
    return Result(out, console, seconds, boot_seconds)


def default_cache():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.environ.get("ASSAY_GUEST_DIR", os.path.join(root, "build", "guest"))


def main():
    parser = argparse.ArgumentParser(description="run a shell script in a guest")
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--out", default="guest-out")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--qemu", action="append", default=[], help="one more option of QEMU's")
    parser.add_argument("script", type=argparse.FileType())
    options = parser.parse_args()
    try:
        result = boot(kernel(default_cache()), options.script.read(), options.out,
                      options.program, options.module, timeout=options.timeout,
                      options=options.qemu)
    except GuestError as error:
        print(f"guest: {error}", file=sys.stderr)
        return 2
    sys.stdout.write(result.text("stdout"))
    sys.stderr.write(result.text("stderr"))
    print(f"guest: booted in "
          f"{result.boot_seconds:.1f} s, {result.seconds:.1f} s in all, files in {result.out}",
          file=sys.stderr)
    return result.status


if __name__ == "__main__":
    sys.exit(main())
