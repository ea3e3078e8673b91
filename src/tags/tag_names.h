/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_names: the names of event tags.
 *
 * tag_names_new(), tag_names_add() for each name, tag_names_find() by any tag: an odd tag finds its
 * function (the even tag), unless it has a name of its own. Names are those of the compiler (C++:
 * mangled); a static function is NAME@FILE, with FILE relative to the directory of the names file.
 * Tags are below 2^24. Functions return 0 or -errno with a sentence in `err`. The object owns its
 * texts, and pointers that were found stay valid until tag_names_free(). Any number of reading
 * threads, or one writing thread. Uses: base.
 */
#ifndef ASSAY_TAGS_TAG_NAMES_H
#define ASSAY_TAGS_TAG_NAMES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tag_kind {
	TAG_FUNCTION, /* tag: entry, tag + 1: exit */
	TAG_SWITCH,   /* as TAG_FUNCTION; the function that switches processes: `!` */
	TAG_INLINE,   /* a place: `=` */
	/* As TAG_FUNCTION; in a device's stream its net time is idle: `~` */
	TAG_IDLE,
	/* `^`: as TAG_FUNCTION, but in a device's stream its time is not in the calls around it */
	TAG_INTERRUPT,
	TAG_KINDS
};

struct tag_name {
	uint32_t tag;
	enum tag_kind kind;
	const char *name;  /* as in the names file, NAME or NAME@FILE */
	const char *shown; /* demangled, without @FILE unless two names would be equal */
};

struct tag_names;

/* The mark after the tag in a names file; 0: none, of a function. */
char tag_kind_mark(enum tag_kind kind);
/* The kind of a mark; TAG_FUNCTION if the character is no mark. */
enum tag_kind tag_kind_of_mark(char mark);

struct tag_names *tag_names_new(void);
void tag_names_free(struct tag_names *n);

/*
 * -EEXIST: the tag, or one of the two tags of a function, belongs to another name; the sentence
 * names both. Adding the same name with the same tag and kind again changes nothing. -EINVAL: no
 * name, a tag of 2^24 or more, a function with an odd tag.
 */
int tag_names_add(struct tag_names *n, uint32_t tag, enum tag_kind kind, const char *name,
                  size_t length, struct error *err);

/* NULL: unknown. *exit: the tag is the function's exit. */
const struct tag_name *tag_names_find(const struct tag_names *n, uint32_t tag, bool *exit);

/* All names, by ascending tag. `shown` is NULL before tag_names_show(). */
size_t tag_names_count(const struct tag_names *n);
const struct tag_name *tag_names_at(const struct tag_names *n, size_t i);

/* True if the function that switches processes is the Linux kernel's: __switch_to, context_switch.
 */
bool tag_names_of_kernel(const struct tag_names *n);

/*
 * Functions of the code without tags, since the plugin left them out as small. A name that is given
 * twice counts once.
 */
void tag_names_leave_out(struct tag_names *n, const char *name);
size_t tag_names_left_out_count(const struct tag_names *n);
const char *tag_names_left_out(const struct tag_names *n, size_t i);

/*
 * Fills `shown` of all names. `demangle` returns a text that this function frees, or NULL to keep
 * the name (the room symbol/ is above this one). Call it after the last tag_names_add().
 */
void tag_names_show(struct tag_names *n, char *(*demangle)(const char *name));

#endif
