/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses, services, pauses, the spool, and answers of receivers of OTLP. */
#include "base/memory/xalloc.h"
#include "format/otlp/otlp_answer.h"
#include "base/process/backoff.h"
#include "push/push_service.h"
#include "push/push_spool.h"
#include "push/push_target.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void targets_are_parsed(void)
{
	struct push_target t;
	struct error err = {0};

	CHECK(push_target_is("otlp+http://h") && push_target_is("pprof-dir:x"));
	CHECK(!push_target_is("otlp"));
	CHECK(!push_target_parse("otlp+https://me@h:1/tenant/", &t, &err));
	CHECK_EQ(t.kind, PUSH_OTLP);
	CHECK_STR(t.url, "https://h:1/tenant/v1development/profiles");
	CHECK_STR(t.user, "me");
	push_target_done(&t);
	CHECK(!push_target_parse("pyroscope-ingest+http://h", &t, &err));
	CHECK_STR(t.url, "http://h/ingest");
	push_target_done(&t);
	CHECK_EQ(push_target_parse("http://h", &t, &err), -EINVAL);
	CHECK_EQ(push_target_parse("pprof-dir:", &t, &err), -EINVAL);
	push_target_done(&t);
}

static void services_are_units_or_cgroups(void)
{
	static const char *const cases[][2] = {
	        {"/", "system"},
	        {"/system.slice/nginx.service/worker", "nginx"},
	        {"/user.slice/user-0.slice/session-3.scope", "session-3"},
	        {"/system.slice/docker-" ID ".scope", "0123456789ab"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = profile_new();
		struct profile_row row = {.thread = process_table_thread(p->processes, 7, 7)};
		struct event path = {.kind = EVENT_CGROUP, .pid = 7, .tid = 7};
		struct push_services s;
		struct push_group g;

		push_services_init(&s);
		path.cgroup.id = 4711;
		path.cgroup.path = cases[i][0];
		path.cgroup.member = true;
		process_table_event(p->processes, &path);
		push_service_group(&s, push_service_of(&s, p, &row), &g);
		CHECK_STR(g.service, cases[i][1]);
		push_services_done(&s);
		profile_free(p);
	}
}

/* The process has labels of its own; its group. */
static uint32_t group_of(struct push_services *s, struct profile *p, int32_t pid)
{
	char text[64];
	struct event e = {.kind = EVENT_LABELS, .pid = pid, .tid = pid};
	struct profile_row row = {.thread = process_table_thread(p->processes, pid, pid)};

	snprintf(text, sizeof(text), "service.name=shop\npod=%d", pid);
	e.labels.text = text;
	process_table_event(p->processes, &e);
	return push_service_of(s, p, &row);
}

static void groups_have_one_set_of_labels_and_are_bounded(void)
{
	struct profile *p = profile_new();
	struct push_services s;
	struct push_group g;

	push_services_init(&s);
	for (int32_t pid = 1; pid <= PUSH_GROUPS_MAX; pid++)
		CHECK_EQ(group_of(&s, p, pid), pid);
	push_service_group(&s, 7, &g);
	CHECK_STR(g.service, "shop");
	CHECK_STR(g.labels, "pod=7\nservice.name=shop");
	CHECK_EQ(s.unlabelled, 0);
	for (int32_t pid = 1000; pid < 1010; pid++)
		CHECK_EQ(group_of(&s, p, pid), PUSH_GROUPS_MAX + 1);
	CHECK_EQ(s.unlabelled, 10);
	push_service_group(&s, PUSH_GROUPS_MAX + 1, &g);
	CHECK_STR(g.service, "shop");
	CHECK_STR(g.labels, "");
	push_services_done(&s);
	profile_free(p);
}

static void pauses_double_and_are_bounded(void)
{
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t first = backoff_ms(1, 500, 60000, 0);
		uint64_t third = backoff_ms(3, 500, 60000, 0);
		uint64_t late = backoff_ms(4000000000u, 500, 60000, 0);
		uint64_t asked = backoff_ms(1, 500, 60000, 7000);

		CHECK(first >= 250 && first <= 500);
		CHECK(third >= 1000 && third <= 2000);
		CHECK(late >= 30000 && late <= 60000);
		CHECK(asked >= 7000 && asked <= 7700);
		CHECK(backoff_ms(1, 500, 60000, UINT64_MAX) <= 11 * BACKOFF_ASKED_MAX_MS / 10);
	}
}

static void answers_of_receivers_are_read(void)
{
	static const char partial[] = "\x0a\x09\x08\x02\x12\x05"
	                              "a\x1b[1m";
	struct otlp_answer a;

	CHECK(otlp_answer_read("", 0, &a) && !a.rejected);
	CHECK(otlp_answer_read(partial, sizeof(partial) - 1, &a));
	CHECK_EQ(a.rejected, 2);
	CHECK_STR(buf_text(&a.message), "a\\x1b[1m");
	buf_done(&a.message);
	for (size_t cut = 1; cut < sizeof(partial) - 1; cut++) {
		CHECK(!otlp_answer_read(partial, cut, &a));
		CHECK(!a.rejected && !a.message.data);
	}
	CHECK(!otlp_answer_read("<html>", 6, &a));
}

/* ---- the spool ----------------------------------------------------------- */

static struct push_batch batch_of(const char *query, const char *body, uint64_t samples)
{
	struct push_batch b = {.samples = samples};

	buf_puts(&b.query, query);
	buf_puts(&b.body, body);
	return b;
}

static int add(struct push_spool *s, uint64_t time_ns, const char *body, struct send_count *dropped)
{
	struct push_batch b = batch_of("?a=1", body, strlen(body));
	struct error err = {0};
	int ret = push_spool_add(s, time_ns, &b, dropped, &err);

	push_batch_done(&b);
	return ret;
}

/* Takes the oldest batch, which has this body. */
static void take(struct push_spool *s, struct push_item *item, const char *body)
{
	struct error err = {0};

	CHECK_EQ(push_spool_take(s, item, &err), 0);
	CHECK_STR(buf_text(&item->batch.body), body);
	CHECK_STR(buf_text(&item->batch.query), *body ? "?a=1" : "");
	CHECK_EQ(item->batch.samples, strlen(body));
}

static void count_is(struct push_spool *s, uint64_t batches, uint64_t samples)
{
	struct send_count c;

	CHECK_EQ(push_spool_count(s, &c), 0);
	CHECK_EQ(c.batches, batches);
	CHECK_EQ(c.samples, samples);
}

static struct push_spool *open_spool(const char *directory, uint64_t bytes)
{
	const struct push_spool_options o = {directory, "otlp+http://h", bytes};
	struct push_spool *s;
	struct error err = {0};

	if (push_spool_open(&s, &o, &err))
		printf("# %s\n", err.text);
	return s;
}

static void remove_all(const char *directory)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -r '%s'", directory);
	CHECK(!system(command));
}

static void batches_leave_in_the_order_of_time(void)
{
	char directory[] = "/tmp/test-push-XXXXXX";
	struct send_count dropped;
	struct push_item item;
	struct push_spool *s;

	CHECK(mkdtemp(directory) != NULL);
	s = open_spool(directory, 1 << 20);
	take(s, &item, "");
	CHECK(!item.name[0]);
	CHECK_EQ(add(s, 20, "second", &dropped), 0);
	CHECK_EQ(add(s, 10, "first", &dropped), 0);
	take(s, &item, "first");
	push_item_done(&item);
	push_spool_close(s); /* without removing it: it is sent again */
	s = open_spool(directory, 1 << 20);
	count_is(s, 2, 11);
	take(s, &item, "first");
	push_spool_return(s, &item);
	push_item_done(&item);
	take(s, &item, "first");
	push_spool_remove(s, &item);
	push_item_done(&item);
	take(s, &item, "second");
	push_item_done(&item);
	count_is(s, 1, 6);
	push_spool_close(s);
	remove_all(directory);
}

static void the_oldest_batches_are_dropped(void)
{
	char directory[] = "/tmp/test-push-XXXXXX";
	char body[101] = "";
	struct send_count dropped;
	struct push_item item;
	struct push_spool *s;

	memset(body, 'x', 100);
	CHECK(mkdtemp(directory) != NULL);
	s = open_spool(directory, 300);
	CHECK_EQ(add(s, 1, body, &dropped), 0);
	CHECK_EQ(add(s, 2, body, &dropped), 0);
	CHECK_EQ(dropped.batches, 0);
	CHECK_EQ(add(s, 3, body, &dropped), 0);
	CHECK_EQ(dropped.batches, 1);
	CHECK_EQ(dropped.samples, 100);
	take(s, &item, body); /* 2, which is not dropped while it is sent */
	CHECK_EQ(add(s, 4, body, &dropped), 0);
	CHECK_EQ(dropped.batches, 1);
	CHECK(!strncmp(item.name, "00000000000000000002-", 21));
	push_spool_remove(s, &item);
	push_item_done(&item);
	take(s, &item, body);
	CHECK(!strncmp(item.name, "00000000000000000004-", 21));
	push_item_done(&item);
	memset(body, 'y', 100);
	CHECK_EQ(
	        push_spool_add(s, 5, &(struct push_batch){.body = {body, 1000, 0}}, &dropped, NULL),
	        -EFBIG);
	count_is(s, 1, 100);
	push_spool_close(s);
	remove_all(directory);
}

static void damaged_and_foreign_files(void)
{
	char directory[] = "/tmp/test-push-XXXXXX", path[200];
	struct send_count dropped;
	struct push_item item;
	struct push_spool *s, *other;
	struct error err = {0};
	const struct push_spool_options o = {directory, "otlp+http://h", 1000};
	FILE *f;

	CHECK(mkdtemp(directory) != NULL);
	s = open_spool(directory, 1000);
	CHECK_EQ(push_spool_open(&other, &o, &err), -EBUSY);
	snprintf(path, sizeof(path), "%s/00000000000000000001-00000000-7.batch",
	         push_spool_path(s));
	f = fopen(path, "w");
	fputs("assay-push 1 999999\nabc\n", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/notes.txt", push_spool_path(s));
	fclose(fopen(path, "w"));
	CHECK_EQ(add(s, 2, "good", &dropped), 0);
	count_is(s, 2, 11);
	CHECK_EQ(push_spool_take(s, &item, &err), -EINVAL);
	CHECK(strstr(err.text, "is damaged") != NULL);
	CHECK_EQ(item.batch.samples, 7);
	push_spool_remove(s, &item);
	push_item_done(&item);
	take(s, &item, "good");
	push_item_done(&item);
	push_spool_close(s);
	remove_all(directory);
}

int main(void)
{
	RUN(targets_are_parsed);
	RUN(services_are_units_or_cgroups);
	RUN(groups_have_one_set_of_labels_and_are_bounded);
	RUN(pauses_double_and_are_bounded);
	RUN(answers_of_receivers_are_read);
	RUN(batches_leave_in_the_order_of_time);
	RUN(the_oldest_batches_are_dropped);
	RUN(damaged_and_foreign_files);
	return check_end();
}
