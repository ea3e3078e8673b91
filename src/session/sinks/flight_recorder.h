/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_recorder: a sink that keeps the newest records of a measurement in memory. A snapshot
 * writes them to a normal perf.data file.
 *
 * Evicted records update a process table as of the oldest retained record. Each snapshot starts
 * with synthesized FORK, COMM and MMAP records for that table. The account of a snapshot covers
 * only its own time range: times, ticks, steal and losses from before are not included, and a note
 * has the number of evicted records.
 *
 * flight_recorder_new() creates a sink (sink.h), which needs records in time order. close() writes
 * the records to `path`. Memory: exactly `bytes`, the living processes, and the records that deep
 * stacks and cgroups refer to. The rings of the kernel are not read while a snapshot is written;
 * records that they drop are counted as lost. Times in ns. One thread. Uses: base, event, process,
 * format, source.
 */
#ifndef ASSAY_SESSION_SINKS_FLIGHT_RECORDER_H
#define ASSAY_SESSION_SINKS_FLIGHT_RECORDER_H

#include "session/sink.h"

#define RING_SINK_BYTES (UINT64_C(64) << 20)       /* default */
#define RING_SINK_SPAN_BYTES (UINT64_C(256) << 20) /* default with a time span: maximum */

struct flight_recorder_options {
	uint64_t bytes;   /* 0: RING_SINK_BYTES, and RING_SINK_SPAN_BYTES with a span */
	uint64_t span_ns; /* older records are evicted; 0: only `bytes` is the limit */
	const char *path; /* of the snapshot at the end; absolute, copied */
};

/* -ENOMEM: the memory cannot be allocated. */
int flight_recorder_new(struct session_sink **sink, const struct flight_recorder_options *options,
                        struct error *err);

/* The retained records, their time range, and the evicted records. */
struct flight_recorder_state {
	uint64_t bytes, bytes_max;
	uint64_t records, samples;
	uint64_t first_ns, last_ns; /* 0: no records yet */
	uint64_t left_records, left_samples;
	uint64_t processes; /* in the table: the living, and some that exited */
	/* Number of written snapshots; duration of the slowest snapshot */
	uint64_t snapshots, snapshot_ns;
};

void flight_recorder_state(const struct session_sink *sink, struct flight_recorder_state *state);

#endif
