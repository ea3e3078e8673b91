/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/perf_map.h"

#include <string.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses a number and the blanks after it; NULL: none. `text` is NUL-terminated. */
static const char *parse_number(const char *text, uint64_t *number)
{
	const char *start;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	*number = 0;
	for (start = text; digit_of(*text) >= 0; text++)
		*number = *number << 4 | (uint64_t)digit_of(*text);
	if (text == start || text - start > 16 || (*text != ' ' && *text != '\t'))
		return NULL;
	return text + strspn(text, " \t");
}

static void read_line(struct jit_code *c, char *line, char *end)
{
	struct jit_entry entry = {0};
	const char *rest;
	uint32_t id;

	if (end > line && end[-1] == '\r')
		end--;
	*end = '\0';
	rest = parse_number(line, &entry.address);
	if (rest)
		rest = parse_number(rest, &entry.size);
	if (!rest || !*rest)
		return;
	entry.name = rest;
	id = jit_code_add(c, &entry);
	if (id != ID_NONE)
		jit_code_happened(c, 0, entry.address, entry.size, id);
}

void perf_map_read(struct jit_code *c, char *text, size_t size)
{
	char *end;

	while (size && (end = memchr(text, '\n', size))) {
		size -= (size_t)(end + 1 - text);
		read_line(c, text, end);
		text = end + 1;
	}
}
