/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_load_named.h"

#include "cmd/load/load_symbolized.h"
#include "view/diff/diff_sources.h"
#include "view/symbolized/symbolized.h"
#include "view/symbolized/symbolized_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_pprof(struct diff_runs *t, uint32_t run, const struct symbolized_profile *n,
                      double *wall_s)
{
	const struct named_value *value = &n->values[n->main_value];
	double ns = named_value_ns(value);
	int counts = ns > 0 ? load_symbolized_counts(n) : -1;
	double unit = ns > 0 ? ns : pow(10, -(double)named_decimals(value));

	*wall_s = (double)n->duration_ns / 1e9;
	t->exact |= counts < 0;
	if (!(ns > 0))
		t->value_unit = !strcmp(value->unit, "bytes") ? "bytes" : "count";
	diff_add_symbolized(t, run, n, n->main_value, counts, unit);
}

int diff_load_named(struct diff_runs *t, uint32_t run, enum load_kind kind, const char *path,
                    const struct load_options *load, const char *value, double *wall_s,
                    struct error *err)
{
	char *words[] = {(char *)(uintptr_t)path};
	struct load_options one = *load;
	struct symbolized_profile n;
	int ret;

	one.arguments = words;
	one.argument_count = 1;
	symbolized_profile_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	n.wanted = value;
	ret = load_symbolized(&n, kind, &one, err);
	if (!ret && kind == LOAD_PPROF) {
		add_pprof(t, run, &n, wall_s);
	} else if (!ret) {
		t->exact = true;
		diff_add_symbolized(t, run, &n, NAMED_NET, NAMED_CALLS, 1);
		diff_add_missing(t, run, (double)n.missing_ns);
	}
	symbolized_profile_done(&n);
	return ret;
}
