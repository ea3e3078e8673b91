/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint_fields: the values of the fields of a sample as texts, for the rows of a profile.
 *
 * Numbers are decimal, or hexadecimal if the kernel prints the field so; texts are as they are;
 * arrays of bytes are hexadecimal. Nothing fails. Uses: base, event, profile.
 */
#ifndef ASSAY_FORMAT_PERF_TRACEPOINT_FIELDS_H
#define ASSAY_FORMAT_PERF_TRACEPOINT_FIELDS_H

#include "event/event.h"
#include "event/recording.h"
#include "profile/sample_fields.h"

/* The combination of the chosen fields' values; ID_NONE: the sample has no fields. */
uint32_t tracepoint_fields_of(struct sample_fields *f, const struct recording *r,
                              const struct event *e);

#endif
