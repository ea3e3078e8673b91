/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_account: the closing account of a stretch, made of the whole recording's.
 *
 * Marks are what was known of the machine at some moments: what the kernel counts (/proc/stat,
 * the recorder's own time) between the stretch's begin and its end is the difference of two.
 * Where the stretch begins between two marks, which are a second apart or little more, each
 * count is taken to have grown evenly from one to the other. What cannot be told of a part of
 * the recording is left out, and a note says so.
 *
 *	ring_marks_add()	now and then, times rising
 *	flight_account_stretch()	*out is to be given to flight_account_done()
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
	uint64_t time_ns; /* all records before it came before the mark, all others after */
	uint64_t observer_cpu_ns, observer_wakeups;
	struct cpu_stats stats;
};

struct ring_marks {
	VEC(struct ring_mark) marks; /* times rising */
};

void ring_marks_done(struct ring_marks *m);
void ring_marks_add(struct ring_marks *m, const struct session_status *now);
/* No stretch will begin earlier than that. */
void ring_marks_forget(struct ring_marks *m, uint64_t before_ns);

struct ring_stretch {
	uint64_t start_ns;
	VEC(struct account_cpu) lost; /* cpu and lost_records alone: told by records in it */
};

/*
 * `whole` up to `now`, as it is from start_ns on. Texts and lists that are not of the account
 * are shared with `whole`.
 */
void flight_account_stretch(struct recording *out, const struct recording *whole,
                            const struct ring_marks *marks, const struct ring_stretch *stretch,
                            const struct session_status *now);
/* All of it, as it is, but that it ends where records that will come begin. */
void flight_account_all(struct recording *out, const struct recording *whole,
                        const struct session_status *now);
void flight_account_note(struct recording *out, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
void flight_account_done(struct recording *out);

#endif
