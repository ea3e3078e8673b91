/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_run: runs a COMMAND, and writes its event tags and those of its children to a CTF trace.
 *
 * tags_run() runs it in the foreground (command_run.h) and returns when it has exited and the trace
 * is written. Only programs that were built with the compiler plugin write tags, to `directory`. An
 * error of the trace (such as a full disk) does not end the command: it is reported at the end.
 * 0 or -errno. One thread. Uses: base, source, format.
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
	bool start_off;      /* recording is started later */
	bool compress;       /* the streams of the trace */
	bool wait;           /* STREAM: threads wait for memory, in place of discarding events */
	void (*began)(void); /* called when the first process records, while it runs; NULL: not */
};

struct tags_run_result {
	struct command_run_result run;
	struct tags_collect_result tags;
	uint64_t refused;  /* processes that got no file, since the limits were reached */
	char *no_switches; /* the reason why waiting is not separate; NULL: it is separate */
};

/* Pass the result to tags_run_result_done(), also after an error. */
int tags_run(const struct tags_run_options *options, struct tags_run_result *result,
             struct error *err);
void tags_run_result_done(struct tags_run_result *result);

#endif
