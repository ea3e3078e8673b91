/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTTP client against a server on loopback that sends prepared bytes. */
#include "base/http/http_client.h"
#include "base/http/http_url.h"
#include "base/memory/deflate.h"
#include "base/memory/xalloc.h"
#include "base/file/write_all.h"

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HUGE ((size_t)8 << 20)

/* ---- a server ------------------------------------------------------------ */

struct server {
	pid_t pid;
	int requests; /* the bytes of all requests */
	char url[64];
};

/* Copies a request with Content-Length to the pipe. */
static void take_request(int fd, int copy)
{
	struct buf b = {0};
	const char *end, *length;

	while (buf_read(&b, fd) > 0) {
		end = strstr(buf_text(&b), "\r\n\r\n");
		length = strstr(buf_text(&b), "Content-Length: ");
		if (end && b.size >= (size_t)(end + 4 - b.data) +
		                             (length ? strtoul(length + 16, NULL, 10) : 0))
			break;
	}
	write_all(copy, b.data, b.size);
	buf_done(&b);
}

/* `hold`: the connection stays open and silent after the answer. */
static void serve(int listener, int copy, const void *answer, size_t size, bool hold)
{
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		take_request(fd, copy);
		write_all(fd, answer, size);
		if (hold)
			pause();
		close(fd);
	}
}

static struct server server_start(const void *answer, size_t size, bool hold)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ends[2];
	socklen_t length = sizeof(a);
	struct server s;

	CHECK(!bind(listener, (struct sockaddr *)&a, length));
	CHECK(!listen(listener, 8));
	CHECK(!getsockname(listener, (struct sockaddr *)&a, &length));
	CHECK(!pipe2(ends, O_CLOEXEC));
	snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%u/in", ntohs(a.sin_port));
	s.pid = fork();
	if (!s.pid) {
		close(ends[0]);
		serve(listener, ends[1], answer, size, hold);
	}
	close(listener);
	close(ends[1]);
	s.requests = ends[0];
	return s;
}

/* `request`, unless NULL: all bytes that were received. */
static void server_stop(struct server *s, struct buf *request)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	while (request && buf_read(request, s->requests) > 0)
		;
	close(s->requests);
}

/* ---- requests ------------------------------------------------------------ */

static const char *const binary[] = {"Content-Type: application/x-protobuf", NULL};

static int send_with(const struct http_client_options *o, const char *url, bool pack,
                     struct http_answer *a, struct error *err)
{
	struct http_request r = {
	        .url = url, .headers = binary, .body = "0123456789", .size = 10, .pack = pack};
	struct http_client *c;
	int ret = http_client_open(&c, o, err);

	if (!ret)
		ret = http_client_send(c, &r, a, err);
	http_client_close(c);
	return ret;
}

/* The answer's bytes lead to this error: of the transfer, or of the status. */
static void answer_gives(const void *bytes, size_t size, bool hold, int error, const char *part)
{
	const struct http_client_options o = {.total_ms = hold ? 300 : 0, .answer_max = 4096};
	struct server s = server_start(bytes, size, hold);
	struct http_answer a = {0};
	struct error err = {0};
	int ret = send_with(&o, s.url, false, &a, &err);

	if (!ret)
		ret = http_answer_check(&a, s.url, &err);
	CHECK_EQ(ret, error);
	CHECK(strstr(err.text, s.url) != NULL);
	if (!strstr(err.text, part))
		CHECK_STR(err.text, part);
	http_answer_done(&a);
	server_stop(&s, NULL);
}

static void text_gives(const char *text, int error, const char *part)
{
	answer_gives(text, strlen(text), false, error, part);
}

static void statuses_are_errors(void)
{
	text_gives("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", -EAGAIN, "status 503");
	text_gives("HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", -EAGAIN, "status 429");
	text_gives("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", -EACCES, "token was refused");
	text_gives("HTTP/1.1 400 Bad\r\nContent-Length: 9\r\n\r\nbad\x1b[1m\nx", -EPROTO,
	           "status 400: bad\\x1b[1m");
	text_gives("HTTP/1.1 307 Away\r\nLocation: http://192.0.2.1/x\r\nContent-Length: 0\r\n\r\n",
	           -EREMOTE, "redirects to http://192.0.2.1/x");
}

static void broken_answers_are_errors(void)
{
	text_gives("", -ECONNRESET, "");
	text_gives("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf", -ECONNRESET, "");
	text_gives("SSH-2.0-server\r\n\r\n", -EPROTO, "");
	answer_gives("HTTP/1.1 200 OK\r\n", 17, true, -ETIMEDOUT, "");
}

static void silent_servers_are_left(void)
{
	const struct http_client_options o = {.first_ms = 300};
	struct server s = server_start("", 0, true);
	struct http_answer a = {0};
	struct error err = {0};

	CHECK_EQ(send_with(&o, s.url, false, &a, &err), -ETIMEDOUT);
	CHECK(strstr(err.text, "has not answered for 0.3 s"));
	server_stop(&s, NULL);
	http_answer_done(&a);
}

static void large_answers_are_refused(void)
{
	static const char start[] = "HTTP/1.0 200 OK\r\n\r\n";
	static const char packed_start[] = "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
	char *zeros = xcalloc(1, HUGE), line[1002];
	struct buf b = {0};
	struct deflate d;

	buf_puts(&b, start);
	buf_add(&b, zeros, HUGE);
	answer_gives(b.data, b.size, false, -EFBIG, "body of the answer is larger than 4096");
	buf_clear(&b);
	buf_puts(&b, packed_start);
	CHECK(!deflate_begin(&d, DEFLATE_GZIP, 9, &b, NULL));
	deflate_add(&d, zeros, HUGE);
	CHECK(!deflate_finish(&d, NULL));
	answer_gives(b.data, b.size, false, -EFBIG, "body of the answer is larger than 4096");
	buf_clear(&b);
	buf_puts(&b, "HTTP/1.0 200 OK\r\n");
	memset(line, 'x', sizeof(line));
	memcpy(line, "a: ", 3);
	memcpy(line + sizeof(line) - 2, "\r\n", 2);
	for (size_t i = 0; i < 80; i++)
		buf_add(&b, line, sizeof(line));
	answer_gives(b.data, b.size, false, -EFBIG, "head of the answer is larger");
	buf_done(&b);
	free(zeros);
}

static void requests_are_complete(void)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nRetry-After: 7\r\nX-Code:  12 \r\n"
	                             "Content-Length: 2\r\n\r\nok";
	struct server s = server_start(answer, sizeof(answer) - 1, false);
	const struct http_client_options o = {0};
	struct http_answer a = {0};
	struct buf sent = {0}, value = {0};
	struct error err = {0};
	char query[80];

	snprintf(query, sizeof(query), "%s?a=%%7B&b=1", s.url);
	CHECK_EQ(send_with(&o, query, false, &a, &err), 0);
	CHECK_EQ(send_with(&o, s.url, false, &a, &err), 0);
	CHECK_EQ(a.status, 200);
	CHECK_EQ(a.retry_after_ms, 7000);
	CHECK_STR(buf_text(&a.body), "ok");
	CHECK(http_answer_header(&a, "x-code", &value));
	CHECK_STR(buf_text(&value), "12");
	CHECK(!http_answer_header(&a, "x-cod", &value));
	CHECK_EQ(send_with(&o, s.url, true, &a, &err), 0);
	server_stop(&s, &sent);
	CHECK(strstr(buf_text(&sent), "POST /in?a=%7B&b=1 HTTP/1.1\r\n") != NULL);
	CHECK(strstr(buf_text(&sent), "POST /in HTTP/1.1\r\n") != NULL);
	CHECK(strstr(buf_text(&sent), "Content-Type: application/x-protobuf\r\n") != NULL);
	CHECK(strstr(buf_text(&sent), "\r\n\r\n0123456789") != NULL);
	CHECK(strstr(buf_text(&sent), "Content-Encoding: gzip\r\n") != NULL);
	CHECK(!strstr(buf_text(&sent), "Expect") && !strstr(buf_text(&sent), "Authorization"));
	buf_done(&sent);
	buf_done(&value);
	http_answer_done(&a);
}

static int receive(void *ctx, const void *bytes, size_t size, struct error *err)
{
	*(size_t *)ctx += size;
	return *(size_t *)ctx > 100000 ? error_set(err, ENOSPC, "enough") : 0;
}

static void answers_are_streamed(void)
{
	struct buf b = {0};
	char zeros[60000] = "";
	size_t got = 0;
	struct http_client *c;
	struct server s;
	struct http_answer a = {0};
	struct error err = {0};
	struct http_request r = {.receive = receive, .receive_ctx = &got};

	buf_puts(&b, "HTTP/1.0 200 OK\r\n\r\n");
	buf_add(&b, zeros, sizeof(zeros));
	s = server_start(b.data, b.size, false);
	r.url = s.url;
	CHECK(!http_client_open(&c, &(struct http_client_options){.answer_max = 1}, &err));
	CHECK_EQ(http_client_send(c, &r, &a, &err), 0);
	CHECK_EQ(got, sizeof(zeros));
	CHECK_EQ(a.body.size, 0);
	CHECK_EQ(http_client_send(c, &r, &a, &err), -ENOSPC);
	CHECK_STR(err.text, "enough");
	http_client_close(c);
	http_answer_done(&a);
	server_stop(&s, NULL);
	buf_done(&b);
}

static bool stop_at_once(void *ctx)
{
	return true;
}

static void requests_are_stopped(void)
{
	const struct http_client_options o = {.stop = stop_at_once};
	struct server s = server_start("", 0, true);
	struct http_answer a = {0};
	struct error err = {0};

	CHECK_EQ(send_with(&o, s.url, false, &a, &err), -ECANCELED);
	http_answer_done(&a);
	server_stop(&s, NULL);
}

static void unreachable_servers_are_errors(void)
{
	struct server s = server_start("", 0, false);
	const struct http_client_options o = {0};
	struct http_answer a = {0};
	struct error err = {0};

	server_stop(&s, NULL);
	CHECK_EQ(send_with(&o, s.url, false, &a, &err), -ECONNREFUSED);
	CHECK(http_is_passing(-ECONNREFUSED) && !http_is_passing(-EACCES));
	CHECK_EQ(send_with(&o, "file:///etc/passwd", false, &a, &err), -EINVAL);
	CHECK_EQ(send_with(&o, "ftp://127.0.0.1/x", false, &a, &err), -EINVAL);
	http_answer_done(&a);
}

/* ---- tokens -------------------------------------------------------------- */

static void write_token(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && !write_all(fd, text, strlen(text)) && !fchmod(fd, mode));
	close(fd);
}

static void tokens_are_sent(void)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	char path[] = "/tmp/test-http-token-XXXXXX";
	struct server s = server_start(answer, sizeof(answer) - 1, false);
	struct http_client_options o = {.token_file = path};
	struct http_answer a = {0};
	struct buf sent = {0};
	struct error err = {0};

	close(mkstemp(path));
	write_token(path, "secret-1\n", 0600);
	CHECK_EQ(send_with(&o, s.url, false, &a, &err), 0);
	o.user = "me";
	CHECK_EQ(send_with(&o, s.url, false, &a, &err), 0);
	server_stop(&s, &sent);
	CHECK(strstr(buf_text(&sent), "Authorization: Bearer secret-1\r\n") != NULL);
	CHECK(strstr(buf_text(&sent), "Authorization: Basic bWU6c2VjcmV0LTE=\r\n") != NULL);
	CHECK_EQ(send_with(&o, "http://192.0.2.1/", false, &a, &err), -EINVAL);
	CHECK(strstr(err.text, "without TLS") && !strstr(err.text, "secret"));
	unlink(path);
	buf_done(&sent);
	http_answer_done(&a);
}

static void token_files_are_checked(void)
{
	char path[] = "/tmp/test-http-token-XXXXXX";
	struct buf token = {0};
	struct error err = {0};

	close(mkstemp(path));
	write_token(path, "abc", 0640);
	CHECK_EQ(http_token_read(path, &token, &err), -EPERM);
	CHECK(strstr(err.text, "chmod 600") != NULL);
	write_token(path, "\n", 0600);
	CHECK_EQ(http_token_read(path, &token, &err), -EINVAL);
	write_token(path, "a b\n", 0600);
	CHECK_EQ(http_token_read(path, &token, &err), -EINVAL);
	write_token(path, "abc\r\nnext\n", 0400);
	CHECK_EQ(http_token_read(path, &token, &err), 0);
	CHECK_STR(buf_text(&token), "abc");
	unlink(path);
	CHECK_EQ(http_token_read(path, &token, &err), -ENOENT);
	buf_done(&token);
}

/* ---- addresses ----------------------------------------------------------- */

static void addresses_are_parsed(void)
{
	struct error err = {0};
	struct buf text = {0};
	struct http_url u;

	CHECK_EQ(http_url_parse("OTLP+https://me@[::1]:4318/a/b/", &u, &err), 0);
	CHECK_STR(u.scheme, "otlp+https");
	CHECK_STR(u.user, "me");
	CHECK_STR(u.host, "[::1]");
	CHECK_EQ(u.port, 4318);
	CHECK(http_url_is_loopback(&u));
	http_url_text(&u, true, &text);
	CHECK_STR(buf_text(&text), "https://[::1]:4318/a/b");
	http_url_done(&u);
	CHECK_EQ(http_url_parse("http://127.example.org", &u, &err), 0);
	CHECK(!http_url_is_loopback(&u));
	http_url_done(&u);
	buf_done(&text);
}

static void addresses_are_refused(void)
{
	static const char *const wrong[] = {"host:4318",        "http://",      "http://h:0",
	                                    "http://h:99999",   "http://h:4x",  "http://h/?a=1",
	                                    "http://h\n/",      "://h",         "http://[::1",
	                                    "http://a@b@c:d@/", "http://h%00/x"};
	struct error err = {0};
	struct http_url u;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_EQ(http_url_parse(wrong[i], &u, &err), -EINVAL);
	CHECK_EQ(http_url_parse("http://me:secret@host/", &u, &err), -EINVAL);
	CHECK(strstr(err.text, "--token-file") && !strstr(err.text, "secret"));
}

int main(void)
{
	RUN(addresses_are_parsed);
	RUN(addresses_are_refused);
	RUN(token_files_are_checked);
	RUN(requests_are_complete);
	RUN(statuses_are_errors);
	RUN(broken_answers_are_errors);
	RUN(silent_servers_are_left);
	RUN(large_answers_are_refused);
	RUN(answers_are_streamed);
	RUN(requests_are_stopped);
	RUN(unreachable_servers_are_errors);
	RUN(tokens_are_sent);
	return check_end();
}
