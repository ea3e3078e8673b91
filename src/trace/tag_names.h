/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_names: what each event tag stands for.
 *
 * tag_names_new(), tag_names_add() for each, tag_names_find() by any tag: an odd one
 * finds its function's (the even one), if it is not a name of its own. Names are
 * the compiler's (C++: mangled); of a static function NAME@FILE, FILE being
 * relative to the names file's directory. Tags are below 2^24. 0 or -errno with the
 * sentence in `err`. The object owns its texts; what was found stays where it is.
 * Readers in any thread, or one writer alone. Uses: base.
 */
#ifndef ASSAY_TRACE_TAG_NAMES_H
#define ASSAY_TRACE_TAG_NAMES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tag_kind {
	TAG_FUNCTION, /* tag: entry, tag + 1: exit */
	TAG_SWITCH,   /* likewise; the function that switches processes: `!` */
	TAG_INLINE,   /* a place: `=` */
};

struct tag_name {
	uint32_t tag;
	enum tag_kind kind;
	const char *name;  /* as in the names file, NAME or NAME@FILE */
	const char *shown; /* demangled, without @FILE unless two would look alike */
};

struct tag_names;

struct tag_names *tag_names_new(void);
void tag_names_free(struct tag_names *n);

/*
 * -EEXIST: the tag, or for a function one of its two, is another name's already; the
 * sentence says both. The same name with the same tag and kind once more is nothing new.
 * -EINVAL: no name, a tag of 2^24 or more, a function with an odd tag.
 */
int tag_names_add(struct tag_names *n, uint32_t tag, enum tag_kind kind, const char *name,
                  size_t length, struct error *err);

/* NULL: unknown. *exit: the tag is its exit. */
const struct tag_name *tag_names_find(const struct tag_names *n, uint32_t tag, bool *exit);

/* All, by tag, rising. `shown` is there once this was called (not before). */
size_t tag_names_count(const struct tag_names *n);
const struct tag_name *tag_names_at(const struct tag_names *n, size_t i);

/*
 * Fills `shown` of all: `demangle` gives a text of the caller's heap, or NULL: as it is
 * (symbol/ is not below this room). Call it after the last tag_names_add().
 */
void tag_names_show(struct tag_names *n, char *(*demangle)(const char *name));

#endif
