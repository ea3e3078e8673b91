/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between sessions and their commands: all fields arrive, and invalid messages are
 * refused.
 */
#include "check.h"
#include "session/daemon/control_message.h"
#include "session/daemon/session_registry.h"

#include <errno.h>
#include <stdlib.h>

#define HEAD "assay-session 1\n"

static struct control_reply full_reply(void)
{
	struct control_reply r = {.code = 28, .error = xstrdup("no room\nat all \\ here")};
	struct session_account *a = &r.account;
	uint64_t *numbers[] = {
	        &a->pid,          &a->started_wall_ns, &a->now_wall_ns,      &a->elapsed_ns,
	        &a->ticks_known,  &a->machine_wide,    &a->ticks_user,       &a->ticks_system,
	        &a->ticks_idle,   &a->samples,         &a->ticks_unobserved, &a->records,
	        &a->lost_records, &a->bytes,           &a->held_ns,          &a->held_most,
	        &a->left_samples, &a->snapshots,       &a->observer_cpu_ns,  &a->observer_wakeups,
	        &a->period_ns,    &a->period_asked_ns, &a->sample_cost_ns,   &a->read_gap_max_ns,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		*numbers[i] = UINT64_MAX - i;
	a->name = xstrdup("day");
	a->what = xstrdup("the whole machine");
	a->output = xstrdup("/a b/\\n\nc");
	a->error = xstrdup("");
	a->snapshot = xstrdup("/s");
	a->state = SESSION_KILLED;
	a->kind = SESSION_STORE;
	a->end = SESSION_END_ERROR;
	vec_push(&a->cpus, (struct session_account_cpu){1, 2, 3, 4, 5, 6});
	vec_push(&a->cpus, (struct session_account_cpu){7, 8, 9, 10, 11, UINT64_MAX});
	vec_push(&a->rules,
	         (struct session_account_rule){xstrdup("load>4"), 1, 0, 3420, 5, UINT64_MAX, 7});
	vec_push(&a->rules, (struct session_account_rule){.text = xstrdup("a\n b")});
	vec_push(&a->notes, xstrdup("one"));
	vec_push(&a->notes, xstrdup("end\nend"));
	return r;
}

static void check_texts(const struct control_reply *got, const struct control_reply *want)
{
	CHECK_STR(got->error, want->error);
	CHECK_STR(got->account.name, want->account.name);
	CHECK_STR(got->account.what, want->account.what);
	CHECK_STR(got->account.output, want->account.output);
	CHECK_STR(got->account.error, want->account.error);
	CHECK_STR(got->account.snapshot, want->account.snapshot);
}

static void a_reply_arrives_as_it_was(void)
{
	struct control_reply want = full_reply(), got;
	const struct session_account *w = &want.account, *g = &got.account;
	size_t numbers =
	        offsetof(struct session_account, cpus) - offsetof(struct session_account, state);
	struct error err = {0};
	struct buf text = {0};

	control_reply_write(&want, &text);
	CHECK(control_message_complete(text.data, text.size));
	CHECK_EQ(control_reply_parse(&got, text.data, text.size, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(got.code, 28);
	check_texts(&got, &want);
	CHECK(!memcmp(&g->state, &w->state, numbers));
	CHECK_EQ(g->cpus.count, 2);
	CHECK(!memcmp(g->cpus.items, w->cpus.items, 2 * sizeof(*g->cpus.items)));
	CHECK_EQ(g->rules.count, 2);
	CHECK_STR(g->rules.items[0].text, "load>4");
	CHECK(!memcmp(&g->rules.items[0].known, &w->rules.items[0].known,
	              sizeof(g->rules.items[0]) - offsetof(struct session_account_rule, known)));
	CHECK_STR(g->rules.items[1].text, "a\n b");
	CHECK_EQ(g->notes.count, 2);
	CHECK_STR(g->notes.items[1], "end\nend");
	control_reply_done(&got);
	control_reply_done(&want);
	buf_done(&text);
}

static void a_request_arrives_as_it_was(void)
{
	static const enum control_verb verbs[] = {CONTROL_STATUS, CONTROL_STOP, CONTROL_SNAPSHOT,
	                                          CONTROL_RELEASE};

	for (size_t i = 0; i < 3; i++) {
		struct control_request want = {.verb = verbs[i], .output = i == 2 ? "/x\ny" : NULL};
		struct control_request got;
		struct buf text = {0};

		control_request_write(&want, &text);
		CHECK_EQ(control_request_parse(&got, text.data, text.size, NULL), 0);
		CHECK_EQ(got.verb, verbs[i]);
		CHECK(!want.output == !got.output);
		if (got.output)
			CHECK_STR(got.output, "/x\ny");
		control_request_done(&got);
		buf_done(&text);
	}
}

static int reply_of(const char *text, struct error *err)
{
	struct control_reply r;
	int rc = control_reply_parse(&r, text, strlen(text), err);

	control_reply_done(&r);
	return rc;
}

static int request_of(const char *text, struct error *err)
{
	struct control_request r;
	int rc = control_request_parse(&r, text, strlen(text), err);

	control_request_done(&r);
	return rc;
}

static void invalid_messages_are_refused_with_the_line(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
	        {"", "it is empty"},
	        {"hello\n", "no message of an assay session"},
	        {HEAD, "it has no end"},
	        {HEAD "pid 1\n", "it has no end"},
	        {HEAD "pid 1", "line 2 has no end"},
	        {HEAD "pid 1\nend\npid 2\n", "line 3: the end is not at the end"},
	        {HEAD "pid\nend\n", "line 2 has no value"},
	        {HEAD "pid \nend\n", "line 2: that cannot be a pid"},
	        {HEAD "pid -1\nend\n", "line 2: that cannot be a pid"},
	        {HEAD "pid 1 \nend\n", "line 2: that cannot be a pid"},
	        {HEAD "pid 18446744073709551616\nend\n", "line 2: that cannot be a pid"},
	        {HEAD "pid 1\npid 1\nend\n", "line 3: that cannot be a pid"},
	        {HEAD "state walking\nend\n", "line 2: that cannot be a state"},
	        {HEAD "name a\\\nend\n", "line 2: that cannot be a name"},
	        {HEAD "name a\\x\nend\n", "line 2: that cannot be a name"},
	        {HEAD "cpu 1 2 3 4 5\nend\n", "line 2: that cannot be a cpu"},
	        {HEAD "cpu 1 2 3 4 5 6 7\nend\n", "line 2: that cannot be a cpu"},
	        {HEAD "cpu 1  2 3 4 5 6\nend\n", "line 2: that cannot be a cpu"},
	        {HEAD "rule 1 2 3 4 5 6\nend\n", "line 2: that cannot be a rule"},
	        {HEAD "rule 1 2 3 4 5 x a\nend\n", "line 2: that cannot be a rule"},
	        {HEAD "rule 1 2 3 4 5 6 \\x\nend\n", "line 2: that cannot be a rule"},
	        {"assay-session 2\nend\n", "it speaks version 2, and this assay version 1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error err = {0};

		CHECK(reply_of(cases[i].text, &err) < 0);
		if (!strstr(err.text, cases[i].says))
			CHECK_STR(err.text, cases[i].says);
	}
	CHECK_EQ(reply_of("assay-session 2\nend\n", NULL), -EPROTONOSUPPORT);
	CHECK_EQ(reply_of("assay-session 11\nend\n", NULL), -EPROTONOSUPPORT);
}

static void a_request_asks_for_something(void)
{
	struct error err = {0};

	CHECK_EQ(request_of(HEAD "end\n", &err), -EBADMSG);
	CHECK_STR(err.text, "it asks for nothing");
	CHECK_EQ(request_of(HEAD "verb snapshot\noutput a/b\nend\n", &err), -EINVAL);
	CHECK_STR(err.text, "the path 'a/b' is not absolute");
	CHECK_EQ(request_of(HEAD "verb dance\nend\n", &err), -EBADMSG);
	/* Only replies contain accounts. */
	CHECK_EQ(request_of(HEAD "verb stop\ncpu x\nend\n", NULL), 0);
}

static void keys_of_later_versions_are_passed_over(void)
{
	struct control_reply r;
	const char *text = HEAD "colour of the sky\npid 7\nend\n";

	CHECK_EQ(control_reply_parse(&r, text, strlen(text), NULL), 0);
	CHECK_EQ(r.account.pid, 7);
	control_reply_done(&r);
}

static void sizes_are_bounded(void)
{
	struct error err = {0};
	struct buf text = {0};
	struct control_reply r;

	buf_puts(&text, HEAD);
	for (int i = 0; i <= CONTROL_CPUS_MAX; i++)
		buf_puts(&text, "cpu 1 2 3 4 5 6\n");
	buf_puts(&text, "end\n");
	CHECK_EQ(control_reply_parse(&r, text.data, text.size, &err), -EBADMSG);
	control_reply_done(&r);
	buf_clear(&text);
	buf_pad(&text, 'x', CONTROL_REQUEST_MAX + 1);
	CHECK_EQ(request_of(text.data, &err), -EMSGSIZE);
	buf_clear(&text);
	buf_add(&text, HEAD "name a\0b\nend\n", sizeof(HEAD "name a\0b\nend\n") - 1);
	CHECK_EQ(control_reply_parse(&r, text.data, text.size, &err), -EBADMSG);
	CHECK_STR(err.text, "it holds a zero byte");
	control_reply_done(&r);
	buf_done(&text);
}

static void a_message_is_complete_with_its_end(void)
{
	const char *text = HEAD "verb stop\nend\n";

	for (size_t size = 0; size <= strlen(text); size++)
		CHECK_EQ(control_message_complete(text, size), size == strlen(text));
	CHECK(!control_message_complete("trend\n", 6));
}

static void names_are_files_of_one_place(void)
{
	static const char *const bad[] = {"",   ".",   "..",  ".a", "a/b",
	                                  "/a", "a b", "a\n", "ä",  NULL};
	char name[SESSION_NAME_MAX + 2] = "";

	for (size_t i = 0; bad[i]; i++)
		CHECK(!session_name_is_good(bad[i]));
	CHECK(session_name_is_good(SESSION_NAME_DEFAULT));
	CHECK(session_name_is_good("A-z_0.9"));
	memset(name, 'a', SESSION_NAME_MAX);
	CHECK(session_name_is_good(name));
	name[SESSION_NAME_MAX] = 'a';
	CHECK(!session_name_is_good(name));
}

int main(void)
{
	RUN(a_reply_arrives_as_it_was);
	RUN(a_request_arrives_as_it_was);
	RUN(invalid_messages_are_refused_with_the_line);
	RUN(a_request_asks_for_something);
	RUN(keys_of_later_versions_are_passed_over);
	RUN(sizes_are_bounded);
	RUN(a_message_is_complete_with_its_end);
	RUN(names_are_files_of_one_place);
	return check_end();
}
