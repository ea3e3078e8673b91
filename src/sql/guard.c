/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guard: restricts statements. A statement may read, and may create tables and views in `temp`. It
 * may not write to the source, open another file or load code.
 */
#include "sql/sql_internal.h"

#include <stdio.h>
#include <string.h>

/* Pragmas that only read, with any argument. */
static bool is_telling(const char *pragma)
{
	static const char *const names[] = {
	        "table_info",      "table_xinfo", "table_list",      "index_list",
	        "index_info",      "index_xinfo", "database_list",   "function_list",
	        "module_list",     "pragma_list", "collation_list",  "compile_options",
	        "integrity_check", "quick_check", "foreign_key_list"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!sqlite3_stricmp(pragma, names[i]))
			return true;
	return false;
}

/* Pragmas that read a setting without an argument, and change it with an argument. */
static bool is_asking(const char *pragma, const char *argument)
{
	static const char *const names[] = {"application_id", "user_version",  "page_count",
	                                    "page_size",      "encoding",      "schema_version",
	                                    "journal_mode",   "freelist_count"};

	for (size_t i = 0; !argument && i < sizeof(names) / sizeof(*names); i++)
		if (!sqlite3_stricmp(pragma, names[i]))
			return true;
	return false;
}

static int refuse(struct sql *s, const char *what)
{
	/* Keep the first refusal: later refusals are its consequences. */
	if (!*s->refusal)
		snprintf(s->refusal, sizeof(s->refusal),
		         "%s: the source is opened read-only, "
		         "and no other file may be opened",
		         what);
	return SQLITE_DENY;
}

static int refuse_pragma(struct sql *s, const char *name)
{
	char what[96];

	snprintf(what, sizeof(what), "PRAGMA %.64s is refused", name);
	return refuse(s, what);
}

static bool is_temporary(const char *database)
{
	return database && !sqlite3_stricmp(database, "temp");
}

/*
 * SQLite writes to the schema table itself when a table is declared. The CREATE statement was
 * checked before that. SQLITE_DBCONFIG_DEFENSIVE refuses a direct write by a statement.
 */
static bool is_schema(const char *table)
{
	return table && (!strcmp(table, "sqlite_master") || !strcmp(table, "sqlite_temp_master"));
}

static int allow(void *ctx, int action, const char *first, const char *second, const char *database,
                 const char *trigger)
{
	struct sql *s = ctx;

	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_VIEW:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return second && !sqlite3_stricmp(second, "load_extension")
		               ? refuse(s, "load_extension() is refused")
		               : SQLITE_OK;
	case SQLITE_PRAGMA:
		return is_telling(first) || is_asking(first, second) ? SQLITE_OK
		                                                     : refuse_pragma(s, first);
	case SQLITE_ATTACH:
		return refuse(s, "ATTACH is refused");
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX:
	case SQLITE_ANALYZE:
	case SQLITE_ALTER_TABLE:
		if (is_temporary(action == SQLITE_ALTER_TABLE ? first : database) ||
		    (is_schema(first) && (action == SQLITE_INSERT || action == SQLITE_UPDATE)))
			return SQLITE_OK;
		/* fallthrough */
	case SQLITE_CREATE_TABLE:
	case SQLITE_CREATE_VIEW:
	case SQLITE_CREATE_INDEX:
	case SQLITE_DROP_TABLE:
	case SQLITE_DROP_VIEW:
	case SQLITE_DROP_INDEX:
	case SQLITE_DROP_VTABLE:
		return refuse(s, "writing is refused (only temporary tables, by CREATE TEMP TABLE, "
		                 "are allowed)");
	default:
		return refuse(s, "the statement is refused");
	}
}

void sql_guard(struct sql *s)
{
	int was;

	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &was);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &was);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &was);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, &was);
	/* Disables the views of the file; views in `temp` still work. Before 3.35 this setting
	 * would disable those too. */
	if (s->is_store && sqlite3_libversion_number() >= 3035000)
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, &was);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_set_authorizer(s->db, allow, s);
}
