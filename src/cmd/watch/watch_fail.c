/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/watch/watch_fail.h"

#include "base/memory/xalloc.h"
#include "base/memory/vec.h"
#include "base/text/spelling.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *function_of(const struct watch *w, uint32_t series)
{
	return intern_text(&w->texts, w->series.items[series].function);
}

static bool is_any(const struct diff_condition *c)
{
	return !strcmp(c->what, "regression") || !strcmp(c->what, "function");
}

/* Whether the search tested a function with this name. */
static bool is_tested(const struct watch *w, const char *name)
{
	for (uint32_t i = 0; i < w->series.count; i++)
		if (!w->series.items[i].pooled && !strcmp(function_of(w, i), name))
			return true;
	return false;
}

int watch_condition_known(const struct diff_condition *c, const struct watch *w, struct error *err)
{
	VEC(const char *) names = {0};
	const char *nearest;
	bool found = is_any(c);

	vec_push(&names, "regression");
	for (uint32_t i = 0; i < w->series.count; i++) {
		vec_push(&names, function_of(w, i));
		found |= !strcmp(function_of(w, i), c->what);
	}
	nearest = spelling_nearest(c->what, names.items, names.count);
	vec_done(&names);
	if (found)
		return 0;
	if (nearest)
		return error_set(err, ENOENT,
		                 "--fail-if: no function has the name %s; did you mean '%s'?",
		                 c->what, nearest);
	return error_set(err, ENOENT, "--fail-if: no function has the name %s", c->what);
}

/* A change that is beyond the limit, or else one that may be. NULL: there is none. */
static const struct watch_change *worst_of(const struct diff_condition *c, const struct watch *w,
                                           bool any)
{
	const struct watch_change *worst = NULL;

	vec_each (change, &w->changes) {
		if ((change->verdict != WATCH_REGRESSION && change->verdict != WATCH_NEW) ||
		    (!any && strcmp(function_of(w, change->series), c->what) != 0))
			continue;
		if (change->high > 1 + c->beyond && (!worst || change->low > worst->low))
			worst = change;
	}
	return worst;
}

/* Whether the search finds a function that costs more by `beyond`, and lists it. */
static bool can_exclude(const struct watch *w, double beyond)
{
	return w->observed >= WATCH_POINTS_LEAST && w->how.least <= beyond &&
	       (w->smallest <= beyond || isinf(beyond));
}

void watch_condition_check(const struct diff_condition *c, const struct watch *w, int *status,
                           char **reason)
{
	bool any = is_any(c);
	const struct watch_change *worst = worst_of(c, w, any);
	struct diff_estimate e = {0};
	struct buf text = {0};
	bool tested = any || is_tested(w, c->what);

	*status = DIFF_PASSED;
	if (worst) {
		e = (struct diff_estimate){
		        .ratio = worst->ratio, .low = worst->low, .high = worst->high};
		*status = worst->low > 1 + c->beyond ? DIFF_FAILED : DIFF_UNSURE;
	} else if (!tested || !can_exclude(w, any ? c->beyond : INFINITY)) {
		*status = DIFF_UNSURE;
	}
	diff_condition_reason(c,
	                      worst ? function_of(w, worst->series)
	                      : any ? "each function"
	                            : c->what,
	                      worst ? &e : NULL, *status, &text);
	if (!worst)
		buf_puts(&text, *status ? ": too few samples to exclude it"
		                        : ": no such change is listed");
	*reason = xstrdup(buf_text(&text));
	buf_done(&text);
}
