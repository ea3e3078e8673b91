/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/amount.h"

#include "check.h"

static uint64_t ns(const char *text)
{
	uint64_t value = 7;

	return amount_ns(text, &value) ? value : value == 7 ? 0 : UINT64_MAX;
}

static uint64_t bytes(const char *text)
{
	uint64_t value = 7;

	return amount_bytes(text, &value) ? value : value == 7 ? 0 : UINT64_MAX;
}

static void times_have_units(void)
{
	CHECK_EQ(ns("500ms"), 500000000);
	CHECK_EQ(ns("10s"), 10000000000);
	CHECK_EQ(ns("0.5s"), 500000000);
	CHECK_EQ(ns("5min"), 300000000000);
	CHECK_EQ(ns("2h"), 7200000000000);
	CHECK_EQ(ns("1d"), 86400000000000);
	CHECK_EQ(ns("2w"), 2 * 604800000000000);
	CHECK_EQ(ns("100y"), 100 * 31536000000000000);
}

static void invalid_times_are_refused(void)
{
	static const char *const wrong[] = {"",    "s",     "10",   "10 s",  " 10s", "-1s",
	                                    "0s",  "10sx",  "1e3s", "infs",  "nans", "101y",
	                                    "+1s", "0x10s", "10m",  "1..5s", "10s "};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_EQ(ns(wrong[i]), 0);
}

static void sizes_have_units(void)
{
	CHECK_EQ(bytes("64k"), 64000);
	CHECK_EQ(bytes("64K"), 64000);
	CHECK_EQ(bytes("1.5MB"), 1500000);
	CHECK_EQ(bytes("2G"), 2000000000);
	CHECK_EQ(bytes("2GB"), 2000000000);
	CHECK_EQ(bytes("64"), 0);
	CHECK_EQ(bytes("10s"), 0);
	CHECK_EQ(bytes("0k"), 0);
	CHECK_EQ(bytes("0.0001k"), 0);
}

int main(void)
{
	RUN(times_have_units);
	RUN(invalid_times_are_refused);
	RUN(sizes_have_units);
	return check_end();
}
