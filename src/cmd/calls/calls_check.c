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
	struct source none = {.ops = &ops};
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

/* Programs that are not counted, whose CPU time is compared with the nets. */
struct alone {
	char *program;
	double cpu_ns[RUNS];
};

static int compare(const struct alone *alone, const double *nets, const char *what)
{
	struct mean_interval cpu = mean_interval(alone->cpu_ns, RUNS, CONFIDENCE);
	struct mean_interval off = mean_difference(alone->cpu_ns, RUNS, nets, RUNS, CONFIDENCE);
	struct buf text = {0};

	if (!(cpu.mean > 0))
		return command_fail(1, "calls: --check: %s uses no CPU time", alone->program);
	text_fine_time(&text, cpu.mean);
	print_message(
	        "%s: %s of CPU time; net differs by %+.1f %% (95 %% interval %+.1f to %+.1f %%)",
	        what, buf_text(&text), 100 * off.mean / cpu.mean, 100 * off.low / cpu.mean,
	        100 * off.high / cpu.mean);
	buf_done(&text);
	return 0;
}

static void tell_net(const double *nets, const double *counted)
{
	struct mean_interval net = mean_interval(nets, RUNS, CONFIDENCE);
	struct mean_interval cost = mean_interval(counted, RUNS, CONFIDENCE);
	struct buf text = {0};

	buf_addf(&text, "%d runs of each, in turn: the sum of net is ", RUNS);
	text_fine_time(&text, net.mean);
	buf_puts(&text, " a run; with counting, a run uses ");
	text_fine_time(&text, cost.mean);
	buf_puts(&text, " of CPU time");
	print_message("%s", buf_text(&text));
	buf_done(&text);
}

/* The part of net that the program without hooks does not have. */
static void tell_hooks(const struct alone *empty, const struct alone *native)
{
	struct mean_interval more =
	        mean_difference(native->cpu_ns, RUNS, empty->cpu_ns, RUNS, CONFIDENCE);
	struct buf text = {0};

	if (!(more.low > 0))
		return;
	text_fine_time(&text, more.mean);
	print_message("hooks that do nothing cost %s (calls of the hooks, functions that are not "
	              "inlined): this time is in net, in the functions that have the hooks",
	              buf_text(&text));
	buf_done(&text);
}

static int tell(const double *nets, const double *counted, const struct alone *alone, size_t count)
{
	int status;

	tell_net(nets, counted);
	status = compare(&alone[0], nets, "with hooks that do nothing");
	if (status || count == 1)
		return status;
	status = compare(&alone[1], nets, "without hooks (--native)");
	if (!status)
		tell_hooks(&alone[0], &alone[1]);
	return status;
}

/* One run of each. The order changes in turn, so that slow changes of the machine cancel. */
static int run_each(const struct calls_run_options *counted, int run, double *net_ns,
                    double *with_ns, struct alone *alone, size_t count)
{
	char *program = counted->command[0];
	int status = 0;

	for (size_t i = 0; i <= count && !status; i++) {
		size_t k = run % 2 ? i : count - i;

		if (k == count) {
			status = run_counted(counted, net_ns, with_ns);
			continue;
		}
		counted->command[0] = alone[k].program;
		status = run_alone(counted->command, &alone[k].cpu_ns[run]);
		counted->command[0] = program;
	}
	return status;
}

int calls_check(const struct calls_run_options *counted, const char *native)
{
	struct alone alone[] = {{.program = counted->command[0]},
	                        {.program = (char *)(uintptr_t)native}};
	size_t count = native ? 2 : 1;
	double nets[RUNS], with[RUNS];
	int kept = run_output_hide(), status = 0;

	for (int i = 0; i < RUNS && !status; i++)
		status = run_each(counted, i, &nets[i], &with[i], alone, count);
	run_output_show(kept);
	return status ? status : tell(nets, with, alone, count);
}
