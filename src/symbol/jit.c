/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit.h"

#include <errno.h>
#include <string.h>

#define OFFSET_MASK UINT32_MAX

static const struct jit_entry *entry_of(const struct image *image, uint64_t address)
{
	uint64_t number = address >> 32;

	return image->jit && number < image->jit->entries.count ? &image->jit->entries.items[number]
	                                                        : NULL;
}

uint64_t jit_address(const struct image *image, uint64_t offset)
{
	const struct jit_entry *e = entry_of(image, offset);

	return e ? (uint64_t)e->same << 32 | (offset & OFFSET_MASK) : offset;
}

uint32_t jit_entry_at(const struct image *image, uint64_t address)
{
	const struct jit_entry *e = entry_of(image, address);

	return e && !image->jit->disowned ? e->same : ID_NONE;
}

struct symbol **jit_symbols(const struct image *image, struct symbol **symbols, size_t *count)
{
	size_t now = image->jit ? image->jit->entries.count : 0, before = *count;

	if (now <= before)
		return symbols;
	/* Entries are added one at a time while a process is watched. */
	*count = now > 2 * before ? now : 2 * before;
	symbols = xrealloc(symbols, *count, sizeof(*symbols));
	memset(symbols + before, 0, (*count - before) * sizeof(*symbols));
	return symbols;
}

bool jit_line(const struct image *image, uint64_t offset, const char **file, int *line)
{
	const struct jit_line *found = NULL;

	if (entry_of(image, offset))
		found = jit_code_line(image->jit, (uint32_t)(offset >> 32), offset & OFFSET_MASK);
	if (!found)
		return false;
	*file = found->file;
	*line = found->line;
	return true;
}

int jit_bytes(const struct image *image, uint8_t *bytes, struct symbol_code *code,
              struct error *err)
{
	static const int machines[] = {[JIT_X86_64] = CODE_X86_64,
	                               [JIT_X86_32] = CODE_X86_32,
	                               [JIT_ARM64] = CODE_ARM64,
	                               [JIT_OTHER] = CODE_OTHER};
	const struct jit_entry *e = entry_of(image, code->address);
	uint64_t offset = code->address & OFFSET_MASK;

	if (!e || !e->code || offset >= e->size)
		return error_set(
		        err, ENOENT,
		        "the code of %s was not recorded: a perf map contains names only, a "
		        "jitdump (node --perf-prof) contains code too",
		        e ? e->name : "this address");
	if (code->size > e->size - offset)
		code->size = e->size - offset;
	memcpy(bytes, e->code + offset, code->size);
	code->source = image->jit->source;
	if (image->jit->machine != JIT_UNSAID)
		code->machine = machines[image->jit->machine];
	code->unlinked = true;
	return 0;
}

char *jit_trouble(const struct image_table *images, uint32_t image)
{
	const struct image *i = &images->images.items[image];
	const struct jit_code *c = i->jit;

	if (i->kind == IMAGE_ANON && !i->generated)
		return xstrdup("memory that belongs to no file: generated code has no symbols");
	if (i->kind == IMAGE_ANON)
		c = images->images.items[i->generated].jit;
	if (!c)
		return NULL;
	if (c->disowned)
		return xasprintf("%s was written after the process had exited, by another process "
		                 "with the same pid: its names were not used",
		                 c->source);
	if (c->trouble)
		return xstrdup(c->trouble);
	if (i->kind == IMAGE_ANON)
		return xasprintf("generated code that %s does not name", c->source);
	if (c->remark)
		return xasprintf(
		        "%s: %s; if functions had the same address, the newest one is shown",
		        c->source, c->remark);
	return NULL;
}
