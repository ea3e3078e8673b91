/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/record_beside.h"

#include "cmd/cli/command.h"
#include "cmd/cli/print.h"
#include "cmd/session/record_options.h"
#include "session/session.h"
#include "session/sinks/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The pipe on which the recorder reports that it samples; in the recorder only. */
static int ready = -1;

static void sampling_begins(void *ctx)
{
	ssize_t written = write(ready, "", 1);

	(void)written; /* without a reader no process waits for the recorder */
	close(ready);
}

static int record(const struct record_beside *b)
{
	struct session_options so = {.output = b->output, .begins = sampling_begins};
	struct record_options options = {0};
	struct session_result result;
	struct error err = {0};
	proc_ids pids = {0};
	int status;

	record_options_default(&options);
	options.all = options.waits = true;
	options.frequency = b->frequency;
	status = record_options_use(&options, b->command_name, NULL, &so, &pids);
	if (status)
		return status;
	so.sink = file_sink_new(b->output, false);
	if (session_record(&so, &result, &err))
		status = command_fail(1, "%s: %s", b->command_name, err.text);
	else if (result.lost_records)
		print_message("%" PRIu64 " records of waits were dropped, since the buffers were "
		              "full: some waits have no cause",
		              result.lost_records);
	vec_each (note, &result.notes)
		print_message("%s", *note);
	session_result_done(&result);
	vec_done(&pids);
	return status;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int record_beside_begin(struct record_beside *b, const char *command_name, const char *output,
                        const char *frequency)
{
	int ends[2];
	char byte;
	ssize_t got;

	*b = (struct record_beside){
	        .command_name = command_name, .output = output, .frequency = frequency};
	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC) || (b->recorder = fork()) < 0)
		return command_fail(1, "%s: the recorder of waits cannot be started: %s",
		                    command_name, strerror(errno));
	if (!b->recorder) {
		close(ends[0]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		ready = ends[1];
		_exit(record(b));
	}
	close(ends[1]);
	while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	if (got == 1)
		return 0;
	got = wait_for(b->recorder);
	b->recorder = 0;
	return got ? (int)got
	           : command_fail(1, "%s: the recorder of waits ended before the command began",
	                          command_name);
}

int record_beside_end(struct record_beside *b)
{
	pid_t recorder = b->recorder;

	if (recorder <= 0)
		return 0;
	b->recorder = 0;
	kill(recorder, SIGTERM);
	return wait_for(recorder);
}
