/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_names: the names of the recorded kernel, or the reason why not.
 *
 * kallsyms of the running kernel counts only if that is the recorded one, by
 * build-id, else by release; otherwise a vmlinux with the recorded build-id.
 * kernel_names_load(); then the fields are read; kernel_names_done(). Uses:
 * base, image.
 */
#ifndef ASSAY_SYMBOL_KERNEL_NAMES_H
#define ASSAY_SYMBOL_KERNEL_NAMES_H

#include "image/elf/elf_file.h"
#include "image/kernel.h"
#include "symbol/symbolizer.h"

struct kernel_names {
	bool running; /* it is the running kernel, at its address: kcore and the vdso fit */
	struct symbol_table *table;  /* NULL: no names */
	uint64_t delta;              /* address in table = recorded address + delta */
	struct elf_file *vmlinux;    /* NULL: none that fits was found */
	uint64_t vmlinux_delta;      /* address in vmlinux = recorded address + this */
	struct error trouble;        /* why there are no names, or how sure they are */
	struct kallsyms kallsyms;    /* owns table, or */
	struct symbol_table symbols; /* vmlinux's own */
	bool vmlinux_sought;
	struct build_id id;
	uint64_t base; /* where the recorded kernel stood, 0 unknown */
};

/* `cache` may be NULL. */
void kernel_names_load(struct kernel_names *k, const struct symbol_options *options,
                       const struct image *image, struct cache_dir *cache);
/*
 * Once, if the names are from the cache, which does not have all of them: those of the running
 * kernel as it is now, for the caller to put in the place of k->kallsyms.
 */
bool kernel_names_complete(struct kernel_names *k, struct kallsyms *whole);
void kernel_names_done(struct kernel_names *k);

/* Looks for a vmlinux that fits, for code and lines; NULL where there is none. */
struct elf_file *kernel_names_vmlinux(struct kernel_names *k, const struct symbol_options *options);

#endif
