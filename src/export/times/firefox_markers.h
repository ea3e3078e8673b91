/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firefox_markers: the times when threads were off the CPU, as markers of the Firefox Profiler.
 * Private to export/times/firefox*.c.
 *
 * firefox_markers_init() finds the absences (profile/ledger/switch_log.h) of each owner that has a
 * sample; without times or switches there are none. A marker is an interval, or has no end if the
 * thread was off the CPU until the end. firefox_markers_done() frees. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_TIMES_FIREFOX_MARKERS_H
#define ASSAY_EXPORT_TIMES_FIREFOX_MARKERS_H

#include "base/file/spill.h"
#include "base/text/json.h"
#include "export/times/timed_samples.h"

#define FIREFOX_MARKER_BYTES 60u

/* Names of markers; they follow the texts of the profile in the list of strings. */
#define FIREFOX_MARKER_NAMES                                                                       \
	{                                                                                          \
		"blocked", "preempted"                                                             \
	}

typedef VEC(uint32_t) firefox_absences;

struct firefox_markers {
	const struct symbolized_profile *n;
	const struct switch_log *log; /* NULL: none */
	firefox_absences *of;         /* by owner: indices of absences */
	uint64_t begin_ns;            /* time 0: of the first sample or marker */
	uint64_t last_ns;             /* markers that begin later are not written */
};

void firefox_markers_init(struct firefox_markers *m, const struct symbolized_profile *n,
                          const struct timed_samples *t);
void firefox_markers_done(struct firefox_markers *m);
/* The value of "markerSchema". */
void firefox_markers_schema(struct json *j);
/* The value of "markers" of a thread. */
void firefox_markers_write(const struct firefox_markers *m, uint32_t owner, struct json *j,
                           struct spill *out);

#endif
