/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_functions: names of the running kernel's functions, looked up while they are traced, since
 * recordings may be read on another machine.
 *
 * kernel_functions_init(); the two callbacks of struct graph_paths_options;
 * kernel_functions_done(), which accepts zeros. Without the right to read addresses frames have no
 * names; no function fails. One thread. Uses: base, image, profile.
 */
#ifndef ASSAY_LAUNCH_CALLS_KERNEL_FUNCTIONS_H
#define ASSAY_LAUNCH_CALLS_KERNEL_FUNCTIONS_H

#include "image/kernel.h"
#include "profile/calls/graph_paths.h"

struct kernel_module {
	uint64_t start, end;
	char name[64]; /* with brackets: "[ext4]" */
};

struct kernel_functions {
	struct kallsyms symbols;
	VEC(struct kernel_module) modules;
	bool named;
};

void kernel_functions_init(struct kernel_functions *k);
void kernel_functions_done(struct kernel_functions *k);

/* ctx: struct kernel_functions */
void kernel_functions_describe(void *ctx, struct call_paths *c, uint64_t address,
                               struct call_function *f);
/*
 * The kind of an entry function. An interrupt runs some functions before and after the kernel's
 * interrupt flag is set.
 */
enum graph_entry kernel_functions_entry(void *ctx, uint64_t address);

#endif
