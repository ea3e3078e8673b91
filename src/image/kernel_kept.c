/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the running kernel in the cache. The kernel takes tens of milliseconds to print
 * /proc/kallsyms, longer than the rest of a report of a short recording.
 *
 * A cached table is valid while the boot, the address of the kernel and the loaded modules are the
 * same. A function is cached if the next function of the kernel or of the same module ends it: code
 * that is loaded later cannot be inside it.
 */
#include "image/kernel.h"

#include "base/memory/hash.h"
#include "base/read/regular_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CACHE_BYTES (UINT64_C(32) << 20) /* a distribution's kernel takes 5 MB */
#define KEPT_BYTES_MAX (UINT64_C(16) << 20)

struct kept_header {
	char magic[16];
	uint64_t checksum; /* of all bytes after it */
	uint64_t modules;  /* hash of the list of loaded modules */
	uint64_t text, stext;
	uint64_t count, name_bytes;
};

struct kept_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name; /* offset into the names */
};

static const char kept_magic[16] = "assay-kernel-1";

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

	if (i + 1 == k->table.entries.count || e->end != e[1].start ||
	    e->end - e->start > UINT32_MAX)
		return false;
	module = kallsyms_part_of(k, e->order)->module;
	return module == kallsyms_part_of(k, e[1].order)->module && is_loaded(m, module);
}

static uint64_t checksum(const struct kept_header *h, const struct buf *entries,
                         const struct buf *names)
{
	uint64_t hash = hash_bytes(&h->modules, sizeof(*h) - offsetof(struct kept_header, modules));

	hash = hash_pair(hash, hash_bytes(entries->data, entries->size));
	return hash_pair(hash, hash_bytes(names->data, names->size));
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
		struct kept_entry kept = {e->start, (uint32_t)(e->end - e->start),
		                          (uint32_t)names.size};

		if (!is_kept(k, m, i))
			continue;
		buf_add(&entries, &kept, sizeof(kept));
		buf_add(&names, name, strlen(name) + 1);
		h.count++;
	}
	h.name_bytes = names.size;
	h.checksum = checksum(&h, &entries, &names);
	buf_add(&file, &h, sizeof(h));
	buf_add(&file, entries.data, entries.size);
	buf_add(&file, names.data, names.size);
	/* A failure to store the table in the cache is not an error. */
	if (h.count && file.size <= KEPT_BYTES_MAX &&
	    !cache_dir_keep(cache, KALLSYMS_CACHE_KIND, boot, file.data, file.size, NULL))
		cache_dir_trim(cache, KALLSYMS_CACHE_KIND, CACHE_BYTES);
	buf_done(&entries);
	buf_done(&names);
	buf_done(&file);
}

static bool read_piece(int fd, struct buf *b, uint64_t size)
{
	buf_pad(b, '\0', size);
	return regular_file_read(fd, b->data, size) == (ssize_t)size;
}

/* Reads a file and checks that it is complete and undamaged; then reads its names. */
static bool read_kept(int fd, struct kept_header *h, struct buf *entries, struct buf *names)
{
	struct stat st;

	return !fstat(fd, &st) && (uint64_t)st.st_size <= KEPT_BYTES_MAX &&
	       regular_file_read(fd, h, sizeof(*h)) == sizeof(*h) &&
	       !memcmp(h->magic, kept_magic, sizeof(h->magic)) && h->count && h->name_bytes &&
	       h->count < KEPT_BYTES_MAX && h->name_bytes < KEPT_BYTES_MAX &&
	       sizeof(*h) + h->count * sizeof(struct kept_entry) + h->name_bytes ==
	               (uint64_t)st.st_size &&
	       read_piece(fd, entries, h->count * sizeof(struct kept_entry)) &&
	       read_piece(fd, names, h->name_bytes) && h->checksum == checksum(h, entries, names) &&
	       !names->data[names->size - 1];
}

static bool fill(struct symbol_table *t, const struct kept_header *h, const struct buf *entries)
{
	struct kept_entry e;

	vec_reserve(&t->entries, h->count);
	for (uint64_t i = 0; i < h->count; i++) {
		memcpy(&e, entries->data + i * sizeof(e), sizeof(e));
		if (e.name >= h->name_bytes || e.start > UINT64_MAX - e.size)
			return false;
		vec_push(&t->entries, (struct symbol_entry){.start = e.start,
		                                            .end = e.start + e.size,
		                                            .name = e.name,
		                                            .order = (uint32_t)i});
	}
	symbol_table_finish(t);
	return true;
}

static bool find_kept(struct kallsyms *k, const struct modules *m, struct cache_dir *cache,
                      const char *boot)
{
	int fd = cache_dir_find(cache, KALLSYMS_CACHE_KIND, boot);
	struct buf entries = {0};
	struct kept_header h;
	bool good;

	*k = (struct kallsyms){0};
	good = fd >= 0 && read_kept(fd, &h, &entries, &k->table.names) && h.modules == m->hash &&
	       fill(&k->table, &h, &entries);
	if (good) {
		k->text = h.text;
		k->stext = h.stext;
		k->partial = true;
	} else {
		kallsyms_done(k);
	}
	buf_done(&entries);
	if (fd >= 0)
		close(fd);
	return good;
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
