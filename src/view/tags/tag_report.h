/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_report: the times of functions in a trace of event tags, as rows for any output.
 *
 * tag_report_new() takes a finished summary (tags/tag_summary.h) whose names have their `shown`
 * text. The summary and the recording must outlive the report. Plain data; times are ticks of the
 * recording's clock. tag_report_free(). Nothing fails. One thread.
 *
 * A row is one function of a program, summed over all processes of the program. Two more rows are
 * no functions: TAG_ROW_OUTSIDE has the time in which no known function was open, TAG_ROW_UNKNOWN
 * the time after gaps whose function is unknown (tags/tag_engine.h, rule 14). The net of all rows
 * adds up to `run`. The function that switches processes has no row: its time is idle. Inline tags
 * have no duration and are in a list of their own. Uses: base, tags, symbol.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_REPORT_H
#define ASSAY_VIEW_TAGS_TAG_REPORT_H

#include "tags/tag_summary.h"
#include "view/request.h"
#include "view/tags/tag_percentiles.h"
#include "view/tags/tag_scale.h"

/* Names of columns to sort by (tag_rows.h). */
#define TAG_ORDERS                                                                                 \
	"elapsed,net,calls,max,avg,min,p50,p90,p99,name,real,elapsed_max,elapsed_avg,elapsed_min"

bool tag_order_known(const char *word);

struct tag_report_options {
	struct report_request request; /* shares are of `run` */
	enum tag_time_unit unit;
};

enum tag_row_kind { TAG_ROW_FUNCTION, TAG_ROW_INLINE, TAG_ROW_OUTSIDE, TAG_ROW_UNKNOWN };

/* Shares of the run time without triggers: the estimate and its bounds. NAN: unknown. */
struct tag_work {
	double share, low, high;
};

struct tag_row {
	enum tag_row_kind kind;
	uint32_t id;          /* compared by tag_report_is_of() */
	uint32_t tag;         /* of the first function in the row */
	const char *function; /* the name to show */
	const char *name;     /* as in the names file */
	const char *program;  /* NULL: unknown */
	bool several;         /* other programs have a function with the same name */
	uint64_t calls, elapsed, net;
	struct tag_range certain, uncertain; /* of complete calls */
	struct tag_percentiles percentiles;  /* percentiles of the net of one call */
	uint64_t events;                     /* after which it is innermost */
	struct tag_work work;                /* tag_work.h */
	uint64_t open, cut;                  /* numbers of calls that are not complete */
};

/* The rows of one table. */
struct tag_table {
	const struct tag_report *report;
	VEC(struct tag_row) rows;
};

struct tag_report {
	struct report_request request;
	const struct tag_recording *recording;
	const struct tag_summary *summary;
	uint64_t run;           /* elapsed - idle - own - gap */
	uint64_t span;          /* from the first event to the last */
	bool devices;           /* all streams are from devices */
	bool separated;         /* waiting is separated from running */
	uint64_t switches_lost; /* number of switches that were lost */
	struct tag_table functions, inlines;
	struct row_set *table;         /* the functions, sorted; a document takes ownership of it */
	struct tag_scale scale;        /* how times are printed */
	VEC(const char *) switchers;   /* the `!` functions that occurred */
	uint64_t uncertain, open, cut; /* numbers of such calls of all functions */
	uint64_t profiled;             /* functions that have tags, called or not */
	uint64_t triggers; /* their tags: two for each function, one for an inline tag */
	VEC(char *) texts;
	struct tag_times times; /* by row id, until the rows have percentiles */
	uint32_t *row_of;       /* per function of the summary: the row's id; ID_NONE: no row */
};

struct tag_report *tag_report_new(const struct tag_recording *recording,
                                  const struct tag_summary *summary,
                                  const struct tag_report_options *options);
void tag_report_free(struct tag_report *r);

/* Whether the i-th function of the summary is part of this row. */
bool tag_report_is_of(const struct tag_report *r, size_t i, const struct tag_row *row);

/* Whether the row is time that belongs to no function. */
static inline bool tag_row_is_part(const struct tag_row *row)
{
	return row->kind == TAG_ROW_OUTSIDE || row->kind == TAG_ROW_UNKNOWN;
}

/* The times of one call: of certain calls, or, if there are none, of uncertain calls. */
const struct tag_range *tag_row_range(const struct tag_row *row);
/* The average time per call of a range, rounded down; 0 without calls. */
uint64_t tag_range_average(const struct tag_range *of, const struct tag_bounds *bounds);
/* The same in ns, rounded down; an empty cell without calls. */
struct cell tag_range_average_ns(const struct tag_report *r, const struct tag_range *of,
                                 const struct tag_bounds *bounds);

/* Functions of all sets of names that have no tags (tag_names_leave_out()). */
uint64_t tag_report_left_out(const struct tag_report *r);
/* -ENOENT if one of these functions has the name `wanted`, which then has no times; else 0. */
int tag_report_refuse_left_out(const struct tag_recording *r, const char *wanted,
                               struct error *err);

/* All names that a pattern for the row's function may match. Initialize with tag_aliases_init(),
 * free with tag_aliases_done(). */
struct tag_aliases {
	const char *shown, *name;
	char *plain, *bare; /* without @FILE; without parameters (C++), or NULL */
};
void tag_aliases_init(struct tag_aliases *c, const struct tag_row *row);
void tag_aliases_done(struct tag_aliases *c);
/* Whether one of the names equals `pattern` or matches it as a shell pattern (* ? [...]). */
bool tag_aliases_fit(const struct tag_aliases *c, const char *pattern);

#endif
