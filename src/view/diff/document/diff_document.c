/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/document/diff_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/diff/document/diff_measures.h"
#include "view/diff/document/diff_notes.h"
#include "view/diff/document/diff_rows.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

static const char *work_of(const struct diff *d)
{
	return d->runs->work_unit ? d->runs->work_unit : "run";
}

static const char *cost_of(const struct diff *d)
{
	if (d->runs->waits)
		return "Time of waiting";
	return d->runs->value_unit ? d->runs->value_unit : "CPU time";
}

/* "a.data", or "a.data and 4 more". */
static void side_text(const struct diff *d, enum diff_side side, struct buf *out)
{
	size_t seen = 0;

	text_counted(out, d->runs->count[side], d->runs->parts ? "part of a range (" : "run (",
	             d->runs->parts ? "parts of a range (" : "runs (");
	if (d->runs->commands[side]) {
		buf_addf(out, "%s)", d->runs->commands[side]);
		return;
	}
	vec_each (run, &d->runs->runs)
		if (run->side == side && !seen++)
			buf_puts(out, run->name);
	if (seen > 1 && !d->runs->parts)
		buf_addf(out, " and %zu more", seen - 1);
	buf_putc(out, ')');
}

static void interval_text(const struct diff_estimate *e, const char *confidence, struct buf *out)
{
	buf_addf(out, " (%s interval ", confidence);
	diff_interval_text(e, out);
	buf_putc(out, ')');
}

static void value_text(const struct diff *d, double value, struct buf *out)
{
	unit_text_add(diff_value_unit(d), cell_real(value), out);
}

static void whole_text(const struct diff *d, struct buf *out)
{
	const struct diff_estimate *e = &d->whole;

	buf_addf(out, "%s per %s ", cost_of(d), work_of(d));
	if (!(e->before > 0) || !(e->after > 0)) {
		buf_addf(out, "cannot be compared: one side has no %s",
		         d->runs->waits ? "waits" : "samples");
		buf_puts(out, d->runs->commands[DIFF_A] && !d->runs->waits ? " (-F HZ takes more). "
		                                                           : ". ");
		return;
	}
	if (d->untested)
		buf_puts(out, "of all threads together: ");
	else if (e->verdict == DIFF_SAME)
		buf_puts(out, "shows no change of the whole: ");
	else
		buf_addf(out, "of the whole is %s in B: ", e->ratio > 1 ? "higher" : "lower");
	value_text(d, e->before, out);
	buf_puts(out, ", then ");
	value_text(d, e->after, out);
	buf_puts(out, ", ");
	diff_ratio_text(e->ratio, out);
	if (!d->untested)
		interval_text(e, "99 %", out);
	buf_puts(out, ". ");
}

static void counts_text(const struct diff *d, struct buf *out)
{
	size_t changed = diff_rows_count(d, DIFF_LIST_CHANGED),
	       made = diff_rows_count(d, DIFF_LIST_NEW);
	size_t gone = diff_rows_count(d, DIFF_LIST_GONE),
	       moved = diff_rows_count(d, DIFF_LIST_MOVED);
	const char *noun = diff_row_noun(d->runs, false), *nouns = diff_row_noun(d->runs, true);

	if (d->untested)
		return;
	if (!d->tested) {
		buf_addf(out, "No %s has enough samples for a test. ", noun);
		return;
	}
	if (!(changed + made + gone + moved)) {
		text_counted(out, d->tested, noun, nouns);
		buf_addf(out, " %s tested, and none shows a change. ",
		         plural(d->tested, "was", "were"));
		return;
	}
	buf_puts(out, "Of ");
	text_counted(out, d->tested, "tested ", "tested ");
	buf_puts(out, plural(d->tested, noun, nouns));
	buf_addf(out, " %zu changed, %zu moved, %zu %s new, %zu %s gone. ", changed, moved, made,
	         plural(made, "is", "are"), gone, plural(gone, "is", "are"));
}

static void smallest_text(const struct diff *d, struct buf *out)
{
	if (isnan(d->smallest_change) || d->smallest_change > 1e3)
		return;
	buf_puts(out, "The smallest change that 4 of 5 such comparisons show: ");
	diff_ratio_text(1 + d->smallest_change, out);
	buf_addf(out, " of a %s with ", diff_row_noun(d->runs, false));
	text_share(out, d->smallest_share);
	buf_puts(out, " of the time");
	if (!isnan(d->smallest_whole) && d->smallest_whole < 1e3) {
		buf_puts(out, ", ");
		diff_ratio_text(1 + d->smallest_whole, out);
		buf_puts(out, " of the whole");
	}
	buf_putc(out, '.');
}

static void strength_text(const struct diff *d, struct buf *out)
{
	if (d->untested) {
		buf_puts(out, "The differences are those of the recordings, and not tested: two "
		              "runs of one program wait for different times, and one run on a "
		              "side does not show by how much. Give three runs or more on each "
		              "side. ");
		return;
	}
	if (d->strength == DIFF_INDICATION)
		buf_puts(out, "An indication: two runs on a side. With three runs or more on each "
		              "side the scatter between runs is known. ");
	if (d->strength == DIFF_RECORDINGS && d->runs->parts)
		buf_puts(out, "A listed change is a difference of the two ranges: of the work, not "
		              "necessarily of the programs. ");
	else if (d->strength == DIFF_RECORDINGS)
		buf_puts(
		        out,
		        "A listed change is a difference of the recordings, not necessarily of the "
		        "programs: one run on a side does not show the scatter between runs. ");
}

static void known_real(struct document *out, const char *key, double value)
{
	if (isfinite(value))
		document_real(out, key, value);
	else
		document_null(out, key);
}

static void add_estimate(struct document *out, const char *key, const struct diff_estimate *e)
{
	bool known = e->before > 0 && e->after > 0;

	document_object(out, key);
	document_real(out, "before", e->before);
	document_real(out, "after", e->after);
	if (known)
		document_real(out, "change", e->ratio - 1);
	else
		document_null(out, "change");
	known_real(out, "low", known && isfinite(e->high) ? e->low - 1 : NAN);
	known_real(out, "high", known ? e->high - 1 : NAN);
	document_bool(out, "changed", e->verdict == DIFF_CHANGED);
	document_end(out);
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void add_side(struct document *out, const struct diff *d, const char *key,
                     enum diff_side side)
{
	document_array(out, key);
	vec_each (run, &d->runs->runs)
		if (run->side == side) {
			document_object(out, NULL);
			document_string(out, "path", run->name);
			document_real(out, "work", run->work);
			document_int(out, "lost_records", (int64_t)run->defects.lost_records);
			document_known(out, "exit_status", shell_status(run->defects.exit_status),
			               run->defects.exit_status >= 0);
			document_bool(out, "cut_short", run->defects.cut_short);
			document_int(out, "missing_ns", (int64_t)run->defects.missing_ns);
			document_end(out);
		}
	document_end(out);
}

static void add_facts(struct document *out, const struct diff *d)
{
	static const char *const strengths[] = {"strong", "indication", "recordings"};
	static const char *const classes[] = {"user", "kernel", "irq"};

	document_string(out, "kind", "diff");
	document_string_or_null(out, "command_before", d->runs->commands[DIFF_A]);
	document_string_or_null(out, "command_after", d->runs->commands[DIFF_B]);
	document_string_or_null(out, "ended", d->runs->ended);
	add_side(out, d, "before", DIFF_A);
	add_side(out, d, "after", DIFF_B);
	document_string(out, "work", work_of(d));
	document_string(out, "unit", d->runs->value_unit ? d->runs->value_unit : "ns");
	document_string(out, "strength", strengths[d->strength]);
	document_bool(out, "waits", d->runs->waits);
	document_bool(out, "paired", d->paired);
	document_int(out, "tested", (int64_t)d->tested);
	add_estimate(out, "whole", &d->whole);
	known_real(out, "smallest_change", d->smallest_change);
	known_real(out, "smallest_change_share", d->smallest_share);
	known_real(out, "smallest_change_whole", d->smallest_whole);
	document_object(out, "dispersion");
	for (int i = 0; i < DIFF_CLASSES; i++)
		known_real(out, classes[i], d->class_dispersion[i]);
	document_end(out);
}

static void summary(struct document *out, const struct diff *d)
{
	struct buf text = {0};

	side_text(d, DIFF_A, &text);
	document_line(out, "A", buf_text(&text));
	buf_clear(&text);
	side_text(d, DIFF_B, &text);
	document_line(out, "B", buf_text(&text));
	buf_clear(&text);
	whole_text(d, &text);
	counts_text(d, &text);
	strength_text(d, &text);
	smallest_text(d, &text);
	document_text(out, "Summary", buf_text(&text));
	buf_done(&text);
}

/* "Changed functions" */
static void add_list(struct document *out, const struct diff *d, enum diff_list list,
                     const char *what, const char *key, const struct document_reader *reader,
                     const struct row_request *q)
{
	struct buf title = {0};

	buf_addf(&title, "%s %s", what, diff_row_noun(d->runs, true));
	diff_rows_table(out, d, list, buf_text(&title), key, reader, q);
	buf_done(&title);
}

void diff_document(struct document *out, const struct diff *d, const struct document_reader *reader,
                   const struct row_request *q)
{
	bool waits = d->runs->waits;

	add_facts(out, d);
	summary(out, d);
	diff_measures_table(out, d);
	add_list(out, d, DIFF_LIST_CHANGED, "Changed", "changes", reader, q);
	diff_rows_table(out, d, DIFF_LIST_MOVED,
	                waits ? "Moved between causes, in sum unchanged"
	                      : "Moved between functions, in sum unchanged",
	                "moved", reader, q);
	add_list(out, d, DIFF_LIST_NEW, "New", "new", reader, q);
	add_list(out, d, DIFF_LIST_GONE, "Gone", "gone", reader, q);
	diff_rows_table(out, d, DIFF_LIST_PATHS,
	                waits ? "Call paths of these causes" : "Call paths in these functions",
	                "paths", reader, q);
	if (reader->program)
		diff_rows_table(out, d, DIFF_LIST_ALL, NULL, "rows", reader,
		                &(struct row_request){.by = q->by, .by_count = q->by_count});
	else if (d->untested)
		diff_rows_table(out, d, DIFF_LIST_ALL, "Causes by the difference", "rows", reader,
		                q);
	diff_notes(out, d);
}
