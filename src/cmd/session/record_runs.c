/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/record_runs.h"

#include "cmd/run_command.h"
#include "session/session.h"
#include "session/sinks/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const int noted[] = {SIGINT, SIGTERM, SIGHUP};

#define NOTED (sizeof(noted) / sizeof(*noted))

static struct sigaction before[NOTED];
static volatile sig_atomic_t interrupted;

static void note(int number)
{
	interrupted = 1;
}

void record_runs_begin(void)
{
	struct sigaction action = {.sa_handler = note};

	interrupted = 0;
	for (size_t i = 0; i < NOTED; i++) {
		sigaction(noted[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(noted[i], &action, NULL);
	}
}

bool record_runs_interrupted(void)
{
	return interrupted;
}

void record_runs_end(void)
{
	for (size_t i = 0; i < NOTED; i++)
		sigaction(noted[i], &before[i], NULL);
}

/* In the child. */
static void prepare(const struct record_run *run)
{
	int nothing;

	for (size_t i = 0; i < NOTED; i++)
		sigaction(noted[i], &before[i], NULL);
	if (!run->discard)
		return;
	fflush(stdout);
	nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nothing >= 0)
		dup2(nothing, STDOUT_FILENO);
}

static _Noreturn void only_run(const struct record_run *run)
{
	execvp(run->argv[0], run->argv);
	command_fail(0, "%s: %s: cannot be run: %s", run->command_name, run->argv[0],
	             strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static struct record_run_end record(const struct record_run *run)
{
	struct session_options so = {.output = run->output, .command = run->argv};
	struct record_run_end end = {0};
	struct session_result result;
	struct error err = {0};
	proc_ids pids = {0};

	end.status = record_options_use(run->options, run->command_name, run->argv[0], &so, &pids);
	if (end.status)
		return end;
	so.sink = file_sink_new(run->output, false);
	if (session_record(&so, &result, &err)) {
		end.status = !result.command_failed ? 1 : err.code == ENOENT ? 127 : 126;
		command_fail(1, "%s: %s", run->command_name, err.text);
	} else {
		end.recorded = true;
		end.status = result.exit_status < 0 ? 0 : run_exit_status(result.exit_status, 0);
	}
	session_result_done(&result);
	vec_done(&pids);
	return end;
}

/* Memory that the child shares, for its result. */
static struct record_run_end *result_page(void)
{
	void *page = mmap(NULL, sizeof(struct record_run_end), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

struct record_run_end record_runs_one(const struct record_run *run)
{
	struct record_run_end *shared = result_page(), end = {.status = 1};
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = shared ? fork() : -1;
	if (pid < 0) {
		command_fail(1, "%s: a process for the run cannot be started: %s",
		             run->command_name, strerror(errno));
	} else if (!pid) {
		prepare(run);
		if (!run->options)
			only_run(run);
		*shared = record(run);
		_exit(0);
	} else {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		end = *shared;
		if (!run->options || status)
			end.status = run_exit_status(status, 0);
	}
	if (shared)
		munmap(shared, sizeof(*shared));
	return end;
}
