/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores on a server without a server: names of stores, ids, and what a sender sends when inserts
 * fail. tests/e2e/test_clickhouse.py has a server.
 */
#include "store_file_fixture.h"

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_sender_internal.h"
#include "store/clickhouse/click_spool.h"

#include <errno.h>

static void urls_are_parsed(void)
{
	struct error err = {0};
	struct click_url u;

	CHECK_EQ(click_url_parse("clickhouse://db.example.com/assay", &u, &err), 0);
	CHECK(!u.tls && !u.user && u.port == 8123);
	CHECK_STR(u.host, "db.example.com");
	CHECK_STR(u.database, "assay");
	click_url_done(&u);
	CHECK_EQ(click_url_parse("clickhouse+https://me@[::1]:99/a_1", &u, &err), 0);
	CHECK(u.tls && u.port == 99);
	CHECK_STR(u.user, "me");
	CHECK_STR(u.host, "[::1]");
	click_url_done(&u);
	CHECK(!click_url_has("clickhouse.db"));
	CHECK(!click_url_has("/clickhouse://a/b"));
}

static void wrong_urls_are_refused(void)
{
	static const char *const wrong[] = {
	        "clickhouse://",          "clickhouse://h",       "clickhouse:///d",
	        "clickhouse://h/",        "clickhouse://h:/d",    "clickhouse://h:0/d",
	        "clickhouse://h:70000/d", "clickhouse://h:1x/d",  "clickhouse://h/d'",
	        "clickhouse://h/d d",     "clickhouse://h/d?a=b", "clickhouse://[]/d",
	        "clickhouse://u'@h/d",    "clickhouse://h\n/d",   "clickhouse://a#b/d",
	        "clickhouse://@h/d",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error err = {0};
		struct click_url u;

		CHECK_EQ(click_url_parse(wrong[i], &u, &err), -EINVAL);
		CHECK(strstr(err.text, "clickhouse://[USER@]HOST") != NULL);
	}
}

/* Ids are in databases of users: they never change. */
static void ids_depend_on_contents_alone(void)
{
	CHECK_EQ(click_digest("name", "s", "loop"), click_digest("name", "b", "loop", (size_t)4));
	CHECK(click_digest("name", "ss", "ab", "c") != click_digest("name", "ss", "a", "bc"));
	CHECK(click_digest("name", "q", UINT64_C(1)) != click_digest("path", "q", UINT64_C(1)));
	CHECK_EQ(click_digest("name", "s", "loop"), UINT64_C(0x94e3884906f7c100));
}

#define TABLES 16

struct told {
	struct click_server server;
	char names[TABLES][32];
	size_t bytes[TABLES], count;
	size_t fail_at; /* this insert fails; SIZE_MAX: none */
	struct buf known;
	uint64_t key, part;    /* of the first window of an insert */
	bool cut;              /* the answer about parts that arrived ends too early */
	uint64_t ended, alive; /* rows of processes with and without an end */
};

static void count_processes(struct told *t, const struct buf *rows)
{
	struct row_reader r = row_reader_of(rows);
	struct row_value v[17];

	while (row_reader_next(&r, "qqqqdqqqqqbbdqqqq", v) == 1) {
		bool alive = v[8].number == (uint64_t)CLICK_NULL;

		t->alive += alive;
		t->ended += !alive;
	}
}

static int told_insert(struct click_server *s, const char *table, const struct buf *rows,
                       struct error *err)
{
	struct told *t = (struct told *)s;
	struct row_reader r = {.at = rows->data, .end = rows->data + rows->size};
	struct row_value v[4];

	if (t->count == t->fail_at)
		return error_set(err, EHOSTUNREACH, "away");
	snprintf(t->names[t->count], sizeof(t->names[0]), "%.*s", (int)strcspn(table, " "), table);
	t->bytes[t->count++] = rows->size;
	if (!strncmp(table, "processes ", 10))
		count_processes(t, rows);
	if (!strncmp(table, "windows_2 (host, time, key, ", 28) &&
	    row_reader_next(&r, "qdqq", v) == 1) {
		t->key = v[2].number;
		t->part = v[3].number;
	}
	return 0;
}

static int told_batch(struct click_server *s, const char *sql, const char *structure,
                      const struct buf *rows, struct error *err)
{
	const char into[] = "INSERT INTO ";

	CHECK(strstr(sql, "(SELECT rand64()), 32)) AS part") != NULL);
	CHECK(!strncmp(sql, into, sizeof(into) - 1));
	return told_insert(s, sql + sizeof(into) - 1, rows, err);
}

#define ARRIVAL (UINT64_C(5) << 32)

static int told_ask(struct click_server *s, const char *sql, const struct click_map *set,
                    click_receive_fn *receive, void *ctx, struct error *err)
{
	struct told *t = (struct told *)s;
	struct buf answer = {0};
	int status;

	if (strncmp(sql, "SELECT DISTINCT part", 20) != 0)
		return receive(ctx, t->known.data, t->known.size, err);
	/* Two arrivals of each, as after a repeated request. */
	vec_each (pair, &set->pairs) {
		row_put(&answer, "q", pair->key + 2 * ARRIVAL);
		row_put(&answer, "q", pair->key + ARRIVAL);
	}
	if (t->cut)
		buf_putc(&answer, 'x');
	status = receive(ctx, answer.data, answer.size, err);
	buf_done(&answer);
	return status;
}

static bool has_table(const struct told *t, const char *table)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->names[i], table))
			return true;
	return false;
}

static struct told a_server(void)
{
	return (struct told){.server = {.name = (char *)(uintptr_t) "clickhouse://told/db",
	                                .insert = told_insert,
	                                .insert_batch = told_batch,
	                                .ask = told_ask},
	                     .fail_at = SIZE_MAX};
}

static struct store *a_store(struct world *w, struct error *err)
{
	struct store *s = begin(w, "here", err);

	for (uint64_t i = 0; i < 3; i++) {
		world_sample(w, 1, 1, 16, 32 + 16 * i, 5);
		CHECK_EQ(world_window(w, s, i, err), 0);
	}
	return s;
}

static void windows_come_last_and_only_if_all_is_sent(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = a_store(&w, &err);
	int64_t ids[] = {1, 2, 3};
	size_t all;

	for (size_t fail = 0; fail <= TABLES; fail++) {
		struct told t = a_server();
		struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);

		t.fail_at = fail;
		if (!click_sender_windows(sender, ids, 3, &err)) {
			all = t.count;
			CHECK_STR(t.names[all - 1], "windows_2");
			CHECK(fail >= all);
			/* Dictionaries are not sent again. */
			t.count = 0;
			CHECK_EQ(click_sender_windows(sender, ids, 3, &err), 0);
			CHECK_EQ(t.count, 3);
			CHECK(!has_table(&t, "stacks") && !has_table(&t, "names"));
		} else {
			CHECK(!has_table(&t, "windows_2"));
			/* After a failure all is sent again. */
			t.count = 0;
			t.fail_at = SIZE_MAX;
			CHECK_EQ(click_sender_windows(sender, ids, 3, &err), 0);
			CHECK(has_table(&t, "stacks") && has_table(&t, "windows_2"));
		}
		click_sender_free(sender);
	}
	end(&w, s);
}

static void send(struct told *t, struct click_sender *sender, int64_t window, int status)
{
	struct error err = {0};

	t->count = t->ended = t->alive = 0;
	CHECK_EQ(click_sender_windows(sender, &window, 1, &err), status);
}

/* A process that was sent without its end is sent again when it ends, also after a failure. */
static void ends_of_processes_are_sent(void)
{
	struct error err = {0};
	struct told t = a_server();
	struct world w;
	struct store *s = begin(&w, "here", &err);
	struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);

	world_fork(&w, 1, 70, 70);
	for (uint64_t i = 0; i < 4; i++) {
		if (i == 2)
			world_exit(&w, 70, 70);
		world_sample(&w, 1, 1, 16, 32, 5);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
		if (i == 0) {
			send(&t, sender, 1, 0);
			CHECK(t.alive > 0);
			CHECK_EQ(t.ended, 0);
		} else if (i == 1) {
			t.fail_at = 0;
			send(&t, sender, 2, -EHOSTUNREACH);
			t.fail_at = SIZE_MAX;
			send(&t, sender, 2, 0);
			CHECK_EQ(t.ended, 0);
		} else {
			send(&t, sender, (int64_t)i + 1, 0);
			CHECK_EQ(t.ended, i == 2);
		}
	}
	click_sender_free(sender);
	end(&w, s);
}

#define SHORT_PROCESSES 3000 /* in a window */
#define SHORT_WINDOWS 16

/* Processes that begin and end, for ever: what the sender remembers stays the same. */
static void the_memory_of_a_sender_is_bounded(void)
{
	struct error err = {0};
	struct told t = a_server();
	struct world w;
	struct store *s = begin(&w, "here", &err);
	struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);
	size_t most = 0;

	for (uint64_t i = 0; i < SHORT_WINDOWS; i++) {
		for (int k = 0; k < SHORT_PROCESSES; k++) {
			int32_t pid = (int32_t)(1000 + i % 2 * SHORT_PROCESSES + k);

			world_fork(&w, 1, pid, pid);
			world_exit(&w, pid, pid);
		}
		world_sample(&w, 1, 1, 16, 32, 5);
		CHECK_EQ(world_window(&w, s, i, &err), 0);
		send(&t, sender, (int64_t)i + 1, 0);
		CHECK_EQ(t.ended, SHORT_PROCESSES);
		CHECK(sender->living.pairs.count < 10);
		if (sender->sent.pairs.count > most)
			most = sender->sent.pairs.count;
	}
	CHECK(most < SHORT_WINDOWS / 2 * SHORT_PROCESSES);
	CHECK_EQ(sender->rows[CLICK_PROCESSES].room, 0);
	/* Rows that each batch uses are known all the time. */
	CHECK(!has_table(&t, "stacks") && !has_table(&t, "names"));
	click_sender_free(sender);
	end(&w, s);
}

static void windows_that_the_server_has_are_not_sent(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = a_store(&w, &err);
	struct told t = a_server();
	struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);
	int64_t ids[] = {1, 2, 3};

	CHECK_EQ(click_sender_windows(sender, ids + 2, 1, &err), 0);
	row_put(&t.known, "q", t.key);
	click_sender_forget(sender);
	t.count = 0;
	CHECK_EQ(click_sender_windows(sender, ids + 2, 1, &err), 0);
	CHECK(!has_table(&t, "windows_2") && !has_table(&t, "samples_2"));
	CHECK_EQ(click_sender_windows(sender, ids, 2, &err), 0);
	CHECK(has_table(&t, "windows_2") && has_table(&t, "samples_2"));
	/* A window that was deleted is none. */
	ids[0] = 77;
	t.count = 0;
	CHECK_EQ(click_sender_windows(sender, ids, 1, &err), 0);
	CHECK(!has_table(&t, "windows_2"));
	buf_done(&t.known);
	click_sender_free(sender);
	end(&w, s);
}

static void a_cut_answer_is_an_error(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = a_store(&w, &err);
	struct told t = a_server();
	struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);
	int64_t id = 1;

	buf_add(&t.known, "1234567", 7);
	CHECK_EQ(click_sender_windows(sender, &id, 1, &err), -EPROTO);
	CHECK(strstr(err.text, "clickhouse://told/db") != NULL);
	CHECK(!has_table(&t, "windows_2"));
	buf_done(&t.known);
	t.cut = true;
	t.count = 0;
	CHECK_EQ(click_sender_windows(sender, &id, 1, &err), -EPROTO);
	CHECK(!has_table(&t, "windows_2"));
	t.cut = false;
	t.count = 0;
	CHECK_EQ(click_sender_windows(sender, &id, 1, &err), 0);
	/* Of two arrivals of the same rows, one counts. */
	CHECK(t.part >> 32 == ARRIVAL >> 32);
	click_sender_free(sender);
	end(&w, s);
}

static void take(struct store *s, click_window_ids *ids, size_t windows, size_t samples)
{
	struct error err = {0};
	struct send_count count;

	CHECK_EQ(click_spool_take(&of_sqlite(s)->db, ids, &count, &err), 0);
	CHECK_EQ(ids->count, windows);
	CHECK_EQ(count.batches, windows);
	CHECK_EQ(count.samples, samples);
}

static void sent_windows_leave_the_spool(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = a_store(&w, &err);
	struct told t = a_server();
	struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);
	click_window_ids ids = {0};
	struct send_count waiting;

	take(s, &ids, 3, 15);
	/* Taken windows wait, and they are taken again. */
	CHECK_EQ(click_spool_waiting(&of_sqlite(s)->db, INT64_MAX, &waiting, &err), 0);
	CHECK_EQ(waiting.batches, 3);
	CHECK_EQ(waiting.samples, 15);
	take(s, &ids, 3, 15);
	CHECK_EQ(click_sender_windows(sender, ids.items, ids.count, &err), 0);
	CHECK_EQ(click_spool_sent(&of_sqlite(s)->db, &ids, &err), 0);
	CHECK_EQ(click_spool_waiting(&of_sqlite(s)->db, INT64_MAX, &waiting, &err), 0);
	CHECK_EQ(waiting.batches, 0);
	take(s, &ids, 0, 0);
	/* The newest stays for the end of a killed session. */
	for (int i = 0; i < 50; i++)
		CHECK_EQ(click_spool_retention(of_sqlite(s), WORLD_WALL_NS, &err), 0);
	CHECK_STR(ask("SELECT id, level FROM window"), "3|4");
	CHECK_STR(ask("SELECT count(*) FROM sample WHERE window < 3"), "0");
	vec_done(&ids);
	click_sender_free(sender);
	end(&w, s);
}

/* The server may have it after a lost answer: merging or deleting it would change its key. */
static void a_taken_window_keeps_its_key_and_its_place(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = a_store(&w, &err);
	struct told t = a_server();
	struct click_sender *sender = click_sender_new(&t.server, &of_sqlite(s)->db);
	click_window_ids ids = {0};
	int64_t first = 1;
	uint64_t key;

	CHECK_EQ(click_sender_windows(sender, &first, 1, &err), 0);
	key = t.key;
	take(s, &ids, 3, 15);
	/* All windows are due for deletion. */
	of_sqlite(s)->options.keeping.all_ns = 1;
	for (int i = 0; i < 50; i++)
		CHECK_EQ(click_spool_retention(of_sqlite(s), WORLD_WALL_NS * 2, &err), 0);
	CHECK_EQ(of_sqlite(s)->deleted.batches, 0);
	t.count = 0;
	click_sender_forget(sender);
	CHECK_EQ(click_sender_windows(sender, ids.items, 1, &err), 0);
	CHECK(t.key == key);
	vec_done(&ids);
	click_sender_free(sender);
	end(&w, s);
}

static void a_deleted_window_is_counted_and_a_gap(void)
{
	struct error err = {0};
	struct world w;
	struct store *s = a_store(&w, &err);

	of_sqlite(s)->options.keeping.all_ns = 1;
	of_sqlite(s)->options.deleted_why = "full";
	for (int i = 0; i < 50; i++)
		CHECK_EQ(click_spool_retention(of_sqlite(s), WORLD_WALL_NS * 2, &err), 0);
	CHECK_STR(ask("SELECT count(*) FROM window"), "1");
	CHECK_EQ(of_sqlite(s)->deleted.batches, 2);
	CHECK_EQ(of_sqlite(s)->deleted.samples, 10);
	CHECK_STR(ask("SELECT count(*), (max(end_ns) - min(start_ns)) / 10000000000, why FROM gap"),
	          "1|2|full");
	end(&w, s);
}

int main(void)
{
	if (!place_make()) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	RUN(urls_are_parsed);
	RUN(wrong_urls_are_refused);
	RUN(ids_depend_on_contents_alone);
	RUN(windows_come_last_and_only_if_all_is_sent);
	RUN(ends_of_processes_are_sent);
	RUN(the_memory_of_a_sender_is_bounded);
	RUN(windows_that_the_server_has_are_not_sent);
	RUN(a_cut_answer_is_an_error);
	RUN(sent_windows_leave_the_spool);
	RUN(a_taken_window_keeps_its_key_and_its_place);
	RUN(a_deleted_window_is_counted_and_a_gap);
	place_take_away();
	return check_end();
}
