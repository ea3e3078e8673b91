/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_parts: divides the time of a profile, or of windows of a store, into nearly equal parts.
 *
 * A part consists of whole windows: the parts of one range are the same whether each window is
 * known, or a server made the sums of each part. Parts of a long time begin at full slots of 10
 * minutes, an hour, or two hours, so that a server needs the sums of these slots only
 * (adr/0223). Stateless. Nothing fails. Uses: base.
 */
#ifndef ASSAY_PROFILE_TIME_PARTS_H
#define ASSAY_PROFILE_TIME_PARTS_H

#include "profile/time_axis.h"

struct time_parts {
	uint64_t first_ns, last_ns; /* of entries */
	uint64_t window_ns; /* length of the longest window; 0: samples have times of their own */
	uint64_t slot_ns;   /* parts consist of whole slots; 0: of windows */
	uint64_t windows;   /* number of slots or windows */
};

struct time_parts time_parts_between(uint64_t first_ns, uint64_t last_ns, uint64_t window_ns);
/* From the first to the last entry. */
struct time_parts time_parts_of(const struct time_axis *axis);
/*
 * The number of parts, at most `most`; shares[i] is the share of the time in part i. NULL: not
 * needed.
 */
size_t time_parts_count(const struct time_parts *r, size_t most, double *shares);
/* The part of a time, if there are `parts`. */
size_t time_parts_at(const struct time_parts *r, uint64_t time_ns, size_t parts);

#endif
