/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timed_samples: the samples of one event one after the other, with their call paths, for formats
 * that contain the time of each sample.
 *
 * timed_samples_init(), optionally a limit; timed_samples_next() until it returns false;
 * timed_samples_done(). If several samples are stored as one sum, each gets an equal part of its
 * weight, so that their number and the sum of their weights are exact. Times are ns of the
 * recording's clock; `begin_ns` is the earliest. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_EXPORT_TIMES_TIMED_SAMPLES_H
#define ASSAY_EXPORT_TIMES_TIMED_SAMPLES_H

#include "profile/symbolized_profile.h"
#include "view/symbolized/sample_moments.h"

struct wait_report;

struct timed_samples {
	const struct symbolized_profile *n;
	const char *event;
	bool weight_is_ns;       /* weights are ns: a sample represents that much time */
	uint64_t limit;          /* samples; 0: none */
	uint64_t written, total; /* samples; total: of the selection */
	uint64_t begin_ns;
	/* Waits that are written, too; NULL: none. The writer counts them; the limit applies. */
	const struct wait_report *waits;
	uint64_t waits_written, waits_total;
	struct sample_moments moments;
	struct sample_moment rest; /* samples of a sum that are not returned yet */
};

void timed_samples_init(struct timed_samples *t, const struct symbolized_profile *n,
                        const struct profile *p, const uint32_t *rows);
/* The next sample; moment->samples is 1. */
bool timed_samples_next(struct timed_samples *t, struct sample_moment *moment);
void timed_samples_done(struct timed_samples *t);

/* The name of the process of an owner, or of its thread; "" if neither is known. */
const char *timed_process_name(const struct timed_samples *t, const struct named_owner *o);
const char *timed_thread_name(const struct timed_samples *t, const struct named_owner *o);

/* The number of functions on the path of a row, including inlined ones. */
uint32_t timed_depth(const struct timed_samples *t, const struct named_row *row);

#endif
