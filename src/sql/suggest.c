/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_suggest(): the existing name that is most similar to an unknown name. */
#include "sql/sql_internal.h"

#include "base/text/spelling.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(char *) names;

/* The message of each kind of failure, and a query for the valid names; ?1 is the statement. */
static const struct {
	const char *message, *names;
} kinds[] = {
        {"no such table: ", "SELECT name FROM temp.sqlite_master WHERE type IN ('table', 'view')"},
        /* Columns of tables whose names occur in the statement. */
        {"no such column: ",
         "SELECT c.name FROM temp.sqlite_master AS t, pragma_table_info(t.name) AS c "
         "WHERE t.type IN ('table', 'view') AND instr(lower(?1), lower(t.name))"},
        {"no such function: ", "SELECT DISTINCT name FROM pragma_function_list"},
};

static void ask(sqlite3 *db, const char *question, const char *text, names *found)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, question, -1, &statement, NULL))
		return;
	sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW)
		vec_push(found, xstrdup((const char *)sqlite3_column_text(statement, 0)));
	sqlite3_finalize(statement);
}

/* The name without its table, in lower case like all public names. */
static char *plain(const char *name)
{
	const char *point = strrchr(name, '.');
	char *word = xstrdup(point ? point + 1 : name);

	for (char *at = word; *at; at++)
		*at |= *at >= 'A' && *at <= 'Z' ? 'a' - 'A' : 0;
	return word;
}

char *sql_suggest(struct sql *s, const char *message, const char *text)
{
	char *best = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i].message);
		names found = {0};
		const char *nearest;
		char *word;

		if (strncmp(message, kinds[i].message, length))
			continue;
		word = plain(message + length);
		ask(s->db, kinds[i].names, text, &found);
		nearest = spelling_nearest(word, (const char *const *)found.items, found.count);
		best = nearest ? xstrdup(nearest) : NULL;
		vec_each (name, &found)
			free(*name);
		vec_done(&found);
		free(word);
	}
	return best;
}
