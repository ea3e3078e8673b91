/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_fail.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "base/text/spelling.h"
#include "view/diff/document/diff_document.h"
#include "view/diff/document/diff_measures.h"
#include "view/diff/document/diff_rows.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int diff_condition_parse(const char *text, struct diff_condition *c, struct error *err)
{
	const char *sign = strrchr(text, '>'), *end = sign;
	double percent;
	char *rest;

	while (isspace((unsigned char)*text))
		text++;
	while (end && end > text && isspace((unsigned char)end[-1]))
		end--;
	percent = sign ? strtod(sign + 1, &rest) : 0;
	if (sign)
		rest += strspn(rest, " ");
	if (!sign || end == text || rest == sign + 1 || (*rest && strcmp(rest, "%") != 0) ||
	    !(percent >= 0 && percent < 1e6))
		return error_set(err, EINVAL,
		                 "--fail-if '%s' is no condition: 'regression > 2%%' is about the "
		                 "whole, 'function > 10%%' about any function, 'NAME > 5%%' about "
		                 "one, 'wall > 5%%' about wall time",
		                 text);
	c->what = xstrndup(text, (size_t)(end - text));
	c->beyond = percent / 100;
	return 0;
}

static int judge(const struct diff_estimate *e, double beyond)
{
	if (e->low > 1 + beyond)
		return DIFF_FAILED;
	return e->high <= 1 + beyond ? DIFF_PASSED : DIFF_UNSURE;
}

static const char *function_of(const struct diff *d, const struct diff_change *change)
{
	return change->row == ID_NONE
	               ? "[others]"
	               : intern_text(&d->runs->texts, d->runs->rows.items[change->row].function);
}

static int unknown_name(const struct diff_runs *runs, const char *name, struct error *err)
{
	const char *row = diff_row_noun(runs, false), *nearest;
	VEC(const char *) words = {0};

	vec_push(&words, "regression");
	vec_push(&words, row);
	for (int i = 0; i < DIFF_MEASURES; i++)
		vec_push(&words, diff_measure_word((enum diff_measure)i));
	vec_each (named, &runs->rows)
		vec_push(&words, intern_text(&runs->texts, named->function));
	nearest = spelling_nearest(name, words.items, words.count);
	vec_done(&words);
	if (nearest)
		return error_set(err, ENOENT,
		                 "--fail-if: no %s has the name %s; did you mean '%s'?", row, name,
		                 nearest);
	return error_set(err, ENOENT, "--fail-if: no %s has the name %s", row, name);
}

/* A row with samples, perhaps too few for a test. */
static bool has_row(const struct diff_runs *runs, const char *name)
{
	vec_each (row, &runs->rows)
		if (!strcmp(intern_text(&runs->texts, row->function), name))
			return true;
	return false;
}

/* The measure of the condition; a function of the same name is one if the runs have no measures. */
static enum diff_measure measure_of(const struct diff_condition *c, const struct diff_runs *runs)
{
	if (!diff_runs_measured(runs) && has_row(runs, c->what))
		return DIFF_MEASURES;
	return diff_measure_of(c->what);
}

int diff_condition_known(const struct diff_condition *c, const struct diff_runs *runs,
                         struct error *err)
{
	enum diff_measure measure = measure_of(c, runs);

	if (!strcmp(c->what, "regression") || !strcmp(c->what, diff_row_noun(runs, false)))
		return 0;
	if (measure != DIFF_MEASURES && !diff_runs_measured(runs))
		return error_set(err, ENOENT,
		                 "--fail-if: the %s is known only if all runs are recordings of "
		                 "commands from their beginning to their end",
		                 diff_measure_name(measure));
	return measure != DIFF_MEASURES || has_row(runs, c->what)
	               ? 0
	               : unknown_name(runs, c->what, err);
}

static int check_measure(const struct diff_condition *c, const struct diff *d,
                         enum diff_measure measure, struct buf *text)
{
	struct diff_measure_change all[DIFF_MEASURES];
	const struct diff_measure_change *m = &all[measure];
	struct diff_estimate e;
	int status;

	diff_measures(d, all);
	e = (struct diff_estimate){
	        .ratio = 1 + m->change, .low = fmax(0, 1 + m->low), .high = fmax(0, 1 + m->high)};
	status = isnan(m->low) ? DIFF_UNSURE : judge(&e, c->beyond);
	diff_condition_reason(c, diff_measure_name(measure), isnan(m->low) ? NULL : &e, status,
	                      text);
	if (isnan(m->low))
		buf_puts(text, ": an interval needs two runs or more on each side, and a mean of A "
		               "above 0");
	return status;
}

/* The largest of all functions, or of the functions with a name. */
static int check_functions(const struct diff_condition *c, const struct diff *d, bool named,
                           const struct diff_change **worst)
{
	int status = DIFF_PASSED;
	bool found = false;

	vec_each (change, &d->changes) {
		int one;

		if (named && strcmp(function_of(d, change), c->what) != 0)
			continue;
		found = true;
		if (!named && !diff_is_change(&change->e))
			continue;
		if (!named && diff_is_moved(change))
			continue;
		one = judge(&change->e, c->beyond);
		if (!*worst || one == DIFF_FAILED || (one == DIFF_UNSURE && status == DIFF_PASSED))
			*worst = change;
		status = status == DIFF_FAILED || one == DIFF_PASSED ? status : one;
	}
	if (named && !found)
		return DIFF_UNSURE;
	if (!named && status == DIFF_PASSED && !(d->smallest_change <= c->beyond))
		status = DIFF_UNSURE;
	return status;
}

void diff_condition_reason(const struct diff_condition *c, const char *what,
                           const struct diff_estimate *e, int status, struct buf *out)
{
	static const char *const words[] = {[DIFF_PASSED] = "is within",
	                                    [DIFF_FAILED] = "is beyond",
	                                    [DIFF_UNSURE] = "may be beyond"};

	buf_addf(out, "%s %s ", what, words[status]);
	diff_ratio_text(1 + c->beyond, out);
	if (e) {
		buf_puts(out, ": interval ");
		diff_interval_text(e, out);
	}
}

void diff_condition_check(const struct diff_condition *c, const struct diff *d, int *status,
                          char **reason)
{
	const struct diff_change *worst = NULL;
	struct buf text = {0};
	bool any = !strcmp(c->what, diff_row_noun(d->runs, false));
	enum diff_measure measure = measure_of(c, d->runs);
	const char *what = c->what;

	if (!strcmp(c->what, "regression")) {
		*status = judge(&d->whole, c->beyond);
		diff_condition_reason(c, "the whole", &d->whole, *status, &text);
	} else if (!any && measure != DIFF_MEASURES) {
		*status = check_measure(c, d, measure, &text);
	} else {
		*status = check_functions(c, d, !any, &worst);
		if (any)
			what = d->runs->waits    ? "each listed cause"
			       : d->runs->groups ? "each listed group"
			                         : "each listed function";
		diff_condition_reason(c, worst ? function_of(d, worst) : what,
		                      worst ? &worst->e : NULL, *status, &text);
		if (!worst && *status == DIFF_UNSURE)
			buf_puts(&text, ": too few samples to exclude it");
	}
	*reason = xstrdup(buf_text(&text));
	buf_done(&text);
}
