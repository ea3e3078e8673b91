/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/kernel.h"

#include "base/limit.h"
#include "base/memory/hash.h"
#include "base/read/regular_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * The maximum size of a symbol with no next symbol: the last symbol of the kernel or of a module.
 * Modules have functions larger than a page (rmd160_transform: 5128 bytes), but only the last
 * function of each module is affected.
 */
#define LAST_BYTES 65536

const char *const kernel_end_names[KERNEL_ENDS] = {"_etext", "_einittext", "_edata"};

struct kallsyms_line {
	uint64_t address;
	char type;
	const char *name, *module; /* module NULL: the kernel itself */
};

/* Parses "address type name[\\tmodule]"; the line is cut into its parts in place. */
static bool parse_line(char *line, struct kallsyms_line *l)
{
	char *end, *module;

	l->address = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || end[2] != ' ')
		return false;
	l->type = end[1];
	l->name = end + 3;
	module = strpbrk(end + 3, " \t");
	l->module = NULL;
	if (module) {
		*module++ = '\0';
		module += strspn(module, " \t");
		if (*module == '[')
			l->module = module;
	}
	return *l->name != '\0';
}

static bool is_text(const struct kallsyms_line *l)
{
	return strchr("tTwW", l->type) && l->name[0] != '$' && strncmp(l->name, ".L", 2) != 0;
}

static enum symbol_binding binding_of(char type)
{
	if (type == 'w' || type == 'W')
		return BINDING_WEAK;
	return type == 'T' ? BINDING_GLOBAL : BINDING_LOCAL;
}

struct kallsyms_count {
	uint64_t lines, nonzero;
};

static void note_part(struct kallsyms *k, const char *module)
{
	uint64_t hash = module ? hash_bytes(module, strlen(module)) : 0;

	if (k->parts.count && vec_last(&k->parts)->module == hash)
		return;
	vec_push(&k->parts, (struct kallsyms_part){.order = (uint32_t)k->table.entries.count,
	                                           .module = hash,
	                                           .name = k->table.names.size});
	if (module)
		buf_add(&k->table.names, module, strlen(module) + 1);
}

const struct kallsyms_part *kallsyms_part_of(const struct kallsyms *k, uint32_t order)
{
	size_t low = 0, high = k->parts.count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (k->parts.items[middle].order <= order)
			low = middle;
		else
			high = middle;
	}
	return &k->parts.items[low];
}

static void note_label(struct kallsyms *k, const struct kallsyms_line *l)
{
	if (!strcmp(l->name, "_text"))
		k->text = l->address;
	if (!strcmp(l->name, "_stext"))
		k->stext = l->address;
	for (size_t i = 0; i < KERNEL_ENDS; i++)
		if (!strcmp(l->name, kernel_end_names[i]))
			k->ends[i] = l->address;
}

static void take_line(struct kallsyms *k, char *text, struct kallsyms_count *count)
{
	struct kallsyms_line l;

	if (!parse_line(text, &l))
		return;
	count->lines++;
	count->nonzero += l.address != 0;
	if (*l.name == '_' && !l.module)
		note_label(k, &l);
	if (!l.address || !is_text(&l))
		return;
	note_part(k, l.module);
	symbol_table_add(&k->table, l.address, 0,
	                 l.address > UINT64_MAX - LAST_BYTES ? UINT64_MAX : l.address + LAST_BYTES,
	                 binding_of(l.type), l.name);
	/* Functions have smaller distances, except after the last function of a module. */
	if (!l.module)
		vec_last(&k->table.entries)->end = UINT64_MAX;
}

static int read_lines(struct kallsyms *k, FILE *in, struct kallsyms_count *count)
{
	char *line = NULL;
	size_t room = 0, bytes = 0;
	ssize_t got;

	while ((got = getline(&line, &room, in)) > 0) {
		bytes += (size_t)got;
		if (bytes > LIMIT_KALLSYMS_BYTES) {
			free(line);
			return -EFBIG;
		}
		if (line[got - 1] == '\n')
			line[got - 1] = '\0';
		take_line(k, line, count);
	}
	free(line);
	return 0;
}

static FILE *open_kallsyms(const char *path)
{
	struct stat st;
	int fd = regular_file_open(path, &st);
	FILE *in;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	in = fdopen(fd, "r");
	if (!in)
		close(fd);
	return in;
}

/* The kernel's last function would extend into the modules, so it gets the maximum size. */
static void end_last(struct symbol_table *t)
{
	vec_each (e, &t->entries) {
		if (e->end - e->start > (16u << 20))
			e->end = e->start + LAST_BYTES;
	}
}

static int check_lines(const char *path, bool copy, const struct kallsyms_count *count,
                       struct error *err)
{
	if (!count->lines)
		return error_set(err, ENOEXEC, "%s: has no symbols (lines \"ADDRESS TYPE NAME\")",
		                 path);
	if (!count->nonzero)
		return error_set(
		        err, EPERM,
		        "%s: kernel addresses are hidden (all are 0, kptr_restrict): %s, or "
		        "set kernel.kptr_restrict=0 with sysctl",
		        path, copy ? "copy /proc/kallsyms as root" : "run as root");
	return 0;
}

int kallsyms_read(struct kallsyms *k, const char *path, struct error *err)
{
	const char *name = path ? path : "/proc/kallsyms";
	struct kallsyms_count count = {0};
	FILE *in = open_kallsyms(name);
	int r;

	*k = (struct kallsyms){0};
	if (!in)
		return error_set(err, errno, "%s: %s: without it kernel functions have no names",
		                 name, strerror(errno));
	r = read_lines(k, in, &count);
	fclose(in);
	if (r)
		error_set(err, EFBIG, "%s: is larger than any kernel's", name);
	else
		r = check_lines(name, path && strcmp(path, "/proc/kallsyms") != 0, &count, err);
	if (r) {
		kallsyms_done(k);
		return r;
	}
	symbol_table_finish(&k->table);
	end_last(&k->table);
	return 0;
}

void kallsyms_done(struct kallsyms *k)
{
	symbol_table_done(&k->table);
	vec_done(&k->parts);
	*k = (struct kallsyms){0};
}

void kernel_running(struct kernel_identity *k)
{
	struct utsname name;

	memset(k, 0, sizeof(*k));
	if (!uname(&name))
		snprintf(k->release, sizeof(k->release), "%s", name.release);
	build_id_from_notes_file("/sys/kernel/notes", &k->build_id);
}

/* Finds the segment of a core file that contains an address. */
static bool core_offset(int fd, uint64_t address, uint64_t *offset, uint64_t *left)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(p))
		return false;
	for (unsigned int i = 0; i < h.e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(h.e_phoff + i * sizeof(p))) != sizeof(p))
			return false;
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_memsz)
			continue;
		*offset = p.p_offset + (address - p.p_vaddr);
		*left = p.p_memsz - (address - p.p_vaddr);
		return true;
	}
	return false;
}

int64_t kcore_read(uint64_t address, void *into, size_t size, struct error *err)
{
	uint64_t offset, left;
	ssize_t got;
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, errno, "/proc/kcore: %s", strerror(errno));
	if (!core_offset(fd, address, &offset, &left)) {
		close(fd);
		return error_set(err, ENOENT, "/proc/kcore: does not hold address %#llx",
		                 (unsigned long long)address);
	}
	if (size > left)
		size = left;
	got = pread(fd, into, size, (off_t)offset);
	if (got < 0)
		error_set(err, errno, "/proc/kcore: %s", strerror(errno));
	close(fd);
	return got < 0 ? -(int64_t)(err ? err->code : EIO) : got;
}
