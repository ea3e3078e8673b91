/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits_calls: the file of counted calls or event tags whose calls a report on waits is joined
 * with.
 *
 *	waits_calls_open(&w, path, load, &err);
 *	waits_calls_select(&w, &filter);	unless the user selected threads
 *	waits_calls_join(&w, report, &err);	after wait_report_new()
 *	wait_calls_document(&w.calls, &document);
 *	waits_calls_done(&w);
 *
 * A zeroed struct is closed. Uses: cmd/load, format, view.
 */
#ifndef ASSAY_CMD_WAITS_WAITS_CALLS_H
#define ASSAY_CMD_WAITS_WAITS_CALLS_H

#include "cmd/cli/style.h"
#include "cmd/load/load.h"
#include "view/waits/wait_calls.h"

struct waits_calls {
	bool is_open, is_joined;
	struct wait_calls calls;
	struct loaded_calls counted; /* unless `tags` */
	struct tag_recording *tags;
	VEC(char *) pids; /* of the processes in the file */
};

/* Whether a file has counted calls or event tags, by its content. */
bool waits_calls_is(const char *path);

int waits_calls_open(struct waits_calls *w, const char *path, const struct load_options *load,
                     struct error *err);
/* The processes of the file. */
void waits_calls_select(const struct waits_calls *w, struct filter *f);
int waits_calls_join(struct waits_calls *w, struct wait_report *r, struct error *err);
void waits_calls_done(struct waits_calls *w);

/* Prints the waits of `recording` by the calls in `counted`. The exit status. */
int waits_calls_print(const char *recording, const char *counted, const struct style_options *style,
                      const char *command);

#endif
