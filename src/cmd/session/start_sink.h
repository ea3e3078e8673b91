/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start_sink: the output of a session in the background, by its options: a file, a flight recorder
 * in memory, a store, a back end.
 *
 * start_sink_plan() checks the options, prints errors and returns the exit status, 0 for none.
 * start_sink_make() creates the sink, in the process that samples. start_sink_done() frees the
 * plan. One thread. Uses: base, event, session, store.
 */
#ifndef ASSAY_CMD_SESSION_START_SINK_H
#define ASSAY_CMD_SESSION_START_SINK_H

#include "base/error.h"
#include "cmd/cli/command.h"
#include "cmd/push/push_options.h"
#include "event/session_account.h"
#include "session/sinks/store_sink.h"
#include "store/store.h"

#define START_STORE_HZ 97 /* default rate for stores, for long measurements */

struct store_names;
struct trigger;

struct start_sink_options {
	const char *command; /* for messages */
	bool away;           /* of an agent: see struct store_server */
	const char *output;  /* NULL: perf.data */
	const char *ring;    /* NULL: none; "": the default size */
	const char *store;   /* NULL: none */
	const char *keep;    /* NULL: the store's default */
	const char *to;      /* an address; NULL: none */
	const char *spool;   /* NULL: the default */
	double spool_mb;
	struct push_options push;
	double window_s, keep_mb;
	uint64_t snapshots;
	struct option_list when;
};

extern const struct option start_sink_option_table[];
/* Its parts: --store; --to, --spool and --spool-size; --window. */
extern const struct option start_store_table[], start_to_table[], start_window_table[];

void start_sink_default(struct start_sink_options *o);

/* True for a size or a time, as for --ring. */
bool start_sink_is_ring(const char *text);

struct start_sink_plan {
	enum session_kind kind;
	char *output; /* absolute */
	uint64_t ring_bytes, ring_span_ns, window_ns;
	struct store_retention_rules keeping;
	struct store_server server; /* texts are those of `spool` and `push` */
	struct store_sink_sent sent;
	bool restarts;
	unsigned snapshots;
	struct trigger *trigger;       /* NULL: none */
	struct store_names *names;     /* names for a store or a back end */
	struct store_wait_rows *waits; /* of a store with --waits */
	struct push_queue *queue;      /* of SESSION_PUSH: batches on the way */
	struct push_target target;
	char *spool;
	uint64_t spool_bytes;
	struct push_options push; /* absolute paths */
};

int start_sink_plan(const struct start_sink_options *o, struct start_sink_plan *plan);
void start_sink_done(struct start_sink_plan *plan);

/* What was sent to a server or a back end; adds notes. */
void start_sink_delivery(struct start_sink_plan *plan, struct session_account *a);

/* `waits`: the session records why threads wait. */
int start_sink_make(struct start_sink_plan *plan, bool waits, struct session_sink **sink,
                    struct error *err);

#endif
