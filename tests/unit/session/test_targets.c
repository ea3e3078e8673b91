/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The targets of a recording: the command, the requested processes, all processes of this user. */
#include "check.h"
#include "session/targets.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t times(const proc_ids *ids, int32_t id)
{
	size_t n = 0;

	vec_each (item, ids)
		n += *item == id;
	return n;
}

static pid_t child_that_waits(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The memory after the last pid may contain anything. */
static void only_requested_processes_are_followed(void)
{
	pid_t one = child_that_waits(), other = child_that_waits();
	proc_ids asked = {0}, threads = {0}, pids = {0};
	struct targets t = {.pids = &asked};

	vec_push(&asked, (int32_t)one);
	vec_push(&asked, (int32_t)other);
	asked.count = 1;
	targets_threads(&t, &threads);
	CHECK_EQ(threads.count, 1);
	CHECK_EQ(times(&threads, one), 1);
	targets_processes(&t, &pids);
	CHECK_EQ(pids.count, 1);
	CHECK_EQ(times(&pids, one), 1);
	CHECK(!targets_gone(&t));
	end(one);
	CHECK(targets_gone(&t));
	asked.count = 2;
	CHECK(!targets_gone(&t));
	end(other);
	CHECK(targets_gone(&t));
	/* A command is followed even if the other processes have exited. */
	t.command = getpid();
	CHECK(!targets_gone(&t));
	vec_done(&asked);
	vec_done(&threads);
	vec_done(&pids);
}

/* The recorder is excluded; the command is in the list once. */
static void own_processes_are_without_the_recorder(void)
{
	pid_t command = child_that_waits(), other = child_that_waits();
	struct targets t = {.command = command, .own = true};
	proc_ids threads = {0};

	targets_threads(&t, &threads);
	CHECK_EQ(times(&threads, getpid()), 0);
	CHECK_EQ(times(&threads, command), 1);
	CHECK_EQ(times(&threads, other), 1);
	CHECK(!targets_gone(&t));
	end(command);
	end(other);
	vec_done(&threads);
}

int main(void)
{
	RUN(only_requested_processes_are_followed);
	RUN(own_processes_are_without_the_recorder);
	return check_end();
}
