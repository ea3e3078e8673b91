/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names: the dictionaries of a store as its writer sees them: texts and pairs of numbers, and
 * the ids that rows of the database gave them.
 *
 * Memory holds what was met lately: an id that is not here is looked up in the database, or a
 * row is made. names_trim() forgets a dictionary that has grown beyond NAMES_MAX; call it
 * between transactions. names_forget() after a transaction that was undone: ids that it made
 * are none. Zeroed is empty; names_done() frees. One thread. Uses: base.
 */
#ifndef ASSAY_STORE_NAMES_H
#define ASSAY_STORE_NAMES_H

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "store/database.h"

#define NAMES_MAX 65536

struct pair_entry {
	int64_t a, b, id;
	bool done;         /* frames: no name is to be asked for any more */
	bool dirty;        /* instances: the number is not in the database yet */
	uint32_t tries;    /* frames: how often a name was asked for in vain */
	uint64_t again_at; /* frames: the window from which it is worth another try */
};

struct pair_names {
	struct id_table table;
	VEC(struct pair_entry) entries;
};

struct text_names {
	struct intern texts;
	VEC(int64_t) ids; /* by intern id; 0: not looked up */
	bool begun;
};

struct names {
	struct text_names texts;     /* table name */
	struct text_names images;    /* by a text of all that tells an image apart */
	struct pair_names functions; /* image, name */
	struct pair_names frames;    /* image << 2 | flags, offset */
	struct pair_names stacks;    /* parent, frame */
	struct pair_names instances; /* host, name: id is the last number given */
	struct pair_names events;    /* name, role */
	uint64_t forgotten;          /* how often `texts` was */
};

void names_done(struct names *n);
void names_forget(struct names *n);
void names_trim(struct names *n);

/* The id of a text in table name. */
int names_text(struct names *n, struct database *d, const char *text, int64_t *id,
               struct error *err);

/* Where a text of text_names keeps its id; 0 there: not known in memory. */
int64_t *text_names_place(struct text_names *t, const char *text);
/* The entry of a pair, NULL: not known in memory. Good until the next _add(). */
struct pair_entry *pair_names_find(const struct pair_names *p, int64_t a, int64_t b);
struct pair_entry *pair_names_add(struct pair_names *p, int64_t a, int64_t b, int64_t id);

/*
 * The id of a pair: from memory, else by `select` (binds a, b; gives the id), else by
 * `insert` (binds a, b) and the rowid that it made.
 */
int names_pair(struct pair_names *p, struct database *d, const char *select, const char *insert,
               int64_t a, int64_t b, int64_t *id, struct error *err);

#endif
