# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel and modules: assay records, reports and annotates them in a guest; the output of annotate
is compared with objdump of the same files."""

import json
import os
import re
import sys

from harness import main, test
from programs import ASSAY, BUILD, ROOT, comment, number, run, skip, workload
from time_limit import limit

sys.path.insert(0, os.path.join(ROOT, "tests", "guest"))
import guest  # noqa: E402

MODULE, ALGORITHM, MODULE_FUNCTION = "rmd160", "rmd160", "rmd160_transform"
KERNEL_FUNCTIONS = ("chacha_permute", "chacha_block_generic")  # one is inlined in some kernels
OUT = os.path.join(BUILD, "guest-out")

JOB = f"""
echo 0 >/proc/sys/kernel/kptr_restrict
cd /out
cat /proc/kallsyms >kallsyms
cat /proc/modules >modules
assay record -a -g -F 499 -o perf.data -- kernel_load 6000 {ALGORITHM} || exit 10
assay report --full -i perf.data >report.txt || exit 11
assay report -i perf.data --json >report.json || exit 12
assay report -i perf.data --json --sort image,function,address >rows.json || exit 13
assay annotate --full -i perf.data {MODULE_FUNCTION} >module.txt || exit 14
for f in {' '.join(KERNEL_FUNCTIONS)}; do assay annotate --full -i perf.data $f >kernel-$f.txt; done
true
"""

# Instructions that the kernel patches at run time; all others are compared.
PATCHED = re.compile(r"__fentry__|__x86_|static_call|\.altinstr|mcount")

state = {}


def the_guest():
    """One boot for all tests."""
    if "result" not in state:
        try:
            kernel = guest.kernel(guest.default_cache())
            state["kernel"] = kernel
            state["result"] = guest.boot(kernel, JOB, OUT, [ASSAY, workload("kernel_load")],
                                         ["algif_hash", MODULE], timeout=limit(100))
        except guest.GuestError as error:
            state["result"] = error
    if isinstance(state["result"], guest.GuestError):
        skip(str(state["result"]))
    result = state["result"]
    assert result.status == 0, \
        f"the job ended with status {result.status}: {result.text('stderr')[-800:]}"
    return state["kernel"], result


@test
def boots(t):
    _, result = the_guest()
    comment(f"booted in {result.boot_seconds:.1f} s, {result.seconds:.1f} s in all")
    # Two seconds on an idle machine; other tests run at the same time.
    assert 0 < result.boot_seconds < 100


@test
def report_names_module_functions(t):
    _, result = the_guest()
    found = json.loads(result.text("report.json"))
    functions = {f["function"]: f for f in found["functions"]}
    assert MODULE_FUNCTION in functions, f"not named: {sorted(functions)[:30]}"
    assert MODULE in functions[MODULE_FUNCTION]["image"], functions[MODULE_FUNCTION]
    assert functions[MODULE_FUNCTION]["samples"] > 200
    assert any(name in functions for name in KERNEL_FUNCTIONS)


def annotated(text):
    """{address: (hits, bytes, assembly)} of annotate's plain output."""
    found = {}
    for line in text.splitlines():
        row = re.match(r"^\s*(?:[\d.]+ %\s+(\d+)\s+)?0x([0-9a-f]{16})  "
                       r"((?:[0-9a-f]{2} )+)\s+(\S.*)$", line)
        if row:
            hits, address, raw, text_ = row.groups()
            found[int(address, 16)] = (int(hits or 0), raw.replace(" ", ""), text_.strip())
    return found


def objdump(path, *options):
    """[(address, bytes, assembly)], with relocations as attributes of the instruction."""
    text = run(["objdump", "-dr", "-w", *options, path], timeout=120, check=True).out
    found = []
    for address, raw, assembly in re.findall(
            r"(?m)^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", text):
        found.append((int(address, 16), raw.replace(" ", ""), assembly))
    return found


def function_of_module(kernel):
    """Instructions of the function in the .ko; addresses are relative to the function's start."""
    path = kernel.module(MODULE)
    symbols = run(["nm", "-S", path], check=True).out
    address, size = re.search(rf"(?m)^([0-9a-f]+) ([0-9a-f]+) [tT] {MODULE_FUNCTION}$",
                              symbols).groups()
    start, size = int(address, 16), int(size, 16)
    code = objdump(path, "-j", ".text", f"--start-address={start:#x}",
                   f"--stop-address={start + size:#x}")
    return [(a - start, raw, text) for a, raw, text in code]


def kallsyms(result, name, module=None):
    for line in result.text("kallsyms").splitlines():
        fields = line.split()
        if fields[2] == name and (fields[3] if len(fields) > 3 else None) == module:
            return int(fields[0], 16)
    raise AssertionError(f"{name} is not in the guest's kallsyms")


def next_symbol(result, address):
    """The start of the next function, by the guest's kallsyms."""
    return min(a for a in (int(line.split()[0], 16)
                           for line in result.text("kallsyms").splitlines()) if a > address)


def compare(shown, start, wanted):
    """Every instruction of the file is at its address, with its bytes where the kernel neither
    relocates nor patches."""
    compared, exact = 0, 0
    for offset, raw, text in wanted:
        if PATCHED.search(text):
            continue
        assert start + offset in shown, f"{text.strip()} at +{offset:#x} is not shown"
        _, our_raw, our_text = shown[start + offset]
        if "R_X86_64" not in text:
            assert our_raw == raw, \
                f"+{offset:#x}: {our_raw} ({our_text}), the file has {raw} ({text})"
            exact += 1
        mnemonic = text.split()[0]
        if not mnemonic.startswith(("j", "nop", "cs", "ds", "data16", "ret", "call")):
            assert our_text.split()[0].rstrip("bwlq") == mnemonic.rstrip("bwlq"), \
                f"+{offset:#x}: {our_text}, by objdump {text}"
        compared += 1
    return compared, exact


def check_hits(shown, samples, boundaries):
    hits = sum(h for h, _, _ in shown.values())
    assert hits == samples, f"annotate shows {hits} hits, report {samples}"
    for address, (count, _, text) in shown.items():
        assert not count or address in boundaries, \
            f"{count} hits at {address:#x} ({text}), which is no instruction's first byte"


def samples_of(result, function):
    found = json.loads(result.text("rows.json"))["rows"]
    return {number(r["address"]): r["samples"] for r in found if r["function"] == function}


@test
def annotate_module(t):
    kernel, result = the_guest()
    start = kallsyms(result, MODULE_FUNCTION, f"[{MODULE}]")
    shown = annotated(result.text("module.txt"))
    wanted = function_of_module(kernel)
    compared, exact = compare(shown, start, wanted)
    comment(f"{MODULE_FUNCTION}: {compared} of {len(wanted)} instructions as in the .ko, "
            f"{exact} to the byte")
    assert compared > 0.9 * len(wanted) > 90
    samples = samples_of(result, MODULE_FUNCTION)
    boundaries = {start + offset for offset, _, _ in wanted}
    assert set(samples) <= boundaries, \
        f"sampled inside an instruction: {[hex(a) for a in set(samples) - boundaries]}"
    check_hits(shown, sum(samples.values()), boundaries)


@test
def annotate_kernel(t):
    kernel, result = the_guest()
    name = next(n for n in KERNEL_FUNCTIONS if samples_of(result, n))
    start = kallsyms(result, name)
    shown = annotated(result.text(f"kernel-{name}.txt"))
    assert shown, f"nothing annotated: {result.text(f'kernel-{name}.txt')[:300]}"
    try:
        vmlinux = kernel.vmlinux()
    except guest.GuestError as error:
        skip(str(error))
    # The image was linked for another address than KASLR chose: _text is in its program headers.
    text = run(["readelf", "-SW", vmlinux], check=True).out
    built = int(re.search(r"\] \.text\s+PROGBITS\s+([0-9a-f]+)", text).group(1), 16)
    moved = kallsyms(result, "_text") - built
    low, high = start - moved, next_symbol(result, start) - moved
    wanted = [(a - low, raw, t) for a, raw, t in
              objdump(vmlinux, f"--start-address={low:#x}", f"--stop-address={high:#x}")]
    samples = samples_of(result, name)
    boundaries = {start + offset for offset, _, _ in wanted}
    assert set(samples) <= boundaries, "sampled inside an instruction"
    check_hits(shown, sum(samples.values()), boundaries)
    same = sum(1 for offset, raw, _ in wanted
               if start + offset in shown and shown[start + offset][1] == raw)
    comment(f"{name}: {same} of {len(wanted)} instructions as in the boot image, to the byte; "
            f"{sum(samples.values())} samples")
    assert same > 0.9 * len(wanted) > 40


@test
def other_kernel_refused(t):
    """Read on the host, the guest's kernel symbols must not be taken from the host's kernel."""
    _, result = the_guest()
    done = run([ASSAY, "report", "--full", "-i", result.path("perf.data")], timeout=60)
    text = done.out + done.err
    assert done.status == 0, done.err
    assert MODULE_FUNCTION not in done.out and "chacha_" not in done.out, \
        "symbols of a kernel that does not run here"
    assert re.search(r"(?i)kernel.*(build-id|build id|match|differ|another|other)", text), \
        f"the reason is missing: {text[:1500]}"


if __name__ == "__main__":
    main()
