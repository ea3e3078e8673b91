/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "cmd/cli/parse_time.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define S 1000000000ull
/* Saturday, 2026-11-21 15:30:45.25 UTC, by `date -ud ... +%s`. */
#define NOW (1795275045 * S + 250000000)
#define MIDNIGHT_UTC 1795219200

static void zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

static uint64_t when(const char *text)
{
	uint64_t ns = 1;
	struct error err;

	return when_parse("--from", text, NOW, &ns, &err) ? 0 : ns;
}

static void dates_are_of_the_zone(void)
{
	zone("UTC0");
	CHECK_EQ(when("2026-11-21"), MIDNIGHT_UTC * S);
	CHECK_EQ(when("2026-11-21T10:00"), (MIDNIGHT_UTC + 36000) * S);
	CHECK_EQ(when("2026-11-21 10:00:07"), (MIDNIGHT_UTC + 36007) * S);
	CHECK_EQ(when("2026-11-21T10:00:07.25"), (MIDNIGHT_UTC + 36007) * S + 250000000);
	zone("CET-1CEST,M3.5.0,M10.5.0/3");
	CHECK_EQ(when("2026-11-21"), (MIDNIGHT_UTC - 3600) * S);
	CHECK_EQ(when("2026-11-21T10:00Z"), (MIDNIGHT_UTC + 36000) * S);
	CHECK_EQ(when("2026-11-21T10:00:07+00:00"), (MIDNIGHT_UTC + 36007) * S);
	CHECK_EQ(when("2026-11-21T10:00+05:30"), (MIDNIGHT_UTC + 36000 - 19800) * S);
	CHECK_EQ(when("2026-11-21 10:00:00.5-0330"), (MIDNIGHT_UTC + 36000 + 12600) * S + S / 2);
	/* In summer it is two hours. */
	CHECK_EQ(when("2026-07-01T12:00"), (when("2026-07-01T12:00Z") - 7200 * S));
}

static void times_of_day_are_today_s(void)
{
	zone("UTC0");
	CHECK_EQ(when("10:00"), (MIDNIGHT_UTC + 36000) * S);
	CHECK_EQ(when("9:05:30"), (MIDNIGHT_UTC + 9 * 3600 + 330) * S);
	CHECK_EQ(when("today"), MIDNIGHT_UTC * S);
	CHECK_EQ(when("yesterday"), (MIDNIGHT_UTC - 86400) * S);
	CHECK_EQ(when("yesterday 10:00"), (MIDNIGHT_UTC - 86400 + 36000) * S);
	/* It is 1:30 of the next day there already. */
	zone("XYZ-10");
	CHECK_EQ(when("today"), (MIDNIGHT_UTC + 86400 - 36000) * S);
	CHECK_EQ(when("yesterday"), (MIDNIGHT_UTC - 36000) * S);
}

static void a_day_need_not_have_24_hours(void)
{
	uint64_t ns;
	struct error err;

	/* The clock went back at 2026-10-25 03:00 CEST: that day has 25 hours. */
	zone("CET-1CEST,M3.5.0,M10.5.0/3");
	CHECK_EQ(when("2026-10-26") - when("2026-10-25"), 25 * 3600 * S);
	CHECK(!when_parse("--to", "yesterday", when("2026-10-26T00:30"), &ns, &err));
	CHECK_EQ(ns, when("2026-10-25"));
	/* And 2:30 was skipped in spring. */
	CHECK_EQ(when("2026-03-29T02:30"), 0);
}

static void spans_count_back_from_now(void)
{
	CHECK_EQ(when("now"), NOW);
	CHECK_EQ(when("-90s"), NOW - 90 * S);
	CHECK_EQ(when("-30min"), NOW - 1800 * S);
	CHECK_EQ(when("-2h"), NOW - 7200 * S);
	CHECK_EQ(when("-7d"), NOW - 7 * 86400 * S);
	CHECK_EQ(when("-2w"), NOW - 14 * 86400 * S);
	CHECK_EQ(when("@1795275045.25"), NOW);
	CHECK_EQ(when("@1795275045"), NOW - 250000000);
}

static void invalid_times_are_refused(void)
{
	static const char *const bad[] = {"",
	                                  "x",
	                                  "10",
	                                  "10:0",
	                                  "24:00",
	                                  "10:61",
	                                  "-2",
	                                  "-h",
	                                  "-2y",
	                                  "2026-13-01",
	                                  "2026-02-30",
	                                  "2026-11-21T",
	                                  "@",
	                                  "@1x",
	                                  "2026-11-21x",
	                                  "yesterday x",
	                                  "-999999999h",
	                                  "2026-1-1",
	                                  "1969-12-31",
	                                  "10:00:00.",
	                                  "tomorrow",
	                                  "2026-11-21T10:00+01",
	                                  "2026-11-21T10:00+01:60",
	                                  "2026-11-21T10:00-2400",
	                                  "2026-11-21+01:00"};
	struct error err;
	uint64_t ns;

	zone("UTC0");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.text[0] = '\0';
		CHECK_EQ(when_parse("--from", bad[i], NOW, &ns, &err), -EINVAL);
		CHECK(strstr(err.text, "--from") && strstr(err.text, "-2h"));
	}
}

int main(void)
{
	RUN(dates_are_of_the_zone);
	RUN(times_of_day_are_today_s);
	RUN(a_day_need_not_have_24_hours);
	RUN(spans_count_back_from_now);
	RUN(invalid_times_are_refused);
	return check_end();
}
