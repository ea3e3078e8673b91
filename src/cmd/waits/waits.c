/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waits: why threads waited, and who ended their waits. */
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/load/debug_files.h"
#include "cmd/load/filters.h"
#include "cmd/load/load.h"
#include "cmd/report/report_options.h"
#include "cmd/load/load_store.h"
#include "cmd/report/wait_lanes.h"
#include "cmd/waits/waits_calls.h"
#include "cmd/waits/waits_store.h"
#include "cmd/waits/waits_syscalls.h"
#include "view/waits/wait_document.h"

#include <errno.h>

struct waits_options {
	struct load_options load;
	struct filter_options filters;
	struct option_list by;
	double limit; /* percent; < 0: the default of the reader */
	uint64_t lines;
	struct option_list calls;
	char *recording[1];
	const char *counted; /* a file of calls of the same run; NULL: none */
	bool all, instances, tree, syscalls, wide, json;
	struct style_options style;
};

#define AT(field) offsetof(struct waits_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = load_option_table, .offset = AT(load)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {OPTION_FLAG, 'a', "all", NULL, "all processes, not only the recorded command",
         .details = "Without this option, and without filters, the waits are those of the command "
                    "or of the processes for which the recording was made, and of their children. "
                    "Threads of the kernel are shown if a filter names them.",
         .offset = AT(all)},
        {OPTION_FLAG, 0, "instances", NULL, "each thread by itself, as NAME:TID",
         .offset = AT(instances)},
        {OPTION_FLAG, 'g', "call-graph", NULL,
         "the call paths of waiters, with the paths of their wakers below", .offset = AT(tree)},
        {OPTION_FLAG, 0, "syscalls", NULL,
         "system calls: number, errors and durations, by call and file",
         .details = "Of a recording with 'assay record --syscalls'. Files are named if it was "
                    "made with --waits, too. The columns are count, failed, time, share, p50, p90, "
                    "p99, max, call, file and errors. --comm and --pid select processes.",
         .offset = AT(syscalls)},
        {OPTION_LIST, 0, "call", "NAME", "with --syscalls: only these calls", .offset = AT(calls)},
        {OPTION_LIST, 's', "sort", "COLUMN,...",
         "sort the rows by these columns: numbers largest first, texts from a to z",
         .details = "The columns are share, blocked, runnable, count, p50, p99, max, kind, name, "
                    "waiter, function, released_by, holder and evidence. The default is the time "
                    "of waiting, blocked and runnable.",
         .offset = AT(by)},
        {OPTION_NUMBER, 0, "percent-limit", "PERCENT",
         "sum up rows below this share (default 1; 0 with --json)", .offset = AT(limit)},
        {OPTION_COUNT, 'n', "lines", "N", "at most N rows a table, the others summed up",
         .offset = AT(lines)},
        {OPTION_FLAG, 0, "wide", NULL, "whole names", .offset = AT(wide)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON; times in ns, shares from 0 to 1",
         .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_GROUP, .help = "Filters: lists separated by commas"},
        {OPTION_LIST, 'c', "comm", "NAME", "processes or threads with these names",
         .offset = AT(filters.comm)},
        {OPTION_LIST, 0, "pid", "PID", "these processes", .offset = AT(filters.pid)},
        {OPTION_LIST, 0, "tid", "TID", "these threads", .offset = AT(filters.tid)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	((struct waits_options *)p)->limit = -1;
}

static struct wait_options wanted(const struct waits_options *o)
{
	struct report_request q = {.filter = filters_chosen(&o->filters),
	                           .by = o->by.items,
	                           .by_count = o->by.count,
	                           .limit = o->limit < 0 ? -1 : o->limit / 100,
	                           .lines = o->lines,
	                           .tree = o->tree,
	                           .instances = o->instances};

	q.reader = medium_reader(&o->style, o->json, o->wide);
	return (struct wait_options){.request = q, .all = o->all};
}

/* `calls` NULL: none. */
static int print_report(const struct waits_options *o, struct page page, struct wait_report *report,
                        struct waits_calls *calls)
{
	const struct report_request *q = &report->options->request;
	struct symbolized_profile paths;
	struct page_stacks stacks = {.n = &paths};
	struct page_waits waits;
	struct document d;
	struct error err = {0};
	int status;

	symbolized_profile_init(&paths);
	paths.depth_max = NAMED_DEPTH_MAX;
	if (medium_is_page(&o->style) && report->view) {
		named_of_waits(&paths, report);
		page.stacks = &stacks;
		wait_lanes_fill(&waits, report);
		page.waits = &waits;
	}
	document_init(&d);
	wait_document(&d, report);
	if (calls && calls->is_joined)
		wait_calls_document(&calls->calls, &d);
	page.document = &d;
	if (request_check_order(q, &d, &err))
		status = command_fail(2, "waits: %s", err.text);
	else
		status = medium_show(&page, &q->reader, &o->style, "waits");
	document_done(&d);
	symbolized_profile_done(&paths);
	if (page.waits)
		page_waits_done(&waits);
	return status;
}

static int print(const struct waits_options *o, struct view *v, struct wait_options *w,
                 struct waits_calls *calls)
{
	struct page page = {.kind = "waits", .title = load_file(&o->load, 0)};
	struct wait_report *report = NULL;
	struct error err = {0};
	int status;

	if (wait_report_new(&report, v, &v->profile->waits, w, &err))
		return command_fail(2, "waits: %s", err.text);
	if (waits_calls_join(calls, report, &err))
		status = command_fail(1, "waits: %s", err.text);
	else
		status = print_report(o, page, report, calls);
	wait_report_free(report);
	return status;
}

static int print_store(const struct waits_options *o, const char *store, struct wait_options *w)
{
	struct page page = {.kind = "waits", .title = store};
	struct wait_report *report = NULL;
	struct error err = {0};
	int status;

	if (o->syscalls || o->counted)
		return command_fail(2, "waits: a store has neither system calls nor calls: give a "
		                       "recording");
	if (waits_store_read(&report, store, &o->load, w, &err))
		return command_fail(err.code == EINVAL ? 2 : 1, "waits: %s", err.text);
	status = print_report(o, page, report, NULL);
	wait_report_free(report);
	return status;
}

/* The file of calls, if there is one, selects its processes. */
static int print_with_calls(const struct waits_options *o, struct view *v, struct wait_options *w)
{
	struct waits_calls calls = {0};
	struct error err = {0};
	int status;

	if (o->counted && waits_calls_open(&calls, o->counted, &o->load, &err))
		return command_fail(1, "waits: %s", err.text);
	waits_calls_select(&calls, &w->request.filter);
	status = print(o, v, w, &calls);
	waits_calls_done(&calls);
	return status;
}

/* The recording was read. */
static int show(struct waits_options *o, struct profile *profile, struct wait_options *w)
{
	struct symbolizer *symbols;
	struct error err = {0};
	struct view *view;
	int status;

	if (o->syscalls)
		return waits_syscalls_print(profile, load_file(&o->load, 0), &w->request, o->all,
		                            &(struct filter_list){o->calls.items, o->calls.count},
		                            &o->style);
	if (wait_report_check(profile, load_file(&o->load, 0), &err))
		return command_fail(1, "waits: %s", err.text);
	symbols = load_symbolizer(profile, &o->load);
	view = view_new(profile, symbols);
	status = print_with_calls(o, view, w);
	debug_files_fetch(profile, symbols);
	view_free(view);
	symbolizer_free(symbols);
	return status;
}

static int check_options(const struct waits_options *o)
{
	if (o->calls.count && !o->syscalls)
		return command_fail(2, "waits: --call selects system calls: give --syscalls, too");
	if (o->syscalls && (o->tree || o->filters.tid.count))
		return command_fail(2, "waits: --syscalls has no call paths and sums of processes: "
		                       "-g and --tid do not apply");
	return 0;
}

/* One recording, and at most one file of calls, in any order. Returns non-zero for others. */
static int choose_files(struct waits_options *o)
{
	const char *first = load_named(&o->load, 0), *second = load_named(&o->load, 1);
	bool is_first = second && waits_calls_is(first);

	if (!second)
		return 0;
	if (load_named(&o->load, 2) || o->load.store || o->syscalls ||
	    is_first == waits_calls_is(second))
		return -EINVAL;
	o->counted = is_first ? first : second;
	o->recording[0] = (char *)(uintptr_t)(is_first ? second : first);
	o->load.inputs = (struct option_list){0};
	o->load.arguments = o->recording;
	o->load.argument_count = 1;
	return 0;
}

static int run(void *p, int argc, char **argv)
{
	struct waits_options *o = p;
	struct profile *profile = NULL;
	struct wait_options w;
	struct error err = {0};
	struct buf words = {0};
	char *store = NULL;
	int status = check_options(o);

	if (status)
		return status;
	o->load.arguments = argv;
	o->load.argument_count = argc;
	o->load.waits = o->load.time_axis = true;
	o->load.system_calls = o->syscalls;
	if (choose_files(o))
		return command_fail(2, "waits: give one recording, and one file of 'assay calls' "
		                       "or 'assay tags' of the same run, if its calls are wanted");
	w = wanted(o);
	if (medium_check(&o->style, o->json, &err))
		return command_fail(err.code == EINVAL ? 2 : 1, "waits: %s", err.text);
	if (load_store_path(&store, &o->load, &err))
		return command_fail(2, "waits: %s", err.text);
	if (store) {
		status = print_store(o, store, &w);
		free(store);
		return status;
	}
	if (load_profile(&profile, &o->load, &err))
		return command_fail(err.code == EINVAL && o->load.time ? 2 : 1, "waits: %s",
		                    err.text);
	load_words(&o->load, &words);
	w.request.reader.words = buf_text(&words);
	status = show(o, profile, &w);
	profile_free(profile);
	buf_done(&words);
	return status;
}

const struct command cmd_waits = {
        .name = "waits",
        .synopsis = "[OPTIONS] [FILE [CALLS]]",
        .summary = "why threads waited, and who ended their waits",
        .description =
                "Reads a recording of 'assay record --waits' (or of 'perf record -a -g -e "
                "sched:sched_switch -e sched:sched_waking'), and reports what threads waited for: "
                "locks by the name of their variable, files, pipes, sockets, children, timers, "
                "page faults, a free CPU. A wait is blocked until the thread is woken, and "
                "runnable from then until it runs.\n\n"
                "The report begins with a summary and the account of the threads' time, which "
                "closes: on CPU, runnable, blocked, not seen, and a residual. The table has a row "
                "for each cause: an object, the thread that waited, and the thread whose wake-up "
                "ended the wait. Of a lock, it also names the holder, if there is evidence: "
                "'unlock' means that the thread was in a function that only the owner of the lock "
                "may call, 'pi' that the kernel knew the owner.\n\n"
                "CALLS is a file of 'assay calls' or a trace of 'assay tags' of the same run "
                "('assay "
                "calls --waits -- COMMAND'): another table has the calls in which threads waited, "
                "with the cause and the releaser.\n\n"
                "Of a store ('assay start --waits --store'), the report has the causes of the "
                "chosen time, --host and --service. A store has no call paths, and not what "
                "decided the elapsed time.",
        .examples = "assay record --waits -- make -j8\n    record a command, as root\n"
                    "assay waits\n    the waits of the command in ./perf.data\n"
                    "assay waits -g --comm worker\n    where they waited, and where they were "
                    "woken\n"
                    "assay waits --all --sort max\n    the longest waits of the machine\n"
                    "assay waits --store clickhouse://server/fleet --host '*' --service api --from "
                    "-1h\n"
                    "    the last hour of a service on all machines\n"
                    "assay waits --json | jq '.causes[] | select(.kind == \"lock\")'\n",
        .options = options,
        .options_size = sizeof(struct waits_options),
        .defaults = defaults,
        .opens_images = true,
        .run = run,
};
