/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_server.h"

#include "base/clock.h"
#include "base/http/http_url.h"
#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "base/read/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSWORD "ASSAY_CLICKHOUSE_PASSWORD"
#define CA_FILE "ASSAY_CLICKHOUSE_CA_FILE"
#define PASSWORD_MAX 1024
#define BOUNDARY "assay-0c9a6d7f1e5b"
/* A server of a later version than 18.16 says every 5 s that it works on a long question. */
#define PROGRESS "&send_progress_in_http_headers=1&http_headers_progress_interval_ms=5000"
#define WORDS_MAX 300 /* of the server, in a message */
#define ERROR_FIRST "Code: "
#define PROGRESS_FIRST_NS 1000000000
#define PROGRESS_EACH_NS 200000000
#define VALUES_MAX 50 /* in a statement of at most 16 KB, which has a list up to five times */

int click_server_bad(const struct click_server *s, const char *what, struct error *err)
{
	return error_set(err, EPROTO,
	                 "%s: the server's answer to the question for %s is not in the expected "
	                 "form: it is cut off, or another program answers there",
	                 s->name, what);
}

/* The number after "Code: " in an answer of ClickHouse; 0: it has none. */
static int code_of(const char *words)
{
	size_t first = strlen(ERROR_FIRST);

	return strncmp(words, ERROR_FIRST, first) ? 0 : atoi(words + first);
}

/* Numbers of ClickHouse, which it never changes. */
enum {
	UNKNOWN_TABLE = 60,
	UNKNOWN_DATABASE = 81,
	UNKNOWN_USER = 192,
	WRONG_PASSWORD = 193,
	REQUIRED_PASSWORD = 194,
	IP_ADDRESS_NOT_ALLOWED = 195,
	DATABASE_ACCESS_DENIED = 291,
	READONLY = 164,
	AUTHENTICATION_FAILED = 516,
};

/* A statement, or rows. */
struct click_request {
	const char *url;
	const char *type; /* header line; NULL: any bytes */
	const void *body;
	size_t size;
	bool fresh;                /* the server must not get it twice */
	click_receive_fn *receive; /* the answer; NULL: it is empty */
	void *receive_ctx;
};

/* The answer while it arrives. */
struct click_answer {
	struct click_server *server;
	const struct click_request *request;
	struct buf head; /* while it may be the words of an error */
	bool is_rows;
};

/* Copies the first line without what old servers add to each message. */
static void first_words(const char *said, char *line, size_t size)
{
	const char *added = strstr(said, ", e.what() = ");
	size_t i = 0, length = strcspn(said, "\r\n");

	if (added && (size_t)(added - said) < length)
		length = (size_t)(added - said);
	for (; i + 1 < size && i < length; i++)
		line[i] = said[i];
	line[i] = 0;
}

/* An error after the first words on progress, when the status was sent. */
static bool is_late_error(const struct buf *answer)
{
	const char *words = buf_text(answer);

	return code_of(words) && strstr(words, "DB::Exception: ");
}

static int refuse(struct click_server *s, unsigned code, const struct buf *answer,
                  struct error *err)
{
	const char *words = buf_text(answer), *said = strstr(words, "DB::Exception: ");
	char line[WORDS_MAX];

	first_words(said ? said + strlen("DB::Exception: ") : words, line, sizeof(line));
	switch (code_of(words)) {
	case UNKNOWN_TABLE:
	case UNKNOWN_DATABASE:
		return error_set(err, ENODATA,
		                 "%s: there is no store yet; 'assay store create %s' creates it",
		                 s->name, s->name);
	case UNKNOWN_USER:
	case WRONG_PASSWORD:
	case REQUIRED_PASSWORD:
	case IP_ADDRESS_NOT_ALLOWED:
	case DATABASE_ACCESS_DENIED:
	case READONLY:
	case AUTHENTICATION_FAILED:
		return error_set(err, EACCES,
		                 "%s: the server refuses it: %s (user: USER@ in the name, "
		                 "password: " PASSWORD ")",
		                 s->name, line);
	}
	if (code == 401 || code == 403)
		return error_set(err, EACCES,
		                 "%s: the server refuses the user or the password " PASSWORD,
		                 s->name);
	return error_set(err, EPROTO, "%s: the server answers with status %u: %s", s->name, code,
	                 *line ? line : "no words");
}

static void show_progress(struct click_server *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!s->progress || now - s->asked_ns < PROGRESS_FIRST_NS ||
	    now - s->progress_ns < PROGRESS_EACH_NS)
		return;
	s->progress_ns = now;
	s->progress(s->progress_ctx,
	            &(struct store_progress){s->asked ? s->asked : "rows",
	                                     s->rows ? s->rows->rows : 0, s->received_bytes,
	                                     now - s->asked_ns});
}

/* Of libcurl, at least once a second, whether bytes arrive or not. */
static bool is_stopped(void *ctx)
{
	struct click_server *s = ctx;

	show_progress(s);
	return s->stop && s->stop(s->stop_ctx);
}

static int pass_on(const struct click_answer *a, const void *bytes, size_t size, struct error *err)
{
	const struct click_request *r = a->request;

	return r->receive && size ? r->receive(r->receive_ctx, bytes, size, err) : 0;
}

static bool may_be_error(const struct buf *head)
{
	size_t first = strlen(ERROR_FIRST);

	return !memcmp(head->data, ERROR_FIRST, head->size < first ? head->size : first) &&
	       head->size < LIMIT_HTTP_ERROR_BYTES;
}

static int on_answer(void *ctx, const void *bytes, size_t size, struct error *err)
{
	struct click_answer *a = ctx;
	struct click_server *s = a->server;

	s->received_bytes += size;
	if (s->received_bytes > s->answer_max)
		return error_set(err, EFBIG,
		                 "%s: the answer to the question for %s is larger than %zu bytes: "
		                 "select a shorter time (--from, --until) or a machine (--host)",
		                 s->name, s->asked ? s->asked : "rows", s->answer_max);
	if (a->is_rows)
		return pass_on(a, bytes, size, err);
	buf_add(&a->head, bytes, size);
	if (may_be_error(&a->head))
		return 0;
	a->is_rows = true;
	return pass_on(a, a->head.data, a->head.size, err);
}

static int post(struct click_server *s, const struct click_request *r, struct error *err)
{
	const char *const headers[] = {r->type ? r->type : "Content-Type: application/octet-stream",
	                               NULL};
	struct click_answer arriving = {.server = s, .request = r};
	const struct http_request request = {.url = r->url,
	                                     .method = "POST",
	                                     .headers = headers,
	                                     .body = r->size ? r->body : "",
	                                     .size = r->size,
	                                     .fresh = r->fresh,
	                                     .receive = on_answer,
	                                     .receive_ctx = &arriving};
	struct http_answer answer = {0};
	int status;

	s->received_bytes = 0;
	s->asked_ns = clock_ns(CLOCK_MONOTONIC);
	status = http_client_send(s->http, &request, &answer, err);
	s->sent_bytes += r->size;
	if (!status && (answer.status < 200 || answer.status > 299))
		status = refuse(s, answer.status, &answer.body, err);
	else if (!status &&
	         (answer.status != 200 || (!arriving.is_rows && is_late_error(&arriving.head))))
		status = refuse(s, answer.status, &arriving.head, err);
	else if (!status && !arriving.is_rows)
		status = pass_on(&arriving, arriving.head.data, arriving.head.size, err);
	buf_done(&arriving.head);
	http_answer_done(&answer);
	return status;
}

/* wait_end_of_query: the status and the length come after the last row, so no part is missing. */
static char *url_of(const struct click_server *s, bool in_database, const char *query)
{
	struct buf url = {0};
	char *text;

	buf_addf(&url, "%s?wait_end_of_query=1%s", s->base, s->long_questions ? PROGRESS : "");
	if (in_database)
		buf_addf(&url, "&database=%s", s->url.database);
	if (query) {
		buf_puts(&url, "&query=");
		http_escape(&url, query);
	}
	text = xstrdup(buf_text(&url));
	buf_done(&url);
	return text;
}

static void begin_form(struct buf *body, const char *name)
{
	buf_addf(body,
	         "\r\n--" BOUNDARY
	         "\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\""
	         "\r\nContent-Type: application/octet-stream\r\n\r\n",
	         name, name);
}

static int post_form(struct click_server *s, struct click_request *r, struct buf *body,
                     struct error *err)
{
	/*
	 * No line end: if it arrives after the rest, ClickHouse 18.16 takes it for a part of the
	 * next request on this connection, which it refuses.
	 */
	buf_puts(body, "\r\n--" BOUNDARY "--");
	r->type = "Content-Type: multipart/form-data; boundary=" BOUNDARY;
	r->body = body->data;
	r->size = body->size;
	return post(s, r, err);
}

static const char *const columns[CLICK_COLUMNS] = {"host", "service", "version", "labels"};

void click_server_in(struct click_server *s, enum click_column column,
                     const struct click_map *values, struct buf *sql)
{
	const char *before = "";

	s->tables[column] = values->pairs.count > VALUES_MAX ? values : NULL;
	buf_addf(sql, "%s %s(", columns[column], s->tables[column] ? "GLOBAL IN " : "IN ");
	if (s->tables[column])
		buf_addf(sql, "SELECT key FROM chosen_%s", columns[column]);
	for (size_t i = 0; !s->tables[column] && i < values->pairs.count; i++, before = ",")
		buf_addf(sql, "%s%" PRIu64, before, values->pairs.items[i].key);
	buf_puts(sql, ")");
}

void click_server_and_in(struct click_server *s, enum click_column column,
                         const struct click_map *values, struct buf *sql)
{
	if (!values->pairs.count)
		return;
	buf_puts(sql, " AND ");
	click_server_in(s, column, values, sql);
}

/* Host 0 has sums of all. */
void click_server_of_hosts(struct click_server *s, const struct click_map *chosen, size_t all,
                           struct buf *sql)
{
	if (chosen->pairs.count == all)
		buf_puts(sql, "host != 0");
	else
		click_server_in(s, CLICK_OF_HOST, chosen, sql);
}

void click_server_drop_tables(struct click_server *s)
{
	memset(s->tables, 0, sizeof(s->tables));
}

static void put_number(struct buf *body, uint64_t number)
{
	for (int i = 0; i < 64; i += 8)
		buf_putc(body, (char)(number >> i));
}

/* A file of a form, which the statement sees as a temporary table. */
static void add_table(struct buf *url, struct buf *body, const char *name,
                      const struct click_map *map, bool values)
{
	buf_addf(url, "&%s_structure=key%%20UInt64%s&%s_format=RowBinary", name,
	         values ? ",value%20UInt64" : "", name);
	begin_form(body, name);
	vec_each (pair, &map->pairs) {
		put_number(body, pair->key);
		if (values)
			put_number(body, pair->value);
	}
}

static int ask_with_tables(struct click_server *s, const char *sql, const struct click_map *set,
                           click_receive_fn *receive, void *ctx, struct error *err)
{
	char *plain = url_of(s, true, sql), name[32];
	struct buf url = {0}, body = {0};
	int status;

	buf_puts(&url, plain);
	if (set)
		add_table(&url, &body, "keys", set, false);
	for (size_t i = 0; i < CLICK_COLUMNS; i++) {
		snprintf(name, sizeof(name), "chosen_%s", columns[i]);
		if (s->tables[i])
			add_table(&url, &body, name, s->tables[i], true);
	}
	status = post_form(s,
	                   &(struct click_request){
	                           .url = buf_text(&url), .receive = receive, .receive_ctx = ctx},
	                   &body, err);
	buf_done(&body);
	buf_done(&url);
	free(plain);
	return status;
}

static int ask(struct click_server *s, const char *sql, const struct click_map *set,
               click_receive_fn *receive, void *ctx, struct error *err)
{
	bool tables = set;
	char *url;
	int status;

	for (size_t i = 0; i < CLICK_COLUMNS; i++)
		tables |= s->tables[i] != NULL;
	if (tables)
		return ask_with_tables(s, sql, set, receive, ctx, err);
	url = url_of(s, true, NULL);
	status = post(s,
	              &(struct click_request){.url = url,
	                                      .body = sql,
	                                      .size = strlen(sql),
	                                      .receive = receive,
	                                      .receive_ctx = ctx},
	              err);
	free(url);
	return status;
}

static int insert(struct click_server *s, const char *table, const struct buf *rows,
                  struct error *err)
{
	char *query = xasprintf("INSERT INTO %s FORMAT RowBinary", table);
	char *plain = url_of(s, true, query);
	/* Of a Distributed table: the server answers when the shards have the rows. */
	char *url = xasprintf("%s&insert_distributed_sync=1", plain);
	int status =
	        post(s, &(struct click_request){.url = url, .body = rows->data, .size = rows->size},
	             err);

	free(url);
	free(plain);
	free(query);
	return status;
}

/* The rows are one block, so that they appear at once. */
static int insert_batch(struct click_server *s, const char *sql, const char *structure,
                        const struct buf *rows, struct error *err)
{
	struct buf url = {0}, body = {0};
	char *plain = url_of(s, true, sql);
	int status;

	buf_addf(&url,
	         "%s&insert_distributed_sync=1&min_insert_block_size_rows=1000000000"
	         "&min_insert_block_size_bytes=100000000000&batch_format=RowBinary"
	         "&batch_structure=",
	         plain);
	http_escape(&url, structure);
	begin_form(&body, "batch");
	buf_add(&body, rows->data, rows->size);
	status = post_form(s, &(struct click_request){.url = buf_text(&url), .fresh = true}, &body,
	                   err);
	buf_done(&body);
	buf_done(&url);
	free(plain);
	return status;
}

int click_server_run(struct click_server *s, const char *sql, bool in_database, struct error *err)
{
	char *url = url_of(s, in_database, NULL);
	int status =
	        post(s, &(struct click_request){.url = url, .body = sql, .size = strlen(sql)}, err);

	free(url);
	return status;
}

struct click_rows {
	struct click_server *server;
	const char *what;
	struct row_stream stream;
};

static int rows_status(const struct click_rows *rows, int status, struct error *err)
{
	return status == ROW_STREAM_BAD ? click_server_bad(rows->server, rows->what, err) : status;
}

static int on_rows(void *ctx, const void *bytes, size_t size, struct error *err)
{
	struct click_rows *rows = ctx;

	return rows_status(rows, row_stream_add(&rows->stream, bytes, size, err), err);
}

int click_server_rows(struct click_server *s, const char *sql, const struct click_map *set,
                      const char *letters, const char *what, row_fn *row, void *ctx,
                      struct error *err)
{
	struct click_rows rows = {
	        .server = s,
	        .what = what,
	        .stream = {letters, row, ctx, .held_max = LIMIT_STORE_HELD_BYTES}};
	int status;

	s->asked = what;
	s->rows = &rows.stream;
	status = s->ask(s, sql, set, on_rows, &rows, err);
	if (!status)
		status = rows_status(&rows, row_stream_end(&rows.stream, err), err);
	if (s->progress && s->progress_ns)
		s->progress(s->progress_ctx, NULL);
	s->progress_ns = 0;
	s->asked = NULL;
	s->rows = NULL;
	row_stream_done(&rows.stream);
	return status;
}

/* The first line of the file; the caller frees it. */
static int read_password(const char *path, char **password, struct error *err)
{
	struct buf text = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = 0;
	ssize_t size = fd < 0 ? -1 : buf_read(&text, fd);

	if (size < 0)
		status = error_set(err, errno, "%s, from " PASSWORD "_FILE: %s", path,
		                   strerror(errno));
	if (!status && size > PASSWORD_MAX)
		status = error_set(err, EFBIG, "%s, from " PASSWORD "_FILE: not a password", path);
	if (!status)
		*password = xstrndup(buf_text(&text), strcspn(buf_text(&text), "\r\n"));
	if (fd >= 0)
		close(fd);
	buf_done(&text);
	return status;
}

static int find_password(char **password, struct error *err)
{
	const char *direct = getenv(PASSWORD), *file = getenv(PASSWORD "_FILE");

	*password = NULL;
	if (direct)
		*password = xstrdup(direct);
	return direct || !file ? 0 : read_password(file, password, err);
}

int click_server_keep_password(struct error *err)
{
	char *password;
	int status = find_password(&password, err);

	if (!status && password && setenv(PASSWORD, password, 1))
		status = error_set(err, errno, PASSWORD ": %s", strerror(errno));
	if (password)
		explicit_bzero(password, strlen(password));
	free(password);
	return status;
}

static int connect_server(struct click_server *s, const struct click_server_options *o,
                          struct error *err)
{
	struct http_client_options options = {
	        .name = s->name,
	        .total_ms = o->total_ms ? o->total_ms : LIMIT_STORE_REQUEST_MS,
	        .silent_ms = o->patient          ? LIMIT_STORE_REQUEST_MS
	                     : o->long_questions ? LIMIT_STORE_SILENT_MS
	                                         : 0,
	        .first_ms = o->patient ? 0 : LIMIT_STORE_FIRST_MS,
	        .stop = is_stopped,
	        .stop_ctx = s};
	char *password = NULL;
	int status = o->token_file ? 0 : find_password(&password, err);

	if (status)
		return status;
	options.token_file = o->token_file;
	options.ca_file = o->ca_file ? o->ca_file : getenv(CA_FILE);
	options.files_once = o->files_once;
	s->answer_max = o->answer_max ? o->answer_max : LIMIT_STORE_ANSWER_BYTES;
	s->stop = o->stop;
	s->stop_ctx = o->stop_ctx;
	options.password = password;
	options.user = s->url.user ? s->url.user : password || o->token_file ? "default" : NULL;
	s->base = xasprintf("%s://%s:%u/", s->url.tls ? "https" : "http", s->url.host, s->url.port);
	status = http_client_open(&s->http, &options, err);
	if (password)
		explicit_bzero(password, strlen(password));
	free(password);
	return status;
}

int click_server_open(struct click_server **out, const char *name,
                      const struct click_server_options *o, struct error *err)
{
	struct click_server *s = xcalloc(1, sizeof(*s));
	int status = click_url_parse(name, &s->url, err);

	*out = NULL;
	s->name = xstrdup(name);
	s->long_questions = o->long_questions;
	s->ask = ask;
	s->insert = insert;
	s->insert_batch = insert_batch;
	if (!status)
		status = connect_server(s, o, err);
	if (status) {
		click_server_close(s);
		return status;
	}
	*out = s;
	return 0;
}

void click_server_close(struct click_server *s)
{
	if (!s)
		return;
	http_client_close(s->http);
	click_url_done(&s->url);
	free(s->base);
	free(s->name);
	free(s);
}
