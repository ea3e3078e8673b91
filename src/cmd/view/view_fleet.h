/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_fleet: the pages of a store on a server: the services and machines of a time range, and of a
 * selection the report, a comparison, or the changes over time.
 *
 * The page of the browser has the selection in its own address, and asks for the data with the same
 * arguments: show (report, diff, watch; none: the list), host, service, build, from, until; of a
 * diff also host_a, service_a, build_a, from_a, until_a for the first side, where a missing one is
 * that of the second side. Names are exact, times are those of --from. The arguments come from a
 * client: they are values, never words of a command line or of a statement.
 *
 * Messages of the commands are returned as text. One thread. Uses: cmd/diff, cmd/report, cmd/watch,
 * store, web.
 */
#ifndef ASSAY_CMD_VIEW_VIEW_FLEET_H
#define ASSAY_CMD_VIEW_VIEW_FLEET_H

#include "cmd/report/report.h"
#include "web/web_ask.h"

struct view_fleet {
	const char *store;
	const struct report_command_options *report; /* of the command line */
};

/* The HTTP status; 200: `data` has the page's data, else a text. */
unsigned view_fleet_answer(const struct view_fleet *f, const struct web_ask *ask, struct buf *data);

#endif
