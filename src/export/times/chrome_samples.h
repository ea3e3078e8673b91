/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chrome_samples: samples as trace events for Perfetto, chrome://tracing and speedscope: the
 * functions of each sample are slices of its thread, as long as the time that the sample stands
 * for. Neighbouring samples share the slices of their common callers. A counter has the number of
 * busy CPUs in user and kernel mode, as sampled.
 *
 * A slice begins at the sample's time minus its weight, or at the end of the sample before it if
 * that is later or not more than half the weight earlier. So all slices together are exactly as
 * long as the samples' weight. Times are since the first sample. Samples of idle CPUs
 * are not written. If there are waits, they follow, and times are since the begin of
 * the first wait, if that is earlier (chrome_waits.h). The event must measure time (weight_is_ns).
 * Appends to a spill, which reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_TIMES_CHROME_SAMPLES_H
#define ASSAY_EXPORT_TIMES_CHROME_SAMPLES_H

#include "base/file/spill.h"
#include "export/times/timed_samples.h"

/* Approximate size in bytes; the real size is smaller if neighbouring samples have common callers.
 */
uint64_t chrome_samples_estimate(const struct timed_samples *t);
void chrome_samples_write(struct timed_samples *t, struct spill *out);

#endif
