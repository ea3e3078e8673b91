/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_guard.h"

#include "check.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct web_guard guard = {.address = {.port = 8080}, .token = {TOKEN}};

static unsigned status(const char *method, const char *host, unsigned hosts, const char *token)
{
	const struct web_request r = {method, host, hosts, token, false};
	const char *reason = NULL;
	unsigned found = web_guard_check(&guard, &r, &reason);

	CHECK_EQ(found != 0, reason != NULL);
	return found;
}

static void the_token_and_an_own_host_are_needed(void)
{
	CHECK_EQ(status("GET", "127.0.0.1:8080", 1, TOKEN), 0);
	CHECK_EQ(status("GET", "localhost:8080", 1, TOKEN), 0);
	CHECK_EQ(status("GET", "127.0.0.1:8080", 1, NULL), 403);
	CHECK_EQ(status("GET", "127.0.0.1:8080", 1, ""), 403);
	CHECK_EQ(status("GET", "127.0.0.1:8080", 1, "1" TOKEN), 403);
	CHECK_EQ(status("GET", "127.0.0.1:8080", 1, "0123456789abcdef0123456789abcdee"), 403);
	CHECK_EQ(status("GET", "127.0.0.1:8080", 1, "0123456789ABCDEF0123456789ABCDEF"), 403);
	CHECK_EQ(status("GET", NULL, 0, TOKEN), 403);
	CHECK_EQ(status("GET", "127.0.0.1:8080", 2, TOKEN), 403);
	CHECK_EQ(status("GET", "attacker.example", 1, TOKEN), 403);
	CHECK_EQ(status("GET", "attacker.example:8080", 1, TOKEN), 403);
}

static void only_get_is_allowed(void)
{
	static const char *const others[] = {"HEAD",    "POST", "PUT", "DELETE",
	                                     "OPTIONS", "get",  "GETX"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK_EQ(status(others[i], "127.0.0.1:8080", 1, TOKEN), 405);
}

static void an_interface_is_called_by_post(void)
{
	struct web_request r = {"POST", "127.0.0.1:8080", 1, TOKEN, true};
	const char *reason = NULL;

	CHECK_EQ(web_guard_check(&guard, &r, &reason), 0);
	r.method = "GET";
	CHECK_EQ(web_guard_check(&guard, &r, &reason), 405);
	r.method = "POST";
	r.token = NULL;
	CHECK_EQ(web_guard_check(&guard, &r, &reason), 403);
	r.token = TOKEN;
	r.host = "attacker.example:8080";
	CHECK_EQ(web_guard_check(&guard, &r, &reason), 403);
}

static void tokens_are_random_hexadecimal_texts(void)
{
	struct web_token a, b;

	CHECK_EQ(web_token_make(&a, NULL), 0);
	CHECK_EQ(web_token_make(&b, NULL), 0);
	CHECK_EQ(strlen(a.text), 32);
	CHECK_EQ(strspn(a.text, "0123456789abcdef"), 32);
	CHECK(strcmp(a.text, b.text) != 0);
	CHECK(web_token_is(&a, a.text));
	CHECK(!web_token_is(&a, b.text));
}

/* A comparison that looks at the first or the last characters alone accepts one of these. */
static void each_character_of_the_token_counts(void)
{
	for (size_t i = 0; i < 32; i++) {
		char text[] = TOKEN;

		text[i] ^= 1;
		CHECK(!web_token_is(&guard.token, text));
	}
}

int main(void)
{
	RUN(the_token_and_an_own_host_are_needed);
	RUN(only_get_is_allowed);
	RUN(an_interface_is_called_by_post);
	RUN(tokens_are_random_hexadecimal_texts);
	RUN(each_character_of_the_token_counts);
	return check_end();
}
