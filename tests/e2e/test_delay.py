# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel time with interrupts off: a sample comes at the instruction where interrupts are on again.

The kernel is a file that is assembled here, and the samples are written at chosen instructions, so
the marks are known.
"""
from harness import *
from perf_write import PERIOD, PerfData

BASE = 0xffffffff81000000
# Each function has 100 samples at the label `at`, and one at its first instruction.
CODE = """
	.text
	.globl _text
_text:
	.macro begin name
	.globl \\name
	.type \\name, @function
	.balign 64
\\name:
	.endm
	begin enabled_by_sti
	nop
sti_off: cli
	movq %rax, %rbx
	sti
	nop
at_enabled_by_sti: movq %rbx, %rax
	ret
	.size enabled_by_sti, . - enabled_by_sti
	begin enabled_by_popf
	pushfq
popf_off: cli
	incq %rax
	popfq
at_enabled_by_popf: ret
	.size enabled_by_popf, . - enabled_by_popf
	begin copies
	movq $64, %rcx
at_copies: rep movsb
	ret
	.size copies, . - copies
	begin loops
	movq $64, %rcx
at_loops: loop at_loops
	ret
	.size loops, . - loops
	begin turned_off
	cli
at_turned_off: incq %rax
	incq %rax
	ret
	.size turned_off, . - turned_off
	begin enabled_by_call
call_off: cli
	movq %rax, %rbx
	call *enable_pointer(%rip)
at_enabled_by_call: movq %rbx, %rax
	ret
	.size enabled_by_call, . - enabled_by_call
	begin calls_other
	cli
	movq %rax, %rbx
	call *other_pointer(%rip)
at_calls_other: movq %rbx, %rax
	ret
	.size calls_other, . - calls_other
	begin enable
	sti
	ret
	.size enable, . - enable
	begin other
	incq %rax
	ret
	.size other, . - other
	.data
enable_pointer: .quad enable
other_pointer: .quad other
"""
# A kernel for several hypervisors has calls through pointers where the running kernel has sti.
MARKED = {"enabled_by_sti": "sti_off", "enabled_by_popf": "popf_off", "enabled_by_call": "call_off"}
OTHERS = ("copies", "loops", "turned_off", "calls_other")
HARDWARE, CYCLES = 0, 0


def kernel(t):
    """The file of the kernel, and the addresses of its symbols."""
    vmlinux, code = t.path("vmlinux"), t.path("kernel.o")
    t.run("as", "-o", code, t.write("kernel.s", CODE))
    t.run("ld", f"-Ttext={BASE:#x}", "-e", hex(BASE), "-o", vmlinux, code)
    symbols = {words[2]: int(words[0], 16) for words in
               map(str.split, t.run("nm", vmlinux).out.splitlines()) if len(words) == 3}
    return vmlinux, symbols


def recording(t, symbols, **event):
    program = t.path("prog")
    t.run("cc", "-O1", "-no-pie", "-o", program, t.write("prog.c", "int main(void) { return 0; }"))
    main_at = next(int(line.split()[0], 16) for line in t.run("nm", program).out.splitlines()
                   if line.endswith(" T main"))
    file = PerfData("prog", 42, program, **event)
    file.kernel(BASE, 0x1000)
    for function in (*MARKED, *OTHERS):
        file.kernel_sample([symbols[function]])
        for _ in range(100):
            file.kernel_sample([symbols["at_" + function]])
            file.sample([main_at])
    return t.write("kernel.data", file.bytes())


@test
def code_after_an_enabling_instruction_is_marked(t):
    vmlinux, symbols = kernel(t)
    report = t.report("--vmlinux", vmlinux, recording(t, symbols))
    places = {place["function"]: place for place in report["interrupts_off"]}
    t.equal(set(places), set(MARKED), "functions")
    for function, off in MARKED.items():
        place = places[function]
        t.equal(int(place["address"], 16), symbols["at_" + function], f"{function}: address")
        t.equal(int(place["off_since"], 16), symbols[off], f"{function}: interrupts off since")
        t.equal([place["samples"], place["found_by"]], [100, "code"], function)


@test
def readers_get_the_places_of_a_full_report(t):
    vmlinux, symbols = kernel(t)
    text = t.assay("report", "--full", "--vmlinux", vmlinux, recording(t, symbols)).out
    for function, off in MARKED.items():
        at = symbols["at_" + function] - symbols[function]
        since = symbols[off] - symbols[function]
        t.has(text, f"interrupts off before {function}+{at:#x}, since +{since:#x}")
    for function in OTHERS:
        t.lacks(text, f"interrupts off before {function}")


@test
def annotate_marks_the_line(t):
    vmlinux, symbols = kernel(t)
    data = recording(t, symbols)
    for function in (*MARKED, *OTHERS):
        want = [symbols["at_" + function]] if function in MARKED else []
        got = t.json(t.assay("annotate", "--json", "--vmlinux", vmlinux, "-i", data, function).out)
        marked = [int(line["address"], 16) for line in got["instructions"] if line.get("mark")]
        t.equal(marked, want, f"{function}: marks")
        t.equal(got["marked"], 100 * len(want), f"{function}: samples at marks")
    text = t.assay("annotate", "--vmlinux", vmlinux, "-i", data, "enabled_by_sti").out
    t.has(text, "[interrupts off before]")


@test
def a_clock_that_cannot_be_masked_has_no_marks(t):
    vmlinux, symbols = kernel(t)
    data = recording(t, symbols, event=(HARDWARE, CYCLES))
    report = t.report("--vmlinux", vmlinux, data)
    t.equal(report.get("interrupts_off", []), [], "places")


# Functions with an instruction at which the kernel returns, at_NAME, or which looks like one.
USER_CODE = """
	.macro begin name
	.globl \\name
	.type \\name, @function
	.p2align 4
\\name:
	.endm
	.macro finish name
	.size \\name, . - \\name
	.endm
	.text
	begin main
	xorl %eax, %eax
	ret
	finish main
	begin by_syscall
	pushq %rbx
	movl $110, %eax
	syscall
	.globl at_by_syscall
at_by_syscall: nop
	popq %rbx
	ret
	finish by_syscall
	begin by_int
	pushq %rbx
	movl $110, %eax
	int $0x80
	.globl at_by_int
at_by_int: nop
	popq %rbx
	ret
	finish by_int
	begin constant
	pushq %rbx
	addq $1, %rbx
	movl $0x050f0000, %eax
	.globl at_constant
at_constant: nop
	popq %rbx
	ret
	finish constant
	begin touches
	pushq %rbx
	.globl at_touches
at_touches: movb $1, (%rdi)
	popq %rbx
	ret
	finish touches
	begin fills
	pushq %rbx
	.globl at_fills
at_fills: rep stosb
	popq %rbx
	ret
	finish fills
"""
FAULTS = """
	.globl _text
	.text
_text: nop
	.p2align 4
	.globl asm_exc_page_fault
	.type asm_exc_page_fault, @function
asm_exc_page_fault: nop
	nop
	.size asm_exc_page_fault, . - asm_exc_page_fault
"""


def nm(t, program):
    return {words[2]: int(words[0], 16) for words in
            map(str.split, t.run("nm", program).out.splitlines()) if len(words) == 3}


def user_recording(t, strip=False, **event):
    """100 samples at each at_NAME, 2 at the popq after it, 60 faults of touches and fills, 100 of main."""
    program, vmlinux, kernel_o = t.path("returns"), t.path("vmlinux"), t.path("kernel.o")
    t.run("cc", "-no-pie", "-o", program, t.write("returns.s", USER_CODE))
    t.run("as", "-o", kernel_o, t.write("faults.s", FAULTS))
    t.run("ld", f"-Ttext={BASE:#x}", "-e", hex(BASE), "-o", vmlinux, kernel_o)
    symbols, fault = nm(t, program), nm(t, vmlinux)["asm_exc_page_fault"]
    file = PerfData("returns", 42, program, **event)
    file.kernel(BASE, 0x1000)
    size = {"touches": 3, "fills": 2}
    for name in ("by_syscall", "by_int", "constant", "touches", "fills"):
        at = symbols["at_" + name]
        for _ in range(100):
            file.sample([at])
            file.sample([symbols["main"]])
        for _ in range(2):
            file.sample([at + size.get(name, 1)])
        for _ in range(60 if name in size else 0):
            file.entered_sample([fault + 1], at)
    if strip:
        t.run("strip", program)
    return t.write("returns.data", file.bytes()), vmlinux, symbols


@test
def the_return_of_the_kernel_is_a_term_of_its_own(t):
    data, vmlinux, symbols = user_recording(t)
    report = t.report("--vmlinux", vmlinux, data)
    ledger = report["ledger"]
    # Two instructions after a system call; the others are user time: 3 x 100, 5 x 2 and 500 of main.
    t.equal(ledger["kernel_exit_ns"], 200 * PERIOD, "return from the kernel")
    t.equal(ledger["user_ns"], 810 * PERIOD, "user")
    t.equal(ledger["kernel_ns"], 120 * PERIOD, "kernel")
    t.equal(report["kernel_exit"]["after_faults_ns"], 60 * PERIOD, "after faults")
    estimate = report["kernel_exit"]
    # The neighbours have 0 to 2 samples.
    t.between(estimate["ns"], 198 * PERIOD, 200 * PERIOD, "the kernel's part")
    t.between(estimate["low_ns"], 150 * PERIOD, 195 * PERIOD, "its lower end")
    t.between(estimate["high_ns"], 200 * PERIOD, 235 * PERIOD, "its upper end")
    places = {place["function"]: place for place in report["interrupts_off"]
              if place["return_of"] != "no"}
    t.equal({name: (int(place["address"], 16), place["samples"], place["return_of"], place["found_by"])
             for name, place in places.items()},
            {"by_syscall": (symbols["at_by_syscall"], 100, "system call", "code"),
             "by_int": (symbols["at_by_int"], 100, "system call", "code"),
             "touches": (symbols["at_touches"], 60, "fault", "call chains")}, "places")
    parts = {part["name"]: part["value"] for part in report["summary"]["parts"]}
    t.equal((parts["user"], parts["kernel_exit"]), (810, 200), "parts of the summary, in samples")
    limits = {limit["name"]: limit["value"] for limit in report["summary"]["limits"]}
    t.near(limits["kernel_exit"], 200 / 1130, 1e-6, "the limit")


@test
def readers_get_the_return_of_the_kernel(t):
    data, vmlinux, _ = user_recording(t)
    text = t.assay("report", "--vmlinux", vmlinux, data).out
    t.has(" ".join(text.split()), "17.7 % of the busy time is the return from the kernel", "limits")
    t.has(" ".join(text.split()), "return from the kernel 17.7 %", "time")
    text = t.assay("report", "--full", "--vmlinux", vmlinux, data).out
    t.has(text, "return from the kernel before by_syscall+0x8", "the table")
    text = t.assay("annotate", "--vmlinux", vmlinux, "-i", data, "by_int").out
    t.equal(text.count("[return from the kernel before]"), 1, "marked lines of annotate")
    t.lacks(t.assay("annotate", "--vmlinux", vmlinux, "-i", data, "constant").out,
            "[return from the kernel before]", "a constant that looks like a system call")


@test
def sql_has_the_return_of_the_kernel(t):
    data, vmlinux, _ = user_recording(t)
    got = t.json(t.assay("sql", "--format", "json", "--vmlinux", vmlinux, data,
                         "SELECT sum(weight) AS ns FROM samples WHERE mode = 'user' AND stack IN "
                         "(SELECT stack FROM kernel_returns)").out)
    t.equal(got[0]["ns"], 200 * PERIOD, "return from the kernel")


@test
def a_stripped_program_has_the_same_return(t):
    data, vmlinux, _ = user_recording(t, strip=True)
    ledger = t.report("--vmlinux", vmlinux, data)["ledger"]
    t.equal(ledger["kernel_exit_ns"], 200 * PERIOD, "return from the kernel")
    t.equal(ledger["user_ns"], 810 * PERIOD, "user")


@test
def the_first_instruction_of_a_stripped_file_is_a_system_call(t):
    program = t.path("first")
    t.run("cc", "-nostdlib", "-static", "-o", program,
          t.write("first.s", ".globl _start\n_start: int $0x80\nat: nop\njmp _start\n"))
    at = nm(t, program)["at"]
    file = PerfData("first", 42, program)
    for _ in range(20):
        file.sample([at])
    t.run("strip", program)
    ledger = t.report(t.write("first.data", file.bytes()))["ledger"]
    t.equal((ledger["kernel_exit_ns"], ledger["user_ns"]), (20 * PERIOD, 0), "return, user")


@test
def code_that_cannot_be_read_is_named(t):
    data, vmlinux, _ = user_recording(t)
    os.remove(t.path("returns"))
    report = t.report("--vmlinux", vmlinux, data)
    t.equal(report["ledger"]["kernel_exit_ns"], 0, "return from the kernel")
    t.equal(report["ledger"]["user_ns"], 1010 * PERIOD, "user")
    t.has(" ".join(report["warnings"]), "The code of 100.0 % of the user time cannot be read here",
          "the remark")


@test
def a_counter_has_no_return(t):
    data, vmlinux, _ = user_recording(t, event=(HARDWARE, CYCLES))
    report = t.report("--vmlinux", vmlinux, data)
    t.equal([place for place in report["interrupts_off"]], [], "places")
    t.true(report["ledger"]["kernel_exit_ns"] in (None, 0), "return from the kernel")


LOOPS = """
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile unsigned long sum;
int main(int count, char **words)
{
	unsigned long n = strtoul(words[2], NULL, 0);

	for (unsigned long i = 0; i < n; i++)
		if (!strcmp(words[1], "calls"))
			sum += syscall(SYS_getppid);
		else
			for (int k = 0; k < 20; k++)
				sum += i * k;
	return 0;
}
"""


@test_of_shares
def loops_with_and_without_system_calls(t):
    """Recorded with and without call paths, of a command and of the machine."""
    program, shares = t.path("loops"), {}
    t.run("cc", "-O1", "-o", program, t.write("loops.c", LOOPS))
    for kind, count in (("calls", 3000000), ("pure", 10000000)):
        for options in ((), ("-g",), ("-a", "-g")):
            data = t.path(f"{kind}.data")
            t.assay("record", *options, "-F", "1999", "-o", data, "--", program, kind, count)
            report = t.report("--comm", "loops", data)
            rows = report["functions"]
            off = [place for place in report["interrupts_off"] if place["return_of"] == "system call"]
            user = sum(row["samples"] for row in rows if row["mode"] == "user")
            shares[kind, options] = sum(place["samples"] for place in off) / user
            ledger = report["ledger"]
            if "-a" in options:
                whole = ledger["wall_ns"] * ledger["cpus"]
                terms = ("user_ns", "kernel_exit_ns", "kernel_ns", "irq_ns", "idle_ns", "steal_ns",
                         "unobserved_ns", "residual_ns")
                t.near(sum(ledger[term] for term in terms), whole, 1000, "the sum of the terms")
    for (kind, options), share in shares.items():
        if kind == "calls":
            t.between(share, 0.2, 1, f"share of the returns in user samples: {options}")
        else:
            t.between(share, 0, 0.01, f"share of the returns in user samples: {options}")


main()
