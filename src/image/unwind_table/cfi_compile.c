/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include "base/limit.h"
#include "base/memory/blake2b.h"
#include "image/elf/elf_internal.h"
#include "image/elf/packed_section.h"
#include "image/locate.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CIE_SLOTS 16
#define UNPACKED_A_BYTE 16

/*
 * The limit for executed instruction bytes: bytes of FDEs are executed once, bytes of CIEs a few
 * times.
 */
#define WORK_A_BYTE 16
#define WORK_AT_LEAST ((uint64_t)1 << 20)

struct cfi_section {
	uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool eh;    /* .eh_frame, not .debug_frame */
	bool ended; /* ends at an entry of length 0, because its size is unknown */
};

/* The code of one FDE, and the rows of its program. */
struct described {
	uint32_t start, end;
	uint32_t first, count;
	uint32_t order; /* if two have the same start, the first is used */
	bool eh;
};

struct compile {
	struct elf_file *f;
	struct elf_file *from; /* has the sections: `f`, or its separate debug file */
	const struct cfi_machine *machine;
	struct cfi_section section;
	Elf_Data data;
	struct cfi_pool pool;
	struct cfi_rows rows;
	VEC(struct described) described;
	struct cfi_cie cies[CIE_SLOTS];
	const struct elf_segment *segment; /* the last segment that was used */
	uint64_t work;
	bool too_large;
	struct blake2b digest; /* of the compiled bytes, as they were read */
	bool digest_only;      /* only the digest is computed */
	bool more_is_read; /* code of Go functions is read too, which the digest does not cover */
};

static bool spend(struct compile *c, uint64_t work)
{
	if (c->work < work) {
		c->work = 0;
		return false;
	}
	c->work -= work;
	return true;
}

/* The declared length of an entry, bounded by the section; used to estimate the work. */
static uint64_t entry_size(const struct cfi_section *s, uint64_t offset)
{
	uint64_t left = s->size - offset;
	uint32_t length = 0;

	if (left >= sizeof(length))
		memcpy(&length, s->bytes + offset, sizeof(length));
	return length < left ? length : left;
}

static bool next_entry(struct compile *c, uint64_t offset, uint64_t *next, Dwarf_CFI_Entry *entry)
{
	Dwarf_Off after = offset;
	int r = dwarf_next_cfi(c->f->header.e_ident, &c->data, c->section.eh, offset, &after,
	                       entry);

	*next = r == 1 || after <= offset ? UINT64_MAX : after;
	return r == 0;
}

/* Reads the relevant parts of the augmentation; false: it has an unknown part. */
static bool read_augmentation(struct compile *c, struct cfi_cie *cie, const Dwarf_CIE *from)
{
	const char *letter = from->augmentation;
	struct cfi_cursor data = {NULL, NULL, false};
	uint64_t personality;
	uint8_t encoding;

	cie->encoding = DW_EH_PE_absptr;
	if (*letter == 'z' && from->augmentation_data) {
		data.at = from->augmentation_data;
		data.end = data.at + from->augmentation_data_size;
		cie->sized = true;
		letter++;
	}
	for (; *letter; letter++) {
		if (*letter == 'R') {
			cie->encoding = (uint8_t)cfi_cursor_uint(&data, 1);
		} else if (*letter == 'L') {
			cfi_cursor_uint(&data, 1);
		} else if (*letter == 'P') {
			encoding = (uint8_t)cfi_cursor_uint(&data, 1);
			if (!cfi_read_pointer(&data, encoding & 0x0f, 0, c->machine, &personality))
				return false;
		} else if (*letter == 'S') {
			cie->signal = true;
		} else if (*letter != 'B' && *letter != 'G') {
			return false;
		}
	}
	return !data.bad;
}

static bool read_cie(struct compile *c, struct cfi_cie *cie)
{
	Dwarf_CFI_Entry entry;
	uint64_t next;

	if (cie->offset >= c->section.size || !spend(c, entry_size(&c->section, cie->offset)) ||
	    !next_entry(c, cie->offset, &next, &entry) || !dwarf_cfi_cie_p(&entry))
		return false;
	if (entry.cie.return_address_register >= c->machine->columns ||
	    !read_augmentation(c, cie, &entry.cie))
		return false;
	cie->return_column = (uint8_t)entry.cie.return_address_register;
	cie->code_factor = entry.cie.code_alignment_factor;
	cie->data_factor = entry.cie.data_alignment_factor;
	return cfi_run_initial(&c->pool, cie,
	                       (struct cfi_cursor){entry.cie.initial_instructions,
	                                           entry.cie.initial_instructions_end, false},
	                       &c->work);
}

static const struct cfi_cie *find_cie(struct compile *c, uint64_t offset)
{
	struct cfi_cie *cie = &c->cies[hash_u64(offset) % CIE_SLOTS];

	if (cie->offset == offset)
		return cie->usable ? cie : NULL;
	memset(cie, 0, sizeof(*cie));
	cie->offset = offset;
	cie->usable = read_cie(c, cie);
	return cie->usable ? cie : NULL;
}

static bool in_segment(const struct elf_segment *s, uint64_t address)
{
	return s && s->executable && address >= s->address && address - s->address < s->size;
}

/* Finds the code in the file; false: it is not completely in one executable segment. */
static bool place_code(struct compile *c, uint64_t address, uint64_t size, struct cfi_range *range)
{
	uint64_t into;

	if (!in_segment(c->segment, address)) {
		if (!spend(c, c->f->segments.count))
			return false;
		c->segment = NULL;
		vec_each (s, &c->f->segments)
			if (!c->segment && in_segment(s, address))
				c->segment = s;
	}
	if (!c->segment)
		return false;
	into = address - c->segment->address;
	if (size > c->segment->size - into)
		return false;
	if (c->segment->offset + into + size > UINT32_MAX) {
		c->too_large = true;
		return false;
	}
	*range = (struct cfi_range){(uint32_t)(c->segment->offset + into), (uint32_t)size, address};
	return true;
}

/* Reads the program of an FDE and the range of its code. */
static bool read_fde(struct compile *c, const struct cfi_cie *cie, struct cfi_cursor *at,
                     struct cfi_range *range)
{
	uint64_t place = c->section.address + (uint64_t)(at->at - c->section.bytes);
	uint64_t address, size;

	if (!cfi_read_pointer(at, cie->encoding, place, c->machine, &address) ||
	    !cfi_read_pointer(at, cie->encoding & 0x07, 0, c->machine, &size))
		return false;
	if (cie->sized)
		cfi_cursor_part(at, cfi_cursor_uleb(at));
	if (at->bad)
		return false;
	range->size = 0;
	/* A function that the linker removed. */
	if (!address || !size)
		return true;
	return place_code(c, address, size, range);
}

/* True if the table has space for one more function. */
static bool has_room(struct compile *c)
{
	if (c->rows.rules.count < CFI_ROWS_MAX && c->described.count < CFI_FDES_MAX)
		return true;
	c->pool.cut = true;
	return false;
}

/* The rows from `first` on describe a range. */
static void add_described(struct compile *c, struct cfi_range range, size_t first, bool eh)
{
	vec_push(&c->described, (struct described){.start = range.offset,
	                                           .end = range.offset + range.size,
	                                           .first = (uint32_t)first,
	                                           .count = (uint32_t)(c->rows.rules.count - first),
	                                           .order = (uint32_t)c->described.count,
	                                           .eh = eh});
}

static void add_fde(struct compile *c, const Dwarf_FDE *fde)
{
	struct cfi_cursor at = {fde->start, fde->end, false};
	const struct cfi_cie *cie = find_cie(c, fde->CIE_pointer);
	size_t first = c->rows.rules.count;
	struct cfi_range range;

	if (!cie || !has_room(c) || !read_fde(c, cie, &at, &range)) {
		c->pool.skipped++;
		return;
	}
	if (!range.size)
		return;
	if (!cfi_run_range(&c->pool, cie, range, at, &c->rows, &c->work))
		c->pool.skipped++;
	add_described(c, range, first, c->section.eh);
}

static void compile_section(struct compile *c)
{
	uint64_t offset = 0, next = 0;
	Dwarf_CFI_Entry entry;

	c->data = (Elf_Data){.d_buf = c->section.bytes,
	                     .d_size = c->section.size,
	                     .d_type = ELF_T_BYTE,
	                     .d_version = EV_CURRENT};
	for (size_t i = 0; i < CIE_SLOTS; i++)
		c->cies[i].offset = UINT64_MAX;
	for (; offset < c->section.size && c->work; offset = next) {
		next = offset + sizeof(uint32_t);
		/*
		 * The run-time library stops at a length of 0, but files may have more entries
		 * after it.
		 */
		if (!entry_size(&c->section, offset)) {
			if (c->section.ended)
				return;
			continue;
		}
		if (!next_entry(c, offset, &next, &entry))
			c->pool.skipped++;
		else if (!dwarf_cfi_cie_p(&entry))
			add_fde(c, &entry.fde);
	}
}

static bool take_bytes(struct compile *c, uint64_t offset, uint64_t size)
{
	size_t got = 0, part;

	c->pool.cut |= size > LIMIT_CFI_BYTES;
	if (size <= LIMIT_CFI_BYTES && size <= elf_file_size(c->from))
		c->section.bytes = size ? malloc(size) : NULL;
	if (!c->section.bytes)
		return false;
	while (got < size &&
	       (part = elf_file_read_at(c->from, offset + got, c->section.bytes + got, size - got)))
		got += part;
	c->section.size = got;
	return got == size;
}

static void drop_bytes(struct compile *c)
{
	free(c->section.bytes);
	c->section = (struct cfi_section){0};
}

/* Debug sections may be compressed; an implausible unpacked size is refused. */
static bool unpack_bytes(struct compile *c, bool wide)
{
	struct cfi_section packed = c->section;
	struct packed_section p;
	bool good;

	if (!packed_section_read(&p, packed.bytes, packed.size, wide) || !p.size ||
	    p.size / UNPACKED_A_BYTE > packed.size)
		return false;
	if (p.size > LIMIT_CFI_BYTES) {
		c->pool.cut = true;
		return false;
	}
	c->section.bytes = malloc(p.size);
	good = c->section.bytes &&
	       packed_section_unpack(&p, packed.bytes, packed.size, c->section.bytes);
	c->section.size = good ? p.size : 0;
	free(packed.bytes);
	return good;
}

static bool find_section(struct compile *c, const char *name)
{
	size_t count = elf_section_count(c->from);
	const char *its;
	GElf_Shdr h;

	for (size_t i = 1; i < count; i++) {
		if (!elf_section_at(c->from, i, &h, &its) || strcmp(its, name) != 0)
			continue;
		if (h.sh_type == SHT_NOBITS)
			return false;
		c->section.address = h.sh_addr;
		return take_bytes(c, h.sh_offset, h.sh_size) &&
		       (!(h.sh_flags & SHF_COMPRESSED) ||
		        unpack_bytes(c, c->from->header.e_ident[EI_CLASS] == ELFCLASS64));
	}
	return false;
}

/* Uses the bytes up to the end of the segment that contains an address. */
static bool take_rest_of_segment(struct compile *c, uint64_t address)
{
	vec_each (s, &c->f->segments) {
		if (address < s->address || address - s->address >= s->size)
			continue;
		c->section.address = address;
		c->section.ended = true;
		return take_bytes(c, s->offset + (address - s->address),
		                  s->size - (address - s->address));
	}
	return false;
}

/* Without section headers .eh_frame_hdr has the address of .eh_frame. */
static bool find_by_segment(struct compile *c)
{
	uint8_t bytes[16] = {0};
	size_t count = elf_segment_count(c->f), size;
	uint64_t address;
	GElf_Phdr p;

	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(c->f->elf, (int)i, &p) || p.p_type != PT_GNU_EH_FRAME)
			continue;
		size = elf_file_read_at(c->from, p.p_offset, bytes, sizeof(bytes));
		if (size < 8 || bytes[0] != 1)
			return false;
		return cfi_read_pointer(&(struct cfi_cursor){bytes + 4, bytes + size, false},
		                        bytes[1], p.p_vaddr + 4, c->machine, &address) &&
		       take_rest_of_segment(c, address);
	}
	return false;
}

static void add_go_function(struct compile *c, const struct go_table *t,
                            const struct go_function *function)
{
	size_t first = c->rows.rules.count;
	struct cfi_range range;
	uint32_t size;

	if (!has_room(c) ||
	    !place_code(c, function->start, function->end - function->start, &range)) {
		c->pool.skipped++;
		return;
	}
	size = cfi_go_rows(&c->pool, c->f, t, function, range.offset, &c->rows);
	/* A row has at least two bytes in the table, but functions may share them. */
	if (size && spend(c, c->rows.rules.count - first))
		add_described(c, (struct cfi_range){range.offset, size, range.address}, first,
		              false);
}

static void compile_go(struct compile *c)
{
	struct go_function function;
	struct go_table t;

	if (elf_file_machine(c->f) != ELF_MACHINE_X86_64 || !go_table_open(&t, c->f))
		return;
	c->more_is_read = true;
	c->work += t.size;
	for (size_t i = 0; i < t.count && c->work && !c->digest_only; i++)
		if (go_table_function(&t, i, &function))
			add_go_function(c, &t, &function);
	go_table_done(&t);
}

/* Adds the other data on which rows depend. */
static void digest_file(struct compile *c)
{
	blake2b_init(&c->digest);
	blake2b_add(&c->digest, c->f->header.e_ident, sizeof(c->f->header.e_ident));
	blake2b_add_u64(&c->digest, elf_file_machine(c->f));
	blake2b_add_u64(&c->digest, c->f->segments.count);
	vec_each (s, &c->f->segments) {
		blake2b_add_u64(&c->digest, s->address);
		blake2b_add_u64(&c->digest, s->offset);
		blake2b_add_u64(&c->digest, s->size);
		blake2b_add_u64(&c->digest, s->executable);
	}
}

/* The digest is computed from the compiled bytes, because the file may change between two reads. */
static void digest_section(struct compile *c)
{
	blake2b_add_u64(&c->digest, (uint64_t)c->section.eh | (uint64_t)c->section.ended << 1);
	blake2b_add_u64(&c->digest, c->section.address);
	blake2b_add_u64(&c->digest, c->section.size);
	blake2b_add(&c->digest, c->section.bytes, c->section.size);
}

static void take_section(struct compile *c)
{
	digest_section(c);
	if (c->digest_only)
		return;
	c->work += WORK_A_BYTE * c->section.size;
	compile_section(c);
}

/* Sections whose code no linker, or not every linker, describes. Where one does, its rows are used.
 */
static void take_plt(struct compile *c)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec", ".iplt"};
	struct cfi_range range;
	size_t first;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++, drop_bytes(c)) {
		if (!find_section(c, names[i]))
			continue;
		digest_section(c);
		first = c->rows.rules.count;
		if (c->digest_only || !c->section.size || !has_room(c) ||
		    !place_code(c, c->section.address, c->section.size, &range))
			continue;
		cfi_plt_rows(&c->pool, c->section.bytes, range.size, range.offset, &c->rows);
		add_described(c, range, first, false);
	}
}

/* .debug_frame of the file, or of its separate debug file, whose addresses are the same. */
static void take_debug_frame(struct compile *c)
{
	bool here = find_section(c, ".debug_frame");

	if (!here) {
		drop_bytes(c);
		c->from = locate_debug(c->f, NULL, NULL);
	}
	if (here || (c->from && elf_file_machine(c->from) == elf_file_machine(c->f) &&
	             find_section(c, ".debug_frame")))
		take_section(c);
	drop_bytes(c);
	if (c->from != c->f)
		elf_file_close(c->from);
	c->from = c->f;
}

static void compile_file(struct compile *c)
{
	digest_file(c);
	/* If two entries describe one place, the first is used. */
	c->section.eh = true;
	c->work = WORK_AT_LEAST;
	if (find_section(c, ".eh_frame") || (!c->section.bytes && find_by_segment(c))) {
		c->section.eh = true;
		take_section(c);
	}
	drop_bytes(c);
	/* The Go table has the ends of stacks, which .debug_frame lacks. */
	compile_go(c);
	take_debug_frame(c);
	take_plt(c);
}

static int by_start(const void *a, const void *b)
{
	const struct described *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void push_row(struct cfi_rows *rows, uint32_t offset, uint16_t rule)
{
	if (rows->rules.count && *vec_last(&rows->rules) == rule)
		return;
	vec_push(&rows->offsets, offset);
	vec_push(&rows->rules, rule);
}

/* Moves the rows of all FDEs into `all`, in file order, with the gaps between them. */
static void join_rows(struct compile *c, struct cfi_rows *all)
{
	uint32_t end = 0;

	if (c->described.count)
		qsort(c->described.items, c->described.count, sizeof(struct described), by_start);
	vec_reserve(&all->offsets, c->rows.offsets.count + c->described.count);
	vec_reserve(&all->rules, c->rows.rules.count + c->described.count);
	vec_each (d, &c->described) {
		if (d->start < end) {
			/* A duplicate in .debug_frame is normal. */
			c->pool.skipped += d->eh;
			continue;
		}
		if (d->start > end && all->rules.count)
			push_row(all, end, CFI_NO_RULE);
		for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
			push_row(all, c->rows.offsets.items[i], c->rows.rules.items[i]);
		end = d->end;
	}
	if (all->rules.count)
		push_row(all, end, CFI_NO_RULE);
	vec_done(&c->rows.offsets);
	vec_done(&c->rows.rules);
	vec_done(&c->described);
}

static struct compile *compile_new(struct elf_file *f)
{
	struct compile *c = xcalloc(1, sizeof(*c));

	c->f = c->from = f;
	c->machine = cfi_machine(elf_file_machine(f));
	c->pool.machine = c->machine;
	return c;
}

/* Addresses of a relocatable file are not known yet. */
static void compile_what_there_is(struct compile *c, struct cfi_digest *digest)
{
	*digest = (struct cfi_digest){0};
	if (!c->machine || elf_file_is_relocatable(c->f))
		return;
	compile_file(c);
	digest->known = !c->more_is_read;
	blake2b_end(&c->digest, digest->bytes);
}

static void compile_done(struct compile *c)
{
	cfi_pool_done(&c->pool);
	vec_done(&c->rows.offsets);
	vec_done(&c->rows.rules);
	vec_done(&c->described);
	free(c);
}

void cfi_digest(struct elf_file *f, struct cfi_digest *digest)
{
	struct compile *c;

	*digest = (struct cfi_digest){0};
	if (!elf_file_wake(f))
		return;
	c = compile_new(f);
	c->digest_only = true;
	compile_what_there_is(c, digest);
	compile_done(c);
}

int cfi_compile_image(struct cfi_header **image, struct elf_file *f, struct cfi_digest *digest,
                      struct error *err)
{
	struct cfi_rows all = {0};
	struct compile *c;
	int r = 0;

	*image = NULL;
	if (!elf_file_wake(f))
		return error_set(err, ESTALE, "%s: is not there any more, or is another file now",
		                 elf_file_path(f));
	c = compile_new(f);
	compile_what_there_is(c, digest);
	if (c->too_large) {
		r = error_set(err, EFBIG,
		              "%s: has code beyond 4 GB, which unwind tables cannot hold",
		              elf_file_path(f));
	} else {
		join_rows(c, &all);
		*image = cfi_image_new(&c->pool, &all, elf_file_machine(f), elf_file_build_id(f));
	}
	vec_done(&all.offsets);
	vec_done(&all.rules);
	compile_done(c);
	return r;
}

/*
 * The code is placed as the only segment of a file, which contains nothing else. The work is
 * proportional to the table, without a minimum: a program may generate any number of functions.
 */
struct cfi_table *cfi_table_of_code(enum elf_machine machine, const struct cfi_code *code)
{
	struct elf_file f = {.fd = -1,
	                     .header.e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB}};
	struct cfi_rows all = {0};
	struct cfi_header *image;
	struct cfi_table *t = NULL;
	struct compile *c;

	if (!cfi_machine(machine) || code->frame_size > LIMIT_CFI_BYTES)
		return NULL;
	vec_push(&f.segments, (struct elf_segment){.address = code->address,
	                                           .size = code->size,
	                                           .memory_size = code->size,
	                                           .executable = true});
	c = compile_new(&f);
	c->machine = c->pool.machine = cfi_machine(machine);
	c->section = (struct cfi_section){.bytes = (uint8_t *)(uintptr_t)code->frame,
	                                  .size = code->frame_size,
	                                  .address = code->frame_address,
	                                  .eh = true};
	c->work = WORK_A_BYTE * c->section.size;
	compile_section(c);
	join_rows(c, &all);
	if (all.rules.count) {
		image = cfi_image_new(&c->pool, &all, machine, &f.build_id);
		t = cfi_image_table(image, image->size, machine, &f.build_id);
		if (t)
			t->memory = image;
		else
			free(image);
	}
	vec_done(&all.offsets);
	vec_done(&all.rules);
	vec_done(&f.segments);
	compile_done(c);
	return t;
}
