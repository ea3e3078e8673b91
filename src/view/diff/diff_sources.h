/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_sources: puts profiles of any kind into the tables of a comparison.
 *
 * Files are matched by their names without directories and versions ("libssl.so" of
 * "/usr/lib/libssl.so.3"), so that rows of different builds and machines are the same. Rows contain
 * names without addresses. Nothing fails. Uses: profile, symbol, view.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_SOURCES_H
#define ASSAY_VIEW_DIFF_DIFF_SOURCES_H

#include "profile/symbolized_profile.h"
#include "view/diff/diff_runs.h"
#include "view/filter.h"

/* The selected samples; idle time is left out. `windows`: the profile has a time axis. */
void diff_add_samples(struct diff_runs *t, uint32_t run, struct view *v, const struct selection *s,
                      bool windows);

/*
 * The same as several runs from `first` on, which the caller adds. Each run is an equal part of the
 * time of a profile with a time axis, and consists of whole windows. diff_parts() returns the
 * number of parts, at most `most`; shares[i] is the share of the time in part i.
 */
size_t diff_parts(const struct profile *p, size_t most, double *shares);
void diff_add_parts(struct diff_runs *t, uint32_t first, size_t parts, struct view *v,
                    const struct selection *s);

/* Named call paths. `value`: its column with the time or other cost; `counts`: with the number of
 * samples, or -1. `cost_ns`: ns in a unit of the value, 1 if it is not a time. */
void diff_add_symbolized(struct diff_runs *t, uint32_t run, const struct symbolized_profile *n,
                         unsigned value, int counts, double cost_ns);
/* The run has time of which no function is known: it may belong to any row. */
void diff_add_missing(struct diff_runs *t, uint32_t run, double ns);

/* A file without directories and version. */
void diff_image_text(const char *path, struct buf *out);

#endif
