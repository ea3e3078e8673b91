/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_page.h"

#include "check.h"

#include <errno.h>

#define ALWAYS "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static int make(struct web_page *p, const char *viewer, bool live)
{
	struct error err = {0};

	const struct web_page_options options = {.token = "T", .live = live};

	return web_page_make(p, viewer, strlen(viewer), &options, &err);
}

static void the_place_gets_the_address_of_the_data(void)
{
	struct web_page p;

	CHECK_EQ(make(&p, "<body><!--assay-data--><p>x</body>", false), 0);
	CHECK_STR(p.html.data, "<body><script type=\"application/octet-stream\" id=\"assay-data\" "
	                       "data-format=\"1\" data-url=\"data?token=T\"></script><p>x</body>");
	CHECK(strstr(p.policy.data, "connect-src 'self'") != NULL);
	CHECK(strstr(p.policy.data, "default-src 'none'") != NULL);
	web_page_done(&p);
}

static void a_live_page_gets_the_address_of_the_events(void)
{
	struct web_page p;

	CHECK_EQ(make(&p, "<!--assay-data-->", true), 0);
	CHECK(strstr(p.html.data, " data-events=\"events?token=T\"></script>") != NULL);
	web_page_done(&p);
}

static void a_page_that_asks_is_marked(void)
{
	const struct web_page_options options = {.token = "T", .asks = true};
	const char *viewer = "<!--assay-data-->";
	struct error err = {0};
	struct web_page p;

	CHECK_EQ(web_page_make(&p, viewer, strlen(viewer), &options, &err), 0);
	CHECK(strstr(p.html.data, "data-url=\"data?token=T\" data-asks=\"1\">") != NULL);
	web_page_done(&p);
}

static void the_policy_moves_to_the_header(void)
{
	struct web_page p;

	CHECK_EQ(make(&p,
	              "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	              "'none'; connect-src 'none'; script-src 'sha256-x'\"><title>a</title></head>"
	              "<!--assay-data-->",
	              false),
	         0);
	CHECK_STR(p.policy.data,
	          "default-src 'none'; connect-src 'self'; script-src 'sha256-x'" ALWAYS);
	CHECK(!strncmp(p.html.data, "<head><title>a</title></head><script", 35));
	web_page_done(&p);
	CHECK_EQ(make(&p,
	              "<!--assay-data--><meta content=\"img-src data:\" "
	              "http-equiv=\"Content-Security-Policy\">z",
	              false),
	         0);
	CHECK_STR(p.policy.data, "img-src data:; connect-src 'self'" ALWAYS);
	CHECK(!strcmp(strstr(p.html.data, "</script>"), "</script>z"));
	web_page_done(&p);
}

static void a_page_without_a_place_is_refused(void)
{
	struct web_page p;

	CHECK_EQ(make(&p, "<body></body>", false), -EINVAL);
	web_page_done(&p);
}

int main(void)
{
	RUN(the_place_gets_the_address_of_the_data);
	RUN(a_live_page_gets_the_address_of_the_events);
	RUN(a_page_that_asks_is_marked);
	RUN(the_policy_moves_to_the_header);
	RUN(a_page_without_a_place_is_refused);
	return check_end();
}
