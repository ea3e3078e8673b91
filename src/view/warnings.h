/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * warnings: what a recording could not see, gathered from everywhere into
 * sentences.
 *
 * warnings_gather() looks at what the report has made of the recordings, none
 * of which it keeps; the sentences in `list` are the caller's to free. One
 * thread. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_WARNINGS_H
#define ASSAY_VIEW_WARNINGS_H

#include "view/account.h"
#include "view/filter.h"
#include "view/flat.h"

typedef VEC(char *) warning_list;

struct warnings {
	struct view *view;
	const struct selection *selection;
	const struct profile_event *event; /* what was selected of; NULL: nothing was recorded */
	const struct account_view *account;
	const struct flat *functions;
	bool partial; /* samples of some of the time were read */
	warning_list list;
};

void warnings_gather(struct warnings *w);

#endif
