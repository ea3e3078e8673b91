/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_sink: sends a measurement without an end to a back end, window by window.
 *
 * Records are decoded as they arrive and aggregated by window (profile_windows.h). Each window
 * becomes one batch for each service (push_window.h), and goes to the queue, which outlives the
 * sink: the caller reads its account after the end. The end of the measurement waits some seconds
 * for the last batches. There are no snapshots. Life cycle and threads are those of sink.h. Uses:
 * base, profile, format, session.
 */
#ifndef ASSAY_PUSH_PUSH_SINK_H
#define ASSAY_PUSH_PUSH_SINK_H

#include "push/push_queue.h"
#include "push/push_window.h"
#include "session/sink.h"

struct push_sink_options {
	struct push_queue *queue;
	enum push_kind kind;
	uint64_t window_ns; /* 0: 10 s */
	bool restarts;      /* an error if the process that sends was killed */
	struct push_window_options window;
	/* As in store_sink.h. */
	void (*name_foreign)(void *name_ctx, struct foreign *foreign);
};

struct session_sink *push_sink_new(const struct push_sink_options *o);

#endif
