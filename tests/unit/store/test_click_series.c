/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by service, host and time, from answers of a server that are written by hand. */
#include "store/clickhouse/click_series.h"

#include "base/http/http_url.h"
#include "check.h"
#include "format/clickhouse/row_binary.h"

#include <errno.h>

#define START UINT64_C(1700000000)
#define SECOND UINT64_C(1000000000)

enum { WEB1 = 11, DB1, SERVICE = 21, VERSION = 31, LABELS = 41 };

#define MANY 50
static bool many;
/* In sums, if labels were not asked for. */
static uint64_t wrong_labels;
/* Sums of all machines have so many parts; 0: there is none. */
static uint64_t parts_of_sum;
/* Parts of samples in the question for sums; none: it has no table of them. */
static uint64_t parts_read[200];
static size_t parts_read_count;
/* What the server was asked last. */
static struct buf questions;

static void put_name(const struct click_map *set, struct buf *out)
{
	static const struct {
		uint64_t id;
		const char *text;
	} names[] = {{SERVICE, "web.service"}, {VERSION, "1.2"}, {LABELS, "tier=it's one"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (click_map_has(set, names[i].id))
			row_put(out, "qs", names[i].id, names[i].text);
}

/* As many hosts, services, versions and sets of labels as a statement has in itself. */
static void put_many(const char *sql, const struct click_map *set, struct buf *out)
{
	bool hosts = strstr(sql, " FROM hosts ") != NULL;

	for (size_t i = 0; set && i < set->pairs.count; i++)
		row_put(out, "qs", set->pairs.items[i].key, "a=b");
	for (uint64_t i = 0; !set && i < MANY + hosts; i++) {
		uint64_t id = UINT64_MAX - i;

		if (hosts)
			row_put(out, "qs", id, i < MANY ? "many" : "other");
		else
			row_put(out, "q", id);
	}
}

/* A sum of the first five windows, and one of windows that another sum has, or are not selected. */
static void put_sum(struct buf *out)
{
	static const uint64_t covered[3][5] = {{100, 101, 102, 103, 104}, {104, 105}, {105, 106}};
	static const size_t counts[3] = {5, 2, 2};

	for (size_t i = 0; i < 3 && parts_of_sum; i++) {
		row_put(out, "q", START * SECOND);
		row_put_count(out, counts[i]);
		for (size_t j = 0; j < counts[i]; j++)
			row_put(out, "q", covered[i][j]);
		row_put_count(out, parts_of_sum);
		for (uint64_t part = 0; part < parts_of_sum; part++)
			row_put(out, "q", 300 + 10 * i + part);
	}
}

/* `labels`: the table of the request for sums; NULL: none. */
static void put_answer(const char *sql, const struct click_map *set, const struct click_map *labels,
                       struct buf *out)
{
	if (many && (strstr(sql, "DISTINCT") || strstr(sql, " FROM hosts "))) {
		put_many(sql, set, out);
	} else if (strstr(sql, " FROM hosts ")) {
		row_put(out, "qs", (uint64_t)DB1, "db1");
		row_put(out, "qs", (uint64_t)WEB1, "web1");
	} else if (strstr(sql, "min(start_ns), max(end_ns)")) {
		row_put(out, "qq", START * SECOND, (START + 60) * SECOND);
	} else if (strstr(sql, "SELECT key, part, start_ns")) {
		for (uint64_t i = 0; i < 6; i++)
			row_put(out, "qqq", 100 + i, 200 + i, (START + i * 10) * SECOND);
	} else if (strstr(sql, "replaces, parts FROM")) {
		put_sum(out);
	} else if (strstr(sql, "SELECT count()")) {
		row_put(out, "qqq", UINT64_C(6), START, START + 50);
	} else if (strstr(sql, "SELECT DISTINCT service")) {
		row_put(out, "q", (uint64_t)SERVICE);
		row_put(out, "q", UINT64_C(0));
	} else if (strstr(sql, "SELECT DISTINCT version")) {
		row_put(out, "q", (uint64_t)VERSION);
		row_put(out, "q", UINT64_C(0));
	} else if (strstr(sql, "SELECT DISTINCT labels")) {
		row_put(out, "q", (uint64_t)LABELS);
		row_put(out, "q", UINT64_C(0));
	} else if (strstr(sql, " FROM names ")) {
		put_name(set, out);
	} else {
		row_put(out, "qqqqqqqq", (uint64_t)SERVICE, (uint64_t)WEB1, (uint64_t)VERSION,
		        labels ? click_map_get(labels, LABELS) : wrong_labels, START, UINT64_C(10),
		        UINT64_C(3), 3 * SECOND);
		row_put(out, "qqqqqqqq", UINT64_C(0), (uint64_t)DB1, UINT64_C(0), UINT64_C(0),
		        START + 15, UINT64_C(10), UINT64_C(1), SECOND);
	}
}

static int answer(struct click_server *s, const char *sql, const struct click_map *set,
                  click_receive_fn *receive, void *ctx, struct error *err)
{
	struct buf out = {0};
	int status;

	buf_addf(&questions, "%s\n", sql);
	put_answer(sql, set, s->tables[CLICK_OF_LABELS], &out);
	if (set && strstr(sql, "AS by_service"))
		for (uint64_t part = 200; part < 400; part++)
			if (click_map_has(set, part))
				parts_read[parts_read_count++] = part;
	status = receive(ctx, out.data, out.size, err);
	buf_done(&out);
	return status;
}

static int ask(const struct store_sums_request *q, struct store_sums *sums, struct error *err)
{
	struct click_server server = {.name = (char *)(uintptr_t) "clickhouse://h/d",
	                              .ask = answer};

	*sums = (struct store_sums){0};
	buf_clear(&questions);
	parts_read_count = 0;
	return click_series_ask(&server, q, sums, err);
}

static bool asked(const char *words)
{
	return strstr(buf_text(&questions), words) != NULL;
}

static const char *first_letters(void *ctx, const char *lines)
{
	return strstr(lines, "one") ? "tier=it" : "";
}

static void sums_have_the_names_of_their_hashes(void)
{
	const struct store_sums_request q = {.by_service = true,
	                                     .by_host = true,
	                                     .by_version = true,
	                                     .by_labels = first_letters,
	                                     .step_ns = 15 * SECOND};
	struct store_sums sums;
	const struct store_sum *one;

	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK_EQ(sums.hosts, 2);
	CHECK_EQ(sums.windows, 6);
	CHECK_EQ(sums.first_ns, START * SECOND);
	CHECK_EQ(sums.last_ns, (START + 60) * SECOND);
	CHECK_EQ(sums.sums.count, 2);
	one = &sums.sums.items[0];
	CHECK_STR(intern_text(&sums.texts, one->service), "web.service");
	CHECK_STR(intern_text(&sums.texts, one->host), "web1");
	CHECK_STR(intern_text(&sums.texts, one->version), "1.2");
	CHECK_STR(intern_text(&sums.texts, one->labels), "tier=it");
	CHECK_EQ(one->start_ns, START * SECOND);
	CHECK_EQ(one->length_ns, 10 * SECOND);
	CHECK_EQ(one->samples, 3);
	CHECK_EQ(one->weight_ns, 3 * SECOND);
	CHECK_STR(intern_text(&sums.texts, sums.sums.items[1].service), "");
	store_sums_done(&sums);
}

static void patterns_choose_hosts_and_services(void)
{
	struct store_sums_request q = {.range = {.host = "web*", .service = "web*"}};
	struct store_sums sums;

	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(asked("host IN (11)"));
	CHECK(asked("service IN (21)"));
	store_sums_done(&sums);
	q.range = (struct store_range){.version = "1.*"};
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(asked("version IN (31)"));
	store_sums_done(&sums);
	q.range = (struct store_range){.host = "mail*"};
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK_EQ(sums.sums.count, 0);
	CHECK_EQ(sums.hosts, 2);
	store_sums_done(&sums);
}

static bool is_db1(void *ctx, const char *name)
{
	return !strcmp(name, "db1");
}

static bool is_nameless(void *ctx, const char *name)
{
	return !*name;
}

static void functions_choose_hosts_and_services(void)
{
	const struct store_choice choice = {
	        .host = is_db1, .service = is_nameless, .version = is_nameless};
	const struct store_sums_request q = {.range.choice = &choice};
	struct store_sums sums;

	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(asked("host IN (12)"));
	CHECK(asked("service IN (0)"));
	CHECK(asked("version IN (0)"));
	store_sums_done(&sums);
}

static bool is_tier_one(void *ctx, const char *lines)
{
	return !strcmp(lines, "tier=it's one");
}

static bool is_any(void *ctx, const char *name)
{
	return true;
}

/* The text of labels is compared here, too. Without a condition on labels, none are asked for. */
static void a_function_chooses_labels(void)
{
	struct store_choice choice = {.host = is_any, .service = is_any, .version = is_any};
	const struct store_sums_request q = {.range.choice = &choice};
	struct store_sums sums;

	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(!asked("DISTINCT labels") && !asked("labels IN"));
	store_sums_done(&sums);
	choice.labels = is_tier_one;
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(asked("labels IN (41)"));
	CHECK(!asked("tier"));
	store_sums_done(&sums);
	choice.labels = is_nameless;
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(asked("labels IN (0)"));
	store_sums_done(&sums);
}

static bool is_many(void *ctx, const char *name)
{
	return !strcmp(name, "many");
}

/* A statement is a part of an address, of which servers accept 16 KB. */
static void statements_have_a_limited_size(void)
{
	const struct store_choice choice = {
	        .host = is_many, .service = is_any, .version = is_any, .labels = is_any};
	const struct store_sums_request q = {.range.choice = &choice,
	                                     .by_service = true,
	                                     .by_host = true,
	                                     .by_version = true,
	                                     .by_labels = first_letters,
	                                     .step_ns = SECOND};
	struct store_sums sums;
	struct buf escaped = {0};
	const char *last;

	many = true;
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	many = false;
	last = strstr(buf_text(&questions), "SELECT by_service");
	CHECK(last && strstr(last, "labels IN (18446744073709551615,"));
	http_escape(&escaped, last ? last : "");
	CHECK(escaped.size < 16000);
	buf_done(&escaped);
	store_sums_done(&sums);
}

/* The text of labels of a sum is one that the server got. */
static void unknown_labels_of_sums_are_refused(void)
{
	const struct store_sums_request q = {.by_host = true};
	struct store_sums sums;
	struct error err = {0};

	wrong_labels = 1000;
	CHECK_EQ(ask(&q, &sums, &err), -EPROTO);
	wrong_labels = 0;
	store_sums_done(&sums);
}

/* A host named like a statement is compared here, and its text is in no question. */
static void no_text_is_in_a_question(void)
{
	const struct store_sums_request q = {
	        .range = {.host = "'); DROP TABLE x; --", .service = "' OR 1"}};
	struct store_sums sums;

	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(!asked("DROP") && !asked("OR 1"));
	store_sums_done(&sums);
}

/* Windows that a sum has are not read. The rows by machine are the fourth part of a sum. */
static void sums_of_all_machines_replace_windows(void)
{
	struct store_sums_request q = {.by_service = true, .by_host = true};
	struct store_sums sums;

	parts_of_sum = 4;
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK_EQ(sums.windows, 6);
	CHECK_EQ(parts_read_count, 2);
	CHECK_EQ(parts_read[0], 205);
	CHECK_EQ(parts_read[1], 303);
	CHECK(asked("time >= toDateTime(1700000050) AND time <= toDateTime(1700000050)"));
	store_sums_done(&sums);
	q.by_host = false;
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK_EQ(parts_read[1], 300);
	store_sums_done(&sums);
	q.range.host = "web*";
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK_EQ(parts_read_count, 0);
	store_sums_done(&sums);
	/* Sums that an earlier version made have no rows by machine. */
	q = (struct store_sums_request){.by_host = true};
	parts_of_sum = 3;
	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK_EQ(parts_read_count, 6);
	CHECK_EQ(parts_read[5], 205);
	parts_of_sum = 0;
	store_sums_done(&sums);
}

static void the_range_is_that_of_windows(void)
{
	const struct store_sums_request q = {
	        .range = {.from_ns = START * SECOND, .to_ns = (START + 30) * SECOND}};
	struct store_sums sums;

	CHECK_EQ(ask(&q, &sums, NULL), 0);
	CHECK(asked("end_ns > 1700000000000000000 AND start_ns < 1700000030000000000"));
	CHECK(asked("time >= toDateTime(1700000000) AND time <= toDateTime(1700000050)"));
	store_sums_done(&sums);
}

int main(void)
{
	RUN(sums_have_the_names_of_their_hashes);
	RUN(patterns_choose_hosts_and_services);
	RUN(functions_choose_hosts_and_services);
	RUN(a_function_chooses_labels);
	RUN(statements_have_a_limited_size);
	RUN(unknown_labels_of_sums_are_refused);
	RUN(no_text_is_in_a_question);
	RUN(sums_of_all_machines_replace_windows);
	RUN(the_range_is_that_of_windows);
	buf_done(&questions);
	return check_end();
}
