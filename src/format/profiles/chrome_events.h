/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chrome_events: the slices of trace events, as they are in the file. Private to format/profiles.
 *
 * chrome_events_read(); chrome_events_done() in any case. Texts of names are in the symbolized
 * profile. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_CHROME_EVENTS_H
#define ASSAY_FORMAT_PROFILES_CHROME_EVENTS_H

#include "base/error.h"
#include "profile/symbolized_profile.h"

struct chrome_event {
	int64_t ns, duration_ns;      /* duration: of X */
	uint32_t track, name, number; /* number: its place in the file */
	char kind;                    /* B, E or X */
};

struct chrome_events {
	struct symbolized_profile *n;
	VEC(struct chrome_event) events;
	VEC(struct named_owner) tracks; /* a process and thread, by the numbers in the file */
	struct path_tree index;         /* tracks by pid and tid: + 1 */
	uint64_t skipped;               /* events of other kinds */
	uint64_t samples;               /* of the array of that name beside the events */
};

int chrome_events_read(struct chrome_events *e, const char *name, const void *bytes, size_t size,
                       struct error *err);
void chrome_events_done(struct chrome_events *e);

#endif
