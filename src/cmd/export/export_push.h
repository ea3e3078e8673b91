/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_push: sends symbolized profiles to a back end, for `assay export --to URL`.
 *
 *	export_push_open(&p, to, &options)	checks both; prints errors, returns the exit status
 *	export_push_samples() or export_push_profile()
 *	export_push_end(p, status)		reports what was sent; frees
 *
 * A batch that fails for a passing reason is repeated a few times. One thread. Uses: base, cmd,
 * push, view.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_PUSH_H
#define ASSAY_CMD_EXPORT_EXPORT_PUSH_H

#include "cmd/push/push_options.h"
#include "profile/symbolized_profile.h"
#include "view/filter.h"

struct export_push;

int export_push_open(struct export_push **p, const char *to, const struct push_options *o);
/* The name in EXPORT_FORMATS whose contents are sent. */
const char *export_push_format(const struct export_push *p);
/* Sends one batch for each service. */
int export_push_samples(struct export_push *p, struct view *v, const struct selection *s);
int export_push_profile(struct export_push *p, struct symbolized_profile *n);
/* Returns `status`. NULL-safe. */
int export_push_end(struct export_push *p, int status);

#endif
