/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch: changes over the time of a store. */
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/option.h"
#include "cmd/watch/watch_load.h"
#include "view/watch/watch_document.h"

#include <errno.h>

struct watch_command_options {
	struct watch_range range;
	double confidence, rate, least;
	uint64_t lines;
	bool wall, json;
	struct style_options style;
};

#define AT(field) offsetof(struct watch_command_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "from", "TIME",
         "start of the time range (10:00, 2026-11-21T10:00, yesterday, -2h)",
         .offset = AT(range.from)},
        {OPTION_STRING, 0, "until", "TIME", "end of the time range", .offset = AT(range.until)},
        {OPTION_STRING, 0, "host", "NAME", "for a store of several machines: the machine",
         .offset = AT(range.host)},
        {OPTION_NUMBER, 0, "confidence", "P", "the chance of a change, at most (default 0.001)",
         .offset = AT(confidence)},
        {OPTION_NUMBER, 0, "rate", "PERCENT",
         "false ones among the changed functions, at most (default 5)", .offset = AT(rate)},
        {OPTION_NUMBER, 0, "least", "PERCENT", "changes below this are not listed (default 10)",
         .offset = AT(least)},
        {OPTION_FLAG, 0, "wall", NULL, "do not divide by the load of the machine",
         .offset = AT(wall)},
        {OPTION_COUNT, 'n', "lines", "N", "at most N changes", .offset = AT(lines)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON; times in ns, changes as ratio - 1",
         .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static int run(void *p, int argc, char **argv)
{
	struct watch_command_options *o = p;
	const struct watch_options how = {o->confidence, o->rate / 100, o->least / 100, o->wall};
	const struct document_reader reader = {.program = o->json};
	struct document document;
	struct error err = {0};
	struct watch w;
	int status = 0;

	if (argc != 1)
		return command_fail(2, "watch: give one STORE, which 'assay start --store' writes");
	o->range.store = argv[0];
	watch_init(&w);
	if (watch_load(&w, &o->range, &err)) {
		status = command_fail(err.code == EINVAL ? 2 : 1, "watch: %s", err.text);
	} else {
		watch_find(&w, &how);
		document_init(&document);
		watch_document(&document, &w, o->lines);
		medium_print(&document, &reader, &o->style);
		document_done(&document);
	}
	watch_done(&w);
	return status;
}

const struct command cmd_watch = {
        .name = "watch",
        .synopsis = "[OPTIONS] STORE",
        .summary = "which functions' cost changed in a store, and when",
        .description =
                "Searches the time of a store of 'assay start --store' for changes of functions. "
                "The own CPU time of each function per second is divided by the load of the "
                "machine, and the levels before and after each time are compared. From three days "
                "on the same hours of the days are compared.\n\n"
                "The verdict is regression, improvement, went away (the old level returned), or "
                "moved (the time of another function of the file changed by the opposite "
                "amount). q is the expected part of false ones among the functions with this "
                "q or less.",
        .examples = "assay watch history.db\n    all of the store\n"
                    "assay watch --from -7d --json history.db\n    a week, for scripts\n",
        .options = options,
        .options_size = sizeof(struct watch_command_options),
        .run = run,
};
