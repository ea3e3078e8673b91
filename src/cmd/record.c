/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: sample while something runs, into a perf.data file. */
#include "cmd/command.h"
#include "session/session.h"
#include "source/rights.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct record_options {
	const char *frequency;
	uint64_t period;
	bool all, data_addresses, off_cpu, no_witness, quiet;
	struct option_list pids, events;
	const char *call_graph; /* NULL: not asked for; "" as "auto" */
	uint64_t stack_size;
	const char *output;
	double memory_mb;
};

#define STACK_BYTES 32768
#define STACK_BYTES_MAX 65504 /* a record holds no more */

#define AT(field) offsetof(struct record_options, field)

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is sampled"},
        {.kind = OPTION_FLAG,
         .letter = 'a',
         .name = "all-cpus",
         .help = "the whole machine, whatever runs (the default without COMMAND and -p)",
         .details = "With COMMAND the machine is sampled for as long as COMMAND runs.",
         .offset = AT(all)},
        {.kind = OPTION_LIST,
         .letter = 'p',
         .name = "pid",
         .argument = "PID",
         .help = "these processes, with the children they will have",
         .offset = AT(pids)},
        {.kind = OPTION_LIST,
         .letter = 'e',
         .name = "event",
         .argument = "EVENT",
         .help = "what makes a sample: cycles, cpu-clock, page-faults, ...",
         .details = "Names and modifiers (:u, :k, :p) are perf's. Without -e: cycles where the "
                    "machine has a PMU, else cpu-clock. Events that are no clocks are sampled "
                    "each one, or as -c or -F say.",
         .offset = AT(events)},
        {.kind = OPTION_STRING,
         .letter = 'F',
         .name = "freq",
         .argument = "HZ",
         .help = "samples a second on each CPU, or max (default 997)",
         .details = "At most kernel.perf_event_max_sample_rate. A rate beyond it is refused, not "
                    "lowered.",
         .offset = AT(frequency)},
        {.kind = OPTION_COUNT,
         .letter = 'c',
         .name = "count",
         .argument = "COUNT",
         .help = "a sample every COUNT events (clocks: ns) instead of -F",
         .offset = AT(period)},
        {.kind = OPTION_GROUP, .help = "What a sample holds"},
        {.kind = OPTION_STRING,
         .letter = 'g',
         .name = "call-graph",
         .argument = "[HOW]",
         .choices = "auto,fp,dwarf",
         .looks_ahead = true,
         .help = "the call chain of the user side too: auto (without HOW), fp or dwarf",
         .details = "fp: the kernel follows frame pointers; cheap, and broken off in code that was "
                    "compiled without them, as most is. dwarf: the unwind tables that programs "
                    "carry are followed while recording, from a copy of the registers and the "
                    "stack with each sample; the file holds plain call chains. auto: as dwarf, and "
                    "frame pointers where there is no table. The kernel's side is always taken, "
                    "where you may sample the kernel.",
         .offset = AT(call_graph)},
        {.kind = OPTION_COUNT,
         .name = "stack-size",
         .argument = "BYTES",
         .help = "how much of the stack is copied with a sample, for -g (default 32768)",
         .details = "A multiple of 8, at most 65504. Deeper frames are taken from what the "
                    "thread showed before, or read from its memory.",
         .offset = AT(stack_size)},
        {.kind = OPTION_FLAG,
         .letter = 'd',
         .name = "data",
         .help = "data addresses, and which mapping they fall in (report --sort region)",
         .offset = AT(data_addresses)},
        {.kind = OPTION_FLAG,
         .name = "off-cpu",
         .help = "the stack at each switch away from a CPU, and for how long",
         .details = "Answers why something is slow though no CPU is busy. The report then has "
                    "columns on-CPU, runnable and blocked. Takes a sample at every context "
                    "switch: add -g for the user side of the stacks.",
         .offset = AT(off_cpu)},
        {.kind = OPTION_FLAG,
         .name = "no-witness",
         .help = "without the second, slow clock that shows programs in step with the first",
         .offset = AT(no_witness)},
        {.kind = OPTION_GROUP, .help = "Output"},
        {.kind = OPTION_STRING,
         .letter = 'o',
         .name = "output",
         .argument = "FILE",
         .help = "the file written (default perf.data; an older one becomes FILE.old)",
         .offset = AT(output)},
        {.kind = OPTION_NUMBER,
         .name = "memory",
         .argument = "MB",
         .help = "buffers for all CPUs together (default 4 MB a CPU, at most 256)",
         .details = "16 MB a CPU and an eighth more where stacks are copied (-g). What finds no "
                    "room in them is "
                    "dropped, counted per CPU, and told in the "
                    "report.",
         .offset = AT(memory_mb)},
        {.kind = OPTION_FLAG,
         .letter = 'q',
         .name = "quiet",
         .help = "no progress and no closing line; errors alone",
         .offset = AT(quiet)},
        {.kind = OPTION_END},
};

#define STACK_BYTES_NOT_SAID UINT64_MAX

static void defaults(void *p)
{
	struct record_options *o = p;

	o->frequency = NULL;
	o->output = "perf.data";
	o->stack_size = STACK_BYTES_NOT_SAID;
}

/* -F: a number, or the most that the kernel allows. */
static int parse_frequency(const char *text, uint64_t *hz)
{
	int64_t most;
	char *end;

	if (!strcmp(text, "max")) {
		if (rights_sysctl("kernel.perf_event_max_sample_rate", &most) || most <= 0)
			return -EINVAL;
		*hz = (uint64_t)most;
		return 0;
	}
	errno = 0;
	*hz = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return -EINVAL;
	if (*end == 'k') {
		*hz *= 1000;
		end++;
	}
	return *end || !*hz ? -EINVAL : 0;
}

static int parse_pids(const struct option_list *list, proc_ids *pids)
{
	for (size_t i = 0; i < list->count; i++) {
		char *end;
		long pid = strtol(list->items[i], &end, 10);

		if (*end || end == list->items[i] || pid <= 0 || pid > INT32_MAX)
			return command_fail(2, "record: -p wants a process id, not '%s'",
			                    list->items[i]);
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			return command_fail(1, "record: there is no process %ld", pid);
		vec_push(pids, (int32_t)pid);
	}
	return 0;
}

static void show_progress(void *ctx, const struct session_progress *p)
{
	/* A short run is over before anyone wonders whether it lives. */
	if (p->elapsed_ns < 2000000000)
		return;
	fprintf(stderr, "\r\033[K%.0f s, %.1f MB (Ctrl-C ends)", (double)p->elapsed_ns / 1e9,
	        (double)p->bytes / 1e6);
	fflush(stderr);
}

static void print_result(const struct record_options *o, const struct session_result *r, bool tty)
{
	if (tty)
		fputs("\r\033[K", stderr);
	vec_each (note, &r->notes)
		fprintf(stderr, "assay: %s\n", *note);
	if (r->lost_records)
		fprintf(stderr,
		        "assay: %" PRIu64 " records were dropped, the buffers were full; --memory "
		        "makes them larger\n",
		        r->lost_records);
	if (r->command_goes_on)
		fputs("assay: the command did not end when asked to, and goes on\n", stderr);
	fprintf(stderr,
	        "assay: %.2f s recorded, %.2f MB in %s, recorder's own CPU time %.1f ms; read it "
	        "with 'assay report%s%s'\n",
	        (double)r->elapsed_ns / 1e9, (double)r->bytes / 1e6, o->output,
	        (double)r->observer_cpu_ns / 1e6, strcmp(o->output, "perf.data") ? " " : "",
	        strcmp(o->output, "perf.data") ? o->output : "");
}

static int exit_status(const struct session_result *r)
{
	if (r->exit_status < 0)
		return 0;
	return WIFSIGNALED(r->exit_status) ? 128 + WTERMSIG(r->exit_status)
	                                   : WEXITSTATUS(r->exit_status);
}

static int record(const struct record_options *o, const struct session_options *so)
{
	struct session_result result;
	struct error err = {0};
	int status;

	if (session_record(so, &result, &err)) {
		status = command_fail(1, "record: %s", err.text);
		if (result.command_failed) /* as a shell says it */
			status = err.code == ENOENT ? 127 : 126;
	} else {
		if (!o->quiet)
			print_result(o, &result, so->progress != NULL);
		status = exit_status(&result);
	}
	session_result_done(&result);
	return status;
}

/* Also what perf understands and we do not: HOW,BYTES, which is then the command's first word. */
static int check_call_graph(const struct record_options *o, const char *first)
{
	const char *comma = strchr(first, ',');
	bool said = o->stack_size != STACK_BYTES_NOT_SAID;

	if (o->call_graph && !*o->call_graph && comma &&
	    (!strncmp(first, "dwarf,", 6) || !strncmp(first, "auto,", 5)))
		return command_fail(2,
		                    "record: '%s': the size has an option of its own: "
		                    "--call-graph %.*s --stack-size %s",
		                    first, (int)(comma - first), first, comma + 1);
	if (said && (!o->stack_size || o->stack_size > STACK_BYTES_MAX || o->stack_size % 8))
		return command_fail(2,
		                    "record: --stack-size wants a multiple of 8 bytes from 8 to "
		                    "%d, not %" PRIu64,
		                    STACK_BYTES_MAX, o->stack_size);
	if (said && (!o->call_graph || !strcmp(o->call_graph, "fp")))
		return command_fail(2, "record: --stack-size goes with -g alone, and not with fp: "
		                       "no stack is copied otherwise");
	return 0;
}

static int run(void *p, int argc, char **argv)
{
	const struct record_options *o = p;
	proc_ids pids = {0};
	struct session_options so = {
	        .output = o->output,
	        .events = o->events.items,
	        .event_count = o->events.count,
	        .frequency_hz = 997,
	        .period = o->period,
	        .frequency_asked = o->frequency != NULL,
	        .machine_wide = o->all || (!argc && !o->pids.count),
	        .pids = &pids,
	        .command = argc ? argv : NULL,
	        .user_callchain = o->call_graph != NULL,
	        .unwind = o->call_graph && strcmp(o->call_graph, "fp") != 0,
	        .method = o->call_graph && !strcmp(o->call_graph, "dwarf") ? STACK_METHOD_DWARF
	                                                                   : STACK_METHOD_AUTO,
	        .stack_bytes = o->stack_size == STACK_BYTES_NOT_SAID ? STACK_BYTES
	                                                             : (uint32_t)o->stack_size,
	        .data_addresses = o->data_addresses,
	        .off_cpu = o->off_cpu,
	        .witness = !o->no_witness,
	        .memory_bytes = (uint64_t)(o->memory_mb * 1e6),
	        .progress = !o->quiet && isatty(2) ? show_progress : NULL,
	};
	int status;

	if (o->frequency && o->period)
		return command_fail(2, "record: -F and -c exclude each other");
	if (o->frequency && parse_frequency(o->frequency, &so.frequency_hz))
		return command_fail(2, "record: -F wants samples a second or max, not '%s'",
		                    o->frequency);
	if (o->memory_mb < 0)
		return command_fail(2, "record: --memory wants a positive number of MB");
	if (check_call_graph(o, argc ? argv[0] : ""))
		return 2;
	if (o->pids.count && (o->all || argc))
		return command_fail(2, "record: -p goes with neither -a nor a COMMAND");
	status = parse_pids(&o->pids, &pids);
	if (!status)
		status = record(o, &so);
	vec_done(&pids);
	return status;
}

const struct command cmd_record = {
        .name = "record",
        .synopsis = "[OPTIONS] [-- COMMAND [ARG...]]",
        .summary = "sample the machine, a command or a process",
        .description =
                "Samples what runs, kernel and user, and writes a perf.data file that assay, perf "
                "and their friends read. With COMMAND it follows COMMAND and its children, with -a "
                "the whole machine meanwhile; without either it samples the whole machine until "
                "Ctrl-C.\n\n"
                "Processes that live for two milliseconds are named, with their symbols: fork, "
                "exec, "
                "exit and mappings are followed. Every context switch is recorded, so that the "
                "report can account for all the time there was.\n\n"
                "A recorder that is killed leaves a file that can be read up to its last flush, at "
                "most four seconds before.",
        .examples =
                "assay record -a -- sleep 10\n    what the machine does for ten seconds\n"
                "assay record -g -- make -j8\n    a build, with call chains\n"
                "assay record --off-cpu -g -p 4711\n    what a process waits for, until Ctrl-C\n"
                "assay record -e page-faults -d -- ./program\n    which memory it touches first\n",
        .options = options,
        .options_size = sizeof(struct record_options),
        .defaults = defaults,
        .run = run,
        .stop_early = true,
};
