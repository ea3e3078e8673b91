/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names: the dictionaries of a store in the memory of its writer. They map texts and pairs of
 * numbers to ids of rows in the database.
 *
 * The memory holds recently used entries. An id that is missing is looked up in the database, or a
 * row is created. names_trim() empties a dictionary that has more than NAMES_MAX entries; call it
 * between transactions. Call names_forget() after a rollback, since ids of rows that the
 * transaction created are then invalid. An empty struct is all zeros; names_done() frees it. One
 * thread. Uses: base.
 */
#ifndef ASSAY_STORE_SQLITE_NAMES_H
#define ASSAY_STORE_SQLITE_NAMES_H

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "store/sqlite/database.h"

#define NAMES_MAX 65536

struct pair_entry {
	int64_t a, b, id;
	bool done;         /* frames: the name is known, or is no longer requested */
	bool dirty;        /* instances: the number is not yet written to the database */
	uint32_t tries;    /* frames: number of requests for a name without a result */
	uint64_t again_at; /* frames: the window from which the name is requested again */
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
	struct text_names images;    /* by a text of all columns that identify an image */
	struct pair_names functions; /* image, name */
	struct pair_names frames;    /* image << 2 | flags, offset */
	struct pair_names stacks;    /* parent, frame */
	struct pair_names instances; /* host, name: id is the last assigned number */
	struct pair_names events;    /* name, role */
	uint64_t forgotten;          /* number of times that `texts` was emptied */
};

void names_done(struct names *n);
void names_forget(struct names *n);
void names_trim(struct names *n);

/* The id of a text in table name. */
int names_text(struct names *n, struct database *d, const char *text, int64_t *id,
               struct error *err);

/* The place of a text's id; 0 there: the id is not in memory. */
int64_t *text_names_place(struct text_names *t, const char *text);
/* The entry of a pair; NULL: it is not in memory. Valid until the next _add(). */
struct pair_entry *pair_names_find(const struct pair_names *p, int64_t a, int64_t b);
struct pair_entry *pair_names_add(struct pair_names *p, int64_t a, int64_t b, int64_t id);

/*
 * The id of a pair: from memory, else by `select` (binds a, b; returns the id), else the rowid
 * of the row that `insert` (binds a, b) creates.
 */
int names_pair(struct pair_names *p, struct database *d, const char *select, const char *insert,
               int64_t a, int64_t b, int64_t *id, struct error *err);

#endif
