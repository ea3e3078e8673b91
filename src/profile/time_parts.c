/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/time_parts.h"

#include <math.h>

struct time_parts time_parts_between(uint64_t first_ns, uint64_t last_ns, uint64_t window_ns)
{
	struct time_parts r = {.first_ns = first_ns, .last_ns = last_ns};

	if (r.first_ns > r.last_ns)
		r.first_ns = r.last_ns;
	if (window_ns)
		r.windows = (r.last_ns - r.first_ns + window_ns / 2) / window_ns + 1;
	return r;
}

struct time_parts time_parts_of(const struct time_axis *axis)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	struct time_cursor c;
	struct time_entry e;

	for (size_t i = 0; i < axis->tracks.count; i++)
		for (time_axis_seek(&c, axis, (uint32_t)i, 0); time_axis_next(&c, &e);) {
			first_ns = e.time_ns < first_ns ? e.time_ns : first_ns;
			last_ns = e.time_ns > last_ns ? e.time_ns : last_ns;
		}
	return time_parts_between(first_ns, last_ns, axis->window_ns);
}

/* Windows are divided among the parts; the last part gets the rest. */
size_t time_parts_at(const struct time_parts *r, uint64_t time_ns, size_t parts)
{
	uint64_t at = time_ns - r->first_ns, length = r->last_ns - r->first_ns + 1;
	double part = (double)at / (double)length * (double)parts;

	if (r->windows) {
		double window = (double)at / (double)length * (double)r->windows;

		part = floor(window + 1e-9) / (double)(r->windows / parts);
	}
	return part < (double)parts ? (size_t)part : parts - 1;
}

size_t time_parts_count(const struct time_parts *r, size_t most, double *shares)
{
	uint64_t each = r->windows / most + (r->windows % most != 0);
	size_t parts = r->windows ? r->windows / each : most;

	each = r->windows / parts;
	for (size_t i = 0; shares && i < parts; i++)
		shares[i] = r->windows ? (double)each / (double)r->windows : 1 / (double)parts;
	if (shares && r->windows)
		shares[parts - 1] = (double)(r->windows - each * (parts - 1)) / (double)r->windows;
	return parts;
}
