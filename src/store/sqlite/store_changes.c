/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that were found in a store. */
#include "store/sqlite/sqlite_store_internal.h"

#include "store/change_numbers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int put_change(struct sqlite_store *s, const struct store_change *c, struct error *err)
{
	static const char insert[] =
	        "INSERT OR REPLACE INTO found_change VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
	        " ?10, ?11, nullif(?12, ?16), nullif(?13, ?16), nullif(?14, ?16), ?15)";
	int64_t n[CHANGE_NUMBERS];
	sqlite3_stmt *put;
	int status = database_kept(&s->db, insert, &put, err);

	change_numbers(c, n);
	return status ? status
	              : database_put(&s->db, put, err, "sssssuuusiiiiiii", c->host, c->service,
	                             c->function, c->image, c->mode, c->time_ns, c->point_ns,
	                             c->found_ns, c->verdict, n[0], n[1], n[2], n[3], n[4], n[5],
	                             CHANGE_UNKNOWN);
}

int sqlite_store_add_changes(const char *path, const struct store_change *changes, size_t count,
                             struct error *err)
{
	struct store_options options = {0};
	struct sqlite_store *s;
	int status;

	if (access(path, F_OK))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	status = sqlite_store_open(&s, path, &options, err);
	if (status)
		return status;
	status = store_write_begin(s, err);
	for (size_t i = 0; !status && i < count; i++)
		status = put_change(s, &changes[i], err);
	if (!status)
		status = store_write_end(s, err);
	else
		store_write_undo(s);
	sqlite_store_close(s);
	return status;
}
