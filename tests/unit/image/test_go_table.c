/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go's table of functions: names and unwind rows of each format, and damaged tables.
 */
#include "image/go/go_table.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "image/unwind_table/cfi_internal.h"

#include "check.h"

#include <elf.h>
#include <stdlib.h>

#define BASE 0x400000
#define TEXT 0x100
#define TABLE 0x300
#define FUNCTIONS 8

enum { RBP = 6, RSP = 7, RIP = 16 };

static const char *const names[FUNCTIONS] = {
        "main.framed",  "main.pushed",          "main.(*T).m",       "runtime.goexit",
        "runtime.gogo", "runtime.asyncPreempt", "runtime.nanotime1", "runtime.systemstack"};
static const uint32_t starts[FUNCTIONS + 1] = {0, 0x40, 0x80, 0xa0, 0xb0, 0xc0, 0xe0, 0x100, 0x110};

/* Pairs of a depth and its number of bytes. */
static const int shapes[FUNCTIONS][8] = {
        {0, 4, 0x18, 0x2c, 0, 1, 0x18, 15}, /* code continues after a return */
        {0, 1, 8, 7, 0x20, 0x30, -1},
        {0, 0x300, -1}, /* longer than the function */
        {0, 16, -1},
        {0, 16, -1},
        {0, 1, 8, 0x1f, -1},
        {0, 4, 0x18, 0x1b, 0, 1, -1},
        {0, 16, -1},
};

struct format {
	uint32_t magic;
	unsigned words, field, name_at, steps_at, flags_at, record;
};

static const struct format formats[] = {
        {0xfffffffb, 1, 8, 8, 20, 0, 40},
        {0xfffffffa, 7, 8, 8, 20, 41, 44},
        {0xfffffff0, 8, 4, 4, 16, 37, 40},
        {0xfffffff1, 8, 4, 4, 16, 41, 44},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static void put(struct buf *b, size_t at, uint64_t value, unsigned size)
{
	memcpy(b->data + at, &value, size);
}

static void add(struct buf *b, uint64_t value, unsigned size)
{
	buf_add(b, &value, size);
}

static void add_varint(struct buf *b, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(b, (char)(value | 0x80));
	buf_putc(b, (char)value);
}

static void add_steps(struct buf *b, const int *shape)
{
	int last = -1, change;

	for (int i = 0; i < 8 && shape[i] >= 0; i += 2) {
		change = shape[i] - last;
		add_varint(b, change < 0 ? ((uint32_t)-change << 1) - 1 : (uint32_t)change << 1);
		add_varint(b, (uint32_t)shape[i + 1]);
		last = shape[i];
	}
	buf_putc(b, 0);
}

/* Header, list of functions, their records, names, steps; `text` is the start of the code. */
static void add_table(struct buf *b, const struct format *f, uint64_t text)
{
	size_t base = b->size, list = base + 8 + 8 * f->words;
	size_t records = list + (2 * FUNCTIONS + 1) * f->field;
	/* In the oldest format offsets are relative to the table, in others to their part. */
	size_t from = f->words == 1 ? base : list;
	bool relative = f->field == 4;

	add(b, f->magic, 4);
	add(b, 0x08010000, 4);
	for (size_t at = b->size; at < records + FUNCTIONS * f->record; at++)
		buf_putc(b, 0);
	put(b, base + 8, FUNCTIONS, 8);
	for (unsigned i = 0; i <= FUNCTIONS; i++)
		put(b, list + 2 * i * f->field, starts[i] + (relative ? 0 : text), f->field);
	from = f->words == 1 ? base : b->size;
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		size_t record = records + i * f->record;

		put(b, list + (2 * i + 1) * f->field, record - (f->words == 1 ? base : list),
		    f->field);
		put(b, record + f->name_at, b->size - from, 4);
		buf_add(b, names[i], strlen(names[i]) + 1);
		if (f->flags_at)
			put(b, record + f->flags_at, i == 3 ? 1 : i == 4 || i >= 6 ? 2 : 0, 1);
	}
	if (f->words > 1) {
		put(b, base + 8 + 8 * (relative ? 3 : 2), from - base, 8);
		from = b->size;
		put(b, base + 8 + 8 * (relative ? 6 : 5), from - base, 8);
		put(b, base + 8 + 8 * (relative ? 7 : 6), list - base, 8);
		buf_putc(b, 0);
	}
	if (relative)
		put(b, base + 8 + 8 * 2, text, 8);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		put(b, records + i * f->record + f->steps_at, b->size - from, 4);
		add_steps(b, shapes[i]);
	}
}

/* A file of one segment and no sections. */
static void add_file(struct buf *b, const struct format *f)
{
	static const uint8_t framed[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c,
	                                 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10};
	static const uint8_t removal[] = {0x48, 0x83, 0xc4, 0x18};
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	                .e_type = ET_EXEC,
	                .e_machine = EM_X86_64,
	                .e_version = EV_CURRENT,
	                .e_entry = BASE + TEXT,
	                .e_phoff = sizeof(h),
	                .e_ehsize = sizeof(h),
	                .e_phentsize = sizeof(Elf64_Phdr),
	                .e_phnum = 1};
	Elf64_Phdr p = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE};

	buf_add(b, &h, sizeof(h));
	buf_add(b, &p, sizeof(p));
	buf_pad(b, (char)0xcc, TABLE - b->size);
	memcpy(b->data + TEXT, framed, sizeof(framed));
	memcpy(b->data + TEXT + 0xe0, framed, sizeof(framed));
	memcpy(b->data + TEXT + 0xfb, removal, sizeof(removal));
	b->data[TEXT + 0x40] = b->data[TEXT + 0xc0] = 0x55;
	add_table(b, f, BASE + TEXT);
	p.p_filesz = p.p_memsz = b->size;
	memcpy(b->data + sizeof(h), &p, sizeof(p));
}

static void test_functions(void)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct go_function fn;
		struct buf b = {0};
		struct go_table t;

		add_table(&b, &formats[i], 0x1000);
		CHECK(go_table_parse(&t, (uint8_t *)b.data, b.size));
		CHECK_EQ(t.count, FUNCTIONS);
		for (size_t k = 0; k < FUNCTIONS; k++) {
			CHECK(go_table_function(&t, k, &fn));
			CHECK_STR(fn.name, names[k]);
			CHECK_EQ(fn.start, 0x1000 + starts[k]);
			CHECK_EQ(fn.end, 0x1000 + starts[k + 1]);
			CHECK_EQ(fn.kind, k == 3                          ? GO_OUTERMOST
			                  : k == 6 && formats[i].flags_at ? GO_SWITCHES
			                  : k == 4 || k == 6              ? GO_LOST
			                  : k == 7                        ? GO_LEAVES
			                  : k == 5                        ? GO_INJECTED
			                                                  : GO_PLAIN);
		}
		CHECK(!go_table_function(&t, FUNCTIONS, &fn));
		go_table_done(&t);
		buf_done(&b);
	}
}

static void test_steps(void)
{
	struct go_function fn;
	struct go_steps steps;
	struct go_step step;
	struct buf b = {0};
	struct go_table t;
	uint64_t at = 0x1000;

	add_table(&b, &formats[3], 0x1000);
	CHECK(go_table_parse(&t, (uint8_t *)b.data, b.size) && go_table_function(&t, 0, &fn));
	go_steps_start(&t, &fn, &steps);
	for (int i = 0; i < 8; i += 2) {
		CHECK(go_steps_next(&steps, &step));
		CHECK_EQ(step.start, at);
		CHECK_EQ(step.depth, shapes[0][i]);
		at += (uint64_t)shapes[0][i + 1];
		CHECK_EQ(step.end, at);
	}
	CHECK(!go_steps_next(&steps, &step));
	/* Steps end with the function. */
	CHECK(go_table_function(&t, 2, &fn));
	go_steps_start(&t, &fn, &steps);
	CHECK(go_steps_next(&steps, &step));
	CHECK_EQ(step.end, fn.end);
	CHECK(!go_steps_next(&steps, &step));
	buf_done(&b);
}

static struct cfi_table *compile(const struct buf *b, struct elf_file **f)
{
	struct cfi_table *t = NULL;
	struct error err;

	if (!elf_file_open_memory(f, b->data, b->size, "go", &err))
		CHECK_EQ(cfi_table_compile(&t, *f, &err), 0);
	return t;
}

/* The rule at a place of the code; a CFA of 0 means no rule. */
static int cfa_at(const struct cfi_table *t, uint32_t place, bool *saved, uint8_t *flags)
{
	const struct cfi_rule *rule = cfi_table_find(t, TEXT + place);

	*saved = false;
	*flags = 0;
	if (!rule)
		return 0;
	for (uint32_t i = rule->saves; i < rule->saves + rule->save_count; i++)
		*saved |= t->saves[i].reg == RBP && t->saves[i].how == CFI_AT_CFA &&
		          t->saves[i].offset == -16;
	*flags = rule->flags;
	if (rule->flags & CFI_OUTERMOST)
		return 0;
	CHECK_EQ(rule->cfa_reg, rule->flags & CFI_SWITCHES ? RBP : RSP);
	CHECK_EQ(t->saves[rule->saves].reg, RIP);
	CHECK_EQ(t->saves[rule->saves].offset, -8);
	return rule->cfa_offset;
}

static const struct {
	uint32_t place;
	int cfa;
	bool saved;
	uint8_t flags;
} truth[] = {
        {0, 8, false, 0},
        {3, 8, false, 0},
        {4, 0x20, false, 0}, /* the frame exists, the frame pointer is not saved yet */
        {8, 0x20, false, 0},
        {9, 0x20, true, CFI_LINKED},
        {0x2f, 0x20, true, CFI_LINKED},
        {0x30, 8, false, 0},
        {0x31, 0x20, true, CFI_LINKED},
        {0x3f, 0x20, true, CFI_LINKED},
        {0x40, 8, false, 0},
        {0x41, 16, true, CFI_LINKED},
        {0x48, 0x28, true, CFI_LINKED},
        {0x77, 0x28, true, CFI_LINKED},
        {0x78, 0, false, 0}, /* padding between functions */
        {0x80, 8, false, 0},
        {0x9f, 8, false, 0},
        {0xa0, 0, false, CFI_OUTERMOST},
        {0xaf, 0, false, CFI_OUTERMOST},
        {0xc0, 8, false, CFI_SIGNAL},
        {0xc1, 16, true, CFI_SIGNAL},
        {0xb0, 0, false, CFI_LOST | CFI_OUTERMOST},
        {0xe0, 8, false, 0},
        {0xe4, 0x20, false, 0},
        {0xe9, 0x20, true, CFI_LINKED},
        {0xee, 16, true, CFI_SWITCHES},
        {0xfa, 16, true, CFI_SWITCHES},
        {0xfb, 0x20, false, 0}, /* the frame pointer is restored */
        {0xff, 8, false, 0},
        {0x100, 16, true, CFI_SWITCHES | CFI_HIDES},
        {0x10f, 16, true, CFI_SWITCHES | CFI_HIDES},
        {0x110, 0, false, 0},
};

static void test_rows(void)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct elf_file *f = NULL;
		struct cfi_digest digest;
		struct cfi_table *t;
		struct buf b = {0};
		uint8_t flags;
		bool saved;

		add_file(&b, &formats[i]);
		t = compile(&b, &f);
		CHECK(t);
		for (size_t k = 0; t && k < sizeof(truth) / sizeof(truth[0]); k++) {
			int cfa = cfa_at(t, truth[k].place, &saved, &flags);

			/* Formats before Go 1.17 have no flag for functions that switch stacks. */
			if (!formats[i].flags_at && truth[k].place >> 5 == 0xe0 >> 5) {
				CHECK_EQ(flags, CFI_LOST | CFI_OUTERMOST);
				continue;
			}
			if (cfa != truth[k].cfa || saved != truth[k].saved ||
			    flags != truth[k].flags)
				printf("# format %zu, at 0x%x: CFA %d, saved %d, flags %d\n", i,
				       truth[k].place, cfa, saved, flags);
			CHECK(cfa == truth[k].cfa && saved == truth[k].saved &&
			      flags == truth[k].flags);
		}
		/*
		 * The code of each function is read in addition to the table, so no digest covers
		 * all input.
		 */
		cfi_digest(f, &digest);
		CHECK(!digest.known);
		cfi_table_free(t);
		elf_file_close(f);
		buf_done(&b);
	}
}

static void test_names(void)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct elf_file *f = NULL;
		struct symbol_table t;
		struct buf b = {0};
		struct error err;
		size_t entry;

		add_file(&b, &formats[i]);
		CHECK_EQ(elf_file_open_memory(&f, b.data, b.size, "go", &err), 0);
		symbol_table_init(&t);
		elf_file_symbols(f, &t);
		symbol_table_finish(&t);
		CHECK_EQ(t.entries.count, FUNCTIONS);
		for (size_t k = 0; k < FUNCTIONS; k++) {
			entry = symbol_table_find(&t, BASE + TEXT + starts[k + 1] - 1);
			CHECK(entry != SYMBOL_NONE);
			CHECK_STR(entry == SYMBOL_NONE ? "" : symbol_table_name(&t, entry),
			          names[k]);
		}
		symbol_table_done(&t);
		elf_file_close(f);
		buf_done(&b);
	}
}

/*
 * Without an address of the code, the file's entry is used, which is a known function of Go's
 * linker.
 */
static void test_text_by_entry(void)
{
	struct elf_file *f = NULL;
	struct go_function fn;
	struct go_table t;
	struct buf b = {0};
	struct error err;

	add_file(&b, &formats[3]);
	put(&b, TABLE + 8 + 8 * 2, 0, 8);
	CHECK_EQ(elf_file_open_memory(&f, b.data, b.size, "go", &err), 0);
	CHECK(!go_table_open(&t, f));
	elf_file_close(f);
	memcpy(memmem(b.data, b.size, "main.pushed", 11), "_rt0_amd64", 11);
	put(&b, offsetof(Elf64_Ehdr, e_entry), BASE + TEXT + 0x40, 8);
	CHECK_EQ(elf_file_open_memory(&f, b.data, b.size, "go", &err), 0);
	CHECK(go_table_open(&t, f));
	CHECK_EQ(t.text, BASE + TEXT);
	CHECK(go_table_function(&t, 0, &fn) && fn.start == BASE + TEXT);
	go_table_done(&t);
	elf_file_close(f);
	buf_done(&b);
}

/* Uses all functions of a table with any contents, in memory of exactly its size. */
static void use(const uint8_t *from, size_t size)
{
	uint8_t *bytes = xmalloc(size ? size : 1);
	struct go_function fn;
	struct go_steps steps;
	struct go_step step;
	struct go_table t;

	memcpy(bytes, from, size);
	if (go_table_parse(&t, bytes, size)) {
		CHECK(t.count <= size / 8);
		for (size_t i = 0; i < t.count; i++) {
			if (!go_table_function(&t, i, &fn))
				continue;
			CHECK(fn.start < fn.end);
			CHECK((const uint8_t *)fn.name + strlen(fn.name) < bytes + size);
			go_steps_start(&t, &fn, &steps);
			while (go_steps_next(&steps, &step))
				CHECK(step.start < step.end && step.start >= fn.start &&
				      step.end <= fn.end);
		}
	}
	go_table_done(&t);
	free(bytes);
}

static void test_cut_at_every_byte(void)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct buf b = {0};

		add_table(&b, &formats[i], 0x1000);
		for (size_t size = 0; size <= b.size; size++)
			use((uint8_t *)b.data, size);
		buf_done(&b);
	}
}

static void test_flips(void)
{
	uint32_t random = 12345;

	for (size_t i = 0; i < 4000; i++) {
		struct elf_file *f = NULL;
		struct buf b = {0};

		add_file(&b, &formats[i % FORMATS]);
		for (int k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			b.data[TABLE + (random >> 8) % (b.size - TABLE)] ^=
			        (char)(1 << (random & 7));
			b.data[TABLE + (random >> 8) % (b.size - TABLE)] ^= (char)(random >> 24);
		}
		use((uint8_t *)b.data + TABLE, b.size - TABLE);
		cfi_table_free(compile(&b, &f));
		elf_file_close(f);
		buf_done(&b);
	}
}

/* Many functions may have one address and share one list of steps: the time stays bounded. */
static void test_shared_steps(void)
{
	size_t many = 20000, length = 200000, base, list;
	struct elf_file *f = NULL;
	struct cfi_table *t;
	struct buf b = {0};

	add_file(&b, &formats[3]);
	base = TABLE;
	list = b.size;
	put(&b, base + 8, many, 8);
	put(&b, base + 8 + 8 * 7, list - base, 8);
	for (size_t i = 0; i <= 2 * many; i++)
		add(&b, i % 2 ? 4 * (2 * many + 1) : i % 4 ? 30000 : 0, 4);
	buf_pad(&b, 0, 44);
	put(&b, b.size - 44 + 16, 1, 4);
	put(&b, base + 8 + 8 * 6, b.size - base, 8);
	buf_putc(&b, 0);
	for (size_t i = 0; i < length / 2; i++)
		add(&b, i % 2 ? 0x0101 : 0x0102, 2);
	put(&b, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), b.size, 8);
	t = compile(&b, &f);
	CHECK(t);
	CHECK(t && t->row_count > 1000 && t->row_count < 4 * b.size);
	cfi_table_free(t);
	elf_file_close(f);
	buf_done(&b);
}

int main(void)
{
	RUN(test_functions);
	RUN(test_steps);
	RUN(test_rows);
	RUN(test_names);
	RUN(test_text_by_entry);
	RUN(test_cut_at_every_byte);
	RUN(test_flips);
	RUN(test_shared_steps);
	return check_end();
}
