/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pyroscope_select: what a request of Pyroscope's query API selects from a store on a server: sums
 * by label and time, and call paths.
 *
 *	pyroscope_series_read(), pyroscope_series_group(), pyroscope_series_done()
 *	pyroscope_paths()
 *
 * Errors: -EINVAL: a selector, label or profile type is wrong; -EOPNOTSUPP: a selection that the
 * store cannot make; those of the store. One thread. Uses: cmd/load, format, store, view.
 */
#ifndef ASSAY_CMD_VIEW_PYROSCOPE_SELECT_H
#define ASSAY_CMD_VIEW_PYROSCOPE_SELECT_H

#include "cmd/load/load.h"
#include "cmd/view/pyroscope_labels.h"
#include "format/pyroscope/querier_request.h"
#include "profile/symbolized_profile.h"
#include "store/store.h"

#define PYROSCOPE_TYPES 2

struct pyroscope_type {
	const char *id, *sample_type, *sample_unit;
	bool time; /* the CPU time, else the number of samples */
};

extern const struct pyroscope_type pyroscope_types[PYROSCOPE_TYPES];

struct pyroscope_point {
	int64_t time_ms; /* the begin of its step */
	double value;
};

struct pyroscope_line {
	pyroscope_label_list labels; /* that were requested, and that the programs have */
	double sum;
	VEC(struct pyroscope_point) points;
};

struct pyroscope_series {
	struct pyroscope_labels labels;
	struct store_sums sums; /* of the labels that are requested */
	uint64_t step_ns;       /* 0: no points */
	bool time;
	bool types[PYROSCOPE_TYPES]; /* that are selected */
	VEC(struct pyroscope_line) lines;
};

/* By the matchers or the selector of the request, and its times. Reads points if it has a step. */
int pyroscope_series_read(struct pyroscope_series *s, const char *store,
                          const struct querier_request *q, struct error *err);
/* Makes the lines, one for each value of the labels of the request, the largest first. */
int pyroscope_series_group(struct pyroscope_series *s, const struct querier_request *q,
                           struct error *err);
void pyroscope_series_done(struct pyroscope_series *s); /* accepts zeros */

/* Fills `n`, which stays empty if nothing is selected. *value: of the profile type. */
int pyroscope_paths(struct symbolized_profile *n, unsigned *value, const char *store,
                    const struct load_options *load, const struct querier_selection *selection,
                    struct error *err);

#endif
