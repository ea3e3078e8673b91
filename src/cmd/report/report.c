/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report: prints the report on a recording of any kind. */
#include "cmd/report/report.h"

#include "cmd/report/process_limit.h"
#include "cmd/cli/medium.h"
#include "cmd/load/debug_files.h"
#include "cmd/report/report_calls.h"
#include "cmd/report/report_fields.h"
#include "cmd/report/report_groups.h"
#include "cmd/report/report_kinds.h"
#include "cmd/report/report_pprof.h"
#include "cmd/report/report_samples.h"
#include "cmd/report/report_tui.h"
#include "tui/terminal.h"
#include "view/summary/findings.h"

#include <errno.h>
#include <string.h>

#define AT(field) offsetof(struct report_command_options, field)

const struct option report_read_table[] = {
        {.kind = OPTION_GROUP, .help = "What is read"},
        {.kind = OPTION_INCLUDE, .include = load_option_table, .offset = AT(load)},
        {OPTION_STRING, 0, "event", "NAME",
         "the event that the report is about (default: the first clock with "
         "samples); of a pprof profile the values (default: its producer's choice)",
         .needs = HAS_EVENTS, .offset = AT(event)},
        {OPTION_STRING, 0, "latency", "[OF]",
         "samples weighted with their part of the elapsed time, not of the CPU time",
         .details = "Each sample of the CPU is divided by the number of threads that ran at that "
                    "moment: of its process (the default), or with =machine on all CPUs. Time in "
                    "which a program ran on one CPU alone counts in full, time on 8 CPUs an "
                    "eighth: the shares are those of the time that the program took. Recordings "
                    "without switch records are refused.",
         .choices = "process,machine", .needs = HAS_EVENTS | HAS_TIMES, .offset = AT(latency)},
        {.kind = OPTION_END},
};

const struct option report_select_table[] = {
        {OPTION_FLAG, 0, "no-source", NULL,
         "of a page: lines of source code by number only, without their text", .needs = HAS_CODE,
         .offset = AT(no_source)},
        {OPTION_FLAG, 0, "no-idle", NULL, "idle time is no part of the whole", .needs = HAS_IDLE,
         .offset = AT(no_idle)},
        {.kind = OPTION_INCLUDE, .include = filter_option_table, .offset = AT(filters)},
        {OPTION_LIST, 'S', "symbol", "FUNCTION", "samples or call paths in these functions",
         .offset = AT(function)},
        {OPTION_STRING, 0, "percentage", "KIND",
         "shares of all samples (absolute, the default) or of the selected ones (relative)",
         .choices = "absolute,relative", .offset = AT(percentage)},
        {.kind = OPTION_END},
};

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = report_read_table},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {.kind = OPTION_INCLUDE, .include = report_option_table, .offset = AT(report)},
        {.kind = OPTION_INCLUDE, .include = report_letter_table, .offset = AT(report)},
        {OPTION_FLAG, 0, "brief", NULL, "at most 4 KB: findings with their intervals and SQL",
         .details = "The largest functions and processes, the parts of the time and the limits of "
                    "the figures, as text or with --json. Each finding has the query of 'assay "
                    "sql' that gives the same figures.",
         .offset = AT(brief)},
        {OPTION_FLAG, 0, "full", NULL, "the summary and all tables",
         .details = "Without this option, and without an option that requests a table, a report is "
                    "a summary: "
                    "where the time went, the largest reasons, what limits the figures, and what "
                    "to look at next.",
         .offset = AT(full)},
        {OPTION_FLAG, 0, "tui", NULL, "on the screen: tables, call trees and annotated functions",
         .details = "Interactive. Enter opens the callers of a function or the functions of a "
                    "process, a the instructions of a function, t the call tree; / filters, < and "
                    "> sort, ? lists all keys.",
         .offset = AT(tui)},
        {OPTION_FLAG, 0, "no-pager", NULL, "print to the terminal without a pager",
         .details = "On a terminal the text goes through the program in $ASSAY_PAGER, else $PAGER, "
                    "else less (with LESS=FRX unless LESS is set). An empty value and cat mean no "
                    "pager.",
         .offset = AT(no_pager)},
        {OPTION_FLAG, 0, "instances", NULL, "each process of a name by itself",
         .needs = HAS_INSTANCES, .offset = AT(instances)},
        {OPTION_STRING, 0, "process-limit", "LIMIT",
         "tables of their own for processes above this: 2%, 5ms, user:1%,kernel:5ms (default 1%)",
         .details = "A share of the time, or CPU time of all processes of a name. A process has a "
                    "table of its functions in user code and one of those in the kernel. "
                    "user:LIMIT and kernel:LIMIT are for one of the two, by the CPU time in it; "
                    "a LIMIT without them is for the whole process.",
         .needs = HAS_PARTS, .offset = AT(process_limit)},
        {.kind = OPTION_INCLUDE, .include = report_select_table},
        {.kind = OPTION_INCLUDE, .include = report_tags_own_table, .offset = AT(tags)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_INCLUDE, .include = inline_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

void report_defaults(struct report_command_options *o)
{
	report_options_defaults(&o->report);
}

static void defaults(void *p)
{
	report_defaults(p);
}

static int check_numbers(const struct filter *f, struct error *err)
{
	filter_ranges numbers = {0};
	int ret = filter_ranges_parse(&f->pid, "process", false, &numbers, err);

	if (!ret)
		ret = filter_ranges_parse(&f->tid, "thread", false, &numbers, err);
	vec_done(&numbers);
	return ret;
}

static int make_brief(const struct report_command_options *o, struct report_request *q,
                      struct error *err)
{
	if (o->full || o->report.nested || o->event || o->load.inlines ||
	    medium_is_page(&o->report.style) || report_asks_for_tables(options, o))
		return error_set(
		        err, EINVAL,
		        "--brief prints the findings of the whole recording: give it without "
		        "--full, --nested, --html, --event, --inline, filters and options of "
		        "tables");
	if (load_named(&o->load, o->load.store ? 0 : 1) || o->load.time || o->load.from ||
	    o->load.to || o->load.host)
		return error_set(err, EINVAL,
		                 "--brief reads one whole file, as 'assay sql' does: give it one "
		                 "file, without a time range and --host");
	q->reader.program = false;
	q->reader.brief = q->reader.summary = true;
	return 0;
}

/* The screen has its own tables. */
static int check_tui(const struct report_command_options *o, struct error *err)
{
	if (o->brief || o->full || o->report.json || o->report.nested ||
	    o->report.style.media.markdown)
		return error_set(err, EINVAL,
		                 "--tui shows the report on a screen: give it without --brief, "
		                 "--full, --json, --nested and --markdown");
	return terminal_check(err);
}

static int make_request(const struct report_command_options *o, struct report_request *q,
                        struct error *err)
{
	bool tables, page;

	*q = (struct report_request){.filter = filters_chosen(&o->filters),
	                             .event = o->latency ? PROFILE_LATENCY_EVENT : o->event,
	                             .inlines = o->load.inlines,
	                             .instances = o->instances};
	q->filter.function = filters_list(&o->function);
	q->filter.no_idle = o->no_idle;
	q->filter.relative = o->percentage && !strcmp(o->percentage, "relative");
	if (process_limit_parse(o->process_limit, &q->process_limits, err) ||
	    (o->tui && check_tui(o, err)) || check_numbers(&q->filter, err) ||
	    report_options_request(&o->report, q, err))
		return err->code;
	if (o->latency && o->event)
		return error_set(err, EINVAL,
		                 "--latency is about the clock: give it without --event");
	if (o->no_source && !medium_is_page(&o->report.style))
		return error_set(err, EINVAL, "--no-source is for the page of --html");
	tables = report_asks_for_tables(options, o);
	page = medium_is_page(&o->report.style);
	q->reader.brief = !q->reader.program && !o->full && !tables && !page;
	q->reader.summary = o->full || q->reader.brief || (page && !tables);
	return o->brief ? make_brief(o, q, err) : 0;
}

static int report_calls(const struct report_command_options *o, const struct report_request *q)
{
	struct call_paths *paths = NULL;
	struct symbolizer *symbols;
	struct error err = {0};
	int status;

	if (load_calls(&paths, &o->load, &err))
		return report_fail(&o->report.style, 1, &err);
	symbols = load_calls_symbolizer(paths, &o->load);
	status = (o->tui ? report_calls_show : report_calls_print)(
	        paths, symbols, q, &o->report.style, o->load.raw_names);
	debug_files_fetch_calls(paths, symbols);
	symbolizer_free(symbols);
	call_paths_free(paths);
	return status;
}

/* Whether the loaded profile has the event of --latency. */
static int check_latency(const struct load_options *load, const struct profile *p,
                         struct error *err)
{
	uint8_t event;

	if (!load->latency)
		return 0;
	if (profile_find_event(p, PROFILE_LATENCY_EVENT, &event, err))
		return error_set(err, EINVAL,
		                 "--latency needs the time of each sample and switch; a store has "
		                 "sums of windows only: use a recording ('assay record')");
	if (load->latency == LATENCY_OF_MACHINE && !p->ledger.machine_wide)
		return error_set(err, EINVAL,
		                 "--latency=machine needs a recording of the whole machine "
		                 "('assay record -a'); use --latency, which divides by the threads "
		                 "of the process");
	if (!p->ledger.processes.count)
		return error_set(err, EINVAL,
		                 "--latency needs switch records, and the recording has none: "
		                 "'assay record' writes them, and 'perf record --switch-events'");
	if (!p->events.items[event].samples)
		return error_set(err, EINVAL,
		                 "--latency needs samples of a clock (-e cpu-clock), and the "
		                 "recording has none of a running thread");
	return 0;
}

static int report_samples(const struct report_command_options *o, struct report_request *q)
{
	struct load_options load = o->load;
	struct symbolizer *symbols = NULL;
	struct profile *profile = NULL;
	struct error err = {0};
	int status;

	load.time_axis = true;
	load.sums = !request_by_labels(q);
	/* The lanes of a page; the times of several recordings are on several clocks. */
	load.switches = medium_is_page(&o->report.style) && !o->interim && !o->load.store &&
	                !load_named(&o->load, 1);
	load.waits = load.switches;
	load.latency = !o->latency                      ? LATENCY_OFF
	               : !strcmp(o->latency, "machine") ? LATENCY_OF_MACHINE
	                                                : LATENCY_OF_PROCESS;
	if (report_fields_want(&load, &o->report, &err))
		return report_fail(&o->report.style, 2, &err);
	if (load_profile(&profile, &load, &err))
		return report_fail(&o->report.style, 1, &err);
	if (report_fields_resolve(q, &o->report, profile, &err) ||
	    check_latency(&load, profile, &err)) {
		profile_free(profile);
		return report_fail(&o->report.style, 2, &err);
	}
	symbols = load_symbolizer(profile, &load);
	if (o->tui)
		status = report_tui_samples(profile, symbols, q, &o->report.style);
	else
		status = report_samples_print(profile, symbols, q, &o->report.style,
		                              o->interim     ? REPORT_PAGE_NO_CODE
		                              : o->no_source ? REPORT_PAGE_NO_SOURCE
		                                             : REPORT_PAGE_SOURCE);
	if (!o->interim)
		debug_files_fetch(profile, symbols);
	symbolizer_free(symbols);
	profile_free(profile);
	return status;
}

/* A page does not replace a recording that is read. */
static int check_page(const struct report_command_options *o)
{
	const char *file = o->report.style.media.html;
	const char *input = file && strcmp(file, "-") != 0 ? load_same(&o->load, file) : NULL;

	return input ? command_fail(2, "report: the page %s is the recording %s: name another file",
	                            file, input)
	             : 0;
}

static int report_tags(const struct report_command_options *o, const struct report_request *q)
{
	struct report_tags_options tags = o->tags;
	struct error err = {0};
	const char *path;

	tags.raw_names = o->load.raw_names;
	if (q->rules)
		tags.groups = NULL; /* the rules are those of the request */
	if (load_tags_path(&path, &o->load, &err))
		return report_fail(&o->report.style, 2, &err);
	return (o->tui ? report_tags_show : report_tags_print)(path, q, &tags, &o->report.style);
}

static int report_pprof(const struct report_command_options *o, const struct report_request *q)
{
	struct error err = {0};
	const char *path;

	if (load_pprof_path(&path, &o->load, &err))
		return report_fail(&o->report.style, 2, &err);
	return (o->tui ? report_pprof_show : report_pprof_print)(path, q, &o->report.style,
	                                                         !o->load.no_inlines);
}

static int show(struct report_command_options *o)
{
	struct report_request q;
	struct summary_findings findings = {.program = o->report.json};
	struct buf words = {0};
	struct error err = {0};
	enum load_kind kind;
	int status;

	if (load_kind(&kind, &o->load, &err))
		return report_fail(&o->report.style, 2, &err);
	o->report.fields = kind == LOAD_SAMPLES;
	if (report_kinds_check(kind, options, o, &o->report, &err) || make_request(o, &q, &err))
		return report_fail(&o->report.style, 2, &err);
	status = check_page(o);
	if (status)
		return status;
	if (kind != LOAD_TAGS && o->tags.groups && !q.without.count &&
	    !request_has_key(&q, FLAT_GROUP))
		q.keys[q.key_count++] = FLAT_GROUP;
	if (report_groups_use(&q, o->tags.groups, &err))
		return report_fail(&o->report.style, 1, &err);
	load_words(&o->load, &words);
	q.reader.words = buf_text(&words);
	q.reader.findings = o->brief ? &findings : NULL;
	findings.file = o->load.store ? o->load.store : load_file(&o->load, 0);
	status = kind == LOAD_CALLS   ? report_calls(o, &q)
	         : kind == LOAD_TAGS  ? report_tags(o, &q)
	         : kind == LOAD_PPROF ? report_pprof(o, &q)
	                              : report_samples(o, &q);
	findings_done(&findings);
	buf_done(&words);
	report_groups_done(&q);
	return status;
}

int report_run(struct report_command_options *o, int argc, char **argv)
{
	o->load.arguments = argv;
	o->load.argument_count = argc;
	o->report.style.pager = !o->no_pager;
	o->report.fields = true;
	load_choose(&o->load, LOAD_BIT(LOAD_SAMPLES) | LOAD_BIT(LOAD_CALLS) | LOAD_BIT(LOAD_TAGS),
	            report_kinds(options, o, &o->report));
	return show(o);
}

static int run(void *p, int argc, char **argv)
{
	return report_run(p, argc, argv);
}

const struct command cmd_report = {
        .name = "report",
        .synopsis = "[OPTIONS] [FILE...]",
        .summary = "where every CPU-second of a recording went",
        .description =
                "Reads perf.data files of assay and of perf, files of call paths (assay "
                "calls), traces of event tags (assay tags; a directory in the Common Trace "
                "Format) and pprof profiles of any producer. The content of a file determines its "
                "kind and the form of the report. Without FILE it reads perf.data, assay.calls or "
                "assay.tags in this directory; if there are several, the newest one to which the "
                "other options apply.\n\n"
                "A report begins with a summary: what was recorded, where the time went, the "
                "largest processes and functions, what limits the figures, and command lines that "
                "show more. --full prints all tables after it. An option that requests a table "
                "prints only that table.\n\n"
                "Of samples, --full has the closing "
                "account (user, kernel, interrupts, idle, steal, what was not observed, and the "
                "residual), what the recording itself cost, the processes, functions over all of "
                "them, tables of each process above a limit, the kernel, and what could not be "
                "seen.\n\n"
                "Interrupts are charged to no process: they have a row of their own, and each "
                "process has the number of interrupts that hit it. Shares are of all samples; with "
                "filters, the row [not selected] has all other samples. Off-CPU time is charged to "
                "the function that waited, not to the scheduler.\n\n"
                "Of call paths: per process the cost of counting, whether the times add up, and "
                "each path with its calls and times; -f has sums by function, -g the call tree. "
                "There, the letters -i and -c have another meaning if no FILE or NAME follows them."
                "\n\n"
                "Of event tags: the part of the time in which functions ran, and for each function "
                "its elapsed time (with callees), its net time, its calls, the longest, average "
                "and shortest net time of a call, and its net time as a share of the elapsed time "
                "and of the run time (in total 100 %). Lost, repaired and guessed events are "
                "counted below the table. -g "
                "prints the call tree."
                "\n\n"
                "Of a profile of another tool (pprof, OTLP, folded stacks, callgrind, trace "
                "events): the facts in the file, whether its figures add up, the own "
                "value (self) of each function and the value with its callees (total), and notes "
                "on missing facts. --sort, -g, --children and the filters work as for samples if "
                "the file has the necessary facts; --sort line sums up by lines of source code.",
        .examples = "assay report\n    a summary of ./perf.data\n"
                    "assay report --full\n    the summary and all tables\n"
                    "assay report --no-idle --wide\n    with 95 % intervals, idle time left out\n"
                    "assay report --sort process,image a.data b.data\n    two files in one table\n"
                    "assay report -g --comm cc1\n    the call paths on which cc1 spent its time\n"
                    "assay report --json | jq .ledger\n    the account, for programs\n"
                    "assay report -f -c -n 20 assay.calls\n    the functions called most often\n"
                    "assay report --callers malloc\n    the callers of malloc, and the part of its "
                    "time that each has\n"
                    "assay report -s calls -n 20 assay.tags\n    the functions entered most often\n"
                    "assay report --function bcopy assay.tags\n    the distribution of its times\n"
                    "assay report --sort group\n    memory, file systems, network, locks, ... of "
                    "the kernel and libc\n"
                    "assay report --without 'group:kernel/page faults and memory'\n    the other "
                    "functions, and their shares if page faults took no time\n"
                    "assay report --groups rules assay.tags\n    sums by subsystem, as a chart\n"
                    "assay report --event alloc_space --children heap.pb.gz\n    a pprof profile, "
                    "by what was allocated\n",
        .options = options,
        .options_size = sizeof(struct report_command_options),
        .defaults = defaults,
        .opens_images = true,
        .run = run,
};
