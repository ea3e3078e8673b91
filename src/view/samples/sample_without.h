/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_without: the samples of a report that --without removes.
 *
 * sample_without_new() finds the functions and groups, and adds up their part of the base of
 * shares; sample_is_removed() decides on a path. sample_without_free(). The view and the request
 * must outlive it. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_SAMPLE_WITHOUT_H
#define ASSAY_VIEW_SAMPLES_SAMPLE_WITHOUT_H

#include "view/groups/without.h"
#include "view/view.h"

struct sample_without;

/* *out NULL: the request removes nothing. -ENOENT: no function or group has a name. */
int sample_without_new(struct sample_without **out, struct view *v, const struct report_request *q,
                       const struct selection *s, struct error *err);
void sample_without_free(struct sample_without *w);

/* Whether the samples that were taken in this path are removed. */
bool sample_is_removed(const struct sample_without *w, uint32_t path);

/* The unit of the sums and of the values without the removed functions: times or counts. */
const struct unit *sample_without_unit(const struct sample_without *w);

/* Sums are times if the base has times, else samples. */
const struct without *sample_without_sums(const struct sample_without *w);

#endif
