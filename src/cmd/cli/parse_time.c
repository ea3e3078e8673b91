/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/parse_time.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000u
#define YEARS_MAX 2261 /* limit of 64 bits of ns */

struct time_reading {
	const char *at;
};

/* Parses a number with `least` to `most` digits. */
static bool take_number(struct time_reading *r, int least, int most, int *number)
{
	int digits = 0;

	*number = 0;
	for (; digits < most && *r->at >= '0' && *r->at <= '9'; digits++)
		*number = *number * 10 + (*r->at++ - '0');
	return digits >= least && !(*r->at >= '0' && *r->at <= '9');
}

static bool take(struct time_reading *r, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(r->at, text, length) != 0)
		return false;
	r->at += length;
	return true;
}

/* Parses a fraction of a second after a point, in ns. */
static bool take_fraction(struct time_reading *r, uint64_t *ns)
{
	uint64_t unit = SECOND;

	*ns = 0;
	if (!take(r, "."))
		return true;
	if (*r->at < '0' || *r->at > '9')
		return false;
	for (; *r->at >= '0' && *r->at <= '9'; r->at++) {
		unit /= 10;
		*ns += (uint64_t)(*r->at - '0') * unit;
	}
	return true;
}

static bool take_clock(struct time_reading *r, struct tm *tm, uint64_t *ns)
{
	*ns = 0;
	if (!take_number(r, 1, 2, &tm->tm_hour) || !take(r, ":") ||
	    !take_number(r, 2, 2, &tm->tm_min))
		return false;
	if (take(r, ":") && (!take_number(r, 2, 2, &tm->tm_sec) || !take_fraction(r, ns)))
		return false;
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 60;
}

static bool take_date(struct time_reading *r, struct tm *tm)
{
	int year, month, day;

	if (!take_number(r, 4, 4, &year) || !take(r, "-") || !take_number(r, 2, 2, &month) ||
	    !take(r, "-") || !take_number(r, 2, 2, &day))
		return false;
	*tm = (struct tm){.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
	return year >= 1970 && year <= YEARS_MAX && month >= 1 && month <= 12 && day >= 1 &&
	       day <= 31;
}

/* False if the day does not exist, or the clock skips that hour. */
static bool to_seconds(struct tm *tm, bool utc, time_t *seconds)
{
	struct tm asked = *tm;

	tm->tm_isdst = utc ? 0 : -1;
	*seconds = utc ? timegm(tm) : mktime(tm);
	return *seconds >= 0 && tm->tm_mday == asked.tm_mday && tm->tm_mon == asked.tm_mon &&
	       tm->tm_hour == asked.tm_hour && tm->tm_min == asked.tm_min;
}

static bool close_time(struct tm *tm, bool utc, uint64_t ns, uint64_t *time_ns)
{
	time_t seconds;

	if (!to_seconds(tm, utc, &seconds))
		return false;
	*time_ns = (uint64_t)seconds * SECOND + ns;
	return true;
}

/*
 * Parses the zone after a time: Z, +01:00, -0330. *ahead_s: offset from UTC. No zone: local time.
 */
static bool take_offset(struct time_reading *r, bool *utc, int64_t *ahead_s)
{
	int sign, hours, minutes;

	*ahead_s = 0;
	*utc = take(r, "Z");
	if (*utc)
		return true;
	sign = take(r, "+") ? 1 : take(r, "-") ? -1 : 0;
	if (!sign)
		return true;
	*utc = true;
	if (strlen(r->at) == 4) {
		if (!take_number(r, 4, 4, &hours))
			return false;
		minutes = hours % 100;
		hours /= 100;
	} else if (!take_number(r, 2, 2, &hours) || !take(r, ":") ||
	           !take_number(r, 2, 2, &minutes)) {
		return false;
	}
	*ahead_s = sign * (hours * 3600 + minutes * 60);
	return hours < 24 && minutes < 60;
}

static bool parse_date(struct time_reading *r, uint64_t *time_ns)
{
	int64_t ahead_s = 0, since;
	bool clock, utc = false;
	uint64_t ns = 0;
	struct tm tm;

	if (!take_date(r, &tm))
		return false;
	clock = take(r, "T") || take(r, " ");
	if (clock && (!take_clock(r, &tm, &ns) || !take_offset(r, &utc, &ahead_s)))
		return false;
	if (!clock)
		utc = take(r, "Z");
	if (*r->at || !close_time(&tm, utc, ns, time_ns))
		return false;
	since = (int64_t)*time_ns - ahead_s * (int64_t)SECOND;
	*time_ns = since > 0 ? (uint64_t)since : 0;
	return true;
}

/* Parses a time of today, or of `days` days before. */
static bool parse_day(struct time_reading *r, uint64_t now_ns, int days, bool clock_needed,
                      uint64_t *time_ns)
{
	time_t now = (time_t)(now_ns / SECOND);
	uint64_t ns = 0;
	struct tm today, tm;

	if (!localtime_r(&now, &today))
		return false;
	/* Finds the date at noon, which no time zone skips. */
	today.tm_mday -= days;
	today.tm_hour = 12;
	today.tm_isdst = -1;
	if (mktime(&today) < 0)
		return false;
	tm = (struct tm){
	        .tm_year = today.tm_year, .tm_mon = today.tm_mon, .tm_mday = today.tm_mday};
	if (clock_needed || take(r, " ") || take(r, "T"))
		if (!take_clock(r, &tm, &ns))
			return false;
	return !*r->at && close_time(&tm, false, ns, time_ns);
}

static bool parse_before(struct time_reading *r, uint64_t now_ns, uint64_t *time_ns)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {
	        {"s", 1},
	        {"sec", 1},
	        {"min", 60},
	        {"m", 60},
	        {"h", 3600},
	        {"hours", 3600},
	        {"hour", 3600},
	        {"d", 86400},
	        {"day", 86400},
	        {"days", 86400},
	        {"w", 7 * 86400},
	        {"week", 7 * 86400},
	        {"weeks", 7 * 86400},
	};
	int number;
	uint64_t ns;

	if (!take_number(r, 1, 8, &number))
		return false;
	take(r, " ");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(r->at, units[i].name) != 0)
			continue;
		ns = (uint64_t)number * units[i].seconds * SECOND;
		*time_ns = ns < now_ns ? now_ns - ns : 0;
		return true;
	}
	return false;
}

static bool parse_epoch(struct time_reading *r, uint64_t *time_ns)
{
	uint64_t seconds = 0, ns;
	int digits = 0;

	for (; digits < 10 && *r->at >= '0' && *r->at <= '9'; digits++)
		seconds = seconds * 10 + (uint64_t)(*r->at++ - '0');
	if (!digits || !take_fraction(r, &ns) || *r->at)
		return false;
	*time_ns = seconds * SECOND + ns;
	return true;
}

static bool parse(struct time_reading *r, uint64_t now_ns, uint64_t *time_ns)
{
	if (!strcmp(r->at, "now")) {
		*time_ns = now_ns;
		return true;
	}
	if (take(r, "today"))
		return parse_day(r, now_ns, 0, false, time_ns);
	if (take(r, "yesterday"))
		return parse_day(r, now_ns, 1, false, time_ns);
	if (take(r, "@"))
		return parse_epoch(r, time_ns);
	if (take(r, "-"))
		return parse_before(r, now_ns, time_ns);
	if (strlen(r->at) > 4 && r->at[4] == '-')
		return parse_date(r, time_ns);
	return parse_day(r, now_ns, 0, true, time_ns);
}

int when_parse(const char *option, const char *text, uint64_t now_ns, uint64_t *time_ns,
               struct error *err)
{
	struct time_reading r = {text};

	if (parse(&r, now_ns, time_ns))
		return 0;
	return error_set(err, EINVAL,
	                 "%s: '%s' is not a time; use 2026-11-21T10:00, 10:00 (today), yesterday, "
	                 "-2h (also s, min, d, w) or @SECONDS since 1970",
	                 option, text);
}
