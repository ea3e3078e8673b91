/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/calls_run.h"

#include <stdlib.h>

static void environment_make(struct command_environment *e, const struct calls_run_options *o)
{
	const char *preload = getenv("LD_PRELOAD");
	char *all =
	        preload && *preload ? xasprintf("%s:%s", o->library, preload) : xstrdup(o->library);

	command_environment_init(e);
	command_environment_set(e, "LD_PRELOAD", all);
	command_environment_set(e, "ASSAY_CALLS_DIR", o->directory);
	/* What this run is not asked for is not to come from an outer one. */
	command_environment_set(e, "ASSAY_CALLS_LIBRARIES", o->libraries ? "1" : NULL);
	if (o->libraries)
		command_environment_set(e, "LD_BIND_NOW", "1");
	if (o->memory)
		command_environment_set(e, "ASSAY_CALLS_MEM", o->memory);
	if (o->filter)
		command_environment_set(e, "ASSAY_CALLS_FILTER", o->filter);
	free(all);
}

int calls_run(const struct calls_run_options *options, struct command_run_result *result,
              struct error *err)
{
	struct command_environment environment;
	struct command_run run = {.command = options->command, .environment = &environment};
	int rc;

	environment_make(&environment, options);
	rc = command_run(&run, result, err);
	command_environment_done(&environment);
	return rc;
}
