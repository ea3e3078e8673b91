/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a jitdump, and as a perf map: each function of the result must be found at its
 * address and time, and all of its code, lines and unwind rules must be readable.
 */
#include "base/memory/xalloc.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"
#include "image/jit_code.h"
#include "image/unwind_table/cfi.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t touch_table(const struct jit_entry *e)
{
	const struct jit_unwind *u = &e->unwind;
	struct cfi_table *t;
	uint64_t sum;

	if (!u->bytes)
		return 0;
	t = cfi_table_of_code(
	        ELF_MACHINE_X86_64,
	        &(struct cfi_code){u->code_address, e->size, u->bytes, u->size, u->address});
	if (!t)
		return 0;
	sum = t->skipped;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct cfi_rule *rule = cfi_table_find(t, t->offsets[i]);

		if (t->offsets[i] > e->size || !rule != (t->rules[i] == CFI_NO_RULE))
			abort();
		sum += rule ? rule->flags : 0;
	}
	cfi_table_free(t);
	return sum;
}

/* Reads all memory to which an entry points, so that a sanitizer detects invalid pointers. */
static uint64_t touch_entry(const struct jit_code *c, uint32_t number)
{
	const struct jit_entry *e = &c->entries.items[number];
	uint64_t sum = strlen(e->name);
	const struct jit_line *line;

	if (e->size >= JIT_ENTRY_BYTES_MAX || e->same > number ||
	    e->first_line + (size_t)e->line_count > c->lines.count)
		abort();
	for (uint64_t i = 0; e->code && i < e->size; i++)
		sum += e->code[i];
	line = jit_code_line(c, number, e->size / 2);
	return sum + touch_table(e) + (line ? strlen(line->file) : 0);
}

/* At the time of an event its function is found, whichever function was there before. */
static void check_moments(struct jit_code *c)
{
	for (size_t i = 0; i < c->happenings.count; i++) {
		const struct jit_happening *h = &c->happenings.items[i];
		uint64_t offset, time = h->time_ns;

		if (i + 1 < c->happenings.count && c->happenings.items[i + 1].time_ns == time)
			continue;
		jit_code_advance(c, time);
		if (jit_code_find(c, h->address, &offset) != h->entry ||
		    (h->entry != ID_NONE && offset))
			abort();
	}
}

static void use(struct jit_code *c)
{
	uint64_t sum = 0;

	jit_code_finish(c);
	for (uint32_t i = 0; i < c->entries.count; i++)
		sum += touch_entry(c, i);
	check_moments(c);
	if (c->now.nodes.count > 2 * c->happenings.count + 2 || sum == UINT64_MAX)
		abort();
	jit_code_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct jit_code *c;
	struct error err;
	char *text;

	for (int timed = 0; timed < 2; timed++) {
		c = jit_code_new();
		err = (struct error){0};
		if (jitdump_read(c, bytes, size, timed, &err) && !err.text[0])
			abort(); /* an error must have a sentence */
		use(c);
	}
	c = jit_code_new();
	text = xmalloc(size + 1);
	memcpy(text, bytes, size);
	text[size] = '\0';
	jit_code_hold(c, text);
	perf_map_read(c, text, size);
	use(c);
	return 0;
}
