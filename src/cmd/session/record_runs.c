/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/record_runs.h"

#include "base/clock.h"
#include "cmd/run_command.h"
#include "cmd/session/record_command.h"
#include "session/sinks/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Timeout(1) and other programs send a signal twice; the second within this time is ignored */
#define AGAIN_NS UINT64_C(1000000000)

static const int noted[] = {SIGINT, SIGTERM, SIGHUP};

#define NOTED (sizeof(noted) / sizeof(*noted))

static struct sigaction before[NOTED];
static volatile sig_atomic_t interrupted;
static volatile pid_t running; /* the process of the run; 0: none */

/* Async-signal-safe. Signals from the terminal go to its whole foreground group. */
static void note(int number, siginfo_t *info, void *context)
{
	int code = errno;

	interrupted = 1;
	if (running && info->si_code != SI_KERNEL)
		kill(running, number);
	errno = code;
}

void record_runs_begin(void)
{
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};

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

/* ---- in the process of the run -------------------------------------------- */

static void use_null(int fd, int flags)
{
	int null = open("/dev/null", flags | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, fd);
		close(null);
	}
}

static void prepare(const struct record_run *run, const sigset_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	record_runs_end();
	sigprocmask(SIG_SETMASK, mask, NULL);
	use_null(STDIN_FILENO, O_RDONLY);
	if (run->shown == RECORD_RUN_TO_STDERR)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	else if (run->shown == RECORD_RUN_DISCARDED)
		use_null(STDOUT_FILENO, O_WRONLY);
}

static _Noreturn void only_run(const struct record_run *run)
{
	int code;

	execvp(run->argv[0], run->argv);
	code = errno;
	command_fail(0, "%s: %s: cannot be run: %s", run->command_name, run->argv[0],
	             strerror(code));
	_exit(code == ENOENT ? 127 : 126);
}

static void ignore_late(int number)
{
}

/* From now on the session reads the signals, and a late signal must not end this process. */
static void sampling_begins(void *ctx)
{
	const struct sigaction action = {.sa_handler = ignore_late};

	for (size_t i = 0; i < NOTED; i++)
		if (before[i].sa_handler != SIG_IGN)
			sigaction(noted[i], &action, NULL);
}

static struct record_run_end record(const struct record_run *run)
{
	struct session_options so = {
	        .output = run->output, .command = run->argv, .begins = sampling_begins};
	struct record_run_end end = {.failed = true};
	struct session_result result;
	struct error err = {0};
	proc_ids pids = {0};

	end.status = record_options_use(run->options, run->command_name, run->argv[0], &so, &pids);
	if (end.status)
		return end;
	so.sink = file_sink_new(run->output, false);
	if (session_record(&so, &result, &err)) {
		command_fail(1, "%s: %s", run->command_name, err.text);
		record_command_status(run->command_name, &result, run->quiet);
		end.status = !result.command_failed ? 1 : err.code == ENOENT ? 127 : 126;
	} else {
		end.failed = false;
		end.complete = !result.interrupted;
		end.lost_records = result.lost_records;
		end.status = record_command_status(run->command_name, &result, run->quiet);
	}
	session_result_done(&result);
	vec_done(&pids);
	return end;
}

/* ---- in the process that waits -------------------------------------------- */

/* Memory that the child shares, for its result. */
static struct record_run_end *result_page(void)
{
	void *page = mmap(NULL, sizeof(struct record_run_end), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* The process is not reaped until `running` is reset, so that no signal goes to another process
 * with its id. */
static int wait_for(pid_t pid, bool recorded)
{
	uint64_t asked_ns = 0, now;
	siginfo_t info;
	int status = 0;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (interrupted && !asked_ns)
			asked_ns = now;
		else if (interrupted && !recorded && now - asked_ns >= AGAIN_NS)
			kill(pid, SIGKILL);
	}
	running = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static struct record_run_end end_of(const struct record_run *run, struct record_run_end end,
                                    int status)
{
	if (!run->options) {
		end.status = run_exit_status(status, 0);
	} else if (status) {
		end.recorder_end = interrupted ? 0 : status;
		end.complete = false;
	} else if (!end.complete && !end.failed) {
		interrupted = 1; /* a signal that only the recorder received */
	}
	return end;
}

struct record_run_end record_runs_one(const struct record_run *run)
{
	struct record_run_end *shared = result_page(), end = {.status = 1, .failed = true};
	sigset_t held, mask;
	pid_t pid;

	fflush(NULL);
	sigemptyset(&held);
	for (size_t i = 0; i < NOTED; i++)
		sigaddset(&held, noted[i]);
	sigprocmask(SIG_BLOCK, &held, &mask);
	pid = shared ? fork() : -1;
	if (!pid) {
		prepare(run, &mask);
		if (!run->options)
			only_run(run);
		*shared = record(run);
		_exit(0);
	}
	running = pid > 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0) {
		int status = wait_for(pid, run->options != NULL);

		end = end_of(run, *shared, status);
	} else {
		command_fail(1, "%s: a process for the run cannot be started: %s",
		             run->command_name, strerror(errno));
	}
	if (shared)
		munmap(shared, sizeof(*shared));
	return end;
}
