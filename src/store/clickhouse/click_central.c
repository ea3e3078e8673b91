/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_central.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "store/clickhouse/click_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE "agent_options"

static int central_open(struct click_server **server, const char *name,
                        const struct store_server *o, struct error *err)
{
	const struct click_server_options options = {.answer_max = LIMIT_CENTRAL_ANSWER_BYTES,
	                                             .total_ms = LIMIT_CENTRAL_MS,
	                                             .files_once = true,
	                                             .token_file = o ? o->token_file : NULL,
	                                             .ca_file = o ? o->ca_file : NULL};

	return click_server_open(server, name, &options, err);
}

/* The sentence of a server without the table is that of a store. */
static int central_missing(const char *name, int status, struct error *err)
{
	return status != -ENODATA
	               ? status
	               : error_set(err, ENODATA,
	                           "%s: there is no central configuration yet; 'assay store config "
	                           "%s create' creates it",
	                           name, name);
}

int click_central_create(const char *name, struct error *err)
{
	struct click_server *server;
	int status = central_open(&server, name, NULL, err);
	char *sql;

	if (status)
		return status;
	sql = xasprintf("CREATE DATABASE IF NOT EXISTS %s", server->url.database);
	status = click_server_run(server, sql, false, err);
	if (!status)
		status = click_server_run(server,
		                          "CREATE TABLE IF NOT EXISTS " TABLE
		                          " (time DateTime DEFAULT now(), machines String,"
		                          " option String, value String, removed UInt8 DEFAULT 0,"
		                          " author String) ENGINE = MergeTree"
		                          " ORDER BY (machines, option, time)",
		                          true, err);
	free(sql);
	click_server_close(server);
	return status;
}

/* NULL: the text is too long, or has a NUL. */
static char *central_text(const struct row_value *v)
{
	if (v->size > LIMIT_CENTRAL_WORD_BYTES || (v->size && memchr(v->bytes, 0, v->size)))
		return NULL;
	return xstrndup(v->size ? v->bytes : "", v->size);
}

struct central_reading {
	const char *name;
	struct store_central *central;
};

static int take_option(void *ctx, const struct row_value *v, struct error *err)
{
	struct central_reading *r = ctx;
	struct store_central_option o = {.machines = central_text(&v[0]),
	                                 .option = central_text(&v[1]),
	                                 .value = central_text(&v[2]),
	                                 .author = central_text(&v[3]),
	                                 .time_s = v[4].number};

	vec_push(&r->central->options, o);
	if (o.machines && o.option && o.value && o.author)
		return 0;
	return error_set(err, EPROTO,
	                 "%s: the central configuration has a text of more than %d bytes", r->name,
	                 LIMIT_CENTRAL_WORD_BYTES);
}

int click_central_read(const char *name, const struct store_server *o, void (*opened)(void),
                       struct store_central *central, struct error *err)
{
	struct central_reading r = {.name = name, .central = central};
	struct click_server *server;
	int status = central_open(&server, name, o, err);

	if (status)
		return status;
	if (opened)
		opened();
	status =
	        click_server_rows(server,
	                          "SELECT machines, option, argMax(value, time),"
	                          " argMax(author, time), toUInt64(toUInt32(max(time)))"
	                          " FROM " TABLE " GROUP BY machines, option"
	                          " HAVING NOT argMax(removed, time) ORDER BY machines, option"
	                          " FORMAT RowBinary",
	                          NULL, "ssssq", "the central configuration", take_option, &r, err);
	click_server_close(server);
	return central_missing(name, status, err);
}

/* A second of the server's clock may have a row already, and rows of one time have no order. */
int click_central_add(const char *name, const struct store_central *central, struct error *err)
{
	struct click_server *server;
	struct buf rows = {0};
	int status = central_open(&server, name, NULL, err);

	if (status)
		return status;
	vec_each (o, &central->options)
		row_put(&rows, "sssbs", o->machines, o->option, o->value, (uint64_t)o->removed,
		        o->author);
	status =
	        server->insert_batch(server,
	                             "INSERT INTO " TABLE " (time, machines, option, value,"
	                             " removed, author) SELECT (SELECT greatest(now(), max(time) +"
	                             " 1) FROM " TABLE "), machines, option, value, removed, author"
	                             " FROM batch",
	                             "machines String, option String, value String, removed UInt8,"
	                             " author String",
	                             &rows, err);
	buf_done(&rows);
	click_server_close(server);
	return central_missing(name, status, err);
}
