/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_facts: which facts one recording lacks that others of its kind have, and whether a
 * request needs them.
 *
 * The facts of a kind are known before a file is read; those of a recording depend on how it was
 * made: samples without -g have no call paths. view/symbolized checks pprof profiles itself. Facts
 * are bits of enum recording_fact. Nothing is printed. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_RECORDING_FACTS_H
#define ASSAY_VIEW_RECORDING_FACTS_H

#include "profile/profile.h"
#include "view/request.h"

/* Of the rows of one event. A recording without samples lacks nothing. */
unsigned recording_lacks_samples(const struct profile *p, uint8_t event);

/* "call paths". If `fact` has several bits, the text is of one of them. */
const char *recording_fact_text(unsigned fact);

/* -EINVAL: the request needs a fact that the recording lacks. `recordable`: the message says how to
 * record it. */
int recording_facts_check(const struct report_request *q, unsigned lacks, bool recordable,
                          struct error *err);

#endif
