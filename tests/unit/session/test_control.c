/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session's side of its socket: requests that are put off, and requests within a request. */
#include "session/daemon/control.h"

#include "base/memory/xalloc.h"
#include "check.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A session that puts requests off, and serves others while it works. */
struct host {
	struct control *control;
	bool puts_off, works, ended;
	unsigned heard, again;
};

static enum control_answer hear(void *ctx, const struct control_request *request,
                                struct control_reply *reply)
{
	struct host *h = ctx;

	h->heard++;
	h->again += request->again;
	if (h->ended || request->verb == CONTROL_STOP)
		return CONTROL_AT_END;
	if (h->puts_off)
		return CONTROL_LATER;
	if (h->works && request->verb == CONTROL_SNAPSHOT) {
		h->works = false;
		control_serve(h->control);
	}
	reply->account.samples = h->heard;
	return CONTROL_NOW;
}

static struct session_registry place;
static char directory[] = "/tmp/assay-control-XXXXXX";

static void make_place(void)
{
	struct error err = {0};

	CHECK(mkdtemp(directory) != NULL);
	setenv("XDG_RUNTIME_DIR", directory, 1);
	CHECK_EQ(session_registry_open(&place, true, &err), 0);
}

static void remove_place(void)
{
	char *path = xstrdup(place.path);

	session_registry_close(&place);
	rmdir(path);
	free(path);
	rmdir(directory);
}

static void open_host(struct host *h)
{
	struct error err = {0};

	CHECK_EQ(control_open(&h->control, &place, "test", hear, h, &err), 0);
}

static void close_host(struct host *h)
{
	control_close(h->control);
	CHECK_EQ(unlinkat(place.fd, "test.sock", 0), 0);
}

/* A client that has sent its request. */
static int ask(enum control_verb verb)
{
	struct control_request request = {.verb = verb};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct buf text = {0};

	session_registry_socket(&place, "test", address.sun_path, sizeof(address.sun_path));
	CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	control_request_write(&request, &text);
	CHECK_EQ(send(fd, text.data, text.size, 0), text.size);
	buf_done(&text);
	return fd;
}

/* The count of samples in the reply; -1: there is none yet. */
static int64_t reply_of(int fd)
{
	struct control_reply reply;
	struct error err = {0};
	char text[4096];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);
	int64_t samples = -1;

	if (n > 0 && !control_reply_parse(&reply, text, (size_t)n, &err)) {
		samples = (int64_t)reply.account.samples;
		control_reply_done(&reply);
	}
	return samples;
}

static void serve(struct host *h)
{
	for (int i = 0; i < 4; i++) /* the connection, the request */
		control_serve(h->control);
}

static void a_postponed_request_is_repeated(void)
{
	struct host h = {.puts_off = true};
	int fd;

	open_host(&h);
	fd = ask(CONTROL_STATUS);
	serve(&h);
	CHECK_EQ(reply_of(fd), -1);
	CHECK(h.heard > 1);
	CHECK_EQ(h.again, h.heard - 1);
	CHECK(control_is_awaited(h.control));
	h.puts_off = false;
	control_serve(h.control);
	CHECK_EQ(reply_of(fd), h.heard);
	CHECK(!control_is_awaited(h.control));
	close(fd);
	close_host(&h);
}

static void other_requests_are_served_within_a_request(void)
{
	struct host h = {.works = true};
	int snapshot, status, stop;

	open_host(&h);
	snapshot = ask(CONTROL_SNAPSHOT);
	stop = ask(CONTROL_STOP);
	status = ask(CONTROL_STATUS);
	serve(&h);
	CHECK_EQ(h.heard, 3);
	CHECK(reply_of(snapshot) > 0);
	CHECK(reply_of(status) > 0);
	/* Its event was reported before the nested call, too: the client still waits. */
	CHECK(control_is_awaited(h.control));
	control_end(h.control, &(struct control_reply){.account.samples = 77});
	CHECK_EQ(reply_of(stop), 77);
	close(snapshot);
	close(status);
	close(stop);
	close_host(&h);
}

static void a_postponed_request_is_answered_at_the_end(void)
{
	struct host h = {.puts_off = true};
	int fd;

	open_host(&h);
	fd = ask(CONTROL_SNAPSHOT);
	serve(&h);
	h.ended = true;
	CHECK(control_is_awaited(h.control));
	control_end(h.control, &(struct control_reply){.account.samples = 78});
	CHECK_EQ(reply_of(fd), 78);
	close(fd);
	close_host(&h);
}

static void a_client_that_leaves_is_not_asked_again(void)
{
	struct host h = {.puts_off = true};
	unsigned heard;

	open_host(&h);
	close(ask(CONTROL_STATUS));
	serve(&h);
	heard = h.heard;
	CHECK(!control_is_awaited(h.control));
	serve(&h);
	CHECK_EQ(h.heard, heard);
	close_host(&h);
}

static void a_request_for_a_snapshot_outlives_its_client(void)
{
	struct host h = {.puts_off = true};
	unsigned heard;

	open_host(&h);
	close(ask(CONTROL_SNAPSHOT));
	serve(&h);
	heard = h.heard;
	CHECK(control_is_awaited(h.control));
	h.puts_off = false;
	serve(&h);
	CHECK_EQ(h.heard, heard + 1);
	CHECK(!control_is_awaited(h.control));
	close_host(&h);
}

int main(void)
{
	make_place();
	RUN(a_postponed_request_is_repeated);
	RUN(other_requests_are_served_within_a_request);
	RUN(a_postponed_request_is_answered_at_the_end);
	RUN(a_client_that_leaves_is_not_asked_again);
	RUN(a_request_for_a_snapshot_outlives_its_client);
	remove_place();
	return check_end();
}
