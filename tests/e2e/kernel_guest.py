# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel_guest: a tagged Linux kernel in QEMU, with a fixed workload as its first process.

script/kernel builds the kernel and keeps it in a cache. The workload is FORKS times fork, exec and
wait; TURNS messages to another process and back through pipes; FILES files that are written, read
and removed; TURNS messages to another process and back through TCP on the loopback device. It prints
the guest's time of each part, and restarts the machine, which ends QEMU.
"""

import os
import pathlib
import subprocess

from harness import BUILD, ROOT, run
from qemu_guest import DEVICE, PLUGIN
from time_limit import limit

FORKS, TURNS, FILES = 20, 100, 10

PROGRAM = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long began;

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void need(int good, const char *what)
{
	if (!good) {
		perror(what);
		reboot(RB_AUTOBOOT);
	}
}

static void done(const char *what)
{
	printf("%s %llu ns\n", what, now() - began);
	began = now();
}

static void forks(void)
{
	for (int i = 0; i < FORKS; i++) {
		int pid = fork();

		if (!pid) {
			execl("/init", "init", "exit", NULL);
			_exit(1);
		}
		need(waitpid(pid, NULL, 0) == pid, "wait");
	}
}

/* Sends a message and waits for it TURNS times; the child sends each back. */
static void turns(int in, int out, int child_in, int child_out)
{
	char c[64] = "message";
	int pid = fork();

	if (!pid) {
		for (int i = 0; i < TURNS; i++)
			if (read(child_in, c, sizeof(c)) != sizeof(c) ||
			    write(child_out, c, sizeof(c)) != sizeof(c))
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < TURNS; i++)
		need(write(out, c, sizeof(c)) == sizeof(c) && read(in, c, sizeof(c)) == sizeof(c),
		     "message");
	waitpid(pid, NULL, 0);
}

static void pipes(void)
{
	int to[2], from[2];

	need(!pipe(to) && !pipe(from), "pipe");
	turns(from[0], to[1], to[0], from[1]);
}

static void files(void)
{
	static char page[4096];

	for (int i = 0; i < FILES; i++) {
		int fd = open("/file", O_RDWR | O_CREAT, 0600);

		need(fd >= 0 && write(fd, page, sizeof(page)) == sizeof(page) &&
		     pread(fd, page, sizeof(page), 0) == sizeof(page) && !unlink("/file"), "file");
		close(fd);
	}
}

static void sockets(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(99)};
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int one = 1, listens = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	int server;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(!ioctl(listens, SIOCSIFFLAGS, &lo), "lo");
	need(!bind(listens, (void *)&to, sizeof(to)) && !listen(listens, 1), "listen");
	need(!connect(client, (void *)&to, sizeof(to)), "connect");
	server = accept(listens, NULL, NULL);
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	turns(client, client, server, server);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	began = now();
	forks(), done("fork");
	pipes(), done("pipe");
	files(), done("file");
	sockets(), done("tcp");
	usleep(20000), done("sleep");
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}
"""


def need(t):
    t.need("gcc", "make", "cpio", "qemu-system-x86_64")
    for file, what in ((PLUGIN, "the GCC plugin"), (DEVICE, "the capture device")):
        if not file.exists():
            t.skip(f"{what} was not built")


def kernel(*options):
    """The directory of the kernel; building takes minutes the first time. The cache of kernels is in
    the build directory, which later runs of the tests find again."""
    cache = os.environ.get("ASSAY_LINUX_DIR", BUILD / "linux")
    out = run(ROOT / "script" / "kernel", "--plugin", PLUGIN, "--cache", cache, *options,
              timeout=900).out
    return pathlib.Path(out.strip())


def workload(directory):
    """The source of the workload."""
    source = directory / "init.c"
    source.write_text(f"enum {{ FORKS = {FORKS}, TURNS = {TURNS}, FILES = {FILES} }};\n{PROGRAM}")
    return source


def initrd(directory, source, *options):
    """An initramfs with one program; `options` of the compiler. It is the same each time: another
    time of a file would change the times of the guest."""
    root = directory / "root"
    root.mkdir()
    run("gcc", "-O2", "-w", "-static", *options, "-o", root / "init", source)
    os.utime(root / "init", (0, 0))
    made = directory / "initrd"
    run("sh", "-c", f"cd '{root}' && echo init | cpio --quiet -o -H newc -R 0:0 --reproducible"
        f" >'{made}'")
    return made


def tagged_program(names):
    """Options of the compiler for a program whose tags are added to the names of a kernel."""
    return [f"-fplugin={PLUGIN}", *(f"-fplugin-arg-assay_tags-{argument}" for argument in
                                    (f"names={names}", "trigger=nop", "embed=no"))]


def boot(image, files, device=None, line="", timeout=60):
    """Runs the program; `device` has the options of the device, `line` is the rest of the kernel's
    command line. Returns QEMU's result."""
    words = ["qemu-system-x86_64", "-accel", "tcg", "-nodefaults", "-display", "none",
             "-no-reboot", "-m", "256", "-serial", "stdio", "-icount", "shift=0,sleep=off",
             "-rtc", "base=2024-01-01T00:00:00,clock=vm", "-kernel", str(image / "bzImage"),
             "-initrd", str(files), "-append",
             f"console=ttyS0 reboot=t panic=-1 quiet {line}"]
    words += ["-plugin", f"{DEVICE},{device}"] if device else []
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=limit(timeout), check=False)
