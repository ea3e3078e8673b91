/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/summary/summary.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/shell_word.h"
#include "view/document/grid.h"
#include "view/summary/findings.h"

#include <math.h>
#include <string.h>

/* Readers do not get parts that would be printed as "0.0 %". */
#define PART_SHOWN 0.0005

void summary_init(struct summary *s, const struct document_reader *reader, const struct unit *unit,
                  const char *unit_name)
{
	*s = (struct summary){.reader = reader, .unit = unit, .unit_name = unit_name};
}

void summary_done(struct summary *s)
{
	vec_each (process, &s->processes)
		free(process->name);
	vec_each (reason, &s->reasons) {
		free(reason->process);
		free(reason->image);
		free(reason->function);
	}
	vec_each (limit, &s->limits)
		free(limit->text);
	vec_each (step, &s->steps) {
		free(step->command);
		free(step->why);
	}
	vec_done(&s->parts);
	vec_done(&s->processes);
	vec_done(&s->reasons);
	vec_done(&s->limits);
	vec_done(&s->steps);
	buf_done(&s->recorded);
}

void summary_part(struct summary *s, const char *key, const char *name, struct cell value,
                  double share)
{
	vec_push(&s->parts, (struct summary_part){key, name, value, share});
}

void summary_process(struct summary *s, const char *name, double share)
{
	vec_push(&s->processes, (struct summary_process){xstrdup(name), share});
}

struct summary_reason *summary_reason(struct summary *s, double share)
{
	struct summary_reason *reason = vec_add(&s->reasons);

	*reason = (struct summary_reason){.share = share, .low = NAN, .high = NAN};
	return reason;
}

void summary_limit(struct summary *s, const char *key, double value, const char *fmt, ...)
{
	struct summary_limit limit = {.key = key, .value = value};
	va_list ap;

	va_start(ap, fmt);
	limit.text = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(&s->limits, limit);
}

void summary_limit_count(struct summary *s, const char *key, uint64_t count, const char *one,
                         const char *many)
{
	struct buf text = {0};

	text_counted(&text, count, one, many);
	summary_limit(s, key, (double)count, "%s", buf_text(&text));
	buf_done(&text);
}

void summary_next(struct summary *s, const char *command, const char *argument, const char *fmt,
                  ...)
{
	struct buf text = {0};
	struct summary_step step;
	va_list ap;

	buf_addf(&text, "assay %s", command);
	if (argument) {
		buf_putc(&text, ' ');
		shell_word_add(&text, argument);
	}
	buf_puts(&text, s->reader->words ? s->reader->words : "");
	step.command = xstrdup(buf_text(&text));
	va_start(ap, fmt);
	step.why = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(&s->steps, step);
	buf_done(&text);
}

void summary_elsewhere(struct summary *s, const char *command, const char *why)
{
	vec_push(&s->steps, (struct summary_step){xasprintf("assay %s", command), xstrdup(why)});
}

size_t summary_largest(size_t count, double (*value)(const void *model, size_t row),
                       const void *model, size_t largest[SUMMARY_REASONS])
{
	double values[SUMMARY_REASONS];
	size_t found = 0;

	for (size_t row = 0; row < count; row++) {
		double v = value(model, row);
		size_t at = found;

		if (!(v > 0))
			continue;
		while (at && values[at - 1] < v)
			at--;
		if (at == SUMMARY_REASONS)
			continue;
		found += found < SUMMARY_REASONS;
		for (size_t i = found - 1; i > at; i--) {
			values[i] = values[i - 1];
			largest[i] = largest[i - 1];
		}
		values[at] = v;
		largest[at] = row;
	}
	return found;
}

static void known_cell(struct document *d, const char *key, struct cell cell)
{
	if (cell.kind == CELL_REAL)
		document_real(d, key, cell.d);
	else
		document_known(d, key, cell.i, cell.kind == CELL_INT);
}

static void programs_reasons(const struct summary *s, struct document *d)
{
	document_array(d, "reasons");
	vec_each (reason, &s->reasons) {
		document_object(d, NULL);
		document_string(d, "process", reason->process);
		document_string(d, "image", reason->image);
		document_string(d, "function", reason->function);
		known_cell(d, "value", reason->value);
		document_real(d, "share", reason->share);
		document_real(d, "low", reason->low);
		document_real(d, "high", reason->high);
		document_end(d);
	}
	document_end(d);
}

static void programs(const struct summary *s, struct document *d)
{
	document_object(d, "summary");
	document_string(d, "unit", s->unit_name);
	known_cell(d, "whole", s->whole);
	document_array(d, "parts");
	vec_each (part, &s->parts) {
		document_object(d, NULL);
		document_string(d, "name", part->key);
		known_cell(d, "value", part->value);
		document_real(d, "share", part->share);
		document_end(d);
	}
	document_end(d);
	document_array(d, "processes");
	vec_each (process, &s->processes) {
		document_object(d, NULL);
		document_string(d, "name", process->name);
		document_real(d, "share", process->share);
		document_end(d);
	}
	document_end(d);
	programs_reasons(s, d);
	document_array(d, "limits");
	vec_each (limit, &s->limits) {
		document_object(d, NULL);
		document_string(d, "name", limit->key);
		document_real(d, "value", limit->value);
		document_end(d);
	}
	document_end(d);
	document_array(d, "next");
	vec_each (step, &s->steps)
		document_string(d, NULL, step->command);
	document_end(d);
	document_end(d);
}

/* The index of the largest part that is not in the text yet; the number of parts if all are. */
static size_t largest_part(const struct summary *s, const bool *told)
{
	size_t most = s->parts.count;

	for (size_t i = 0; i < s->parts.count; i++)
		if (!told[i] && fabs(s->parts.items[i].share) >= PART_SHOWN &&
		    (most == s->parts.count ||
		     s->parts.items[i].share > s->parts.items[most].share))
			most = i;
	return most;
}

/* "20.04 s: idle 48.2 %, user 38.1 %", the largest first; nothing if no part is known. */
static void parts(const struct summary *s, struct document *d)
{
	bool *told = xcalloc(s->parts.count + 1, sizeof(*told));
	struct buf text = {0};
	size_t i, count = 0;

	if (s->whole.kind != CELL_NONE)
		unit_text_add(s->unit, s->whole, &text);
	while ((i = largest_part(s, told)) < s->parts.count) {
		told[i] = true;
		buf_addf(&text, "%s%s ",
		         count++     ? ", "
		         : text.size ? ": "
		                     : "",
		         s->parts.items[i].name);
		text_share(&text, s->parts.items[i].share);
	}
	if (count)
		document_line(d, s->parts_label ? s->parts_label : "time", buf_text(&text));
	buf_done(&text);
	free(told);
}

static void processes(const struct summary *s, struct document *d)
{
	struct buf text = {0};

	vec_each (process, &s->processes) {
		buf_addf(&text, "%s%s ", text.size ? ", " : "", process->name);
		text_share(&text, process->share);
	}
	document_line(d, "processes", buf_text(&text));
	buf_done(&text);
}

/* The columns that at least one reason has. */
enum reason_column {
	COLUMN_SHARE,
	COLUMN_INTERVAL,
	COLUMN_VALUE,
	COLUMN_PROCESS,
	COLUMN_IMAGE,
	COLUMN_FUNCTION
};

static bool has_column(const struct summary_reason *r, enum reason_column column)
{
	switch (column) {
	case COLUMN_INTERVAL:
		return !isnan(r->low);
	case COLUMN_VALUE:
		return r->value.kind != CELL_NONE;
	case COLUMN_PROCESS:
		return r->process != NULL;
	case COLUMN_IMAGE:
		return r->image != NULL;
	default:
		return true;
	}
}

static void reason_cell(const struct summary_reason *r, enum reason_column column, struct grid *g)
{
	switch (column) {
	case COLUMN_SHARE:
		grid_add(g, cell_real(r->share));
		break;
	case COLUMN_INTERVAL:
		if (isnan(r->low))
			grid_add(g, cell_none());
		else
			grid_addf(g, "%.1f to %.1f %%", 100 * r->low, 100 * r->high);
		break;
	case COLUMN_VALUE:
		grid_add(g, r->value);
		break;
	case COLUMN_PROCESS:
		grid_add(g, r->process ? cell_text(r->process) : cell_none());
		break;
	case COLUMN_IMAGE:
		grid_add(g, r->image ? cell_text(r->image) : cell_none());
		break;
	case COLUMN_FUNCTION:
		grid_add(g, cell_text(r->function ? r->function : ""));
		break;
	}
}

static void reasons(const struct summary *s, struct document *d)
{
	const struct grid_column all[] = {
	        [COLUMN_SHARE] = {s->share_title ? s->share_title : "share", &unit_share, false},
	        [COLUMN_INTERVAL] = {"95 % interval", &unit_number, false},
	        [COLUMN_VALUE] = {s->value_title ? s->value_title : "value", s->unit, false},
	        [COLUMN_PROCESS] = {"process", &unit_text, false},
	        [COLUMN_IMAGE] = {"image", &unit_text, false},
	        [COLUMN_FUNCTION] = {"function", &unit_text, false},
	};
	struct grid_column columns[COLUMN_FUNCTION + 1];
	enum reason_column which[COLUMN_FUNCTION + 1];
	size_t count = 0;
	struct grid *g;

	if (!s->reasons.count)
		return;
	for (enum reason_column c = 0; c <= COLUMN_FUNCTION; c++) {
		bool used = false;

		vec_each (reason, &s->reasons)
			used |= has_column(reason, c);
		if (!used)
			continue;
		columns[count] = all[c];
		which[count++] = c;
	}
	g = grid_new(columns, count);
	vec_each (reason, &s->reasons) {
		grid_row(g, ROW_ITEM);
		for (size_t i = 0; i < count; i++)
			reason_cell(reason, which[i], g);
	}
	document_grid(d, "", "reasons", g);
	document_heading(d, "%s", "");
}

static void limits(const struct summary *s, struct document *d)
{
	struct buf text = {0};

	vec_each (limit, &s->limits)
		buf_addf(&text, "%s%s", text.size ? "; " : "", limit->text);
	document_line(d, "limits", text.size ? buf_text(&text) : "none known");
	buf_done(&text);
}

/* A command with its purpose as a comment of the shell, so that a whole line can be copied. */
static void steps(const struct summary *s, struct document *d)
{
	const char *label = "next";
	struct buf text = {0};
	size_t width = 0;

	vec_each (step, &s->steps)
		width = strlen(step->command) > width ? strlen(step->command) : width;
	vec_each (step, &s->steps) {
		buf_clear(&text);
		buf_puts(&text, step->command);
		buf_pad(&text, ' ', width - strlen(step->command));
		buf_addf(&text, "  # %s", step->why);
		document_verbatim(d, label, buf_text(&text));
		label = "";
	}
	buf_done(&text);
}

void summary_write(const struct summary *s, struct document *d)
{
	if (s->reader->findings)
		findings_take(s->reader->findings, s);
	if (s->reader->program) {
		programs(s, d);
		return;
	}
	document_heading(d, "%s", "Summary");
	document_line(d, "recorded", buf_text(&s->recorded));
	parts(s, d);
	processes(s, d);
	reasons(s, d);
	limits(s, d);
	steps(s, d);
}
