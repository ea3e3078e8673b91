# SPDX-License-Identifier: GPL-2.0-or-later
"""The capture device and guests without tags: all calls of the functions of a symbol table, and the
function that runs every N instructions.

With ASSAY_LONG, Debian's kernel, too. The device's counts of calls are compared with those of the
kernel's function tracer, in the same run. The device's samples, which no guest can delay, are compared
with the guest's own samples of cpu-clock, which are delayed while interrupts are off."""

import os
import re
import subprocess
import sys

import kernel_guest
import qemu_guest
from harness import ASSAY, BUILD, ROOT, long_test, main, test
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


# Debian's kernel, with ASSAY_LONG alone: an emulated kernel takes minutes.

# With -icount the guest's timers do not depend on the load of this machine.
LINE = "nokaslr clocksource=tsc tsc=reliable"
QEMU = ["-accel", "tcg,thread=single", "-smp", "1", "-append", f"console=ttyS0 quiet panic=-1 {LINE}",
        "-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01T00:00:00,clock=vm"]
MARK = "__x64_sys_sethostname"
TRUTH = os.path.join(BUILD, "tests", "guest", "kernel_truth")

# Two jobs of kernel_truth, and the additional calls in the first one. A fork is of three children, each
# of which calls getppid.
MANY = "getppid 1300 unlink 140 sleep 15 fork 1 fork 1"
FEW = "getppid 300 unlink 40 sleep 10 fork 1"
MORE = {"__x64_sys_getppid": 1003, "__x64_sys_unlink": 100, "do_unlinkat": 100,
        "hrtimer_nanosleep": 5, "do_nanosleep": 5, "common_nsleep": 5,
        "__x64_sys_clock_nanosleep": 5, "kernel_clone": 3, "copy_process": 3,
        "wake_up_new_task": 3}
ROOTS = "*_sys_getppid,*_sys_unlink,*_sys_clock_nanosleep,kernel_clone"

state = {}


def device(**options):
    return ["-plugin", qemu_guest.DEVICE.as_posix() + "".join(f",{k}={v}" for k, v in options.items())]


def prepare(t):
    """The kernel, and its symbols as the kernel itself lists them."""
    qemu_guest.need(t)
    if "kernel" not in state:
        try:
            kernel = linux.kernel(linux.default_cache())
            result = linux.boot(kernel, "echo 0 >/proc/sys/kernel/kptr_restrict\n"
                                "cat /proc/kallsyms >/out/kallsyms", str(t.path("symbols")),
                                timeout=limit(100), options=QEMU)
        except linux.GuestError as error:
            t.skip(str(error))
        state["kernel"] = kernel
        state["symbols"] = result.text("kallsyms")
    return state["kernel"], t.write("kallsyms", state["symbols"])


class Names:
    """One name for each address of the kernel, since two readers may choose different ones."""

    def __init__(self, kallsyms):
        self.first, self.address = {}, {}
        for address, _, name, *module in map(str.split, kallsyms.splitlines()):
            if not module:
                self.first.setdefault(address, name)
                self.address.setdefault(name, address)

    def of(self, name):
        name = name.partition("@")[0]  # the device adds the address to a name that occurs twice
        return self.first.get(self.address.get(name), name)

    def calls(self, rows):
        found = {}
        for row in rows:
            name = self.of(row["function"])
            found[name] = found.get(name, 0) + row["calls"]
        return found


def counts(t, job):
    """The calls of each function during the job: by the device, and by the function tracer."""
    kernel, symbols = prepare(t)
    trace, out = t.path("trace"), t.path("out")
    script = f"assay calls --kernel='{ROOTS}' -o /out/calls -- sh -c " \
        f"'hostname x; kernel_truth {job}' >/dev/null"
    result = linux.boot(kernel, script, str(out), [ASSAY, TRUTH], timeout=limit(150), options=[
        *QEMU, *device(out=trace, symbols=symbols, mode="calls", start=f"tag:{MARK}")])
    t.equal(result.status, 0, f"status of the job: {result.text('stderr')}")
    report, names = t.report(trace), Names(state["symbols"])
    subprocess.run(["rm", "-r", trace], check=True)
    traced = [row for process in t.report("-f", out / "calls")["processes"]
              for row in process["functions"]]
    return names.calls(report["functions"]), names.calls(traced), report


@long_test
def device_and_function_tracer_count_the_same_calls(t):
    """Other programs of the guest make some of these calls, equally often in both runs."""
    many, few = counts(t, MANY), counts(t, FEW)
    names = Names(state["symbols"])
    for who, i in (("device", 0), ("function tracer", 1)):
        more = {name: many[i].get(names.of(name), 0) - few[i].get(names.of(name), 0)
                for name in MORE}
        t.equal(more, MORE, f"more calls in the longer run, by the {who}")
    calls, _, report = many
    t.equal(calls["do_syscall_64"], calls["entry_SYSCALL_64"], "system calls")
    t.between(report["missing_exits"] + report["unmatched_exits"], 0, report["tags"] / 1000,
              "exits without entries and entries without exits")


# Functions of a fork, in the order of their entries and exits.
FORK = ["-> kernel_clone", "-> copy_process", "-> copy_creds", "-> sched_fork", "-> copy_thread",
        "-> alloc_pid", "<- alloc_pid", "<- copy_process", "-> wake_up_new_task",
        "<- wake_up_new_task", "<- kernel_clone"]


def forks(image, files, device=None):
    """Boots for 20 forks; what the guest prints, with its times."""
    return kernel_guest.boot(image, files, device, f"{LINE} -- fork 20").stdout


@long_test
def forks_take_the_same_time_and_leave_the_same_trace(t):
    kernel, symbols = prepare(t)
    image = t.path("image")
    image.mkdir()
    (image / "bzImage").symlink_to(os.path.realpath(kernel.image))
    files = kernel_guest.initrd(t.directory, ROOT / "bench" / "kernel_work.c")
    alone = forks(image, files)
    t.has(alone, "each ")
    for name in ("first", "second"):
        options = f"out={t.path(name)},symbols={symbols},mode=calls,start=tag:{MARK},end=tag:{MARK}"
        t.equal(forks(image, files, options), alone, "what the guest prints")
    first, second = ((t.path(name) / "stream_0").read_bytes() for name in ("first", "second"))
    t.true(first == second, "the streams are different")
    report = t.report(t.path("first"))
    t.equal(report["elapsed_ns"], report["run_ns"] + report["idle_ns"], "run and idle time")
    t.equal(report["run_ns"], report["outside_ns"] + sum(
        row["net_ns"] for row in report["functions"] if row["function"] != "(outside)"),
            "nets of all functions")
    text = t.assay("tags", "trace", t.path("first"), "--function", "kernel_clone", "--depth", "3").out
    found = [line for line in re.findall(r"(?:->|<-) \w+", text) if line in FORK]
    t.equal(found[-len(FORK):], FORK, "the last fork")


# Work with many short parts that run with interrupts off.
WORK = """
echo begin-window >/dev/console
for i in $(seq 60); do /bin/busybox true; done
dd if=/dev/zero of=/tmp/file bs=512 count=8000 2>/dev/null
for i in 1 2 3; do yes | head -c 4000000 | cat >/tmp/file; done
kernel_truth sleep 40 threads 200 fork 200 threads 200 fork 200
find /proc /sys >/dev/null 2>&1
echo end-window >/dev/console
"""
SAMPLING = f"""
cd /out
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 50000 >/proc/sys/kernel/perf_event_max_sample_rate
assay record -a -F 19997 --budget 100 -o perf.data -- sh -c '{WORK}' || exit 10
assay report -i perf.data --full --json >report.json || exit 11
"""
PERIOD = 499  # instructions; not in step with loops


def sampled(t):
    """Shares of functions by the device, and the report of the guest's own recording."""
    kernel, symbols = prepare(t)
    trace = t.path("sampled")

    def on_line(line):
        word = {"begin-window": "start", "end-window": "stop"}.get(line.strip())
        if word:
            (trace / ".control").write_text(f"{word}\n", encoding="ascii")

    result = linux.boot(kernel, SAMPLING, str(t.path("out")), [ASSAY, TRUTH], timeout=limit(250),
                        on_line=on_line, options=[*QEMU, *device(
                            out=trace, symbols=symbols, sample=PERIOD, start="off")])
    t.equal(result.status, 0, f"status of the job: {result.text('stderr')}")
    return t.report(trace), t.json(result.text("report.json"))


# Functions in which the CPU waits: their samples are time, and not instructions.
WAITS = ("idle", "halt", "mwait")


def excess(names, truth, own):
    """By function of the kernel: samples of the guest, and the number without delay: the function's
    part of the instructions."""
    due, found = {}, {}
    for row in truth["functions"]:
        name = names.of(row["function"])
        due[name] = due.get(name, 0) + row["net_ns"]
    for row in own["functions"]:
        name = names.of(row["function"])
        if name in names.address and not any(word in name for word in WAITS):
            found[name] = found.get(name, 0) + row["samples"]
    scale = sum(row["samples"] for row in own["functions"]) / truth["elapsed_ns"]
    return {name: (count, due.get(name, 0) * scale) for name, count in found.items()}


def delayed(count, expected):
    """Twice as many samples as expected, and more than chance explains."""
    return count > 2 * expected and count - expected > 4 * max(count, expected) ** 0.5


@long_test
def delay_marks_are_the_functions_with_delayed_samples(t):
    truth, own = sampled(t)
    names = Names(state["symbols"])
    counts_of = excess(names, truth, own)
    marked = {names.of(place["function"]) for place in own["interrupts_off"]}
    late = {name for name, pair in counts_of.items() if delayed(*pair)}
    most = sorted(late, key=lambda name: counts_of[name][1] - counts_of[name][0])[:10]
    print("# samples  without delay  marked  function")
    for name in [*most, *sorted(marked - set(most))]:
        count, expected = counts_of.get(name, (0, 0))
        print(f"# {count:7}  {expected:13.1f}  {'yes' if name in marked else 'no':6}  {name}")
    precision = len(marked & late) / max(1, len(marked))
    recall = len(marked & set(most)) / max(1, len(most))
    print(f"# precision {len(marked & late)} of {len(marked)}, recall {len(marked & set(most))} of "
          f"{len(most)}")
    t.between(len(most), 5, 10, "functions with delayed samples")
    # A marked function can have few delayed samples besides many others.
    t.between(precision, 0.5, 1, "marked functions whose samples are delayed")
    t.between(recall, 0.75, 1, "functions with the most delayed samples that are marked")


main()
