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
#include "base/error.h"
#include "image/symbol_table.h"

struct kallsyms {
	struct symbol_table table; /* functions, modules' too, sorted */
	uint64_t text, stext;      /* addresses of _text and _stext, 0 where not listed */
};

/* path NULL: /proc/kallsyms. Refused where the addresses are hidden. Then kallsyms_done(). */
int kallsyms_read(struct kallsyms *k, const char *path, struct error *err);
void kallsyms_done(struct kallsyms *k);

struct kernel_identity {
	struct build_id build_id; /* size 0: not known */
	char release[65];         /* uname -r */
};

void kernel_running(struct kernel_identity *k);

/* Reads the running kernel's memory through /proc/kcore; bytes read or -errno. */
int64_t kcore_read(uint64_t address, void *into, size_t size, struct error *err);

#endif
