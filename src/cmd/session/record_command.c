/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/record_command.h"

#include "cmd/cli/print.h"
#include "cmd/run_command.h"
#include "launch/command_run.h"

static int wait_for_command(const char *name, struct session_result *r, bool quiet)
{
	struct command_run_result end;
	struct error err = {0};

	if (!quiet)
		print_message("the command continues and is no longer sampled; waiting for its "
		              "exit (Ctrl-C ends both)");
	if (command_run_wait(&r->command, &end, &err))
		return command_fail(1, "%s: %s", name, err.text);
	return run_exit_status(end.exit_status, end.signal);
}

int record_command_status(const char *name, struct session_result *r, bool quiet)
{
	if (r->command_goes_on)
		print_message("the command did not exit after a signal, and continues");
	if (r->command.pid)
		return wait_for_command(name, r, quiet);
	return r->exit_status < 0 ? 0 : run_exit_status(r->exit_status, 0);
}
