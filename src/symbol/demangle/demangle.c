/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/demangle/demangle.h"

#include "base/limit.h"
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "symbol/demangle/demangle_internal.h"

/* libiberty has an xrealloc() with other parameters, which its demangler does not use. */
#define xrealloc libiberty_xrealloc
#include <libiberty/demangle.h>
#undef xrealloc

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/*
 * A mangled name can refer back to its own parts, so that 200 bytes can expand to gigabytes.
 * The demangler cannot be stopped by a return value. It holds no memory while it calls back, so a
 * longjmp() out of the callback is safe.
 */
struct demangling {
	struct buf text;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t size, void *ctx)
{
	struct demangling *d = ctx;

	if (d->text.size + size > LIMIT_DEMANGLED_BYTES)
		longjmp(d->too_long, 1);
	buf_add(&d->text, piece, size);
}

static bool demangle_into(struct demangling *d, const char *name, int options)
{
	if (setjmp(d->too_long))
		return false;
	if (rust_demangle_callback(name, options, take_piece, d))
		return true;
	buf_clear(&d->text);
	return !strncmp(name, "_Z", 2) &&
	       cplus_demangle_v3_callback(name, options, take_piece, d) != 0;
}

/* D and OCaml. A suffix is kept: "@plt", or ".part.0" from the compiler. */
static char *demangle_ours(const char *name, int options)
{
	bool bare = !(options & DMGL_PARAMS), good;
	size_t size = strcspn(name, name[0] == '_' ? "@." : "@");
	struct buf text = {0};
	char *result = NULL;

	good = name[0] == '_' ? demangle_d(name, size, bare, &text)
	                      : demangle_ocaml(name, size, &text);
	if (good && text.size <= LIMIT_DEMANGLED_BYTES) {
		buf_puts(&text, name + size);
		result = xstrdup(text.data);
	}
	buf_done(&text);
	return result;
}

static char *demangle_as(const char *name, int options)
{
	struct demangling *d;
	char *plain, *result = NULL;
	const char *end;

	if (strnlen(name, LIMIT_MANGLED_BYTES) == LIMIT_MANGLED_BYTES)
		return NULL;
	if (!strncmp(name, "_D", 2) || !strncmp(name, "caml", 4))
		return demangle_ours(name, options);
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	end = strchr(name, '@');
	plain = end ? xstrndup(name, (size_t)(end - name)) : xstrdup(name);
	d = xcalloc(1, sizeof(*d));
	if (demangle_into(d, plain, options) && d->text.size) {
		if (end)
			buf_puts(&d->text, end);
		result = xstrdup(d->text.data);
	}
	buf_done(&d->text);
	free(d);
	free(plain);
	return result;
}

bool demangle_is_gnat(const char *function)
{
	size_t size = strlen(function), end = strlen("___elabb");

	return !strcmp(function, "adainit") || !strncmp(function, "__gnat_", 7) ||
	       (size > end && !strcmp(function + size - end, "___elabb"));
}

char *demangle_ada(const char *name)
{
	size_t size = strcspn(name, "@."), shown = size;
	char *plain, *ada, *result = NULL;

	if (size >= LIMIT_MANGLED_BYTES || name[0] < '_' || name[0] > 'z')
		return NULL;
	/* The body of a task, or of a task type. */
	if (shown > 4 && !strncmp(name + shown - 2, "TB", 2))
		shown -= 2;
	if (shown > 4 && !strncmp(name + shown - 2, "TK", 2))
		shown -= 2;
	plain = xstrndup(name, shown);
	ada = ada_demangle(plain, 0);
	/* The result is in angle brackets if the name cannot be read. */
	if (ada && ada[0] != '<' && strcmp(ada, plain) != 0)
		result = xasprintf("%s%s", ada, name + size);
	free(ada);
	free(plain);
	return result;
}

char *demangle(const char *name)
{
	return demangle_as(name, DMGL_PARAMS | DMGL_ANSI);
}

char *demangle_bare(const char *name)
{
	return demangle_as(name, DMGL_ANSI);
}

bool demangle_matches(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return !strncmp(name, wanted, length) && (!name[length] || name[length] == '(');
}
