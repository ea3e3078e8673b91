/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile_document.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"

#include <math.h>
#include <stdlib.h>

/* Narrower terminals have fewer columns. */
enum { ROOM_FEW = 100, ROOM_ALL = 150 };

enum reconcile_figure {
	SHARE,
	MEAN,
	LOW,
	HIGH,
	COUNT,
	FOLDED,
	COST,
	BLOCKED,
	PER_CALL,
	PER_CALL_ERROR,
	DIFFERENCE,
	DIFFERENCE_ERROR,
	OWN,
	CLOCK,
	RESIDUAL,
};

/* The argument of a column: a figure of a side. */
#define OF(side, figure) ((uint32_t)(figure)*RECONCILE_SIDES + (uint32_t)(side))

struct reconcile_table {
	const struct reconcile *r;
	bool processes;
	bool wide;
};

static const struct reconcile_table *table_of(const struct row_source *s)
{
	return s->model;
}

static const struct reconcile_line *line_at(const struct row_source *s, uint32_t row)
{
	const struct reconcile_table *t = table_of(s);

	return t->processes ? &t->r->processes.items[row].line : &t->r->lines.items[row];
}

static const struct reconcile_process *process_at(const struct row_source *s, uint32_t row)
{
	const struct reconcile_table *t = table_of(s);
	uint32_t process;

	if (t->processes)
		return &t->r->processes.items[row];
	process = t->r->runs->rows.items[t->r->lines.items[row].row].process;
	vec_each (p, &t->r->processes)
		if (p->process == process)
			return p;
	return NULL;
}

static double per_call(const struct reconcile_line *line, double ns)
{
	double calls = line->sides[RECONCILE_COUNTED].count;

	return calls > 0 ? ns / calls : NAN;
}

static double share_of(const struct reconcile_process *p, enum reconcile_side side, double ns)
{
	double whole = p->line.sides[side].mean_ns;

	return whole > 0 ? ns / whole : 0;
}

static double figure_of(const struct row_source *s, uint32_t row, uint32_t argument)
{
	enum reconcile_side side = (enum reconcile_side)(argument % RECONCILE_SIDES);
	const struct reconcile_line *line = line_at(s, row);
	const struct reconcile_estimate *e = &line->sides[side];
	const struct reconcile_process *p = process_at(s, row);

	switch ((enum reconcile_figure)(argument / RECONCILE_SIDES)) {
	case SHARE:
		return share_of(p, side, e->mean_ns);
	case MEAN:
		return e->mean_ns;
	case LOW:
		return e->mean_ns - e->half_ns;
	case HIGH:
		return e->mean_ns + e->half_ns;
	case COUNT:
		return e->count;
	case FOLDED:
		return e->folded_ns;
	case COST:
		return e->cost_ns;
	case BLOCKED:
		return e->blocked_ns;
	case PER_CALL:
		return per_call(line, e->mean_ns);
	case PER_CALL_ERROR:
		return per_call(line, e->half_ns);
	case DIFFERENCE:
		return line->difference_ns;
	case DIFFERENCE_ERROR:
		return line->half_ns;
	case OWN:
		return p->own_ns;
	case CLOCK:
		return p->clock_ns;
	case RESIDUAL:
		return p->residual_ns;
	}
	return NAN;
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	double value = figure_of(s, row, c->argument);

	return isfinite(value) ? cell_real(value) : cell_none();
}

static struct cell count_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return cell_int(llrint(figure_of(s, row, c->argument)));
}

/* "+/- 12.3 ms". */
static struct cell interval_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	enum reconcile_side side = (enum reconcile_side)c->argument;
	const struct reconcile_estimate *e = &line_at(s, row)->sides[side];

	buf_puts(text, "+/- ");
	text_fine_time(text, e->half_ns);
	return cell_text(buf_text(text));
}

/* The difference as a part of the larger figure, or half of its interval. */
static struct cell difference_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                   struct buf *text)
{
	const struct reconcile_line *line = line_at(s, row);
	double scale = fmax(line->sides[RECONCILE_SAMPLED].mean_ns,
	                    line->sides[RECONCILE_COUNTED].mean_ns);

	if (!(scale > 0))
		return cell_none();
	if (c->argument)
		buf_addf(text, "+/- %.1f", 100 * line->half_ns / scale);
	else
		buf_addf(text, "%+.1f %%", 100 * line->difference_ns / scale);
	return cell_text(buf_text(text));
}

static struct cell calls_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	double calls = line_at(s, row)->sides[RECONCILE_COUNTED].count;

	return calls > 0 ? cell_int(llrint(calls)) : cell_none();
}

/* Processes that only one method saw have no verdict. */
static bool is_judged(const struct row_source *s, uint32_t row)
{
	const struct reconcile_process *p = process_at(s, row);

	return !table_of(s)->processes || (!p->only_sampled && !p->only_counted);
}

/* "differ: short calls". */
static struct cell judgement_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                  struct buf *text)
{
	const struct reconcile_line *line = line_at(s, row);

	if (!is_judged(s, row))
		return cell_none();
	buf_puts(text, reconcile_verdict_word(line->verdict));
	if (line->reason != REASON_NONE)
		buf_addf(text, ": %s", reconcile_reason_word(line->reason));
	return cell_text(buf_text(text));
}

static struct cell verdict_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	static const char *const keys[] = {"agree", "differ", "cannot_tell"};

	return is_judged(s, row) ? cell_text(keys[line_at(s, row)->verdict]) : cell_none();
}

static struct cell reason_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	enum reconcile_reason reason = line_at(s, row)->reason;

	if (reason == REASON_NONE || !is_judged(s, row))
		return cell_none();
	return cell_text(reconcile_reason_key(reason));
}

static struct cell process_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	const struct reconcile_table *t = table_of(s);
	const char *name = intern_text(&t->r->runs->texts, process_at(s, row)->process);

	return *name || c->argument ? cell_text(name) : cell_text("(all)");
}

static struct cell function_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	return cell_text(reconcile_function_name(table_of(s)->r->runs, line_at(s, row)->row));
}

static struct cell image_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	return cell_text(reconcile_image_name(table_of(s)->r->runs, line_at(s, row)->row));
}

static const struct unit right = {.name = "figure"};

#define NUMBER(key_, side, which)                                                                  \
	{                                                                                          \
		key_, NULL, key_, &unit_number, .get = figure_cell, .argument = OF(side, which)    \
	}
#define DRAWN(key_, side, which)                                                                   \
	{                                                                                          \
		key_, NULL, key_, &unit_number, .get = figure_cell, .argument = OF(side, which),   \
		                                .page = true                                       \
	}
#define S RECONCILE_SAMPLED
#define C RECONCILE_COUNTED

/* The columns that both tables have. */
static const struct column figures[] = {
        {"sampled", "sampled", NULL, &unit_fine_time, .get = figure_cell, .argument = OF(S, MEAN)},
        {"sampled_interval", "", NULL, &right, .get = interval_cell, .argument = S,
         .room = ROOM_ALL},
        {"counted", "counted", NULL, &unit_fine_time, .get = figure_cell, .argument = OF(C, MEAN)},
        {"counted_interval", "", NULL, &right, .get = interval_cell, .argument = C,
         .room = ROOM_ALL},
        {"difference", "difference", NULL, &right, .get = difference_cell},
        {"difference_interval", "", NULL, &right, .get = difference_cell, .argument = 1},
        {"judgement", "verdict", NULL, &right, .get = judgement_cell},
        DRAWN("sampled_ns", S, MEAN),
        DRAWN("sampled_low_ns", S, LOW),
        DRAWN("sampled_high_ns", S, HIGH),
        DRAWN("counted_ns", C, MEAN),
        DRAWN("counted_low_ns", C, LOW),
        DRAWN("counted_high_ns", C, HIGH),
        NUMBER("difference_ns", S, DIFFERENCE),
        NUMBER("difference_error_ns", S, DIFFERENCE_ERROR),
        NUMBER("folded_ns", S, FOLDED),
        NUMBER("hooks_ns", S, COST),
        NUMBER("cost_ns", C, COST),
        NUMBER("blocked_ns", C, BLOCKED),
        {"verdict", NULL, "verdict", &unit_text, .get = verdict_cell},
        {"reason", NULL, "reason", &unit_text, .get = reason_cell},
};

static const struct column of_functions[] = {
        {"sampled_share", "sampled", "sampled_share", &unit_share, .get = figure_cell,
         .argument = OF(S, SHARE), .room = ROOM_FEW},
        {"counted_share", "counted", "counted_share", &unit_share, .get = figure_cell,
         .argument = OF(C, SHARE), .room = ROOM_FEW},
        {"calls", "calls", NULL, &unit_count, .get = calls_cell, .room = ROOM_ALL},
        {"per_call", "per call", "ns_per_call", &unit_fine_time, .get = figure_cell,
         .argument = OF(C, PER_CALL), .room = ROOM_ALL},
        NUMBER("ns_per_call_error", C, PER_CALL_ERROR),
        NUMBER("sampled_ns_per_call", S, PER_CALL),
        {"samples", NULL, "samples", &unit_number, .get = count_cell, .argument = OF(S, COUNT)},
        {"calls_key", NULL, "calls", &unit_number, .get = count_cell, .argument = OF(C, COUNT)},
};

static const struct column of_processes[] = {
        {"own", "own cost", "own_ns", &unit_fine_time, .get = figure_cell, .argument = OF(C, OWN),
         .room = ROOM_FEW},
        {"blocked", "blocked", NULL, &unit_fine_time, .get = figure_cell,
         .argument = OF(C, BLOCKED), .room = ROOM_ALL},
        NUMBER("clock_ns", C, CLOCK),
        NUMBER("residual_ns", C, RESIDUAL),
};
#undef S
#undef C

static const struct column process_column = {"process", "process", "process", &unit_text,
                                             .get = process_cell};

static struct row_source *source_new(const struct reconcile *r, bool processes)
{
	struct reconcile_table *t = xcalloc(1, sizeof(*t));
	struct row_source *s = row_source_new(t);

	*t = (struct reconcile_table){.r = r, .processes = processes};
	s->free = free;
	s->no_total = true;
	s->fixed = true;
	return s;
}

void reconcile_processes_table(struct document *out, const struct reconcile *r)
{
	struct row_source *s = source_new(r, true);

	s->rows = (uint32_t)r->processes.count;
	row_source_columns(s, of_processes, sizeof(of_processes) / sizeof(*of_processes));
	row_source_columns(s, figures, sizeof(figures) / sizeof(*figures));
	row_source_columns(s, &process_column, 1);
	document_table(out, MEDIA_ALL, "CPU time of processes", "processes",
	               row_set_new(s, &(struct row_request){0}));
}

void reconcile_functions_table(struct document *out, const struct reconcile *r,
                               const struct document_reader *reader, size_t lines)
{
	static const struct column function = {"function", "function", "function", &unit_text,
	                                       .get = function_cell};
	static const struct column image = {"image",           "file",          "image", &unit_text,
	                                    .get = image_cell, .room = ROOM_ALL};
	struct row_source *s = source_new(r, false);

	s->rows = (uint32_t)r->lines.count;
	row_source_columns(s, of_functions, sizeof(of_functions) / sizeof(*of_functions));
	row_source_columns(s, figures, sizeof(figures) / sizeof(*figures));
	row_source_columns(s, &function, 1);
	row_source_columns(s, &image, 1);
	row_source_columns(s, &process_column, 1);
	vec_last(&s->columns)->room = ROOM_FEW;
	s->squeezed = !reader->wide;
	document_table(out, MEDIA_ALL, "CPU time of functions", "functions",
	               row_set_new(s, &(struct row_request){.lines = lines}));
}
