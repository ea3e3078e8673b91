# SPDX-License-Identifier: GPL-2.0-or-later
"""clock_shim: clocks of a program that are set; those of the machine do not change.

    clocks = Clocks(t)
    t.start(..., env={**os.environ, **clocks.env})
    clocks.move(wall=HOUR, boot=HOUR)      as after an hour of sleep
"""
import os
import struct

SECOND = 10**9
HOUR = 3600 * SECOND

SHIM = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What is added: to CLOCK_REALTIME, to CLOCK_BOOTTIME; ns */
static volatile int64_t *added;

__attribute__((constructor)) static void look(void)
{
	const char *path = getenv("CLOCKS_ADDED");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(0, 16, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		abort();
	added = at;
	close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	long status = syscall(SYS_clock_gettime, clock, t);
	int64_t more = 0, ns;

	if (added && clock == CLOCK_REALTIME)
		more = added[0];
	if (added && clock == CLOCK_BOOTTIME)
		more = added[1];
	ns = t->tv_nsec + more % 1000000000;
	t->tv_sec += more / 1000000000 + (ns >= 1000000000) - (ns < 0);
	t->tv_nsec = ns + (ns < 0 ? 1000000000 : ns >= 1000000000 ? -1000000000 : 0);
	return status;
}
"""


class Clocks:
    def __init__(self, t):
        self.added, self.file = [0, 0], t.path("added")
        t.run("gcc", "-O1", "-shared", "-fPIC", "-o", t.path("clocks.so"), t.write("clocks.c", SHIM))
        self.env = {"LD_PRELOAD": str(t.path("clocks.so")), "CLOCKS_ADDED": str(self.file),
                    # A sanitizer's library must be the first one, and need not be loaded here.
                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        t.write("added", struct.pack("qq", 0, 0))

    def move(self, wall=0, boot=0):
        self.added[0] += wall
        self.added[1] += boot
        with open(self.file, "r+b") as f:
            f.write(struct.pack("qq", *self.added))
