/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The value of --process-limit: shares and CPU times, of processes and of their parts. */
#include "check.h"
#include "cmd/report/process_limit.h"

#include <string.h>

static struct process_limits parsed(const char *text)
{
	struct process_limits l;
	struct error err = {0};

	CHECK_EQ(process_limit_parse(text, &l, &err), 0);
	CHECK_EQ(err.text[0], 0);
	return l;
}

static void the_whole_process(void)
{
	struct process_limits l = parsed(NULL);

	CHECK(l.all.share == 0.01 && !l.all.ns && !l.user.given && !l.kernel.given);
	l = parsed("2");
	CHECK(l.all.share == 0.02 && !l.user.given && !l.kernel.given);
	l = parsed("0.5%");
	CHECK(l.all.share == 0.005);
	l = parsed("0");
	CHECK(l.all.share == 0 && !l.all.ns);
	l = parsed("5ms");
	CHECK_EQ(l.all.ns, 5000000);
}

static void parts(void)
{
	struct process_limits l = parsed("user:10%");

	CHECK(l.all.share == 0.01 && l.user.given && l.user.share == 0.1 && !l.kernel.given);
	l = parsed("kernel:5ms,2s,user:0");
	CHECK_EQ(l.kernel.ns, 5000000);
	CHECK_EQ(l.all.ns, 2000000000);
	CHECK(l.user.given && l.user.share == 0 && !l.user.ns);
	/* The last one counts. */
	l = parsed("user:5ms,user:3%");
	CHECK(!l.user.ns && l.user.share == 0.03);
}

static void what_is_no_limit(void)
{
	static const char *const bad[] = {
	        "",         "x",       "5%%",  "-1",    "1,",   "user:",   "user",
	        "kernel:x", "idle:1%", "101%", "1e3",   "5 ms", "user=1%", "nan",
	        "0x10",     ",",       "5us5", "1.2.3", ".",    "1%ms",    "user:kernel:1"};
	struct process_limits l;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = {0};

		CHECK(process_limit_parse(bad[i], &l, &err) < 0);
		CHECK(strstr(err.text, "--process-limit"));
	}
}

int main(void)
{
	RUN(the_whole_process);
	RUN(parts);
	RUN(what_is_no_limit);
	return check_end();
}
