/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pid_map: random changes give what a plain array gives, also where numbers share their places. */
#include "base/memory/hash.h"
#include "check.h"
#include "process/pid_map.h"
#include "random_numbers.h"

#define PIDS 300
#define CHANGES 20000

static void check_all(const struct pid_map *m, const uint32_t *truth)
{
	size_t count = 0;

	for (int32_t pid = 0; pid < PIDS; pid++) {
		CHECK_EQ(pid_map_get(m, pid), truth[pid]);
		count += truth[pid] != ID_NONE;
	}
	CHECK_EQ(m->count, count);
}

static void random_changes(void)
{
	struct pid_map m = {0};
	uint32_t truth[PIDS];

	for (int i = 0; i < PIDS; i++)
		truth[i] = ID_NONE;
	pid_map_remove(&m, 1);
	for (int i = 0; i < CHANGES; i++) {
		/* The number of entries goes up and down: the map is nearly full, and empty. */
		bool more = next_random() % 100 < (i / 1000 % 2 ? 20 : 80);
		int32_t pid = (int32_t)(next_random() % PIDS);

		truth[pid] = more ? (uint32_t)next_random() : ID_NONE;
		if (more)
			pid_map_set(&m, pid, truth[pid]);
		else
			pid_map_remove(&m, pid);
		if (i % 50 == 0)
			check_all(&m, truth);
	}
	check_all(&m, truth);
	pid_map_done(&m);
}

static void memory_is_that_of_the_living(void)
{
	struct pid_map m = {0};

	for (int32_t pid = 1; pid < 1000000; pid++) {
		pid_map_set(&m, pid, (uint32_t)pid);
		pid_map_remove(&m, pid - 10);
	}
	CHECK_EQ(m.count, 10);
	CHECK(m.mask < 64);
	pid_map_done(&m);
}

int main(void)
{
	RUN(random_changes);
	RUN(memory_is_that_of_the_living);
	return check_end();
}
