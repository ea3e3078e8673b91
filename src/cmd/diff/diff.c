/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff: compares recordings. */
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/option.h"
#include "cmd/diff/diff_commands.h"
#include "cmd/diff/diff_fail.h"
#include "cmd/diff/diff_load.h"
#include "cmd/diff/diff_page.h"
#include "cmd/load/filters.h"
#include "cmd/report/report_groups.h"
#include "view/diff/document/diff_document.h"
#include "view/diff/diff_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct diff_command_options {
	struct load_options load;
	struct diff_command_runs_options commands;
	struct filter_options filters;
	struct option_list function, by;
	const char *from, *until, *build, *event, *work, *fail_if, *sort, *groups;
	double rate, least;
	uint64_t lines;
	bool wide, json;
	struct style_options style;
};

#define AT(field) offsetof(struct diff_command_options, field)

static const struct option range_table[] = {
        {.kind = OPTION_STRING,
         .name = "from",
         .argument = "TIME",
         .help = "of a store: start of the time range (10:00, 2026-11-21T10:00, yesterday, -2h)",
         .details = "Each side has its own: the words after -- may contain --from and --until, "
                    "and also --host and --service, which are otherwise those of the first side.",
         .offset = AT(from)},
        {.kind = OPTION_STRING,
         .name = "until",
         .argument = "TIME",
         .help = "of a store: end of the time range",
         .offset = AT(until)},
        {.kind = OPTION_STRING,
         .name = "host",
         .argument = "NAME",
         .help = "of a store of several machines: the machine, or several: 'web*'",
         .offset = AT(load.host)},
        {.kind = OPTION_STRING,
         .name = "service",
         .argument = "NAME",
         .help = "of a store: only samples of this service, or of several: 'web*'",
         .offset = AT(load.service)},
        {.kind = OPTION_STRING,
         .name = "build",
         .argument = "VERSION",
         .help = "of a store: only samples of programs of this version: '1.2*'",
         .details = "Each side has its own, as for --from.",
         .offset = AT(build)},
        {.kind = OPTION_END},
};

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is compared"},
        {.kind = OPTION_STRING,
         .name = "work",
         .argument = "EVENT",
         .help = "CPU time per EVENT: a recorded event that counts work, or run, or wall",
         .details = "Without this option the time is per run if each recording is of a command "
                    "from its beginning to its end, else per second of wall time.",
         .offset = AT(work)},
        {.kind = OPTION_INCLUDE, .include = range_table},
        {.kind = OPTION_STRING,
         .name = "time",
         .argument = "FROM,TO",
         .help = "only samples of this time of each recording, as for 'assay report'",
         .offset = AT(load.time)},
        {.kind = OPTION_STRING,
         .name = "event",
         .argument = "NAME",
         .help = "the event that is compared (default: the first clock with samples); of pprof "
                 "profiles the values",
         .offset = AT(event)},
        {.kind = OPTION_FLAG,
         .name = "waits",
         .help = "why threads waited, by cause, instead of CPU time",
         .details =
                 "Of recordings of 'assay record --waits'; --run makes such ones. A row is an "
                 "object and the thread that waited for it, and its value the blocked time per "
                 "unit of work; the time of runnable threads has rows of the kind cpu. The waits "
                 "are those of the recorded command or processes; --comm, --pid and --tid "
                 "select from all threads. Differences are tested with two runs or more on each "
                 "side.",
         .offset = AT(commands.waits)},
        {.kind = OPTION_NUMBER,
         .name = "least",
         .argument = "PERCENT",
         .help = "smaller changes of a function are not listed (default 2)",
         .offset = AT(least)},
        {.kind = OPTION_NUMBER,
         .name = "rate",
         .argument = "PERCENT",
         .help = "maximum share of false changes among those listed (default 5)",
         .offset = AT(rate)},
        {.kind = OPTION_INCLUDE, .include = filter_option_table, .offset = AT(filters)},
        {.kind = OPTION_LIST,
         .letter = 'S',
         .name = "symbol",
         .argument = "FUNCTION",
         .help = "samples in these functions",
         .offset = AT(function)},
        {.kind = OPTION_INCLUDE, .include = diff_commands_option_table, .offset = AT(commands)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {.kind = OPTION_STRING,
         .letter = 's',
         .name = "sort",
         .argument = "KEY",
         .help = "compare functions (function, the default), or groups of them (group)",
         .choices = "function,group",
         .details = "Groups are those of 'assay report --sort group'. A group has more samples "
                    "than its functions, so that smaller changes of it are found.",
         .offset = AT(sort)},
        {.kind = OPTION_STRING,
         .name = "groups",
         .argument = "FILE",
         .help = "--sort group, with the rules in FILE before those of assay",
         .offset = AT(groups)},
        {.kind = OPTION_STRING,
         .name = "fail-if",
         .argument = "CONDITION",
         .help = "exit status 1 if 'regression > 2%' is sure, 3 if it is possible",
         .details = "regression is the CPU time of the whole, with --waits the time of waiting; "
                    "'function > 10%' (with --sort group "
                    "'group > 10%') is about any function, 'NAME > 5%' about one, and 'wall > 5%' "
                    "about a row of 'What a "
                    "run used': wall, user, system, rss, minor-faults, major-faults, "
                    "voluntary-switches or involuntary-switches. The condition is "
                    "sure if the lower end of "
                    "the interval is beyond it, and possible if only the upper end is.",
         .offset = AT(fail_if)},
        {.kind = OPTION_LIST,
         .name = "by",
         .argument = "COLUMN,...",
         .help = "the order of the functions: " DIFF_ORDERS,
         .choices = DIFF_ORDERS,
         .details = "Default: size, the difference of the CPU times. Numbers are sorted largest "
                    "first, texts from a to z.",
         .offset = AT(by)},
        {.kind = OPTION_COUNT,
         .letter = 'n',
         .name = "lines",
         .argument = "N",
         .help = "at most N rows a table",
         .offset = AT(lines)},
        {.kind = OPTION_FLAG,
         .name = "wide",
         .help = "all columns, whole names and call paths",
         .offset = AT(wide)},
        {.kind = OPTION_FLAG,
         .name = "json",
         .help = "as JSON, with all tested rows; times in ns, changes as ratio - 1",
         .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

extern const struct command cmd_diff;

struct sides {
	struct diff_files files[DIFF_SIDES];
	struct diff_commands commands; /* with --run */
	struct option_result words;    /* after -- */
};

/* The part of a store that the options select now. */
static struct diff_files part_of(const struct diff_command_options *o, char **files, int count)
{
	return (struct diff_files){.files = files,
	                           .count = count,
	                           .from = o->from,
	                           .until = o->until,
	                           .build = o->build,
	                           .host = o->load.host,
	                           .service = o->load.service};
}

static bool is_same_part(const struct diff_files *a, const struct diff_files *b)
{
	return !b->from && !b->until && !b->build && a->host == b->host && a->service == b->service;
}

/* A... -- B..., or A B, or STORE --from ... -- --from ... Options after -- are for both sides,
 * except the range, the host, the service and the build. */
static int choose_sides(struct diff_command_options *o, int argc, char **argv, struct sides *s,
                        struct error *err)
{
	struct diff_files *a = &s->files[DIFF_A], *b = &s->files[DIFF_B];
	int dashes = 0;

	*a = part_of(o, argv, 0);
	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	a->count = dashes;
	if (dashes < argc) {
		o->from = o->until = o->build = NULL;
		if (option_parse(&cmd_diff, o, argc - dashes, argv + dashes, &s->words, err))
			return err->code;
		*b = part_of(o, s->words.argv, s->words.argc);
		if (!b->count && !is_same_part(a, b)) {
			b->files = a->files;
			b->count = a->count;
		}
	} else if (argc == 2) {
		a->count = 1;
		*b = *a;
		b->files = argv + 1;
	}
	if (a->count && b->count)
		return 0;
	return error_set(err, EINVAL,
	                 "two sides are compared: 'assay diff A B', or several recordings on each "
	                 "side: 'assay diff A1 A2 A3 -- B1 B2 B3'");
}

/* Runs the two commands; their recordings are the sides. Returns the exit status. */
static int run_sides(const struct diff_command_options *o, char **argv, struct sides *s)
{
	int status;

	if (o->from || o->until || o->load.time)
		return command_fail(2, "diff: --from, --until and --time select a part of "
		                       "recordings, and --run compares whole runs");
	status = diff_commands_run(&s->commands, &o->commands, argv);
	for (int side = 0; side < DIFF_SIDES; side++)
		s->files[side] = (struct diff_files){
		        .files = s->commands.files[side].items,
		        .count = (int)s->commands.files[side].count,
		};
	return status;
}

static int load_sides(const struct diff_command_options *o, const struct sides *s,
                      struct diff_runs *runs, struct error *err)
{
	struct diff_loading l;
	int ret;

	diff_loading_begin(&l, runs, &o->load, o->work);
	l.event = o->event;
	l.filter = filters_chosen(&o->filters);
	l.filter.function = filters_list(&o->function);
	l.waits = o->commands.waits;
	l.windows = s->files[DIFF_A].count == 1 && s->files[DIFF_B].count == 1;
	ret = diff_loading_add(&l, DIFF_A, &s->files[DIFF_A], err);
	if (!ret)
		ret = diff_loading_add(&l, DIFF_B, &s->files[DIFF_B], err);
	if (!ret)
		return diff_loading_end(&l, err);
	vec_done(&l.amounts);
	return ret;
}

/* The exit status by the condition, with its reason for readers. */
static int conclude(const struct diff_command_options *o, const struct diff_condition *c,
                    const struct diff *d)
{
	char *reason = NULL;
	int status = 0;

	if (!o->fail_if)
		return 0;
	diff_condition_check(c, d, &status, &reason);
	command_fail(0, "diff: %s", reason);
	free(reason);
	return status;
}

/* `functions`: the runs whose call paths are shown. */
static int write_page(const struct diff_command_options *o, const struct document *document,
                      const struct document_reader *reader, const struct diff_runs *functions)
{
	struct group_rules *rules;
	struct error err = {0};
	struct diff_page page;
	int status;

	if (report_groups_read(&rules, o->groups, true, &err))
		return command_fail(DIFF_NOTHING, "diff: %s", err.text);
	diff_page_init(&page, functions, rules);
	page.page.document = document;
	status = medium_show(&page.page, reader, &o->style, "diff");
	diff_page_done(&page);
	group_rules_free(rules);
	return status;
}

/* `functions`: the same runs with a row for each function. */
static int compare(const struct diff_command_options *o, const struct diff_condition *c,
                   const struct diff_runs *runs, const struct diff_runs *functions)
{
	const struct diff_options how = {.least_change = o->least / 100, .rate = o->rate / 100};
	const struct document_reader reader = medium_reader(&o->style, o->json, o->wide);
	const struct row_request rows = {
	        .by = o->by.items, .by_count = o->by.count, .lines = o->lines};
	struct document document;
	struct error err = {0};
	struct diff *d;
	int status = 0;

	if (o->fail_if && diff_condition_known(c, runs, &err))
		return command_fail(2, "diff: %s", err.text);
	d = diff_new(runs, &how);
	document_init(&document);
	diff_document(&document, d, &reader, &rows);
	if (medium_is_page(&o->style))
		status = write_page(o, &document, &reader, functions);
	else
		medium_print(&document, &reader, &o->style);
	document_done(&document);
	if (!status)
		status = conclude(o, c, d);
	diff_free(d);
	return status;
}

static int check_limits(const struct diff_command_options *o)
{
	if (o->rate >= 0 && o->rate <= 100 && o->least >= 0)
		return 0;
	return command_fail(2, "diff: --rate is 0 to 100 (percent), and --least is not negative");
}

/* What --waits compares has threads, and neither functions nor CPUs. */
static int check_waits(const struct diff_command_options *o)
{
	const char *other = o->groups || o->sort      ? "--sort and --groups are about functions"
	                    : o->event                ? "--event is about samples"
	                    : o->function.count       ? "-S is about functions"
	                    : o->filters.cpu.count    ? "--cpu is about samples"
	                    : o->filters.image.count  ? "--dso is about samples"
	                    : o->filters.cgroup.count ? "--cgroup is about samples"
	                    : o->filters.label.count  ? "--label is about samples"
	                    : o->from || o->until     ? "--from and --until are about stores"
	                                              : NULL;

	if (!o->commands.waits || !other)
		return 0;
	return command_fail(2, "diff: --waits compares causes of waits, and %s", other);
}

static bool is_by_group(const struct diff_command_options *o)
{
	return o->groups || (o->sort && !strcmp(o->sort, "group"));
}

/* With --sort group: the same runs, with a row for each group. */
static int compare_groups(const struct diff_command_options *o, const struct diff_condition *c,
                          const struct diff_runs *runs)
{
	struct group_rules *rules;
	struct diff_runs grouped;
	struct error err = {0};
	int status;

	if (report_groups_read(&rules, o->groups, true, &err))
		return command_fail(DIFF_NOTHING, "diff: %s", err.text);
	diff_runs_init(&grouped);
	diff_runs_group(&grouped, runs, rules);
	status = compare(o, c, &grouped, runs);
	diff_runs_done(&grouped);
	group_rules_free(rules);
	return status;
}

static int show_help(void)
{
	command_print_help(&cmd_diff);
	return 0;
}

/* Finds or records the sides. Returns the exit status, 0 for none. */
static int find_sides(struct diff_command_options *o, int argc, char **argv, struct sides *s,
                      struct diff_runs *runs)
{
	struct error err = {0};
	bool run = diff_commands_wanted(&o->commands);
	int status = 0, dashes = 0;

	while (run && dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	if (run && dashes < argc) /* 'A' -- 'B' */
		memmove(argv + dashes, argv + dashes + 1,
		        (size_t)(--argc - dashes) * sizeof(*argv));
	if (!run && choose_sides(o, argc, argv, s, &err))
		return command_fail(2, "diff: %s", err.text);
	status = diff_commands_check(&o->commands, argc, argv);
	if (!run || status)
		return status;
	for (int side = 0; side < DIFF_SIDES; side++)
		runs->commands[side] = argv[side];
	status = run_sides(o, argv, s);
	runs->ended = s->commands.ended;
	return status;
}

static int compare_sides(const struct diff_command_options *o, const struct sides *s,
                         const struct diff_condition *condition, struct diff_runs *runs)
{
	struct error err = {0};

	if (load_sides(o, s, runs, &err))
		return command_fail(err.code == EINVAL ? 2 : DIFF_NOTHING, "diff: %s", err.text);
	return is_by_group(o) ? compare_groups(o, condition, runs)
	                      : compare(o, condition, runs, runs);
}

/* The kind of row that a condition names must be that of the comparison. Commands that diff runs
 * may have a function of any name, which is known only after them. */
static int check_rows(const struct diff_command_options *o, const struct diff_condition *c)
{
	static const char *const nouns[] = {"function", "group", "cause"};
	const char *noun = nouns[o->commands.waits ? 2 : is_by_group(o)];

	for (size_t i = 0; i < sizeof(nouns) / sizeof(*nouns); i++)
		if (!strcmp(c->what, nouns[i]) && strcmp(noun, nouns[i]) != 0)
			return command_fail(2,
			                    "diff: --fail-if '%s': this comparison has rows of the "
			                    "kind '%s'",
			                    o->fail_if, noun);
	return 0;
}

/* Mistakes are found before the commands run, which may take hours. */
static int check_options(const struct diff_command_options *o, struct diff_condition *condition)
{
	struct group_rules *rules;
	struct error err = {0};
	int status = check_limits(o);

	if (!status)
		status = check_waits(o);
	if (!status && medium_check(&o->style, o->json, &err))
		status = command_fail(err.code == EINVAL ? 2 : DIFF_NOTHING, "diff: %s", err.text);
	free(condition->what);
	condition->what = NULL;
	if (!status && o->fail_if && diff_condition_parse(o->fail_if, condition, &err))
		status = command_fail(2, "diff: %s", err.text);
	else if (!status && o->fail_if && diff_commands_wanted(&o->commands))
		status = check_rows(o, condition);
	if (!status && o->groups) {
		if (report_groups_read(&rules, o->groups, true, &err))
			return command_fail(2, "diff: %s", err.text);
		group_rules_free(rules);
	}
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct diff_command_options *o = p;
	struct diff_condition condition = {0};
	struct sides sides = {0};
	struct diff_runs runs;
	int status = check_options(o, &condition);

	diff_runs_init(&runs);
	if (!status)
		status = find_sides(o, argc, argv, &sides, &runs);
	if (!status && sides.words.help) {
		status = show_help();
	} else if (!status) {
		status = check_options(o, &condition); /* of the words after -- */
		if (!status)
			status = compare_sides(o, &sides, &condition, &runs);
	}
	if (!status)
		status = sides.commands.status;
	free(condition.what);
	diff_runs_done(&runs);
	diff_commands_done(&sides.commands);
	option_result_done(&sides.words);
	return status;
}

static void defaults(void *p)
{
	struct diff_command_options *o = p;

	diff_commands_defaults(&o->commands);
}

const struct command cmd_diff = {
        .name = "diff",
        .synopsis = "[OPTIONS] A... -- B... | --run N 'COMMAND A' 'COMMAND B'",
        .summary = "which functions changed between recordings, and how sure that is",
        .description =
                "Compares recordings of any kind: samples, stores, counted calls, event tags and "
                "pprof profiles. A and B are the two sides, for example before and after a change. "
                "With one recording on each side the -- may be left out.\n\n"
                "Each recording is one run. The own CPU time of each function per unit of work is "
                "compared, never its share. Give three runs or more on each side, five are "
                "better, and record them in turn (A B B A A B ...): runs of the same program "
                "differ, and only several runs show by how much. The n-th run of A and the n-th of "
                "B are a pair.\n\n"
                "A summary comes first: the change of the whole with its interval, the number of "
                "functions that changed, and the smallest change that such a comparison shows. "
                "Then the changed functions with an interval that accounts for their selection, "
                "and q, the expected share of false changes among all changes with this q or less. "
                "Functions "
                "are matched by name and file, so that builds, kernels and sampling rates may "
                "differ.\n\n"
                "--run runs two commands itself, in turn, and compares them.",
        .exit_status = DIFF_STATUS_TEXT
        "a command of --run failed, or a file cannot be read. 126: a command cannot be run. 127: "
        "there is no such command",
        .examples = "assay diff before.data after.data\n    one run a side: an indication\n"
                    "assay diff a1.data a2.data a3.data -- b1.data b2.data b3.data\n"
                    "    what changed from a to b\n"
                    "assay diff --sort group a*.data -- b*.data\n    memory, file systems, locks, "
                    "libc: which parts changed\n"
                    "assay diff --run 5 './old input' './new input'\n"
                    "    run two commands in turn, and compare\n"
                    "assay diff --waits a1.data a2.data a3.data -- b1.data b2.data b3.data\n"
                    "    which causes of waits changed; as root: assay diff --waits --run 5 ...\n"
                    "assay diff --fail-if 'regression > 2%' a*.data -- b*.data\n    for scripts\n"
                    "assay diff STORE --from 9:00 --until 10:00 -- --from 10:00 --until 11:00\n"
                    "    two hours of a machine\n",
        .options = options,
        .options_size = sizeof(struct diff_command_options),
        .defaults = defaults,
        .keeps_dashes = true,
        .opens_images = true,
        .run = run,
};
