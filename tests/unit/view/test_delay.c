/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel time with interrupts off: the code before an address (x86 and arm64), the lateness of
 * samples against that of user code, and the decision from both.
 */
#include "check.h"
#include "view/delay/delay.h"

#include <math.h>

#define COUNT 400

static void decode(struct disassembly *d, const uint8_t *bytes, size_t size, bool arm64)
{
	struct symbol_code code = {.bytes = bytes,
	                           .address = 0x1000,
	                           .size = size,
	                           .machine = arm64 ? CODE_ARM64 : CODE_X86_64};
	struct error err = {0};

	CHECK_EQ(disassemble(&code, d, &err), 0);
}

static void sti_has_an_effect_after_one_more_instruction(void)
{
	/* cli; movb $0,(%rdi); sti; nopl; ret; nop */
	static const uint8_t bytes[] = {0xfa, 0xc6, 0x07, 0x00, 0xfb, 0x0f, 0x1f, 0x00, 0xc3, 0x90};
	struct disassembly d;

	decode(&d, bytes, sizeof(bytes), false);
	CHECK_EQ(delay_code_before(&d, 0x1008), CODE_ENABLES);
	CHECK_EQ(delay_code_before(&d, 0x1005), CODE_ENABLES);
	CHECK_EQ(delay_code_before(&d, 0x1004), CODE_NOTHING);
	CHECK_EQ(delay_code_before(&d, 0x1009), CODE_NOTHING);
	CHECK_EQ(delay_code_before(&d, 0x1006), CODE_NOTHING);
	CHECK_EQ(delay_region(&d, 0x1008), 0x1000);
	disassembly_done(&d);
}

static void popf_has_an_effect_at_once(void)
{
	/* push %rdi; popf; nop; nop; rep movsb; nop */
	static const uint8_t bytes[] = {0x57, 0x9d, 0x90, 0x90, 0xf3, 0xa4, 0x90};
	struct disassembly d;

	decode(&d, bytes, sizeof(bytes), false);
	CHECK_EQ(delay_code_before(&d, 0x1002), CODE_ENABLES);
	CHECK_EQ(delay_code_before(&d, 0x1003), CODE_NOTHING);
	CHECK_EQ(delay_code_before(&d, 0x1004), CODE_NOTHING);
	CHECK_EQ(delay_code_before(&d, 0x1006), CODE_NOTHING);
	CHECK_EQ(delay_region(&d, 0x1002), 0);
	disassembly_done(&d);
}

static void calls_through_memory_may_enable(void)
{
	/* call *0x10(%rip); nop; call *%rax; nop */
	static const uint8_t bytes[] = {0xff, 0x15, 0x10, 0, 0, 0, 0x90, 0xff, 0xd0, 0x90};
	struct disassembly d;

	decode(&d, bytes, sizeof(bytes), false);
	CHECK_EQ(delay_code_before(&d, 0x1006), CODE_MAY_ENABLE);
	CHECK_EQ(delay_code_before(&d, 0x1009), CODE_NOTHING);
	disassembly_done(&d);
}

static void arm64_unmasks_by_msr(void)
{
	/* msr daifset, #2; nop; msr daifclr, #2; nop; msr daif, x0; nop */
	static const uint8_t bytes[] = {0xdf, 0x42, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5,
	                                0xff, 0x42, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5,
	                                0x20, 0x42, 0x1b, 0xd5, 0x1f, 0x20, 0x03, 0xd5};
	struct disassembly d;

	decode(&d, bytes, sizeof(bytes), true);
	CHECK_EQ(delay_code_before(&d, 0x1004), CODE_NOTHING);
	CHECK_EQ(delay_code_before(&d, 0x100c), CODE_ENABLES);
	CHECK_EQ(delay_code_before(&d, 0x1014), CODE_ENABLES);
	CHECK_EQ(delay_region(&d, 0x100c), 0x1000);
	disassembly_done(&d);
}

static void an_address_after_syscall(void)
{
	/* nop; syscall; nop; nop */
	static const uint8_t bytes[] = {0x90, 0x0f, 0x05, 0x90, 0x90};
	struct disassembly d;

	decode(&d, bytes, sizeof(bytes), false);
	CHECK(delay_after_syscall(&d, 0x1003));
	CHECK(!delay_after_syscall(&d, 0x1004));
	CHECK(!delay_after_syscall(&d, 0x1001));
	disassembly_done(&d);
}

/* Values from `from` to `to`, evenly. */
static void fill(float *values, float from, float to)
{
	for (size_t i = 0; i < COUNT; i++)
		values[i] = from + (to - from) * (float)i / COUNT;
}

static struct delay_lateness lateness(float from, float to)
{
	float late[COUNT], usual[COUNT];

	fill(late, from, to);
	fill(usual, 1000, 3000);
	return delay_lateness_of(late, COUNT, usual, COUNT);
}

static void lateness_is_compared_with_user_code(void)
{
	struct delay_lateness l = lateness(1000, 3000);

	CHECK(l.known && fabs(l.later - 0.5) < 1e-9);
	CHECK(fabs(l.usual_ns - 1997.5) < 1);
	l = lateness(5000, 9000);
	CHECK(l.later == 1 && fabs(l.median_ns - 6995) < 1);
	CHECK(!delay_lateness_of(NULL, 0, NULL, 0).known);
}

static struct delay_place place(const char *function, float from, float to)
{
	return (struct delay_place){.samples = COUNT,
	                            .function_samples = 2 * COUNT,
	                            .function = function,
	                            .lateness = lateness(from, to)};
}

static void late_places_are_marked_without_code(void)
{
	struct delay_place late = place("_raw_spin_unlock_irqrestore", 1500, 9000);
	struct delay_place some = place("count_events", 3000, 9000);
	struct delay_place on_time = place("_raw_spin_unlock_irqrestore", 1000, 3000);

	CHECK_EQ(delay_decide(&late), DELAY_LATENESS);
	CHECK_EQ(delay_decide(&some), DELAY_LATENESS);
	CHECK_EQ(delay_decide(&on_time), DELAY_NONE);
	some.function_samples = 100 * COUNT;
	CHECK_EQ(delay_decide(&some), DELAY_NONE);
	late.samples = DELAY_SAMPLES_MIN - 1;
	CHECK_EQ(delay_decide(&late), DELAY_NONE);
	on_time.lateness.known = false;
	CHECK_EQ(delay_decide(&on_time), DELAY_NONE);
}

/* A busy host delays user code as much, so that lateness shows nothing. */
static void one_address_of_a_known_function_is_marked_without_lateness(void)
{
	struct delay_place p = place("_raw_spin_unlock_irq", 1000, 3000);
	struct delay_place other = place("count_events", 1000, 3000);

	p.function_samples = other.function_samples = p.samples + 1;
	CHECK_EQ(delay_decide(&p), DELAY_NAME);
	CHECK_EQ(delay_decide(&other), DELAY_NONE);
	p.lateness.known = false;
	CHECK_EQ(delay_decide(&p), DELAY_NAME);
	p.function_samples = 2 * p.samples;
	CHECK_EQ(delay_decide(&p), DELAY_NONE);
	p.function_samples = p.samples = 29;
	CHECK_EQ(delay_decide(&p), DELAY_NONE);
	p = place("_raw_spin_unlock_irq", 0, 1500); /* earlier than user code */
	p.function_samples = p.samples;
	CHECK_EQ(delay_decide(&p), DELAY_NONE);
}

static void string_instructions_and_loops_are_not_marked(void)
{
	static const char *const names[] = {"clear_page_erms", "rep_movs_alternative",
	                                    "copy_user_generic_string", "native_write_msr",
	                                    "iowrite16"};
	struct delay_place loop = place("delay_loop", 1000, 3000);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct delay_place p = place(names[i], 3000, 90000);

		CHECK_EQ(delay_decide(&p), DELAY_NONE);
	}
	loop.function_samples = loop.samples;
	CHECK_EQ(delay_decide(&loop), DELAY_NONE);
}

static void code_decides_where_it_can_be_read(void)
{
	struct delay_place p = place("f", 1200, 3200);

	p.code_known = true;
	p.code = CODE_ENABLES;
	CHECK_EQ(delay_decide(&p), DELAY_CODE);
	p.code = CODE_MAY_ENABLE;
	CHECK_EQ(delay_decide(&p), DELAY_CODE);
	p.lateness = lateness(1000, 3000);
	CHECK_EQ(delay_decide(&p), DELAY_NONE);
	p.code = CODE_ENABLES;
	p.lateness.known = false;
	CHECK_EQ(delay_decide(&p), DELAY_CODE);
	p = place("_raw_spin_unlock_irqrestore", 5000, 9000);
	p.code_known = true;
	CHECK_EQ(delay_decide(&p), DELAY_NONE);
}

int main(void)
{
	RUN(sti_has_an_effect_after_one_more_instruction);
	RUN(popf_has_an_effect_at_once);
	RUN(calls_through_memory_may_enable);
	RUN(arm64_unmasks_by_msr);
	RUN(an_address_after_syscall);
	RUN(lateness_is_compared_with_user_code);
	RUN(late_places_are_marked_without_code);
	RUN(one_address_of_a_known_function_is_marked_without_lateness);
	RUN(string_instructions_and_loops_are_not_marked);
	RUN(code_decides_where_it_can_be_read);
	return check_end();
}
