/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_recorder: the flight recorder. The last records of a measurement are kept in memory; a
 * snapshot makes a recording of them, a perf.data file like any other.
 *
 * Of what left the memory, who was alive when the oldest record that is kept was made is
 * remembered, and told at a snapshot's beginning as if it had been read from /proc then. The
 * snapshot's account is of the stretch that it holds: times, ticks, steal and losses of before
 * are not in it, and a note says how much left.
 *
 * flight_recorder_new() makes a sink (sink.h has the life of one), which wants records in time
 * order. close() writes what there is to `path`. Memory: `bytes` exactly, whoever is alive, and
 * what deep stacks and cgroups refer to. While a snapshot is written nothing reads the rings of the
 * kernel: what they lose meanwhile is counted as lost. Times in ns. One thread. Uses: base,
 * event, process, format, source.
 */
#ifndef ASSAY_SESSION_SINKS_FLIGHT_RECORDER_H
#define ASSAY_SESSION_SINKS_FLIGHT_RECORDER_H

#include "session/sink.h"

#define RING_SINK_BYTES (UINT64_C(64) << 20)       /* where nothing was asked for */
#define RING_SINK_SPAN_BYTES (UINT64_C(256) << 20) /* with a span: at most */

struct flight_recorder_options {
	uint64_t bytes;   /* 0: RING_SINK_BYTES, and RING_SINK_SPAN_BYTES with a span */
	uint64_t span_ns; /* what is older goes; 0: by bytes alone. `bytes` holds all the same */
	const char *path; /* of the last snapshot, at the end; absolute, copied */
};

/* -ENOMEM: so much memory is not to be had. */
int flight_recorder_new(struct session_sink **sink, const struct flight_recorder_options *options,
                        struct error *err);

/* What is held now: of how long a time, and since when it has not been all. */
struct flight_recorder_state {
	uint64_t bytes, bytes_max;
	uint64_t records, samples;
	uint64_t first_ns, last_ns; /* 0: nothing yet */
	uint64_t left_records, left_samples;
	uint64_t processes;              /* remembered: who is alive, and some that ended */
	uint64_t snapshots, snapshot_ns; /* written; what the slowest one took */
};

void flight_recorder_state(const struct session_sink *sink, struct flight_recorder_state *state);

#endif
