/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/kernel_anchors.h"

#include "base/memory/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Functions of the kernel itself, and of each module. */
#define KERNEL_ANCHORS 64
#define MODULE_ANCHORS 2
/* With fewer found functions a map is not judged. */
#define COMPARED_MIN 4
/*
 * A map may lack some functions: of several names at one address an ELF file may have another one
 * than kallsyms, and a stripped file has fewer.
 */
#define ABSENT_MAX 0.25

/* A map that lacks so many of the last functions is cut short. */
#define CUT_MIN 3

#define CACHE_BYTES (1u << 20)
#define KEPT_BYTES_MAX (256u << 10)

void kernel_anchors_add(struct kernel_anchors *a, uint64_t address, const char *name,
                        const char *module)
{
	vec_push(&a->items,
	         (struct kernel_anchor){address, xstrdup(name), module ? xstrdup(module) : NULL});
}

void kernel_anchors_done(struct kernel_anchors *a)
{
	vec_each (anchor, &a->items) {
		free(anchor->name);
		free(anchor->module);
	}
	vec_done(&a->items);
	a->text = 0;
}

/* ---- choosing -------------------------------------------------------------- */

/*
 * Global names are unique in a kernel. Compilers add suffixes to copies of functions, and labels of
 * the linker, which begin with an underscore, are no functions in an ELF file.
 */
static bool is_plain(const char *name)
{
	return *name != '_' && !strpbrk(name, ".$");
}

static const char *module_name(const struct kallsyms *k, const struct symbol_entry *e)
{
	const struct kallsyms_part *part = kallsyms_part_of(k, e->order);

	return part->module ? k->table.names.data + part->name : NULL;
}

/* Programs and trampolines that the kernel generates come and go. */
static bool is_generated(const char *module)
{
	return !strcmp(module, "[bpf]") || !strncmp(module, "[__builtin", 10);
}

/* Adds `count` entries at equal distances, the first and the last among them. */
static void add_spread(struct kernel_anchors *a, const struct kallsyms *k, const size_t *entries,
                       size_t found, size_t count, const char *module)
{
	size_t last = SIZE_MAX;

	count = found < count ? found : count;
	for (size_t i = 0; i < count; i++) {
		size_t at = count > 1 ? i * (found - 1) / (count - 1) : 0;

		if (at != last)
			kernel_anchors_add(a, k->table.entries.items[entries[at]].start,
			                   symbol_table_name(&k->table, entries[at]), module);
		last = at;
	}
}

void kernel_anchors_choose(struct kernel_anchors *a, const struct kallsyms *k)
{
	VEC(size_t) own = {0}, of_module = {0};
	const char *module = NULL;

	a->text = k->text ? k->text : k->stext;
	for (size_t i = 0; i < k->table.entries.count; i++) {
		const struct symbol_entry *e = &k->table.entries.items[i];
		const char *in = module_name(k, e);

		if (!in) {
			if (e->binding == BINDING_GLOBAL && e->start >= a->text &&
			    is_plain(symbol_table_name(&k->table, i)))
				vec_push(&own, i);
			continue;
		}
		if (module && strcmp(in, module) != 0) {
			add_spread(a, k, of_module.items, of_module.count, MODULE_ANCHORS, module);
			of_module.count = 0;
		}
		module = in;
		if (!is_generated(in))
			vec_push(&of_module, i);
	}
	if (module)
		add_spread(a, k, of_module.items, of_module.count, MODULE_ANCHORS, module);
	add_spread(a, k, own.items, own.count, KERNEL_ANCHORS, NULL);
	vec_done(&own);
	vec_done(&of_module);
}

/* ---- the running kernel ---------------------------------------------------- */

static void keep(const struct kernel_anchors *a, struct cache_dir *cache, const char *boot,
                 uint64_t modules)
{
	struct buf text = {0};

	buf_addf(&text, "%" PRIx64 " %" PRIx64 "\n", modules, a->text);
	vec_each (anchor, &a->items)
		buf_addf(&text, "%" PRIx64 " %s%s%s\n", anchor->address, anchor->name,
		         anchor->module ? " " : "", anchor->module ? anchor->module : "");
	/* A failure to keep them is not an error. */
	if (text.size <= KEPT_BYTES_MAX &&
	    !cache_dir_keep(cache, KERNEL_ANCHORS_CACHE_KIND, boot, text.data, text.size, NULL))
		cache_dir_trim(cache, KERNEL_ANCHORS_CACHE_KIND, CACHE_BYTES);
	buf_done(&text);
}

static bool take_line(struct kernel_anchors *a, const char *line)
{
	char name[512], module[128];
	uint64_t address;
	int words = sscanf(line, "%" SCNx64 " %511s %127s", &address, name, module);

	if (words < 2)
		return false;
	kernel_anchors_add(a, address, name, words > 2 ? module : NULL);
	return true;
}

static bool find_kept(struct kernel_anchors *a, struct cache_dir *cache, const char *boot,
                      uint64_t modules)
{
	int fd = cache_dir_find(cache, KERNEL_ANCHORS_CACHE_KIND, boot);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	uint64_t of = 0;
	char line[1024];
	bool good;

	if (fd >= 0 && !f)
		close(fd);
	good = f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "%" SCNx64 " %" SCNx64, &of, &a->text) == 2 && of == modules;
	while (good && fgets(line, sizeof(line), f))
		good = take_line(a, line);
	if (f)
		fclose(f);
	if (!good)
		kernel_anchors_done(a);
	return good && a->items.count;
}

void kernel_anchors_running(struct kernel_anchors *a, struct cache_dir *cache,
                            const struct kernel_places *places)
{
	char boot[BOOT_ID_SIZE];
	struct kallsyms k;
	uint64_t modules;
	bool known;

	*a = (struct kernel_anchors){0};
	places = kernel_places_of(places, boot);
	known = *boot && kernel_modules_hash(places, &modules);
	if (known && find_kept(a, cache, boot, modules))
		return;
	if (kallsyms_read(&k, places->kallsyms, NULL))
		return;
	kernel_anchors_choose(a, &k);
	kallsyms_done(&k);
	if (known && a->items.count)
		keep(a, cache, boot, modules);
}

/* ---- comparing ------------------------------------------------------------- */

#define WAY_OUT                                                                                    \
	"specify the map of the recorded kernel (a copy of /proc/kallsyms that root made there, "  \
	"or "                                                                                      \
	"the System.map or vmlinux of the same build)"

static bool same_name(const void *ctx, uint32_t id, const void *key)
{
	const struct kernel_anchors *a = ctx;

	return !strcmp(a->items.items[id].name, key);
}

struct comparison {
	const struct kernel_anchors *anchors;
	const struct kernel_map *map;
	struct id_table names;
	uint64_t *found; /* of each anchor: its address in the map; 0: the map does not have it */
};

static void find_names(struct comparison *c)
{
	const struct symbol_table *t = c->map->table;

	for (size_t i = 0; i < t->entries.count; i++) {
		const char *name = symbol_table_name(t, i);
		uint64_t at = t->entries.items[i].start, wanted;
		uint32_t id = id_table_find(&c->names, hash_bytes(name, strlen(name)), same_name,
		                            c->anchors, name);

		if (id == ID_NONE)
			continue;
		/* Another function may have the same name: the one at the right place counts. */
		wanted = c->anchors->items.items[id].address + c->map->delta;
		if (c->found[id] != wanted)
			c->found[id] = at;
	}
}

static int judge(const struct comparison *c, struct error *err)
{
	const struct kernel_anchor *lacked = NULL, *cut = NULL;
	size_t found = 0, absent = 0, at_end = 0;

	for (size_t i = 0; i < c->anchors->items.count; i++) {
		const struct kernel_anchor *a = &c->anchors->items.items[i];
		uint64_t wanted = a->address + c->map->delta;

		if (a->module)
			continue;
		if (c->found[i] && c->found[i] != wanted)
			return error_set(err, ESTALE,
			                 "%s: is not of the recorded kernel: it has %s at %#" PRIx64
			                 ", and the recorded kernel has it at %#" PRIx64
			                 "%s: " WAY_OUT,
			                 c->map->name, a->name, c->found[i], wanted,
			                 c->map->delta ? " (moved as a whole)" : "");
		found += c->found[i] != 0;
		absent += !c->found[i];
		at_end = c->found[i] ? 0 : at_end + 1;
		cut = at_end == 1 ? a : cut;
		lacked = lacked || c->found[i] ? lacked : a;
	}
	if (found + absent < COMPARED_MIN)
		return 0;
	if (found && at_end >= CUT_MIN)
		return error_set(
		        err, ESTALE,
		        "%s: is cut short: it ends before %s, which the recorded kernel has at "
		        "%#" PRIx64 ": " WAY_OUT,
		        c->map->name, cut->name, cut->address);
	if ((double)absent > ABSENT_MAX * (double)(found + absent))
		return error_set(
		        err, ESTALE,
		        "%s: is not of the recorded kernel, or is incomplete: it lacks %zu of "
		        "%zu functions that the recorded kernel has, such as %s at %#" PRIx64
		        ": " WAY_OUT,
		        c->map->name, absent, found + absent, lacked->name, lacked->address);
	return 1;
}

int kernel_anchors_check(const struct kernel_anchors *a, const struct kernel_map *m,
                         struct error *err)
{
	struct comparison c = {.anchors = a, .map = m};
	int r;

	c.found = xcalloc(a->items.count + 1, sizeof(*c.found));
	for (size_t i = 0; i < a->items.count; i++) {
		const char *name = a->items.items[i].name;

		if (!a->items.items[i].module)
			id_table_add(&c.names, hash_bytes(name, strlen(name)), (uint32_t)i);
	}
	find_names(&c);
	r = judge(&c, err);
	id_table_done(&c.names);
	free(c.found);
	return r;
}

/* The map has another function at the place of the anchor. */
static bool differs(const struct kernel_map *m, const struct kernel_anchor *a, size_t *entry)
{
	const struct symbol_entry *e;

	*entry = symbol_table_find(m->table, a->address + m->delta);
	if (*entry == SYMBOL_NONE)
		return false;
	e = &m->table->entries.items[*entry];
	return e->start != a->address + m->delta ||
	       strcmp(symbol_table_name(m->table, *entry), a->name) != 0;
}

int kernel_anchors_check_modules(const struct kernel_anchors *a, const struct kernel_map *m,
                                 struct error *err)
{
	int compared = 0;
	size_t entry, end;

	for (size_t i = 0; i < a->items.count; i = end) {
		const struct kernel_anchor *other = NULL, *first = &a->items.items[i];
		bool fits = false;

		for (end = i; end < a->items.count && a->items.items[end].module && first->module &&
		              !strcmp(a->items.items[end].module, first->module);
		     end++) {
			bool is_other = differs(m, &a->items.items[end], &entry);

			fits |= !is_other && entry != SYMBOL_NONE;
			other = is_other ? &a->items.items[end] : other;
		}
		end += end == i;
		if (other && !fits) {
			differs(m, other, &entry);
			return error_set(
			        err, ESTALE,
			        "%s: does not have the modules of the recording: it has "
			        "%s+%#" PRIx64 " at %#" PRIx64
			        ", where the recorded kernel has %s of %s: specify a copy "
			        "of /proc/kallsyms from the same boot, or a map without modules",
			        m->name, symbol_table_name(m->table, entry),
			        other->address + m->delta - m->table->entries.items[entry].start,
			        other->address + m->delta, other->name, other->module);
		}
		compared |= fits;
	}
	return compared;
}
