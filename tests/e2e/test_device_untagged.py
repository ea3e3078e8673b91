# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture device and guests without tags: all calls of the functions of a symbol table, and the
function that runs every N instructions. ASSAY_LONG=1: Debian's kernel, too."""

import os
import subprocess
import sys

import qemu_guest
from harness import BUILD, ROOT, long_test, main, test
from time_limit import limit

sys.path.insert(0, str(ROOT / "tests" / "guest"))
import guest as linux  # noqa: E402

ROUNDS = 1000
CALLS = {"leaf": 2 * ROUNDS, "branch": ROUNDS, "rounds": 1, "start_c": 1, "has": 3,
         "print_time": 1}
LEAF, BRANCH = 4, 3  # instructions of a call, without callees


def build(t):
    qemu_guest.need(t)
    guest = t.path("plain")
    if not guest.exists():
        qemu_guest.compile_guest(t.directory, t.path("guest"), None)
        t.path("guest").rename(guest)
    return guest


def boot(t, options, symbols=None):
    guest, trace = build(t), t.path("trace")
    result = qemu_guest.boot(guest, str(ROUNDS), f"out={trace},symbols={symbols or guest},{options}")
    t.has(result.stderr, "assay_device: ")
    return trace, result


def rows(t, trace):
    report = t.report(trace)
    return {row["function"]: row for row in report["functions"]}, report


def check_nets(t, found):
    """Each instruction takes 1 ns."""
    t.equal(found["leaf"]["net_ns"], 2 * ROUNDS * LEAF, "net of leaf")
    t.equal(found["branch"]["net_ns"], ROUNDS * BRANCH, "net of branch")


@test
def all_calls_of_a_guest_without_tags_are_recorded(t):
    trace, result = boot(t, "mode=calls")
    found, report = rows(t, trace)
    t.equal({name: row["calls"] for name, row in found.items()}, CALLS, "calls")
    check_nets(t, found)
    t.equal((report["unmatched_exits"], report["missing_exits"], report["open"]), (0, 0, 0),
            "unmatched exits, missing exits, open calls")
    t.equal(result.stdout, qemu_guest.boot(build(t), str(ROUNDS)).stdout, "the guest's clock")


@test
def symbols_are_a_text_too(t):
    text = t.path("symbols.txt")
    text.write_bytes(subprocess.run(["nm", build(t)], check=True, capture_output=True).stdout)
    trace, _ = boot(t, "mode=calls", text)
    found, _ = rows(t, trace)
    t.equal(found["leaf"]["calls"], 2 * ROUNDS, "calls of leaf")


@test
def samples_of_each_instruction_are_the_instructions(t):
    trace, _ = boot(t, "sample=1")
    found, _ = rows(t, trace)
    check_nets(t, found)


@test
def samples_have_the_time_until_the_next(t):
    trace, _ = boot(t, "sample=101")
    found, report = rows(t, trace)
    t.true(all(row["net_ns"] % 101 == 0 for row in found.values()), f"nets: {found}")
    whole = sum(row["net_ns"] for row in found.values())
    t.equal(report["elapsed_ns"], whole, "elapsed")
    # 16 instructions a round: 8 of leaf. A period of 101 is not in step with them.
    t.between(found["leaf"]["net_ns"] / whole, 0.48, 0.56, "share of leaf")


@test
def recording_starts_at_a_function(t):
    trace, _ = boot(t, "mode=calls,start=tag:print_time")
    found, _ = rows(t, trace)
    t.equal({name: row["calls"] for name, row in found.items()}, {"print_time": 1, "has": 2},
            "calls")


@test
def wrong_options_are_refused(t):
    guest, empty, text = build(t), t.path("empty"), t.path("text")
    empty.write_text("")
    text.write_text("no symbols\n")
    zeros = t.path("zeros")
    zeros.write_text("0000000000000000 T main\n")
    out, by = f"out={t.path('trace')}", f"symbols={guest}"
    for options, message in (("mode=calls", "symbols=: the functions of the guest are missing"),
                             ("sample=10", "symbols=: the functions of the guest are missing"),
                             (by, "give mode=calls or sample=N"),
                             (f"{by},mode=calls,sample=5", "not with mode=calls"),
                             (f"{by},sample=0", "not a number of instructions"),
                             (f"{by},sample=x", "not a number of instructions"),
                             (f"{by},mode=other", "unknown option or value"),
                             (f"{by},mode=calls,names={guest}", "not for guests without tags"),
                             (f"{by},mode=calls,start=tag:none", "has no such name"),
                             (f"symbols={guest}.x,mode=calls", "No such file"),
                             (f"symbols={text},mode=calls", "neither an ELF file nor lines"),
                             (f"symbols={zeros},mode=calls", "all addresses are 0"),
                             (f"symbols={empty},mode=calls", "neither an ELF file nor lines")):
        result = qemu_guest.boot(guest, "1", f"{out},{options}")
        t.true(result.returncode != 0, f"{options}: QEMU ran")
        t.has(result.stderr, message, options)
        t.true(not t.path("trace").exists(), f"{options}: a trace was made")


@test
def damaged_elf_files_are_refused_or_read(t):
    guest = build(t)
    data = guest.read_bytes()
    damaged = t.path("damaged")
    for i, size in enumerate((20, 52, len(data) // 2, len(data) - 1)):
        damaged.write_bytes(data[:size])
        result = qemu_guest.boot(guest, "1", f"out={t.path(f'cut{i}')},symbols={damaged},sample=9")
        t.true(result.returncode == 1, f"{size} bytes: QEMU ended with {result.returncode}")


QEMU = ["-accel", "tcg,thread=single", "-smp", "1", "-append",
        "console=ttyS0 quiet panic=-1 nokaslr clocksource=tsc tsc=reliable"]
SYSTEM_CALLS = {"__x64_sys_getppid": (1300, 300), "__x64_sys_unlink": (140, 40),
                "do_unlinkat": (140, 40), "hrtimer_nanosleep": (15, 10), "do_nanosleep": (15, 10),
                "common_nsleep": (15, 10), "__x64_sys_clock_nanosleep": (15, 10)}


def linux_calls(t, kernel, symbols, numbers):
    trace = t.path("trace")
    job = "kernel_truth getppid 1 " + " ".join(f"{what} {n}" for what, n in numbers.items())
    program = os.path.join(BUILD, "tests", "guest", "kernel_truth")
    device = f"{qemu_guest.DEVICE},out={trace},symbols={symbols},mode=calls," \
        "start=tag:__x64_sys_getppid"
    result = linux.boot(kernel, job, str(t.path("out")), [program], timeout=limit(150),
                        options=[*QEMU, "-plugin", device])
    t.equal(result.status, 0, "status of the job")
    report = t.report(trace)
    subprocess.run(["rm", "-r", trace], check=True)
    return {row["function"]: row["calls"] for row in report["functions"]}, report


@long_test
def debian_s_kernel_is_traced_without_a_change(t):
    qemu_guest.need(t)
    try:
        kernel = linux.kernel(linux.default_cache())
        linux.boot(kernel, "echo 0 >/proc/sys/kernel/kptr_restrict\ncat /proc/kallsyms "
                   ">/out/kallsyms", str(t.path("symbols")), timeout=limit(100), options=QEMU)
        symbols = t.path("symbols") / "kallsyms"
        many, report = linux_calls(t, kernel, symbols, {"getppid": 1300, "unlink": 140, "sleep": 15})
        few, _ = linux_calls(t, kernel, symbols, {"getppid": 300, "unlink": 40, "sleep": 10})
    except linux.GuestError as error:
        t.skip(str(error))
    # Other programs of the guest make some of these calls, equally often in both runs.
    t.equal({name: many[name] - few[name] for name in SYSTEM_CALLS},
            {name: a - b for name, (a, b) in SYSTEM_CALLS.items()}, "more calls in the longer run")
    t.equal(many["do_syscall_64"], many["entry_SYSCALL_64"], "system calls")
    t.between(report["missing_exits"] + report["unmatched_exits"], 0, report["tags"] / 1000,
              "exits without entries and entries without exits")


main()
