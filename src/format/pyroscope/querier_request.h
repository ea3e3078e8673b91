/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * querier_request: requests of Pyroscope's query API (querier.v1.QuerierService of
 * grafana/pyroscope, api/querier/v1/querier.proto of August 2026), as protobuf or JSON.
 *
 *	querier_method_find("SelectSeries", &method)
 *	querier_request_read(&r, method, json, bytes, size, err)
 *	querier_request_done(&r)	accepts zeros; also after an error
 *
 * The bytes come from a stranger: lengths are checked, texts and lists have limits, and a text with
 * a NUL is refused. Unknown fields are skipped, as both encodings demand. -EINVAL: the sentence has
 * the reason. One thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_PYROSCOPE_QUERIER_REQUEST_H
#define ASSAY_FORMAT_PYROSCOPE_QUERIER_REQUEST_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUERIER_TEXT_MAX 8192
#define QUERIER_TEXTS_MAX 64

enum querier_method {
	QUERIER_PROFILE_TYPES,
	QUERIER_LABEL_NAMES,
	QUERIER_LABEL_VALUES,
	QUERIER_SERIES,
	QUERIER_SELECT_SERIES,
	QUERIER_STACKTRACES,
	QUERIER_PROFILE,
	QUERIER_DIFF,
	QUERIER_METHODS
};

typedef VEC(char *) querier_texts;

/* A side of a comparison, or the only one. Times are ms since 1970; 0: not given. */
struct querier_selection {
	char *type, *selector;
	int64_t start_ms, end_ms;
	int64_t nodes_max;   /* 0: not given */
	int64_t format;      /* QUERIER_FORMAT_ */
	bool other_selector; /* by call sites, profile ids, spans or traces */
};

enum { QUERIER_FORMAT_NONE, QUERIER_FORMAT_FLAMEGRAPH, QUERIER_FORMAT_PPROF = 4 };

struct querier_request {
	enum querier_method method;
	struct querier_selection sides[2]; /* of a diff: left, right; else [0] */
	char *name;                        /* the label whose values are asked for; NULL: none */
	querier_texts matchers;            /* selectors; one of them must hold */
	querier_texts labels;              /* names: of the answer, or to group by */
	double step_s;
	int64_t limit;       /* of series; 0: none */
	int64_t aggregation; /* 0: sum, 1: average */
};

/* False: there is no such method, or it is not supported. */
bool querier_method_find(const char *name, enum querier_method *method);
int querier_request_read(struct querier_request *r, enum querier_method method, bool json,
                         const void *bytes, size_t size, struct error *err);
void querier_request_done(struct querier_request *r);

#endif
