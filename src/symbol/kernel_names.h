/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_names: the names of the recorded kernel, or the reason why there are none.
 *
 * kallsyms of the running kernel is used only if it is the recorded kernel, by build-id, else by
 * release; otherwise a vmlinux with the recorded build-id is used. A map or file is compared with
 * what the recording has of its kernel (kernel_check.h). Call kernel_names_load(), read the fields,
 * call kernel_names_done(). Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_KERNEL_NAMES_H
#define ASSAY_SYMBOL_KERNEL_NAMES_H

#include "image/elf/elf_file.h"
#include "image/kernel.h"
#include "symbol/symbolizer.h"

struct kernel_names {
	bool running; /* it is the running kernel at the same address: kcore and the vdso apply */
	struct symbol_table *table;  /* NULL: no names */
	uint64_t delta;              /* address in table = recorded address + delta */
	struct elf_file *vmlinux;    /* NULL: no matching file was found */
	uint64_t vmlinux_delta;      /* address in vmlinux = recorded address + vmlinux_delta */
	struct error trouble;        /* why names are missing or uncertain */
	struct error modules;        /* why only those of modules are missing */
	bool refused;                /* the file that the user named is not used */
	bool checked;                /* the names were found to be of the recorded kernel */
	struct kallsyms kallsyms;    /* owns `table`, or */
	struct symbol_table symbols; /* of vmlinux */
	bool vmlinux_sought, vmlinux_checked;
	struct build_id id;
	struct image image; /* of the recorded kernel; zeros: it has none */
	uint64_t base;      /* its address, 0 unknown */
};

/* `cache` may be NULL. */
void kernel_names_load(struct kernel_names *k, const struct symbol_options *options,
                       const struct image *image, struct cache_dir *cache);
/*
 * If the names are from the cache, which does not have all names, returns the current names of the
 * running kernel, but only once; the caller replaces k->kallsyms by them.
 */
bool kernel_names_complete(struct kernel_names *k, struct kallsyms *whole);
void kernel_names_done(struct kernel_names *k);

/* Finds a matching vmlinux, for code and lines; NULL: none. */
struct elf_file *kernel_names_vmlinux(struct kernel_names *k, const struct symbol_options *options);

#endif
