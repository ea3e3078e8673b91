/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/names.h"

static void text_names_drop(struct text_names *t)
{
	if (t->begun)
		intern_done(&t->texts);
	vec_done(&t->ids);
	*t = (struct text_names){0};
}

int64_t *text_names_place(struct text_names *t, const char *text)
{
	uint32_t id;

	if (!t->begun)
		intern_init(&t->texts);
	t->begun = true;
	id = intern_add(&t->texts, text);
	return vec_at(&t->ids, id);
}

static void pair_names_drop(struct pair_names *p)
{
	id_table_done(&p->table);
	vec_done(&p->entries);
	*p = (struct pair_names){0};
}

static bool pair_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct pair_names *p = ctx;
	const struct pair_entry *a = &p->entries.items[id], *b = key;

	return a->a == b->a && a->b == b->b;
}

struct pair_entry *pair_names_find(const struct pair_names *p, int64_t a, int64_t b)
{
	struct pair_entry key = {.a = a, .b = b};
	uint32_t id =
	        id_table_find(&p->table, hash_pair((uint64_t)a, (uint64_t)b), pair_equal, p, &key);

	return id == ID_NONE ? NULL : &p->entries.items[id];
}

struct pair_entry *pair_names_add(struct pair_names *p, int64_t a, int64_t b, int64_t id)
{
	struct pair_entry *made = vec_add(&p->entries);

	made->a = a;
	made->b = b;
	made->id = id;
	id_table_add(&p->table, hash_pair((uint64_t)a, (uint64_t)b),
	             (uint32_t)(p->entries.count - 1));
	return made;
}

void names_forget(struct names *n)
{
	n->forgotten++;
	text_names_drop(&n->texts);
	text_names_drop(&n->images);
	pair_names_drop(&n->functions);
	pair_names_drop(&n->frames);
	pair_names_drop(&n->stacks);
	pair_names_drop(&n->instances);
	pair_names_drop(&n->events);
}

void names_done(struct names *n)
{
	names_forget(n);
}

void names_trim(struct names *n)
{
	struct pair_names *const pairs[] = {&n->functions, &n->frames, &n->stacks, &n->instances,
	                                    &n->events};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i]->entries.count > NAMES_MAX)
			pair_names_drop(pairs[i]);
	if (n->texts.ids.count > NAMES_MAX) {
		n->forgotten++;
		text_names_drop(&n->texts);
	}
	if (n->images.ids.count > NAMES_MAX)
		text_names_drop(&n->images);
}

/* *id: the first column of the row that is found; 0: there is no row. */
static int find_row(struct database *d, sqlite3_stmt *statement, int64_t *id, struct error *err)
{
	int status = database_step(d, statement, err);

	*id = 0;
	if (status != 1)
		return status;
	*id = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return 0;
}

static int find_text(struct database *d, const char *text, int64_t *id, struct error *err)
{
	sqlite3_stmt *statement;
	int status = database_kept(d, "SELECT id FROM name WHERE text = ?", &statement, err);

	if (!status)
		status = database_bind(d, statement, err, "s", text);
	return status ? status : find_row(d, statement, id, err);
}

int names_text(struct names *n, struct database *d, const char *text, int64_t *id,
               struct error *err)
{
	int64_t *place = text_names_place(&n->texts, text);
	sqlite3_stmt *statement;
	int status = 0;

	if (!*place)
		status = find_text(d, text, place, err);
	if (!status && !*place) {
		status = database_kept(d, "INSERT INTO name (text) VALUES (?)", &statement, err);
		if (!status)
			status = database_put(d, statement, err, "s", text);
		if (!status)
			*place = sqlite3_last_insert_rowid(d->handle);
	}
	*id = *place;
	return status;
}

int names_pair(struct pair_names *p, struct database *d, const char *select, const char *insert,
               int64_t a, int64_t b, int64_t *id, struct error *err)
{
	const struct pair_entry *known = pair_names_find(p, a, b);
	sqlite3_stmt *statement;
	int status;

	if (known) {
		*id = known->id;
		return 0;
	}
	status = database_kept(d, select, &statement, err);
	if (!status)
		status = database_bind(d, statement, err, "ii", a, b);
	if (!status)
		status = find_row(d, statement, id, err);
	if (!status && !*id) {
		status = database_kept(d, insert, &statement, err);
		if (!status)
			status = database_put(d, statement, err, "ii", a, b);
		*id = sqlite3_last_insert_rowid(d->handle);
	}
	if (!status)
		pair_names_add(p, a, b, *id);
	return status;
}
