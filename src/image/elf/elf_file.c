/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/elf_internal.h"

#include "base/limit.h"
#include "base/read/regular_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linkers never make more segments; the limit keeps lookups in hostile files short. */
#define SEGMENTS_MAX 1024

/* Notes and debug links are small; larger sections are not read. */
#define NOTE_MAX_BYTES 65536
#define NOTES_MAX 64

static const unsigned char native_order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

static bool take_bytes(struct elf_file *f, uint64_t *taken, uint64_t size, uint64_t most)
{
	if (size > most - *taken) {
		f->cut = true;
		return false;
	}
	*taken += size;
	return true;
}

/* Returns libelf's data for [offset, offset + size), NULL if the range is not within the file. */
static Elf_Data *raw_data(struct elf_file *f, uint64_t offset, uint64_t size)
{
	if (offset > f->size || size > f->size - offset || !size ||
	    !take_bytes(f, &f->bytes_read, size, LIMIT_ELF_BYTES))
		return NULL;
	return elf_getdata_rawchunk(f->elf, (int64_t)offset, size, ELF_T_BYTE);
}

size_t elf_section_count(struct elf_file *f)
{
	size_t count;

	if (elf_getshdrnum(f->elf, &count))
		return 0;
	/* A section header has at least 40 bytes. */
	return count <= f->size / 40 ? count : 0;
}

size_t elf_segment_count(struct elf_file *f)
{
	size_t count;

	/* libelf reads all program headers to return the first; each has at least 32 bytes. */
	if (elf_getphdrnum(f->elf, &count) || count > UINT16_MAX)
		return 0;
	return count <= f->size / 32 ? count : 0;
}

bool elf_section_at(struct elf_file *f, size_t index, GElf_Shdr *header, const char **name)
{
	Elf_Scn *section = elf_getscn(f->elf, index);
	size_t strings;

	if (!section || !gelf_getshdr(section, header))
		return false;
	if (header->sh_type != SHT_NOBITS &&
	    (header->sh_offset > f->size || header->sh_size > f->size - header->sh_offset))
		return false;
	if (name) {
		*name = !f->names_fit || elf_getshdrstrndx(f->elf, &strings)
		                ? NULL
		                : elf_strptr(f->elf, strings, header->sh_name);
		if (!*name)
			*name = "";
	}
	return true;
}

const uint8_t *elf_section_bytes(struct elf_file *f, size_t index, size_t *size)
{
	GElf_Shdr header;
	Elf_Data *data;

	*size = 0;
	if (!elf_section_at(f, index, &header, NULL) || header.sh_type == SHT_NOBITS ||
	    (header.sh_flags & SHF_COMPRESSED))
		return NULL;
	data = raw_data(f, header.sh_offset, header.sh_size);
	if (!data || !data->d_buf)
		return NULL;
	*size = data->d_size;
	return data->d_buf;
}

Elf_Data *elf_section_data(struct elf_file *f, size_t index)
{
	GElf_Shdr header;

	if (!elf_section_at(f, index, &header, NULL) || header.sh_type == SHT_NOBITS)
		return NULL;
	vec_each (loaded, &f->loaded)
		if (*loaded == index)
			return elf_getdata(elf_getscn(f->elf, index), NULL);
	if (!take_bytes(f, &f->symbol_bytes_read, header.sh_size, LIMIT_ELF_SYMBOL_BYTES))
		return NULL;
	vec_push(&f->loaded, index);
	return elf_getdata(elf_getscn(f->elf, index), NULL);
}

static void read_segments(struct elf_file *f)
{
	size_t count = elf_segment_count(f), notes = 0;
	GElf_Phdr p;
	Elf_Data *data;

	for (size_t i = 0; i < count && f->segments.count < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &p))
			return;
		if (p.p_offset > f->size || p.p_filesz > f->size - p.p_offset ||
		    p.p_vaddr > UINT64_MAX - p.p_filesz)
			continue;
		if (p.p_type == PT_LOAD && p.p_filesz)
			vec_push(&f->segments,
			         (struct elf_segment){p.p_vaddr, p.p_offset, p.p_filesz, p.p_memsz,
			                              p.p_flags & PF_X, p.p_flags & PF_W});
		if (p.p_type != PT_NOTE || f->build_id.size || p.p_filesz > NOTE_MAX_BYTES ||
		    notes++ > NOTES_MAX)
			continue;
		data = raw_data(f, p.p_offset, p.p_filesz);
		if (data && data->d_buf)
			build_id_from_notes(data->d_buf, data->d_size, &f->build_id);
	}
}

/*
 * An object of 'perf inject --jit' of perf before 6.1 has sections and no program headers: its
 * process mapped the sections at their offsets.
 */
static void segments_of_sections(struct elf_file *f)
{
	size_t count = elf_section_count(f);
	GElf_Shdr s;

	for (size_t i = 1; i < count && f->segments.count < SEGMENTS_MAX; i++) {
		if (!elf_section_at(f, i, &s, NULL) || !(s.sh_flags & SHF_ALLOC) ||
		    s.sh_type == SHT_NOBITS || !s.sh_size || s.sh_addr > UINT64_MAX - s.sh_size)
			continue;
		vec_push(&f->segments,
		         (struct elf_segment){s.sh_addr, s.sh_offset, s.sh_size, s.sh_size,
		                              s.sh_flags & SHF_EXECINSTR, s.sh_flags & SHF_WRITE});
	}
}

static void read_debuglink(struct elf_file *f, size_t index)
{
	size_t size, length;
	const uint8_t *bytes = elf_section_bytes(f, index, &size);

	if (!bytes)
		return;
	length = strnlen((const char *)bytes, size);
	if (!length || length >= size || ((length + 4) & ~(size_t)3) + 4 > size ||
	    memchr(bytes, '/', length))
		return;
	f->debuglink = xstrndup((const char *)bytes, length);
	memcpy(&f->debuglink_crc, bytes + ((length + 4) & ~(size_t)3), 4);
}

static void read_sections(struct elf_file *f)
{
	size_t count = elf_section_count(f), size, notes = 0;
	const uint8_t *bytes;
	const char *name;
	GElf_Shdr header;

	for (size_t i = 1; i < count; i++) {
		if (!elf_section_at(f, i, &header, &name))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			f->has_symtab = true;
		if (header.sh_size > NOTE_MAX_BYTES || notes > NOTES_MAX)
			continue;
		if (header.sh_type == SHT_NOTE && !f->build_id.size && ++notes &&
		    (bytes = elf_section_bytes(f, i, &size)))
			build_id_from_notes(bytes, size, &f->build_id);
		if (!f->debuglink && !strcmp(name, ".gnu_debuglink") && ++notes)
			read_debuglink(f, i);
	}
}

static bool do_names_fit(struct elf_file *f)
{
	GElf_Shdr header;
	size_t strings;

	return !elf_getshdrstrndx(f->elf, &strings) && elf_section_at(f, strings, &header, NULL) &&
	       header.sh_size <= LIMIT_ELF_SECTION_NAMES_BYTES;
}

/*
 * The number of sections if it is stored in the first section header instead of the file header;
 * else 0.
 */
static uint64_t count_in_first_section(int fd, bool is_32)
{
	Elf64_Ehdr h = {0};
	Elf32_Ehdr h32 = {0};
	Elf64_Shdr s = {0};
	Elf32_Shdr s32 = {0};

	if (is_32) {
		if (pread(fd, &h32, sizeof(h32), 0) == sizeof(h32) && !h32.e_shnum && h32.e_shoff &&
		    pread(fd, &s32, sizeof(s32), (off_t)h32.e_shoff) == sizeof(s32))
			return s32.sh_size;
		return 0;
	}
	if (pread(fd, &h, sizeof(h), 0) == sizeof(h) && !h.e_shnum && h.e_shoff &&
	    pread(fd, &s, sizeof(s), (off_t)h.e_shoff) == sizeof(s))
		return s.sh_size;
	return 0;
}

/*
 * Opens libelf's handle. It is not opened for files of the other byte order, which are refused
 * later, nor for files with too many sections, because libelf allocates memory for each.
 */
static void begin_elf(struct elf_file *f)
{
	unsigned char ident[EI_NIDENT] = {0};

	f->bytes_read = f->symbol_bytes_read = 0;
	f->loaded.count = 0;
	if (pread(f->fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	    !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_DATA] == native_order &&
	    count_in_first_section(f->fd, ident[EI_CLASS] == ELFCLASS32) > LIMIT_ELF_SECTIONS)
		f->cut = true;
	else
		f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
}

static int read_file(struct elf_file *f, struct error *err)
{
	if (f->cut)
		return error_set(err, EFBIG, "%s: has more than %d sections", f->path,
		                 LIMIT_ELF_SECTIONS);
	if (!f->elf)
		return error_set(err, ENOEXEC, "%s: cannot be read as ELF: %s", f->path,
		                 elf_errmsg(-1));
	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header))
		return error_set(err, ENOEXEC, "%s: is not an ELF file", f->path);
	if (f->header.e_ident[EI_DATA] != native_order)
		return error_set(err, ENOEXEC,
		                 "%s: is made for a machine of the other byte order, which is not "
		                 "supported",
		                 f->path);
	f->names_fit = do_names_fit(f);
	read_segments(f);
	if (!elf_segment_count(f) && f->header.e_type == ET_DYN)
		segments_of_sections(f);
	read_sections(f);
	return 0;
}

static int open_regular(struct elf_file *f, struct error *err)
{
	struct stat st;
	int fd = regular_file_open_recorded(f->path, 0, &f->named_by, &st);

	if (fd < 0)
		return regular_file_error(err, fd, f->path);
	f->fd = fd;
	f->size = (uint64_t)st.st_size;
	f->device = st.st_dev;
	f->inode = st.st_ino;
	f->changed_ns = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	return 0;
}

static struct elf_file *file_new(const char *path)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));

	elf_version(EV_CURRENT);
	f->namer = file_namer_unknown;
	f->path = xstrdup(path);
	f->fd = -1;
	return f;
}

int elf_file_open_named(struct elf_file **out, const char *path, const struct file_namer *namer,
                        struct error *err)
{
	struct elf_file *f = file_new(path);
	int r;

	*out = NULL;
	f->named_by = *namer;
	r = open_regular(f, err);
	/*
	 * The file is read and not mapped: if another process truncated a mapped file, this program
	 * would end with SIGBUS.
	 */
	if (!r) {
		f->namer = file_namer_both(f->named_by, file_namer_of(f->fd));
		begin_elf(f);
		r = read_file(f, err);
	}
	if (r) {
		elf_file_close(f);
		return r;
	}
	*out = f;
	return 0;
}

int elf_file_open(struct elf_file **out, const char *path, struct error *err)
{
	return elf_file_open_named(out, path, &(struct file_namer){0}, err);
}

int elf_file_open_memory(struct elf_file **out, const void *bytes, size_t size, const char *name,
                         struct error *err)
{
	struct elf_file *f = file_new(name);
	int r;

	*out = NULL;
	f->memory = bytes;
	f->size = size;
	f->elf = size ? elf_memory((char *)(uintptr_t)bytes, size) : NULL;
	r = read_file(f, err);
	if (r) {
		elf_file_close(f);
		return r;
	}
	*out = f;
	return 0;
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	vec_done(&f->segments);
	vec_done(&f->loaded);
	free(f->debuglink);
	free(f->path);
	free(f->place);
	free(f);
}

void elf_file_rest(struct elf_file *f)
{
	if (f->memory)
		return;
	elf_end(f->elf);
	f->elf = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

bool elf_file_wake(struct elf_file *f)
{
	dev_t device = f->device;
	ino_t inode = f->inode;
	uint64_t size = f->size;

	if (f->elf)
		return true;
	if (f->memory)
		return false;
	if (open_regular(f, NULL)) {
		elf_file_rest(f);
		return false;
	}
	if (f->device == device && f->inode == inode && f->size == size)
		begin_elf(f);
	if (f->elf)
		return true;
	f->device = device;
	f->inode = inode;
	f->size = size;
	elf_file_rest(f);
	return false;
}

const char *elf_file_path(const struct elf_file *f)
{
	return f->path;
}

const char *elf_file_place(const struct elf_file *f)
{
	return f->place ? f->place : f->path;
}

void elf_file_set_place(struct elf_file *f, const char *path)
{
	free(f->place);
	f->place = xstrdup(path);
}

const struct file_namer *elf_file_namer(const struct elf_file *f)
{
	return &f->namer;
}

void elf_file_named_too(struct elf_file *f, struct file_namer namer)
{
	f->namer = file_namer_both(f->namer, namer);
}

const struct build_id *elf_file_build_id(const struct elf_file *f)
{
	return &f->build_id;
}

enum elf_machine elf_file_machine(const struct elf_file *f)
{
	switch (f->header.e_machine) {
	case EM_X86_64:
		return ELF_MACHINE_X86_64;
	case EM_386:
		return ELF_MACHINE_X86_32;
	case EM_AARCH64:
		return ELF_MACHINE_ARM64;
	default:
		return ELF_MACHINE_OTHER;
	}
}

uint64_t elf_file_size(const struct elf_file *f)
{
	return f->size;
}

bool elf_file_has_symtab(const struct elf_file *f)
{
	return f->has_symtab;
}

bool elf_file_is_cut(const struct elf_file *f)
{
	return f->cut;
}

uint64_t elf_file_symbols_left_out(const struct elf_file *f)
{
	return f->left_out;
}

bool elf_file_is_relocatable(const struct elf_file *f)
{
	return f->header.e_type == ET_REL;
}

char *elf_file_real_path(const struct elf_file *f)
{
	char link[32], path[PATH_MAX];
	ssize_t size = -1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	if (f->fd >= 0)
		size = readlink(link, path, sizeof(path));
	return size < 0 ? NULL : xstrndup(path, (size_t)size);
}

bool elf_file_identity(const struct elf_file *f, dev_t *device, ino_t *inode)
{
	if (f->memory)
		return false;
	*device = f->device;
	*inode = f->inode;
	return true;
}

uint64_t elf_file_changed_ns(const struct elf_file *f)
{
	return f->changed_ns;
}

struct Elf *elf_file_handle(struct elf_file *f)
{
	return elf_file_wake(f) ? f->elf : NULL;
}

bool elf_file_debuglink(struct elf_file *f, const char **name, uint32_t *crc)
{
	*name = f->debuglink;
	*crc = f->debuglink_crc;
	return f->debuglink != NULL;
}

/*
 * Executable segments first: if segments share a page, the recorded mapping was the executable one.
 */
bool elf_file_address_of(const struct elf_file *f, uint64_t offset, uint64_t *address)
{
	for (int executable = 1; executable >= 0; executable--) {
		vec_each (s, &f->segments) {
			if (s->executable != executable || offset < s->offset ||
			    offset - s->offset >= s->size)
				continue;
			*address = s->address + (offset - s->offset);
			return true;
		}
	}
	return false;
}

static const struct elf_segment *segment_of(const struct elf_file *f, uint64_t address)
{
	for (int executable = 1; executable >= 0; executable--)
		vec_each (s, &f->segments)
			if (s->executable == executable && address >= s->address &&
			    address - s->address < s->size)
				return s;
	return NULL;
}

bool elf_file_offset_of(const struct elf_file *f, uint64_t address, uint64_t *offset)
{
	const struct elf_segment *s = segment_of(f, address);

	if (s)
		*offset = s->offset + (address - s->address);
	return s != NULL;
}

bool elf_file_is_data(const struct elf_file *f, uint64_t address)
{
	vec_each (s, &f->segments)
		if (s->writable && address >= s->address && address - s->address < s->memory_size)
			return true;
	return false;
}

size_t elf_file_read_at(struct elf_file *f, uint64_t offset, void *into, size_t size)
{
	ssize_t got;

	if (offset >= f->size || !elf_file_wake(f))
		return 0;
	if (size > f->size - offset)
		size = f->size - offset;
	if (f->memory) {
		memcpy(into, f->memory + offset, size);
		return size;
	}
	got = pread(f->fd, into, size, (off_t)offset);
	return got > 0 ? (size_t)got : 0;
}

size_t elf_file_read(struct elf_file *f, uint64_t address, void *into, size_t size)
{
	const struct elf_segment *s = segment_of(f, address);
	uint64_t into_segment;

	if (!s)
		return 0;
	into_segment = address - s->address;
	if (size > s->size - into_segment)
		size = s->size - into_segment;
	return elf_file_read_at(f, s->offset + into_segment, into, size);
}
