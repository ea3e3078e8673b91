/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firefox: the processed profile format of the Firefox Profiler, version 66 (JSON).
 *
 * Functions, frames, stacks and images are tables that all threads share. Samples with their times
 * become samples of their thread, in the order of time, each with the CPU time that it stands for.
 * Markers are the times when a thread was off the CPU, and a counter has the CPU time of each
 * process.
 * Without times, each path of each thread becomes one sample whose weight is the main value of the
 * profile; its time is the sum of the weights before it. docs/FORMAT.md lists the parts. Appends to
 * a spill, which reports failures. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_TIMES_FIREFOX_H
#define ASSAY_EXPORT_TIMES_FIREFOX_H

#include "base/file/spill.h"
#include "export/times/timed_samples.h"

#define FIREFOX_VERSION 66

/* Approximate size in bytes. */
uint64_t firefox_estimate(const struct timed_samples *t);

/* `t` NULL: the profile has no times. */
void firefox_write(const struct symbolized_profile *n, struct timed_samples *t, struct spill *out);

#endif
