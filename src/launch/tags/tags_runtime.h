/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_runtime: the parts that programs with event tags are built with, and why a program
 * has written none.
 *
 * Nothing is held. Any thread. Uses: base, format.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_RUNTIME_H
#define ASSAY_LAUNCH_TAGS_TAGS_RUNTIME_H

#include "base/error.h"

#include <stdbool.h>

struct tags_runtime {
	char *plugin;    /* assay_tags.so */
	char *include;   /* the directory with assay/tags.h in it */
	char *libraries; /* the directory of libassay-tags.so and libassay-tags-image.a */
};

/*
 * In a build, beside this program; else where they were to be installed. The error names
 * the places that were looked at. tags_runtime_done() frees.
 */
int tags_runtime_find(struct tags_runtime *r, struct error *err);
void tags_runtime_done(struct tags_runtime *r);

/*
 * No process has written event tags: says why, as far as `program` (found as execvp()
 * finds it) and the directory tell, and the way out. Always an error.
 */
int tags_runtime_why(const char *program, const char *directory, struct error *err);

#endif
