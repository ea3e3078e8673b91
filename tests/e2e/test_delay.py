# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel time with interrupts off: a sample comes at the instruction where interrupts are on again.

The kernel is a file that is assembled here, and the samples are written at chosen instructions, so
the marks are known.
"""
from harness import *
from perf_write import PerfData

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


main()
