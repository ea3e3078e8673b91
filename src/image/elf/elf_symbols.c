/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of an ELF file: symbol tables, and PLT entries. The relocation of the GOT slot
 * through which a PLT entry jumps gives its name.
 */
#include "image/elf/elf_internal.h"
#include "base/limit.h"
#include "image/elf/elf_strings.h"
#include "image/go/go_table.h"
#include "image/elf/symbol_subset.h"
#include "image/elf/mini_debug.h"

#include <string.h>

/* The minimum size of a symbol without its name: an Elf32_Sym. */
#define SYMBOL_MIN_BYTES 16

/* Limit for relocation and PLT sections; real files have three of each. */
#define SECTIONS_MAX 8

/*
 * Names and tables may overlap in a hostile file, so a small file could request any amount of
 * memory. The bytes that are copied are bounded by the file's size, and by an absolute limit
 * because a file may be sparse.
 */
struct name_budget {
	uint64_t left;
};

static struct name_budget names_of(const struct elf_file *f)
{
	uint64_t bytes =
	        f->size < LIMIT_ELF_SYMBOL_BYTES / 4 ? 4 * f->size : LIMIT_ELF_SYMBOL_BYTES;

	return (struct name_budget){bytes + ELF_NAME_MAX};
}

/* A name within the budget, of which it takes its bytes; NULL: there is none. */
static const char *take_name(const char *name, struct name_budget *budget)
{
	size_t length;

	if (!name || !*name)
		return NULL;
	length = strnlen(name, ELF_NAME_MAX);
	if (length == ELF_NAME_MAX || length + SYMBOL_MIN_BYTES > budget->left) {
		if (length < ELF_NAME_MAX)
			budget->left = 0;
		return NULL;
	}
	budget->left -= length + SYMBOL_MIN_BYTES;
	return name;
}

/* Mapping symbols ($x, $d), local symbols of the compiler and annotations do not name functions. */
static bool is_noise(const char *name)
{
	return name[0] == '$' || !strncmp(name, ".L", 2) || !strncmp(name, ".annobin", 8);
}

static bool is_function(struct elf_file *f, const GElf_Sym *sym, uint64_t *limit)
{
	int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr section;

	*limit = UINT64_MAX;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (sym->st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(f->elf, sym->st_shndx), &section))
		return type != STT_NOTYPE;
	if (section.sh_addr <= UINT64_MAX - section.sh_size)
		*limit = section.sh_addr + section.sh_size;
	return type != STT_NOTYPE || (section.sh_flags & SHF_EXECINSTR);
}

static bool is_variable(struct elf_file *f, const GElf_Sym *sym, uint64_t *limit)
{
	*limit = UINT64_MAX;
	return GELF_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_shndx != SHN_COMMON;
}

/* Selects the symbols of a table; *limit: the end of the section, for symbols without a size. */
typedef bool select_fn(struct elf_file *f, const GElf_Sym *sym, uint64_t *limit);

static enum symbol_binding binding_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL:
		return BINDING_GLOBAL;
	case STB_WEAK:
		return BINDING_WEAK;
	default:
		return BINDING_LOCAL;
	}
}

/* *limit: as for select_fn. */
static bool is_selected(struct elf_file *f, const struct symbol_table *t, const GElf_Sym *sym,
                        select_fn *select, uint64_t *limit)
{
	if (t->few && !symbol_subset_may_want(t->few, sym->st_value, sym->st_size))
		return false;
	/* Symbols at a section's end (_end, _etext) have no code after them. */
	return select(f, sym, limit) && (sym->st_size || sym->st_value < *limit);
}

static void add_symbol(struct symbol_table *t, const GElf_Sym *sym, uint64_t limit,
                       struct elf_strings *strings, struct name_budget *budget)
{
	/* Only local symbols may be noise; names of the others are read if they are needed. */
	bool unseen = t->few && binding_of(sym) != BINDING_LOCAL;
	const char *name;

	if (unseen && !symbol_table_wants(t, sym->st_value, sym->st_size))
		return;
	name = take_name(elf_strings_at(strings, sym->st_name), budget);
	if (name && !is_noise(name))
		symbol_table_add(t, sym->st_value, sym->st_size, limit, binding_of(sym), name);
	else if (unseen)
		symbol_subset_doubt(t->few);
}

static void read_table(struct elf_file *f, size_t index, const GElf_Shdr *header, select_fn *select,
                       struct name_budget *budget, struct symbol_table *t)
{
	Elf_Data *data = elf_section_data(f, index);
	size_t entry = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && entry ? data->d_size / entry : 0;
	struct elf_strings strings;
	uint64_t limit;
	GElf_Sym sym;

	if (count > INT32_MAX)
		count = INT32_MAX;
	if (!elf_strings_open(&strings, f, header->sh_link, t->few != NULL))
		return;
	for (size_t i = 1; i < count; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || !is_selected(f, t, &sym, select, &limit))
			continue;
		if (budget->left && t->entries.count < LIMIT_ELF_SYMBOLS)
			add_symbol(t, &sym, limit, &strings, budget);
		else
			f->left_out += symbol_table_wants(t, sym.st_value, sym.st_size);
	}
	f->cut |= f->left_out != 0;
	elf_strings_done(&strings);
}

/* A GOT slot, and the name of the symbol whose address the loader stores there. */
struct got_slot {
	uint64_t address;
	const char *name;  /* NULL: the slot is resolved by a function of this file, */
	uint64_t resolver; /* which has this address */
};

struct got {
	VEC(struct got_slot) slots;
	size_t searches;
};

/* Limit for PLT entries whose names are searched one by one; libc has 40. */
#define SEARCHES_MAX 1024

static int compare_slots(const void *pa, const void *pb)
{
	const struct got_slot *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

static bool is_irelative(const struct elf_file *f, const GElf_Rela *rela)
{
	switch (elf_file_machine(f)) {
	case ELF_MACHINE_X86_64:
		return GELF_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE;
	case ELF_MACHINE_ARM64:
		return GELF_R_TYPE(rela->r_info) == R_AARCH64_IRELATIVE;
	default:
		return false;
	}
}

static void read_relocations(struct elf_file *f, size_t index, const GElf_Shdr *header,
                             struct name_budget *budget, struct got *got)
{
	Elf_Data *data = elf_section_data(f, index);
	size_t entry = gelf_fsize(f->elf, ELF_T_RELA, 1, EV_CURRENT);
	size_t count = data && data->d_buf && entry ? data->d_size / entry : 0;
	Elf_Data *symbols;
	GElf_Shdr table;
	GElf_Rela rela;
	GElf_Sym sym;
	const char *name;

	if (!elf_section_at(f, header->sh_link, &table, NULL) || table.sh_type != SHT_DYNSYM)
		return;
	symbols = elf_section_data(f, header->sh_link);
	if (!elf_section_data(f, table.sh_link))
		return;
	for (size_t i = 0; symbols && symbols->d_buf && i < count && i < INT32_MAX && budget->left;
	     i++) {
		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		if (is_irelative(f, &rela))
			vec_push(&got->slots,
			         (struct got_slot){rela.r_offset, NULL, (uint64_t)rela.r_addend});
		if (!GELF_R_SYM(rela.r_info) || GELF_R_SYM(rela.r_info) > INT32_MAX ||
		    !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = take_name(elf_strptr(f->elf, table.sh_link, sym.st_name), budget);
		if (name)
			vec_push(&got->slots, (struct got_slot){rela.r_offset, name, 0});
	}
}

static const struct got_slot *got_find(const struct got *got, uint64_t address)
{
	struct got_slot key = {.address = address};

	if (!got->slots.count)
		return NULL;
	return bsearch(&key, got->slots.items, got->slots.count, sizeof(key), compare_slots);
}

/* The name of the function to which a GOT slot leads; the symbol table is not sorted yet. */
static const char *slot_name(struct got *got, const struct got_slot *slot,
                             const struct symbol_table *t)
{
	if (slot->name)
		return slot->name;
	if (got->searches++ >= SEARCHES_MAX)
		return NULL;
	vec_each (e, &t->entries)
		if (e->start == slot->resolver)
			return t->names.data + e->name;
	return NULL;
}

/*
 * The GOT slot through which a PLT entry jumps: "jmp *disp(%rip)", perhaps after endbr64 and bnd.
 */
static bool plt_target_x86_64(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *slot)
{
	int32_t displacement;

	for (size_t i = 0; i + 6 <= size && i <= 5; i++) {
		if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
			continue;
		memcpy(&displacement, bytes + i + 2, 4);
		*slot = address + i + 6 + (uint64_t)(int64_t)displacement;
		return true;
	}
	return false;
}

/* As above: "adrp x16, page; ldr x17, [x16, #low]", perhaps after bti. */
static bool plt_target_arm64(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *slot)
{
	uint32_t adrp, ldr;
	int64_t page;

	for (size_t i = 0; i + 8 <= size && i <= 4; i += 4) {
		memcpy(&adrp, bytes + i, 4);
		memcpy(&ldr, bytes + i + 4, 4);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		page = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >>
		       31;
		*slot = ((address + i) & ~0xfffull) + (uint64_t)page + (ldr >> 10 & 0xfff) * 8;
		return true;
	}
	return false;
}

static bool plt_target(struct elf_file *f, const uint8_t *bytes, size_t size, uint64_t address,
                       uint64_t *slot)
{
	switch (elf_file_machine(f)) {
	case ELF_MACHINE_X86_64:
		return plt_target_x86_64(bytes, size, address, slot);
	case ELF_MACHINE_ARM64:
		return plt_target_arm64(bytes, size, address, slot);
	default:
		return false;
	}
}

static void read_plt(struct elf_file *f, size_t index, const GElf_Shdr *header,
                     const char *section_name, struct got *got, struct symbol_table *t)
{
	size_t entry = !strcmp(section_name, ".plt.got") && header->sh_entsize == 8 ? 8 : 16;
	struct buf text = {0};
	const struct got_slot *slot;
	const uint8_t *bytes;
	const char *name;
	uint64_t target;
	size_t size;

	bytes = elf_section_bytes(f, index, &size);
	for (size_t at = 0; bytes && at + entry <= size; at += entry) {
		if (!plt_target(f, bytes + at, entry, header->sh_addr + at, &target))
			continue;
		slot = got_find(got, target);
		/* A function of this file names the entry, and it may not be in the subset. */
		if (t->few && slot && !slot->name &&
		    symbol_subset_inside(t->few, header->sh_addr + at, entry))
			symbol_subset_take_all(t->few);
		name = slot ? slot_name(got, slot, t) : NULL;
		if (!name || !symbol_table_wants(t, header->sh_addr + at, entry))
			continue;
		buf_clear(&text);
		buf_addf(&text, "%s@plt", name);
		symbol_table_add(t, header->sh_addr + at, entry, 0, BINDING_LOCAL, text.data);
	}
	buf_done(&text);
}

static bool is_plt(const GElf_Shdr *header, const char *name)
{
	return header->sh_type == SHT_PROGBITS &&
	       (!strcmp(name, ".plt") || !strcmp(name, ".plt.sec") || !strcmp(name, ".plt.got"));
}

/* True if an entry of a PLT may be needed. */
static bool wants_plts(struct elf_file *f, const struct symbol_table *t)
{
	size_t count = elf_section_count(f), seen = 0;
	const char *name;
	GElf_Shdr header;

	if (!t->few)
		return true;
	for (size_t i = 1; i < count && seen < SECTIONS_MAX; i++) {
		if (!elf_section_at(f, i, &header, &name) || !is_plt(&header, name))
			continue;
		if (symbol_subset_may_want(t->few, header.sh_addr, header.sh_size))
			return true;
		seen++;
	}
	return false;
}

static void read_plts(struct elf_file *f, struct name_budget *budget, struct symbol_table *t)
{
	size_t count = elf_section_count(f), seen = 0;
	struct got got = {0};
	const char *name;
	GElf_Shdr header;

	if (!wants_plts(f, t))
		return;
	for (size_t i = 1; i < count && seen < SECTIONS_MAX; i++) {
		if (!elf_section_at(f, i, &header, &name) || header.sh_type != SHT_RELA ||
		    strncmp(name, ".rela.", 6) != 0)
			continue;
		read_relocations(f, i, &header, budget, &got);
		seen++;
	}
	if (got.slots.count)
		qsort(got.slots.items, got.slots.count, sizeof(*got.slots.items), compare_slots);
	seen = 0;
	for (size_t i = 1; got.slots.count && i < count && seen < SECTIONS_MAX; i++) {
		if (!elf_section_at(f, i, &header, &name) || !is_plt(&header, name))
			continue;
		read_plt(f, i, &header, name, &got, t);
		seen++;
	}
	vec_done(&got.slots);
}

/* Reads the first table of a type: a file has at most one. */
static void read_tables(struct elf_file *f, uint32_t type, select_fn *select,
                        struct name_budget *budget, struct symbol_table *t)
{
	size_t count = elf_section_count(f);
	GElf_Shdr header;

	for (size_t i = 1; i < count; i++) {
		if (!elf_section_at(f, i, &header, NULL) || header.sh_type != type)
			continue;
		read_table(f, i, &header, select, budget, t);
		return;
	}
}

/* A stripped file may contain packed symbols; their addresses are those of this file. */
static void read_mini_debug(struct elf_file *f, struct symbol_table *t)
{
	const uint8_t *packed = NULL;
	size_t count = elf_section_count(f), size, unpacked;
	struct elf_file *inner = NULL;
	struct name_budget budget;
	uint8_t *bytes = NULL;
	const char *name;
	GElf_Shdr header;

	for (size_t i = 1; i < count && !packed; i++)
		if (elf_section_at(f, i, &header, &name) && !strcmp(name, ".gnu_debugdata"))
			packed = elf_section_bytes(f, i, &size);
	if (packed)
		bytes = mini_debug_unpack(packed, size, &unpacked);
	if (!bytes)
		return;
	if (!elf_file_open_memory(&inner, bytes, unpacked, f->path, NULL) &&
	    !elf_file_is_relocatable(inner)) {
		budget = names_of(inner);
		read_tables(inner, SHT_SYMTAB, is_function, &budget, t);
	}
	elf_file_close(inner);
	free(bytes);
}

/* A Go program contains the names of its functions, even if it is stripped. */
static void read_go_table(struct elf_file *f, struct name_budget *budget, struct symbol_table *t)
{
	struct go_function function;
	struct go_table table;
	size_t cost;

	if (!go_table_open(&table, f))
		return;
	for (size_t i = 0; i < table.count; i++) {
		if (!go_table_function(&table, i, &function) || !*function.name)
			continue;
		cost = strlen(function.name) + SYMBOL_MIN_BYTES;
		if (cost > budget->left)
			break;
		budget->left -= cost;
		if (!symbol_table_wants(t, function.start, function.end - function.start))
			continue;
		symbol_table_add(t, function.start, function.end - function.start, 0, BINDING_LOCAL,
		                 function.name);
	}
	go_table_done(&table);
}

void elf_file_symbols(struct elf_file *f, struct symbol_table *t)
{
	struct name_budget budget = names_of(f);

	f->left_out = 0;
	/* Addresses of a relocatable file are relative to sections and cannot be used here. */
	if (elf_file_is_relocatable(f) || !elf_file_wake(f))
		return;
	read_tables(f, SHT_SYMTAB, is_function, &budget, t);
	if (!f->has_symtab) {
		read_mini_debug(f, t);
		read_go_table(f, &budget, t);
	}
	read_tables(f, SHT_DYNSYM, is_function, &budget, t);
	read_plts(f, &budget, t);
}

void elf_file_variables(struct elf_file *f, struct symbol_table *t)
{
	struct name_budget budget = names_of(f);

	if (elf_file_is_relocatable(f) || !elf_file_wake(f))
		return;
	read_tables(f, SHT_SYMTAB, is_variable, &budget, t);
	read_tables(f, SHT_DYNSYM, is_variable, &budget, t);
}

/* A symbol version with which new programs are not linked. */
static bool is_old_version(Elf_Data *versions, int index)
{
	GElf_Versym version;

	return versions && versions->d_buf && gelf_getversym(versions, index, &version) &&
	       version & 0x8000;
}

static void read_exports(struct elf_file *f, size_t index, const GElf_Shdr *header,
                         Elf_Data *versions, struct symbol_table *t)
{
	struct name_budget budget = names_of(f);
	Elf_Data *data = elf_section_data(f, index);
	size_t entry = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && entry ? data->d_size / entry : 0;

	if (!elf_section_data(f, header->sh_link))
		return;
	for (size_t i = 1; i < count && i < INT32_MAX && budget.left; i++) {
		const char *name;
		uint64_t limit;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !is_function(f, &sym, &limit) ||
		    binding_of(&sym) == BINDING_LOCAL)
			continue;
		name = take_name(elf_strptr(f->elf, header->sh_link, sym.st_name), &budget);
		if (name && !is_noise(name))
			symbol_table_add(t, sym.st_value, sym.st_size ? sym.st_size : 1, limit,
			                 is_old_version(versions, (int)i) ? BINDING_LOCAL
			                                                  : BINDING_GLOBAL,
			                 name);
	}
}

void elf_file_exports(struct elf_file *f, struct symbol_table *t)
{
	size_t count = elf_file_wake(f) ? elf_section_count(f) : 0, table = 0;
	Elf_Data *versions = NULL;
	GElf_Shdr header, symbols = {0};

	for (size_t i = 1; i < count; i++) {
		if (!elf_section_at(f, i, &header, NULL))
			continue;
		if (header.sh_type == SHT_DYNSYM && !table) {
			symbols = header;
			table = i;
		} else if (header.sh_type == SHT_GNU_versym && !versions) {
			versions = elf_section_data(f, i);
		}
	}
	if (table)
		read_exports(f, table, &symbols, versions, t);
}

static bool find_in_table(struct elf_file *f, size_t index, const GElf_Shdr *header,
                          const char *wanted, GElf_Sym *sym)
{
	Elf_Data *data = elf_section_data(f, index);
	size_t entry = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && entry ? data->d_size / entry : 0;
	const char *name;

	if (!elf_section_data(f, header->sh_link))
		return false;
	for (size_t i = 1; i < count && i < INT32_MAX; i++) {
		if (!gelf_getsym(data, (int)i, sym) || sym->st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(f->elf, header->sh_link, sym->st_name);
		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

bool elf_file_symbol(struct elf_file *f, const char *name, uint64_t *address, uint64_t *size)
{
	size_t count = elf_file_wake(f) ? elf_section_count(f) : 0, tables = 0;
	GElf_Shdr header, section;
	GElf_Sym sym;

	for (size_t i = 1; i < count && tables < 2; i++) {
		if (!elf_section_at(f, i, &header, NULL) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		tables++;
		if (!find_in_table(f, i, &header, name, &sym))
			continue;
		*address = sym.st_value;
		*size = sym.st_size;
		if (!elf_file_is_relocatable(f))
			return true;
		if (!elf_section_at(f, sym.st_shndx, &section, NULL))
			return false;
		*address += section.sh_offset;
		return true;
	}
	return false;
}
