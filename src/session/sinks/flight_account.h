/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_account: creates the closing account of a time range from that of the whole recording.
 *
 * A mark stores the counts of the machine at one moment. The count of the kernel (/proc/stat, the
 * recorder's own time) between the start of the range and its end is the difference of two marks.
 * If the range starts between two marks, which are about a second apart, the count is interpolated
 * linearly. Values that are unknown for a part of the recording are left out, with a note.
 *
 *	ring_marks_add()		from time to time, in ascending order
 *	flight_account_stretch()	pass *out to flight_account_done()
 *	ring_marks_done()
 *
 * Times in ns of CLOCK_MONOTONIC. One thread. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_SINKS_FLIGHT_ACCOUNT_H
#define ASSAY_SESSION_SINKS_FLIGHT_ACCOUNT_H

#include "base/memory/vec.h"
#include "event/recording.h"
#include "session/status.h"

struct ring_mark {
	uint64_t time_ns; /* earlier records were added before the mark, later records after it */
	uint64_t observer_cpu_ns, observer_wakeups;
	struct cpu_stats stats;
};

struct ring_marks {
	VEC(struct ring_mark) marks; /* ascending times */
};

void ring_marks_done(struct ring_marks *m);
void ring_marks_add(struct ring_marks *m, const struct session_status *now);
/* Removes marks that are not needed if no range starts before that time. */
void ring_marks_forget(struct ring_marks *m, uint64_t before_ns);

struct ring_stretch {
	uint64_t start_ns;
	VEC(struct account_cpu) lost; /* only cpu and lost_records, from records in the range */
};

/*
 * The part of `whole` from start_ns to `now`. Texts and lists outside of the account are shared
 * with `whole`.
 */
void flight_account_stretch(struct recording *out, const struct recording *whole,
                            const struct ring_marks *marks, const struct ring_stretch *stretch,
                            const struct session_status *now);
/* The whole account, with its end at the time from which records are not yet available. */
void flight_account_all(struct recording *out, const struct recording *whole,
                        const struct session_status *now);
void flight_account_note(struct recording *out, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
void flight_account_done(struct recording *out);

#endif
