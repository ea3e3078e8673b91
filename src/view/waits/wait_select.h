/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_select: the threads that a report on waits or system calls is about.
 *
 * The default are the threads of the processes that were asked for when the recording was made
 * (COMMAND, -p) and of their children; if none were, or with `all`, all threads of user programs
 * except the recorder. A filter selects from all threads. wait_selection_done() frees, also after
 * an error. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_SELECT_H
#define ASSAY_VIEW_WAITS_WAIT_SELECT_H

#include "profile/profile.h"
#include "view/filter.h"

struct wait_selection {
	uint8_t *selected; /* per thread of the profile's process table */
	enum { WAITS_OF_TARGETS, WAITS_OF_ALL, WAITS_OF_FILTER } scope;
};

/* -EINVAL: the filter has a pid or tid that is no number. */
int wait_select(struct wait_selection *s, const struct profile *p, const struct filter *f, bool all,
                struct error *err);
/* Without the processes that make the recording, for a profile that does not refer to it. */
void wait_selection_without(struct wait_selection *s, const struct profile *p,
                            const struct recording *r);
void wait_selection_done(struct wait_selection *s);

#endif
