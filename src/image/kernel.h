/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel: the kernel's own names, identity and memory.
 *
 * kallsyms lists the functions of the running kernel and of its modules at the
 * addresses where they are now; it fits a recording only if that was made of
 * the same kernel, which kernel_running() helps to tell. kcore gives the code
 * as it stands in memory. Errors name the file and the way out. Uses: base.
 */
#ifndef ASSAY_IMAGE_KERNEL_H
#define ASSAY_IMAGE_KERNEL_H

#include "base/build_id.h"
#include "base/file/cache_dir.h"
#include "base/error.h"
#include "image/elf/symbol_table.h"

/* Lines one after the other that are of the same module. */
struct kallsyms_part {
	uint32_t order;  /* of the first symbol, as in struct symbol_entry */
	uint64_t module; /* hash of "[NAME]", 0: the kernel itself */
};

struct kallsyms {
	struct symbol_table table;       /* functions, modules' too, sorted */
	uint64_t text, stext;            /* addresses of _text and _stext, 0 where not listed */
	VEC(struct kallsyms_part) parts; /* rising; empty if the table is from the cache */
	/* From the cache: an address that is in no function of it may be in one of kallsyms_read().
	 */
	bool partial;
};

/* path NULL: /proc/kallsyms. Refused where the addresses are hidden. Then kallsyms_done(). */
int kallsyms_read(struct kallsyms *k, const char *path, struct error *err);
void kallsyms_done(struct kallsyms *k);

/* Where the running kernel tells of itself; tests give others. */
struct kernel_places {
	const char *kallsyms, *modules, *module_notes; /* module_notes: with %s for the name */
	const char *boot_id;                           /* NULL: of this boot */
};

#define KALLSYMS_CACHE_KIND "kallsyms"

/*
 * The running kernel's, from the cache if that has them of this boot and of the modules that are
 * loaded now; else they are read, and kept for the next time. Functions that may come and go
 * without a trace (BPF programs, trampolines) are not kept. `cache` may be NULL; places NULL: the
 * usual ones.
 */
int kallsyms_running(struct kallsyms *k, struct cache_dir *cache,
                     const struct kernel_places *places, struct error *err);

/*
 * Once, if the table is from the cache, which does not have all functions: the table is read again
 * from /proc/kallsyms. False: it was complete, or cannot be read now and stays as it is.
 */
bool kallsyms_complete(struct kallsyms *k);

struct kernel_identity {
	struct build_id build_id; /* size 0: not known */
	char release[65];         /* uname -r */
};

void kernel_running(struct kernel_identity *k);

/* Reads the running kernel's memory through /proc/kcore; bytes read or -errno. */
int64_t kcore_read(uint64_t address, void *into, size_t size, struct error *err);

#endif
