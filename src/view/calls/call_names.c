/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_names.h"

#include "base/memory/xalloc.h"
#include "symbol/demangle/demangle.h"
#include "view/function_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct call_names {
	const struct call_paths *paths;
	struct symbolizer *symbols;
	bool raw;
	char **names; /* per function; NULL: not looked up yet */
	size_t count;
};

struct call_names *call_names_new(const struct call_paths *c, struct symbolizer *symbols, bool raw)
{
	struct call_names *n = xcalloc(1, sizeof(*n));

	n->paths = c;
	n->symbols = symbols;
	n->raw = raw;
	n->count = c->functions.count;
	n->names = xcalloc(n->count + 1, sizeof(*n->names));
	return n;
}

void call_names_free(struct call_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->count; i++)
		free(n->names[i]);
	free(n->names);
	free(n);
}

size_t call_names_count(const struct call_names *n)
{
	return n->count;
}

/* The symbol that begins at this function, or NULL; a symbol that only covers a range is not used.
 */
static const struct symbol *symbol_of(struct symbolizer *symbols, const struct call_function *f)
{
	const struct symbol *symbol = symbols ? symbolizer_find(symbols, f->frame) : NULL;

	return symbol && symbol->named && !symbol->range ? symbol : NULL;
}

/*
 * The function's name by its symbols, for the caller to free, or NULL. A library function gets the
 * exported name that programs call, even if the file has other symbols at the same address.
 */
static char *found_name(struct symbolizer *symbols, const struct call_function *f, bool raw)
{
	const char *exported = f->library && symbols ? symbolizer_export(symbols, f->frame) : NULL;
	const struct symbol *symbol;
	char *plain;

	if (exported) {
		plain = raw ? NULL : demangle(exported);
		return plain ? plain : xstrdup(exported);
	}
	symbol = symbol_of(symbols, f);
	if (!symbol)
		return NULL;
	/* A symbol table may hold "name@VERSION". */
	return f->library ? xstrndup(symbol->name, strcspn(symbol->name, "@"))
	                  : xstrdup(symbol->name);
}

static char *make_name(const struct call_names *n, const struct call_function *f)
{
	char *plain;

	switch (f->kind) {
	case CALL_OUTSIDE:
		return xstrdup("(outside)");
	case CALL_OTHER:
		return xstrdup("(other)");
	case CALL_INTERRUPT:
		return xstrdup("(interrupt)");
	case CALL_FUNCTION:
		break;
	}
	if (f->name) {
		const char *text = intern_text(&n->paths->images.names, f->name);

		plain = n->raw ? NULL : demangle(text);
		return plain ? plain : xstrdup(text);
	}
	plain = found_name(n->symbols, f, n->raw);
	return plain ? plain
	             : xasprintf("%s+0x%" PRIx64, image_name(&n->paths->images, f->frame.image),
	                         f->frame.offset);
}

const char *call_names_of(struct call_names *n, uint32_t function)
{
	if (!n->names[function])
		n->names[function] = make_name(n, &n->paths->functions.items[function]);
	return n->names[function];
}

const char *call_names_library(const struct call_names *n, uint32_t function)
{
	const struct call_function *f = &n->paths->functions.items[function];

	return f->kind == CALL_FUNCTION && f->library
	               ? image_name(&n->paths->images, f->frame.image)
	               : NULL;
}

void call_names_text(struct call_names *n, uint32_t function, struct buf *out)
{
	const char *library = call_names_library(n, function);

	buf_puts(out, call_names_of(n, function));
	if (library)
		buf_addf(out, " [%s]", library);
}

bool call_names_match(struct call_names *n, uint32_t function, const char *wanted)
{
	return demangle_matches(call_names_of(n, function), wanted);
}

int call_names_choose(struct call_names *n, const char *wanted, uint8_t **chosen, struct error *err)
{
	const char **names = xcalloc(n->count + 1, sizeof(*names));
	int ret;

	for (uint32_t i = 0; i < n->count; i++)
		names[i] = call_names_of(n, i);
	*chosen = xcalloc(n->count + 1, 1);
	ret = function_names_choose(names, n->count, wanted, *chosen, err);
	free(names);
	return ret;
}

static int by_name(const void *pa, const void *pb, void *ctx)
{
	struct call_names *n = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int order = strcmp(call_names_of(n, a), call_names_of(n, b));

	return order ? order : (a > b) - (a < b);
}

uint32_t *call_names_ranks(struct call_names *n)
{
	uint32_t *ids = xcalloc(n->count + 1, sizeof(*ids));
	uint32_t *ranks = xcalloc(n->count + 1, sizeof(*ranks));

	for (size_t i = 0; i < n->count; i++)
		ids[i] = (uint32_t)i;
	qsort_r(ids, n->count, sizeof(*ids), by_name, n);
	for (size_t i = 0; i < n->count; i++)
		ranks[ids[i]] = (uint32_t)i;
	free(ids);
	return ranks;
}

void call_names_fill(struct call_paths *c, struct symbolizer *symbols)
{
	vec_each (f, &c->functions) {
		const char *file;
		char *name;
		int line;

		if (f->kind != CALL_FUNCTION)
			continue;
		name = f->name ? NULL : found_name(symbols, f, false);
		if (name)
			f->name = intern_add(&c->images.names, name);
		free(name);
		if (!f->file && symbolizer_line(symbols, f->frame, &file, &line) && line > 0) {
			f->file = intern_add(&c->images.names, file);
			f->line = (uint32_t)line;
		}
	}
}
