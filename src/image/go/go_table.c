/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/go/go_table.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 65536

/* A flag of functions, set by the linker from Go 1.17 on. */
#define FLAG_TOP_FRAME 1
#define FLAG_SP_WRITE 2

#define HEADER_BYTES 8

/* Indices of words in the header; PART_NONE: the part is the whole table. */
#define PART_NONE 0xff

struct go_format {
	uint32_t magic;
	uint8_t words; /* of 8 bytes, after the first 8 bytes */
	uint8_t text, names, steps, functions;
	uint8_t field;                       /* size of a number in the function list */
	uint8_t name_at, steps_at, flags_at; /* in a function's record; 0: has none */
	uint8_t record;
};

static const struct go_format formats[] = {
        {0xfffffffb, 1, PART_NONE, PART_NONE, PART_NONE, PART_NONE, 8, 8, 20, 0, 40},
        {0xfffffffa, 7, PART_NONE, 2, 5, 6, 8, 8, 20, 41, 44},
        {0xfffffff0, 8, 2, 3, 6, 7, 4, 4, 16, 37, 40},
        {0xfffffff1, 8, 2, 3, 6, 7, 4, 4, 16, 41, 44},
};

static uint64_t number_at(const uint8_t *bytes, unsigned size)
{
	struct cfi_cursor c = {bytes, bytes + size, false};

	return cfi_cursor_uint(&c, size);
}

static const struct go_format *format_of(const uint8_t *bytes, size_t size)
{
	uint32_t magic = size < HEADER_BYTES ? 0 : (uint32_t)number_at(bytes, 4);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (magic != formats[i].magic || size < HEADER_BYTES + 8u * formats[i].words)
			continue;
		/* Two zeros, the smallest size of an instruction, the size of a pointer. */
		if (bytes[4] || bytes[5] || bytes[7] != 8 ||
		    (bytes[6] != 1 && bytes[6] != 2 && bytes[6] != 4))
			return NULL;
		return &formats[i];
	}
	return NULL;
}

static uint64_t word_at(const uint8_t *bytes, unsigned word)
{
	return number_at(bytes + HEADER_BYTES + 8 * word, 8);
}

static bool part_at(struct go_part *part, const uint8_t *bytes, size_t size, uint8_t word)
{
	uint64_t offset = word == PART_NONE ? 0 : word_at(bytes, word);

	if (offset >= size)
		return false;
	*part = (struct go_part){bytes + offset, size - offset};
	return true;
}

/* The offset of the function list: in the oldest format it follows the header directly. */
static size_t list_at(const struct go_format *format)
{
	return format->functions == PART_NONE ? HEADER_BYTES + 8u * format->words : 0;
}

bool go_table_parse(struct go_table *t, const uint8_t *bytes, size_t size)
{
	const struct go_format *format = format_of(bytes, size);
	uint64_t count;

	*t = (struct go_table){.format = format, .size = size};
	if (!format || !part_at(&t->names, bytes, size, format->names) ||
	    !part_at(&t->steps, bytes, size, format->steps) ||
	    !part_at(&t->functions, bytes, size, format->functions))
		return false;
	t->quantum = bytes[6];
	count = word_at(bytes, 0);
	/* Two numbers for each function, and one for the end of the last. */
	if (!count || t->functions.size < list_at(format) + format->field ||
	    count > (t->functions.size - list_at(format) - format->field) / (2u * format->field))
		return false;
	t->count = (size_t)count;
	t->relative = format->text != PART_NONE;
	if (t->relative)
		t->text = word_at(bytes, format->text);
	return true;
}

void go_table_done(struct go_table *t)
{
	free(t->memory);
	*t = (struct go_table){0};
}

static bool is_named(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

#define NAMED(name, names) is_named(name, names, sizeof(names) / sizeof((names)[0]))

/*
 * Stacks begin in goexit (goroutines), rt0_go (the first thread) and mstart (other threads). The
 * runtime does its own work on the thread's stack, to which mcall and morestack switch. The
 * goroutine does not wait for that work, so these functions are the outermost frames there. It
 * waits for systemstack and for calls of C (asmcgocall). cgocallback calls Go from C, whose frames
 * have no frame pointers. The other functions that switch have the flag; before it existed
 * (Go 1.17), those that read the clock kept the stack pointer in the place of the frame pointer.
 */
static enum go_kind kind_of(const char *name, bool has_flags, uint8_t flags)
{
	static const char *const outermost[] = {"goexit", "mstart", "rt0_go", "mcall", "morestack"};
	static const char *const leaves[] = {"systemstack", "asmcgocall"};
	static const char *const lost[] = {"cgocallback", "gogo"};
	static const char *const clocks[] = {"nanotime1", "walltime1", "nanotime", "walltime"};
	/* The last two are not assembly where the first two exist. */
	size_t clock_count = has_flags ? 2 : 4;
	static const char *const injected[] = {"asyncPreempt", "sigpanic", "sigpanic0"};

	if (!strncmp(name, "runtime.", 8)) {
		name += 8;
		if (NAMED(name, outermost))
			return GO_OUTERMOST;
		if (NAMED(name, injected))
			return GO_INJECTED;
		if (NAMED(name, leaves))
			return GO_LEAVES;
		if (NAMED(name, lost) ||
		    (!(flags & FLAG_SP_WRITE) && is_named(name, clocks, clock_count)))
			return GO_LOST;
	}
	if (flags & FLAG_TOP_FRAME)
		return GO_OUTERMOST;
	return flags & FLAG_SP_WRITE ? GO_SWITCHES : GO_PLAIN;
}

bool go_table_function(const struct go_table *t, size_t index, struct go_function *function)
{
	const struct go_format *format = t->format;
	const uint8_t *entry, *record;
	uint64_t start, end, offset;
	uint32_t name;
	size_t longest;

	if (index >= t->count)
		return false;
	entry = t->functions.bytes + list_at(format) + 2 * index * format->field;
	start = number_at(entry, format->field);
	offset = number_at(entry + format->field, format->field);
	end = number_at(entry + 2 * format->field, format->field);
	if (start >= end || t->text > UINT64_MAX - end || t->functions.size < format->record ||
	    offset > t->functions.size - format->record)
		return false;
	record = t->functions.bytes + offset;
	name = (uint32_t)number_at(record + format->name_at, 4);
	if (name >= t->names.size)
		return false;
	longest = t->names.size - name < NAME_MAX_BYTES ? t->names.size - name : NAME_MAX_BYTES;
	if (!memchr(t->names.bytes + name, 0, longest))
		return false;
	function->start = t->text + start;
	function->end = t->text + end;
	function->name = (const char *)t->names.bytes + name;
	function->kind = kind_of(function->name, format->flags_at != 0,
	                         format->flags_at ? record[format->flags_at] : 0);
	function->steps = (uint32_t)number_at(record + format->steps_at, 4);
	return true;
}

void go_steps_start(const struct go_table *t, const struct go_function *function,
                    struct go_steps *steps)
{
	const uint8_t *end = t->steps.bytes + t->steps.size;
	/* Offset 0 means that the function has no steps. */
	bool any = function->steps && function->steps < t->steps.size;

	*steps = (struct go_steps){.at = {any ? t->steps.bytes + function->steps : end, end, !any},
	                           .place = function->start,
	                           .end = function->end,
	                           .depth = UINT32_MAX,
	                           .quantum = t->quantum,
	                           .first = true};
}

bool go_steps_next(struct go_steps *s, struct go_step *step)
{
	uint32_t change, length;

	if (s->at.bad || s->place >= s->end)
		return false;
	change = (uint32_t)cfi_cursor_uleb(&s->at);
	/* A change of 0 is the end, except in the first step, which starts from -1. */
	if (!change && !s->first)
		return false;
	length = (uint32_t)cfi_cursor_uleb(&s->at);
	if (s->at.bad || !length)
		return false;
	s->first = false;
	s->depth += change & 1 ? ~(change >> 1) : change >> 1;
	step->start = s->place;
	step->depth = (int32_t)s->depth;
	s->place = (uint64_t)length * s->quantum < s->end - s->place
	                   ? s->place + (uint64_t)length * s->quantum
	                   : s->end;
	step->end = s->place;
	return true;
}
