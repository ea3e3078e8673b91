/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_script: samples as the text that `perf script` prints, which flame graph tools, speedscope
 * and the Firefox Profiler read.
 *
 * Each sample is a heading "COMM PID/TID [CPU] SECONDS: PERIOD EVENT:", one line for each function,
 * innermost first, and an empty line. An address is an offset in the file. Functions that were
 * inlined have "(inlined)" instead of the file. A negative pid, of interrupts, is written as 0.
 * Appends to a spill, which reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_TIMES_PERF_SCRIPT_H
#define ASSAY_EXPORT_TIMES_PERF_SCRIPT_H

#include "base/file/spill.h"
#include "export/times/timed_samples.h"

/* Approximate size in bytes. */
uint64_t perf_script_estimate(const struct timed_samples *t);
void perf_script_write(struct timed_samples *t, struct spill *out);

#endif
