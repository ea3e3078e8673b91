/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes make the keeper of files hold has a bound. */
#include "check.h"
#include "session/keeper_internal.h"

static void ranges_of_one_file_have_a_bound(void)
{
	struct keeper_file file = {.fd = 0, .watch = -1};
	struct event_mmap m = {.size = 0x1000};
	struct keeper k = {.eager = true};

	vec_push(&k.files, file);
	for (uint64_t i = 0; i < 1000000; i++) {
		m.addr = i * 0x1000;
		keeper_hits_add(&k, 0, &m, 42);
	}
	CHECK(k.ranges.count < 70000);
	/* Samples in the mappings that are not looked for count as if they were seen. */
	CHECK(k.files.items[0].old);
	keeper_hits_done(&k);
	vec_done(&k.files);
}

int main(void)
{
	RUN(ranges_of_one_file_have_a_bound);
	return check_end();
}
