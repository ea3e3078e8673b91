/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps with hand-made tables on hand-made stacks, for both machines; expressions; steps that must
 * fail.
 */
#include "check.h"

#include "unwind/unwind_expression.h"

#include <dwarf.h>

#define BASE 0x7ffd00001000u /* where the copy of the stack begins */
#define AT(i) (BASE + 8 * (uint64_t)(i))

enum { RAX = 0, RBX = 3, RBP = 6, RSP = 7, R10 = 10, R12 = 12, RIP = 16 };

static uint64_t words[64];
static struct unwind_memory memory;
static struct unwind_cursor cursor;

/* A table of up to four rules, as a test needs them. */
static struct cfi_rule rules[4];
static struct cfi_save saves[16];
static struct cfi_op ops[16];
static struct cfi_expression expressions[4];
static const struct cfi_table table = {.rule = rules,
                                       .rule_count = 4,
                                       .saves = saves,
                                       .save_count = 16,
                                       .ops = ops,
                                       .op_count = 16,
                                       .expressions = expressions,
                                       .expression_count = 4};

static void set(unsigned reg, uint64_t value)
{
	cursor.regs.value[reg] = value;
	cursor.regs.known |= (uint64_t)1 << reg;
}

static bool known(unsigned reg)
{
	return cursor.regs.known >> reg & 1;
}

/* perf's order: ax bx cx dx si di bp sp ip r8 ... */
static void start(void)
{
	const uint64_t values[17] = {100, 101, 102, 103, 104, 105, 106, AT(0), 0x401000,
	                             108, 109, 110, 111, 112, 113, 114, 115};

	memset(words, 0, sizeof(words));
	memory = (struct unwind_memory){
	        .bytes = (const uint8_t *)words, .start = BASE, .size = sizeof(words)};
	CHECK(unwind_start(&cursor, &unwind_x86_64, values, unwind_x86_64.perf_mask));
}

static enum unwind_result step(const struct cfi_rule *rule)
{
	return unwind_step(&cursor, &unwind_x86_64, &table, rule, &memory);
}

/* CFA = register + offset, the return address below it. */
static struct cfi_rule simple(uint8_t reg, int32_t offset)
{
	saves[0] = (struct cfi_save){.reg = RIP, .how = CFI_AT_CFA, .offset = -8};
	return (struct cfi_rule){.cfa_reg = reg, .save_count = 1, .cfa_offset = offset};
}

static void registers_are_taken_in_perfs_order(void)
{
	const uint64_t few[2] = {AT(3), 0x402000}, none[1] = {5};

	start();
	CHECK_EQ(cursor.regs.pc, 0x401000);
	CHECK_EQ(cursor.floor, AT(0));
	CHECK_EQ(cursor.regs.value[RBX], 101);
	CHECK_EQ(cursor.regs.value[1], 103); /* rdx */
	CHECK_EQ(cursor.regs.value[RBP], 106);
	CHECK_EQ(cursor.regs.value[15], 115);
	CHECK_EQ(cursor.regs.known, 0x1ffff);
	CHECK(unwind_start(&cursor, &unwind_x86_64, few, 3 << 7));
	CHECK_EQ(cursor.regs.value[RSP], AT(3));
	CHECK_EQ(cursor.regs.known, 1 << RSP | 1 << RIP);
	CHECK(!unwind_start(&cursor, &unwind_x86_64, none, 1));
	/* Register numbers that a later perf may use are ignored. */
	CHECK(!unwind_start(&cursor, &unwind_x86_64, none, (uint64_t)1 << 60));
}

/* [vsyscall] is at the end of the addresses. */
static void a_frame_keeps_the_whole_address(void)
{
	struct unwind_frame f = {.pc = 0xffffffffff600400, .cfa = 0x7ffffffff000, .exact = 1};

	CHECK_EQ(unwind_chain_address(&f, true), 0xffffffffff600400);
	CHECK_EQ(unwind_chain_address(&f, false), 0xffffffffff600401);
	CHECK_EQ(f.cfa, 0x7ffffffff000);
}

static void a_plain_frame(void)
{
	struct cfi_rule rule = simple(RSP, 32);

	start();
	words[3] = 0x402345;
	words[2] = 77;
	saves[1] = (struct cfi_save){.reg = RBX, .how = CFI_AT_CFA, .offset = -16};
	rule.save_count = 2;
	CHECK_EQ(unwind_place(&cursor), 0x401000);
	CHECK_EQ(step(&rule), UNWIND_CALLER);
	CHECK_EQ(cursor.cfa, AT(4));
	CHECK_EQ(cursor.regs.pc, 0x402345);
	CHECK_EQ(unwind_place(&cursor), 0x402344);
	CHECK_EQ(cursor.regs.value[RSP], AT(4));
	CHECK_EQ(cursor.regs.value[RBX], 77);
	CHECK_EQ(cursor.regs.value[RBP], 106);
	CHECK(known(RBX) && known(RBP) && known(R12) && known(RSP));
	/* Registers that the callee may have changed. */
	CHECK(!known(RAX) && !known(R10));
}

static void each_way_to_save(void)
{
	struct cfi_rule rule = simple(RSP, 64);

	start();
	set(RBP, AT(10));
	words[7] = 0x402345;
	words[5] = 55;
	words[12] = 66;
	saves[1] = (struct cfi_save){.reg = RBX, .how = CFI_IN_REGISTER, .offset = R12};
	saves[2] = (struct cfi_save){.reg = R12, .how = CFI_IN_REGISTER, .offset = RBX};
	saves[3] = (struct cfi_save){.reg = 13, .how = CFI_AT_REGISTER, .base = RBP, .offset = 16};
	saves[4] = (struct cfi_save){.reg = 14, .how = CFI_IS_CFA, .offset = -24};
	saves[5] = (struct cfi_save){.reg = 15, .how = CFI_UNDEFINED};
	saves[6] = (struct cfi_save){.reg = RBP, .how = CFI_AT_EXPRESSION, .offset = 1};
	expressions[1] = (struct cfi_expression){0, 2};
	ops[0] = (struct cfi_op){.atom = DW_OP_consts, .number = -24};
	ops[1] = (struct cfi_op){.atom = DW_OP_plus};
	rule.save_count = 7;
	CHECK_EQ(step(&rule), UNWIND_CALLER);
	CHECK_EQ(cursor.regs.value[RBX], 112);
	CHECK_EQ(cursor.regs.value[R12], 101);
	CHECK_EQ(cursor.regs.value[13], 66);
	CHECK_EQ(cursor.regs.value[14], AT(5));
	CHECK(!known(15));
	CHECK_EQ(cursor.regs.value[RBP], 55);
}

/*
 * At the "ret" of "leave; ret", tables often say that a register is saved below the stack pointer.
 */
static void a_popped_value_is_in_its_register(void)
{
	struct cfi_rule rule = simple(RSP, 8);

	start();
	words[0] = 0x402345;
	saves[1] = (struct cfi_save){.reg = RBP, .how = CFI_AT_CFA, .offset = -16};
	saves[2] = (struct cfi_save){.reg = RBX, .how = CFI_AT_REGISTER, .base = RSP, .offset = -9};
	rule.save_count = 3;
	CHECK_EQ(step(&rule), UNWIND_CALLER);
	CHECK(known(RBP));
	CHECK_EQ(cursor.regs.value[RBP], 106);
	CHECK(!known(RBX));
}

static void failures_change_nothing(void)
{
	struct cfi_rule rule = simple(RSP, 32);
	struct unwind_cursor before;

	start();
	before = cursor;
	/* A register whose value is unknown. */
	rule.cfa_reg = 40;
	CHECK_EQ(step(&rule), UNWIND_WRONG);
	/* Below the stack pointer, and too far above it. */
	rule = simple(RSP, -16);
	CHECK_EQ(step(&rule), UNWIND_WRONG);
	rule = simple(RBP, 0);
	CHECK_EQ(step(&rule), UNWIND_WRONG);
	/* Beyond the copy: the frame is known, its caller is not. */
	rule = simple(RSP, 8 * 65);
	CHECK_EQ(step(&rule), UNWIND_BEYOND);
	CHECK_EQ(cursor.cfa, AT(65));
	/* The last complete word of the copy can be read; a word that begins in it cannot. */
	rule = simple(RSP, 8 * 64 + 4);
	CHECK_EQ(step(&rule), UNWIND_BEYOND);
	CHECK_EQ(cursor.regs.pc, before.regs.pc);
	CHECK_EQ(cursor.regs.known, before.regs.known);
	CHECK_EQ(cursor.floor, before.floor);
	rule = simple(RSP, 8 * 64);
	words[63] = 0x402000;
	CHECK_EQ(step(&rule), UNWIND_CALLER);
}

static void frames_must_rise(void)
{
	struct cfi_rule rule = simple(RSP, 16), back = simple(RBP, 0);

	start();
	set(RBP, AT(2));
	words[1] = 0x402000;
	CHECK_EQ(step(&rule), UNWIND_CALLER);
	/* The same CFA again: a loop. */
	CHECK_EQ(step(&back), UNWIND_WRONG);
	set(RBP, AT(1));
	CHECK_EQ(step(&back), UNWIND_WRONG);
}

static void the_first_function(void)
{
	struct cfi_rule rule = simple(RSP, 16);

	start();
	CHECK_EQ(step(&rule), UNWIND_FIRST); /* the return address is 0 */
	CHECK_EQ(cursor.cfa, AT(2));
	rule.flags = CFI_OUTERMOST;
	words[1] = 0x402000;
	CHECK_EQ(step(&rule), UNWIND_FIRST);
}

static void a_signal_may_change_the_stack(void)
{
	struct cfi_rule signal = simple(RSP, 0), plain = simple(RSP, 16);

	start();
	saves[0] = (struct cfi_save){.reg = RIP, .how = CFI_AT_REGISTER, .base = RSP, .offset = 40};
	saves[1] = (struct cfi_save){.reg = RAX, .how = CFI_AT_REGISTER, .base = RSP, .offset = 48};
	saves[2] = (struct cfi_save){.reg = RSP, .how = CFI_IS_CFA, .offset = 0};
	signal.cfa = CFI_CFA_DEREF;
	signal.cfa_offset = 56;
	signal.save_count = 3;
	signal.flags = CFI_SIGNAL;
	words[5] = 0x403000;
	words[6] = 42;
	words[7] = BASE - 0x10000; /* the interrupted stack lies lower */
	CHECK_EQ(step(&signal), UNWIND_CALLER);
	CHECK_EQ(cursor.switches, 1);
	CHECK_EQ(cursor.regs.value[RSP], BASE - 0x10000);
	/* The interrupted frame has all its registers, and its place is not a return address. */
	CHECK(known(RAX) && cursor.regs.value[RAX] == 42);
	CHECK(known(R10));
	CHECK_EQ(unwind_place(&cursor), 0x403000);
	saves[0] = (struct cfi_save){.reg = RIP, .how = CFI_AT_CFA, .offset = -8};
	CHECK_EQ(step(&plain), UNWIND_BEYOND);
	CHECK_EQ(cursor.cfa, BASE - 0x10000 + 16);
}

static bool read_anything(void *ctx, uint64_t address, uint64_t *value)
{
	*(uint64_t *)ctx = address;
	*value = 0x404000;
	return true;
}

static void memory_beyond_the_copy(void)
{
	struct cfi_rule rule = simple(RSP, 8 * 70);
	uint64_t asked = 0;

	start();
	memory.read = read_anything;
	memory.ctx = &asked;
	CHECK_EQ(step(&rule), UNWIND_CALLER);
	CHECK_EQ(asked, AT(69));
	CHECK_EQ(cursor.regs.pc, 0x404000);
}

static void frame_pointers(void)
{
	bool linked;

	start();
	set(RBP, AT(4));
	words[4] = AT(8);
	words[5] = 0x402000;
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_CALLER);
	CHECK(linked);
	CHECK_EQ(cursor.regs.pc, 0x402000);
	CHECK_EQ(cursor.regs.value[RSP], AT(6));
	CHECK_EQ(cursor.regs.value[RBP], AT(8));
	CHECK(!known(RBX));
	/* A function that uses the frame pointer register for another value. */
	words[8] = 12345;
	words[9] = 0x402100;
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_CALLER);
	CHECK(!linked);
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_WRONG);
	set(RBP, AT(3)); /* below */
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_WRONG);
	set(RBP, AT(20) + 4); /* crooked */
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_WRONG);
	set(RBP, AT(100));
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_BEYOND);
	set(RBP, AT(20)); /* a return address of 0 */
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_FIRST);
	set(RBP, 0);
	CHECK_EQ(unwind_frame_pointer(&cursor, &unwind_x86_64, &memory, &linked), UNWIND_FIRST);
}

enum { X0 = 0, X19 = 19, X29 = 29, X30 = 30, SP = 31, PC = 32 };

static enum unwind_result step_arm64(const struct cfi_rule *rule)
{
	return unwind_step(&cursor, &unwind_arm64, &table, rule, &memory);
}

static void arm64_frames(void)
{
	uint64_t values[33];
	struct cfi_rule leaf = {.cfa_reg = SP, .cfa_offset = 0, .saves = 0, .save_count = 1};
	struct cfi_rule frame = {.cfa_reg = X29, .cfa_offset = 32, .saves = 1, .save_count = 3};

	start();
	for (int i = 0; i < 33; i++)
		values[i] = (uint64_t)i;
	values[X29] = AT(2);
	values[X30] = 0x500100;
	values[SP] = AT(0);
	values[PC] = 0x400100;
	CHECK(unwind_start(&cursor, &unwind_arm64, values, unwind_arm64.perf_mask));
	/* A function that calls nothing keeps the return address in x30, and may have no frame. */
	saves[0] = (struct cfi_save){.reg = X30, .how = CFI_IN_REGISTER, .offset = X30};
	CHECK_EQ(step_arm64(&leaf), UNWIND_CALLER);
	CHECK_EQ(cursor.regs.pc, 0x500100);
	CHECK_EQ(cursor.regs.value[SP], AT(0));
	CHECK(known(X19) && known(X29) && !known(X0) && known(X30));
	/* Another function, whose saved address has pointer authentication bits. */
	saves[1] = (struct cfi_save){.reg = X30, .how = CFI_AT_CFA, .offset = -24};
	saves[2] = (struct cfi_save){.reg = X29, .how = CFI_AT_CFA, .offset = -32};
	saves[3] = (struct cfi_save){.reg = X19, .how = CFI_AT_CFA, .offset = -16};
	words[2] = AT(20);
	words[3] = 0x003a000000500200;
	words[4] = 19;
	CHECK_EQ(step_arm64(&frame), UNWIND_CALLER);
	CHECK_EQ(cursor.cfa, AT(6));
	CHECK_EQ(cursor.regs.pc, 0x500200);
	CHECK_EQ(cursor.regs.value[X29], AT(20));
	CHECK_EQ(cursor.regs.value[X19], 19);
	CHECK_EQ(cursor.regs.value[SP], AT(6));
}

static enum unwind_result evaluate(size_t count, const uint64_t *first, uint64_t *value)
{
	struct cfi_expression x = {0, (uint32_t)count};

	return unwind_expression(&table, &x, &cursor.regs, &memory, cursor.floor, first, value);
}

static uint64_t valued(size_t count)
{
	uint64_t value = 0;

	CHECK_EQ(evaluate(count, NULL, &value), UNWIND_CALLER);
	return value;
}

static void constant(size_t at, int64_t number)
{
	ops[at] = (struct cfi_op){.atom = DW_OP_consts, .number = number};
}

static uint64_t with_two(uint8_t atom, int64_t a, int64_t b)
{
	constant(0, a);
	constant(1, b);
	ops[2] = (struct cfi_op){.atom = atom};
	return valued(3);
}

static void expressions_compute(void)
{
	start();
	CHECK_EQ(with_two(DW_OP_plus, 40, 2), 42);
	CHECK_EQ(with_two(DW_OP_minus, 40, 42), -2);
	CHECK_EQ(with_two(DW_OP_mul, 6, 7), 42);
	CHECK_EQ(with_two(DW_OP_div, -42, 6), -7);
	CHECK_EQ(with_two(DW_OP_mod, 45, 7), 3);
	CHECK_EQ(with_two(DW_OP_and, 12, 10), 8);
	CHECK_EQ(with_two(DW_OP_or, 12, 10), 14);
	CHECK_EQ(with_two(DW_OP_xor, 12, 10), 6);
	CHECK_EQ(with_two(DW_OP_shl, 3, 4), 48);
	CHECK_EQ(with_two(DW_OP_shl, 3, 64), 0);
	CHECK_EQ(with_two(DW_OP_shr, -1, 60), 15);
	CHECK_EQ(with_two(DW_OP_shra, -16, 2), -4);
	CHECK_EQ(with_two(DW_OP_shra, -16, 80), -1);
	CHECK_EQ(with_two(DW_OP_lt, -1, 1), 1);
	CHECK_EQ(with_two(DW_OP_ge, -1, 1), 0);
	CHECK_EQ(with_two(DW_OP_ne, -1, 1), 1);
	CHECK_EQ(with_two(DW_OP_swap, 1, 2), 1);
	CHECK_EQ(with_two(DW_OP_over, 1, 2), 1);
	CHECK_EQ(with_two(DW_OP_drop, 1, 2), 1);
	CHECK_EQ(with_two(DW_OP_neg, 1, 2), -2);
}

/* The PLT's rule: CFA = rsp + 8 + ((rip & 15) >= 11) << 3 */
static void the_plts_expression(void)
{
	uint64_t value;

	start();
	ops[0] = (struct cfi_op){.atom = DW_OP_bregx, .number = RSP, .number2 = 8};
	ops[1] = (struct cfi_op){.atom = DW_OP_bregx, .number = RIP};
	ops[2] = (struct cfi_op){.atom = DW_OP_lit15};
	ops[3] = (struct cfi_op){.atom = DW_OP_and};
	ops[4] = (struct cfi_op){.atom = DW_OP_lit11};
	ops[5] = (struct cfi_op){.atom = DW_OP_ge};
	ops[6] = (struct cfi_op){.atom = DW_OP_lit3};
	ops[7] = (struct cfi_op){.atom = DW_OP_shl};
	ops[8] = (struct cfi_op){.atom = DW_OP_plus};
	set(RIP, 0x40102a);
	CHECK_EQ(evaluate(9, NULL, &value), UNWIND_CALLER);
	CHECK_EQ(value, AT(1));
	set(RIP, 0x40102b);
	CHECK_EQ(evaluate(9, NULL, &value), UNWIND_CALLER);
	CHECK_EQ(value, AT(2));
}

static void expressions_branch_and_read(void)
{
	uint64_t value, first = AT(3);

	start();
	words[3] = 0x1122334455667788;
	ops[0] = (struct cfi_op){.atom = DW_OP_dup};
	ops[1] = (struct cfi_op){.atom = DW_OP_bra, .number = 4};
	constant(2, 7);
	ops[3] = (struct cfi_op){.atom = DW_OP_skip, .number = 5};
	ops[4] = (struct cfi_op){.atom = DW_OP_deref_size, .number = 4};
	CHECK_EQ(evaluate(5, &first, &value), UNWIND_CALLER);
	CHECK_EQ(value, 0x55667788);
	first = 0;
	CHECK_EQ(evaluate(5, &first, &value), UNWIND_CALLER);
	CHECK_EQ(value, 7);
	ops[0] = (struct cfi_op){.atom = DW_OP_call_frame_cfa};
	first = 99;
	CHECK_EQ(evaluate(1, &first, &value), UNWIND_CALLER);
	CHECK_EQ(value, 99);
}

static void expressions_are_bounded(void)
{
	uint64_t value;

	start();
	/*
	 * Invalid expressions: endless, too deep, empty stack, no result, division by zero, missing
	 * memory.
	 */
	ops[0] = (struct cfi_op){.atom = DW_OP_skip, .number = 0};
	CHECK_EQ(evaluate(1, NULL, &value), UNWIND_WRONG);
	constant(0, 1);
	ops[1] = (struct cfi_op){.atom = DW_OP_skip, .number = 0};
	CHECK_EQ(evaluate(2, NULL, &value), UNWIND_WRONG);
	ops[0] = (struct cfi_op){.atom = DW_OP_plus};
	CHECK_EQ(evaluate(1, NULL, &value), UNWIND_WRONG);
	CHECK_EQ(evaluate(0, NULL, &value), UNWIND_WRONG);
	ops[0] = (struct cfi_op){.atom = DW_OP_bra, .number = 900};
	CHECK_EQ(evaluate(1, &(uint64_t){1}, &value), UNWIND_WRONG);
	constant(0, INT64_MIN);
	constant(1, -1);
	ops[2] = (struct cfi_op){.atom = DW_OP_div};
	CHECK_EQ(evaluate(3, NULL, &value), UNWIND_WRONG);
	constant(1, 0);
	CHECK_EQ(evaluate(3, NULL, &value), UNWIND_WRONG);
	constant(0, 16);
	ops[1] = (struct cfi_op){.atom = DW_OP_deref};
	CHECK_EQ(evaluate(2, NULL, &value), UNWIND_WRONG);
	constant(0, (int64_t)AT(64));
	CHECK_EQ(evaluate(2, NULL, &value), UNWIND_BEYOND);
	ops[0] = (struct cfi_op){.atom = DW_OP_bregx, .number = 60};
	CHECK_EQ(evaluate(1, NULL, &value), UNWIND_WRONG);
	ops[0] = (struct cfi_op){.atom = 0xff};
	CHECK_EQ(evaluate(1, &(uint64_t){1}, &value), UNWIND_WRONG);
}

static bool rule_of(const char *code, size_t size)
{
	return unwind_return_rule(&unwind_x86_64, (const uint8_t *)code, size, rules, saves);
}

static void code_that_returns_at_once_has_a_rule(void)
{
	/* add $8,%rsp; ret: the end of a trampoline of CPython */
	CHECK(rule_of("\x48\x83\xc4\x08\xc3", 5));
	CHECK(rules[0].cfa_reg == RSP && rules[0].cfa_offset == 16 && rules[0].save_count == 1);
	CHECK(saves[0].reg == RIP && saves[0].offset == -8);
	/* mov %rbx,%rax; add $0x120,%rsp; pop %rbx; pop %r12; pop %rbp; ret */
	CHECK(rule_of("\x48\x89\xd8\x48\x81\xc4\x20\x01\0\0\x5b\x41\x5c\x5d\xc3", 15));
	CHECK(rules[0].cfa_reg == RSP && rules[0].cfa_offset == 0x140 && rules[0].save_count == 4);
	CHECK(saves[1].reg == RBX && saves[1].offset == -32);
	CHECK(saves[2].reg == R12 && saves[2].offset == -24);
	CHECK(saves[3].reg == RBP && saves[3].offset == -16);
	/* leave; ret */
	CHECK(rule_of("\xc9\xc3", 2));
	CHECK(rules[0].cfa_reg == RBP && rules[0].cfa_offset == 16);
	CHECK(saves[1].reg == RBP && saves[1].offset == -16);
}

static void other_code_has_none(void)
{
	CHECK(!rule_of("\x48\x83\xc4\x08", 4));     /* cut */
	CHECK(!rule_of("\x48\x83\xc4\xf8\xc3", 5)); /* a negative number */
	CHECK(!rule_of("\xff\xd1\xc3", 3));         /* a call */
	CHECK(!rule_of("\x74\x02\xc3", 3));         /* a jump */
	CHECK(!rule_of("\x5c\xc3", 2));             /* pop %rsp */
	CHECK(!rule_of("\x5d\xc9\xc3", 3));         /* leave without a frame pointer */
	CHECK(!rule_of("\x48\x89\xc3\xc3", 4));     /* mov %rax,%rbx */
	CHECK(!rule_of("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xc3",
	               18)); /* too long */
	CHECK(!rule_of("", 0));
	CHECK(!unwind_return_rule(&unwind_arm64, (const uint8_t *)"\xc3", 1, rules, saves));
}

int main(void)
{
	RUN(registers_are_taken_in_perfs_order);
	RUN(a_frame_keeps_the_whole_address);
	RUN(a_plain_frame);
	RUN(each_way_to_save);
	RUN(a_popped_value_is_in_its_register);
	RUN(failures_change_nothing);
	RUN(frames_must_rise);
	RUN(the_first_function);
	RUN(a_signal_may_change_the_stack);
	RUN(memory_beyond_the_copy);
	RUN(frame_pointers);
	RUN(arm64_frames);
	RUN(expressions_compute);
	RUN(the_plts_expression);
	RUN(expressions_branch_and_read);
	RUN(expressions_are_bounded);
	RUN(code_that_returns_at_once_has_a_rule);
	RUN(other_code_has_none);
	return check_end();
}
