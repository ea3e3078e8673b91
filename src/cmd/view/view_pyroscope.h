/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_pyroscope: answers calls of Pyroscope's query API from a store on a server, so that the
 * Pyroscope data source of Grafana shows it.
 *
 * Labels are service_name, host and version. Profile types are the CPU time and the number of
 * samples of the clock; idle time is not included. Errors are those of the Connect protocol: a
 * status of HTTP and a JSON object with a code and a sentence. Requests come from a client: see
 * querier_request.h and label_selector.h. One thread. Uses: cmd/load, export, format, store, view,
 * web.
 */
#ifndef ASSAY_CMD_VIEW_VIEW_PYROSCOPE_H
#define ASSAY_CMD_VIEW_VIEW_PYROSCOPE_H

#include "cmd/load/load.h"
#include "web/web_ask.h"

struct view_pyroscope {
	const char *store;
	const struct load_options *load; /* of symbols */
};

/* The HTTP status. */
unsigned view_pyroscope_answer(const struct view_pyroscope *v, const struct web_ask *ask,
                               struct buf *body, enum web_answer_type *type);

#endif
