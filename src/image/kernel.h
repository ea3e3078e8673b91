/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel: the names, identity and memory of the kernel.
 *
 * kallsyms lists the functions of the running kernel and its modules at their present addresses. It
 * fits a recording only if the recording was made of the same kernel, which kernel_running() helps
 * to check. kcore contains the code as it is in memory. Errors name the file and the way out. Uses:
 * base.
 */
#ifndef ASSAY_IMAGE_KERNEL_H
#define ASSAY_IMAGE_KERNEL_H

#include "base/build_id.h"
#include "base/file/cache_dir.h"
#include "base/error.h"
#include "base/this_boot.h"
#include "image/elf/symbol_table.h"

/* A sequence of lines that belong to the same module. */
struct kallsyms_part {
	uint32_t order;  /* of the first symbol, see struct symbol_entry */
	uint64_t module; /* hash of "[NAME]", 0: the kernel itself */
	size_t name;     /* "[NAME]", offset into the names of the table; if there is a module */
};

/* Labels of the linker at which a recorder ends the mapping of the kernel. */
#define KERNEL_ENDS 3
#define KERNEL_TEXT_ENDS 2 /* the first are ends of code */
extern const char *const kernel_end_names[KERNEL_ENDS];

struct kallsyms {
	struct symbol_table table; /* functions of kernel and modules, sorted */
	uint64_t text, stext;      /* addresses of _text and _stext, 0 if not listed */
	/* Those of kernel_end_names; 0: not listed, or the table is from the cache. */
	uint64_t ends[KERNEL_ENDS];
	VEC(struct kallsyms_part) parts; /* ascending; empty if the table is from the cache */
	/*
	 * The table is from the cache, which lacks some functions; kallsyms_complete() adds them.
	 */
	bool partial;
};

/* path NULL: /proc/kallsyms. Fails if the addresses are hidden. Then kallsyms_done(). */
int kallsyms_read(struct kallsyms *k, const char *path, struct error *err);
void kallsyms_done(struct kallsyms *k);
/* The part to which a symbol belongs, by its order. The table is not from the cache. */
const struct kallsyms_part *kallsyms_part_of(const struct kallsyms *k, uint32_t order);

/* Files that describe the running kernel; tests replace them. */
struct kernel_places {
	const char *kallsyms, *modules, *module_notes; /* module_notes: with %s for the name */
	const char *boot_id;                           /* NULL: the id of this boot */
};

#define KALLSYMS_CACHE_KIND "kallsyms"

/*
 * A number for the loaded modules: their names, sizes, addresses and build-ids. False: the list
 * cannot be read. places NULL: the default files.
 */
bool kernel_modules_hash(const struct kernel_places *places, uint64_t *hash);
/* The places with defaults, and the id of the boot that they are of; "" if it is unknown. */
const struct kernel_places *kernel_places_of(const struct kernel_places *places,
                                             char boot[BOOT_ID_SIZE]);

/*
 * Reads the symbols of the running kernel. The cache is used if it has those of this boot and of
 * the modules that are now loaded; otherwise /proc/kallsyms is read and stored in the cache.
 * Functions that may appear and disappear without a trace (BPF programs, trampolines) are not
 * cached. `cache` may be NULL; places NULL: the default files.
 */
int kallsyms_running(struct kallsyms *k, struct cache_dir *cache,
                     const struct kernel_places *places, struct error *err);

/*
 * If the table is from the cache, which lacks some functions, reads /proc/kallsyms again, once.
 * False: the table was complete, or kallsyms cannot be read and the table is unchanged.
 */
bool kallsyms_complete(struct kallsyms *k);

struct kernel_identity {
	struct build_id build_id; /* size 0: unknown */
	char release[65];         /* uname -r */
};

void kernel_running(struct kernel_identity *k);

/* Reads the running kernel's memory through /proc/kcore; returns the number of bytes or -errno. */
int64_t kcore_read(uint64_t address, void *into, size_t size, struct error *err);

#endif
