/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes whose files have the id of their own PID namespace.
 */
#include "check.h"
#include "source/runtime/runtime_owner.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Two threads, 1 and 2 of their namespace. */
static void run_inside(int told)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_ever, NULL) || write(told, "", 1) != 1)
		_exit(1);
	wait_for_ever(NULL);
}

/*
 * A process that has id 1 in its own namespace; returns its id here, 0 if namespaces are not
 * allowed.
 */
static pid_t inner_process(pid_t *outer)
{
	char byte;
	pid_t inner = 0;
	int tell[2];

	if (pipe(tell))
		return 0;
	*outer = fork();
	if (!*outer) {
		int tell_thread[2];
		pid_t child;

		if (unshare(CLONE_NEWPID) || pipe(tell_thread))
			_exit(1);
		child = fork();
		if (!child)
			run_inside(tell_thread[1]);
		if (read(tell_thread[0], &byte, 1) != 1 ||
		    write(tell[1], &child, sizeof(child)) != sizeof(child))
			_exit(1);
		waitpid(child, NULL, 0);
		_exit(0);
	}
	close(tell[1]);
	if (read(tell[0], &inner, sizeof(inner)) != sizeof(inner))
		inner = 0;
	close(tell[0]);
	return inner;
}

/* Field 22 of /proc/PID/stat, after a name without blanks. */
static uint64_t birth_of(pid_t pid)
{
	unsigned long long birth = 0;
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	in = fopen(path, "r");
	CHECK(in && fscanf(in,
	                   "%*d %*s %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	                   "%*s %*s %*s %*s %llu",
	                   &birth) == 1);
	if (in)
		fclose(in);
	return birth;
}

static void a_process_of_our_namespace_is_found_by_its_id(void)
{
	struct runtime_owners known = {0};
	uint64_t birth = birth_of(getpid());
	bool several = true;

	CHECK_EQ(runtime_owner_find(&known, getpid(), birth, &several), getpid());
	CHECK(!several);
	CHECK_EQ(runtime_owner_find(&known, getpid(), birth + 1000, &several), 0);
	CHECK_EQ(shared_thread_own(getpid(), getpid()), getpid());
	CHECK_EQ(shared_thread_find(getpid(), getpid()), getpid());
	runtime_owners_done(&known);
}

static void a_process_of_a_namespace_below_is_found_by_its_own_id(void)
{
	struct runtime_owners known = {0};
	pid_t outer = 0, inner = inner_process(&outer);
	uint64_t birth;
	bool several = true;

	if (inner) {
		birth = birth_of(inner);
		CHECK_EQ(runtime_owner_find(&known, 1, birth, &several), inner);
		CHECK(!several);
		CHECK_EQ(shared_thread_own(inner, inner), 1);
		CHECK_EQ(shared_thread_find(inner, 1), inner);
		CHECK(shared_thread_find(inner, 2) > 0 && shared_thread_find(inner, 2) != inner);
		CHECK_EQ(shared_thread_own(inner, shared_thread_find(inner, 2)), 2);
		CHECK_EQ(shared_thread_find(inner, 4000000), 0);
		CHECK(runtime_owner_runs(inner, birth));
		kill(inner, SIGKILL);
		waitpid(outer, NULL, 0);
		CHECK(!runtime_owner_runs(inner, birth));
		CHECK_EQ(runtime_owner_find(&known, 1, birth, &several), 0);
	} else {
		printf("# PID namespaces are not allowed here\n");
		waitpid(outer, NULL, 0);
	}
	runtime_owners_done(&known);
}

int main(void)
{
	RUN(a_process_of_our_namespace_is_found_by_its_id);
	RUN(a_process_of_a_namespace_below_is_found_by_its_own_id);
	return check_end();
}
