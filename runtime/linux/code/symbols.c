/* SPDX-License-Identifier: MIT */
/*
 * symbols: see symbols.h. Structures are copied out of the file, since they may be unaligned there.
 */
#include "linux/code/symbols.h"

#include "linux/code/maps.h"
#include "linux/uncancelled.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 4096 /* longer names are truncated */

/* True if the file has not changed since it was mapped, as far as this can be checked. */
static bool is_same(const struct symbols_file *f, const struct stat *st,
                    const struct assay_calls_image *image)
{
	uint8_t id[32];
	uint32_t size = maps_note(f->bytes, f->size, id);

	/*
	 * An overlay filesystem shows different inodes in maps and in stat(), so build-ids come
	 * first.
	 */
	if (size && image->build_id_size)
		return size == image->build_id_size && !memcmp(id, image->build_id, size);
	return st->st_ino == image->inode;
}

bool symbols_open(struct symbols_file *f, const struct assay_calls_image *image)
{
	struct stat st;
	int fd;

	f->bytes = NULL;
	f->size = 0;
	if (image->path[0] != '/')
		return false; /* [vdso], or a path that was cut */
	fd = uncancelled_open(AT_FDCWD, image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	                      0);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (bytes != MAP_FAILED) {
			f->bytes = bytes;
			f->size = (size_t)st.st_size;
		}
	}
	uncancelled_close(fd);
	if (f->bytes && !is_same(f, &st, image))
		symbols_close(f);
	return f->bytes;
}

void symbols_close(struct symbols_file *f)
{
	if (f->bytes)
		munmap((void *)(uintptr_t)f->bytes, f->size);
	f->bytes = NULL;
	f->size = 0;
}

/* Copies item `i` of a table at `at`. False: it lies outside the file. */
static bool take(const struct symbols_file *f, uint64_t at, uint64_t i, void *item, size_t bytes)
{
	if (at > f->size || i >= (f->size - at) / bytes)
		return false;
	memcpy(item, f->bytes + at + i * bytes, bytes);
	return true;
}

static bool take_head(const struct symbols_file *f, Elf64_Ehdr *head)
{
	static const uint16_t one = 1;
	const uint8_t order = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	return take(f, 0, 0, head, sizeof(*head)) && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == order;
}

/* Finds the first section of the type. */
static bool find_section(const struct symbols_file *f, const Elf64_Ehdr *head, uint32_t type,
                         Elf64_Shdr *section)
{
	Elf64_Shdr first;
	uint64_t count = head->e_shnum;

	if (!head->e_shoff || head->e_shentsize != sizeof(*section) ||
	    !take(f, head->e_shoff, 0, &first, sizeof(first)))
		return false;
	if (!count)
		count = first.sh_size; /* the count does not fit into the ELF header */
	for (uint64_t i = 0; i < count && take(f, head->e_shoff, i, section, sizeof(*section)); i++)
		if (section->sh_type == type)
			return true;
	return false;
}

/* Converts an address of the file to an offset in the file. A file has few segments. */
static bool offset_of(const struct symbols_file *f, const Elf64_Ehdr *head, uint64_t address,
                      uint64_t *offset)
{
	Elf64_Phdr segment;

	if (head->e_phentsize != sizeof(segment))
		return false;
	for (uint64_t i = 0; i < head->e_phnum; i++) {
		if (!take(f, head->e_phoff, i, &segment, sizeof(segment)))
			return false;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = address - segment.p_vaddr + segment.p_offset;
		return true;
	}
	return false;
}

/* The string table of a symbol table. Size 0: there is none. */
static struct symbols_file texts_of(const struct symbols_file *f, const Elf64_Ehdr *head,
                                    const Elf64_Shdr *table)
{
	struct symbols_file texts = {0};
	Elf64_Shdr section;

	if (!take(f, head->e_shoff, table->sh_link, &section, sizeof(section)) ||
	    section.sh_type != SHT_STRTAB || section.sh_offset > f->size)
		return texts;
	texts.bytes = f->bytes + section.sh_offset;
	texts.size = section.sh_size < f->size - section.sh_offset
	                     ? (size_t)section.sh_size
	                     : (size_t)(f->size - section.sh_offset);
	return texts;
}

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

void symbols_each(const struct symbols_file *f, symbols_fn *each, void *context)
{
	struct symbols_file texts;
	Elf64_Ehdr head;
	Elf64_Shdr table;
	Elf64_Sym symbol;
	uint64_t offset;

	if (!take_head(f, &head) || (!find_section(f, &head, SHT_SYMTAB, &table) &&
	                             !find_section(f, &head, SHT_DYNSYM, &table)))
		return;
	texts = texts_of(f, &head, &table);
	for (uint64_t i = 0; i < table.sh_size / sizeof(symbol) &&
	                     take(f, table.sh_offset, i, &symbol, sizeof(symbol));
	     i++) {
		const char *name;
		size_t room, length;

		if (!is_function(&symbol) || symbol.st_name >= texts.size ||
		    !offset_of(f, &head, symbol.st_value, &offset))
			continue;
		name = (const char *)texts.bytes + symbol.st_name;
		room = texts.size - symbol.st_name;
		length = strnlen(name, room < NAME_BYTES ? room : NAME_BYTES);
		if (length)
			each(context, offset, name, length);
	}
}
