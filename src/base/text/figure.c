/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/figure.h"

#include "base/text/plural.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#define HOURS_FROM_NS 1e13

void text_time(struct buf *out, int64_t ns)
{
	double t = (double)ns, size = t < 0 ? -t : t;

	if (size >= HOURS_FROM_NS)
		buf_addf(out, "%.2f h", t / 3600e9);
	else if (size >= 1e9)
		buf_addf(out, "%.3f s", t / 1e9);
	else if (size >= 1e6)
		buf_addf(out, "%.2f ms", t / 1e6);
	else if (size >= 1e3)
		buf_addf(out, "%.2f us", t / 1e3);
	else if (ns)
		buf_addf(out, "%" PRId64 " ns", ns);
	else
		buf_puts(out, "0 s");
}

void text_fine_time(struct buf *out, double ns)
{
	if (isnan(ns))
		return;
	/* A damaged table may contain any value. */
	if (!(fabs(ns) < 9e18))
		buf_addf(out, "%.3g s", ns / 1e9);
	else if (fabs(ns) < 0.05) /* prevents "-0.0" */
		text_time(out, 0);
	else if (fabs(ns) >= 1000)
		text_time(out, llround(ns));
	else
		buf_addf(out, "%.1f ns", ns);
}

void text_number(struct buf *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	buf_add(out, digits + at, sizeof(digits) - at);
}

void text_count(struct buf *out, uint64_t count)
{
	char digits[32]; /* 20 digits and 6 commas */
	size_t at = sizeof(digits);

	for (int i = 0; !i || count; i++, count /= 10) {
		if (i && i % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + count % 10);
	}
	buf_add(out, digits + at, sizeof(digits) - at);
}

void text_counted(struct buf *out, uint64_t count, const char *one, const char *many)
{
	text_count(out, count);
	buf_addf(out, " %s", plural(count, one, many));
}

void text_bytes(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
		value /= 1000;
		unit++;
	}
	buf_addf(out, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void text_share(struct buf *out, double share)
{
	double percent = 100 * share;

	if (percent > -0.005 && percent < 0.005)
		buf_puts(out, "0.0 %");
	else if (percent > -0.05 && percent < 0.05)
		buf_addf(out, "%.2f %%", percent);
	else
		buf_addf(out, "%.1f %%", percent);
}

void text_date(struct buf *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%F %T", &tm);
	buf_puts(out, text);
}
