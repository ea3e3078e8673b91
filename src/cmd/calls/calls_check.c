/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/calls/calls_check.h"

#include "base/memory/buf.h"
#include "base/statistics/samples.h"
#include "base/text/figure.h"
#include "cmd/calls/counted_run.h"
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"
#include "cmd/run_command.h"
#include "launch/source.h"
#include "view/calls/call_check.h"

#define RUNS 5
#define CONFIDENCE 0.95

/* 0, or an exit status after a message. */
static int check_end(const struct command_run_result *r, const char *program)
{
	int status = run_exit_status(r->exit_status, r->signal);

	if (r->signal)
		return command_fail(128 + r->signal, "calls: --check was interrupted");
	return status ? command_fail(1,
	                             "calls: --check: %s ended with exit status %d in a further "
	                             "run, so the runs cannot be compared",
	                             program, status)
	              : 0;
}

/* The CPU time of a run that is not counted. */
static int run_alone(char **command, double *cpu_ns)
{
	static const struct source_ops ops = {0};
	struct source none = {&ops};
	struct command_run_result result;
	struct error err = {0};
	int status;

	if (command_run(command, &none, &result, &err))
		return command_fail(1, "calls: --check: %s", err.text);
	status = check_end(&result, command[0]);
	*cpu_ns = (double)(result.usage.user_ns + result.usage.system_ns);
	return status;
}

/* The sum of the nets of a counted run, and its CPU time. */
static int run_counted(const struct calls_run_options *options, double *net_ns, double *cpu_ns)
{
	struct call_paths *paths = call_paths_new();
	struct command_run_result result;
	struct error err = {0};
	int status = counted_run(options, paths, &result, &err);

	if (status)
		status = command_fail(1, "calls: --check: %s", err.text);
	else
		status = check_end(&result, options->command[0]);
	call_paths_close(paths);
	*net_ns = 0;
	vec_each (p, &paths->processes)
		*net_ns += call_check_net_ns(p);
	*cpu_ns = (double)(result.usage.user_ns + result.usage.system_ns);
	call_paths_free(paths);
	return status;
}

static int tell(const double *nets, const double *counted, const double *alone, bool native)
{
	struct mean_interval net = mean_interval(nets, RUNS, CONFIDENCE);
	struct mean_interval cpu = mean_interval(alone, RUNS, CONFIDENCE);
	struct mean_interval cost = mean_interval(counted, RUNS, CONFIDENCE);
	struct mean_interval off = mean_difference(alone, RUNS, nets, RUNS, CONFIDENCE);
	struct buf text = {0};

	if (!(cpu.mean > 0))
		return command_fail(1, "calls: --check: the command uses no CPU time");
	buf_puts(&text, "the sum of net is ");
	text_fine_time(&text, net.mean);
	buf_puts(&text, " a run, and the CPU time ");
	text_fine_time(&text, cpu.mean);
	buf_puts(&text,
	         native ? " in the program without hooks: " : " with hooks that do nothing: ");
	buf_addf(&text, "%+.1f %% (95 %% interval %+.1f to %+.1f %%, %d runs of each, in turn); ",
	         100 * off.mean / cpu.mean, 100 * off.low / cpu.mean, 100 * off.high / cpu.mean,
	         RUNS);
	buf_puts(&text, "with counting it uses ");
	text_fine_time(&text, cost.mean);
	print_message("%s", buf_text(&text));
	buf_done(&text);
	return 0;
}

int calls_check(const struct calls_run_options *counted, const char *native)
{
	double nets[RUNS], with[RUNS], alone[RUNS];
	char *program = counted->command[0];
	int kept = run_output_hide(), status = 0;

	for (int i = 0; i < RUNS && !status; i++) {
		/* Each order is used in turn, so that slow changes of the machine cancel. */
		bool first = i % 2;

		if (first)
			status = run_counted(counted, &nets[i], &with[i]);
		if (!status) {
			counted->command[0] = native ? (char *)(uintptr_t)native : program;
			status = run_alone(counted->command, &alone[i]);
			counted->command[0] = program;
		}
		if (!first && !status)
			status = run_counted(counted, &nets[i], &with[i]);
	}
	run_output_show(kept);
	return status ? status : tell(nets, with, alone, native != NULL);
}
