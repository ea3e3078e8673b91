# SPDX-License-Identifier: GPL-2.0-or-later
"""calls_peers: functions that the benches of `assay calls` share: hooks to compare with, the
runtime, and running a command for its time."""

import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

# The minimum cost of compiler hooks: empty ones, and ones that read the clock once.
HOOKS = """
#include <stdint.h>
#define HOOK __attribute__((visibility("default")))
#ifdef FLOOR
static __thread uint64_t last __attribute__((tls_model("initial-exec")));
static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
}
#define DEED last = ticks()
#else
#define DEED
#endif
HOOK void __cyg_profile_func_enter(void *function, void *site) { DEED; }
HOOK void __cyg_profile_func_exit(void *function, void *site) { DEED; }
"""


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def need(name):
    return shutil.which(name) or fail(f"{name} is not installed")


def compile_c(work, name, source, *flags):
    """Builds a program or library from a text or a file; returns its path."""
    out = os.path.join(work, name)
    if not os.path.exists(source):
        with open(out + ".c", "w", encoding="ascii") as f:
            f.write(source)
        source = out + ".c"
    done = subprocess.run([need(os.environ.get("CC", "gcc")), "-w", "-g", "-D_GNU_SOURCE", source,
                           "-o", out, *flags], stderr=subprocess.PIPE)
    if done.returncode:
        fail(done.stderr.decode())
    return out


def hooks(work, name, *flags):
    return compile_c(work, name + ".so", HOOKS, "-O2", "-fPIC", "-shared",
                     "-fno-instrument-functions", *flags)


def assay_of(build):
    """assay and its runtime, from a build directory."""
    program = os.path.abspath(os.path.join(build, "assay"))
    library = os.path.abspath(os.path.join(build, "runtime", "libassay-calls.so"))
    for path in (program, library):
        if not os.path.exists(path):
            fail(f"{path} is not there: build first, or name the directory with --build")
    return program, library


def run(words, cwd=None, preload=None, **environment):
    """Runs a command to its end; returns wall seconds, CPU seconds, peak bytes, and the output."""
    env = dict(os.environ, **environment)
    if preload:
        env["LD_PRELOAD"] = preload
    start = time.monotonic()
    process = subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out = process.stdout.read()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        fail(f"{' '.join(words)} ended with status {process.returncode}: {err.decode()[-500:]}")
    return {"wall": seconds, "cpu": usage.ru_utime + usage.ru_stime,
            "peak": usage.ru_maxrss * 1024, "out": out.decode()}


def alternate(ways, rounds, measure):
    """Runs each variant once a round, in an order that alternates; returns {variant: [results]}."""
    found = {way: [] for way in ways}
    for number in range(rounds):
        for way in ways if number % 2 == 0 else reversed(ways):
            found[way].append(measure(way))
    return found


def median(values):
    return statistics.median(values)


def spread(values, digits=3):
    low, high = min(values), max(values)
    if len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
    return f"{median(values):.{digits}f} [{low:.{digits}f} {high:.{digits}f}]"


def machine():
    kernel = os.uname()
    return f"{kernel.sysname} {kernel.release} {kernel.machine}, {os.cpu_count()} CPUs"
