/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real requests on loopback. */
#include "web/web_process.h"

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define VIEWER "<html><!--assay-data--></html>"

static int start(struct web_process *p)
{
	const struct web_process_options o = {
	        .viewer = VIEWER, .viewer_size = strlen(VIEWER), .live = true, .caller = getuid()};
	struct error err = {0};
	int rc = web_process_start(p, &o, &err);

	if (rc && (strstr(err.text, "libmicrohttpd12") || strstr(err.text, "libmicrohttpd-dev"))) {
		printf("1..0 # SKIP %s\n", err.text);
		exit(0);
	}
	CHECK_EQ(rc, 0);
	CHECK_STR(err.text, "");
	return rc;
}

static unsigned port_of(const char *url)
{
	unsigned port = 0;

	CHECK_EQ(sscanf(url, "http://127.0.0.1:%u/", &port), 1);
	return port;
}

static int connect_to(unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_port = htons((uint16_t)port),
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	close(fd);
	return -1;
}

/* Sends "GET /PATH?token=.." with a valid token. */
static int ask(const struct web_process *p, const char *path)
{
	const char *url = p->url.data;
	int fd = connect_to(port_of(url));
	struct buf text = {0};

	buf_addf(&text, "GET /%s%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", path, strchr(url, '?'),
	         port_of(url));
	CHECK_EQ(send(fd, text.data, text.size, MSG_NOSIGNAL), text.size);
	buf_done(&text);
	return fd;
}

/* Reads until the answer has `what`; NULL: until its end. */
static void read_until(int fd, struct buf *out, const char *what)
{
	while (!what || !strstr(buf_text(out), what))
		if (buf_read(out, fd) <= 0)
			break;
	if (what)
		CHECK(strstr(buf_text(out), what) != NULL);
}

static void check_answer(const struct web_process *p, const char *path, const char *status,
                         const char *body)
{
	int fd = ask(p, path);
	struct buf out = {0};
	const char *head;

	read_until(fd, &out, NULL);
	CHECK(!strncmp(buf_text(&out), status, strlen(status)));
	head = strstr(buf_text(&out), "\r\n\r\n");
	CHECK(head != NULL);
	if (head && body)
		CHECK_STR(head + 4, body);
	buf_done(&out);
	close(fd);
}

static int publish(struct web_process *p, const char *text)
{
	struct buf data = {0};
	int rc;

	buf_puts(&data, text);
	rc = web_process_publish(p, &data, NULL);
	buf_done(&data);
	return rc;
}

static void the_page_and_the_newest_data_are_served(void)
{
	struct web_process p;

	if (start(&p))
		return;
	check_answer(&p, "", "HTTP/1.1 200 ", NULL);
	check_answer(&p, "data", "HTTP/1.1 503 ", "There is no data yet.\n");
	check_answer(&p, "other", "HTTP/1.1 404 ", NULL);
	CHECK_EQ(publish(&p, "one"), 0);
	check_answer(&p, "data", "HTTP/1.1 200 ", "one");
	CHECK_EQ(publish(&p, "second"), 0);
	check_answer(&p, "data", "HTTP/1.1 200 ", "second");
	web_process_stop(&p);
}

static void events_report_updates_and_the_end(void)
{
	struct buf out = {0}, late = {0};
	struct web_process p;
	int fd;

	if (start(&p))
		return;
	fd = ask(&p, "events");
	read_until(fd, &out, "retry:");
	CHECK(!strstr(buf_text(&out), "update"));
	CHECK_EQ(publish(&p, "one"), 0);
	read_until(fd, &out, "event: update\n");
	CHECK_EQ(web_process_finish(&p, NULL), 0);
	read_until(fd, &out, "event: end\n");
	close(fd);
	/* A page that comes later may have read older data. */
	fd = ask(&p, "events");
	read_until(fd, &late, "event: update\n");
	read_until(fd, &late, "event: end\n");
	close(fd);
	web_process_stop(&p);
	buf_done(&out);
	buf_done(&late);
}

static void a_stopped_server_leaves_no_process_and_no_port(void)
{
	struct buf out = {0};
	struct web_process p;
	unsigned port;
	pid_t pid;
	int fd;

	if (start(&p))
		return;
	port = port_of(p.url.data);
	pid = p.pid;
	fd = ask(&p, "events");
	read_until(fd, &out, "retry:");
	web_process_stop(&p);
	CHECK(kill(pid, 0) && errno == ESRCH);
	CHECK_EQ(connect_to(port), -1);
	/* The stream ends. */
	read_until(fd, &out, NULL);
	close(fd);
	buf_done(&out);
	web_process_stop(&p);
}

static void the_process_ignores_the_signals_of_a_terminal(void)
{
	struct web_process p;

	if (start(&p))
		return;
	CHECK_EQ(publish(&p, "data"), 0);
	if (!getuid()) { /* the process is another user's */
		CHECK_EQ(kill(p.pid, SIGINT), 0);
		CHECK_EQ(kill(p.pid, SIGTERM), 0);
		CHECK_EQ(kill(p.pid, SIGHUP), 0);
	}
	check_answer(&p, "data", "HTTP/1.1 200 ", "data");
	web_process_stop(&p);
}

static void the_exit_of_the_process_is_noticed(void)
{
	struct error err = {0};
	struct pollfd watched;
	struct web_process p;

	if (start(&p))
		return;
	kill(p.pid, SIGKILL);
	watched = (struct pollfd){.fd = web_process_fd(&p), .events = POLLIN};
	CHECK_EQ(poll(&watched, 1, 60000), 1);
	CHECK(publish(&p, "data") < 0);
	CHECK_EQ(web_process_failure(&p, &err), -EIO);
	CHECK_STR(err.text, "the server of the page has exited");
	web_process_stop(&p);
}

static void an_old_page_is_refused_before_a_process_starts(void)
{
	const struct web_process_options o = {.viewer = "x", .viewer_size = 1};
	struct error err = {0};
	struct web_process p;

	CHECK_EQ(web_process_start(&p, &o, &err), -EINVAL);
	CHECK_STR(err.text, "the page has no place for its data");
	CHECK_EQ(p.pid, 0);
	web_process_stop(&p);
}

int main(void)
{
	RUN(the_page_and_the_newest_data_are_served);
	RUN(events_report_updates_and_the_end);
	RUN(a_stopped_server_leaves_no_process_and_no_port);
	RUN(the_process_ignores_the_signals_of_a_terminal);
	RUN(the_exit_of_the_process_is_noticed);
	RUN(an_old_page_is_refused_before_a_process_starts);
	return check_end();
}
