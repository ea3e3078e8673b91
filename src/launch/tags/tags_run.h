/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_run: a COMMAND whose event tags, and its children's, become a CTF trace while it
 * runs.
 *
 * tags_run() runs it in the foreground (command_run.h) and returns when it has ended
 * and the trace is written. Only programs that were built with the compiler's plugin
 * write tags; what they write lies in `directory`. Trouble with the trace (no room for
 * it) does not end the command: it is told at the end. 0 or -errno. One thread. Uses:
 * base, source, format.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_RUN_H
#define ASSAY_LAUNCH_TAGS_TAGS_RUN_H

#include "launch/command_run.h"
#include "launch/tags/tags_collect.h"

struct tags_run_options {
	char **command;        /* NULL-terminated */
	const char *directory; /* of the session */
	const char *output;    /* the trace */
	const char *memory;    /* as ASSAY_TAGS_MEM; NULL: the runtime's own choice */
	enum assay_tags_mode mode;
	bool start_off; /* capture is put on later */
};

struct tags_run_result {
	struct command_run_result run;
	struct tags_collect_result tags;
	char *no_switches; /* why waiting is not separated; NULL: it is */
};

/* After an error too, the result is to be given to tags_run_result_done(). */
int tags_run(const struct tags_run_options *options, struct tags_run_result *result,
             struct error *err);
void tags_run_result_done(struct tags_run_result *result);

#endif
