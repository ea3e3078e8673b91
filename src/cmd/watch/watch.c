/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch: changes over the time of a store. */
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/option.h"
#include "cmd/watch/watch_fail.h"
#include "cmd/watch/watch_fleet.h"
#include "cmd/watch/watch_keep.h"
#include "cmd/watch/watch_load.h"
#include "view/watch/watch_document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct watch_command_options {
	struct watch_range range;
	const char *fail_if;
	double confidence, rate, least;
	uint64_t lines, window;
	bool wall, json, keep, only_new;
	struct style_options style;
};

#define AT(field) offsetof(struct watch_command_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "from", "TIME",
         "start of the time range (10:00, 2026-11-21T10:00, yesterday, -2h)",
         .offset = AT(range.from)},
        {OPTION_STRING, 0, "until", "TIME", "end of the time range", .offset = AT(range.until)},
        {OPTION_STRING, 0, "host", "NAME",
         "for a store of several machines: the machine, or several: 'web*'",
         .details = "With a pattern the data of each of these machines is searched, and their "
                    "sum. The error rates are those of all these tests together. A change of "
                    "the sum that no single machine shows is one of [all machines].",
         .offset = AT(range.host)},
        {OPTION_STRING, 0, "service", "NAME",
         "only samples of this service, or of several: 'web*' (a store on a server)",
         .offset = AT(range.service)},
        {OPTION_NUMBER, 0, "confidence", "P",
         "maximum probability of a listed change by chance alone (default 0.001)",
         .offset = AT(confidence)},
        {OPTION_NUMBER, 0, "rate", "PERCENT",
         "maximum share of false changes among those listed (default 10)", .offset = AT(rate)},
        {OPTION_NUMBER, 0, "least", "PERCENT",
         "changes below this, or perhaps below half of it, are not listed (default 10)",
         .offset = AT(least)},
        {OPTION_COUNT, 0, "window", "N", "compare N points at a time (default: all of the time)",
         .details = "A point is a window of the store. The next N points begin in the "
                    "middle of these. 50 is the default of Otava. Fewer points find changes "
                    "only if they are large, but slow drift is no change.",
         .offset = AT(window)},
        {OPTION_STRING, 0, "work", "EVENT",
         "CPU time per EVENT: a recorded event that counts work, or wall",
         .details = "Without this option the time is divided by the load of the machine. "
                    "--work wall is the same as --wall.",
         .offset = AT(range.work)},
        {OPTION_FLAG, 0, "wall", NULL, "do not divide by the load of the machine",
         .offset = AT(wall)},
        {OPTION_STRING, 0, "fail-if", "CONDITION",
         "exit status 1 if 'regression > 20%' is sure, 3 if it is possible",
         .details =
                 "regression is any function that costs more or is new; 'NAME > 5%' is about one.",
         .offset = AT(fail_if)},
        {OPTION_FLAG, 0, "keep", NULL, "keep the changes in the store",
         .details = "Later searches of the same host and service, and the page of a fleet, show "
                    "when a change was found first, and those that are no longer found. It needs "
                    "the right to write to the store.",
         .offset = AT(keep)},
        {OPTION_FLAG, 0, "new", NULL, "only changes that the store does not have yet",
         .details = "'watch --keep --new' from a timer reports each change once. --fail-if is "
                    "then about these.",
         .offset = AT(only_new)},
        {OPTION_COUNT, 'n', "lines", "N", "at most N changes", .offset = AT(lines)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON; times in ns, changes as ratio - 1",
         .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

/* The exit status by the condition, with its reason for readers. */
static int conclude(const struct watch *w, const struct diff_condition *c)
{
	char *reason = NULL;
	int status = 0;

	watch_condition_check(c, w, &status, &reason);
	command_fail(0, "watch: %s", reason);
	free(reason);
	return status;
}

static int check_options(const struct watch_command_options *o)
{
	const char *work = o->range.work;

	if (o->rate < 0 || o->rate > 100 || o->confidence < 0 || o->confidence > 1 || o->least < 0)
		return command_fail(2, "watch: --rate is 0 to 100 (percent), --confidence 0 to 1, "
		                       "and --least is not negative");
	if (o->window && o->window < WATCH_POINTS_LEAST)
		return command_fail(2, "watch: --window is at least %d points", WATCH_POINTS_LEAST);
	if (o->wall && work && strcmp(work, "wall") != 0)
		return command_fail(2, "watch: give --wall or --work %s, not both", work);
	if (work && !strcmp(work, "run"))
		return command_fail(2, "watch: a store has no runs; give --work an event that "
		                       "counts work, or wall");
	return 0;
}

/* Of one machine. The data is searched after the condition is known to be about it. */
static int search_machine(struct watch *w, const struct watch_command_options *o,
                          const struct watch_options *how, const struct diff_condition *c)
{
	struct error err = {0};

	if (watch_load(w, &o->range, &err))
		return command_fail(err.code == EINVAL ? 2 : DIFF_NOTHING, "watch: %s", err.text);
	if (o->fail_if && watch_condition_known(c, w, &err))
		return command_fail(2, "watch: %s", err.text);
	watch_find(w, how);
	watch_know(w);
	if (o->keep && watch_keep(w, &o->range, &err))
		return command_fail(DIFF_NOTHING, "watch: %s", err.text);
	if (o->only_new)
		watch_only_new(w);
	return 0;
}

static int search_fleet(struct watch *w, const struct watch_command_options *o,
                        const struct watch_options *how, const struct diff_condition *c)
{
	struct buf left_out = {0};
	struct error err = {0};
	int status = 0;

	if (watch_fleet(w, &o->range, how, o->keep, o->only_new, &left_out, &err))
		status = command_fail(err.code == EINVAL ? 2 : DIFF_NOTHING, "watch: %s", err.text);
	else if (o->fail_if && watch_condition_known(c, w, &err))
		status = command_fail(2, "watch: %s", err.text);
	if (!status && left_out.size)
		command_remarks("watch", left_out.data);
	buf_done(&left_out);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct watch_command_options *o = p;
	bool by_wall = o->wall || (o->range.work && !strcmp(o->range.work, "wall"));
	const struct watch_options how = {o->confidence, o->rate / 100, o->least / 100, by_wall,
	                                  o->window};
	const struct document_reader reader = medium_reader(&o->style, o->json, false);
	struct diff_condition condition = {0};
	struct document document;
	struct error err = {0};
	struct watch w;
	int status = 0;

	if (argc != 1)
		return command_fail(2, "watch: give one STORE, which 'assay start --store' writes");
	status = check_options(o);
	if (status)
		return status;
	if (medium_check(&o->style, o->json, &err))
		return command_fail(err.code == EINVAL ? 2 : DIFF_NOTHING, "watch: %s", err.text);
	if (o->fail_if && diff_condition_parse(o->fail_if, &condition, &err))
		return command_fail(2, "watch: %s", err.text);
	o->range.store = argv[0];
	watch_init(&w);
	status = watch_host_is_pattern(o->range.host) ? search_fleet(&w, o, &how, &condition)
	                                              : search_machine(&w, o, &how, &condition);
	if (!status) {
		document_init(&document);
		watch_document(&document, &w, by_wall ? "wall" : o->range.work, o->lines);
		status = medium_show(&(struct page){.kind = "watch",
		                                    .title = o->range.store,
		                                    .document = &document},
		                     &reader, &o->style, "watch");
		document_done(&document);
		if (!status && o->fail_if)
			status = conclude(&w, &condition);
	}
	free(condition.what);
	watch_done(&w);
	return status;
}

const struct command cmd_watch = {
        .name = "watch",
        .synopsis = "[OPTIONS] STORE",
        .summary = "which functions' cost changed in a store, and when",
        .description =
                "Searches the time of a store of 'assay start --store' for changes of functions. "
                "The own CPU time of each function per second is divided by the load of its "
                "program or of the machine (or by its work, with --work), and the levels before "
                "and after each time are compared. The load is the course that most functions "
                "follow. A function changed if neither the load nor the observed time explains "
                "its time. From three days on the same hours of the days are compared.\n\n"
                "The verdict is regression, improvement, new (no sample before), gone (no "
                "sample after), went away (the old level returned), or "
                "moved (the time of another function of the file changed by the opposite "
                "amount). q is the expected share of false changes among the functions with this q "
                "or less; functions with more samples get a larger part of this error.",
        .exit_status = DIFF_STATUS_TEXT "the store cannot be read or written",
        .examples = "assay watch history.db\n    all of the store\n"
                    "assay watch --from -7d --json history.db\n    a week, for scripts\n"
                    "assay watch --host '*' --from -1d clickhouse://db.example.com/assay\n"
                    "    all machines of a store on a server\n"
                    "assay watch --work syscalls:sys_enter_accept4 history.db\n"
                    "    per accepted connection, if the store has this event\n"
                    "assay watch --keep --new --fail-if 'regression > 20%' history.db\n"
                    "    from a timer: each change once\n",
        .options = options,
        .options_size = sizeof(struct watch_command_options),
        .run = run,
};
