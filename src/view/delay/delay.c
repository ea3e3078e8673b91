/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/delay/delay.h"

#include "base/memory/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without code: the place has this part of the function's samples at least. */
#define CONCENTRATED 0.15
/* Without code: of a function that is known to enable interrupts, so many samples, and this part of
 * them at one address. Code that can be interrupted has samples at several instructions. */
#define NAMED_SAMPLES 30
#define NAMED_PART 0.9
/* Without code: the smallest probability that a sample of the place is later than a sample of user
 * code. */
#define LATER_NAMED 0.6
/* With code that may have enabled interrupts. */
#define LATER_CODE 0.55
#define LATER_OTHER 0.8
/* Standard errors by which `later` must exceed 0.5. */
#define CLEAR 4.0
/* With code: samples that are clearly earlier than those of user code were not delayed. */
#define EARLIER 0.3
/* Maximum number of instructions before an address that are searched for the instruction that
 * turned interrupts off. */
#define REGION_MAX 400

static double middle(const float *sorted, size_t count)
{
	return ((double)sorted[(count - 1) / 2] + (double)sorted[count / 2]) / 2;
}

/* The probability that a value of `a` is larger than one of `b`; equal values count half. */
static double probability_larger(const float *a, size_t a_count, const float *b, size_t b_count)
{
	size_t below = 0, not_above = 0;
	double sum = 0;

	for (size_t i = 0; i < a_count; i++) {
		while (below < b_count && b[below] < a[i])
			below++;
		while (not_above < b_count && b[not_above] <= a[i])
			not_above++;
		sum += (double)(below + not_above) / 2;
	}
	return sum / (double)a_count / (double)b_count;
}

struct delay_lateness delay_lateness_of(float *late, size_t count, const float *usual,
                                        size_t usual_count)
{
	struct delay_lateness l = {0};

	if (count < DELAY_SAMPLES_MIN || usual_count < DELAY_SAMPLES_MIN)
		return l;
	sorted_floats(late, count);
	l.known = true;
	l.median_ns = middle(late, count);
	l.usual_ns = middle(usual, usual_count);
	l.later = probability_larger(late, count, usual, usual_count);
	l.error = sqrt((1 / (double)count + 1 / (double)usual_count) / 12);
	return l;
}

static bool contains_one(const char *name, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

#define HAS_ONE(name, list) contains_one(name, list, sizeof(list) / sizeof(*(list)))

/* Kernel functions that enable interrupts in many versions, on x86 and arm64. */
static bool is_known_to_enable(const char *name)
{
	static const char *const parts[] = {
	        "unlock_irq",   "irq_restore",    "irq_enable",         "softirq",
	        "task_switch",  "do_syscall_",    "do_int80",           "do_fast_syscall",
	        "el0t_64_sync", "exc_page_fault", "local_daif_restore", "el0_svc",
	};

	return HAS_ONE(name, parts);
}

/*
 * String instructions can be interrupted at each step, but are late if the hypervisor fetches the
 * page that they touch.
 */
static bool is_of_strings(const char *name)
{
	static const char *const parts[] = {
	        "copy_user", "clear_page", "copy_page", "clear_user",      "memcpy",
	        "memset",    "memmove",    "rep_movs",  "rep_stos",        "copy_to_user",
	        "copy_from", "copyin",     "copyout",   "copy_folio_from", "csum_partial",
	};

	return HAS_ONE(name, parts);
}

/* Their instructions leave the virtual machine: a sample is late until the hypervisor returns. */
static bool leaves_the_machine(const char *name)
{
	static const char *const parts[] = {
	        "write_msr", "read_msr", "wrmsr",  "rdmsr", "iowrite", "ioread", "native_cpuid",
	        "hypercall", "kvm_",     "vmcall", "apic",  "mmio",    "readl",  "writel",
	};

	return HAS_ONE(name, parts);
}

static bool is_late(const struct delay_lateness *l, double later)
{
	return l->known && l->later >= later && l->later - 0.5 > CLEAR * l->error;
}

/* Clearly earlier than user code: such samples were not delayed. */
static bool is_early(const struct delay_lateness *l)
{
	return l->known && 0.5 - l->later > CLEAR * l->error;
}

static bool judge_code(const struct delay_place *p)
{
	if (p->code == CODE_MAY_ENABLE)
		return is_late(&p->lateness, LATER_CODE);
	return p->code == CODE_ENABLES && (!p->lateness.known || p->lateness.later > EARLIER);
}

enum delay_evidence delay_decide(const struct delay_place *p)
{
	const struct delay_lateness *l = &p->lateness;
	bool named;

	if (p->samples < DELAY_SAMPLES_MIN)
		return DELAY_NONE;
	if (p->code_known)
		return judge_code(p) ? DELAY_CODE : DELAY_NONE;
	if (is_of_strings(p->function) || leaves_the_machine(p->function) ||
	    (double)p->samples < CONCENTRATED * (double)p->function_samples)
		return DELAY_NONE;
	named = is_known_to_enable(p->function);
	if (is_late(l, named ? LATER_NAMED : LATER_OTHER))
		return DELAY_LATENESS;
	return named && p->samples >= NAMED_SAMPLES && !is_early(l) &&
	                       (double)p->samples >= NAMED_PART * (double)p->function_samples
	               ? DELAY_NAME
	               : DELAY_NONE;
}

/* ---- code ------------------------------------------------------------------ */

static bool starts(const struct instruction *i, const char *word)
{
	size_t size = strlen(word);

	return i->decoded && !strncasecmp(i->text, word, size);
}

static bool is_sti(const struct instruction *i)
{
	return starts(i, "sti") && (!i->text[3] || i->text[3] == ' ' || i->text[3] == '\t');
}

/* Instructions directly after which an interrupt is possible. */
static bool enables_now(const struct instruction *i)
{
	return starts(i, "popf") || starts(i, "iret") || starts(i, "hlt") ||
	       (starts(i, "msr") && (strstr(i->text, "aifclr") || strstr(i->text, "AIFClr") ||
	                             strstr(i->text, "daif,") || strstr(i->text, "DAIF,")));
}

static bool disables(const struct instruction *i)
{
	return (starts(i, "cli") && (!i->text[3] || i->text[3] == ' ' || i->text[3] == '\t')) ||
	       (starts(i, "msr") && (strstr(i->text, "aifset") || strstr(i->text, "AIFSet")));
}

size_t delay_number_of(const struct disassembly *d, uint64_t address)
{
	size_t low = 0, high = d->items.count;

	while (low < high) {
		size_t at = (low + high) / 2;

		if (d->items.items[at].address < address)
			low = at + 1;
		else
			high = at;
	}
	return low < d->items.count && d->items.items[low].address == address ? low
	                                                                      : d->items.count;
}

/* After sti, the processor runs one more instruction before it takes an interrupt. */
enum delay_code delay_code_before(const struct disassembly *d, uint64_t address)
{
	const struct instruction *items = d->items.items;
	size_t at = delay_number_of(d, address);

	if (at == d->items.count || !at)
		return CODE_NOTHING;
	if (enables_now(&items[at - 1]) || is_sti(&items[at - 1]) ||
	    (at > 1 && is_sti(&items[at - 2])))
		return CODE_ENABLES;
	return starts(&items[at - 1], "call") && strchr(items[at - 1].text, '*') &&
	                       strstr(items[at - 1].text, "(%rip)")
	               ? CODE_MAY_ENABLE
	               : CODE_NOTHING;
}

/* "call *0x1021887(%rip)": relative to the next instruction, which is at `address`. */
uint64_t delay_called_pointer(const struct disassembly *d, uint64_t address)
{
	const char *operand = strchr(d->items.items[delay_number_of(d, address) - 1].text, '*');

	return address + (uint64_t)strtoll(operand + 1, NULL, 0);
}

enum delay_code delay_code_called(const struct disassembly *function)
{
	vec_each (i, &function->items) {
		if (is_sti(i) || enables_now(i))
			return CODE_ENABLES;
		if (i->branch || starts(i, "ret") || starts(i, "jmp"))
			break;
	}
	return CODE_NOTHING;
}

uint64_t delay_region(const struct disassembly *d, uint64_t address)
{
	size_t at = delay_number_of(d, address), first;

	if (at == d->items.count || at < 3)
		return 0;
	first = at > REGION_MAX ? at - REGION_MAX : 0;
	for (size_t i = at - 2; i-- > first;) {
		if (disables(&d->items.items[i]))
			return d->items.items[i].address;
		/* Before this instruction interrupts were on, so the region does not begin here. */
		if (i + 3 < at && (enables_now(&d->items.items[i]) || is_sti(&d->items.items[i])))
			return 0;
	}
	return 0;
}

bool delay_is_syscall(const struct instruction *i)
{
	return starts(i, "syscall") || starts(i, "sysenter") || starts(i, "svc") ||
	       (starts(i, "int") && strstr(i->text, "0x80"));
}

bool delay_ends_block(const struct instruction *i)
{
	return !i->decoded || i->branch || starts(i, "ret") || starts(i, "jmp") ||
	       starts(i, "call") || starts(i, "br ") || starts(i, "blr") || delay_is_syscall(i);
}

bool delay_after_syscall(const struct disassembly *d, uint64_t address)
{
	size_t at = delay_number_of(d, address);

	return at && at < d->items.count && delay_is_syscall(&d->items.items[at - 1]);
}

/* svc #N */
#define ARM64_SVC 0xd4000001u
#define ARM64_SVC_MASK 0xffe0001fu

enum delay_bytes delay_bytes_before(struct symbolizer *s, uint32_t image, uint64_t address)
{
	uint8_t b[4] = {0};
	int machine = symbolizer_bytes(s, image, address - sizeof(b), b, sizeof(b));
	uint32_t word;

	/* The code may begin with a system call of x86. */
	if (machine < 0)
		machine = symbolizer_bytes(s, image, address - 2, b + 2, 2);
	if (machine < 0)
		return BYTES_UNREAD;
	if (machine == CODE_ARM64) {
		word = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
		return (word & ARM64_SVC_MASK) == ARM64_SVC ? BYTES_SYSCALL : BYTES_OTHER;
	}
	if (machine != CODE_X86_64 && machine != CODE_X86_32)
		return BYTES_UNREAD;
	/* syscall, sysenter, int $0x80 */
	return (b[2] == 0x0f && (b[3] == 0x05 || b[3] == 0x34)) || (b[2] == 0xcd && b[3] == 0x80)
	               ? BYTES_SYSCALL
	               : BYTES_OTHER;
}

bool delay_is_string(struct symbolizer *s, uint32_t image, uint64_t address)
{
	uint8_t b[3], operation;
	int machine = symbolizer_bytes(s, image, address, b, sizeof(b));

	if ((machine != CODE_X86_64 && machine != CODE_X86_32) || (b[0] != 0xf2 && b[0] != 0xf3))
		return false;
	/* A prefix REX may follow. */
	operation = (b[1] & 0xf0) == 0x40 || b[1] == 0x66 ? b[2] : b[1];
	return (operation >= 0xa4 && operation <= 0xa7) || (operation >= 0xaa && operation <= 0xaf);
}
