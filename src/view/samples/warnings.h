/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * warnings: sentences about what a recording could not see, collected from all parts of a report.
 *
 * The caller fills the struct and calls warnings_gather(), which reads the report's parts and keeps
 * no reference to them. The caller frees the sentences in `list`. One thread. Uses: base, profile,
 * symbol, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_WARNINGS_H
#define ASSAY_VIEW_SAMPLES_WARNINGS_H

#include "view/account/account.h"
#include "view/filter.h"
#include "view/samples/flat.h"

typedef VEC(char *) warning_list;

struct warnings {
	struct view *view;
	const struct selection *selection;
	const struct profile_event *event; /* the event of the selection; NULL: nothing was
	                                    * recorded */
	const struct account_view *account;
	const struct flat *functions;
	warning_list list;
};

void warnings_gather(struct warnings *w);

#endif
