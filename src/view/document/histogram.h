/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram: the table of a distribution: ranges with their counts, shares and bars. The
 * longest bar belongs to the largest count.
 *
 * Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DOCUMENT_HISTOGRAM_H
#define ASSAY_VIEW_DOCUMENT_HISTOGRAM_H

#include "view/document/document.h"

struct histogram_step {
	uint64_t from, to; /* [from, to) */
	uint64_t count;
	uint64_t marked; /* part of the count */
};

typedef VEC(struct histogram_step) histogram_steps;

/* The titles and units of the columns. */
struct histogram_form {
	const char *from, *to, *count, *share;
	const struct unit *bound_unit, *count_unit, *share_unit;
	const char *marked; /* NULL: there is no such column */
	const char *marked_key;
};

/* Takes ownership of the steps. With a key, programs get "from_ns", "to_ns" and "count" of each
 * step. */
void document_histogram(struct document *d, const char *key, const struct histogram_form *form,
                        histogram_steps *steps);

#endif
