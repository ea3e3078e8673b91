/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_schema.h"

#include "base/memory/xalloc.h"
#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAITS 300     /* for replicas, of 0.1 s each */
#define SEEN_ENOUGH 8 /* reads in succession that found the version: any replica may answer */

static int insert_version(struct click_server *s, struct error *err)
{
	struct buf row = {0};
	int status;

	row_put(&row, "d", (uint64_t)CLICK_VERSION);
	status = s->insert(s, "store_version (version)", &row, err);
	buf_done(&row);
	return status;
}

struct one_number {
	const struct click_server *server;
	uint64_t number;
	bool found;
};

static int take_number(void *ctx, const struct row_value *v, struct error *err)
{
	struct one_number *one = ctx;

	if (one->found)
		return click_server_bad(one->server, "its version", err);
	one->number = v[0].number;
	one->found = true;
	return 0;
}

static int ask_number(struct click_server *s, const char *sql, const char *letter, uint64_t *number,
                      struct error *err)
{
	struct one_number one = {.server = s};
	int status = click_server_rows(s, sql, NULL, letter, "its version", take_number, &one, err);

	if (!status && !one.found)
		status = click_server_bad(s, "its version", err);
	*number = one.number;
	return status;
}

static int read_version(struct click_server *s, uint64_t *version, struct error *err)
{
	return ask_number(s, "SELECT max(version) FROM store_version FORMAT RowBinary", "d",
	                  version, err);
}

static int run(struct click_server *s, struct buf *sql, struct error *err)
{
	int status = click_server_run(s, buf_text(sql), true, err);

	buf_clear(sql);
	return status;
}

/* Whether a table has a column, by names of this program. */
static int has_column(struct click_server *s, const char *table, const char *column, bool *has,
                      struct error *err)
{
	uint64_t count = 0;
	char *sql = xasprintf("SELECT count() FROM system.columns WHERE database ="
	                      " currentDatabase() AND table = '%s' AND name = '%s' FORMAT"
	                      " RowBinary",
	                      table, column);
	int status = ask_number(s, sql, "q", &count, err);

	*has = count > 0;
	free(sql);
	return status;
}

/*
 * Between the two names there is no time in which a writer of version 1 reaches a table of other
 * columns: until the columns are added, both tables have the same.
 */
static int rename_table(struct click_server *s, const struct click_definition *t, struct error *err)
{
	struct buf sql = {0};
	int status;

	click_table_forward(t, s->url.database, &sql);
	status = run(s, &sql, err);
	buf_addf(&sql, "RENAME TABLE %s TO %s, %s_before TO %s", t->before, t->name, t->name,
	         t->before);
	if (!status)
		status = run(s, &sql, err);
	buf_done(&sql);
	return status;
}

/* Each step is skipped if it was made: an interrupted upgrade is run again. */
static int upgrade_table(struct click_server *s, const struct click_definition *t,
                         struct error *err)
{
	bool before = false, now = false, added = false;
	int status = has_column(s, t->before, "key", &before, err);

	if (!status && !before)
		status = has_column(s, t->before, "stack", &before, err);
	if (status || !before)
		return status;
	status = has_column(s, t->name, "part", &now, err);
	if (!status && !now)
		status = rename_table(s, t, err);
	if (!status)
		status = has_column(s, t->name, t->added + 2, &added, err);
	for (size_t i = 0; !status && !added && t->changes[i]; i++)
		status = click_server_run(s, t->changes[i], true, err);
	return status;
}

/* Columns that a table got since version 2, of one server or of a cluster. */
static int add_parts(struct click_server *s, const char *cluster, struct error *err)
{
	struct buf sql = {0};
	bool has = false;
	int status = has_column(s, CLICK_WINDOWS, "parts", &has, err);

	for (int local = cluster ? 1 : 0; !status && !has && local >= 0; local--) {
		buf_addf(&sql, "ALTER TABLE " CLICK_WINDOWS "%s", local ? "_local" : "");
		if (cluster)
			buf_addf(&sql, " ON CLUSTER %s", cluster);
		buf_puts(&sql, " ADD COLUMN parts Array(UInt64)");
		status = run(s, &sql, err);
	}
	buf_done(&sql);
	return status;
}

static int create_tables(struct click_server *s, const char *cluster, struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; !status && i < click_table_count; i++) {
		const struct click_definition *t = &click_tables[i];

		if (!cluster && t->before)
			status = upgrade_table(s, t, err);
		if (!status && cluster) {
			click_table_create(t, s->url.database, cluster, true, &sql);
			status = run(s, &sql, err);
		}
		if (!status) {
			click_table_create(t, s->url.database, cluster, false, &sql);
			status = run(s, &sql, err);
		}
	}
	buf_done(&sql);
	return status;
}

/* Replicas get the row of the version a moment later. A read asks any of them. */
static int wait_for_version(struct click_server *s, struct error *err)
{
	uint64_t version;
	int status = 0, seen = 0;

	for (int i = 0; !status && seen < SEEN_ENOUGH && i < WAITS; i++) {
		status = read_version(s, &version, err);
		seen = version < CLICK_VERSION ? 0 : seen + 1;
		if (!status && !seen)
			nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	return status || seen == SEEN_ENOUGH
	               ? status
	               : error_set(err, EAGAIN,
	                           "%s: the replicas do not have the version of the store after "
	                           "30 s; see system.replication_queue on the servers",
	                           s->name);
}

static bool is_name(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                   "0123456789_")];
}

int click_schema_create(struct click_server *s, const char *cluster, struct error *err)
{
	uint64_t version = 0;
	char *sql;
	int status;

	if (cluster && !is_name(cluster))
		return error_set(err, EINVAL,
		                 "--cluster %s: the name of a cluster has letters, digits and _",
		                 cluster);
	sql = xasprintf("CREATE DATABASE IF NOT EXISTS %s%s%s", s->url.database,
	                cluster ? " ON CLUSTER " : "", cluster ? cluster : "");
	status = click_server_run(s, sql, false, err);
	if (!status)
		status = create_tables(s, cluster, err);
	if (!status)
		status = add_parts(s, cluster, err);
	if (!status)
		status = read_version(s, &version, err);
	if (!status && version < CLICK_VERSION)
		status = insert_version(s, err);
	if (!status && cluster)
		status = wait_for_version(s, err);
	free(sql);
	return status;
}

int click_schema_check(struct click_server *s, struct error *err)
{
	uint64_t version;
	int status = read_version(s, &version, err);

	if (status)
		return status;
	if (!version)
		return error_set(err, ENODATA,
		                 "%s: there is no store yet; 'assay store create %s' creates it",
		                 s->name, s->name);
	if (version < CLICK_VERSION)
		return error_set(err, ESTALE,
		                 "%s is a store of version %" PRIu64
		                 "; 'assay store create %s' upgrades it while writers send",
		                 s->name, version, s->name);
	if (version > CLICK_VERSION)
		return error_set(
		        err, EPROTO,
		        "%s is a store of version %" PRIu64
		        ", and this assay supports versions up to %d: a later assay wrote it",
		        s->name, version, CLICK_VERSION);
	return 0;
}

int click_schema_ready(struct click_server *s, bool create, struct error *err)
{
	int status = click_schema_check(s, err);

	return (status == -ENODATA || status == -ESTALE) && create
	               ? click_schema_create(s, NULL, err)
	               : status;
}
