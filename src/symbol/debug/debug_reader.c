/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_reader.h"

#include "base/limit.h"
#include "base/memory/sorted.h"
#include "base/read/regular_file.h"
#include "symbol/debug/debug_bounds.h"
#include "symbol/debug/debug_lines.h"
#include "symbol/debug/debug_unpack.h"

#include <dwarf.h>
#include <errno.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STEPS_BETWEEN_CLOCKS 64
#define STEPS_BETWEEN_LOOKS 4096 /* at the memory */
#define STEPS_OF_UNIT 256

/*
 * Larger files are mapped instead of read, since only small parts of them are used. If a mapped
 * file is truncated, the units in the missing part count as missing.
 */
#define MAP_MIN_BYTES (64ull << 20)

/* libdw keeps what it read: counts as work that ends. */
static bool memory_is_left(const struct debug_reader *r)
{
	return debug_bounds_memory() <= r->memory + LIMIT_DEBUG_MEMORY_BYTES;
}

static uint64_t cpu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void debug_reader_begin(struct debug_reader *r)
{
	r->cpu_start_ns = cpu_now_ns();
}

uint64_t debug_reader_time_ns(const struct debug_reader *r)
{
	return cpu_now_ns() - r->cpu_start_ns;
}

void debug_reader_end(struct debug_reader *r)
{
	r->work->cpu_ns += debug_reader_time_ns(r);
}

bool debug_reader_spend(struct debug_reader *r, uint64_t steps)
{
	struct debug_work *w = r->work;
	uint64_t before = w->steps / STEPS_BETWEEN_CLOCKS, looks = w->steps / STEPS_BETWEEN_LOOKS;

	w->steps += steps;
	if (!w->exhausted && w->steps / STEPS_BETWEEN_CLOCKS != before)
		w->exhausted = w->steps > LIMIT_DEBUG_STEPS ||
		               w->cpu_ns + debug_reader_time_ns(r) > LIMIT_DEBUG_CPU_NS;
	if (!w->exhausted && w->steps / STEPS_BETWEEN_LOOKS != looks)
		w->exhausted = !memory_is_left(r);
	return !w->exhausted;
}

struct memo_key {
	const void *key;
};

static bool memo_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct debug_memo *)ctx)->keys.items[id] ==
	       ((const struct memo_key *)key)->key;
}

uint32_t debug_memo_find(const struct debug_memo *m, const void *key)
{
	struct memo_key k = {key};
	uint32_t id = id_table_find(&m->index, hash_u64((uintptr_t)key), memo_equal, m, &k);

	return id == ID_NONE ? ID_NONE : m->ids.items[id];
}

uint32_t debug_memo_string(struct debug_memo *m, struct intern *strings, const void *key,
                           const char *text)
{
	uint32_t id = key ? debug_memo_find(m, key) : 0;

	if (id != ID_NONE)
		return id;
	id = text ? intern_add(strings, text) : 0;
	id_table_add(&m->index, hash_u64((uintptr_t)key), (uint32_t)m->keys.count);
	vec_push(&m->keys, key);
	vec_push(&m->ids, id);
	return id;
}

static void memo_done(struct debug_memo *m)
{
	id_table_done(&m->index);
	vec_done(&m->keys);
	vec_done(&m->ids);
}

/*
 * Opening the path must not block or have side effects: it is a regular file within the limits, or
 * does not exist. If the namer may not read it, r->denied is set.
 */
static bool safe_to_open(struct debug_reader *r, const char *folder, size_t folder_length,
                         const char *name, bool dwo)
{
	char *path = name[0] == '/' || !folder
	                     ? xstrdup(name)
	                     : xasprintf("%.*s/%s", (int)folder_length, folder, name);
	struct stat st;
	int fd = regular_file_open_recorded(path, 0, &r->namer, &st);
	bool good = fd < 0 || debug_bounds_file(fd, dwo);

	if (fd == -EPERM)
		regular_file_error(&r->denied, fd, path);
	if (fd >= 0)
		close(fd);
	free(path);
	return good && fd != -EINVAL && fd != -ETIMEDOUT && fd != -EREMOTE;
}

/* libdw searches a file of this name beside the debug file, and if not absolute, here. */
static bool is_safe_name(struct debug_reader *r, const char *name, bool dwo)
{
	const char *slash = r->path ? strrchr(r->path, '/') : NULL;

	return safe_to_open(r, NULL, 0, name, dwo) &&
	       (!slash || safe_to_open(r, r->path, (size_t)(slash - r->path), name, dwo));
}

/*
 * libdw opens paths itself, perhaps after another user changed what is there. So the kernel checks
 * the rights of the namer, if this process runs as root; else a denied path is not given to libdw.
 * False: libdw must not open files.
 */
static bool begin_files(struct debug_reader *r, struct file_namer_visit *visit)
{
	file_namer_enter(visit, &r->namer);
	return visit->entered || !r->denied.code;
}

/* `found`: libdw has the file. */
static bool end_files(struct debug_reader *r, struct file_namer_visit *visit, bool found)
{
	file_namer_leave(visit);
	if (!found && r->denied.code)
		r->missing->refused = r->denied;
	return found;
}

/*
 * The file contains the path of the common part that dwz split off, which libdw opens once. False:
 * libdw would open an unsafe file.
 */
static bool open_alt(struct debug_reader *r)
{
	struct file_namer_visit visit;
	const char *name;
	const void *id;
	bool allowed;

	if (dwelf_dwarf_gnu_debugaltlink(r->dwarf, &name, &id) <= 0)
		return true;
	r->denied.code = 0;
	if (!is_safe_name(r, name, false))
		return false;
	allowed = begin_files(r, &visit);
	end_files(r, &visit, allowed && dwarf_getalt(r->dwarf));
	return allowed;
}

/* The same for units that are in a package of units (.dwp) or in a separate file. */
static bool unit_is_safe(struct debug_reader *r, const char *folder, const char *name)
{
	char *package = r->path ? xasprintf("%s.dwp", r->path) : NULL;
	bool safe = is_safe_name(r, name, true) &&
	            (!package || safe_to_open(r, NULL, 0, package, true)) &&
	            (!folder || safe_to_open(r, folder, strlen(folder), name, true));

	free(package);
	return safe;
}

/* Maps the file, if it is large and was not replaced. */
static void map_file(struct debug_reader *r, struct elf_file *f)
{
	dev_t device;
	ino_t inode;
	struct stat st;
	int fd;

	if (elf_file_size(f) < MAP_MIN_BYTES || !elf_file_identity(f, &device, &inode))
		return;
	fd = regular_file_open_recorded(elf_file_path(f), 0, NULL, &st);
	if (fd < 0)
		return;
	if (st.st_dev == device && st.st_ino == inode && (uint64_t)st.st_size == elf_file_size(f) &&
	    !file_map_open(&r->map, fd, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE))
		r->elf = elf_memory(r->map.bytes, r->map.size);
	close(fd);
}

/* Returns the handle of an unpacked copy that libdw can read, if sections are compressed by zstd.
 */
static Elf *unpack_zstd(struct debug_reader *r, struct elf_file *f, Elf *elf)
{
	size_t size;
	void *bytes = debug_unpack_zstd(f, elf, &size);

	if (!bytes)
		return elf;
	elf_end(r->elf);
	file_map_close(&r->map);
	r->bytes = bytes;
	r->size = size;
	r->elf = elf_memory(r->bytes, r->size);
	return r->elf;
}

struct debug_reader *debug_reader_new(struct elf_file *f, struct debug_missing *missing,
                                      struct debug_work *work)
{
	struct debug_reader *r = xcalloc(1, sizeof(*r));
	Elf *elf;

	r->missing = missing;
	r->work = work;
	r->namer = *elf_file_namer(f);
	r->path = elf_file_real_path(f);
	map_file(r, f);
	elf = r->elf ? r->elf : elf_file_handle(f);
	if (elf && debug_bounds_unpacked(elf, elf_file_size(f)))
		r->dwarf = dwarf_begin_elf(unpack_zstd(r, f, elf), DWARF_C_READ, NULL);
	r->memory = debug_bounds_memory();
	if (r->dwarf && debug_bounds_units(r->dwarf, false) && open_alt(r))
		return r;
	missing->units += r->dwarf != NULL;
	debug_reader_free(r);
	return NULL;
}

void debug_reader_free(struct debug_reader *r)
{
	if (!r)
		return;
	dwarf_end(r->dwarf);
	elf_end(r->elf);
	if (r->bytes)
		munmap(r->bytes, r->size);
	file_map_close(&r->map);
	free(r->path);
	memo_done(&r->names);
	vec_done(&r->spans);
	vec_done(&r->bare);
	free(r);
}

/* .debug_aranges is optional, so the ranges in the units are read first. */
static void add_unit(struct debug_reader *r, struct debug_tables *t, Dwarf_Die *die)
{
	uint32_t unit = (uint32_t)t->units.count;
	Dwarf_Addr base, start, end;
	size_t before = r->spans.count;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (!debug_reader_spend(r, 1) || r->spans.count >= LIMIT_DEBUG_SPANS)
			break;
		/* Functions that the linker discarded are at address 0. */
		if (start && start < end)
			vec_push(&r->spans, (struct debug_span){start, end, 0, unit});
	}
	if (r->spans.count > before)
		vec_push(&t->units, (struct debug_unit){.offset = dwarf_dieoffset(die)});
	else
		vec_push(&r->bare, (struct debug_bare_unit){dwarf_dieoffset(die), ID_NONE});
}

/* Finds a unit without ranges by the offset of its entry; NULL: the unit has ranges. */
static struct debug_bare_unit *bare_unit_at(struct debug_reader *r, uint64_t offset)
{
	size_t at = sorted_count(i, r->bare.count, r->bare.items[i].offset < offset);

	return at < r->bare.count && r->bare.items[at].offset == offset ? &r->bare.items[at] : NULL;
}

/* Assemblers and older compilers write the ranges of a unit's code to .debug_aranges only. */
static void add_bare_units(struct debug_reader *r, struct debug_tables *t)
{
	struct debug_bare_unit *unit;
	Dwarf_Addr start, length;
	Dwarf_Aranges *ranges;
	Dwarf_Off offset;
	size_t count;

	if (!r->bare.count)
		return;
	if (debug_section_of(r->dwarf, "aranges", false).size > LIMIT_DEBUG_ARANGES_BYTES) {
		r->missing->units++;
		return;
	}
	if (dwarf_getaranges(r->dwarf, &ranges, &count))
		return;
	for (size_t i = 0; i < count && debug_reader_spend(r, 1); i++) {
		if (r->spans.count >= LIMIT_DEBUG_SPANS ||
		    dwarf_getarangeinfo(dwarf_onearange(ranges, i), &start, &length, &offset))
			break;
		unit = bare_unit_at(r, offset);
		if (!unit || !start || !length || start + length < start)
			continue;
		if (unit->id == ID_NONE) {
			unit->id = (uint32_t)t->units.count;
			vec_push(&t->units, (struct debug_unit){.offset = offset});
		}
		vec_push(&r->spans, (struct debug_span){start, start + length, 0, unit->id});
	}
}

void debug_reader_units(struct debug_reader *r, struct debug_tables *t)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	debug_reader_begin(r);
	r->spans.count = r->bare.count = 0;
	while (!dwarf_get_units(r->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		int tag = dwarf_tag(&die);

		if (!debug_reader_spend(r, STEPS_OF_UNIT))
			break;
		if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
			add_unit(r, t, &die);
	}
	add_bare_units(r, t);
	debug_flatten(&r->spans, &t->map);
	if (file_map_is_cut(&r->map))
		r->missing->units++;
	debug_reader_end(r);
}

static const char *unit_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

bool debug_entry_number(Dwarf_Die *die, unsigned name, uint64_t *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value))
		return false;
	*number = value;
	return true;
}

/* *whole: the entry that contains the functions, in the file or in the .dwo. False: it is missing.
 */
static bool whole_unit(struct debug_reader *r, Dwarf_Die *die, Dwarf_Die *whole)
{
	const char *folder, *name = unit_text(die, DW_AT_dwo_name);
	struct file_namer_visit visit;
	Dwarf_Half version;
	uint8_t type;
	bool found;

	if (!name)
		name = unit_text(die, DW_AT_GNU_dwo_name);
	*whole = *die;
	if (!name)
		return true;
	folder = unit_text(die, DW_AT_comp_dir);
	r->denied.code = 0;
	if (!unit_is_safe(r, folder, name))
		return false;
	found = begin_files(r, &visit) &&
	        !dwarf_cu_info(die->cu, &version, &type, NULL, whole, NULL, NULL, NULL) &&
	        dwarf_tag(whole) == DW_TAG_compile_unit;
	return end_files(r, &visit, found);
}

void debug_reader_build(struct debug_reader *r, struct debug_tables *t, uint32_t unit)
{
	struct debug_unit *u = &t->units.items[unit];
	struct debug_lines *own, *other = NULL;
	Dwarf_Die die, whole;
	bool good;

	if (r->work->exhausted || !dwarf_offdie(r->dwarf, u->offset, &die)) {
		r->missing->units++;
		return;
	}
	debug_reader_begin(r);
	own = debug_lines_open(r, t, &die);
	u->first_row = (uint32_t)t->rows.count;
	good = !own || debug_lines_rows(own);
	u->rows = (uint32_t)(t->rows.count - u->first_row);
	if (whole_unit(r, &die, &whole)) {
		/* Rows are in the file itself; a .dwo may have a table of its files. */
		if (whole.cu != die.cu)
			other = debug_lines_open(r, t, &whole);
		debug_walk_inlines(r, t, &whole, u, other ? other : own);
	} else {
		good = false;
	}
	r->missing->units += !good;
	debug_lines_close(own);
	debug_lines_close(other);
	if (r->work->exhausted || file_map_is_cut(&r->map))
		r->missing->units++;
	debug_reader_end(r);
}
