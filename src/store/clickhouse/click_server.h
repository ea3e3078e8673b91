/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_server: the database on a ClickHouse server that is a store: questions and inserts.
 *
 * The name of such a store is clickhouse://[USER@]HOST[:PORT]/DATABASE (HTTP, port 8123) or
 * clickhouse+https://... (TLS, port 8443). The password is in the environment variable
 * ASSAY_CLICKHOUSE_PASSWORD, or in the file that ASSAY_CLICKHOUSE_PASSWORD_FILE or the options
 * name; a URL with a password is refused, since other users can see command lines.
 *
 * Statements are constants with numbers: values of other kinds travel as rows (row_binary.h).
 * Rows are decoded while they arrive. An answer is complete: its length comes after the last row,
 * and a question whose answer is cut off fails, although rows of it were passed on. It has at most
 * LIMIT_STORE_ANSWER_BYTES, and its contents are not trusted. A server that is silent for 30 s ends
 * a question.
 *
 *	click_server_open(&s, name)
 *	click_server_rows(s, sql, NULL, "qs", "names", take_name, ctx), s->insert(s, "names", &rows)
 *	click_server_close(s)
 *
 * Errors: those of base/http/http_client.h; -EPROTO: the server refused a statement (the sentence
 * has its words); -ENODATA: the database or a table is missing; -EACCES: user or password. Tests
 * and fuzzers replace `ask` and `insert`. One thread. Uses: base, format.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SERVER_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SERVER_H

#include "base/error.h"
#include "base/http/http_client.h"
#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_map.h"
#include "store/store.h"

struct click_url {
	bool tls;
	char *user; /* NULL: the server's default */
	char *host; /* with [] around an address of IPv6 */
	unsigned port;
	char *database; /* letters, digits and _ */
};

/* True if the name begins with a scheme of such stores. */
bool click_url_has(const char *name);
/* -EINVAL: the sentence shows a correct name. */
int click_url_parse(const char *name, struct click_url *url, struct error *err);
void click_url_done(struct click_url *url);

/* Columns of which a statement may select many values. */
enum click_column {
	CLICK_OF_HOST,
	CLICK_OF_SERVICE,
	CLICK_OF_VERSION,
	CLICK_OF_LABELS,
	CLICK_COLUMNS
};

struct click_server;

/* -errno with a sentence ends the question with this error. */
typedef int click_receive_fn(void *ctx, const void *bytes, size_t size, struct error *err);

struct click_server {
	char *name; /* of the store, for messages */
	struct click_url url;
	/*
	 * The rows that the statement selects, in RowBinary, piece by piece. `set`: keys that the
	 * statement names as "keys"; NULL: none. `receive` asks no other question.
	 */
	int (*ask)(struct click_server *s, const char *sql, const struct click_map *set,
	           click_receive_fn *receive, void *ctx, struct error *err);
	/* `table`: with its columns: "names (id, text)" (click_table_target()). */
	int (*insert)(struct click_server *s, const char *table, const struct buf *rows,
	              struct error *err);
	/*
	 * Runs a statement that inserts from the table "batch", which consists of these rows.
	 * `structure`: its columns: "id UInt64, text String".
	 */
	int (*insert_batch)(struct click_server *s, const char *sql, const char *structure,
	                    const struct buf *rows, struct error *err);
	/* Tables of the next requests, by click_server_in(), as chosen_COLUMN (key, value); NULL:
	 * none. */
	const struct click_map *tables[CLICK_COLUMNS];
	struct http_client *http;
	char *base; /* http://HOST:PORT/ */
	bool long_questions;
	size_t answer_max; /* bytes of an answer */
	uint64_t sent_bytes;
	/* Of the question whose answer is awaited. */
	const char *asked;
	const struct row_stream *rows;
	uint64_t received_bytes, asked_ns, progress_ns;
	store_progress_fn *progress; /* NULL: none */
	void *progress_ctx;
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

/* All may be NULL. */
struct click_server_options {
	bool long_questions; /* the server may take minutes for an answer, and reports its progress
	                      */
	bool patient;        /* of a job without a user who waits: the server may be silent, too */
	/* Limits of an answer; 0: those of reports. */
	size_t answer_max;
	uint64_t total_ms;
	/* As in http_client.h. The token is the password; NULL: those of the environment. */
	const char *token_file, *ca_file;
	bool files_once;
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

int click_server_open(struct click_server **out, const char *name,
                      const struct click_server_options *o, struct error *err);
void click_server_close(struct click_server *s); /* NULL-safe */
/*
 * Appends "host IN (..)". A statement has a limited size, so many values become a table of all
 * further questions: `values` is valid until it is empty, and this function is called again for the
 * column.
 */
void click_server_in(struct click_server *s, enum click_column column,
                     const struct click_map *values, struct buf *sql);
/* Appends " AND host IN (..)"; nothing if there are no values, which means all. */
void click_server_and_in(struct click_server *s, enum click_column column,
                         const struct click_map *values, struct buf *sql);
/* The condition on chosen machines: of the `all` that the store has. */
void click_server_of_hosts(struct click_server *s, const struct click_map *chosen, size_t all,
                           struct buf *sql);
/* No more tables: their values are freed. */
void click_server_drop_tables(struct click_server *s);
/* Runs a statement outside of the database, as CREATE DATABASE. */
int click_server_run(struct click_server *s, const char *sql, bool in_database, struct error *err);

/*
 * Asks, and calls `row` for each row of the answer (letters of row_binary.h); `what`: for messages.
 * `row` asks no other question.
 */
int click_server_rows(struct click_server *s, const char *sql, const struct click_map *set,
                      const char *letters, const char *what, row_fn *row, void *ctx,
                      struct error *err);

/* store_keep_password(). */
int click_server_keep_password(struct error *err);

/* Sets the sentence for an answer that cannot be read; returns -EPROTO. */
int click_server_bad(const struct click_server *s, const char *what, struct error *err);

#endif
