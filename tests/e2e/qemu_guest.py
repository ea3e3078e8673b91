# SPDX-License-Identifier: GPL-2.0-or-later
"""qemu_guest: a freestanding guest with event tags, which QEMU boots without firmware or kernel.

Its command line is a number of rounds N: N calls of branch, 2 N calls of leaf and N marks, within
one call of rounds and of start_c. With `switch`, it switches to another task,
which calls leaf, and back. It then prints its time stamp counter. With `wait` it loops
forever, with `busy` it calls leaf forever, else it switches the machine off.
"""

import subprocess

from harness import BUILD, ROOT, run
from time_limit import limit

PLUGIN = BUILD / "plugin" / "gcc" / "assay_tags.so"
DEVICE = BUILD / "device" / "qemu" / "assay_device.so"

PROGRAM = r"""
#include <assay/tags.h>

#define PLAIN __attribute__((no_instrument_function))

/* The header of multiboot is within the first 8 KB of the file. */
__asm__(".text\n"
        ".align 4\n"
        ".long 0x1badb002, 0, -0x1badb002\n"
        ".globl _start\n"
        "_start: mov $stack_end, %esp\n"
        "push %ebx\n"
        "call start_c\n"
        "mov $0xf4, %dx\n"
        "mov $0, %eax\n"
        "out %eax, %dx\n"
        "1: jmp 1b\n"
        ".lcomm stack, 4096\n"
        ".set stack_end, stack + 4096\n");

static volatile int sum;

__attribute__((noinline)) void leaf(void) { sum++; }
__attribute__((noinline)) void branch(void) { leaf(); leaf(); ASSAY_TAG("mark"); }
__attribute__((noinline)) void rounds(int n) { for (int i = 0; i < n; i++) branch(); }

/* The plugin takes this for a Linux kernel's switch of tasks. */
struct task_struct {
	int state, pid;
	char comm[16];
};
static struct task_struct one = {0, 1, "one"}, two = {0, 0x12345, "fifteen letters"};

__attribute__((noinline)) void __switch_to(struct task_struct *prev, struct task_struct *next)
{
	sum++;
}

static PLAIN void put(char c) { __asm__ volatile("outb %0, $0xe9" : : "a"(c)); }

static PLAIN unsigned has(const char *line, const char *word)
{
	for (; *line; line++) {
		unsigned i = 0;

		while (word[i] && line[i] == word[i])
			i++;
		if (!word[i])
			return 1;
	}
	return 0;
}

static PLAIN void print_time(void)
{
	unsigned low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	for (int i = 28; i >= 0; i -= 4)
		put("0123456789abcdef"[high >> i & 15]);
	for (int i = 28; i >= 0; i -= 4)
		put("0123456789abcdef"[low >> i & 15]);
	put('\n');
}

void start_c(const unsigned *info)
{
	const char *line = (const char *)info[4];
	int n = 0;

	while (*line && *line != ' ') /* the path of the kernel */
		line++;
	for (const char *p = line; *p; p++)
		if (*p >= '0' && *p <= '9')
			n = n * 10 + *p - '0';
	rounds(n);
	if (has(line, "switch")) {
		__switch_to(&one, &two);
		leaf();
		__switch_to(&two, &one);
	}
	print_time();
	while (has(line, "busy"))
		leaf();
	while (has(line, "wait"))
		;
}
"""


def need(t):
    t.need("gcc", "ld", "qemu-system-x86_64")
    if not PLUGIN.exists():
        t.skip("the GCC plugin was not built")
    if not DEVICE.exists():
        t.skip("the capture device was not built")


def compile_guest(directory, guest, names):
    """Compiles the guest; with triggers if `names`, its names file, is not None."""
    source = directory / "guest.c"
    source.write_text(PROGRAM)
    tags = [f"-fplugin={PLUGIN}", f"-fplugin-arg-assay_tags-names={names}",
            "-fplugin-arg-assay_tags-trigger=nop", "-fplugin-arg-assay_tags-embed=no",
            "-D__KERNEL__"]
    run("gcc", "-m32", "-w", "-O1", "-ffreestanding", "-fno-pic", "-no-pie", "-nostdlib", "-static",
        "-fno-stack-protector", "-fno-toplevel-reorder", "-fcf-protection=none",
        f"-I{ROOT}/include", *(tags if names else []), "-Wl,-Ttext-segment=0x100000",
        "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-o", guest, source)


def build(t):
    """Builds the guest; returns its file and its names file."""
    need(t)
    guest, names = t.path("guest"), t.path("guest.names")
    if not guest.exists():
        compile_guest(t.directory, guest, names)
    return guest, names


def command(guest, line, device=None, *more):
    """The command of QEMU; `device` has the options of the device, without its file."""
    words = ["qemu-system-x86_64", "-accel", "tcg", "-nodefaults", "-display", "none",
             "-no-reboot", "-m", "16", "-debugcon", "stdio", "-icount", "shift=0,sleep=off",
             "-rtc", "clock=vm", "-device", "isa-debug-exit,iobase=0xf4", "-kernel", str(guest),
             "-append", line, *more]
    return words + (["-plugin", f"{DEVICE},{device}"] if device else [])


def boot(guest, line, device=None, *more):
    """Runs the guest to its end; returns QEMU's result. The status 1 is the guest's normal end."""
    return subprocess.run(command(guest, line, device, *more), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=limit(20), check=False)
