/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/rights.h"

#include "check.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

static void settings_are_read_by_their_names(void)
{
	int64_t pid_max = 0, value = 7;

	CHECK_EQ(rights_sysctl("kernel.pid_max", &pid_max), 0);
	CHECK(pid_max >= 301); /* the kernel's minimum */
	CHECK_EQ(rights_sysctl("kernel.there_is_no_such_thing", &value), -ENOENT);
	CHECK_EQ(rights_sysctl("kernel.ostype", &value), -EINVAL); /* not a number */
	CHECK_EQ(value, 7);
}

static void facts_are_those_of_this_process(void)
{
	struct rlimit limit;
	struct rights r;

	rights_read(&r);
	CHECK_EQ(r.uid, geteuid());
	CHECK_EQ(r.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	CHECK_EQ(r.open_files,
	         limit.rlim_cur == RLIM_INFINITY ? RIGHTS_NO_LIMIT : (int64_t)limit.rlim_cur);
	CHECK(r.kernel_release[0] != '\0');
	CHECK(r.memory_bytes > 0);
	/* The results of attempts agree with the derived answers. */
	if (!r.cpu_error)
		CHECK(rights_machine(&r));
	if (!rights_kernel(&r))
		CHECK(r.kernel_error);
}

static void the_paranoid_level_decides_without_the_capability(void)
{
	static const struct {
		int64_t paranoid;
		bool kernel, machine;
	} levels[] = {{-1, true, true},  {0, true, true},   {1, true, false},
	              {2, false, false}, {3, false, false}, {RIGHTS_UNKNOWN, false, false}};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct rights r = {.paranoid = levels[i].paranoid};

		CHECK_EQ(rights_kernel(&r), levels[i].kernel);
		CHECK_EQ(rights_machine(&r), levels[i].machine);
		r.perfmon = true;
		CHECK(rights_kernel(&r) && rights_machine(&r));
	}
}

static void ring_memory_is_the_users_share_and_the_limit(void)
{
	struct rights r = {.paranoid = 2, .mlock_kb = 516, .cpus = 4, .memlock_bytes = 65536};

	CHECK_EQ(rights_ring_bytes(&r), 4 * 516 * 1024 + 65536);
	r.mlock_kb = RIGHTS_UNKNOWN;
	CHECK_EQ(rights_ring_bytes(&r), 65536);
	r.paranoid = -1;
	CHECK(rights_ring_bytes(&r) == RIGHTS_NO_LIMIT);
	r.paranoid = 2;
	r.ipc_lock = true;
	CHECK(rights_ring_bytes(&r) == RIGHTS_NO_LIMIT);
}

int main(void)
{
	RUN(settings_are_read_by_their_names);
	RUN(facts_are_those_of_this_process);
	RUN(the_paranoid_level_decides_without_the_capability);
	RUN(ring_memory_is_the_users_share_and_the_limit);
	return check_end();
}
