/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top: the machine now, on a screen, or as a report after each interval. */
#include "cmd/cli/medium.h"
#include "cmd/cli/option.h"
#include "cmd/load/filters.h"
#include "cmd/load/load_store.h"
#include "cmd/report/report_options.h"
#include "cmd/session/record_options.h"
#include "cmd/session/session_command.h"
#include "cmd/session/start_sink.h"
#include "cmd/top/top_run.h"
#include "cmd/top/top_store.h"
#include "tui/terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME "top"
#define DELAY_S 2
#define DELAY_S_LEAST 0.1
#define DELAY_S_MOST 3600
#define WINDOW_S 10
#define WINDOW_S_MOST 60
#define STORE_DELAY_S 10
#define STORE_WINDOW_S 60
#define STORE_WINDOW_S_MOST 3600
#define LINES 20

struct top_options {
	struct record_options record;
	struct load_options load; /* of a store */
	const char *output;
	double delay_s, window_s;
	uint64_t intervals, lines;
	bool once, batch, json, wide, no_idle, children;
	struct option_list sort, comm;
	struct style_options style;
};

#define AT(field) offsetof(struct top_options, field)

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is sampled"},
        {.kind = OPTION_INCLUDE, .include = record_what_table, .offset = AT(record)},
        {.kind = OPTION_INCLUDE, .include = record_stack_table, .offset = AT(record)},
        {.kind = OPTION_INCLUDE, .include = record_memory_table, .offset = AT(record)},
        {OPTION_FLAG, 0, "waits", NULL,
         "also for whom threads wait: the key w; with --batch instead",
         .details = "As 'assay record --waits', with the table of 'assay waits'. Needs root, or "
                    "CAP_PERFMON and the right to read tracefs. Implies -g.",
         .offset = AT(record.waits)},
        {.kind = OPTION_GROUP, .help = "Machines of a store, instead of this one"},
        {.kind = OPTION_INCLUDE, .include = load_machine_table, .offset = AT(load)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {OPTION_NUMBER, 'd', "delay", "SECONDS",
         "time from one display to the next (default 2; of a store 10)", .offset = AT(delay_s)},
        {OPTION_NUMBER, 0, "window", "SECONDS",
         "the time that the screen shows, at most 60; 0: since the start (default 10)",
         .details = "The key T changes it. With --batch each report is of the time since the one "
                    "before. Of a store each display and each report is of the windows that ended "
                    "in this time, at most 3600 (default 60).",
         .offset = AT(window_s)},
        {OPTION_LIST, 's', "sort", "KEY,...", "one table by these keys: " SORT_KEYS,
         .offset = AT(sort)},
        {OPTION_LIST, 0, "comm", "NAME", "processes or threads with these names",
         .offset = AT(comm)},
        {OPTION_FLAG, 0, "children", NULL, "functions with what they called; sorted by that",
         .offset = AT(children)},
        {OPTION_FLAG, 0, "no-idle", NULL, "idle time is no part of the whole",
         .offset = AT(no_idle)},
        {.kind = OPTION_GROUP, .help = "For scripts"},
        {OPTION_FLAG, 'b', "batch", NULL, "print a report after each interval, without a screen",
         .offset = AT(batch)},
        {OPTION_FLAG, 0, "once", NULL, "print one report of one interval: --batch -n 1",
         .offset = AT(once)},
        {OPTION_COUNT, 'n', "iterations", "COUNT", "of --batch: end after COUNT reports",
         .offset = AT(intervals)},
        {OPTION_COUNT, 0, "lines", "N",
         "of --batch: at most N rows a table, the others summed up (default 20; 0: all)",
         .offset = AT(lines)},
        {OPTION_FLAG, 0, "json", NULL,
         "of --batch: each report as one line of JSON, with the keys of 'assay report --json'",
         .offset = AT(json)},
        {OPTION_STRING, 'o', "output", "FILE",
         "also write the records to a perf.data file (an older one becomes FILE.old)",
         .details = "'assay report FILE' has the same figures as the reports of --batch together. "
                    "On the screen the key s writes a file at any time; without -o it has the last "
                    "records, up to 32 MB.",
         .offset = AT(output)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct top_options *o = p;

	record_options_default(&o->record);
	o->delay_s = o->window_s = NAN;
	o->intervals = OPTION_NO_COUNT;
	o->lines = OPTION_NO_COUNT;
}

/* A store has what was sampled, and no records. */
static int check_store(const struct top_options *o)
{
	struct record_options plain = {0};

	if (!o->load.store && (o->load.host || o->load.service || o->load.build))
		return command_fail(2, NAME ": --host, --service and --build need --store FILE");
	record_options_default(&plain);
	if (o->load.store && (o->output || memcmp(&o->record, &plain, sizeof(plain)) != 0))
		return command_fail(2, NAME ": --store shows what was sampled before: options of "
		                            "sampling and -o are not for it");
	if (o->load.store && !(o->window_s > 0 && o->window_s <= STORE_WINDOW_S_MOST))
		return command_fail(2,
		                    NAME ": --window of a store must be above 0, at most %d "
		                         "seconds",
		                    STORE_WINDOW_S_MOST);
	return 0;
}

static int check(const struct top_options *o, bool batch)
{
	struct error err = {0};

	if (check_store(o))
		return 2;

	if (!(o->delay_s >= DELAY_S_LEAST && o->delay_s <= DELAY_S_MOST))
		return command_fail(2, NAME ": -d must be from %.1f to %d seconds", DELAY_S_LEAST,
		                    DELAY_S_MOST);
	if (!o->load.store && !(o->window_s >= 0 && o->window_s <= WINDOW_S_MOST))
		return command_fail(2, NAME ": --window must be from 0 to %d seconds",
		                    WINDOW_S_MOST);
	if (o->intervals != OPTION_NO_COUNT && !o->intervals)
		return command_fail(2, NAME ": -n needs a number of reports of 1 or more");
	if (!batch && (o->json || o->style.media.markdown || o->intervals != OPTION_NO_COUNT ||
	               o->lines != OPTION_NO_COUNT))
		return command_fail(2, NAME ": -n, --lines, --json and --markdown are for --batch "
		                            "and --once");
	if (o->once && o->intervals != OPTION_NO_COUNT && o->intervals != 1)
		return command_fail(2, NAME ": --once prints one report; -n %llu needs --batch",
		                    (unsigned long long)o->intervals);
	if (!batch && terminal_check(&err))
		return command_fail(2, NAME ": %s; 'assay top --batch' prints reports", err.text);
	return 0;
}

static int make_request(const struct top_options *o, struct report_request *q)
{
	enum flat_key key;

	*q = (struct report_request){.process_limits.all.share = PROCESS_LIMIT_SHARE,
	                             .limit = -1,
	                             .children = o->children};
	q->filter.comm = filters_list(&o->comm);
	q->filter.no_idle = o->no_idle;
	q->reader.program = o->json;
	q->lines = o->json ? 0 : o->lines == OPTION_NO_COUNT ? LINES : o->lines;
	if (!o->json)
		q->limit = 0;
	for (size_t i = 0; i < o->sort.count; i++) {
		if (!flat_key_parse(o->sort.items[i], &key))
			return command_fail(
			        2, NAME ": --sort knows no key '%s'; the keys are " SORT_KEYS,
			        o->sort.items[i]);
		if (!request_has_key(q, key))
			q->keys[q->key_count++] = key;
	}
	return 0;
}

static int start(const struct top_options *o, struct top_plan *plan, struct session_options *so)
{
	struct error err = {0};
	char *path = NULL;
	int status;

	if (o->output && session_command_leave_alone(NAME, o->output))
		return 1;
	if (session_command_absolute(o->output ? o->output : "perf.data", &path, &err))
		return command_fail(1, NAME ": %s", err.text);
	so->output = path;
	plan->session = so;
	status = top_run(plan);
	free(path);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct top_options *o = p;
	bool batch = o->batch || o->once;
	struct session_options so = {0};
	struct top_plan plan = {.style = o->style, .batch = batch, .output = o->output};
	proc_ids pids = {0};
	int status;

	if (argc)
		return command_fail(2,
		                    NAME
		                    ": '%s': top takes no COMMAND; 'assay record -- %s' samples "
		                    "while one runs",
		                    argv[0], argv[0]);
	if (isnan(o->delay_s))
		o->delay_s = o->load.store ? STORE_DELAY_S : DELAY_S;
	if (isnan(o->window_s))
		o->window_s = o->load.store ? STORE_WINDOW_S : WINDOW_S;
	status = check(o, batch);
	if (!status)
		status = make_request(o, &plan.request);
	plan.delay_ns = (uint64_t)(o->delay_s * 1e9);
	plan.span_ns = (uint64_t)(o->window_s * 1e9);
	plan.intervals = o->once ? 1 : o->intervals == OPTION_NO_COUNT ? 0 : o->intervals;
	if (!status && o->load.store)
		return top_store_run(&plan, &o->load);
	if (!status)
		status = record_options_use(&o->record, NAME, NULL, &so, &pids);
	if (!status) {
		if (!so.frequency_asked && !so.period)
			so.frequency_hz = START_STORE_HZ;
		status = start(o, &plan, &so);
	}
	vec_done(&pids);
	return status;
}

const struct command cmd_top = {
        .name = NAME,
        .synopsis = "[OPTIONS]",
        .summary = "where the CPU time goes now, on a screen",
        .description =
                "Samples the whole machine, or with -p some processes, at 97 Hz, and shows "
                "processes and functions of the last seconds, with 95 % intervals, under a line "
                "that accounts for all of the time: user, kernel, interrupts, idle, steal, time "
                "without samples, and the residual. The screen's upper right corner has the CPU "
                "time that assay itself uses.\n\n"
                "Enter opens a line: the callers of a function, the functions and the call tree of "
                "a process (with -g also of user code). The key a shows the instructions and "
                "source lines of a function, / filters by a regular expression, < and > select "
                "the column to sort by, Tab the table, Space pauses, T changes the time that is "
                "shown (1 s, 10 s, 60 s, since the start), s writes the records to a perf.data "
                "file, w shows for what threads wait (with --waits), ? lists all keys, q quits. "
                "The mouse selects lines and tables.\n\n"
                "With --store the screen shows the newest windows of a store, of one machine "
                "(--host NAME) or of several in sum (--host 'web*'; default: all), and reads them "
                "again after each delay.\n\n"
                "With --batch or --once, reports are printed, for scripts. A user without the "
                "right to sample the machine sees their own processes.",
        .examples = "assay top\n    the whole machine\n"
                    "assay top -g -p $(pgrep -d, redis)\n    some processes, with call stacks\n"
                    "assay top --once -d 5\n    a report on the next five seconds\n"
                    "assay top --store clickhouse://db.example.com/assay --host 'web*'\n    the "
                    "last minute of the web servers\n"
                    "assay top --batch --json -n 60 -d 1 | jq .ledger\n    the account of each "
                    "second of a minute\n",
        .options = options,
        .options_size = sizeof(struct top_options),
        .defaults = defaults,
        .opens_images = true,
        .run = run,
};
