/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_wait_rows: the waits of each window of a store by cause, while a measurement runs.
 *
 * Causes are those of 'assay waits' for all processes of users. Names come from store_names.h: each
 * place is asked for once. A wait is in each window with its part in that window's time, and counts
 * in the window in which it ends, with its whole duration.
 *
 *	store_wait_rows_new(names)
 *	store_wait_rows_fill		as store_sink_options.waits, with the object as waits_ctx
 *	store_wait_rows_free()
 *
 * Nothing fails. One thread. Uses: store, view.
 */
#ifndef ASSAY_CMD_SESSION_STORE_WAIT_ROWS_H
#define ASSAY_CMD_SESSION_STORE_WAIT_ROWS_H

#include "cmd/session/store_names.h"
#include "session/sinks/store_sink.h"

struct store_wait_rows;

struct store_wait_rows *store_wait_rows_new(struct store_names *names);
void store_wait_rows_free(struct store_wait_rows *w); /* NULL-safe */
store_waits_fn store_wait_rows_fill;

#endif
