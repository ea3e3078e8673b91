/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the running kernel in the cache. The kernel takes tens of milliseconds to print
 * /proc/kallsyms, longer than the rest of a report of a short recording.
 *
 * A cached table is valid while the boot, the address of the kernel and the loaded modules are the
 * same. A function is cached if the next function of the kernel or of the same module ends it: code
 * that is loaded later cannot be inside it.
 *
 * The file has the layout of a symbol table, and is mapped: a copy would need 2,000 pages of
 * memory, which take longer than everything else of a short report.
 */
#include "image/kernel.h"

#include "base/memory/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_BYTES (UINT64_C(32) << 20) /* a distribution's kernel takes 7 MB */
#define KEPT_BYTES_MAX (UINT64_C(16) << 20)

struct kept_header {
	char magic[16];
	uint64_t checksum; /* of all bytes after it */
	uint64_t modules;  /* hash of the list of loaded modules */
	uint64_t text, stext;
	uint64_t count, name_bytes;
};

/* A struct symbol_entry that is neither sized nor of another binding than BINDING_LOCAL. */
struct kept_entry {
	uint64_t start, end;
	uint64_t name;  /* offset into the names */
	uint64_t order; /* its index */
};

_Static_assert(sizeof(struct kept_entry) == sizeof(struct symbol_entry) &&
                       offsetof(struct kept_entry, end) == offsetof(struct symbol_entry, end) &&
                       offsetof(struct kept_entry, name) == offsetof(struct symbol_entry, name) &&
                       offsetof(struct kept_entry, order) == offsetof(struct symbol_entry, order),
               "entries of the file are those of the table");

static const char kept_magic[16] = "assay-kernel-2";

static const struct kernel_places usual_places = {
        .kallsyms = "/proc/kallsyms",
        .modules = "/proc/modules",
        .module_notes = "/sys/module/%s/notes/.note.gnu.build-id",
};

/* The loaded modules. */
struct modules {
	uint64_t hash;       /* of names, sizes, addresses, states and build-ids */
	VEC(uint64_t) names; /* hashes of "[NAME]" */
};

static bool take_module(struct modules *m, const char *line, const struct kernel_places *places)
{
	char name[128], state[32], text[256];
	struct build_id id = {0};
	uint64_t size, address;
	int length;

	/* "ext4 811008 1 - Live 0xffffffffc0400000" */
	if (sscanf(line, "%127s %" SCNu64 " %*s %*s %31s %" SCNx64, name, &size, state, &address) !=
	            4 ||
	    !address)
		return false;
	length = snprintf(text, sizeof(text), "[%s]", name);
	vec_push(&m->names, hash_bytes(text, (size_t)length));
	length = snprintf(text, sizeof(text), "%s %" PRIu64 " %s %" PRIx64, name, size, state,
	                  address);
	m->hash = hash_pair(m->hash, hash_bytes(text, (size_t)length));
	snprintf(text, sizeof(text), places->module_notes, name);
	build_id_from_notes_file(text, &id);
	m->hash = hash_pair(m->hash, hash_bytes(id.bytes, id.size));
	return true;
}

/* False if the list of loaded modules cannot be read. A kernel without modules has no such file. */
static bool read_modules(struct modules *m, const struct kernel_places *places)
{
	FILE *f = fopen(places->modules, "re");
	bool good = f || errno == ENOENT;
	char line[4096];

	*m = (struct modules){.hash = 1};
	while (f && good && fgets(line, sizeof(line), f))
		good = take_module(m, line, places);
	if (f)
		fclose(f);
	return good;
}

bool kernel_modules_hash(const struct kernel_places *places, uint64_t *hash)
{
	struct modules modules;
	bool good = read_modules(&modules, places ? places : &usual_places);

	*hash = modules.hash;
	vec_done(&modules.names);
	return good;
}

const struct kernel_places *kernel_places_of(const struct kernel_places *places,
                                             char boot[BOOT_ID_SIZE])
{
	places = places ? places : &usual_places;
	this_boot_id(boot);
	if (places->boot_id)
		snprintf(boot, BOOT_ID_SIZE, "%s", places->boot_id);
	return places;
}

static bool is_loaded(const struct modules *m, uint64_t module)
{
	vec_each (name, &m->names)
		if (*name == module)
			return true;
	return !module;
}

static bool is_kept(const struct kallsyms *k, const struct modules *m, size_t i)
{
	const struct symbol_entry *e = &k->table.entries.items[i];
	uint64_t module;

	if (i + 1 == k->table.entries.count || e->end != e[1].start)
		return false;
	module = kallsyms_part_of(k, e->order)->module;
	return module == kallsyms_part_of(k, e[1].order)->module && is_loaded(m, module);
}

/* Of all bytes after the field. */
static uint64_t checksum(const void *file, size_t size)
{
	size_t begin = offsetof(struct kept_header, modules);

	return hash_bytes((const char *)file + begin, size - begin);
}

static void keep(const struct kallsyms *k, const struct modules *m, struct cache_dir *cache,
                 const char *boot)
{
	struct kept_header h = {.modules = m->hash, .text = k->text, .stext = k->stext};
	struct buf entries = {0}, names = {0}, file = {0};

	memcpy(h.magic, kept_magic, sizeof(h.magic));
	for (size_t i = 0; i < k->table.entries.count; i++) {
		const struct symbol_entry *e = &k->table.entries.items[i];
		const char *name = symbol_table_name(&k->table, i);
		struct kept_entry kept = {e->start, e->end, names.size, h.count};

		if (!is_kept(k, m, i))
			continue;
		buf_add(&entries, &kept, sizeof(kept));
		buf_add(&names, name, strlen(name) + 1);
		h.count++;
	}
	h.name_bytes = names.size;
	buf_add(&file, &h, sizeof(h));
	buf_add(&file, entries.data, entries.size);
	buf_add(&file, names.data, names.size);
	h.checksum = checksum(file.data, file.size);
	memcpy(file.data, &h, sizeof(h));
	/* A failure to store the table in the cache is not an error. */
	if (h.count && file.size <= KEPT_BYTES_MAX &&
	    !cache_dir_keep(cache, KALLSYMS_CACHE_KIND, boot, file.data, file.size, NULL))
		cache_dir_trim(cache, KALLSYMS_CACHE_KIND, CACHE_BYTES);
	buf_done(&entries);
	buf_done(&names);
	buf_done(&file);
}

/* Checks that a mapped file is complete and undamaged, and that its entries do not overlap. */
static bool is_sound(const char *file, size_t size, uint64_t modules)
{
	const struct kept_header *h = (const void *)file;
	const struct kept_entry *entries = (const void *)(file + sizeof(*h));
	uint64_t end = 0;

	if (memcmp(h->magic, kept_magic, sizeof(h->magic)) != 0 || h->modules != modules ||
	    !h->count || !h->name_bytes || h->count > size / sizeof(*entries) ||
	    h->name_bytes > size ||
	    sizeof(*h) + h->count * sizeof(*entries) + h->name_bytes != size ||
	    file[size - 1] != '\0' || h->checksum != checksum(file, size))
		return false;
	for (uint64_t i = 0; i < h->count; i++) {
		const struct kept_entry *e = &entries[i];

		if (e->start < end || e->end < e->start || e->name >= h->name_bytes ||
		    e->order != i || e->order > UINT32_MAX)
			return false;
		end = e->end;
	}
	return true;
}

static bool find_kept(struct kallsyms *k, const struct modules *m, struct cache_dir *cache,
                      const char *boot)
{
	size_t size;
	char *file = cache_dir_map(cache, KALLSYMS_CACHE_KIND, boot, sizeof(struct kept_header),
	                           KEPT_BYTES_MAX, &size);
	struct symbol_table *t = &k->table;
	struct kept_header h;

	*k = (struct kallsyms){0};
	if (!file)
		return false;
	if (!is_sound(file, size, m->hash)) {
		munmap(file, size);
		return false;
	}
	memcpy(&h, file, sizeof(h));
	t->mapped = file;
	t->mapped_bytes = size;
	t->entries.items = (void *)(file + sizeof(h));
	t->entries.count = t->entries.room = h.count;
	t->names.data = file + size - h.name_bytes;
	t->names.size = t->names.room = h.name_bytes;
	k->text = h.text;
	k->stext = h.stext;
	k->partial = true;
	return true;
}

/* Checks that the kernel has the same address in kallsyms now; reads only its beginning. */
static bool stands_there(const struct kallsyms *k, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[1024], name[512];
	uint64_t address = 0;
	bool found = false;

	for (int i = 0; f && !found && i < 1000 && fgets(line, sizeof(line), f); i++)
		found = sscanf(line, "%" SCNx64 " %*c %511s", &address, name) == 2 &&
		        (!strcmp(name, "_text") || (!k->text && !strcmp(name, "_stext")));
	if (f)
		fclose(f);
	return found && address && address == (k->text ? k->text : k->stext);
}

int kallsyms_running(struct kallsyms *k, struct cache_dir *cache,
                     const struct kernel_places *places, struct error *err)
{
	struct modules modules = {0};
	char boot[BOOT_ID_SIZE];
	bool known;
	int r;

	places = kernel_places_of(places, boot);
	known = cache && *boot && read_modules(&modules, places);
	r = 0;
	if (!known || !find_kept(k, &modules, cache, boot) || !stands_there(k, places->kallsyms)) {
		if (known)
			kallsyms_done(k);
		r = kallsyms_read(k, places->kallsyms, err);
		if (!r && known)
			keep(k, &modules, cache, boot);
	}
	vec_done(&modules.names);
	return r;
}

bool kallsyms_complete(struct kallsyms *k)
{
	struct kallsyms whole;

	if (!k->partial)
		return false;
	k->partial = false;
	if (kallsyms_read(&whole, NULL, NULL))
		return false;
	kallsyms_done(k);
	*k = whole;
	return true;
}
