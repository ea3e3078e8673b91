/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_moments: the samples of a selection in the order of time, for formats that contain the
 * time of each sample. A moment refers to the row of a symbolized profile that contains it.
 *
 * The profile has a time axis (load_options.time_axis), and named_of_samples() filled `rows`. Times
 * are those of the axis: rounded down to time_axis_step_ns(). Samples of different recordings are
 * not mixed: each recording's are together, in the order of the recordings. After
 * sample_moments_init_mixed() all are in one order, and their times are since 1970 if there are
 * several recordings. `rows` must exist as long as the moments do.
 *
 * sample_moments_init(); sample_moments_next() until it returns false; sample_moments_done().
 * Nothing is stored for each sample. One thread. Uses: base, profile.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SAMPLE_MOMENTS_H
#define ASSAY_VIEW_SYMBOLIZED_SAMPLE_MOMENTS_H

#include "profile/profile.h"

struct sample_moment {
	uint64_t time_ns; /* time by the recording's clock */
	uint64_t samples; /* more than 1 if their order is not known */
	uint64_t weight;  /* weight of all these samples */
	uint32_t row;     /* in symbolized_profile.rows */
	uint32_t recording;
	uint16_t cpu; /* or PROFILE_CPU_UNKNOWN */
	uint8_t mode; /* enum profile_mode */
};

struct moment_track {
	struct time_cursor cursor;
	struct time_entry entry;
	uint32_t track;
	uint32_t order;     /* tracks of a lower number come first */
	uint64_t offset_ns; /* added to its times */
};

struct sample_moments {
	const struct profile *profile;
	const uint32_t *rows;
	VEC(struct moment_track) tracks; /* a heap by time */
};

/* `rows`: for each row of the profile its row in the symbolized profile; NAMED_NONE: not selected.
 */
void sample_moments_init(struct sample_moments *m, const struct profile *p, const uint32_t *rows);
void sample_moments_init_mixed(struct sample_moments *m, const struct profile *p,
                               const uint32_t *rows);
bool sample_moments_next(struct sample_moments *m, struct sample_moment *moment);
void sample_moments_done(struct sample_moments *m);

/* The time that mixed moments are in. */
struct moment_axis {
	uint64_t begin_ns, end_ns; /* as the times of mixed moments */
	uint64_t wall_ns;          /* begin_ns since 1970; 0: unknown */
	uint64_t step_ns;          /* of the axis */
	uint64_t window_ns;        /* moments are sums of up to this time; 0: they are not */
	size_t recordings;
};

/* The end is the begin if the time of the recordings is unknown. */
struct moment_axis moment_axis_of(const struct profile *p);

#endif
