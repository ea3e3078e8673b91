/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols: a sorted table of functions. */
#include "symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct guest_symbol {
	uint64_t start, end; /* end 0: the next symbol's start */
	const char *name;
	uint32_t tag;
	bool is_function; /* false: it only marks the end of the symbol before */
	bool is_global;
	bool is_entry, is_shared; /* is_shared: other functions have the same name */
};

static struct {
	struct guest_symbol *items; /* sorted by address; [0] is unused */
	uint32_t count, room;
	uint32_t *by_name;
} table;

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "assay_device: symbols=%s: %s\n", path, why);
	return -1;
}

static bool add(const struct guest_symbol *s)
{
	if (table.count == table.room) {
		uint32_t room = table.room ? table.room * 2 : 4096;
		struct guest_symbol *items = realloc(table.items, room * sizeof(*items));

		if (!items)
			return false;
		table.items = items;
		table.room = room;
	}
	if (table.count < SYMBOLS_MAX)
		table.items[table.count++] = *s;
	return true;
}

/* Lines ADDRESS TYPE NAME [MODULE]. */
static int read_text(const char *path, char *text)
{
	uint64_t any = 0;

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		unsigned long long address;
		char type, name[512];

		if (sscanf(line, "%llx %c %511s", &address, &type, name) != 3)
			continue;
		any |= address;
		if (!add(&(struct guest_symbol){.start = address,
		                                .name = strdup(name),
		                                .is_function = strchr("tTwW", type) != NULL,
		                                .is_global = type == 'T'}))
			return fail(path, strerror(ENOMEM));
	}
	if (table.count == 1)
		return fail(path, "neither an ELF file nor lines of ADDRESS TYPE NAME");
	return any ? 0 : fail(path, "all addresses are 0; read /proc/kallsyms as root");
}

#define READ_ELF(bits)                                                                             \
	static int read_elf##bits(const char *path, const char *map, size_t size)                  \
	{                                                                                          \
		const Elf##bits##_Ehdr *e = (const void *)map;                                     \
		const Elf##bits##_Shdr *sections = (const void *)(map + e->e_shoff);               \
                                                                                                   \
		if (size < sizeof(*e) || e->e_shoff > size ||                                      \
		    e->e_shnum > (size - e->e_shoff) / sizeof(*sections))                          \
			return fail(path, "its section headers are not within the file");          \
		for (unsigned i = 0; i < e->e_shnum; i++) {                                        \
			const Elf##bits##_Shdr *s = &sections[i], *names;                          \
			const Elf##bits##_Sym *symbols = (const void *)(map + s->sh_offset);       \
                                                                                                   \
			if (s->sh_type != SHT_SYMTAB || s->sh_link >= e->e_shnum)                  \
				continue;                                                          \
			names = &sections[s->sh_link];                                             \
			if (s->sh_offset > size || s->sh_size > size - s->sh_offset ||             \
			    names->sh_offset > size || names->sh_size > size - names->sh_offset || \
			    !names->sh_size || map[names->sh_offset + names->sh_size - 1])         \
				return fail(path, "its symbol table is not within the file");      \
			for (size_t k = 0; k < s->sh_size / sizeof(*symbols); k++)                 \
				if (ELF##bits##_ST_TYPE(symbols[k].st_info) == STT_FUNC &&         \
				    symbols[k].st_value && symbols[k].st_name < names->sh_size &&  \
				    !add(&(struct guest_symbol){                                   \
				            .start = symbols[k].st_value,                          \
				            .end = symbols[k].st_size ? symbols[k].st_value +      \
				                                                symbols[k].st_size \
				                                      : 0,                         \
				            .name = map + names->sh_offset + symbols[k].st_name,   \
				            .is_function = true,                                   \
				            .is_global =                                           \
				                    ELF##bits##_ST_BIND(symbols[k].st_info) ==     \
				                    STB_GLOBAL}))                                  \
					return fail(path, strerror(ENOMEM));                       \
		}                                                                                  \
		return table.count > 1 ? 0                                                         \
		                       : fail(path, "it has no symbol table; use one that is not " \
		                                    "stripped");                                   \
	}

READ_ELF(32)
READ_ELF(64)

/* The file stays in memory, for the names. */
static int read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *map;

	if (fd < 0 || fstat(fd, &st)) {
		int code = errno;

		if (fd >= 0)
			close(fd);
		return fail(path, strerror(code));
	}
	if (st.st_size == 0) { /* a file of /proc */
		size_t room = 64u << 20, used = 0;
		ssize_t n;

		map = malloc(room + 1);
		while (map && (n = read(fd, map + used, room - used)) > 0)
			used += (size_t)n;
		close(fd);
		if (!map)
			return fail(path, strerror(ENOMEM));
		map[used] = '\0';
		return read_text(path, map);
	}
	/* One zero byte follows the text. */
	map = mmap(NULL, (size_t)st.st_size + 1, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || pread(fd, map, (size_t)st.st_size, 0) != st.st_size) {
		close(fd);
		return fail(path, "cannot be read");
	}
	close(fd);
	if (st.st_size < EI_NIDENT || memcmp(map, ELFMAG, SELFMAG) != 0)
		return read_text(path, map);
	if (map[EI_DATA] != ELFDATA2LSB)
		return fail(path, "it is for big-endian machines");
	return map[EI_CLASS] == ELFCLASS64 ? read_elf64(path, map, (size_t)st.st_size)
	                                   : read_elf32(path, map, (size_t)st.st_size);
}

static int by_address(const void *a, const void *b)
{
	const struct guest_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->is_function != y->is_function)
		return x->is_function - y->is_function;
	if (x->is_global != y->is_global)
		return x->is_global - y->is_global;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	const struct guest_symbol *x = &table.items[*(const uint32_t *)a];
	const struct guest_symbol *y = &table.items[*(const uint32_t *)b];
	int order = strcmp(x->name, y->name);

	return order ? order : x->start < y->start ? -1 : x->start > y->start;
}

/* Of several symbols at an address, the last one has the code, and its tag has all their names. */
static void sort_addresses(void)
{
	qsort(table.items + 1, table.count - 1, sizeof(*table.items), by_address);
	for (uint32_t i = table.count - 1; i; i--) {
		struct guest_symbol *s = &table.items[i];
		uint64_t next = i + 1 < table.count ? s[1].start : s->start + 4096;

		if (!s->end || s->end > next)
			s->end = next;
		s->tag = i + 1 < table.count && s->start == next ? s[1].tag : 2 * i;
		s->is_entry = !fnmatch("asm_*", s->name, 0) || !fnmatch("entry_*", s->name, 0);
	}
}

static uint32_t find_name(const char *name)
{
	uint32_t low = 1, high = table.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(table.items[table.by_name[middle]].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table.count && !strcmp(table.items[table.by_name[low]].name, name)
	               ? table.by_name[low]
	               : 0;
}

/* Labels within functions of the kernel's assembly, which /proc/kallsyms lists as functions. */
static const char *whole_of_label(const char *name)
{
	static const char *const labels[][2] = {
	        {"entry_SYSCALL_64_*", "entry_SYSCALL_64"},
	        {"entry_SYSRETQ_*", "entry_SYSCALL_64"},
	        {"syscall_return_via_sysret", "entry_SYSCALL_64"},
	        {"entry_SYSCALL_compat_*", "entry_SYSCALL_compat"},
	        {"entry_SYSRETL_*", "entry_SYSCALL_compat"},
	        {"entry_SYSENTER_compat_*", "entry_SYSENTER_compat"},
	        {"swapgs_restore_regs_and_return_to_usermode", "common_interrupt_return"},
	        {"restore_regs_and_return_to_kernel", "common_interrupt_return"},
	        {"native_irq_return_*", "common_interrupt_return"},
	        {"native_iret", "common_interrupt_return"},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (!fnmatch(labels[i][0], name, 0))
			return labels[i][1];
	return NULL;
}

/* f.cold is a part of f that the compiler has moved; *whole: f. False: not a part. */
static bool is_part(const char *name, char whole[512])
{
	const char *cold = strstr(name, ".cold"), *label = whole_of_label(name);

	if (label)
		snprintf(whole, 512, "%s", label);
	else if (cold && cold - name < 512)
		snprintf(whole, 512, "%.*s", (int)(cold - name), name);
	return label || (cold && cold - name < 512);
}

static void join_parts(void)
{
	for (uint32_t i = 1; i < table.count; i++) {
		struct guest_symbol *s = &table.items[i];
		char whole[512];
		uint32_t of = is_part(s->name, whole) ? find_name(whole) : 0;

		if (of) {
			s->tag = table.items[of].tag;
			s->is_entry = false;
		}
	}
}

int symbols_open(const char *path)
{
	if (!add(&(struct guest_symbol){.name = ""}) || read_file(path))
		return -1;
	sort_addresses();
	table.by_name = calloc(table.count, sizeof(*table.by_name));
	if (!table.by_name)
		return fail(path, strerror(ENOMEM));
	for (uint32_t i = 1; i < table.count; i++)
		table.by_name[i] = i;
	qsort(table.by_name + 1, table.count - 1, sizeof(*table.by_name), by_name);
	for (uint32_t i = 2; i < table.count; i++) {
		struct guest_symbol *a = &table.items[table.by_name[i - 1]];
		struct guest_symbol *b = &table.items[table.by_name[i]];

		if (!strcmp(a->name, b->name))
			a->is_shared = b->is_shared = true;
	}
	join_parts();
	return 0;
}

uint32_t symbols_find(uint64_t address, bool *starts)
{
	uint32_t low = 1, high = table.count;
	const struct guest_symbol *s;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	s = &table.items[low - 1];
	*starts = false;
	if (low == 1 || !s->is_function || address >= s->end)
		return 0;
	*starts = s->start == address;
	return low - 1;
}

uint32_t symbols_tag(uint32_t symbol)
{
	return table.items[symbol].tag;
}

bool symbols_is_entry(uint32_t symbol)
{
	return table.items[symbol].is_entry;
}

uint32_t symbols_tag_of(const char *name)
{
	return table.items[find_name(name)].tag;
}

static const char *mark_of(const char *name, bool switches)
{
	static const struct {
		const char *pattern, *mark;
	} marks[] = {{"default_idle", "~"}, {"native_safe_halt", "~"},     {"acpi_safe_halt", "~"},
	             {"mwait_idle", "~"},   {"acpi_idle_do_entry", "~"},   {"__switch_to", "!"},
	             {"asm_sysvec_*", "^"}, {"asm_common_interrupt", "^"}, {"asm_spurious_*", "^"},
	             {"asm_exc_nmi", "^"}};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (!fnmatch(marks[i].pattern, name, 0))
			return switches || *marks[i].mark == '~' ? marks[i].mark : "";
	return "";
}

int symbols_write_names(int fd, bool switches)
{
	FILE *f = fdopen(dup(fd), "w");
	int rc;

	if (!f)
		return -1;
	for (uint32_t i = 1; i < table.count; i++) {
		const struct guest_symbol *s = &table.items[i];

		if (!s->is_function || s->tag != 2 * i || strstr(s->name, "*/"))
			continue;
		if (s->is_shared)
			fprintf(f, "%s@%llx/%u%s\n", s->name, (unsigned long long)s->start, s->tag,
			        mark_of(s->name, switches));
		else
			fprintf(f, "%s/%u%s\n", s->name, s->tag, mark_of(s->name, switches));
	}
	rc = ferror(f);
	return fclose(f) || rc ? -1 : 0;
}
