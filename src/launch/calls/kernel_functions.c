/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/kernel_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KERNEL_IMAGE "[kernel.kallsyms]" /* the name that process/ uses */

static void read_modules(struct kernel_functions *k)
{
	FILE *f = fopen("/proc/modules", "re");
	char line[4096], name[60];
	uint64_t size, start;

	/* "ext4 811008 1 - Live 0xffffffffc0400000" */
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%59s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &start) ==
		            3 &&
		    start) {
			struct kernel_module *m = vec_add(&k->modules);

			m->start = start;
			m->end = start + size;
			snprintf(m->name, sizeof(m->name), "[%s]", name);
		}
	if (f)
		fclose(f);
}

void kernel_functions_init(struct kernel_functions *k)
{
	struct cache_dir *cache = NULL;

	*k = (struct kernel_functions){0};
	cache_dir_open(&cache, NULL); /* without a cache it only takes longer */
	k->named = !kallsyms_running(&k->symbols, cache, NULL, NULL);
	cache_dir_close(cache);
	read_modules(k);
}

void kernel_functions_done(struct kernel_functions *k)
{
	if (k->named)
		kallsyms_done(&k->symbols);
	vec_done(&k->modules);
	k->named = false;
}

/* The address from the tracer may be some bytes after the start of the function (ENDBR). */
static size_t symbol_at(struct kernel_functions *k, uint64_t address)
{
	size_t found;

	if (!k->named)
		return SYMBOL_NONE;
	found = symbol_table_find(&k->symbols.table, address);
	if (found == SYMBOL_NONE && kallsyms_complete(&k->symbols))
		found = symbol_table_find(&k->symbols.table, address);
	return found;
}

void kernel_functions_describe(void *ctx, struct call_paths *c, uint64_t address,
                               struct call_function *f)
{
	struct kernel_functions *k = ctx;
	size_t symbol = symbol_at(k, address);
	struct image image = {.kind = IMAGE_KERNEL};
	const char *path = KERNEL_IMAGE;

	if (symbol != SYMBOL_NONE) {
		f->name =
		        intern_add(&c->images.names, symbol_table_name(&k->symbols.table, symbol));
		address = k->symbols.table.entries.items[symbol].start;
	}
	vec_each (m, &k->modules)
		if (address >= m->start && address < m->end) {
			image.kind = IMAGE_MODULE;
			image.base = m->start;
			path = m->name;
		}
	image.path = intern_add(&c->images.names, path);
	f->frame = (struct frame){.image = image_table_add(&c->images, &image),
	                          .offset = address - image.base};
}

enum graph_entry kernel_functions_entry(void *ctx, uint64_t address)
{
	static const char *const names[] = {"irq_enter",    "irq_exit",   "irq_enter_rcu",
	                                    "irq_exit_rcu", "handle_IRQ", "gic_handle_irq"};
	static const char *const begins[] = {
	        "sysvec_",          "__sysvec_",          "fred_sysvec_",
	        "common_interrupt", "__common_interrupt", "do_IRQ"};
	static const char *const preempts[] = {"preempt_schedule_irq", "irqentry_exit_cond_resched",
	                                       "raw_irqentry_exit_cond_resched"};
	struct kernel_functions *k = ctx;
	size_t symbol = symbol_at(k, address);
	const char *name;

	if (symbol == SYMBOL_NONE)
		return GRAPH_CALLED;
	name = symbol_table_name(&k->symbols.table, symbol);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return GRAPH_INTERRUPT;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return GRAPH_INTERRUPT;
	for (size_t i = 0; i < sizeof(preempts) / sizeof(preempts[0]); i++)
		if (!strcmp(name, preempts[i]))
			return GRAPH_PREEMPT;
	return GRAPH_CALLED;
}
