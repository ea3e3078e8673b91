/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_ask.h"

#include "base/limit.h"
#include "check.h"

#include <errno.h>
#include <unistd.h>

/* Sends the bytes through a channel, and reads them as a request. */
static int pass(struct web_ask *a, const void *bytes, size_t size)
{
	struct web_message m = {.kind = WEB_MESSAGE_ASK, .id = 7};
	int ends[2], rc;

	CHECK_EQ(web_channel_open(ends, NULL), 0);
	CHECK_EQ(web_channel_send(ends[0], &m, bytes, size, NULL), 0);
	CHECK_EQ(web_channel_receive(ends[1], &m, true), 0);
	CHECK_EQ(m.kind, WEB_MESSAGE_ASK);
	CHECK_EQ(m.id, 7);
	rc = web_ask_read(a, &m, NULL);
	close(ends[0]);
	close(ends[1]);
	return rc;
}

static void arguments_are_found_by_their_names(void)
{
	struct buf b = {0};
	struct web_ask a;

	web_ask_put(&b, "/data", NULL);
	web_ask_put_argument(&b, "host", "web1");
	web_ask_put_argument(&b, "service", NULL);
	web_ask_put_argument(&b, "from", "-1h");
	web_ask_put_argument(&b, "host", "web2");
	CHECK_EQ(pass(&a, b.data, b.size), 0);
	CHECK_EQ(a.id, 7);
	CHECK_STR(a.path, "/data");
	CHECK_STR(a.type, "");
	CHECK_STR(web_ask_argument(&a, "host"), "web1");
	CHECK_STR(web_ask_argument(&a, "from"), "-1h");
	CHECK(!web_ask_argument(&a, "service"));
	CHECK(!web_ask_argument(&a, "web1"));
	web_ask_done(&a);
	buf_done(&b);
}

static void a_body_may_have_any_bytes(void)
{
	struct buf b = {0};
	struct web_ask a;

	web_ask_put(&b, "/x", "application/proto");
	buf_add(&b, "\0\1\0", 3);
	CHECK_EQ(pass(&a, b.data, b.size), 0);
	CHECK_STR(a.type, "application/proto");
	CHECK_EQ(a.size, 3);
	CHECK(!memcmp(a.body, "\0\1\0", 3));
	CHECK(!web_ask_argument(&a, "host"));
	web_ask_done(&a);
	buf_done(&b);
}

static void damaged_messages_are_refused(void)
{
	struct buf long_one = {0};
	struct web_ask a;

	CHECK_EQ(pass(&a, "", 0), -EPROTO);
	CHECK_EQ(pass(&a, "/data", 5), -EPROTO);
	CHECK_EQ(pass(&a, "/data\0type", 10), -EPROTO);
	web_ask_put(&long_one, "/data", NULL);
	buf_pad(&long_one, 'x', LIMIT_WEB_ASK_BYTES);
	CHECK_EQ(pass(&a, long_one.data, long_one.size), -EPROTO);
	buf_done(&long_one);
}

int main(void)
{
	RUN(arguments_are_found_by_their_names);
	RUN(a_body_may_have_any_bytes);
	RUN(damaged_messages_are_refused);
	return check_end();
}
