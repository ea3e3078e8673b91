/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_runtime: the files that are needed to build programs with event tags, and the reason why a
 * program has written none.
 *
 * Stateless. Any thread. Uses: base, format.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_RUNTIME_H
#define ASSAY_LAUNCH_TAGS_TAGS_RUNTIME_H

#include "base/error.h"

#include <stdbool.h>

#define TAGS_RUNTIME_LIBRARY "libassay-tags.so"

struct tags_runtime {
	char *plugin;    /* assay_tags.so */
	char *include;   /* the directory with assay/tags.h in it */
	char *libraries; /* the directory of libassay-tags.so and libassay-tags-image.a */
};

/*
 * In a build, beside this program; else in the installation directories. The error names these
 * places. tags_runtime_done() frees.
 */
int tags_runtime_find(struct tags_runtime *r, struct error *err);
void tags_runtime_done(struct tags_runtime *r);

/*
 * Sets the reason why no process has written event tags, from the command (its program is found as
 * execvp() does), its end as wait(2) has it, and the directory, with the way out. Always returns an
 * error.
 */
int tags_runtime_why(char *const command[], const char *directory, int status, struct error *err);

#endif
