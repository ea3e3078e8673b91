/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_address.h"

#include "check.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int parse(struct web_address *a, const char *text)
{
	struct error err = {0};
	int rc = web_address_parse(a, "--port", text, &err);

	CHECK_EQ(rc != 0, err.text[0] != '\0');
	return rc;
}

static void ports_and_loopback_addresses_are_parsed(void)
{
	static const struct {
		const char *text;
		unsigned port;
		bool ipv6;
	} valid[] = {{"0", 0, false},
	             {"8080", 8080, false},
	             {"65535", 65535, false},
	             {"127.0.0.1:80", 80, false},
	             {"localhost:81", 81, false},
	             {"[::1]:82", 82, true}};

	for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++) {
		struct web_address a;

		CHECK_EQ(parse(&a, valid[i].text), 0);
		CHECK_EQ(a.port, valid[i].port);
		CHECK_EQ(a.ipv6, valid[i].ipv6);
	}
}

static void other_addresses_are_refused(void)
{
	static const char *const wrong[] = {
	        "",      "65536",      "99999999999", "-1",           "80 ",       " 80",
	        "8080x", "0.0.0.0:80", "[::]:80",     "::1:80",       "127.0.0.1", "127.0.0.1:",
	        "[::1]", "[::1]:",     "example:80",  "127.0.0.2:80", "localhost", "localhost:x",
	        "0x50"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct web_address a;

		CHECK_EQ(parse(&a, wrong[i]), -EINVAL);
	}
}

static void hosts_are_the_names_of_loopback_with_the_port(void)
{
	static const char *const wrong[] = {
	        "",           "127.0.0.1",        "127.0.0.1:8081",  "127.0.0.1:80800",
	        "localhost",  "localhost:8080.",  "[::1]",           "::1:8080",
	        "evil:8080",  "127.0.0.1:8080 ",  " 127.0.0.1:8080", "127.0.0.1:08080",
	        "127.1:8080", "localhost.x:8080", "x@localhost:8080"};
	const struct web_address a = {.port = 8080}, http = {.port = 80};

	CHECK(web_address_is_host(&a, "127.0.0.1:8080"));
	CHECK(web_address_is_host(&a, "localhost:8080"));
	CHECK(web_address_is_host(&a, "LocalHost:8080"));
	CHECK(web_address_is_host(&a, "[::1]:8080"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(!web_address_is_host(&a, wrong[i]));
	CHECK(web_address_is_host(&http, "127.0.0.1"));
	CHECK(web_address_is_host(&http, "127.0.0.1:80"));
	CHECK(!web_address_is_host(&http, "127.0.0.1:8080"));
}

static void a_free_port_is_chosen_on_loopback(void)
{
	struct web_address a = {0};
	struct sockaddr_in bound = {0};
	socklen_t size = sizeof(bound);
	struct error err = {0};
	struct buf url = {0};
	char expected[64];
	int fd;

	CHECK_EQ(web_address_listen(&a, &fd, &err), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&bound, &size), 0);
	CHECK_EQ(bound.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	CHECK(a.port != 0);
	CHECK_EQ(ntohs(bound.sin_port), a.port);
	web_address_url(&a, &url);
	snprintf(expected, sizeof(expected), "http://127.0.0.1:%u/", a.port);
	CHECK_STR(url.data, expected);
	buf_done(&url);
	close(fd);
}

static void a_used_port_is_an_error_that_names_it(void)
{
	struct web_address a = {0}, same;
	struct error err = {0};
	char expected[64];
	int fd, other;

	CHECK_EQ(web_address_listen(&a, &fd, &err), 0);
	same = a;
	CHECK_EQ(web_address_listen(&same, &other, &err), -EADDRINUSE);
	snprintf(expected, sizeof(expected), "127.0.0.1:%u: Address already in use", a.port);
	CHECK(strstr(err.text, expected) != NULL);
	CHECK_EQ(other, -1);
	close(fd);
}

int main(void)
{
	RUN(ports_and_loopback_addresses_are_parsed);
	RUN(other_addresses_are_refused);
	RUN(hosts_are_the_names_of_loopback_with_the_port);
	RUN(a_free_port_is_chosen_on_loopback);
	RUN(a_used_port_is_an_error_that_names_it);
	return check_end();
}
