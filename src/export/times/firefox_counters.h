/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firefox_counters: the CPU time of each process over time, as counters of the Firefox Profiler.
 * Private to export/times/firefox*.c.
 *
 * A zeroed struct is empty. firefox_counters_add() takes samples in the order of time. A sample of
 * a counter is the CPU time since the counter's sample before it: one at each end of a step of
 * 100 ms in which the process had a sample, and one of zero where such steps begin after a pause.
 * firefox_counters_done() frees. Uses: base.
 */
#ifndef ASSAY_EXPORT_TIMES_FIREFOX_COUNTERS_H
#define ASSAY_EXPORT_TIMES_FIREFOX_COUNTERS_H

#include "base/file/spill.h"
#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "base/text/json.h"

#include <stdbool.h>

struct firefox_step {
	uint64_t step, busy_ns;
};

struct firefox_counter {
	int32_t pid;
	bool placed; /* `thread` is known */
	uint32_t thread;
	VEC(struct firefox_step) steps;
};

struct firefox_counters {
	VEC(struct firefox_counter) counters;
	struct id_table by_pid; /* ids are places in `counters` */
};

/* `time_ns`: since the begin of the profile. */
void firefox_counters_add(struct firefox_counters *c, int32_t pid, uint64_t time_ns,
                          uint64_t busy_ns);
/* Adds the thread with this index to its process. The main thread, else the first one, represents
 * the process. */
void firefox_counters_thread(struct firefox_counters *c, int32_t pid, uint32_t thread, bool main);
/* Writes "counters"; counters of processes without a thread are left out. */
void firefox_counters_write(const struct firefox_counters *c, struct json *j, struct spill *out);
void firefox_counters_done(struct firefox_counters *c);

#endif
