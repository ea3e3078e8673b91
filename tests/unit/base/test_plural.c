/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/plural.h"
#include "output/text/table.h"

#include "check.h"

static const char *counted(uint64_t count)
{
	static struct buf text;

	buf_clear(&text);
	text_counted(&text, count, "sample is", "samples are");
	return buf_text(&text);
}

static void one_alone_is_singular(void)
{
	CHECK_STR(plural(0, "call", "calls"), "calls");
	CHECK_STR(plural(1, "call", "calls"), "call");
	CHECK_STR(plural(2, "call", "calls"), "calls");
	CHECK_STR(plural(UINT64_C(1) << 32 | 1, "call", "calls"), "calls");
	CHECK_STR(counted(0), "0 samples are");
	CHECK_STR(counted(1), "1 sample is");
	CHECK_STR(counted(1234567), "1,234,567 samples are");
}

int main(void)
{
	RUN(one_alone_is_singular);
	return check_end();
}
