/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables are compared with libdw, which executes the same instructions in another
 * implementation: each row of the C library, of this program and of the loader.
 */
#include "cfi_fixture.h"
#include "fixture.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <signal.h>
#include <sys/mman.h>

#define RSP 7
#define RIP 16

#ifdef __x86_64__
/* Rare instructions that compilers emit; the function is never called. */
void shapes(void);
void lost(void);
__asm__(".text\n"
        ".globl shapes\n"
        ".type shapes, @function\n"
        "shapes:\n"
        ".cfi_startproc\n"
        "nop\n"
        ".cfi_remember_state\n"
        ".cfi_def_cfa rbp, 16\n"
        ".cfi_offset rbp, -16\n"
        ".cfi_offset rbx, -24\n"
        "nop\n"
        ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n" /* CFA: [rbp - 8] */
        "nop\n"
        ".cfi_escape 0x10, 3, 2, 0x77, 0x28\n" /* rbx: at rsp + 40 */
        "nop\n"
        ".cfi_escape 0x10, 12, 2, 0x23, 0x10\n" /* r12: at CFA + 16 */
        "nop\n"
        ".cfi_escape 0x16, 13, 3, 0x76, 0x08, 0x06\n" /* r13 is [rbp + 8] */
        ".cfi_escape 0x16, 15, 2, 0x76, 0x18\n"       /* r15 is the value rbp + 24 */
        "nop\n"
        ".cfi_restore rbx\n"
        ".cfi_restore r15\n"
        ".cfi_register r12, r8\n"
        "nop\n"
        ".cfi_escape 0x14, 13, 4\n" /* r13 is CFA - 32 */
        ".cfi_undefined r14\n"
        "nop\n"
        ".cfi_same_value r14\n"
        /* CFA: rbp + 16 if r10 == 0, else the word there; with a branch */
        ".cfi_escape 0x0f, 9, 0x76, 0x10, 0x7a, 0x00, 0x28, 1, 0, 0x06, 0x96\n"
        "nop\n"
        ".cfi_restore_state\n"
        ".cfi_adjust_cfa_offset 8\n"
        "nop\n"
        ".cfi_escape 0x15, 6, 0x7e\n" /* rbp is CFA + 16 */
        ".fill 300, 1, 0x90\n"
        ".cfi_def_cfa_register r15\n"
        ".fill 70000, 1, 0x90\n"
        ".cfi_escape 0x12, 7, 0x7d\n" /* CFA: rsp + 24 */
        "nop\n"
        ".cfi_escape 0x13, 0x7c\n" /* CFA: rsp + 32 */
        "ret\n"
        ".cfi_endproc\n"
        ".globl lost\n"
        ".type lost, @function\n"
        "lost:\n"
        ".cfi_startproc\n"
        ".cfi_escape 0x05, 0xff, 0xff, 0xff, 0xff, 0x0f, 1\n" /* of register 2^32 - 1 */
        "nop\n"
        ".cfi_escape 0x0f, 4, 0x77, 0x08, 0x97, 0x06\n" /* an object's address: not supported */
        "nop\n"
        ".cfi_def_cfa rsp, 8\n"
        "nop\n"
        /* A branch backwards, which could be endless. */
        ".cfi_escape 0x0f, 5, 0x77, 0x08, 0x2f, 0xfb, 0xff\n"
        "ret\n"
        ".cfi_endproc\n");
#endif

/* The offset in the file of an address in this process. */
static uint64_t offset_of(struct elf_file *f, const void *address)
{
	Dl_info info = {0};
	uint64_t base = 0, offset = 0;

	CHECK(dladdr(address, &info));
	/* The first segment is mapped at dli_fbase, at the address of offset 0. */
	CHECK(elf_file_address_of(f, 0, &base));
	CHECK(elf_file_offset_of(f, (uint64_t)address - (uint64_t)info.dli_fbase + base, &offset));
	return offset;
}

/* --- the oracle ---------------------------------------------------------- */

struct oracle {
	struct elf_file *f;
	const struct cfi_table *t;
	Dwarf_CFI *cfi;
	size_t compared, failures;
};

static bool constant_matches(const struct cfi_op *op, const Dwarf_Op *want)
{
	int64_t number = (int64_t)want->number;

	if (want->atom >= DW_OP_lit0 && want->atom <= DW_OP_lit31)
		number = want->atom - DW_OP_lit0;
	else if (want->atom != DW_OP_constu && want->atom != DW_OP_consts &&
	         (want->atom < DW_OP_const1u || want->atom > DW_OP_const8s))
		return false;
	return op->number == number;
}

static bool op_matches(const struct cfi_op *op, const Dwarf_Op *want, const Dwarf_Op *all,
                       size_t count)
{
	if (op->atom == DW_OP_consts)
		return constant_matches(op, want);
	if (op->atom == DW_OP_bregx && want->atom == DW_OP_bregx)
		return op->number == (int64_t)want->number && op->number2 == (int64_t)want->number2;
	if (op->atom == DW_OP_bregx)
		return op->number == want->atom - DW_OP_breg0 &&
		       op->number2 == (int64_t)want->number;
	if (op->atom == DW_OP_bra || op->atom == DW_OP_skip)
		return op->atom == want->atom && op->number < (int64_t)count &&
		       all[op->number].offset == want->offset + 3 + (int16_t)want->number;
	return op->atom == want->atom && op->number == (int64_t)want->number;
}

static bool expression_matches(const struct cfi_table *t, int64_t number, const Dwarf_Op *ops,
                               size_t count)
{
	const struct cfi_expression *e = &t->expressions[number];

	if (number < 0 || (size_t)number >= t->expression_count || e->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!op_matches(&t->ops[e->first + i], &ops[i], ops, count))
			return false;
	return true;
}

static bool is_register(const Dwarf_Op *op, int *reg, int64_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*reg = (int)op->number;
		*offset = (int64_t)op->number2;
		return true;
	}
	*reg = op->atom - DW_OP_breg0;
	*offset = (int64_t)op->number;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static bool cfa_matches(const struct cfi_table *t, const struct cfi_rule *rule, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;
	int64_t offset;
	int reg;

	if (dwarf_frame_cfa(frame, &ops, &count))
		return false;
	if (rule->cfa == CFI_CFA_EXPRESSION)
		return expression_matches(t, rule->cfa_offset, ops, count);
	return count == (rule->cfa == CFI_CFA_DEREF ? 2 : 1) &&
	       is_register(&ops[0], &reg, &offset) && reg == rule->cfa_reg &&
	       offset == rule->cfa_offset && (count == 1 || ops[1].atom == DW_OP_deref);
}

/* True if the rule is CFA + offset, or its value. */
static bool cfa_offset_matches(int32_t offset, bool value, const Dwarf_Op *ops, size_t count)
{
	if (!count || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (value && ops[--count].atom != DW_OP_stack_value)
		return false;
	if (count == 1)
		return offset == 0;
	return count == 2 && ops[1].atom == DW_OP_plus_uconst && (int64_t)ops[1].number == offset;
}

static bool save_matches(const struct cfi_table *t, const struct cfi_save *s, const Dwarf_Op *ops,
                         size_t count, bool lost)
{
	int64_t offset;
	int reg;

	switch (s->how) {
	case CFI_AT_CFA:
	case CFI_IS_CFA:
		return cfa_offset_matches(s->offset, s->how == CFI_IS_CFA, ops, count);
	case CFI_IN_REGISTER:
		return count == 1 && ops[0].atom == DW_OP_regx &&
		       (int64_t)ops[0].number == s->offset;
	case CFI_AT_REGISTER:
		return count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
		       is_register(&ops[1], &reg, &offset) && reg == s->base && offset == s->offset;
	case CFI_AT_EXPRESSION:
		return count && expression_matches(t, s->offset, ops + 1, count - 1);
	case CFI_IS_EXPRESSION:
		return count >= 2 && ops[count - 1].atom == DW_OP_stack_value &&
		       expression_matches(t, s->offset, ops + 1, count - 2);
	default:
		return s->how == CFI_UNDEFINED && lost;
	}
}

static bool register_matches(const struct cfi_table *t, const struct cfi_rule *rule,
                             Dwarf_Frame *frame, int reg)
{
	const struct cfi_save *s = t->saves + rule->saves, *end = s + rule->save_count;
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, reg, memory, &ops, &count))
		return false;
	while (s < end && s->reg != reg)
		s++;
	if (s < end)
		return save_matches(t, s, ops, count, !count && ops == memory);
	/* libdw returns an explicit rule that the stack pointer is the CFA. */
	if (reg == RSP)
		return cfa_offset_matches(0, true, ops, count);
	/*
	 * For some registers without a rule libdw returns that they keep their value, for others
	 * nothing.
	 */
	return !count;
}

static bool frame_matches(const struct cfi_table *t, const struct cfi_rule *rule,
                          Dwarf_Frame *frame)
{
	static const int registers[] = {RIP, RSP, 3, 6, 12, 13, 14, 15};
	Dwarf_Addr start, end;
	bool signal, outermost = rule->flags & CFI_OUTERMOST;

	if (dwarf_frame_info(frame, &start, &end, &signal) != RIP ||
	    signal != !!(rule->flags & CFI_SIGNAL) || t->saves[rule->saves].reg != RIP ||
	    outermost != (t->saves[rule->saves].how == CFI_UNDEFINED))
		return false;
	if (!cfa_matches(t, rule, frame))
		return false;
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (!register_matches(t, rule, frame, registers[i]))
			return false;
	return true;
}

static void compare_at(struct oracle *o, uint64_t offset)
{
	const struct cfi_rule *rule = cfi_table_find(o->t, offset);
	Dwarf_Frame *frame = NULL;
	uint64_t address = 0;
	bool same;

	if (!elf_file_address_of(o->f, offset, &address)) {
		/* The address is between two segments. */
		CHECK(!rule);
		return;
	}
	if (dwarf_cfi_addrframe(o->cfi, address, &frame))
		frame = NULL;
	same = !rule == !frame && (!rule || frame_matches(o->t, rule, frame));
	o->compared++;
	if (!same && o->failures++ < 10)
		printf("# %s: another rule at %#llx\n", elf_file_path(o->f),
		       (unsigned long long)offset);
	free(frame);
}

/* Compares the first, a middle and the last byte of each row. */
static size_t compare_file(struct elf_file *f, const struct cfi_table *t)
{
	struct oracle o = {.f = f, .t = t};

	o.cfi = dwarf_getcfi_elf(elf_file_handle(f));
	CHECK(o.cfi);
	for (size_t i = 0; o.cfi && i < t->row_count; i++) {
		uint64_t start = t->offsets[i], end = start + 1;

		/* The bytes after the last row may be in no segment. */
		if (i + 1 < t->row_count)
			end = t->offsets[i + 1];
		else
			continue;
		compare_at(&o, start);
		if (i % 3 == 0)
			compare_at(&o, start + (end - start) / 2);
		if (i % 2 == 0)
			compare_at(&o, end - 1);
	}
	CHECK_EQ(o.failures, 0);
	dwarf_cfi_end(o.cfi);
	return o.compared;
}

static void test_libc_as_libdw_has_it(void)
{
	struct elf_file *f = open_file(libc_path());
	struct cfi_table *t = compile(f);

	CHECK_EQ(t->skipped, 0);
	CHECK(t->row_count > 10000);
	CHECK(compare_file(f, t) > 15000);
	CHECK(!cfi_table_find(t, 0));
	CHECK(!cfi_table_find(t, t->offsets[t->row_count - 1]));
	CHECK(!cfi_table_find(t, UINT64_MAX));
	CHECK(!cfi_table_find(t, t->offsets[100] + ((uint64_t)1 << 32)));
	cfi_table_free(t);
	elf_file_close(f);
}

/* Each FDE is in the table: libdw has the list of their starts. */
static void test_no_function_is_left_out(void)
{
	struct elf_file *f = open_file(loader_path());
	struct cfi_table *t = compile(f);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf_file_handle(f));
	uint64_t offset, described = 0, missing = 0;
	Dwarf_Frame *frame;
	size_t strange = 0;

	for (uint64_t address = 0; address < elf_file_size(f); address++) {
		if (!elf_file_offset_of(f, address, &offset) ||
		    dwarf_cfi_addrframe(cfi, address, &frame))
			continue;
		described++;
		missing += !cfi_table_find(t, offset);
		free(frame);
	}
	CHECK(described > 50000);
	CHECK_EQ(missing, 0);
	for (size_t i = 0; i + 1 < t->row_count; i++)
		strange += t->offsets[i] >= t->offsets[i + 1];
	CHECK_EQ(strange, 0);
	dwarf_cfi_end(cfi);
	cfi_table_free(t);
	elf_file_close(f);
}

static void test_this_program_with_odd_shapes(void)
{
	struct elf_file *f = open_file("/proc/self/exe");
	struct cfi_table *t = compile(f);
	uint64_t skipped = 0;

#ifdef __x86_64__
	/*
	 * Two places in lost() cannot be compiled; libdw supports them, so they are not compared.
	 */
	uint64_t at = offset_of(f, (void *)lost);

	CHECK(cfi_table_find(t, at) && !cfi_table_find(t, at + 1));
	CHECK(cfi_table_find(t, at + 2) && !cfi_table_find(t, at + 3));
	CHECK_EQ(t->skipped, 2);
	skipped = 2;
#endif
	CHECK_EQ(t->skipped, skipped);
	cfi_table_free(t);
	elf_file_close(f);
}

#ifdef __x86_64__
static void test_shapes_as_libdw_has_them(void)
{
	struct elf_file *f = open_file("/proc/self/exe");
	struct cfi_table *t = compile(f);
	struct oracle o = {.f = f, .t = t, .cfi = dwarf_getcfi_elf(elf_file_handle(f))};
	uint64_t at = offset_of(f, (void *)shapes);
	const struct cfi_rule *rule = cfi_table_find(t, at + 2);

	for (uint64_t end = at + 11 + 300 + 70000 + 1; at < end; at++)
		compare_at(&o, at);
	CHECK_EQ(o.failures, 0);
	/* Common shapes have simple rules. */
	CHECK(rule && rule->cfa == CFI_CFA_DEREF && rule->cfa_reg == 6 && rule->cfa_offset == -8);
	rule = cfi_table_find(t, offset_of(f, (void *)shapes) + 3);
	CHECK(rule && t->saves[rule->saves + 1].how == CFI_AT_REGISTER);
	CHECK(rule && t->saves[rule->saves + 1].base == RSP);
	rule = cfi_table_find(t, offset_of(f, (void *)shapes) + 5);
	CHECK(rule && t->saves[rule->saves + rule->save_count - 1].reg == 15 &&
	      t->saves[rule->saves + rule->save_count - 1].how == CFI_IS_EXPRESSION);
	rule = cfi_table_find(t, offset_of(f, (void *)shapes) + 7);
	CHECK(rule && t->saves[rule->saves + rule->save_count - 1].reg == 14 &&
	      t->saves[rule->saves + rule->save_count - 1].how == CFI_UNDEFINED);
	rule = cfi_table_find(t, offset_of(f, (void *)shapes) + 8);
	CHECK(rule && rule->cfa == CFI_CFA_EXPRESSION);
	dwarf_cfi_end(o.cfi);
	cfi_table_free(t);
	elf_file_close(f);
}
#endif

/* --- the ends of stacks -------------------------------------------------- */

static void *volatile trampoline;

static void on_signal(int number)
{
	trampoline = __builtin_return_address(0);
}

static void test_signal_frame(void)
{
	struct elf_file *f = open_file(libc_path());
	struct cfi_table *t = compile(f);
	const struct cfi_rule *rule;

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	rule = cfi_table_find(t, offset_of(f, trampoline));
	CHECK(rule && rule->flags == CFI_SIGNAL && rule->save_count == 17);
	CHECK(rule && t->saves[rule->saves].reg == RIP &&
	      t->saves[rule->saves].how == CFI_AT_REGISTER && t->saves[rule->saves].base == RSP);
	CHECK(rule && rule->cfa == CFI_CFA_DEREF);
	cfi_table_free(t);
	elf_file_close(f);
}

static void test_first_functions(void)
{
	struct elf_file *f = open_file("/proc/self/exe"), *libc = open_file(libc_path());
	struct cfi_table *t = compile(f), *in_libc = compile(libc);
	const struct cfi_rule *rule;
	uint64_t address = 0, size, offset = 0;
	bool outermost = false;

	CHECK(elf_file_symbol(f, "_start", &address, &size));
	CHECK(elf_file_offset_of(f, address, &offset));
	rule = cfi_table_find(t, offset + 4);
	CHECK(rule && rule->flags == CFI_OUTERMOST);
	CHECK(rule && t->saves[rule->saves].how == CFI_UNDEFINED);
	/* A new thread begins in the middle of clone(). */
	offset = offset_of(libc, dlsym(RTLD_DEFAULT, "clone"));
	for (uint64_t at = offset; at < offset + 128; at++) {
		rule = cfi_table_find(in_libc, at);
		outermost = outermost || (rule && rule->flags & CFI_OUTERMOST);
	}
	CHECK(outermost);
	cfi_table_free(t);
	cfi_table_free(in_libc);
	elf_file_close(f);
	elf_file_close(libc);
}

/* --- other files --------------------------------------------------------- */

static void test_vdso(void)
{
	const uint8_t *memory = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	uint64_t address = 0, size, offset = 0;
	struct elf_file *f = NULL;
	struct cfi_table *t;

	if (!memory)
		return;
	size = 4096;
	while (size < 65536 && !msync((void *)(uintptr_t)(memory + size), 4096, MS_ASYNC))
		size += 4096;
	CHECK_EQ(elf_file_open_memory(&f, memory, size, "[vdso]", &err), 0);
	t = compile(f);
	CHECK(t->row_count > 10);
	CHECK(elf_file_symbol(f, "__vdso_clock_gettime", &address, &size));
	CHECK(elf_file_offset_of(f, address, &offset));
	CHECK(cfi_table_find(t, offset));
	cfi_table_free(t);
	elf_file_close(f);
}

static void test_without_section_headers(void)
{
	struct elf_file *f = open_file(loader_path()), *stripped = NULL;
	struct cfi_table *t = compile(f), *without;
	size_t size;
	uint8_t *bytes = load(loader_path(), &size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;

	header->e_shoff = 0;
	header->e_shnum = header->e_shstrndx = 0;
	CHECK_EQ(elf_file_open_memory(&stripped, bytes, size, "stripped", &err), 0);
	without = compile(stripped);
	CHECK(t->row_count > 1000 && tables_equal(t, without));
	cfi_table_free(without);
	elf_file_close(stripped);
	free(bytes);
	cfi_table_free(t);
	elf_file_close(f);
}

/* Files without .eh_frame: the rules of functions are only in the debug information. */
static void test_debug_frame(void)
{
	static const char source[] =
	        "int two(int *); int one(int n) { int a[9] = {n}; return two(a) + n; }\n"
	        "int two(int *a) { return a[0] > 3 ? a[0] : one(a[0] + 1) * a[1]; }\n"
	        "int main(int n, char **v) { return one(n); }\n";
	struct elf_file *f = NULL;
	struct cfi_table *t;
	struct oracle o;
	Dwarf *debug;
	uint64_t at, size, offset = 0;

	CHECK(fixture_write("df.c", source, strlen(source)));
	for (int packed = 0; packed < 2; packed++) {
		CHECK(fixture_run("cc -O2 -fno-inline -g -fno-exceptions -fno-unwind-tables "
		                  "-fno-asynchronous-unwind-tables %s -o df%d df.c",
		                  packed ? "-gz=zlib" : "-gz=none", packed));
		f = open_file(fixture_path(packed ? "df1" : "df0"));
		t = compile(f);
		debug = dwarf_begin_elf(elf_file_handle(f), DWARF_C_READ, NULL);
		o = (struct oracle){.f = f, .t = t, .cfi = dwarf_getcfi(debug)};
		CHECK(o.cfi && fixture_nm(packed ? "df1" : "df0", "one", &at, &size));
		CHECK(elf_file_offset_of(f, at, &offset) && cfi_table_find(t, offset));
		for (uint64_t end = offset + size; o.cfi && offset < end; offset++)
			compare_at(&o, offset);
		CHECK(o.compared > 10);
		CHECK_EQ(o.failures, 0);
		CHECK_EQ(t->skipped, 0);
		dwarf_end(debug);
		cfi_table_free(t);
		elf_file_close(f);
	}
}

/* The rules of a stripped file are in its separate debug file. */
static void test_separate_debug_frame(void)
{
	struct cfi_table *whole, *split;
	struct elf_file *f;

	f = open_file(fixture_path("df0"));
	whole = compile(f);
	elf_file_close(f);
	CHECK(fixture_run("objcopy --only-keep-debug df0 df0.debug && strip -o df2 df0 && "
	                  "objcopy --add-gnu-debuglink=df0.debug df2"));
	f = open_file(fixture_path("df2"));
	split = compile(f);
	elf_file_close(f);
	CHECK(whole->row_count > 10 && tables_equal(whole, split));
	cfi_table_free(whole);
	cfi_table_free(split);
}

static void test_no_tables(void)
{
	struct cfi_table *t;
	struct elf_file *f = NULL;
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	                                 ELFDATA2LSB, EV_CURRENT},
	                     .e_type = ET_DYN,
	                     .e_machine = EM_X86_64,
	                     .e_version = EV_CURRENT,
	                     .e_ehsize = sizeof(header)};

	CHECK_EQ(elf_file_open_memory(&f, &header, sizeof(header), "bare", &err), 0);
	t = compile(f);
	CHECK_EQ(t->row_count, 0);
	CHECK(!cfi_table_find(t, 0) && !cfi_table_find(t, 64));
	cfi_table_free(t);
	elf_file_close(f);
	header.e_machine = EM_S390;
	CHECK_EQ(elf_file_open_memory(&f, &header, sizeof(header), "other", &err), 0);
	t = compile(f);
	CHECK(t && !cfi_table_find(t, 0));
	cfi_table_free(t);
	elf_file_close(f);
}

int main(void)
{
	if (!fixture_begin())
		return 2;
	RUN(test_libc_as_libdw_has_it);
	RUN(test_no_function_is_left_out);
	RUN(test_this_program_with_odd_shapes);
#ifdef __x86_64__
	RUN(test_shapes_as_libdw_has_them);
#endif
	RUN(test_signal_frame);
	RUN(test_first_functions);
	RUN(test_vdso);
	RUN(test_without_section_headers);
	RUN(test_debug_frame);
	RUN(test_separate_debug_frame);
	RUN(test_no_tables);
	fixture_end();
	return check_end();
}
